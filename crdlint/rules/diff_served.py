"""Comparisons of served versions with one another, where the server converts nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crdlint import pages
from crdlint.changes import LIST_TYPE, MAP_TYPE, RULES, Change, Pair, kinds_of, schema_changes
from crdlint.diffrule import Problem, diff, settle
from crdlint.rules.diff_fields import keeps_unknown
from crdlint.rules.diff_values import LIMITS
from crdlint.rules.diff_versions import storage_version

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crdlint.diffrule import Problems
    from crdlint.tree import Crd, Node

Conflict = tuple[str, str, str, str]  # rule, one version, the other, field

_TOPOLOGY = frozenset((LIST_TYPE, MAP_TYPE, "x-kubernetes-list-map-keys"))
_CONSTRAINTS = frozenset(
    (
        *(keyword for keyword, *_ in LIMITS),
        "multipleOf",
        "pattern",
        "enum",
        "format",
        "nullable",
        "allOf",
        "anyOf",
        "oneOf",
        "not",
        "additionalProperties",
        RULES,
    )
)


def _schemas(crd: Crd) -> dict[str, Node]:
    """Return the schemas of the storage version and of all served ones, by version."""
    found: dict[str, Node] = {}
    for version in crd.root.children():
        schema = next(iter(version.children()), None)
        if schema is not None and (version.get("served") or version.get("storage")):
            found[str(version.get("name"))] = schema
    return found


def _strategy(crd: Crd) -> str:
    return str((crd.spec.get("conversion") or {}).get("strategy") or "None")


def conflicts(crd: Crd) -> dict[Conflict, tuple[Change, str]]:
    """Return where served versions disagree with the storage version, and what comes of it."""
    schemas = _schemas(crd)
    stored = storage_version(crd)
    if _strategy(crd) != "None" or stored not in schemas or crd.hoisted("schema"):
        return {}
    found: dict[Conflict, tuple[Change, str]] = {}
    for name, schema in schemas.items():
        if name == stored:
            continue
        one, other = sorted((stored, name))
        for change in schema_changes(Pair(schemas[stored], schema, None)):
            for rule, field, spot, text in _conflict(change, stored, name):
                found.setdefault((rule, one, other, field), (spot, text))
    return found


def _conflict(change: Change, stored: str, name: str) -> Iterator[tuple[str, str, Change, str]]:
    """Yield rule, field, spot and text of what a difference between two versions means."""
    node = change.new
    old_side = Change(_alone(change.old), change.key, new_keys=change.old_keys, name=change.name)
    new_side = Change(_alone(node), change.key, new_keys=change.new_keys, name=change.name)
    if change.key == "properties" and not node.junctor:
        field = f"{node.field}.{change.name}"
        if change.removed and not keeps_unknown(node):
            text = f"{stored} has it, {name} has not: an update through {name} removes it"
            yield "served-versions-field-lost", field, old_side, text
        elif change.added and not keeps_unknown(change.old):
            text = f"{name} has it, but {stored}, the storage version, has not: it is never stored"
            yield "served-versions-field-lost", field, new_side, text
    elif change.key == "type" and not node.junctor:
        a, b = kinds_of(change.old.data), kinds_of(node.data)
        if a and b and not (a & b):
            text = f"{stored} and {name} have different types: what one takes the other refuses"
            yield "served-versions-type-conflict", node.field, new_side, text
    elif change.key == "required":
        for field in {*(change.before or []), *(change.after or [])}:
            if (field in (change.before or [])) != (field in (change.after or [])):
                text = (
                    f"required in only one of {stored} and {name}: what one takes the other refuses"
                )
                yield "served-versions-required-conflict", f"{node.field}.{field}", new_side, text
    elif change.key == "default":
        text = f"{stored} and {name} have different defaults: the value depends on the last writer"
        yield "served-versions-default-conflict", node.field, new_side, text
    elif change.key in _TOPOLOGY:
        text = f"{stored} and {name} merge differently: managers lose what they own"
        yield "served-versions-topology-conflict", node.field, new_side, text
    elif change.key in _CONSTRAINTS:
        text = f"{stored} and {name} demand different things: what one takes the other refuses"
        yield "served-versions-constraint-conflict", node.field, new_side, text


def _alone(node: Node) -> Pair:
    return Pair(node, node, None)


@diff(
    "served-versions-field-lost",
    "served-versions-type-conflict",
    "served-versions-constraint-conflict",
    "served-versions-required-conflict",
    "served-versions-default-conflict",
    "served-versions-topology-conflict",
    on="crd",
)
def served_versions(change: Change) -> Problems:
    after = conflicts(change.new.crd)
    if not after:
        return
    before = conflicts(change.old.crd)
    for key, (spot, text) in after.items():
        if key not in before:
            yield Problem(spot, text, rule=key[0], field=key[3], together="")


@settle
def said_already(problems: list[Problem]) -> list[Problem]:
    """Drop conflicts whose cause is reported for one of the versions, at no lesser severity."""
    said = {
        problem.field or problem.change.new.field
        for problem in problems
        if not problem.rule.startswith("served-versions-")
        and pages.page(problem.rule).severity != "info"
    }
    return [
        problem
        for problem in problems
        if not problem.rule.startswith("served-versions-") or problem.field not in said
    ]
