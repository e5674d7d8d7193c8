"""Comparisons of served versions with one another, where the server converts nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crdlint import pages
from crdlint.changes import LIST_TYPE, MAP_TYPE, RULES, Change, Pair, kinds_of, schema_changes
from crdlint.diffrule import Problem, diff, settle
from crdlint.rules.diff_fields import keeps_unknown
from crdlint.rules.diff_topology import owned_apart
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

_REFUSES = "what one takes the other refuses"


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


def conflicts(crd: Crd) -> dict[Conflict, tuple[Change, str, str]]:
    """Return where served versions disagree with the storage version.

    Each with its spot, the version that disagrees, and a text with room for several of them.
    """
    schemas = _schemas(crd)
    stored = storage_version(crd)
    if _strategy(crd) != "None" or stored not in schemas or crd.hoisted("schema"):
        return {}
    found: dict[Conflict, tuple[Change, str, str]] = {}
    for name, schema in schemas.items():
        if name == stored:
            continue
        one, other = sorted((stored, name))
        for change in schema_changes(Pair(schemas[stored], schema, None)):
            for rule, field, spot, text in _conflict(change, stored):
                found.setdefault((rule, one, other, field), (spot, name, text))
    return found


def _conflict(change: Change, stored: str) -> Iterator[tuple[str, str, Change, str]]:
    """Yield rule, field, spot and text of what a difference between two versions means."""
    node = change.new
    old_side = Change(_alone(change.old), change.key, new_keys=change.old_keys, name=change.name)
    new_side = Change(_alone(node), change.key, new_keys=change.new_keys, name=change.name)
    if change.key == "properties" and not node.junctor:
        field = f"{node.field}.{change.name}"
        if change.removed and not keeps_unknown(node):
            text = f"{stored} has it, {{have}} not: an update through {{or}} removes it"
            yield "served-versions-field-lost", field, old_side, text
        elif change.added and not keeps_unknown(change.old):
            text = f"{{have}} it, but {stored}, the storage version, has not: it is never stored"
            yield "served-versions-field-lost", field, new_side, text
    elif change.key == "type" and not node.junctor:
        a, b = kinds_of(change.old.data), kinds_of(node.data)
        if a and b and not (a & b):
            text = f"{{have}} another type than {stored}: {_REFUSES}"
            yield "served-versions-type-conflict", node.field, new_side, text
        else:
            size = "narrower" if not a or (b and b < a) else "wider"
            text = f"{{have}} a {size} type than {stored}: {_REFUSES}"
            yield "served-versions-constraint-conflict", node.field, new_side, text
    elif change.key == "required":
        here, there = change.before or [], change.after or []
        for field in dict.fromkeys((*here, *there)):
            if (field in here) != (field in there):
                some, others = (stored, "{or}") if field in here else ("{and}", stored)
                text = f"required in {some}, but not in {others}: {_REFUSES}"
                yield "served-versions-required-conflict", f"{node.field}.{field}", new_side, text
    elif change.key == "default":
        text = f"{{have}} another default than {stored}: the value depends on the last writer"
        yield "served-versions-default-conflict", node.field, new_side, text
    elif change.key in _TOPOLOGY:
        if owned_apart(change):
            text = f"{{have}} another way to merge than {stored}: managers lose what they own"
            yield "served-versions-topology-conflict", node.field, new_side, text
    elif change.key in _CONSTRAINTS:
        text = f"{{have}} other demands than {stored}: {_REFUSES}"
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
    grouped: dict[tuple[str, str, str], list[tuple[Change, str]]] = {}
    for key, (spot, name, text) in after.items():
        if key not in before:
            grouped.setdefault((key[0], key[3], text), []).append((spot, name))
    for (rule, field, text), places in grouped.items():
        said = text.format(**_spelled([name for _, name in places]))
        yield Problem(places[0][0], said, rule=rule, field=field, together="")


def _spelled(names: list[str]) -> dict[str, str]:
    """Return some versions in the forms that the texts have room for."""
    *others, last = names
    both, either = (
        f"{', '.join(others)} {word} {last}" if others else last for word in ("and", "or")
    )
    return {"and": both, "or": either, "have": f"{both} {'have' if others else 'has'}"}


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
