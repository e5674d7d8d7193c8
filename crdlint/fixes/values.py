"""Cures for enums, defaults and formats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdlint import formats
from crdlint.fixes.cure import cure, drop, put, rename, schema_path
from crdlint.fixes.metadata import drop_item
from crdlint.fixes.spec import META_FIELDS, PRESERVE
from crdlint.fixes.yaml import as_number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crdlint.document import Path
    from crdlint.edits import Change
    from crdlint.fixes.cure import Case


def as_type(value: Any, kind: Any, text: str) -> Any:
    """Return a scalar as a value of a schema type, None where it does not spell one."""
    if kind == "string" and isinstance(value, (bool, int, float)):
        return text or None
    if kind == "boolean" and isinstance(value, str):
        return {"true": True, "false": False}.get(value.lower())
    if kind in ("integer", "number"):
        if kind == "integer" and isinstance(value, float) and value.is_integer():
            return int(value)
        return as_number(value, whole=kind == "integer")
    return None


@cure("enum-member-type")
def member_of_type(case: Case) -> Iterator[Change]:
    """Write an enum value as one of the declared type that it spells."""
    _, schema = case.schema
    new = as_type(case.value, schema.get("type"), case.text)
    if new is not None and new not in (schema.get("enum") or ()):
        yield put(case.path, new)


@cure("enum-duplicate")
def member_once(case: Case) -> Iterator[Change]:
    """Take an enum value away that stands there before."""
    yield drop_item(case, case.path)


@cure("enum-empty")
def no_enum(case: Case) -> Iterator[Change]:
    """Take an empty enum away, which the server takes for none."""
    yield drop(case.path)


@cure("enum-refuses-null", safe=False)
def not_nullable(case: Case) -> Iterator[Change]:
    """Take nullable away, so that a null is dropped and not refused."""
    yield drop(case.path)


@cure("exclusive-bound-alone", safe=False)
def no_exclusive(case: Case) -> Iterator[Change]:
    """Take away what makes a bound exclusive that is not there."""
    yield drop(case.path)


def _schema_of_value(case: Case) -> tuple[Path, dict[str, Any]]:
    """Return the way to the default that a place is in, and the schema of the value there."""
    way = schema_path(case.path)
    schema: Any = case.get(*way)
    for step in case.path[len(way) + 1 :]:
        if not isinstance(schema, dict):
            break
        if isinstance(step, int):
            schema = schema.get("items")
        else:
            properties = schema.get("properties")
            declared = properties.get(step) if isinstance(properties, dict) else None
            schema = schema.get("additionalProperties") if declared is None else declared
    return (*way, "default"), schema if isinstance(schema, dict) else {}


@cure("default-invalid", "default-in-map-invalid")
def default_of_type(case: Case) -> Iterator[Change]:
    """Write a default as the type that the schema gives it; take away one that is none."""
    if "default" not in case.path or not case.has(*case.path):
        return
    default, schema = _schema_of_value(case)
    new = as_type(case.value, schema.get("type"), case.text)
    if new is not None:
        yield put(case.path, new)
        return
    case.doubt()
    yield drop(default)


@cure("default-pruned")
def without_pruned(case: Case) -> Iterator[Change]:
    """Take out of a default what would be pruned."""
    default, _ = _schema_of_value(case)
    for path in _undeclared(case.get(*default), case.get(*default[:-1])):
        yield drop((*default, *path))


def _undeclared(value: Any, schema: Any) -> Iterator[Path]:
    """Yield the ways to the fields of a value that a schema does not declare."""
    if not isinstance(schema, dict):
        return
    if isinstance(value, list):
        for i, item in enumerate(value):
            yield from ((i, *path) for path in _undeclared(item, schema.get("items")))
    elif isinstance(value, dict):
        declared, extra = schema.get("properties") or {}, schema.get("additionalProperties")
        whole = schema.get("x-kubernetes-embedded-resource") is True
        for key, item in value.items():
            if whole and key in META_FIELDS:
                continue
            if key in declared or extra is not None:
                below = _undeclared(item, declared.get(key, extra))
                yield from ((key, *path) for path in below)
            elif schema.get(PRESERVE) is not True:
                yield (key,)


@cure("default-list-repeats")
def item_once(case: Case) -> Iterator[Change]:
    """Take an item of a default away that stands there before."""
    if isinstance(case.path[-1], int):
        yield drop(case.path)


@cure("required-undeclared", safe=False)
def not_required(case: Case) -> Iterator[Change]:
    """Take a field out of what is required."""
    if isinstance(case.path[-1], int) and case.path[-2] == "required":
        yield drop_item(case, case.path)


@cure("required-with-default", safe=False)
def default_will_do(case: Case) -> Iterator[Change]:
    """Take a field out of what is required, since its default is there."""
    way, _ = case.schema
    required = case.get(*way[:-2], "required")
    if way[-2] == "properties" and isinstance(required, list) and way[-1] in required:
        yield drop_item(case, (*way[:-2], "required", required.index(way[-1])))


@cure("unrecognized-format", safe=False)
def known_format(case: Case) -> Iterator[Change]:
    """Spell a format as the server knows it; make an expression a pattern; else take it away."""
    word = case.value
    _, schema = case.schema
    if not isinstance(word, str):
        return
    if (word[:1] == "^" or word[-1:] == "$") and "pattern" not in schema:
        yield rename(case.path, "pattern")
        return
    kind = str(schema.get("type") or "")
    plain = word.replace("-", "").replace("_", "").lower()
    for name in ("date-time", "int32", "int64", "float", "double", "email", "hostname", "uri"):
        if plain == name.replace("-", "") and formats.known(kind, name, case.minor):
            yield put(case.path, name)
            return
    yield drop(case.path)


@cure("pattern-unsatisfiable", safe=False)
def pattern_without_quotes(case: Case) -> Iterator[Change]:
    """Take the quotes or slashes off that are part of a pattern."""
    word = case.value
    if isinstance(word, str) and len(word) > 3 and word[0] == word[-1] and word[0] in "'\"/":
        yield put(case.path, word[1:-1])
