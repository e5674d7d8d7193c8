"""The worst-case cost of a checked expression, as cel-go and Kubernetes estimate it.

Only the upper bounds of costs decide anything, so a cost is one number. Sizes have both bounds,
since a lower one can bound what replace() makes. All numbers saturate at 2^64-1 save where the
server's own arithmetic does not.
Sources: checker/cost.go in cel-go, library/cost.go in k8s.io/apiserver/pkg/cel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdlint.cel import types as t
from crdlint.cel.libcost import FUNCTIONS, OVERLOADS, add, multiply, scale
from crdlint.cel.syntax import CALL, IDENT, LIST, LITERAL, MAP, SELECT, Comprehension, Node
from crdlint.cel.types import MAX_U64, Decl, Type, is_optional

if TYPE_CHECKING:
    from crdlint.cel.libcost import Estimate, Size

    # A way through the declared types: the steps, of which only the first so many count. The
    # server's slices share their arrays, so that a later way can change an earlier one; two
    # hundred lines of Go depend on it by chance, and the estimates with them.
    Way = tuple[list[str], int]
    # The sizes of the keys and values of a list or map: is it a list, keys, values.
    Entry = tuple[bool, Size, Size]

UNKNOWN = (0, MAX_U64)
STRING_FACTOR = 0.1
REGEX_FACTOR = 0.25

# The minor whose has() cost 1 more, and the first that knows how large the results of library
# functions are.
_HAS_COSTS_IN = 28
_SIZED_RESULTS_SINCE = 26
# The first minor to which matches(text, pattern) costs as much as text.matches(pattern).
_CALLED_MATCHES_SINCE = 37

_ONE = (1, 1)
_SCALARS = frozenset((t.BOOL, t.DOUBLE, t.DURATION, t.INT, t.TIMESTAMP, t.UINT))
_COMPARED = frozenset(
    f"{name}_{kind}"
    for name in ("less", "greater", "less_equals", "greater_equals")
    for kind in ("string", "bytes")
) | {"equals", "not_equals"}
_JOINED = frozenset(("add_string", "add_bytes", "add_list"))


class Operand:
    """An argument of a call as the estimators see it."""

    __slots__ = ("node", "size", "type", "way")

    def __init__(self, node: Node | None, of: Type, way: Way | None, size: Size | None) -> None:
        self.node = node
        self.type = of
        self.way = way
        self.size = size


def _step(way: Way | None, name: str) -> Way:
    """Append to a way as Go appends to a slice."""
    if way is None:
        return [name], 1
    steps, count = way
    if count < len(steps):
        steps[count] = name
        return steps, count + 1
    return [*steps[:count], name, *([""] * (count - 1))], count + 1


def union(a: Size, b: Size) -> Size:
    """Return the size that includes both."""
    return min(a[0], b[0]), max(a[1], b[1])


def size_add(a: Size, b: Size) -> Size:
    """Return the sum of two sizes."""
    return add(a[0], b[0]), add(a[1], b[1])


class Coster:
    """Estimates the cost of one checked expression over values of a declared type."""

    __slots__ = ("_locals", "minor", "root", "seen")

    def __init__(self, root: Decl, minor: int) -> None:
        self.root = root
        self.minor = minor
        # Where set, the ways whose declared bounds were looked at, for those who look for bounds.
        self.seen: set[tuple[str, ...]] | None = None
        self._locals: dict[str, list[tuple[Way | None, Size | None, Entry | None]]] = {}

    def cost(self, node: Node) -> int:
        """Return the highest cost of evaluating an expression once."""
        kind = node.kind
        if kind == SELECT:
            return self._select(node)
        if kind == IDENT:
            stack = self._locals.get(node.name)
            node.way = stack[-1][0] if stack else ([node.name], 1)
            return 1
        if kind == LITERAL:
            return 0
        if kind == CALL:
            return self._call(node)
        if kind == LIST:
            return self._list(node)
        if kind == MAP:
            return self._map(node)
        if isinstance(node, Comprehension):
            if _is_bind(node):
                return self._bind(node)
            return self._comprehension(node)
        raise AssertionError(kind)

    def _select(self, node: Node) -> int:
        target = node.target
        cost = self.cost(target)
        if node.value:
            return add(cost, 1) if self.minor == _HAS_COSTS_IN else cost
        if target.type.kind in (t.STRUCT, t.MAP):
            cost = add(cost, 1)
        node.way = _step(self._way(target), node.name)
        return cost

    # Sizes.

    def _way(self, node: Node) -> Way | None:
        if node.kind == IDENT:
            stack = self._locals.get(node.name)
            if stack:
                return stack[-1][0]
        way: Way | None = node.way
        return way

    def declared_size(self, way: Way | None) -> Size | None:
        """Return the size that the schema gives to what a way leads to; its start is a name."""
        if way is None:
            return None
        decl: Decl | None = self.root
        for name in way[0][1 : way[1]]:
            assert decl is not None
            if name in ("@items", "@values"):
                decl = decl.elem
            elif name == "@keys":
                decl = decl.key
            else:
                decl = decl.fields.get(name) if decl.fields is not None else None
            if decl is None:
                return None
        assert decl is not None
        if self.seen is not None:
            self.seen.add(tuple(way[0][1 : way[1]]))
        return 0, decl.max_elements

    def size(self, node: Node) -> Size | None:
        """Return the size of what an expression gives, or None where nothing is known."""
        found: Size | None = node.size
        if found is not None:
            return found
        found = _literal_size(node)
        if found is not None:
            return found
        way = self._way(node)
        found = self.declared_size(way)
        if found is not None:
            node.size = found
            return found
        if _is_scalar(node.type):
            return _ONE
        if node.kind == IDENT:
            stack = self._locals.get(node.name)
            if stack:
                return stack[-1][1]
        return None

    def _known(self, node: Node) -> Size:
        found = self.size(node)
        return UNKNOWN if found is None else found

    def _entry(self, node: Node) -> Entry | None:
        found: Entry | None = node.entry
        if found is None and node.kind == IDENT:
            stack = self._locals.get(node.name)
            if stack:
                return stack[-1][2]
        return found

    def _operand(self, node: Node) -> Operand:
        return Operand(node, node.type, self._way(node), self.size(node))

    # Calls.

    def _call(self, node: Node) -> int:
        name = node.name
        args = node.args
        if name == "dyn":
            arg = args[0]
            cost = self.cost(arg)
            self._copy_sizes(node, arg)
            return add(1, cost)
        costs: list[int] = []
        operands: list[Operand] = []
        for arg in args:
            costs.append(self.cost(arg))
            operands.append(self._operand(arg))
        total = 0
        target: Operand | None = None
        if node.target is not None:
            total = self.cost(node.target)
            target = self._operand(node.target)
        highest = 0
        size: Size | None = None
        for overload in node.overloads:
            cost, result = self._function(node, overload, target, operands, costs)
            highest = max(highest, cost)
            if result is not None:
                size = result if size is None else union(size, result)
            if overload == "index_list":
                size = self._index(node, args[0], "@items")
            elif overload == "index_map":
                size = self._index(node, args[0], "@values")
            if size is None:
                size = self.size(node)
        if size is not None:
            node.size = size
        return add(total, highest)

    def _index(self, node: Node, over: Node, step: str) -> Size | None:
        entry = self._entry(over)
        node.way = _step(self._way(over), step)
        return None if entry is None else entry[2]

    def _copy_sizes(self, to: Node, of: Node) -> None:
        size = self.size(of)
        if size is not None:
            to.size = size
        entry = self._entry(of)
        if entry is not None:
            to.entry = entry

    def _function(
        self,
        node: Node,
        overload: str,
        target: Operand | None,
        args: list[Operand],
        costs: list[int],
    ) -> Estimate:
        found: Estimate | None = None
        by_overload = OVERLOADS.get(overload)
        if by_overload is not None:
            found = by_overload(self, overload, target, args)
        if found is None:
            by_name = FUNCTIONS.get(node.name)
            if by_name is not None:
                found = by_name(self, overload, target, args)
        if found is None:
            if overload == "conditional":
                return self._conditional(node, args, costs)
            if overload in ("logical_and", "logical_or"):
                return add(costs[0], costs[1]), None
            found = self._standard(node, overload, target, args)
            cost, size = found
        else:
            cost, size = found
            if self.minor < _SIZED_RESULTS_SINCE:
                size = None
        for more in costs:
            cost = add(cost, more)
        return cost, size

    def _conditional(self, node: Node, args: list[Operand], costs: list[int]) -> Estimate:
        size = union(args[1].size or UNKNOWN, args[2].size or UNKNOWN)
        entry = _both(self._entry(node.args[1]), self._entry(node.args[2]))
        if entry is not None:
            node.entry = entry
        return add(costs[0], max(costs[1], costs[2])), size

    def _standard(
        self, node: Node, overload: str, target: Operand | None, args: list[Operand]
    ) -> Estimate:
        """Estimate a function of cel-go's own."""
        sizes = [UNKNOWN if arg.size is None else arg.size for arg in args]
        if overload in _COMPARED:
            return scale(min(sizes[0][1], sizes[1][1]), STRING_FACTOR), None
        if overload in ("starts_with_string", "ends_with_string"):
            return scale(sizes[0][1], STRING_FACTOR), None
        if overload == "in_list":
            return scale(sizes[1][1], 1.0), None
        if overload in _JOINED:
            size = size_add(sizes[0], sizes[1])
            entry = _both(self._entry(node.args[0]), self._entry(node.args[1]))
            if entry is not None:
                node.entry = entry
            return 1 if overload == "add_list" else scale(size[1], STRING_FACTOR), size
        own = UNKNOWN if target is None or target.size is None else target.size
        if overload == "matches" and self.minor < _CALLED_MATCHES_SINCE:
            return 1, None
        if overload in ("matches", "matches_string"):
            text, pattern = (own, sizes[0]) if target is not None else (sizes[0], sizes[1])
            by_text = scale(add(text[1], 1), STRING_FACTOR)
            return multiply(by_text, scale(pattern[1], REGEX_FACTOR)), None
        if overload == "contains_string":
            found = scale(sizes[0][1], STRING_FACTOR)
            return multiply(scale(own[1], STRING_FACTOR), found), None
        if overload == "string_format":
            return scale(own[1], STRING_FACTOR), None
        if overload in _CONVERTED:
            low, high = _CONVERTED[overload](*sizes[0])
            return scale(sizes[0][1], STRING_FACTOR), (low & MAX_U64, high & MAX_U64)
        return 1, None

    # Literals.

    def _list(self, node: Node) -> int:
        cost = 10
        low, high = (MAX_U64, 0) if node.args else (0, 0)
        for element in node.args:
            cost = add(cost, self.cost(element))
            size = self._known(element)
            low, high = min(low, size[0]), max(high, size[1])
        node.entry = (True, _ONE, (low, high))
        return cost

    def _map(self, node: Node) -> int:
        cost = 30
        keys = values = (MAX_U64, 0) if node.args else (0, 0)
        for key, value, _ in node.args:
            cost = add(add(cost, self.cost(key)), self.cost(value))
            keys = union(keys, self._known(key))
            values = union(values, self._known(value))
        node.entry = (False, keys, values)
        return cost

    # Macros.

    def _push(self, name: str, way: Way | None, size: Size | None, entry: Entry | None) -> None:
        self._locals.setdefault(name, []).append((way, size, entry))

    def _push_value(self, node: Comprehension) -> None:
        """Declare the variables of a loop."""
        over = node.target
        entry = self._entry(over)
        is_list = over.type.kind == t.LIST if entry is None else entry[0]
        keys = None if entry is None else entry[1]
        values = None if entry is None else entry[2]
        if node.var2:
            step = "@indices" if is_list else "@keys"
            self._push(node.var, _step(self._way(over), step), keys, None)
            step = "@items" if is_list else "@values"
            self._push(node.var2, _step(self._way(over), step), values, None)
        elif is_list:
            self._push(node.var, _step(self._way(over), "@items"), values, None)
        else:
            self._push(node.var, _step(self._way(over), "@keys"), keys, None)

    def _push_bound(self, name: str, value: Node) -> None:
        way = self._way(value)
        entry = self._entry(value)
        self._push(name, way, self.size(value), entry)

    def _comprehension(self, node: Comprehension) -> int:
        total = add(self.cost(node.target), self.cost(node.init))
        self._push_bound(node.accu, node.init)
        self._push_value(node)
        loop = add(self.cost(node.condition), self.cost(node.step))
        self._locals[node.var].pop()
        if node.var2:
            self._locals[node.var2].pop()
        total = add(total, self.cost(node.result))
        self._locals[node.accu].pop()
        times = self._known(node.target)
        if node.init.kind == LITERAL:
            node.size = self.size(node.init)
        elif node.init.kind in (LIST, MAP):
            node.size = times
            entry = self._entry(node.step)
            if entry is not None:
                node.entry = entry
        return add(total, multiply(times[1], loop))

    def _bind(self, node: Comprehension) -> int:
        total = add(self.cost(node.target), self.cost(node.init))
        self._push_bound(node.accu, node.init)
        total = add(total, self.cost(node.result))
        self._locals[node.accu].pop()
        self._copy_sizes(node, node.result)
        return total

    # What the estimators of the libraries ask.

    def estimate_size(self, operand: Operand) -> Size:
        """Return the size of an argument, unknown if nothing says."""
        if operand.size is not None:
            return operand.size
        return self.declared_size(operand.way) or UNKNOWN

    def element(self, operand: Operand) -> Operand | None:
        """Return what the elements of a list are, or None where its type has no parameters."""
        if not operand.type.params:
            return None
        way = operand.way
        if way is not None:
            way = ([*way[0][: way[1]], "@items"], way[1] + 1)
        return Operand(None, operand.type.params[0], way, None)


# What an overload makes of a size; the server lets these overflow.
_CONVERTED: dict[str, Any] = {
    "string_to_bytes": lambda low, high: (low, high * 4),
    "bytes_to_string": lambda low, high: (low // 4, high),
    "strings_quote": lambda low, high: (low + 2, high * 2 + 2),
}


def _is_bind(node: Comprehension) -> bool:
    condition = node.condition
    return (
        node.target.kind == LIST
        and not node.target.args
        and condition.kind == LITERAL
        and condition.value is False
    )


def _literal_size(node: Node) -> Size | None:
    if node.kind == LITERAL:
        length = len(node.value) if node.name in ("string", "bytes") else 1
        return length, length
    if node.kind in (LIST, MAP):
        length = len(node.args)
        return length, length
    return None


def _is_scalar(of: Type) -> bool:
    if is_optional(of):
        return _is_scalar(of.params[0])
    return of.kind in _SCALARS


def _both(a: Entry | None, b: Entry | None) -> Entry | None:
    if a is None or b is None:
        return None
    return a[0], union(a[1], b[1]), union(a[2], b[2])
