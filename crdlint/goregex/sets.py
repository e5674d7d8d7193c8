"""Match by sets of places in the text: counted repeats need not be written out as states."""

from __future__ import annotations

from bisect import bisect_right
from itertools import pairwise

from crdlint.goregex import classes
from crdlint.goregex import tree as syntax
from crdlint.goregex.run import bounds, holds, kind_of, ranges_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator

    from crdlint.goregex.tree import Node

    # A walk asks for the ends of a part that begins at some places, and is sent them.
    Walk = Generator[tuple[Node, int], int, int]

_MAX_KNOWN = 2_000_000  # words of 64 places in the results that are remembered
_CHAR_CLASSES = frozenset((syntax.CLASS, syntax.ANY, syntax.ANY_NOT_NEWLINE))
_REPEATS = frozenset((syntax.STAR, syntax.PLUS, syntax.QUEST, syntax.REPEAT))


def matches(tree: Node, text: str) -> bool:
    """Say whether a match begins anywhere in the text."""
    return _Sets(text).ends(tree) != 0


class _Sets:
    """A text, and sets of places in it as integers: bit i is the place before character i."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.chars = set(text)
        self.masks: dict[tuple[int, int], int] = {}
        self.assertions: dict[int, int] = {}
        self.known: dict[tuple[int, int], int] = {}
        self.max_known = _MAX_KNOWN // (len(text) // 64 + 8)

    def ends(self, tree: Node) -> int:
        """Return where matches end that begin anywhere; no recursion, however deep the tree."""
        walks = [self.walk(tree, (1 << (len(self.text) + 1)) - 1)]
        ends: int | None = None
        while walks:
            try:
                part, starts = next(walks[-1]) if ends is None else walks[-1].send(ends)
            except StopIteration as done:
                ends = done.value
                walks.pop()
            else:
                walks.append(self.walk(part, starts))
                ends = None
        return ends or 0

    def walk(self, node: Node, starts: int) -> Walk:
        """Return the ends of a part that begins at one of some places."""
        kind = node.kind
        if kind in _REPEATS:
            key = (id(node), starts)
            if key not in self.known:
                ends = yield from self.repeat(node, starts)
                if len(self.known) >= self.max_known:
                    self.known.clear()
                self.known[key] = ends
            return self.known[key]
        if kind in (syntax.CONCAT, syntax.CAPTURE):
            for sub in node.sub:
                if starts:
                    starts = yield sub, starts
            return starts
        if kind == syntax.ALTERNATE:
            ends = 0
            for sub in node.sub:
                ends |= yield sub, starts
            return ends
        if kind == syntax.EMPTY:
            return starts
        if kind == syntax.LITERAL:
            for rune in node.runes:
                starts = (starts & self.literal(rune, node.flags & syntax.FOLD)) << 1
            return starts
        if kind in _CHAR_CLASSES:
            return (starts & self.char_class(node)) << 1
        return starts & self.assertion(kind)

    def repeat(self, node: Node, starts: int) -> Walk:
        """Return the ends of a repeat; it is over when another time reaches no other place."""
        sub = node.sub[0]
        least, most = bounds(node)
        for _ in range(least):
            ends = yield sub, starts
            if ends in (0, starts):
                starts = ends
                break
            starts = ends
        mask = self.single(sub) if most < 0 else -1
        if mask >= 0:  # the carry of an addition runs as far as the class does
            return (((starts & mask) + mask) ^ mask) | starts
        reached = starts
        while starts and most != least:
            ends = yield sub, starts
            starts = ends & ~reached
            reached |= starts
            most -= 1
        return reached

    def single(self, node: Node) -> int:
        """Return the places before the one character that a part is, or -1 for other parts."""
        while node.kind == syntax.CAPTURE:
            node = node.sub[0]
        if node.kind in _CHAR_CLASSES:
            return self.char_class(node)
        if node.kind == syntax.LITERAL and len(node.runes) == 1:
            return self.literal(node.runes[0], node.flags & syntax.FOLD)
        return -1

    def literal(self, rune: int, fold: int) -> int:
        """Return the places before a rune."""
        key = (rune, fold)
        if key not in self.masks:
            self.masks[key] = self.mask(syntax.rune_ranges(rune, fold))
        return self.masks[key]

    def char_class(self, node: Node) -> int:
        """Return the places before a character of a class."""
        key = (id(node), -1)
        if key not in self.masks:
            self.masks[key] = self.mask(ranges_of(node))
        return self.masks[key]

    def mask(self, ranges: list[tuple[int, int]]) -> int:
        """Return the places before a character that ranges hold."""
        inside = set()
        for c in self.chars:
            at = bisect_right(ranges, (ord(c), classes.TOP)) - 1
            if at >= 0 and ord(c) <= ranges[at][1]:
                inside.add(c)
        return _bits([c in inside for c in self.text]) if inside else 0

    def assertion(self, kind: int) -> int:
        """Return the places where an assertion holds."""
        if kind not in self.assertions:
            kinds = [0, *map(kind_of, self.text), 0]
            self.assertions[kind] = _bits([holds(kind, a, b) for a, b in pairwise(kinds)])
        return self.assertions[kind]


def _bits(places: list[bool]) -> int:
    return int("".join("1" if here else "0" for here in reversed(places)) or "0", 2)
