"""Comparisons of how server-side apply merges lists and maps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crdlint.changes import LIST_TYPE, MAP_TYPE
from crdlint.diffrule import OWNER, VALUE, Problem, diff, show

if TYPE_CHECKING:
    from crdlint.changes import Change
    from crdlint.diffrule import Problems

KEYS = "x-kubernetes-list-map-keys"


def _kinds(change: Change) -> tuple[str, str]:
    before, after = change.spelled
    return before or "atomic", after or "atomic"


@diff("list-type-to-set", on=f"schema.{LIST_TYPE}", tightens=OWNER)
def list_type_to_set(change: Change) -> Problems:
    before, after = _kinds(change)
    if after == "set":
        yield Problem(
            change,
            f"{before} -> set: lists with an item twice are refused,"
            " and items lose their owner in server-side apply",
        )


@diff("list-type-to-map", on=f"schema.{LIST_TYPE}", tightens=OWNER)
def list_type_to_map(change: Change) -> Problems:
    before, after = _kinds(change)
    if after == "map":
        keys = change.new.get(KEYS) or []
        yield Problem(
            change,
            f"{before} -> map by {', '.join(map(str, keys)) or 'no key'}: lists with a key twice"
            " are refused, and items lose their owner in server-side apply",
        )


@diff("list-type-to-atomic", on=f"schema.{LIST_TYPE}")
def list_type_to_atomic(change: Change) -> Problems:
    before, after = _kinds(change)
    if after == "atomic":
        yield Problem(
            change,
            f"{before} -> atomic: the next apply of one manager removes the items of all others",
        )


@diff("list-map-keys-changed", "list-map-keys-added", on=f"schema.{KEYS}", tightens=VALUE)
def list_map_keys_changed(change: Change) -> Problems:
    before, after = (list(keys or []) for keys in change.spelled)
    if before and set(before) < set(after):
        yield Problem(
            change,
            f"{show(before)} -> {show(after)}: items get another identity, and lose their owner in"
            " server-side apply",
            rule="list-map-keys-added",
        )
    elif before and after and set(before) != set(after):
        yield Problem(
            change,
            f"{show(before)} -> {show(after)}: items get another identity;"
            " those that were two may become one and be refused",
        )


@diff("map-type-to-atomic", on=f"schema.{MAP_TYPE}")
def map_type_to_atomic(change: Change) -> Problems:
    if change.spelled[1] == "atomic":
        yield Problem(
            change,
            "granular -> atomic: the next apply of one manager removes what all others have set",
        )


@diff("map-type-to-granular", on=f"schema.{MAP_TYPE}")
def map_type_to_granular(change: Change) -> Problems:
    if change.spelled[1] != "atomic":
        yield Problem(
            change,
            "atomic -> granular: nobody owns the single keys yet, so taking one out of a manifest"
            " no longer deletes it",
        )
