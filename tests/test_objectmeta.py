"""ObjectMeta: names, what makes it invalid, what may not change, and how it is written."""

from __future__ import annotations

from typing import Any

import pytest

from crdlint import objectmeta
from crdlint.objectmeta import decode, validate, validate_update

NAMES: list[tuple[Any, list[str], list[str]]] = [
    (
        objectmeta.dns1123_subdomain,
        ["a", "0", "a.b", "a-b.c", "a" * 253],
        ["", "A", "a_b", "-a", "a-", ".a", "a..b", "a.-b", "a" * 254, "a\n", "é"],
    ),
    (objectmeta.dns1123_label, ["a", "0a", "a" * 63], ["", "a.b", "A", "a-", "a" * 64]),
    (objectmeta.dns1035_label, ["a", "a0", "a" * 63], ["", "0a", "a.b", "A", "a-", "a" * 64]),
    (
        objectmeta.qualified_name,
        ["a", "A_b.c-d", "a.b/C", "0", "x" * 63, "a" * 253 + "/b"],
        ["", "a b", "-a", "a/", "/a", "a/b/c", "A/b", "a_b/c", "x" * 64, "a" * 254 + "/b", "é"],
    ),
    (objectmeta.label_value, ["", "a", "A_b.c", "x" * 63], ["-a", "a b", "{{ x }}", "x" * 64]),
    (objectmeta.path_segment, ["", "a", "...", "A b"], [".", "..", "a/b", "a%b"]),
]


@pytest.mark.parametrize(
    ("check", "text"), [(check, text) for check, good, _ in NAMES for text in good]
)
def test_good_names(check: Any, text: str) -> None:
    assert check(text) == []


@pytest.mark.parametrize(
    ("check", "text"), [(check, text) for check, _, bad in NAMES for text in bad]
)
def test_bad_names(check: Any, text: str) -> None:
    assert check(text)
    assert all(isinstance(message, str) and message for message in check(text))


def test_the_length_of_a_name_is_counted_in_bytes() -> None:
    assert len(objectmeta.label_value("é" * 32)) == 2  # 64 bytes, and not of the letters


@pytest.mark.parametrize(
    ("check", "text", "count"),
    [
        (objectmeta.dns1123_subdomain, "é" * 127, 2),
        (objectmeta.qualified_name, "", 2),
        (objectmeta.qualified_name, "a/", 2),
        (objectmeta.qualified_name, "/a", 1),
        (objectmeta.qualified_name, "a/b/c", 1),
        (objectmeta.qualified_name, "\u0661", 1),  # a digit, but not an ASCII one
        (objectmeta.label_value, "-" * 64, 2),
        (objectmeta.path_segment, "a/b%", 2),
    ],
)
def test_a_message_for_each_thing_wrong(check: Any, text: str, count: int) -> None:
    assert len(check(text)) == count


def said(meta: dict[str, Any], *, namespaced: bool = False) -> set[tuple[str, str]]:
    """Return what is wrong with metadata as (error type, field as the server spells it)."""
    meta = {"name": "a", **meta}
    errors = validate(meta, name=objectmeta.dns1123_subdomain, namespaced=namespaced)
    return {(error.type, f"metadata{error.field}") for error in errors}


OWNER = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "a", "uid": "u"}
ENTRY = {"operation": "Apply"}
INVALID = "Invalid"

CASES: list[tuple[dict[str, Any], list[tuple[str, str]]]] = [
    ({}, []),
    ({"name": ""}, [("Required", "metadata.name")]),
    ({"name": "A"}, [(INVALID, "metadata.name")]),
    ({"generateName": "A"}, [(INVALID, "metadata.generateName")]),
    ({"namespace": "a"}, [("Forbidden", "metadata.namespace")]),
    ({"generation": -1}, [(INVALID, "metadata.generation")]),
    ({"labels": {"a": "b", "example.com/a": ""}}, []),
    ({"labels": {"a b": "c"}}, [(INVALID, "metadata.labels")]),
    ({"labels": {"a": "{{ x }}"}}, [(INVALID, "metadata.labels")]),
    ({"annotations": {"A.B/c": "any text"}}, []),  # in lower case it is a name
    ({"annotations": {"\u0130": ""}}, []),  # Go makes a plain i of a dotted capital I
    ({"annotations": {"a b": ""}}, [(INVALID, "metadata.annotations")]),
    ({"annotations": {"a": "x" * (262_144 - 1)}}, []),
    ({"annotations": {"a": "x" * 262_144}}, [("TooLong", "metadata.annotations")]),
    ({"annotations": {"a": "é" * 131_072}}, [("TooLong", "metadata.annotations")]),
    ({"ownerReferences": [OWNER]}, []),
    (
        {"ownerReferences": [{}]},
        [
            ("Required", f"metadata.ownerReferences[0].{key}")
            for key in ("apiVersion", "kind", "name", "uid")
        ],
    ),
    *(
        (
            {"ownerReferences": [{**OWNER, "apiVersion": version}]},
            [(INVALID, "metadata.ownerReferences[0].apiVersion")],
        )
        for version in ("/", "a/", "a/b/c")
    ),
    (
        {"ownerReferences": [{**OWNER, "apiVersion": "v1", "kind": "Event"}]},
        [(INVALID, "metadata.ownerReferences[0]")],
    ),
    ({"ownerReferences": [{**OWNER, "kind": "Event"}]}, []),  # of another group
    ({"ownerReferences": [{**OWNER, "controller": True}, {**OWNER, "controller": False}]}, []),
    (
        {"ownerReferences": [{**OWNER, "controller": True}] * 2},
        [(INVALID, "metadata.ownerReferences")],
    ),
    ({"finalizers": ["example.com/a", "orphan"]}, []),
    ({"finalizers": ["a b"]}, [(INVALID, "metadata.finalizers")]),
    ({"finalizers": ["orphan", "foregroundDeletion"]}, [(INVALID, "metadata.finalizers")]),
    ({"managedFields": [ENTRY, {"operation": "Update", "fieldsType": "FieldsV1"}]}, []),
    ({"managedFields": [{}]}, [("Required", "metadata.managedFields[0].operation")]),
    (
        {"managedFields": [{"operation": "apply"}]},
        [("NotSupported", "metadata.managedFields[0].operation")],
    ),
    (
        {"managedFields": [{**ENTRY, "fieldsType": "FieldsV2"}]},
        [(INVALID, "metadata.managedFields[0].fieldsType")],
    ),
    ({"managedFields": [{**ENTRY, "manager": "a b" + "x" * 125}]}, []),
    (
        {"managedFields": [{**ENTRY, "manager": "x" * 129}]},
        [("TooLong", "metadata.managedFields[0].manager")],
    ),
    (
        {"managedFields": [{**ENTRY, "manager": "a\tb"}]},
        [(INVALID, "metadata.managedFields[0].manager")],
    ),
    (
        {"managedFields": [{**ENTRY, "manager": "a\u00a0b"}]},  # a no-break space
        [(INVALID, "metadata.managedFields[0].manager")],
    ),
    (
        {"managedFields": [{**ENTRY, "subresource": "x" * 257}]},
        [("TooLong", "metadata.managedFields[0].subresource")],
    ),
]


@pytest.mark.parametrize(("meta", "wrong"), CASES)
def test_validity(meta: dict[str, Any], wrong: list[tuple[str, str]]) -> None:
    assert said(meta) == set(wrong)


@pytest.mark.parametrize(
    ("namespace", "wrong"),
    [
        ("", {("Required", "metadata.namespace")}),
        ("a", set()),
        ("a.b", {(INVALID, "metadata.namespace")}),
    ],
)
def test_namespaces(namespace: str, wrong: set[tuple[str, str]]) -> None:
    assert said({"namespace": namespace}, namespaced=True) == wrong


def test_every_further_controller_is_refused() -> None:
    owners = [{**OWNER, "uid": uid, "controller": True} for uid in "abc"]
    errors = list(
        validate({"name": "a", "ownerReferences": owners}, name=lambda _: [], namespaced=False)
    )
    assert [error.field for error in errors] == [".ownerReferences"] * 2


def test_the_path_leads_to_the_key_where_the_server_names_the_map() -> None:
    (error,) = validate({"name": "a", "labels": {"a b": ""}}, name=lambda _: [], namespaced=False)
    assert error.path == ("labels", "a b")
    assert error.field == ".labels"


STORED = {
    "name": "a",
    "uid": "u",
    "creationTimestamp": "2020-01-01T00:00:00Z",
    "finalizers": ["a/b"],
}


def changed(new: dict[str, Any], stored: dict[str, Any] | None = None) -> set[tuple[str, str]]:
    errors = validate_update({"name": "a", **new}, stored or STORED)
    return {(error.type, error.field) for error in errors}


@pytest.mark.parametrize(
    ("new", "wrong"),
    [
        ({}, set()),  # uid and timestamps are carried over
        (STORED, set()),
        ({"creationTimestamp": "2020-01-01T01:00:00+01:00"}, set()),  # the same moment
        ({"creationTimestamp": "2020-01-01T00:00:01Z"}, {(INVALID, ".creationTimestamp")}),
        ({"name": "b"}, {(INVALID, ".name")}),
        ({"name": ""}, {(INVALID, ".name")}),
        ({"namespace": "b"}, {(INVALID, ".namespace")}),
        ({"uid": "v"}, {(INVALID, ".uid")}),
        ({"deletionTimestamp": "2020-01-01T00:00:00Z"}, {(INVALID, ".deletionTimestamp")}),
        ({"deletionGracePeriodSeconds": 0}, {(INVALID, ".deletionGracePeriodSeconds")}),
        ({"labels": {"a b": ""}}, {(INVALID, ".labels")}),
        ({"finalizers": ["no name"]}, set()),  # only creation looks at them
        ({"managedFields": [{}]}, {("Required", ".managedFields[0].operation")}),
    ],
)
def test_updates(new: dict[str, Any], wrong: set[tuple[str, str]]) -> None:
    assert changed(new) == wrong


def test_no_finalizer_comes_to_what_is_being_deleted() -> None:
    dying = {**STORED, "deletionTimestamp": "2020-01-01T00:00:00Z"}
    assert changed({"finalizers": ["a/b"]}, dying) == set()
    assert changed({"finalizers": ["a/b", "c/d"]}, dying) == {("Forbidden", ".finalizers")}
    assert changed({"finalizers": ["a/b", "c/d"]}) == set()


def test_decoding_gives_metadata_as_the_server_writes_it() -> None:
    given = {
        "name": "a",
        "namespace": "",
        "labels": {},
        "annotations": {"a": None},
        "generation": 0,
        "creationTimestamp": "2020-01-01T00:30:00.9-00:45",
        "deletionGracePeriodSeconds": 0,
        "ownerReferences": [{"uid": "u", "controller": False}],
        "managedFields": [{"manager": "", "time": "2020-01-01T00:00:00Z", "fieldsV1": {}}],
    }
    assert decode(given, drop_malformed=False) == (
        {
            "name": "a",
            "annotations": {"a": ""},
            "creationTimestamp": "2020-01-01T01:15:00Z",
            "deletionGracePeriodSeconds": 0,
            "ownerReferences": [
                {"apiVersion": "", "kind": "", "name": "", "uid": "u", "controller": False}
            ],
            "managedFields": [{"time": "2020-01-01T00:00:00Z", "fieldsV1": {}}],
        },
        [],
        "",
    )


def test_unknown_fields_are_named_as_the_server_names_them() -> None:
    given = {"bogus": 1, "ownerReferences": [{"bogus": 1}]}
    _, unknown, wrong = decode(given, drop_malformed=False)
    assert unknown == ["bogus", "ownerReferences[0].bogus"]
    assert wrong == ""


@pytest.mark.parametrize("value", [1, [], "x", {"a": 1}])
def test_malformed_fields_are_refused_or_left_out(value: Any) -> None:
    given = {"name": "a", "labels": value, "bogus": 1}
    typed, _, wrong = decode(given, drop_malformed=False)
    assert typed is None
    assert "labels" in wrong
    assert decode(given, drop_malformed=True) == ({"name": "a"}, ["bogus"], "")


@pytest.mark.parametrize("drop", [True, False])
def test_metadata_that_is_no_object(drop: bool) -> None:
    assert decode(None, drop_malformed=drop) == ({}, [], "")
    typed, _, wrong = decode("x", drop_malformed=drop)
    assert typed is None
    assert wrong


@pytest.mark.parametrize(("text", "printed"), [("a", True), (" ", True), ("\n", False)])
def test_printable(text: str, printed: bool) -> None:
    assert objectmeta.is_print(text) == printed
