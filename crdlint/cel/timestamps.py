"""Timestamps and durations: from texts and to them, and their parts in any time zone."""

from __future__ import annotations

from crdlint.cel import literals
from crdlint.cel.gotext import atoi, plain
from crdlint.cel.values import MAX_INT, Duration, EvalError, Timestamp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    # (year, days since the year began, month from 1, day of the month from 1)
    Date = tuple[int, int, int, int]

_SECOND = 1_000_000_000
_MINUTE = 60 * _SECOND
_HOUR = 60 * _MINUTE
_MILLISECOND = 1_000_000
_DAY = 86_400  # seconds
_MIN_UNIX, _MAX_UNIX = -62_135_596_800, 253_402_300_799


def _no_conversion(type_name: str) -> EvalError:
    return EvalError(f"type conversion error from 'string' to '{type_name}'")


def to_duration(text: str) -> Duration:
    """Read a duration.

    Raises:
        EvalError: Go reads none.
    """
    nanos = literals.duration(text)
    if nanos is None:
        raise _no_conversion(Duration.type_name)
    return Duration(nanos)


def to_timestamp(text: str) -> Timestamp:
    """Read an RFC 3339 time.

    Raises:
        EvalError: Go reads none, or it is not in the years 1 to 9999.
    """
    found = literals.instant(text)
    if found is None:
        raise _no_conversion(Timestamp.type_name)
    seconds, nanos, offset = found
    return _bounded(seconds, nanos, offset)


def from_seconds(seconds: int) -> Timestamp:
    """Return the timestamp so many seconds after 1970 began.

    Raises:
        EvalError: it is not in the years 1 to 9999.
    """
    return _bounded(seconds)


def _bounded(seconds: int, nanos: int = 0, offset: int = 0) -> Timestamp:
    if not _MIN_UNIX <= seconds <= _MAX_UNIX:
        raise EvalError("timestamp overflow")
    return Timestamp(seconds * _SECOND + nanos, offset)


def seconds(duration: Duration) -> float:
    """Return a duration in seconds, rounded as Go rounds it."""
    return _in(duration, _SECOND)


def _in(duration: Duration, unit: int) -> float:
    """Return a duration in a unit: whole units and the rest are rounded on their own."""
    whole, rest = divmod(abs(duration.nanos), unit)
    number = whole + rest / unit
    return -number if duration.nanos < 0 else number


def duration_text(duration: Duration) -> str:
    """Return a duration in seconds as text."""
    return f"{plain(seconds(duration))}s"


def timestamp_text(timestamp: Timestamp) -> str:
    """Return a timestamp in RFC 3339, at the offset that it came with."""
    local, nanos = divmod(timestamp.nanos + timestamp.offset * _SECOND, _SECOND)
    days, rest = divmod(local, _DAY)
    year, _, month, day = date(days)
    fraction = f".{nanos:09d}".rstrip("0").rstrip(".")
    hours, rest = divmod(rest, 3600)
    time = f"{hours:02d}:{rest // 60:02d}:{rest % 60:02d}{fraction}"
    return f"{year:04d}-{month:02d}-{day:02d}T{time}{_offset_text(timestamp.offset)}"


def _offset_text(offset: int) -> str:
    if not offset:
        return "Z"
    hours, minutes = divmod(abs(offset) // 60, 60)
    return f"{'-' if offset < 0 else '+'}{hours:02d}:{minutes:02d}"


def date(days: int) -> Date:
    """Return the date so many days after 1970-01-01; there is a year 0, and years before it."""
    # Years are counted from March on, so that a leap day is the last of one.
    days += 719_468
    era, day = divmod(days, 146_097)
    year = (day - day // 1460 + day // 36_524 - day // 146_096) // 365
    day -= 365 * year + year // 4 - year // 100
    month = (5 * day + 2) // 153
    of_month = day - (153 * month + 2) // 5 + 1
    year += 400 * era
    if month >= 10:
        return year + 1, day - 306, month - 9, of_month
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return year, day + 59 + leap, month + 3, of_month


# Time zones.


def _offset(timestamp: Timestamp, zone: str) -> int:
    """Return the seconds that a time zone is east of UTC at an instant.

    Raises:
        EvalError: there is no such zone.
    """
    if zone in ("", "UTC", "Local"):  # a server runs in UTC
        return 0
    if ":" in zone:
        return _fixed_offset(zone)
    if ".." in zone or zone[0] in "/\\":
        raise EvalError("time: invalid location name")
    from datetime import UTC, datetime, timedelta
    from zoneinfo import ZoneInfo

    try:
        info = ZoneInfo(zone)
    except (KeyError, OSError, ValueError):
        raise EvalError(f"unknown time zone {zone}") from None
    # At the ends of what Python's calendar holds the offset is that of two days further in.
    after = timestamp.nanos // _SECOND
    after = min(max(after, _MIN_UNIX + 2 * _DAY), _MAX_UNIX - 2 * _DAY)
    instant = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=after)
    east = instant.astimezone(info).utcoffset()
    return int(east.total_seconds()) if east is not None else 0


def _fixed_offset(zone: str) -> int:
    hours, _, minutes = zone.partition(":")
    hour, minute = atoi(hours), atoi(minutes)
    total = hour * 60 - minute if zone[0] == "-" else hour * 60 + minute
    # Go counts in nanoseconds of 64 bits and lets them overflow.
    nanos = _wrapped(_wrapped(total) * _MINUTE)
    return int(_in(Duration(nanos), _SECOND))


def _wrapped(value: int) -> int:
    return (value + MAX_INT + 1) % (1 << 64) - MAX_INT - 1


def _date_part(part: Callable[[Date], int]) -> Callable[..., int]:
    def get(timestamp: Timestamp, zone: str = "UTC") -> int:
        local = timestamp.nanos // _SECOND + _offset(timestamp, zone)
        return part(date(local // _DAY))

    return get


def _time_part(part: Callable[[int], int]) -> Callable[..., int]:
    """Return what gives a part of the seconds since 1970 on the clock of a time zone."""

    def get(timestamp: Timestamp, zone: str = "UTC") -> int:
        return part(timestamp.nanos // _SECOND + _offset(timestamp, zone))

    return get


def milliseconds(timestamp: Timestamp, zone: str = "UTC") -> int:
    """Return the milliseconds of a timestamp beyond its second."""
    _offset(timestamp, zone)
    return timestamp.nanos % _SECOND // _MILLISECOND


year = _date_part(lambda at: at[0])
day_of_year = _date_part(lambda at: at[1])
month = _date_part(lambda at: at[2] - 1)
day_of_month = _date_part(lambda at: at[3] - 1)
day_of_month_from_1 = _date_part(lambda at: at[3])
day_of_week = _time_part(lambda at: (at // _DAY + 4) % 7)
hour = _time_part(lambda at: at % _DAY // 3600)
minute = _time_part(lambda at: at % 3600 // 60)
second = _time_part(lambda at: at % 60)


def duration_hours(duration: Duration) -> int:
    """Return the whole hours of a duration."""
    return int(_in(duration, _HOUR))


def duration_minutes(duration: Duration) -> int:
    """Return the whole minutes of a duration."""
    return int(_in(duration, _MINUTE))


def duration_seconds(duration: Duration) -> int:
    """Return the whole seconds of a duration."""
    return int(seconds(duration))


def duration_milliseconds(duration: Duration) -> int:
    """Return the whole milliseconds of a duration, cut towards zero."""
    whole = abs(duration.nanos) // _MILLISECOND
    return -whole if duration.nanos < 0 else whole
