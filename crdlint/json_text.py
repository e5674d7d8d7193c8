"""Read JSON with the json module, as encoding/json would, places when asked for; write it."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from crdlint.yaml_build import Map, Seq
from crdlint.yaml_scalars import ScalarError, json_number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from crdlint.yaml_build import Built

_TOKEN = re.compile(r"""[ \t\n\r]*("(?:[^"\\]|\\.)*"|[\[\]{},:]|[^ \t\n\r"\[\]{},:]+)""")
_ESCAPE = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[dD][89a-fA-F][0-9a-fA-F]{2}|\\."
)
_LONGEST_INT64 = 18


def _integer(text: str) -> int | float:
    if len(text) <= _LONGEST_INT64:
        return int(text)
    return int(text) if len(text) < 22 and -(1 << 63) <= int(text) < 1 << 64 else _number(text)


def _number(text: str) -> int | float:
    try:
        return json_number(float(text))
    except ScalarError as error:
        raise ValueError(error.message) from None


def _constant(text: str) -> Any:
    raise ValueError(text)


_DECODER = json.JSONDecoder(
    object_pairs_hook=Map, parse_int=_integer, parse_float=_number, parse_constant=_constant
)


def parse(chunk: bytes) -> Any:
    """Return the data of a JSON text; raise ValueError or RecursionError when it is not JSON."""
    text = chunk.decode("utf-8")
    if "\\ud" in text or "\\uD" in text:
        text = _ESCAPE.sub(_whole, text)
    return _DECODER.decode(text)


def _whole(match: re.Match[str]) -> str:
    """Put U+FFFD in place of half a surrogate pair, as Go does."""
    text = match.group()
    return "\\ufffd" if len(text) == 6 else text


def dump(value: Any, *, ascii: bool = False) -> str:  # noqa: A002 - as json.dumps's ensure_ascii
    """Return a value as JSON on one line, however deep it is."""
    encode = _ASCII if ascii else _UNICODE
    try:
        return encode(value)
    except RecursionError:
        return "".join(_pieces(value, encode))


_ASCII = json.JSONEncoder(ensure_ascii=True, allow_nan=False).encode
_UNICODE = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


def _pieces(value: Any, encode: Callable[[Any], str]) -> Iterator[str]:
    """Yield the pieces of a JSON text, the containers from a stack of open ones."""
    stack: list[tuple[Iterator[Any], str]] = []
    first = True
    ahead: Any = iter([value])
    end = ""
    while True:
        for item in ahead:
            text = "" if first else ", "
            if end == "}":
                key, item = item  # noqa: PLW2901
                text += f"{encode(str(key))}: "
            first = not isinstance(item, (dict, list)) or not item
            if first:
                yield text + encode(item)
                first = False
                continue
            stack.append((ahead, end))
            is_map = isinstance(item, dict)
            yield text + ("{" if is_map else "[")
            ahead, end = (iter(item.items()), "}") if is_map else (iter(item), "]")
            first = True
            break
        else:
            if not stack:
                return
            yield end
            ahead, end = stack.pop()
            first = False


def positions(text: str, built: Built) -> Any:
    """Return the places of a JSON text that `parse` took: mappings and sequences with marks.

    Scalars are None in it. Adds the duplicate keys to `built`.
    """
    stack: list[tuple[Any, str | int]] = []
    here: Any = None
    root: Any = None
    key: Any = ""
    key_start = -1
    for match in _TOKEN.finditer(text):
        word, start = match.group(1), match.start(1)
        if word in ",:":
            continue
        if word in "]}":
            here, key = stack.pop() if stack else (None, "")
            if not stack and here is None:
                break
            key_start = -1
            continue
        if type(here) is Map and key_start < 0:
            key, key_start = json.loads(_ESCAPE.sub(_whole, word)), start
            continue
        new: Any = Map() if word == "{" else Seq() if word == "[" else None
        if new is not None:
            new.flow = True
            new.marks = []
        if type(here) is Map:
            if key in here:
                at = 2 * list(here).index(key)
                path = (*(step for _, step in stack[1:]), key)
                built.duplicates.append((path, key, here.marks[at], key_start))
                here.marks[at : at + 2] = key_start, start
            else:
                here.marks += key_start, start
            here[key] = new
        elif type(here) is Seq:
            here.marks.append(start)
            key = len(here)
            here.append(new)
        else:
            root = new
            built.root = start
        key_start = -1
        if new is not None:
            stack.append((here, key))
            here = new
    return root
