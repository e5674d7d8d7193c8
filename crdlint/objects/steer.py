"""What a rule written in CEL looks at, and how to change an object there."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from crdlint.cel.syntax import CALL, COMPREHENSION, IDENT, LIST, LITERAL, SELECT, CelError, deep
from crdlint.cel.types import escape
from crdlint.govalues import same_go
from crdlint.objects.sample import ImpossibleError, open_
from crdlint.objects.texts import texts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crdlint.cel.syntax import Comprehension, Node
    from crdlint.objects.sample import Ask, Sampler

    Path = tuple[str | int, ...]

EACH = "*"  # stands in a way for each item of a list, or each value of a map
_THROUGH = frozenset(("orValue", "value", "hasValue", "or"))  # functions that give a part itself
_SHARP = frozenset(("startsWith", "endsWith", "contains", "matches"))
_FEW = 4
_MOST_SIZE = 300
_MOST_WAYS = 40
_A_WAY = 14  # values tried at one place


class Mention:
    """A part of an object that a rule looks at, and the literals it is held against."""

    __slots__ = ("literals", "way")

    def __init__(self, way: tuple[str, ...]) -> None:
        self.way = way
        self.literals: list[Any] = []


def mentions(text: str, minor: int) -> list[Mention]:
    """Return what a rule looks at, below `self`, in the order of the text; none if it is no CEL."""
    from crdlint.cel.parser import parse

    try:
        tree = parse(text, minor)
    except CelError:
        return []
    reader = _Reader()
    with deep():
        reader.read(tree)
    return reader.found()


class Ways:
    """Says which part of the object an expression stands for."""

    def __init__(self) -> None:
        self.names: dict[str, tuple[str, ...]] = {"self": (), "oldSelf": ()}

    def enter(self, node: Comprehension, within: tuple[str, ...]) -> None:
        """Let the variables of a loop stand for the items of a part."""
        for name in (node.var, node.var2):
            if name:
                self.names[name] = (*within, EACH)

    def way(self, node: Node) -> tuple[str, ...] | None:
        """Return which part of the object an expression is, or None."""
        if node.kind == IDENT:
            return self.names.get(node.name)
        if node.kind == SELECT:
            above = self.way(node.target)
            return None if above is None else (*above, node.name)
        if node.kind == CALL and node.name in ("_[_]", "_?._", "_[?_]"):
            above = self.way(node.args[0])
            key = node.args[1]
            if above is None:
                return None
            named = key.kind == LITERAL and isinstance(key.value, str)
            return (*above, key.value if named else EACH)
        if node.kind == CALL and node.name in _THROUGH and node.target is not None:
            return self.way(node.target)
        return None


class _Reader(Ways):
    """Collects what a rule mentions."""

    def __init__(self) -> None:
        super().__init__()
        self.by_way: dict[tuple[str, ...], Mention] = {}
        self.literals: list[Any] = []
        self.sharp: list[Any] = []

    def found(self) -> list[Mention]:
        """Return the mentions; literals of the whole rule stand behind those of each part."""
        for mention in self.by_way.values():
            first, mention.literals = mention.literals, []
            for one in (*first[:_FEW], *self.sharp, *first[_FEW:], *self.literals):
                if not any(same_go(one, known) for known in mention.literals):
                    mention.literals.append(one)
        found = sorted(self.by_way.values(), key=lambda mention: not mention.way)
        return found[:_MOST_WAYS]

    def read(self, node: Node) -> None:
        """Note what an expression mentions."""
        way = self.way(node)
        if way is not None:
            for size in range(len(way) + 1):
                self.by_way.setdefault(way[:size], Mention(way[:size]))
        if node.kind == LITERAL:
            self.literals.append(node.value)
        parts = _parts(node)
        if node.kind == CALL:
            self._held(node, parts)
        if node.kind == COMPREHENSION:
            within = self.way(node.target)
            if within is not None:
                self.enter(node, within)  # type: ignore[arg-type]
        for part in parts:
            self.read(part)

    def _held(self, node: Node, parts: list[Node]) -> None:
        """Give each part of the object that a call has the literals beside it."""
        beside = [one for part in parts for one in _literals(part)]
        if node.name in _SHARP:  # rather than the many values of a list
            self.sharp += beside
        for part in parts:
            for inner in (part, *_parts(part)):  # also self.a.size() == 3
                way = self.way(inner)
                if way is not None:
                    mention = self.by_way.setdefault(way, Mention(way))
                    mention.literals += beside


def _parts(node: Node) -> list[Node]:
    parts: list[Any] = [node.target, *(node.args if node.kind in (CALL, LIST) else ())]
    if node.kind == COMPREHENSION:
        parts += [getattr(node, name) for name in ("init", "condition", "step", "result")]
    return [part for part in parts if part is not None]


def _literals(node: Node) -> list[Any]:
    if node.kind == LITERAL:
        return [node.value]
    if node.kind == LIST:
        return [part.value for part in node.args if part.kind == LITERAL]
    return []


class Steering:
    """Makes variations of objects at what rules mention."""

    __slots__ = ("_known", "sampler")

    def __init__(self, sampler: Sampler) -> None:
        self.sampler = sampler
        self._known: dict[str, list[Mention]] = {}

    def variations(self, whole: Any, ask: Ask, text: str) -> Iterator[Any]:
        """Yield copies of a value that differ in one part that a rule mentions.

        `ask` is what is asked of the value that is the rule's `self`.
        """
        known = self._known.get(text)
        if known is None:
            known = self._known[text] = mentions(text, self.sampler.minor)
        for mention in known:
            yield from self._at(whole, ask, mention.way, mention.literals)

    def _at(self, value: Any, ask: Ask, way: tuple[str, ...], literals: list[Any]) -> Iterator[Any]:
        """Yield copies of a value that differ at a way below it."""
        if not way:
            yield from (new for new in self.choices(ask, literals) if not same_go(new, value))
            return
        name, rest = way[0], way[1:]
        if name == EACH and not isinstance(value, dict):
            yield from self._in_list(value, ask, rest, literals)
            return
        names = list(value)[:2] if isinstance(value, dict) else []
        for key in names if name == EACH else [_actual(ask, name)]:
            below = ask.field(key)
            if not below.schemas:
                continue
            here = value.get(key) if isinstance(value, dict) else None
            given = value if isinstance(value, dict) else {}
            if here is not None and not rest:
                yield {k: v for k, v in given.items() if k != key}
            for new in islice(self._at(here, below, rest, literals), _A_WAY):
                if given:
                    yield {**given, key: new}
                else:
                    yield from self._made(ask, key, new)

    def _made(self, ask: Ask, key: str, value: Any) -> Iterator[Any]:
        try:
            yield self.sampler.make_object(ask, {key: value})
        except ImpossibleError:
            return

    def _in_list(
        self, value: Any, ask: Ask, rest: tuple[str, ...], literals: list[Any]
    ) -> Iterator[Any]:
        items = value if isinstance(value, list) else []
        for i, item in enumerate(items[:2] or [None]):
            for new in islice(self._at(item, ask.item(), rest, literals), _A_WAY):
                if items:
                    yield [*items[:i], new, *items[i + 1 :]]
                for fixed in ([new], [new, new]) if not items else ():
                    try:
                        yield self.sampler.make_list(ask, ask.most("minItems"), fixed=fixed)
                    except ImpossibleError:
                        continue
                if len(items) == 1:
                    yield from ([*items, new], [new, new])

    def choices(self, ask: Ask, literals: Iterable[Any]) -> Iterator[Any]:
        """Yield values for a part, those that literals speak of first."""
        if not ask.schemas:
            return
        seen: list[Any] = []
        for value in self._tries(ask, list(literals)):
            if not any(same_go(value, other) for other in seen):
                seen.append(value)
                if self.sampler.takes(ask, value):
                    yield value
            if len(seen) > 4 * _A_WAY:
                return

    def _tries(self, ask: Ask, literals: list[Any]) -> Iterator[Any]:
        sampler = self.sampler
        sizes = [n for n in literals if type(n) is int and 0 <= n <= _MOST_SIZE]
        yield from islice(sampler.values(ask), 2)
        for literal in literals:
            if isinstance(literal, bool) or not isinstance(literal, (str, int, float)):
                continue
            yield literal
            if not isinstance(literal, str):
                yield from (literal + 1, literal - 1)
                if isinstance(literal, int) and 0 < literal <= _MOST_SIZE:
                    yield from self._keyed(ask, "a" * literal)
            else:
                yield from self._like(ask, literal)
                yield from self._keyed(ask, literal)
        yield from islice(sampler.values(ask), 8)
        for size in (0, 1, 2, *sizes, *(n + 1 for n in sizes)):
            yield from self._sized(ask, size)

    def _like(self, ask: Ask, literal: str) -> Iterator[Any]:
        """Yield texts around a literal: with it at either end, and as a pattern."""
        yield from (f"{literal}example", f"example{literal}")
        if not literal or literal.isalnum():
            return
        for yes in (True, False):
            demand = self.sampler.texts(ask)
            (demand.patterns if yes else demand.avoided).append(literal)
            yield from islice(texts(demand), 1)

    def _keyed(self, ask: Ask, literal: str) -> Iterator[Any]:
        """Yield a map with a literal as its key, and a list with it as its item."""
        try:
            if any(open_(schema) for schema in ask.wholes):
                yield {literal: self.sampler.first(ask.field(literal))}
        except ImpossibleError:
            return
        if ask.item().schemas:
            yield [literal]

    def _sized(self, ask: Ask, size: int) -> Iterator[Any]:
        sampler = self.sampler
        try:
            if ask.item().schemas:
                yield sampler.make_list(ask, size)
            elif ask.names() or any(open_(schema) for schema in ask.wholes):
                yield sampler.make_object(ask, size=size)
            else:
                demand = sampler.texts(ask)
                demand.least = max(demand.least, size)
                demand.most = size if demand.most is None else min(size, demand.most)
                yield from islice(texts(demand), 1)
        except ImpossibleError:
            return


def _actual(ask: Ask, name: str) -> str:
    """Return the field that CEL spells with a name."""
    for field in ask.names():
        if field == name or escape(field) == name:
            return field
    return name
