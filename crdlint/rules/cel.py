"""x-kubernetes-validations: whether its rules are well formed, compile, and can be afforded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdlint.rule import CEL, KEYWORDS, Problem, lint
from crdlint.tree import Place, same_schemas

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crdlint.cel.rulereport import RuleReport
    from crdlint.document import Path
    from crdlint.rule import Problems
    from crdlint.tree import Crd, Node

RULES = "x-kubernetes-validations"

# Which page speaks of which check of the server.
PAGES = {
    "cel-rule-required": "cel-rule-form",
    "cel-message-blank": "cel-rule-form",
    "cel-message-newline": "cel-rule-form",
    "cel-message-required": "cel-rule-form",
    "cel-message-expression-blank": "cel-rule-form",
    "cel-reason": "cel-rule-form",
    "cel-field-path-blank": "cel-rule-form",
    "cel-field-path-newline": "cel-rule-form",
    "cel-field-path": "cel-field-path",
    "cel-compile": "cel-compile",
    "cel-bool": "cel-compile",
    "cel-program": "cel-compile",
    "cel-literals": "cel-compile",
    "cel-message-expression-compile": "cel-compile",
    "cel-message-expression-string": "cel-compile",
    "cel-no-type": "cel-compile",
    "cel-env-version": "cel-env-version",
    "cel-rule-cost": "cel-cost",
    "cel-message-expression-cost": "cel-cost",
    "cel-total-cost": "cel-cost",
    "cel-old-self-uncorrelatable": "cel-old-self",
    "cel-optional-old-self-unused": "cel-old-self",
}


@lint("cel-rule-form", "cel-field-path", on=f"schema.{RULES}", stage=KEYWORDS)
def rule_form(node: Node, rules: list[Any]) -> Problems:
    """Refuse rules without text, and wrong messages, reasons and field paths.

    Source: ValidateCustomResourceDefinitionOpenAPISchema.
    """
    if not rules:
        return
    from crdlint.cel.rulekeywords import keyword_problems

    for found in keyword_problems(node.data, minor=node.crd.minor):
        refused = [(found.type, "")] if found.type == "Panic" else [found.type]
        yield Problem(node.at(*found.suffix), found.message, rule=PAGES[found.id], refused=refused)


@lint(
    "cel-compile",
    "cel-env-version",
    "cel-cost",
    "cel-old-self",
    "cel-int-or-string-guard",
    on=f"spine.{RULES}",
    stage=CEL,
)
def rules_compile(node: Node, rules: list[Any]) -> Problems:
    """Refuse rules that do not compile, that cost too much, or that use oldSelf where none is.

    All rules of a schema are judged together, at the first of them: the budget is shared.
    Source: ValidateCustomResourceDefinitionOpenAPISchema and cel.Compile.
    """
    root, crd = node.root, node.crd
    if not rules or ("cel", root.path) in crd.judged:
        return
    crd.judged.add(("cel", root.path))
    from crdlint.cel.context import Cache
    from crdlint.cel.rules import check_schema

    base = len(root.path)
    refused_at = [path[base:] for path in crd.refused_at if path[:base] == root.path]

    def blocked(path: Path) -> bool:
        return any(refused[: len(path)] == path for refused in refused_at)

    stored, stored_messages = _expressions(crd.old)
    report = check_schema(
        root.data,
        minor=crd.minor,
        stored=stored,
        stored_messages=stored_messages,
        blocked=blocked,
        unchanged=_unchanged(root),
        cache=crd.kept.setdefault("cel", Cache()),
    )
    problems = [p for rule in report.rules if rule.reached for p in rule.problems]
    for found in [*problems, *report.problems]:
        if found.stage == CEL:
            place = Place(root, (*found.path, *found.suffix), found.at)
            rule = PAGES[found.id]
            yield Problem(place, found.message, rule=rule, refused=[found.type])
    yield from _one_sided(root, report.rules)


def _one_sided(root: Node, rules: list[RuleReport]) -> Problems:
    """Warn of rules that fail for one form of an int-or-string value, which no one sees on create.

    The server knows such a value as dyn, so the rule compiles, and objects are refused for it.
    """
    from crdlint.cel.guards import holds_either, misfits

    either: dict[int, bool] = {}  # by declared type: the rules of a node share it
    for report in rules:
        decl = report.decl
        if decl is None or not report.ok:
            continue
        if either.setdefault(id(decl), holds_either(decl)):
            for misfit in misfits(report.rule, decl, minor=root.crd.minor):
                given = "a number" if misfit.fails == ["int"] else "a text"
                if len(misfit.fails) == 2:
                    given = "either form"
                message = (
                    f"{misfit.value} is int-or-string, and {misfit.call} fails on {given},"
                    " so objects with it are refused"
                )
                place = root.at(*report.path, RULES, report.index, "rule")
                yield Problem(place, message, rule="cel-int-or-string-guard")


def _expressions(old: Crd | None) -> tuple[frozenset[str], frozenset[str]]:
    """Return the rules and messageExpressions of a stored CRD: these compile as they did."""
    rules = [rule for schema in (old.schemas if old else ()) for rule in _rules(schema.data)]
    return (
        frozenset(rule.get("rule") or "" for rule in rules),
        frozenset(rule["messageExpression"] for rule in rules if rule.get("messageExpression")),
    )


def _rules(schema: Any) -> Iterator[dict[str, Any]]:
    """Yield every rule in a schema, at any place."""
    stack = [schema]
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            if isinstance(rules := value.get(RULES), list):
                yield from (rule for rule in rules if isinstance(rule, dict))
            stack += value.values()
        elif isinstance(value, list):
            stack += value


def _unchanged(root: Node) -> bool:
    """Tell whether the stored CRD has the same schema in this version."""
    old, version = root.crd.old, root.version
    if old is None or version is None:
        return False
    return any(
        stored.get("name") == version.get("name")
        and same_schemas(stored.get("schema"), version.get("schema"))
        for stored in old.versions
    )
