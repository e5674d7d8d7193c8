"""The list functions of CEL."""

from __future__ import annotations

from crdlint.cel import gosort
from crdlint.cel.operators import plus
from crdlint.cel.values import (
    Duration,
    EvalError,
    MapValue,
    Optional,
    Timestamp,
    Uint,
    compare,
    no_such_overload,
    same,
    type_name,
    unfit,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

_COMPARABLE = (bool, int, float, str, bytes, Duration, Timestamp)
_MAX_RANGE = 1_000_000


def _element(item: Any) -> Any:
    """Return an element; one that could not be made is the error it ended with."""
    if isinstance(item, EvalError):
        raise item
    return item


def _same(a: Any, b: Any) -> bool:
    """Tell whether a value equals another; what cannot be compared is not equal."""
    try:
        return same(a, b)
    except EvalError:
        return False


def _order(a: Any, b: Any) -> int | None:
    """Return the order of two values, or None where they have none."""
    try:
        return compare(a, b)
    except EvalError:
        return None


def _comparable(item: Any) -> Any:
    if not isinstance(_element(item), _COMPARABLE):
        raise no_such_overload()
    return item


def is_sorted(items: list[Any]) -> bool:
    """Tell whether no element is greater than the next."""
    before: Any = None
    for item in items:
        _comparable(item)
        if before is not None and _order(before, item) == 1:
            return False
        before = item
    return True


def _best(name: str, worse: int) -> Callable[[list[Any]], Any]:
    def best(items: list[Any]) -> Any:
        found: Any = None
        for item in items:
            _comparable(item)
            if found is None or _order(found, item) == worse:
                found = item
        if found is None:
            raise EvalError(f"{name} called on empty list")
        return found

    return best


minimum = _best("min", 1)
maximum = _best("max", -1)


def summing(zero: Any) -> Callable[[list[Any]], Any]:
    """Return what adds up the elements of a list, from a zero of their type on."""

    def total(items: list[Any]) -> Any:
        result = zero
        for item in items:
            result = plus(result, _element(item))
        return result

    return total


ZEROS = {"int": 0, "uint": Uint(0), "double": 0.0, "duration": Duration(0)}


def index_of(items: list[Any], wanted: Any) -> int:
    """Return where an element is first, or -1."""
    return next((i for i, item in enumerate(items) if _same(item, wanted)), -1)


def last_index_of(items: list[Any], wanted: Any) -> int:
    """Return where an element is last, or -1."""
    return next((i for i in range(len(items) - 1, -1, -1) if _same(items[i], wanted)), -1)


def includes(target: Any, wanted: Any) -> bool:
    """Tell whether a list has an element, or whether another value is what is wanted."""
    if isinstance(target, list):
        return any(_same(item, wanted) for item in target)
    return _same(target, wanted)


# Lists out of lists.


def first(items: list[Any]) -> Optional:
    """Return the first element, if any."""
    return Optional(_element(items[0])) if items else Optional(has_value=False)


def last(items: list[Any]) -> Optional:
    """Return the last element, if any."""
    return Optional(_element(items[-1])) if items else Optional(has_value=False)


def cut(items: list[Any], start: int, end: int) -> list[Any]:
    """Return the elements between two places."""
    wrong = ""
    if start < 0 or end < 0:
        wrong = "negative indexes not supported"
    elif start > end:
        wrong = "start index must be less than or equal to end index"
    elif end > len(items):
        wrong = f"list is length {len(items)}"
    if wrong:
        raise EvalError(f"cannot slice({start}, {end}), {wrong}")
    return list(items[start:end])


def flatten(items: Any, *levels: Any) -> list[Any]:
    """Return a list with the elements of the lists in it, so many levels down, or one."""
    depth = levels[0] if levels else 1
    shown = map(_full_name, levels)
    if not isinstance(items, list) or not isinstance(depth, int) or isinstance(depth, bool):
        raise EvalError(f"no such overload: {_full_name(items)}.flatten({', '.join(shown)})")
    if depth < 0:
        raise EvalError("level must be non-negative")
    flat: list[Any] = []
    todo = [(iter(items), depth)]
    while todo:
        rest, left = todo[-1]
        for item in rest:
            if left and isinstance(item, list):
                todo.append((iter(item), left - 1))
                break
            flat.append(item)
        else:
            todo.pop()
    return flat


def _full_name(value: Any) -> str:
    """Return the name of a type with what is known of its parameters at run time: nothing."""
    name = type_name(value)
    return {"list": "list(dyn)", "map": "map(dyn, dyn)", "optional_type": _ANY}.get(name, name)


_ANY = "optional_type(dyn)"


def reverse(items: list[Any]) -> list[Any]:
    """Return a list from its end to its beginning."""
    return items[::-1]


def numbers(count: int) -> list[int]:
    """Return the integers from 0 on, so many."""
    if count < 0:
        raise EvalError(f"lists.range: size must be non-negative, got {count}")
    if count > _MAX_RANGE:
        raise EvalError(f"lists.range: size {count} exceeds maximum allowed ({_MAX_RANGE})")
    return list(range(count))


def distinct(items: list[Any]) -> list[Any]:
    """Return a list without the elements that equal one before them."""
    kept: list[Any] = []
    seen: dict[Any, None] = {}
    for item in items:
        key = _simple_key(item)
        if key is not None:
            if key in seen:
                continue
            seen[key] = None
        elif any(_same(item, other) for other in kept):
            continue
        kept.append(item)
    return kept


def _simple_key(item: Any) -> Any:
    """Return what is the same for equal texts and the like, or None for other values."""
    kind = type(item)
    return (kind, item) if kind is str or kind is bytes or kind is bool else None


def sort(items: Any) -> list[Any]:
    """Return the elements in order."""
    if not isinstance(items, list):
        raise unfit("sort", items)
    return sort_by_keys(items, items)


def sort_by_keys(items: Any, keys: Any) -> list[Any]:
    """Return the elements of a list in the order of their keys in another."""
    if not isinstance(items, list) or not isinstance(keys, list):
        raise unfit("@sortByAssociatedKeys", items)
    if len(items) != len(keys):
        raise EvalError(
            "@sortByAssociatedKeys() expected a list of the same size as the associated keys "
            f"list, but got {len(items)} and {len(keys)} elements respectively"
        )
    if not items:
        return list(items)
    if not isinstance(keys[0], _COMPARABLE):
        raise EvalError("list elements must be comparable")
    kind = type(keys[0])
    if len(keys) > 1 and any(type(key) is not kind for key in keys):
        raise EvalError("list elements must have the same type")
    plain = [key.nanos if isinstance(key, (Duration, Timestamp)) else key for key in keys]
    return [items[i] for i in gosort.order(plain)]


def unwrap(items: list[Any]) -> list[Any]:
    """Return the values of the optionals that have one."""
    values = []
    for item in items:
        if not isinstance(_element(item), Optional):
            from crdlint.cel.gotext import shown

            raise EvalError(f"value {shown(item)} is not optional")
        if item.has_value:
            values.append(item.value)
    return values


# Lists as sets.


def _has(items: Iterable[Any], wanted: Any) -> bool:
    """Tell whether a list has an element; it is the element that is asked."""
    return any(_same(wanted, item) for item in items)


def set_contains(items: list[Any], others: list[Any]) -> bool:
    """Tell whether a list has all elements of another."""
    return all(_has(items, other) for other in others)


def set_intersects(items: list[Any], others: list[Any]) -> bool:
    """Tell whether a list has an element of another."""
    return any(_has(others, item) for item in items)


def set_equivalent(items: list[Any], others: list[Any]) -> bool:
    """Tell whether each of two lists has all elements of the other."""
    return set_contains(items, others) and set_contains(others, items)


# Maps.


def map_inserted(target: MapValue, key: Any, value: Any) -> MapValue:
    """Return a map with one more entry."""
    return map_merged(target, MapValue([(key, value)]))


def map_merged(target: MapValue, more: MapValue) -> MapValue:
    """Return a map with the entries of another, none of which it may have."""
    from crdlint.cel.gotext import shown
    from crdlint.cel.values import MISSING

    merged = MapValue(target.items())
    for key, value in more.items():
        if merged.find(key) is not MISSING:
            raise EvalError(f"insert failed: key {shown(key)} already exists")
        merged.insert(key, value)
    return merged
