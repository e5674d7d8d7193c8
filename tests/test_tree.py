"""The tree of a CRD, semantic equality, and how the server spells a place."""

from __future__ import annotations

from typing import Any

import pytest

from crdlint import server
from crdlint.keywords import KEYWORDS, same_json, same_schema
from crdlint.tree import Crd, Place, walk

OBJECT = {"type": "object", "properties": {"spec": {"type": "object"}}}


def crd(*schemas: Any, **parts: Any) -> Crd:
    versions = [
        {"name": f"v{i}", "schema": {"openAPIV3Schema": schema}, **parts}
        for i, schema in enumerate(schemas, 1)
    ]
    return Crd({"metadata": {"name": "x"}, "spec": {"versions": versions}}, None, minor=37)  # type: ignore[arg-type]


def test_there_are_44_keywords() -> None:
    assert len(KEYWORDS) == 44


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ({}, {"type": "", "nullable": False, "enum": [], "properties": {}}),
        ({"maximum": 1}, {"maximum": 1.0}),
        ({"default": {"a": [1]}}, {"default": {"a": [1.0]}}),
        ({"items": {"type": "string"}}, {"items": {"type": "string", "format": ""}}),
    ],
)
def test_what_decodes_alike_is_equal(a: Any, b: Any) -> None:
    assert same_schema(a, b)
    assert same_schema(b, a)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ({}, {"maximum": 0}),
        ({}, {"x-kubernetes-preserve-unknown-fields": False}),
        ({"default": True}, {"default": 1}),
        ({"enum": [0]}, {"enum": [False]}),
        ({"description": "a"}, {"description": "b"}),
        ({"properties": {"a": {}}}, {"properties": {"b": {}}}),
        ({"allOf": [{}]}, {"allOf": [{}, {}]}),
        ({}, {"items": {}}),
    ],
)
def test_what_decodes_otherwise_is_not_equal(a: Any, b: Any) -> None:
    assert not same_schema(a, b)
    assert not same_schema(b, a)


def test_true_is_not_one() -> None:
    assert not same_json([True], [1])
    assert same_json([1], [1.0])


def test_every_path_leads_to_the_data_it_names() -> None:
    schema = {
        "properties": {"a.b": {"items": {"anyOf": [{"not": {"type": "x"}}]}}},
        "additionalProperties": {"type": "string"},
    }
    tree = crd(schema, OBJECT)
    seen = 0
    for node in walk(tree.root):
        data: Any = tree.data
        for step in node.path:
            data = data[step]
        assert data is node.data
        seen += 1
    assert seen == 1 + 2 + 6 + 2


def test_equal_schemas_are_hoisted_and_checked_once() -> None:
    assert len(crd(OBJECT, OBJECT).schemas) == 1
    assert len(crd(OBJECT, {**OBJECT, "title": "t"}).schemas) == 2


def test_the_server_spells_hoisted_places_at_the_top() -> None:
    path = (
        "spec",
        "versions",
        1,
        "schema",
        "openAPIV3Schema",
        "properties",
        "a.b",
        "items",
        "type",
    )
    tail = "openAPIV3Schema.properties[a.b].items.type"
    assert server.spell(crd(OBJECT, OBJECT), path) == f"spec.validation.{tail}"
    other = {**OBJECT, "title": "t"}
    assert server.spell(crd(OBJECT, other), path) == f"spec.versions[1].schema.{tail}"


def test_the_server_has_other_names_for_a_few_fields() -> None:
    tree = crd(OBJECT)
    assert (
        server.spell(tree, ("spec", "conversion", "webhook", "clientConfig", "url"))
        == "spec.conversion.webhookClientConfig.url"
    )
    assert (
        server.spell(tree, ("spec", "versions", 0, "additionalPrinterColumns", 2, "jsonPath"))
        == "spec.additionalPrinterColumns[2].JSONPath"
    )


def test_the_field_is_what_users_write() -> None:
    schema = {"properties": {"a": {"items": {"additionalProperties": {"type": "string"}}}}}
    deepest = max(walk(crd(schema).root), key=lambda node: len(node.path))
    assert deepest.field == ".a[*].*"
    assert Place(deepest, ("type",)).path[-1] == "type"
