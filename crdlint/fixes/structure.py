"""Cures for what keeps a schema from being structural: types, junctors, metadata, extensions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdlint import formats
from crdlint.fixes.cure import cure, drop, move, put
from crdlint.fixes.spec import KEPT, PRESERVE
from crdlint.keywords import JUNCTORS, same_json
from crdlint.rules.structural import is_zero
from crdlint.rules.values import APPLIES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crdlint.document import Path
    from crdlint.edits import Change
    from crdlint.fixes.cure import Case

INT_OR_STRING = "x-kubernetes-int-or-string"
_SCALARS = ("boolean", "integer", "number", "string")


def outside(path: Path) -> Path:
    """Return the way to the node around junctors that a schema in them speaks of."""
    steps: list[str | int] = []
    at = 0
    while at < len(path):
        step = path[at]
        named = step == "properties"
        if step in JUNCTORS and at >= len(_ROOT):
            at += 1 if step == "not" else 2
            continue
        steps += path[at : at + (2 if named else 1)]
        at += 2 if named else 1
    return tuple(steps)


_ROOT = ("spec", "versions", 0, "schema", "openAPIV3Schema")


def _junctors_above(path: Path) -> list[str]:
    """Return the junctors that a path leads through, not the properties of such names."""
    found = []
    at = len(_ROOT)
    while at < len(path):
        if path[at] in JUNCTORS:
            found.append(str(path[at]))
        at += 2 if path[at] in ("properties", "allOf", "anyOf", "oneOf") else 1
    return found


@cure("junctor-keyword")
def junctor_keyword(case: Case) -> Iterator[Change]:
    """Take structure out of a junctor: to the schema around it, unless that has it already."""
    key = str(case.path[-1])
    inner = case.path[:-1]
    spine = outside(inner)
    around = case.get(*spine)
    if not isinstance(around, dict):
        yield from _declare_too(case, inner, spine)
        return
    if key in around and same_json(around[key], case.value):
        yield drop(case.path)
    elif key == "additionalProperties" and case.value is True:
        yield drop(case.path)  # allows what is allowed anyway
    elif key in ("description", "title"):
        if key in around:
            yield drop(case.path)
        else:
            yield from move(case.path, (*spine, key), case.value)
    elif key == "type":
        yield from _type_out(case, spine, around)
    elif key not in around and key not in ("additionalProperties", "default"):
        # Of a branch that always holds, the schema around it may as well say it.
        if set(_junctors_above(inner)) != {"allOf"}:
            case.doubt()
        yield from move(case.path, (*spine, key), case.value)
    elif key == "nullable":
        case.doubt()
        yield drop(case.path)


def _type_out(case: Case, spine: Path, around: dict[str, Any]) -> Iterator[Change]:
    """Move the type of branches out: where all say the same, or either integer or string."""
    junctor = case.path[:-1]
    branches, found = _branches(case, junctor)
    kinds = [branch.get("type") for branch in branches]
    if found and around.get(INT_OR_STRING) is True and not around.get("type"):
        if found[-1] == "anyOf" and all(b == {"type": b.get("type")} for b in branches):
            yield drop(found)  # says once more what the extension says
        return
    if around.get("type"):
        return
    if found and found[-1] == "anyOf" and sorted(map(str, kinds)) == ["integer", "string"]:
        if all(set(branch) == {"type"} for branch in branches):
            yield drop(found)
            yield put((*spine, INT_OR_STRING), True)
        return
    if "not" in _junctors_above(junctor):
        return
    if found and len({str(kind) for kind in kinds}) == 1:
        yield put((*spine, "type"), case.value)
        for i in range(len(branches)):
            yield drop((*found, i, "type"))


def _branches(case: Case, path: Path) -> tuple[list[dict[str, Any]], Path]:
    """Return the branches of the junctor that a branch belongs to, and the way to them."""
    if len(path) > 1 and path[-2] in JUNCTORS and isinstance(path[-1], int):
        branches = case.get(*path[:-1])
        if isinstance(branches, list) and all(isinstance(branch, dict) for branch in branches):
            return branches, path[:-1]
    return [], ()


def _declare_too(case: Case, inner: Path, spine: Path) -> Iterator[Change]:
    """Declare a field outside that only a junctor names, with the type that it gives there."""
    if case.path[-1] == "type" and "not" not in _junctors_above(inner):
        parent = spine[:-2]
        if len(spine) < 2 or spine[-2] != "properties":
            return
        if not isinstance(case.get(*parent), dict) or case.value not in _SCALARS:
            return
        yield drop(case.path)
        yield from declare(case, parent, str(spine[-1]), {"type": case.value})


def declare(case: Case, parent: Path, name: str, schema: dict[str, Any]) -> Iterator[Change]:
    """Add a property to a schema."""
    if isinstance(case.get(*parent, "properties"), dict):
        yield put((*parent, "properties", name), schema)
    else:
        yield put((*parent, "properties"), {name: schema})


@cure("type-required", "root-type")
def type_of_keywords(case: Case) -> Iterator[Change]:
    """Give a schema the one type that its other keywords are about."""
    path = case.path if case.rule == "type-required" else case.path[:-1]
    schema = case.get(*path)
    if not isinstance(schema, dict):
        return
    if _either(schema.get("anyOf")):
        yield put((*path, INT_OR_STRING), True)
        return
    kind = "object" if path[5:] == () else derived_type(schema) or _by_place(path)
    if not kind:
        if not set(schema) - {"description", "title", "nullable", "example"}:
            case.doubt()
            yield put((*path, PRESERVE), True, after="description")
        return
    yield put((*path, "type"), kind, after="description" if "description" in schema else None)


def _either(branches: Any) -> bool:
    return bool(branches == [{"type": "integer"}, {"type": "string"}])


def _by_place(path: Path) -> str:
    """Return the type of a field that every resource has."""
    if len(path) == 7 and path[5] == "properties":
        return {"apiVersion": "string", "kind": "string", "metadata": "object"}.get(
            str(path[6]), ""
        )
    return ""


def derived_type(schema: dict[str, Any]) -> str:
    """Return the only type that all keywords of a schema fit, "" where there is none."""
    possible: set[str] = {*_SCALARS, "array", "object"}
    for key, value in schema.items():
        if key in ("properties", "additionalProperties", "x-kubernetes-map-type"):
            possible &= {"object"}
        elif key in ("items", "x-kubernetes-list-type"):
            possible &= {"array"}
        elif key in APPLIES:
            possible &= set(APPLIES[key])
        elif key == "enum" and isinstance(value, list) and value:
            possible &= {_kind(item) for item in value} if _alike(value) else set()
        elif key == "default" and value is not None:
            possible &= {_kind(value), "number" if _kind(value) == "integer" else ""}
        elif key == "format" and isinstance(value, str):
            possible &= {kind for kind in possible if formats.known(kind, value, 99)}
    if possible == {"integer", "number"}:
        bounds = [schema.get(key) for key in ("minimum", "maximum", "multipleOf", "default")]
        whole = all(isinstance(bound, int) for bound in bounds if bound is not None)
        return "integer" if whole and schema.get("format") in ("int32", "int64") else ""
    return possible.pop() if len(possible) == 1 else ""


def _alike(values: list[Any]) -> bool:
    return len({_kind(value) for value in values}) == 1


def _kind(value: Any) -> str:
    for kind, name in ((bool, "boolean"), (int, "integer"), (float, "number"), (str, "string")):
        if isinstance(value, kind):
            return name
    return "array" if isinstance(value, list) else "object" if isinstance(value, dict) else ""


@cure("metadata-field-type")
def metadata_field_type(case: Case) -> Iterator[Change]:
    """Give kind, apiVersion and metadata the type that they have in every resource."""
    way, schema = case.schema
    kind = {"kind": "string", "apiVersion": "string", "metadata": "object"}.get(str(way[-1]))
    if kind:
        yield put((*way, "type"), kind, after="description" if "description" in schema else None)


@cure("root-metadata-restricted")
def plain_metadata(case: Case) -> Iterator[Change]:
    """Leave of the schema of metadata what a CRD may say."""
    way = (*case.path[:5], "properties", "metadata")
    schema = case.get(*way)
    if not isinstance(schema, dict):
        return
    for key, value in schema.items():
        if key == "properties" and isinstance(value, dict):
            free = [name for name in value if name not in ("name", "generateName")]
            if len(free) == len(value):
                yield drop((*way, key))
            else:
                yield from (drop((*way, key, name)) for name in free)
        elif key not in ("type", "default") and not is_zero(key, value, spine=True):
            yield drop((*way, key))


@cure("root-nullable", "preserve-unknown-fields-false", "list-item-nullable")
@cure("embedded-resource-in-metadata", "default-in-metadata", "int-or-string-alone")
def take_away(case: Case) -> Iterator[Change]:
    """Take away a keyword that may not stand here."""
    yield drop(case.path)


@cure("root-additional-properties", brings=KEPT)
def root_keeps_unknown(case: Case) -> Iterator[Change]:
    """Keep the unknown fields of a resource by the extension instead of additionalProperties."""
    if not isinstance(case.value, bool):
        return
    yield drop(case.path)
    if case.value and not case.get(*case.path[:-1], PRESERVE):
        yield put((*case.path[:-1], PRESERVE), True, after="type")


@cure("embedded-resource-shape")
def embedded_object(case: Case) -> Iterator[Change]:
    """Make an embedded resource an object that keeps its fields."""
    way, schema = case.schema
    key = case.path[-1]
    if key == "additionalProperties":
        case.doubt()
        yield drop(case.path)
    elif key == "type" or not schema.get("type"):
        if schema.get("type"):
            case.doubt()
        yield put((*way, "type"), "object")
    else:
        yield put((*way, PRESERVE), True)


# Of the keywords that the status subresource forbids at the root: what says nothing there.
_NOTHING_AT_ROOT = ("x-kubernetes-map-type", "x-kubernetes-embedded-resource", "nullable")


@cure("status-root-keyword")
def status_root_keyword(case: Case) -> Iterator[Change]:
    """Take keywords away that say nothing of a whole resource."""
    key = case.path[-1]
    if key == "type":
        yield put(case.path, "object")
    elif key in _NOTHING_AT_ROOT:
        yield drop(case.path)
    elif key == "additionalProperties":
        yield from root_keeps_unknown(case)
