"""Lists of the types set and map: no item twice."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from crdlint.govalues import is_int64
from crdlint.objects.error import ObjectError, field_path, path_of, spelled
from crdlint.objects.guard import deep

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crdlint.objects.error import At

    Schema = Mapping[str, Any]


def check_lists(schema: Schema | None, value: Any) -> list[ObjectError]:
    """Return a Duplicate error for each item that a list of type set or map has twice.

    Source: ValidateListSetsAndMaps of apiextensions.
    """
    found: list[ObjectError] = []
    if schema is not None and isinstance(value, dict):
        with deep():
            _walk(schema, value, None, found)
    return found


def _walk(schema: Schema, value: Any, at: At, found: list[ObjectError]) -> None:
    if isinstance(value, dict):
        properties = schema.get("properties") or {}
        rest = schema.get("additionalProperties")
        every = rest if isinstance(rest, dict) else None
        for key, item in value.items():
            if not isinstance(item, (dict, list)):
                continue
            if every is not None:  # also for declared properties, where both stand
                _walk(every, item, (at, key, True), found)
            below = properties.get(key)
            if below is not None:
                _walk(below, item, (at, key, False), found)
    elif isinstance(value, list):
        kind = schema.get("x-kubernetes-list-type")
        if kind == "set":
            for i in _repeated(value):
                message = f"{spelled(value[i])} is in the set twice"
                found.append(_error("Duplicate", (at, i, False), message, value[i]))
        elif kind == "map":
            _check_map(schema, value, at, found)
        items = schema.get("items")
        if isinstance(items, dict):
            for i, item in enumerate(value):
                if isinstance(item, (dict, list)):
                    _walk(items, item, (at, i, False), found)


def _error(type_: str, at: At, message: str, value: Any) -> ObjectError:
    return ObjectError(
        type_, field_path(at), path_of(at), message, keyword="x-kubernetes-list-type", value=value
    )


def _check_map(schema: Schema, value: list[Any], at: At, found: list[ObjectError]) -> None:
    for i, item in enumerate(value):
        if item is not None and not isinstance(item, dict):
            message = "must be an object, as its list is a map"
            found.append(_error("Invalid", (at, i, False), message, item))
            return
    names = schema.get("x-kubernetes-list-map-keys") or []
    if len(names) == 1:
        name = names[0]
        keys = [_MISSING if item is None else item.get(name, _MISSING) for item in value]
    else:
        keys = [{name: item[name] for name in names if name in (item or {})} for item in value]
    for i in _repeated(keys):
        key: Any = keys[i]
        if len(names) == 1:
            key = {} if key is _MISSING else {names[0]: key}
        shown = ", ".join(f"{name} {spelled(part)}" for name, part in key.items())
        message = f"is the second item with {shown or 'no key'}"
        found.append(_error("Duplicate", (at, i, False), message, key))


_MISSING = object()


def _repeated(values: list[Any]) -> list[int]:
    """Return the index of the second appearance of each value that is there more than once."""
    times: dict[Any, int] = {}
    again = []
    for i, value in enumerate(values):
        key = _identity(value)
        seen = times[key] = times.get(key, 0) + 1
        if seen == 2:
            again.append(i)
    return again


def _identity(value: Any) -> Any:
    """Return something hashable that is equal for what Go holds equal.

    Scalars are told apart by their Go type, objects and lists by their JSON text.
    """
    if isinstance(value, (dict, list)):
        return ("json", _text(value))
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return (is_int64(value), value)
    return (type(value).__name__, value) if value is not _MISSING else _MISSING


def _text(value: Any) -> str:
    try:
        return json.dumps(value, sort_keys=True)
    except RecursionError:
        return _deep_text(value)


def _deep_text(value: Any) -> str:
    if isinstance(value, dict):
        parts = [json.dumps(key) + ": " + _deep_text(value[key]) for key in sorted(value)]
        return "{" + ", ".join(parts) + "}"
    if isinstance(value, list):
        return "[" + ", ".join([_deep_text(item) for item in value]) + "]"
    return json.dumps(value)
