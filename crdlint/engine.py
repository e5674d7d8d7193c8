"""One walk over a CRD feeds every lint check."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdlint import rules, server
from crdlint.keywords import HOLDS, JUNCTORS, NOT_WALKED
from crdlint.rule import ADVICE, CEL, DEFAULTS, LINT, SPEC, WARN, Problem, Registered
from crdlint.tree import Node, held

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crdlint.tree import Crd

rules.load()

_UNGATED = (ADVICE, SPEC, WARN)
_DEFERRED = (DEFAULTS, CEL)
# One entry a keyword: its checks, and whether it holds schemas (1), or schemas of a junctor (2).
Table = dict[str, tuple[tuple[Registered, ...], int]]


class CheckError(Exception):
    """A check raised: a defect of crdlint, reported as a finding instead of ending the run."""

    def __init__(self, problem: Problem, cause: Exception) -> None:
        super().__init__(str(cause))
        self.problem = problem


def _table(*kinds: str) -> tuple[Table, tuple[Registered, ...]]:
    """Merge the checks of some kinds of node into one table by keyword, and those of every node."""
    always: list[Registered] = []
    checks: dict[str, list[Registered]] = {}
    for on, registered in LINT.items():
        kind, _, key = on.partition(".")
        if kind in kinds:
            if key:
                checks.setdefault(key, []).extend(registered)
            else:
                always += registered
    keys = checks.keys() | (HOLDS.keys() - NOT_WALKED)
    holds = {k: 2 if k in JUNCTORS else 1 for k in HOLDS if k not in NOT_WALKED}
    return {k: (tuple(checks.get(k, ())), holds.get(k, 0)) for k in keys}, tuple(always)


_TABLES = {
    "crd": _table("crd"),
    "version": _table("version"),
    "root": _table("schema", "spine", "root"),
    "spine": _table("schema", "spine"),
    "junctor": _table("schema", "junctor"),
}


def lint(crd: Crd) -> list[Problem]:
    """Run every lint check over one CRD, and keep what the server would get to say."""
    problems: list[Problem] = []
    for node in (crd.root, *crd.root.children()):
        table, always = _TABLES[node.kind]
        _visit(node, table, always, problems, problems)
    for root in crd.schemas:
        problems += _schema(root)
    return server.settle(crd, problems)


def _schema(root: Node) -> list[Problem]:
    """Run the checks of one schema, stage by stage."""
    found: list[Problem] = []
    waiting: list[tuple[Registered, Node, Any]] = []
    stack = [root]
    tables = _TABLES["root"]
    spine, junctor = _TABLES["spine"], _TABLES["junctor"]
    while stack:
        node = stack.pop()
        _visit(node, *tables, found, waiting, stack)
        if stack:
            tables = junctor if stack[-1].junctor else spine
    stages: dict[str, list[Problem]] = {}
    for problem in found:
        stages.setdefault(problem.stage, []).append(problem)
    free = [p for stage in _UNGATED for p in stages.pop(stage, ())]

    def deferred(stage: str) -> Iterator[Problem]:
        for check, node, value in waiting:
            if check.stage == stage:
                yield from _run(check, node, value)

    return server.gate(stages, deferred) + free


_NO_VALUE: Any = object()


def _visit(
    node: Node,
    table: Table,
    always: tuple[Registered, ...],
    found: list[Problem],
    waiting: list[Any],
    stack: list[Node] | None = None,
) -> None:
    """Run the checks that a node wakes, put off the deferred ones, and push its subschemas."""
    seen: list[Registered] | None = None
    for check in always:
        if check.stage in _DEFERRED:
            waiting.append((check, node, _NO_VALUE))
        else:
            found += _run(check, node, _NO_VALUE)
    for key, value in node.data.items():
        entry = table.get(key)
        if entry is None:
            continue
        checks, holds = entry
        for check in checks:
            if check.once:
                if seen is None:
                    seen = []
                elif check in seen:
                    continue
                seen.append(check)
            if check.stage in _DEFERRED:
                waiting.append((check, node, value))
            else:
                found += _run(check, node, value)
        if holds and stack is not None:
            junctor = node.junctor or holds == 2
            for step, schema in held(key, value):
                stack.append(Node("schema", schema, step, node, node.crd, junctor))


def _run(check: Registered, node: Node, value: Any) -> Iterable[Problem]:
    """Run one check on one node; what it raises becomes a problem of its own."""
    problems: Iterable[Problem] = ()
    try:
        run = check.run(node) if value is _NO_VALUE else check.run(node, value)
        problems = list(run)
    except Exception as error:  # noqa: BLE001 - a defect in one rule must not hide the others
        message = f"the check of {', '.join(check.ids)} failed: {type(error).__name__}: {error}"
        problem = Problem(node.at(), message, rule="internal-error")
        return (problem,)
    for problem in problems:
        problem.rule = problem.rule or check.ids[0]
        problem.stage = check.stage
    return problems
