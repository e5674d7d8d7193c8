"""Structural defaulting: what the server adds to an object, and what it does with nulls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdlint.objects.guard import deep

if TYPE_CHECKING:
    from collections.abc import Mapping

    Schema = Mapping[str, Any]


def drop_nulls(value: Any, schema: Schema | None) -> Any:
    """Return a value without the nulls of fields that are neither nullable nor defaulted.

    Nulls in lists stay. The value given is left as it is.
    Source: PruneNonNullableNullsWithoutDefaults.
    """
    with deep():
        return _drop(value, schema)


def _drop(value: Any, schema: Schema | None) -> Any:
    if schema is None:
        return value
    changed: Any = None
    if isinstance(value, dict):
        properties = schema.get("properties") or {}
        rest = schema.get("additionalProperties")
        for key, item in value.items():
            if item is not None and not isinstance(item, (dict, list)):
                continue
            below = properties.get(key)
            if below is None:
                below = rest if isinstance(rest, dict) else None
            if below is None:
                continue
            if item is None:
                if not below.get("nullable") and below.get("default") is None:
                    changed = dict(value) if changed is None else changed
                    del changed[key]
                continue
            new = _drop(item, below)
            if new is not item:
                changed = dict(value) if changed is None else changed
                changed[key] = new
    elif isinstance(value, list):
        items = schema.get("items")
        if isinstance(items, dict):
            for i, item in enumerate(value):
                new = _drop(item, items)
                if new is not item:
                    changed = list(value) if changed is None else changed
                    changed[i] = new
    return value if changed is None else changed


class Defaulter:
    """Adds the defaults of one structural schema to objects.

    It remembers which nodes have defaults, so that an object costs what it has, not what its
    schema has.
    """

    __slots__ = ("_known", "schema")

    def __init__(self, schema: Schema | None) -> None:
        self.schema = schema
        self._known: dict[int, list[tuple[str, Any]]] = {}

    def apply(self, value: Any) -> Any:
        """Return a value with defaults for absent fields and for nulls that are not allowed.

        The value given is left as it is; defaults may be shared between results.
        """
        with deep():
            return self._apply(value, self.schema)

    def _defaults(self, schema: Schema) -> list[tuple[str, Any]]:
        known = self._known.get(id(schema))
        if known is None:
            properties = schema.get("properties") or {}
            known = [
                (key, node["default"])
                for key, node in properties.items()
                if node.get("default") is not None
            ]
            self._known[id(schema)] = known
        return known

    def _apply(self, value: Any, schema: Schema | None) -> Any:
        if schema is None:
            return value
        if isinstance(value, dict):
            return self._object(value, schema)
        if not isinstance(value, list):
            return value
        items = schema.get("items")
        if not isinstance(items, dict):
            return value
        changed: Any = None
        for i, item in enumerate(value):
            new = self._apply(_instead_of_null(item, items), items)
            if new is not item:
                changed = list(value) if changed is None else changed
                changed[i] = new
        return value if changed is None else changed

    def _object(self, value: dict[str, Any], schema: Schema) -> dict[str, Any]:
        properties = schema.get("properties") or {}
        rest = schema.get("additionalProperties")
        changed: dict[str, Any] | None = None
        for key, default in self._defaults(schema):
            if key not in value or (value[key] is None and not properties[key].get("nullable")):
                changed = dict(value) if changed is None else changed
                changed[key] = default
        for key, item in list((changed or value).items()):
            below = properties.get(key)
            new = item
            if below is None and isinstance(rest, dict):
                below = rest
                new = _instead_of_null(item, rest)
            if isinstance(new, (dict, list)):
                new = self._apply(new, below)
            if new is not item:
                changed = dict(value) if changed is None else changed
                changed[key] = new
        return value if changed is None else changed


def _instead_of_null(item: Any, schema: Schema) -> Any:
    if item is None and not schema.get("nullable"):
        return schema.get("default")
    return item
