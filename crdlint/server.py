"""The server's own order: who stops whom, and how it spells a field."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdlint.rule import CEL, CONVERT, DEFAULTS, KEYWORDS, ROOT, STRUCTURAL, WARN
from crdlint.tree import HOISTED, Place

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from crdlint.document import Path
    from crdlint.rule import Problem
    from crdlint.tree import Crd

# When one of these is said, nothing else is.
ALONE = frozenset(("DecodeError", "NotServed", "Panic"))
AFTER_VALIDATION = "BadRequest"  # storage says it, so only of what is valid
_KEYED = frozenset(
    ("properties", "definitions", "dependencies", "patternProperties", "labels", "annotations")
)
_TOP = {"schema": "validation"}  # what a hoisted part is called at the top of spec


def spell(crd: Crd, path: Path) -> str:
    """Spell the way to a place as the API server prints it.

    The server works on an internal type: parts on which all versions agree stand at the top of
    spec there, and a few fields have other names.
    """
    part = str(path[3]) if len(path) > 3 else ""
    if path[:2] == ("spec", "versions") and part in HOISTED and crd.hoisted(part):
        path = ("spec", _TOP.get(part, part), *path[4:])
    elif path[:3] == ("spec", "conversion", "webhook") and len(path) > 3:
        name = "webhookClientConfig" if path[3] == "clientConfig" else str(path[3])
        path = ("spec", "conversion", name, *path[4:])
    if "additionalPrinterColumns" in path[1:4] and path[-1] == "jsonPath":
        path = (*path[:-1], "JSONPath")
    return join(path)


def join(path: Path) -> str:
    """Spell a path as Go's field.Path does: `a.b[0].properties[key]`."""
    parts: list[str] = []
    named = False
    for step in path:
        if isinstance(step, int) or named:
            parts.append(f"[{step}]")
            named = False
        else:
            parts.append(f".{step}" if parts else str(step))
            named = step in _KEYED
    return "".join(parts)


def claims(crd: Crd, problem: Problem) -> list[tuple[str, str]]:
    """Return what the server prints for a problem: (type, field) pairs."""
    found = []
    for entry in problem.refused:
        if isinstance(entry, str):
            found.append((entry, spell(crd, problem.place.path)))
        else:
            kind, where = entry
            found.append((kind, spell(crd, where.path) if isinstance(where, Place) else where))
    return found


def _type(entry: Any) -> str:
    return entry if isinstance(entry, str) else str(entry[0])


def gate(
    problems: dict[str, list[Problem]], deferred: Callable[[str], Iterable[Problem]]
) -> list[Problem]:
    """Put the stages of one schema in the server's order and return what it would say.

    `problems` has those of ROOT, KEYWORDS, CONVERT and STRUCTURAL; `deferred` runs the checks of
    DEFAULTS and CEL, which are dear and only run when the server would.
    Source: validateCustomResourceDefinitionValidation.
    """
    said = problems.get(ROOT, []) + problems.get(KEYWORDS, [])
    convert = problems.get(CONVERT, [])
    if convert:
        return said or convert[:1]
    for problem in problems.get(KEYWORDS, ())[:1]:
        crd = problem.place.node.crd
        crd.refused_at = [p.place.node.path for p in problems[KEYWORDS] if p.refused]
    structural = problems.get(STRUCTURAL, [])
    said += structural
    if not structural:
        defaults = list(deferred(DEFAULTS))
        said += defaults
        if not any(problem.refused for problem in defaults):
            said += deferred(CEL)
    return said


def settle(crd: Crd, problems: list[Problem]) -> list[Problem]:
    """Drop what the server does not get to say, over the whole CRD.

    A request that cannot be judged says nothing else; what storage refuses comes only when
    validation has passed, warnings only with acceptance, and each text once.
    """
    kinds = {kind for problem in problems for kind, _ in claims(crd, problem)}
    if alone := kinds & ALONE:
        first = next(p for p in problems if any(k in alone for k, _ in claims(crd, p)))
        only = [claim for claim in claims(crd, first) if claim[0] in alone][:1]
        for problem in problems:
            problem.refused = list(only) if problem is first else []
        return problems
    refused = kinds - {"Warning", "Strict"}
    if len(refused) > 1:
        for problem in problems:
            problem.refused = [e for e in problem.refused if _type(e) != AFTER_VALIDATION]
    said: set[str] = set()
    for problem in problems:
        if problem.stage == WARN:
            if refused or problem.message in said:
                problem.refused = []
            if problem.rule == "set-of-non-scalars":
                said.add(problem.message)
    return problems
