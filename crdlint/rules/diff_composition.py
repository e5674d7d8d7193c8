"""Comparisons of conditions: oneOf, anyOf, allOf, not, and validation rules."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from crdlint.changes import RULES, rule_text
from crdlint.diffrule import ALWAYS, OWNER, Problem, diff, settle, show
from crdlint.rules.diff_implied import branches_implied
from crdlint.rules.diff_values import LIMIT_RULES
from crdlint.tree import ABSENT

if TYPE_CHECKING:
    from crdlint.changes import Change
    from crdlint.diffrule import Problems

# Each keyword: what a new list, a gone list, a new branch and a gone branch mean.
_BRANCHES = {
    "allOf": ("all-of-added", "all-of-removed", "all-of-added", "all-of-removed"),
    "anyOf": ("any-of-added", "any-of-removed", "any-of-branch-added", "any-of-branch-removed"),
    "oneOf": ("one-of-added", "one-of-removed", "one-of-branch-added", "one-of-branch-removed"),
}
_SAYS = {
    "all-of-added": "also demanded now: {}",
    "all-of-removed": "no longer demanded: {}",
    "any-of-added": "one of these must hold now: {}",
    "any-of-removed": "none of these need hold any more: {}",
    "any-of-branch-added": "this is enough now as well: {}",
    "any-of-branch-removed": "this is no longer enough: {}",
    "one-of-added": "exactly one of these must hold now: {}",
    "one-of-removed": "none of these need hold any more: {}",
    "one-of-branch-added": "allowed now, but not together with another branch: {}",
    "one-of-branch-removed": "no longer allowed: {}",
}


@diff(
    "all-of-added",
    "all-of-removed",
    "any-of-added",
    "any-of-removed",
    "any-of-branch-added",
    "any-of-branch-removed",
    "one-of-added",
    "one-of-removed",
    "one-of-branch-added",
    "one-of-branch-removed",
    on="schema.allOf schema.anyOf schema.oneOf",
    tightens=OWNER,
)
def branches_changed(change: Change) -> Problems:
    whole = not (change.old.get(change.key) and change.new.get(change.key))
    rules = _BRANCHES[change.key]
    if whole and change.added and change.key == "anyOf" and branches_implied(change):
        return
    rule = rules[(0 if whole else 2) + (0 if change.added else 1)]
    what = change.after if change.added else change.before
    inside = " (inside `not`)" if change.pair.reversed else ""
    yield Problem(change, _SAYS[rule].format(_condition(what, whole)) + inside, rule=rule)


def _condition(branches: Any, whole: bool) -> str:
    """Spell what branches demand in a few words."""
    if not whole and len(branches) == 1:
        return _spell(branches[0])
    return "; ".join(_spell(branch) for branch in branches[:4]) + ("; …" if branches[4:] else "")


def _spell(branch: Any) -> str:
    if isinstance(branch, dict) and list(branch) == ["required"]:
        return f"{' and '.join(map(str, branch['required']))} set"
    return show(branch)


@diff("not-added", "not-removed", on="schema.not", tightens=OWNER)
def not_changed(change: Change) -> Problems:
    if change.added and branches_implied(change):
        return
    if change.added:
        text = f"values that match this are refused now: {_spell(change.after)}"
        yield Problem(change, text, rule="not-added")
    else:
        text = f"values that match this are allowed now: {_spell(change.before)}"
        yield Problem(change, text, rule="not-removed")


@settle
def in_one_of(problems: list[Problem]) -> list[Problem]:
    """Say of a relaxed branch of oneOf that values which match two branches are refused."""
    for problem in problems:
        within = problem.change.pair.within
        if "oneOf" in within and problem.rule in RELAXED:
            problem.rule = "one-of-branch-relaxed"
            problem.message += "; values that now match two branches are refused"
    return problems


RELAXED = frozenset(
    (
        *(f"{limit}-relaxed" for limit in LIMIT_RULES),
        "multiple-of-relaxed",
        "format-relaxed",
        "format-removed",
        "condition-relaxed",
        "pattern-removed",
        "pattern-widened",
        "enum-value-added",
        "enum-removed",
        "required-removed",
        "required-removed-with-default",
        "type-widened",
        "any-of-removed",
        "any-of-branch-added",
        "all-of-removed",
        "not-removed",
        "one-of-removed",
    )
)
diff("one-of-branch-relaxed", on="")(lambda _: ())


_OLD_SELF = re.compile(r"\boldSelf\b")
_STRINGS = re.compile(r"""r?"(?:\\.|[^"\\])*"|r?'(?:\\.|[^'\\])*'""")


def is_transition(rule: dict[str, Any]) -> bool:
    """Tell whether a rule compares with the value before the update."""
    return _OLD_SELF.search(_STRINGS.sub("''", str(rule.get("rule") or ""))) is not None


@diff(
    "cel-rule-added",
    "cel-rule-changed",
    "cel-rule-relaxed",
    "cel-rule-relaxed-by-option",
    "cel-rule-removed",
    on=f"schema.{RULES}",
    tightens=OWNER,
)
def rules_changed(change: Change) -> Problems:
    before, after = change.before, change.after
    if after is ABSENT:
        text = f"no longer checked: {_rule(before)}"
        yield Problem(change, text, rule="cel-rule-removed")
    elif before is ABSENT:
        if not _immutable(after) and not _settled(change):
            yield Problem(
                change, f"values must satisfy it now: {_rule(after)}", rule="cel-rule-added"
            )
    elif after.get("optionalOldSelf") and not before.get("optionalOldSelf"):
        text = f"it may spare what was there before: {_rule(after)}"
        yield Problem(change, text, rule="cel-rule-relaxed-by-option")
    elif _changed(before, after) and not (_immutable(after) and not _immutable(before)):
        text = f"{_rule(before)} -> {_rule(after)}"
        if _relaxed(change) or _settled(change):
            text += ": readers may meet values that were refused"
            yield Problem(change, text, rule="cel-rule-relaxed")
        else:
            text += ": values that passed before may be refused now"
            yield Problem(change, text, rule="cel-rule-changed")


def _relaxed(change: Change) -> bool:
    """Tell whether a rule holds wherever the one before held."""
    from crdlint.cel.implies import implies

    options = (rule.get("optionalOldSelf") or False for rule in (change.before, change.after))
    before, after = (str(rule.get("rule") or "") for rule in (change.before, change.after))
    return len(set(options)) == 1 and implies(before, after, change.new.crd.minor)


def _settled(change: Change) -> bool:
    """Tell whether a new rule is sure to hold for all that could be stored before."""
    from crdlint.objects.settled import holds

    if change.new.junctor:
        return False
    text = str(change.after.get("rule") or "")
    keeps = bool(change.old.crd.spec.get("preserveUnknownFields"))
    minor = change.new.crd.minor
    return holds(text, change.old.data, change.new.data, minor, keeps=keeps)


def _changed(before: dict[str, Any], after: dict[str, Any]) -> bool:
    if rule_text(str(before.get("rule"))) != rule_text(str(after.get("rule"))):
        return True
    return bool(before.get("optionalOldSelf")) != bool(after.get("optionalOldSelf"))


def _immutable(rule: dict[str, Any]) -> bool:
    return is_transition(rule) and not rule.get("optionalOldSelf")


def _rule(rule: dict[str, Any]) -> str:
    return f"`{' '.join(str(rule.get('rule') or '').split())}`"


@diff("cel-immutability-added", on=f"schema.{RULES}", tightens=ALWAYS)
def cel_immutability_added(change: Change) -> Problems:
    before, after = change.before, change.after
    if after is ABSENT or not _immutable(after):
        return
    if before is ABSENT or not _immutable(before):
        if before is not ABSENT and not _changed(before, after):
            return
        yield Problem(change, f"updates must satisfy it now: {_rule(after)}")


@diff("cel-message-changed", "cel-reason-changed", "cel-field-path-changed", on=f"schema.{RULES}")
def rule_words_changed(change: Change) -> Problems:
    if change.added or change.removed:
        return
    for keys, rule in (
        (("message", "messageExpression"), "cel-message-changed"),
        (("reason",), "cel-reason-changed"),
        (("fieldPath",), "cel-field-path-changed"),
    ):
        for key in keys:
            before, after = change.before.get(key) or "", change.after.get(key) or ""
            if before != after:
                text = f"{key}: {show(before)} -> {show(after)}"
                yield Problem(change, text, rule=rule)
                break
