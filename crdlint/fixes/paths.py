"""Cures for printer columns, scale and selectable fields: mostly the form of their paths."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from crdlint import jsonpath
from crdlint.fixes.cure import cure, drop, put
from crdlint.fixes.metadata import drop_item
from crdlint.rules.columns import FORMATS, TYPES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crdlint.edits import Change
    from crdlint.fixes.cure import Case

_QUOTED = re.compile(r"""\[(["'])([A-Za-z_][A-Za-z0-9_]*)\1\]""")


def dotted(path: Any) -> str:
    """Return a path as `.spec.size`: without braces and `$`, with its dot; "" where it is none."""
    if not isinstance(path, str):
        return ""
    text = path.strip()
    if text.startswith("{") and text.endswith("}"):
        text = text[1:-1].strip()
    text = text.removeprefix("$")
    if re.match(r"[A-Za-z]", text):
        text = f".{text}"
    return text if text.startswith(".") and len(text) > 1 else ""


@cure("column-path")
def column_path(case: Case) -> Iterator[Change]:
    """Write the path of a column with its dot."""
    if (new := dotted(case.value)) and new != case.value:
        yield put(case.path, new)


def _field(case: Case, version: tuple[str | int, ...], path: str) -> dict[str, Any]:
    """Return the schema of the field that a path leads to, empty where it leads nowhere known."""
    schema = case.get(*version, "schema", "openAPIV3Schema")
    if not isinstance(schema, dict) or not path.startswith("."):
        return {}
    try:
        target = jsonpath.follow(schema, jsonpath.parse(path))
    except (jsonpath.JSONPathError, TypeError, AttributeError):
        return {}
    return {} if target.missing or not target.schema else dict(target.schema)


@cure("column-required")
def column_required(case: Case) -> Iterator[Change]:
    """Give a column the type of its field, a name after it, or the path by its old name."""
    key, column = case.path[-1], case.get(*case.path[:-1])
    if not isinstance(column, dict):
        return
    if key == "jsonPath" and (old := dotted(column.get("JSONPath"))):
        yield put(case.path, old)
        yield drop((*case.path[:-1], "JSONPath"))
        return
    path = column.get("jsonPath")
    if key == "jsonPath" and (name := column.get("name")):
        case.doubt()
        for part in ("spec", "status"):
            likely = f".{part}.{str(name)[:1].lower()}{str(name)[1:]}"
            if _field(case, case.path[:3], likely):
                yield put(case.path, likely)
                return
    if not isinstance(path, str) or not path:
        return
    if key == "type":
        field = _field(case, case.path[:3], dotted(path))
        yield put(case.path, _column_type(field), after="name")
    elif key == "name" and (last := re.search(r"([A-Za-z]\w*)\W*\Z", path)):
        case.doubt()
        yield put(case.path, last[1][0].upper() + last[1][1:], after="jsonPath")


def _column_type(field: dict[str, Any]) -> str:
    kind = field.get("type")
    if kind == "string" and field.get("format") == "date-time":
        return "date"
    return str(kind) if kind in TYPES else "string"


_COLUMN_TYPES = {
    "bool": "boolean",
    "date-time": "date",
    "datetime": "date",
    "double": "number",
    "float": "number",
    "int": "integer",
    "int32": "integer",
    "int64": "integer",
    "str": "string",
    "text": "string",
    "time": "date",
    "timestamp": "date",
}


@cure("column-type")
def column_type(case: Case) -> Iterator[Change]:
    """Write the type that is meant; take an unknown format away."""
    if not isinstance(case.value, str):
        return
    word = case.value.strip().lower()
    if case.path[-1] == "format":
        yield put(case.path, word) if word in FORMATS else drop(case.path)
        return
    new = word if word in TYPES else _COLUMN_TYPES.get(word, "")
    if not new:
        case.doubt()
        path = case.get(*case.path[:-1], "jsonPath")
        new = _column_type(_field(case, case.path[:3], dotted(path)))
    yield put(case.path, new)


@cure("column-path-type", safe=False)
def type_of_the_field(case: Case) -> Iterator[Change]:
    """Give a column the type of its field."""
    path = case.get(*case.path[:-1], "jsonPath")
    yield put((*case.path[:-1], "type"), _column_type(_field(case, case.path[:3], str(path))))


@cure("column-age-missing", safe=False)
def age(case: Case) -> Iterator[Change]:
    """Add the column that kubectl shows for resources without columns of their own."""
    from crdlint.fixes.cure import append

    if isinstance(case.value, list):
        yield append(
            case.path,
            {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
        )


_REPLICAS = {
    "specReplicasPath": ".spec.replicas",
    "statusReplicasPath": ".status.replicas",
}


@cure("scale-path")
def scale_path(case: Case) -> Iterator[Change]:
    """Write a path of scale with its dot; a missing one is that of the declared replicas."""
    key = str(case.path[-1])
    if case.value:
        if (new := dotted(case.value)) and new != case.value:
            yield put(case.path, new)
    elif key in _REPLICAS:
        if _field(case, case.path[:3], _REPLICAS[key]).get("type") == "integer":
            yield put(case.path, _REPLICAS[key])
    elif case.has(*case.path):
        yield drop(case.path)


@cure("selectable-path")
def selectable_path(case: Case) -> Iterator[Change]:
    """Write the path of a selectable field with dots; name and namespace need not be listed."""
    path = dotted(case.value)
    new = _QUOTED.sub(r".\2", path)
    if path in (".metadata.name", ".metadata.namespace"):
        yield drop_item(case, case.path[:-1])
    elif new and new != case.value:
        yield put(case.path, new)
    elif new and (near := _nearest(case, new)):
        case.doubt()
        yield put(case.path, near)


def _nearest(case: Case, path: str) -> str:
    """Return the path to the declared field beside the one that is named, "" where none is near."""
    from difflib import get_close_matches

    above, _, name = path.rpartition(".")
    schema = case.get(*case.path[:3], "schema", "openAPIV3Schema")
    around = _field(case, case.path[:3], above) if above else schema
    declared = around.get("properties") if isinstance(around, dict) else None
    near = get_close_matches(name, [str(key) for key in declared or ()], n=1, cutoff=0.75)
    return f"{above}.{near[0]}" if near and near[0] != name else ""


@cure("selectable-repeated")
def selectable_once(case: Case) -> Iterator[Change]:
    """Take a selectable field away that is listed before."""
    yield drop_item(case, case.path[:-1])


@cure("status-without-subresource", safe=False)
def status_subresource(case: Case) -> Iterator[Change]:
    """Make the status a subresource."""
    version = case.path[:3]
    if isinstance(case.get(*version, "subresources"), dict):
        yield put((*version, "subresources", "status"), {})
    else:
        yield put((*version, "subresources"), {"status": {}}, after="schema")
