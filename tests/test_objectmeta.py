"""Object metadata: names, labels, owners, finalizers, managed fields, and what is written back."""

from __future__ import annotations

from typing import Any

import pytest

from crdlint import objectmeta

Found = list[tuple[str, str]]


def check(meta: dict[str, Any], *, namespaced: bool = False) -> Found:
    meta = {"name": "ok", **meta}
    found = objectmeta.validate(meta, name=objectmeta.path_segment, namespaced=namespaced)
    return [(error.type, error.field) for error in found]


def owner(**fields: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Node", "name": "a", "uid": "1", **fields}


def entry(**fields: Any) -> dict[str, Any]:
    return {"manager": "kubectl", "operation": "Apply", "fieldsType": "FieldsV1", **fields}


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("a", 0),
        ("a.b-c.0", 0),
        ("a" * 253, 0),
        ("a" * 254, 1),
        ("", 1),
        ("A", 1),
        ("a..b", 1),
        ("-a", 1),
        ("a-", 1),
        ("a_b", 1),
        ("a\n", 1),
        ("é" * 127, 2),
    ],
)
def test_subdomains(text: str, count: int) -> None:
    assert len(objectmeta.dns1123_subdomain(text)) == count


@pytest.mark.parametrize(
    ("text", "as_1123", "as_1035"),
    [("a", 0, 0), ("0", 0, 1), ("a.b", 1, 1), ("a" * 63, 0, 0), ("a" * 64, 1, 1), ("", 1, 1)],
)
def test_labels_of_names(text: str, as_1123: int, as_1035: int) -> None:
    assert len(objectmeta.dns1123_label(text)) == as_1123
    assert len(objectmeta.dns1035_label(text)) == as_1035


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("a", 0),
        ("A_b.c-0", 0),
        ("example.com/A", 0),
        ("a" * 63, 0),
        ("a" * 64, 1),
        ("a/" + "b" * 63, 0),
        ("a" * 254 + "/b", 1),
        ("", 2),
        ("/a", 1),
        ("a/", 2),
        ("A/b", 1),
        ("a/b/c", 1),
        ("-a", 1),
        ("a ", 1),
        ("a\n", 1),
        ("é", 1),
        ("é" * 32, 2),
        ("\u0661", 1),
    ],
)
def test_qualified_names(text: str, count: int) -> None:
    assert len(objectmeta.qualified_name(text)) == count


@pytest.mark.parametrize(
    ("text", "count"),
    [("", 0), ("a", 0), ("A.b", 0), ("a/b", 1), ("{{ x }}", 1), ("a" * 64, 1), ("-" * 64, 2)],
)
def test_label_values(text: str, count: int) -> None:
    assert len(objectmeta.label_value(text)) == count


@pytest.mark.parametrize(
    ("text", "count"), [("A B", 0), (".", 1), ("..", 1), ("...", 0), ("a/b", 1), ("a/b%", 2)]
)
def test_path_segments(text: str, count: int) -> None:
    assert len(objectmeta.path_segment(text)) == count


@pytest.mark.parametrize(
    ("meta", "found"),
    [
        ({}, []),
        ({"name": ""}, [("Required", ".name")]),
        ({"name": "a/b"}, [("Invalid", ".name")]),
        ({"generateName": "a%"}, [("Invalid", ".generateName")]),
        ({"namespace": "home"}, [("Forbidden", ".namespace")]),
        ({"generation": -1}, [("Invalid", ".generation")]),
        ({"labels": {"a": "b"}}, []),
        ({"labels": {"a b": "c d"}}, [("Invalid", ".labels")] * 2),
        ({"annotations": {"Example.COM/A": "x\ny"}}, []),
        ({"annotations": {"İ": "a dotted capital I in lower case is an i"}}, []),
        ({"annotations": {"a b": ""}}, [("Invalid", ".annotations")]),
        ({"annotations": {"a": "x" * (262144 - 1)}}, []),
        ({"annotations": {"a": "x" * 262144}}, [("TooLong", ".annotations")]),
        ({"annotations": {"a": "é" * 131072}}, [("TooLong", ".annotations")]),
        ({"finalizers": ["example.com/a", "orphan"]}, []),
        ({"finalizers": ["a b", "c d"]}, [("Invalid", ".finalizers")] * 2),
        ({"finalizers": ["foregroundDeletion", "orphan"]}, [("Invalid", ".finalizers")]),
    ],
)
def test_what_is_wrong_with_metadata(meta: dict[str, Any], found: Found) -> None:
    assert check(meta) == found


@pytest.mark.parametrize(
    ("namespace", "found"),
    [("home", []), ("", [("Required", ".namespace")]), ("A", [("Invalid", ".namespace")])],
)
def test_namespaces_of_namespaced_objects(namespace: str, found: Found) -> None:
    assert check({"namespace": namespace}, namespaced=True) == found


OWNER = ".ownerReferences[0]"


@pytest.mark.parametrize(
    ("owners", "found"),
    [
        ([owner(), owner(controller=True)], []),
        ([{}], [("Required", f"{OWNER}.{key}") for key in ("apiVersion", "kind", "name", "uid")]),
        ([owner(apiVersion="a/b/c")], [("Invalid", f"{OWNER}.apiVersion")]),
        ([owner(apiVersion="apps/")], [("Invalid", f"{OWNER}.apiVersion")]),
        ([owner(apiVersion="/v1")], []),
        ([owner(kind="Event")], [("Invalid", OWNER)]),
        ([owner(kind="Event", apiVersion="/v1")], [("Invalid", OWNER)]),
        ([owner(kind="Event", apiVersion="events.k8s.io/v1")], []),
        ([owner(controller=True)] * 3, [("Invalid", ".ownerReferences")] * 2),
        ([owner(controller=False)] * 2, []),
    ],
)
def test_owner_references(owners: list[dict[str, Any]], found: Found) -> None:
    assert check({"ownerReferences": owners}) == found


FIELDS = ".managedFields[0]"


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        ({}, []),
        ({"operation": ""}, [("Required", f"{FIELDS}.operation")]),
        ({"operation": "apply"}, [("NotSupported", f"{FIELDS}.operation")]),
        ({"fieldsType": ""}, []),
        ({"fieldsType": "FieldsV2"}, [("Invalid", f"{FIELDS}.fieldsType")]),
        ({"manager": "m" * 128}, []),
        ({"manager": "é" * 65}, [("TooLong", f"{FIELDS}.manager")]),
        ({"manager": "a\u00a0b"}, [("Invalid", f"{FIELDS}.manager")]),
        ({"manager": "two words"}, []),
        ({"subresource": "s" * 256}, []),
        ({"subresource": "s" * 257}, [("TooLong", f"{FIELDS}.subresource")]),
    ],
)
def test_managed_fields(fields: dict[str, Any], found: Found) -> None:
    assert check({"managedFields": [entry(**fields)]}) == found


@pytest.mark.parametrize(
    ("mark", "printed"),
    [("a", True), (" ", True), ("é", True), ("\u00a0", False), ("\u200b", False), ("\n", False)],
)
def test_printable_characters(mark: str, printed: bool) -> None:
    assert objectmeta.is_print(mark) is printed


OLD = {"name": "a", "uid": "1", "creationTimestamp": "2026-01-01T01:00:00+01:00"}


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({}, []),
        ({"uid": ""}, []),
        ({"uid": "2"}, [("Invalid", ".uid")]),
        ({"name": "b"}, [("Invalid", ".name")]),
        ({"creationTimestamp": "2026-01-01T00:00:00Z"}, []),
        ({"creationTimestamp": "2026-01-02T00:00:00Z"}, [("Invalid", ".creationTimestamp")]),
        ({"deletionGracePeriodSeconds": 0}, [("Invalid", ".deletionGracePeriodSeconds")]),
        ({"labels": {"a b": ""}}, [("Invalid", ".labels")]),
        ({"finalizers": ["a"]}, []),
    ],
)
def test_updates(changes: dict[str, Any], found: Found) -> None:
    errors = objectmeta.validate_update({**OLD, **changes}, OLD)
    assert [(error.type, error.field) for error in errors] == found


def test_no_finalizer_is_added_while_an_object_is_deleted() -> None:
    old = {**OLD, "deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["a"]}
    errors = objectmeta.validate_update({**old, "finalizers": ["a", "b"]}, old)
    assert [(error.type, error.field) for error in errors] == [("Forbidden", ".finalizers")]


def test_decoded_metadata_is_what_the_server_writes() -> None:
    given = {
        "name": "a",
        "uid": "",
        "labels": {},
        "generation": 0,
        "creationTimestamp": "2026-01-01T01:00:00+01:00",
        "ownerReferences": [{"uid": "1", "controller": False}],
    }
    written, unknown, wrong = objectmeta.decode(given, drop_malformed=False)
    assert (unknown, wrong) == ([], "")
    assert written == {
        "name": "a",
        "creationTimestamp": "2026-01-01T00:00:00Z",
        "ownerReferences": [
            {"apiVersion": "", "kind": "", "name": "", "uid": "1", "controller": False}
        ],
    }


def test_unknown_fields_of_metadata_are_named() -> None:
    given = {"name": "a", "nickname": "b", "ownerReferences": [{"namespace": "c"}]}
    written, unknown, _ = objectmeta.decode(given, drop_malformed=False)
    assert written is not None
    assert "nickname" not in written
    assert sorted(unknown) == ["nickname", "ownerReferences[0].namespace"]


@pytest.mark.parametrize("value", [[], "text", 1, True])
def test_metadata_that_is_no_object(value: Any) -> None:
    assert objectmeta.decode(value, drop_malformed=True)[0] is None


def test_malformed_fields_are_dropped_one_by_one_where_asked() -> None:
    given = {"name": "a", "labels": {"b": 1}, "finalizers": "c"}
    written, _, wrong = objectmeta.decode(given, drop_malformed=False)
    assert written is None
    assert "labels" in wrong
    assert objectmeta.decode(given, drop_malformed=True) == ({"name": "a"}, [], "")


def test_no_metadata_is_empty_metadata() -> None:
    assert objectmeta.decode(None, drop_malformed=False) == ({}, [], "")
