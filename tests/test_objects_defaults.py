"""The checks of default values."""

from __future__ import annotations

from typing import Any

import pytest

from crdlint.objects.defaults import check_defaults

META = {"apiVersion": "v1", "kind": "Pod"}


def said(schema: dict[str, Any], minor: int = 37) -> list[tuple[str, str, str]]:
    """Check one property `x` with a default, as (rule, error type, field behind the node)."""
    root = {
        "type": "object",
        "properties": {"spec": {"type": "object", "properties": {"x": schema}}},
    }
    found = check_defaults(root, minor=minor)
    assert all(one.node[:4] == ("properties", "spec", "properties", "x") for one in found)
    return [(one.id, one.type, one.field) for one in found]


CASES: list[tuple[dict[str, Any], list[tuple[str, str, str]]]] = [
    ({"type": "string", "default": "a"}, []),
    ({"type": "string", "default": 1}, [("default-type", "TypeInvalid", ".default")]),
    ({"type": "boolean", "default": 1}, [("default-type", "TypeInvalid", ".default")]),
    ({"type": "integer", "default": True}, [("default-type", "TypeInvalid", ".default")]),
    ({"type": "number", "default": 1}, []),
    ({"x-kubernetes-int-or-string": True, "default": True}, []),
    (
        {"type": "string", "format": "ipv4", "default": "x"},
        [("default-format", "TypeInvalid", ".default")],
    ),
    ({"type": "string", "format": "nope", "default": "x"}, []),
    # beside a format that no server knows a text is not even asked for its type
    ({"type": "boolean", "format": "nope", "default": "x"}, []),
    (
        {"type": "integer", "format": "int32", "default": 1 << 31},
        [("default-number-format", "Invalid", ".default")],
    ),
    (
        {"type": "string", "enum": ["a"], "default": "b"},
        [("default-enum", "NotSupported", ".default")],
    ),
    (
        {"type": "string", "maxLength": 1, "default": "éé"},
        [("default-length", "TooLong", ".default")],
    ),
    (
        {"type": "string", "minLength": 3, "default": "éé"},
        [("default-length", "Invalid", ".default")],
    ),
    ({"type": "integer", "maximum": 1, "default": 2}, [("default-range", "Invalid", ".default")]),
    (
        {"type": "integer", "multipleOf": 2, "default": 3},
        [("default-range", "Invalid", ".default")],
    ),
    (
        {"type": "array", "maxItems": 1, "items": {"type": "string"}, "default": ["a", 1]},
        [
            ("default-type", "TypeInvalid", ".default.[1]"),
            ("default-item-count", "TooMany", ".default"),
        ],
    ),
    (
        {
            "type": "object",
            "maxProperties": 0,
            "properties": {"a": {"type": "string"}},
            "default": {"a": ""},
        },
        [("default-property-count", "TooMany", ".default")],
    ),
    (
        {
            "type": "object",
            "required": ["a"],
            "properties": {"a": {"type": "string", "default": "x"}},
            "default": {},
        },
        [("default-required", "Required", ".default.a")],
    ),
    (
        {"type": "object", "properties": {"a": {"type": "string"}}, "default": {"a": None}},
        [("default-null-inside", "TypeInvalid", ".default.a")],
    ),
    (
        {"type": "object", "properties": {}, "default": {"b": 1}},
        [("default-unknown-fields", "Invalid", ".default")],
    ),
    ({"type": "object", "x-kubernetes-preserve-unknown-fields": True, "default": {"b": 1}}, []),
    (
        {"type": "string", "not": {"enum": ["a"]}, "default": "a"},
        [("default-junctors", "Invalid", ".default")],
    ),
    (
        {"type": "object", "x-kubernetes-embedded-resource": True, "default": {"kind": "Pod"}},
        [("default-embedded-typemeta", "Required", ".default.apiVersion")],
    ),
    (
        {
            "type": "object",
            "x-kubernetes-embedded-resource": True,
            "default": {**META, "metadata": {"labels": {"a": "b c"}}},
        },
        [("default-embedded-metadata", "Invalid", ".default.metadata.labels")],
    ),
]


@pytest.mark.parametrize(("schema", "expected"), CASES)
def test_one_default(schema: dict[str, Any], expected: list[tuple[str, str, str]]) -> None:
    assert sorted(said(schema)) == sorted(expected)


def test_number_formats_count_since_1_36() -> None:
    schema = {"type": "integer", "format": "int32", "default": 1 << 31}
    assert [minor for minor in range(25, 38) if said(schema, minor)] == [36, 37]


def test_a_junctor_names_what_its_nearest_branch_lacks() -> None:
    branches = [{"maxLength": 1}, {"pattern": "^$"}]
    root = {
        "type": "object",
        "properties": {"x": {"type": "string", "anyOf": branches, "default": "ab"}},
    }
    (problem,) = check_defaults(root, minor=37)
    assert (problem.id, problem.type, problem.field) == ("default-junctors", "Invalid", ".default")
    assert problem.also == [("TooLong", ".default")]


def test_a_default_inside_embedded_metadata_must_leave_the_resource_valid() -> None:
    labels = {"type": "object", "additionalProperties": {"type": "string"}, "default": {"a": "b c"}}
    metadata = {"type": "object", "properties": {"labels": labels}}
    schema = {
        "type": "object",
        "x-kubernetes-embedded-resource": True,
        "properties": {"metadata": metadata},
    }
    assert said(schema) == [("default-in-embedded-metadata", "Invalid", ".default")]


def test_the_root_counts_as_a_resource() -> None:
    root = {"type": "object", "default": {}}
    found = {(one.type, one.field) for one in check_defaults(root, minor=37)}
    assert found == {("Required", ".default.apiVersion"), ("Required", ".default.kind")}


def test_defaults_below_additional_properties_are_not_looked_at() -> None:
    assert said({"type": "object", "additionalProperties": {"type": "string", "default": 1}}) == []


def test_ways_lead_to_the_node_and_into_the_default() -> None:
    items = {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "integer"}}}}
    root = {
        "type": "object",
        "properties": {"l": {"type": "array", "items": {**items, "default": {"a": [1, "b"]}}}},
    }
    (problem,) = check_defaults(root, minor=37)
    assert problem.node == ("properties", "l", "items")
    assert problem.inside == ("a", 1)
    assert problem.field == ".default.a[1]"


def test_a_deep_schema_and_default() -> None:
    schema: dict[str, Any] = {"type": "integer"}
    value: Any = "x"
    for _ in range(9_000):
        schema = {"type": "object", "properties": {"a": schema}}
        value = {"a": value}
    root = {"type": "object", "properties": {"x": {**schema, "default": value}}}
    (problem,) = check_defaults(root, minor=37)
    assert problem.id == "default-type"
    assert len(problem.inside) == 9_000
