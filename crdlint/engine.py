"""One walk over a CRD feeds every lint check."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdlint import rules, server
from crdlint.keywords import HOLDS, JUNCTORS, NOT_WALKED
from crdlint.rule import ADVICE, LINT, SPEC, WARN, Problem, Registered
from crdlint.tree import Node, held

if TYPE_CHECKING:
    from crdlint.tree import Crd

rules.load()

_UNGATED = (ADVICE, SPEC, WARN)
# One entry a keyword: its checks, and whether it holds schemas (1), or schemas of a junctor (2).
Table = dict[str, tuple[tuple[Registered, ...], int]]
Tables = dict[str, tuple[Table, tuple[Registered, ...]]]


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


def _tables() -> Tables:
    """Return the checks registered so far, by the kind of node that they look at."""
    return {
        "crd": _table("crd"),
        "version": _table("version"),
        "root": _table("schema", "spine", "root"),
        "spine": _table("schema", "spine"),
        "junctor": _table("schema", "junctor"),
    }


# Those of every profile, and, once they are wanted, those with the conventions.
_TABLES: dict[bool, Tables] = {False: _tables()}


def lint(crd: Crd, *, conventions: bool = False) -> list[Problem]:
    """Run every lint check over one CRD, and keep what the server would get to say.

    The checks of the conventions, which no rule of the default profile needs, run only on request.
    """
    if conventions and True not in _TABLES:
        rules.load_conventions()
        _TABLES[True] = _tables()
    tables = _TABLES[conventions]
    visit = _Visit()
    for node in (crd.root, *crd.root.children()):
        visit.node(node, *tables[node.kind], None)
    problems = visit.found
    for root in crd.schemas:
        problems += _schema(root, tables)
    return server.settle(crd, problems)


def _schema(root: Node, tables: Tables) -> list[Problem]:
    """Run the checks of one schema, stage by stage."""
    visit = _Visit()
    stack: list[Node] = []
    spine, junctor = tables["spine"], tables["junctor"]
    visit.node(root, *tables["root"], stack)
    while stack:
        node = stack.pop()
        visit.node(node, *(junctor if node.junctor else spine), stack)
    stages: dict[str, list[Problem]] = {}
    for problem in visit.found:
        stages.setdefault(problem.stage, []).append(problem)
    free = [p for stage in _UNGATED for p in stages.pop(stage, ())]
    return server.gate(stages, visit.deferred) + free


_NO_VALUE: Any = object()


class _Visit:
    """What a walk gathers: problems found, and checks put off until the server would run them."""

    __slots__ = ("found", "waiting")

    def __init__(self) -> None:
        self.found: list[Problem] = []
        self.waiting: list[tuple[Registered, Node, Any]] = []

    def node(
        self,
        node: Node,
        table: Table,
        always: tuple[Registered, ...],
        stack: list[Node] | None,
    ) -> None:
        """Run the checks that a node wakes, and push its subschemas on the stack.

        This is the innermost loop of a run: a node costs one look-up a keyword.
        """
        for check in always:
            self.check(check, node, _NO_VALUE)
        once: list[Registered] | None = None
        for key, value in node.data.items():
            entry = table.get(key)
            if entry is None:
                continue
            checks, holds = entry
            for check in checks:
                if check.once:
                    if once is None:
                        once = []
                    elif check in once:
                        continue
                    once.append(check)
                self.check(check, node, value)
            if holds and stack is not None:
                junctor = node.junctor or holds == 2
                for step, schema in held(key, value):
                    stack.append(Node("schema", schema, step, node, node.crd, junctor))

    def check(self, check: Registered, node: Node, value: Any) -> None:
        """Run one check on one node, or put it off."""
        if check.deferred:
            self.waiting.append((check, node, value))
        else:
            self.run(check, node, value)

    def run(self, check: Registered, node: Node, value: Any) -> None:
        """Run one check on one node; what it raises becomes a problem of its own."""
        try:
            for problem in check.run(node) if value is _NO_VALUE else check.run(node, value):
                problem.rule = problem.rule or check.ids[0]
                problem.stage = check.stage
                self.found.append(problem)
        except Exception as error:  # noqa: BLE001 - a defect in one rule must not hide the others
            message = f"the check of {', '.join(check.ids)} failed: {type(error).__name__}: {error}"
            self.found.append(Problem(node.at(), message, rule="internal-error"))

    def deferred(self, stage: str) -> list[Problem]:
        """Run the checks of a stage that were put off, and return what they found."""
        before = len(self.found)
        for check, node, value in self.waiting:
            if check.stage == stage:
                self.run(check, node, value)
        found = self.found[before:]
        del self.found[before:]
        return found
