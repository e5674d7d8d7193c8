"""JSON values as Go holds them: int64, float64, and equality that tells them apart."""

from __future__ import annotations

import math
from typing import Any

_MIN, _MAX = -(1 << 63), (1 << 63) - 1


def is_int64(value: Any) -> bool:
    """Tell whether Go decodes a number to an int64; larger ones become float64."""
    return isinstance(value, int) and not isinstance(value, bool) and _MIN <= value <= _MAX


def as_int64(value: Any) -> int:
    """Convert a number as Go does on amd64: the fraction is cut, what does not fit is the least."""
    if isinstance(value, float) and not math.isfinite(value):
        return _MIN
    whole = int(value)
    return whole if _MIN <= whole <= _MAX else _MIN


def same_go(a: Any, b: Any) -> bool:
    """Tell whether two values are deeply equal to Go: 1 is not 1.0, and neither is true."""
    if a is b:
        return True
    if isinstance(a, dict):
        if not isinstance(b, dict) or len(a) != len(b):
            return False
        for key, value in a.items():
            if key not in b or not same_go(value, b[key]):
                return False
        return True
    if isinstance(a, list):
        if not isinstance(b, list) or len(a) != len(b):
            return False
        for x, y in zip(a, b, strict=True):
            if not same_go(x, y):
                return False
        return True
    same = isinstance(a, bool) == isinstance(b, bool) and is_int64(a) == is_int64(b)
    return same and bool(a == b)


def as_stored(value: Any) -> Any:
    """Return a value with the numbers that a server stores; the given one is left as it is.

    An integer beyond int64 becomes the float next to it, in its shortest spelling.
    """
    changed: Any = None
    if isinstance(value, dict):
        for key, item in value.items():
            if isinstance(item, (dict, list)) or type(item) is int:
                new = as_stored(item)
                if new is not item:
                    changed = dict(value) if changed is None else changed
                    changed[key] = new
    elif isinstance(value, list):
        for i, item in enumerate(value):
            new = as_stored(item)
            if new is not item:
                changed = list(value) if changed is None else changed
                changed[i] = new
    elif type(value) is int and not _MIN <= value <= _MAX:
        return _rounded(value)
    return value if changed is None else changed


def _rounded(value: int) -> int | float:
    try:
        near = float(value)
    except OverflowError:
        return value  # no document gets here with it: Go cannot read such a number
    if abs(near) >= 1e21:
        return near
    digits, _, exponent = repr(near).partition("e+")
    whole, _, fraction = digits.partition(".")
    shift: int = 10 ** (int(exponent) - len(fraction))
    return int(whole + fraction) * shift
