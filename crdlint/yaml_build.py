"""Build plain data and positions from libyaml's events, by the rules of go-yaml v2."""

from __future__ import annotations

import gc
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import yaml
from yaml import (
    AliasEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)
from yaml.reader import ReaderError

from crdlint import yaml_scalars
from crdlint.yaml_scalars import STARTS, ScalarError

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    Read = TypeVar("Read")

Path = tuple[str | int, ...]

MAX_DEPTH = 10_000  # go-yaml's limit of indents and of flow levels, and encoding/json's
_TOO_DEEP = f"exceeded max depth of {MAX_DEPTH}"
_MAX_MERGES = 100
_MAX_RETRIES = 50
_LIBYAML_DEPTH = "maximum nesting"
_MERGE_TAG = "tag:yaml.org,2002:merge"
_BOM = "\ufeff"
_SURROGATE = "[\ud800-\udfff]"
_ESCAPED_SLASH = re.compile(r"(?<!\\)(?:\\\\)*\\/")
# A colon that libyaml refuses at the end of a plain scalar in brackets, and go-yaml reads as text.
_END_COLON = re.compile(r"""(?<=[^\s"'\[\]{},]):(?=[,?\[\]{}])""")
# What go-yaml lets come from aliases (decode.go): 99 % of up to 400,000 values, 10 % of 4,000,000.
_RATIO_LOW = 400_000
_RATIO_HIGH = 4_000_000


class YAMLError(Exception):
    """Text that the API server cannot read; line and column count from 1, or are None."""

    def __init__(self, message: str, index: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.index = index  # code points from the start of the document's text
        self.line: int | None = None
        self.column: int | None = None

    def __str__(self) -> str:
        where = f"line {self.line}, column {self.column}: " if self.line else ""
        return where + self.message


class Map(dict[str, Any]):
    """A mapping, with the offsets of its keys and values in `marks`: key, value, key, value ...

    `flow` says that it is in brackets.
    """

    __slots__ = ("flow", "marks")
    flow: bool
    marks: list[int]


class Seq(list[Any]):
    """A sequence, with the offsets of its items in `marks`; `flow` says that it is in brackets."""

    __slots__ = ("flow", "marks")
    flow: bool
    marks: list[int]


class Built:
    """One document as data; places are offsets in code points from the start of its text.

    `duplicates` has (path, key, first offset, second offset), `surprises` (kind, path, offset,
    text), `lost` the path of each key that stands again, with the offset where it does. `end` is
    where the document ends when something follows that is never read, else None.
    """

    __slots__ = ("data", "duplicates", "end", "lost", "root", "surprises")

    def __init__(self) -> None:
        self.data: Any = None
        self.root = 0
        self.end: int | None = None
        self.duplicates: list[tuple[Path, str, int, int]] = []
        self.surprises: list[tuple[str, Path, int, str]] = []
        self.lost: dict[Path, int] = {}


def _python_parser(text: bytes | str) -> Any:
    """Return PyYAML's own parser: for installations without libyaml, and for deep documents."""
    from yaml.parser import Parser
    from yaml.reader import Reader
    from yaml.scanner import Scanner, ScannerError

    class PythonParser(Reader, Scanner, Parser):
        def __init__(self, stream: bytes | str) -> None:
            Reader.__init__(self, stream)
            Scanner.__init__(self)
            Parser.__init__(self)

        # Possible keys stand in the order of the text: look at the first ones, not at all of them
        # for every token, which takes half a minute for 10,000 brackets.
        def next_possible_simple_key(self) -> Any:
            first: Any = next(iter(self.possible_simple_keys.values()), None)
            return first.token_number if first else None

        def stale_possible_simple_keys(self) -> None:
            keys = self.possible_simple_keys
            while keys:
                level = next(iter(keys))
                key = keys[level]
                if key.line == self.line and self.index - key.index <= 1024:
                    return
                if key.required:
                    where = "while scanning a simple key"
                    problem = "could not find expected ':'"
                    raise ScannerError(where, key.mark, problem, self.get_mark())
                del keys[level]

    return PythonParser(text)


_parser: Callable[[bytes | str], Any] = _python_parser
with suppress(ImportError):
    from yaml._yaml import CParser

    _parser = CParser

# Plain scalars that read as they look, and plain keys: bounded memos, shared by all documents.
_VALUES: dict[str, Any] = {"": None, "null": None, "true": True, "false": False}
_KEYS: dict[str, str] = {}
_MEMO_SIZE = 50_000
_MEMO_TEXT = 40
_MERGE: Any = object()  # what _key returns for `<<`


def build(chunk: bytes) -> Built:
    """Read the first YAML document of a chunk that has no byte order mark; raise YAMLError."""
    return _parse(chunk, lambda parser, text, swaps: _Builder(parser, text, swaps, chunk).build())


def quoted(chunk: bytes) -> list[tuple[int, int, str]]:
    """Return where the quoted and block scalars of a chunk stand: start, end, style.

    Places are offsets in code points. The list ends where the text is no YAML.
    """
    found: list[tuple[int, int, str]] = []

    def collect(parser: Callable[[bytes | str], Any], text: bytes | str, _: object) -> None:
        found.clear()
        events = parser(text)
        while type(event := events.get_event()) is not StreamEndEvent:
            if isinstance(event, ScalarEvent) and event.style:
                start: Any = event.start_mark
                end: Any = event.end_mark
                found.append((start.index, end.index, event.style))

    with suppress(YAMLError):
        _parse(chunk, collect)
    return found


def _parse(
    chunk: bytes, read: Callable[[Callable[[bytes | str], Any], bytes | str, dict[str, str]], Read]
) -> Read:
    """Call `read` with a parser and a text, until one is found that takes what go-yaml takes."""
    parser = _parser
    text: bytes | str = chunk
    swaps: dict[str, str] = {}
    if _BOM.encode() in chunk:
        text = _swap(chunk, re.compile(_BOM), swaps, _BOM)
    retries = 0
    collecting = gc.isenabled()
    gc.disable()  # nothing here is garbage, and looking for some takes a quarter of the time
    try:
        while True:
            try:
                return read(parser, text, swaps)
            except yaml.MarkedYAMLError as error:
                problem = error.problem or str(error)
                if _LIBYAML_DEPTH in problem and parser is not _python_parser:
                    parser = _python_parser
                    continue
                mark = error.problem_mark or error.context_mark
                index = mark.index if mark else None
                if problem == "found unexpected ':'" and index and retries < _MAX_RETRIES:
                    retries += 1
                    text = _swap(text, _END_COLON, swaps, ":", index)
                    continue
                raise YAMLError(problem, index) from None
    except ReaderError as error:
        index = len(chunk[: error.position].decode("utf-8", "replace"))
        raise YAMLError(error.reason, index) from None
    except (yaml.YAMLError, UnicodeError) as error:
        raise YAMLError(str(error)) from None
    finally:
        if collecting:
            gc.enable()


def _swap(
    text: bytes | str, wanted: re.Pattern[str], swaps: dict[str, str], real: str, at: int = -1
) -> bytes | str:
    """Put a character that libyaml takes in place of one that only go-yaml takes.

    The builder turns it back in what it reads; `swaps` says how. `at` is one more place to swap.
    """
    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8")
        except UnicodeDecodeError:
            return text  # the parser says what is wrong
    known = [stand_in for stand_in, meant in swaps.items() if meant == real]
    private = (chr(code) for code in range(0xF8FF, 0xE000, -1))
    stand_in = known[0] if known else next((c for c in private if c not in text), "")
    if stand_in:
        swaps[stand_in] = real
        text = wanted.sub(stand_in, text)
        if at >= 0:
            text = text[:at] + stand_in + text[at + 1 :]
    return text


class _Builder:
    """One pass over the events of one document."""

    def __init__(
        self,
        parser: Callable[[bytes | str], Any],
        text: bytes | str,
        swaps: dict[str, str],
        chunk: bytes,
    ) -> None:
        self._parser = parser
        self._text = text
        self._chunk = chunk
        self._decoded = ""
        self._swaps = swaps
        self._next: Callable[[], Any] = parser(text).get_event
        careful = swaps or b"\\/" in chunk or parser is _python_parser
        self._get = self._careful if careful else self._next
        self._built = Built()
        # What encloses the container at hand: container, its marks, key or index of the child.
        self._stack: list[tuple[Any, list[int], str | int]] = []
        self._anchors: dict[str, Any] = {}
        self._open: dict[int, Any] = {}  # anchored containers that are not closed
        self._odd: dict[tuple[int, str], set[Any]] = {}  # keys that are not written as strings
        self._kept: list[Map] = []  # the mappings those are in, so that no other gets their id
        self._flow = 0  # depth of the outermost brackets, or 0
        self._counted = False
        self._merges = 0  # merges of mappings written in place, inside one another

    def build(self) -> Built:
        get: Callable[[], Any] = self._get
        built = self._built
        get()
        start = get()
        if type(start) is StreamEndEvent:
            return built
        version = start.version
        if version is not None and tuple(version) != (1, 1):
            raise YAMLError("found incompatible YAML document", start.start_mark.index)
        event = get()
        built.root = event.start_mark.index
        built.data = self._node(event)
        end = get()
        try:
            more = type(get()) is not StreamEndEvent
        except (yaml.YAMLError, YAMLError):
            more = True  # the server does not read on, so it is no error
        built.end = end.end_mark.index if more else None
        return built

    def _careful(self) -> Any:
        """Return the next event, with what libyaml reads unlike go-yaml put right or refused."""
        event = self._next()
        kind = type(event)
        if kind is ScalarEvent:
            for stand_in, real in self._swaps.items():
                if stand_in in event.value:
                    event.value = event.value.replace(stand_in, real)
            if event.style == '"':
                if not self._decoded:
                    self._decoded = self._chunk.decode("utf-8", "replace")
                start, end = event.start_mark.index, event.end_mark.index
                slash = _ESCAPED_SLASH.search(self._decoded, start, end)
                if slash:
                    raise YAMLError("found unknown escape character", slash.end() - 2)
                if re.search(_SURROGATE, event.value):
                    raise YAMLError("found invalid Unicode character escape code", start)
        return event

    def _bracketed(self) -> Any:
        """Return the next event inside brackets, where go-yaml ends a plain scalar at `?`."""
        event = self._get()
        kind = type(event)
        if kind is ScalarEvent and not event.style and "?" in event.value:
            message = "did not find expected ',' or ']' or '}'"
            raise YAMLError(message, event.start_mark.index + event.value.index("?"))
        return event

    def _node(self, event: Any) -> Any:
        """Read one value, whatever it is."""
        kind = type(event)
        if kind is ScalarEvent:
            return self._scalar(event)
        if kind is AliasEvent:
            return self._alias(event)
        return self._container(event)

    def _container(self, event: Any) -> Any:
        """Read a mapping or a sequence with all that is in it, without recursion."""
        get = self._bracketed if self._flow else self._get
        stack = self._stack
        push = stack.append
        floor = len(stack)
        values = _VALUES
        keys = _KEYS
        here, marks, get = self._enter(event, get)
        root = here
        is_map = type(event) is MappingStartEvent
        while True:
            mark = marks.append
            if is_map:
                while True:
                    event = get()
                    kind = type(event)
                    if kind is MappingEndEvent:
                        break
                    if kind is ScalarEvent and event.tag is None and event.anchor is None:
                        key = event.value
                        if event.implicit[0]:
                            if key in keys:
                                key = keys[key]
                            else:
                                key = self._key(event, here)
                                if key is _MERGE:
                                    self._merge(here, marks, event, get())
                                    continue
                    else:
                        key = self._key(event, here)
                        if key is _MERGE:
                            self._merge(here, marks, event, get())
                            continue
                    child = get()
                    if key in here:
                        self._again(here, marks, key, event, child)
                    else:
                        mark(event.start_mark.index)
                        mark(child.start_mark.index)
                    kind = type(child)
                    if kind is ScalarEvent:
                        text = child.value
                        if child.tag is not None or child.anchor is not None:
                            here[key] = self._scalar(child, key)
                        elif not child.implicit[0]:
                            here[key] = text
                        elif text in values:
                            here[key] = values[text]
                        else:
                            here[key] = self._plain(child, key)
                    elif kind is AliasEvent:
                        here[key] = self._alias(child)
                    else:
                        push((here, marks, key))
                        inner, marks, get = self._enter(child, get)
                        here[key] = inner
                        here = inner
                        if kind is SequenceStartEvent:
                            is_map = False
                            break
                        mark = marks.append
            else:
                while True:
                    child = get()
                    kind = type(child)
                    if kind is SequenceEndEvent:
                        break
                    mark(child.start_mark.index)
                    if kind is ScalarEvent:
                        text = child.value
                        if child.tag is not None or child.anchor is not None:
                            here.append(self._scalar(child, len(here)))
                        elif not child.implicit[0]:
                            here.append(text)
                        elif text in values:
                            here.append(values[text])
                        else:
                            here.append(self._plain(child, len(here)))
                    elif kind is AliasEvent:
                        here.append(self._alias(child))
                    else:
                        push((here, marks, len(here)))
                        inner, marks, get = self._enter(child, get)
                        here.append(inner)
                        here = inner
                        if kind is MappingStartEvent:
                            is_map = True
                            break
                        mark = marks.append
            if kind is MappingEndEvent or kind is SequenceEndEvent:
                if self._open:
                    self._open.pop(id(here), None)
                if self._flow > len(stack):
                    self._flow = 0
                    get = self._get
                if len(stack) == floor:
                    return root
                here, marks, _ = stack.pop()
                is_map = type(here) is Map

    def _enter(self, event: Any, get: Any) -> tuple[Any, list[int], Any]:
        """Return a new container, its marks, and how to get the events inside it."""
        new: Any = Map() if type(event) is MappingStartEvent else Seq()
        marks: list[int] = []
        new.marks = marks
        depth = len(self._stack)
        if depth >= MAX_DEPTH:
            raise YAMLError(_TOO_DEEP, event.start_mark.index)
        if event.anchor is not None:
            self._anchors[event.anchor] = new
            self._open[id(new)] = new
        if event.flow_style and not self._flow:
            self._flow = depth + 1
            get = self._bracketed
        new.flow = self._flow > 0
        return new, marks, get

    def _path(self, *steps: str | int) -> Path:
        return (*(step for _, _, step in self._stack), *steps)

    def _scalar(self, event: Any, *steps: str | int) -> Any:
        """Read a scalar that stands as a value, with tag and anchor."""
        if event.tag is None:
            value = self._plain(event, *steps) if event.implicit[0] else event.value
        else:
            try:
                value = yaml_scalars.tagged(event.tag, event.value)
                if isinstance(value, float):
                    value = yaml_scalars.json_number(value)
            except ScalarError as error:
                raise YAMLError(error.message, event.start_mark.index) from None
        if event.anchor is not None:
            self._anchors[event.anchor] = event
        return value

    def _plain(self, event: Any, *steps: str | int) -> Any:
        """Read an untagged plain scalar that stands as a value, and note it when it surprises."""
        text = event.value
        if text and text[0] not in STARTS:
            value = text
        else:
            try:
                value = yaml_scalars.value(text)
            except ScalarError as error:
                raise YAMLError(error.message, event.start_mark.index) from None
            if value is not text:
                kind = yaml_scalars.surprise(text, value)
                if kind:
                    surprise = (kind, self._path(*steps), event.start_mark.index, text)
                    self._built.surprises.append(surprise)
                    return value
        if len(text) <= _MEMO_TEXT and len(_VALUES) < _MEMO_SIZE:
            _VALUES[text] = value
        return value

    def _alias(self, event: Any) -> Any:
        """Return what an alias stands for: the same object for a mapping or sequence."""
        target = self._target(event)
        if type(target) is not ScalarEvent:
            if id(target) in self._open:
                message = f"anchor '{event.anchor}' value contains itself"
                raise YAMLError(message, event.start_mark.index)
            return target
        value = self._resolved(target)
        return yaml_scalars.json_number(value) if isinstance(value, float) else value

    def _target(self, event: Any) -> Any:
        """Return the container or the scalar event that an alias names."""
        if event.anchor not in self._anchors:
            message = f"unknown anchor '{event.anchor}' referenced"
            raise YAMLError(message, event.start_mark.index)
        if not self._counted:
            self._counted = True
            _check_aliases(self._parser(self._text))
        return self._anchors[event.anchor]

    def _resolved(self, event: Any) -> Any:
        """Resolve a scalar event as go-yaml does, floats not yet turned into JSON's numbers."""
        if event.tag is None:
            return yaml_scalars.resolve(event.value) if event.implicit[0] else event.value
        try:
            return yaml_scalars.tagged(event.tag, event.value)
        except ScalarError as error:
            raise YAMLError(error.message, event.start_mark.index) from None

    def _key(self, event: Any, here: Map) -> Any:
        """Return the text of a key that is not plain and known, or _MERGE."""
        scalar = self._target(event) if type(event) is AliasEvent else event
        if type(scalar) is not ScalarEvent:
            raise YAMLError("invalid map key: a mapping or a list", event.start_mark.index)
        if scalar is event:
            if event.value == "<<" and (event.implicit[0] or event.tag == _MERGE_TAG):
                if event.anchor is not None:
                    self._anchors[event.anchor] = event
                return _MERGE
            if event.anchor is not None:
                self._anchors[event.anchor] = event
        resolved = self._resolved(scalar)
        try:
            key = yaml_scalars.key(resolved)
        except ScalarError as error:
            raise YAMLError(error.message, event.start_mark.index) from None
        text = scalar.value
        if isinstance(resolved, str):
            plain = scalar is event and event.tag is None and event.implicit[0]
            if plain and len(text) <= _MEMO_TEXT and len(_KEYS) < _MEMO_SIZE:
                _KEYS[text] = text
            return key
        if key not in here:
            self._odd[id(here), key] = {_form(resolved)}
            self._kept.append(here)
        if text != key and scalar.tag is None:
            kind = yaml_scalars.surprise(text, resolved) or "number"
            kind = "boolean-key" if isinstance(resolved, bool) else kind
            path = self._path(key)
            self._built.surprises.append((kind, path, event.start_mark.index, text))
        return key

    def _again(self, here: Map, marks: list[int], key: str, event: Any, child: Any) -> None:
        """Note a key that the mapping has already: the last one counts, its place too."""
        kind = type(event)
        scalar = self._anchors[event.anchor] if kind is AliasEvent else event
        start = event.start_mark.index
        forms = {_form(self._resolved(scalar))}
        self._replace(here, marks, key, forms, start, (start, child.start_mark.index))

    def _replace(
        self,
        here: Map,
        marks: list[int],
        key: str,
        forms: set[Any],
        second: int,
        places: tuple[int, int],
    ) -> None:
        """Note a duplicate at `second`, and that key and value stand at `places` from now on.

        `1` and `"1"` are different keys to go-yaml: no duplicate, though only one can survive.
        """
        self._kept.append(here)
        at = 2 * list(here).index(key)
        seen = self._odd.setdefault((id(here), key), {str})
        path = self._path(key)
        self._built.lost[path] = second
        if not seen.isdisjoint(forms):
            self._built.duplicates.append((path, key, marks[at], second))
        seen |= forms
        marks[at : at + 2] = places

    def _merge(self, here: Map, marks: list[int], event: Any, value: Any) -> None:
        """Merge the mappings that `<<` names: they overwrite what stands before them."""
        start = event.start_mark.index
        kind = type(value)
        merged: Any = None
        if kind is AliasEvent:
            merged = self._alias(value)
        elif kind is not ScalarEvent:
            self._merges += 1
            if self._merges > _MAX_MERGES:
                raise YAMLError("merges are nested too deeply", start)
            self._stack.append((here, marks, "<<"))
            merged = self._container(value)
            self._stack.pop()
            self._merges -= 1
        before = set(here)
        for source in merged[::-1] if kind is SequenceStartEvent else [merged]:
            if type(source) is not Map:
                message = "map merge requires map or sequence of maps as the value"
                raise YAMLError(message, start)
            for at, (key, item) in enumerate(source.items()):
                places = source.marks[2 * at], source.marks[2 * at + 1]
                forms = self._odd.get((id(source), key), {str})
                if key not in here:
                    marks += places
                    if forms != {str}:
                        self._odd[id(here), key] = set(forms)
                        self._kept.append(here)
                else:
                    if key in before and here[key] != item:
                        surprise = ("merge-override", self._path(key), start, key)
                        self._built.surprises.append(surprise)
                    self._replace(here, marks, key, forms, start, places)
                here[key] = item


def _form(resolved: Any) -> Any:
    """Return what tells a key from other keys in Go: type and value; NaN equals nothing."""
    if isinstance(resolved, str):
        return str
    return object() if resolved != resolved else (type(resolved), resolved)  # noqa: PLR0124


def _check_aliases(parser: Any) -> None:
    """Raise YAMLError when more of a document comes from aliases than go-yaml allows.

    Counts like go-yaml's decoder: keys and values, those that come through aliases each time.
    """
    get = parser.get_event
    get()
    get()
    total, aliased = 1, 0
    sizes: dict[Any, int] = {}
    stack: list[list[Any]] = []  # anchor, count before it, is it a mapping, children so far
    while True:
        event: Any = get()
        kind = type(event)
        if kind is MappingEndEvent or kind is SequenceEndEvent:
            anchor, before, _, _ = stack.pop()
            if anchor is not None:
                sizes[anchor] = total - before
        else:
            merge = False
            if stack:
                parent = stack[-1]
                parent[3] += 1
                merge = parent[2] and parent[3] % 2 and kind is ScalarEvent
                merge = merge and event.value == "<<" and event.implicit[0]
            before = total
            if not merge:
                total += 1
            if kind is AliasEvent:
                size = sizes.get(event.anchor, 0)
                total += size
                aliased += size
                _check_ratio(total, aliased, event.start_mark.index)
            elif kind is ScalarEvent:
                if event.anchor is not None:
                    sizes[event.anchor] = 1
            else:
                stack.append([event.anchor, before, kind is MappingStartEvent, 0])
                if len(stack) > MAX_DEPTH:
                    raise YAMLError(_TOO_DEEP, event.start_mark.index)
        if not stack:
            _check_ratio(total, aliased, 0)
            return


def _check_ratio(total: int, aliased: int, index: int) -> None:
    if aliased > 100 and total > 1000:
        part = min(max((total - _RATIO_LOW) / (_RATIO_HIGH - _RATIO_LOW), 0), 1)
        if aliased / total > 0.99 - 0.89 * part:
            raise YAMLError("document contains excessive aliasing", index)
