"""The smallest object that one CRD takes and its successor refuses, prunes or changes."""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import islice
from typing import TYPE_CHECKING, Any

from crdlint.govalues import same_go
from crdlint.objects.candidates import ALL, BOTH, OLD, Candidates, schema_of
from crdlint.objects.resource import take, update
from crdlint.objects.sample import RULES, Ask, ImpossibleError, Sampler
from crdlint.objects.shown import CREATE, SKIPPED, STATUS, UPDATE, Goal, Witness, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crdlint.objects.candidates import Level
    from crdlint.objects.error import ObjectError
    from crdlint.objects.resource import Object, Outcome
    from crdlint.objects.served import Served
    from crdlint.objects.steer import Steering

    Path = tuple[str | int, ...]
    Broken = list[tuple[Path, str]]  # where a rule stands in the object, and its text

MOST_TRIES = 48  # objects that are sent both ways for one witness
MOST_STEERED = 160  # further ones that are tried where rules must be kept or broken
_TRANSITION = "oldSelf"  # what a rule names that compares with the value before
_PATIENCE = 0.125  # what each further variation of an object costs against going on from another
_AGAIN = 12  # tries for an object that is refused for the change alone


class Search:
    """Looks for witnesses between one version of two CRDs."""

    __slots__ = ("based", "candidates", "new", "old", "sampler", "sent")

    def __init__(self, old: Served, new: Served) -> None:
        self.old = old
        self.new = new
        self.sampler = Sampler(new.minor)
        self.candidates = Candidates(old, new, self.sampler)
        self.based = False
        self.sent = 0  # objects, which is what a search costs

    def find(self, goal: Goal) -> Witness | None:
        """Return an object that shows a change, or None where none is found.

        Raises:
            ImpossibleError: no object could be made that is worth a try.
        """
        self._found()
        levels = self.candidates.levels(goal)
        path = tuple(level.step for level in levels if level.step is not None)
        hunt = _Hunt(self, goal, path)
        self._try(hunt, goal, levels, (BOTH, OLD))
        if not hunt.seen:
            raise ImpossibleError
        if hunt.best is None and hunt.skipped:  # the new side refuses all for what is new in it
            hunt = _Hunt(self, goal, path, may_drop=True)
            self._try(hunt, goal, levels, (ALL,))
        if hunt.best is None and goal.key == RULES and _TRANSITION in goal.name:
            return self._update(goal, levels, path)
        return hunt.best

    def _update(self, goal: Goal, levels: list[Level], path: Path) -> Witness | None:
        """Return an update that the old side takes and a transition rule of the new one refuses."""
        from crdlint.objects.steer import Steering

        steering = Steering(self.sampler)
        ask = levels[-1].old
        left = MOST_STEERED
        for start in self._starts(goal, levels, path, steering):
            part = _below(ask, start, path)[1]
            for varied in steering.variations(part, ask, goal.name):
                left -= 1
                if left < 0:
                    return None
                candidate = _put(start, path, varied)
                before = update(self.old, start, candidate)
                if before.errors or before.pruned:
                    continue
                after = update(self.new, start, candidate)
                witness = shown(candidate, before, after, path, goal=goal, request=UPDATE)
                if witness is not None:
                    witness.stored = start
                    return witness
        return None

    def _starts(
        self, goal: Goal, levels: list[Level], path: Path, steering: Steering
    ) -> Iterator[Object]:
        """Yield objects that the old side takes, the plainest first."""
        plain = list(islice(self.candidates.all(goal, levels), 3))
        ask = levels[-1].old
        varied = (
            _put(one, path, part)
            for one in plain
            for part in steering.variations(_below(ask, one, path)[1], ask, goal.name)
        )
        for candidate in (*plain, *islice(varied, MOST_TRIES)):
            outcome = self.send(self.old, candidate)
            if outcome.accepted and not outcome.pruned:
                yield candidate
            elif candidate is plain[0] and (near := self.valid(candidate)) is not None:
                yield near

    def _found(self) -> None:
        """Find once what objects need besides required fields, where rules ask for more."""
        if self.based:
            return
        self.based = True
        if self.old.has_rules:
            try:
                plain = self.candidates.whole({})
            except ImpossibleError:
                return
            if not self.send(self.old, plain).accepted:
                self.candidates.base = self.valid(plain) or {}

    def valid(self, candidate: Object) -> Object | None:
        """Return an object, or one near it, that the old side takes as it is."""
        hunt = _Valid(self, Goal([], ""), ())
        if not hunt.tried(candidate):
            hunt.steer()
        return None if hunt.best is None else hunt.best.object

    def _try(self, hunt: _Hunt, goal: Goal, levels: list[Level], made_for: tuple[int, ...]) -> None:
        made = self.candidates.all(goal, levels, made_for)
        if any(hunt.tried(candidate) for candidate in islice(made, MOST_TRIES)):
            return
        if hunt.best is None:
            hunt.steer()

    def send(self, side: Served, candidate: Object, request: str = CREATE) -> Outcome:
        """Return what one side does with an object."""
        self.sent += 1
        return take(side, candidate, keep_status=request == STATUS)


class _Hunt:
    """One search: the best witness so far, and the objects that some rule still refuses."""

    __slots__ = (
        "best",
        "count",
        "goal",
        "may_drop",
        "place",
        "queue",
        "request",
        "search",
        "seen",
        "skipped",
    )

    def __init__(self, search: Search, goal: Goal, path: Path, *, may_drop: bool = False) -> None:
        self.search = search
        self.goal = goal
        self.place = path
        if goal.name and goal.key not in ("required", RULES):
            self.place = (*path, goal.name)
        self.request = STATUS if path[:1] == ("status",) and search.old.status else CREATE
        self.best: Witness | None = None
        self.queue: list[tuple[float, int, int, Object, Broken]] = []
        self.seen: list[Object] = []
        self.count = 0
        self.skipped = False
        self.may_drop = may_drop  # objects may have what only the new side names

    def tried(self, candidate: Object, steps: int = 0) -> bool:
        """Send an object both ways; tell whether it shows the change and nothing else."""
        if any(same_go(candidate, other) for other in self.seen):
            return False
        self.seen.append(candidate)
        witness, broken = self.judge(candidate)
        if witness is not None:
            if self.best is None or witness.others < self.best.others:
                self.best = witness
            return not witness.others
        if broken:
            self.count += 1
            cost = steps + 2.0 * len(broken)
            heappush(self.queue, (cost, steps, self.count, candidate, broken))
        return False

    def judge(self, candidate: Object) -> tuple[Witness | None, Broken]:
        """Return the witness that an object is, or else the rules that it should mind or break."""
        search, goal = self.search, self.goal
        before = search.send(search.old, candidate, self.request)
        if not self.may_drop and before.pruned:
            return None, []
        if before.errors:
            return None, _broken(before.errors, schema_of(search.old))
        after = search.send(search.new, candidate, self.request)
        witness = shown(candidate, before, after, self.place, goal=goal, request=self.request)
        if witness is None and goal.key == RULES:
            if not any(error.keyword == SKIPPED for error in after.errors):
                return None, [(self.place, goal.name)]
            self.skipped = True
        return witness, []

    def steer(self) -> None:
        """Vary objects at what rules look at, until the change shows alone or tries run out.

        The object with the fewest broken rules and steps goes on first, one variation at a time.
        """
        from crdlint.objects.steer import Steering

        steering = Steering(self.search.sampler)
        left = MOST_STEERED
        going: dict[int, Iterator[Object]] = {}
        while self.queue and left > 0:
            cost, steps, number, whole, broken = heappop(self.queue)
            if number not in going:
                going[number] = self._variations(steering, whole, broken)
            varied = next(going[number], None)
            if varied is None:
                continue
            left -= 1
            heappush(self.queue, (cost + _PATIENCE, steps, number, whole, broken))
            if self.tried(varied, steps + 1):
                return
            if self.best is not None:
                left = min(left, _AGAIN)

    def _variations(self, steering: Steering, whole: Object, broken: Broken) -> Iterator[Object]:
        root = Ask([schema_of(self.search.old)])
        for path, text in broken:
            ask, part = _below(root, whole, path)
            for varied in steering.variations(part, ask, text):
                yield _put(whole, path, varied)


class _Valid(_Hunt):
    """A search for an object that the old side takes, whatever the new one does."""

    __slots__ = ()

    def judge(self, candidate: Object) -> tuple[Witness | None, Broken]:
        """Return the object, or else the rules that it should mind."""
        outcome = self.search.send(self.search.old, candidate)
        if outcome.pruned or outcome.stored is None:
            return None, []
        if outcome.errors:
            return None, _broken(outcome.errors, schema_of(self.search.old))
        return Witness(candidate), []


def _broken(errors: Iterable[ObjectError], schema: Any) -> Broken:
    """Return the rules that an object breaks; none where something else is wrong with it too."""
    found = []
    for error in errors:
        if error.keyword != RULES or not isinstance(error.limit, str):
            return []
        found.append((_node(error, schema), error.limit))
    return found


def _node(error: ObjectError, schema: Any) -> Path:
    """Return where the rule of an error stands, which its fieldPath may lead away from."""
    for size in reversed(range(len(error.path) + 1)):
        path = error.path[:size]
        for part in _below(Ask([schema]), None, path)[0].schemas:
            if any(rule.get("rule") == error.limit for rule in part.get(RULES) or ()):
                return path
    return error.path


def _below(ask: Ask, value: Any, path: Path) -> tuple[Ask, Any]:
    """Return what is asked of a part of a value, and the part."""
    for step in path:
        ask = ask.item() if isinstance(step, int) else ask.field(step)
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            value = None
    return ask, value


def _put(whole: Any, path: Path, part: Any) -> Any:
    """Return a copy of a value with another part."""
    if not path:
        return part
    step, rest = path[0], path[1:]
    if isinstance(step, int):
        return [*whole[:step], _put(whole[step], rest, part), *whole[step + 1 :]]
    return {**whole, step: _put(whole.get(step, {}), rest, part)}
