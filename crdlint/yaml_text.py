"""Write plain data as a YAML document that the API server reads back as the same data."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from crdlint import json_text
from crdlint.emit import is_plain

if TYPE_CHECKING:
    from collections.abc import Iterator

_DEEPEST = 40  # beyond it brackets take over, as indentation would outgrow the data
# What stands unquoted in a block of lines: printable text that starts with something to see.
_LITERAL = re.compile(r"[!-~\xa1-\u02ff][\n\x20-\x7e\xa0-\u02ff]*\Z")
_TRAILING = re.compile(r" (?:\n|\Z)|\n\n\Z")
# What JSON leaves as it is in a text and YAML does not.
_UNPRINTED = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")


def dump(value: Any) -> str:
    """Return a document in block style, with a line end at its end."""
    return "\n".join(_lines(value, 0)) + "\n"


def _lines(value: Any, depth: int) -> Iterator[str]:
    """Yield the lines of a value as they stand at the left margin."""
    if not _is_block(value, depth):
        yield from _scalar(value)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _entry(f"{_text(str(key))}:", item, depth + 1)
    else:
        for item in value:
            lines = _lines(item, depth + 1)
            yield f"- {next(lines)}"
            for line in lines:
                yield f"  {line}" if line else ""


def _entry(mark: str, value: Any, depth: int) -> Iterator[str]:
    """Yield the lines of a key and its value; a list stands below its key without an indent."""
    lines = _lines(value, depth)
    if _is_block(value, depth):
        yield mark
    else:
        yield f"{mark} {next(lines)}"
    indent = "" if isinstance(value, list) else "  "
    for line in lines:
        yield indent + line if line else ""


def _is_block(value: Any, depth: int) -> bool:
    return isinstance(value, (dict, list)) and bool(value) and depth < _DEEPEST


def _scalar(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        if "\n" in value and _LITERAL.match(value) and not _TRAILING.search(value):
            yield "|" if value.endswith("\n") else "|-"
            yield from value.removesuffix("\n").split("\n")
        else:
            yield _text(value)
    else:
        yield _UNPRINTED.sub(_escape, json_text.dump(value))


def _text(value: str) -> str:
    """Write a text on one line, in quotes where some reader takes it for something else."""
    if is_plain(value):
        return value
    return _UNPRINTED.sub(_escape, json.dumps(value, ensure_ascii=False))


def _escape(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"
