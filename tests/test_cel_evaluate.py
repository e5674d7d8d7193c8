"""Expressions run on values: results, errors as the server words them, and what they cost."""

from __future__ import annotations

from typing import Any

import pytest

from crdlint.cel.adapt import adapter
from crdlint.cel.attributes import ABSENT
from crdlint.cel.compile import check_at
from crdlint.cel.evaluate import program
from crdlint.cel.loops import Cancelled
from crdlint.cel.types import BOOL_TYPE, declare
from crdlint.cel.values import EvalError, MapValue, Uint, equal

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "a": {"type": "string"},
        "b": {"type": "string"},
        "n": {"type": "integer"},
        "m": {"type": "integer"},
        "f": {"type": "number"},
        "on": {"type": "boolean"},
        "any": {"x-kubernetes-int-or-string": True},
        "list": {"type": "array", "items": {"type": "integer"}},
        "nullable": {"type": "array", "items": {"type": "string", "nullable": True}},
        "set": {
            "type": "array",
            "items": {"type": "string"},
            "x-kubernetes-list-type": "set",
        },
        "byName": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"name": {"type": "string"}, "v": {"type": "integer"}},
            },
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
        },
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        "namespace": {"type": "string"},
        "dashed-name": {"type": "string"},
        "when": {"type": "string", "format": "date-time"},
        "day": {"type": "string", "format": "date"},
        "long": {"type": "string", "format": "duration"},
        "bytes": {"type": "string", "format": "byte"},
        "open": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        "pod": {"type": "object", "x-kubernetes-embedded-resource": True},
    },
}
VALUE: dict[str, Any] = {
    "a": "abc",
    "b": "b" * 25,
    "n": 3,
    "m": 0,
    "f": 2,
    "on": True,
    "any": 5,
    "list": [1, 2, 3],
    "nullable": ["x", None],
    "set": ["x", "y"],
    "byName": [{"name": "p", "v": 1}, {"name": "q", "v": 2}],
    "labels": {"k": "v", "x.y/z": "w"},
    "namespace": "ns",
    "dashed-name": "d",
    "when": "2001-02-03T04:05:06.5+01:00",
    "day": "2001-02-03",
    "long": "1h30m",
    "bytes": "aGk=",
    "open": {"x": 1},
    "pod": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "labels": {}}},
}


def run(
    text: str, value: Any = None, old: Any = ABSENT, *, minor: int = 37, optional: bool = False
) -> tuple[Any, int]:
    decl = declare(SCHEMA, root=False, minor=minor)
    assert decl is not None
    done = check_at(text, decl, BOOL_TYPE, compat=minor, minor=minor, optional_old_self=optional)
    assert done.tree is not None, done.error
    convert = adapter(SCHEMA, minor=minor)
    made = program(done.tree, minor=minor, uses_old_self=done.uses_old_self)
    given = convert(VALUE if value is None else value)
    return made.run(given, old if old is ABSENT else convert(old))


def test_equality_tells_types_apart() -> None:
    assert equal(1, 1.0)
    assert equal(Uint(1), 1)
    assert not equal(True, 1)
    assert not equal(1, True)
    assert not equal("1", 1)
    assert not equal(None, 0)
    assert not equal(float("nan"), float("nan"))
    assert equal([1, [None]], [1.0, [None]])
    assert equal(MapValue([(1, "a")]), MapValue([(Uint(1), "a")]))
    assert not equal(MapValue([(True, "a")]), MapValue([(1, "a")]))


TRUE = (
    "self.a == 'abc'",
    "self.n + 2 == 5 && self.n / 2 == 1 && -7 / 2 == -3 && -7 % 3 == -1",
    "self.f == 2.0 && self.f / 0.0 > 1e300",
    "self.any == 5 && type(self.any) == int",
    "has(self.a) && has(self.pod.metadata) && !has(self.pod.metadata.generateName)",
    "self.list.all(x, x > 0) && self.list.exists(x, x == 2) && self.list.exists_one(x, x > 2)",
    "self.list.map(x, x * 2) == [2, 4, 6] && self.list.filter(x, x > 1) == [2, 3]",
    "self.list.map(x, x > 1, x + 1) == [3, 4]",
    "self.list.transformList(i, x, i + x) == [1, 3, 5]",
    "self.list.transformMap(i, x, x * x) == {0: 1, 1: 4, 2: 9}",
    "self.labels.all(k, self.labels[k] != '') && self.labels.exists(k, v, k == 'k' && v == 'v')",
    "self.labels['x.y/z'] == 'w' && 'k' in self.labels && !('q' in self.labels)",
    "self.labels[?'q'].orValue('none') == 'none' && self.?labels.k.hasValue()",
    "self.set == ['y', 'x'] && self.set + ['x', 'z'] == ['z', 'y', 'x']",
    "['y', 'x'] != self.set",
    "(self.byName + [self.byName[0]]).size() == 2",
    "self.__namespace__ == 'ns' && self.dashed__dash__name == 'd'",
    "self.when == timestamp('2001-02-03T03:05:06.5Z')",
    "self.day.getFullYear() == 2001 && self.long == duration('90m') && self.bytes == b'hi'",
    "self.pod.metadata.name == 'p'",
    "dyn(self.nullable[1]) == null && self.nullable.exists(x, x == 'x')",
    "1 in [1, 2] && dyn(1.0) in [1, 2] && !(true in [dyn(1)]) && dyn(1u) in [1]",
    "[3, 1, 2].sortBy(x, -x) == [3, 2, 1]",
    "optional.of(1).optMap(x, x + 1).value() == 2",
    "self.n > 2 ? self.on : false",
    "{'a': 1, ?'b': optional.none()} == dyn({'a': 1.0}) && [?optional.of(1)] == [1]",
    "self.open == self.open",
)


@pytest.mark.parametrize("text", TRUE)
def test_true(text: str) -> None:
    assert run(text)[0] is True


ERRORS = (
    ("self.n / self.m == 0", "division by zero"),
    ("self.n % self.m == 0", "modulus by zero"),
    ("9223372036854775807 + self.n > 0", "integer overflow"),
    ("self.list[7] == 1", "index out of bounds: 7"),
    ("self.labels['none'] == ''", "no such key: none"),
    ("self.labels.all(k, self.labels[k + '?'] == '')", "no such key: k?"),
    ("self.any + 'x' == ''", "no such overload"),
    ("self.any.size() == 1", "no such overload: size"),
    ("duration('9223372036s') + self.long > self.long", "integer overflow"),
    ("self.list.map(x, 1 / (x - 1)).size() == 1", "division by zero"),
    ("self.nullable.all(x, x.startsWith('x'))", "no such overload"),
)


@pytest.mark.parametrize(("text", "message"), ERRORS)
def test_errors(text: str, message: str) -> None:
    found = run(text)[0]
    assert isinstance(found, EvalError)
    assert found.message == message


def test_errors_give_way_to_a_decision() -> None:
    assert run("self.n / self.m == 0 || self.on")[0] is True
    assert run("self.n / self.m == 0 && !self.on")[0] is False
    assert run("self.list.exists(x, 1 / (x - 1) == 1)")[0] is True
    assert run("self.list.all(x, 1 / (x - 1) == 1)")[0] is False
    assert isinstance(run("self.list.exists(x, 1 / (x - 1) == 7)")[0], EvalError)
    assert isinstance(run("self.list.exists_one(x, 1 / (x - 1) == 1)")[0], EvalError)


def test_absent_fields_and_nulls() -> None:
    assert run("has(self.a)", {})[0] is False
    assert run("has(self.a)", {"a": None})[0] is False
    found = run("self.a == ''", {})[0]
    assert isinstance(found, EvalError)
    assert found.message == "no such key: a"
    wrong = run("self.n == 1", {"n": "x"})[0]
    assert isinstance(wrong, EvalError)
    assert wrong.message == "invalid data, expected int, got string"


def test_old_self() -> None:
    assert run("self.n >= oldSelf.n", {"n": 2}, {"n": 1})[0] is True
    assert run("self.n >= oldSelf.n", {"n": 2}, {"n": 3})[0] is False
    missing = run("self.n >= oldSelf.n", {"n": 2})[0]
    assert isinstance(missing, EvalError)
    assert missing.message == "no such attribute(s): oldSelf"


COSTS = (
    ("true", 0),
    ("self.on", 2),
    ("has(self.a)", 1),
    ("self.n == 3", 3),
    ("self.a == 'abc'", 3),
    ("self.b == self.b", 7),
    ("self.a in ['a', 'b']", 2),
    ("self.n in self.list", 7),
    ("self.on ? self.on : false", 3),
    ("self.list.all(x, x > 0)", 2 + 3 * (3 + 2) + 1),
    ("self.list.exists(x, x == 1)", 2 + (4 + 2) + 3 + 1),
    ("self.list.map(x, x).size() == 3", 2 + 3 * (1 + 12) + 1 + 1 + 1),
    ("[self.n].size() == 1", 10 + 2 + 1 + 1),
    ("[1, 2].size() == 2", 2),
    ("self.b.contains(self.b)", 4 + 9),
    ("self.a.matches('^a+$')", 2 + 1),
    ("duration('1h') == self.long", 3),
)


@pytest.mark.parametrize(("text", "cost"), COSTS)
def test_costs(text: str, cost: int) -> None:
    assert run(text)[1] == cost


def test_a_presence_test_cost_more_once() -> None:
    assert run("has(self.a)", minor=28)[1] == 2
    assert run("has(self.a)", minor=29)[1] == 1


def test_an_evaluation_ends_at_its_limit() -> None:
    loops = "lists.range(1000).all(a, lists.range(1000).all(b, self.n > 0))"
    found, cost = run(loops)
    assert isinstance(found, Cancelled)
    assert cost > 1_000_000
