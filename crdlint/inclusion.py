"""Which texts patterns match: they are read as automata and walked side by side."""

from __future__ import annotations

from bisect import bisect

from crdlint.goregex import RegexError, classes, tree
from crdlint.goregex.syntax import parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_MAX_STATES = 6000  # of one automaton; repeats are written out
_MAX_STEPS = 5000  # pairs of sets of states that are looked at
_MAX_WORK = 400_000  # edges that are looked at in one automaton: about a tenth of a second
_TOP = 0x10FFFF

# What a text for people is made of, the plainest first.
_READABLE = (
    "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ-./:_ @,=+*#%&()[]{}!?;é中"
)

Ranges = list[tuple[int, int]]


class UndecidedError(Exception):
    """The patterns have something an automaton cannot say, or too much of it."""


class _UnknownError(Exception):
    """A pattern that has something an automaton cannot say, or too much of it."""


class _Automaton:
    """States with edges on character ranges, and free edges that may ask for begin or end."""

    def __init__(self) -> None:
        self.edges: list[list[tuple[Ranges, int]]] = []
        self.free: list[list[tuple[str, int]]] = []  # "" any time, "^" at the start, "$" at the end

    def state(self) -> int:
        """Add a state and return its number."""
        if len(self.edges) >= _MAX_STATES:
            raise _UnknownError
        self.edges.append([])
        self.free.append([])
        return len(self.edges) - 1


def compare(before: str, after: str) -> str:
    """Say how a pattern relates to the one before: equal, wider, narrower, different or unknown.

    Patterns are in Go's syntax and match anywhere in a text. `different` means that each matches
    a text that the other does not.
    """
    if before == after:
        return "equal"
    try:
        return _walk(_build(before), _build(after))
    except (_UnknownError, RecursionError):
        return "unknown"


def example(
    yes: Iterable[str], no: Iterable[str] = (), *, least: int = 0, most: int | None = None
) -> str | None:
    """Return a shortest text that some patterns match and others do not; None if there is none.

    Args:
        yes: patterns in Go's syntax, all of which match the text somewhere.
        no: patterns that do not match it.
        least: the least length of the text, in code points.
        most: the greatest length, None for any.

    Raises:
        UndecidedError: a pattern cannot be read as an automaton, or the search grows too large.
    """
    wanted = [*yes]
    try:
        built = [_build(pattern) for pattern in (*wanted, *no)]
        letters = _letters(*(part[0] for part in built))
        runners = [_Runner(part, letters) for part in built]
        return _search(runners, len(wanted), letters, least, most)
    except (_UnknownError, RecursionError):
        raise UndecidedError from None


_States = tuple[frozenset[int], ...]


def _search(
    runners: list[_Runner], wanted: int, letters: list[int], least: int, most: int | None
) -> str | None:
    """Walk all automata length by length until each accepts as it should."""

    def found(states: _States, size: int) -> bool:
        accepts = [r.accepts(s, not size) for r, s in zip(runners, states, strict=True)]
        return all(accepts[:wanted]) and not any(accepts[wanted:])

    start = tuple(runner.start for runner in runners)
    # For each length, how each combination of states was reached first: from which, by which letter
    ways: list[dict[_States, tuple[_States, int]]] = [{start: (start, 0)}]
    seen: set[_States] = set()
    steps = 0
    while ways[-1] and (most is None or len(ways) - 1 <= most):
        size = len(ways) - 1
        if size >= least:
            for states in ways[-1]:
                if found(states, size):
                    return _spell(ways, states)
            seen.update(ways[-1])
        reached: dict[_States, tuple[_States, int]] = {}
        for states in ways[-1]:
            steps += 1
            nexts = [r.next(s) for r, s in zip(runners, states, strict=True)]
            for i, letter in enumerate(letters):
                target = tuple(found_next[i] for found_next in nexts)
                if target not in seen and target not in reached:
                    reached[target] = (states, letter)
        if steps > _MAX_STEPS:
            raise _UnknownError
        ways.append(reached)
    return None


def _spell(ways: list[dict[_States, tuple[_States, int]]], states: _States) -> str:
    text = []
    for reached in reversed(ways[1:]):
        states, letter = reached[states]
        text.append(chr(letter))
    return "".join(reversed(text))


def _build(pattern: str) -> tuple[_Automaton, int, int]:
    """Return the automaton of a pattern, with its first and its last state."""
    try:
        parsed = parse(pattern)
    except RegexError:
        raise _UnknownError from None
    into = _Automaton()
    first, last, start = into.state(), into.state(), into.state()
    into.edges[first].append(([(0, _TOP)], first))
    into.free[first].append(("", start))
    into.free[_node(into, parsed, start)].append(("", last))
    into.edges[last].append(([(0, _TOP)], last))
    return into, first, last


_CONDITIONS = {tree.BEGIN_TEXT: "^", tree.END_TEXT: "$"}


def _node(into: _Automaton, node: tree.Node, at: int) -> int:
    """Add one part of a pattern behind a state and return the state behind the part."""
    kind = node.kind
    if kind in (tree.EMPTY, tree.LITERAL):
        for rune in node.runes:
            folds = classes.orbit(rune) if node.flags & tree.FOLD else [rune]
            at = _letter(into, at, [(fold, fold) for fold in folds])
        return at
    if kind == tree.CLASS:
        return _letter(into, at, node.ranges)
    if kind in (tree.ANY, tree.ANY_NOT_NEWLINE):
        return _letter(into, at, [(0, _TOP)] if kind == tree.ANY else _inverse([(10, 10)]))
    if kind in (tree.CAPTURE, tree.CONCAT):
        for part in node.sub:
            at = _node(into, part, at)
        return at
    if kind == tree.ALTERNATE:
        end = into.state()
        for part in node.sub:
            start = into.state()
            into.free[at].append(("", start))
            into.free[_node(into, part, start)].append(("", end))
        return end
    if kind in _REPEATS:
        least, most = _REPEATS[kind] or (node.least, node.most)
        return _repeat(into, node.sub[0], least, most, at)
    if kind in _CONDITIONS:
        end = into.state()
        into.free[at].append((_CONDITIONS[kind], end))
        return end
    raise _UnknownError  # lines and word boundaries


_REPEATS: dict[int, tuple[int, int] | None] = {
    tree.STAR: (0, -1),
    tree.PLUS: (1, -1),
    tree.QUEST: (0, 1),
    tree.REPEAT: None,
}


def _letter(into: _Automaton, at: int, ranges: Ranges) -> int:
    end = into.state()
    into.edges[at].append((ranges, end))
    return end


def _repeat(into: _Automaton, part: tree.Node, least: int, most: int, at: int) -> int:
    """Write a repeat out; `most` is -1 where there is no end."""
    for _ in range(least):
        at = _node(into, part, at)
    end = into.state()
    into.free[at].append(("", end))
    if most < 0:
        start = into.state()
        into.free[at].append(("", start))
        into.free[_node(into, part, start)] += [("", start), ("", end)]
        return end
    for _ in range(most - least):
        at = _node(into, part, at)
        into.free[at].append(("", end))
    return end


def _inverse(ranges: Ranges) -> Ranges:
    found: Ranges = []
    at = 0
    for low, high in sorted(ranges):
        if low > at:
            found.append((at, low - 1))
        at = max(at, high + 1)
    if at <= _TOP:
        found.append((at, _TOP))
    return found


def _letters(*automata: _Automaton) -> list[int]:
    """Return one character of each class that no edge tells apart, the most readable first."""
    sets = {id(r): r for a in automata for edges in a.edges for r, _ in edges}
    distinct = list(dict.fromkeys(tuple(ranges) for ranges in sets.values()))
    changes: dict[int, int] = {0: 0}  # at a character: the sets that begin or end there, as bits
    for i, ranges in enumerate(distinct):
        for low, high in ranges:
            changes[low] = changes.get(low, 0) ^ (1 << i)
            changes[high + 1] = changes.get(high + 1, 0) ^ (1 << i)
    starts = sorted(at for at in changes if at <= _TOP)
    classes_at = []
    within = 0
    for at in starts:
        within ^= changes[at]
        classes_at.append(within)
    found: dict[int, int] = {}
    for char in map(ord, _READABLE):
        found.setdefault(classes_at[bisect(starts, char) - 1], char)
    for at, within in zip(starts, classes_at, strict=True):
        found.setdefault(within, at)
    return list(found.values())


class _Runner:
    """An automaton that is walked as sets of states."""

    def __init__(self, built: tuple[_Automaton, int, int], letters: list[int]) -> None:
        self.automaton, first, self.last = built
        self.count = len(letters)
        self.work = 0  # edges looked at, which bounds the time
        self.steps: dict[frozenset[int], list[frozenset[int]]] = {}
        self.ends: dict[frozenset[int], bool] = {}
        self.start = self.closure({first}, "^")
        known: dict[int, list[int]] = {}  # the letters of each set of ranges, by their index
        self.edges: list[list[tuple[list[int], int]]] = []
        for edges in self.automaton.edges:
            self.edges.append([])
            for ranges, target in edges:
                if id(ranges) not in known:
                    known[id(ranges)] = [i for i, x in enumerate(letters) if _inside(x, ranges)]
                self.edges[-1].append((known[id(ranges)], target))

    def closure(self, states: set[int], allowed: str) -> frozenset[int]:
        """Return the states that are reached for free."""
        stack = list(states)
        found = set(states)
        while stack:
            free = self.automaton.free[stack.pop()]
            self.work += 1 + len(free)
            for condition, target in free:
                if target not in found and (not condition or condition in allowed):
                    found.add(target)
                    stack.append(target)
        if self.work > _MAX_WORK:
            raise _UnknownError
        return frozenset(found)

    def accepts(self, states: frozenset[int], at_start: bool) -> bool:
        """Tell whether the text may end here."""
        if at_start:
            return self.last in self.closure(set(states), "^$")
        if states not in self.ends:
            self.ends[states] = self.last in self.closure(set(states), "$")
        return self.ends[states]

    def next(self, states: frozenset[int]) -> list[frozenset[int]]:
        """Return the states behind each letter."""
        known = self.steps.get(states)
        if known is None:
            known = self.steps[states] = self._next(states)
        return known

    def _next(self, states: frozenset[int]) -> list[frozenset[int]]:
        if self.last in states:  # it has matched already, whatever follows
            return [frozenset((self.last,))] * self.count
        targets: list[set[int]] = [set() for _ in range(self.count)]
        for state in states:
            for letters, target in self.edges[state]:
                self.work += len(letters)
                for letter in letters:
                    targets[letter].add(target)
        closed: dict[frozenset[int], frozenset[int]] = {}
        found = []
        for target_set in targets:
            key = frozenset(target_set)
            if key not in closed:
                closed[key] = self.closure(target_set, "")
            found.append(closed[key])
        return found


def _inside(char: int, ranges: Ranges) -> bool:
    return any(low <= char <= high for low, high in ranges)


def _walk(a: tuple[_Automaton, int, int], b: tuple[_Automaton, int, int]) -> str:
    letters = _letters(a[0], b[0])
    one, other = _Runner(a, letters), _Runner(b, letters)
    only_one = only_other = False
    start = (one.start, other.start)
    seen = {start}
    stack = [start]
    first = True
    while stack:
        x, y = stack.pop()
        p, q = one.accepts(x, first), other.accepts(y, first)
        first = False
        only_one |= p and not q
        only_other |= q and not p
        if only_one and only_other:
            return "different"
        for pair in set(zip(one.next(x), other.next(y), strict=True)):
            if pair not in seen:
                seen.add(pair)
                stack.append(pair)
        if len(seen) > _MAX_STEPS:
            raise _UnknownError
    if only_one:
        return "narrower"
    return "wider" if only_other else "equal"
