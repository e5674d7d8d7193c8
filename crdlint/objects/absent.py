"""Rules written in CEL that hold for every object without some fields, whatever else it has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crdlint.cel.syntax import CALL, COMPREHENSION, LITERAL, SELECT, CelError, deep
from crdlint.objects.steer import EACH, Ways

if TYPE_CHECKING:
    from collections.abc import Callable

    from crdlint.cel.syntax import Comprehension, Node

    Absent = Callable[[tuple[str, ...]], bool]


def holds_without(text: str, absent: Absent, minor: int) -> bool:
    """Tell whether a rule is sure to hold for objects that lack some fields.

    Args:
        text: the rule.
        absent: tells of a way below `self`, with `*` for each item, whether its last field lacks.
        minor: whose CEL it is.

    Returns:
        False also where it cannot be decided: only `has` and what connects it is looked at.
    """
    from crdlint.cel.parser import parse

    try:
        tree = parse(text, minor)
    except CelError:
        return False
    with deep():
        return _Folder(absent).value(tree) is True


class _Folder:
    """Folds a rule in three values: True and False where sure and without error, else None."""

    def __init__(self, absent: Absent) -> None:
        self.absent = absent
        self.ways = Ways()

    def value(self, node: Node) -> bool | None:
        """Return what an expression is for all these objects, None where that is open."""
        if node.kind == LITERAL:
            return node.value if isinstance(node.value, bool) else None
        if node.kind == SELECT and node.value:
            return self._has(node)
        if node.kind == COMPREHENSION:
            return self._loop(node)  # type: ignore[arg-type]
        if node.kind == CALL:
            return self._call(node)
        return None

    def _has(self, node: Node) -> bool | None:
        way = self.ways.way(node)
        if way is None or (len(way) > 1 and way[-2] != EACH):
            return None  # where the part around it lacks, `has` is an error
        return False if self.absent(way) else None

    def _call(self, node: Node) -> bool | None:
        parts = [self.value(part) for part in node.args]
        if node.name == "_&&_":
            return False if False in parts else None if None in parts else True
        if node.name == "_||_":
            return True if True in parts else None if None in parts else False
        if node.name == "!_":
            return None if parts[0] is None else not parts[0]
        if node.name == "_?_:_" and parts[0] is not None:
            return parts[1 if parts[0] else 2]
        return None

    def _loop(self, node: Comprehension) -> bool | None:
        """Fold `all` over what cannot lack: self, or each item of it."""
        way = self.ways.way(node.target)
        step = node.step
        if way is None or (way and way[-1] != EACH) or node.init.value is not True:
            return None
        if step.kind != CALL or step.name != "_&&_":
            return None
        self.ways.enter(node, way)
        return True if self.value(step.args[1]) is True else None
