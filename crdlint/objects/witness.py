"""The smallest object that one CRD takes and its successor refuses, prunes or changes."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from crdlint.objects.error import field_path
from crdlint.objects.probes import PROBES, probe, unknown_name, violate, with_field, with_unknown
from crdlint.objects.resource import take
from crdlint.objects.sample import PRESERVE, Ask, ImpossibleError, Sampler
from crdlint.objects.values import same_go
from crdlint.tree import ABSENT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from crdlint.objects.error import At, ObjectError
    from crdlint.objects.resource import Object, Outcome, Rules
    from crdlint.objects.served import Served

    Path = tuple[str | int, ...]
    Schema = Mapping[str, Any]

CREATE, STATUS, UPDATE = "create", "status", "update"
MOST_TRIES = 48  # objects that are sent both ways for one witness
# Goals that are no keyword: a path of the scale subresource, a schema as a whole.
SCALE, WHOLE = "scale", "schema"
_JUNCTORS = frozenset(("allOf", "anyOf", "oneOf", "not"))
_SKIPPED = "rules-skipped"  # said beside the errors that keep the server from running rules
_ANY: frozenset[str] = frozenset()
# By which keywords an error shows a change of a keyword; not named: by any.
_SHOWN = {
    "maximum": frozenset(("maximum", "maximum-range")),
    "minimum": frozenset(("minimum", "minimum-range")),
    "multipleOf": frozenset(("multipleOf", "multipleOf-range")),
    "format": frozenset(("format", "number-format")),
    "nullable": frozenset(("type", "enum")),
    "x-kubernetes-embedded-resource": frozenset(("typemeta", "metadata", "decode")),
    "x-kubernetes-list-map-keys": frozenset(("x-kubernetes-list-type",)),
    **dict.fromkeys(("type", "properties", "items", "additionalProperties", PRESERVE, WHOLE), _ANY),
}
_MOST_CHANGES = 5


class Goal:
    """Where two versions of a schema differ, and in what.

    `steps` leads from the root to the node: for each the step, and the schema there on the old and
    on the new side. `key` is the keyword, `name` the field where the keyword speaks of several.
    Below `not` the goal is `turned`: what the new side takes there is refused as a whole.
    """

    __slots__ = ("key", "name", "steps", "turned")

    def __init__(
        self,
        steps: Sequence[tuple[Path, Schema, Schema]],
        key: str,
        name: str = "",
        *,
        turned: bool = False,
    ) -> None:
        self.steps = steps
        self.key = key
        self.name = name
        self.turned = turned

    @property
    def nested(self) -> bool:
        """Tell whether the node stands below a junctor, or is about one."""
        return self.key in _JUNCTORS or any(step[0] in _JUNCTORS for step, _, _ in self.steps)


class Witness:
    """An object that was taken as it is, and what becomes of it now.

    `request` is how it is sent: created, written to the status subresource, or an update of
    `stored`. `refused` are the errors that the change causes and `others` how many there are
    besides; `pruned` the fields that are dropped; `changed` fields with their value before and
    after (ABSENT where there is none); `gone` why the object has no endpoint any more.
    """

    __slots__ = (
        "changed", "gone", "object", "others", "pruned", "refused", "request", "stored"
    )  # fmt: skip

    def __init__(self, object_: Object, request: str = CREATE) -> None:
        self.object = object_
        self.request = request
        self.stored: Object | None = None
        self.refused: list[ObjectError] = []
        self.others = 0
        self.pruned: list[str] = []
        self.changed: list[tuple[str, Any, Any]] = []
        self.gone = ""


class _Level:
    """A node on the way to the goal: what is asked on both sides, and the step to the next."""

    __slots__ = ("new", "old", "step")

    def __init__(self, old: Ask, new: Ask) -> None:
        self.old = old
        self.new = new
        self.step: str | int | None = None


class Search:
    """Looks for witnesses between one version of two CRDs."""

    __slots__ = ("new", "old", "rules", "sampler")

    def __init__(self, old: Served, new: Served, *, rules: Rules | None = None) -> None:
        self.old = old
        self.new = new
        self.rules = rules
        self.sampler = Sampler(new.minor)

    def find(self, goal: Goal) -> Witness | None:
        """Return an object that shows a change, or None where none is found."""
        levels = self._levels(goal)
        path = tuple(level.step for level in levels if level.step is not None)
        second = None
        for candidate in islice(self._candidates(goal, levels), MOST_TRIES):
            witness = self._judge(candidate, goal, path)
            if witness is not None and not witness.others:
                return witness
            second = second or witness
        return second

    def _levels(self, goal: Goal) -> list[_Level]:
        levels = [_Level(*(Ask([_schema(side)]) for side in (self.old, self.new)))]
        for step, a, b in goal.steps:
            here, key = levels[-1], step[0]
            if key in _JUNCTORS:
                a, b = (b, a) if goal.turned else (a, b)  # noqa: PLW2901
                here.old, here.new = here.old.also(a), here.new.also(b)
                continue
            if key == "items":
                here.step = 0
                levels.append(_Level(here.old.item(), here.new.item()))
                continue
            name = step[1] if key == "properties" else unknown_name(*here.old.schemas)
            here.step = str(name)
            levels.append(_Level(here.old.field(here.step), here.new.field(here.step)))
        return levels

    def _candidates(self, goal: Goal, levels: list[_Level]) -> Iterator[Object]:
        """Yield whole objects, at first such that the new side takes but for the change."""
        seen: list[Object] = []
        for joint in (True, False):
            for value in self._values(goal, levels[-1], joint=joint):
                try:
                    made = self._wrap(levels, value, joint=joint)
                except ImpossibleError:
                    continue
                if not any(same_go(made, other) for other in seen):
                    seen.append(made)
                    yield made

    def _values(self, goal: Goal, level: _Level, *, joint: bool) -> Iterator[Any]:
        """Yield values for the node itself that should tell old from new."""
        ask, key = level.old, goal.key
        against = _against(goal, level)
        if joint and not goal.nested:
            rest = [_without(schema, goal) for schema in level.new.wholes]
            ask = Ask((*ask.wholes, *rest), ask.hints)
        sampler = self.sampler
        try:
            needed = key == "properties" and goal.name in (against.get("required") or ())
            if needed or key == "default":
                yield sampler.make_object(ask, without=(goal.name,))
            elif key == "properties":
                yield from self._of_field(ask, against, goal.name)
            elif key == "required":
                one = {**against, "required": [goal.name]} if goal.name else against
                yield from probe(sampler, ask, one, key)
            elif key in PROBES and against.get(key) is not None:
                yield from probe(sampler, ask, against, key)
            elif key == SCALE:
                yield from (-1, 2**31, "example", *sampler.values(ask))
            elif key == WHOLE:
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

    def _wrap(self, levels: list[_Level], value: Any, *, joint: bool) -> Object:
        """Put a value into the smallest object around it."""
        for depth in reversed(range(len(levels) - 1)):
            level = levels[depth]
            ask = level.old
            if joint:
                ask = Ask((*ask.wholes, *level.new.wholes), ask.hints)
            if isinstance(level.step, int):
                size = ask.most("minItems")
                value = self.sampler.make_list(ask, size, fixed=[value], depth=depth)
            elif depth:
                value = self.sampler.make_object(ask, {str(level.step): value}, depth=depth)
            else:
                return self.whole({str(level.step): value}, ask)
        return self.whole(value if isinstance(value, dict) else {}, None)

    def whole(self, fields: Mapping[str, Any], ask: Ask | None = None) -> Object:
        """Return a whole object with some fields, and those that the old side requires.

        Raises:
            ImpossibleError: a field that is required cannot be made.
        """
        ask = ask or Ask([_schema(self.old)])
        head = {"apiVersion": self.old.api_version, "kind": self.old.kind}
        given = fields.get("metadata")
        metadata = self._metadata(ask, given if isinstance(given, dict) else {})
        return self.sampler.make_object(ask, {**head, "metadata": metadata, **_body(fields)})

    def with_field(self, name: str) -> Iterator[Object]:
        """Yield whole objects that have something in a field at the top."""
        ask = Ask([_schema(self.old)])
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

    def _judge(self, candidate: Object, goal: Goal, path: Path) -> Witness | None:
        """Send an object through both sides; return it where the change shows."""
        request = STATUS if path[:1] == ("status",) and self.old.status else CREATE
        before = self.send(self.old, candidate, request)
        if not before.accepted or before.pruned:
            return None
        after = self.send(self.new, candidate, request)
        place = (*path, goal.name) if goal.name and goal.key != "required" else path
        return shown(candidate, before, after, place, goal=goal, request=request)

    def send(self, side: Served, candidate: Object, request: str = CREATE) -> Outcome:
        """Return what one side does with an object."""
        return take(side, candidate, rules=self.rules, keep_status=request == STATUS)


def shown(
    candidate: Object,
    before: Outcome,
    after: Outcome,
    place: Path,
    *,
    goal: Goal | None = None,
    request: str = CREATE,
) -> Witness | None:
    """Return the witness that an object is, or None where nothing at a place tells old from new."""
    witness = Witness(candidate, request)
    witness.refused = [e for e in after.errors if goal is None or _tells(e, goal, place)]
    others = [e for e in after.errors if e.keyword != _SKIPPED and e not in witness.refused]
    witness.others = len(others)
    if witness.refused:
        return witness
    if goal is not None and goal.key in _STRICT and not goal.nested:
        return None
    spelled = _spell(place)
    witness.pruned = [f for f in after.pruned if not spelled or _covers(spelled, f)]
    if not witness.pruned and before.stored is not None and after.stored is not None:
        sides = _at(before.stored, place), _at(after.stored, place)
        witness.changed = list(_differences(*sides, place))[:_MOST_CHANGES]
    return witness if witness.pruned or witness.changed else None


# A change of these shows in an error, never in what is pruned or defaulted.
_STRICT = frozenset(PROBES) - {
    "nullable",
    "properties",
    "additionalProperties",
    "items",
    "type",
    "x-kubernetes-int-or-string",
    PRESERVE,
}


def _schema(side: Served) -> Schema:
    """Return the schema of a side; where there is none, one that keeps and takes everything."""
    return {PRESERVE: True} if side.schema is None else side.schema


def _against(goal: Goal, level: _Level) -> Schema:
    """Return the schema that a value is to break: the new one of the node itself."""
    if not goal.steps:
        return level.new.wholes[0]
    _, a, b = goal.steps[-1]
    return a if goal.turned else b


def _without(schema: Schema, goal: Goal) -> Schema:
    """Return a schema without what changed in it."""
    kept = {key: value for key, value in schema.items() if key != goal.key}
    if goal.key == "required":
        kept["required"] = [name for name in schema["required"] if name != goal.name]
    elif goal.key == "properties":
        fields = schema.get("properties") or {}
        kept["properties"] = {k: v for k, v in fields.items() if k != goal.name}
        kept["required"] = [name for name in schema.get("required") or () if name != goal.name]
    elif goal.key == "type":
        kept.pop("x-kubernetes-int-or-string", None)
    return kept


def _body(fields: Mapping[str, Any]) -> Object:
    return {k: v for k, v in fields.items() if k not in ("apiVersion", "kind", "metadata")}


def _tells(error: ObjectError, goal: Goal, place: Path) -> bool:
    """Tell whether an error comes from the change at a place."""
    at = error.path
    near = at[: len(place)] == place or place[: len(at)] == at
    if not near:
        return False
    if goal.nested:
        return error.keyword in _JUNCTORS or at[: len(place)] == place
    wanted = _SHOWN.get(goal.key, frozenset((goal.key,)))
    if goal.key == "required":
        return error.keyword == "required" and at == (*place, goal.name)
    return at[: len(place)] == place and (not wanted or error.keyword in wanted)


def _spell(path: Path) -> str:
    at: At = None
    for step in path:
        at = (at, step, False)
    return field_path(at) if at else ""


def _covers(place: str, field: str) -> bool:
    """Tell whether a field is at a place, or below it."""
    return field.startswith(place) and field[len(place) : len(place) + 1] in ("", ".", "[")


def _at(value: Any, path: Path) -> Any:
    for step in path:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return ABSENT
    return value


def _differences(a: Any, b: Any, path: Path) -> Iterator[tuple[str, Any, Any]]:
    """Yield where two values differ, at the deepest place that both have."""
    if isinstance(a, dict) and isinstance(b, dict):
        for key in (*a, *(k for k in b if k not in a)):
            yield from _differences(a.get(key, ABSENT), b.get(key, ABSENT), (*path, key))
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            yield from _differences(x, y, (*path, i))
    elif a is ABSENT or b is ABSENT:
        if a is not b:
            yield _spell(path), a, b
    elif not same_go(a, b):
        yield _spell(path), a, b
