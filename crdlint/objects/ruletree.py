"""The rules of a schema, compiled to run.

Source: validator in schema/cel/validation.go of apiextensions-apiserver.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdlint.cel import fieldpath
from crdlint.cel.adapt import adapter
from crdlint.cel.compile import check_at
from crdlint.cel.evaluate import Program, program
from crdlint.cel.rulekeywords import SPACE
from crdlint.cel.types import BOOL_TYPE, STRING_TYPE, declare, escape
from crdlint.objects.error import field_path

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crdlint.cel.types import Decl
    from crdlint.objects.error import At

    Schema = Mapping[str, Any]

RATCHETING_SINCE = 30
_MESSAGE_EXPRESSIONS_SINCE = 27
_FIELD_PATHS_SINCE = 28

_RULES = "x-kubernetes-validations"


class Rule:
    """A rule at a node, with its programs."""

    __slots__ = ("error", "field_path", "message", "optional_old", "program", "rule", "shown")

    def __init__(self, rule: Mapping[str, Any], schema: Schema, decl: Decl, minor: int) -> None:
        self.rule = rule
        self.error = ""
        self.program: Program | None = None
        self.message: Program | None = None
        self.optional_old = bool(rule.get("optionalOldSelf")) and minor >= RATCHETING_SINCE
        text = rule.get("rule") or ""
        self.shown = ((rule.get("message") or "") or text).strip(SPACE)
        self.field_path: tuple[tuple[str, bool], ...] = ()
        if not text.strip(SPACE):
            return
        self.program, self.error = self._compile(text, decl, BOOL_TYPE, minor)
        expression = rule.get("messageExpression") or ""
        if self.error:
            return
        if expression and minor >= _MESSAGE_EXPRESSIONS_SINCE:
            self.message, wrong = self._compile(expression, decl, STRING_TYPE, minor)
            if wrong:
                return
        path = rule.get("fieldPath") or ""
        if path and minor >= _FIELD_PATHS_SINCE:
            try:
                self.field_path = tuple(fieldpath.steps(path, schema))
            except (fieldpath.FieldPathError, fieldpath.FieldPathPanic):
                return

    @property
    def field(self) -> str:
        """Return the fieldPath as the server spells it."""
        at: At = None
        for name, is_key in self.field_path:
            at = (at, name, is_key)
        return field_path(at)

    def message_or_default(self) -> str:
        """Return the message of the rule, or what the server says in its place."""
        return self.shown if self.rule.get("message") else f"failed rule: {self.shown}"

    def _compile(
        self, text: str, decl: Decl, wanted: Any, minor: int
    ) -> tuple[Program | None, str]:
        done = check_at(
            text, decl, wanted, compat=minor, minor=minor, optional_old_self=self.optional_old
        )
        if done.tree is None:
            return None, done.error or "does not compile"
        return program(done.tree, minor=minor, uses_old_self=done.uses_old_self), ""


class RuleNode:
    """A node of a schema that has rules, at it or below."""

    __slots__ = (
        "_decl",
        "_rules",
        "all_of",
        "convert",
        "fields",
        "items",
        "kind",
        "minor",
        "own",
        "schema",
        "values",
    )

    def __init__(
        self, rules: Any, schema: Schema, decl: Decl | None, root: bool, minor: int
    ) -> None:
        self.schema = schema
        self.minor = minor
        self.own: list[Mapping[str, Any]] = rules
        self._decl = decl
        self._rules: tuple[list[Rule], bool] | None = None
        # What makes the values of self and oldSelf.
        self.convert = adapter(schema, root=root, minor=minor)
        self.kind: str = schema.get("type") or ""
        self.items: RuleNode | None = None
        self.values: RuleNode | None = None
        self.fields: dict[str, RuleNode] = {}
        self.all_of: list[RuleNode] = []

    @staticmethod
    def of(
        schema: Schema,
        decl: Decl | None,
        root: bool,
        minor: int,
        said: Schema | None = None,
    ) -> RuleNode | None:
        """Return a node with all below it, or None where there are no rules.

        `said` is the schema whose rules count: a branch of allOf, or the schema itself.
        """
        said = schema if said is None else said
        node = RuleNode(said.get(_RULES) or [], schema, decl, root, minor)
        elem = None if decl is None else decl.elem
        node.items = _below(said.get("items"), schema.get("items"), elem, minor)
        key = "additionalProperties"
        node.values = _below(said.get(key), schema.get(key), elem, minor)
        fields = schema.get("properties") or {}
        for name, part in (said.get("properties") or {}).items():
            below = fields.get(name)
            if below is None:
                continue
            own = _field_decl(decl, name, below, minor)
            # Where CEL has no type for a field, its rules and those below are left out.
            found = None if own is None else _below(part, below, own, minor)
            if found is not None:
                node.fields[name] = found
        for branch in said.get("allOf") or ():
            found = RuleNode.of(schema, decl, root, minor, branch)
            if found is not None:
                node.all_of.append(found)
        used = node.own or node.items or node.values or node.fields or node.all_of
        return node if used else None

    def rules(self) -> tuple[list[Rule], bool]:
        """Return the rules at this node, and whether any of them uses oldSelf."""
        if self._rules is None:
            assert self._decl is not None
            rules = [Rule(rule, self.schema, self._decl, self.minor) for rule in self.own]
            uses = any(rule.program is not None and rule.program.uses_old_self for rule in rules)
            self._rules = rules, uses
        return self._rules

    @property
    def typed(self) -> bool:
        """Tell whether CEL has a type for this node."""
        return self._decl is not None


def _below(said: Any, schema: Any, decl: Decl | None, minor: int) -> RuleNode | None:
    if not isinstance(said, dict) or not isinstance(schema, dict):
        return None
    root = bool(schema.get("x-kubernetes-embedded-resource"))
    return RuleNode.of(schema, decl, root, minor, said)


def _field_decl(decl: Decl | None, name: str, schema: Schema, minor: int) -> Decl | None:
    """Return the declared type of a field.

    A name that CEL cannot spell is missing in the type of the object.
    """
    if escape(name) is None:
        root = bool(schema.get("x-kubernetes-embedded-resource"))
        return declare(schema, root=root, minor=minor)
    if decl is None or decl.fields is None:
        return None
    return decl.fields.get(escape(name) or "")
