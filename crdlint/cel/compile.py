"""One expression at one type: does it compile, what does it cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crdlint.cel.check import Checker
from crdlint.cel.cost import Coster
from crdlint.cel.literals import ProgramError, fold, validate_aggregates, validate_calls
from crdlint.cel.parser import parse
from crdlint.cel.syntax import CelError, place
from crdlint.cel.types import optional_of

if TYPE_CHECKING:
    from crdlint.cel.syntax import Node
    from crdlint.cel.types import Decl, Type

OLD_SELF = "oldSelf"
_VALIDATORS_SINCE = 29

# Why an expression is refused.
SYNTAX, TYPES, LITERALS, RESULT, PROGRAM = "syntax", "types", "literals", "result", "program"


class Compiled:
    """What became of an expression.

    Without `error`: `cost` is the highest cost of one evaluation. With it: `reason` says at which
    step the server refuses, and `at` is line and column, from 1, in code points of the expression.
    `tree` is the checked expression.
    """

    __slots__ = ("at", "cost", "error", "reason", "tree", "uses_old_self")

    def __init__(self) -> None:
        self.error: str | None = None
        self.reason = ""
        self.at: tuple[int, int] | None = None
        self.cost = 0
        self.uses_old_self = False
        self.tree: Node | None = None

    def refuse(self, reason: str, error: CelError, text: str) -> Compiled:
        """Note why the server refuses."""
        self.reason = reason
        self.error = error.message
        self.at = place(text, error.offset)
        return self


def compile_at(
    text: str,
    decl: Decl,
    wanted: Type,
    *,
    compat: int,
    minor: int,
    optional_old_self: bool,
    seen: set[tuple[str, ...]] | None = None,
) -> Compiled:
    """Compile an expression over `self` of a declared type, and estimate its cost.

    `compat` is the minor whose libraries it may use, `minor` the server's own, `wanted` the type
    that the expression must give. `seen` takes the ways through the declared type whose bounds the
    estimate looked at. Source: compileRule in apiextensions-apiserver.
    """
    done = check_at(
        text, decl, wanted, compat=compat, minor=minor, optional_old_self=optional_old_self
    )
    if done.tree is not None:
        coster = Coster(decl, minor)
        coster.seen = seen
        done.cost = coster.cost(done.tree)
    return done


def check_at(
    text: str,
    decl: Decl,
    wanted: Type,
    *,
    compat: int,
    minor: int,
    optional_old_self: bool,
) -> Compiled:
    """Compile an expression like `compile_at`, without what it costs."""
    done = Compiled()
    old = optional_of(decl.type) if optional_old_self else decl.type
    checker = Checker(compat, {"self": decl.type, OLD_SELF: old}, minor)
    try:
        tree = parse(text, compat)
    except CelError as e:
        return done.refuse(SYNTAX, e, text)
    try:
        found = checker.check(tree)
    except CelError as e:
        return done.refuse(TYPES, e, text)
    try:
        if compat >= _VALIDATORS_SINCE:
            validate_calls(checker.calls)
        if minor >= _VALIDATORS_SINCE:
            validate_aggregates(checker.aggregates)
    except CelError as e:
        return done.refuse(LITERALS, e, text)
    if found is not wanted:
        return done.refuse(
            RESULT, CelError(f"the result is of type {found}, not {wanted}", 0), text
        )
    done.uses_old_self = OLD_SELF in checker.used
    try:
        fold(checker.calls)
    except ProgramError as e:
        return done.refuse(PROGRAM, e, text)
    done.tree = tree
    return done
