"""Find where a pattern matches: Go's leftmost match, with the preferences of its operators."""

from __future__ import annotations

from bisect import bisect_right

from crdlint.goregex import classes
from crdlint.goregex import tree as syntax
from crdlint.goregex.run import ASSERTIONS, bounds, holds, kind_of, ranges_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from crdlint.goregex.tree import Node

    # Where a match may be at, and where it began; the best come first.
    Threads = list[tuple[int, int]]

_START, _MATCH = 0, 1


class Finder:
    """The states of a pattern. From each there are ways on, in the order of preference.

    All matches are followed at once, as in Go's machine, so that time grows with the length of
    the text times the number of states.
    """

    def __init__(self, tree: Node) -> None:
        self.free: list[list[tuple[int, int]]] = [[], []]  # (assertion or 0, to)
        self.edges: list[tuple[list[tuple[int, int]], int] | None] = [None, None]
        self.nullable = _nullable(tree)
        self._build(tree)

    def matches(self, text: str, most: int) -> Iterator[tuple[int, int]]:
        """Yield the spans of at most so many matches; most < 0: of all."""
        kinds = [0, *map(kind_of, text), 0]
        at, before = 0, -1
        while most and at <= len(text):
            span = self._first(text, kinds, at)
            if span is None:
                return
            start, end = span
            # An empty match directly behind another one does not count.
            if end != at or start != before:
                yield span
                most -= 1
            at = end + 1 if end == at else end
            before = end

    def _first(self, text: str, kinds: list[int], at: int) -> tuple[int, int] | None:
        threads: Threads = []
        seen: set[int] = set()
        found: tuple[int, int] | None = None
        while True:
            if found is None:
                self._add(threads, seen, (_START, at), kinds[at : at + 2])
            elif not threads:
                return found
            after: Threads = []
            seen = set()
            for state, start in threads:
                if state == _MATCH:
                    found = (start, at)
                    break
                edge = self.edges[state]
                if edge is not None and at < len(text) and _in(ord(text[at]), edge[0]):
                    self._add(after, seen, (edge[1], start), kinds[at + 1 : at + 3])
            threads = after
            if at == len(text):
                return found
            at += 1

    def _add(
        self, threads: Threads, seen: set[int], thread: tuple[int, int], around: list[int]
    ) -> None:
        """Add what is reached from a state without reading on."""
        state, start = thread
        todo = [state]
        before, after = around
        while todo:
            state = todo.pop()
            if state in seen:
                continue
            seen.add(state)
            if state == _MATCH or self.edges[state] is not None:
                threads.append((state, start))
            todo += [
                to
                for assertion, to in reversed(self.free[state])
                if not assertion or holds(assertion, before, after)
            ]

    def _new(self) -> int:
        self.free.append([])
        self.edges.append(None)
        return len(self.free) - 1

    def _build(self, tree: Node) -> None:
        """Add the states of every part between its first and its last; each first is its own."""
        todo = [(tree, _START, _MATCH)]
        while todo:
            node, first, last = todo.pop()
            kind = node.kind
            if kind in ASSERTIONS:
                self.free[first].append((kind, last))
            elif kind == syntax.LITERAL:
                for at, rune in enumerate(node.runes, 1):
                    to = last if at == len(node.runes) else self._new()
                    self.edges[first] = (syntax.rune_ranges(rune, node.flags), to)
                    first = to
                if not node.runes:
                    self.free[first].append((0, last))
            elif kind == syntax.ALTERNATE:
                for sub in node.sub:
                    way = self._new()
                    self.free[first].append((0, way))
                    todo.append((sub, way, last))
            elif kind in (syntax.CONCAT, syntax.CAPTURE):
                todo += self._chain(node.sub, first, last)
            elif node.sub:
                todo += self._repeat(node, first, last)
            elif kind == syntax.EMPTY:
                self.free[first].append((0, last))
            else:
                self.edges[first] = (ranges_of(node), last)

    def _chain(self, subs: list[Node], first: int, last: int) -> Iterator[tuple[Node, int, int]]:
        if not subs:
            self.free[first].append((0, last))
        for at, sub in enumerate(subs, 1):
            to = last if at == len(subs) else self._new()
            yield sub, first, to
            first = to

    def _repeat(self, node: Node, first: int, last: int) -> Iterator[tuple[Node, int, int]]:
        """Write a repeat out as Go does: copies, then a loop or copies that are optional."""
        sub = node.sub[0]
        least, most = bounds(node)
        lazy = bool(node.flags & syntax.NON_GREEDY)
        for _ in range(least - 1 if most < 0 else least):
            to = self._new()
            yield sub, first, to
            first = to
        if most < 0:
            yield self._loop(node, (first, last), lazy=lazy)
            return
        for _ in range(most - least):
            body, to = self._new(), self._new()
            self._choose(first, body, last, lazy=lazy)
            yield sub, body, to
            first = to
        self.free[first].append((0, last))

    def _loop(self, node: Node, span: tuple[int, int], *, lazy: bool) -> tuple[Node, int, int]:
        first, last = span
        sub = node.sub[0]
        again, body = self._new(), self._new()
        self._choose(again, body, last, lazy=lazy)
        if bounds(node)[0] > 0:
            self.free[first].append((0, body))
        elif self.nullable[id(sub)]:
            self._choose(first, body, last, lazy=lazy)
        else:
            self.free[first].append((0, again))
        return sub, body, again

    def _choose(self, state: int, body: int, last: int, *, lazy: bool) -> None:
        ways = [(0, body), (0, last)]
        self.free[state] += reversed(ways) if lazy else ways


def _in(rune: int, ranges: list[tuple[int, int]]) -> bool:
    at = bisect_right(ranges, (rune, classes.TOP)) - 1
    return at >= 0 and rune <= ranges[at][1]


def _nullable(tree: Node) -> dict[int, bool]:
    """Tell of each part, by its id, whether it may match nothing; assertions may."""
    known: dict[int, bool] = {}
    todo = [tree]
    while todo:
        node = todo[-1]
        unknown = [sub for sub in node.sub if id(sub) not in known]
        if unknown:
            todo += unknown
            continue
        todo.pop()
        subs = [known[id(sub)] for sub in node.sub]
        if node.kind == syntax.ALTERNATE:
            known[id(node)] = any(subs)
        elif node.kind in (syntax.CONCAT, syntax.CAPTURE):
            known[id(node)] = all(subs)
        elif node.sub:
            known[id(node)] = subs[0] or not bounds(node)[0]
        elif node.kind == syntax.LITERAL:
            known[id(node)] = not node.runes
        else:
            known[id(node)] = node.kind == syntax.EMPTY or node.kind in ASSERTIONS
    return known
