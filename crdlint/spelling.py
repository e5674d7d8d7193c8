"""What a misspelt word was perhaps meant to be."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def meant(word: str, known: Iterable[str]) -> str:
    """Return a question to put behind a complaint, `; did you mean X?`, or ""."""
    import difflib

    close = difflib.get_close_matches(word.lower(), list(known), n=1, cutoff=0.6)
    return f"; did you mean {close[0]}?" if close else ""
