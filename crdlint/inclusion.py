"""Which of two patterns matches more texts: both are read as automata and walked side by side."""

from __future__ import annotations

import re
from typing import Any

_MAX_STATES = 6000  # of one automaton; repeats are written out
_MAX_STEPS = 30000  # pairs of sets of states that are looked at
_TOP = 0x10FFFF

Ranges = list[tuple[int, int]]

_CATEGORIES: dict[str, Ranges] = {
    "DIGIT": [(48, 57)],
    "SPACE": [(9, 10), (12, 13), (32, 32)],
    "WORD": [(48, 57), (65, 90), (95, 95), (97, 122)],
}


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


def _build(pattern: str) -> tuple[_Automaton, int, int]:
    """Return the automaton of a pattern, with its first and its last state."""
    from re import _parser as parser  # type: ignore[attr-defined]

    from crdlint import goregex

    try:
        compiled = goregex.compile(pattern)
        tree = parser.parse(compiled.pattern, compiled.flags & ~re.UNICODE & ~re.ASCII)
    except (goregex.RegexError, re.error, OverflowError):
        raise _UnknownError from None
    if (tree.state.flags | compiled.flags) & (re.IGNORECASE | re.MULTILINE):
        raise _UnknownError
    into = _Automaton()
    first, last = into.state(), into.state()
    dotall = bool((tree.state.flags | compiled.flags) & re.DOTALL)
    start = into.state()
    into.edges[first].append(([(0, _TOP)], first))
    into.free[first].append(("", start))
    end = _sequence(into, list(tree), start, dotall)
    into.free[end].append(("", last))
    into.edges[last].append(([(0, _TOP)], last))
    return into, first, last


def _sequence(into: _Automaton, items: list[Any], at: int, dotall: bool) -> int:
    for name, value in items:
        at = _item(into, str(name), value, at, dotall)
    return at


def _item(into: _Automaton, name: str, value: Any, at: int, dotall: bool) -> int:
    """Add one part of a pattern behind a state and return the state behind the part."""
    if name in ("LITERAL", "NOT_LITERAL", "ANY", "IN"):
        end = into.state()
        into.edges[at].append((_ranges(name, value, dotall), end))
        return end
    if name == "SUBPATTERN":
        _group, add, drop, inner = value
        if (add | drop) & (re.IGNORECASE | re.MULTILINE):
            raise _UnknownError
        inside = (dotall or bool(add & re.DOTALL)) and not drop & re.DOTALL
        return _sequence(into, list(inner), at, inside)
    if name == "BRANCH":
        end = into.state()
        for branch in value[1]:
            start = into.state()
            into.free[at].append(("", start))
            into.free[_sequence(into, list(branch), start, dotall)].append(("", end))
        return end
    if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        return _repeat(into, value, at, dotall)
    if name == "AT":
        condition = {"AT_BEGINNING": "^", "AT_BEGINNING_STRING": "^"}.get(str(value))
        condition = condition or {"AT_END": "$", "AT_END_STRING": "$"}.get(str(value))
        if condition is None:
            raise _UnknownError
        end = into.state()
        into.free[at].append((condition, end))
        return end
    raise _UnknownError


def _repeat(into: _Automaton, value: Any, at: int, dotall: bool) -> int:
    least, most, inner = value
    items = list(inner)
    for _ in range(least):
        at = _sequence(into, items, at, dotall)
    end = into.state()
    into.free[at].append(("", end))
    if most >= 2**31 or str(most) == "MAXREPEAT":
        start = into.state()
        into.free[at].append(("", start))
        last = _sequence(into, items, start, dotall)
        into.free[last] += [("", start), ("", end)]
        return end
    for _ in range(most - least):
        at = _sequence(into, items, at, dotall)
        into.free[at].append(("", end))
    return end


def _ranges(name: str, value: Any, dotall: bool) -> Ranges:
    if name == "LITERAL":
        return [(value, value)]
    if name == "NOT_LITERAL":
        return _inverse([(value, value)])
    if name == "ANY":
        return [(0, _TOP)] if dotall else _inverse([(10, 10)])
    found: Ranges = []
    negated = False
    for kind, item in value:
        if str(kind) == "NEGATE":
            negated = True
        elif str(kind) == "LITERAL":
            found.append((item, item))
        elif str(kind) == "RANGE":
            found.append(item)
        elif str(kind) == "CATEGORY":
            found += _category(str(item))
        else:
            raise _UnknownError
    return _inverse(found) if negated else found


def _category(name: str) -> Ranges:
    """Return the characters of a class such as digits, or its opposite, ASCII only as in Go."""
    word = name.removeprefix("CATEGORY_").removeprefix("UNI_")
    known = _CATEGORIES.get(word.removeprefix("NOT_"))
    if known is None:
        raise _UnknownError
    return _inverse(known) if word.startswith("NOT_") else known


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
    """Return one character of each class that no edge tells apart."""
    cuts = {0}
    for automaton in automata:
        for edges in automaton.edges:
            for ranges, _ in edges:
                for low, high in ranges:
                    cuts |= {low, high + 1}
    return sorted(cut for cut in cuts if cut <= _TOP)


class _Runner:
    """An automaton that is walked as sets of states."""

    def __init__(self, built: tuple[_Automaton, int, int], letters: list[int]) -> None:
        self.automaton, first, self.last = built
        self.letters = letters
        self.steps: dict[frozenset[int], list[frozenset[int]]] = {}
        self.ends: dict[frozenset[int], bool] = {}
        self.start = self.closure({first}, "^")

    def closure(self, states: set[int], allowed: str) -> frozenset[int]:
        """Return the states that are reached for free."""
        stack = list(states)
        found = set(states)
        while stack:
            for condition, target in self.automaton.free[stack.pop()]:
                if target not in found and (not condition or condition in allowed):
                    found.add(target)
                    stack.append(target)
        return frozenset(found)

    def accepts(self, states: frozenset[int], at_start: bool) -> bool:
        """Tell whether the text may end here."""
        key = states
        if at_start or key not in self.ends:
            full = self.closure(set(states), "^$" if at_start else "$")
            if at_start:
                return self.last in full
            self.ends[key] = self.last in full
        return self.ends[key]

    def next(self, states: frozenset[int]) -> list[frozenset[int]]:
        """Return the states behind each letter."""
        known = self.steps.get(states)
        if known is None:
            known = self.steps[states] = [self._step(states, letter) for letter in self.letters]
        return known

    def _step(self, states: frozenset[int], letter: int) -> frozenset[int]:
        if self.last in states:  # it has matched already, whatever follows
            return frozenset((self.last,))
        targets = {
            target
            for state in states
            for ranges, target in self.automaton.edges[state]
            if any(low <= letter <= high for low, high in ranges)
        }
        return self.closure(targets, "")


def _walk(a: tuple[_Automaton, int, int], b: tuple[_Automaton, int, int]) -> str:
    letters = _letters(a[0], b[0])
    one, other = _Runner(a, letters), _Runner(b, letters)
    only_one = only_other = False
    start = (one.start, other.start)
    seen = {start}
    stack = [start]
    first = True
    steps = 0
    while stack:
        x, y = stack.pop()
        p, q = one.accepts(x, first), other.accepts(y, first)
        first = False
        only_one |= p and not q
        only_other |= q and not p
        if only_one and only_other:
            return "different"
        for pair in zip(one.next(x), other.next(y), strict=True):
            if pair not in seen:
                seen.add(pair)
                stack.append(pair)
        steps += len(letters)
        if len(seen) > _MAX_STEPS or steps > 40 * _MAX_STEPS:
            raise _UnknownError
    if only_one:
        return "narrower"
    return "wider" if only_other else "equal"
