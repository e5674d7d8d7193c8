"""CEL rules run on objects: where errors stand, what they say, when a rule runs at all."""

from __future__ import annotations

from typing import Any

import pytest

from crdlint.objects.defaults import check_defaults
from crdlint.objects.rules import BUDGET, RuleTree

Errors = list[tuple[str, str, str]]


def rules(*texts: str, **more: Any) -> dict[str, Any]:
    return {"x-kubernetes-validations": [{"rule": text, **more} for text in texts]}


def root(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def run(schema: dict[str, Any], new: Any, old: Any = None, *, minor: int = 37) -> Errors:
    errors, _ = RuleTree(schema, minor=minor).run(new, old)
    return [(e.type, e.field, e.message) for e in errors]


TEXT = {"type": "string", **rules("self != 'bad'")}
FAILED = "failed rule: self != 'bad'"


def test_an_error_stands_where_the_value_does() -> None:
    schema = root(
        plain=TEXT,
        items={"type": "array", "items": TEXT},
        map={"type": "object", "additionalProperties": TEXT},
    )
    value = {"plain": "bad", "items": ["good", "bad"], "map": {"a.b": "bad"}}
    assert run(schema, value) == [
        ("Invalid", "plain", FAILED),
        ("Invalid", "items[1]", FAILED),
        ("Invalid", "map[a.b]", FAILED),
    ]
    assert run(schema, {"plain": None, "items": None}) == []


def test_reason_and_field_path() -> None:
    own = rules("false", reason="FieldValueForbidden", fieldPath=".name", message=" no ")
    named = root(name={"type": "string"})
    assert run({**named, **own}, {}) == [("Forbidden", "name", "no")]
    schema = root(spec={**named, **own})
    assert run(schema, {"spec": {}}) == [("Forbidden", "spec.name", "no")]
    by_key = rules("false", reason="FieldValueRequired", fieldPath="['a/b']")
    labels = {"type": "object", "additionalProperties": {"type": "string"}, **by_key}
    assert run(root(labels=labels), {"labels": {}}) == [
        ("Required", "labels.[a/b]", "failed rule: false")
    ]
    old_server = run({**named, **own}, {}, minor=27)
    assert old_server == [("Invalid", "<nil>", "no")]


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("'is ' + self", "is x"),
        ("'  trimmed '", "trimmed"),
        ("''", "fallback"),
        ("'two\\nlines'", "fallback"),
        ("self.substring(7)", "fallback"),
    ],
)
def test_message_expression(expression: str, message: str) -> None:
    own = rules("false", message="fallback", messageExpression=expression)
    assert run(root(a={"type": "string", **own}), {"a": "x"}) == [("Invalid", "a", message)]


def test_transition_rules_need_an_old_value() -> None:
    schema = root(n={"type": "integer", **rules("self >= oldSelf")})
    assert run(schema, {"n": 1}) == []
    assert run(schema, {"n": 1}, {}) == []
    assert run(schema, {"n": 1}, {"n": 1}) == []
    assert run(schema, {"n": 1}, {"n": 2}) == [("Invalid", "n", "failed rule: self >= oldSelf")]
    own = rules("oldSelf.hasValue()", optionalOldSelf=True)
    schema = root(n={"type": "integer", **own})
    assert len(run(schema, {"n": 1})) == 1
    assert run(schema, {"n": 1}, {"n": 2}) == []


def test_items_belong_together_by_their_keys() -> None:
    item = {**root(name={"type": "string"}, v={"type": "integer"}), **rules("self.v == oldSelf.v")}
    listed = {"type": "array", "items": item}
    keyed = {
        **listed,
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"],
    }
    old = {"l": [{"name": "a", "v": 1}, {"name": "b", "v": 2}]}
    new = {"l": [{"name": "b", "v": 2}, {"name": "a", "v": 3}, {"name": "c", "v": 4}]}
    assert [field for _, field, _ in run(root(l=keyed), new, old)] == ["l[1]"]
    assert run(root(l=listed), new, old) == []


def test_what_is_as_it_was_is_excused() -> None:
    schema = root(a=TEXT, b=TEXT)
    value = {"a": "bad", "b": "good"}
    assert run(schema, value, {"a": "bad", "b": "x"}) == []
    assert len(run(schema, value, {"a": "x", "b": "good"})) == 1
    assert len(run(schema, value, {"a": "bad", "b": "x"}, minor=29)) == 1
    # A part without an old value of its own is excused with the list around it.
    listed = root(l={"type": "array", "items": TEXT})
    assert run(listed, {"l": ["bad"]}, {"l": ["bad"]}) == []
    assert len(run(listed, {"l": ["bad", "x"]}, {"l": ["bad"]})) == 1


def test_rules_that_fail_to_run_or_to_compile() -> None:
    schema = root(n={"type": "integer", **rules("1 / self == 1", "self.size() == 1")})
    first, second = run(schema, {"n": 0})
    assert first == ("Invalid", "n", "division by zero evaluating rule: 1 / self == 1")
    assert second[2].startswith("rule compile error: ")


def test_rules_in_all_of_count_beside_others_only() -> None:
    branch = {"allOf": [rules("false")]}
    assert run(root(a={"type": "string", **branch}), {"a": "x"}) == []
    schema = root(a={"type": "string", **branch}, b=TEXT)
    assert [field for _, field, _ in run(schema, {"a": "x"})] == ["a"]


def test_the_budget_ends_the_run() -> None:
    schema = root(a={"type": "string", **rules("self == 'x'", "false")}, b=TEXT)
    tree = RuleTree(schema, minor=37)
    value = {"a": "x", "b": "bad"}
    errors, left = tree.run(value, None)
    assert (len(errors), left) == (2, BUDGET - 4)
    errors, left = tree.run(value, None, budget=1)
    assert [e.keyword for e in errors] == ["cel-budget"]
    assert left == -1


def test_defaults_meet_their_rules() -> None:
    schema = root(
        a={**TEXT, "default": "bad"},
        b={**TEXT, "default": "good"},
        n={"type": "integer", "default": 1, **rules("oldSelf == 1")},
        m={
            "type": "integer",
            "default": 1,
            **rules("oldSelf.hasValue()", optionalOldSelf=True),
        },
    )
    found = {(p.id, p.type, p.field, p.node) for p in check_defaults(schema, minor=37)}
    assert found == {
        ("default-cel", "Invalid", ".default", ("properties", "a")),
        ("default-cel", "Invalid", ".default", ("properties", "m")),
    }


def test_hostile_depth_ends_cleanly() -> None:
    schema: dict[str, Any] = {"type": "string", **rules("self == ''")}
    value: Any = "x"
    for _ in range(2000):
        schema = root(a=schema)
        value = {"a": value}
    assert len(run(schema, value)) == 1
