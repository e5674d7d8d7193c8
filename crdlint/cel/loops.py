"""The loops that macros stand for, at run time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdlint.cel.attributes import ABSENT, lazy, variable
from crdlint.cel.runtime_cost import LIST_COST
from crdlint.cel.syntax import IDENT, LIST, MAP, Comprehension, Node
from crdlint.cel.values import MISSING, EvalError, MapValue, no_such_overload, type_name

if TYPE_CHECKING:
    from crdlint.cel.attributes import Ev
    from crdlint.cel.evaluate import Planner

LIMIT = 1_000_000  # cost of one evaluation


class Cancelled(Exception):  # noqa: N818 - as the server calls it
    """The evaluation cost more than one may."""

    message = "operation cancelled: actual cost limit exceeded"


def plan(planner: Planner, node: Comprehension) -> Ev:
    """Return the closure of a loop."""
    over = planner.plan(node.target)
    accu = planner.slot()
    if planner.constant(node.target) == []:
        return _bind(planner, node, accu)
    first = planner.slot()
    second = planner.slot() if node.var2 else 0
    variables = {node.var: variable(first)}
    if node.var2:
        variables[node.var2] = variable(second)
    planner.push({node.accu: variable(accu)})
    planner.push(variables)
    items = _Items(over, first, second)
    step = node.step
    if step.name in ("_&&_", "_||_") and _is_accu(step.args[0], node):
        ev = _quantifier(items, planner.plan(step.args[1]), all_of=step.name == "_&&_")
    else:
        ev = _collector(planner, node, items) or _fold(planner, node, items, accu)
    planner.pop()
    planner.pop()
    return ev


def _is_accu(node: Node, loop: Comprehension) -> bool:
    return node.kind == IDENT and node.name == loop.accu


def _bind(planner: Planner, node: Comprehension, slot: int) -> Ev:
    """Return what sets a variable for one expression; it is evaluated when it is first read."""
    init = planner.plan(node.init)
    planner.push({node.accu: lazy(slot, init)})
    result = planner.plan(node.result)
    planner.pop()

    def ev(frame: list[Any]) -> Any:
        frame[slot] = ABSENT
        return result(frame)

    return ev


class _Items:
    """What a loop goes over, and where it puts each item."""

    __slots__ = ("_over", "first", "second")

    def __init__(self, over: Ev, first: int, second: int) -> None:
        self._over = over
        self.first = first
        self.second = second

    def of(self, frame: list[Any]) -> Any:
        """Return the items (pairs for two variables), or an EvalError."""
        over = self._over(frame)
        if isinstance(over, list):
            return enumerate(over) if self.second else over
        if isinstance(over, MapValue):
            return over.items() if self.second else iter(over)
        if type(over) is EvalError:
            return over
        return EvalError(f"got '{type_name(over)}', expected iterable type")


def _quantifier(items: _Items, body: Ev, *, all_of: bool) -> Ev:
    """Return the closure of all() and exists()."""
    first, second = items.first, items.second
    stop = not all_of
    # The test whether to go on, and the name of the result in the step.
    before, step = (2, 1) if all_of else (3, 1)

    def ev(frame: list[Any]) -> Any:
        over = items.of(frame)
        if type(over) is EvalError:
            return over
        result: Any = all_of
        for item in over:
            if second:
                frame[first], frame[second] = item
            else:
                frame[first] = item
            frame[0] += before
            if result is stop:
                break
            frame[0] += step
            found = body(frame)
            if found is stop:
                result = stop
            elif result is all_of and found is not all_of:
                result = found if type(found) is EvalError else no_such_overload()
            if frame[0] > LIMIT:
                raise Cancelled
        frame[0] += 1
        return result

    return ev


def _collector(planner: Planner, node: Comprehension, items: _Items) -> Ev | None:
    """Return the closure of map() and filter(), which append to a list; None for other loops."""
    if node.init.kind != LIST:
        return None
    step = node.step
    keep = None
    if step.name == "_?_:_":
        keep = planner.plan(step.args[0])
        step = step.args[1]
    if step.name != "_+_" or step.args[1].kind != LIST:
        return None
    constant = planner.constant(step.args[1]) is not MISSING
    collect = planner.plan(step.args[1].args[0])
    # The list around the item, and the sum with the result; the name of the result costs 1 before.
    cost = 1 if constant else 1 + LIST_COST
    first, second = items.first, items.second

    def ev(frame: list[Any]) -> Any:
        over = items.of(frame)
        if type(over) is EvalError:
            return over
        result: list[Any] = []
        error: EvalError | None = None
        for item in over:
            if second:
                frame[first], frame[second] = item
            else:
                frame[first] = item
            if keep is not None:
                wanted = keep(frame)
                if wanted is False:
                    continue
                if wanted is not True:
                    error = wanted if type(wanted) is EvalError else no_such_overload()
                    continue
            frame[0] += 1
            value = collect(frame)
            frame[0] += cost
            if type(value) is EvalError:
                error = error or value
            else:
                result.append(value)
            if frame[0] > LIMIT:
                raise Cancelled
        frame[0] += 1
        return error or result

    return ev


def _fold(planner: Planner, node: Comprehension, items: _Items, accu: int) -> Ev:
    """Return the closure of a loop that goes over everything."""
    init = node.init
    start = planner.constant(init)
    step, result = planner.plan(node.step), planner.plan(node.result)
    first, second = items.first, items.second
    is_map = init.kind == MAP

    def ev(frame: list[Any]) -> Any:
        over = items.of(frame)
        if type(over) is EvalError:
            return over
        frame[accu] = MapValue() if is_map else start
        for item in over:
            if second:
                frame[first], frame[second] = item
            else:
                frame[first] = item
            frame[accu] = step(frame)
            if frame[0] > LIMIT:
                raise Cancelled
        return result(frame)

    return ev
