"""Read files into documents: plain data and positions, by the API server's YAML rules."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, Any

from crdlint import yaml_build
from crdlint.yaml_build import Built, Map, Path, Seq, YAMLError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "Document",
    "Duplicate",
    "Map",
    "Path",
    "Seq",
    "Span",
    "Surprise",
    "YAMLError",
    "load",
    "read",
]

_OVERRIDE = "merge-override"
_FEW = 32  # keys of a mapping that are looked through faster than a table is made
_BOM = b"\xef\xbb\xbf"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_SEPARATOR = re.compile(rb"^---", re.MULTILINE)
# apimachinery takes for JSON what starts with an opening brace, white space aside.
_JSON = re.compile(rb"(?:[\t\n\v\f\r ]|\xc2[\x85\xa0])*\{").match
_PRINTED = re.compile(rb"[!-~]").search
_SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)


class Span:
    """A piece of one line: line and column count from 1, in code points; the end is exclusive."""

    __slots__ = ("column", "end_column", "end_line", "line")

    def __init__(self, line: int, column: int, end_line: int, end_column: int) -> None:
        self.line = line
        self.column = column
        self.end_line = end_line
        self.end_column = end_column

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Span) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return "Span({}, {}, {}, {})".format(*self._key())

    def _key(self) -> tuple[int, int, int, int]:
        return self.line, self.column, self.end_line, self.end_column


class Duplicate:
    """A key that stands twice in one mapping: the last one counts, strict validation refuses."""

    __slots__ = ("first", "key", "path", "second")

    def __init__(self, path: Path, key: str, first: Span, second: Span) -> None:
        self.path = path
        self.key = key
        self.first = first
        self.second = second


class Surprise:
    """YAML that does not read as it looks.

    `kind` is "boolean-key", "boolean", "octal", "number", "dropped" or "merge-override"; `text`
    is what stands in the file.
    """

    __slots__ = ("kind", "path", "span", "text")

    def __init__(self, kind: str, path: Path, span: Span, text: str) -> None:
        self.kind = kind
        self.path = path
        self.span = span
        self.text = text


class _File:
    """The lines of a file, cut when somebody asks."""

    __slots__ = ("_data", "_lines", "name")

    def __init__(self, data: bytes, name: str) -> None:
        self.name = name
        self._data = data
        self._lines: list[bytes] | None = None

    def line(self, number: int) -> str:
        if self._lines is None:
            self._lines = self._data.removeprefix(_BOM).split(b"\n")
        if not 1 <= number <= len(self._lines):
            return ""
        return self._lines[number - 1].removesuffix(b"\r").decode("utf-8", "replace")


class Document:
    """One document of a file: its data and where everything in it stands.

    `data` is what the API server reads, None for an empty document and with an `error`. A document
    that was not read because it lacks the wanted word has `skipped`. `first_line` and `last_line`
    say which lines of the file it has.
    """

    __slots__ = (
        "_as_json",
        "_built",
        "_chunk",
        "_file",
        "_positions",
        "_ranks",
        "_starts",
        "_text",
        "data",
        "error",
        "first_line",
        "index",
        "name",
        "skipped",
    )

    def __init__(self, file: _File, index: int, chunk: bytes, first_line: int) -> None:
        self._file = file
        self._chunk = chunk
        self._as_json = False
        self._built = Built()
        self._text: str | None = None
        self._starts: list[int] = []
        self._ranks: tuple[Map | None, dict[str, int]] = None, {}
        self._positions: Any = None  # of JSON: mappings and sequences with marks, made when asked
        self.name = file.name
        self.index = index
        self.data: Any = None
        self.error: YAMLError | None = None
        self.skipped = False
        self.first_line = first_line

    @property
    def last_line(self) -> int:
        """Return the last line of the file that belongs to this document."""
        return self.first_line + max(self._chunk.count(b"\n") - 1, 0)

    @property
    def chunk(self) -> bytes:
        """Return the bytes of the document, without a byte order mark."""
        return self._chunk

    @property
    def text(self) -> str:
        """Return the text that offsets count in."""
        self._prepare()
        return self._text or ""

    @property
    def is_json(self) -> bool:
        """Say whether the document was read as JSON."""
        return self._as_json

    def line(self, number: int) -> str:
        """Return a line of the file, counted from 1, without its end; "" where there is none."""
        return self._file.line(number)

    def contains(self, pattern: re.Pattern[bytes]) -> bool:
        """Say whether the text of the document, parsed or not, has a match of a pattern."""
        chunk = self._chunk
        if self.is_utf16:
            chunk = _decode(chunk).encode("utf-8", "replace")
        return pattern.search(chunk) is not None

    @property
    def is_utf16(self) -> bool:
        """Say whether the text is marked as UTF-16, as some shells write what they redirect."""
        return self._chunk.startswith(_UTF16)

    def value(self, path: Path) -> Any:
        """Return the value at a path; raise LookupError where there is none."""
        here = self.data
        for step in path:
            here = here[step]
        return here

    def has(self, path: Path) -> bool:
        """Say whether there is a value, null included, at a path."""
        here = self.data
        for step in path:
            if not _holds(here, step):
                return False
            here = here[step]
        return True

    def locate(
        self, path: Path, *, key: bool = False, within: tuple[int, int] | None = None
    ) -> Span:
        """Return where the value at a path stands, or its key.

        For a mapping, a sequence and an unwritten null that is the key, or the first token of an
        item. Where the path ends too early, it is the key of the deepest part that is there.
        `within` is a line and a column, from 1, in the text that is the value: then it is the word
        there, as far as the file spells the text out.
        """
        here = self._marked()
        value = self.data
        mark = self._built.root
        in_key: int | None = None
        flow = False
        for step in path:
            if not _holds(here, step):
                key = True
                break
            flow = here.flow
            if isinstance(here, Map):
                at = 2 * self._rank(here, str(step))
                in_key, mark = here.marks[at], here.marks[at + 1]
            else:
                in_key, mark = None, here.marks[int(step)]
            here, value = here[step], value[step]
        if in_key is not None and (key or isinstance(value, (dict, list))):
            return self._span(in_key, flow, key=True)
        if within is not None and isinstance(value, str):
            inner = self._within(mark, value, within)
            if inner is not None:
                return inner
        if value is None and not self._written(mark):
            if in_key is not None:
                return self._span(in_key, flow, key=True)
            return self._span(max(mark - 1, 0), flow)
        return self._span(mark, flow, key=isinstance(value, dict))

    def _rank(self, here: Map, key: str) -> int:
        """Return where a key stands among those of its mapping; the last large one is kept."""
        if len(here) <= _FEW:
            return list(here).index(key)
        if self._ranks[0] is not here:
            self._ranks = here, {name: i for i, name in enumerate(here)}
        return self._ranks[1][key]

    @property
    def duplicates(self) -> list[Duplicate]:
        """Return the keys that stand twice in their mapping, in the order of the text."""
        self._marked()
        return [
            Duplicate(path, key, self._span(first, key=True), self._span(second, key=True))
            for path, key, first, second in self._built.duplicates
        ]

    @property
    def surprises(self) -> list[Surprise]:
        """Return what does not read as it looks, in the order of the text.

        What stands in a value that is lost, since its key stands again, does not count.
        """
        found = [
            Surprise(kind, path, self._around(index, "<<" if kind == _OVERRIDE else text), text)
            for kind, path, index, text in self._built.surprises
            if not self._lost(path, index)
        ]
        dropped = self._dropped()
        return found if dropped is None else [*found, dropped]

    def _lost(self, path: Path, index: int) -> bool:
        """Say whether what stands at an offset is overwritten by a key that comes later."""
        lost = self._built.lost
        return bool(lost) and any(index < lost.get(path[:n], 0) for n in range(1, len(path) + 1))

    def _around(self, start: int, text: str) -> Span:
        """Return the span of a plain scalar, which may have an anchor or a tag before it."""
        self._prepare()
        start = max((self._text or "").find(text, start), start)
        return self.place(start, start + len(text))

    def _dropped(self) -> Surprise | None:
        """Return the text that the server never reads because the document ended before it."""
        if self._built.end is None:
            return None
        self._prepare()
        text = self._text or ""
        match = re.compile(_UNREAD, re.MULTILINE).search(text, self._built.end)
        if match is None:
            return None
        line = text[match.start(1) : match.end(1)]
        return Surprise("dropped", (), self.place(match.start(1), match.end(1)), line)

    def _prepare(self) -> None:
        """Decode the text and find its lines, once."""
        if self._text is None:
            self._text = text = _decode(self._chunk)
            self._starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def _marked(self) -> Any:
        """Return the data with marks: that of JSON is made here, when somebody asks."""
        if self._positions is None:
            self._positions = self.data
            if self._as_json:
                from crdlint import json_text

                self._prepare()
                self._positions = json_text.positions(self._text or "", self._built)
        return self._positions

    def place(self, start: int, end: int) -> Span:
        """Return the span of offsets in the text, which lie on one line."""
        row = bisect_right(self._starts, start) - 1
        line = self.first_line + row
        return Span(line, start - self._starts[row] + 1, line, end - self._starts[row] + 1)

    def _line_end(self, start: int) -> int:
        end = (self._text or "").find("\n", start)
        return len(self._text or "") if end < 0 else end

    def _span(self, start: int, flow: bool = False, *, key: bool = False) -> Span:
        """Return the span of the token that starts at an offset, as far as its first line goes."""
        self._prepare()
        plain = _FLOW if flow else _KEY if key else _PLAIN
        pattern = rf"{_PROPERTY}({_QUOTED}|{_BLOCK_HEAD}|{_BRACKET}|{plain})"
        match = re.compile(pattern).match(self._text or "", start, self._line_end(start))
        if match is None:
            return self.place(start, start)
        return self.place(match.start(1), match.end(1))

    def _within(self, start: int, value: str, place: tuple[int, int]) -> Span | None:
        """Return the span of the word at a line and column of a text."""
        from crdlint.scalar_places import offset_of

        self._prepare()
        source = self._text or ""
        line, column = place
        at = 0
        for _ in range(line - 1):
            at = value.find("\n", at) + 1
        behind = re.compile(_PROPERTY).match(source, start)
        # A text that ends too early is at fault at its end.
        index = min(at + column, len(value)) - 1
        found = offset_of(source, behind.end() if behind else start, value, index)
        if found is None:
            return None
        word = re.compile(_WORD).match(source, found)
        return self.place(found, word.end() if word else found + 1)

    def _written(self, start: int) -> bool:
        """Say whether a null is written out."""
        self._prepare()
        return re.compile(_NULL).match(self._text or "", start) is not None


# What may stand at an offset. Compiled when somebody asks for a place: start-up counts.
_QUOTED = r""""(?:[^"\\]|\\.)*"?|'(?:[^']|'')*'?"""
_PROPERTY = r"(?:[&!][^ \t\n]*[ \t\n]+)*"
_NULL = _PROPERTY + r"(?:~|null|Null|NULL|!|\*)"
_BLOCK_HEAD = r"[|>][-+0-9]*(?=[ ]|$)"
_WORD = r"\w+|[&|=<>!]=?|."
_BRACKET = r"[\[{][\]}]?"


_PLAIN = r"[^ \t](?:[^ \t]|[ \t]+(?![ \t#]|$))*"
_KEY = r"(?:[^ \t:]|:(?![ \t]|$)|[ \t]+(?![ \t#]|:[ \t]|:?$))*"
_FLOW = r"(?:[^ \t:,\[\]{}]|:(?![ \t]|$)|[ \t]+(?![ \t#,\]}]|:[ \t]|:?$))*"

_UNREAD = r"^(?![ \t]*(?:#|$|\.\.\.[ \t]*$))[ \t]*(.*?)[ \t]*$"


def _holds(here: Any, step: str | int) -> bool:
    """Say whether a step leads anywhere from here."""
    if isinstance(here, dict):
        return step in here
    if isinstance(here, list):
        return type(step) is int and 0 <= step < len(here)
    return False


def _decode(chunk: bytes) -> str:
    if chunk.startswith(_UTF16):
        return chunk.decode("utf-16", "replace")
    return chunk.decode("utf-8", "replace")


def read(data: bytes, name: str, *, wanted: bytes | None = None) -> Iterator[Document]:
    """Read a file, one Document for each YAML document of it; never raises.

    A document that cannot contain the wanted word is not parsed; it comes with `skipped` set.
    """
    file = _File(data, name)
    for document in _split(file, data):
        chunk = document._chunk  # noqa: SLF001
        if document.error is not None:
            pass
        elif wanted is not None and not _possible(chunk, wanted):
            document.skipped = True
        elif not _JSON(chunk) or not _read_json(document):
            _read_yaml(document)
        yield document


def load(data: bytes) -> list[Any]:
    """Return the plain data of each document, JSON too, as the server's YAML reader gives it.

    An empty document is None. Raises YAMLError for the first document that cannot be read.
    """
    loaded = []
    for document in _split(_File(data, ""), data):
        if document.error is None:
            _read_yaml(document)
        if document.error is not None:
            raise document.error
        loaded.append(document.data)
    return loaded


def _possible(chunk: bytes, wanted: bytes) -> bool:
    """Say whether a chunk may hold a word: also in escapes, or in UTF-16."""
    return wanted in chunk or b"\\" in chunk or chunk.startswith(_UTF16)


def _split(file: _File, data: bytes) -> Iterator[Document]:
    """Cut a file like apimachinery's YAMLReader: at lines that start with `---`.

    A separator at the start of a document belongs to it. Chunks of white space count but give no
    document. A separator with text behind it ends the reading, and what stands before it is lost.
    """
    start, index, line, counted = 0, 0, 1, 0

    def chunk_at(end: int) -> Iterator[Document]:
        nonlocal line, counted
        line += data.count(b"\n", counted, start)
        counted = start
        chunk = data[start:end]
        if b"\r" in chunk:
            chunk = chunk.replace(b"\r\n", b"\n")
        if not chunk.endswith(b"\n"):
            chunk += b"\n"
        if not _blank(chunk):
            yield Document(file, index, chunk.removeprefix(_BOM), line)

    for match in _SEPARATOR.finditer(data):
        here = match.start()
        end = data.find(b"\n", here)
        end = len(data) if end < 0 else end
        text = data[here + 3 : end].decode("utf-8", "replace").strip(_SPACE)
        if text and text[0] != "#":
            line += data.count(b"\n", counted, here)
            document = Document(file, index, data[start:], line)  # all of this is lost
            message = f"invalid Yaml document separator: {text}"
            document.error = YAMLError(message)
            document.error.line, document.error.column = line, 4
            yield document
            return
        if here > start:
            yield from chunk_at(here)
            index += 1
            start = end + 1
    if start < len(data):
        yield from chunk_at(len(data))


def _blank(chunk: bytes) -> bool:
    return not _PRINTED(chunk) and not chunk.decode("utf-8", "replace").strip(_SPACE)


def _read_yaml(document: Document) -> None:
    """Read the document's text as YAML."""
    try:
        document._built = built = yaml_build.build(document._chunk)  # noqa: SLF001
    except YAMLError as error:
        if error.index is not None:
            document._prepare()  # noqa: SLF001
            span = document.place(error.index, error.index)
            error.line, error.column = span.line, span.column
        document.error = error
    else:
        document.data = built.data


def _read_json(document: Document) -> bool:
    """Read the document's text as JSON; return whether that is what it is, and all of it."""
    from crdlint import json_text

    try:
        document.data = json_text.parse(document._chunk)  # noqa: SLF001
    except (ValueError, RecursionError):
        return False
    document._as_json = True  # noqa: SLF001
    return True
