"""What an object shows of a change: refused, pruned or changed where it was taken before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdlint.govalues import same_go
from crdlint.objects.error import field_path
from crdlint.objects.probes import PROBES
from crdlint.objects.sample import PRESERVE, RULES
from crdlint.tree import ABSENT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from crdlint.objects.error import At, ObjectError
    from crdlint.objects.resource import Object, Outcome

    Path = tuple[str | int, ...]
    Schema = Mapping[str, Any]

CREATE, STATUS, UPDATE, CONVERT = "create", "status", "update", "convert"
# Goals that are no keyword: a path of the scale subresource, a schema as a whole, and what it
# refuses.
SCALE, WHOLE, DEMANDS = "scale", "schema", "demands"
JUNCTORS = frozenset(("allOf", "anyOf", "oneOf", "not"))
SKIPPED = "rules-skipped"  # said beside the errors that keep the server from running rules
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
    **dict.fromkeys(("type", "properties", "items", "additionalProperties", PRESERVE), _ANY),
    **dict.fromkeys((WHOLE, DEMANDS), _ANY),
}
_MOST_CHANGES = 5


class Goal:
    """Where two versions of a schema differ, and in what.

    `steps` leads from the root to the node: for each the step, and the schema there on the old and
    on the new side. `key` is the keyword, `name` the field where the keyword speaks of several, or
    the text of a rule.
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
        return self.key in JUNCTORS or any(step[0] in JUNCTORS for step, _, _ in self.steps)


class Witness:
    """An object that was taken as it is, and what becomes of it now.

    `request` is how it is sent: created, written to the status subresource, as an update of
    `stored`, or converted: taken by the new CRD in its apiVersion and asked for as `through`.
    `refused` are the errors that the change causes and `others` how many there are besides;
    `dropped` the fields that were dropped before already and `pruned` those that are now; `changed`
    fields with their value before and after (ABSENT where there is none); `gone` why the object has
    no endpoint any more.
    """

    __slots__ = (
        "changed",
        "dropped",
        "gone",
        "object",
        "others",
        "pruned",
        "refused",
        "request",
        "stored",
        "through",
    )

    def __init__(self, object_: Object, request: str = CREATE) -> None:
        self.object = object_
        self.request = request
        self.stored: Object | None = None
        self.refused: list[ObjectError] = []
        self.others = 0
        self.dropped: list[str] = []
        self.pruned: list[str] = []
        self.changed: list[tuple[str, Any, Any]] = []
        self.gone = ""
        self.through = ""


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
    witness.dropped = before.pruned
    witness.refused = [e for e in after.errors if goal is None or _tells(e, goal, place)]
    others = [e for e in after.errors if e.keyword != SKIPPED and e not in witness.refused]
    witness.others = len(others)
    if witness.refused:
        return witness
    if goal is not None and goal.key in _STRICT and not goal.nested:
        return None
    spelled = _spell(place)
    lost = [field for field in after.pruned if field not in before.pruned]
    witness.pruned = [field for field in lost if not spelled or _covers(spelled, field)]
    if not witness.pruned and before.stored is not None and after.stored is not None:
        sides = _at(before.stored, place), _at(after.stored, place)
        witness.changed = list(differences(*sides, place))[:_MOST_CHANGES]
    return witness if witness.pruned or witness.changed else None


# A change of these shows in an error, never in what is pruned or defaulted.
_STRICT = (frozenset(PROBES) | {RULES, DEMANDS}) - {
    "nullable",
    "properties",
    "additionalProperties",
    "items",
    "type",
    "x-kubernetes-int-or-string",
    PRESERVE,
}


def _tells(error: ObjectError, goal: Goal, place: Path) -> bool:
    """Tell whether an error comes from the change at a place."""
    at = error.path
    near = at[: len(place)] == place or place[: len(at)] == at
    if not near:
        return False
    if goal.nested and goal.key != RULES:
        return error.keyword in JUNCTORS or at[: len(place)] == place
    if goal.key == RULES:
        return error.keyword == RULES and error.limit == goal.name
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


def differences(a: Any, b: Any, path: Path) -> Iterator[tuple[str, Any, Any]]:
    """Yield where two values differ, at the deepest place that both have: field, before, after."""
    if isinstance(a, dict) and isinstance(b, dict):
        for key in (*a, *(k for k in b if k not in a)):
            yield from differences(a.get(key, ABSENT), b.get(key, ABSENT), (*path, key))
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            yield from differences(x, y, (*path, i))
    elif a is ABSENT or b is ABSENT:
        if a is not b:
            yield _spell(path), a, b
    elif not same_go(a, b):
        yield _spell(path), a, b
