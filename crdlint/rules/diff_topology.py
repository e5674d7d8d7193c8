"""Comparisons of how server-side apply merges lists and maps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crdlint.changes import LIST_TYPE, MAP_TYPE
from crdlint.diffrule import OWNER, VALUE, Problem, diff, show

if TYPE_CHECKING:
    from crdlint.changes import Change
    from crdlint.diffrule import Problems
    from crdlint.tree import Node

KEYS = "x-kubernetes-list-map-keys"


def _kinds(change: Change) -> tuple[str, str]:
    before, after = change.spelled
    return before or "atomic", after or "atomic"


def owned_apart(change: Change) -> bool:
    """Tell whether a manager can own this part without all that is around it.

    Below an atomic list, a set or an atomic map nobody can, so how a part merges says nothing.
    Where only one side is so, the change of what is around is reported, and says it all.
    """
    return not any(map(_within_a_whole, (change.old, change.new)))


def _within_a_whole(node: Node) -> bool:
    inner = node
    while (parent := inner.parent) is not None and inner.kind == "schema":
        if inner.step[:1] == ("items",):
            if parent.get(LIST_TYPE) != "map":
                return True
        elif parent.kind == "schema" and parent.get(MAP_TYPE) == "atomic":
            return True
        inner = parent
    return False


def _disowned(change: Change) -> tuple[str, tuple[str, ...]]:
    """Return what to add of owners, and which effects do not come about."""
    if owned_apart(change):
        return ", and items lose their owner in server-side apply", ()
    return "", ("gitops",)


def _merges(change: Change, text: str, harm: str, rule: str) -> Problem:
    """Return the problem of a change that matters to owners alone, where there may be any."""
    if owned_apart(change):
        return Problem(change, f"{text}: {harm}", rule=rule)
    said = f"{text}: what is around it is owned as one value, so nobody owns a part of it"
    return Problem(change, said, rule="merge-without-effect", together="")


@diff("list-type-to-set", on=f"schema.{LIST_TYPE}", tightens=OWNER)
def list_type_to_set(change: Change) -> Problems:
    before, after = _kinds(change)
    if after == "set":
        disowned, spares = _disowned(change)
        yield Problem(
            change,
            f"{before} -> set: lists with an item twice are refused{disowned}",
            spares=spares,
        )


@diff("list-type-to-map", on=f"schema.{LIST_TYPE}", tightens=OWNER)
def list_type_to_map(change: Change) -> Problems:
    before, after = _kinds(change)
    if after == "map":
        keys = change.new.get(KEYS) or []
        disowned, spares = _disowned(change)
        yield Problem(
            change,
            f"{before} -> map by {', '.join(map(str, keys)) or 'no key'}: lists with a key twice"
            f" are refused{disowned}",
            spares=spares,
        )


@diff("list-type-to-atomic", "merge-without-effect", on=f"schema.{LIST_TYPE}")
def list_type_to_atomic(change: Change) -> Problems:
    before, after = _kinds(change)
    if after == "atomic":
        harm = "the next apply of one manager removes the items of all others"
        yield _merges(change, f"{before} -> atomic", harm, "list-type-to-atomic")


@diff(
    "list-map-keys-changed",
    "list-map-keys-added",
    "merge-without-effect",
    on=f"schema.{KEYS}",
    tightens=VALUE,
)
def list_map_keys_changed(change: Change) -> Problems:
    before, after = (list(keys or []) for keys in change.spelled)
    text = f"{show(before)} -> {show(after)}"
    if before and set(before) < set(after):
        harm = "items get another identity, and lose their owner in server-side apply"
        yield _merges(change, text, harm, "list-map-keys-added")
    elif before and after and set(before) != set(after):
        yield Problem(
            change,
            f"{text}: items get another identity; those that were two may become one and be"
            " refused",
            spares=_disowned(change)[1],
        )


@diff("map-type-to-atomic", "merge-without-effect", on=f"schema.{MAP_TYPE}")
def map_type_to_atomic(change: Change) -> Problems:
    if change.spelled[1] == "atomic":
        harm = "the next apply of one manager removes what all others have set"
        yield _merges(change, "granular -> atomic", harm, "map-type-to-atomic")


@diff("map-type-to-granular", "merge-without-effect", on=f"schema.{MAP_TYPE}")
def map_type_to_granular(change: Change) -> Problems:
    if change.spelled[1] != "atomic":
        harm = (
            "nobody owns the single keys yet, so taking one out of a manifest no longer deletes it"
        )
        yield _merges(change, "atomic -> granular", harm, "map-type-to-granular")
