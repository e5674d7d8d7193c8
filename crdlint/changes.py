"""What differs between two CRDs: pairs their parts by meaning and yields each difference once."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from crdlint.keywords import EMPTY, HOLDS, ZERO, same_json
from crdlint.tree import ABSENT, Crd, Node, Place

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from crdlint.document import Path

DOCUMENTATION = frozenset(("description", "title", "example", "externalDocs"))
BRANCHES = ("allOf", "anyOf", "oneOf")
RULES = "x-kubernetes-validations"
LIST_TYPE, MAP_TYPE = "x-kubernetes-list-type", "x-kubernetes-map-type"
INT_OR_STRING = "x-kubernetes-int-or-string"
PRESERVE = "x-kubernetes-preserve-unknown-fields"

# The types that a keyword speaks of; the server ignores it on any other.
_APPLIES: dict[str, tuple[str, ...]] = {
    "maxLength": ("string",),
    "minLength": ("string",),
    "pattern": ("string",),
    "maximum": ("integer", "number"),
    "minimum": ("integer", "number"),
    "multipleOf": ("integer", "number"),
    "maxItems": ("array",),
    "minItems": ("array",),
    "uniqueItems": ("array",),
    LIST_TYPE: ("array",),
    "x-kubernetes-list-map-keys": ("array",),
    "maxProperties": ("object",),
    "minProperties": ("object",),
    "required": ("object",),
    MAP_TYPE: ("object",),
}
_CHECKED = frozenset(("apiVersion", "kind"))  # of an object itself the server checks them anyway
_AT_LEAST = frozenset(("minLength", "minItems", "minProperties"))
_INNER = frozenset(HOLDS) | DOCUMENTATION | {"exclusiveMaximum", "exclusiveMinimum", RULES}
_WIDER = {("integer", "number")}


class Bound:
    """An effective bound of a number: its value, and whether the value itself is out."""

    __slots__ = ("exclusive", "value")

    def __init__(self, value: float, exclusive: bool) -> None:
        self.value = value
        self.exclusive = exclusive

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Bound) and (self.value, self.exclusive) == (
            other.value,
            other.exclusive,
        )

    def __hash__(self) -> int:
        return hash((self.value, self.exclusive))

    def __repr__(self) -> str:
        return f"{self.value} (exclusive)" if self.exclusive else f"{self.value}"


class Pair:
    """The same part of two CRDs, seen from the old and from the new one.

    Below `not` the direction turns: `reversed` says that what is newly allowed here is newly
    refused outside. `within` names the junctors above, the innermost last.
    """

    __slots__ = ("_values", "new", "old", "parent", "reversed", "within")

    def __init__(
        self, old: Node, new: Node, parent: Pair | None, within: tuple[str, ...] = ()
    ) -> None:
        self.old = old
        self.new = new
        self.parent = parent
        self.within = within
        self.reversed = within.count("not") % 2 == 1
        self._values: tuple[dict[str, Any], dict[str, Any]] | None = None

    @property
    def values(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the effective values of both sides."""
        if self._values is None:
            self._values = (effective(self.old.data), effective(self.new.data))
        return self._values

    @property
    def version(self) -> str:
        """Return the name of the version that both sides belong to, or ""."""
        version = self.new.version
        return str(version.get("name") or "") if version else ""


class Change:
    """One difference between the two sides of a pair.

    `before` and `after` are effective values, or ABSENT; of properties, branches and rules they
    are one entry. Where the pair is reversed they are exchanged, so that a rule may always read
    them as "allowed before, allowed after"; `spelled` gives them as the files have them.
    `old_keys` and `new_keys` lead from the nodes to the spot.
    """

    __slots__ = ("after", "before", "key", "name", "new_keys", "old_keys", "pair")

    def __init__(
        self,
        pair: Pair,
        key: str,
        before: Any = ABSENT,
        after: Any = ABSENT,
        *,
        old_keys: Path | None = None,
        new_keys: Path | None = None,
        name: str = "",
    ) -> None:
        self.pair = pair
        self.key = key
        self.before, self.after = (after, before) if pair.reversed else (before, after)
        self.old_keys = (key,) if old_keys is None else old_keys
        self.new_keys = (key,) if new_keys is None else new_keys
        self.name = name

    @property
    def old(self) -> Node:
        """Return the old node."""
        return self.pair.old

    @property
    def new(self) -> Node:
        """Return the new node."""
        return self.pair.new

    @property
    def here(self) -> Place:
        """Return the spot in the new CRD."""
        return Place(self.pair.new, self.new_keys)

    @property
    def there(self) -> Place:
        """Return the spot in the old CRD."""
        return Place(self.pair.old, self.old_keys)

    @property
    def spelled(self) -> tuple[Any, Any]:
        """Return the two values as the files have them."""
        if self.pair.reversed:
            return self.after, self.before
        return self.before, self.after

    @property
    def added(self) -> bool:
        """Tell whether only the new side has it."""
        return self.before is ABSENT

    @property
    def removed(self) -> bool:
        """Tell whether only the old side has it."""
        return self.after is ABSENT


def same(a: Any, b: Any) -> bool:
    """Tell whether two parts are equal in every value and type; wrong only by saying no.

    Both comparisons run in C: `==` takes `true` for 1, the text tells them apart.
    """
    try:
        return a is b or (bool(a == b) and repr(a) == repr(b))
    except RecursionError:
        return False


def json_equal(a: Any, b: Any) -> bool:
    """Compare JSON values type-aware; values too deep to compare count as different."""
    try:
        return same_json(a, b)
    except RecursionError:
        return False


def effective(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the plain keywords of a schema demand, without what says nothing.

    Zero values, keywords of another type, `minLength: 0` and bounds written two ways fall
    together here, so that a rewritten bound is no change. Schemas and rules inside are left out.
    """
    kind = data.get("type") or ""
    free = data.get(INT_OR_STRING) or not kind
    found: dict[str, Any] = {}
    for key, value in data.items():
        if key in _INNER or value is None:
            continue
        if (key in ZERO or key in EMPTY) and not value:
            continue
        if key in _APPLIES and not free and kind not in _APPLIES[key]:
            continue
        if (key in _AT_LEAST and value <= 0) or (key == PRESERVE and not value):
            continue
        found[key] = value
    _normalize(found, data, kind)
    return found


def _normalize(found: dict[str, Any], data: Mapping[str, Any], kind: str) -> None:
    for key, other in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        if key in found:
            found[key] = _bound(found[key], bool(data.get(other)), kind, key == "minimum")
    if kind == "integer" and found.get("multipleOf") == 1:
        del found["multipleOf"]
    if found.get(LIST_TYPE) == "atomic":
        del found[LIST_TYPE]
    if found.get(MAP_TYPE) == "granular":
        del found[MAP_TYPE]


def _bound(value: float, exclusive: bool, kind: str, lower: bool) -> Bound:
    """Return a bound; of integers always the inclusive one with the same meaning."""
    if kind != "integer" or isinstance(value, bool) or value != value or abs(value) > 2**53:  # noqa: PLR0124 - NaN
        return Bound(value, exclusive)
    whole = int(value)
    if whole == value:
        step = (1 if lower else -1) if exclusive else 0
        return Bound(whole + step, exclusive=False)
    if lower:
        return Bound(whole + (value > 0), exclusive=False)
    return Bound(whole - (value < 0), exclusive=False)


def changes(old: Crd, new: Crd) -> Iterator[Change]:
    """Yield what differs between two CRDs: the CRD itself, then each version that both have.

    The first change of each pair of nodes has the key "": rules on a whole pair listen to it.
    Versions and columns are paired by name, rules by text, branches of junctors by equality and
    then by likeness, never by their place in the list.
    """
    pair = Pair(old.root, new.root, None)
    if same(old.data, new.data):
        return
    yield Change(pair, "", old_keys=(), new_keys=())
    yield from _crd(pair)
    before = {str(node.get("name")): node for node in old.root.children()}
    for node in new.root.children():
        other = before.get(str(node.get("name")))
        if other is not None and not same(other.data, node.data):
            yield from _version(Pair(other, node, pair))


def _entry(pair: Pair, keys: tuple[str, ...]) -> Iterator[Change]:
    a: Any = pair.old.data
    b: Any = pair.new.data
    for key in keys:
        a = a.get(key) if isinstance(a, dict) else None
        b = b.get(key) if isinstance(b, dict) else None
    if not json_equal(a, b) and (a or b):
        x, y = (ABSENT if value is None else value for value in (a, b))
        yield Change(pair, ".".join(keys[1:]), x, y, old_keys=keys, new_keys=keys)


_CRD_KEYS = (
    ("metadata", "name"),
    ("metadata", "annotations"),
    ("spec", "group"),
    ("spec", "scope"),
    ("spec", "preserveUnknownFields"),
    ("spec", "conversion"),
    ("spec", "names", "kind"),
    ("spec", "names", "plural"),
    ("spec", "names", "singular"),
    ("spec", "names", "listKind"),
    ("spec", "names", "shortNames"),
    ("spec", "names", "categories"),
)


def _crd(pair: Pair) -> Iterator[Change]:
    for keys in _CRD_KEYS:
        yield from _entry(pair, keys)
    old, new = ({str(n.get("name")): n for n in side.children()} for side in (pair.old, pair.new))
    for name in (*old, *(n for n in new if n not in old)):
        if (name in old) != (name in new):
            a, b = old.get(name), new.get(name)
            yield Change(
                pair,
                "versions",
                a or ABSENT,
                b or ABSENT,
                old_keys=a.step if a else ("spec", "versions"),
                new_keys=b.step if b else ("spec", "versions"),
                name=name,
            )


def _version(pair: Pair) -> Iterator[Change]:
    old, new = pair.old.data, pair.new.data
    yield Change(pair, "", old_keys=(), new_keys=())
    for key in ("served", "storage", "deprecated"):
        if bool(old.get(key)) != bool(new.get(key)):
            yield Change(pair, key, bool(old.get(key)), bool(new.get(key)))
    if old.get("deprecationWarning") != new.get("deprecationWarning"):
        x, y = (
            ABSENT if v is None else v
            for v in (old.get("deprecationWarning"), new.get("deprecationWarning"))
        )
        yield Change(pair, "deprecationWarning", x, y)
    yield from _subresources(pair)
    yield from _named_list(pair, "additionalPrinterColumns", "name")
    yield from _named_list(pair, "selectableFields", "jsonPath")
    schemas = [next(iter(node.children()), None) for node in (pair.old, pair.new)]
    before, after = schemas
    if before is None or after is None:
        if before is not after:
            keys = ("schema", "openAPIV3Schema")
            x, y = (n.data if n is not None else ABSENT for n in schemas)
            yield Change(pair, "schema", x, y, old_keys=keys, new_keys=keys)
    else:
        yield from schema_changes(Pair(before, after, pair))


def _subresources(pair: Pair) -> Iterator[Change]:
    a = pair.old.get("subresources") or {}
    b = pair.new.get("subresources") or {}
    for name in ("status", "scale"):
        x, y = a.get(name), b.get(name)
        if (x is None) != (y is None) or not json_equal(x or {}, y or {}):
            keys = ("subresources", name)
            x, y = (ABSENT if value is None else value for value in (x, y))
            yield Change(pair, f"subresources.{name}", x, y, old_keys=keys, new_keys=keys)


def _named_list(pair: Pair, key: str, by: str) -> Iterator[Change]:
    """Pair the entries of a list by a name; the second of a name is paired with the second."""
    a, b = (_index(side.get(key) or [], by) for side in (pair.old, pair.new))
    for name in (*a, *(n for n in b if n not in a)):
        i, x = a.get(name, (None, ABSENT))
        j, y = b.get(name, (None, ABSENT))
        if x is ABSENT or y is ABSENT or not json_equal(x, y):
            yield Change(
                pair,
                key,
                x,
                y,
                old_keys=(key,) if i is None else (key, i),
                new_keys=(key,) if j is None else (key, j),
                name=name[0],
            )


def _index(entries: Iterable[Any], by: str) -> dict[tuple[str, int], tuple[int, Any]]:
    found: dict[tuple[str, int], tuple[int, Any]] = {}
    counts: dict[str, int] = {}
    for i, entry in enumerate(entries):
        name = str(entry.get(by) or "") if isinstance(entry, dict) else str(entry)
        counts[name] = counts.get(name, -1) + 1
        found[name, counts[name]] = (i, entry)
    return found


def schema_changes(root: Pair) -> Iterator[Change]:
    """Yield what differs between two schemas, the outer before the inner."""
    stack = [root]
    while stack:
        pair = stack.pop()
        inner: list[Pair] = []
        own = list(_node(pair, inner))
        if own:
            yield Change(pair, "", old_keys=(), new_keys=())
            yield from own
        stack.extend(reversed(inner))


def kinds_of(data: Mapping[str, Any]) -> frozenset[str]:
    """Return the JSON types that a schema lets in; empty where it does not say."""
    if data.get(INT_OR_STRING) or _spells_either(data):
        return frozenset(("integer", "string"))
    kind = data.get("type")
    if not kind:
        return frozenset()
    return frozenset(("integer", "number")) if kind == "number" else frozenset((kind,))


def _node(pair: Pair, inner: list[Pair]) -> Iterator[Change]:
    """Yield the changes of one node, and collect the pairs below it."""
    old, new = pair.old.data, pair.new.data
    a, b = kinds_of(old), kinds_of(new)
    if a != b and not pair.new.is_root:
        x, y = (type_name(side) or ABSENT for side in (old, new))
        yield Change(pair, "type", x, y)
        if a and b and not (a & b):
            return  # nothing below can be compared any more
    before, after = pair.values
    for key in (*before, *(k for k in after if k not in before)):
        if key in ("type", INT_OR_STRING):
            continue
        x, y = before.get(key, ABSENT), after.get(key, ABSENT)
        if x is ABSENT or y is ABSENT or not json_equal(x, y):
            keys = _spot(key, old, new)
            yield Change(pair, key, x, y, old_keys=keys, new_keys=keys)
    yield from _schemas(pair, inner)
    yield from _rules(pair)


def type_name(data: Mapping[str, Any]) -> str:
    """Return the type of a schema as people say it."""
    either = data.get(INT_OR_STRING) or _spells_either(data)
    return "int-or-string" if either else str(data.get("type") or "")


def _spells_either(data: Mapping[str, Any]) -> bool:
    """Tell whether a schema says int-or-string by an anyOf of the two types alone."""
    branches = data.get("anyOf") or []
    if data.get("type") or len(branches) != 2:
        return False
    kinds = [branch.get("type") for branch in map(bare, branches) if list(branch) == ["type"]]
    return sorted(map(str, kinds)) == ["integer", "string"]


def _spot(key: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Path:
    """Return where a bound stands: `exclusiveMaximum` when only that was changed."""
    if key in ("maximum", "minimum") and old.get(key) == new.get(key):
        return ("exclusiveM" + key[1:],)
    return (key,)


def _schemas(pair: Pair, inner: list[Pair]) -> Iterator[Change]:
    old, new = pair.old.data, pair.new.data
    for key, form in HOLDS.items():
        a, b = old.get(key), new.get(key)
        if a is b or (not a and not b and a != False and b != False):  # noqa: E712 - {} or absent
            if key not in ("additionalProperties", "additionalItems"):
                continue
            if (a is None) == (b is None) and type(a) is type(b):
                continue
        if key in BRANCHES:
            yield from _branches(pair, key, inner)
        elif form in ("named", "named-or-strings"):
            yield from _named(pair, key, inner)
        else:
            yield from _one(pair, key, inner)


def _child(pair: Pair, key: str, old_step: Path, new_step: Path, a: Any, b: Any) -> Pair:
    junctor = pair.new.junctor or key in BRANCHES or key == "not"
    within = (*pair.within, key) if key in BRANCHES or key == "not" else pair.within
    return Pair(
        Node("schema", a, old_step, pair.old, pair.old.crd, junctor),
        Node("schema", b, new_step, pair.new, pair.new.crd, junctor),
        pair,
        within,
    )


def _one(pair: Pair, key: str, inner: list[Pair]) -> Iterator[Change]:
    a, b = pair.old.data.get(key), pair.new.data.get(key)
    if isinstance(a, dict) and isinstance(b, dict):
        if not same(a, b):
            inner.append(_child(pair, key, (key,), (key,), a, b))
        return
    x, y = (ABSENT if value is None else value for value in (a, b))
    if x is ABSENT or y is ABSENT or not json_equal(x, y):
        yield Change(pair, key, x, y)


def _named(pair: Pair, key: str, inner: list[Pair]) -> Iterator[Change]:
    a, b = pair.old.data.get(key) or {}, pair.new.data.get(key) or {}
    for name, x in a.items():
        y = b.get(name, ABSENT)
        if y is ABSENT:
            yield Change(pair, key, x, y, old_keys=(key, name), name=str(name))
        elif not same(x, y) and not (name in _CHECKED and key == "properties" and pair.new.is_root):
            step = (key, name)
            if isinstance(x, dict) and isinstance(y, dict):
                inner.append(_child(pair, key, step, step, x, y))
            elif not json_equal(x, y):
                yield Change(pair, key, x, y, old_keys=step, new_keys=step, name=str(name))
    for name, y in b.items():
        if name not in a:
            yield Change(pair, key, ABSENT, y, new_keys=(key, name), name=str(name))


def _branches(pair: Pair, key: str, inner: list[Pair]) -> Iterator[Change]:
    """Pair the branches of a junctor: equal ones first, then those most alike."""
    a = _meaningful(pair.old.data, key)
    b = _meaningful(pair.new.data, key)
    if not a or not b:
        if a or b:
            yield Change(pair, key, a or ABSENT, b or ABSENT)
        return
    left, right = list(enumerate(a)), list(enumerate(b))
    for item in list(left):
        twin = next((other for other in right if _alike(item[1], other[1]) == 1), None)
        if twin is not None:
            left.remove(item)
            right.remove(twin)
    scored = sorted(
        ((-_alike(x, y), i, j) for i, x in left for j, y in right if _alike(x, y) >= _LIKE),
    )
    taken: set[tuple[str, int]] = set()
    for _, i, j in scored:
        if ("a", i) not in taken and ("b", j) not in taken:
            taken |= {("a", i), ("b", j)}
            inner.append(_child(pair, key, (key, i), (key, j), a[i], b[j]))
    for i, x in left:
        if ("a", i) not in taken:
            yield Change(pair, key, [x], ABSENT, old_keys=(key, i), name=str(i))
    for j, y in right:
        if ("b", j) not in taken:
            yield Change(pair, key, ABSENT, [y], new_keys=(key, j), name=str(j))


_LIKE = 0.5  # branches that share less than half of what they say are not the same branch
_EITHER = [{"type": "integer"}, {"type": "string"}]


def _meaningful(data: Mapping[str, Any], key: str) -> list[Any]:
    """Return the branches of a junctor, none where they only spell out int-or-string."""
    branches = list(data.get(key) or [])
    if key == "anyOf" and _spells_either(data):
        return []
    if branches and data.get(INT_OR_STRING):
        if key == "anyOf" and json_equal([bare(b) for b in branches], _EITHER):
            return []
        if key == "allOf":
            return [b for b in branches if not _is_either(b)]
    return branches


def _is_either(branch: Any) -> bool:
    inner = branch.get("anyOf") if isinstance(branch, dict) and len(branch) == 1 else []
    return json_equal([bare(b) for b in inner or []], _EITHER)


def bare(data: Any) -> Any:
    """Return a schema without the documentation at and below it; fields keep their names."""
    if not isinstance(data, dict):
        return data
    found = {}
    for key, value in data.items():
        if key in DOCUMENTATION:
            continue
        if key in BRANCHES and isinstance(value, list):
            value = [bare(branch) for branch in value]  # noqa: PLW2901
        elif key in HOLDS and isinstance(value, dict):
            named = HOLDS[key] in ("named", "named-or-strings")
            value = {k: bare(v) for k, v in value.items()} if named else bare(value)  # noqa: PLW2901
        found[key] = value
    return found


def _words(data: Any, prefix: str = "", depth: int = 0) -> set[str]:
    """Return what a branch says, as a set of words, to measure how alike two branches are."""
    if depth > 20 or not isinstance(data, (dict, list)):
        return {f"{prefix}={data!r}"}
    found: set[str] = set()
    if isinstance(data, dict):
        for key, value in data.items():
            if key not in DOCUMENTATION:
                found.add(f"{prefix}/{key}")
                found |= _words(value, f"{prefix}/{key}", depth + 1)
    else:
        for value in data:
            found |= _words(value, f"{prefix}[]", depth + 1)
    return found


def _alike(a: Any, b: Any) -> float:
    """Measure how alike two branches are, from 0 to 1 for equal ones."""
    x, y = _words(a), _words(b)
    if x == y:
        return 1
    return min(0.99, len(x & y) / max(1, len(x | y)))


def _rules(pair: Pair) -> Iterator[Change]:
    """Pair validation rules by their text, however it is spaced; what remains was changed."""
    a, b = pair.old.get(RULES) or [], pair.new.get(RULES) or []
    if not a and not b:
        return
    left, right = list(enumerate(a)), list(enumerate(b))
    for text in (_exact, _text):
        for item in list(left):
            twin = next((o for o in right if text(o[1]) == text(item[1])), None)
            if twin is not None:
                left.remove(item)
                right.remove(twin)
                if not json_equal(item[1], twin[1]):
                    yield _rule(pair, item, twin)
    for item in list(left):
        twin = next((other for other in right if _same_purpose(item[1], other[1])), None)
        if twin is None and len(left) == len(right) == 1:
            twin = right[0]
        if twin is not None:
            left.remove(item)
            right.remove(twin)
            yield _rule(pair, item, twin)
    for item in left:
        yield _rule(pair, item, None)
    for item in right:
        yield _rule(pair, None, item)


def _rule(pair: Pair, a: tuple[int, Any] | None, b: tuple[int, Any] | None) -> Change:
    return Change(
        pair,
        RULES,
        a[1] if a else ABSENT,
        b[1] if b else ABSENT,
        old_keys=(RULES, a[0]) if a else (RULES,),
        new_keys=(RULES, b[0]) if b else (RULES,),
    )


def _exact(rule: Mapping[str, Any]) -> str:
    return str(rule.get("rule"))


def _text(rule: Mapping[str, Any]) -> str:
    """Return a rule without the white space that does not stand in a string."""
    return rule_text(str(rule.get("rule") or ""))


def rule_text(text: str) -> str:
    """Return a rule's text without the white space outside of its strings."""
    parts = re.split(r"""("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')""", text)
    spaced = (
        part if i % 2 else re.sub(r"\s*([^\w\s])\s*", r"\1", re.sub(r"\s+", " ", part))
        for i, part in enumerate(parts)
    )
    return "".join(spaced).strip()


def _same_purpose(a: Mapping[str, Any], b: Mapping[str, Any]) -> bool:
    """Tell whether two rules with different texts are the same rule: they say the same to users."""
    return any(a.get(key) and a.get(key) == b.get(key) for key in ("message", "messageExpression"))
