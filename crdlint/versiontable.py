"""All versions of a CRD side by side, field by field: what conversion None does between them."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, Any

from crdlint import differ, difffindings, pages, tree

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from crdlint.diffrule import Problem
    from crdlint.tree import Crd, Node

    Schema = Mapping[str, Any]

# What becomes of a field on the way from one version to another under conversion None; best first.
LOSSLESS, CHANGED, REFUSED, LOSSY = "lossless", "changed", "refused", "lossy"
VERDICTS = (LOSSLESS, CHANGED, REFUSED, LOSSY)

# What a cell of the table says of a value beside its type.
_CONSTRAINTS = tuple(
    "format enum pattern minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength"
    " maxLength minItems maxItems minProperties maxProperties uniqueItems nullable"
    " x-kubernetes-list-type x-kubernetes-list-map-keys x-kubernetes-map-type"
    " x-kubernetes-preserve-unknown-fields x-kubernetes-embedded-resource"
    " x-kubernetes-validations allOf anyOf oneOf not".split()
)
_COUNTED = frozenset("x-kubernetes-validations allOf anyOf oneOf".split())
# Rules of `diff` that speak of values the new schema prunes.
_PRUNING = frozenset(
    "field-removed field-renamed field-moved map-to-struct preserve-unknown-fields-removed".split()
)
_DEFAULTS = ("default-", "field-added-with-default", "field-added-required-with-default")
_DEFAULT_LATER = "required-added-with-default"
_RENAMED = "field-renamed"
_EVERYWHERE = frozenset((".apiVersion", ".kind", ".metadata"))


class Way:
    """What becomes of a field from one version to another: a verdict, why, and its other name."""

    __slots__ = ("renamed", "verdict", "why")

    def __init__(self, verdict: str = LOSSLESS, why: Iterable[str] = ()) -> None:
        self.verdict = verdict
        self.why = list(why)
        self.renamed = ""


class Line:
    """A field: its schema in each version that has it, and its ways from version to version."""

    __slots__ = ("field", "schemas", "ways")

    def __init__(self, field: str) -> None:
        self.field = field
        self.schemas: dict[str, tuple[Schema, bool]] = {}  # by version: schema, is it required
        self.ways: dict[tuple[str, str], Way] = {}

    @property
    def differs(self) -> bool:
        """Tell whether any way changes the field, or any version lacks it."""
        return any(way.verdict != LOSSLESS for way in self.ways.values())


class Table:
    """The versions of a CRD in its order, and a line for each field of any of them."""

    __slots__ = ("crd", "lines", "versions")

    def __init__(self, crd: Crd) -> None:
        self.crd = crd
        self.versions = [node for node in crd.root.children() if node.get("name")]
        self.lines: dict[str, Line] = {}

    def worst(self, source: str, target: str) -> str:
        """Return the worst verdict on the way from one version to another."""
        found = [
            line.ways[source, target].verdict
            for line in self.lines.values()
            if (source, target) in line.ways
        ]
        return max(found, key=VERDICTS.index, default=LOSSLESS)


def table(crd: Crd) -> Table:
    """Compare every version of a CRD with every other one.

    The rules of `diff` judge each pair as if one version became the other: conversion None only
    rewrites apiVersion, so the target's schema prunes, defaults and validates what was written in
    the source's.
    """
    made = Table(crd)
    for version in made.versions:
        for field, schema, required in fields(_root(version)):
            line = made.lines.setdefault(field, Line(field))
            line.schemas[str(version.get("name"))] = (schema, required)
    differ.load()
    for source, target in permutations(made.versions, 2):
        _compare(made, source, target)
    return made


def fields(schema: Schema, field: str = "", *, required: bool = False) -> Iterator[Any]:
    """Yield (field, schema, required) of every field of a schema, in the order of the text."""
    if field:
        yield field, schema, required
    wanted = schema.get("required") or ()
    for name, below in (schema.get("properties") or {}).items():
        path = f"{field}.{name}"
        if path not in _EVERYWHERE:
            yield from fields(below, path, required=name in wanted)
    for key, step in (("items", "[*]"), ("additionalProperties", ".*")):
        if isinstance(schema.get(key), dict):
            yield from fields(schema[key], field + step)


def _root(version: Node) -> Schema:
    return next((node.data for node in version.children()), {})


def _compare(made: Table, source: Node, target: Node) -> None:
    """Fill in the ways of all fields from one version to another."""
    key = str(source.get("name")), str(target.get("name"))
    for line in made.lines.values():
        line.ways[key] = Way()
    old, new = (_alone(made.crd, version) for version in (source, target))
    for problem in differ.compare(old, new):
        verdict = _verdict(problem)
        if verdict == LOSSLESS or problem.change.new.kind != "schema":
            continue
        field = _field(problem)
        line = made.lines.get(field) or made.lines.setdefault(field, Line(field))
        way = line.ways.setdefault(key, Way())
        way.verdict = max(way.verdict, verdict, key=VERDICTS.index)
        if problem.rule == _RENAMED:
            way.renamed = difffindings.field_of(problem)
        absent = problem.rule == "field-removed"
        why = f"{key[1]} lacks it" if absent else problem.message
        if why not in way.why:
            way.why.append(why)


def _field(problem: Problem) -> str:
    """Return the field that a change is about, by the name that the source has for it."""
    if problem.rule != _RENAMED:
        return difffindings.field_of(problem)
    change = problem.change
    return f"{change.new.field}.{change.old_keys[-1]}"


def _alone(crd: Crd, version: Node) -> Crd:
    """Return the CRD with one version only, by a name that all share."""
    only = {**version.data, "name": "v1", "served": True, "storage": True}
    spec = {**crd.spec, "versions": [only]}
    return tree.Crd({**crd.data, "spec": spec}, crd.document, item=crd.item, minor=crd.minor)


def _verdict(problem: Problem) -> str:
    """Judge a change by what it does to an object that was written before it."""
    effects = pages.page(problem.rule).effects
    if problem.prunes or problem.rule in _PRUNING:
        return LOSSY
    if problem.rule.startswith(_DEFAULTS) and problem.rule != "default-removed-required":
        return CHANGED
    if problem.rule == _DEFAULT_LATER or "stored-objects" not in effects:
        return LOSSLESS
    return REFUSED


def described(schema: Schema, *, required: bool) -> str:
    """Say in a few words what a version makes of a field: type, bounds, default."""
    kind = (
        "int-or-string"
        if schema.get("x-kubernetes-int-or-string")
        else str(schema.get("type") or "any")
    )
    parts = [kind, *(["required"] if required else [])]
    for key in _CONSTRAINTS:
        value = schema.get(key)
        if value in (None, False) or (key in _COUNTED and not value):
            continue
        short = key.removeprefix("x-kubernetes-")
        if value is True:
            parts.append(short)
        elif key in _COUNTED:
            parts.append(f"{len(value)} {short}")
        else:
            parts.append(short if key == "not" else f"{short} {_shown(value)}")
    if schema.get("default") is not None:
        parts.append(f"default {_shown(schema['default'])}")
    return ", ".join(parts)


def _shown(value: Any) -> str:
    from crdlint.diffrule import show

    return show(value, 40)


def duty(line: Line, source: str, target: str) -> str:
    """Say what a conversion webhook has to do with a field on a way, or "" for nothing."""
    way = line.ways.get((source, target)) or Way()
    verdict = way.verdict
    if way.renamed:
        return f"carry {line.field} of {source} over to {way.renamed} of {target}"
    if verdict == LOSSY:
        return f"keep {line.field} of {source}, for instance in an annotation, and give it back"
    if verdict == REFUSED:
        return f"turn values of {line.field} that {target} refuses into ones that it takes"
    if verdict == CHANGED:
        return f"set {line.field} before {target} fills in its own default"
    return ""
