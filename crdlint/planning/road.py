"""Find the shortest safe road: try the ways there are, and judge every step as the server would."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

from crdlint import diffing, kubernetes, versiontable, yaml_text
from crdlint import document as documents
from crdlint.planning import stages as staging
from crdlint.planning.stages import ADD, ORDERS, REMOVE, SCHEMAS, STORE, TOGETHER, UNSERVE, Moves
from crdlint.source import Source

if TYPE_CHECKING:
    from crdlint.finding import Finding
    from crdlint.planning.stages import Data, Stage
    from crdlint.versiontable import Table

# What makes a CRD another one: the server keeps these as they are.
_IDENTITY = ("metadata.name", "spec.group", "spec.scope", "spec.names.kind", "spec.names.plural")
# Errors of `diff` that make one step too few, although nothing is lost by it.
_TOO_FAST = frozenset(
    "version-removed version-unserved storage-version-changed-on-introduction".split()
)
_HARMS = frozenset(("server-refuses", "stored-objects"))


class Step:
    """One release: the CRD to apply, and what the server and stored objects make of it.

    `hurts` are the errors of `diff` against the step before that no road avoids; `stored` are the
    storedVersions before the step. `migrates` says that before it stored objects must be rewritten,
    and storedVersions trimmed.
    """

    __slots__ = (
        "before",
        "bridged",
        "crd",
        "duties",
        "hurts",
        "kinds",
        "migrates",
        "notes",
        "number",
        "stored",
        "text",
    )

    def __init__(self, number: int, stage: Stage, stored: list[str]) -> None:
        self.number = number
        self.crd = stage.crd
        self.kinds = stage.kinds
        self.text = yaml_text.dump(stage.crd)
        self.before = ""  # the text of the CRD that it replaces
        self.stored = stored
        self.hurts: list[Finding] = []
        self.notes: list[Finding] = []
        self.migrates = False
        self.bridged = False  # it has a webhook whose address the user must fill in
        self.duties: list[tuple[str, str, list[str]]] = []  # (from, to, what a webhook has to do)

    def change(self, road: Road) -> staging.Difference:
        """Return what this step does to the CRD before it."""
        before = road.old if self.number == 1 else road.steps[self.number - 2].crd
        return staging.Difference(before, self.crd)

    @property
    def breaks(self) -> list[Finding]:
        """Return what else breaks writers and readers, beyond versions that go."""
        return [f for f in self.notes if f.severity == "error" and f.rule not in _TOO_FAST]

    @property
    def refused(self) -> list[Finding]:
        """Return why the server refuses this step."""
        return [finding for finding in self.hurts if "server-refuses" in finding.effects]


def _at(crd: Data, field: str) -> Any:
    here: Any = crd
    for key in field.split("."):
        here = (here or {}).get(key)
    return here


class Road:
    """The steps from OLD to NEW; `another` names what makes NEW another CRD, beyond any road."""

    __slots__ = ("another", "minor", "moves", "name", "new", "old", "steps", "stored")

    def __init__(self, old: Data, new: Data, stored: list[str], minor: int) -> None:
        self.name = str(old["metadata"].get("name") or "")
        self.old, self.new = old, new
        self.stored = stored
        self.minor = minor
        self.moves = Moves(old, new)
        self.steps: list[Step] = []
        self.another = [name for name in _IDENTITY if _at(old, name) != _at(new, name)]

    @property
    def refused(self) -> Step | None:
        """Return the first step that the server refuses, if there is one."""
        return next((step for step in self.steps if step.refused), None)

    @property
    def breaks(self) -> int:
        """Return how many changes break clients, on the whole road."""
        return sum(len(step.breaks) for step in self.steps)

    @property
    def hurts(self) -> int:
        """Return how many errors no step avoids."""
        return sum(len(step.hurts) for step in self.steps)


def find(
    old: Data,
    new: Data,
    *,
    stored: list[str] | None = None,
    established: bool | None = None,
    minor: int = kubernetes.NEWEST,
) -> Road:
    """Return the road from one decoded v1 CRD to another.

    Args:
        old: what the server holds, with its status where that is known.
        new: what is wanted.
        stored: storedVersions; by default those of the status, else the storage version.
        established: whether the server serves OLD; by default what its status says.
        minor: the Kubernetes minor that the plan is for.

    The first of the candidates with the fewest unavoidable errors, and then the fewest steps, wins.
    """
    held = stored or list((old.get("status") or {}).get("storedVersions") or ())
    start, end = staging.clean(old), staging.clean(new)
    road = Road(start, end, held or [staging.storage_of(start)], minor)
    if road.another or start == end:
        return road
    judge = _Judge(old, road, established)
    direct = judge.steps([staging.Stage(end, _direct_kinds(road.moves))])
    if not _too_fast(direct) and not any(step.hurts for step in direct):
        road.steps = direct
    else:
        road.steps = min(_candidates(road, judge, direct), key=_cost)
    judge.prove(road.steps)
    _explain(road)
    return road


def _direct_kinds(moves: Moves) -> list[str]:
    kinds = [SCHEMAS] if moves.in_place else []
    kinds += [ADD] if moves.added else []
    kinds += [STORE] if moves.old_storage != moves.new_storage else []
    kinds += [UNSERVE] if moves.unserved else []
    return kinds + ([REMOVE] if moves.gone else [])


def _too_fast(steps: list[Step]) -> bool:
    return any(finding.rule in _TOO_FAST for step in steps for finding in step.notes)


def _candidates(road: Road, judge: _Judge, direct: list[Step]) -> list[list[Step]]:
    """Return the roads to choose from, those to prefer first."""
    moves = road.moves
    if not moves.any:
        return [direct]
    orders = ORDERS if moves.in_place else (TOGETHER,)
    bridges = (False, True) if moves.added and (moves.gone or moves.unserved) else (False,)
    found = []
    for webhook, order in product(bridges, orders):
        steps = judge.steps(staging.stages(road.old, road.new, order, webhook=webhook))
        found.append(steps)
        if not any(step.hurts for step in steps):
            return found
    # Where the server takes no step in between, clients have to move at once.
    return [*found, direct]


def _cost(steps: list[Step]) -> tuple[int, bool, int, int]:
    refused = sum(len(step.refused) for step in steps)
    hurts = sum(len(step.hurts) for step in steps)
    return refused, _too_fast(steps), hurts, len(steps)


class _Judge:
    """Holds every step against the one before, as `diff` does; each pair is judged once."""

    def __init__(self, old: Data, road: Road, established: bool | None) -> None:
        self.road = road
        self.established = established
        first = {**road.old, **({"status": old["status"]} if old.get("status") else {})}
        self.first = yaml_text.dump(first)
        self._known: dict[tuple[str, str, tuple[str, ...]], list[Finding]] = {}

    def steps(self, stages: list[Stage]) -> list[Step]:
        """Return the steps of a road, judged."""
        stored = list(self.road.stored)
        before, text = self.road.old, self.first
        found: list[Step] = []
        for number, stage in enumerate(stages, 1):
            names = staging.versions_of(stage.crd)
            left = any(name not in names for name in stored)
            bridge = stage.crd["spec"].get("conversion") == staging.PLACEHOLDER
            step = Step(number, stage, stored)
            if left or (found and found[-1].bridged and not bridge):
                step.migrates = True
                stored = [staging.storage_of(before)]
            step.stored = list(stored)
            for finding in self._findings(text, step.text, stored):
                (step.hurts if _is_harm(finding) else step.notes).append(finding)
            storage = staging.storage_of(stage.crd)
            if storage and storage not in stored:
                stored.append(storage)
            step.bridged = bridge
            step.before = text
            found.append(step)
            before, text = stage.crd, step.text
        return found

    def prove(self, steps: list[Step]) -> None:
        """Look for the objects that show what the chosen steps break."""
        for step in steps:
            if step.hurts:
                found = self._diff(step.before, step.text, step.stored, prove=True)
                step.hurts = [finding for finding in found if _is_harm(finding)]

    def _findings(self, old: str, new: str, stored: list[str]) -> list[Finding]:
        key = old, new, tuple(stored)
        if key not in self._known:
            self._known[key] = self._diff(old, new, stored, prove=False)
        return self._known[key]

    def _diff(self, old: str, new: str, stored: list[str], *, prove: bool) -> list[Finding]:
        report = diffing.diff(
            [Source("before.yaml", old.encode)],
            [Source("step.yaml", new.encode)],
            minors=[self.road.minor],
            established=self.established if old is self.first else None,
            stored_versions=stored,
            prove=prove,
        )
        return report.findings


def _is_harm(finding: Finding) -> bool:
    """Tell whether the server refuses, or stored objects are hurt."""
    return finding.severity == "error" and not _HARMS.isdisjoint(finding.effects)


def _explain(road: Road) -> None:
    """Fill in what a conversion webhook has to do in the steps that have one."""
    bridging = [step for step in road.steps if staging.strategy_of(step.crd) == "Webhook"]
    if not bridging:
        return
    step = next((s for s in bridging if ADD in s.kinds), bridging[0])
    known: set[tuple[str, str, str]] = set()
    if staging.strategy_of(road.old) == "Webhook":  # it is there, and does these already
        known = {
            (source, target, line)
            for source, target, lines in duties(table_of(road.old, road.minor))
            for line in lines
        }
    for source, target, lines in duties(table_of(step.crd, road.minor)):
        fresh = [line for line in lines if (source, target, line) not in known]
        if fresh:
            step.duties.append((source, target, fresh))


def table_of(crd: Data, minor: int) -> Table:
    """Return the table of a CRD's versions."""
    from crdlint import reading

    text = yaml_text.dump(crd).encode()
    (part,) = documents.read(text, "crd.yaml")
    (subject,) = reading.subjects(part, minor)
    assert subject.crd is not None
    return versiontable.table(subject.crd)


def duties(table: Table) -> list[tuple[str, str, list[str]]]:
    """Return for each way between versions what a webhook has to do there."""
    found = []
    names = [str(version.get("name")) for version in table.versions]
    for source, target in product(names, names):
        if source != target:
            lines = [
                text
                for line in table.lines.values()
                if (text := versiontable.duty(line, source, target))
            ]
            if lines:
                found.append((source, target, lines))
    return found
