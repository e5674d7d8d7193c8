"""Changes of a document's data, and the edits of its text that make exactly these changes."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from crdlint.emit import Edit, Writer
from crdlint.outline import ALIAS, MAP, SEQ, NotEditable, Outline

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from crdlint.document import Path
    from crdlint.outline import Node

PUT, DROP, RENAME, APPEND, UNWRAP, UNSHADOW, MOVE = (
    "put",
    "drop",
    "rename",
    "append",
    "unwrap",
    "unshadow",
    "move",
)


class Change:
    """One change of the data at a path of a document.

    - put: the value at `path` becomes `value`; a new key goes behind the key `after`, else last.
    - drop: the entry or item at `path` goes.
    - rename: the key at `path` becomes `value`.
    - append: the list at `path` gets `value` as a new last item.
    - unwrap: the list of one item at `path` becomes that item.
    - unshadow: of the entries with the key of `path`, those go that a later one overwrites.
    - move: as put, with the text that stands at the path `source`, which stays where it is; keys
      of it, or of its items, get the names that `names` gives them.
    """

    __slots__ = ("after", "kind", "names", "path", "source", "value")

    def __init__(
        self,
        kind: str,
        path: Path,
        value: Any = None,
        *,
        after: str | None = None,
        source: Path | None = None,
        names: Mapping[str, str] | None = None,
    ) -> None:
        self.kind = kind
        self.path = path
        self.value = value
        self.after = after
        self.source = source
        self.names = names or {}

    def touched(self) -> Path:
        """Return what tells changes apart: the path, or the list and the value it gets."""
        if self.kind == APPEND:
            return (*self.path, f"+{self.value!r}")
        return self.path

    def below(self, prefix: Path) -> Change:
        """Return the same change of a document in which the data stands at a prefix."""
        source = None if self.source is None else (*prefix, *self.source)
        path = (*prefix, *self.path)
        return Change(
            self.kind, path, self.value, after=self.after, source=source, names=self.names
        )


@contextmanager
def no_collector() -> Iterator[None]:
    """Switch the garbage collector off: nothing of a document is garbage, and looking costs."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def changed(data: Any, changes: Iterable[Change]) -> Any:
    """Return a copy of plain data with changes made; aliases of it become data of their own."""
    new = plain(data)
    drops: list[Path] = []
    for change in changes:
        path = change.path
        if change.kind == DROP:
            drops.append(path)
        elif change.kind == APPEND:
            _at(new, path).append(plain(change.value))
        elif change.kind == RENAME:
            parent = _at(new, path[:-1])
            parent[change.value] = parent.pop(path[-1])
        elif change.kind == UNWRAP:
            (item,) = _at(new, path)
            _at(new, path[:-1])[path[-1]] = item
        elif change.kind in (PUT, MOVE):
            _at(new, path[:-1])[path[-1]] = plain(change.value)
    # Lists from their ends, so that the numbers of other items still hold; deep ones first.
    for path in sorted(set(drops), key=_depth_and_number, reverse=True):
        del _at(new, path[:-1])[path[-1]]
    return new


def _depth_and_number(path: Path) -> tuple[int, int]:
    return len(path), path[-1] if isinstance(path[-1], int) else 0


def _at(data: Any, path: Path) -> Any:
    for step in path:
        data = data[step]
    return data


def plain(data: Any) -> Any:
    """Copy data as plain dicts and lists that share nothing; without recursion."""
    top: list[Any] = [None]
    stack: list[tuple[Any, Any, Any]] = [(data, top, 0)]
    while stack:
        value, parent, key = stack.pop()
        new = value
        if isinstance(value, dict):
            new = dict.fromkeys(value)
            stack += [(inner, new, name) for name, inner in value.items()]
        elif isinstance(value, list):
            new = [None] * len(value)
            stack += [(inner, new, i) for i, inner in enumerate(value)]
        parent[key] = new
    return top[0]


def same(a: Any, b: Any) -> bool:
    """Tell whether two data are equal, types included; without recursion."""
    stack = [(a, b)]
    while stack:
        x, y = stack.pop()
        if isinstance(x, dict):
            if not isinstance(y, dict) or x.keys() != y.keys():
                return False
            stack += [(value, y[key]) for key, value in x.items()]
        elif isinstance(x, list):
            if not isinstance(y, list) or len(x) != len(y):
                return False
            stack += zip(x, y, strict=True)
        elif type(x) is not type(y) or x != y:
            return False
    return True


class Plan:
    """Changes of one document that do not get in each other's way, and their edits."""

    def __init__(self, outline: Outline) -> None:
        self.outline = outline
        self.changes: list[Change] = []
        self._edits: list[Edit] | None = None  # of all changes, as far as they are compiled
        self._touched: set[Path] = set()
        self._above: set[Path] = set()

    def add(self, changes: list[Change]) -> bool:
        """Take changes in, all or none; return whether they stand alone in what they touch.

        Raises NotEditable where the text does not allow one of them.
        """
        paths = {change.touched() for change in changes}
        for path in paths:
            above = {path[:i] for i in range(len(path))}
            if path in self._touched or path in self._above or above & self._touched:
                return False
        edits = _compile(self.outline, changes)  # raises before anything is kept
        self._edits = None if self.changes else edits
        for path in paths:
            self._touched.add(path)
            self._above.update(path[:i] for i in range(len(path)))
        self.changes += changes
        return True

    def edits(self) -> list[Edit]:
        """Return the edits of all changes, in the order of the text; raises NotEditable."""
        if self._edits is None:
            self._edits = _compile(self.outline, self.changes)
        return self._edits


class _Site:
    """What happens to the entries of one container."""

    __slots__ = ("added", "drops", "node")

    def __init__(self, node: Node) -> None:
        self.node = node
        self.drops: set[int] = set()
        self.added: dict[Any, tuple[Change, int | None]] = {}  # change, entry to stand behind


def _compile(outline: Outline, changes: list[Change]) -> list[Edit]:
    """Turn changes into edits that do not overlap."""
    writer = Writer(outline)
    sites: dict[int, _Site] = {}
    edits: dict[tuple[int, int, str], Edit] = {}

    def put(edit: Edit) -> None:
        # Two paths may lead to the same text through an alias; one edit does for both.
        edits.setdefault((edit.start, edit.end, edit.text), edit)

    def site(node: Node) -> _Site:
        return sites.setdefault(id(node), _Site(node))

    for change in changes:
        if change.kind == APPEND:
            node = outline.find(change.path).real()
            if node.kind != SEQ:
                raise NotEditable("it is no list")
            site(node).added.setdefault(repr(change.value), (change, None))
            continue
        parent = outline.find(change.path[:-1]).real()
        try:
            _, at, value = outline.entry(change.path)
        except NotEditable:
            if change.kind not in (PUT, MOVE) or parent.kind != MAP or _merges(parent):
                raise
            after = _after(parent, change.after)
            site(parent).added.setdefault(change.path[-1], (change, after))
            continue
        key, held = parent.entries[at]
        if change.kind == DROP:
            site(parent).drops.add(at)
        elif change.kind == RENAME:
            put(Edit(key.start, key.end, writer.key(change.value, parent, like=key)))
        elif change.kind == UNSHADOW:
            same_key = [i for i, (k, _) in enumerate(parent.entries) if k.text == change.path[-1]]
            site(parent).drops.update(same_key[:-1])
        elif change.kind == UNWRAP:
            for edit in _unwrap(value):
                put(edit)
        elif held.kind == ALIAS:
            raise NotEditable("an alias stands there")
        else:
            start, end, text = writer.replacement(parent, at, change)
            put(Edit(start, end, text))
    for place in sites.values():
        for edit in _entries(outline, writer, place):
            put(edit)
    return _in_order(edits.values())


def _in_order(edits: Iterable[Edit]) -> list[Edit]:
    ordered = sorted(edits, key=lambda edit: (edit.start, edit.end, -edit.column))
    end = 0
    for edit in ordered:
        if edit.start < end:
            # New lines behind a line that goes: put in before the next line instead.
            if edit.start == edit.end == end - 1 and edit.text.startswith("\n"):
                edit.start = edit.end = end
                edit.text = edit.text[1:] + "\n"
            else:
                raise NotEditable("two edits meet in the text")
        end = max(end, edit.end)
    return sorted(ordered, key=lambda edit: edit.start)


def _merges(node: Node) -> bool:
    """Tell whether a mapping takes entries from another one."""
    return any(key.text == "<<" for key, _ in node.entries)


def _after(parent: Node, key: str | None) -> int | None:
    for at, (node, _) in enumerate(parent.entries):
        if key is not None and node.text == key:
            return at
    return None


def _unwrap(node: Node) -> list[Edit]:
    """Take the only item of a list out of it: blank its dash, or take the brackets away."""
    if node.kind != SEQ or len(node.entries) != 1:
        raise NotEditable("it is no list of one item")
    dash, item = node.entries[0]
    if node.flow:
        return [Edit(node.start, item.begin, ""), Edit(item.end, node.end, "")]
    return [Edit(dash.start, dash.end, " ")]


def _entries(outline: Outline, writer: Writer, site: _Site) -> list[Edit]:
    """Return the edits that take entries out of a container and put new ones in."""
    node = site.node
    kept = [i for i in range(len(node.entries)) if i not in site.drops]
    added: dict[int, list[Change]] = {}
    for change, after in site.added.values():
        last = len(node.entries) - 1 if after is None else after
        behind = [i for i in kept if i <= last]
        added.setdefault(behind[-1] if behind else -1, []).append(change)
    if not kept:
        return [writer.refill(node, added.get(-1, []))]
    edits = [Edit(*span, "") for span in _spans(outline, node, site.drops)]
    for at, changes in added.items():
        edits.append(writer.insertion(node, at, kept[0], changes))
    return edits


def _spans(outline: Outline, node: Node, drops: set[int]) -> Iterable[tuple[int, int]]:
    """Return the pieces of text that go with some entries, of which at least one stays."""
    entries = node.entries
    for first in sorted(drops):
        if first - 1 in drops:
            continue  # part of a run that is dealt with
        last = first
        while last + 1 in drops:
            last += 1
        start, end = entries[first][0].begin, entries[last][1].end
        if node.flow:
            if last + 1 < len(entries):
                yield start, entries[last + 1][0].begin
            else:
                yield entries[first - 1][1].end, end
            continue
        if not outline.first_on_line(start):
            # Behind a dash or `? `: the next entry takes the place, or the lines below it stay.
            following = entries[last + 1][0].begin if last + 1 < len(entries) else None
            line = outline.line_end(end)
            if following is not None and not outline.text[line:following].strip():
                yield start, following
            else:
                yield start, line
            continue
        for at in range(first, last + 1):
            begin = outline.line_start(entries[at][0].begin)
            yield begin, min(outline.line_end(_end(entries[at])) + 1, len(outline.text))


def _end(entry: tuple[Node, Node]) -> int:
    return max(entry[0].end, entry[1].end)


def apply(text: str, edits: Iterable[Edit]) -> str:
    """Return a text with edits made, which are in order and do not overlap."""
    parts = []
    here = 0
    for edit in edits:
        parts += [text[here : edit.start], edit.text]
        here = edit.end
    return "".join([*parts, text[here:]])
