"""The checks, by topic: `ls` this folder to find the module, then the function of a rule."""

from __future__ import annotations


def load() -> None:
    """Import every module of this package, so that its checks register themselves."""
    import os
    from importlib import import_module

    for name in sorted(os.listdir(os.path.dirname(__file__))):
        if name.endswith(".py") and name != "__init__.py" and not name.startswith("diff_"):
            import_module(f"crdlint.rules.{name[:-3]}")
