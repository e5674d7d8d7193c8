"""Texts as Go writes them: quoted strings, doubles, numbers that do not parse."""

from __future__ import annotations

import math
import re

from crdlint.cel.values import (
    MAX_INT,
    MIN_INT,
    Duration,
    EvalError,
    MapValue,
    Optional,
    Timestamp,
    TypeValue,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ESCAPES = {
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
    "\\": "\\\\",
    '"': '\\"',
}
_PLAIN = re.compile(r"[ !#-\[\]-~]*")


def quote(text: str) -> str:
    """Return a text in quotes with what does not print escaped; source: strconv.Quote."""
    if _PLAIN.fullmatch(text):
        return f'"{text}"'
    return f'"{"".join(map(_escaped, text))}"'


def _escaped(char: str) -> str:
    code = ord(char)
    if char in ESCAPES:
        return ESCAPES[char]
    if char == " " or (char.isprintable() and not char.isspace()):
        return char
    if code < 0x80:
        return f"\\x{code:02x}"
    if 0xDC80 <= code <= 0xDCFF:  # a byte that is no UTF-8
        return f"\\x{code - 0xDC00:02x}"
    if 0xD800 <= code < 0xE000:
        return "\ufffd"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def shortest(number: float) -> tuple[str, int]:
    """Return the fewest digits that read back as a finite positive number, and its exponent.

    The number is 0.DIGITS * 10**exponent; there are no digits for zero.
    """
    mantissa, _, power = repr(number).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    exponent = len(digits) - len(fraction) + int(power or 0)
    return digits.rstrip("0"), exponent if digits else 0


_SPECIAL = {"inf": "+Inf", "-inf": "-Inf", "nan": "NaN"}


def special(number: float) -> str:
    """Return what Go writes for a number that is not finite, or "" for one that is."""
    return "" if math.isfinite(number) else _SPECIAL[repr(number)]


def general(number: float) -> str:
    """Return a double as Go's %g writes it: with an exponent below 1e-4 and from 1e+06 on."""
    if text := special(number):
        return text
    sign = "-" if math.copysign(1, number) < 0 else ""
    digits, exponent = shortest(abs(number))
    if digits and not -4 <= exponent - 1 < 6:
        mantissa = digits[0] + ("." + digits[1:] if digits[1:] else "")
        power = exponent - 1
        return f"{sign}{mantissa}e{'-' if power < 0 else '+'}{abs(power):02d}"
    return sign + positional(digits, exponent)


def positional(digits: str, exponent: int) -> str:
    """Write 0.DIGITS * 10**exponent without an exponent."""
    if exponent <= 0:
        return "0" + ("." + "0" * -exponent + digits if digits else "")
    if len(digits) <= exponent:
        return digits + "0" * (exponent - len(digits))
    return f"{digits[:exponent]}.{digits[exponent:]}"


def plain(number: float) -> str:
    """Return a double with as few digits as it needs and no exponent; FormatFloat's 'f', -1."""
    if text := special(number):
        return text
    sign = "-" if math.copysign(1, number) < 0 else ""
    return sign + positional(*shortest(abs(number)))


def atoi(text: str) -> int:
    """Read a decimal int64.

    Raises:
        EvalError: it is none; the message is that of strconv.
    """
    if not re.fullmatch("[+-]?[0-9]+", text):
        raise EvalError(f"strconv.Atoi: parsing {quote(text)}: invalid syntax")
    value = decimal(text)
    if not MIN_INT <= value <= MAX_INT:
        raise EvalError(f"strconv.Atoi: parsing {quote(text)}: value out of range")
    return value


def decimal(text: str) -> int:
    """Return a decimal number; one too large for 64 bits need not come out right."""
    digits = text.lstrip("+-").lstrip("0")[:40]
    return int(digits or "0") * (-1 if text.startswith("-") else 1)


def shown(value: Any) -> str:
    """Return a value as a message shows it; source: how fmt's %v prints cel-go's types."""
    if isinstance(value, str):
        return value
    if value is None:
        return "0"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return general(value)
    if isinstance(value, bytes):
        return f"[{' '.join(map(str, value))}]"
    if isinstance(value, list):
        return f"[{', '.join(map(shown, value))}]"
    if isinstance(value, MapValue):
        return f"{{{', '.join(f'{shown(key)}: {shown(value.find(key))}' for key in value)}}}"
    if isinstance(value, Optional):
        return f"optional({shown(value.value)})" if value.has_value else "optional.none()"
    if isinstance(value, EvalError):
        return value.message
    if isinstance(value, TypeValue):
        return value.name
    if isinstance(value, Duration):
        return _duration(value.nanos)
    if isinstance(value, Timestamp):
        from crdlint.cel.timestamps import timestamp_text

        day, _, time = timestamp_text(Timestamp(value.nanos)).partition("T")
        return f"{day} {time.rstrip('Z')} +0000 UTC"
    return str(value)


_SECOND = 1_000_000_000
_SMALL_UNITS = (("ms", 1_000_000), ("\u00b5s", 1_000), ("ns", 1))


def _duration(nanos: int) -> str:
    """Write a duration as Go does, such as 1h0m0.5s."""
    sign, nanos = ("-" if nanos < 0 else ""), abs(nanos)
    if not nanos:
        return "0s"
    if nanos < _SECOND:
        unit, size = next(pair for pair in _SMALL_UNITS if nanos >= pair[1])
        return f"{sign}{_decimal(nanos, size)}{unit}"
    minutes, rest = divmod(nanos, 60 * _SECOND)
    hours, minutes = divmod(minutes, 60)
    before = f"{hours}h{minutes}m" if hours else f"{minutes}m" if minutes else ""
    return f"{sign}{before}{_decimal(rest, _SECOND)}s"


def _decimal(nanos: int, size: int) -> str:
    whole, rest = divmod(nanos, size)
    return f"{whole}.{rest:0{len(str(size)) - 1}d}".rstrip("0").rstrip(".") if rest else str(whole)
