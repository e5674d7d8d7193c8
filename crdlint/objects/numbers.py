"""Numbers and enums against a schema, with the conversions that Go makes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from crdlint.govalues import as_int64, is_int64, same_go
from crdlint.objects.error import number as spelled_number

if TYPE_CHECKING:
    from collections.abc import Mapping

    Schema = Mapping[str, Any]

_MAX_JSON_FLOAT = float((1 << 53) - 1)
_FLOAT32_OVERFLOW = float(((1 << 25) - 1) << 103)  # from here on a number rounds beyond float32


def in_enum(enum: list[Any], value: Any) -> bool:
    """Tell whether a value is in an enum, with Go's conversions.

    A float converts to an integer by cutting its fraction, and an integer to the text of its code
    point. Source: basicCommonValidator of kube-openapi.
    """
    if isinstance(value, str):
        return value in enum  # nothing but the same text is equal to a text, or becomes it
    for allowed in enum:
        if allowed is None:
            continue
        if same_go(value, allowed):
            return True
        if isinstance(value, bool) or isinstance(allowed, bool):
            continue
        if isinstance(value, (int, float)):
            if isinstance(allowed, (int, float)):
                if is_int64(allowed):
                    if as_int64(value) == allowed:
                        return True
                elif float_of(value) == float_of(allowed):
                    return True
            elif isinstance(allowed, str) and is_int64(value):
                point = value if 0 <= value <= 0x10FFFF and not 0xD800 <= value < 0xE000 else 0xFFFD
                if chr(int(point)) == allowed:
                    return True
    return False


def float_of(value: Any) -> float:
    """Return a number as the float64 that Go makes of it."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def json_integer(value: float) -> bool:
    """Tell whether a float counts as an integer, within a relative error of 1e-9.

    Source: swag.IsFloat64AJSONInteger.
    """
    if not -_MAX_JSON_FLOAT <= value <= _MAX_JSON_FLOAT:
        return False
    nearest = math.floor(abs(value) + 0.5)
    off = abs(abs(value) - nearest)
    return off == 0 or (nearest != 0 and off < 1e-9 * nearest)


RANGES = {"integer": ("int32", "int64"), "number": ("float", "double")}


def in_range(value: Any, native: str, format_: str) -> bool:
    """Tell whether a number fits its type. Source: IsValueValidAgainstRange of kube-openapi."""
    if native == "number":
        return format_ != "float" or abs(value) < _FLOAT32_OVERFLOW
    if isinstance(value, float):
        if not value.is_integer():
            return False
        value = _shortest(value)
    bits = 31 if format_ == "int32" else 63
    return bool(-(1 << bits) <= value < 1 << bits)


def _shortest(value: float) -> int:
    """Return the whole number that Go prints for a float: its shortest digits, padded with zeros.

    So -2^63 becomes -9223372036854776000, which fits no int64.
    """
    digits, _, exponent = repr(value).partition("e")
    if not exponent:
        return int(value)
    whole, _, fraction = digits.partition(".")
    fraction = "" if fraction == "0" else fraction
    zeros: int = 10 ** (int(exponent) - len(fraction))
    return int(whole + fraction) * zeros


def _said(value: Any, what: str) -> str:
    return f"{spelled_number(value)} is {what}"


def _multiple(value: Any, bound: float, _: Schema, exact: bool) -> str:
    factor: float = as_int64(bound) if exact else bound
    if factor <= 0:
        return f"multipleOf {spelled_number(bound)} is not positive, so every number is refused"
    if exact:
        good = value % factor == 0
    else:
        good = json_integer(1 / factor * value if factor < 1 else value / factor)
    return "" if good else f"{spelled_number(value)} is not a multiple of {spelled_number(bound)}"


def _maximum(value: Any, bound: float, schema: Schema, exact: bool) -> str:
    limit: float = as_int64(bound) if exact else bound
    if schema.get("exclusiveMaximum"):
        bad, words = value >= limit, "less than"
    else:
        bad, words = value > limit, "at most"
    return (
        f"{spelled_number(value)} is too large, {words} {spelled_number(limit)} allowed"
        if bad
        else ""
    )


def _minimum(value: Any, bound: float, schema: Schema, exact: bool) -> str:
    limit: float = as_int64(bound) if exact else bound
    if schema.get("exclusiveMinimum"):
        bad, words = value <= limit, "more than"
    else:
        bad, words = value < limit, "at least"
    return (
        f"{spelled_number(value)} is too small, {words} {spelled_number(limit)} needed"
        if bad
        else ""
    )


BOUNDS = {"multipleOf": _multiple, "maximum": _maximum, "minimum": _minimum}
