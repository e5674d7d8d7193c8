"""The values that plain data is to a rule: objects, lists, and what only compares."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from crdlint.cel.types import RESERVED, escape
from crdlint.cel.values import (
    MISSING,
    EvalError,
    MapValue,
    no_such_overload,
    same,
)
from crdlint.govalues import same_go

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crdlint.cel.adapt import Shape


class Unknown:
    """A value of no declared type, which can only be compared."""

    __slots__ = ("raw",)
    type_name = "unknown"

    def __init__(self, raw: Any) -> None:
        self.raw = raw

    def equals(self, other: Any) -> bool:
        """Tell whether another value holds the same data."""
        return same_go(self.raw, raw_of(other))


def raw_of(value: Any) -> Any:
    """Return the plain data behind a value."""
    if isinstance(value, (ObjectValue, Unknown)):
        return value.raw
    if isinstance(value, SchemaList):
        return value.raw
    return value


# Objects and maps.

_ESCAPES = re.compile("__[^_]+__")
_UNESCAPED = {"underscores": "__", "dot": ".", "dash": "-", "slash": "/"}


def unescape(name: str) -> str | None:
    """Return the property that a CEL identifier means, or None if it means none.

    Source: Unescape in k8s.io/apiserver/pkg/cel.
    """
    if "__" not in name:
        return name
    wrong = False

    def replace(found: re.Match[str]) -> str:
        nonlocal wrong
        inner = found.group()[2:-2]
        if inner in _UNESCAPED:
            return _UNESCAPED[inner]
        wrong = wrong or inner not in RESERVED or len(found.group()) != len(name)
        return inner

    text = _ESCAPES.sub(replace, name)
    return None if wrong else text


class ObjectValue(MapValue):
    """An object or map out of the data. Its values are made when they are asked for."""

    __slots__ = ("_values", "raw", "shape")

    def __init__(self, raw: dict[str, Any], shape: Shape) -> None:
        self.raw = raw
        self.shape = shape
        self._values: dict[str, Any] = {}

    def __len__(self) -> int:
        return len(self.raw)

    def __iter__(self) -> Iterator[Any]:
        shape = self.shape
        if not shape.fixed:
            return iter([] if shape.adapter_of("") is None else self.raw)
        known = [key for key in self.raw if shape.adapter_of(key) is not None]
        return iter([escape(key) or key for key in known])

    def find(self, key: Any) -> Any:
        """Return the value of a key, an EvalError in place of one that cannot be made, or MISSING.

        Raises:
            EvalError: no key of such an object is of this type.
        """
        if not isinstance(key, str):
            raise no_such_overload()
        if self.shape.fixed:
            name = unescape(key)
            return MISSING if name is None else self.field(name)
        return self.field(key)

    def field(self, name: str) -> Any:
        """Return the value of a property by its own name, like `find`."""
        try:
            return self._values[name]
        except KeyError:
            pass
        found = self.raw.get(name, MISSING)
        if found is MISSING:
            return found
        shape = self.shape
        if found is None and shape.fixed:
            return MISSING
        make = shape.adapter_of(name)
        if make is None:
            return MISSING
        found = self._values[name] = make(found)
        return found

    def items(self) -> list[tuple[Any, Any]]:
        """Return the entries."""
        return [(key, self.find(key)) for key in self]

    def equals(self, other: Any) -> bool:
        """Tell whether another value is an equal object.

        Raises:
            EvalError: it is no map, or parts of them cannot be compared.
        """
        if not isinstance(other, MapValue):
            raise no_such_overload()
        if len(self) != len(other):
            return False
        for key, value in self.raw.items():
            if self.shape.adapter_of(key) is not None:
                if not self._same_field(key, other):
                    return False
            elif not isinstance(other, ObjectValue):
                raise no_such_overload()
            elif key in other.raw and not same_go(value, other.raw[key]):
                return False
        return True

    def _same_field(self, key: str, other: MapValue) -> bool:
        mine, theirs = self.find(key), other.find(key)
        if mine is MISSING or theirs is MISSING:
            return mine is theirs
        if isinstance(mine, EvalError):
            raise mine
        return same(mine, theirs)


# Lists.


class SchemaList(list[Any]):
    """A list out of the data, or one that behaves like it.

    `raw` is the data, or None; `broken` the first element that could not be made, if any.
    """

    __slots__ = ("broken", "raw")

    def __init__(self, values: list[Any], raw: list[Any] | None = None) -> None:
        super().__init__(values)
        self.raw = raw
        self.broken: EvalError | None = None

    def equals(self, other: Any) -> bool:
        """Tell whether another value is an equal list.

        Raises:
            EvalError: it is no list, or elements cannot be compared.
        """
        if not isinstance(other, list):
            raise no_such_overload()
        if len(self) != len(other):
            return False
        for mine, theirs in zip(self, other, strict=True):
            if isinstance(mine, EvalError):
                raise mine
            if not same(mine, theirs):
                return False
        return True

    def plus(self, other: Any) -> list[Any]:
        """Return both lists joined."""
        if not isinstance(other, list):
            raise no_such_overload()
        return [*self, *other]


class SetList(SchemaList):
    """A list of the type set: order does not matter, and nothing is in it twice."""

    __slots__ = ()

    def equals(self, other: Any) -> bool:
        """Tell whether another list has the same elements."""
        if not isinstance(other, list):
            raise no_such_overload()
        if len(self) != len(other):
            return False
        mine = {_element_key(value) for value in self}
        seen = set()
        for value in other:
            key = _element_key(value)
            if key not in mine:
                return False
            seen.add(key)
        return len(seen) == len(mine)

    def plus(self, other: Any) -> list[Any]:
        """Return the union; what both have stays where it is."""
        if not isinstance(other, list):
            raise no_such_overload()
        seen = {_element_key(value) for value in self}
        values = list(self)
        for value in other:
            key = _element_key(value)
            if key not in seen:
                seen.add(key)
                values.append(value)
        return SetList(values)


def _element_key(value: Any) -> Any:
    """Return what stands for an element of a set."""
    if isinstance(value, (list, MapValue)):
        raise EvalError("listSet operations are only supported on lists of scalar values")
    if isinstance(value, Unknown):
        return "unknown", repr(value.raw)
    return type(value), value


class MapList(SchemaList):
    """A list of the type map: its elements are told apart by their keys."""

    __slots__ = ("keys",)

    def __init__(self, values: list[Any], raw: list[Any] | None, keys: tuple[str, ...]) -> None:
        super().__init__(values, raw)
        self.keys = keys

    def equals(self, other: Any) -> bool:
        """Tell whether another list has equal elements under the same keys."""
        if not isinstance(other, list):
            raise no_such_overload()
        if len(self) != len(other):
            return False
        mine = {self._key(value): value for value in self}
        seen = set()
        for value in other:
            key = self._key(value)
            if key not in mine:
                return False
            if not same(mine[key], value):
                return False
            seen.add(key)
        return len(seen) == len(mine)

    def plus(self, other: Any) -> list[Any]:
        """Return both merged; an element of the other takes the place of one with its keys."""
        if not isinstance(other, list):
            raise no_such_overload()
        values = list(self)
        place = {self._merge_key(value): i for i, value in enumerate(values)}
        for value in other:
            at = place.get(self._merge_key(value))
            if at is None:
                values.append(value)
            else:
                values[at] = value
        return MapList(values, None, self.keys)

    def _key(self, value: Any) -> Any:
        """Return the keys of an element of the data; any other value has a key of its own."""
        if self.raw is None:
            return self._merge_key(value)
        if not isinstance(value, ObjectValue):
            return object()
        parts = [value.raw.get(key) for key in self.keys]
        return tuple([(type(part), part) for part in parts])

    def _merge_key(self, value: Any) -> Any:
        parts = [value.find(key) if isinstance(value, MapValue) else MISSING for key in self.keys]
        return tuple([(type(part), part) for part in parts])
