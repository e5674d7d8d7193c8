"""What a terminal needs: colours, text without control characters, and carets that line up."""

from __future__ import annotations

TAB = "    "
WIDEST = 160  # columns of a source line that are shown
LEAD = 60  # columns of them before the mark, where the line is longer

_CODES = {
    "error": "1;31",
    "warning": "1;33",
    "info": "1;36",
    "related": "1;34",
    "line": "1;34",
    "good": "1;32",
    "bold": "1",
    "dim": "2",
    "code": "36",
}
# What moves the cursor, hides text or turns its direction, and so could make a report lie.
_HIDDEN = dict.fromkeys(
    [
        *range(0x80, 0xA0),
        0xAD,
        0x200E,
        0x200F,
        *range(0x2028, 0x202F),
        *range(0x2060, 0x2070),
        0xFEFF,
    ],
    "\ufffd",
)
_SHOWN = {i: chr(0x2400 + i) for i in range(32)} | {127: "\u2421"} | _HIDDEN
_IN_LINE = _SHOWN | {9: TAB}
_IN_TEXT = _SHOWN | {9: " ", 10: "\\n", 13: "\\r"}


class Style:
    """Wraps text in colours, or leaves it as it is."""

    def __init__(self, *, color: bool) -> None:
        self.color = color

    def __call__(self, text: str, name: str) -> str:
        """Return the text in the colour of a severity or part of a report."""
        return f"\033[{_CODES[name]}m{text}\033[0m" if self.color and text else text

    def link(self, text: str, url: str) -> str:
        """Return the text as a link that terminals follow (OSC 8), where there is colour."""
        return f"\033]8;;{url}\033\\{text}\033]8;;\033\\" if self.color else text


def clean(text: str) -> str:
    """Return a text on one line, without control characters and lone surrogates."""
    return text if text.isascii() and text.isprintable() else _visible(text, _IN_TEXT)


def _visible(text: str, table: dict[int, str]) -> str:
    shown = text.translate(table)
    if any("\ud800" <= char <= "\udfff" for char in shown):
        shown = "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in shown)
    return shown


def width(text: str) -> int:
    """Return how many columns of a terminal a cleaned text takes."""
    if text.isascii():
        return len(text)
    # Imported late: most text is ASCII, and a clean run shows none.
    from unicodedata import category, east_asian_width

    return sum(
        0 if category(char) in ("Mn", "Me", "Cf") else 2 if east_asian_width(char) in "WF" else 1
        for char in text
    )


def excerpt(line: str, start: int, end: int) -> tuple[str, int, int]:
    """Return the part of a source line to show, and the columns before and under its mark.

    `start` and `end` are indices into the line; a mark is at least one column wide.
    """
    start = min(max(start, 0), len(line))
    end = min(max(end, start), len(line))
    left, right = 0, len(line)
    dots = ""
    if len(line) > WIDEST:
        left = max(0, min(start - LEAD, len(line) - WIDEST))
        right = left + WIDEST
        dots = "..." if left else ""
    end = min(end, right)
    before = dots + _visible(line[left:start], _IN_LINE)
    under = _visible(line[start:end], _IN_LINE)
    after = _visible(line[end:right], _IN_LINE) + ("..." if right < len(line) else "")
    return before + under + after, width(before), max(width(under), 1)


def cut(text: str, most: int) -> str:
    """Return a text, shortened with dots where it is longer than `most` characters."""
    return text if len(text) <= most else text[: most - 3] + "..."
