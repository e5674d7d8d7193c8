"""How a check becomes a rule: `@lint`, and the tables that the engine dispatches by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from crdlint.tree import Place

    Check = Callable[..., Iterable["Problem"]]
    Problems = Iterator["Problem"]

# Stages of the server's own order; `server.py` knows who stops whom. ADVICE is never gated.
ADVICE = ""
SPEC = "spec"  # everything outside schemas; never gated
ROOT = "root"  # what the server says of a schema's root before it looks at keywords
KEYWORDS = "keywords"
CONVERT = "convert"  # what makes a schema inconvertible to a structural one
STRUCTURAL = "structural"
DEFAULTS = "defaults"
CEL = "cel"
WARN = "warn"  # what the server only warns of


class Problem:
    """What a check found: where, why, and what the server prints for it.

    `refused` has an entry for each server error: a type, whose field is the place as the server
    spells it, or a pair of type and Place, or a pair of type and field text. `related` names
    further places that matter, each with a few words. `rule` is needed only where one check
    speaks for several rules. `help` replaces the page's cure where the cure depends on the case.
    """

    __slots__ = ("help", "message", "place", "refused", "related", "rule", "stage")

    def __init__(
        self,
        place: Place,
        message: str,
        *,
        refused: Iterable[Any] = (),
        related: Iterable[tuple[Place, str]] = (),
        rule: str = "",
        help: str = "",  # noqa: A002 - the word users see in the JSON report
    ) -> None:
        self.place = place
        self.message = message
        self.refused = list(refused)
        self.related = list(related)
        self.rule = rule
        self.help = help
        self.stage = ADVICE


class Registered:
    """A check function, the rule ids it speaks for, and its stage."""

    __slots__ = ("deferred", "ids", "once", "run", "stage")

    def __init__(self, ids: tuple[str, ...], stage: str, run: Check, *, once: bool) -> None:
        self.ids = ids
        self.stage = stage
        self.run = run
        self.deferred = stage in (DEFAULTS, CEL)  # dear: only run when the server would
        self.once = once  # several keywords wake it, but it speaks for the whole node


LINT: dict[str, list[Registered]] = {}  # by "kind" or "kind.keyword"
ALL_IDS: dict[str, None] = {}  # every rule id that has a check, in the order of definition
_SET_CHECKS: list[Registered] = []


def lint(*ids: str, on: str, stage: str = ADVICE) -> Callable[[Check], Check]:
    """Register a check of one CRD.

    `on` is one or more of the kinds `crd`, `version`, `schema` (every schema node), `root` (of a
    version's schema), `spine` (outside of junctors) and `junctor` (below one): the check is called
    with each such node. `kind.keyword` calls it with each such node that has the keyword, and the
    keyword's value; where several keywords are named, once a node. Without a stage it is advice.
    """

    def keep(run: Check) -> Check:
        registered = Registered(ids, stage, run, once=" " in on)
        for key in on.split():
            LINT.setdefault(key, []).append(registered)
        ALL_IDS.update(dict.fromkeys(ids))
        return run

    return keep


def lint_set(*ids: str) -> Callable[[Check], Check]:
    """Register a check that looks at all CRDs of a run together, called with a list of Crd."""

    def keep(run: Check) -> Check:
        _SET_CHECKS.append(Registered(ids, ADVICE, run, once=True))
        ALL_IDS.update(dict.fromkeys(ids))
        return run

    return keep


def set_checks() -> list[Registered]:
    """Return the checks registered with `lint_set`."""
    return _SET_CHECKS


def declare(*ids: str) -> None:
    """Name rules that are found while reading, before any check runs (YAML, decoding)."""
    ALL_IDS.update(dict.fromkeys(ids))
