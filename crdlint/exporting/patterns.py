"""Patterns for readers of JSON Schema, who know ECMA's regular expressions and not Go's."""

from __future__ import annotations

import re

# What means the same to Go, to ECMA and to Python: no flags, named groups or Unicode classes.
_ATOM = (
    r"[^\\()\[\]{}*+?|^$]|\^|\$|\|"
    r"|\\(?:[dDsSwWbBnrtfv]|x[0-9a-fA-F]{2}|[!-/:-@\[-`{-~])"
    r"|\[\^?\]?(?:[^\\\]\[]|\\(?:[dDsSwWnrtfv]|x[0-9a-fA-F]{2}|[!-/:-@\[-`{-~]))*\]"
    r"|[*+?]\??|\{\d+(?:,\d*)?\}\??|\((?:\?:|(?!\?))|\)"
)
_PORTABLE = re.compile(rf"(?:{_ATOM})*")
# Classes that Go writes in words, and ECMA does not know.
_POSIX = {
    "[:alnum:]": "0-9A-Za-z",
    "[:alpha:]": "A-Za-z",
    "[:ascii:]": r"\x00-\x7F",
    "[:blank:]": r"\t ",
    "[:cntrl:]": r"\x00-\x1F\x7F",
    "[:digit:]": "0-9",
    "[:graph:]": "!-~",
    "[:lower:]": "a-z",
    "[:print:]": " -~",
    "[:punct:]": r"!-/:-@\[-`{-~",
    "[:space:]": r"\t\n\v\f\r ",
    "[:upper:]": "A-Z",
    "[:word:]": r"0-9A-Za-z_",
    "[:xdigit:]": "0-9A-Fa-f",
}
_SPELLED = {r"\A": "^", r"\z": "$", r"\a": r"\x07", r"\ ": " ", r"\'": "'", r"\"": '"'}
_GO_ONLY = re.compile(r"\\[Az]|\[:[a-z]+:\]|\(\?P?<[^>]*>|\\.", re.DOTALL)


def portable(pattern: str) -> str | None:
    """Return a pattern that ECMA reads as Go does, or None where there is no simple one."""

    def rewrite(match: re.Match[str]) -> str:
        text = match.group()
        if text.startswith("("):
            return "("
        return _SPELLED.get(text) or _POSIX.get(text) or text

    written = _GO_ONLY.sub(rewrite, pattern)
    return written if _PORTABLE.fullmatch(written) else None
