"""CEL's operators at run time: arithmetic, order, containment."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from crdlint.cel.datavalues import SchemaList
from crdlint.cel.values import (
    MAX_INT,
    MAX_UINT,
    MIN_INT,
    MISSING,
    Duration,
    EvalError,
    MapValue,
    Timestamp,
    Uint,
    compare,
    no_such_overload,
    same,
    type_name,
    unfit,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    Binary = Callable[[Any, Any], Any]

# Seconds since 1970 of the first instant and of the last that a timestamp may be.
_MIN_INSTANT, _MAX_INSTANT = -62_135_596_800, 253_402_300_799
_SECOND = 1_000_000_000


def as_int(value: int) -> int:
    """Return a result as an int.

    Raises:
        EvalError: it does not fit 64 bits.
    """
    if MIN_INT <= value <= MAX_INT:
        return value
    raise EvalError("integer overflow")


def as_uint(value: int) -> Uint:
    """Return a result as a uint.

    Raises:
        EvalError: it does not fit 64 bits.
    """
    if 0 <= value <= MAX_UINT:
        return Uint(value)
    raise EvalError("unsigned integer overflow")


def as_duration(nanos: int) -> Duration:
    """Return a result as a duration.

    Raises:
        EvalError: it does not fit 64 bits of nanoseconds.
    """
    if MIN_INT <= nanos <= MAX_INT:
        return Duration(nanos)
    raise EvalError("integer overflow")


def as_timestamp(nanos: int, offset: int) -> Timestamp:
    """Return a result as a timestamp that shows the offset of the one it was made of.

    Raises:
        EvalError: it is not between the years 1 and 9999.
    """
    if _MIN_INSTANT <= nanos // _SECOND <= _MAX_INSTANT:
        return Timestamp(nanos, offset)
    raise EvalError("timestamp overflow")


# The types of first operands. For another type the error names the operator; where the second
# operand is to blame, or the first is of a type that receives calls, it does not.
_NUMBERS = frozenset(("int", "uint", "double"))
_ORDERED = _NUMBERS | {"bool", "bytes"}
_FIRST = {
    "_+_": _NUMBERS | {"bytes", "list"},
    "_-_": _NUMBERS,
    "_*_": _NUMBERS,
    "_/_": _NUMBERS,
    "_%_": frozenset(("int", "uint")),
    "_<_": _ORDERED,
    "_<=_": _ORDERED,
    "_>_": _ORDERED,
    "_>=_": _ORDERED,
    "-_": frozenset(("int", "double", "bool")),
}


def _unfit(name: str, first: Any) -> EvalError:
    """Return the error for operands that no overload takes."""
    return no_such_overload() if type_name(first) in _FIRST[name] else unfit(name, first)


def plus(a: Any, b: Any) -> Any:
    """Add numbers, times and durations; join texts, bytes and lists."""
    kind, other = type(a), type(b)
    if kind is other:
        if kind is int:
            return as_int(a + b)
        if kind is str or kind is float or kind is bytes:
            return a + b
        if kind is Uint:
            return as_uint(int(a) + int(b))
        if kind is Duration:
            return as_duration(a.nanos + b.nanos)
    if isinstance(a, SchemaList):
        return a.plus(b)
    if isinstance(a, list) and isinstance(b, list):
        return [*a, *b]
    if kind is Timestamp and other is Duration:
        return as_timestamp(a.nanos + b.nanos, a.offset)
    if kind is Duration and other is Timestamp:
        return as_timestamp(a.nanos + b.nanos, b.offset)
    raise _unfit("_+_", a)


def minus(a: Any, b: Any) -> Any:
    """Subtract numbers, times and durations."""
    kind, other = type(a), type(b)
    if kind is other:
        if kind is int:
            return as_int(a - b)
        if kind is float:
            return a - b
        if kind is Uint:
            return as_uint(int(a) - int(b))
        if kind is Duration or kind is Timestamp:
            return as_duration(a.nanos - b.nanos)
    if kind is Timestamp and other is Duration:
        return as_timestamp(a.nanos + as_duration(-b.nanos).nanos, a.offset)
    raise _unfit("_-_", a)


def times(a: Any, b: Any) -> Any:
    """Multiply numbers."""
    kind = type(a)
    if kind is type(b):
        if kind is int:
            return as_int(a * b)
        if kind is float:
            return a * b
        if kind is Uint:
            return as_uint(int(a) * int(b))
    raise _unfit("_*_", a)


def _double_quotient(a: float, b: float) -> float:
    if b:
        return a / b
    if not a or math.isnan(a):
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1.0, b)


def divided(a: Any, b: Any) -> Any:
    """Divide numbers; integers are cut towards zero."""
    kind = type(a)
    if kind is type(b):
        if kind is float:
            return _double_quotient(a, b)
        if kind is int or kind is Uint:
            if not b:
                raise EvalError("division by zero")
            quotient = abs(int(a)) // abs(int(b))
            if kind is Uint:
                return Uint(quotient)
            return as_int(-quotient if (a < 0) != (b < 0) else quotient)
    raise _unfit("_/_", a)


def modulo(a: Any, b: Any) -> Any:
    """Return the remainder of integers, with the sign of the first."""
    kind = type(a)
    if kind is type(b) and (kind is int or kind is Uint):
        if not b:
            raise EvalError("modulus by zero")
        rest = abs(int(a)) % abs(int(b))
        if kind is Uint:
            return Uint(rest)
        if a == MIN_INT and b == -1:
            raise EvalError("integer overflow")
        return -rest if a < 0 else rest
    raise _unfit("_%_", a)


def negated(a: Any) -> Any:
    """Return a number or duration with the other sign."""
    kind = type(a)
    if kind is int:
        return as_int(-a)
    if kind is float:
        return -a
    if kind is Duration:
        return as_duration(-a.nanos)
    raise _unfit("-_", a)


def inverted(a: Any) -> Any:
    """Return what a bool is not."""
    if a is True:
        return False
    if a is False:
        return True
    raise no_such_overload()


def less(a: Any, b: Any) -> bool:
    """Tell whether one value comes before another."""
    return _order("_<_", a, b) < 0


def less_equals(a: Any, b: Any) -> bool:
    """Tell whether one value does not come after another."""
    return _order("_<=_", a, b) <= 0


def greater(a: Any, b: Any) -> bool:
    """Tell whether one value comes after another."""
    return _order("_>_", a, b) > 0


def greater_equals(a: Any, b: Any) -> bool:
    """Tell whether one value does not come before another."""
    return _order("_>=_", a, b) >= 0


def _order(name: str, a: Any, b: Any) -> int:
    try:
        return compare(a, b)
    except EvalError:
        if type_name(a) not in _FIRST[name]:
            raise _unfit(name, a) from None
        raise


def within(a: Any, b: Any) -> bool:
    """Tell whether a list has an element, or a map a key."""
    if isinstance(b, MapValue):
        found = b.find(a)
        if type(found) is EvalError:
            raise found
        return found is not MISSING
    if isinstance(b, SchemaList):
        return _in_data(a, b)
    if isinstance(b, list):
        return _in_list(a, b)
    raise no_such_overload()


def _in_list(a: Any, items: list[Any]) -> bool:
    for item in items:
        try:
            if same(a, item):
                return True
        except EvalError:
            continue
    return False


def _in_data(a: Any, items: SchemaList) -> bool:
    """Look for an element in a list of the data, where an error weighs more than no match."""
    error: EvalError | None = None
    for item in items:
        try:
            if type(item) is EvalError:
                raise item
            if same(item, a):
                return True
        except EvalError as e:
            error = error or e
    if error is not None:
        raise error
    return False


BINARY: dict[str, Binary] = {
    "_+_": plus,
    "_-_": minus,
    "_*_": times,
    "_/_": divided,
    "_%_": modulo,
    "_<_": less,
    "_<=_": less_equals,
    "_>_": greater,
    "_>=_": greater_equals,
    "@in": within,
}
UNARY: dict[str, Callable[[Any], Any]] = {"!_": inverted, "-_": negated}
