"""CEL's type checker: gives every node its type and every call its overloads."""

# Types may be as deep as schemas, which the server reads up to 10,000 deep. A generator would
# recurse through C and exhaust its stack, so what recurses here is plain calls and loops.

from __future__ import annotations

from typing import TYPE_CHECKING

from crdlint.cel import types as t
from crdlint.cel.library import library
from crdlint.cel.syntax import (
    CALL,
    IDENT,
    LIST,
    LITERAL,
    MAP,
    SELECT,
    STRUCT,
    CelError,
    Comprehension,
    Node,
)
from crdlint.cel.types import (
    BOOL_TYPE,
    DYN,
    DYN_TYPE,
    ERROR,
    PARAM,
    RESERVED,
    Type,
    is_optional,
    list_of,
    map_of,
    optional_of,
    type_of,
)
from crdlint.cel.unify import Bindings, exactly, less_specific

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


_LITERALS = {
    "bool": BOOL_TYPE,
    "int": t.INT_TYPE,
    "uint": t.UINT_TYPE,
    "double": t.DOUBLE_TYPE,
    "string": t.STRING_TYPE,
    "bytes": t.BYTES_TYPE,
    "null": t.NULL_TYPE,
}
# The first words of type names that have dots.
_DOTTED = frozenset(("google", "net"))
_KEYWORD_FIELDS_SINCE = 31
_FORMAT_SINCE = 29  # before, a call of format() does not excuse lists of several types
# The first server that leaves lists and maps of several types to the validators.
_MIXED_SINCE = 29


class Checker:
    """Checks one expression; afterwards it knows the nodes that need a closer look."""

    __slots__ = (
        "_cross",
        "_globals",
        "_library",
        "_open",
        "_scopes",
        "_strict_join",
        "_types",
        "aggregates",
        "calls",
        "in_format",
        "used",
    )

    def __init__(self, compat: int, variables: Mapping[str, Type], minor: int) -> None:
        self._library = library(compat)
        self._strict_join = minor < _MIXED_SINCE
        self._globals = variables
        self._scopes: list[dict[str, Type]] = []
        self._types = Bindings()
        self._open: list[Node] = []
        self._cross = False
        self.in_format = 0
        self.used: set[str] = set()  # names of the variables that occur
        # Calls of functions, innermost first, and lists and maps outside of format().
        self.calls: list[Node] = []
        self.aggregates: list[Node] = []

    def check(self, node: Node) -> Type:
        """Give all nodes their types and return that of the whole expression.

        Raises:
            CelError: the expression does not type-check.
        """
        self._check(node)
        for part in self._open:
            part.type = self._types.resolve(part.type, final=True)
        result: Type = node.type
        return result

    def _check(self, node: Node) -> Type:
        kind = node.kind
        if kind == SELECT:
            found = self._select(node)
        elif kind == IDENT:
            found = self._ident(node)
        elif kind == CALL:
            found = self._call(node)
        elif kind == LITERAL:
            found = _LITERALS[node.name]
        elif kind == LIST:
            found = self._list(node)
        elif kind == MAP:
            found = self._map(node)
        elif kind == STRUCT:
            raise CelError(f"undeclared reference to {node.name!r}", node.pos)
        else:
            found = self._comprehension(node)  # type: ignore[arg-type]
        node.type = found
        if found.open:
            self._open.append(node)
        return found

    # Names.

    def _local(self, name: str) -> Type | None:
        for scope in reversed(self._scopes):
            found = scope.get(name)
            if found is not None:
                return found
        return None

    def _global(self, name: str) -> Type | None:
        found = self._globals.get(name)
        if found is None:
            named = self._library.type_named(name)
            if named is not None:
                found = type_of(named)
        return found

    def _ident(self, node: Node) -> Type:
        name = node.name
        found = self._local(name)
        if found is None:
            plain = name[1:] if name[0] == "." else name
            found = self._global(plain)
            if found is None:
                raise CelError(f"undeclared reference to {name!r}", node.pos)
            if plain is not name and self._local(plain) is None:
                node.name = plain
        self.used.add(node.name)
        return found

    def _qualified(self, node: Node) -> Type | None:
        """Return the type of a chain of fields that is the name of a type."""
        names = []
        part = node
        while part.kind == SELECT:
            if part.value:
                return None
            names.append(part.name)
            part = part.target
        if part.kind != IDENT or part.name.lstrip(".") not in _DOTTED:
            return None
        if self._local(part.name) is not None:
            return None
        names.append(part.name)
        found = self._global(".".join(reversed(names)).lstrip("."))
        if found is not None:
            node.kind = IDENT
            node.name = ".".join(reversed(names))
            node.target = None
        return found

    # Fields.

    def _select(self, node: Node) -> Type:
        if not node.value:
            named = self._qualified(node)
            if named is not None:
                return named
        found = self._field(node, node.target, node.name, optional=False)
        if node.value:
            return BOOL_TYPE
        return self._types.resolve(found) if found.open else found

    def _optional_select(self, node: Node) -> Type:
        target, field = node.args
        found = self._field(node, target, field.value, optional=True)
        field.type = t.STRING_TYPE
        node.overloads = ("select_optional_field",)
        return self._types.resolve(found) if found.open else found

    def _field(self, node: Node, target: Node, name: str, *, optional: bool) -> Type:
        of = self._check(target)
        if of.open:
            of = self._types.resolve(of)
        if is_optional(of):
            of = of.params[0]
            optional = True
        kind = of.kind
        if kind == t.STRUCT:
            found = self._field_of(of, name, node.pos)
        elif kind == t.MAP:
            found = of.params[1]
        elif kind == PARAM:
            self._types.fits(DYN_TYPE, of)
            found = DYN_TYPE
        elif kind in (DYN, ERROR):
            found = DYN_TYPE
        else:
            raise CelError(f"a value of type {of} has no fields, so no {name!r}", node.pos)
        return optional_of(found) if optional else found

    def _field_of(self, of: Type, name: str, pos: int) -> Type:
        fields = of.fields
        if fields is None:
            raise CelError(f"a value of type {of} has no field {name!r}", pos)
        found = fields.get(name)
        if found is None and name in RESERVED and self._library.compat >= _KEYWORD_FIELDS_SINCE:
            found = fields.get(f"__{name}__")
        if found is None:
            raise CelError(f"undefined field {name!r}", pos)
        return found.type

    # Calls.

    def _call(self, node: Node) -> Type:
        name = node.name
        if name == "_?._":
            return self._optional_select(node)
        is_format = name == "format" and self._library.compat >= _FORMAT_SINCE
        if is_format:
            self.in_format += 1
        args: list[Node] = node.args
        types = [self._check(arg) for arg in args]
        target = node.target
        if target is None:
            plain = name[1:] if name[0] == "." else name
            if not self._library.knows(plain):
                raise CelError(f"undeclared reference to {name!r}", node.pos)
            node.name = plain
            found = self._overload(node, plain, types, member=False)
        else:
            qualified = _dotted_name(target, name)
            if qualified is not None and self._library.knows(qualified):
                node.name = qualified
                node.target = None
                found = self._overload(node, qualified, types, member=False)
            else:
                types.insert(0, self._check(target))
                if not self._library.knows(name):
                    raise CelError(f"undeclared reference to {name!r}", node.pos)
                found = self._overload(node, name, types, member=True)
        if is_format:
            self.in_format -= 1
        self.calls.append(node)
        return found

    def _overload(self, node: Node, name: str, types: Sequence[Type], *, member: bool) -> Type:
        if name in ("_&&_", "_||_"):
            return self._logic(node, types)
        simple = all(of.kind <= DYN for of in types)
        if simple:
            key = (name, member, self._cross, *types)
            known = self._library.resolved.get(key)
            if known is not None:
                node.overloads, found = known
                return found
        found_type: Type | None = None
        ids: list[str] = []
        for overload in self._library.overloads(
            name, member=member, count=len(types), cross=self._cross
        ):
            wanted, result = self._types.instance(overload)
            if not self._types.all_fit(types, wanted):
                continue
            ids.append(overload.id)
            if result.open:
                result = self._types.resolve(result)
            if found_type is None:
                found_type = result
            elif found_type.kind != DYN and not exactly(result, found_type):
                found_type = DYN_TYPE
        if found_type is None:
            raise CelError(self._no_overload(name, types, member=member), node.pos)
        node.overloads = tuple(ids)
        if simple and not found_type.open:
            self._library.resolved[key] = (node.overloads, found_type)
        return found_type

    def _no_overload(self, name: str, types: Sequence[Type], *, member: bool) -> str:
        shown = [str(self._types.resolve(of, final=True)) for of in types]
        if member:
            return f"no function {name}({', '.join(shown[1:])}) of a value of type {shown[0]}"
        if name in _SIGNS:
            return f"the operator {_SIGNS[name]} is not for {' and '.join(shown)}"
        return f"no function {name}({', '.join(shown)})"

    def _logic(self, node: Node, types: Sequence[Type]) -> Type:
        for arg, of in zip(node.args, types, strict=True):
            if of is not BOOL_TYPE and not self._types.fits(of, BOOL_TYPE):
                raise CelError(
                    f"expected type bool but found {self._types.resolve(of, final=True)}", arg.pos
                )
        node.overloads = ("logical_and",) if node.name == "_&&_" else ("logical_or",)
        return BOOL_TYPE

    # Literals.

    def _list(self, node: Node) -> Type:
        joined: Type | None = None
        optional = node.value or ()
        for i, element in enumerate(node.args):
            of = self._check(element)
            if i in optional:
                of = self._unwrapped(element, of)
            joined = self._join(element, joined, of)
        if not self.in_format:
            self.aggregates.append(node)
        return list_of(joined or self._types.variable())

    def _map(self, node: Node) -> Type:
        keys: Type | None = None
        values: Type | None = None
        for key, value, optional in node.args:
            keys = self._join(key, keys, self._check(key))
            of = self._check(value)
            if optional:
                of = self._unwrapped(value, of)
            values = self._join(value, values, of)
        if not self.in_format:
            self.aggregates.append(node)
        if keys is None or values is None:
            return map_of(self._types.variable(), self._types.variable())
        return map_of(keys, values)

    def _unwrapped(self, node: Node, of: Type) -> Type:
        if is_optional(of):
            return of.params[0]
        if of.kind != DYN:
            raise CelError(f"expected type optional_type({of}) but found {of}", node.pos)
        return of

    def _join(self, node: Node, before: Type | None, of: Type) -> Type:
        if before is None:
            return of
        if self._types.fits(before, of):
            return before if less_specific(before, of) else of
        if not self._strict_join:
            return DYN_TYPE
        shown = self._types.resolve(before, final=True), self._types.resolve(of, final=True)
        raise CelError(f"expected type {shown[0]} but found {shown[1]}", node.pos)

    # Macros.

    def _comprehension(self, node: Comprehension) -> Type:
        over = self._check(node.target)
        accu = self._check(node.init)
        if over.open:
            over = self._types.resolve(over)
        first, second = self._variables_of(node, over)
        self._cross = True
        self._scopes.append({node.accu: accu})
        loop = {node.var: first}
        if node.var2:
            loop[node.var2] = second
        self._scopes.append(loop)
        self._want(node.condition, BOOL_TYPE)
        self._want(node.step, accu)
        self._scopes.pop()
        result = self._check(node.result)
        self._scopes.pop()
        return self._types.resolve(result) if result.open else result

    def _variables_of(self, node: Comprehension, over: Type) -> tuple[Type, Type]:
        kind = over.kind
        if kind == t.LIST:
            item = over.params[0]
            return (t.INT_TYPE, item) if node.var2 else (item, item)
        if kind == t.MAP:
            return over.params[0], over.params[1]
        if kind not in (DYN, ERROR, PARAM):
            raise CelError(f"a macro cannot go over a value of type {over}", node.target.pos)
        self._types.fits(DYN_TYPE, over)
        return DYN_TYPE, DYN_TYPE

    def _want(self, node: Node, wanted: Type) -> None:
        found = self._check(node)
        if not self._types.fits(wanted, found):
            shown = self._types.resolve(wanted, final=True), self._types.resolve(found, final=True)
            raise CelError(f"expected type {shown[0]} but found {shown[1]}", _source(node).pos)


def _dotted_name(target: Node, name: str) -> str | None:
    """Return `a.b.name` where a call's target is nothing but names."""
    if target.kind == IDENT:
        return f"{target.name.lstrip('.')}.{name}"
    parts = [name]
    while target.kind == SELECT:
        if target.value:
            return None
        parts.append(target.name)
        target = target.target
    if target.kind != IDENT:
        return None
    parts.append(target.name.lstrip("."))
    return ".".join(reversed(parts))


def _source(node: Node) -> Node:
    """Return the part of a macro's step that stands in the text."""
    if node.kind == CALL and node.name in ("_&&_", "_||_") and len(node.args) == 2:
        first, second = node.args
        if first.kind == IDENT and first.name == "@result":
            found: Node = second
            return found
    return node


_SIGNS = {
    "!_": "!",
    "-_": "-",
    "_!=_": "!=",
    "_%_": "%",
    "_*_": "*",
    "_+_": "+",
    "_-_": "-",
    "_/_": "/",
    "_<=_": "<=",
    "_<_": "<",
    "_==_": "==",
    "_>=_": ">=",
    "_>_": ">",
    "_?_:_": "? :",
    "_[_]": "[ ]",
    "_[?_]": "[? ]",
    "@in": "in",
}
