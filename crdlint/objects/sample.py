"""Small values that a schema takes, made from the schema and checked against it."""

from __future__ import annotations

from itertools import islice, product
from math import ceil, floor
from typing import TYPE_CHECKING, Any

from crdlint.govalues import same_go
from crdlint.objects.defaulting import Defaulter
from crdlint.objects.texts import Demand, texts
from crdlint.objects.validate import validate

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    Schema = Mapping[str, Any]

INT_OR_STRING = "x-kubernetes-int-or-string"
PRESERVE = "x-kubernetes-preserve-unknown-fields"
EMBEDDED = "x-kubernetes-embedded-resource"
RULES = "x-kubernetes-validations"
LIST_TYPE = "x-kubernetes-list-type"
MAP_KEYS = "x-kubernetes-list-map-keys"

_DEEPEST = 60  # levels of required fields that are followed
_MOST_CHOICES = 24  # ways through the branches of junctors that are tried
_MOST_ITEMS = 5_000
_A_NODE = 8  # values of one node that are tried
_WHOLE = (1, 0, 2, 10, 80, 100, -1)
_EMBEDDED_EXAMPLE = {"apiVersion": "v1", "kind": "ConfigMap"}

# What a schema without a type speaks of, by its keywords.
_KINDS = (
    ("object", ("properties", "required", "additionalProperties", "minProperties", PRESERVE)),
    ("array", ("items", "minItems", "maxItems")),
    ("string", ("pattern", "minLength", "maxLength", "format")),
    ("integer", ("minimum", "maximum", "multipleOf")),
)


class ImpossibleError(Exception):
    """No value was found that a schema takes."""


class Ask:
    """What a value has to satisfy: whole schemas, and branches of junctors it is steered to.

    Fields that the first of the whole schemas does not keep are left out, though others require
    them, unless all are `wanted`.
    """

    __slots__ = ("hints", "wanted", "wholes")

    def __init__(
        self, wholes: Iterable[Schema], hints: Iterable[Schema] = (), *, wanted: bool = False
    ) -> None:
        self.wholes = tuple(wholes)
        self.hints = tuple(hints)
        self.wanted = wanted

    @property
    def schemas(self) -> tuple[Schema, ...]:
        """Return all schemas, the whole ones first."""
        return self.wholes + self.hints

    def also(self, *hints: Schema) -> Ask:
        """Return this with further branches."""
        return Ask(self.wholes, (*self.hints, *hints), wanted=self.wanted)

    def field(self, name: str) -> Ask:
        """Return what is asked of a field."""
        sides: list[list[Schema]] = [[], []]
        for side, schemas in zip(sides, (self.wholes, self.hints), strict=True):
            for schema in schemas:
                below = (schema.get("properties") or {}).get(name)
                if below is None:
                    below = schema.get("additionalProperties")
                if isinstance(below, dict):
                    side.append(below)
        return Ask(*sides, wanted=self.wanted)

    def item(self) -> Ask:
        """Return what is asked of the items of a list."""
        sides = (
            [schema["items"] for schema in schemas if isinstance(schema.get("items"), dict)]
            for schemas in (self.wholes, self.hints)
        )
        return Ask(*sides, wanted=self.wanted)

    def names(self) -> list[str]:
        """Return the fields that whole schemas name, in their order."""
        return list(dict.fromkeys(n for s in self.wholes for n in s.get("properties") or {}))

    def most(self, key: str) -> int:
        """Return the greatest of a keyword's values, 0 where nobody has it."""
        return max((schema.get(key) or 0 for schema in self.schemas), default=0)


class Sampler:
    """Makes values for a server of one Kubernetes minor; remembers what it needs of schemas."""

    __slots__ = ("_defaulters", "minor")

    def __init__(self, minor: int) -> None:
        self.minor = minor
        self._defaulters: dict[int, Defaulter] = {}

    def takes(self, ask: Ask, value: Any) -> bool:
        """Tell whether every schema takes a value once defaults are added, rules apart."""
        for schema in ask.schemas:
            whole = schema if schema in ask.wholes or not ask.wholes else ask.wholes[0]
            if validate(schema, self.defaulted(whole, value), minor=self.minor):
                return False
        return True

    def defaulted(self, schema: Schema, value: Any) -> Any:
        """Return a value with the defaults of a schema."""
        if not isinstance(value, (dict, list)):
            return value
        known = self._defaulters.get(id(schema))
        if known is None:
            known = self._defaulters[id(schema)] = Defaulter(schema)
        return known.apply(value)

    def first(self, ask: Ask, depth: int = 0) -> Any:
        """Return the plainest value; raise ImpossibleError where none is found."""
        for value in self.values(ask, depth):
            return value
        raise ImpossibleError

    def values(self, ask: Ask, depth: int = 0) -> Iterator[Any]:
        """Yield values that satisfy what is asked, the plainest first, each once."""
        if depth > _DEEPEST:
            return
        seen: list[Any] = []
        for steered in branches(ask):
            made = 0
            for value in self._plain(steered, depth):
                if any(same_go(value, other) for other in seen):
                    continue
                seen.append(value)
                if self.takes(steered, value):
                    yield value
                    made += 1
                if made >= _A_NODE:
                    break

    def _plain(self, ask: Ask, depth: int) -> Iterator[Any]:
        """Yield values of the right type that mind the plain keywords."""
        enums = [schema["enum"] for schema in ask.schemas if schema.get("enum")]
        if enums:
            yield from min(enums, key=len)
            return
        for kind in kinds(ask):
            if kind == "string":
                yield from texts(self.texts(ask))
            elif kind in ("integer", "number"):
                yield from numbers(ask, whole=kind == "integer")
            elif kind == "boolean":
                yield from (True, False)
            elif kind == "array":
                yield from self._lists(ask, depth)
            else:
                yield from self._objects(ask, depth)
        if ask.wholes and all(schema.get("nullable") for schema in ask.wholes):
            yield None

    def texts(self, ask: Ask) -> Demand:
        """Return what is asked of a text."""
        demand = Demand(ask.schemas, self.minor)
        for schema in ask.schemas:
            never = schema.get("not") or {}
            if never.get("pattern"):
                demand.avoided.append(never["pattern"])
        return demand

    def _lists(self, ask: Ask, depth: int) -> Iterator[Any]:
        try:
            yield self.make_list(ask, ask.most("minItems"), depth=depth)
        except ImpossibleError:
            return

    def make_list(
        self, ask: Ask, size: int, *, fixed: Collection[Any] = (), depth: int = 0
    ) -> list[Any]:
        """Return a list of a size that begins with fixed items, none twice where the type forbids.

        Raises:
            ImpossibleError: there are not so many items.
        """
        found = list(fixed)
        if size > _MOST_ITEMS:
            raise ImpossibleError
        item = ask.item()
        kinds_ = {schema.get(LIST_TYPE) for schema in ask.wholes}
        if "map" in kinds_:
            keys = next(s.get(MAP_KEYS) or [] for s in ask.wholes if s.get(LIST_TYPE) == "map")
            found += self._keyed(item, keys, found, size - len(found), depth)
        elif "set" in kinds_:
            more = self.distinct(item, size, depth)
            known = [value for value in more if not any(same_go(value, x) for x in found)]
            found += known[: max(0, size - len(found))]
        elif size > len(found):
            found += [self.first(item, depth + 1)] * (size - len(found))
        if len(found) < size:
            raise ImpossibleError
        return found

    def _keyed(
        self, item: Ask, keys: list[str], found: list[Any], size: int, depth: int
    ) -> Iterator[Any]:
        """Yield objects that differ in one key of a list of type map."""
        if size <= 0:
            return
        for key in keys:
            taken = [x.get(key) for x in found if isinstance(x, dict)]
            values = self.distinct(item.field(key), size + len(taken), depth + 1)
            free = [v for v in values if not any(same_go(v, other) for other in taken)]
            if len(free) >= size:
                for value in free[:size]:
                    yield self.make_object(item, {key: value}, depth=depth + 1)
                return
        raise ImpossibleError

    def distinct(self, ask: Ask, count: int, depth: int = 0) -> list[Any]:
        """Return up to so many different values."""
        found = list(islice(self.values(ask, depth + 1), count))
        for i in range(1, 2 * count + 8):
            if len(found) >= count:
                break
            for value in (f"example-{i}", i, {"name": f"example-{i}"}):
                if (
                    len(found) < count
                    and self.takes(ask, value)
                    and not any(same_go(value, other) for other in found)
                ):
                    found.append(value)
        return found

    def _objects(self, ask: Ask, depth: int) -> Iterator[Any]:
        for spell_out in (False, True):  # leave required fields to their defaults, or do not
            try:
                yield self.make_object(ask, depth=depth, spell_out=spell_out)
            except ImpossibleError:
                continue

    def make_object(
        self,
        ask: Ask,
        fixed: Mapping[str, Any] | None = None,
        *,
        without: Collection[str] = (),
        size: int = 0,
        depth: int = 0,
        spell_out: bool = False,
    ) -> dict[str, Any]:
        """Return a small object: fixed fields, required ones, and others up to a size.

        Raises:
            ImpossibleError: a field that is required cannot be made.
        """
        found = dict(fixed or {})
        if any(schema.get(EMBEDDED) for schema in ask.wholes):
            found = {**_EMBEDDED_EXAMPLE, **found}
        required = dict.fromkeys(n for s in ask.schemas for n in s.get("required") or ())
        for name in required:
            if name in found or name in without or not _kept(ask, name):
                continue
            below = ask.field(name)
            if not spell_out and below.wholes and all(has_default(s) for s in below.wholes):
                continue
            found[name] = self.first(below, depth + 1)
        least = max(size, ask.most("minProperties"))
        for name in ask.names() if len(found) < least else ():
            if len(found) >= least:
                break
            if name not in found and name not in without:
                try:
                    found[name] = self.first(ask.field(name), depth + 1)
                except ImpossibleError:
                    continue
        self._fill(ask, found, least, depth)
        return found

    def _fill(self, ask: Ask, found: dict[str, Any], least: int, depth: int) -> None:
        """Add keys of a map up to a size."""
        if len(found) >= least or not any(open_(schema) for schema in ask.wholes):
            return
        value = self.first(ask.field(""), depth + 1)
        i = 0
        while len(found) < min(least, _MOST_ITEMS):
            found.setdefault(f"example-{i}" if i else "example", value)
            i += 1


def _kept(ask: Ask, name: str) -> bool:
    """Tell whether the first schema keeps a field, so that it is of use to set it."""
    if not ask.wholes or ask.wanted:
        return True
    schema = ask.wholes[0]
    return name in (schema.get("properties") or {}) or open_(schema)


def has_default(schema: Schema) -> bool:
    """Tell whether the server puts something where a field is absent."""
    return schema.get("default") is not None


def open_(schema: Schema) -> bool:
    """Tell whether any name is kept."""
    rest = schema.get("additionalProperties")
    return isinstance(rest, dict) or rest is True or bool(schema.get(PRESERVE))


def kinds(ask: Ask) -> list[str]:
    """Return the types that a value may have, the plainest first."""
    for schema in ask.wholes:
        if schema.get(INT_OR_STRING):
            said = {schema.get("type") for schema in ask.schemas} - {None, ""}
            return [kind for kind in ("integer", "string") if kind in said or not said]
    for schema in ask.schemas:
        if schema.get("type"):
            return [schema["type"]]
    for kind, keywords in _KINDS:
        if any(schema.get(key) for schema in ask.schemas for key in keywords):
            return [kind]
    return ["string", "integer", "object"]


def branches(ask: Ask) -> Iterator[Ask]:
    """Yield what is asked with branches of junctors chosen: none first, then one of each."""
    yield from _choose(ask, ask.schemas, 0)


def _choose(ask: Ask, fresh: tuple[Schema, ...], level: int) -> Iterator[Ask]:
    every = tuple(_all_of(fresh))
    ask = ask.also(*every)
    yield ask
    choices = [
        schema[key] for schema in (*fresh, *every) for key in ("anyOf", "oneOf") if schema.get(key)
    ]
    if choices and level < 3:
        for chosen in islice(product(*choices), _MOST_CHOICES):
            yield from _choose(ask.also(*chosen), chosen, level + 1)


def _all_of(schemas: Iterable[Schema], level: int = 0) -> Iterator[Schema]:
    for schema in schemas:
        for branch in schema.get("allOf") or ():
            yield branch
            if level < 5:
                yield from _all_of([branch], level + 1)


def numbers(ask: Ask, *, whole: bool) -> Iterator[Any]:
    """Yield numbers at and around the bounds, the plainest first; they may break some bound."""
    yield from _WHOLE
    for schema in ask.schemas:
        step = schema.get("multipleOf") or 0
        for key, rounded, out in (("minimum", ceil, 1), ("maximum", floor, -1)):
            bound = schema.get(key)
            if bound is None or bound != bound or abs(bound) > 2**62:  # noqa: PLR0124 - NaN
                continue
            edge = rounded(bound)
            yield from (edge, edge + out, edge - out)
            if step and step == int(step):
                times = rounded(bound / step)
                yield from (times * int(step), (times + out) * int(step))
            if not whole:
                yield from (bound, bound + out / 2, bound + out / 1000)
        if step:
            yield step
    if not whole:
        yield 0.5
