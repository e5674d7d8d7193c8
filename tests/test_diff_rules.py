"""What single rules say, where the pages' examples do not reach."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from diff_helpers import compare, schema

from crdlint import inclusion, severity
from crdlint.changes import effective, rule_text

if TYPE_CHECKING:
    from crdlint.finding import Finding


def diff(before: Any, after: Any, **options: Any) -> list[Finding]:
    """Compare two schemas of a field `.spec.f`."""
    old, new = (around(side) for side in (before, after))
    return [f for f in compare(old, new, **options) if f.rule != "rollback-unsafe"]


def around(inner: Any, name: str = "v1") -> str:
    spec = {"type": "object", "properties": {"f": inner}}
    return schema(json.dumps({"type": "object", "properties": {"spec": spec}}), name)


def rules(before: Any, after: Any) -> list[str]:
    return [finding.rule for finding in diff(before, after)]


INTEGER, NUMBER, TEXT = {"type": "integer"}, {"type": "number"}, {"type": "string"}
IDIOM = [{"type": "integer"}, {"type": "string"}]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (TEXT, {**TEXT, "minLength": 0}),
        ({**INTEGER, "minimum": -1, "exclusiveMinimum": True}, {**INTEGER, "minimum": 0}),
        ({**INTEGER, "maximum": 10, "exclusiveMaximum": True}, {**INTEGER, "maximum": 9}),
        ({**INTEGER, "minimum": 1.5}, {**INTEGER, "minimum": 2}),
        ({**INTEGER, "maximum": 5}, {**INTEGER, "maximum": 5.0}),
        (INTEGER, {**INTEGER, "multipleOf": 1}),
        (TEXT, {**TEXT, "maximum": 5}),
        (TEXT, {**TEXT, "nullable": False}),
        ({**TEXT, "enum": ["a", "b"]}, {**TEXT, "enum": ["b", "a"]}),
        ({**TEXT, "enum": ["a", "b"]}, {**TEXT, "enum": ["a", "b"], "maxLength": 1}),
        ({**TEXT, "enum": ["a", "b"]}, {**TEXT, "enum": ["a", "b"], "pattern": "^[a-z]$"}),
        ({"type": "boolean"}, {"type": "boolean", "enum": [True, False]}),
        (
            {"x-kubernetes-int-or-string": True},
            {"x-kubernetes-int-or-string": True, "anyOf": IDIOM},
        ),
        (
            {"type": "array", "items": TEXT},
            {"type": "array", "items": TEXT, "x-kubernetes-list-type": "atomic"},
        ),
        (
            {"type": "object", "properties": {"a": TEXT}},
            {"type": "object", "properties": {"a": TEXT}, "x-kubernetes-map-type": "granular"},
        ),
        (
            {
                **TEXT,
                "x-kubernetes-validations": [{"rule": "self  !=  'a b'"}, {"rule": "self != ''"}],
            },
            {**TEXT, "x-kubernetes-validations": [{"rule": "self != ''"}, {"rule": "self!='a b'"}]},
        ),
        (
            {**INTEGER, "minimum": 0, "maximum": 9},
            {**INTEGER, "minimum": 0, "maximum": 9, "format": "int32"},
        ),
        (
            {**TEXT, "anyOf": [{"minLength": 1}, {"pattern": "a"}]},
            {**TEXT, "anyOf": [{"pattern": "a"}, {"minLength": 1}]},
        ),
    ],
)
def test_what_means_the_same_is_no_change(before: Any, after: Any) -> None:
    assert rules(before, after) == []
    assert rules(after, before) == []


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (
            {**NUMBER, "maximum": 5},
            {**NUMBER, "maximum": 5, "exclusiveMaximum": True},
            ["maximum-tightened"],
        ),
        (
            {**NUMBER, "maximum": 5, "exclusiveMaximum": True},
            {**NUMBER, "maximum": 5},
            ["maximum-relaxed"],
        ),
        (
            {**TEXT, "enum": ["a", "bb"]},
            {**TEXT, "enum": ["a", "bb"], "maxLength": 1},
            ["max-length-tightened"],
        ),
        ({**INTEGER, "enum": [1]}, {**INTEGER, "enum": [1, 2]}, ["enum-value-added"]),
        ({**INTEGER, "default": 1}, {**INTEGER, "default": 1.0}, []),
        (
            {"x-kubernetes-preserve-unknown-fields": True, "default": 1},
            {"x-kubernetes-preserve-unknown-fields": True, "default": True},
            ["default-changed"],
        ),
        (INTEGER, {**INTEGER, "format": "int32"}, ["format-added"]),
        (INTEGER, {**INTEGER, "format": "int64"}, ["format-without-effect"]),
        (TEXT, {**TEXT, "format": "unheard-of"}, ["unrecognized-format", "format-without-effect"]),
        ({**TEXT, "format": "ipv4"}, TEXT, ["format-removed"]),
        (TEXT, {"x-kubernetes-int-or-string": True}, ["type-widened"]),
        (TEXT, {"type": "object", "properties": {"a": TEXT}}, ["type-changed"]),
        ({**TEXT, "pattern": "^a"}, {**TEXT, "pattern": "^(a|b)"}, ["pattern-widened"]),
        (TEXT, {**TEXT, "pattern": ".*"}, []),
        (
            {**TEXT, "x-kubernetes-validations": [{"rule": "self != 'a'"}]},
            {
                **TEXT,
                "x-kubernetes-validations": [{"rule": "self != 'a'"}, {"rule": "self == oldSelf"}],
            },
            ["cel-immutability-added"],
        ),
        (
            TEXT,
            {**TEXT, "x-kubernetes-validations": [{"rule": "self != 'oldSelf'"}]},
            ["cel-rule-added"],
        ),
        (
            {**TEXT, "x-kubernetes-validations": [{"rule": "self != 'a'", "message": "m"}]},
            {
                **TEXT,
                "x-kubernetes-validations": [
                    {"rule": "self != 'b'", "message": "m"},
                    {"rule": "self != 'c'"},
                ],
            },
            ["cel-rule-added", "cel-rule-changed"],
        ),
        (
            {"type": "object", "properties": {"a": TEXT}, "required": ["a"]},
            {"type": "object", "properties": {"a": {**TEXT, "default": "x"}}, "required": ["a"]},
            ["required-removed-with-default"],
        ),
        (
            {"type": "object", "properties": {"a": TEXT}},
            {"type": "object", "additionalProperties": TEXT},
            ["struct-to-map"],
        ),
        (
            {"type": "object", "additionalProperties": TEXT},
            {"type": "object", "properties": {"a": TEXT}},
            ["map-to-struct"],
        ),
    ],
)
def test_says(before: Any, after: Any, expected: list[str]) -> None:
    assert sorted(rules(before, after)) == sorted(expected)


def test_branches_are_paired_by_likeness() -> None:
    before = {"type": "object", "properties": {"a": TEXT, "b": TEXT}}
    fields = {"a": {"minLength": 1}, "b": {"maxLength": 3}}
    longer = {"a": {"minLength": 1}, "b": {"maxLength": 9}}
    old = {**before, "anyOf": [{"required": ["a"]}, {"properties": fields}]}
    new = {**before, "anyOf": [{"properties": longer}, {"required": ["a"]}]}
    assert rules(old, new) == ["max-length-relaxed"]


def test_a_relaxed_branch_of_one_of_may_refuse() -> None:
    old = {**TEXT, "oneOf": [{"maxLength": 3, "pattern": "^a", "minLength": 1}, {"pattern": "^b"}]}
    new = {**TEXT, "oneOf": [{"maxLength": 5, "pattern": "^a", "minLength": 1}, {"pattern": "^b"}]}
    (finding,) = diff(old, new)
    assert finding.rule == "one-of-branch-relaxed"
    assert finding.severity == "warning"


def test_rule_text_keeps_strings() -> None:
    assert rule_text("self . a  in  ['x  y']") == "self.a in['x  y']"
    assert rule_text("a  b") == "a b"


def test_effective_drops_what_says_nothing() -> None:
    assert effective({"type": "string", "minLength": 0, "maxItems": 3, "nullable": False}) == {
        "type": "string"
    }


# Severity


def only(before: Any, after: Any, minor: int = 37, place: str = "f") -> Finding:
    if place == "item":
        before, after = ({"type": "array", "items": side} for side in (before, after))
    elif place == "map item":
        before, after = (
            {
                "type": "array",
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["k"],
                "items": {
                    "type": "object",
                    "required": ["k"],
                    "properties": {"k": TEXT, "v": side},
                },
            }
            for side in (before, after)
        )
    (finding,) = diff(before, after, minor=minor)
    return finding


@pytest.mark.parametrize(
    ("place", "minor", "effects"),
    [
        ("f", 29, ["stored-objects", "writers"]),
        ("f", 30, ["writers"]),
        ("item", 37, ["stored-objects", "writers"]),
        ("map item", 37, ["writers"]),
        ("map item", 29, ["stored-objects", "writers"]),
    ],
)
def test_ratcheting_spares_stored_objects(place: str, minor: int, effects: list[str]) -> None:
    finding = only(TEXT, {**TEXT, "maxLength": 3}, minor, place)
    assert finding.severity == "error", "creates and edits are refused whatever the ratcheting"
    assert finding.effects == effects
    assert (severity.EXCUSED in finding.help) == (effects == ["writers"])


def test_a_demand_on_the_whole_of_spec_spares_nobody() -> None:
    def spec(required: list[str]) -> str:
        inner = {"type": "object", "properties": {"a": TEXT}, "required": required}
        return schema(json.dumps({"type": "object", "properties": {"spec": inner}}))

    (finding,) = [f for f in compare(spec([]), spec(["a"])) if f.rule == "required-added"]
    assert finding.effects == ["stored-objects", "writers"]


@pytest.mark.parametrize(
    ("name", "worst"), [("v1", "error"), ("v1beta1", "error"), ("v1alpha1", "warning")]
)
def test_alpha_versions_are_held_to_less(name: str, worst: str) -> None:
    (finding,) = compare(around(TEXT, name), around({**TEXT, "maxLength": 3}, name))
    assert finding.severity == worst


def test_status_is_written_by_the_controller() -> None:
    def status(inner: Any) -> str:
        body = {"type": "object", "properties": {"f": inner}}
        return schema(json.dumps({"type": "object", "properties": {"status": body}}))

    (tightened,) = compare(status(TEXT), status({**TEXT, "maxLength": 3}))
    assert tightened.severity == "warning"
    retyped = [f for f in compare(status(TEXT), status(INTEGER)) if f.rule == "type-changed"]
    assert [f.severity for f in retyped] == ["error"], "readers are hurt all the same"


def test_a_new_required_status_field_is_lacked_by_every_object() -> None:
    def status(required: list[str]) -> str:
        fields = dict.fromkeys(("old", *required), TEXT)
        inner = {"type": "object", "properties": fields, "required": required}
        return schema(json.dumps({"type": "object", "properties": {"status": inner}}))

    (finding,) = [f for f in compare(status([]), status(["new"])) if f.rule != "rollback-unsafe"]
    assert (finding.rule, finding.severity) == ("field-added-required", "error")


# Patterns


@pytest.mark.parametrize(
    ("before", "after", "relation"),
    [
        ("^[a-z]+$", "^[x-z]+$", "narrower"),
        ("^[a-z]+$", "^[a-z]*$", "wider"),
        ("^(a|b)$", "^[ab]$", "equal"),
        ("^a", "b$", "different"),
        ("", ".*", "equal"),
        ("^.$", "(?s)^.$", "wider"),
        (r"^\d{3}$", "^[0-9][0-9][0-9]$", "equal"),
        (r"\bx", "x", "unknown"),
        ("^a{1000}$", "^a{999}$", "different"),
        ("(", "a", "unknown"),
        (
            r"^(\pL{0,62}x|[\pL-]{0,61}(\.)){1,}(\pL){2,63}$",
            r"^(\pL{1,61}|[\d-]{1,63}){1,}$",
            "different",
        ),
        ("^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$", "narrower"),
    ],
)
def test_patterns_are_compared_as_sets(before: str, after: str, relation: str) -> None:
    assert inclusion.compare(before, after) == relation


ATOMIC = {"x-kubernetes-map-type": "atomic"}
SETS = {"x-kubernetes-list-type": "set"}
KEYED = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a"]}
STRUCT = {"type": "object", "properties": {"a": TEXT}, "required": ["a"]}
LIST = {"type": "array", "items": TEXT}


@pytest.mark.parametrize(
    ("around", "apart"),
    [
        (lambda inner: {"type": "array", "items": inner}, False),
        (lambda inner: {"type": "object", "properties": {"a": inner}, **ATOMIC}, False),
        (lambda inner: {"type": "object", "additionalProperties": inner, **ATOMIC}, False),
        (lambda inner: {"type": "object", "properties": {"a": inner}}, True),
        (lambda inner: {"type": "object", "additionalProperties": inner}, True),
        (
            lambda inner: {
                "type": "array",
                "items": {**STRUCT, "properties": {"a": TEXT, "b": inner}},
                **KEYED,
            },
            True,
        ),
    ],
)
def test_nobody_owns_a_part_of_what_is_one_value(around: Any, apart: bool) -> None:
    harmless = [(STRUCT, {**STRUCT, **ATOMIC}), ({**LIST, **SETS}, LIST)]
    for pair in (*harmless, *(pair[::-1] for pair in harmless[:1])):
        assert (rules(*map(around, pair)) != ["merge-without-effect"]) is apart
    (found,) = diff(around(LIST), around({**LIST, **SETS}))
    assert found.rule == "list-type-to-set"
    assert ("gitops" in found.effects) is ("lose their owner" in found.message) is apart


@pytest.mark.parametrize("required", [["a"], []])
def test_a_default_of_a_required_field_changes_no_object(required: list[str]) -> None:
    before = {"type": "object", "properties": {"a": TEXT}, "required": ["a"]}
    after = {**before, "properties": {"a": {**TEXT, "default": "x"}}, "required": required}
    assert rules(before, after) == ["required-removed-with-default"]
    items = [{"type": "array", "items": side, **KEYED} for side in (before, after)]
    assert rules(*items) == ["required-removed-with-default"]
    assert rules({**before, "required": []}, {**after, "required": []}) == ["default-added"]
