"""What calls of library functions cost and how large their results are.

An estimator is given the coster, the overload, the receiver and the arguments, and returns the
cost of the call (without that of its arguments) and the size of the result; or None where cel-go's
own estimate holds.
Sources: library/cost.go in k8s.io/apiserver/pkg/cel; ext/lists.go and ext/sets.go in cel-go.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from crdlint.cel import types as t
from crdlint.cel.library import CIDR, FORMAT, IP, QUANTITY, SEMVER, URL
from crdlint.cel.syntax import LITERAL
from crdlint.cel.types import MAX_U64

if TYPE_CHECKING:
    from collections.abc import Callable

    from crdlint.cel.cost import Coster, Operand

    Size = tuple[int, int]
    Estimate = tuple[int, Size | None]
    Estimator = Callable[[Coster, str, Operand | None, list[Operand]], Estimate | None]

_STRING = 0.1  # cost of going over a code point of a string
_REGEX = 0.25  # and of a pattern
_FLOAT_MAX = float(MAX_U64)


def add(a: int, b: int) -> int:
    """Return the sum of two costs or sizes, at most 2^64-1."""
    total = a + b
    return min(MAX_U64, total)


def multiply(a: int, b: int) -> int:
    """Return the product of two costs or sizes, at most 2^64-1."""
    product = a * b
    return min(MAX_U64, product)


def scale(a: int, factor: float) -> int:
    """Return a number times a factor, rounded up, at most 2^64-1; through a double, as in Go."""
    value = float(a)
    if value > 0 and factor > 0 and value > _FLOAT_MAX / factor:
        return MAX_U64
    return min(math.ceil(value * factor), MAX_U64)


def size_mul(a: Size, b: Size) -> Size:
    """Return the product of two sizes."""
    return multiply(a[0], b[0]), multiply(a[1], b[1])


def _constant(cost: int) -> Estimator:
    def estimate(_c: Coster, _o: str, _t: Operand | None, _a: list[Operand]) -> Estimate:
        return cost, None

    return estimate


def _selector(c: Coster, _o: str, _t: Operand | None, args: list[Operand]) -> Estimate | None:
    if len(args) != 1:
        return None
    length = c.estimate_size(args[0])[1]
    requirements = scale(scale(length, 0.5), 50.0)
    return add(add(10, scale(length, _STRING)), requirements), None


def _over_elements(
    c: Coster, _o: str, target: Operand | None, _a: list[Operand]
) -> Estimate | None:
    if target is None:
        return None
    size = c.estimate_size(target)[1]
    element = c.element(target)
    if element is None:
        return scale(size, _STRING), None
    return multiply(size, _compare(c, element)), None


def _compare(c: Coster, element: Operand) -> int:
    """Return what one comparison of an element costs."""
    if element.type.kind in (t.STRING, t.BYTES):
        return add(1, scale(c.estimate_size(element)[1], _STRING))
    return 1


def _includes(c: Coster, _o: str, target: Operand | None, _a: list[Operand]) -> Estimate | None:
    if target is None:
        return None
    element = c.element(target)
    each = 1 if element is None else _compare(c, element)
    return multiply(c.estimate_size(target)[1], each), None


def _scan_argument(factor: float, *, sized: bool = False) -> Estimator:
    """Estimate functions that read their first argument once."""

    def estimate(c: Coster, _o: str, _t: Operand | None, args: list[Operand]) -> Estimate | None:
        if not args or (sized and len(args) != 1):
            return None
        size = c.estimate_size(args[0])
        return scale(size[1], factor), size if sized else None

    return estimate


def _scan_target(c: Coster, _o: str, target: Operand | None, _a: list[Operand]) -> Estimate | None:
    if target is None:
        return None
    size = c.estimate_size(target)
    return scale(size[1], _STRING), size


def _replace(c: Coster, _o: str, target: Operand | None, args: list[Operand]) -> Estimate | None:
    if target is None or len(args) < 2:
        return None
    size, old, new = (c.estimate_size(operand) for operand in (target, args[0], args[1]))
    most = least = kept_most = kept_least = 0
    if old[0] == 0:
        # An empty text is found around every code point.
        most, kept_most = add(size[1], 1), size[1]
    elif new[1] <= old[0]:
        kept_most = size[1]
    else:
        most = _divide(size[1], old[0])
    if old[1] == 0:
        least, kept_least = add(size[0], 1), size[0]
    elif old[1] <= new[0]:
        kept_least = size[0]
    else:
        least = _divide(size[0], old[1])
    low = add(multiply(least, new[0]), kept_least)
    high = add(multiply(most, new[1]), kept_most)
    return scale(size[1], 2 * _STRING), (low, high)


def _divide(a: int, b: int) -> int:
    """Divide through doubles, rounded up; what exceeds 64 bits becomes 2^63 as on the server."""
    result = math.ceil(float(a) / float(b))
    return result if result <= MAX_U64 else 1 << 63


def _split(c: Coster, _o: str, target: Operand | None, args: list[Operand]) -> Estimate | None:
    if target is None:
        return None
    size = c.estimate_size(target)[1]
    most = size
    if len(args) > 1:
        node = args[1].node
        if node is not None and node.kind == LITERAL and node.name == "int":
            most = node.value & MAX_U64
    return scale(size, 2 * _STRING), (0, most)


def _join(c: Coster, _o: str, target: Operand | None, args: list[Operand]) -> Estimate | None:
    if target is None:
        return None
    items = c.estimate_size(target)
    size = (0, 0)
    element = c.element(target)
    if element is not None:
        size = size_mul(items, c.estimate_size(element))
    if args:
        gaps = max(items[0] - 1, 0), max(items[1] - 1, 0)
        between = size_mul(c.estimate_size(args[0]), gaps)
        size = add(size[0], between[0]), add(size[1], between[1])
    return scale(size[1], _STRING), size


def _find(c: Coster, _o: str, target: Operand | None, args: list[Operand]) -> Estimate | None:
    if target is None or not args:
        return None
    size = c.estimate_size(target)[1]
    by_text = scale(add(size, 1), _STRING)
    pattern = scale(c.estimate_size(args[0])[1], _REGEX)
    return multiply(by_text, pattern), (0, size)


def _ip(c: Coster, overload: str, _t: Operand | None, args: list[Operand]) -> Estimate | None:
    if overload == "cidr_ip":
        return 1, None
    return (scale(c.estimate_size(args[0])[1], _STRING), None) if args else None


_ADDRESS = 16  # bytes of the longest IP address


def _contains(c: Coster, overload: str, _t: Operand | None, args: list[Operand]) -> Estimate | None:
    if not args:
        return None
    cost = scale(2 * _ADDRESS, _STRING)
    if overload.startswith("cidr_contains_cidr"):
        cost += scale(_ADDRESS, _STRING) + 1
    if overload.endswith("_string"):
        cost = add(cost, scale(c.estimate_size(args[0])[1], _STRING))
    return cost, None


def _validate(c: Coster, _o: str, _t: Operand | None, args: list[Operand]) -> Estimate | None:
    if not args:
        return None
    return scale(scale(c.estimate_size(args[0])[1], _STRING), 128 * _REGEX), None


_LONGEST_FORMAT = 64  # code points of the name of a format


def _equals(_c: Coster, _o: str, _t: Operand | None, args: list[Operand]) -> Estimate | None:
    if len(args) != 2:
        return None
    a, b = args[0].type, args[1].type
    if a.name != b.name:
        return None
    if a in (IP, CIDR, QUANTITY, SEMVER) or a.name.startswith("kubernetes.authorization."):
        return 1, None
    if a is FORMAT:
        return scale(_LONGEST_FORMAT, _STRING), None
    if a is URL:
        # The server looks at the right side twice.
        size = args[1].size
        return scale(1 if size is None else size[1], _STRING), None
    return None


FUNCTIONS: dict[str, Estimator] = {
    "check": _constant(350_000),
    "fieldSelector": _selector,
    "labelSelector": _selector,
    "includes": _includes,
    "url": _scan_argument(_STRING, sized=True),
    "replace": _replace,
    "split": _split,
    "join": _join,
    "find": _find,
    "findAll": _find,
    "ip": _ip,
    "ip.isCanonical": _scan_argument(2 * _STRING),
    "containsIP": _contains,
    "containsCIDR": _contains,
    "validate": _validate,
    "_==_": _equals,
}
for _name in ("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"):
    FUNCTIONS[_name] = _over_elements
for _name in ("lowerAscii", "upperAscii", "substring", "trim"):
    FUNCTIONS[_name] = _scan_target
for _name in ("cidr", "isIP", "isCIDR", "quantity", "isQuantity", "semver", "isSemver"):
    FUNCTIONS[_name] = _scan_argument(_STRING)
for _name in (
    "serviceAccount path group resource subresource namespace name allowed reason error errored "
    "masked prefixLength family isUnspecified isLoopback isLinkLocalMulticast isLinkLocalUnicast "
    "isGlobalUnicast format.named sign asInteger isInteger asApproximateFloat isGreaterThan "
    "isLessThan compareTo add sub major minor patch getScheme getHostname getHost getPort "
    "getEscapedPath getQuery"
).split():
    FUNCTIONS[_name] = _constant(1)


# The extensions of cel-go bring estimators by overload.


def _number(operand: Operand, otherwise: int) -> int:
    node = operand.node
    if node is None or node.kind != LITERAL or node.name != "int":
        return otherwise
    return max(int(node.value), 0)


def _allocating(factor: float, size: Size) -> Estimate:
    return add(scale(size[1], factor), 11), size


def _slice(c: Coster, _o: str, target: Operand | None, args: list[Operand]) -> Estimate | None:
    if target is None or len(args) != 2:
        return None
    end = _number(args[1], c.estimate_size(target)[1])
    length = (end - _number(args[0], 0)) & MAX_U64
    return _allocating(1.0, (length, length))


def _range(_c: Coster, _o: str, _t: Operand | None, args: list[Operand]) -> Estimate:
    length = _number(args[0], MAX_U64)
    return _allocating(1.0, (length, length))


def _reverse(c: Coster, _o: str, target: Operand | None, _a: list[Operand]) -> Estimate | None:
    return None if target is None else _allocating(1.0, c.estimate_size(target))


def _flatten(c: Coster, _o: str, target: Operand | None, args: list[Operand]) -> Estimate | None:
    if target is None:
        return None
    depth = _number(args[0], MAX_U64) if args else 1
    return _allocating(float(depth), c.estimate_size(target))


def _pairs(c: Coster, over: Operand, factor: float) -> Estimate:
    size = c.estimate_size(over)
    return _allocating(factor, size_mul(size, size))


def _distinct(c: Coster, _o: str, target: Operand | None, _a: list[Operand]) -> Estimate | None:
    return None if target is None else _pairs(c, target, 2.0)


def _sort(c: Coster, overload: str, target: Operand | None, args: list[Operand]) -> Estimate | None:
    over = args[0] if args else target
    if over is None:
        return None
    text = overload.startswith(("list_string_", "list_bytes_"))
    return _pairs(c, over, 2.0 + _STRING if text else 2.0)


def _sets(factor: float) -> Estimator:
    def estimate(c: Coster, _o: str, _t: Operand | None, args: list[Operand]) -> Estimate | None:
        if len(args) != 2:
            return None
        pairs = multiply(c.estimate_size(args[0])[1], c.estimate_size(args[1])[1])
        return add(scale(pairs, factor), 1), None

    return estimate


OVERLOADS: dict[str, Estimator] = {
    "list_sets_contains_list": _sets(1.0),
    "list_sets_intersects_list": _sets(1.0),
    "list_sets_equivalent_list": _sets(2.0),
    "list_slice": _slice,
    "list_flatten": _flatten,
    "list_flatten_int": _flatten,
    "lists_range": _range,
    "list_reverse": _reverse,
    "list_distinct": _distinct,
}
for _name in (
    "int",
    "uint",
    "double",
    "bool",
    "google.protobuf.Duration",
    "google.protobuf.Timestamp",
    "string",
    "bytes",
):
    OVERLOADS[f"list_{_name}_sort"] = _sort
    OVERLOADS[f"list_{_name}_sortByAssociatedKeys"] = _sort
