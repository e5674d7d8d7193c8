"""The functions and type names that a rule may use, by Kubernetes minor."""

from __future__ import annotations

from crdlint.cel import types as t
from crdlint.cel.overloads import OVERLOADS
from crdlint.cel.types import Type


class Overload:
    """One signature of a function; `args` begin with the receiver if there is one."""

    __slots__ = ("args", "id", "params", "result")

    def __init__(self, name: str, args: tuple[Type, ...], result: Type) -> None:
        self.id = name
        self.args = args
        self.result = result
        names: dict[str, None] = {}
        for arg in (*args, result):
            _params(arg, names)
        self.params = tuple(names)


def _params(of: Type, names: dict[str, None]) -> None:
    if of.kind == t.PARAM:
        names[of.name] = None
    for param in of.params:
        _params(param, names)


URL = Type(t.STRUCT, "kubernetes.URL")
QUANTITY = Type(t.STRUCT, "kubernetes.Quantity")
SEMVER = Type(t.STRUCT, "kubernetes.Semver")
FORMAT = Type(t.STRUCT, "kubernetes.NamedFormat")
IP = Type(t.OPAQUE, "net.IP")
CIDR = Type(t.OPAQUE, "net.CIDR")
AUTHORIZER = Type(t.STRUCT, "kubernetes.authorization.Authorizer")
PATH_CHECK = Type(t.STRUCT, "kubernetes.authorization.PathCheck")
GROUP_CHECK = Type(t.STRUCT, "kubernetes.authorization.GroupCheck")
RESOURCE_CHECK = Type(t.STRUCT, "kubernetes.authorization.ResourceCheck")
DECISION = Type(t.STRUCT, "kubernetes.authorization.Decision")

_TYPES = {
    "bool": t.BOOL_TYPE,
    "int": t.INT_TYPE,
    "uint": t.UINT_TYPE,
    "double": t.DOUBLE_TYPE,
    "string": t.STRING_TYPE,
    "bytes": t.BYTES_TYPE,
    "duration": t.DURATION_TYPE,
    "timestamp": t.TIMESTAMP_TYPE,
    "dyn": t.DYN_TYPE,
    "URL": URL,
    "Quantity": QUANTITY,
    "Semver": SEMVER,
    "Format": FORMAT,
    "IP": IP,
    "CIDR": CIDR,
    "Authorizer": AUTHORIZER,
    "PathCheck": PATH_CHECK,
    "GroupCheck": GROUP_CHECK,
    "ResourceCheck": RESOURCE_CHECK,
    "Decision": DECISION,
}
_CONSTRUCTORS = {"list": t.list_of, "map": t.map_of, "opt": t.optional_of, "type": t.type_of}

# Names that mean a type: the minor that brought them, and the type.
_NAMES = {
    "bool": (0, t.BOOL_TYPE),
    "bytes": (0, t.BYTES_TYPE),
    "double": (0, t.DOUBLE_TYPE),
    "google.protobuf.Duration": (0, t.DURATION_TYPE),
    "int": (0, t.INT_TYPE),
    "list": (0, t.list_of(t.DYN_TYPE)),
    "map": (0, t.map_of(t.DYN_TYPE, t.DYN_TYPE)),
    "null_type": (0, t.NULL_TYPE),
    "string": (0, t.STRING_TYPE),
    "google.protobuf.Timestamp": (0, t.TIMESTAMP_TYPE),
    "type": (0, t.TYPE_TYPE),
    "uint": (0, t.UINT_TYPE),
    "optional_type": (28, t.optional_of(t.DYN_TYPE)),
    "net.IP": (30, IP),
    "net.CIDR": (30, CIDR),
}


def _lines() -> dict[str, list[str]]:
    lines: dict[str, list[str]] = {}
    for line in OVERLOADS.splitlines():
        name, rest = line.split(" ", 1)
        lines.setdefault(name, []).append(rest)
    return lines


_LINES = _lines()
_OVERLOADS: dict[str, list[tuple[int, int, bool, Overload]]] = {}


def _split(text: str) -> list[str]:
    """Split at the commas that stand in no parentheses."""
    parts: list[str] = []
    depth = start = 0
    for i, char in enumerate(text):
        if char == "," and not depth:
            parts.append(text[start:i])
            start = i + 1
        depth += (char == "(") - (char == ")")
    if text:
        parts.append(text[start:])
    return parts


def _type(text: str) -> Type:
    found = _TYPES.get(text)
    if found is None:
        if "(" in text:
            name, inner = text[:-1].split("(", 1)
            found = _CONSTRUCTORS[name](*map(_type, _split(inner)))  # type: ignore[operator]
        else:
            found = Type(t.PARAM, text)
        _TYPES[text] = found
    return found


def _parse(line: str) -> tuple[int, int, bool, Overload]:
    name, signature, result, *minors = line.split(" ")
    first, last = 0, 1000
    if minors:
        low, _, high = minors[0].partition("-")
        first, last = int(low), int(high or last)
    receiver, member, args = signature.partition(".(")
    if member:
        types = [_type(receiver), *map(_type, _split(args[:-1]))]
    else:
        types = [_type(arg) for arg in _split(signature[1:-1])]
    return first, last, bool(member), Overload(name, tuple(types), _type(result))


def _all_overloads(name: str) -> list[tuple[int, int, bool, Overload]]:
    found = _OVERLOADS.get(name)
    if found is None:
        found = [_parse(line) for line in _LINES.get(name, ())]
        _OVERLOADS[name] = found
    return found


def overload(function: str, name: str) -> Overload:
    """Return an overload of a function by its id."""
    for _, _, _, found in _all_overloads(function):
        if found.id == name:
            return found
    raise KeyError(name)


# cel-go compares numbers of different types only where this minor's option is set, and forgets
# to look inside and after a comprehension.
CROSS_TYPE_SINCE = 28
_COMPARISONS = frozenset(("_<_", "_<=_", "_>_", "_>=_"))


class Library:
    """What expressions of one compatibility version may use."""

    __slots__ = ("_found", "_known", "compat", "resolved")

    def __init__(self, compat: int) -> None:
        self.compat = compat
        self._found: dict[tuple[str, bool, int, bool], list[Overload]] = {}
        self._known: dict[str, bool] = {}
        # The checker keeps resolved calls here that depend on nothing but the types.
        self.resolved: dict[tuple[object, ...], tuple[tuple[str, ...], Type]] = {}

    def knows(self, name: str) -> bool:
        """Tell whether a function of this name exists in any form."""
        known = self._known.get(name)
        if known is None:
            found = _all_overloads(name) if name in _LINES else ()
            known = any(first <= self.compat <= last for first, last, _, _ in found)
            if found:
                self._known[name] = known
        return known

    def overloads(self, name: str, *, member: bool, count: int, cross: bool) -> list[Overload]:
        """Return the overloads of a function with so many arguments, receiver included."""
        key = (name, member, count, cross)
        found = self._found.get(key)
        if found is None:
            compat = self.compat
            if cross and name in _COMPARISONS:
                compat = max(compat, CROSS_TYPE_SINCE)
            found = [
                overload
                for first, last, is_member, overload in _all_overloads(name)
                if first <= compat <= last and is_member == member and len(overload.args) == count
            ]
            self._found[key] = found
        return found

    def type_named(self, name: str) -> Type | None:
        """Return the type that an identifier names, or None if it names none."""
        found = _NAMES.get(name)
        if found is None or found[0] > self.compat:
            return None
        return found[1]


_LIBRARIES: dict[int, Library] = {}


def library(compat: int) -> Library:
    """Return what expressions of a compatibility version (a minor) may use."""
    found = _LIBRARIES.get(compat)
    if found is None:
        found = _LIBRARIES[compat] = Library(compat)
    return found
