"""New keys and values written as the text around them is: block or brackets, YAML or JSON."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from crdlint import yaml_scalars
from crdlint.outline import MAP, SEQ, NotEditable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from crdlint.document import Path
    from crdlint.edits import Change
    from crdlint.outline import Node, Outline

# A text that every YAML reader takes for itself when it stands without quotes.
_PLAIN = re.compile(r"[A-Za-z_./$^(\\][\w./$^()\\+*?-]*(?: [\w./$^()\\+*?-]+)*", re.ASCII)
_SPECIAL = frozenset("y n yes no on off true false null nan inf .nan .inf ~ <<".split())
_CONTROL = re.compile("[^\x20-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")


class Edit:
    """A piece of a document's text, by offsets, and the text in its place.

    Of lines that are put in at one place, those of the deeper `column` come first.
    """

    __slots__ = ("column", "end", "start", "text")

    def __init__(self, start: int, end: int, text: str, column: int = 0) -> None:
        self.start = start
        self.end = end
        self.text = text
        self.column = column


class Writer:
    """Writes values into one document."""

    def __init__(self, outline: Outline) -> None:
        self.outline = outline
        self.text = outline.text

    def scalar(self, value: Any, quote: str = "") -> str:
        """Write a scalar, in the quotes of what it replaces where they can hold it."""
        if not isinstance(value, str):
            return json.dumps(value)
        if self.outline.json or quote == '"' or _CONTROL.search(value):
            return json.dumps(value, ensure_ascii=bool(_CONTROL.search(value)))
        if quote != "'" and is_plain(value):
            return value
        if yaml_scalars.value(value) != value and quote != "'":
            return json.dumps(value)  # a word that is quoted so that it stays one
        return "'" + value.replace("'", "''") + "'"

    def flow(self, value: Any) -> str:
        """Write a value on one line."""
        if isinstance(value, dict):
            inner = (f"{self.scalar(key)}: {self.flow(item)}" for key, item in value.items())
            return "{" + ", ".join(inner) + "}"
        if isinstance(value, list):
            return "[" + ", ".join(map(self.flow, value)) + "]"
        return self.scalar(value)

    def block(self, value: Any, indent: int) -> list[str]:
        """Write a value that is no empty one as lines, indented."""
        blank = " " * indent
        if isinstance(value, dict) and value:
            lines = []
            for key, item in value.items():
                lines += self.entry(self.scalar(key), item, indent)
            return lines
        if isinstance(value, list) and value:
            lines = []
            for item in value:
                first, *rest = self.block(item, indent + 2)
                lines += [f"{blank}- {first.lstrip()}", *rest]
            return lines
        return [blank + self.flow(value)]

    def entry(self, key: str, value: Any, indent: int) -> list[str]:
        """Write a key and its value as lines, indented."""
        blank = " " * indent
        if not isinstance(value, (dict, list)) or not value:
            return [f"{blank}{key}: {self.flow(value)}"]
        indentless = isinstance(value, list) and self.outline.indentless
        deeper = indent if indentless else indent + self.outline.step
        return [f"{blank}{key}:", *self.block(value, deeper)]

    def key(self, name: str, parent: Node, like: Node | None = None) -> str:
        """Write a key in the quotes of another key of its mapping."""
        if like is None and parent.flow and parent.entries:
            like = parent.entries[0][0]
        quote = like.style if like is not None and like.style in ("'", '"') else ""
        if not parent.flow and quote and like is not None and like is not parent.entries[0][0]:
            quote = ""
        return self.scalar(name, quote)

    def replacement(self, parent: Node, at: int, change: Change) -> tuple[int, int, str]:
        """Return what to put in place of a value: start, end and text."""
        key, old = parent.entries[at]
        value = change.value
        if change.source is not None:
            raise NotEditable("something stands there already")
        written = self.text[old.begin : old.end]
        if isinstance(value, (dict, list)) and value and not self._on_one_line(parent, old):
            behind = self._behind(parent, at)
            if old.entries and self.text[behind : old.begin].strip():
                raise NotEditable("a comment or an anchor stands before its value")
            column = self._column_below(parent, key, value)
            lines = "\n".join(self.block(value, column))
            if parent.kind == SEQ:
                return behind, max(old.end, behind), " " + lines.lstrip(" ")
            return behind, max(old.end, behind), "\n" + lines
        quote = old.style if old.style in ("'", '"') and isinstance(value, str) else ""
        text = self.flow(value) if isinstance(value, (dict, list)) else self.scalar(value, quote)
        behind = self._behind(parent, at)
        if not written:
            return behind, behind, f" {text}"
        if old.kind in (MAP, SEQ) and not old.flow and not self.text[behind : old.begin].strip():
            return behind, old.end, f" {text}"
        return old.begin, old.end, text

    def _on_one_line(self, parent: Node, old: Node) -> bool:
        return parent.flow or (old.flow and bool(old.entries))

    def _column_below(self, parent: Node, key: Node, value: Any) -> int:
        """Return the column at which the lines of a value below a key start."""
        own = self.outline.column(key.begin)
        if parent.kind == SEQ:
            return own + 2
        indentless = isinstance(value, list) and self.outline.indentless
        return own if indentless else own + self.outline.step

    def _behind(self, parent: Node, at: int) -> int:
        """Return the offset behind the colon of a key or behind a dash."""
        key, value = parent.entries[at]
        if parent.kind == SEQ:
            return key.end if not parent.flow else value.begin
        colon = self.text.find(":", key.end)
        if colon < 0 or (value.end > value.begin and colon >= value.begin):
            raise NotEditable("a key without a colon")
        return colon + 1

    def refill(self, node: Node, changes: list[Change]) -> Edit:
        """Return the edit that leaves nothing but new entries in a container."""
        value: Any
        if node.kind == SEQ:
            value = [change.value for change in changes]
        else:
            value = {str(change.path[-1]): change.value for change in changes}
        if node.flow or not value:
            # What is empty stands on the line of its key.
            head = len(self.text[: node.start].rstrip()) if not node.flow else 0
            if head and self.text[head - 1] == ":":
                return Edit(head, node.end, f" {self.flow(value)}")
            return Edit(node.start, node.end, self.flow(value))
        first = node.entries[0]
        column = self.outline.column(first[0].begin)
        return Edit(node.start, node.end, "\n".join(self.block(value, column)).lstrip(" "))

    def insertion(self, node: Node, at: int, first: int, changes: list[Change]) -> Edit:
        """Return the edit that puts new entries behind the entry `at`; -1: before `first`."""
        key, value = node.entries[first if at < 0 else at]
        if node.flow:
            pieces = [self._flow_entry(node, change) for change in changes]
            if at < 0:
                return Edit(key.begin, key.begin, "".join(f"{piece}, " for piece in pieces))
            line = self.outline.line_start(key.begin)
            own_line = self.outline.first_on_line(key.begin) and line > node.begin
            blank = self.text[line : key.begin]
            glue = f",\n{blank}" if own_line else ", "
            end = max(value.end, key.end)
            return Edit(end, end, "".join(glue + piece for piece in pieces))
        column = self.outline.column(key.begin)
        blocks = [self._block_entry(node, change, column) for change in changes]
        header = self.text[value.start : self.outline.line_end(value.start)].partition("#")[0]
        keeps = value.style in ("|", ">") and "+" in header
        if at < 0 or keeps:
            text = "\n".join(blocks).lstrip(" ")
            return Edit(key.begin, key.begin, f"{text}\n{' ' * column}")
        end = self.outline.line_end(max(value.end, key.end))
        return Edit(end, end, "".join(f"\n{block}" for block in blocks), column)

    def _flow_entry(self, node: Node, change: Change) -> str:
        if node.kind == SEQ:
            return self.flow(change.value)
        key = self.key(str(change.path[-1]), node)
        if change.source is not None:
            moved = self.outline.find(change.source)
            if moved.flow and not change.names:
                return f"{key}: {self.text[moved.start : moved.end]}"
        return f"{key}: {self.flow(change.value)}"

    def _block_entry(self, node: Node, change: Change, column: int) -> str:
        """Return a new entry of a container in block style, its lines indented."""
        blank = " " * column
        if node.kind == SEQ:
            first, *rest = self.block(change.value, column + 2)
            return "\n".join([f"{blank}- {first.lstrip()}", *rest])
        key = self.key(str(change.path[-1]), node)
        if change.source is not None:
            moved = self._moved(change.source, column, change.names)
            if moved is not None:
                return f"{blank}{key}:{moved}"
        return "\n".join(self.entry(key, change.value, column))

    def _moved(self, source: Path, column: int, names: Mapping[str, str]) -> str | None:
        """Return the text behind the colon of an entry, indented for a key at another column."""
        parent, at, value = self.outline.entry(source)
        if parent.flow or parent.kind != MAP or parent.entries[at][1] is not value:
            return None
        key = parent.entries[at][0]
        behind = self._behind(parent, at)
        end = self.outline.line_end(max(value.end, behind))
        text = self._renamed(behind, end, value, names) if names else self.text[behind:end]
        first, *rest = text.split("\n")
        shift = column - self.outline.column(key.begin)
        return "\n".join([first, *_shifted(rest, shift)])

    def _renamed(self, start: int, end: int, value: Node, names: Mapping[str, str]) -> str:
        """Return a piece of text with keys of a value, or of its items, renamed."""
        parts = []
        holders = [value] if value.kind == MAP else [item.real() for _, item in value.entries]
        for holder in holders:
            for key, _ in holder.entries if holder.kind == MAP else ():
                if key.text in names and start <= key.start < end:
                    parts += [self.text[start : key.start], self.key(names[key.text], holder, key)]
                    start = key.end
        return "".join([*parts, self.text[start:end]])


def _shifted(lines: Iterable[str], shift: int) -> Iterable[str]:
    """Move lines to the right, or to the left as far as they are blank there."""
    for line in lines:
        if not line.strip():
            yield line
        elif shift >= 0:
            yield " " * shift + line
        else:
            yield line[min(-shift, len(line) - len(line.lstrip(" "))) :]


def is_plain(text: str) -> bool:
    """Tell whether every reader of YAML takes an unquoted text for that text."""
    if text.lower() in _SPECIAL:
        return False
    return (
        _PLAIN.fullmatch(text) is not None
        and text.lower().lstrip("+-") not in (".inf", ".nan")
        and yaml_scalars.resolve(text) is text
        and not text.startswith((".", "-")) | text.endswith(":")
    ) or bool(re.fullmatch(r"\.[A-Za-z_][\w.]*(?:\[\d+\])?[\w.]*", text))
