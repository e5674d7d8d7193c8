"""A deeper stack for walks over data as deep as the server takes."""

from __future__ import annotations

import sys

# The server's JSON decoder stops at 10,000 levels; a walk needs at most four frames a level.
# Calls between Python functions need no C stack, so this costs memory only.
_FRAMES = 50_000


class deep:  # noqa: N801 - reads as a word: `with deep():`
    """Allow recursion over data of 10,000 levels while the block runs."""

    __slots__ = ("before",)

    def __enter__(self) -> None:
        self.before = sys.getrecursionlimit()
        if self.before < _FRAMES:
            sys.setrecursionlimit(_FRAMES)

    def __exit__(self, *_: object) -> None:
        if self.before < _FRAMES:
            sys.setrecursionlimit(self.before)
