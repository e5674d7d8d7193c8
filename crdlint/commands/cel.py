"""The `cel` command: what every rule costs, and which bounds would make a dear one cheap."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from crdlint import options, settings
from crdlint.helping import Command

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crdlint.cel.rulereport import RuleReport
    from crdlint.reading import Subject
    from crdlint.source import Source
    from crdlint.tree import Crd, Node

RULES = "x-kubernetes-validations"
SUGGEST_FROM = 0.5  # of the budget of a rule


@click.command(
    cls=Command,
    short_help="Show what each CEL rule costs, and which bounds would help.",
    examples=(
        ("crdlint cel config/crd", "every rule, the dearest first"),
        ("crdlint cel --all-versions crd.yaml", "and which servers take it"),
    ),
    statuses=(
        ("0", "every rule compiles within its budget"),
        ("1", "one does not"),
        ("2", "wrong usage, or input that cannot be read"),
    ),
)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option(
    "--kubernetes-version",
    "minors",
    metavar="VERSION",
    callback=options.minors,
    help="API server to speak for, such as 1.30; of a range the newest. Default: what the"
    " configuration says, else the newest.",
)
@click.option("--all-versions", is_flag=True, help="Say which servers take each rule.")
@options.style("text", "json")
def cel(paths: tuple[str, ...], minors: list[int] | None, all_versions: bool, style: str) -> int:
    """Show the estimated cost of every x-kubernetes-validations rule, and its share of the budget.

    Rules over budget, or above half of it, come with the smallest bounds that make them affordable.
    """
    from crdlint import kubernetes, source

    minor = (settings.servers(minors, paths) or [kubernetes.NEWEST])[-1]
    report = inspect(source.find(paths), minor, all_versions=all_versions)
    for line in report["errors"]:
        click.echo(f"error: {line}", err=True)
    if style == "json":
        import json

        shown = {key: value for key, value in report.items() if key != "errors"}
        click.echo(json.dumps({"version": 1, **shown}, indent=1))
    else:
        click.echo("\n".join(_lines(report)))
    if report["errors"]:
        return options.WRONG
    return int(any(rule["overBudget"] or not rule["ok"] for rule in report["rules"]))


def inspect(
    sources: Iterable[Source], minor: int, *, all_versions: bool = False
) -> dict[str, list[Any]]:
    """Return each rule of some sources with its cost, each schema with its total, and errors.

    Rules that the server would not reach, since something else is refused, are listed as well.
    """
    from crdlint import document, reading
    from crdlint.source import SourceError

    rules: list[dict[str, Any]] = []
    schemas: list[dict[str, Any]] = []
    errors: list[str] = []
    for source in sources:
        try:
            data = source.read()
        except SourceError as error:
            errors.append(str(error))
            continue
        for part in document.read(data, source.name, wanted=reading.WANTED):
            if part.skipped:
                continue
            for subject in reading.subjects(part, minor):
                if subject.crd is None:
                    subject.read_v1beta1(minor)
                if subject.crd is None:
                    errors += _unread(subject)
                    continue
                for root in subject.crd.schemas:
                    _schema(subject, root, rules, schemas, all_versions=all_versions)
    return {"rules": rules, "schemas": schemas, "errors": errors}


def _unread(subject: Subject) -> Iterator[str]:
    """Say why a CRD cannot be looked into; a part of one, or a template, is none to look into."""
    for hit in subject.hits:
        if hit.claims:
            at = f"{subject.document.name}:{hit.span.line}"
            yield f"{at}: this CRD cannot be read: {hit.message}; `crdlint lint` shows the place"
            return


def _schema(
    subject: Subject,
    root: Node,
    rules: list[dict[str, Any]],
    schemas: list[dict[str, Any]],
    *,
    all_versions: bool,
) -> None:
    from crdlint.cel.rules import TOTAL_LIMIT, check_schema

    crd = root.crd
    where = {"file": subject.document.name, "document": subject.document.index, "crd": subject.name}
    if subject.item is not None:
        where["item"] = subject.item
    report = check_schema(root.data, minor=crd.minor)
    takers = _takers(root) if all_versions else {}
    for rule in report.rules:
        span = subject.locate((*root.path, *rule.path, RULES, rule.index, "rule"), within=rule.at)
        entry: dict[str, Any] = {
            **where,
            "line": span.line,
            "column": span.column,
            "path": _path(crd, root, rule),
            "rule": rule.rule,
            "ok": rule.ok,
            "error": rule.error,
            "ruleCost": rule.rule_cost,
            "cardinality": rule.cardinality,
            "multipliedBy": _multipliers(root, rule),
            "cost": rule.cost,
            "overBudget": rule.over_budget,
            "bounds": _bounds(root, rule),
        }
        if all_versions:
            entry["servers"] = takers.get((rule.path, rule.index), "")
        rules.append(entry)
    if report.rules:
        total = report.total
        path = _spell(crd, root.path)
        schemas.append({**where, "path": path, "cost": total, "overBudget": total > TOTAL_LIMIT})


def _takers(root: Node) -> dict[tuple[Any, int], str]:
    """Return which servers compile each rule within its budget."""
    from crdlint import kubernetes
    from crdlint.cel.rules import check_schema

    found: dict[tuple[Any, int], list[int]] = {}
    for minor in range(kubernetes.OLDEST, kubernetes.NEWEST + 1):
        for rule in check_schema(root.data, minor=minor).rules:
            minors = found.setdefault((rule.path, rule.index), [])
            if rule.ok and not rule.over_budget:
                minors.append(minor)
    return {key: kubernetes.spell_minors(minors) for key, minors in found.items()}


def _path(crd: Crd, root: Node, rule: RuleReport) -> str:
    return _spell(crd, (*root.path, *rule.path, RULES, rule.index))


def _spell(crd: Crd, path: Any) -> str:
    """Spell a path in the v1 file, with `*` for the version where several share the schema."""
    from crdlint import server

    shared = len(crd.versions) > 1 and crd.hoisted("schema")
    steps = [*path[:2], "*" if shared else path[2], *path[3:]]
    text = server.join(("spec", "versions", 0, *steps[3:]))
    return text.replace("versions[0]", f"versions[{steps[2]}]", 1)


def _multipliers(root: Node, rule: RuleReport) -> list[dict[str, Any]]:
    """Return the lists and maps for each of whose items the rule runs."""
    from crdlint.cel.context import multipliers

    return [
        {"field": _field(root, one.path), "keyword": one.keyword, "value": one.most}
        for one in multipliers(root.data, rule.path)
    ]


def _bounds(root: Node, rule: RuleReport) -> list[dict[str, Any]]:
    """Return the ways to bring a dear rule under its limit, re-estimated."""
    from crdlint.cel import bounds
    from crdlint.cel.rules import RULE_LIMIT

    if not rule.ok or (rule.cost or 0) < RULE_LIMIT * SUGGEST_FROM:
        return []
    most = RULE_LIMIT if rule.over_budget else int(RULE_LIMIT * SUGGEST_FROM)
    found = []
    for way in bounds.suggest(root.data, rule, minor=root.crd.minor, most=most):
        changes = [
            {
                "field": _field(root, bound.path),
                "keyword": bound.keyword,
                "value": bound.value,
                "before": bound.before,
            }
            for bound in way.bounds
        ]
        found.append({"set": changes, "cost": way.cost})
    return found


def _field(root: Node, path: Any) -> str:
    from crdlint import reading

    return reading.people_write((*root.path, *path))


def _lines(report: dict[str, list[Any]]) -> Iterator[str]:
    """Yield the text report: the dearest rules first, each with what it is multiplied by."""
    from crdlint.cel.rules import RULE_LIMIT, TOTAL_LIMIT

    broken = [rule for rule in report["rules"] if not rule["ok"]]
    priced = sorted((r for r in report["rules"] if r["ok"]), key=lambda r: -(r["cost"] or 0))
    for rule in broken:
        yield f"{_place(rule)}: {rule['path']}: {rule['error']}"
        yield f"    {' '.join(rule['rule'].split())[:120]}"
    for rule in priced:
        cost = rule["cost"] or 0
        over = ", over budget" if rule["overBudget"] else ""
        servers = f", servers {rule['servers'] or 'none'}" if "servers" in rule else ""
        yield (
            f"{cost / RULE_LIMIT:8.1%} {rule['ruleCost']:,} x {rule['cardinality']:,}{over}"
            f"{servers}  {_place(rule)}: {rule['path']}"
        )
        yield f"    {' '.join(rule['rule'].split())[:120]}"
        if rule["multipliedBy"]:
            yield f"    runs once {', '.join(map(_multiplied, rule['multipliedBy']))}"
        for way in rule["bounds"]:
            changes = ", ".join(f"{c['keyword']}: {c['value']} on {c['field']}" for c in way["set"])
            yield f"    with {changes} it costs {way['cost'] / RULE_LIMIT:.1%}"
    for schema in report["schemas"]:
        over = ", over budget" if schema["overBudget"] else ""
        share = schema["cost"] / TOTAL_LIMIT
        yield f"{share:8.1%} of a schema's budget{over}  {schema['file']}: {schema['path']}"
    rules = len(report["rules"])
    said = f"{rules or 'no'} {'rule' if rules == 1 else 'rules'}"
    if broken:
        said += f", {len(broken)} {'does' if len(broken) == 1 else 'do'} not compile"
    yield said


def _place(rule: dict[str, Any]) -> str:
    return f"{rule['file']}:{rule['line']}:{rule['column']}"


def _multiplied(by: dict[str, Any]) -> str:
    bound = f"{by['keyword']} {by['value']:,}" if by["value"] is not None else f"no {by['keyword']}"
    return f"for each of {by['field'] or 'the object'} ({bound})"
