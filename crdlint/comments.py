"""Comments of YAML documents, told from what only looks like one inside of a text."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING

from crdlint import yaml_build

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crdlint.document import Document, Span

_BREAK = "\n\r\x85\u2028\u2029"  # what ends a line, and with it a comment, in YAML 1.1
# Anchor and tag belong to a scalar, but comments may stand behind them; one may end a block's head.
_PROPERTIES = rf"(?:[&!]\S*+(?:\s++(?:#[^{_BREAK}]*+)?)*+)*+"
_HEAD = rf"[|>][^{_BREAK}]*"
_START = rf"(?:\A|(?<=[ \t{_BREAK}]))#"
_END = rf"[{_BREAK}]|\Z"


class Comment:
    """A comment: its text from the `#` on, where it stands, and whether it has the line alone."""

    __slots__ = ("alone", "span", "text")

    def __init__(self, text: str, span: Span, *, alone: bool) -> None:
        self.text = text
        self.span = span
        self.alone = alone


def comments(document: Document, word: str) -> Iterator[Comment]:
    """Yield the comments of a document that have a word, in the order of the text.

    Where a document is no YAML, what follows its first error counts as outside of quotes.
    """
    if document.is_json or word not in document.text:
        return
    text = document.text
    spans = _opaque(document)
    starts = [start for start, _ in spans]
    end = 0
    for match in re.finditer(_START, text):
        here = match.start()
        if here < end:
            continue  # inside of the comment before
        at = bisect_right(starts, here) - 1
        if at >= 0 and here < spans[at][1]:
            continue  # inside of a text
        stop = re.compile(_END).search(text, here)
        end = stop.start() if stop else len(text)
        comment = text[here:end].rstrip()
        if word in comment:
            line = text.rfind("\n", 0, here) + 1
            alone = not text[line:here].strip()
            yield Comment(comment, document.place(here, here + len(comment)), alone=alone)


def _opaque(document: Document) -> list[tuple[int, int]]:
    """Return the offsets between which nothing is a comment: the insides of quotes and blocks."""
    text = document.text
    spans = []
    for start, end, style in yaml_build.quoted(document.chunk):
        inner = re.compile(_PROPERTIES + (_HEAD if style in "|>" else "")).match(text, start)
        spans.append((inner.end() if inner else start, end))
    return spans
