"""What a call costs when it runs.

Sources: interpreter/runtimecost.go, ext/lists.go and ext/sets.go in cel-go, library/cost.go in
k8s.io/apiserver/pkg/cel.
"""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, Any

from crdlint.cel.datavalues import ObjectValue
from crdlint.cel.values import (
    MAX_UINT,
    Duration,
    EvalError,
    MapValue,
    Optional,
    Timestamp,
    TypeValue,
    Uint,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    # The cost of a call with these arguments (receiver first) and this result, errors included.
    Cost = Callable[[Sequence[Any], Any], int]


class CostError(Exception):
    """The server itself fails when it counts the cost of this call, and stops evaluating."""


_TRAVERSAL = 0.1
_REGEX = 0.25
LIST_COST = 10
MAP_COST = 30


def size(value: Any) -> int:
    """Return the size of a value: code points, bytes, items, entries; 1 for what has none."""
    kind = type(value)
    if kind is str or kind is bytes or kind is list:
        return len(value)
    if isinstance(value, (list, MapValue)):
        return len(value)
    if kind is Optional:
        return size(value.value) if value.has_value else 1
    name = getattr(value, "type_name", "")
    if name == "net.IP":
        return int(value.bits) // 8
    return ceil(value.length / 8) if name == "net.CIDR" else 1


def scaled(amount: float, factor: float = _TRAVERSAL) -> int:
    """Return an amount times a factor, rounded up."""
    return ceil(amount * factor)


def _equality(args: Sequence[Any], _: Any) -> int:
    a, b = size(args[0]), size(args[1])
    least = min(a, b)
    return 1 if 0 < least <= 10 else scaled(least)


def _equals(args: Sequence[Any], result: Any) -> int:
    if getattr(args[0], "type_name", "") in _OPAQUE:
        return 1
    return _equality(args, result)


# Types of values whose comparison by == costs 1.
_OPAQUE = frozenset(
    (
        "kubernetes.NamedFormat",
        "kubernetes.Quantity",
        "kubernetes.Semver",
        "kubernetes.URL",
        "net.CIDR",
        "net.IP",
    )
)


def _by(index: int, factor: float = _TRAVERSAL) -> Cost:
    return lambda args, _: scaled(size(args[index]), factor)


def _in_list(args: Sequence[Any], _: Any) -> int:
    return size(args[1])


def _joined(args: Sequence[Any], _: Any) -> int:
    return scaled(size(args[0]) + size(args[1]))


def _pattern(args: Sequence[Any], _: Any) -> int:
    return scaled(1.0 + size(args[0])) * scaled(size(args[1]), _REGEX)


def _contains(args: Sequence[Any], _: Any) -> int:
    return scaled(size(args[0])) * scaled(size(args[1]))


def _result(_args: Sequence[Any], result: Any) -> int:
    return scaled(size(result) * 2)


def _twice(args: Sequence[Any], _: Any) -> int:
    return scaled(size(args[0]) * 2)


def traversal(value: Any) -> int:
    """Return the cost of going through a value and all that it holds."""
    if isinstance(value, str):
        return int(len(value.encode("utf-8", "surrogatepass")) * _TRAVERSAL)
    if isinstance(value, bytes):
        return int(len(value) * _TRAVERSAL)
    if isinstance(value, list):
        return sum([traversal(item) for item in value])
    if isinstance(value, MapValue):
        cost = sum([traversal(key) + traversal(item) for key, item in value.items()])
        if isinstance(value, ObjectValue) and value.shape.fixed:
            # The server stumbles over each unknown field, at a cost of 2.
            cost += 2 * (len(value) - len(value.items()))
        return cost
    return 1


def _first_traversal(args: Sequence[Any], _: Any) -> int:
    return traversal(args[0]) if args else 0


# The length of the pattern that each named format counts as.
_FORMAT_SIZES = {
    "byte": 84,
    "date": 71,
    "datetime": 71,
    "DNS1035Label": 30,
    "DNS1035LabelPrefix": 30,
    "DNS1123Label": 30,
    "DNS1123LabelPrefix": 30,
    "DNS1123Subdomain": 60,
    "DNS1123SubdomainPrefix": 60,
    "LabelValue": 40,
    "QualifiedName": 60,
    "URI": 1103,
    "uuid": 70,
}


def _format(args: Sequence[Any], _: Any) -> int:
    pattern = _FORMAT_SIZES.get(getattr(args[0], "name", ""))
    if pattern is None:
        return 1
    return scaled(1.0 + size(args[1])) * scaled(pattern, _REGEX)


def _in_range(parse: str, extra: bool) -> Callable[[str], Cost]:
    """Return the costs of containsIP and containsCIDR; the overload `parse` reads a text."""

    def by_overload(overload: str) -> Cost:
        def cost(args: Sequence[Any], _: Any) -> int:
            own = size(args[0])
            total = scaled(own + own)
            if extra:
                total += scaled(own) + 1
            if overload == parse:
                total += scaled(size(args[1]))
            return total

        return cost

    return by_overload


def _ip(overload: str) -> Cost | None:
    return None if overload == "cidr_ip" else _by(0)


# What Kubernetes says of functions by their names. None stands for a cost of 1.
_BY_FUNCTION: dict[str, Cost | None] = {
    **dict.fromkeys(
        ("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf", "includes"), _first_traversal
    ),
    **dict.fromkeys(
        "url lowerAscii upperAscii substring trim cidr isIP isCIDR quantity isQuantity semver "
        "isSemver".split(),
        _by(0),
    ),
    **dict.fromkeys(("replace", "split", "ip.isCanonical"), _twice),
    "join": _result,
    **dict.fromkeys(("find", "findAll"), _pattern),
    "validate": _format,
    "_==_": _equals,
}
_BY_NAME_AND_OVERLOAD: dict[str, Callable[[str], Cost | None]] = {
    "ip": _ip,
    "containsIP": _in_range("cidr_contains_ip_string", extra=False),
    "containsCIDR": _in_range("cidr_contains_cidr_string", extra=True),
}


# What cel-go's extensions say of overloads.


def _allocated(factor: float, amount: int) -> int:
    if factor < 0:
        factor = 1.0
    return min(int(amount * factor), MAX_UINT) + 1 + LIST_COST


def _new_list(_args: Sequence[Any], result: Any) -> int:
    return _allocated(1, size(result))


def _flattened(args: Sequence[Any], _: Any) -> int:
    depth = 1.0
    if len(args) == 2:
        if type(args[1]) is not int:
            kind = _go_type(args[1])
            raise CostError(f"interface conversion: ref.Val is {kind}, not types.Int")
        depth = float(args[1])
    return _allocated(depth, size(args[0]))


_GO_TYPES = {
    type(None): "types.Null",
    bool: "types.Bool",
    int: "types.Int",
    Uint: "types.Uint",
    float: "types.Double",
    str: "types.String",
    bytes: "types.Bytes",
    Duration: "types.Duration",
    Timestamp: "types.Timestamp",
    TypeValue: "*types.Type",
    Optional: "*types.Optional",
    EvalError: "*types.Err",
    list: "*types.baseList",
}
_WITH_ADD = (int, float, str, bytes, Duration, Timestamp)


def _go_type(value: Any) -> str:
    """Return the Go type of a value as far as cel-go itself has it."""
    return _GO_TYPES.get(type(value), "*types.baseMap")


def _compared(index: int) -> Cost:
    def cost(args: Sequence[Any], _: Any) -> int:
        items = args[index]
        if not isinstance(items, list):
            adds = isinstance(items, _WITH_ADD) and not isinstance(items, bool)
            missing = "Contains" if adds else "Add"
            raise CostError(
                f"interface conversion: {_go_type(items)} is not traits.Lister: "
                f"missing method {missing}"
            )
        amount = size(items)
        if not amount:
            return _allocated(2.0, 0)
        factor = 2.0 + (_TRAVERSAL if isinstance(items[0], (str, bytes)) else 0.0)
        return _allocated(factor, amount * amount)

    return cost


def _sets(factor: int) -> Cost:
    return lambda args, _: 1 + size(args[0]) * size(args[1]) * factor


_SORTED = (
    "int",
    "uint",
    "double",
    "bool",
    "google.protobuf.Duration",
    "google.protobuf.Timestamp",
    "string",
    "bytes",
)
_BY_OVERLOAD: dict[str, Cost | None] = {
    "list_slice": _new_list,
    "lists_range": _new_list,
    "list_reverse": _new_list,
    "list_flatten": _flattened,
    "list_flatten_int": _flattened,
    "list_distinct": _compared(0),
    **{f"list_{name}_sort": _compared(0) for name in _SORTED},
    **{f"list_{name}_sortByAssociatedKeys": _compared(1) for name in _SORTED},
    "list_sets_contains_list": _sets(1),
    "list_sets_intersects_list": _sets(1),
    "list_sets_equivalent_list": _sets(2),
}
_STANDARD: dict[str, Cost] = {
    "starts_with_string": _by(1),
    "ends_with_string": _by(1),
    **dict.fromkeys(
        ("string_to_bytes", "bytes_to_string", "strings_quote", "string_format"), _by(0)
    ),
    "in_list": _in_list,
    **{
        f"{name}_{kind}": _equality
        for name in ("less", "greater", "less_equals", "greater_equals")
        for kind in ("string", "bytes")
    },
    "equals": _equality,
    "not_equals": _equality,
    "add_string": _joined,
    "add_bytes": _joined,
    "matches": _pattern,
    "matches_string": _pattern,
    "contains_string": _contains,
}


def cost_of(function: str, overload: str) -> Cost | None:
    """Return what tells the cost of a call, or None where it always costs 1.

    `overload` is "" where only the arguments decide which one runs.
    """
    if overload in _BY_OVERLOAD:
        return _BY_OVERLOAD[overload]
    found = _BY_NAME_AND_OVERLOAD.get(function)
    if found is not None:
        return found(overload)
    if function in _BY_FUNCTION:
        return _BY_FUNCTION[function]
    return _STANDARD.get(overload)
