"""The 44 keywords of JSONSchemaProps: what each holds, and which value means absence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

# How a keyword holds further schemas.
ONE, LIST, NAMED, ONE_OR_LIST, ONE_OR_BOOL, NAMED_OR_STRINGS = (
    "one",
    "list",
    "named",
    "one-or-list",
    "one-or-bool",
    "named-or-strings",
)
HOLDS: dict[str, str] = {
    "properties": NAMED,
    "items": ONE_OR_LIST,
    "additionalProperties": ONE_OR_BOOL,
    "allOf": LIST,
    "anyOf": LIST,
    "oneOf": LIST,
    "not": ONE,
    "definitions": NAMED,
    "dependencies": NAMED_OR_STRINGS,
    "patternProperties": NAMED,
    "additionalItems": ONE_OR_BOOL,
}
# The server's keyword checks do not look below these two; both are refused anyway.
NOT_WALKED = frozenset(("patternProperties", "additionalItems"))
JUNCTORS = ("allOf", "anyOf", "oneOf", "not")

# In Go these fields are plain values, so their zero cannot be told from absence; all other fields
# are pointers (or pointers to raw JSON), where absence differs from zero.
ZERO: dict[str, Any] = {
    "id": "",
    "$schema": "",
    "description": "",
    "type": "",
    "format": "",
    "title": "",
    "pattern": "",
    "exclusiveMaximum": False,
    "exclusiveMinimum": False,
    "uniqueItems": False,
    "nullable": False,
    "x-kubernetes-embedded-resource": False,
    "x-kubernetes-int-or-string": False,
}
EMPTY = frozenset(  # slices and maps: empty and absent are semantically equal
    "enum required allOf anyOf oneOf properties patternProperties dependencies definitions"
    " x-kubernetes-list-map-keys x-kubernetes-validations".split()
)
RAW = frozenset(("default", "example"))
POINTERS = frozenset(
    "$ref default maximum minimum maxLength minLength maxItems minItems multipleOf maxProperties"
    " minProperties items not additionalProperties additionalItems externalDocs example"
    " x-kubernetes-preserve-unknown-fields x-kubernetes-list-type x-kubernetes-map-type".split()
)
KEYWORDS = frozenset(ZERO) | EMPTY | POINTERS


def same_json(a: Any, b: Any) -> bool:
    """Compare two JSON values as JSON does: `true` is not 1, and 1 is 1.0."""
    if a is b:
        return True
    if isinstance(a, bool) or isinstance(b, bool):
        return False
    if isinstance(a, dict):
        return (
            isinstance(b, dict)
            and a.keys() == b.keys()
            and all(same_json(value, b[key]) for key, value in a.items())
        )
    if isinstance(a, list):
        return (
            isinstance(b, list)
            and len(a) == len(b)
            and all(same_json(x, y) for x, y in zip(a, b, strict=True))
        )
    return bool(a == b)


def repeated(values: Iterable[Any]) -> Iterator[int]:
    """Yield the index of each value that is the same JSON as one before it."""
    known: set[tuple[bool, Any]] = set()
    others: list[Any] = []
    for i, value in enumerate(values):
        if isinstance(value, (dict, list)):
            if any(same_json(value, other) for other in others):
                yield i
            others.append(value)
        elif (key := (isinstance(value, bool), value)) in known:
            yield i
        else:
            known.add(key)


def _same_named(a: Mapping[str, Any], b: Mapping[str, Any]) -> bool:
    return a.keys() == b.keys() and all(same_schema(a[name], b[name]) for name in a)


def _same_list(a: list[Any], b: list[Any]) -> bool:
    return len(a) == len(b) and all(same_schema(x, y) for x, y in zip(a, b, strict=True))


_SAME: dict[str, Callable[[Any, Any], bool]] = {
    "properties": _same_named,
    "patternProperties": _same_named,
    "definitions": _same_named,
    "allOf": _same_list,
    "anyOf": _same_list,
    "oneOf": _same_list,
}


def same_schema(a: Any, b: Any) -> bool:
    """Tell whether two schemas are equal once decoded, by apimachinery's semantic equality."""
    if a is b:
        return True
    if not isinstance(a, dict) or not isinstance(b, dict):
        return same_json(a, b)
    for key in a.keys() | b.keys():
        x, y = a.get(key), b.get(key)
        if x is y:
            continue
        if key in ZERO:
            if (x or ZERO[key]) != (y or ZERO[key]):
                return False
        elif key in EMPTY:
            if not (x or y):
                continue
            if not x or not y or not _SAME.get(key, same_json)(x, y):
                return False
        elif x is None or y is None:
            return False
        elif key in HOLDS and isinstance(x, dict):
            if not same_schema(x, y):
                return False
        elif not same_json(x, y):
            return False
    return True
