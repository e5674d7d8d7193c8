"""The values of CEL at run time, their equality and their order."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# What Python has stands for itself: None, bool, int, float, str, bytes and list. Every int is a
# CEL int unless it is a Uint, and a bool is never an int.

MIN_INT, MAX_INT = -(1 << 63), (1 << 63) - 1
MAX_UINT = (1 << 64) - 1


class EvalError(Exception):
    """The error an evaluation ends with; `message` as cel-go words it."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


def no_such_overload() -> EvalError:
    """Return the error for operands that no overload takes."""
    return EvalError("no such overload")


class Uint(int):
    """An unsigned integer of 64 bits."""

    __slots__ = ()


class Timestamp:
    """An instant, in nanoseconds since 1970; `offset`: seconds east of UTC that its text shows."""

    __slots__ = ("nanos", "offset")
    type_name = "google.protobuf.Timestamp"

    def __init__(self, nanos: int, offset: int = 0) -> None:
        self.nanos = nanos
        self.offset = offset

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Timestamp) and self.nanos == other.nanos

    def __hash__(self) -> int:
        return hash((Timestamp, self.nanos))


class Duration:
    """A span of time in nanoseconds."""

    __slots__ = ("nanos",)
    type_name = "google.protobuf.Duration"

    def __init__(self, nanos: int) -> None:
        self.nanos = nanos

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Duration) and self.nanos == other.nanos

    def __hash__(self) -> int:
        return hash((Duration, self.nanos))


class TypeValue:
    """A type as a value; `name` as cel-go names it at run time."""

    __slots__ = ("name",)
    type_name = "type"

    def __init__(self, name: str) -> None:
        self.name = name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TypeValue) and self.name == other.name

    def __hash__(self) -> int:
        return hash((TypeValue, self.name))


class Optional:
    """A value or none."""

    __slots__ = ("has_value", "value")
    type_name = "optional_type"

    def __init__(self, value: Any = None, *, has_value: bool = True) -> None:
        self.has_value = has_value
        self.value = value


NONE = Optional(has_value=False)

MISSING: Any = object()
_BOOL_KEYS = ((bool, False), (bool, True))


def map_key(key: Any) -> Any:
    """Return what stands for a key in a dict: true is not 1, but 1, 1u and 1.0 are one key."""
    if key is True or key is False:
        return _BOOL_KEYS[key]
    return (list, id(key)) if isinstance(key, list) else key


class MapValue:
    """A map that an expression made. Keys come in the order in which they were put in."""

    __slots__ = ("_entries",)
    type_name = "map"

    def __init__(self, entries: Iterable[tuple[Any, Any]] = ()) -> None:
        self._entries: dict[Any, tuple[Any, Any]] = {}
        for key, value in entries:
            self._entries[map_key(key)] = (key, value)

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Any]:
        """Go over the keys."""
        return iter([key for key, _ in self._entries.values()])

    def find(self, key: Any) -> Any:
        """Return the value of a key, or MISSING."""
        found = self._entries.get(map_key(key))
        return MISSING if found is None else found[1]

    def items(self) -> list[tuple[Any, Any]]:
        """Return the entries."""
        return list(self._entries.values())

    def insert(self, key: Any, value: Any) -> None:
        """Put an entry in; only whoever made the map may."""
        self._entries[map_key(key)] = (key, value)

    def equals(self, other: Any) -> bool:
        """Tell whether another value is an equal map."""
        if not isinstance(other, MapValue) or len(self) != len(other):
            return False
        for key in self:
            theirs = other.find(key)
            if theirs is MISSING:
                return False
            try:
                if not equal(self.find(key), theirs):
                    return False
            except EvalError:
                continue  # cel-go takes an error for equal here
        return True


_NAMES = {
    type(None): "null_type",
    bool: "bool",
    int: "int",
    Uint: "uint",
    float: "double",
    str: "string",
    bytes: "bytes",
    list: "list",
}
_NUMBERS = frozenset((int, Uint, float))


def type_name(value: Any) -> str:
    """Return the name of a value's type as cel-go says it at run time."""
    name = _NAMES.get(type(value))
    if name is not None:
        return name
    if isinstance(value, list):
        return "list"
    found: str = value.type_name
    return found


# Types that cel-go sends calls to which it finds no other way to make.
_RECEIVERS = (str, Duration, Timestamp)


def unfit(name: str, first: Any) -> EvalError:
    """Return the error for a first argument of a type that a function has no overload for."""
    if isinstance(first, _RECEIVERS):
        return no_such_overload()
    return EvalError(f"no such overload: {name}")


def equal(a: Any, b: Any) -> bool:
    """Tell whether two values are equal; numbers of different types compare by value.

    Raises:
        EvalError: the first is of a type that compares only with its own.
    """
    if a is None or b is None:
        return a is b
    return same(a, b)


def same(a: Any, b: Any) -> bool:
    """Ask a value itself whether it equals another; unlike `equal` it may mind a null.

    Raises:
        EvalError: see `equal`.
    """
    kind = type(a)
    if kind is str or kind is bool or kind is bytes or kind is type(None):
        return type(b) is kind and bool(a == b)
    if kind in _NUMBERS:
        return type(b) in _NUMBERS and compare_numbers(a, b) == 0
    if kind is list:
        return _same_lists(a, b)
    equals = getattr(a, "equals", None)
    if equals is not None:
        return bool(equals(b))
    if kind is Timestamp or kind is Duration or kind is TypeValue:
        return bool(a == b)
    if kind is Optional:
        return _same_optionals(a, b)
    if type(b) is not kind:
        raise no_such_overload()
    return bool(a == b)


def _same_lists(a: list[Any], b: Any) -> bool:
    if not isinstance(b, list) or len(a) != len(b):
        return False
    for mine, theirs in zip(a, b, strict=True):
        try:
            if not equal(mine, theirs):
                return False
        except EvalError:
            continue  # cel-go takes an error for equal here
    return True


def _same_optionals(a: Optional, b: Any) -> bool:
    if type(b) is not Optional:
        return False
    if not a.has_value or not b.has_value:
        return a.has_value == b.has_value
    return same(a.value, b.value)


_TWO_63, _TWO_64 = float(1 << 63), float(1 << 64)


def compare_numbers(a: Any, b: Any) -> int | None:
    """Return the order of two numbers as -1, 0 or 1, or None where one is not a number (NaN)."""
    kind, other = type(a), type(b)
    if kind is float:
        if math.isnan(a):
            return None
        if other is float:
            return None if math.isnan(b) else _order(a, b)
        return _compare_double(a, b, unsigned=other is Uint)
    if other is float:
        if math.isnan(b):
            return None
        return -_compare_double(b, a, unsigned=kind is Uint)
    return _order(a, b)


def _compare_double(a: float, b: int, *, unsigned: bool) -> int:
    """Compare as cel-go does: within the range of the integer, both as doubles."""
    low, high = (0.0, _TWO_64) if unsigned else (-_TWO_63, _TWO_63)
    if a < low:
        return -1
    if a > high:
        return 1
    return _order(a, float(b))


def _order(a: Any, b: Any) -> int:
    return -1 if a < b else 1 if a > b else 0


def compare(a: Any, b: Any) -> int:
    """Return the order of two values as -1, 0 or 1.

    Raises:
        EvalError: they have none.
    """
    kind, other = type(a), type(b)
    if kind in _NUMBERS and other in _NUMBERS:
        order = compare_numbers(a, b)
        if order is None:
            raise EvalError("NaN values cannot be ordered")
        return order
    if kind is not other:
        raise no_such_overload()
    if kind is str or kind is bytes or kind is bool:
        return _order(a, b)
    if kind is Timestamp or kind is Duration:
        return _order(a.nanos, b.nanos)
    raise no_such_overload()
