"""Comparisons of types, formats and null."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdlint import formats
from crdlint.changes import Bound, kinds_of
from crdlint.diffrule import VALUE, Problem, diff, is_item, show, step
from crdlint.rules.diff_values import values_left
from crdlint.tree import ABSENT

if TYPE_CHECKING:
    from crdlint.changes import Change
    from crdlint.diffrule import Problems
    from crdlint.tree import Node


_INSIDE = frozenset(("object", "array"))  # what has fields that pruning takes


@diff("type-changed", "type-narrowed", "type-widened", on="schema.type", tightens=VALUE)
def type_changed(change: Change) -> Problems:
    old, new = kinds_of(change.old.data), kinds_of(change.new.data)
    if change.pair.reversed:
        old, new = new, old
    text = step(change).replace('"', "")
    if not new or (old and old < new):
        yield Problem(
            change,
            f"{text}: typed readers meet values of a type that they do not know",
            rule="type-widened",
        )
    elif not old or new < old:
        yield Problem(
            change, f"{text}: values that were valid are refused now", rule="type-narrowed"
        )
    else:
        yield Problem(
            change,
            f"{text}: no value is valid in both, and typed readers fail on stored ones",
            rule="type-changed",
            prunes=bool(old & _INSIDE),
        )


_WIDER = {("int32", "int64"), ("float", "double")}
_WIDER |= {(f"uuid{n}", "uuid") for n in "345"} | {("isbn10", "isbn"), ("isbn13", "isbn")}
_BOUNDS = {"int32": (-(2**31), 2**31 - 1)}
_NO_DEMAND = frozenset(("int64", "double", "password"))


@diff(
    "format-added",
    "format-changed",
    "format-relaxed",
    "format-removed",
    "format-without-effect",
    on="schema.format",
    tightens=VALUE,
)
def format_changed(change: Change) -> Problems:
    kind = str(change.new.get("type") or "")
    before, after = (_demand(value, kind, change) for value in (change.before, change.after))
    text = step(change)
    if before == after:
        text = f"{text}: Kubernetes 1.{change.new.crd.minor} checks neither"
        yield Problem(change, text, rule="format-without-effect")
    elif _implied(change, before, after):
        return
    elif not after or (before, after) in _WIDER:
        rule = "format-relaxed" if after else "format-removed"
        yield Problem(change, f"{text}: readers may meet values that were refused", rule=rule)
    else:
        rule = "format-changed" if before else "format-added"
        yield Problem(change, f"{text}: values of another form are refused now", rule=rule)


def _demand(value: Any, kind: str, change: Change) -> str:
    """Return the format as far as the server checks it, without dashes, else ""."""
    if value is ABSENT or not formats.known(kind, value, change.new.crd.minor):
        return ""
    name = str(value).replace("-", "")
    return "" if name in _NO_DEMAND else name


def _implied(change: Change, before: str, after: str) -> bool:
    """Tell whether the rest of the schema keeps to a format that came or went."""
    if before and after:
        return False
    name = after or before
    values = values_left(change, change.old if after else change.new)
    if values is not None:
        texts = [value for value in values if isinstance(value, str)]
        if name not in _BOUNDS:
            return all(formats.matches(name, text) for text in texts)
        low, high = _BOUNDS[name]
        return all(low <= v <= high for v in values if isinstance(v, int))
    if name not in _BOUNDS:
        return False
    # Bounds that come with the format are reported for themselves.
    low, high = _BOUNDS[name]
    least, most = (
        next((b for side in reversed(change.pair.values) if (b := side.get(key))), None)
        for key in ("minimum", "maximum")
    )
    return (
        isinstance(least, Bound)
        and isinstance(most, Bound)
        and low <= least.value
        and most.value <= high
    )


@diff(
    "nullable-added",
    "nullable-removed",
    "nullable-removed-in-list",
    on="schema.nullable",
    tightens=VALUE,
)
def nullable_changed(change: Change) -> Problems:
    if change.after is not ABSENT:
        text = "null is allowed now: typed readers may not know it from absence"
        yield Problem(change, text, rule="nullable-added")
    elif is_item(change.new) or change.new.junctor:
        text = f"null was allowed; lists that hold it are refused now{_filled(change.new)}"
        yield Problem(change, text, rule="nullable-removed-in-list")
    else:
        text = f"null was allowed; it is dropped on the next read now{_filled(change.new)}"
        yield Problem(change, text, rule="nullable-removed")


def _filled(node: Node) -> str:
    default = node.get("default")
    return "" if default is None else f", and {show(default)} put in its place"
