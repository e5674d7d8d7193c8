"""Cures for keywords of JSON Schema that a CRD does not have, and for misspelt types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdlint.fixes.cure import cure, drop, put, rename
from crdlint.rules.keywords import TYPES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crdlint.edits import Change
    from crdlint.fixes.cure import Case


@cure("unsupported-keyword", "schema-not-convertible")
def unsupported_keyword(case: Case) -> Iterator[Change]:
    """Take a keyword away that says nothing here."""
    key, value = str(case.path[-1]), case.value
    schema = case.get(*case.path[:-1])
    if not isinstance(schema, dict):
        return
    if key in ("id", "$schema") or value in ({}, []) or value is None:
        yield drop(case.path)
    elif key == "additionalItems":
        if not isinstance(schema.get("items"), list):
            yield drop(case.path)  # speaks of items behind a list of schemas only
    elif key == "definitions":
        if not _refers(case.get(*case.path[:5])):
            yield drop(case.path)
    elif key == "x-kubernetes-preserve-unknown-fields" and value is False:
        yield drop(case.path)


def _refers(schema: Any) -> bool:
    """Tell whether a $ref stands anywhere in a schema."""
    stack = [schema]
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            if "$ref" in value:
                return True
            stack += value.values()
        elif isinstance(value, list):
            stack += value
    return False


_TYPES = {
    "bool": "boolean",
    "dict": "object",
    "double": "number",
    "float": "number",
    "int": "integer",
    "int32": "integer",
    "int64": "integer",
    "list": "array",
    "long": "integer",
    "map": "object",
    "slice": "array",
    "str": "string",
    "struct": "object",
    "text": "string",
}


@cure("type-not-supported")
def type_meant(case: Case) -> Iterator[Change]:
    """Write the type that a misspelt word or a word of a programming language stands for."""
    from difflib import get_close_matches

    if not isinstance(case.value, str):
        return
    word = case.value.strip().lower()
    near = get_close_matches(word, TYPES, n=1, cutoff=0.75)
    new = word if word in TYPES else _TYPES.get(word) or next(iter(near), "")
    if new:
        yield put(case.path, new)


@cure("properties-and-additional-properties")
def struct_stays(case: Case) -> Iterator[Change]:
    """Take additionalProperties: false away: fields that are not declared are pruned anyway."""
    if case.value is False:
        yield drop(case.path)


# What limits values of another type, and the keyword that limits those of this one.
_LIMITS = {
    "array": {"maxLength": "maxItems", "minLength": "minItems"},
    "string": {"maxItems": "maxLength", "minItems": "minLength"},
    "object": {"maxItems": "maxProperties", "minItems": "minProperties"},
}


@cure("keyword-without-effect", safe=False)
def keyword_of_the_type(case: Case) -> Iterator[Change]:
    """Use the keyword that limits values of the type."""
    _, schema = case.schema
    new = _LIMITS.get(str(schema.get("type")), {}).get(str(case.path[-1]))
    if new and new not in schema:
        yield rename(case.path, new)
