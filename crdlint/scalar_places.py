"""Where a character of a text stands in the YAML that spells it: quotes, escapes, folds, blocks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    # Pieces of a scalar: where each stands and the character it spells, None for a line break.
    Pieces = Iterator[tuple[int, str | None]]

_BREAK = re.compile(r"[ \t]*\n(?:[ \t]*\n)*")
_HEADER = re.compile(r"[|>]([-+0-9]*)[ \t]*(?:#.*)?\n")
_SPACES = re.compile(r"[ \t]*")
_CODE = {"x": 2, "u": 4, "U": 8}
# Letters behind a backslash that do not stand for themselves.
_ESCAPES = {
    "0": "\0",
    "a": "\a",
    "b": "\b",
    "e": "\x1b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    "N": "\x85",
    "_": "\xa0",
    "L": "\u2028",
    "P": "\u2029",
}


def offset_of(source: str, start: int, value: str, index: int) -> int | None:
    """Return where in `source` the character `index` of a scalar's `value` stands.

    `start` is where the scalar starts, behind its anchor and tag. None where the source does not
    spell the value: an alias, or a place that was reckoned otherwise.
    """
    style = source[start : start + 1]
    if style in ("|", ">"):
        pieces = _block(source, start)
    elif style == '"':
        pieces = _double(source, start + 1)
    elif style == "'":
        pieces = _single(source, start + 1)
    else:
        pieces = _lines(source, start)
    at = 0
    for offset, char in pieces:
        # A line break is folded to a space, or it and the empty lines behind it give breaks.
        folded = " " if value.startswith(" ", at) else _breaks(value, at)
        spelled = folded if char is None else char
        if not value.startswith(spelled, at):
            return None
        at += len(spelled)
        if at > index:
            return offset
        if at == len(value):
            break
    return None


def _breaks(value: str, at: int) -> str:
    end = at
    while value.startswith("\n", end):
        end += 1
    return value[at:end]


def _lines(source: str, at: int) -> Pieces:
    """Read characters that stand for themselves, and folds: a plain scalar."""
    while at < len(source):
        if fold := _BREAK.match(source, at):
            yield at, None
            at = _past_indent(source, fold.end())
        else:
            yield at, source[at]
            at += 1


def _single(source: str, at: int) -> Pieces:
    while at < len(source):
        if fold := _BREAK.match(source, at):
            yield at, None
            at = _past_indent(source, fold.end())
            continue
        if source[at] == "'":
            if not source.startswith("''", at):
                return
            yield at, "'"
            at += 2
            continue
        yield at, source[at]
        at += 1


def _double(source: str, at: int) -> Pieces:
    while at < len(source):
        char = source[at]
        if char == '"':
            return
        if char == "\\":
            spelled, end = _escape(source, at)
            if spelled:
                yield at, spelled
            at = end
        elif fold := _BREAK.match(source, at):
            yield at, None
            at = _past_indent(source, fold.end())
        else:
            yield at, char
            at += 1


def _escape(source: str, at: int) -> tuple[str, int]:
    """Read an escape: what it spells ("" for an escaped line break), and where it ends."""
    letter = source[at + 1 : at + 2]
    if letter == "\n":
        return "", _past_indent(source, at + 2)
    if letter not in _CODE:
        return _ESCAPES.get(letter, letter), at + 2
    end = at + 2 + _CODE[letter]
    code = int(source[at + 2 : end], 16)
    # JSON spells what lies beyond the first plane in two halves.
    if 0xD800 <= code < 0xDC00 and source.startswith("\\u", end):
        low = int(source[end + 2 : end + 6], 16)
        return chr(0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00)), end + 6
    return chr(code), end


def _block(source: str, start: int) -> Pieces:
    """Read the lines of a literal or folded block without their indentation."""
    header = _HEADER.match(source, start)
    if header is None:
        return
    at = header.end()
    indent = _block_indent(source, start, at, header.group(1))
    fresh = True
    while at < len(source):
        if fresh:
            at, fresh = _inside(source, at, indent), False
        if source.startswith("\n", at):
            here = at
            while source.startswith("\n", at):
                at = _inside(source, at + 1, indent)
            yield here, None
        else:
            yield at, source[at]
            at += 1


def _block_indent(source: str, start: int, body: int, header: str) -> int:
    """Return how far the lines of a block are indented: as its first written line is."""
    digits = "".join(filter(str.isdigit, header))
    if digits:
        line = source.rfind("\n", 0, start) + 1
        return _indent_at(source, line) + int(digits)
    while source.startswith("\n", body + _indent_at(source, body)):
        body += _indent_at(source, body) + 1
    return _indent_at(source, body)


def _indent_at(source: str, line: int) -> int:
    end = line
    while source.startswith(" ", end):
        end += 1
    return end - line


def _inside(source: str, line: int, indent: int) -> int:
    """Step over the indentation of a line, which an empty line may lack."""
    return line + min(_indent_at(source, line), indent)


def _past_indent(source: str, at: int) -> int:
    match = _SPACES.match(source, at)
    return match.end() if match else at
