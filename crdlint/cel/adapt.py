"""Plain data as the values that its schema makes of it in a rule."""

from __future__ import annotations

import base64
import binascii
import re
from typing import TYPE_CHECKING, Any

from crdlint.cel import literals
from crdlint.cel.datavalues import (
    MapList,
    ObjectValue,
    SchemaList,
    SetList,
    Unknown,
)
from crdlint.cel.types import escape, with_resource_fields
from crdlint.cel.values import MAX_INT, MIN_INT, Duration, EvalError, Timestamp
from crdlint.govalues import is_int64

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Schema = Mapping[str, Any]
    # Makes a value of plain data. What does not fit the schema becomes an EvalError, which is
    # raised by whoever comes to need the value.
    Adapter = Callable[[Any], Any]

_SECOND = 1_000_000_000


def adapter(schema: Schema, *, root: bool = False, minor: int) -> Adapter:
    """Return what makes a value of data that a structural schema describes.

    `root` says that it is the schema of a resource, of whose metadata rules see the names only.
    Source: UnstructuredToVal in k8s.io/apiserver/pkg/cel/common.
    """
    if root or schema.get("x-kubernetes-embedded-resource"):
        schema = with_resource_fields(schema, minor)
    nullable = bool(schema.get("nullable"))
    if schema.get("x-kubernetes-int-or-string"):
        make: Adapter = _int_or_string
    else:
        kind = schema.get("type")
        if kind == "object":
            make = Shape(schema, minor).value
        elif kind == "array":
            make = _list_adapter(schema, minor)
        elif kind == "string":
            make = _STRINGS.get(schema.get("format") or "", _string)
        elif kind in _SCALARS:
            make = _SCALARS[kind]
        elif schema.get("x-kubernetes-preserve-unknown-fields"):
            make = Unknown
        else:
            make = _untyped

    def convert(value: Any) -> Any:
        if value is None:
            return None if nullable else _null()
        return make(value)

    return convert


def _null() -> EvalError:
    return EvalError("invalid data, got null for schema with nullable=false")


def _go_type(value: Any) -> str:
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, str):
        return "string"
    if isinstance(value, dict):
        return "map[string]interface {}"
    if isinstance(value, list):
        return "[]interface {}"
    return "int64" if is_int64(value) else "float64"


def _int_or_string(value: Any) -> Any:
    if isinstance(value, str) or is_int64(value):
        return value
    return EvalError("invalid data, expected XIntOrString value to be either a string or integer")


def _untyped(_: Any) -> Any:
    return EvalError(
        "invalid type, expected object, array, number, integer, boolean or string, or no type with"
        " x-kubernetes-int-or-string or x-kubernetes-preserve-unknown-fields is true, got "
    )


def _integer(value: Any) -> Any:
    if is_int64(value):
        return value
    return EvalError(f"invalid data, expected int, got {_go_type(value)}")


def _number(value: Any) -> Any:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    return EvalError(f"invalid data, expected float, got {_go_type(value)}")


def _boolean(value: Any) -> Any:
    if isinstance(value, bool):
        return value
    return EvalError(f"invalid data, expected bool, got {_go_type(value)}")


_SCALARS: dict[Any, Adapter] = {"integer": _integer, "number": _number, "boolean": _boolean}


def _string(value: Any) -> Any:
    if isinstance(value, str):
        return value
    return EvalError(f"invalid data, expected string, got {_go_type(value)}")


# Strings with a format.


def _of_text(read: Callable[[str], Any], what: str) -> Adapter:
    def make(value: Any) -> Any:
        if not isinstance(value, str):
            return _string(value)
        found = read(value)
        return EvalError(f"Invalid {what} {value}") if found is None else found

    return make


_LOOSE = re.compile("([0-9]+)[\t\n\f\r ]*([A-Za-z\u00b5]+)")
_DAY = 86_400 * _SECOND
# Names of units, the last of which stands for all that begin with it.
_UNITS = (
    (("ns",), "nano", 1),
    (("us", "\u00b5s"), "micro", 1_000),
    (("ms",), "milli", 1_000_000),
    (("s",), "sec", _SECOND),
    (("m",), "min", 60 * _SECOND),
    (("h", "hr"), "hour", 3600 * _SECOND),
    (("d",), "day", _DAY),
    (("w", "wk"), "week", 7 * _DAY),
)


def _duration(text: str) -> Duration | None:
    """Read a duration as Go does, or else a sum such as `1 day 2 hours`."""
    nanos = literals.duration(text)
    if nanos is not None:
        return Duration(nanos)
    total, known = 0, False
    for found in _LOOSE.finditer(text):
        digits, unit = found.group(1).lstrip("0") or "0", found.group(2).lower()
        if len(digits) > 19 or int(digits) > MAX_INT:
            return None
        for names, start, size in _UNITS:
            if unit in names or unit.startswith(start):
                known = True
                total += int(digits) * size
    return Duration(_wrapped(total)) if known else None


def _wrapped(value: int) -> int:
    """Return a number as it overflows in 64 bits."""
    return (value - MIN_INT) % (1 << 64) + MIN_INT


def _date(text: str) -> Timestamp | None:
    seconds = literals.timestamp(f"{text}T00:00:00Z")
    return None if seconds is None else Timestamp(seconds * _SECOND)


_FRACTION = re.compile("[.,]([0-9]+)")
_OFFSET = re.compile("([+-])([0-9]{2}):([0-9]{2})$")


def _instant(text: str) -> Timestamp | None:
    """Read a date-time; without a zone it is UTC."""
    if not text:
        return Timestamp(0)
    seconds = literals.timestamp(text)
    if seconds is None:
        seconds = literals.timestamp(text + "Z")
        if seconds is None:
            return None
    fraction = _FRACTION.search(text)
    nanos = int(fraction.group(1)[:9].ljust(9, "0")) if fraction is not None else 0
    zone = _OFFSET.search(text, 10)
    offset = 0
    if zone is not None:
        offset = int(zone.group(2)) * 3600 + int(zone.group(3)) * 60
        offset = -offset if zone.group(1) == "-" else offset
    return Timestamp(seconds * _SECOND + nanos, offset)


def _bytes(text: str) -> bytes | None:
    text = text.replace("\n", "").replace("\r", "")
    if "+" in text or "/" in text:  # the server reads the alphabet for URLs only
        return None
    try:
        return base64.b64decode(text, altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        return None


_STRINGS: dict[str, Adapter] = {
    "duration": _of_text(_duration, "duration"),
    "date": _of_text(_date, "date formatted string"),
    "date-time": _of_text(_instant, "date-time formatted string"),
    "byte": _of_text(_bytes, "byte formatted string"),
}


class Shape:
    """What the schema of an object says of its fields."""

    __slots__ = ("_adapters", "_every", "_fields", "_values", "fixed", "minor")

    def __init__(self, schema: Schema, minor: int) -> None:
        self.minor = minor
        fields: Mapping[str, Schema] = schema.get("properties") or {}
        self._fields = fields
        # Whether fields are declared one by one, under names that CEL can spell.
        self.fixed = bool(fields)
        values = schema.get("additionalProperties")
        self._values: Schema | None = values if isinstance(values, dict) else None
        self._every: Adapter | None = None
        self._adapters: dict[str, Adapter | None] = {}

    def value(self, raw: Any) -> Any:
        """Make a value of an object."""
        if not isinstance(raw, dict):
            return EvalError(
                "invalid data, expected a map for the provided schema with type=object"
            )
        return ObjectValue(raw, self)

    def adapter_of(self, name: str) -> Adapter | None:
        """Return what makes a value of a field, or None for an unknown one."""
        if not self.fixed:
            if self._every is None and self._values is not None:
                self._every = adapter(self._values, minor=self.minor)
            return self._every
        try:
            return self._adapters[name]
        except KeyError:
            schema = self._fields.get(name)
            found = None if schema is None else adapter(schema, minor=self.minor)
            self._adapters[name] = found
            return found


def _list_adapter(schema: Schema, minor: int) -> Adapter:
    items = schema.get("items")
    if not isinstance(items, dict):
        return lambda _: EvalError("invalid array type, expected Items with a non-empty Schema")
    known: list[Adapter] = []  # made when the first list comes: a schema may be very deep
    list_type = schema.get("x-kubernetes-list-type")
    names = schema.get("x-kubernetes-list-map-keys") or ()
    keys = tuple([escape(name) or name for name in names])

    def make(raw: Any) -> Any:
        if not isinstance(raw, list):
            return EvalError(
                "invalid data, expected an array for the provided schema with type=array"
            )
        if not known:
            known.append(adapter(items, minor=minor))
        convert = known[0]
        values = [convert(item) for item in raw]
        if list_type == "map":
            found: SchemaList = MapList(values, raw, keys)
        elif list_type == "set":
            found = SetList(values, raw)
        else:
            found = SchemaList(values, raw)
        for value in values:
            if type(value) is EvalError:
                found.broken = value
                break
        return found

    return make
