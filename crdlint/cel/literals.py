"""Constants that the server tries out as it compiles: patterns, times, numbers, formats."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from crdlint import goregex
from crdlint.cel import types as t
from crdlint.cel.syntax import CALL, IDENT, LIST, LITERAL, MAP, CelError, Node
from crdlint.cel.types import same_type

if TYPE_CHECKING:
    from collections.abc import Iterable

_MIN_UNIX = -62135596800  # 0001-01-01T00:00:00Z
_MAX_UNIX = 253402300799  # 9999-12-31T23:59:59Z
_CONVERSIONS = frozenset(
    ("bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "type", "uint")
)


_WITH_PATTERN = frozenset(("matches", "find", "findAll"))  # the second argument is the pattern
_INDICES = frozenset(("string", "int", "uint", "bool", "double"))  # constants that can be indices


class ProgramError(CelError):
    """The expression type-checks, but the server cannot build its program."""


# What the validators say after type-checking.


def validate_calls(calls: Iterable[Node]) -> None:
    """Check literal durations, timestamps and patterns, and the arguments of formats.

    Raises:
        CelError: one is not valid.
    """
    for call in calls:
        name = call.name
        if name in ("duration", "timestamp", "matches") and call.args:
            arg = call.args[0]
            if arg.kind != LITERAL:
                continue
            # In the call matches(text, pattern) the server reads the text as the pattern.
            if name == "matches":
                _pattern(arg.value, arg.pos, CelError)
            elif convert(name, (arg.name, arg.value)) is None:
                raise CelError(f"{arg.value!r} is no valid {name}", arg.pos)
        elif name == "format":
            _format(call)


def validate_aggregates(aggregates: Iterable[Node]) -> None:
    """Check that the elements of each list are of one type, and keys and values of each map.

    Raises:
        CelError: some are not.
    """
    for node in aggregates:
        if node.kind == LIST:
            _one_type_list(node)
        else:
            _one_type_map(node)


def _one_type_list(node: Node) -> None:
    first: t.Type | None = None
    for i, element in enumerate(node.args):
        of = element.type
        if i in (node.value or ()) and of.params:
            of = of.params[0]
        if first is None:
            first = of
        elif not same_type(first, of):
            raise CelError(f"expected type {first} but found {of}", element.pos)


def _one_type_map(node: Node) -> None:
    first: tuple[t.Type, t.Type] | None = None
    for key, value, optional in node.args:
        of = value.type
        if optional and of.params:
            of = of.params[0]
        if first is None:
            first = key.type, of
        elif not same_type(first[0], key.type):
            raise CelError(f"expected type {first[0]} but found {key.type}", key.pos)
        elif not same_type(first[1], of):
            raise CelError(f"expected type {first[1]} but found {of}", value.pos)


def _pattern(text: object, pos: int, error: type[CelError]) -> None:
    if not isinstance(text, str):
        return
    try:
        goregex.check(text)
    except goregex.RegexError as e:
        raise error(f"the pattern does not compile: {e}", pos) from None


# The clauses of a format string and the kinds of types they take.
_INTEGERS = frozenset((t.INT, t.UINT))
_CLAUSES: dict[str, frozenset[int]] = {
    "d": _INTEGERS,
    "o": _INTEGERS,
    "f": frozenset((t.DOUBLE, t.STRING)),
    "e": frozenset((t.DOUBLE, t.STRING)),
    "b": _INTEGERS | {t.BOOL},
    "x": _INTEGERS | {t.STRING, t.BYTES},
    "X": _INTEGERS | {t.STRING, t.BYTES},
    "s": _INTEGERS
    | {t.LIST, t.MAP, t.DOUBLE, t.BOOL, t.STRING, t.TIMESTAMP, t.BYTES, t.DURATION, t.TYPE, t.NULL},
}
_CLAUSE = re.compile(r"%(?:%|(\.[0-9]*)?(.)|$)", re.DOTALL)


def _format(call: Node) -> None:
    target = call.target
    if target is None or target.kind != LITERAL or target.name != "string":
        return
    if len(call.args) != 1 or call.args[0].kind != LIST:
        return
    args = call.args[0].args
    seen = 0
    for found in _CLAUSE.finditer(target.value):
        if found.group() == "%%":
            continue
        precision, letter = found.groups()
        if letter is None:
            raise CelError("the format ends with a lone %", target.pos)
        if seen >= len(args):
            raise CelError(f"the format needs more arguments than {len(args)}", call.pos)
        if precision is not None and (len(precision) == 1 or int(precision[1:]) >= 1 << 63):
            raise CelError(f"{precision!r} is no precision in a format", target.pos)
        if letter not in _CLAUSES:
            raise CelError(f"a format has no clause %{letter}", target.pos)
        _formatted(letter, args[seen])
        seen += 1
    if len(args) > seen:
        raise CelError(f"the format takes {seen} arguments, not {len(args)}", call.pos)


def _formatted(letter: str, arg: Node) -> None:
    of = arg.type
    if of.kind != t.DYN and of.kind not in _CLAUSES[letter]:
        raise CelError(f"the clause %{letter} of a format is not for {of}", arg.pos)
    if letter == "s":
        if arg.kind == LIST:
            for part in arg.args:
                _formatted(letter, part)
        elif arg.kind == MAP:
            for key, value, _ in arg.args:
                _formatted(letter, key)
                _formatted(letter, value)


# What fails while the program is built: conversions of constants and constant patterns.


def fold(calls: Iterable[Node]) -> None:
    """Evaluate conversions of constants and compile constant patterns, as the server does.

    Raises:
        ProgramError: one fails.
    """
    known: dict[int, tuple[str, Any]] = {}
    for call in calls:
        if call.name in _CONVERSIONS:
            if len(call.args) != 1 or call.target is not None:
                continue
            value = _constant(call.args[0], known)
            if value is None:
                continue
            result = convert(call.name, value)
            if result is None:
                shown = value[1] if value[0] != "bytes" else value[1].hex()
                raise ProgramError(f"{call.name}({shown!r}) fails", call.pos)
            known[id(call)] = result
        elif call.name in ("_[_]", "_[?_]"):
            index = _constant(call.args[1], known)
            if index is not None and index[0] not in _INDICES:
                raise ProgramError(f"a {index[0]} cannot be an index", call.args[1].pos)
        elif call.name in _WITH_PATTERN:
            args = call.args if call.target is None else [call.target, *call.args]
            if len(args) >= 2:
                value = _constant(args[1], known)
                if value is not None and value[0] == "string":
                    _pattern(value[1], args[1].pos, ProgramError)


def _constant(node: Node, known: dict[int, tuple[str, Any]]) -> tuple[str, Any] | None:
    if node.kind == LITERAL:
        return node.name, node.value
    if node.kind == CALL:
        return known.get(id(node))
    if node.kind == IDENT:
        # An identifier of a type is a constant; a variable has no such type.
        of = node.type
        return (
            ("type", of.params[0]) if of is not None and of.kind == t.TYPE and of.params else None
        )
    if node.kind == LIST and not node.value:
        for element in node.args:
            if _constant(element, known) is None:
                return None
        return "list", ()
    if node.kind == MAP:
        for key, value, optional in node.args:
            if optional or _constant(key, known) is None or _constant(value, known) is None:
                return None
        return "map", ()
    return None


def convert(function: str, value: tuple[str, Any]) -> tuple[str, Any] | None:
    """Return what a conversion makes of a constant (its type, its value), or None if it fails."""
    kind, v = value
    if function in ("dyn", kind):
        return value
    if function == "type":
        return "type", kind
    if function == "string":
        return _to_string(kind, v)
    if function in ("int", "uint"):
        return _to_integer(function, kind, v)
    if function == "double":
        return _to_double(kind, v)
    if function == "bool":
        word = kind == "string" and _BOOLS.get(v)
        return ("bool", word == "true") if word else None
    if function == "bytes":
        return ("bytes", v.encode("utf-8", "surrogatepass")) if kind == "string" else None
    if function == "duration":
        nanoseconds = duration(v) if kind == "string" else None
        return None if nanoseconds is None else ("duration", nanoseconds)
    if kind == "int":
        return ("timestamp", v) if _MIN_UNIX <= v <= _MAX_UNIX else None
    seconds = timestamp(v) if kind == "string" else None
    return None if seconds is None else ("timestamp", seconds)


_BOOLS = {
    **dict.fromkeys(("1", "t", "T", "TRUE", "true", "True"), "true"),
    **dict.fromkeys(("0", "f", "F", "FALSE", "false", "False"), "false"),
}
_RANGES = {"int": (-(1 << 63), (1 << 63) - 1), "uint": (0, (1 << 64) - 1)}


def _to_string(kind: str, v: Any) -> tuple[str, Any] | None:
    if kind == "bytes":
        try:
            return "string", v.decode()
        except UnicodeDecodeError:
            return None
    if kind in ("list", "map", "null", "type"):
        return None
    if kind == "bool":
        return "string", "true" if v else "false"
    if kind == "double":
        return "string", _double_text(v)
    if kind == "duration":
        # The digits do not matter to any conversion but back to a duration.
        return "string", f"{v // 1_000_000_000}s"
    if kind == "timestamp":
        return "string", "1970-01-01T00:00:00Z"
    return "string", str(v)


def _double_text(v: float) -> str:
    """Return a double as text that reads as an integer where Go's does."""
    if abs(v) < 1_000_000 and v == int(v):
        return str(int(v))
    return repr(v)


def _to_integer(function: str, kind: str, v: Any) -> tuple[str, Any] | None:
    low, high = _RANGES[function]
    if kind == "string":
        sign = "[+-]?" if function == "int" else ""
        if not re.fullmatch(f"{sign}[0-9]+", v) or len(v) > 400:
            return None
        number = int(v)
    elif kind == "double":
        if v != v or not float(low) <= v < float(high) or (function == "int" and v <= low):
            return None
        number = int(v)
    elif kind in ("int", "uint") or (function == "int" and kind in ("duration", "timestamp")):
        number = v
    else:
        return None
    return (function, number) if low <= number <= high else None


def _to_double(kind: str, v: Any) -> tuple[str, Any] | None:
    if kind in ("int", "uint"):
        return "double", float(v)
    if kind != "string":
        return None
    number = go_float(v)
    return None if number is None else ("double", number)


_FLOAT = re.compile(
    r"[+-]?(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|(?i:inf|infinity))|(?i:nan)"
)
_HEX_FLOAT = re.compile(
    r"[+-]?0[xX](?:[0-9a-fA-F]+(?:\.[0-9a-fA-F]*)?|\.[0-9a-fA-F]+)[pP][+-]?[0-9]+"
)


def go_float(text: str) -> float | None:
    """Return the number that Go's ParseFloat reads, or None if it refuses."""
    if _HEX_FLOAT.fullmatch(text):
        try:
            return float.fromhex(text)
        except OverflowError:
            return None
    if not _FLOAT.fullmatch(text):
        return None
    number = float(text)
    if number in (float("inf"), float("-inf")) and "i" not in text.lower():
        return None
    return number


_UNITS = {
    "ns": 1,
    "us": 1_000,
    "\u00b5s": 1_000,
    "\u03bcs": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60_000_000_000,
    "h": 3_600_000_000_000,
}
_SPAN = re.compile(r"([0-9]*)(?:\.([0-9]*))?(ns|us|\u00b5s|\u03bcs|ms|s|m|h)")


def duration(text: str) -> int | None:
    """Return the nanoseconds that Go's ParseDuration reads, or None if it refuses."""
    negative = text.startswith("-")
    body = text[1:] if text[:1] in ("+", "-") else text
    if body == "0":
        return 0
    total = at = 0
    while at < len(body):
        found = _SPAN.match(body, at)
        if found is None:
            return None
        whole, fraction, unit = found.groups()
        if not whole and not fraction:
            return None
        scale = _UNITS[unit]
        whole = whole.lstrip("0")
        if len(whole) > 40:
            return None
        part = int(whole or 0) * scale
        if fraction and part <= 1 << 63:
            part += _fraction(fraction, scale)
        total += part
        if part > 1 << 63 or total > 1 << 63:
            return None
        at = found.end()
    if not body:
        return None
    if negative:
        return -total
    return total if total < 1 << 63 else None


def _fraction(digits: str, unit: int) -> int:
    """Return a fraction of a unit, with the rounding of the doubles that Go takes for it."""
    value, scale = 0, 1.0
    for digit in digits:
        if value > _MOST_TENTHS or value * 10 + int(digit) > 1 << 63:
            break
        value = value * 10 + int(digit)
        scale *= 10
    return int(value * (unit / scale))


_MOST_TENTHS = ((1 << 63) - 1) // 10


_INSTANT = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{1,2}):([0-9]{2}):([0-9]{2})"
    r"(?:[.,]([0-9]+))?(?:Z|([+-])([0-9]{2}):([0-9]{2}))"
)
_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def timestamp(text: str) -> int | None:
    """Return the seconds since 1970 of an RFC 3339 time that CEL takes, or None if it refuses."""
    found = instant(text)
    return found[0] if found is not None and _MIN_UNIX <= found[0] <= _MAX_UNIX else None


def instant(text: str) -> tuple[int, int, int] | None:
    """Return what Go reads in an RFC 3339 time, or None if it refuses.

    That is the seconds since 1970, the nanoseconds beyond them, and the offset from UTC in
    seconds. CEL does not take all years that Go does.
    """
    found = _INSTANT.fullmatch(text)
    if found is None:
        return None
    year, month, day, hour, minute, second = map(int, found.groups()[:6])
    if not 1 <= month <= 12:
        return None
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    if not 1 <= day <= _DAYS[month - 1] + (month == 2 and leap):
        return None
    if hour > 23 or minute > 59 or second > 59:
        return None
    seconds = (_days(year, month, day) * 24 + hour) * 3600 + minute * 60 + second
    fraction, sign, hours, minutes = found.groups()[6:]
    offset = 0
    if sign:
        if int(hours) > 24 or int(minutes) > 60:
            return None
        offset = (int(hours) * 3600 + int(minutes) * 60) * (-1 if sign == "-" else 1)
    return seconds - offset, int((fraction or "")[:9].ljust(9, "0")), offset


def _days(year: int, month: int, day: int) -> int:
    """Return the days from 1970-01-01 to a date of the Gregorian calendar; year 0 exists."""
    before = year - 1
    days = before * 365 + before // 4 - before // 100 + before // 400 - 719162
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return days + sum(_DAYS[: month - 1]) + (month > 2 and leap) + day - 1
