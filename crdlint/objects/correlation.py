"""Which old value belongs to a value of an update, and whether it is the same: for ratcheting."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdlint.govalues import is_int64, same_go

if TYPE_CHECKING:
    from collections.abc import Mapping

    Schema = Mapping[str, Any]


class Correlated:
    """A value of the new object and the old value that belongs to it, by a structural schema.

    Fields of objects belong together by name where the schema specifies them, items of lists only
    in lists of type map. `equal` is the server's own notion: an object with a field that no schema
    specifies is never equal to anything. Source: CorrelatedObject of apiserver's cel/common.
    """

    __slots__ = ("_by_key", "_children", "_equal", "new", "old", "schema")

    def __init__(self, new: Any, old: Any, schema: Schema | None) -> None:
        self.new = new
        self.old = old
        self.schema = schema
        self._children: dict[str | int, Correlated | None] = {}
        self._by_key: dict[Any, Any] | None = None  # the old items of a list of type map
        self._equal: bool | None = None

    def child(self, step: str | int) -> Correlated | None:
        """Return what stands at a field or index of the new value, or None where nothing belongs.

        Two calls for the same step return the same object, with what it knows.
        """
        if step not in self._children:
            found = self._item(step) if isinstance(step, int) else self._field(step)
            self._children[step] = found
        return self._children[step]

    def _field(self, name: str) -> Correlated | None:
        if self.schema is None or not isinstance(self.old, dict) or not isinstance(self.new, dict):
            return None
        if name not in self.old or name not in self.new:
            return None
        below = (self.schema.get("properties") or {}).get(name)
        if below is None:
            below = self.schema.get("additionalProperties")
            if not isinstance(below, dict):
                return None
        return Correlated(self.new[name], self.old[name], below)

    def _item(self, index: int) -> Correlated | None:
        if self.schema is None or not isinstance(self.old, list) or not isinstance(self.new, list):
            return None
        if index >= len(self.new) or self.schema.get("x-kubernetes-list-type") != "map":
            return None
        names = self.schema.get("x-kubernetes-list-map-keys") or []
        if self._by_key is None:
            self._by_key = _keyed(self.old, names)
        key = _key(self.new[index], names)
        items = self.schema.get("items")
        if key is None or key not in self._by_key or not isinstance(items, dict):
            return None
        return Correlated(self.new[index], self._by_key[key], items)

    def equal(self) -> bool:
        """Tell whether new and old are the same; the answer is kept."""
        if self._equal is None:
            self._equal = self._compare()
        return self._equal

    def _compare(self) -> bool:
        new, old = self.new, self.old
        if isinstance(new, dict) and isinstance(old, dict):
            return len(new) == len(old) and all(self._same(name) for name in new)
        if isinstance(new, list) and isinstance(old, list):
            if len(new) != len(old):
                return False
            if (self.schema or {}).get("x-kubernetes-list-type") != "map":
                return same_go(old, new)
            return all(self._same(i) for i in range(len(new)))
        return same_go(old, new)

    def _same(self, step: str | int) -> bool:
        child = self.child(step)
        return child is not None and child.equal()


def _keyed(items: list[Any], names: list[str]) -> dict[Any, Any]:
    """Return the items of a list of type map by their keys; of several the first counts."""
    found: dict[Any, Any] = {}
    for item in items:
        key = _key(item, names)
        if key is not None:
            found.setdefault(key, item)
    return found


def _key(item: Any, names: list[str]) -> Any:
    """Return something hashable for the keys of an item, or None where one is no scalar."""
    if not isinstance(item, dict) or not names:
        return None
    parts = []
    for name in names:
        value = item.get(name)
        if value is None or isinstance(value, (dict, list)):
            return None
        if isinstance(value, float) and len(names) > 1:
            value = f"{value:f}"  # so many digits count where keys are put together
            parts.append(("float", value))
        else:
            parts.append((_kind(value), value))
    return tuple(parts)


def _kind(value: Any) -> str:
    """Return what tells scalars apart that are equal to Python but not to Go."""
    if isinstance(value, (bool, str)):
        return type(value).__name__
    return "int" if is_int64(value) else "float"
