"""Values that one schema takes and a keyword of another does not: what tells the two apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdlint.govalues import same_go
from crdlint.objects.sample import (
    INT_OR_STRING,
    LIST_TYPE,
    MAP_KEYS,
    PRESERVE,
    Ask,
    ImpossibleError,
    kinds,
    numbers,
)
from crdlint.objects.texts import texts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from crdlint.objects.sample import Sampler

    Schema = Mapping[str, Any]
    Probe = Callable[[Sampler, Ask, Schema, int], Iterator[Any]]

UNKNOWN = "example"  # a field that no schema names
_ANYTHING: tuple[Any, ...] = (UNKNOWN, 1, {UNKNOWN: "kept"}, {}, [], True, 0.5)
_BEYOND = (2**31, -(2**31) - 1, 2**63, 4e38)  # what int32, int64 and float cannot hold
_DEEPEST = 8


def violate(sampler: Sampler, ask: Ask, against: Schema, depth: int = 0) -> Iterator[Any]:
    """Yield values that satisfy what is asked and may break some keyword of a schema."""
    if depth < _DEEPEST:
        for key in against:
            if key in PROBES:
                yield from probe(sampler, ask, against, key, depth)


def probe(sampler: Sampler, ask: Ask, against: Schema, key: str, depth: int = 0) -> Iterator[Any]:
    """Yield values that satisfy what is asked and may break one keyword of a schema."""
    try:
        for value in PROBES[key](sampler, ask, against, depth):
            if sampler.takes(ask, value):
                yield value
    except ImpossibleError:
        return


def tried(make: Callable[..., Any], *args: Any, **options: Any) -> Iterator[Any]:
    """Yield what a function makes, or nothing where it finds that impossible."""
    try:
        yield make(*args, **options)
    except ImpossibleError:
        return


def unknown_name(*schemas: Schema) -> str:
    """Return a field name that no schema has."""
    name, i = UNKNOWN, 1
    while any(name in (schema.get("properties") or {}) for schema in schemas):
        name, i = f"{UNKNOWN}{i}", i + 1
    return name


def _max_length(sampler: Sampler, ask: Ask, against: Schema, _: int) -> Iterator[Any]:
    demand = sampler.texts(ask)
    demand.least = max(demand.least, against["maxLength"] + 1)
    yield from texts(demand)


def _min_length(sampler: Sampler, ask: Ask, against: Schema, _: int) -> Iterator[Any]:
    demand = sampler.texts(ask)
    most = against["minLength"] - 1
    demand.most = most if demand.most is None else min(demand.most, most)
    yield from texts(demand)


def _pattern(sampler: Sampler, ask: Ask, against: Schema, _: int) -> Iterator[Any]:
    demand = sampler.texts(ask)
    demand.avoided.append(against["pattern"])
    yield from texts(demand)


def _format(sampler: Sampler, ask: Ask, against: Schema, _: int) -> Iterator[Any]:
    if against.get("type") in ("integer", "number"):
        yield from _BEYOND
        return
    demand = sampler.texts(ask)
    demand.unlike.append(against["format"])
    yield from texts(demand)


def _enum(sampler: Sampler, ask: Ask, against: Schema, depth: int) -> Iterator[Any]:
    for value in sampler.values(ask, depth):
        if not any(same_go(value, allowed) for allowed in against["enum"]):
            yield value
    if "string" in kinds(ask):
        yield from texts(sampler.texts(ask))


def _bound(key: str) -> Probe:
    def probe_bound(_: Sampler, ask: Ask, against: Schema, __: int) -> Iterator[Any]:
        limit = against[key]
        out = 1 if key == "maximum" else -1
        if limit == int(limit):
            limit = int(limit)
            yield from (limit + out, limit)  # the bound itself may be excluded
        if "number" in kinds(ask):
            yield from (limit + out / 2, limit + out / 1000)
        yield from numbers(ask, whole=False)

    return probe_bound


def _multiple_of(_: Sampler, ask: Ask, against: Schema, __: int) -> Iterator[Any]:
    step = against["multipleOf"]
    steps = [schema["multipleOf"] for schema in ask.schemas if schema.get("multipleOf")]
    for unit in (*steps, 1):
        yield from (n * unit for n in range(1, 12))
    yield from (step / 2, step + 1)


def _size(key: str) -> Probe:
    upper = key.startswith("max")

    def probe_size(sampler: Sampler, ask: Ask, against: Schema, depth: int) -> Iterator[Any]:
        size = against[key] + 1 if upper else 0
        if key.endswith("Items"):
            yield from tried(sampler.make_list, ask, max(size, ask.most("minItems")), depth=depth)
        else:
            yield from tried(sampler.make_object, ask, size=size, depth=depth)

    return probe_size


def _type(sampler: Sampler, ask: Ask, against: Schema, depth: int) -> Iterator[Any]:
    found = list(sampler.values(ask, depth))
    wanted = set(kinds(Ask([against])))
    yield from (value for value in found if _kind(value) not in wanted)
    yield from found
    if not any(schema.get("type") or schema.get(INT_OR_STRING) for schema in ask.wholes):
        yield from _ANYTHING
    yield from (0.5, 1.5)


def _kind(value: Any) -> str:
    names = {bool: "boolean", int: "integer", float: "number", str: "string", dict: "object"}
    return names.get(type(value), "array")


def _null(*_: Any) -> Iterator[Any]:
    yield None


def _required(sampler: Sampler, ask: Ask, against: Schema, depth: int) -> Iterator[Any]:
    for name in against["required"]:
        if not any(name in (schema.get("required") or ()) for schema in ask.wholes):
            yield from tried(sampler.make_object, ask, without=(name,), depth=depth)


def _properties(sampler: Sampler, ask: Ask, against: Schema, depth: int) -> Iterator[Any]:
    for name, schema in against["properties"].items():
        yield from with_field(sampler, ask, name, schema, depth)


def with_field(
    sampler: Sampler, ask: Ask, name: str, against: Schema, depth: int = 0
) -> Iterator[Any]:
    """Yield objects whose field of a name breaks a schema, where what is asked allows it."""
    below = ask.field(name)
    if below.wholes or below.hints:
        values = violate(sampler, below, against, depth + 1)
    else:
        values = iter(_ANYTHING)
    for value in values:
        yield from tried(sampler.make_object, ask, {name: value}, depth=depth)


def _rest(sampler: Sampler, ask: Ask, against: Schema, depth: int) -> Iterator[Any]:
    rest = against["additionalProperties"]
    name = unknown_name(*ask.schemas, against)
    if isinstance(rest, dict):
        yield from with_field(sampler, ask, name, rest, depth)
    else:
        yield from with_unknown(sampler, ask, against, depth)


def with_unknown(sampler: Sampler, ask: Ask, against: Schema, depth: int = 0) -> Iterator[Any]:
    """Yield objects with a field that a schema does not name."""
    name = unknown_name(*ask.schemas, against)
    below = ask.field(name)
    if below.wholes and "object" not in kinds(below):
        yield from tried(sampler.make_object, ask, {name: sampler.first(below, depth)}, depth=depth)
    elif below.wholes:
        for value in sampler.values(below, depth):
            yield from tried(sampler.make_object, ask, {name: value}, depth=depth)
    else:
        yield from tried(sampler.make_object, ask, {name: "kept"}, depth=depth)


def _items(sampler: Sampler, ask: Ask, against: Schema, depth: int) -> Iterator[Any]:
    schema = against["items"]
    if not isinstance(schema, dict):
        return
    item = ask.item()
    values = violate(sampler, item, schema, depth + 1) if item.schemas else iter(_ANYTHING)
    for value in values:
        yield from tried(sampler.make_list, ask, ask.most("minItems"), fixed=[value], depth=depth)


def _embedded(sampler: Sampler, ask: Ask, against: Schema, depth: int) -> Iterator[Any]:
    yield from tried(sampler.make_object, ask, depth=depth)
    yield from with_unknown(sampler, ask, against, depth)
    yield from tried(sampler.make_object, ask, {"apiVersion": "", "kind": ""}, depth=depth)


def _duplicates(sampler: Sampler, ask: Ask, against: Schema, depth: int) -> Iterator[Any]:
    """Yield lists with an item twice, as the type set or the keys of the type map see it."""
    size = max(2, ask.most("minItems"))
    item = ask.item()
    keys = list(against.get(MAP_KEYS) or [])
    if against.get(LIST_TYPE) != "map" or not keys:
        one = sampler.first(item, depth + 1)
        yield from tried(sampler.make_list, ask, size, fixed=[one, one], depth=depth)
        return
    one = sampler.make_object(item, {k: sampler.first(item.field(k)) for k in keys}, depth=depth)
    bare = sampler.make_object(item, depth=depth)
    for whole in (bare, one):
        yield from tried(sampler.make_list, ask, size, fixed=[whole, whole], depth=depth)
    others = [k for s in ask.wholes for k in s.get(MAP_KEYS) or [] if k not in keys]
    for key in others or item.names():
        if key in keys:
            continue
        values = sampler.distinct(item.field(key), 2, depth + 1)
        if len(values) == 2:
            pair = [{**one, key: value} for value in values]
            yield from tried(sampler.make_list, ask, size, fixed=pair, depth=depth)


def _all_of(sampler: Sampler, ask: Ask, against: Schema, depth: int) -> Iterator[Any]:
    for branch in against["allOf"]:
        yield from violate(sampler, ask, branch, depth + 1)


def _branches(key: str) -> Probe:
    def probe_branches(sampler: Sampler, ask: Ask, against: Schema, depth: int) -> Iterator[Any]:
        branches = against[key]
        yield from sampler.values(ask, depth)
        if key == "oneOf":
            for i, branch in enumerate(branches):
                for other in branches[i + 1 :]:
                    yield from sampler.values(ask.also(branch, other), depth)
        for branch in branches:
            yield from violate(sampler, ask, branch, depth + 1)
        for name in ask.names()[:20]:  # any further field may lead out of all branches
            value = sampler.first(ask.field(name), depth + 1)
            yield from tried(sampler.make_object, ask, {name: value}, depth=depth)

    return probe_branches


def _not(sampler: Sampler, ask: Ask, against: Schema, depth: int) -> Iterator[Any]:
    yield from sampler.values(ask.also(against["not"]), depth)


PROBES: dict[str, Probe] = {
    "maxLength": _max_length,
    "minLength": _min_length,
    "pattern": _pattern,
    "format": _format,
    "enum": _enum,
    "maximum": _bound("maximum"),
    "minimum": _bound("minimum"),
    "multipleOf": _multiple_of,
    "maxItems": _size("maxItems"),
    "minItems": _size("minItems"),
    "maxProperties": _size("maxProperties"),
    "minProperties": _size("minProperties"),
    "type": _type,
    INT_OR_STRING: _type,
    "nullable": _null,
    "required": _required,
    "properties": _properties,
    "additionalProperties": _rest,
    PRESERVE: with_unknown,
    "items": _items,
    "x-kubernetes-embedded-resource": _embedded,
    LIST_TYPE: _duplicates,
    MAP_KEYS: _duplicates,
    "allOf": _all_of,
    "anyOf": _branches("anyOf"),
    "oneOf": _branches("oneOf"),
    "not": _not,
}
