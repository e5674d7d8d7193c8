"""Whether one expression holds wherever another does, as far as their form shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdlint.cel.syntax import CALL, COMPREHENSION, LIST, LITERAL, CelError, Node, deep

if TYPE_CHECKING:
    from crdlint.cel.syntax import Comprehension

_AND, _OR, _IN, _EQUAL, _NOT = "_&&_", "_||_", "@in", "_==_", "!_"
_PARTS = ("init", "condition", "step", "result")


def implies(before: str, after: str, minor: int) -> bool:
    """Tell whether `after` is sure to be true, without error, where `before` is.

    What is added to an `||` or to the list of an `in`, and what is taken from an `&&`, is seen;
    False says only that it is not seen.
    """
    from crdlint.cel.parser import parse

    try:
        trees = parse(before, minor), parse(after, minor)
    except CelError:
        return False
    with deep():
        return _implies(*trees)


def _implies(a: Node, b: Node) -> bool:
    # An error in one part of `||` and `&&` does not count where the other part decides, so the
    # truth of a disjunct is enough, and a true conjunction has only true parts.
    if _is(a, _OR):
        return all(_implies(part, b) for part in a.args)
    if _is(b, _AND):
        return all(_implies(a, part) for part in b.args)
    if _equal(a, b):
        return True
    if _is(b, _OR) and any(_implies(a, part) for part in b.args):
        return True
    if _is(a, _AND):
        return any(_implies(part, b) for part in a.args)
    if _is(a, _NOT) and _is(b, _NOT):
        return _member(b.args[0], a.args[0])
    return _member(a, b) or _loop(a, b)


def _is(node: Node, name: str) -> bool:
    return node.kind == CALL and node.name == name


def _member(a: Node, b: Node) -> bool:
    """Tell whether a value that is among some literals is among others too."""
    one, other = _choice(a), _choice(b)
    if one is None or other is None or not _equal(one[0], other[0]):
        return False
    return all(any(_equal(x, y) for y in other[1]) for x in one[1])


def _choice(node: Node) -> tuple[Node, list[Node]] | None:
    """Return what is compared, and the literals that it may be."""
    if _is(node, _EQUAL) and node.args[1].kind == LITERAL:
        return node.args[0], [node.args[1]]
    if _is(node, _IN) and node.args[1].kind == LIST and not node.args[1].value:
        items = list(node.args[1].args)
        if all(item.kind == LITERAL for item in items):
            return node.args[0], items
    return None


def _loop(a: Any, b: Any) -> bool:
    """Tell whether a condition on all items implies another on all items."""
    if a.kind != COMPREHENSION or b.kind != COMPREHENSION or not (_is_all(a) and _is_all(b)):
        return False
    if (a.var, a.var2, a.accu) != (b.var, b.var2, b.accu) or not _equal(a.target, b.target):
        return False
    return _implies(a.step.args[1], b.step.args[1])


def _is_all(node: Comprehension) -> bool:
    return node.init.kind == LITERAL and node.init.value is True and _is(node.step, _AND)


def _equal(a: Any, b: Any) -> bool:
    """Tell whether two trees are the same but for where they stand."""
    if not isinstance(a, Node) or not isinstance(b, Node):
        if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
            return len(a) == len(b) and all(_equal(x, y) for x, y in zip(a, b, strict=True))
        return type(a) is type(b) and a == b
    if (a.kind, a.name, type(a.value)) != (b.kind, b.name, type(b.value)) or a.value != b.value:
        return False
    if not _equal(a.target, b.target) or not _equal(a.args, b.args):
        return False
    if a.kind != COMPREHENSION:
        return True
    if any(getattr(a, name) != getattr(b, name) for name in ("var", "var2", "accu")):
        return False
    return all(_equal(getattr(a, name), getattr(b, name)) for name in _PARTS)
