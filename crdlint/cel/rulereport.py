"""What the server says of rules: problems, and a report for each rule and schema."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crdlint.cel.types import Decl

    Path = tuple[str | int, ...]

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
