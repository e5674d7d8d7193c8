"""JSONPath as client-go reads it for printer columns: what it refuses, and where it leads."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

PRESERVE = "x-kubernetes-preserve-unknown-fields"
EMBEDDED = "x-kubernetes-embedded-resource"
INT_OR_STRING = "x-kubernetes-int-or-string"

# Steps of a path: ("field", name), or the bare kinds below.
INDEX, EVERY, FILTER, OTHER = "index", "every", "filter", "other"
Step = tuple[str, str]

_TERMINATORS = frozenset(" \t\r\n.,[]$@{}")
_DICT_KEY = re.compile(r"'([^']*)'\Z")
_SLICE = re.compile(r"(-?[0-9]*)(:-?[0-9]*)?(:-?[0-9]*)?\Z")
_COMPARISON = re.compile(r"([^!<>=]+)([!<>=]+)(.+)\Z")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)\Z")
_HEX = "[0-9A-Fa-f]"
_ESCAPE = rf"[abfnrtv\\]|x{_HEX}{{2}}|u{_HEX}{{4}}|U000{_HEX}{{5}}|[0-3][0-7]{{2}}"
_QUOTED = {q: re.compile(rf"(?:[^\\]|\\(?:{q}|{_ESCAPE}))*\Z") for q in "\"'"}
_MAX_DEPTH = 30


class JSONPathError(ValueError):
    """A text that client-go's JSONPath parser refuses; the message says why."""


def parse(path: str) -> list[Step]:
    """Return the steps of a printer column's path.

    Source: client-go's util/jsonpath parser on the path in braces, as the table convertor calls it.

    Raises:
        JSONPathError: the parser refuses the text.
    """
    return _Parser("{" + path + "}", 0).read()


class _Parser:
    """One run over a text; a filter or a union starts a run of its own."""

    __slots__ = ("at", "depth", "steps", "text")

    def __init__(self, text: str, depth: int) -> None:
        if depth > _MAX_DEPTH:
            raise JSONPathError("it is nested too deeply")
        self.text = text
        self.at = 0
        self.depth = depth
        self.steps: list[Step] = []

    def read(self) -> list[Step]:
        """Read every action in braces; what stands between them is plain text."""
        first: list[Step] | None = None
        while (start := self.text.find("{", self.at)) >= 0:
            self.at = start + 1
            self.steps = []
            while not self._step():
                pass
            first = self.steps if first is None else first
        return first or []

    def _inner(self, text: str) -> list[Step]:
        return _Parser("{" + text + "}", self.depth + 1).read()

    def _step(self) -> bool:
        """Read one step; tell whether the action ended."""
        text, at = self.text, self.at
        char = text[at : at + 1]
        if char == "}":
            self.at += 1
            return True
        if text.startswith("[?(", at):
            self._filter()
        elif text.startswith("..", at):
            self._recursive()
        elif not char or char in "\r\n":
            raise JSONPathError("it ends before its last part does")
        elif char in " @$":
            self.at += 1
        elif char == "[":
            self._array()
        elif char in "\"'":
            self._quote(char)
        elif char == ".":
            self.at += 1
            self._field()
        elif char in "+-" or char.isdecimal():
            self._number()
        elif char == "_" or char.isalpha():
            self._word()
            self.steps.append((OTHER, ""))
        else:
            raise JSONPathError(f"{char!r} cannot stand there")
        return False

    def _word(self, *, escapes: bool = False) -> str:
        start = self.at
        while self.at < len(self.text) and self.text[self.at] not in _TERMINATORS:
            self.at += 2 if escapes and self.text[self.at] == "\\" else 1
        self.at = min(self.at, len(self.text))
        return self.text[start : self.at]

    def _field(self) -> None:
        name = self._word(escapes=True)
        self.steps.append((EVERY, "") if name == "*" else ("field", name.replace("\\", "")))

    def _recursive(self) -> None:
        if self.steps and self.steps[-1] == (OTHER, ".."):
            raise JSONPathError("two .. follow one another")
        self.at += 2
        self.steps.append((OTHER, ".."))
        char = self.text[self.at : self.at + 1]
        if char == "_" or char.isalpha() or char.isdecimal():
            self._field()

    def _number(self) -> None:
        start = self.at
        if self.text[self.at] in "+-":
            self.at += 1
        while self.text[self.at] == "." or self.text[self.at].isdecimal():
            self.at += 1
        number = self.text[start : self.at]
        if not _NUMBER.match(number):
            raise JSONPathError(f"{number!r} is no number")
        self.steps.append((OTHER, ""))

    def _quote(self, quote: str) -> None:
        start = self.at
        self.at += 1
        while True:
            char = self.text[self.at : self.at + 1]
            if not char or char == "\n":
                raise JSONPathError("a quoted text does not end")
            self.at += 1
            if char == quote and self.text[self.at - 2] != "\\":
                break
        inside = self.text[start + 1 : self.at - 1]
        if not _QUOTED[quote].match(inside):
            raise JSONPathError("a quoted text has an escape that does not exist")
        self.steps.append((OTHER, ""))

    def _array(self) -> None:
        end = self.text.find("]", self.at)
        newline = self.text.find("\n", self.at)
        if end < 0 or -1 < newline < end:
            raise JSONPathError("a [ is not closed")
        inside = self.text[self.at + 1 : end]
        self.at = end + 1
        if inside == "*":
            inside = ":"
        if "," in inside:
            for part in inside.split(","):
                self._inner("[" + part.strip(" ") + "]")
            self.steps.append((OTHER, ""))
        elif key := _DICT_KEY.match(inside):
            self.steps += self._inner("." + key[1])
        else:
            self._slice(inside)

    def _slice(self, inside: str) -> None:
        found = _SLICE.match(inside)
        if not found:
            raise JSONPathError(f"{inside!r} is no index")
        for part in found.groups():
            digits = (part or "").lstrip(":")
            if digits == "-" or abs(int(digits or 0)) >= 2**63:
                raise JSONPathError(f"{inside!r} is no index")
        self.steps.append((EVERY if ":" in inside else INDEX, inside))

    def _filter(self) -> None:
        self.at += 3
        start = self.at
        opened = closed = False
        quote = ""
        while True:
            char = self.text[self.at : self.at + 1]
            if not char or char == "\n":
                raise JSONPathError("a filter does not end")
            self.at += 1
            if char in "\"'":
                if not opened:
                    opened, quote = True, char
                elif self.text[self.at - 2] != "\\" and char == quote:
                    closed = True
            elif char == ")" and opened == closed:
                break
        if self.text[self.at : self.at + 1] != "]":
            raise JSONPathError("a filter does not end with )]")
        inside = self.text[start : self.at - 1]
        self.at += 1
        if sides := _COMPARISON.match(inside):
            self._inner(sides[1])
            self._inner(sides[3])
        else:
            self._inner(inside)
        self.steps.append((FILTER, ""))


class Target:
    """Where a path leads in a schema.

    `schema` is what is declared there; None where that is left open, or nothing is there. `missing`
    says why the path leads nowhere.
    """

    __slots__ = ("missing", "schema")

    def __init__(self, schema: Mapping[str, Any] | None, missing: str = "") -> None:
        self.schema = schema
        self.missing = missing


_TEXT: dict[str, Any] = {"type": "string"}
_TIME: dict[str, Any] = {"type": "string", "format": "date-time"}
_TEXTS: dict[str, Any] = {"type": "object", "additionalProperties": _TEXT}
_NUMBER_FIELD: dict[str, Any] = {"type": "integer", "format": "int64"}
METADATA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "annotations": _TEXTS,
        "creationTimestamp": _TIME,
        "deletionGracePeriodSeconds": _NUMBER_FIELD,
        "deletionTimestamp": _TIME,
        "finalizers": {"type": "array", "items": _TEXT},
        "generateName": _TEXT,
        "generation": _NUMBER_FIELD,
        "labels": _TEXTS,
        "managedFields": {"type": "array", "items": {"type": "object", PRESERVE: True}},
        "name": _TEXT,
        "namespace": _TEXT,
        "ownerReferences": {"type": "array", "items": {"type": "object", PRESERVE: True}},
        "resourceVersion": _TEXT,
        "selfLink": _TEXT,
        "uid": _TEXT,
    },
}
_OPEN = Target(None)


def follow(schema: Mapping[str, Any], steps: list[Step]) -> Target:
    """Follow the steps of a path from the root of a resource's schema."""
    here: Any = schema
    done = ""
    for i, (kind, name) in enumerate(steps):
        if kind == OTHER:
            return _OPEN
        if kind == "field":
            below = _field(here, name, resource=i == 0)
            done += f".{name}"
            missing = f"{done} is not in the schema"
            if here.get("type") == "array":
                missing = f"{done.removesuffix('.' + name)} is a list, so a field needs [0] or [*]"
        else:
            below = _items(here)
            missing = f"{done or 'the root'} is no list"
            done += "[0]" if kind == INDEX else "[*]"
        if below is False:
            return Target(None, missing)
        if below is None:
            return _OPEN
        here = below
    return Target(here)


def _field(here: Mapping[str, Any], name: str, *, resource: bool) -> Any:
    """Return the schema of a field; None where that is open, False where there is none."""
    if resource or here.get(EMBEDDED):
        if name == "metadata":
            return METADATA
        if name in ("apiVersion", "kind"):
            return _TEXT
    properties = here.get("properties") or {}
    if name in properties:
        return properties[name]
    extra = here.get("additionalProperties")
    if isinstance(extra, dict):
        return extra
    if extra is True or here.get(PRESERVE):
        return None
    return False if here.get("type") or here.get(INT_OR_STRING) or properties else None


def _items(here: Mapping[str, Any]) -> Any:
    """Return the schema of a list's or map's members; None where open, False where none are."""
    if here.get("type") == "array":
        items = here.get("items")
        return items if isinstance(items, dict) else None
    if here.get(PRESERVE) or not here.get("type") or here.get("type") == "object":
        return None
    return False
