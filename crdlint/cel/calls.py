"""Calls of functions and operators at run time: which overload runs, and what it costs."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from crdlint import goregex
from crdlint.cel import types as t
from crdlint.cel.library import overload as overload_named
from crdlint.cel.operators import BINARY, UNARY
from crdlint.cel.runtime_cost import cost_of
from crdlint.cel.values import (
    MISSING,
    Duration,
    EvalError,
    MapValue,
    Optional,
    Timestamp,
    TypeValue,
    Uint,
    no_such_overload,
    type_name,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from crdlint.cel.attributes import Ev
    from crdlint.cel.runtime_cost import Cost
    from crdlint.cel.syntax import Node
    from crdlint.cel.types import Type

    Function = Callable[..., Any]

# Functions that the server runs while it builds the program, if their argument is constant.
CONVERSIONS = frozenset(
    ("bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "type", "uint")
)

# Functions whose second argument, the receiver counted, is a pattern: compiled once if constant.
PATTERNED = frozenset(("find", "findAll", "matches"))

# Comparisons of two integers or two doubles need no look at their types.
_ORDERS: dict[str, Callable[[Any, Any], bool]] = {
    "_<_": operator.lt,
    "_<=_": operator.le,
    "_>_": operator.gt,
    "_>=_": operator.ge,
}


def call(node: Node, evs: Sequence[Ev], pattern: str | None) -> Ev:
    """Return the closure of a call.

    `evs` are those of the arguments, a receiver first, `pattern` a constant regular expression
    that the call looks for.
    """
    name = node.name
    single = len(node.overloads) == 1
    cost = cost_of(name, node.overloads[0] if single else "")
    if name in _ORDERS:
        return _ordering(evs[0], evs[1], name, cost)
    if name in BINARY:
        return _binary(evs[0], evs[1], BINARY[name], cost)
    if name in UNARY:
        return _unary(evs[0], UNARY[name], cost)
    if name == "matches" and pattern is not None:
        return _strict(evs, _matcher(pattern), cost)
    function = _SPECIAL.get(name) or _dispatch(name, node.overloads)
    if not single or len(evs) > 2 or pattern is not None:
        return _strict(evs, function, cost)
    if len(evs) == 2:
        return _binary(evs[0], evs[1], function, cost)
    return _unary(evs[0], function, cost) if evs else _strict(evs, function, cost)


def converted(node: Node, value: Any) -> Any:
    """Return what a conversion makes of a constant; a failure is an EvalError."""
    function = _SPECIAL.get(node.name) or _dispatch(node.name, node.overloads)
    try:
        return function(value)
    except EvalError as e:
        return e


def constant_pattern(value: Any) -> str | None:
    """Return a constant as a pattern, if it is one."""
    return value if value is not MISSING and isinstance(value, str) else None


def _unary(arg: Ev, function: Function, cost: Cost | None) -> Ev:
    def ev(frame: list[Any]) -> Any:
        a = arg(frame)
        if type(a) is EvalError:
            result = a
        else:
            try:
                result = function(a)
            except EvalError as e:
                result = e
        frame[0] += 1 if cost is None else cost((a,), result)
        return result

    return ev


def _binary(first: Ev, second: Ev, function: Function, cost: Cost | None) -> Ev:
    def ev(frame: list[Any]) -> Any:
        a, b = first(frame), second(frame)
        if type(a) is EvalError:
            result = a
        elif type(b) is EvalError:
            result = b
        else:
            try:
                result = function(a, b)
            except EvalError as e:
                result = e
        frame[0] += 1 if cost is None else cost((a, b), result)
        return result

    return ev


def _ordering(first: Ev, second: Ev, name: str, cost: Cost | None) -> Ev:
    quick, function = _ORDERS[name], BINARY[name]

    def ev(frame: list[Any]) -> Any:
        a, b = first(frame), second(frame)
        if type(a) is int and type(b) is int:
            frame[0] += 1
            return quick(a, b)
        if type(a) is EvalError:
            result = a
        elif type(b) is EvalError:
            result = b
        else:
            try:
                result = function(a, b)
            except EvalError as e:
                result = e
        frame[0] += 1 if cost is None else cost((a, b), result)
        return result

    return ev


def _strict(evs: Sequence[Ev], function: Function, cost: Cost | None) -> Ev:
    """Return the closure of a call that ends with the first error of an argument.

    Unless that is the last argument, the call then costs nothing.
    """
    last = len(evs) - 1

    def ev(frame: list[Any]) -> Any:
        args = []
        result: Any = None
        for i, arg in enumerate(evs):
            result = arg(frame)
            args.append(result)
            if type(result) is EvalError:
                if i != last:
                    return result
                break
        else:
            try:
                result = function(*args)
            except EvalError as e:
                result = e
        frame[0] += 1 if cost is None else cost(args, result)
        return result

    return ev


# Which overload runs.


def _dispatch(name: str, overloads: Sequence[str]) -> Function:
    """Return what runs the first overload that the values at hand fit."""
    from crdlint.cel.functions import IMPLEMENTATIONS, UNGUARDED

    if name in UNGUARDED:
        return IMPLEMENTATIONS[overloads[0]]

    choices: list[tuple[list[Test | None], Function]] = []
    for one in overloads:
        tests = [_test(of) for of in overload_named(name, one).args]
        # What has none works on an authorizer, which no rule of a CRD comes by.
        choices.append((tests, IMPLEMENTATIONS.get(one, _nothing)))
    if len(choices) == 1:
        return _guarded(name, *choices[0])

    def run(*args: Any) -> Any:
        for tests, function in choices:
            if _fit(args, tests):
                return function(*args)
        raise _no_overload(name, args)

    return run


def _guarded(name: str, tests: Sequence[Test | None], function: Function) -> Function:
    def run(*args: Any) -> Any:
        if not _fit(args, tests):
            raise _no_overload(name, args)
        return function(*args)

    return run


def _fit(args: Sequence[Any], tests: Sequence[Test | None]) -> bool:
    for value, test in zip(args, tests, strict=True):
        if test is not None and not test(value):
            return False
    return True


def _no_overload(name: str, args: Sequence[Any]) -> EvalError:
    for value in args:
        if type(value) is EvalError:
            return value
    return EvalError(f"no such overload: {name}({', '.join([type_name(arg) for arg in args])})")


if TYPE_CHECKING:
    Test = Callable[[Any], bool]

_CLASSES: dict[int, type] = {
    t.BOOL: bool,
    t.INT: int,
    t.UINT: Uint,
    t.DOUBLE: float,
    t.STRING: str,
    t.BYTES: bytes,
    t.DURATION: Duration,
    t.TIMESTAMP: Timestamp,
    t.TYPE: TypeValue,
}


def _test(of: Type) -> Test | None:
    """Return what tells whether a value is of a type, or None where every value is.

    Of a list or map only the first element is looked at, as cel-go does.
    """
    kind = of.kind
    if kind in _CLASSES:
        wanted = _CLASSES[kind]
        return lambda value: type(value) is wanted
    if kind == t.LIST:
        item = _test(of.params[0])
        return lambda value: (
            isinstance(value, list) and (item is None or not value or item(value[0]))
        )
    if kind == t.MAP:
        return _map_test(_test(of.params[0]), _test(of.params[1]))
    if kind in (t.DYN, t.PARAM):
        return None
    if t.is_optional(of):
        return lambda value: type(value) is Optional
    name = of.name
    return lambda value: type_name(value) == name


def _map_test(key: Test | None, item: Test | None) -> Test:
    def test(value: Any) -> bool:
        if not isinstance(value, MapValue):
            return False
        for first in value:
            fits = key is None or key(first)
            return fits and (item is None or item(value.find(first)))
        return True

    return test


# What needs no table.


def _nothing(*_: Any) -> Any:
    raise no_such_overload()


def _matcher(pattern: str) -> Function:
    def matches(text: Any) -> bool:
        if not isinstance(text, str):
            raise no_such_overload()
        return bool(goregex.matches(pattern, text))

    return lambda text, _: matches(text)


def _insert(into: Any, *entry: Any) -> Any:
    """Put entries in the map that a loop is making."""
    entries = [entry] if len(entry) == 2 else entry[0].items()
    for key, value in entries:
        if into.find(key) is not MISSING:
            raise EvalError(f"insert failed: key {key} already exists")
        into.insert(key, value)
    return into


_SPECIAL: dict[str, Function] = {
    "cel.@mapInsert": _insert,
    "dyn": lambda value: value,
    "type": lambda value: TypeValue(type_name(value)),
}
