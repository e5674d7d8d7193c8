"""Decoding a CRD: what the server refuses, drops, keeps and fills in."""

from __future__ import annotations

import copy
import sys
from typing import Any

import pytest

from crdlint.shape import JSON_SCHEMA, from_v1beta1, shape

V1 = "apiextensions.k8s.io/v1"
SCHEMA_AT = ("spec", "versions", 0, "schema", "openAPIV3Schema")
CONFIG_AT = ("spec", "conversion", "webhook", "clientConfig")


def crd(schema: Any = None, **version: Any) -> dict[str, Any]:
    """Return a small CRD whose only version has this schema and these fields."""
    first = {"name": "v1", "served": True, "storage": True, **version}
    if schema is not None:
        first["schema"] = {"openAPIV3Schema": schema}
    return {
        "apiVersion": V1,
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Cluster",
            "names": {"plural": "widgets", "kind": "Widget"},
            "versions": [first],
        },
    }


def put(path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    """Return a CRD with a value at a path, with objects on the way where there are none."""
    data = crd({"type": "object"})
    here: Any = data
    for step in path[:-1]:
        here = here.setdefault(step, {}) if isinstance(here, dict) else here[step]
    here[path[-1]] = value
    return data


def at(data: Any, path: tuple[Any, ...]) -> Any:
    for step in path:
        data = data[step]
    return data


# Every kind of Go field: a place, values it takes, values that are refused there.
BIG = 1 << 63
TYPES: list[tuple[tuple[Any, ...], list[Any], list[Any]]] = [
    ((*SCHEMA_AT, "type"), ["", "x"], [True, 1, 1.5, [], ["object", "null"], {}]),
    ((*SCHEMA_AT, "nullable"), [True, False], [0, 1, "true", [], {}]),
    ((*SCHEMA_AT, "exclusiveMinimum"), [True], [0, 1.5, "x"]),
    ((*SCHEMA_AT, "maxLength"), [0, -1, 10.0, BIG - 1], [1.5, BIG, -BIG - 1, "1", True, [], {}]),
    ((*SCHEMA_AT, "maximum"), [0, 1.5, 1e30, BIG], ["1", True, [], {}]),
    ((*SCHEMA_AT, "required"), [[], ["a"]], [True, "a", {}, [1], ["a", {}]]),
    ((*SCHEMA_AT, "enum"), [[], [None, 1, "a", {}]], ["a", 1, True, {}]),
    ((*SCHEMA_AT, "properties"), [{}, {"a": {}}], [[], "x", 1, {"a": "x"}, {"a": True}]),
    ((*SCHEMA_AT, "not"), [{}], [[], "x", True]),
    ((*SCHEMA_AT, "allOf"), [[], [{}]], [{}, "x", ["x"], [[]]]),
    ((*SCHEMA_AT, "additionalProperties"), [True, False, {}], ["true", 1, [], 1.5]),
    ((*SCHEMA_AT, "additionalItems"), [True, False, {}], ["true", 1, []]),
    ((*SCHEMA_AT, "items"), [{}, [{}], "x", 1, True, 1.5], [["x"], [1], {"type": 1}]),
    ((*SCHEMA_AT, "dependencies"), [{"a": {}}, {"a": ["b"]}, {"a": 1}], [[], {"a": [1]}]),
    ((*SCHEMA_AT, "default"), [0, "", False, [], {"a": [None]}], []),
    ((*SCHEMA_AT, "x-kubernetes-validations"), [[], [{"rule": ""}]], [{}, ["x"], [{"rule": 1}]]),
    ((*CONFIG_AT, "service", "port"), [443, 443.0], [1 << 31, "443", 1.5, True]),
    ((*CONFIG_AT, "caBundle"), ["", "YQ==", "Y\nQ==", [97], []], ["YQ", "é", "YQ==YQ==", 1, [256]]),
    (("metadata", "labels"), [{}, {"a": "b"}], [[], {"a": 1}, {"a": True}, "x"]),
    (("metadata", "generation"), [0, -1, 1.0], ["1", 1.5, True]),
    (("metadata", "managedFields"), [[{"fieldsV1": {"f:a": 1}}]], [{}, [1], [{"time": 1}]]),
    (("metadata", "ownerReferences"), [[{"controller": True}]], [{}, [{"controller": "true"}]]),
    (("spec",), [], [[], "x", 1, True]),
    (("spec", "versions", 0, "subresources", "status"), [{}], [[], True, "x"]),
    (("status", "storedVersions"), [[], ["v1"]], ["v1", [1]]),
]


@pytest.mark.parametrize(
    ("path", "value"), [(path, value) for path, good, _ in TYPES for value in good], ids=repr
)
def test_what_fits_the_field_is_taken(path: tuple[Any, ...], value: Any) -> None:
    assert shape(put(path, value)).error is None


@pytest.mark.parametrize(
    ("path", "value"), [(path, value) for path, _, bad in TYPES for value in bad], ids=repr
)
def test_what_does_not_fit_is_refused_at_its_place(path: tuple[Any, ...], value: Any) -> None:
    result = shape(put(path, value))
    assert result.error is not None
    assert result.error.type == "DecodeError"
    assert result.error.path[: len(path)] == path
    assert result.error.message
    assert result.crd == {}


def test_the_first_error_counts() -> None:
    error = shape(crd({"type": 1, "title": 2})).error
    assert error is not None
    assert error.path == (*SCHEMA_AT, "type")


@pytest.mark.parametrize("key", JSON_SCHEMA)
def test_null_is_as_good_as_absent_in_every_keyword(key: str) -> None:
    result = shape(crd({"type": "object", key: None} if key != "type" else {key: None}))
    assert result.error is None
    assert key not in at(result.crd, SCHEMA_AT)


def test_null_in_lists_and_maps_is_an_empty_value() -> None:
    schema = {"properties": {"a": None}, "allOf": [None], "required": [None], "enum": [None]}
    result = shape(crd(schema))
    assert result.error is None
    assert at(result.crd, SCHEMA_AT) == {
        "properties": {"a": {}},
        "allOf": [{}],
        "required": [""],
        "enum": [None],
    }


@pytest.mark.parametrize(
    "text",
    [
        "2020-01-01T00:00:00Z",
        "2020-02-29T0:00:00.5+23:59",
        "2020-01-01T00:00:00,5Z",
        "2020-01-01T00:00:00+24:00",
        "0000-02-29T00:00:00Z",
    ],
)
def test_times_that_go_parses(text: str) -> None:
    assert shape(put(("metadata", "creationTimestamp"), text)).error is None


@pytest.mark.parametrize(
    "value",
    [
        "",
        "2020-13-01T00:00:00Z",
        "2021-02-29T00:00:00Z",
        "1900-02-29T00:00:00Z",
        "2020-01-01T24:00:00Z",
        "2020-01-01T00:00:60Z",
        "2020-01-01T00:00:00z",
        "2020-01-01 00:00:00Z",
        "2020-01-01T00:00:00+0100",
        "2020-01-01T00:00:00.Z",
        1,
        {},
    ],
)
def test_times_that_go_refuses(value: Any) -> None:
    assert shape(put(("metadata", "creationTimestamp"), value)).error is not None


def test_nothing_dropped_nothing_copied() -> None:
    data = crd({"type": "object", "properties": {"a": {"type": "string", "maxLength": 3}}})
    before = copy.deepcopy(data)
    result = shape(data)
    assert at(result.crd, SCHEMA_AT) is at(data, SCHEMA_AT)
    assert data == before  # the defaults went into a copy


def test_a_drop_copies_only_the_way_to_it() -> None:
    data = crd({"properties": {"a": {"type": "string"}, "b": {"bogus": 1}}})
    result = shape(data)
    assert at(result.crd, (*SCHEMA_AT, "properties", "a")) is at(
        data, (*SCHEMA_AT, "properties", "a")
    )
    assert at(result.crd, (*SCHEMA_AT, "properties", "b")) == {}
    assert at(data, (*SCHEMA_AT, "properties", "b")) == {"bogus": 1}


@pytest.mark.parametrize(
    "path",
    [
        ("bogus",),
        ("metadata", "bogus"),
        ("metadata", "ownerReferences", 0, "bogus"),
        ("spec", "Group"),
        ("spec", "versions", 0, "schemas"),
        (*SCHEMA_AT, "const"),
        (*SCHEMA_AT, "minlength"),
        (*SCHEMA_AT, "properties", "a", "bogus"),
        (*SCHEMA_AT, "not", "bogus"),
    ],
)
def test_unknown_fields_are_told_and_dropped(path: tuple[Any, ...]) -> None:
    data = put(("metadata", "ownerReferences"), [{}])
    at(data, SCHEMA_AT)["properties"] = {"a": {}}
    at(data, SCHEMA_AT)["not"] = {}
    at(data, path[:-1])[path[-1]] = {"x": 1}
    result = shape(data)
    assert result.error is None
    assert result.unknown == [path]
    assert result.hidden == []
    assert path[-1] not in at(result.crd, path[:-1])


@pytest.mark.parametrize(
    ("schema", "below"),
    [
        ({"items": {"bogus": 1}}, ("items", "bogus")),
        ({"items": [{"bogus": 1}]}, ("items", 0, "bogus")),
        ({"additionalProperties": {"bogus": 1}}, ("additionalProperties", "bogus")),
        ({"additionalItems": {"bogus": 1}}, ("additionalItems", "bogus")),
        ({"dependencies": {"a": {"bogus": 1}}}, ("dependencies", "a", "bogus")),
        (
            {"items": {"properties": {"a": {"bogus": 1}}}},
            ("items", "properties", "a", "bogus"),
        ),
    ],
)
def test_strict_validation_is_blind_below_hand_written_decoders(
    schema: dict[str, Any], below: tuple[Any, ...]
) -> None:
    result = shape(crd(schema))
    assert result.unknown == []
    assert result.hidden == [(*SCHEMA_AT, *below)]


def test_wrong_types_are_seen_in_the_blind_spots() -> None:
    error = shape(crd({"items": {"properties": {"a": {"type": 1}}}})).error
    assert error is not None
    assert error.path == (*SCHEMA_AT, "items", "properties", "a", "type")


@pytest.mark.parametrize(
    ("version", "type_"),
    [
        (V1, None),
        ("", None),
        (None, None),
        ("apiextensions.k8s.io/v1beta1", "NotServed"),
        ("apiextensions.k8s.io/v2", "DecodeError"),
        (1, "DecodeError"),
    ],
)
def test_api_versions(version: Any, type_: str | None) -> None:
    error = shape({**crd(), "apiVersion": version}).error
    assert (error and error.type) == type_
    assert error is None or error.path == ("apiVersion",)


def test_v1beta1_is_decoded_by_its_own_fields_before_it_is_not_served() -> None:
    old = {**crd(additionalPrinterColumns=[{"JSONPath": 1}]), "apiVersion": f"{V1}beta1"}
    error = shape(old).error
    assert error is not None
    assert error.type == "DecodeError"
    assert error.path[-1] == "JSONPath"


def test_defaults() -> None:
    spec = shape(crd()).crd["spec"]
    assert spec["names"]["singular"] == "widget"
    assert spec["names"]["listKind"] == "WidgetList"
    assert spec["conversion"] == {"strategy": "None"}


@pytest.mark.parametrize("port", [None, "absent"])
def test_the_port_of_a_service_has_a_default(port: Any) -> None:
    service = {"name": "a", "namespace": "b"} if port == "absent" else {"name": "a", "port": port}
    result = shape(put((*CONFIG_AT, "service"), service))
    assert at(result.crd, (*CONFIG_AT, "service", "port")) == 443


def test_what_is_given_is_not_defaulted() -> None:
    data = put((*CONFIG_AT, "service"), {"port": 0})
    data["spec"]["names"].update(singular="one", listKind="Many")
    result = shape(data)
    assert at(result.crd, (*CONFIG_AT, "service", "port")) == 0
    assert result.crd["spec"]["names"]["singular"] == "one"
    assert result.crd["spec"]["names"]["listKind"] == "Many"
    assert "strategy" not in result.crd["spec"]["conversion"]  # its absence is an error


RULE = {"rule": "a", "messageExpression": "b", "reason": "c", "fieldPath": "d"}


@pytest.mark.parametrize(
    ("minor", "unknown"),
    [
        (26, ["messageExpression", "reason", "fieldPath"]),
        (27, ["reason", "fieldPath"]),
        (28, []),
        (37, []),
    ],
)
def test_older_servers_do_not_know_newer_fields(minor: int, unknown: list[str]) -> None:
    result = shape(crd({"x-kubernetes-validations": [RULE]}), minor=minor)
    assert [path[-1] for path in result.unknown] == unknown
    rule = at(result.crd, (*SCHEMA_AT, "x-kubernetes-validations", 0))
    assert list(rule) == [key for key in RULE if key not in unknown]


@pytest.mark.parametrize(
    ("minor", "unknown", "kept"), [(29, True, False), (30, False, False), (31, False, True)]
)
def test_selectable_fields_are_unknown_then_dropped_then_kept(
    minor: int, unknown: bool, kept: bool
) -> None:
    result = shape(crd(selectableFields=[{"jsonPath": ".a"}]), minor=minor)
    assert bool(result.unknown) == unknown
    assert ("selectableFields" in result.crd["spec"]["versions"][0]) == kept


def test_what_a_gate_drops_is_decoded_first() -> None:
    error = shape(crd(selectableFields=[{"jsonPath": 1}]), minor=30).error
    assert error is not None
    assert error.path == ("spec", "versions", 0, "selectableFields", 0, "jsonPath")
    assert shape(crd(selectableFields=[{"jsonPath": 1}]), minor=29).error is None


@pytest.mark.parametrize("key", ["properties", "items", "not"])
def test_ten_thousand_levels_are_no_crash(key: str) -> None:
    schema: Any = {"type": 1}
    levels = 4_900 if key == "properties" else 9_900
    for _ in range(levels):
        schema = {key: {"a": schema} if key == "properties" else schema}
    limit = sys.getrecursionlimit()
    error = shape(crd(schema)).error
    assert error is not None
    assert error.path[-1] == "type"
    assert sys.getrecursionlimit() == limit


def old(**spec: Any) -> dict[str, Any]:
    """Return the spec of the v1 that a v1beta1 CRD with these fields means."""
    data = {"apiVersion": f"{V1}beta1", "kind": "CustomResourceDefinition", "spec": spec}
    new = from_v1beta1(data)
    assert new["apiVersion"] == V1
    assert isinstance(new["spec"], dict)
    return new["spec"]


ONE = [{"name": "v1", "served": True, "storage": True}]


def test_v1beta1_has_other_defaults() -> None:
    spec = old(version="v1", scope="", preserveUnknownFields=None)
    assert spec["scope"] == "Namespaced"
    assert spec["preserveUnknownFields"] is True
    assert spec["versions"] == ONE
    assert "version" not in spec


@pytest.mark.parametrize("inside", [{}, {"subresources": None}, {"subresources": {"scale": {}}}])
def test_what_v1beta1_has_at_the_top_is_of_every_version(inside: dict[str, Any]) -> None:
    spec = old(
        versions=[{**ONE[0], **inside}, {"name": "v2"}],
        subresources={"status": {}},
        validation={"openAPIV3Schema": {}},
    )
    assert [v["subresources"] for v in spec["versions"]] == [{"status": {}}] * 2
    assert [v["schema"] for v in spec["versions"]] == [{"openAPIV3Schema": {}}] * 2
    assert not {"subresources", "validation"} & set(spec)


def test_v1beta1_spells_the_path_of_a_column_in_capitals() -> None:
    column = {"name": "a", "JSONPath": ".a"}
    spec = old(versions=ONE, additionalPrinterColumns=[column, {"jsonPath": ".b"}])
    assert spec["versions"][0]["additionalPrinterColumns"] == [
        {"name": "a", "jsonPath": ".a"},
        {},  # jsonPath is unknown there
    ]


@pytest.mark.parametrize(
    ("conversion", "webhook"),
    [
        ({"strategy": "None"}, None),
        (
            {"strategy": "Webhook"},
            {"clientConfig": None, "conversionReviewVersions": ["v1beta1"]},
        ),
        (
            {"strategy": "Webhook", "webhookClientConfig": {}, "conversionReviewVersions": ["v1"]},
            {"clientConfig": {}, "conversionReviewVersions": ["v1"]},
        ),
        (
            {"strategy": "None", "webhookClientConfig": {}},
            {"clientConfig": {}, "conversionReviewVersions": None},
        ),
    ],
)
def test_conversion_of_v1beta1(conversion: dict[str, Any], webhook: Any) -> None:
    assert old(versions=ONE, conversion=conversion)["conversion"].get("webhook") == webhook


@pytest.mark.parametrize("spec", [None, [], "x", {"versions": "x"}, {"versions": [1]}])
def test_what_is_malformed_in_v1beta1_stays_so(spec: Any) -> None:
    data = {"apiVersion": f"{V1}beta1", "kind": "CustomResourceDefinition", "spec": spec}
    assert (shape(from_v1beta1(data)).error is None) == (spec is None)
