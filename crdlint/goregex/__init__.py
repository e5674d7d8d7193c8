"""Go's regular expressions: check a pattern as Go compiles it, match as Go matches."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from crdlint.goregex.emit import Matcher


class RegexError(Exception):
    """A pattern Go does not compile.

    Attributes:
        message: what Go says, without `error parsing regexp: `.
        position: index of the first character of the part that Go quotes.
    """

    def __init__(self, message: str, position: int = 0) -> None:
        super().__init__(message)
        self.message = message
        self.position = position


# Most patterns are plain: known to be valid without a parser. An escape, a class and a repeat
# that no text can make wrong; all else is left to the parser.
_ESCAPE = r"\\(?:[dDsSwWnrt!-/:-@\[-`{-~]|x[0-9a-fA-F]{2})"
_RANGE = r"[a-z]-z|a-[b-y]|[A-Z]-Z|A-[B-Y]|[0-9]-9|0-[1-8]"
_CLASS = rf"\[\^?+-?+(?:(?:{_RANGE})(?:-(?![-]))?|(?:[^\\\[\]-]|\[(?!:)|{_ESCAPE})(?!-[^\]]))++-?\]"
_COUNT = r"(?:0|[1-9][0-9]{0,2})"
_REPEAT = rf"(?:[*+?]|\{{{_COUNT}(?:,{_COUNT}?)?\}})\??"
_PLAIN = rf"(?:(?:[^\\()\[{{*+?|]++|{_ESCAPE}|{_CLASS}|\\[bBAz]|\))(?:{_REPEAT})?|\((?:\?:)?|\|)*+"
_NOT_PAREN = r"\\.|\[(?:[^\\\]]|\\.)*\]|[^()\\\[]+"
_MAX_PLAIN = 400  # characters; far from every limit on size and depth

_MAX_CACHE = 4096
_plain: list[re.Pattern[str]] = []
_checked: dict[str, RegexError | None] = {}
_matchers: dict[str, Matcher] = {}


def check(pattern: str) -> None:
    """Raise RegexError where Go does not compile the pattern."""
    if pattern not in _checked:
        if len(_checked) >= _MAX_CACHE:
            _checked.clear()
        _checked[pattern] = None if _is_plain(pattern) else _error(pattern)
    error = _checked[pattern]
    if error is not None:
        raise RegexError(error.message, error.position)


def compile(pattern: str) -> re.Pattern[str]:  # noqa: A001 - named as in `re`
    """Return a pattern whose `search` finds something where Go's MatchString does.

    It has no groups. Raises RegexError where Go does not compile the pattern.
    """
    compiled: Any = _matcher(pattern).compiled
    return compiled  # type: ignore[no-any-return]


def matches(pattern: str, text: str) -> bool:
    """Say whether Go's MatchString matches, in time bounded by the lengths.

    Raises RegexError where Go does not compile the pattern.
    """
    return _matcher(pattern).matches(text)


def find_all(pattern: str, text: str, most: int = -1) -> list[str]:
    """Return what Go's FindAllString finds, at most so many texts; most < 0: all.

    Raises RegexError where Go does not compile the pattern.
    """
    matcher = _matcher(pattern)
    if not matcher.matches(text):
        return []
    return [text[start:end] for start, end in matcher.spans(text, most)]


def _is_plain(pattern: str) -> bool:
    if len(pattern) > _MAX_PLAIN:
        return False
    if not _plain:
        _plain[:] = re.compile(_PLAIN), re.compile(_NOT_PAREN, re.DOTALL)
    if not _plain[0].fullmatch(pattern):
        return False
    if "{" in pattern and not _is_counted_well(pattern):
        return False
    if "(" not in pattern and ")" not in pattern:
        return True
    parens = _plain[1].sub("", pattern)
    while "()" in parens:
        parens = parens.replace("()", "")
    return not parens


def _is_counted_well(pattern: str) -> bool:
    """Say whether no repeat is upside down, nor (the most there may be) too large in another."""
    product = 1
    for least, most in re.findall(r"{(\d+),?(\d*)}", pattern):
        if most and int(least) > int(most):
            return False
        product *= max(int(most or least), 1)
    return product <= 1000 or "){" not in pattern


def _error(pattern: str) -> RegexError | None:
    from crdlint.goregex import syntax

    try:
        syntax.parse(_decoded(pattern))
    except RegexError as error:
        return RegexError(error.message, error.position)
    return None


def _matcher(pattern: str) -> Matcher:
    found = _matchers.get(pattern)
    if found is None:
        from crdlint.goregex import emit, syntax

        if _checked.get(pattern):
            check(pattern)
        if len(_matchers) >= _MAX_CACHE:
            _matchers.clear()
        tree = syntax.parse(_decoded(pattern))
        found = _matchers[pattern] = emit.Matcher(tree)
    return found


def _decoded(pattern: str) -> str:
    """Return a pattern as Go reads it: half of a surrogate pair becomes U+FFFD."""
    if pattern.isascii():
        return pattern
    return re.sub("[\ud800-\udfff]", "\ufffd", pattern)
