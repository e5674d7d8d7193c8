"""Checked expressions as closures that evaluate, fail and charge as the server's do.

An error is a value, an EvalError, since && and || and loops can go on after one, and since what is
evaluated costs, whether it helps or not. Sources: interpreter/planner.go, interpretable.go and
runtimecost.go in cel-go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdlint.cel import loops
from crdlint.cel import types as t
from crdlint.cel.attributes import (
    ABSENT,
    COST,
    OLD_SELF,
    SELF,
    Attribute,
    Step,
    old_self,
    variable,
)
from crdlint.cel.calls import CONVERSIONS, PATTERNED, call, constant_pattern, converted
from crdlint.cel.loops import LIMIT, Cancelled
from crdlint.cel.runtime_cost import LIST_COST, MAP_COST, CostError, cost_of
from crdlint.cel.syntax import (
    CALL,
    IDENT,
    LIST,
    LITERAL,
    MAP,
    SELECT,
    Comprehension,
    Node,
    deep,
)
from crdlint.cel.values import (
    MISSING,
    EvalError,
    MapValue,
    Optional,
    TypeValue,
    Uint,
    equal,
    map_key,
    no_such_overload,
)

if TYPE_CHECKING:
    from crdlint.cel.attributes import Ev

# The minor whose has() cost 1 more.
_HAS_COSTS_IN = 28


class Program:
    """An expression, ready to run."""

    __slots__ = ("_ev", "_slots", "uses_old_self")

    def __init__(self, ev: Ev, slots: int, *, uses_old_self: bool) -> None:
        self._ev = ev
        self._slots = slots
        self.uses_old_self = uses_old_self

    def run(self, self_value: Any, old_value: Any = ABSENT) -> tuple[Any, int]:
        """Evaluate once.

        Returns:
            The value, or the EvalError or Cancelled it ends with, and what it cost.
        """
        frame: list[Any] = [0, self_value, old_value] + [None] * self._slots
        try:
            with deep():
                found = self._ev(frame)
        except Cancelled as e:
            return e, frame[COST]
        except CostError as e:
            return EvalError(f"internal error: {e}"), frame[COST]
        if frame[COST] > LIMIT:
            return Cancelled(), frame[COST]
        return found, frame[COST]


def program(tree: Node, *, minor: int, uses_old_self: bool) -> Program:
    """Make a program of a checked tree; `minor` is the server's."""
    with deep():
        planner = Planner(minor)
        ev = planner.plan(tree)
    return Program(ev, planner.slots, uses_old_self=uses_old_self)


class Planner:
    """Makes closures of one tree."""

    __slots__ = ("_constants", "_has_cost", "_scopes", "slots")

    def __init__(self, minor: int) -> None:
        self.slots = 0
        self._has_cost = 1 if minor == _HAS_COSTS_IN else 0
        self._scopes: list[dict[str, Ev]] = []
        self._constants: dict[int, Any] = {}

    def plan(self, node: Node) -> Ev:
        """Return the closure of a node."""
        value = self.constant(node)
        if value is not MISSING:
            return lambda _: value
        kind = node.kind
        if kind == SELECT:
            attribute = self._attribute(node)
            assert attribute is not None
            return attribute.evaluator(self._has_cost if node.value else 1)
        if kind == CALL:
            return self._call(node)
        if kind == IDENT:
            return Attribute(self._read(node.name)).evaluator()
        if kind == LIST:
            return self._list(node)
        if kind == MAP:
            return self._map(node)
        assert isinstance(node, Comprehension)
        return loops.plan(self, node)

    # Constants, which cost nothing. Source: the decorators of cel-go's interpreter.

    def constant(self, node: Node) -> Any:
        """Return the value that a node has in any case, or MISSING."""
        key = id(node)
        found = self._constants.get(key, self)
        if found is self:
            found = self._constants[key] = self._constant(node)
        return found

    def _constant(self, node: Node) -> Any:
        kind = node.kind
        if kind == LITERAL:
            if node.name == "uint":
                return Uint(node.value)
            return node.value
        if kind == IDENT:
            if node.type.kind != t.TYPE or self._local(node.name) is not None:
                return MISSING
            return TypeValue(node.name.lstrip("."))
        if kind == LIST:
            values = [self.constant(item) for item in node.args]
            return MISSING if any(value is MISSING for value in values) else values
        if kind == MAP:
            entries = [(self.constant(key), self.constant(value)) for key, value, _ in node.args]
            if any(key is MISSING or value is MISSING for key, value in entries):
                return MISSING
            return MapValue(entries)
        if kind == CALL and node.target is None:
            return self._constant_call(node)
        return MISSING

    def _constant_call(self, node: Node) -> Any:
        if node.name in CONVERSIONS and len(node.args) == 1:
            value = self.constant(node.args[0])
            return MISSING if value is MISSING else converted(node, value)
        if node.name == "@in" and node.overloads == ("in_list",):
            within = self.constant(node.args[1])
            if within is not MISSING and not within:
                return False
        return MISSING

    # Names and what is taken out of them.

    def _local(self, name: str) -> Ev | None:
        for scope in reversed(self._scopes):
            found = scope.get(name)
            if found is not None:
                return found
        return None

    def _read(self, name: str) -> Ev:
        found = self._local(name)
        if found is not None:
            return found
        return old_self if name.lstrip(".") == "oldSelf" else variable(SELF)

    def attribute(self, node: Node) -> Attribute:
        """Return a node as the start of an attribute, or the attribute that it is."""
        return self._attribute(node) or Attribute(self.plan(node))

    def _attribute(self, node: Node) -> Attribute | None:
        if self.constant(node) is not MISSING:
            return None
        kind, name = node.kind, node.name
        if kind == IDENT:
            return Attribute(self._read(name))
        if kind == SELECT:
            return self.attribute(node.target).add(Step(name, test=bool(node.value)))
        if kind != CALL:
            return None
        if name == "_?_:_":
            test, then, other = node.args
            branches = self.attribute(then), self.attribute(other)
            return Attribute(self.plan(test), branches)
        if name in ("_[_]", "_[?_]", "_?._"):
            return self.attribute(node.args[0]).add(self._index(node.args[1], name != "_[_]"))
        return None

    def _index(self, node: Node, optional: bool) -> Step:
        value = self.constant(node)
        if value is not MISSING:
            return Step(value, optional=optional)
        attribute = self._attribute(node)
        find = self.plan(node) if attribute is None else attribute.resolver()
        return Step(None, find, optional=optional)

    # Calls.

    def _call(self, node: Node) -> Ev:
        attribute = self._attribute(node)
        if attribute is not None:
            return attribute.evaluator()
        name, args = node.name, node.args
        if name == "_&&_":
            return _and(self.plan(args[0]), self.plan(args[1]))
        if name == "_||_":
            return _or(self.plan(args[0]), self.plan(args[1]))
        if name in ("or", "orValue") and node.target is not None:
            return _optional_or(
                self.plan(node.target), self.plan(args[0]), unwrap=name == "orValue"
            )
        if name in ("_==_", "_!=_"):
            return _equality(node, self.plan(args[0]), self.plan(args[1]))
        if name == "@in" and node.overloads == ("in_list",):
            found = self._member(args[0], self.constant(args[1]))
            if found is not None:
                return found
        evs = [self.plan(arg) for arg in args]
        if node.target is not None:
            evs.insert(0, self.plan(node.target))
        pattern = None
        if name in PATTERNED and len(evs) == 2:
            pattern = constant_pattern(self.constant(args[-1]))
        return call(node, evs, pattern)

    def _member(self, node: Node, within: Any) -> Ev | None:
        """Return the membership test in a constant list of scalars, which costs nothing."""
        if within is MISSING or not all(type(item) in _SCALARS for item in within):
            return None
        values = frozenset([(type(item) is bool, item) for item in within])
        find = self.plan(node)

        def ev(frame: list[Any]) -> Any:
            found = find(frame)
            if type(found) is EvalError:
                return found
            return type(found) in _SCALARS and (type(found) is bool, found) in values

        return ev

    # Lists and maps.

    def _list(self, node: Node) -> Ev:
        evs = [self.plan(item) for item in node.args]
        optional = frozenset(node.value or ())

        def ev(frame: list[Any]) -> Any:
            values = []
            for i, item in enumerate(evs):
                value = item(frame)
                if type(value) is not EvalError and i in optional:
                    value = _unwrapped(value, "list element")
                    if value is MISSING:
                        continue
                if type(value) is EvalError:
                    frame[0] += LIST_COST
                    return value
                values.append(value)
            frame[0] += LIST_COST
            return values

        return ev

    def _map(self, node: Node) -> Ev:
        evs = [(self.plan(key), self.plan(value), opt) for key, value, opt in node.args]

        def fill(frame: list[Any]) -> Any:
            entries: dict[Any, tuple[Any, Any]] = {}
            for find_key, find_value, optional in evs:
                key = find_key(frame)
                if type(key) is EvalError:
                    return key
                value = find_value(frame)
                if type(value) is not EvalError and optional:
                    value = _unwrapped(value, "entry")
                    if value is MISSING:
                        entries.pop(map_key(key), None)
                        continue
                if type(value) is EvalError:
                    return value
                entries[map_key(key)] = key, value
            return MapValue(entries.values())

        def ev(frame: list[Any]) -> Any:
            found = fill(frame)
            frame[0] += MAP_COST
            return found

        return ev

    # What loops need.

    def slot(self) -> int:
        """Return the place of a new variable in the frame."""
        self.slots += 1
        return OLD_SELF + self.slots

    def push(self, scope: dict[str, Ev]) -> None:
        """Open a scope of variables."""
        self._scopes.append(scope)

    def pop(self) -> None:
        """Close the innermost scope."""
        self._scopes.pop()


_SCALARS = frozenset((bool, int, Uint, float, str))


def _unwrapped(value: Any, what: str) -> Any:
    """Return the value of an optional element, MISSING for none, or an EvalError."""
    if type(value) is not Optional:
        return EvalError(f"cannot initialize optional {what} from non-optional value {value}")
    return value.value if value.has_value else MISSING


def _and(first: Ev, second: Ev) -> Ev:
    def ev(frame: list[Any]) -> Any:
        a = first(frame)
        if a is False:
            return False
        b = second(frame)
        if b is False:
            return False
        if a is not True:
            return a if type(a) is EvalError else no_such_overload()
        if b is not True:
            return b if type(b) is EvalError else no_such_overload()
        return True

    return ev


def _or(first: Ev, second: Ev) -> Ev:
    def ev(frame: list[Any]) -> Any:
        a = first(frame)
        if a is True:
            return True
        b = second(frame)
        if b is True:
            return True
        if a is not False:
            return a if type(a) is EvalError else no_such_overload()
        if b is not False:
            return b if type(b) is EvalError else no_such_overload()
        return False

    return ev


def _optional_or(first: Ev, second: Ev, *, unwrap: bool) -> Ev:
    """Return the closure of or() and orValue(), which cost nothing."""

    def ev(frame: list[Any]) -> Any:
        found = first(frame)
        if type(found) is EvalError:
            return found
        if type(found) is not Optional:
            return no_such_overload()
        if found.has_value:
            return found.value if unwrap else found
        return second(frame)

    return ev


_CHEAP = frozenset((int, bool, float))


def _equality(node: Node, first: Ev, second: Ev) -> Ev:
    negated = node.name == "_!=_"
    cost = cost_of(node.name, "not_equals" if negated else "equals")
    assert cost is not None

    def ev(frame: list[Any]) -> Any:
        a, b = first(frame), second(frame)
        kind = type(a)
        if kind is type(b) and kind in _CHEAP:
            frame[0] += 1
            return (a == b) is not negated
        frame[0] += cost((a, b), None)
        if kind is EvalError:
            return a
        if type(b) is EvalError:
            return b
        try:
            return equal(a, b) is not negated
        except EvalError as e:
            return True if negated else e

    return ev
