"""Where every key, value and item of a document starts and ends, for edits of its text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import yaml
from yaml import (
    AliasEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    StreamEndEvent,
)

from crdlint import yaml_scalars
from crdlint.yaml_scalars import ScalarError

if TYPE_CHECKING:
    from crdlint.document import Path

SCALAR, MAP, SEQ, ALIAS = "scalar", "map", "seq", "alias"
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")


class NotEditable(Exception):  # noqa: N818 - an answer, not a fault
    """A place that cannot be edited by machine; the message says why."""


class Node:
    """One value of a document: offsets into its text, counted in code points.

    `begin` counts anchor and tag in, `start` does not. `entries` has a (key, value) pair of nodes
    for each entry of a mapping, and (dash or item itself, item) for each of a sequence.
    `style` is that of a scalar: "", ', ", | or >.
    """

    __slots__ = (
        "_keys",
        "begin",
        "end",
        "entries",
        "flow",
        "kind",
        "start",
        "style",
        "target",
        "text",
    )

    def __init__(self, kind: str, begin: int, end: int) -> None:
        self.kind = kind
        self.begin = self.start = begin
        self.end = end
        self.entries: list[tuple[Node, Node]] = []
        self.flow = False
        self.style = ""
        self.text = ""  # of a key, as the server reads it
        self.target: Node | None = None
        self._keys: dict[str, int] | None = None

    def number(self, step: str | int) -> int | None:
        """Return the number of the entry that a step leads to: the last one, where keys repeat."""
        if self.kind == SEQ:
            here = type(step) is int and 0 <= step < len(self.entries)
            return int(step) if here else None
        if self._keys is None:
            keys = enumerate(key for key, _ in self.entries)
            self._keys = {key.text: at for at, key in keys if key.kind == SCALAR}
        return self._keys.get(str(step))

    def real(self) -> Node:
        """Return the node itself, or what an alias stands for."""
        return self.target if self.target is not None else self


class Outline:
    """The nodes of one document, and how its text is written.

    `json` says that keys are written in double quotes inside braces, `step` how many blanks a
    level is indented by, `indentless` that dashes stand below the first letter of their key.
    """

    __slots__ = ("indentless", "json", "root", "step", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.root = _parse(text)
        self.json = _is_json(self.root, text)
        self.step, self.indentless = self._style()

    def find(self, path: Path) -> Node:
        """Return the node at a path; aliases are followed. Raises NotEditable."""
        return self.entry(path)[2] if path else self.root

    def entry(self, path: Path) -> tuple[Node, int, Node]:
        """Return the container of the last step, the entry's number in it, and its value."""
        here = self.root
        found: tuple[Node, int, Node] | None = None
        for step in path:
            here = here.real()
            at = here.number(step)
            if at is None:
                raise NotEditable("it does not stand there by itself; a merge or an alias gives it")
            found = here, at, here.entries[at][1]
            here = found[2]
        if found is None:
            raise NotEditable("the document itself cannot be edited")
        return found[0], found[1], found[2].real()

    def column(self, offset: int) -> int:
        """Return how many characters stand before an offset on its line."""
        return offset - (self.text.rfind("\n", 0, offset) + 1)

    def line_start(self, offset: int) -> int:
        """Return the offset at which the line of an offset starts."""
        return self.text.rfind("\n", 0, offset) + 1

    def line_end(self, offset: int) -> int:
        """Return the offset of the line feed that ends the line of an offset."""
        end = self.text.find("\n", offset)
        return len(self.text) if end < 0 else end

    def first_on_line(self, offset: int) -> bool:
        """Tell whether nothing but white space stands before an offset on its line."""
        return not self.text[self.line_start(offset) : offset].strip()

    def _style(self) -> tuple[int, bool]:
        """Look at the first nested mapping and the first sequence in block style."""
        step, dashes = 0, None
        stack = [self.root]
        while stack and (not step or dashes is None):
            node = stack.pop()
            if node.flow:
                continue
            for key, value in node.entries:
                if node.kind == MAP and value.entries and not value.flow:
                    deeper = self.column(value.start) - self.column(key.begin)
                    if value.kind == SEQ and dashes is None:
                        dashes = deeper == 0
                    elif value.kind == MAP and deeper > 0:
                        step = step or deeper
            stack += [value for _, value in reversed(node.entries)]
        return step or 2, True if dashes is None else dashes


def _is_json(root: Node, text: str) -> bool:
    return (
        root.kind == MAP
        and root.flow
        and (not root.entries or text[root.entries[0][0].start] == '"')
    )


def _parse(text: str) -> Node:
    """Build the nodes of the first document of a text from the parser's events."""
    from crdlint.yaml_build import _parser

    # Half a surrogate pair is JSON but no YAML; only places count here.
    parser = _parser(_SURROGATE.sub(r"\\u0041", text))
    try:
        return _Nodes(text, parser.get_event).build()
    except (yaml.YAMLError, ScalarError) as error:
        raise NotEditable(f"its text cannot be taken apart: {error}") from None


class _Nodes:
    """One pass over the events of a document."""

    def __init__(self, text: str, get: Any) -> None:
        self.text = text
        self.get = get
        self.anchors: dict[str, Node] = {}

    def build(self) -> Node:
        self.get()
        if type(self.get()) is StreamEndEvent:
            raise NotEditable("it is empty")
        root: Node | None = None
        stack: list[Node] = []
        keys: list[Node | None] = []  # of each open mapping: the key that waits for its value
        while True:
            event = self.get()
            kind = type(event)
            if kind is MappingEndEvent or kind is SequenceEndEvent:
                node = stack.pop()
                keys.pop()
                self._close(node, event)
                if not stack:
                    break
                continue
            node = self._node(event)
            if root is None:
                root = node
            if stack:
                self._put(stack[-1], keys, node)
            if node.kind in (MAP, SEQ):
                stack.append(node)
                keys.append(None)
            elif not stack:
                break
        assert root is not None
        return root

    def _node(self, event: Any) -> Node:
        kind = type(event)
        begin, end = event.start_mark.index, event.end_mark.index
        if kind is ScalarEvent:
            node = Node(SCALAR, begin, end)
            node.style = event.style or ""
            node.text = _key_text(event)
            if event.anchor is not None or event.tag is not None:
                node.start = self._after_properties(begin)
            if node.style in ("|", ">"):
                node.end = begin + len(self.text[begin:end].rstrip("\n \t"))
        elif kind is AliasEvent:
            node = Node(ALIAS, begin, end)
            node.target = self.anchors[event.anchor]
        else:
            node = Node(MAP if kind is MappingStartEvent else SEQ, begin, end)
            node.flow = bool(event.flow_style)
            if event.anchor is not None or event.tag is not None:
                node.start = -1  # known with the first entry
                if node.flow:
                    node.start = self._after_properties(begin)
        anchor = getattr(event, "anchor", None)
        if anchor is not None and kind is not AliasEvent:
            self.anchors[anchor] = node
        return node

    def _after_properties(self, begin: int) -> int:
        match = re.compile(r"(?:[&!][^ \t\n]*[ \t\n]*)*").match(self.text, begin)
        return match.end() if match else begin

    def _put(self, here: Node, keys: list[Node | None], node: Node) -> None:
        if here.kind == MAP:
            if keys[-1] is None:
                keys[-1] = node
                if here.start < 0:
                    here.start = node.begin
            else:
                here.entries.append((keys[-1], node))
                keys[-1] = None
        else:
            here.entries.append((self._dash(here, node), node))

    def _dash(self, seq: Node, item: Node) -> Node:
        """Return a node for the dash of an item; in brackets there is none, so the item."""
        if seq.flow:
            return item
        at = seq.start
        if at < 0:
            at = seq.start = self.text.rindex("-", seq.begin, item.begin + 1)
        if seq.entries:
            column = at - (self.text.rfind("\n", 0, at) + 1)
            line = self.text.find("\n", seq.entries[-1][1].end) + 1
            while self.text[line : line + column + 1].strip() != "-":
                line = self.text.find("\n", line) + 1
                if not 0 < line <= item.begin:
                    raise NotEditable("its list is not written as lists are")
            at = line + column
        return Node(SCALAR, at, at + 1)

    @staticmethod
    def _close(node: Node, event: Any) -> None:
        if node.flow:
            node.end = event.end_mark.index
        elif node.entries:
            node.end = node.entries[-1][1].end
        if node.start < 0:
            node.start = node.begin


def _key_text(event: Any) -> str:
    """Return a scalar as the server reads it, were it a key."""
    if event.tag is None and event.implicit[0]:
        resolved = yaml_scalars.resolve(event.value)
        return "" if resolved is None else yaml_scalars.key(resolved)
    text: str = event.value
    return text
