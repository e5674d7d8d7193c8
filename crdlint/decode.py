"""Decode plain data by tables of fields, as Go's JSON decoder fills typed structs."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from crdlint.document import Path

    Trail = tuple[Any, ...]  # () or (trail of the parent, key): flattened only where it is needed
    Decode = Callable[["Decoder", Any, Trail, bool], Any]

INT32 = (-(1 << 31), (1 << 31) - 1)
INT64 = (-(1 << 63), (1 << 63) - 1)

# What a decoding function returns for a value that is dropped.
GONE: Any = object()

# The server's JSON decoder stops at 10,000 levels, and a level takes at most two frames here.
# Calls between Python functions need no C stack, so a deep stack costs memory only.
_FRAMES = 50_000


class Refusal:
    """Why the server cannot take the request at all: its error type, the place, and the reason."""

    __slots__ = ("message", "path", "type")

    def __init__(self, type_: str, path: Path, message: str) -> None:
        self.type = type_
        self.path = path
        self.message = message


class Decoder:
    """What one decoding brings up: the first error, unknown fields, and those in blind spots."""

    __slots__ = ("error", "hidden", "minor", "unknown")

    def __init__(self, minor: int) -> None:
        self.minor = minor
        self.error: Refusal | None = None
        self.unknown: list[Path] = []
        self.hidden: list[Path] = []

    def refuse(self, trail: Trail, message: str) -> None:
        """Note why a value does not decode; the first reason counts."""
        if self.error is None:
            self.error = Refusal("DecodeError", _flat(trail), message)

    def drop(self, trail: Trail, blind: bool) -> None:
        """Note a field that the type does not have."""
        (self.hidden if blind else self.unknown).append(_flat(trail))


def decode(how: Decode, data: Any, minor: int) -> tuple[Any, Decoder]:
    """Decode data for the server of a Kubernetes minor; return it and what that brought up."""
    decoder = Decoder(minor)
    try:
        return how(decoder, data, (), False), decoder
    except RecursionError:
        decoder = Decoder(minor)  # once more, with the stack that data this deep needs
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _FRAMES))
    try:
        return how(decoder, data, (), False), decoder
    finally:
        sys.setrecursionlimit(before)


def _flat(trail: Trail) -> Path:
    steps = []
    while trail:
        trail, step = trail
        steps.append(step)
    return tuple(reversed(steps))


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return f"the boolean {str(value).lower()}"
    if isinstance(value, str):
        return f"the text {value!r}" if len(value) <= 40 else "a text"
    if isinstance(value, int | float):
        return f"the number {value}"
    return "a list" if isinstance(value, list) else "an object"


class Field:
    """How one field is decoded.

    A value of the type `exact` is taken as it is; any other goes through `decode`. Servers before
    the minor `since` do not know the field; those before `gate` decode it, then drop it.
    """

    __slots__ = ("decode", "exact", "gate", "since")

    def __init__(
        self, decode: Decode, exact: type | None = None, *, since: int = 0, gate: int = 0
    ) -> None:
        self.decode = decode
        self.exact = exact
        self.since = since
        self.gate = gate


def _plan(table: Mapping[str, Field], minor: int) -> tuple[Any, Any]:
    """Return the look-ups of one server: the type of a field taken as it is, and its decoding."""
    known = {key: field for key, field in table.items() if minor >= field.since}
    exact = {key: f.exact for key, f in known.items() if f.exact and minor >= f.gate}
    decoders = {
        key: field.decode if minor >= field.gate else _dropped(field.decode)
        for key, field in known.items()
    }
    return exact.get, decoders.get


def _dropped(how: Decode) -> Decode:
    def decode(d: Decoder, value: Any, trail: Trail, blind: bool) -> Any:
        how(d, value, trail, blind)
        return GONE

    return decode


def struct(table: Mapping[str, Field]) -> Decode:
    """Return the decoding function of an object with these fields; nulls and unknowns go."""
    plans: dict[int, tuple[Any, Any]] = {}

    def decode(d: Decoder, value: Any, trail: Trail, blind: bool) -> Any:
        if not isinstance(value, dict):
            d.refuse(trail, f"must be an object, not {_kind(value)}")
            return {}
        plan = plans.get(d.minor)
        if plan is None:
            plan = plans[d.minor] = _plan(table, d.minor)
        exact, decoder = plan
        changed: dict[str, Any] | None = None
        for key, inner in value.items():
            if type(inner) is exact(key):
                continue
            how = decoder(key)
            if how is None:
                d.drop((trail, key), blind)
                new = GONE
            elif inner is None:
                new = GONE
            else:
                new = how(d, inner, (trail, key), blind)
                if new is inner:
                    continue
            if changed is None:
                changed = {}
            changed[key] = new
        return value if changed is None else _with(value, changed)

    return decode


def _with(value: dict[str, Any], changed: dict[str, Any]) -> dict[str, Any]:
    """Return a mapping with some values changed or gone."""
    merged = {key: changed.get(key, inner) for key, inner in value.items()}
    return {key: inner for key, inner in merged.items() if inner is not GONE}


def listed(of: Field, empty: Any) -> Decode:
    """Return the decoding function of a list; null items become the `empty` value of the type."""

    def decode(d: Decoder, value: Any, trail: Trail, blind: bool) -> Any:
        if not isinstance(value, list):
            d.refuse(trail, f"must be a list, not {_kind(value)}")
            return []
        exact = of.exact
        new: list[Any] | None = None
        for i, inner in enumerate(value):
            if type(inner) is exact:
                continue
            item = empty if inner is None else of.decode(d, inner, (trail, i), blind)
            if item is not inner:
                if new is None:
                    new = list(value)
                new[i] = item
        return value if new is None else new

    return decode


def mapped(of: Field, empty: Any) -> Decode:
    """Return the decoding function of a map; null values become the `empty` value of the type."""

    def decode(d: Decoder, value: Any, trail: Trail, blind: bool) -> Any:
        if not isinstance(value, dict):
            d.refuse(trail, f"must be an object, not {_kind(value)}")
            return {}
        exact, how = of.exact, of.decode
        changed: dict[str, Any] | None = None
        for key, inner in value.items():
            if type(inner) is exact:
                continue
            item = empty if inner is None else how(d, inner, (trail, key), blind)
            if item is not inner:
                if changed is None:
                    changed = {}
                changed[key] = item
        return value if changed is None else _with(value, changed)

    return decode


def _scalar(what: str, accepts: Callable[[Any], bool]) -> Decode:
    def decode(d: Decoder, value: Any, trail: Trail, _: bool) -> Any:
        if not accepts(value):
            d.refuse(trail, f"must be {what}, not {_kind(value)}")
        return value

    return decode


def whole(low: int, high: int) -> Decode:
    """Return the decoding function of a whole number; 10.0 and 1e3 arrive as 10 and 1000."""

    def decode(d: Decoder, value: Any, trail: Trail, _: bool) -> Any:
        if isinstance(value, float) and value.is_integer() and abs(value) < 1e21:
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            d.refuse(trail, f"must be a whole number, not {_kind(value)}")
        elif not low <= value <= high:
            d.refuse(trail, f"must be between {low} and {high}, not {value}")
        return value

    return decode


def _number(d: Decoder, value: Any, trail: Trail, _: bool) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float):
        d.refuse(trail, f"must be a number, not {_kind(value)}")
    elif isinstance(value, int) and abs(value) > 1 << 53:
        return float(value)  # the server keeps 64-bit floats
    return value


def _raw(_: Decoder, value: Any, __: Trail, ___: bool) -> Any:
    return value


def _raw_list(d: Decoder, value: Any, trail: Trail, _: bool) -> Any:
    if not isinstance(value, list):
        d.refuse(trail, f"must be a list, not {_kind(value)}")
        return []
    return value


_BYTE = whole(0, 255)
# Padding is a must and nothing may follow it; the bits that it makes superfluous may be anything.
_BASE64 = re.compile(
    r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?\Z",
)


def _bytes(d: Decoder, value: Any, trail: Trail, blind: bool) -> Any:
    """Decode bytes as Go does: from standard base64 with line ends ignored, or a list of them."""
    if isinstance(value, list):
        import base64

        numbers = [
            0 if one is None else _BYTE(d, one, (trail, i), blind) for i, one in enumerate(value)
        ]
        return base64.b64encode(bytes(numbers)).decode() if d.error is None else ""
    if not isinstance(value, str):
        d.refuse(trail, f"must be a base64 text, not {_kind(value)}")
        return value
    if not _BASE64.match(value.replace("\n", "").replace("\r", "")):
        d.refuse(trail, "is not base64")
    return value


_TIME = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)T(\d{1,2}):(\d\d):(\d\d)(?:[.,]\d+)?(?:Z|([+-])(\d\d):(\d\d))\Z",
    re.ASCII,
)


def _time(d: Decoder, value: Any, trail: Trail, _: bool) -> Any:
    """Check a time as Go's RFC 3339 layout reads it."""
    if not isinstance(value, str):
        d.refuse(trail, f"must be an RFC 3339 time, not {_kind(value)}")
    elif not is_time(value):
        d.refuse(trail, f"must be an RFC 3339 time such as 2026-01-31T08:00:00Z, not {value!r}")
    return value


def is_time(text: str) -> bool:
    """Tell whether Go parses a text with its RFC 3339 layout."""
    return _time_parts(text) is not None


def _time_parts(text: str) -> tuple[int, ...] | None:
    """Return year, month, day, hour, minute, second, and minutes east of UTC; None if no time."""
    match = _TIME.match(text)
    if match is None:
        return None
    year, month, day, hour, minute, second = (int(part) for part in match.groups()[:6])
    sign, east_hours, east_minutes = match.groups()[6:]
    zone = (int(east_hours or 0), int(east_minutes or 0))
    if not (1 <= month <= 12 and hour < 24 and minute < 60 and second < 60):
        return None
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    days = 29 if month == 2 and leap else 28 if month == 2 else 30 if month in (4, 6, 9, 11) else 31
    # Go takes zones of 24 hours and of 60 minutes, because people write them.
    if not (1 <= day <= days and zone[0] <= 24 and zone[1] <= 60):
        return None
    east = (zone[0] * 60 + zone[1]) * (-1 if sign == "-" else 1)
    return year, month, day, hour, minute, second, east


def utc(text: str) -> str:
    """Return a time as the server writes it: in UTC and whole seconds; source: metav1.Time."""
    from datetime import datetime, timedelta

    parts = _time_parts(text)
    if parts is None:
        return text
    year, month, day, hour, minute, second, east = parts
    try:
        local = datetime(year, month, day, hour, minute, second)  # noqa: DTZ001 - UTC by hand
        moment = local - timedelta(minutes=east)
    except (ValueError, OverflowError):
        return text  # the year 0, or a zone that leads out of the years 1 to 9999
    return f"{moment.isoformat(timespec='seconds')}Z"


TEXT = Field(_scalar("a text", lambda value: isinstance(value, str)), str)
FLAG = Field(_scalar("true or false", lambda value: isinstance(value, bool)), bool)
SHORT = Field(whole(*INT32))
LONG = Field(whole(*INT64))
NUMBER = Field(_number)
RAW = Field(_raw)
RAW_LIST = Field(_raw_list)
BYTES = Field(_bytes)
TIME = Field(_time)
TEXTS = Field(listed(TEXT, ""))
TEXT_MAP = Field(mapped(TEXT, ""))


def obj(table: Mapping[str, Field], *, since: int = 0, gate: int = 0) -> Field:
    """Return a field that holds an object."""
    return Field(struct(table), since=since, gate=gate)


def objects(table: Mapping[str, Field], *, since: int = 0, gate: int = 0) -> Field:
    """Return a field that holds a list of objects."""
    return Field(listed(obj(table), {}), since=since, gate=gate)


def lower(text: str) -> str:
    """Return a text in lower case as Go does it: letter by letter, so İ becomes a plain i."""
    return text.lower() if text.isascii() else "".join(mark.lower()[0] for mark in text)


def not_a_schema(d: Decoder, value: Any, trail: Trail) -> None:
    """Refuse what should be a boolean or a schema."""
    d.refuse(trail, f"must be true, false or a schema, not {_kind(value)}")
