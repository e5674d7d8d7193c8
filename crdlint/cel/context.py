"""Where a rule stands in its schema: how often it may run, and of which type self is."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from crdlint.cel.libcost import multiply
from crdlint.cel.types import declare, escape, limit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crdlint.cel.compile import Compiled
    from crdlint.cel.types import Decl

    Path = tuple[str | int, ...]
    Schema = Mapping[str, Any]

RULES = "x-kubernetes-validations"


class Context:
    """What the server knows of a node on the way to its rules.

    Source: CELSchemaContext in apiextensions-apiserver.
    """

    __slots__ = ("_known", "_step", "always", "cardinality", "in_scope", "parent", "path", "schema")

    def __init__(self, schema: Schema, parent: Context | None, step: Path) -> None:
        self.schema = schema
        self.parent = parent
        self._step = step
        self.path: Path = step if parent is None else parent.path + step
        self._known: Decl | str | None = None
        self.in_scope = bool(schema.get(RULES))
        self.cardinality: int | None = 1
        # Below the fields that every resource has, the type depends on where the schema stands.
        self.always = False
        if parent is None:
            return
        self.in_scope = self.in_scope or parent.in_scope
        self.always = parent.always or (
            step[0] == "properties" and step[1] in ("metadata", "apiVersion", "kind")
        )
        factor = elements(parent.schema)
        if parent.cardinality is None or factor is None:
            self.cardinality = None
        else:
            self.cardinality = multiply(parent.cardinality, factor)

    @property
    def root(self) -> bool:
        """Tell whether the type is made as that of a resource."""
        return self.parent is None or bool(self.schema.get("x-kubernetes-embedded-resource"))

    def declared(self, minor: int) -> Decl | str:
        """Return the declared type, or why there is none."""
        if self._known is None:
            self._known = self._declare(minor)
        return self._known

    def _declare(self, minor: int) -> Decl | str:
        if self.parent is not None and self.parent.in_scope:
            above = self.parent.declared(minor)
            if isinstance(above, str):
                return above
            found = self._of_parent(above)
            if found is not None:
                return found
        if not convertible(self.schema):
            return "the schema cannot be converted to a structural one"
        name = "self"
        return declare(self.schema, root=self.root, minor=minor, path=name) or (
            "CEL has no type for this schema"
        )

    def _of_parent(self, above: Decl) -> Decl | str | None:
        if self._step[0] != "properties":
            return above.elem or "CEL has no type for this schema"
        name = escape(str(self._step[1]))
        return None if name is None or above.fields is None else above.fields.get(name)


def elements(schema: Schema) -> int | None:
    """Return by what a schema multiplies how often its children occur; None without a bound."""
    kind = schema.get("type")
    if kind == "object" and schema.get("additionalProperties") is not None:
        return limit(schema, "maxProperties")
    if kind == "array":
        return limit(schema, "maxItems")
    return 1


class Multiplier:
    """A list or map whose items each run the rule; `most` items, None where nothing bounds them."""

    __slots__ = ("keyword", "most", "path")

    def __init__(self, path: Path, keyword: str, most: int | None) -> None:
        self.path = path
        self.keyword = keyword
        self.most = most


def multipliers(schema: Schema, path: Path) -> list[Multiplier]:
    """Return the lists and maps on the way to a node, outermost first."""
    found = []
    here: Any = schema
    for i, step in enumerate(path):
        if step == "items" and (i == 0 or path[i - 1] != "properties"):
            found.append(Multiplier(path[:i], "maxItems", elements(here)))
        elif step == "additionalProperties" and (i == 0 or path[i - 1] != "properties"):
            found.append(Multiplier(path[:i], "maxProperties", elements(here)))
        here = here[step]
    return found


_INCONVERTIBLE = (
    "id",
    "$schema",
    "$ref",
    "patternProperties",
    "dependencies",
    "definitions",
)


def convertible(schema: Schema) -> bool:
    """Tell whether a schema can be converted to a structural one.

    Source: NewStructural in apiextensions-apiserver.
    """
    stack = [schema]
    while stack:
        node = stack.pop()
        if any(node.get(key) for key in _INCONVERTIBLE if key in node):
            return False
        if node.get("additionalItems") is not None:
            return False
        if node.get("x-kubernetes-preserve-unknown-fields") is False:
            return False
        items = node.get("items")
        if isinstance(items, list):
            return False
        stack += (node.get("properties") or {}).values()
        for value in (items, node.get("additionalProperties"), node.get("not")):
            if isinstance(value, dict):
                stack.append(value)
        for key in ("allOf", "anyOf", "oneOf"):
            stack += node.get(key) or ()
    return True


class Cache:
    """Results of expressions at equal schemas, which must not change meanwhile.

    The versions of a CRD repeat most rules: one cache for all of them saves the most. It keeps the
    schemas alive, so let it go with the document.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[object, ...], list[tuple[Schema, bool, Compiled]]] = {}

    def find(self, key: tuple[object, ...], context: Context) -> Compiled | None:
        """Return what became of the same expression at an equal schema before."""
        for schema, root, compiled in self._known.get(key, ()):
            if root == context.root and _equal(schema, context.schema):
                return compiled
        return None

    def keep(self, key: tuple[object, ...], context: Context, compiled: Compiled) -> None:
        """Remember a result, for a few schemas an expression."""
        if len(self._known) >= _MOST_KEPT:
            self._known.clear()
        kept = self._known.setdefault(key, [])
        if len(kept) < _KEPT_EACH:
            kept.append((context.schema, context.root, compiled))


_MOST_KEPT = 4_000
_KEPT_EACH = 8
_COMPARED_DEPTH = 3_000


def _equal(a: Schema, b: Schema) -> bool:
    if a is b:
        return True
    # Comparing recurses through C, whose stack is smaller than what deep() allows.
    before = sys.getrecursionlimit()
    try:
        sys.setrecursionlimit(_COMPARED_DEPTH)
        return a == b
    except RecursionError:
        return False
    finally:
        sys.setrecursionlimit(before)
