"""Which of two patterns matches more texts."""

from __future__ import annotations


def compare(before: str, after: str) -> str:
    """Say how a pattern relates to the one before: equal, wider, narrower, different or unknown."""
    return "equal" if before == after else "unknown"
