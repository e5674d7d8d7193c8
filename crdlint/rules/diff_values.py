"""Comparisons of which values a field takes: bounds, patterns, enums, defaults."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdlint.changes import Bound, json_equal
from crdlint.diffrule import NOTHING, VALUE, Problem, diff, property_of, show, step
from crdlint.rules.diff_fields import is_map_key
from crdlint.rules.diff_implied import limit_implied, pattern_implied
from crdlint.tree import ABSENT

if TYPE_CHECKING:
    from collections.abc import Callable

    from crdlint.changes import Change
    from crdlint.diffrule import Problems
    from crdlint.tree import Node


def values_left(change: Change, node: Node) -> list[Any] | None:
    """Return all values that one side lets in where its enum names them, else None.

    What no such value breaks is neither tightened nor relaxed.
    """
    values = None if change.pair.reversed else node.get("enum")
    return list(values) if values else None


def _size(value: Any, kind: type[str | list[Any] | dict[str, Any]]) -> int | None:
    return len(value) if isinstance(value, kind) else None


def _number(value: Any) -> float | None:
    known = isinstance(value, (int, float)) and not isinstance(value, bool)
    return value if known else None


# keyword, rule prefix, whether it is an upper limit, what it measures of a value, what is refused
LIMITS: tuple[tuple[str, str, bool, Callable[[Any], float | None], str], ...] = (
    ("maxLength", "max-length", True, lambda v: _size(v, str), "longer texts"),
    ("minLength", "min-length", False, lambda v: _size(v, str), "shorter texts"),
    ("maxItems", "max-items", True, lambda v: _size(v, list), "longer lists"),
    ("minItems", "min-items", False, lambda v: _size(v, list), "shorter lists"),
    ("maxProperties", "max-properties", True, lambda v: _size(v, dict), "more keys"),
    ("minProperties", "min-properties", False, lambda v: _size(v, dict), "fewer keys"),
    ("maximum", "maximum", True, _number, "greater numbers"),
    ("minimum", "minimum", False, _number, "smaller numbers"),
)


def _limit(value: Any) -> tuple[float, bool]:
    if isinstance(value, Bound):
        return value.value, value.exclusive
    return value, False


def _tighter(before: Any, after: Any, upper: bool) -> bool:
    """Tell whether a limit lets fewer values in than the one before."""
    if after is ABSENT:
        return False
    if before is ABSENT:
        return True
    (x, x_out), (y, y_out) = _limit(before), _limit(after)
    if x == y:
        return y_out and not x_out
    return y < x if upper else y > x


def _within(value: float | None, limit: Any, upper: bool) -> bool:
    if value is None:
        return True
    bound, out = _limit(limit)
    if value == bound:
        return not out
    return value < bound if upper else value > bound


def _register_limit(
    keyword: str, prefix: str, upper: bool, measure: Callable[[Any], float | None], refused: str
) -> None:
    @diff(f"{prefix}-tightened", f"{prefix}-relaxed", on=f"schema.{keyword}", tightens=VALUE)
    def limit_changed(change: Change) -> Problems:
        before, after = change.before, change.after
        tighter = _tighter(before, after, upper)
        values = values_left(change, change.old if tighter else change.new)
        limit = after if tighter else before
        if values is not None and all(_within(measure(v), limit, upper) for v in values):
            return
        if tighter and limit_implied(change, keyword, limit):
            return
        if not tighter:
            text = f"{step(change)}: readers may meet {refused} than before"
            yield Problem(change, text, rule=f"{prefix}-relaxed")
        else:
            text = f"{step(change)}: {refused} are refused now"
            yield Problem(change, text, rule=f"{prefix}-tightened")


LIMIT_RULES = tuple(row[1] for row in LIMITS)  # `-tightened` and `-relaxed` are added to each
for _row in LIMITS:
    _register_limit(*_row)


@diff("multiple-of-tightened", "multiple-of-relaxed", on="schema.multipleOf", tightens=VALUE)
def multiple_of_changed(change: Change) -> Problems:
    before, after = change.before, change.after
    if after is ABSENT or (before is not ABSENT and after and not before % after):
        text = f"{step(change)}: readers may meet numbers in between"
        yield Problem(change, text, rule="multiple-of-relaxed")
    else:
        yield Problem(
            change, f"{step(change)}: other numbers are refused now", rule="multiple-of-tightened"
        )


@diff(
    "pattern-added",
    "pattern-removed",
    "pattern-narrowed",
    "pattern-widened",
    "pattern-changed",
    on="schema.pattern",
    tightens=VALUE,
)
def pattern_changed(change: Change) -> Problems:
    from crdlint.inclusion import compare

    before, after = change.before, change.after
    text = step(change)
    if after is ABSENT:
        if not _all_match(values_left(change, change.new), before):
            text = f"{text}: readers may meet texts that were refused"
            yield Problem(change, text, rule="pattern-removed")
        return
    if _all_match(values_left(change, change.old), after):
        return
    relation = "narrower" if before is ABSENT else compare(before, after)
    if before is ABSENT and compare("", after) == "equal":
        return
    if relation == "equal":
        yield Problem(change, f"{text}: both match the same texts", rule="pattern-widened")
    elif relation == "wider":
        text = f"{text}: it matches more, so readers may meet texts that were refused"
        yield Problem(change, text, rule="pattern-widened")
    elif pattern_implied(change, after):
        return
    elif relation in ("narrower", "different"):
        rule = "pattern-added" if before is ABSENT else "pattern-narrowed"
        yield Problem(change, f"{text}: texts that do not match are refused now", rule=rule)
    else:
        text = f"{text}: texts that matched before may be refused now"
        yield Problem(change, text, rule="pattern-changed")


def _all_match(values: list[Any] | None, pattern: str) -> bool:
    from crdlint import goregex

    try:
        return values is not None and all(
            goregex.matches(pattern, text) for text in values if isinstance(text, str)
        )
    except goregex.RegexError:
        return False


def _missing(values: list[Any], others: list[Any]) -> list[Any]:
    return [v for v in values if not any(json_equal(v, other) for other in others)]


@diff(
    "enum-added",
    "enum-removed",
    "enum-value-added",
    "enum-value-removed",
    "enum-value-renamed",
    on="schema.enum",
    tightens=VALUE,
)
def enum_changed(change: Change) -> Problems:
    before, after = change.before, change.after
    inside = " (inside `not`)" if change.pair.reversed else ""
    if after is ABSENT and _covers(before, change):
        return
    if after is ABSENT:
        text = f"only {show(before)} were allowed; readers may meet anything now{inside}"
        yield Problem(change, text, rule="enum-removed")
        return
    if before is ABSENT:
        if not _covers(after, change):
            yield Problem(change, f"only {show(after)} are allowed now{inside}", rule="enum-added")
        return
    gone, come = _missing(before, after), _missing(after, before)
    renamed = [(a, b) for a in gone for b in come if _alike(a, b)]
    for a, b in renamed:
        text = f"{show(a)} seems to be {show(b)} now: writers and stored objects have the old one"
        yield Problem(change, text + inside, rule="enum-value-renamed")
    gone = [a for a in gone if not any(a is x for x, _ in renamed)]
    come = [b for b in come if not any(b is y for _, y in renamed)]
    if gone:
        text = f"no longer allowed: {_list(gone)}{inside}"
        yield Problem(change, text, rule="enum-value-removed")
    if come:
        text = f"new: {_list(come)}; readers may not know what to do with it{inside}"
        yield Problem(change, text, rule="enum-value-added")


def _list(values: list[Any]) -> str:
    text = ", ".join(map(show, values[:8]))
    return text if len(values) <= 8 else f"{text} and {len(values) - 8} more"


def _alike(a: Any, b: Any) -> bool:
    """Tell whether two values are the same word in another spelling."""
    if not isinstance(a, str) or not isinstance(b, str):
        return False
    return _letters(a) == _letters(b) != ""


def _letters(text: str) -> str:
    return "".join(c for c in text.lower() if c.isalnum())


def _covers(values: list[Any], change: Change) -> bool:
    """Tell whether an enum names all that the type allows."""
    if change.pair.reversed or change.new.get("nullable") or change.old.get("nullable"):
        return False
    side = 0 if change.added else 1
    kind = (change.old, change.new)[side].get("type")
    if kind == "boolean":
        return any(v is True for v in values) and any(v is False for v in values)
    low, high = (change.pair.values[side].get(key) for key in ("minimum", "maximum"))
    if kind == "integer" and isinstance(low, Bound) and isinstance(high, Bound):
        if high.value - low.value > 1000:
            return False
        wanted = range(int(low.value), int(high.value) + 1)
        return all(any(json_equal(v, n) for v in values) for n in wanted)
    return False


@diff(
    "default-added",
    "default-changed",
    "default-changed-non-storage",
    "default-removed",
    "default-removed-required",
    "list-map-key-default-changed",
    "required-removed-with-default",
    on="schema.default",
    tightens=NOTHING,
)
def default_changed(change: Change) -> Problems:
    text = step(change)
    node = change.new
    version = node.version
    if change.added and _is_required(change.old):  # no valid object leaves it to the default
        if _is_required(node):  # else the end of `required` is reported, with the default
            text = f"may be left out now, as it has the default {show(change.after)}"
            yield Problem(change, text, rule="required-removed-with-default")
    elif is_map_key(node) and is_map_key(change.old):
        text = f"{text}: items without this key get another identity"
        yield Problem(change, text, rule="list-map-key-default-changed")
    elif change.removed and _is_required(node):
        text = f"{text}: the field is required, so objects that left it to the default are refused"
        yield Problem(change, text, rule="default-removed-required")
    elif version is not None and not version.get("storage"):
        text = f"{text}: requests at this version show it; objects are stored in another one"
        yield Problem(change, text, rule="default-changed-non-storage")
    elif change.added:
        text = f"{text}: objects without the field show it on the next read"
        yield Problem(change, text, rule="default-added")
    elif change.removed:
        text = f"{text}: objects that were not written since lose the value"
        yield Problem(change, text, rule="default-removed")
    else:
        text = f"{text}: objects that were not written since change their value"
        yield Problem(change, text, rule="default-changed")


def _is_required(node: Node) -> bool:
    name, parent = property_of(node), node.parent
    return name is not None and parent is not None and name in (parent.get("required") or [])
