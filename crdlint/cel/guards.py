"""Where a rule uses an int-or-string value in a way that only one of its two forms can take."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crdlint.cel import types as t
from crdlint.cel.check import Checker
from crdlint.cel.compile import OLD_SELF
from crdlint.cel.library import library
from crdlint.cel.parser import parse
from crdlint.cel.syntax import CALL, IDENT, SELECT, CelError, Comprehension, Node, deep

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crdlint.cel.types import Decl

_FORMS = {"int": t.INT, "string": t.STRING}
_TAKE_ANY = (t.DYN, t.PARAM)
_INNER = ("@", "__")  # how the names of what macros count with begin


class Misfit:
    """A call that fails for one form of an int-or-string value.

    `value` is the text of the value, `call` the function or operator, and `fails` the forms, out
    of `int` and `string`, for which the server finds no overload when it runs the rule.
    """

    __slots__ = ("call", "fails", "value")

    def __init__(self, value: str, call: str, fails: list[str]) -> None:
        self.value = value
        self.call = call
        self.fails = fails


def holds_either(decl: Decl) -> bool:
    """Tell whether a declared type has an int-or-string value in it: CEL knows it as dyn."""
    stack = [decl]
    while stack:
        part = stack.pop()
        if part.type.kind == t.DYN:
            return True
        if part.elem is not None:
            stack.append(part.elem)
        stack += (part.fields or {}).values()
    return False


def misfits(text: str, decl: Decl, *, minor: int) -> list[Misfit]:
    """Return the calls of a rule that fail for integers or for strings, in the order of the text.

    Values whose type the rule asks for, as in `type(self) == int ? ... : ...`, are left alone, and
    so are comparisons with == and `in`, which are false for the other form and do not fail, and
    calls whose failure another part of the rule can make up for.
    """
    checker = Checker(minor, {"self": decl.type, OLD_SELF: decl.type}, minor)
    with deep():
        try:
            tree = parse(text, minor)
            checker.check(tree)
        except CelError:
            return []
    guarded = {_way(call.args[0]) for call in checker.calls if call.name == "type" and call.args}
    found: dict[tuple[str, str], Misfit] = {}
    for call in _decisive(tree):
        operands = [*([call.target] if call.target is not None else ()), *call.args]
        for i, operand in enumerate(operands):
            way = _way(operand)
            if operand.type.kind != t.DYN or not way or way in guarded:
                continue
            fails = _fails(call, i, len(operands), minor)
            if fails:
                found.setdefault((way, call.name), Misfit(way, _shown(call.name), fails))
    return list(found.values())


def _decisive(tree: Node) -> Iterator[Node]:
    """Yield the calls whose failure is that of the whole rule.

    One side of `||` may fail where the other is true, and one of `&&` where the other is false:
    that matters where the whole is negated. Macros such as exists() stand for such operators. Of
    `?` only the condition always runs.
    """
    stack = [(tree, False)]
    while stack:
        node, negated = stack.pop()
        if node.kind == CALL:
            if node.name == "_||_" or (negated and node.name == "_&&_"):
                continue
            yield node
            if node.name == "_?_:_":
                stack.append((node.args[0], negated))
                continue
            negated = negated or node.name == "!_"
        stack.extend((part, negated) for part in reversed(_parts(node)))


def _parts(node: Node) -> list[Node]:
    """Return the nodes directly below one, in the order of the text."""
    parts = [node.target] if node.target is not None else []
    if isinstance(node, Comprehension):
        return [*parts, node.init, node.condition, node.step, node.result]
    for arg in node.args:
        parts += [x for x in arg if isinstance(x, Node)] if isinstance(arg, tuple) else [arg]
    return parts


def _way(node: Node) -> str:
    """Return the text of a variable or a chain of fields, or "" where the node is neither."""
    names: list[str] = []
    part = node
    while part.kind == SELECT and not part.value:
        names.append(part.name)
        part = part.target
    if part.kind != IDENT or part.name.startswith(_INNER):
        return ""
    return ".".join([part.name, *reversed(names)])


def _fails(call: Node, index: int, count: int, minor: int) -> list[str]:
    """Return the forms that no overload of a call takes as one of its arguments."""
    chosen = call.overloads or ()
    kinds = {
        overload.args[index].kind
        for overload in library(minor).overloads(
            call.name, member=call.target is not None, count=count, cross=True
        )
        if overload.id in chosen
    }
    if not kinds or kinds.intersection(_TAKE_ANY):
        return []
    return [form for form, kind in _FORMS.items() if kind not in kinds]


def _shown(name: str) -> str:
    """Return an operator as it is written."""
    return name.strip("_@") if name[0] in "_@" else name
