"""The fieldPath of a rule: does it lead to a declared field."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_TOKEN = re.compile(r"[.\[\]]|'(?:[^']|(?<=\\)')*'|'.*|[^.\[\]]+", re.DOTALL)
_ESCAPE = re.compile(r"\\(.)")
_ESCAPES = {
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    "'": "'",
    "\\": "\\",
}


class FieldPathError(Exception):
    """Why a path leads to no field."""


class FieldPathPanic(Exception):
    """The server itself fails on this path."""


def check(path: str, schema: Mapping[str, Any]) -> None:
    """Check that a path such as `.spec.name` or `.labels['a/b']` leads to a field.

    Raises:
        FieldPathError: it leads to no declared field, or is malformed.
        FieldPathPanic: it steps on through additionalProperties without a schema.
    """
    for _ in steps(path, schema):
        pass


def steps(path: str, schema: Mapping[str, Any]) -> Iterator[tuple[str, bool]]:
    """Yield each name on a path, and whether it is the key of a map.

    Source: ValidFieldPath in apiextensions-apiserver; `schema` is structural.

    Raises:
        FieldPathError, FieldPathPanic: as `check` does.
    """
    tokens = _TOKEN.finditer(path)
    node: Mapping[str, Any] | None = schema
    for token in tokens:
        sign = token.group()
        if sign == "[":
            name = _next(tokens)
            if len(name) < 2 or name[0] != "'" or name[-1] != "'":
                raise FieldPathError(f"expected a name in single quotes but found {name}")
            name = _unescape(name[1:-1])
            is_key, node = _enter(node, name)
            if _next(tokens) != "]":
                raise FieldPathError("expected ] after the name in quotes")
        elif sign == ".":
            name = _next(tokens)
            is_key, node = _enter(node, name)
        else:
            raise FieldPathError(f"expected [ or . but found {sign}")
        yield name, is_key


def _next(tokens: Iterator[re.Match[str]]) -> str:
    token = next(tokens, None)
    if token is None:
        raise FieldPathError("the path ends too early")
    return token.group()


def _enter(node: Mapping[str, Any] | None, name: str) -> tuple[bool, Mapping[str, Any] | None]:
    """Return whether a name is the key of a map, and the schema below it."""
    if node is None:
        raise FieldPathPanic
    fields = node.get("properties")
    if fields:
        found = fields.get(name)
        if found is None:
            raise FieldPathError(f"there is no field {name!r}")
        return False, found
    values = node.get("additionalProperties")
    if values is None:
        raise FieldPathError(f"there is no field {name!r}")
    return True, values if isinstance(values, dict) else None


def _unescape(text: str) -> str:
    def char(found: re.Match[str]) -> str:
        letter = found.group(1)
        if letter not in _ESCAPES:
            raise FieldPathError(f"{found.group()} is no escape")
        return _ESCAPES[letter]

    return _ESCAPE.sub(char, text)
