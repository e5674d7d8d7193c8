"""A deeper stack for walks over data as deep as the server takes."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

# The server's JSON decoder stops at 10,000 levels; a walk needs at most four frames a level.
# Calls between Python functions need no C stack, so this costs memory only.
_FRAMES = 50_000


@contextmanager
def deep() -> Iterator[None]:
    """Allow recursion over data of 10,000 levels while the block runs."""
    before = sys.getrecursionlimit()
    if before >= _FRAMES:
        yield
        return
    sys.setrecursionlimit(_FRAMES)
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
