"""The CEL rules of a served version, run on an object.

Source: schema/cel/validation.go in apiextensions-apiserver.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdlint.cel.attributes import ABSENT
from crdlint.cel.gotext import quote
from crdlint.cel.loops import Cancelled
from crdlint.cel.rulekeywords import SPACE
from crdlint.cel.syntax import deep
from crdlint.cel.types import declare
from crdlint.cel.values import NONE, EvalError, Optional
from crdlint.objects.correlation import Correlated
from crdlint.objects.error import ROOT_FIELD, ObjectError, field_path, path_of
from crdlint.objects.ruletree import RATCHETING_SINCE, RuleNode
from crdlint.objects.served import spine

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crdlint.objects.error import At
    from crdlint.objects.ruletree import Rule
    from crdlint.objects.served import Served

    Schema = Mapping[str, Any]

BUDGET = 10_000_000  # cost of all rules on one object
_MAX_MESSAGE = 5 * 1024  # bytes of what a messageExpression gives
_REASONS_SINCE = 28
# The keywords of errors: of a rule, and of the limits that end the run.
RULES, STOPPED = "x-kubernetes-validations", "cel-budget"

_REASONS = {
    "FieldValueDuplicate": "Duplicate",
    "FieldValueForbidden": "Forbidden",
    "FieldValueRequired": "Required",
}
_OUT_OF_BUDGET = (
    "validation failed due to running out of cost budget, no further validation rules will be run"
)


class _StoppedError(Exception):
    """No rule is run any more; the errors say why."""


def evaluate(
    served: Served, new: Mapping[str, Any], old: Mapping[str, Any] | None
) -> list[ObjectError]:
    """Return the errors of all rules of a version on a new object and, in an update, the old."""
    if served.schema is None or not served.has_rules:
        return []
    rules = served.rules
    if rules is None:
        rules = served.rules = RuleTree(served.schema, minor=served.minor)
    return rules.run(new, old)[0]


class RuleTree:
    """The rules of a schema, compiled when they are first run."""

    __slots__ = ("_root", "minor", "schema")

    def __init__(self, schema: Schema, *, minor: int, root: bool = True) -> None:
        self.schema = schema
        self.minor = minor
        self._root: RuleNode | None = None
        # Rules in allOf alone do not count.
        if any(node.get(RULES) for node in spine(schema)):
            with deep():
                decl = declare(schema, root=root, minor=minor)
                self._root = RuleNode.of(schema, decl, root, minor)

    def run(
        self, new: Any, old: Any, *, budget: int = BUDGET, base: str = "", ratchet: bool = True
    ) -> tuple[list[ObjectError], int]:
        """Run the rules.

        Args:
            new: the value.
            old: the one that it replaces, or None.
            budget: what the evaluations may cost in all.
            base: the field that stands before every field the server prints.
            ratchet: excuse what a rule without oldSelf refuses in parts that are as they were.

        Returns:
            The errors, and what is left of the budget: -1 when it ran out.
        """
        walk = _Walk(self.minor, budget, base)
        if self._root is not None:
            correlated = None
            if ratchet and old is not None and self.minor >= RATCHETING_SINCE:
                correlated = Correlated(new, old, self.schema)
            with deep():
                try:
                    walk.visit(self._root, new, old, None, _Ratchet(correlated, None))
                except _StoppedError:
                    return walk.errors, -1
        return walk.errors, walk.budget


class _Ratchet:
    """Whether the errors of a node are excused.

    `here` is the node with its old value, if it has one, `above` the nearest node above with one.
    """

    __slots__ = ("above", "here")

    def __init__(self, here: Correlated | None, above: Correlated | None) -> None:
        self.here = here
        self.above = above

    def excuses(self) -> bool:
        """Tell whether the value, or the nearest part around it that can be told, is as before."""
        if self.here is not None:
            return self.here.equal()
        return self.above is not None and self.above.equal()

    def key(self, name: str) -> _Ratchet:
        """Step to a field."""
        if self.here is None:
            return self
        if self.above is None and name in ("apiVersion", "kind"):
            return _Ratchet(None, None)
        return _Ratchet(self.here.child(name), self.here)

    def index(self, i: int) -> _Ratchet:
        """Step to an item."""
        return self if self.here is None else _Ratchet(self.here.child(i), self.here)


class _Walk:
    """One run of all rules over one value."""

    __slots__ = ("base", "budget", "errors", "minor")

    def __init__(self, minor: int, budget: int, base: str) -> None:
        self.minor = minor
        self.budget = budget
        self.base = base
        self.errors: list[ObjectError] = []

    def visit(self, node: RuleNode, new: Any, old: Any, at: At, ratchet: _Ratchet) -> None:
        """Run the rules at a node and below it."""
        if new is None:
            return
        if node.own:
            self._rules(node, new, old, at, ratchet)
        for branch in node.all_of:
            self.visit(branch, new, old, at, _Ratchet(None, ratchet.above))
        if isinstance(new, list):
            self._items(node, new, old, at, ratchet)
        elif isinstance(new, dict):
            self._fields(node, new, old if isinstance(old, dict) else {}, at, ratchet)

    def _fields(
        self,
        node: RuleNode,
        new: dict[str, Any],
        old: dict[str, Any],
        at: At,
        ratchet: _Ratchet,
    ) -> None:
        if node.schema.get("x-kubernetes-map-type") not in (None, "granular", "atomic"):
            old = {}
        if node.values is not None:
            for key, value in new.items():
                place = (at, key, True)
                self.visit(node.values, value, old.get(key), place, ratchet.key(key))
        for key, value in new.items() if node.fields else ():
            below = node.fields.get(key)
            if below is not None:
                place = (at, key, False)
                self.visit(below, value, old.get(key), place, ratchet.key(key))

    def _items(self, node: RuleNode, new: list[Any], old: Any, at: At, ratchet: _Ratchet) -> None:
        if node.items is None:
            return
        before = Correlated(new, old, node.schema)
        for i, item in enumerate(new):
            child = before.child(i)
            was = None if child is None else child.old
            self.visit(node.items, item, was, (at, i, False), ratchet.index(i))

    # The rules at one node.

    def _rules(self, node: RuleNode, new: Any, old: Any, at: At, ratchet: _Ratchet) -> None:
        if not node.typed:
            self._add("Invalid", at, "rule compiler initialization error: CEL has no type for this")
            return
        if self.budget <= 0:
            self._stop(at, _OUT_OF_BUDGET)
        rules, uses_old = node.rules()
        value = node.convert(new)
        old_value = ABSENT if old is None or not uses_old else node.convert(old)
        for rule in rules:
            if rule.error:
                self._add("Invalid", at, f"rule compile error: {rule.error}")
            elif rule.program is not None:
                self._rule(rule, node, new, (value, old_value, uses_old), at, ratchet)

    def _rule(
        self,
        rule: Rule,
        node: RuleNode,
        new: Any,
        values: tuple[Any, Any, bool],
        at: At,
        ratchet: _Ratchet,
    ) -> None:
        value, old_value, uses_old = values
        assert rule.program is not None
        if rule.program.uses_old_self and old_value is ABSENT and not rule.optional_old:
            return
        given = old_value
        if rule.optional_old and uses_old:
            given = NONE if old_value is ABSENT else Optional(old_value)
        result, cost = rule.program.run(value, given)
        if cost > self.budget:
            self._stop(at, _OUT_OF_BUDGET)
        self.budget -= cost
        if result is True:
            return
        if isinstance(result, Cancelled):
            self._stop(
                at,
                f"{result.message!r}: no further validation rules will be run due to call cost"
                f" exceeds limit for rule: {rule.shown}",
            )
        if isinstance(result, EvalError):
            self._add("Invalid", at, _failure(result, rule), limit=rule.rule.get("rule"))
            return
        self._refuse(rule, node, new, (value, old_value), at, ratchet)

    def _refuse(
        self,
        rule: Rule,
        node: RuleNode,
        new: Any,
        values: tuple[Any, Any],
        at: At,
        ratchet: _Ratchet,
    ) -> None:
        """Add the error of a rule that gave false."""
        assert rule.program is not None
        excused = not rule.program.uses_old_self and ratchet.excuses()
        stopped = ""
        message = ""
        if rule.message is not None:
            message, stopped = self._message(rule, values)
        message = message or stopped or rule.message_or_default()
        reason = rule.rule.get("reason") if self.minor >= _REASONS_SINCE else None
        kind = "Invalid" if stopped else _REASONS.get(reason or "", "Invalid")
        if not excused:
            shown = None if node.kind in ("object", "array") else new
            keyword = STOPPED if stopped else RULES
            text = rule.rule.get("rule")
            self._add(kind, at, message, value=shown, limit=text, rule=rule, keyword=keyword)
        if stopped:
            raise _StoppedError

    def _message(self, rule: Rule, values: tuple[Any, Any]) -> tuple[str, str]:
        """Return what a messageExpression gives, "" where it fails, and why all rules stop."""
        assert rule.message is not None
        found, cost = rule.message.run(*values)
        if cost > self.budget:
            return "", (
                "messageExpression evaluation failed due to running out of cost budget, no further"
                " validation rules will be run"
            )
        if isinstance(found, Cancelled):
            return "", (
                "no further validation rules will be run due to call cost exceeds limit for"
                f" messageExpression: {quote(rule.rule.get('messageExpression') or '')}"
            )
        self.budget -= cost
        if not isinstance(found, str):
            return "", ""
        text = found.strip(SPACE)
        if len(text.encode("utf-8", "surrogatepass")) > _MAX_MESSAGE or "\n" in text:
            return "", ""
        return text, ""

    def _stop(self, at: At, message: str) -> None:
        self._add("Invalid", at, message, keyword=STOPPED)
        raise _StoppedError

    def _add(
        self,
        kind: str,
        at: At,
        message: str,
        *,
        value: object = None,
        limit: object = None,
        rule: Rule | None = None,
        keyword: str = RULES,
    ) -> None:
        """Add an error; that of a rule stands at its fieldPath."""
        field = field_path(at, self.base)
        if rule is not None and rule.field_path:
            field = rule.field if field == ROOT_FIELD else f"{field}.{rule.field}"
            for name, is_key in rule.field_path:
                at = (at, name, is_key)
        self.errors.append(
            ObjectError(
                kind,
                field,
                path_of(at),
                message,
                keyword=keyword,
                limit=limit,
                value=value,
            )
        )


def _failure(error: EvalError, rule: Rule) -> str:
    if error.message.startswith("no such overload"):
        return (
            f"{error.message!r}: call arguments did not match a supported operator, function or"
            f" macro signature for rule: {rule.shown}"
        )
    return f"{error.message} evaluating rule: {rule.shown}"
