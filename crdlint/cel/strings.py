"""The string functions of CEL; places in a text are counted in code points."""

from __future__ import annotations

from crdlint import goregex
from crdlint.cel.gotext import ESCAPES, shown
from crdlint.cel.values import EvalError, no_such_overload, unfit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_TO_LOWER = str.maketrans(_UPPER, _UPPER.lower())
_TO_UPPER = str.maketrans(_UPPER.lower(), _UPPER)
# What Go's unicode.IsSpace takes; Python's strip() takes more.
_SPACES = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)


def _out_of_range(index: int) -> EvalError:
    return EvalError(f"index out of range: {index}")


def _texts(*values: Any) -> None:
    """Refuse what is no text, where cel-go does not look at the types before a call."""
    for value in values:
        if not isinstance(value, str):
            raise no_such_overload()


def contains(text: Any, part: Any) -> bool:
    """Tell whether a text has another in it."""
    _texts(text, part)
    return part in text


def starts_with(text: Any, part: Any) -> bool:
    """Tell whether a text begins with another."""
    _texts(text, part)
    return bool(text.startswith(part))


def ends_with(text: Any, part: Any) -> bool:
    """Tell whether a text ends with another."""
    _texts(text, part)
    return bool(text.endswith(part))


def matches(text: Any, pattern: Any) -> bool:
    """Tell whether a regular expression matches anywhere in a text."""
    if not isinstance(text, str):
        raise unfit("matches", text)
    _texts(pattern)
    try:
        return goregex.matches(pattern, text)
    except goregex.RegexError as error:
        raise EvalError(f"error parsing regexp: {error.message}") from None


def find_all(text: str, pattern: str, most: int = -1) -> list[str]:
    """Return what a regular expression matches in a text; most < 0: all of it."""
    try:
        return goregex.find_all(pattern, text, most)
    except goregex.RegexError as error:
        raise EvalError(f"Illegal regex: error parsing regexp: {error.message}") from None


def find(text: str, pattern: str) -> str:
    """Return what a regular expression matches first in a text, or ""."""
    found = find_all(text, pattern, 1)
    return found[0] if found else ""


def char_at(text: str, index: int) -> str:
    """Return a character, or "" right behind the last one."""
    if not 0 <= index <= len(text):
        raise _out_of_range(index)
    return text[index : index + 1]


def index_of(text: str, part: str, start: int = 0) -> int:
    """Return where a part is first from a place on, or -1."""
    if start < 0:
        raise _out_of_range(start)
    if not part:
        return min(start, len(text))
    return text.find(part, start)


def last_index_of(text: str, part: str) -> int:
    """Return where a part is last, or -1."""
    return text.rfind(part)


def last_index_of_before(text: str, part: str, start: int) -> int:
    """Return where a part is last that begins no later than at a place, or -1."""
    if start < 0:
        raise _out_of_range(start)
    if not part:
        return min(start, len(text))
    if start >= len(text):
        return -1
    return text.rfind(part, 0, start + len(part))


def lower_ascii(text: str) -> str:
    """Return a text with the ASCII letters in lower case."""
    return text.translate(_TO_LOWER)


def upper_ascii(text: str) -> str:
    """Return a text with the ASCII letters in upper case."""
    return text.translate(_TO_UPPER)


def trim(text: str) -> str:
    """Return a text without white space at its ends."""
    return text.strip(_SPACES)


def _count(most: int) -> int:
    """Return a number of times as Python takes it."""
    return min(max(most, -1), 1 << 31)


def replace(text: str, old: str, new: str, most: int = -1) -> str:
    """Return a text with a part replaced, at most so often; most < 0: everywhere."""
    return text.replace(old, new, _count(most))


def split(text: str, separator: str, most: int = -1) -> list[str]:
    """Return the parts of a text, at most so many; without a separator each character is one."""
    if most == 0:
        return []
    if separator:
        return text.split(separator, _count(most) - 1 if most > 0 else -1)
    if most < 0 or most >= len(text):
        return list(text)
    return [*text[: most - 1], text[most - 1 :]]


def substring(text: str, start: int) -> str:
    """Return the rest of a text from a place on."""
    if not 0 <= start <= len(text):
        raise _out_of_range(start)
    return text[start:]


def substring_range(text: str, start: int, end: int) -> str:
    """Return what is between two places of a text."""
    if start > end:
        raise EvalError(f"invalid substring range. start: {start}, end: {end}")
    for index in (start, end):
        if not 0 <= index <= len(text):
            raise _out_of_range(index)
    return text[start:end]


def join(parts: list[Any], separator: str = "") -> str:
    """Return the texts of a list joined."""
    for part in parts:
        if not isinstance(part, str):
            raise EvalError(f"join: invalid input: {shown(part)}")
    return separator.join(parts)


_QUOTED = str.maketrans(ESCAPES)


def quote(text: str) -> str:
    """Return a text in quotes, with escapes for what cannot stand between them."""
    return f'"{text.translate(_QUOTED)}"'
