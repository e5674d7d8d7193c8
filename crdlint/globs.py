"""Patterns with `*` for paths, CRD names and schema fields."""

from __future__ import annotations

import re
from functools import lru_cache


@lru_cache(maxsize=512)
def _compiled(pattern: str, separator: str) -> re.Pattern[str]:
    """Translate a pattern: `*` and `?` stay inside of one step, `**` does not.

    `a.**` is a and all below it, `**/a` is a at any depth. Everything else stands for itself, so
    that `ports[*]` is what it looks like.
    """
    single = re.escape(separator)
    step = f"[^{single}]" if separator else "."
    below = rf"(?:[{single}\[ ].*)?" if separator == "." else f"(?:{single}.*)?"
    out = ""
    i = 0
    while i < len(pattern):
        rest = pattern[i:]
        if separator and rest == f"{separator}**":
            out, i = out + below, len(pattern)
        elif separator and rest.startswith(f"**{separator}"):
            out, i = f"{out}(?:.*{single})?", i + 2 + len(separator)
        elif rest.startswith("**"):
            out, i = f"{out}.*", i + 2
        elif rest[0] in "*?":
            out, i = out + step + ("*" if rest[0] == "*" else ""), i + 1
        else:
            out, i = out + re.escape(rest[0]), i + 1
    return re.compile(out, re.DOTALL)


def name_matches(pattern: str, name: str) -> bool:
    """Tell whether a pattern is of a name, such as `*.example.com`."""
    return _compiled(pattern, "").fullmatch(name) is not None


def path_matches(pattern: str, path: str) -> bool:
    """Tell whether a pattern is of a relative path with `/`, or of a folder that it lies in.

    A pattern without `/` is of a file or folder of that name at any depth.
    """
    wanted = pattern.removeprefix("./").rstrip("/")
    if "/" not in wanted:
        return any(name_matches(wanted, step) for step in path.split("/"))
    steps = path.split("/")
    found = _compiled(wanted, "/")
    return any(found.fullmatch("/".join(steps[: i + 1])) for i in range(len(steps)))


def field_matches(pattern: str, field: str) -> bool:
    """Tell whether a pattern is of a field, such as `.spec.ports[*].name` or `spec.names.**`."""
    return _compiled(pattern.removeprefix("."), ".").fullmatch(field.removeprefix(".")) is not None
