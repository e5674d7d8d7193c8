"""Write a parsed pattern as one of Python's, or match by states where that could explode."""

from __future__ import annotations

import re

from crdlint.goregex import classes, sets
from crdlint.goregex import tree as syntax
from crdlint.goregex.run import Automaton, TooLargeError, bounds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeVar

    from crdlint.goregex.find import Finder
    from crdlint.goregex.tree import Node

    T = TypeVar("T")
    # (text, 0 one item / 1 a sequence / 2 alternatives, is empty everywhere, is always empty,
    # the sign of a repeat the text ends with)
    Text = tuple[str, int, bool, bool, str]
    # (factor, power of the text's length): how many ways there are to match; power -1: too many
    Ways = tuple[int, int]

_TOO_MANY = (1, -1)
_MAX_WAYS = 100_000
_MAX_POWER = 4
_MAX_COST = 300_000  # tries of a backtracking search
_MAX_PER_RUNE = 64
_MAX_ITEMS = 100_000  # runes and ranges in a pattern of Python's

_FIXED = {
    syntax.EMPTY: "",
    syntax.ANY_NOT_NEWLINE: ".",
    syntax.ANY: r"[\s\S]",
    syntax.BEGIN_LINE: r"(?<![^\n])",
    syntax.END_LINE: r"(?![^\n])",
    syntax.BEGIN_TEXT: "^",
    syntax.END_TEXT: r"\Z",
    syntax.WORD_BOUNDARY: r"\b",
    syntax.NO_WORD_BOUNDARY: r"(?!\b)",
}
_WIDE = frozenset((syntax.ANY, syntax.ANY_NOT_NEWLINE))


class Matcher:
    """A pattern ready to match texts."""

    flags = re.ASCII.value

    def __init__(self, tree: Node) -> None:
        self._tree = tree
        self._automaton: Automaton | None = None
        self._finder: Finder | None = None
        self._is_large = False
        self._compiled: re.Pattern[str] | None = None
        self._ways = _fold(tree, _ways)
        self._anchored = _anchored(tree)
        self._fits = _fold(tree, _length) <= _MAX_ITEMS

    @property
    def pattern(self) -> str:
        """What Python's pattern is, or would be."""
        return _fold(self._tree, _emit)[0]

    @property
    def compiled(self) -> re.Pattern[str] | Matcher:
        """Python's pattern, or this where Python cannot compile it (in reasonable time)."""
        if self._compiled is None and self._fits:
            try:
                self._compiled = re.compile(self.pattern, re.ASCII)
            except (RecursionError, OverflowError, MemoryError):
                self._fits = False
        return self._compiled or self

    def matches(self, text: str) -> bool:
        """Say whether a match begins anywhere in the text."""
        if not text.isascii():
            text = re.sub("[\ud800-\udfff]", "\ufffd", text)
        if self._is_cheap(len(text) + 1):
            compiled = self.compiled
            if isinstance(compiled, re.Pattern):
                return compiled.search(text) is not None
        return self.follow(text)

    def search(self, text: str) -> bool | None:
        """Return True where something matches, None where not, as `re` tells them apart."""
        return self.matches(text) or None

    def follow(self, text: str) -> bool:
        """Match by sets of states, or of places in the text where the states are too many."""
        if self._automaton is None and not self._is_large:
            try:
                self._automaton = Automaton(self._tree)
            except TooLargeError:
                self._is_large = True
        if self._automaton is None:
            return sets.matches(self._tree, text)
        return self._automaton.matches(text)

    def spans(self, text: str, most: int) -> Iterator[tuple[int, int]]:
        """Yield where at most so many matches are, one after the other; most < 0: all."""
        if self._finder is None:
            from crdlint.goregex.find import Finder

            self._finder = Finder(self._tree)
        return self._finder.matches(text, most)

    def _is_cheap(self, length: int) -> bool:
        factor, power = self._ways
        if power < 0:
            return False
        cost: int = factor * length ** (power if self._anchored else power + 1)
        return cost <= max(_MAX_COST, _MAX_PER_RUNE * length)


def _fold(tree: Node, work: Callable[[Node, list[T]], T]) -> T:
    """Work a tree out from its leaves up, without recursion."""
    done: list[T] = []
    todo = [(tree, False)]
    while todo:
        node, ready = todo.pop()
        if node.sub and not ready:
            todo.append((node, True))
            todo += [(sub, False) for sub in reversed(node.sub)]
            continue
        at = len(done) - len(node.sub)
        done[at:] = [work(node, done[at:])]
    return done[0]


def _anchored(tree: Node) -> bool:
    while tree.kind in (syntax.CONCAT, syntax.CAPTURE):
        tree = tree.sub[0]
    return tree.kind == syntax.BEGIN_TEXT


def _ways(node: Node, subs: list[Ways]) -> Ways:
    """Bound the number of ways a backtracking search may go through a node."""
    if any(power < 0 for _, power in subs):
        return _TOO_MANY
    if node.kind in (syntax.CONCAT, syntax.CAPTURE):
        factor, power = 1, 0
        for more, degree in subs:
            factor, power = factor * more, power + degree
    elif node.kind == syntax.ALTERNATE:
        factor, power = sum(more for more, _ in subs), max(degree for _, degree in subs)
    elif subs:
        factor, power = _repeat_ways(*bounds(node), *subs[0])
    else:
        return 1, 0
    return (factor, power) if factor <= _MAX_WAYS and power <= _MAX_POWER else _TOO_MANY


def _repeat_ways(least: int, most: int, factor: int, power: int) -> Ways:
    if (factor, power) == (1, 0):
        if most < 0 or most - least >= 4:
            return 1, 1
        return most - least + 1, 0
    if most < 0 or most > 8 or power * most > _MAX_POWER:
        return _TOO_MANY
    return (most - least + 1) * factor**most, power * most


def _length(node: Node, subs: list[int]) -> int:
    return 1 + len(node.runes) + len(node.ranges) + sum(subs)


def _emit(node: Node, subs: list[Text]) -> Text:
    kind = node.kind
    if kind in _FIXED:
        # An assertion is empty, but not everywhere: `(?:^a*){3}` asks for the `^`.
        empty = kind == syntax.EMPTY
        return _FIXED[kind], int(empty), empty, kind not in _WIDE, ""
    if kind == syntax.LITERAL:
        text = "".join(_class(syntax.rune_ranges(rune, node.flags)) for rune in node.runes)
        return text, int(len(node.runes) > 1), False, False, ""
    if kind == syntax.CLASS:
        return _class(node.ranges), 0, False, False, ""
    if kind == syntax.CAPTURE:
        return subs[0]
    if kind == syntax.CONCAT:
        text = "".join(_grouped(sub, 1) for sub in subs)
        return text, 1, all(sub[2] for sub in subs), all(sub[3] for sub in subs), ""
    if kind == syntax.ALTERNATE:
        text = "|".join(sub[0] for sub in subs)
        return text, 2, any(sub[2] for sub in subs), all(sub[3] for sub in subs), ""
    return _emit_repeat(*bounds(node), subs[0])


def _emit_repeat(least: int, most: int, sub: Text) -> Text:
    text, _, nullable, still, inner = sub
    if most == 0:
        return "", 1, True, True, ""
    if still:  # a place, not a text: once is as good as often
        return sub if least else ("", 1, True, True, "")
    if nullable:
        least = 0
    if (least, most) == (1, 1):
        return sub
    sign = {(0, -1): "*", (1, -1): "+", (0, 1): "?"}.get((least, most), "")
    if sign and inner:
        sign = inner if inner == sign else "*"
        return text[:-1] + sign, 1, sign != "+", False, sign
    count = sign or (f"{{{least}}}" if least == most else f"{{{least},{'' if most < 0 else most}}}")
    item = _grouped(sub, 0) if not inner else f"(?:{text})"
    return item + count, 1, nullable or not least, False, sign


def _grouped(sub: Text, level: int) -> str:
    return f"(?:{sub[0]})" if sub[1] > level else sub[0]


def _class(ranges: list[tuple[int, int]]) -> str:
    if not ranges:
        return "(?!)"
    if len(ranges) == 1 and ranges[0][0] == ranges[0][1]:
        return _rune(ranges[0][0])
    top = classes.TOP
    if ranges[-1][1] == top:
        rest = classes.negate(ranges)
        return f"[^{''.join(_items(rest))}]" if rest else _FIXED[syntax.ANY]
    return f"[{''.join(_items(ranges))}]"


def _items(ranges: list[tuple[int, int]]) -> Iterator[str]:
    for low, high in ranges:
        yield _rune(low)
        if high > low:
            yield ("-" if high > low + 1 else "") + _rune(high)


def _rune(rune: int) -> str:
    c = chr(rune)
    if c.isascii() and c.isprintable():
        return c if c.isalnum() or c in " _/" else "\\" + c
    if rune < 0x100:
        return f"\\x{rune:02x}"
    return f"\\u{rune:04x}" if rune < 0x10000 else f"\\U{rune:08x}"
