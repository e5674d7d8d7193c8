"""Names, fields and indices at run time, with the optional ones and has().

cel-go evaluates a chain such as `self.a[i].?b` as one attribute: a start, and steps from there. A
step costs 1, and so does the attribute, unless it is a branch of `? :` or an index itself.
Source: interpreter/attributes.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdlint.cel.datavalues import ObjectValue, SchemaList, unescape
from crdlint.cel.values import (
    MAX_INT,
    MIN_INT,
    MISSING,
    NONE,
    EvalError,
    MapValue,
    Optional,
    Uint,
    no_such_overload,
    type_name,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    # What is left of an expression: from the frame to a value, or the EvalError it ends with.
    # A frame is a list: the cost so far, self, oldSelf, and the variables of loops.
    Ev = Callable[[list[Any]], Any]

COST, SELF, OLD_SELF = range(3)
ABSENT: Any = object()  # in the place of an oldSelf that is not there


class Step:
    """One step of an attribute: to a constant key, or to the one that `find` gives."""

    __slots__ = ("find", "key", "name", "optional", "test")

    def __init__(
        self, key: Any, find: Ev | None = None, *, optional: bool = False, test: bool = False
    ) -> None:
        self.key = key
        self.find = find
        self.optional = optional
        self.test = test
        # The property that a key means where fields have names that CEL can spell.
        self.name = unescape(key) if isinstance(key, str) else None

    @property
    def plain(self) -> bool:
        """Tell whether this is a mere field."""
        return self.find is None and not self.optional and not self.test and self.name == self.key


class Attribute:
    """A start and the steps from there.

    The start is `ev`; or, with `branches`, the one of them that the bool of `ev` chooses.
    """

    __slots__ = ("branches", "ev", "steps")

    def __init__(self, ev: Ev, branches: tuple[Attribute, Attribute] | None = None) -> None:
        self.ev = ev
        self.branches = branches
        self.steps: list[Step] = []

    def add(self, step: Step) -> Attribute:
        """Add a step."""
        if self.branches is None:
            self.steps.append(step)
        else:
            for branch in self.branches:
                branch.add(step)
        return self

    def resolver(self) -> Ev:
        """Return what evaluates the attribute without the cost of its own."""
        if self.branches is not None:
            return _choice(self.ev, self.branches[0].resolver(), self.branches[1].resolver())
        if not self.steps:
            return self.ev
        if all(step.plain for step in self.steps):
            return _fields(self.ev, [step.key for step in self.steps], 0)
        return _walk(self.ev, tuple(self.steps), 0)

    def evaluator(self, cost: int = 1) -> Ev:
        """Return what evaluates the attribute; `cost` is its own."""
        if self.branches is not None:
            return self.resolver()
        if not self.steps:
            return _charged(self.ev, cost)
        if all(step.plain for step in self.steps):
            return _fields(self.ev, [step.key for step in self.steps], cost)
        return _walk(self.ev, tuple(self.steps), cost)


def variable(slot: int) -> Ev:
    """Return what reads a variable."""
    return lambda frame: frame[slot]


def lazy(slot: int, init: Ev) -> Ev:
    """Return what reads a variable that is set when it is first read."""

    def ev(frame: list[Any]) -> Any:
        found = frame[slot]
        if found is ABSENT:
            found = frame[slot] = init(frame)
        return found

    return ev


def old_self(frame: list[Any]) -> Any:
    """Read oldSelf."""
    found = frame[OLD_SELF]
    return EvalError("no such attribute(s): oldSelf") if found is ABSENT else found


def _charged(ev: Ev, cost: int) -> Ev:
    def charged(frame: list[Any]) -> Any:
        found = ev(frame)
        frame[0] += cost
        return found

    return charged


def _choice(test: Ev, then: Ev, other: Ev) -> Ev:
    def ev(frame: list[Any]) -> Any:
        found = test(frame)
        if found is True:
            return then(frame)
        if found is False:
            return other(frame)
        return found if type(found) is EvalError else no_such_overload()

    return ev


def _fields(start: Ev, keys: list[str], cost: int) -> Ev:
    """Return what goes along fields, the most frequent attribute by far."""
    if len(keys) == 1:
        return _field(start, keys[0], cost)
    steps = tuple(Step(key) for key in keys)

    def ev(frame: list[Any]) -> Any:
        found = start(frame)
        charge = cost
        for key in keys:
            if type(found) is not ObjectValue:
                frame[0] += charge
                # The steps that are done cost already; the rest of the way is rare.
                return _step_on(frame, found, steps[charge - cost :])
            charge += 1
            found = found.field(key)
            if found is MISSING:
                found = EvalError(f"no such key: {key}")
                break
            if type(found) is EvalError:
                break
        frame[0] += charge
        return found

    return ev


def _field(start: Ev, key: str, cost: int) -> Ev:
    steps = (Step(key),)
    both = cost + 1

    def ev(frame: list[Any]) -> Any:
        found = start(frame)
        if type(found) is ObjectValue:
            frame[0] += both
            found = found.field(key)
            return EvalError(f"no such key: {key}") if found is MISSING else found
        frame[0] += cost
        return _step_on(frame, found, steps)

    return ev


def _walk(start: Ev, steps: tuple[Step, ...], cost: int) -> Ev:
    """Return what goes along steps of any kind."""
    test = steps[-1].test

    def ev(frame: list[Any]) -> Any:
        found = _step_on(frame, start(frame), steps)
        frame[0] += cost
        if test and type(found) is Optional:
            return found.has_value
        return found

    return ev


def _step_on(frame: list[Any], found: Any, steps: Sequence[Step]) -> Any:
    if type(found) is EvalError:
        return found
    optional = type(found) is Optional
    if optional:
        if not found.has_value:
            return found
        found = found.value
    for step in steps:
        optional = optional or step.optional
        on = _step(frame, found, step)
        if optional:
            if on is MISSING:
                return NONE
            if type(on) is EvalError:
                return on
            frame[0] += 1
        else:
            frame[0] += 1
            if type(on) is EvalError:
                return on
            if step.test:
                on = on is not MISSING
            elif on is MISSING:
                return _missing(found, _key_of(frame, step))
        found = on
    return Optional(found) if optional else found


def _key_of(frame: list[Any], step: Step) -> Any:
    """Return the key of a step that found nothing, without charging for it again."""
    if step.find is None:
        return step.key
    cost = frame[0]
    key = step.find(frame)
    frame[0] = cost
    return key


def _missing(found: Any, key: Any) -> EvalError:
    if isinstance(found, list):
        return EvalError(f"index out of bounds: {spelled(key)}")
    return EvalError(f"no such key: {spelled(key)}")


def spelled(value: Any) -> str:
    """Spell a key in a message as Go does."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e21:
        return str(int(value))
    return str(value)


def _step(frame: list[Any], found: Any, step: Step) -> Any:
    if step.find is None:
        if type(found) is ObjectValue and step.name is not None:
            return found.field(step.name if found.shape.fixed else step.key)
        return qualify(found, step.key)
    key = step.find(frame)
    if type(key) is EvalError:
        return key
    if not isinstance(key, (str, int, float)):
        return EvalError(f"invalid qualifier type: {type_name(key)}")
    return qualify(found, key)


def qualify(found: Any, key: Any) -> Any:
    """Return what a value has under a key or index: MISSING for nothing, or an EvalError."""
    if isinstance(found, MapValue):
        try:
            return found.find(key)
        except EvalError as e:
            return e
    if isinstance(found, list):
        index = _index(key)
        if type(index) is EvalError:
            return index
        if not 0 <= index < len(found):
            return MISSING
        if type(key) is not int and isinstance(found, SchemaList):
            return EvalError(f"unsupported index: {spelled(key)}")
        return found[index]
    return found if type(found) is EvalError else MISSING


def _index(key: Any) -> Any:
    kind = type(key)
    if kind is int:
        return key
    if kind is float or kind is Uint:
        if MIN_INT < key <= MAX_INT and int(key) == key and int(key) <= MAX_INT:
            return int(key)
        return EvalError(f"unsupported index value {spelled(key)} in list")
    return EvalError(f"unsupported index type '{type_name(key)}' in list")
