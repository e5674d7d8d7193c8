"""The cures: what `crdlint fix` changes for which rule."""

from __future__ import annotations

from crdlint.fixes.cure import BRINGS, CURES, SAFE, UNSAFE, Case

__all__ = ["BRINGS", "CURES", "SAFE", "UNSAFE", "Case", "load"]


def load() -> None:
    """Import every module that registers cures."""
    from crdlint.fixes import (  # noqa: F401
        lists,
        metadata,
        names,
        paths,
        schemas,
        spec,
        structure,
        values,
        yaml,
    )
