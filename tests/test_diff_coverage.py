"""Every keyword of a schema, added, removed or changed, is heard by a rule or has a reason not to be."""

from __future__ import annotations

import json
from typing import Any

import pytest
from diff_helpers import compare, schema

from crdlint.diffrule import DIFF_IDS
from crdlint.keywords import KEYWORDS

ABSENT: Any = object()
TEXT = {"type": "string"}
LIST = {
    "type": "array",
    "items": {"type": "object", "required": ["a", "b"], "properties": {"a": TEXT, "b": TEXT}},
}
OBJECT = {"type": "object", "properties": {"a": TEXT, "b": TEXT}}

# keyword: the rest of the schema, one value, another value
EXAMPLES: dict[str, tuple[dict[str, Any], Any, Any]] = {
    "type": ({"x-kubernetes-preserve-unknown-fields": True}, "string", "integer"),
    "format": (TEXT, "date", "date-time"),
    "pattern": (TEXT, "^a$", "^b$"),
    "maxLength": (TEXT, 5, 6),
    "minLength": (TEXT, 5, 6),
    "maximum": ({"type": "number"}, 5, 6),
    "minimum": ({"type": "number"}, 5, 6),
    "exclusiveMaximum": ({"type": "number", "maximum": 5}, True, ABSENT),
    "exclusiveMinimum": ({"type": "number", "minimum": 5}, True, ABSENT),
    "multipleOf": ({"type": "number"}, 5, 6),
    "maxItems": (LIST, 5, 6),
    "minItems": (LIST, 5, 6),
    "uniqueItems": (LIST, True, ABSENT),
    "maxProperties": (OBJECT, 1, 2),
    "minProperties": (OBJECT, 5, 6),
    "required": (OBJECT, ["a"], ["b"]),
    "enum": (TEXT, ["a"], ["b"]),
    "default": (TEXT, "a", "b"),
    "nullable": (TEXT, True, ABSENT),
    "properties": ({"type": "object"}, {"a": TEXT}, {"q": {"type": "integer"}}),
    "items": ({"type": "array"}, TEXT, {"type": "integer"}),
    "additionalProperties": ({"type": "object"}, TEXT, {"type": "integer"}),
    "allOf": (TEXT, [{"minLength": 1}], [{"pattern": "^b"}]),
    "anyOf": (TEXT, [{"minLength": 1}], [{"pattern": "^b"}]),
    "oneOf": (TEXT, [{"minLength": 1}], [{"pattern": "^b"}]),
    "not": (TEXT, {"enum": ["a"]}, {"enum": ["a", "b"]}),
    "x-kubernetes-preserve-unknown-fields": ({"type": "object"}, True, ABSENT),
    "x-kubernetes-embedded-resource": ({"type": "object"}, True, ABSENT),
    "x-kubernetes-int-or-string": ({}, True, ABSENT),
    "x-kubernetes-list-type": ({**LIST, "x-kubernetes-list-map-keys": ["a"]}, "map", "set"),
    "x-kubernetes-list-map-keys": ({**LIST, "x-kubernetes-list-type": "map"}, ["a"], ["a", "b"]),
    "x-kubernetes-map-type": (OBJECT, "atomic", ABSENT),
    "x-kubernetes-validations": (TEXT, [{"rule": "self != 'a'"}], [{"rule": "self != 'b'"}]),
    "id": (TEXT, "a", "b"),
    "$schema": (TEXT, "a", "b"),
    "$ref": (TEXT, "a", "b"),
    "definitions": (OBJECT, {"a": TEXT}, {"b": TEXT}),
    "dependencies": (OBJECT, {"a": ["b"]}, {"b": ["a"]}),
    "patternProperties": (OBJECT, {"a": TEXT}, {"b": TEXT}),
    "additionalItems": (LIST, True, TEXT),
}
WAIVED = {
    "description": "documentation only: nothing reads it, and every release rewrites it",
    "title": "documentation only",
    "example": "documentation only",
    "externalDocs": "documentation only",
}
WAIVED_CHANGES = {
    ("x-kubernetes-list-map-keys", "added"): "a list of type map without keys is refused",
    ("x-kubernetes-list-map-keys", "removed"): "a list of type map without keys is refused",
}


def test_every_keyword_has_an_example_or_a_waiver() -> None:
    assert EXAMPLES.keys() | WAIVED.keys() == KEYWORDS
    assert not EXAMPLES.keys() & WAIVED.keys()
    assert all(WAIVED.values())


def around(inner: dict[str, Any], place: str) -> str:
    outer: dict[str, Any]
    if place == "leaf":
        outer = {
            "type": "object",
            "properties": {"spec": {"type": "object", "properties": {"f": inner}}},
        }
    elif place == "item":
        outer = {"type": "object", "properties": {"l": {"type": "array", "items": inner}}}
    elif place == "value":
        outer = {
            "type": "object",
            "properties": {"m": {"type": "object", "additionalProperties": inner}},
        }
    elif place == "root":
        outer = {**inner, "type": "object"}
    else:
        keyword = place.removeprefix("in ")
        branch = {"properties": {"f": inner}}
        outer = {"type": "object", keyword: branch if keyword == "not" else [branch]}
    return schema(json.dumps(outer))


def heard(before: str, after: str) -> list[str]:
    """Return the diff rules that hear a change."""
    rules = [finding.rule for finding in compare(before, after)]
    assert "internal-error" not in rules
    return [rule for rule in rules if rule in DIFF_IDS]


CHANGES = ("added", "removed", "changed")
CASES = [
    (keyword, change)
    for keyword, (_, _, other) in EXAMPLES.items()
    for change in CHANGES
    if (change != "changed" or other is not ABSENT) and (keyword, change) not in WAIVED_CHANGES
]


def sides(keyword: str, change: str) -> tuple[dict[str, Any], dict[str, Any]]:
    rest, one, other = EXAMPLES[keyword]
    rest = {key: value for key, value in rest.items() if key != keyword}
    full, last = {**rest, keyword: one}, {**rest, keyword: other}
    return {"added": (rest, full), "removed": (full, rest), "changed": (full, last)}[change]


@pytest.mark.parametrize("place", ["leaf", "item", "value"])
@pytest.mark.parametrize(("keyword", "change"), CASES)
def test_heard(keyword: str, change: str, place: str) -> None:
    old, new = sides(keyword, change)
    assert heard(around(old, place), around(new, place)), "somebody hears it"


AT_ROOT = (
    "maxProperties",
    "minProperties",
    "required",
    "properties",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "x-kubernetes-validations",
    "x-kubernetes-preserve-unknown-fields",
)


@pytest.mark.parametrize(("keyword", "change"), [case for case in CASES if case[0] in AT_ROOT])
def test_heard_at_the_root(keyword: str, change: str) -> None:
    old, new = sides(keyword, change)
    assert heard(around(old, "root"), around(new, "root"))


IN_JUNCTORS = tuple(
    keyword
    for keyword in EXAMPLES
    if not keyword.startswith("x-kubernetes-") and keyword not in ("default", "nullable", "type")
)


@pytest.mark.parametrize("junctor", ["allOf", "anyOf", "oneOf", "not"])
@pytest.mark.parametrize(("keyword", "change"), [case for case in CASES if case[0] in IN_JUNCTORS])
def test_heard_inside_junctors(keyword: str, change: str, junctor: str) -> None:
    old, new = sides(keyword, change)
    old, new = ({k: v for k, v in side.items() if k != "type"} for side in (old, new))
    place = f"in {junctor}"
    assert heard(around(old, place), around(new, place))


@pytest.mark.parametrize("keyword", sorted(WAIVED))
def test_documentation_is_no_change(keyword: str) -> None:
    value: Any = {"url": "https://example.com"} if keyword == "externalDocs" else "text"
    with_it, without = {**TEXT, keyword: value}, TEXT
    assert not compare(around(without, "leaf"), around(with_it, "leaf"))
    assert not compare(around(with_it, "leaf"), around(without, "leaf"))


# Inside `not` what is demanded more is refused less, and the other way round.
@pytest.mark.parametrize(
    ("outside", "inside"),
    [
        ("max-length-tightened", "max-length-relaxed"),
        ("max-length-relaxed", "max-length-tightened"),
    ],
)
def test_not_turns_the_direction(outside: str, inside: str) -> None:
    low, high = ({**TEXT, "maxLength": size} for size in (3, 7))
    before, after = (high, low) if outside.endswith("tightened") else (low, high)

    def rules(place: str) -> list[str]:
        return heard(around(before, place), around(after, place))

    assert rules("leaf") == [outside]
    assert rules("in allOf") == [outside]
    assert rules("in not") == [inside]
