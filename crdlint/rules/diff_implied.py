"""Demands that the rest of the old schema made already, so that no object feels them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdlint.changes import INT_OR_STRING, LIST_TYPE, Bound
from crdlint.kubernetes import BOUNDS_TYPED
from crdlint.rules.diff_fields import is_open, keeps_unknown
from crdlint.tree import ABSENT

if TYPE_CHECKING:
    from collections.abc import Callable

    from crdlint.changes import Change

_RANGES = {"int32": (-(2**31), 2**31 - 1), "int64": (-(2**63), 2**63 - 1)}


def limit_implied(change: Change, keyword: str, limit: Any) -> bool:
    """Tell whether every value that the old schema took keeps to a new limit."""
    implied = _IMPLIED.get(keyword)
    if implied is None or change.pair.reversed or limit is ABSENT:
        return False
    return implied(change, limit.value if isinstance(limit, Bound) else limit)


def pattern_implied(change: Change, pattern: str) -> bool:
    """Tell whether every text that the old schema took matches a new pattern."""
    old = change.old.data
    if change.pair.reversed or not old.get("pattern"):
        return False
    return _no_text(old, (pattern,), old.get("minLength") or 0, old.get("maxLength"))


def _no_text(old: Any, avoided: tuple[str, ...], least: int, most: int | None) -> bool:
    from crdlint import inclusion

    if old.get(INT_OR_STRING) or old.get("type") != "string":
        return False
    try:
        patterns = [old["pattern"]] if old.get("pattern") else []
        return inclusion.example(patterns, avoided, least=least, most=most) is None
    except inclusion.UndecidedError:
        return False


def _max_length(change: Change, limit: int) -> bool:
    old = change.old.data
    return bool(old.get("pattern")) and _no_text(old, (), limit + 1, old.get("maxLength"))


def _min_length(change: Change, limit: int) -> bool:
    old = change.old.data
    return bool(old.get("pattern")) and _no_text(old, (), old.get("minLength") or 0, limit - 1)


def _min_properties(change: Change, limit: int) -> bool:
    """Count the fields that were required and are kept."""
    known = change.new.get("properties") or {}
    kept = keeps_unknown(change.new)
    required = {name for name in change.old.get("required") or () if kept or name in known}
    return len(required) >= limit


def _max_properties(change: Change, limit: int) -> bool:
    """Count the fields that there can be, where no others are kept."""
    old, new = change.old, change.new
    if keeps_unknown(old) or is_open(old.get("additionalProperties")) or old.junctor:
        return False
    before, after = (side.get("properties") or {} for side in (old, new))
    if not before:
        return False
    named = {name for name in before if name in after or keeps_unknown(new)}
    named |= {name for name, schema in after.items() if schema.get("default") is not None}
    whole = old.is_root or old.get("x-kubernetes-embedded-resource")
    return len(named | ({"apiVersion", "kind", "metadata"} if whole else set())) <= limit


def _range(change: Change, side: int) -> float | None:
    """Return a bound of the old format, where the server holds integers to it."""
    old = change.old.data
    if old.get("type") != "integer" or change.new.crd.minor < BOUNDS_TYPED:
        return None
    known = _RANGES.get(old.get("format") or "int64")
    return None if known is None else known[side]


def _maximum(change: Change, limit: float) -> bool:
    most = _range(change, 1)
    return most is not None and most <= limit


def _minimum(change: Change, limit: float) -> bool:
    least = _range(change, 0)
    return least is not None and least >= limit


def _max_items(change: Change, limit: int) -> bool:
    """Count the values that the items of a set can have."""
    values = (change.old.get("items") or {}).get("enum") or []
    return change.old.get(LIST_TYPE) == "set" and 0 < len(values) <= limit


_IMPLIED: dict[str, Callable[[Change, Any], bool]] = {
    "maxLength": _max_length,
    "minLength": _min_length,
    "minProperties": _min_properties,
    "maxProperties": _max_properties,
    "maximum": _maximum,
    "minimum": _minimum,
    "maxItems": _max_items,
}


def branches_implied(change: Change) -> bool:
    """Tell whether a new anyOf, or a new `not`, only says what an old oneOf said."""
    if change.pair.reversed or change.old.junctor:
        return False
    chosen = change.old.get("oneOf") or []
    if change.key == "anyOf":
        listed = chosen or change.old.get("anyOf") or []
        return bool(listed) and all(branch in change.new.get("anyOf") for branch in listed)
    names = (
        set((change.after or {}).get("required") or ()) if len(change.after or {}) == 1 else set()
    )
    alone = [set(branch["required"]) for branch in chosen if list(branch) == ["required"]]
    return sum(part <= names for part in alone) >= 2
