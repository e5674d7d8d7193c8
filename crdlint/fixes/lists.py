"""Cures for the topology of lists and maps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdlint.fixes.cure import cure, drop, put, unwrap
from crdlint.fixes.metadata import drop_item
from crdlint.fixes.yaml import require
from crdlint.rules.lists import LIST_TYPE, MAP_KEYS, MAP_TYPE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crdlint.document import Path
    from crdlint.edits import Change
    from crdlint.fixes.cure import Case

_SCALARS = ("boolean", "integer", "number", "string")


def _near(word: Any, known: tuple[str, ...]) -> str:
    from difflib import get_close_matches

    text = word.strip().lower() if isinstance(word, str) else ""
    return next(iter(get_close_matches(text, known, n=1, cutoff=0.7)), "")


@cure("list-type", "map-type")
def topology(case: Case) -> Iterator[Change]:
    """Spell a list or map type right; take it away where there is no list or map."""
    key, way = str(case.path[-1]), case.path[:-1]
    wanted, holds = ("array", "items") if key == LIST_TYPE else ("object", "properties")
    known = ("atomic", "set", "map") if key == LIST_TYPE else ("atomic", "granular")
    kind = case.get(*way, "type")
    if kind and kind != wanted:
        yield from _no_topology(case, way, key)
    elif case.value not in known:
        near = _near(case.value, known)
        if near:
            yield put(case.path, near)
        else:
            case.doubtful = case.value != ""
            yield from _no_topology(case, way, key)
    elif case.has(*way, holds):
        yield put((*way, "type"), wanted)
    else:
        case.doubt()
        yield from _no_topology(case, way, key)


def _no_topology(case: Case, way: Path, key: str) -> Iterator[Change]:
    yield drop((*way, key))
    if key == LIST_TYPE and case.has(*way, MAP_KEYS):
        yield drop((*way, MAP_KEYS))


@cure("list-map-keys-without-map")
def keys_make_a_map(case: Case) -> Iterator[Change]:
    """Make a list with keys a map, where its items have these keys; else take the keys away."""
    way = case.path[:-1]
    declared = case.get(*way, "items", "properties")
    if case.get(*way, LIST_TYPE):
        case.doubt()
        yield drop(case.path)
    elif isinstance(declared, dict) and all(key in declared for key in case.value or ()):
        yield put((*way, LIST_TYPE), "map")
    else:
        yield drop(case.path)


@cure("list-map-items")
def set_of_scalars(case: Case) -> Iterator[Change]:
    """Make a map of scalars a set."""
    way = case.path[: case.path.index("items")] if "items" in case.path[-2:] else case.path[:-1]
    items = case.get(*way, "items")
    if isinstance(items, dict) and items.get("type") in _SCALARS:
        yield put((*way, LIST_TYPE), "set")
        if case.has(*way, MAP_KEYS):
            yield drop((*way, MAP_KEYS))


_USUAL_KEYS = ("name", "type", "key", "id")


@cure("list-map-keys", safe=False)
def map_keys(case: Case) -> Iterator[Change]:
    """Leave out keys that are wrong; take the usual one where none is named."""
    if case.path[-1] == LIST_TYPE:
        way = case.path[:-1]
        declared = case.get(*way, "items", "properties")
        required = case.get(*way, "items", "required")
        for key in _USUAL_KEYS:
            if isinstance(declared, dict) and key in declared and key in (required or ()):
                yield put((*way, MAP_KEYS), [key])
                return
    elif case.path[-2] == MAP_KEYS:
        way, keys = case.path[:-2], case.get(*case.path[:-1])
        if isinstance(keys, list) and len(keys) > 1:
            yield drop_item(case, case.path)
        elif required := case.get(*way, "items", "required"):
            declared = case.get(*way, "items", "properties", default={})
            scalar = [k for k in required if (declared.get(k) or {}).get("type") in _SCALARS]
            if len(scalar) == 1:
                yield put(case.path, scalar[0])


@cure("list-map-key-optional")
def key_required(case: Case) -> Iterator[Change]:
    """Make a key of a list map required; the protocol of a port defaults to TCP, as in pods."""
    items, name = case.path[:-2], str(case.path[-1])
    schema = case.value
    if not isinstance(schema, dict):
        return
    others = case.get(*items, "properties")
    if name == "protocol" and schema.get("type") == "string" and _is_port(others):
        yield put((*case.path, "default"), "TCP")
    else:
        yield from require(case, items, name)


def _is_port(properties: Any) -> bool:
    return isinstance(properties, dict) and bool({"port", "containerPort"} & set(properties))


@cure("set-items-not-atomic")
def atomic_items(case: Case) -> Iterator[Change]:
    """Make the items of a set atomic."""
    way = case.path[: len(case.path) - (1 if case.path[-1] == "items" else 2)]
    items = case.get(*way, "items")
    if isinstance(items, dict):
        key = LIST_TYPE if items.get("type") == "array" else MAP_TYPE
        yield put((*way, "items", key), "atomic")


@cure("set-of-non-scalars", safe=False)
def atomic_instead(case: Case) -> Iterator[Change]:
    """Replace a set of objects or lists as a whole."""
    yield put(case.path, "atomic")


@cure("unique-items")
def set_instead(case: Case) -> Iterator[Change]:
    """Make a list of unique scalars a set."""
    way = case.path[:-1]
    schema = case.get(*way)
    if not isinstance(schema, dict):
        return
    yield drop(case.path)
    items = schema.get("items")
    if schema.get("type") != "array" or schema.get(LIST_TYPE) in ("set", "map"):
        return
    if isinstance(items, dict) and items.get("type") in _SCALARS and LIST_TYPE not in schema:
        yield put((*way, LIST_TYPE), "set", after="type")
    else:
        case.doubt()


@cure("items-list")
def one_schema(case: Case) -> Iterator[Change]:
    """Take the only schema out of a list of schemas."""
    if isinstance(case.value, list) and len(case.value) == 1:
        yield unwrap(case.path)
        if case.has(*case.path[:-1], "additionalItems"):
            yield drop((*case.path[:-1], "additionalItems"))


@cure("items-required", safe=False)
def any_items(case: Case) -> Iterator[Change]:
    """Let a list hold anything where nothing says what it holds."""
    way = case.path[:-1]
    yield put((*way, "items"), {"x-kubernetes-preserve-unknown-fields": True}, after="type")
