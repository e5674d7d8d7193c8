"""Match by following sets of states: time grows with the text only, whatever the pattern."""

from __future__ import annotations

from bisect import bisect_right

from crdlint.goregex import classes
from crdlint.goregex import tree as syntax

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from crdlint.goregex.tree import Node

# What stands before or after a place in a text.
_EDGE, _NEWLINE, _WORD, _OTHER = 0, 1, 2, 3

_MAX_STATES = 300  # of more, sets of places in the text are faster
_MAX_REMEMBERED = 1_000_000  # steps, and states in sets, at one time: some 60 MB

ASSERTIONS = frozenset(
    (
        syntax.BEGIN_LINE,
        syntax.END_LINE,
        syntax.BEGIN_TEXT,
        syntax.END_TEXT,
        syntax.WORD_BOUNDARY,
        syntax.NO_WORD_BOUNDARY,
    )
)


class TooLargeError(Exception):
    """A pattern needs more states than are worth building."""


class _State:
    """Places a match may be at: states, what stands before, and the steps already known."""

    __slots__ = ("at_end", "before", "places", "steps")

    def __init__(self, places: frozenset[int], before: int) -> None:
        self.places = places
        self.before = before
        self.steps: dict[str, _State] = {}
        self.at_end: bool | None = None


class Automaton:
    """The states of a pattern; deterministic steps are made as texts ask for them."""

    def __init__(self, tree: Node) -> None:
        self.free: list[list[tuple[int, int]]] = [[], []]  # (assertion or 0, to)
        self.edges: list[list[tuple[list[tuple[int, int]], int]]] = [[], []]
        self._build(tree)
        self.matched = _State(frozenset((1,)), _OTHER)
        self.known: dict[tuple[frozenset[int], int], _State] = {}
        self.remembered = 0
        self.start = self._state(frozenset((0,)), _EDGE)

    def matches(self, text: str) -> bool:
        """Say whether a match begins anywhere in the text."""
        state, matched = self.start, self.matched
        for c in text:
            after = state.steps.get(c)
            state = self._step(state, c) if after is None else after
            if state is matched:
                return True
        if state.at_end is None:
            state.at_end = 1 in self._reach(state, _EDGE)
        return state.at_end

    def _state(self, places: frozenset[int], before: int) -> _State:
        key = (places, before)
        if key not in self.known:
            self.known[key] = _State(places, before)
            self.remembered += len(places)
        return self.known[key]

    def _step(self, state: _State, c: str) -> _State:
        kind = kind_of(c)
        reach = self._reach(state, kind)
        if 1 in reach:
            after = self.matched
        else:
            rune = ord(c)
            to = {0}
            for place in reach:
                for ranges, target in self.edges[place]:
                    at = bisect_right(ranges, (rune, classes.TOP)) - 1
                    if at >= 0 and rune <= ranges[at][1]:
                        to.add(target)
            after = self._state(frozenset(to), kind)
        self.remembered += 10
        if self.remembered > _MAX_REMEMBERED:
            self.remembered = 0
            for other in self.known.values():
                other.steps = {}
            self.known = {(self.start.places, _EDGE): self.start}
        state.steps[c] = after
        return after

    def _reach(self, state: _State, after: int) -> set[int]:
        """Return the places reached without reading on."""
        reach = set(state.places)
        todo = list(reach)
        while todo:
            for assertion, target in self.free[todo.pop()]:
                if target not in reach and (not assertion or holds(assertion, state.before, after)):
                    reach.add(target)
                    todo.append(target)
        return reach

    def _new(self) -> int:
        if len(self.free) >= _MAX_STATES:
            raise TooLargeError
        self.free.append([])
        self.edges.append([])
        return len(self.free) - 1

    def _build(self, tree: Node) -> None:
        """Add the states of every part between its first (0) and its last (1)."""
        todo = [(tree, 0, 1)]
        while todo:
            node, first, last = todo.pop()
            kind = node.kind
            if kind in ASSERTIONS:
                self.free[first].append((kind, last))
            elif kind == syntax.LITERAL:
                for at, rune in enumerate(node.runes, 1):
                    to = last if at == len(node.runes) else self._new()
                    self.edges[first].append((syntax.rune_ranges(rune, node.flags), to))
                    first = to
            elif kind == syntax.EMPTY or (kind == syntax.REPEAT and node.most == 0):
                self.free[first].append((0, last))
            elif kind == syntax.ALTERNATE:
                todo += [(sub, first, last) for sub in node.sub]
            elif kind in (syntax.CONCAT, syntax.CAPTURE):
                for at, sub in enumerate(node.sub, 1):
                    to = last if at == len(node.sub) else self._new()
                    todo.append((sub, first, to))
                    first = to
            elif node.sub:
                todo += self._repeat(node, first, last)
            else:
                self.edges[first].append((ranges_of(node), last))

    def _repeat(self, node: Node, first: int, last: int) -> Iterator[tuple[Node, int, int]]:
        sub = node.sub[0]
        least, most = bounds(node)
        for _ in range(least):
            to = self._new()
            yield sub, first, to
            first = to
        if most < 0:
            loop = self._new()
            self.free[first].append((0, loop))
            yield sub, loop, loop
            self.free[loop].append((0, last))
            return
        self.free[first].append((0, last))
        for _ in range(most - least):
            to = self._new()
            yield sub, first, to
            self.free[to].append((0, last))
            first = to


def bounds(node: Node) -> tuple[int, int]:
    """Return how often a repeat repeats at least and at most (-1: no end)."""
    if node.kind == syntax.REPEAT:
        return node.least, node.most
    return {syntax.STAR: (0, -1), syntax.PLUS: (1, -1)}.get(node.kind, (0, 1))


def ranges_of(node: Node) -> list[tuple[int, int]]:
    """Return what a class, or a dot, matches."""
    if node.kind == syntax.ANY:
        return [(0, classes.TOP)]
    if node.kind == syntax.ANY_NOT_NEWLINE:
        return [(0, 9), (11, classes.TOP)]
    return node.ranges


def kind_of(c: str) -> int:
    """Return what a character is to assertions: 1 a newline, 2 of a word, 3 else (0: no text)."""
    if c == "\n":
        return _NEWLINE
    return _WORD if c == "_" or (c.isascii() and c.isalnum()) else _OTHER


def holds(assertion: int, before: int, after: int) -> bool:
    """Say whether an assertion holds between two kinds of characters."""
    if assertion == syntax.BEGIN_TEXT:
        return before == _EDGE
    if assertion == syntax.END_TEXT:
        return after == _EDGE
    if assertion == syntax.BEGIN_LINE:
        return before <= _NEWLINE
    if assertion == syntax.END_LINE:
        return after <= _NEWLINE
    return ((before == _WORD) != (after == _WORD)) == (assertion == syntax.WORD_BOUNDARY)
