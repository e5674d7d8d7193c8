"""Everything that the API server checks on the rules of a schema."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

from crdlint.cel import compile as compiling
from crdlint.cel import fieldpath
from crdlint.cel.compile import Compiled, compile_at
from crdlint.cel.libcost import add, multiply
from crdlint.cel.syntax import deep
from crdlint.cel.types import BOOL_TYPE, MAX_REQUEST, STRING_TYPE, Decl, declare, escape, limit

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    Path = tuple[str | int, ...]
    Schema = Mapping[str, Any]

RULE_LIMIT = 10_000_000  # highest estimated cost of one rule, times how often it may run
TOTAL_LIMIT = 100_000_000  # of all rules of one version's schema
_NAMED_FROM = TOTAL_LIMIT // 100  # rules of at least this cost are named when the total is too high
_NAMED = 4

_KEY = "x-kubernetes-validations"
REASONS = (
    "FieldValueDuplicate",
    "FieldValueForbidden",
    "FieldValueInvalid",
    "FieldValueRequired",
)
# The minors that brought fields of a rule; older servers drop them.
_MESSAGE_EXPRESSION, _REASON, _FIELD_PATH, _OPTIONAL_OLD_SELF = 27, 28, 28, 30

_SPACE = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
_LINE_BREAK = re.compile(r"[\n\r]")

KEYWORDS, CEL = "keywords", "cel"  # the stages of the server at which problems are said


class CelProblem:
    """One thing that the server says of a rule.

    `path` is the way from the schema's root to the node, `suffix` from there to the field; `at`
    is line and column in the expression, where one is at fault. `type` is the server's error type.
    """

    __slots__ = ("at", "id", "message", "path", "stage", "suffix", "type")

    def __init__(
        self,
        rule: str,
        error_type: str,
        path: Path,
        suffix: Path,
        message: str,
        *,
        stage: str = CEL,
        at: tuple[int, int] | None = None,
    ) -> None:
        self.id = rule
        self.type = error_type
        self.path = path
        self.suffix = suffix
        self.message = message
        self.stage = stage
        self.at = at


class RuleReport:
    """A rule, where it stands, whether it compiles, and what it costs.

    `cost` is `rule_cost` times `cardinality`, how often the rule may run for one object; `bounded`
    says that maxItems and maxProperties bound that. `reached` is False where the server stops
    before it compiles the rule.
    """

    __slots__ = (
        "at",
        "bounded",
        "cardinality",
        "cost",
        "decl",
        "error",
        "index",
        "message_cost",
        "message_error",
        "ok",
        "over_budget",
        "path",
        "problems",
        "reached",
        "rule",
        "rule_cost",
        "uses_old_self",
    )

    def __init__(self, path: Path, index: int, rule: str) -> None:
        self.path = path
        self.index = index
        self.rule = rule
        self.problems: list[CelProblem] = []
        self.ok = True
        self.error: str | None = None
        self.at: tuple[int, int] | None = None
        self.rule_cost: int | None = None
        self.cardinality: int | None = None
        self.cost: int | None = None
        self.bounded = True
        self.over_budget = False
        self.uses_old_self = False
        self.message_error: str | None = None
        self.message_cost: int | None = None
        self.reached = True
        self.decl: Decl | None = None

    def fail(self, message: str, at: tuple[int, int] | None = None) -> None:
        """Note why the server does not take the rule, if it has not been said yet."""
        if self.ok:
            self.ok = False
            self.error = message
            self.at = at


class SchemaReport:
    """All rules of a version's schema; `total` is what they cost together.

    `problems` are those of no single rule: of a node with rules that CEL cannot express, of rules
    below allOf and the like, and of the total.
    """

    __slots__ = ("problems", "rules", "total")

    def __init__(self) -> None:
        self.rules: list[RuleReport] = []
        self.problems: list[CelProblem] = []
        self.total = 0

    def all_problems(self) -> list[CelProblem]:
        """Return every problem, those of rules first."""
        return [p for rule in self.rules for p in rule.problems] + self.problems


class _Context:
    """What the server knows of a node on the way to its rules.

    Source: CELSchemaContext in apiextensions-apiserver.
    """

    __slots__ = ("_known", "_step", "always", "cardinality", "in_scope", "parent", "path", "schema")

    def __init__(self, schema: Schema, parent: _Context | None, step: Path) -> None:
        self.schema = schema
        self.parent = parent
        self._step = step
        self.path: Path = step if parent is None else parent.path + step
        self._known: Decl | str | None = None
        self.in_scope = bool(schema.get(_KEY))
        self.cardinality: int | None = 1
        # Below the fields that every resource has, the type depends on where the schema stands.
        self.always = False
        if parent is None:
            return
        self.in_scope = self.in_scope or parent.in_scope
        self.always = parent.always or (
            step[0] == "properties" and step[1] in ("metadata", "apiVersion", "kind")
        )
        factor = _elements(parent.schema)
        if parent.cardinality is None or factor is None:
            self.cardinality = None
        else:
            self.cardinality = multiply(parent.cardinality, factor)

    @property
    def root(self) -> bool:
        """Tell whether the type is made as that of a resource."""
        return self.parent is None or bool(self.schema.get("x-kubernetes-embedded-resource"))

    def declared(self, minor: int) -> Decl | str:
        """Return the declared type, or why there is none."""
        if self._known is None:
            self._known = self._declare(minor)
        return self._known

    def _declare(self, minor: int) -> Decl | str:
        if self.parent is not None and self.parent.in_scope:
            above = self.parent.declared(minor)
            if isinstance(above, str):
                return above
            found = self._of_parent(above)
            if found is not None:
                return found
        if not convertible(self.schema):
            return "the schema cannot be converted to a structural one"
        name = "self"
        return declare(self.schema, root=self.root, minor=minor, path=name) or (
            "CEL has no type for this schema"
        )

    def _of_parent(self, above: Decl) -> Decl | str | None:
        if self._step[0] != "properties":
            return above.elem or "CEL has no type for this schema"
        name = escape(str(self._step[1]))
        return None if name is None or above.fields is None else above.fields.get(name)


def _elements(schema: Schema) -> int | None:
    """Return by what a schema multiplies how often its children occur; None without a bound."""
    kind = schema.get("type")
    if kind == "object" and schema.get("additionalProperties") is not None:
        return limit(schema, "maxProperties")
    if kind == "array":
        return limit(schema, "maxItems")
    return 1


_INCONVERTIBLE = (
    "id",
    "$schema",
    "$ref",
    "patternProperties",
    "dependencies",
    "definitions",
)


def convertible(schema: Schema) -> bool:
    """Tell whether a schema can be converted to a structural one.

    Source: NewStructural in apiextensions-apiserver.
    """
    stack = [schema]
    while stack:
        node = stack.pop()
        if any(node.get(key) for key in _INCONVERTIBLE if key in node):
            return False
        if node.get("additionalItems") is not None:
            return False
        if node.get("x-kubernetes-preserve-unknown-fields") is False:
            return False
        items = node.get("items")
        if isinstance(items, list):
            return False
        stack += (node.get("properties") or {}).values()
        for value in (items, node.get("additionalProperties"), node.get("not")):
            if isinstance(value, dict):
                stack.append(value)
        for key in ("allOf", "anyOf", "oneOf"):
            stack += node.get(key) or ()
    return True


def check_schema(
    schema: Schema,
    *,
    minor: int,
    stored: Collection[str] = (),
    stored_messages: Collection[str] = (),
    blocked: Callable[[Path], bool] | None = None,
    unchanged: bool = False,
    compiles: bool = True,
    cache: Cache | None = None,
) -> SchemaReport:
    """Check all rules of a version's openAPIV3Schema as a server of this minor does.

    `stored` and `stored_messages` are the rules and messageExpressions of the CRD that is being
    replaced: these may use all that the server knows, new ones what the minor before knew.
    `blocked` says whether the server refuses keywords at or below a node, which stops CEL there.
    `unchanged` says that this version's schema is as before, so that only the total must be within
    its limit. Without `compiles` only the checks of the keyword stage run. A `cache` may be shared
    by the schemas of one CRD.
    """
    with deep():
        check = _Check(
            minor=minor,
            stored=stored,
            stored_messages=stored_messages,
            blocked=blocked,
            unchanged=unchanged,
            compiles=compiles,
            cache=cache or Cache(),
        )
        check.walk(_Context(schema, None, ()), None)
        check.total()
    return check.report


def keyword_problems(schema: Schema, *, minor: int) -> list[CelProblem]:
    """Return what the server says of a node's rules before it compiles any, junctors included."""
    check = _Check(
        minor=minor,
        stored=(),
        stored_messages=(),
        blocked=None,
        unchanged=False,
        compiles=False,
        cache=Cache(),
    )
    found: list[CelProblem] = []
    with deep():
        for i, rule in enumerate(schema.get(_KEY) or ()):
            found += check._keyword_problems((), schema, i, rule)
    return found


class _Check:
    """One walk over a schema."""

    def __init__(
        self,
        *,
        minor: int,
        stored: Collection[str],
        stored_messages: Collection[str],
        blocked: Callable[[Path], bool] | None,
        unchanged: bool,
        compiles: bool,
        cache: Cache,
    ) -> None:
        self.minor = minor
        self.cache = cache
        self.stored = stored
        self.stored_messages = stored_messages
        self.blocked = blocked
        self.unchanged = unchanged
        self.compiles = compiles
        self.report = SchemaReport()
        self._sum = 0  # of the rules that the server reaches
        self._dear: list[tuple[int, Path, Path]] = []

    # The walk.

    def walk(self, context: _Context, uncorrelatable: Path | None) -> bool:
        """Check a node and all below it; tell whether a keyword-stage check failed there."""
        schema = context.schema
        bad = False
        values = schema.get("additionalProperties")
        if isinstance(values, dict):
            bad |= self._child(context, values, ("additionalProperties",), uncorrelatable)
        fields = schema.get("properties")
        if fields:
            inner = uncorrelatable
            if inner is None and schema.get("x-kubernetes-map-type") not in (
                None,
                "granular",
                "atomic",
            ):
                inner = context.path
            for name, field in fields.items():
                bad |= self._child(context, field, ("properties", name), inner)
        items = schema.get("items")
        if isinstance(items, dict):
            inner = uncorrelatable
            if inner is None and schema.get("x-kubernetes-list-type") != "map":
                inner = context.path
            bad |= self._child(context, items, ("items",), inner)
        bad |= self._aside(context)
        rules = schema.get(_KEY)
        if rules:
            bad |= self._rules(context, rules, uncorrelatable, bad=bad)
        return bad

    def _child(
        self, context: _Context, schema: Any, step: Path, uncorrelatable: Path | None
    ) -> bool:
        if not isinstance(schema, dict):
            return False
        return self.walk(_Context(schema, context, step), uncorrelatable)

    def _aside(self, context: _Context) -> bool:
        """Check rules where none are compiled: below allOf and the like."""
        schema = context.schema
        stack: list[tuple[Path, Any]] = []

        def push(path: Path, node: Schema) -> None:
            for key in ("allOf", "anyOf", "oneOf"):
                for i, branch in enumerate(node.get(key) or ()):
                    stack.append(((*path, key, i), branch))
            if node.get("not") is not None:
                stack.append(((*path, "not"), node["not"]))
            for name, branch in (node.get("definitions") or {}).items():
                stack.append(((*path, "definitions", name), branch))
            if isinstance(node.get("items"), list):
                for i, branch in enumerate(node["items"]):
                    stack.append(((*path, "items", i), branch))

        push(context.path, schema)
        bad = False
        while stack:
            path, node = stack.pop()
            if not isinstance(node, dict):
                continue
            for i, rule in enumerate(node.get(_KEY) or ()):
                problems = self._keyword_problems(path, node, i, rule)
                self.report.problems += problems
                bad |= bool(problems)
            push(path, node)
            stack += [
                ((*path, "properties", name), branch)
                for name, branch in (node.get("properties") or {}).items()
            ]
            for key in ("items", "additionalProperties"):
                if isinstance(node.get(key), dict):
                    stack.append(((*path, key), node[key]))
        return bad

    # The rules of a node.

    def _rules(
        self, context: _Context, rules: list[Any], uncorrelatable: Path | None, *, bad: bool
    ) -> bool:
        path = context.path
        reports = []
        own_bad = False
        for i, rule in enumerate(rules):
            report = RuleReport(path, i, rule.get("rule") or "")
            report.problems = self._keyword_problems(path, context.schema, i, rule)
            own_bad |= bool(report.problems)
            reports.append(report)
        self.report.rules += reports
        if not self.compiles:
            return own_bad
        reached = not (bad or own_bad or (self.blocked is not None and self.blocked(path)))
        found = context.declared(self.minor)
        if isinstance(found, str):
            message = f"{found}, so its rules cannot be compiled"
            for report in reports:
                report.reached = reached
                report.fail(message)
            if reached:
                self.report.problems.append(
                    CelProblem("cel-no-type", "InternalError", path, (_KEY,), message)
                )
            return own_bad
        for report, rule in zip(reports, rules, strict=True):
            report.reached = reached
            report.decl = found
            problems = self._compile(context, report, rule, found, uncorrelatable)
            if reached:
                report.problems += problems
        return own_bad

    def _keyword_problems(
        self, path: Path, schema: Schema, index: int, rule: Mapping[str, Any]
    ) -> list[CelProblem]:
        """Return what the server says of a rule before it looks at CEL."""
        found: list[CelProblem] = []

        def say(rule_id: str, error_type: str, field: str, message: str) -> None:
            suffix = (_KEY, index, field)
            found.append(CelProblem(rule_id, error_type, path, suffix, message, stage=KEYWORDS))

        text = (rule.get("rule") or "").strip(_SPACE)
        message = rule.get("message") or ""
        trimmed = message.strip(_SPACE)
        if not text:
            say("cel-rule-required", "Required", "rule", "a rule is needed")
        elif message and not trimmed:
            say("cel-message-blank", "Invalid", "message", "the message is blank")
        elif _LINE_BREAK.search(trimmed):
            say("cel-message-newline", "Invalid", "message", "the message has a line break")
        elif _LINE_BREAK.search(text) and not trimmed:
            say(
                "cel-message-required",
                "Required",
                "message",
                "a rule with line breaks needs a message",
            )
        expression = rule.get("messageExpression") or ""
        if expression and not expression.strip(_SPACE) and self.minor >= _MESSAGE_EXPRESSION:
            say(
                "cel-message-expression-blank",
                "Required",
                "messageExpression",
                "the messageExpression is blank",
            )
        reason = rule.get("reason")
        if reason is not None and reason not in REASONS and self.minor >= _REASON:
            say(
                "cel-reason",
                "NotSupported",
                "reason",
                f"{reason!r} is not one of {', '.join(REASONS)}",
            )
        field_path = rule.get("fieldPath") or ""
        if field_path and self.minor >= _FIELD_PATH:
            if not field_path.strip(_SPACE):
                say("cel-field-path-blank", "Invalid", "fieldPath", "the fieldPath is blank")
            if _LINE_BREAK.search(field_path):
                say(
                    "cel-field-path-newline",
                    "Invalid",
                    "fieldPath",
                    "the fieldPath has a line break",
                )
            self._field_path(path, schema, index, field_path, found)
        return found

    def _field_path(
        self, path: Path, schema: Schema, index: int, field_path: str, found: list[CelProblem]
    ) -> None:
        suffix: Path = (_KEY, index, "fieldPath")
        try:
            if convertible(schema):
                fieldpath.check(field_path, schema)
        except fieldpath.FieldPathError as e:
            message = f"{field_path!r} leads to no field: {e}"
            found.append(
                CelProblem("cel-field-path", "Invalid", path, suffix, message, stage=KEYWORDS)
            )
        except fieldpath.FieldPathPanic:
            message = f"the API server fails on {field_path!r}, which steps through an open map"
            found.append(
                CelProblem("cel-field-path", "Panic", path, suffix, message, stage=KEYWORDS)
            )

    # Compiling.

    def _compile(
        self,
        context: _Context,
        report: RuleReport,
        rule: Mapping[str, Any],
        decl: Decl,
        uncorrelatable: Path | None,
    ) -> list[CelProblem]:
        path, i = report.path, report.index
        problems: list[CelProblem] = []
        optional = rule.get("optionalOldSelf") if self.minor >= _OPTIONAL_OLD_SELF else None

        def say(
            rule_id: str,
            error_type: str,
            field: str,
            message: str,
            at: tuple[int, int] | None = None,
        ) -> None:
            suffix = (_KEY, i, field)
            problems.append(CelProblem(rule_id, error_type, path, suffix, message, at=at))

        if not report.rule.strip(_SPACE):
            report.fail("there is no rule")
            done = Compiled()
        else:
            compat = self.minor if report.rule in self.stored else self.minor - 1
            done = self._expression(
                context, report.rule, decl, compat=compat, optional=optional is True
            )
            report.uses_old_self = done.uses_old_self
        if context.cardinality is None:
            report.bounded = False
            cardinality = MAX_REQUEST // (decl.min_size + 1)
        else:
            cardinality = context.cardinality
        cost = multiply(done.cost, cardinality)
        if done.error is not None:
            report.fail(done.error, done.at)
            rule_id, message = self._why(done, report.rule, decl, compat, optional is True)
            say(rule_id, "Invalid", "rule", message, done.at)
        elif report.ok:
            report.rule_cost, report.cardinality, report.cost = done.cost, cardinality, cost
        self._observe(report, path, (_KEY, i, "rule"), cost)
        if cost > RULE_LIMIT:
            report.over_budget = True
            if not self.unchanged:
                say("cel-rule-cost", "Forbidden", "rule", _too_dear("estimated rule cost", cost))
        if done.error is None and report.ok and self.minor >= _MESSAGE_EXPRESSION:
            self._message(context, report, rule, decl, say)
        if done.uses_old_self:
            if uncorrelatable is not None:
                message = "oldSelf is used where old and new items cannot be matched"
                report.fail(message)
                say("cel-old-self-uncorrelatable", "Invalid", "rule", message)
        elif optional is not None:
            message = "optionalOldSelf is set, but the rule does not use oldSelf"
            report.fail(message)
            say("cel-optional-old-self-unused", "Invalid", "optionalOldSelf", message)
        return problems

    def _message(
        self,
        context: _Context,
        report: RuleReport,
        rule: Mapping[str, Any],
        decl: Decl,
        say: Callable[..., None],
    ) -> None:
        text = rule.get("messageExpression") or ""
        if not text:
            return
        optional = rule.get("optionalOldSelf") is True and self.minor >= _OPTIONAL_OLD_SELF
        compat = self.minor if text in self.stored_messages else self.minor - 1
        done = self._expression(context, text, decl, compat=compat, optional=optional, message=True)
        if done.error is not None:
            report.message_error = done.error
            rule_id = (
                "cel-message-expression-string"
                if done.reason == compiling.RESULT
                else "cel-message-expression-compile"
            )
            say(rule_id, "Invalid", "messageExpression", done.error, done.at)
            return
        report.message_cost = done.cost
        suffix = (_KEY, report.index, "messageExpression")
        self._observe(report, report.path, suffix, done.cost)
        if done.cost > RULE_LIMIT:
            report.over_budget = True
            message = _too_dear("estimated messageExpression cost", done.cost)
            report.message_error = message
            if not self.unchanged:
                say("cel-message-expression-cost", "Forbidden", "messageExpression", message)

    def _observe(self, report: RuleReport, path: Path, suffix: Path, cost: int) -> None:
        self.report.total = add(self.report.total, cost)
        if report.reached:
            self._sum = add(self._sum, cost)
            if cost >= _NAMED_FROM:
                self._dear.append((cost, path, suffix))

    def _expression(
        self,
        context: _Context,
        text: str,
        decl: Decl,
        *,
        compat: int,
        optional: bool,
        message: bool = False,
    ) -> Compiled:
        wanted = STRING_TYPE if message else BOOL_TYPE
        key = (text, message, optional, compat, self.minor)
        known = None if context.always else self.cache.find(key, context)
        if known is None:
            known = compile_at(
                text, decl, wanted, compat=compat, minor=self.minor, optional_old_self=optional
            )
            if not context.always:
                self.cache.keep(key, context, known)
        return known

    def _why(
        self, done: Compiled, rule: str, decl: Decl, compat: int, optional: bool
    ) -> tuple[str, str]:
        """Return the rule id and the message for a rule that does not compile."""
        message = done.error or ""
        if done.reason == compiling.RESULT:
            return "cel-bool", message
        if done.reason == compiling.PROGRAM:
            return "cel-program", message
        if done.reason == compiling.LITERALS:
            return "cel-literals", message
        since = self._since(rule, decl, compat, optional=optional)
        if since is not None:
            more = f"new rules may use that from Kubernetes 1.{since + 1} on"
            return "cel-env-version", f"{message}; {more}"
        return "cel-compile", message

    def _since(self, rule: str, decl: Decl, compat: int, *, optional: bool) -> int | None:
        """Return the compatibility version from which a rule compiles, or None if it never does."""

        def compiles(later: int) -> bool:
            tried = compile_at(
                rule, decl, BOOL_TYPE, compat=later, minor=self.minor, optional_old_self=optional
            )
            return tried.error is None

        if compat >= _NEWEST or not compiles(_NEWEST):
            return None
        return next((v for v in range(compat + 1, _NEWEST) if compiles(v)), _NEWEST)

    def total(self) -> None:
        """Say that all rules together cost too much."""
        if self._sum <= TOTAL_LIMIT:
            return
        self._dear.sort(key=lambda entry: -entry[0])
        for cost, path, suffix in self._dear[:_NAMED]:
            share = factor(cost, TOTAL_LIMIT)
            message = f"{share} of what all rules of the schema may cost together is this one's"
            self.report.problems.append(
                CelProblem("cel-total-cost", "Forbidden", path, suffix, message)
            )
        message = _too_dear("estimated cost of all rules together", self._sum, TOTAL_LIMIT)
        self.report.problems.append(CelProblem("cel-total-cost", "Forbidden", (), (), message))


_NEWEST = 37  # the last compatibility version that brought something


class Cache:
    """Results of expressions at equal schemas, which must not change meanwhile.

    The versions of a CRD repeat most rules: one cache for all of them saves the most. It keeps the
    schemas alive, so let it go with the document.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[object, ...], list[tuple[Schema, bool, Compiled]]] = {}

    def find(self, key: tuple[object, ...], context: _Context) -> Compiled | None:
        """Return what became of the same expression at an equal schema before."""
        for schema, root, compiled in self._known.get(key, ()):
            if root == context.root and _equal(schema, context.schema):
                return compiled
        return None

    def keep(self, key: tuple[object, ...], context: _Context, compiled: Compiled) -> None:
        """Remember a result, for a few schemas an expression."""
        if len(self._known) >= _MOST_KEPT:
            self._known.clear()
        kept = self._known.setdefault(key, [])
        if len(kept) < _KEPT_EACH:
            kept.append((context.schema, context.root, compiled))


_MOST_KEPT = 4_000
_KEPT_EACH = 8
_COMPARED_DEPTH = 3_000


def _equal(a: Schema, b: Schema) -> bool:
    if a is b:
        return True
    # Comparing recurses through C, whose stack is smaller than what deep() allows.
    before = sys.getrecursionlimit()
    try:
        sys.setrecursionlimit(_COMPARED_DEPTH)
        return a == b
    except RecursionError:
        return False
    finally:
        sys.setrecursionlimit(before)


def factor(cost: int, most: int) -> str:
    """Return by what a cost exceeds its limit, as the server words it."""
    times = cost / most
    if times > 100:
        return "more than 100x"
    return f"{times:f}x" if times < 1.5 else f"{times:.1f}x"


def _too_dear(what: str, cost: int, most: int = RULE_LIMIT) -> str:
    return (
        f"{what} exceeds budget by factor of {factor(cost, most)} (try simplifying the rule, or "
        "adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are "
        "declared)"
    )
