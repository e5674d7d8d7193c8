"""Whole objects that may show a change: a telling value, and the smallest object around it."""

from __future__ import annotations

from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from crdlint.govalues import same_go
from crdlint.objects.probes import PROBES, probe, unknown_name, violate, with_field, with_unknown
from crdlint.objects.sample import PRESERVE, RULES, Ask, ImpossibleError
from crdlint.objects.shown import DEMANDS, JUNCTORS, SCALE, WHOLE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from crdlint.objects.resource import Object
    from crdlint.objects.sample import Sampler
    from crdlint.objects.served import Served
    from crdlint.objects.shown import Goal

    Schema = Mapping[str, Any]


# Whom an object around a value is made for: the old side alone, both, or both with all that only
# the new side requires.
OLD, BOTH, ALL = range(3)


class Level:
    """A node on the way to the goal: what is asked on both sides, and the step to the next."""

    __slots__ = ("new", "old", "step")

    def __init__(self, old: Ask, new: Ask) -> None:
        self.old = old
        self.new = new
        self.step: str | int | None = None


class Candidates:
    """Makes objects that the old side should take, and the new one too but for one change."""

    __slots__ = ("base", "new", "old", "sampler")

    def __init__(self, old: Served, new: Served, sampler: Sampler) -> None:
        self.base: Object = {}  # what else an object needs, where rules ask for more than schemas
        self.old = old
        self.new = new
        self.sampler = sampler

    def levels(self, goal: Goal) -> list[Level]:
        """Return the nodes from the root to the goal."""
        levels = [Level(*(Ask([schema_of(side)]) for side in (self.old, self.new)))]
        for step, a, b in goal.steps:
            here, key = levels[-1], step[0]
            if key in JUNCTORS:
                a, b = (b, a) if goal.turned else (a, b)  # noqa: PLW2901
                here.old, here.new = here.old.also(a), here.new.also(b)
                continue
            if key == "items":
                here.step = 0
                levels.append(Level(here.old.item(), here.new.item()))
                continue
            name = step[1] if key == "properties" else unknown_name(*here.old.schemas)
            here.step = str(name)
            levels.append(Level(here.old.field(here.step), here.new.field(here.step)))
        return levels

    def all(
        self, goal: Goal, levels: list[Level], made_for: Iterable[int] = (BOTH, OLD)
    ) -> Iterator[Object]:
        """Yield whole objects, at first such that the new side takes but for the change."""
        seen: list[Object] = []
        for joint in made_for:
            values = self._values(goal, levels[-1], joint=joint)
            known = self._around(levels)[-1] if goal.key == RULES else None
            for value in chain((known,) if known else (), values):
                try:
                    made = self._wrap(levels, value, joint=joint)
                except ImpossibleError:
                    continue
                if not any(same_go(made, other) for other in seen):
                    seen.append(made)
                    yield made

    def _values(self, goal: Goal, level: Level, *, joint: int) -> Iterator[Any]:
        """Yield values for the node itself that should tell old from new."""
        ask, key = level.old, goal.key
        against = _against(goal, level)
        if joint and not goal.nested:
            rest = [_without(schema, goal) for schema in level.new.wholes]
            ask = Ask((*ask.wholes, *rest), ask.hints, wanted=joint == ALL)
        sampler = self.sampler
        try:
            added = key == "properties" and goal.name not in level.old.names()
            needed = added and goal.name in (against.get("required") or ())
            if needed or key == "default":
                yield sampler.make_object(ask, without=(goal.name,))
            elif key == "properties":
                yield from self._of_field(ask, against, goal.name)
            elif key == "required":
                one = {**against, "required": [goal.name]} if goal.name else against
                yield from probe(sampler, ask, one, key)
            elif key in PROBES and (key == "nullable" or against.get(key) is not None):
                yield from probe(sampler, ask, against, key)
            elif key == RULES:
                yield from islice(sampler.values(ask), 3)
            elif key == SCALE:
                yield from (-1, 2**31, "example", *sampler.values(ask))
            elif key in (WHOLE, DEMANDS):
                yield from violate(sampler, ask, against)
            if key in (PRESERVE, WHOLE, "additionalProperties"):
                yield from with_unknown(sampler, ask, against)
        except ImpossibleError:
            return

    def _of_field(self, ask: Ask, against: Schema, name: str) -> Iterator[Any]:
        """Yield objects with a field that came, or is gone."""
        schema = (against.get("properties") or {}).get(name)
        if schema is not None:
            yield from with_field(self.sampler, ask, name, schema)
        below = ask.field(name)
        for value in self.sampler.values(below) if below.schemas else iter(("kept",)):
            yield self.sampler.make_object(ask, {name: value})

    def _wrap(self, levels: list[Level], value: Any, *, joint: int) -> Object:
        """Put a value into the smallest object around it."""
        around = self._around(levels)
        for depth in reversed(range(len(levels) - 1)):
            level = levels[depth]
            ask = level.old
            if joint:
                ask = Ask((*ask.wholes, *level.new.wholes), ask.hints, wanted=joint == ALL)
            if isinstance(level.step, int):
                size = ask.most("minItems")
                value = self.sampler.make_list(ask, size, fixed=[value], depth=depth)
            elif depth:
                fields = {**around[depth], str(level.step): value}
                value = self.sampler.make_object(ask, fields, depth=depth)
            else:
                return self.whole({**around[0], str(level.step): value}, ask)
        return self.whole({**self.base, **value} if isinstance(value, dict) else self.base, None)

    def _around(self, levels: list[Level]) -> list[Mapping[str, Any]]:
        """Return what the base has at each level on the way."""
        parts: list[Any] = [self.base]
        for level in levels[:-1]:
            part = parts[-1]
            parts.append(part.get(level.step) if isinstance(part, dict) else None)
        return [part if isinstance(part, dict) else {} for part in parts]

    def whole(self, fields: Mapping[str, Any], ask: Ask | None = None) -> Object:
        """Return a whole object with some fields, and those that the old side requires.

        Raises:
            ImpossibleError: a field that is required cannot be made.
        """
        ask = ask or Ask([schema_of(self.old)])
        head = {"apiVersion": self.old.api_version, "kind": self.old.kind}
        given = fields.get("metadata")
        metadata = self._metadata(ask, given if isinstance(given, dict) else {})
        return self.sampler.make_object(ask, {**head, "metadata": metadata, **_body(fields)})

    def with_field(self, name: str) -> Iterator[Object]:
        """Yield whole objects that have something in a field at the top."""
        ask = Ask([schema_of(self.old)])
        below = ask.field(name)
        try:
            yield self.whole({name: self.sampler.make_object(below, size=1)}, ask)
            for value in self.sampler.values(below):
                yield self.whole({name: value}, ask)
        except ImpossibleError:
            return

    def _metadata(self, ask: Ask, given: Mapping[str, Any]) -> Object:
        metadata = {"name": "example", **given}
        below = ask.field("metadata")
        if below.wholes and not self.sampler.takes(below, metadata):
            metadata = self.sampler.make_object(below, given)
            metadata.setdefault("name", self.sampler.first(below.field("name")))
        return metadata


def schema_of(side: Served) -> Schema:
    """Return the schema of a side; where there is none, one that keeps and takes everything."""
    return {PRESERVE: True} if side.schema is None else side.schema


def _against(goal: Goal, level: Level) -> Schema:
    """Return the schema that a value is to break: the new one of the node itself."""
    if not goal.steps:
        return level.new.wholes[0]
    _, a, b = goal.steps[-1]
    return a if goal.turned else b


def _without(schema: Schema, goal: Goal) -> Schema:
    """Return a schema without what changed in it."""
    kept = {key: value for key, value in schema.items() if key != goal.key}
    if goal.key == "required":
        kept["required"] = [name for name in schema.get("required") or () if name != goal.name]
    elif goal.key == "properties":
        fields = schema.get("properties") or {}
        kept["properties"] = {k: v for k, v in fields.items() if k != goal.name}
        kept["required"] = [name for name in schema.get("required") or () if name != goal.name]
    elif goal.key == "type":
        kept.pop("x-kubernetes-int-or-string", None)
    elif goal.key == "nullable":
        kept["nullable"] = True
    return kept


def _body(fields: Mapping[str, Any]) -> Object:
    return {k: v for k, v in fields.items() if k not in ("apiVersion", "kind", "metadata")}
