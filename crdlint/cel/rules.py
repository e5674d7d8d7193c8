"""Everything that the API server checks on the rules of a schema."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdlint.cel import compile as compiling
from crdlint.cel.compile import Compiled, compile_at
from crdlint.cel.context import RULES, Cache, Context
from crdlint.cel.libcost import add, multiply
from crdlint.cel.rulekeywords import SPACE, rule_problems
from crdlint.cel.rulereport import CelProblem, RuleReport, SchemaReport
from crdlint.cel.syntax import deep
from crdlint.cel.types import BOOL_TYPE, MAX_REQUEST, STRING_TYPE, Decl

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    Path = tuple[str | int, ...]
    Schema = Mapping[str, Any]

RULE_LIMIT = 10_000_000  # highest estimated cost of one rule, times how often it may run
TOTAL_LIMIT = 100_000_000  # of all rules of one version's schema
_NAMED_FROM = TOTAL_LIMIT // 100  # rules of at least this cost are named when the total is too high
_NAMED = 4

# The minors that brought fields of a rule; older servers drop them.
_MESSAGE_EXPRESSION, _OPTIONAL_OLD_SELF = 27, 30


def check_schema(
    schema: Schema,
    *,
    minor: int,
    stored: Collection[str] = (),
    stored_messages: Collection[str] = (),
    blocked: Callable[[Path], bool] | None = None,
    unchanged: bool = False,
    cache: Cache | None = None,
) -> SchemaReport:
    """Check all rules of a version's openAPIV3Schema as a server of this minor does.

    `stored` and `stored_messages` are the rules and messageExpressions of the CRD that is being
    replaced: these may use all that the server knows, new ones what the minor before knew.
    `blocked` says whether the server refuses keywords at or below a node, which stops CEL there.
    `unchanged` says that this version's schema is as before, so that only the total must be within
    its limit. A `cache` may be shared by the schemas of one CRD.
    """
    with deep():
        check = _Check(
            minor=minor,
            stored=stored,
            stored_messages=stored_messages,
            blocked=blocked,
            unchanged=unchanged,
            cache=cache or Cache(),
        )
        check.walk(Context(schema, None, ()), None)
        check.total()
    return check.report


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
        cache: Cache,
    ) -> None:
        self.minor = minor
        self.cache = cache
        self.stored = stored
        self.stored_messages = stored_messages
        self.blocked = blocked
        self.unchanged = unchanged
        self.report = SchemaReport()
        self._sum = 0  # of the rules that the server reaches
        self._dear: list[tuple[int, Path, Path]] = []

    # The walk.

    def walk(self, context: Context, uncorrelatable: Path | None) -> bool:
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
        rules = schema.get(RULES)
        if rules:
            bad |= self._rules(context, rules, uncorrelatable, bad=bad)
        return bad

    def _child(
        self, context: Context, schema: Any, step: Path, uncorrelatable: Path | None
    ) -> bool:
        if not isinstance(schema, dict):
            return False
        return self.walk(Context(schema, context, step), uncorrelatable)

    def _aside(self, context: Context) -> bool:
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
            for i, rule in enumerate(node.get(RULES) or ()):
                problems = rule_problems(path, node, i, rule, self.minor)
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
        self, context: Context, rules: list[Any], uncorrelatable: Path | None, *, bad: bool
    ) -> bool:
        path = context.path
        reports = []
        own_bad = False
        for i, rule in enumerate(rules):
            report = RuleReport(path, i, rule.get("rule") or "")
            report.problems = rule_problems(path, context.schema, i, rule, self.minor)
            own_bad |= bool(report.problems)
            reports.append(report)
        self.report.rules += reports
        reached = not (bad or own_bad or (self.blocked is not None and self.blocked(path)))
        found = context.declared(self.minor)
        if isinstance(found, str):
            message = f"{found}, so its rules cannot be compiled"
            for report in reports:
                report.reached = reached
                report.fail(message)
            if reached:
                self.report.problems.append(
                    CelProblem("cel-no-type", "InternalError", path, (RULES,), message)
                )
            return own_bad
        for report, rule in zip(reports, rules, strict=True):
            report.reached = reached
            report.decl = found
            problems = self._compile(context, report, rule, found, uncorrelatable)
            if reached:
                report.problems += problems
        return own_bad

    # Compiling.

    def _compile(
        self,
        context: Context,
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
            suffix = (RULES, i, field)
            problems.append(CelProblem(rule_id, error_type, path, suffix, message, at=at))

        if not report.rule.strip(SPACE):
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
        self._observe(report, path, (RULES, i, "rule"), cost)
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
        context: Context,
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
        suffix = (RULES, report.index, "messageExpression")
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
        context: Context,
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
