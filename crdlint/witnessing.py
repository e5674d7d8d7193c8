"""For a change that hurts: the object that shows it, or why there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdlint.changes import PRESERVE, RULES
from crdlint.objects.sample import ImpossibleError
from crdlint.objects.served import Served
from crdlint.objects.shown import CONVERT, DEMANDS, SCALE, WHOLE, Goal, Witness, shown
from crdlint.objects.witness import Search
from crdlint.tree import ABSENT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from crdlint.changes import Change, Pair
    from crdlint.diffrule import Problem
    from crdlint.tree import Crd

_NOT_FOUND = "none of the objects that were tried tells the two CRDs apart"
_NO_TIME = "not looked for: the search for witnesses of the changes before took all its time"
_NO_OBJECT = "no valid object could be made from the old schema"
MOST_SENT = 12_000  # objects sent through two CRDs in search of witnesses: a few seconds
# Changes that no object shows by itself.
_NONE = {
    "crd-name-changed": "the API server refuses the update, so no object meets the change",
    "crd-plural-changed": "the API server refuses the update, so no object meets the change",
    "crd-group-changed": "the API server refuses the update, so no object meets the change",
    "scale-subresource-removed": "requests to /scale fail, whatever the object holds",
    "scale-label-selector-removed": "autoscalers ask for the selector, whatever the object holds",
    "storage-version-changed": "objects stay as they are until each is written again",
    "conversion-webhook-removed": "what the webhook made of objects is not in the CRD",
    "conversion-webhook-removed-same-schemas": "what the webhook made of objects is not in the CRD",
}


class Unproven(Exception):  # noqa: N818 - a result, not an error
    """There is no witness; the message says why."""


class Witnesses:
    """Finds witnesses for the changes between two CRDs; keeps what several need."""

    __slots__ = ("_searches", "new", "old")

    def __init__(self, old: Crd, new: Crd) -> None:
        self.old = old
        self.new = new
        self._searches: dict[tuple[str, str], Search] = {}

    def of(self, problem: Problem) -> Witness:
        """Return the witness of one problem; raise Unproven where there is none."""
        rule = problem.rule
        if sum(search.sent for search in self._searches.values()) > MOST_SENT:
            raise Unproven(_NO_TIME)
        if rule in _NONE:
            raise Unproven(_NONE[rule])
        find = _SPECIAL.get(rule, _of_schema)
        try:
            found = find(self, problem)
        except ImpossibleError:
            raise Unproven(_NO_OBJECT) from None
        if found is None:
            raise Unproven(_NOT_FOUND)
        return found

    def search(self, version: str, new_version: str = "") -> Search | None:
        """Return the search between a version of the old CRD and one of the new CRD."""
        key = (version, new_version or version)
        if key not in self._searches:
            sides = [
                _served(crd, name) for crd, name in zip((self.old, self.new), key, strict=True)
            ]
            if sides[0] is None or sides[1] is None:
                return None
            self._searches[key] = Search(sides[0], sides[1])
        return self._searches[key]


def _of_schema(known: Witnesses, problem: Problem) -> Witness | None:
    change = problem.change
    goal = goal_of(change)
    search = known.search(change.pair.version)
    if goal is None or search is None:
        return None
    return search.find(goal)


def _any_version(known: Witnesses, goal: Goal) -> Witness | None:
    """Look in every version, the storage version first."""
    for name in _names(known.old):
        search = known.search(name)
        try:
            found = None if search is None else search.find(goal)
        except ImpossibleError:
            continue
        if found is not None:
            return found
    return None


def _unknown_field(known: Witnesses, problem: Problem) -> Witness | None:
    del problem
    return _any_version(known, Goal([], PRESERVE))


def _whole_schema(known: Witnesses, problem: Problem) -> Witness | None:
    """Return an object that a new schema refuses, or prunes where pruning is not older or newer."""
    search = known.search(problem.change.pair.version)
    if search is None:
        return None
    kept = known.old.spec.get("preserveUnknownFields")
    return search.find(Goal([], DEMANDS)) or (None if kept else search.find(Goal([], WHOLE)))


def _no_schema(known: Witnesses, problem: Problem) -> Witness | None:
    search = known.search(problem.change.pair.version)
    if search is None or search.old.schema is None:
        return None
    fields = search.old.schema.get("properties") or {}
    for name in sorted(fields, key=lambda name: name != "spec"):
        if name not in ("apiVersion", "kind", "metadata"):
            found = search.find(Goal([], "properties", name))
            if found is not None:
                return found
    return None


def _gone(known: Witnesses, problem: Problem) -> Witness | None:
    """Return an object of a version, or of a kind, that nobody can ask for any more."""
    change = problem.change
    named = change.name or (change.pair.version if change.new.kind == "version" else "")
    for name in [named] if named else _names(known.old):
        old, new = _served(known.old, name), _served(known.new, name)
        if old is None:
            continue
        search = Search(old, new or old)
        found = search.valid(search.candidates.whole({}))
        if found is None:
            continue
        witness = Witness(found)
        if new is None:
            witness.gone = f"{old.api_version} is no version of the CRD any more"
        elif new.kind != old.kind:
            witness.gone = f"{new.api_version} has the kind {new.kind}, not {old.kind}"
        elif not new.served:
            witness.gone = f"{old.api_version} is not served any more"
        else:
            continue
        return witness
    return None


def _scope(known: Witnesses, problem: Problem) -> Witness | None:
    del problem
    for name in _names(known.old):
        search = known.search(name)
        if search is None:
            continue
        candidate = search.candidates.whole({})
        if search.old.namespaced:
            candidate["metadata"]["namespace"] = "default"
        before, after = (search.send(side, candidate) for side in (search.old, search.new))
        found = shown(candidate, before, after, ("metadata", "namespace"))
        if before.accepted and found is not None:
            return found
    return None


def _status(known: Witnesses, problem: Problem) -> Witness | None:
    """Return an object with a status, which one side drops and the other stores."""
    search = known.search(problem.change.pair.version)
    if search is None:
        return None
    for candidate in search.candidates.with_field("status"):
        before, after = (search.send(side, candidate) for side in (search.old, search.new))
        if before.accepted and not before.pruned:
            found = shown(candidate, before, after, ("status",))
            if found is not None:
                return found
    return None


def _scale(known: Witnesses, problem: Problem) -> Witness | None:
    search = known.search(problem.change.pair.version)
    path = problem.change.new.get("subresources", {}).get("scale", {})
    spelled = path.get(problem.change.new_keys[-1])
    if search is None or not spelled:
        return None
    steps: list[Any] = [
        (("properties", name), {}, {}) for name in spelled.removeprefix(".").split(".")
    ]
    return search.find(Goal(steps, SCALE))


def _between(known: Witnesses, problem: Problem) -> Witness | None:
    """Return an object that the new CRD takes in one version and harms in another."""
    change = problem.change
    here = change.new.version
    served = {str(version.get("name")) for version in known.new.versions if version.get("served")}
    names = [name for name in _names(known.new) if name in served]
    one = str(here.get("name")) if here is not None else ""
    others = [name for name in names if name != one]
    for pair in (*((one, other) for other in others), *((other, one) for other in others)):
        sides = [_served(known.new, name) for name in pair]
        if sides[0] is None or sides[1] is None:
            continue
        goal = _goal_between(change, sides[1], problem.field.rpartition(".")[2])
        try:
            found = Search(sides[0], sides[1]).find(goal)
        except ImpossibleError:
            continue
        if found is not None:
            found.request, found.through = CONVERT, sides[1].api_version
            return found
    return None


def _goal_between(change: Change, other: Served, field: str) -> Goal:
    """Return the goal of a change that knows only one of two versions."""
    steps: list[Any] = []
    node = change.new
    while not node.is_root and node.parent is not None:
        steps.insert(0, (node.step, node.data))
        node = node.parent
    there: Any = other.schema or {}
    found = []
    for step, data in steps:
        for key in step:
            there = there.get(key) or {} if isinstance(there, dict) else {}
        found.append((step, data, there))
    name = {"properties": change.name, "required": field}.get(change.key, "")
    return Goal(found, change.key, name)


_SPECIAL: dict[str, Callable[[Witnesses, Problem], Witness | None]] = {
    "preserve-unknown-fields-global-disabled": _unknown_field,
    "schema-added": _whole_schema,
    "schema-removed": _no_schema,
    "version-removed": _gone,
    "version-unserved": _gone,
    "no-served-version": _gone,
    "stored-version-removed": _gone,
    "storage-version-unserved": _gone,
    "crd-kind-changed": _gone,
    "crd-scope-changed": _scope,
    "status-subresource-added": _status,
    "status-subresource-removed": _status,
    "scale-path-changed": _scale,
    "served-versions-field-lost": _between,
    "served-versions-type-conflict": _between,
    "served-versions-required-conflict": _between,
    "served-versions-constraint-conflict": _between,
    "served-versions-default-conflict": _between,
}


def _served(crd: Crd, name: str) -> Served | None:
    for version in crd.versions:
        if version.get("name") == name:
            return Served(crd.data, version, minor=crd.minor)
    return None


def _names(crd: Crd) -> list[str]:
    """Return the versions of a CRD, the storage version first."""
    ordered = sorted(crd.versions, key=lambda version: not version.get("storage"))
    return [str(version.get("name")) for version in ordered]


def goal_of(change: Change) -> Goal | None:
    """Return where a change of a schema is and in what, or None where no value can show it."""
    if change.new.kind != "schema":
        return None
    key = change.key
    name: str | int = ""
    steps = list(_steps(change.pair))
    if key == "properties":
        keys = change.old_keys if change.old_keys[:1] == ("properties",) else change.new_keys
        name = str(keys[1]) if len(keys) > 1 else change.name
    elif key == "required":
        name = change.name
    elif key == RULES:
        name = str(change.after.get("rule") or "")
    elif key == "default":
        if not steps or steps[-1][0][0] != "properties":
            return None
        (_, name), _, _ = steps.pop()
    return Goal(steps, key, str(name), turned=change.pair.reversed)


def _steps(pair: Pair) -> Iterator[tuple[tuple[str | int, ...], Any, Any]]:
    chain = []
    inner: Pair | None = pair
    while inner is not None and not inner.new.is_root and inner.new.kind == "schema":
        chain.append((inner.new.step, inner.old.data, inner.new.data))
        inner = inner.parent
    yield from reversed(chain)


def described(witness: Witness) -> dict[str, Any]:
    """Return what becomes of a witness as plain data, as the JSON report has it."""
    after: dict[str, Any] = {}
    if witness.gone:
        after["gone"] = witness.gone
    if witness.refused:
        after["refused"] = [
            {"type": error.type, "field": error.field, "message": error.message}
            for error in witness.refused
        ]
    if witness.others:
        after["otherErrors"] = witness.others
    if witness.pruned:
        after["pruned"] = witness.pruned
    if witness.changed:
        after["changed"] = [_change(*change) for change in witness.changed]
    found: dict[str, Any] = {"request": witness.request}
    if witness.stored is not None:
        found["from"] = witness.stored
    if witness.through:
        found["through"] = witness.through
    found["before"] = "accepted"
    if witness.dropped:
        found["beforePruned"] = witness.dropped
    return {**found, "after": after}


def _change(field: str, before: Any, after: Any) -> dict[str, Any]:
    sides = {"before": before, "after": after}
    return {"field": field, **{k: v for k, v in sides.items() if v is not ABSENT}}
