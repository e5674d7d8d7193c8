"""How a comparison becomes a rule: `@diff`, and the table that the differ dispatches by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdlint import rule as rules
from crdlint.tree import ABSENT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from crdlint.changes import Change
    from crdlint.tree import Node

    Check = Callable[..., Iterable["Problem"]]
    Problems = Iterator["Problem"]

# What a rule tightens, which decides whether validation ratcheting excuses stored objects.
NOTHING = ""
VALUE = "value"  # a demand on the value itself: excused while the value stays as it is
OWNER = "owner"  # a demand on an object or list as a whole: excused only while all of it stays
ALWAYS = "always"  # never excused: embedded objects, transition rules


class Problem(rules.Problem):
    """What a comparison found; `change` has both places.

    `field` replaces the field as users write it. Problems of one rule and message fold when the
    last names of their fields are equal; `together` replaces that name. `prunes` says that stored
    values are lost, which no ratcheting excuses; `spares` names effects of the rule's page that
    this problem does not have; `tightens` is filled in by the differ.
    """

    __slots__ = ("change", "field", "prunes", "spares", "tightens", "together")

    def __init__(
        self,
        change: Change,
        message: str,
        *,
        refused: Iterable[Any] = (),
        rule: str = "",
        field: str = "",
        together: str | None = None,
        prunes: bool = False,
        spares: Iterable[str] = (),
        help: str = "",  # noqa: A002 - the word users see in the JSON report
    ) -> None:
        super().__init__(change.here, message, refused=refused, rule=rule, help=help)
        self.change = change
        self.field = field
        self.together = together
        self.prunes = prunes
        self.spares = frozenset(spares)
        self.tightens = NOTHING


class Registered:
    """A comparison, the rule ids it speaks for, and what it tightens."""

    __slots__ = ("ids", "run", "tightens")

    def __init__(self, ids: tuple[str, ...], tightens: str, run: Check) -> None:
        self.ids = ids
        self.tightens = tightens
        self.run = run


DIFF: dict[str, list[Registered]] = {}  # by "kind" or "kind.key"
SETTLE: list[Callable[[list[Problem]], list[Problem]]] = []
DIFF_IDS: dict[str, None] = {}  # every rule id that has a comparison, in the order of definition


def diff(*ids: str, on: str, tightens: str = NOTHING) -> Callable[[Check], Check]:
    """Register a comparison of two CRDs.

    `on` is one or more of `crd`, `version`, `schema` (each pair of nodes that differ) and
    `kind.key` (pairs that differ in the key); the function is called with the Change.
    """

    def keep(run: Check) -> Check:
        registered = Registered(ids, tightens, run)
        for key in on.split():
            DIFF.setdefault(key, []).append(registered)
        DIFF_IDS.update(dict.fromkeys(ids))
        rules.ALL_IDS.update(dict.fromkeys(ids))
        return run

    return keep


def settle(
    run: Callable[[list[Problem]], list[Problem]],
) -> Callable[[list[Problem]], list[Problem]]:
    """Register a function that looks at all problems of a pair of CRDs together."""
    SETTLE.append(run)
    return run


def show(value: Any, limit: int = 60) -> str:
    """Spell a value for a message, cut to a length that a line can hold."""
    import json

    if value is ABSENT:
        return "none"
    if not isinstance(value, (dict, list, str, int, float, bool)) and value is not None:
        return str(value)
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (RecursionError, ValueError):
        text = "a deeply nested value"
    return text if len(text) <= limit else text[: limit - 1] + "…"


def step(change: Change) -> str:
    """Spell the change of a value, `10 -> 3`, as the two files have it."""
    before, after = change.spelled
    text = f"{show(before)} -> {show(after)}"
    return f"{text} (inside `not`)" if change.pair.reversed else text


def is_item(node: Node) -> bool:
    """Tell whether a node is the schema of the items of a list."""
    return node.step[:1] == ("items",)


def property_of(node: Node) -> str | None:
    """Return the name under which a node is a property of its parent, or None."""
    return str(node.step[1]) if node.step[:1] == ("properties",) else None
