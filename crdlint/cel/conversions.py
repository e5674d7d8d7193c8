"""Conversions between the basic types of CEL."""

from __future__ import annotations

import re

from crdlint.cel import timestamps
from crdlint.cel.gotext import decimal, general
from crdlint.cel.literals import go_float
from crdlint.cel.values import (
    MAX_INT,
    MAX_UINT,
    MIN_INT,
    Duration,
    EvalError,
    Timestamp,
    TypeValue,
    Uint,
    type_name,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_TRUE = frozenset(("1", "t", "T", "TRUE", "true", "True"))
_FALSE = frozenset(("0", "f", "F", "FALSE", "false", "False"))
_NANOS = 1_000_000_000
_TWO_63, _TWO_64 = float(1 << 63), float(1 << 64)


def _no_conversion(value: Any, to: str) -> EvalError:
    return EvalError(f"type conversion error from '{type_name(value)}' to '{to}'")


def to_bool(text: str) -> bool:
    """Read a bool."""
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    raise _no_conversion(text, "bool")


def to_bytes(text: str) -> bytes:
    """Return a text in UTF-8."""
    return text.encode("utf-8", "surrogatepass")


def to_double(value: Any) -> float:
    """Read a double, or round an integer to one."""
    if not isinstance(value, str):
        return float(value)
    number = go_float(value)
    if number is None:
        raise _no_conversion(value, "double")
    return number


def to_int(value: Any) -> int:
    """Return an int: of a double without its fraction, of a time in seconds, of a text read."""
    if isinstance(value, str):
        number = decimal(value) if re.fullmatch("[+-]?[0-9]+", value) else MAX_INT + 1
        if MIN_INT <= number <= MAX_INT:
            return number
        raise _no_conversion(value, "int")
    if isinstance(value, float):
        if -_TWO_63 < value < _TWO_63:
            return int(value)
        raise EvalError("integer overflow")
    if isinstance(value, Timestamp):
        return value.nanos // _NANOS
    if isinstance(value, Duration):
        return value.nanos
    if value > MAX_INT:
        raise EvalError("integer overflow")
    return int(value)


def to_uint(value: Any) -> Uint:
    """Return a uint: of a double without its fraction, of a text read."""
    if isinstance(value, str):
        number = decimal(value) if re.fullmatch("[0-9]+", value) else MAX_UINT + 1
        if number <= MAX_UINT:
            return Uint(number)
        raise _no_conversion(value, "uint")
    if isinstance(value, float):
        if 0 <= value < _TWO_64:
            return Uint(value)
        raise EvalError("unsigned integer overflow")
    if value < 0:
        raise EvalError("unsigned integer overflow")
    return Uint(value)


def to_string(value: Any) -> str:
    """Write a value of a basic type."""
    if isinstance(value, str):
        return value
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, float):
        return general(value)
    if isinstance(value, bytes):
        return _decoded(value)
    if isinstance(value, Duration):
        return timestamps.duration_text(value)
    if isinstance(value, Timestamp):
        return timestamps.timestamp_text(value)
    if isinstance(value, TypeValue):
        return value.name
    raise _no_conversion(value, "string")


def _decoded(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        raise EvalError("invalid UTF-8 in bytes, cannot convert to string") from None
