"""How a cure is registered: `@cure`, and what a cure is given to look at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdlint.edits import APPEND, DROP, MOVE, PUT, RENAME, UNSHADOW, UNWRAP, Change
from crdlint.keywords import HOLDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from crdlint.document import Path
    from crdlint.tree import Crd

    Cure = Callable[["Case"], Iterable[Change]]

SAFE, UNSAFE = "safe", "unsafe"

# Rule -> how far its cure can be trusted, and the cure.
CURES: dict[str, tuple[str, Cure]] = {}
# Rule -> rules that then say of the new words what was true of the old ones.
BRINGS: dict[str, frozenset[str]] = {}


def cure(*rules: str, safe: bool = True, brings: Iterable[str] = ()) -> Callable[[Cure], Cure]:
    """Register the cure of some rules: it yields the changes, or nothing where there is none.

    Safe: the server's meaning stays, or what it refuses outright becomes the one thing that can
    have been meant. All others want to be looked at. A safe cure may call `doubt()` in one case.
    """
    allowed = frozenset(brings)

    def keep(run: Cure) -> Cure:
        CURES.update(dict.fromkeys(rules, (SAFE if safe else UNSAFE, run)))
        if allowed:
            BRINGS.update(dict.fromkeys(rules, allowed))
        return run

    return keep


class Case:
    """One place of a finding, with the CRD around it.

    `path` leads from the top of the CRD to the place; `data` is the CRD as its file has it, `crd`
    what the server makes of it, None where it cannot be decoded.
    """

    __slots__ = ("crd", "data", "doubtful", "message", "minor", "path", "rule", "text")

    def __init__(
        self,
        rule: str,
        path: Path,
        message: str,
        data: dict[str, Any],
        crd: Crd | None,
        minor: int,
        text: str = "",
    ) -> None:
        self.rule = rule
        self.path = path
        self.message = message
        self.data = data
        self.crd = crd
        self.minor = minor
        self.text = text  # what stands in the file at the place, on its first line
        self.doubtful = False

    def doubt(self) -> None:
        """Say that in this case the cure wants to be looked at."""
        self.doubtful = True

    def get(self, *path: str | int, default: Any = None) -> Any:
        """Return what the file has at a path, or the default."""
        here: Any = self.data
        for step in path:
            if isinstance(here, list):
                known = isinstance(step, int) and 0 <= step < len(here)
            else:
                known = isinstance(here, dict) and step in here
            if not known:
                return default
            here = here[step]
        return here

    def has(self, *path: str | int) -> bool:
        """Tell whether the file has something, null included, at a path."""
        nothing = object()
        return self.get(*path, default=nothing) is not nothing

    @property
    def value(self) -> Any:
        """Return what the file has at the place itself, None where there is nothing."""
        return self.get(*self.path)

    @property
    def schema(self) -> tuple[Path, dict[str, Any]]:
        """Return the path and the data of the schema that the place is in, or of the place."""
        way = schema_path(self.path)
        found = self.get(*way)
        return way, found if isinstance(found, dict) else {}


def schema_path(path: Path) -> Path:
    """Return the part of a path that leads to the innermost schema."""
    if "openAPIV3Schema" not in path:
        return ()
    at = path.index("openAPIV3Schema") + 1
    while at < len(path) and path[at] in HOLDS:
        how = HOLDS[str(path[at])]
        more = at + 1 < len(path)
        if how in ("named", "named-or-strings", "list"):
            if not more:
                break
            at += 2
        else:
            at += 2 if how == "one-or-list" and more and isinstance(path[at + 1], int) else 1
    return path[:at]


def put(path: Path, value: Any, after: str | None = None) -> Change:
    """Return the change that sets a value; a new key goes behind the key `after`, else last."""
    return Change(PUT, path, value, after=after)


def drop(path: Path) -> Change:
    """Return the change that takes an entry or an item away."""
    return Change(DROP, path)


def rename(path: Path, key: str) -> Change:
    """Return the change of a key."""
    return Change(RENAME, path, key)


def append(path: Path, value: Any) -> Change:
    """Return the change that adds an item to a list."""
    return Change(APPEND, path, value)


def unwrap(path: Path) -> Change:
    """Return the change of a list of one item into the item."""
    return Change(UNWRAP, path)


def unshadow(path: Path) -> Change:
    """Return the change that takes entries away which a later one of the same key overwrites."""
    return Change(UNSHADOW, path)


def move(source: Path, path: Path, value: Any) -> list[Change]:
    """Return the changes that take an entry with its text to another mapping."""
    return [Change(MOVE, path, value, source=source), drop(source)]
