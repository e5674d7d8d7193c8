"""Structural pruning: what the server drops from an object because no schema names it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdlint.objects.guard import deep

if TYPE_CHECKING:
    from collections.abc import Mapping

    Schema = Mapping[str, Any]

META_FIELDS = frozenset(("apiVersion", "kind", "metadata"))
_PRESERVE = "x-kubernetes-preserve-unknown-fields"
_EMBEDDED = "x-kubernetes-embedded-resource"


def prune(value: Any, schema: Schema | None, *, root: bool) -> tuple[Any, list[str]]:
    """Drop the fields that a structural schema does not specify.

    Args:
        value: plain data; it is left as it is.
        schema: the decoded schema, or None where there is none.
        root: whether the value is a whole resource, whose type and metadata stay.

    Returns:
        The pruned value, which is `value` itself where nothing was dropped, and the sorted paths
        of what was dropped, spelled as the server reports them.
    """
    dropped: list[str] = []
    if root and schema is None:
        schema = {}
    with deep():
        pruned = _prune(value, schema, None, dropped, root)
    dropped.sort()
    return pruned, dropped


def _spell(at: Any) -> str:
    parts = []
    while at is not None:
        at, key = at
        parts.append(f"[{key}]" if isinstance(key, int) else f".{key}")
    return "".join(reversed(parts)).removeprefix(".")


def _prune(value: Any, schema: Schema | None, at: Any, dropped: list[str], root: bool) -> Any:
    if isinstance(value, dict):
        if schema is None:
            dropped.extend(_spell((at, key)) for key in value)
            return {} if value else value
        keep = bool(schema.get(_PRESERVE))
        meta = root or schema.get(_EMBEDDED)
        properties = schema.get("properties") or {}
        rest = schema.get("additionalProperties")
        changed: dict[str, Any] | None = None
        for key, item in value.items():
            if meta and key in META_FIELDS:
                continue
            below = properties.get(key)
            if below is None and rest is not None:
                below = rest if isinstance(rest, dict) else None
            elif below is None:
                if keep:
                    continue
                if changed is None:
                    changed = dict(value)
                del changed[key]
                if at is not None or key not in META_FIELDS:
                    dropped.append(_spell((at, key)))
                continue
            if isinstance(item, (dict, list)):
                new = _prune(item, below, (at, key), dropped, False)
                if new is not item:
                    if changed is None:
                        changed = dict(value)
                    changed[key] = new
        return value if changed is None else changed
    if isinstance(value, list):
        items = None if schema is None else schema.get("items")
        below = items if isinstance(items, dict) else None
        if schema is not None and schema.get(_PRESERVE):
            if below is None:
                return value
            below = {**below, _PRESERVE: True}  # items inherit it, fields do not
        changed_list: list[Any] | None = None
        for i, item in enumerate(value):
            if isinstance(item, (dict, list)):
                new = _prune(item, below, (at, i), dropped, False)
                if new is not item:
                    if changed_list is None:
                        changed_list = list(value)
                    changed_list[i] = new
        return value if changed_list is None else changed_list
    return value
