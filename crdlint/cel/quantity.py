"""Resource quantities: parse, compare, add and write them as the API server does."""

from __future__ import annotations

import re

from crdlint.cel.values import MAX_INT, MIN_INT, EvalError, no_such_overload

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_NANO = -9
_MAX_DIGITS = 18  # what fits into an int64 for sure
_MAX_SHIFT = 100_000  # digits that are written out; larger exponents no one means

_FORM = re.compile(
    r"(?P<sign>[+-]?)0*(?P<whole>[0-9]*)(?:\.(?P<fraction>[0-9]*))?"
    r"(?P<suffix>[eEinumkKMGTP]*[-+]?[0-9]*)"
)
_DECIMAL, _BINARY, _EXPONENT = "DecimalSI", "BinarySI", "DecimalExponent"
_DECIMAL_SUFFIXES = {
    "n": -9,
    "u": -6,
    "m": -3,
    "": 0,
    "k": 3,
    "M": 6,
    "G": 9,
    "T": 12,
    "P": 15,
    "E": 18,
}
_BINARY_SUFFIXES = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL_NAMES = {exponent: suffix for suffix, exponent in _DECIMAL_SUFFIXES.items()}
_BINARY_NAMES = {exponent: suffix for suffix, exponent in _BINARY_SUFFIXES.items()}

_BAD_FORM = (
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
)
_BAD_SUFFIX = "unable to parse quantity's suffix"
_BAD_NUMBER = "unable to parse numeric part of quantity"


def _int32(value: int) -> int:
    return (value + (1 << 31)) % (1 << 32) - (1 << 31)


class Quantity:
    """The number value * 10**scale.

    `small` tells that the server holds it as an int64, which decides whether it is an integer;
    `text` is what it was written as where that is its canonical form.
    """

    __slots__ = ("format", "scale", "small", "text", "value")
    type_name = "kubernetes.Quantity"

    def __init__(
        self, value: int, scale: int, format_: str, *, small: bool, text: str = ""
    ) -> None:
        self.value = value
        self.scale = scale
        self.format = format_
        self.small = small
        self.text = text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Quantity) and _compare(self, other) == 0

    def __hash__(self) -> int:
        value, scale = _without_zeros(self.value, 10, self.scale)
        return hash((value, scale if value else 0))

    def equals(self, other: Any) -> bool:
        """Tell whether another quantity is the same number.

        Raises:
            EvalError: it is no quantity, or a sum: the server holds sums in another way, and
                compares with them only from the left.
        """
        if not isinstance(other, Quantity) or isinstance(other, Sum):
            raise no_such_overload()
        return _compare(self, other) == 0

    def __str__(self) -> str:
        return self.text or _canonical(self)


class Sum(Quantity):
    """A quantity that was computed."""

    __slots__ = ()


def parse(text: str) -> Quantity:
    """Read a quantity.

    Raises:
        EvalError: it is none; the message is that of resource.ParseQuantity.
    """
    found = _FORM.fullmatch(text)
    if not text or found is None:
        raise EvalError(_BAD_FORM)
    if text == "0":
        return Quantity(0, 0, _DECIMAL, small=True, text=text)
    whole, fraction = found["whole"] or "0", found["fraction"] or ""
    base, exponent, format_ = _suffix(found["suffix"])
    if base == 2:
        fits = not fraction
        room = 14 - len(whole) - exponent * 3 // 10
        factor, scale = 1 << exponent, 0
    else:
        fits = True
        room = _MAX_DIGITS - len(whole) - len(fraction)
        factor, scale = 1, _int32(exponent - len(fraction))
    if fits and room >= 0 and scale >= _NANO:
        digits = whole + fraction
        value = int(digits) * factor
        if base == 2:
            canonical = exponent % 10 == 0 and int(digits) & 7 != 0
        else:
            canonical = scale % 3 == 0 and not digits.endswith("000") and digits[0] != "0"
        if found["sign"] == "-":
            value = -value
        return Quantity(value, scale, format_, small=True, text=text if canonical else "")
    return _large(found, base, exponent, format_)


def _suffix(suffix: str) -> tuple[int, int, str]:
    if suffix in _DECIMAL_SUFFIXES:
        return 10, _DECIMAL_SUFFIXES[suffix], _DECIMAL
    if suffix in _BINARY_SUFFIXES:
        return 2, _BINARY_SUFFIXES[suffix], _BINARY
    if re.fullmatch("[eE][+-]?[0-9]+", suffix):
        digits = suffix[1:].lstrip("+-0") or "0"
        exponent = int(digits[:20]) * (-1 if suffix[1] == "-" else 1)
        if MIN_INT <= exponent <= MAX_INT:
            return 10, _int32(exponent), _EXPONENT
    raise EvalError(_BAD_SUFFIX)


def _large(found: re.Match[str], base: int, exponent: int, format_: str) -> Quantity:
    """Read a number that an int64 may not hold: rounded up to nanos, limited if it is binary."""
    number = found.string[: found.start("suffix")]
    digits = re.sub(r"[+.-]", "", number)
    if not digits:
        raise EvalError(_BAD_NUMBER)
    value, scale = _integer(digits), -len(found["fraction"] or "")
    if base == 2:
        value <<= exponent
    else:
        # The server negates the exponent as an int32, which the lowest one survives.
        scale = -_int32(-scale + _int32(-exponent))
    if value:
        value, scale = _nanos(value, scale)
    if format_ == _BINARY:
        one = 10 ** (-scale)
        if value > MAX_INT * one:
            value, scale = MAX_INT, 0
        elif 0 < value < one:
            format_ = _DECIMAL
    if found["sign"] == "-":
        value = -value
    return Quantity(value, scale, format_, small=False)


def _integer(digits: str) -> int:
    """Return a decimal number of any length; int() refuses more than a few thousand digits."""
    total = 0
    for start in range(0, len(digits), 1000):
        part = digits[start : start + 1000]
        total = total * 10 ** len(part) + int(part)
    return total


def _nanos(value: int, scale: int) -> tuple[int, int]:
    """Round a positive number up to a multiple of 10**-9."""
    if scale > _MAX_SHIFT:
        return value, scale
    if scale >= _NANO:
        return value * 10 ** (scale - _NANO), _NANO
    shift = _NANO - scale
    if shift > value.bit_length():  # 2**n < 10**n
        return 1, _NANO
    return -(-value // 10**shift), _NANO


def _size(value: int) -> float:
    """Return about how many digits an integer has."""
    return abs(value).bit_length() * 0.30103


def _compare(a: Quantity, b: Quantity) -> int:
    if a.scale == b.scale or not a.value or not b.value or (a.value < 0) != (b.value < 0):
        return _order(a.value, b.value)
    apart = (_size(a.value) + a.scale) - (_size(b.value) + b.scale)
    if abs(apart) > 2:
        return _order(apart, 0) * (1 if a.value > 0 else -1)
    low = min(a.scale, b.scale)
    return _order(a.value * 10 ** (a.scale - low), b.value * 10 ** (b.scale - low))


def _order(a: float, b: float) -> int:
    return (a > b) - (a < b)


def compare(a: Quantity, b: Quantity) -> int:
    """Return the order of two quantities; the first may lose what makes it an integer."""
    if not (a.small and b.small):
        a.small = False
    return _compare(a, b)


def as_integer(quantity: Quantity) -> int | None:
    """Return a quantity as an int64, or None where the server does not hold it as one."""
    if not quantity.small or quantity.scale < 0:
        return None
    return _scaled(quantity.value, quantity.scale) if quantity.value else 0


def as_float(quantity: Quantity) -> float:
    """Return a quantity as a double, rounded in two steps as the server does."""
    try:
        base = float(quantity.value)
    except OverflowError:
        base = float("inf") if quantity.value > 0 else float("-inf")
    return base * _power(quantity.scale) if quantity.scale else base


def _power(n: int) -> float:
    """Return 10**n as math.Pow10 does: from two rounded factors."""
    if n > 308:
        return float("inf")
    if n < -323:
        return 0.0
    steps, rest = divmod(abs(n), 32)
    if n < 0:
        return float(f"1e-{32 * steps}") / float(f"1e{rest}")
    return float(f"1e{32 * steps}") * float(f"1e{rest}")


def from_int(value: int) -> Quantity:
    """Return an integer as a quantity."""
    return Quantity(value, 0, _EXPONENT, small=True)


def add(a: Quantity, b: Quantity) -> Sum:
    """Return the sum of two quantities."""
    return _added(a, b.value, b, as_int64=b.value)


def subtract(a: Quantity, b: Quantity) -> Sum:
    """Return the difference of two quantities."""
    # The lowest int64 is its own negative in Go.
    return _added(a, -b.value, b, as_int64=b.value if b.value == MIN_INT else -b.value)


def _added(a: Quantity, value: int, b: Quantity, *, as_int64: int) -> Sum:
    """Add a value of the scale of `b`; what an int64 cannot hold makes the sum a decimal."""
    format_ = a.format if a.value else b.format
    if a.small and b.small:
        if not value:
            return Sum(a.value, a.scale, format_, small=True)
        if not a.value:
            return Sum(as_int64, b.scale, format_, small=True)
        low = min(a.scale, b.scale)
        mine, theirs = _scaled(a.value, a.scale - low), _scaled(as_int64, b.scale - low)
        if mine is not None and theirs is not None and MIN_INT <= mine + theirs <= MAX_INT:
            return Sum(mine + theirs, low, format_, small=True)
    low = min(a.scale, b.scale)
    if max(a.scale, b.scale) - low > _MAX_SHIFT:
        raise EvalError("quantities are too far apart to be added")
    total = a.value * 10 ** (a.scale - low) + value * 10 ** (b.scale - low)
    return Sum(total, low, format_, small=False)


def _scaled(value: int, scale: int) -> int | None:
    """Return value * 10**scale where an int64 holds it and Go's way to check that sees it."""
    if not scale:
        return value
    if scale > _MAX_DIGITS or value == MIN_INT:
        return None
    scaled: int = value * 10**scale
    return scaled if MIN_INT <= scaled <= MAX_INT else None


def _without_zeros(value: int, base: int, exponent: int) -> tuple[int, int]:
    while value and value % base == 0:
        value //= base
        exponent += 1
    return value, exponent


def _canonical(quantity: Quantity) -> str:
    """Write a quantity with the largest suffix that leaves an integer before it."""
    if not quantity.value:
        return "0"
    value, scale, format_ = quantity.value, quantity.scale, quantity.format
    if format_ == _BINARY:
        one = 10 ** (-scale) if scale < 0 else 1
        number = value if scale < 0 else value * 10**scale
        if -1024 * one < number < 1024 * one or number % one:
            format_ = _DECIMAL
        else:
            number, exponent = _without_zeros(number // one, 1024, 0)
            return _written(number) + _BINARY_NAMES.get(exponent * 10, "")
    value, exponent = _without_zeros(value, 10, scale)
    while exponent % 3:
        value *= 10
        exponent -= 1
    number = _written(value)
    if format_ == _DECIMAL:
        return number + _DECIMAL_NAMES.get(exponent, "")
    return f"{number}e{exponent}" if exponent else number


def _written(value: int) -> str:
    """Write an integer of any length; str() refuses more than a few thousand digits."""
    if value.bit_length() < 10_000:
        return str(value)
    from decimal import Decimal

    return str(Decimal(value))
