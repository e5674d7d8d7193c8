"""What CEL's macros stand for: has, all, exists, map, filter, optMap, transformList, sortBy ..."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdlint.cel.syntax import (
    CALL,
    COMPREHENSION,
    IDENT,
    LIST,
    LITERAL,
    MAP,
    MAX_NODES,
    SELECT,
    STRUCT,
    CelError,
    Comprehension,
    Node,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    Expand = Callable[[int, Any, list[Node]], Node]

ACCU = "@result"  # no text can name it
_UNUSED = "#unused"
_SORT_INPUT = "@__sortBy_input__"


def find(name: str, count: int, *, member: bool, compat: int) -> Expand | None:
    """Return how a macro called so expands, or None if the call is none."""
    if not member:
        return _has if name == "has" and count == 1 else None
    found = _MEMBERS.get((name, count))
    if found is None or found[0] > compat:
        return None
    return found[1]


def _accu(pos: int) -> Node:
    return Node(IDENT, pos, ACCU)


def _call(pos: int, name: str, *args: Node) -> Node:
    return Node(CALL, pos, name, None, list(args))


def _true(pos: int) -> Node:
    return Node(LITERAL, pos, "bool", value=True)


def _false(pos: int) -> Node:
    return Node(LITERAL, pos, "bool", value=False)


def _one(pos: int) -> Node:
    return Node(LITERAL, pos, "int", value=1)


def _empty(pos: int) -> Node:
    return Node(LIST, pos, "", None, [], ())


def _variable(node: Node) -> str:
    """Return the name of the variable that the first arguments of a macro bind."""
    if node.kind != IDENT:
        raise CelError("this must be a name: the variable of the macro", node.pos)
    if node.name in (ACCU, "__result__"):
        raise CelError("__result__ cannot be the variable of a macro", node.pos)
    return node.name


def _variables(args: list[Node]) -> tuple[str, str]:
    first, second = _variable(args[0]), _variable(args[1])
    if first == second:
        raise CelError(f"both variables of the macro are called {first}", args[1].pos)
    return first, second


def _has(_pos: int, _target: Node | None, args: list[Node]) -> Node:
    arg = args[0]
    if arg.kind != SELECT:
        raise CelError("has() needs a field, such as has(self.name)", arg.pos)
    return Node(SELECT, arg.pos, arg.name, arg.target, value=True)


def _loop(
    pos: int, target: Node, names: tuple[str, str], parts: tuple[Node, Node, Node, Node]
) -> Node:
    init, condition, step, result = parts
    return Comprehension(pos, target, (*names, ACCU), init, condition, step, result)


def _all_of(pos: int, body: Node) -> tuple[Node, Node, Node, Node]:
    condition = _call(pos, "@not_strictly_false", _accu(pos))
    return _true(pos), condition, _call(pos, "_&&_", _accu(pos), body), _accu(pos)


def _any_of(pos: int, body: Node) -> tuple[Node, Node, Node, Node]:
    condition = _call(pos, "@not_strictly_false", _call(pos, "!_", _accu(pos)))
    return _false(pos), condition, _call(pos, "_||_", _accu(pos), body), _accu(pos)


def _one_of(pos: int, body: Node) -> tuple[Node, Node, Node, Node]:
    count = _call(pos, "_+_", _accu(pos), _one(pos))
    step = _call(pos, "_?_:_", body, count, _accu(pos))
    result = _call(pos, "_==_", _accu(pos), _one(pos))
    return Node(LITERAL, pos, "int", value=0), _true(pos), step, result


def _collect(pos: int, item: Node, keep: Node | None) -> tuple[Node, Node, Node, Node]:
    more = _call(pos, "_+_", _accu(pos), Node(LIST, pos, "", None, [item], ()))
    if keep is not None:
        more = _call(pos, "_?_:_", keep, more, _accu(pos))
    return _empty(pos), _true(pos), more, _accu(pos)


def _insert(pos: int, args: list[Node], keep: Node | None) -> tuple[Node, Node, Node, Node]:
    more = _call(pos, "cel.@mapInsert", _accu(pos), *args)
    if keep is not None:
        more = _call(pos, "_?_:_", keep, more, _accu(pos))
    return Node(MAP, pos, "", None, []), _true(pos), more, _accu(pos)


def _quantifier(parts: Callable[[int, Node], tuple[Node, Node, Node, Node]]) -> Expand:
    def expand(pos: int, target: Node, args: list[Node]) -> Node:
        names = (_variable(args[0]), "") if len(args) == 2 else _variables(args)
        return _loop(pos, target, names, parts(pos, args[-1]))

    return expand


def _map(pos: int, target: Node, args: list[Node]) -> Node:
    keep = args[1] if len(args) == 3 else None
    return _loop(pos, target, (_variable(args[0]), ""), _collect(pos, args[-1], keep))


def _filter(pos: int, target: Node, args: list[Node]) -> Node:
    return _loop(pos, target, (_variable(args[0]), ""), _collect(pos, args[0], args[1]))


def _transform_list(pos: int, target: Node, args: list[Node]) -> Node:
    keep = args[2] if len(args) == 4 else None
    return _loop(pos, target, _variables(args), _collect(pos, args[-1], keep))


def _transform_map(pos: int, target: Node, args: list[Node]) -> Node:
    names = _variables(args)
    keep = args[2] if len(args) == 4 else None
    key = Node(IDENT, pos, names[0])
    return _loop(pos, target, names, _insert(pos, [key, args[-1]], keep))


def _transform_entry(pos: int, target: Node, args: list[Node]) -> Node:
    keep = args[2] if len(args) == 4 else None
    return _loop(pos, target, _variables(args), _insert(pos, [args[-1]], keep))


def _bound(pos: int, name: str, value: Node, result: Node) -> Node:
    """Return what sets a variable for one expression: a loop over nothing."""
    step = Node(IDENT, pos, name)
    return Comprehension(pos, _empty(pos), (_UNUSED, "", name), value, _false(pos), step, result)


def _opt_map(pos: int, target: Node, args: list[Node]) -> Node:
    result = _opt_body(pos, target, args)
    return _opt_result(pos, target, _call(pos, "optional.of", result))


def _opt_flat_map(pos: int, target: Node, args: list[Node]) -> Node:
    return _opt_result(pos, target, _opt_body(pos, target, args))


def _opt_body(pos: int, target: Node, args: list[Node]) -> Node:
    if args[0].kind != IDENT:
        raise CelError("this must be a name: the variable of the macro", args[0].pos)
    value = Node(CALL, pos, "value", Copier().copy(target), [])
    return _bound(pos, args[0].name, value, args[1])


def _opt_result(pos: int, target: Node, result: Node) -> Node:
    test = Node(CALL, pos, "hasValue", target, [])
    return _call(pos, "_?_:_", test, result, _call(pos, "optional.none"))


def _sort_by(pos: int, target: Node, args: list[Node]) -> Node:
    if target.kind not in (LIST, SELECT, IDENT, COMPREHENSION, CALL):
        raise CelError("sortBy() needs a list", target.pos)
    keys = _map(pos, Node(IDENT, pos, _SORT_INPUT), args)
    call = Node(CALL, pos, "@sortByAssociatedKeys", Node(IDENT, pos, _SORT_INPUT), [keys])
    return _bound(pos, _SORT_INPUT, target, call)


class Copier:
    """Copies trees, up to a number of nodes."""

    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left = MAX_NODES

    def copy(self, node: Node) -> Node:
        """Return a tree like this one of new nodes."""
        self.left -= 1
        if self.left < 0:
            raise CelError("optMap and optFlatMap repeat their target too often", node.pos)
        target = None if node.target is None else self.copy(node.target)
        if isinstance(node, Comprehension):
            assert target is not None
            return Comprehension(
                node.pos,
                target,
                (node.var, node.var2, node.accu),
                self.copy(node.init),
                self.copy(node.condition),
                self.copy(node.step),
                self.copy(node.result),
            )
        args: list[Any] = []
        for arg in node.args:
            if node.kind == MAP:
                args.append((self.copy(arg[0]), self.copy(arg[1]), arg[2]))
            elif node.kind == STRUCT:
                args.append((arg[0], self.copy(arg[1]), arg[2]))
            else:
                args.append(self.copy(arg))
        return Node(node.kind, node.pos, node.name, target, args, node.value)


# name and number of arguments: the minor that brought it, and how it expands
_MEMBERS: dict[tuple[str, int], tuple[int, Expand]] = {
    ("all", 2): (0, _quantifier(_all_of)),
    ("exists", 2): (0, _quantifier(_any_of)),
    ("exists_one", 2): (0, _quantifier(_one_of)),
    ("existsOne", 2): (0, _quantifier(_one_of)),
    ("map", 2): (0, _map),
    ("map", 3): (0, _map),
    ("filter", 2): (0, _filter),
    ("optMap", 2): (28, _opt_map),
    ("optFlatMap", 2): (28, _opt_flat_map),
    ("all", 3): (32, _quantifier(_all_of)),
    ("exists", 3): (32, _quantifier(_any_of)),
    ("exists_one", 3): (32, _quantifier(_one_of)),
    ("existsOne", 3): (32, _quantifier(_one_of)),
    ("transformList", 3): (32, _transform_list),
    ("transformList", 4): (32, _transform_list),
    ("transformMap", 3): (32, _transform_map),
    ("transformMap", 4): (32, _transform_map),
    ("transformMapEntry", 3): (32, _transform_entry),
    ("transformMapEntry", 4): (32, _transform_entry),
    ("sortBy", 2): (34, _sort_by),
}
