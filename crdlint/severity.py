"""How bad a change is: what lowers the severity of its page, and whom it no longer hurts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from crdlint.changes import LIST_TYPE
from crdlint.diffrule import ALWAYS, NOTHING, OWNER
from crdlint.kubernetes import VALIDATION_RATCHETING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crdlint.diffrule import Problem
    from crdlint.tree import Node

# What no object has that was written before. That a controller writes the status helps nobody then:
# an old status is refused as soon as it changes, and before ratcheting with every update.
_LACKED = frozenset(("field-added-required",))
STABILITIES = ("alpha", "beta", "stable")
_STAGE = re.compile(r"v[0-9]+(alpha|beta)[0-9]+")
EXCUSED = (
    "Objects stored before stay writable as long as this value is left as it is"
    " (validation ratcheting)."
)


class Judgement:
    """What a finding of `diff` gets: severity, the effects that remain, and what to add."""

    __slots__ = ("effects", "note", "severity")

    def __init__(self, severity: str, effects: list[str], note: str = "") -> None:
        self.severity = severity
        self.effects = effects
        self.note = note


def stability(version: str) -> str:
    """Return what a version's name promises: alpha, beta or stable."""
    match = _STAGE.fullmatch(version)
    return match[1] if match else "stable"


def judge(
    problem: Problem, severity: str, effects: Sequence[str], *, held_to: str = "beta"
) -> Judgement | None:
    """Judge one problem of a comparison, or return None where nobody can meet it.

    Args:
        problem: what was found.
        severity: of the rule's page, which speaks of a served version that is stable.
        effects: of the rule's page.
        held_to: versions below this stability are held to less.
    """
    found = Judgement(severity, [effect for effect in effects if effect not in problem.spares])
    node = problem.change.new
    if problem.refused:
        found.severity = "error"
        if "server-refuses" not in found.effects:
            found.effects.insert(0, "server-refuses")
        return found
    if "server-refuses" in found.effects:
        found.effects.remove("server-refuses")
    if node.kind == "crd":
        return found
    if not _reachable(problem):
        return None
    _excuse(problem, found)
    version = node.version
    name = str(version.get("name")) if version else ""
    if STABILITIES.index(stability(name)) < STABILITIES.index(held_to):
        found.severity = {"error": "warning"}.get(found.severity, "info")
    elif (
        found.severity == "error"
        and "readers" not in found.effects
        and problem.rule not in _LACKED
        and in_status(node)
    ):
        found.severity = "warning"  # only the controller that comes with the CRD writes a status
    return found


def in_status(node: Node) -> bool:
    """Tell whether a node belongs to the status of the resource."""
    inner: Node | None = node
    while inner is not None and not inner.is_root:
        if inner.step == ("properties", "status") and inner.parent and inner.parent.is_root:
            return True
        inner = inner.parent
    return False


def _reachable(problem: Problem) -> bool:
    """Tell whether a version is one that somebody uses, before and after."""
    for node in (problem.change.old, problem.change.new):
        version = node.version
        if version is None:
            continue
        if node.kind == "version" and problem.change.key in ("served", "storage"):
            continue
        if not version.get("served") and not version.get("storage"):
            return False
    return True


def _excuse(problem: Problem, found: Judgement) -> None:
    """Take stored objects out where validation ratcheting spares them on updates.

    Source: KEP-4008; on by default from 1.30. An error is dropped where its value equals the old
    one, and lists are followed only by the keys of type map.
    """
    node = problem.change.new
    if problem.tightens in (NOTHING, ALWAYS) or problem.prunes:
        return
    if not {"stored-objects", "writers"} <= set(found.effects):
        return
    if node.crd.minor < VALIDATION_RATCHETING or not _followed(node):
        return
    if problem.tightens == OWNER and _wide(node):
        return
    found.effects.remove("stored-objects")
    found.note = EXCUSED


def _followed(node: Node) -> bool:
    """Tell whether the server can find the old value that belongs to a value here."""
    inner: Node | None = node
    while inner is not None and inner.kind == "schema":
        parent = inner.parent
        if inner.step[:1] == ("items",) and parent and parent.get(LIST_TYPE) != "map":
            return False
        inner = parent
    return True


def _wide(node: Node) -> bool:
    """Tell whether a demand on a whole object is on one that every update changes."""
    owner: Node | None = node
    while owner is not None and owner.junctor:
        owner = owner.parent
    if owner is None or owner.is_root:
        return True
    parent = owner.parent
    return parent is not None and parent.is_root
