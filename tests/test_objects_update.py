"""Updates of objects: what an unchanged value excuses, and what the server prepares."""

from __future__ import annotations

from typing import Any

import pytest

from crdlint.objects.correlation import Correlated
from crdlint.objects.resource import update
from crdlint.objects.served import Served, versions_of

SHORT = {"type": "string", "maxLength": 2}
LONG = "abc"


def served(properties: dict[str, Any], *, minor: int = 37, **version: Any) -> Served:
    schema = {"type": "object", "properties": {"metadata": {"type": "object"}, **properties}}
    data = {
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"kind": "Widget", "plural": "widgets"},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": schema},
                    **version,
                }
            ],
        }
    }
    return next(versions_of(data, minor=minor))


def widget(meta: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    metadata = {"name": "w", **(meta or {})}
    return {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": metadata, **fields}


def spec(schema: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"spec": {"type": "object", "properties": {"x": schema, "y": {}}, **more}}


def items(kind: str, schema: dict[str, Any]) -> dict[str, Any]:
    node = {"type": "array", "items": schema, "x-kubernetes-list-type": kind}
    return {**node, "x-kubernetes-list-map-keys": ["k"]} if kind == "map" else node


NAMED = {"type": "object", "properties": {"k": {"type": "string"}, "v": SHORT, "w": {}}}
RULE = {"x-kubernetes-validations": [{"rule": "self.size() < 3"}]}
FROZEN = {"x-kubernetes-validations": [{"rule": "self == oldSelf"}]}
TEXT = {"type": "string"}

# What is tightened, the old spec, the new spec, and whether the update passes.
RATCHETING: list[tuple[str, dict[str, Any], dict[str, Any], dict[str, Any], bool]] = [
    ("another field changes", spec(SHORT), {"x": LONG}, {"x": LONG, "y": 1}, True),
    ("the field changes", spec(SHORT), {"x": LONG}, {"x": LONG + "d"}, False),
    ("an item is added to a list", spec(items("atomic", SHORT)), {"x": [LONG]}, {"x": [LONG, "a"]}, False),
    ("the list is as before", spec(items("atomic", SHORT)), {"x": [LONG]}, {"x": [LONG], "y": 1}, True),
    ("an item is added to a set", spec(items("set", SHORT)), {"x": [LONG]}, {"x": [LONG, "a"]}, False),
    (
        "an item is added to a map list",
        spec(items("map", NAMED)),
        {"x": [{"k": "a", "v": LONG}]},
        {"x": [{"k": "b"}, {"k": "a", "v": LONG}]},
        True,
    ),
    (
        "another field of the item changes",
        spec(items("map", NAMED)),
        {"x": [{"k": "a", "v": LONG}]},
        {"x": [{"k": "a", "v": LONG, "w": 1}]},
        True,
    ),
    (
        "the key of the item changes",
        spec(items("map", NAMED)),
        {"x": [{"k": "a", "v": LONG}]},
        {"x": [{"k": "b", "v": LONG}]},
        False,
    ),
    (
        "a key is added to a map",
        spec({"type": "object", "additionalProperties": SHORT}),
        {"x": {"a": LONG}},
        {"x": {"a": LONG, "b": "c"}},
        True,
    ),
    (
        "a required field is missing, and another changes",
        spec(TEXT, required=["z"]),
        {"x": "a"},
        {"x": "b"},
        False,
    ),
    (
        "a required field is missing below what does not change",
        spec({"type": "object", "required": ["z"]}),
        {"x": {}},
        {"x": {}, "y": 1},
        True,
    ),
    ("a rule on the field", spec({**TEXT, **RULE}), {"x": LONG}, {"x": LONG, "y": 1}, True),
    ("a rule on the field that changes", spec({**TEXT, **RULE}), {"x": LONG}, {"x": "abcd"}, False),
    ("a transition rule, kept", spec({**TEXT, **FROZEN}), {"x": "a"}, {"x": "a", "y": 1}, True),
    ("a transition rule, broken", spec({**TEXT, **FROZEN}), {"x": "a"}, {"x": "b"}, False),
    (
        "a junctor around a field that changes",
        spec(TEXT, oneOf=[{"required": ["z"]}]),
        {"x": "a"},
        {"x": "b"},
        False,
    ),
    (
        "a junctor around what does not change",
        spec({"type": "object", "properties": {"a": TEXT}, "anyOf": [{"required": ["z"]}]}),
        {"x": {"a": "b"}},
        {"x": {"a": "b"}, "y": 1},
        True,
    ),
    ("duplicates that were there", spec(items("set", TEXT)), {"x": ["a", "a"]}, {"x": ["a"] * 3}, True),
    ("new duplicates", spec(items("set", TEXT)), {"x": ["a"]}, {"x": ["a", "a"]}, False),
    (
        "an embedded resource is never excused",
        spec({"type": "object", "x-kubernetes-embedded-resource": True}),
        {"x": {}},
        {"x": {}, "y": 1},
        False,
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("schema", "old", "new", "passes"),
    [case[1:] for case in RATCHETING],
    ids=[case[0] for case in RATCHETING],
)
def test_ratcheting(
    schema: dict[str, Any], old: dict[str, Any], new: dict[str, Any], passes: bool
) -> None:
    preserve = {"x-kubernetes-preserve-unknown-fields": True}
    schema["spec"]["properties"]["y"] = preserve
    outcome = update(served(schema), widget(spec=old), widget(spec=new))
    assert outcome.accepted == passes, outcome.errors


def test_servers_before_ratcheting_excuse_nothing() -> None:
    schema = spec({**SHORT, **RULE})
    old, new = widget(spec={"x": LONG}), widget({"labels": {"a": "b"}}, spec={"x": LONG})
    assert update(served(schema, minor=30), old, new).accepted
    said = [(e.type, e.field) for e in update(served(schema, minor=29), old, new).errors]
    assert ("TooLong", "spec.x") in said


def test_metadata() -> None:
    old = {
        "uid": "u",
        "creationTimestamp": "2024-01-01T00:00:00Z",
        "resourceVersion": "7",
        "generation": 3,
        "namespace": "tools",
    }
    version = served({"spec": {"type": "object", "properties": {"a": TEXT}}})
    outcome = update(version, widget(old, spec={"a": "x"}), widget(spec={"a": "y"}))
    assert outcome.accepted
    assert outcome.stored is not None
    kept = {k: v for k, v in old.items() if k != "resourceVersion"}
    assert outcome.stored["metadata"] == {"name": "w", **kept, "generation": 4}
    same = update(version, widget(old, spec={"a": "x"}), widget({"labels": {}}, spec={"a": "x"}))
    assert same.stored is not None
    assert same.stored["metadata"]["generation"] == 3


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ({"uid": "a"}, {"uid": "b"}, ("Invalid", "metadata.uid", "immutable")),
        ({}, {"deletionTimestamp": "2024-01-01T00:00:00Z"}, ("Invalid", "metadata.deletionTimestamp", "immutable")),
        (
            {"deletionTimestamp": "2024-01-01T00:00:00Z", "finalizers": ["a.b/c"]},
            {"finalizers": ["a.b/c", "a.b/d"]},
            ("Forbidden", "metadata.finalizers", "immutable"),
        ),
        ({}, {"labels": {"a b": "c"}}, ("Invalid", "metadata.labels", "metadata")),
    ],
)  # fmt: skip
def test_metadata_that_is_refused(
    old: dict[str, Any], new: dict[str, Any], said: tuple[str, str, str]
) -> None:
    outcome = update(served({}), widget(old), widget(new))
    assert [(e.type, e.field, e.keyword) for e in outcome.errors] == [said]


def test_the_name_of_an_old_object_may_be_one_that_new_ones_may_not_have() -> None:
    old = widget()
    old["metadata"]["name"] = "Not_A_Subdomain"
    assert update(served({}), old, old).accepted


STATUS = {
    "spec": {"type": "object", "properties": {"x": SHORT}},
    "status": {"type": "object", "properties": {"s": SHORT, "n": {"type": "integer"}}},
}


def test_the_status_is_kept_when_it_has_a_subresource() -> None:
    version = served(STATUS, subresources={"status": {}})
    old = widget(spec={"x": "a"}, status={"s": "ok"})
    outcome = update(version, old, widget(spec={"x": "b"}, status={"s": LONG}))
    assert outcome.accepted
    assert outcome.status_dropped
    assert outcome.stored is not None
    assert outcome.stored["status"] == {"s": "ok"}
    assert not update(version, old, old).status_dropped


def test_an_update_of_the_status_judges_nothing_else() -> None:
    version = served(STATUS, subresources={"status": {}})
    old = widget(spec={"x": LONG}, status={"s": LONG})
    new = widget({"labels": {"a": "b"}}, spec={"x": 5}, status={"s": LONG, "n": 1})
    outcome = update(version, old, new, status=True)
    assert outcome.accepted
    assert outcome.stored is not None
    assert outcome.stored["spec"] == {"x": LONG}
    assert outcome.stored["status"] == {"s": LONG, "n": 1}
    assert "labels" not in outcome.stored["metadata"]
    bad = update(version, old, widget(status={"s": "wrong"}), status=True)
    assert [(e.type, e.field, e.path) for e in bad.errors] == [
        ("TooLong", "status.s", ("status", "s"))
    ]


def test_an_old_object_of_another_version_is_converted() -> None:
    data = {
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"kind": "Widget", "plural": "widgets"},
            "versions": [
                {
                    "name": name,
                    "served": True,
                    "schema": {
                        "openAPIV3Schema": {
                            "type": "object",
                            "properties": {"metadata": {"type": "object"}, field: SHORT},
                        }
                    },
                }
                for name, field in (("v1", "a"), ("v2", "b"))
            ],
        }
    }
    v1, v2 = versions_of(data, minor=37)
    old = widget(a="x")
    new = {**widget(b=LONG), "apiVersion": "example.com/v2"}
    outcome = update(v2, old, new, stored=v1)
    assert [(e.type, e.field) for e in outcome.errors] == [("TooLong", "b")]
    both = update(v2, {**old, "b": LONG}, new, stored=v1)
    assert not both.accepted, "what v1 does not know is lost before v2 sees it"


def test_an_old_object_that_does_not_decode() -> None:
    outcome = update(served({}), {**widget(), "metadata": []}, widget())
    (error,) = outcome.errors
    assert (error.type, error.path) == ("DecodeError", ())
    assert error.message.startswith("the old object: ")


def test_correlated_values_are_told_apart_as_go_does() -> None:
    schema = items("map", {"type": "object", "properties": {"k": {}, "v": {"type": "integer"}}})
    old = [{"k": 1, "v": 1}, {"k": True, "v": 2}, {"k": 1, "v": 3}]
    new = [{"k": True, "v": 2}, {"k": 1.0, "v": 1}, {"k": 1, "v": 1}, {"k": None}, {}]
    correlated = Correlated(new, old, schema)
    found = [correlated.child(i) for i in range(len(new))]
    assert [None if one is None else one.old for one in found] == [old[1], None, old[0], None, None]
    assert found[0] is correlated.child(0)
    assert [one.equal() for one in found if one is not None] == [True, True]
    assert not Correlated({"a": 1}, {"a": 1}, {"type": "object"}).equal()
    assert Correlated({}, {}, {"type": "object"}).equal()
