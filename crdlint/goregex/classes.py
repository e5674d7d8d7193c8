"""Sets of code points in patterns: ranges, case folding, the named classes of Go."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    Ranges = list[tuple[int, int]]

TOP = 0x10FFFF

_DIGIT = [(0x30, 0x39)]
_WORD = [(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)]

PERL: dict[str, Ranges] = {
    "d": _DIGIT,
    "s": [(0x09, 0x0A), (0x0C, 0x0D), (0x20, 0x20)],
    "w": _WORD,
}

POSIX: dict[str, Ranges] = {
    "alnum": [(0x30, 0x39), (0x41, 0x5A), (0x61, 0x7A)],
    "alpha": [(0x41, 0x5A), (0x61, 0x7A)],
    "ascii": [(0x00, 0x7F)],
    "blank": [(0x09, 0x09), (0x20, 0x20)],
    "cntrl": [(0x00, 0x1F), (0x7F, 0x7F)],
    "digit": _DIGIT,
    "graph": [(0x21, 0x7E)],
    "lower": [(0x61, 0x7A)],
    "print": [(0x20, 0x7E)],
    "punct": [(0x21, 0x2F), (0x3A, 0x40), (0x5B, 0x60), (0x7B, 0x7E)],
    "space": [(0x09, 0x0D), (0x20, 0x20)],
    "upper": [(0x41, 0x5A)],
    "word": _WORD,
    "xdigit": [(0x30, 0x39), (0x41, 0x46), (0x61, 0x66)],
}

# The one key of Go's categories that is not written as `_canonical` writes it.
_NOT_CANONICAL = {"Lc": "LC"}

_orbits: dict[int, tuple[int, ...]] = {}
_named: dict[tuple[str, bool], Ranges | None] = {}
_aliases: dict[str, str] = {}


def clean(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """Return ranges sorted, with those that overlap or touch merged."""
    out: Ranges = []
    last = -2
    for low, high in sorted(ranges):
        if low <= last + 1:
            if high > last:
                out[-1] = (out[-1][0], high)
                last = high
        else:
            out.append((low, high))
            last = high
    return out


def negate(ranges: Ranges) -> Ranges:
    """Return what clean ranges leave out."""
    out: Ranges = []
    start = 0
    for low, high in ranges:
        if start < low:
            out.append((start, low - 1))
        start = high + 1
    if start <= TOP:
        out.append((start, TOP))
    return out


def orbit(rune: int) -> tuple[int, ...]:
    """Return every code point that folds to the same as this one, least first."""
    if not _orbits:
        _fill_orbits()
    return _orbits.get(rune, (rune,))


def fold(ranges: Ranges) -> Ranges:
    """Return ranges with all that folds to the same added, clean."""
    if not _orbits:
        _fill_orbits()
    more = list(ranges)
    for low, high in ranges:
        if high - low < len(_orbits):
            for rune in range(low, high + 1):
                more += [(other, other) for other in _orbits.get(rune, ())]
        else:
            for rune, others in _orbits.items():
                if low <= rune <= high:
                    more += [(other, other) for other in others]
    return clean(more)


def named(name: str, folded: bool) -> Ranges | None:
    r"""Return the class `\p{name}`, or None where Go knows no such name."""
    key = (name, folded)
    if key not in _named:
        _named[key] = _look_up(_canonical(name), folded)
    return _named[key]


def _look_up(name: str, folded: bool) -> Ranges | None:
    from crdlint.goregex import tables

    if name == "Any":
        return [(0, TOP)]
    if name == "Assigned":
        return negate(_decode(tables.CATEGORIES["Cn"]))
    if name == "Ascii":
        return [(0, 0x7F), (0x17F, 0x17F), (0x212A, 0x212A)] if folded else [(0, 0x7F)]
    if not _aliases:
        _aliases.update({_canonical(alias): actual for alias, actual in tables.ALIASES.items()})
    parts = _categories(_NOT_CANONICAL.get(name, name), tables.CATEGORIES)
    actual = _NOT_CANONICAL.get(name, name)
    if not parts and name in tables.SCRIPTS:
        parts = [tables.SCRIPTS[name]]
    if not parts:
        actual = _aliases.get(name, "")
        parts = _categories(actual, tables.CATEGORIES)
    if not parts:
        return None
    ranges = [pair for part in parts for pair in _decode(part)]
    if folded and actual in tables.FOLD_MORE:
        ranges += _decode(tables.FOLD_MORE[actual])
    return clean(ranges)


def _categories(name: str, leaves: dict[str, str]) -> list[str]:
    if name == "LC":
        return [leaves["Lu"], leaves["Ll"], leaves["Lt"]]
    if name in leaves:
        return [leaves[name]]
    if len(name) == 1:
        return [table for leaf, table in leaves.items() if leaf[0] == name]
    return []


def _canonical(name: str) -> str:
    """Return a name as Go compares it: a capital first, no `_`, `-` or space."""
    name = name.translate({ord(c): None for c in "_- "})
    lowered = "".join(c.lower() if c.isascii() else c for c in name[1:])
    return (name[0].upper() if name[:1].isascii() else name[:1]) + lowered if name else ""


def _decode(table: str) -> Ranges:
    out: Ranges = []
    at = 0
    for token in table.split(" "):
        item, _, times = token.partition("*")
        gap, _, more = item.partition(".")
        skip, length = int(gap, 36), int(more, 36) if more else 0
        for _ in range(int(times, 36) if times else 1):
            at += skip
            out.append((at, at + length))
            at += length + 1
    return out


def _fill_orbits() -> None:
    from crdlint.goregex import tables

    for first, count, step, distance in tables.FOLD_PAIRS:
        for low in range(first, first + count * step, step):
            _orbits[low] = _orbits[low + distance] = (low, low + distance)
    for runes in tables.FOLD_SETS:
        for rune in runes:
            _orbits[rune] = runes
