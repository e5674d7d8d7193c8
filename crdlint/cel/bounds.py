"""Which bounds in a schema would make a rule affordable, found by estimating again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdlint.cel import types as t
from crdlint.cel.compile import compile_at
from crdlint.cel.libcost import multiply
from crdlint.cel.rules import RULE_LIMIT
from crdlint.cel.syntax import deep
from crdlint.cel.types import BOOL_TYPE, MAX_REQUEST, Decl, escape, limit

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from crdlint.cel.rulereport import RuleReport

    Path = tuple[str | int, ...]
    Schema = Mapping[str, Any]

_KEYWORDS = {"string": "maxLength", "array": "maxItems", "object": "maxProperties"}
_BYTES_A_CODE_POINT = 4
_HIGHEST = {"maxLength": MAX_REQUEST, "maxItems": MAX_REQUEST, "maxProperties": MAX_REQUEST}
_MOST_SUGGESTIONS = 3


class Bound:
    """One bound to set: `keyword` of the node at `path`, now `before` (None: not set)."""

    __slots__ = ("before", "keyword", "path", "value")

    def __init__(self, path: Path, keyword: str, value: int, before: int | None) -> None:
        self.path = path
        self.keyword = keyword
        self.value = value
        self.before = before


class Suggestion:
    """Bounds that together bring a rule under its limit, and its cost with them."""

    __slots__ = ("bounds", "cardinality", "cost", "rule_cost")

    def __init__(self, bounds: list[Bound], rule_cost: int, cardinality: int) -> None:
        self.bounds = bounds
        self.rule_cost = rule_cost
        self.cardinality = cardinality
        self.cost = multiply(rule_cost, cardinality)


class _Knob:
    """A bound that the cost of a rule may depend on."""

    __slots__ = ("before", "decl", "factor", "keyword", "path", "value")

    def __init__(self, path: Path, node: Schema, decl: Decl | None) -> None:
        self.path = path
        self.decl = decl  # None for a node above the rule
        self.keyword = _KEYWORDS[node["type"]]
        self.before = limit(node, self.keyword)
        self.value = self.before
        # What the declared type counts: bytes of strings, else elements.
        text = self.keyword == "maxLength" and node.get("format") != "byte"
        self.factor = _BYTES_A_CODE_POINT if text else 1


def suggest(
    schema: Schema,
    report: RuleReport,
    *,
    minor: int,
    most: int = RULE_LIMIT,
    optional_old_self: bool = False,
) -> list[Suggestion]:
    """Return the ways to bring a rule's cost to at most `most`, those of the loosest bound first.

    Each suggestion of one bound alone would do; where none does, one of several bounds together is
    returned, and none at all where no bounds help. `report` is that of `check_schema` for this
    schema; its declared type is changed and put back.
    """
    if report.decl is None or not report.ok:
        return []
    with deep():
        return _Search(schema, report, minor, most, optional_old_self=optional_old_self).run()


def unbounded(schema: Schema, report: RuleReport, *, minor: int) -> list[tuple[Path, str]]:
    """Return the bounds that a rule's cost depends on and that the schema does not set.

    Each is the path from the schema's root to the node and the keyword that it lacks. `report` is
    that of `check_schema` for this schema.
    """
    if report.decl is None or not report.ok:
        return []
    with deep():
        search = _Search(schema, report, minor, RULE_LIMIT, optional_old_self=False)
    return [(knob.path, knob.keyword) for knob in search.knobs if knob.before is None]


class _Search:
    """The search for one rule."""

    def __init__(
        self,
        schema: Schema,
        report: RuleReport,
        minor: int,
        most: int,
        *,
        optional_old_self: bool,
    ) -> None:
        assert report.decl is not None
        self.report = report
        self.decl = report.decl
        self.minor = minor
        self.most = most
        self.optional = optional_old_self
        self.above: list[_Knob] = []
        node = self._walk_down(schema)
        self.knobs = [*self.above, *self._below(node)]

    # Which bounds there are.

    def _walk_down(self, schema: Schema) -> Schema:
        """Collect what multiplies the rule on the way to it, and return the rule's node."""
        node = schema
        path = self.report.path
        i = 0
        while i < len(path):
            step = path[i]
            kind = node.get("type")
            if kind == "array" or (
                kind == "object" and node.get("additionalProperties") is not None
            ):
                self.above.append(_Knob(path[:i], node, None))
            if step == "properties":
                node = node["properties"][path[i + 1]]
                i += 2
                continue
            inner: Schema = node[str(step)]
            node = inner
            i += 1
        return node

    def _below(self, node: Schema) -> list[_Knob]:
        seen: set[tuple[str, ...]] = set()
        self._rule_cost(seen)
        knobs = []
        for way in sorted(seen):
            knob = self._knob(node, way)
            if knob is not None:
                knobs.append(knob)
        return knobs

    def _knob(self, node: Schema, way: Iterable[str]) -> _Knob | None:
        path = self.report.path
        decl: Decl | None = self.decl
        for step in way:
            if step == "@items":
                path, inner = (*path, "items"), node.get("items")
                decl = decl and decl.elem
            elif step == "@values":
                path, inner = (*path, "additionalProperties"), node.get("additionalProperties")
                decl = decl and decl.elem
            else:
                name = _property(node, step)
                path, inner = (*path, "properties", name), (node.get("properties") or {}).get(name)
                decl = (decl.fields or {}).get(step) if decl else None
            if not isinstance(inner, dict) or decl is None:
                return None
            node = inner
        if decl is None or node.get("x-kubernetes-int-or-string"):
            return None
        kind = node.get("type")
        if kind == "string":
            fixed = node.get("enum") or decl.type.kind in (t.DURATION, t.TIMESTAMP)
            return None if fixed else _Knob(path, node, decl)
        if kind == "array" or (kind == "object" and decl.type.kind == t.MAP):
            return _Knob(path, node, decl)
        return None

    # Estimating.

    def _rule_cost(self, seen: set[tuple[str, ...]] | None = None) -> int:
        for compat in (self.minor - 1, self.minor):
            done = compile_at(
                self.report.rule,
                self.decl,
                BOOL_TYPE,
                compat=compat,
                minor=self.minor,
                optional_old_self=self.optional,
                seen=seen,
            )
            if done.error is None:
                break
        return done.cost

    def _cardinality(self) -> int:
        total = 1
        for knob in self.above:
            if knob.value is None:
                return MAX_REQUEST // (self.decl.min_size + 1)
            total = multiply(total, knob.value)
        return total

    def _cost(self) -> int:
        return multiply(self._rule_cost(), self._cardinality())

    def _set(self, knob: _Knob, value: int | None, original: int) -> None:
        knob.value = value
        if knob.decl is not None:
            knob.decl.max_elements = original if value is None else value * knob.factor

    # Searching.

    def run(self) -> list[Suggestion]:
        """Try each bound alone, then all together."""
        originals = [0 if k.decl is None else k.decl.max_elements for k in self.knobs]
        try:
            single = []
            for knob, original in zip(self.knobs, originals, strict=True):
                value = self._loosest(knob, original)
                if value is not None:
                    self._set(knob, value, original)
                    single.append(self._suggestion([knob]))
                    self._set(knob, knob.before, original)
            if single:
                single.sort(key=lambda s: (s.bounds[0].before is not None, -s.bounds[0].value))
                return single[:_MOST_SUGGESTIONS]
            return self._together(originals)
        finally:
            for knob, original in zip(self.knobs, originals, strict=True):
                self._set(knob, knob.before, original)
                if knob.decl is not None:
                    knob.decl.max_elements = original

    def _loosest(self, knob: _Knob, original: int) -> int | None:
        """Return the highest value of a bound that suffices alone, or None; leaves it as it was."""
        before = knob.value
        low, high = 0, _HIGHEST[knob.keyword] if before is None else before
        self._set(knob, 1, original)
        if self._cost() <= self.most:
            low = 1
            while low < high:
                middle = (low + high + 1) // 2
                self._set(knob, middle, original)
                if self._cost() <= self.most:
                    low = middle
                else:
                    high = middle - 1
        self._set(knob, before, original)
        if low == 0:
            return None
        return _rounded(low)

    def _together(self, originals: Sequence[int]) -> list[Suggestion]:
        """Bound everything alike, then let go of what is not needed."""
        pairs = list(zip(self.knobs, originals, strict=True))

        def bound_all(level: int) -> None:
            for knob, original in pairs:
                value = level * 4 if knob.keyword == "maxLength" else level
                if knob.before is not None:
                    value = min(value, knob.before)
                self._set(knob, value, original)

        low, high = 0, 1 << 20
        while low < high:
            middle = (low + high + 1) // 2
            bound_all(middle)
            if self._cost() <= self.most:
                low = middle
            else:
                high = middle - 1
        if low == 0:
            return []
        bound_all(low)
        chosen = []
        for knob, original in pairs:
            value = knob.value
            self._set(knob, knob.before, original)
            if self._cost() > self.most:
                self._set(knob, value, original)
                chosen.append((knob, original))
        for knob, original in chosen:
            assert knob.value is not None
            value = knob.value
            self._set(knob, knob.before, original)
            loosest = self._loosest(knob, original)
            self._set(knob, max(value, loosest or 0), original)
        return [self._suggestion([knob for knob, _ in chosen])]

    def _suggestion(self, knobs: Sequence[_Knob]) -> Suggestion:
        bounds = [Bound(k.path, k.keyword, k.value or 0, k.before) for k in knobs]
        return Suggestion(bounds, self._rule_cost(), self._cardinality())


def _property(node: Schema, step: str) -> str:
    """Return the property that a rule calls by this name."""
    fields = node.get("properties") or {}
    if step in fields:
        return step
    for name in fields:
        if escape(name) == step:
            return str(name)
    return step


def _rounded(value: int) -> int:
    """Return a number at most this one that people would write: two digits, then zeros."""
    digits = len(str(value)) - 2
    return value if digits <= 0 else value // 10**digits * 10**digits
