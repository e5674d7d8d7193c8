"""The checks, by topic: `ls` this folder to find the module, then the function of a rule."""

from __future__ import annotations


def load() -> None:
    """Import every module of this package, so that its checks register themselves."""
    _import_all("")


def load_conventions() -> None:
    """Import the checks that only the profiles `api` and `strict` have."""
    _import_all("conventions")


def _import_all(package: str) -> None:
    import os
    from importlib import import_module

    for name in sorted(os.listdir(os.path.join(os.path.dirname(__file__), package))):
        if name.endswith(".py") and name != "__init__.py" and not name.startswith("diff_"):
            import_module(".".join(filter(None, (__name__, package, name[:-3]))))
