"""Type parameters and what they are bound to: what cel-go's checker calls assignable."""

# Types may be as deep as schemas, which the server reads up to 10,000 deep. A generator would
# recurse through C and exhaust its stack, so what recurses here is plain calls and loops.

from __future__ import annotations

from typing import TYPE_CHECKING

from crdlint.cel import types as t
from crdlint.cel.types import DYN, DYN_TYPE, ERROR, NULL, OPAQUE, PARAM, TYPE, Type

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from crdlint.cel.library import Overload

_NULLABLE = frozenset((OPAQUE, t.STRUCT, t.DURATION, t.TIMESTAMP))


class Bindings:
    """The type parameters of one expression; a trail takes back what did not fit in the end."""

    __slots__ = ("_bindings", "_fresh", "_trail")

    def __init__(self) -> None:
        self._bindings: dict[str, Type] = {}
        self._trail: list[tuple[str, Type | None]] = []
        self._fresh = 0

    def fits(self, a: Type, b: Type) -> bool:
        """Tell whether one type can stand for another, and bind what that takes."""
        if a is b:
            return True
        if not (a.open or b.open):
            return self._assignable(a, b)
        before = len(self._trail)
        if self._assignable(a, b):
            return True
        self._undo(before)
        return False

    def _bind(self, param: str, to: Type) -> None:
        self._trail.append((param, self._bindings.get(param)))
        self._bindings[param] = to

    def _undo(self, before: int) -> None:
        """Take back the bindings since the trail had this length."""
        while len(self._trail) > before:
            param, old = self._trail.pop()
            if old is None:
                del self._bindings[param]
            else:
                self._bindings[param] = old

    def all_fit(self, types: Sequence[Type], wanted: Sequence[Type]) -> bool:
        """Tell whether all types of a call fit together; else nothing is bound."""
        before = len(self._trail)
        for a, b in zip(types, wanted, strict=True):
            if a is not b and not self._assignable(a, b):
                self._undo(before)
                return False
        return True

    def _assignable(self, a: Type, b: Type) -> bool:
        ka, kb = a.kind, b.kind
        if kb == PARAM:
            valid, bound = self._substitutes(a, b)
            if valid:
                return True
            if bound:
                return False
        if ka == PARAM:
            return self._substitutes(b, a)[0]
        if ka in (DYN, ERROR) or kb in (DYN, ERROR):
            return True
        if ka == NULL:
            return kb in _NULLABLE or kb == NULL
        if kb == NULL:
            return ka in _NULLABLE
        if ka != kb:
            return False
        if ka <= t.TIMESTAMP or ka == TYPE:
            return True
        if ka == t.STRUCT:
            return a is b
        if a.name != b.name or len(a.params) != len(b.params):
            return False
        for x, y in zip(a.params, b.params, strict=True):
            if not self._assignable(x, y):
                return False
        return True

    def _substitutes(self, a: Type, param: Type) -> tuple[bool, bool]:
        """Return whether a type parameter can be a type, and whether it is bound already."""
        if a.kind == PARAM and a.name == param.name:
            return True, True
        bound = self._bindings.get(param.name)
        if bound is not None:
            if exactly(a, bound):
                return True, True
            if self._assignable(a, bound):
                general = a if less_specific(a, bound) else bound
                if self._not_within(param, general):
                    self._bind(param.name, general)
                return True, True
            return False, True
        if self._not_within(param, a):
            self._bind(param.name, a)
            return True, False
        return False, False

    def _not_within(self, param: Type, of: Type) -> bool:
        if not of.open:
            return True
        if of.kind == PARAM:
            if of.name == param.name:
                return False
            bound = self._bindings.get(of.name)
            return bound is None or self._not_within(param, bound)
        for part in of.params:
            if not self._not_within(param, part):
                return False
        return True

    def resolve(self, of: Type, *, final: bool = False) -> Type:
        """Put what type parameters are bound to in their place; `final` makes the rest dyn."""
        if not of.open:
            return of
        if of.kind == PARAM:
            bound = self._bindings.get(of.name)
            if bound is not None:
                return self.resolve(bound, final=final)
            return DYN_TYPE if final else of
        params = [self.resolve(part, final=final) for part in of.params]
        return Type(of.kind, of.name, tuple(params))

    def instance(self, overload: Overload) -> tuple[Sequence[Type], Type]:
        """Return arguments and result of an overload with type parameters of its own."""
        if not overload.params:
            return overload.args, overload.result
        fresh = {name: self.variable() for name in overload.params}
        return [_replace(arg, fresh) for arg in overload.args], _replace(overload.result, fresh)

    def variable(self) -> Type:
        """Return a type parameter that nothing else has."""
        self._fresh += 1
        return Type(PARAM, f"_var{self._fresh}")


def _replace(of: Type, fresh: Mapping[str, Type]) -> Type:
    if not of.open:
        return of
    if of.kind == PARAM:
        return fresh[of.name]
    return Type(of.kind, of.name, tuple([_replace(part, fresh) for part in of.params]))


def exactly(a: Type, b: Type) -> bool:
    """Tell whether two types are the same to the letter, type parameters included."""
    if a is b:
        return True
    if a.kind != b.kind or a.kind == t.STRUCT or a.name != b.name:
        return False
    if len(a.params) != len(b.params):
        return False
    for x, y in zip(a.params, b.params, strict=True):
        if not exactly(x, y):
            return False
    return True


def less_specific(a: Type, b: Type) -> bool:
    """Tell whether a type is the same as another or more general."""
    if a.kind in (DYN, PARAM):
        return True
    if b.kind in (DYN, PARAM) or a.kind != b.kind:
        return False
    if a.kind == TYPE:
        return True
    if a.kind in (OPAQUE, t.LIST, t.MAP):
        if a.name != b.name or len(a.params) != len(b.params):
            return False
        for x, y in zip(a.params, b.params, strict=True):
            if not less_specific(x, y):
                return False
        return True
    return exactly(a, b)
