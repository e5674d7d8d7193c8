"""A CRD as a tree of nodes with parent links; the only module that knows a CRD's structure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdlint.keywords import HOLDS, JUNCTORS, NOT_WALKED, same_json, same_schema

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from crdlint.document import Document, Path

ABSENT: Any = type("Absent", (), {"__repr__": lambda _: "absent", "__bool__": lambda _: False})()

# The parts of a version that the server moves to the top of spec when all versions agree on them.
HOISTED = ("schema", "subresources", "additionalPrinterColumns", "selectableFields")


class Crd:
    """One CRD as the server decodes it, with what its nodes share."""

    __slots__ = (
        "_hoisted",
        "data",
        "document",
        "item",
        "judged",
        "kept",
        "minor",
        "old",
        "refused_at",
        "root",
        "schemas",
    )

    def __init__(
        self, data: Mapping[str, Any], document: Document, *, item: int | None = None, minor: int
    ) -> None:
        self.data = data
        self.document = document
        self.item = item
        self.minor = minor
        self.old: Crd | None = None  # the stored CRD, when this one is an update of it
        self.refused_at: list[Path] = []  # nodes of the schema at hand whose keywords are refused
        self.judged: set[tuple[str, Path]] = set()  # schemas that a check has judged as a whole
        self.kept: dict[str, Any] = {}  # what a check knows of one schema and needs for the next
        self._hoisted: dict[str, bool] = {}
        self.root = Node("crd", data, (), None, self)
        self.schemas = self._schemas()

    @property
    def name(self) -> str:
        """Return metadata.name, or "" where there is none."""
        return str(self.metadata.get("name") or "")

    @property
    def metadata(self) -> Mapping[str, Any]:
        """Return metadata, empty where absent."""
        return self.data.get("metadata") or {}

    @property
    def spec(self) -> Mapping[str, Any]:
        """Return spec, empty where absent."""
        return self.data.get("spec") or {}

    @property
    def names(self) -> Mapping[str, Any]:
        """Return spec.names, empty where absent."""
        return self.spec.get("names") or {}

    @property
    def versions(self) -> list[Mapping[str, Any]]:
        """Return spec.versions, empty where absent."""
        return self.spec.get("versions") or []

    def hoisted(self, key: str) -> bool:
        """Tell whether all versions agree on a part, so that the server keeps it once at the top.

        Source: the conversion of apiextensions v1 to the internal type.
        """
        known = self._hoisted.get(key)
        if known is None:
            same = same_schemas if key == "schema" else _same_part
            first, *others = [version.get(key) for version in self.versions] or [None]
            known = bool(self.versions) and all(same(first, other) for other in others)
            self._hoisted[key] = known
        return known

    def _schemas(self) -> list[Node]:
        """Return the root nodes of the schemas that the server checks one by one."""
        found = []
        for version in self.root.children():
            found += list(version.children())
            if len(found) == 1 and self.hoisted("schema"):
                break
        return found


def same_schemas(a: Any, b: Any) -> bool:
    """Tell whether the `schema` fields of two versions are equal once decoded."""
    x, y = (part.get("openAPIV3Schema") if part else None for part in (a, b))
    return (a is None) == (b is None) and (x is None) == (y is None) and same_schema(x, y)


def _same_part(a: Any, b: Any) -> bool:
    if isinstance(a, list) or isinstance(b, list):
        return same_json(*([_without_zeros(item) for item in part or ()] for part in (a, b)))
    return same_json(a, b)


def _without_zeros(item: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out of a column or selectable field what means absence: "" and 0."""
    return {key: value for key, value in item.items() if value}


class Node:
    """One object of a CRD that rules may look at: the CRD, a version, or a schema.

    `junctor` says that the node stands below allOf, anyOf, oneOf or not. `memo` is unset until a
    check keeps there what it found out on the way up.
    """

    __slots__ = ("crd", "data", "junctor", "kind", "memo", "parent", "step")

    memo: tuple[str, bool]

    def __init__(
        self,
        kind: str,
        data: Mapping[str, Any],
        step: Path,
        parent: Node | None,
        crd: Crd,
        junctor: bool = False,
    ) -> None:
        self.kind = kind
        self.data = data
        self.step = step
        self.parent = parent
        self.crd = crd
        self.junctor = junctor

    def get(self, key: str, default: Any = None) -> Any:
        """Return the value of one of this node's own keywords."""
        return self.data.get(key, default)

    def at(self, *keys: str | int) -> Place:
        """Name a spot in this node for a problem; costs nothing until it is reported."""
        return Place(self, keys)

    @property
    def is_root(self) -> bool:
        """Tell whether this is the root of a version's schema."""
        return self.kind == "schema" and self.parent is not None and self.parent.kind == "version"

    @property
    def path(self) -> Path:
        """Return the way here from the top of the CRD."""
        steps: list[Path] = []
        node: Node | None = self
        while node is not None:
            steps.append(node.step)
            node = node.parent
        return tuple(key for step in reversed(steps) for key in step)

    @property
    def version(self) -> Node | None:
        """Return the version that this node belongs to, or None at the root of the CRD."""
        node: Node | None = self
        while node is not None and node.kind != "version":
            node = node.parent
        return node

    @property
    def root(self) -> Node:
        """Return the root of the schema that this node is part of."""
        node = self
        while not node.is_root and node.parent is not None:
            node = node.parent
        return node

    @property
    def field(self) -> str:
        """Return the field that users of the resource write, such as `.spec.ports[*].name`."""
        parts: list[str] = []
        node: Node | None = self
        while node is not None and node.kind == "schema":
            key = node.step[0]
            if key == "properties":
                parts.append(f".{node.step[1]}")
            elif key == "items":
                parts.append("[*]")
            elif key == "additionalProperties":
                parts.append(".*")
            node = node.parent
        return "".join(reversed(parts))

    def children(self) -> Iterator[Node]:
        """Yield the nodes directly below, in the order of the text."""
        if self.kind == "schema":
            yield from self.subschemas()
        elif self.kind == "version":
            schema = (self.data.get("schema") or {}).get("openAPIV3Schema")
            if schema is not None:
                yield Node("schema", schema, ("schema", "openAPIV3Schema"), self, self.crd)
        else:
            for i, version in enumerate(self.crd.versions):
                yield Node("version", version, ("spec", "versions", i), self, self.crd)

    def subschemas(self) -> Iterator[Node]:
        """Yield the schemas directly below that the server's keyword checks look at."""
        for key, value in self.data.items():
            if key in HOLDS and key not in NOT_WALKED:
                junctor = self.junctor or key in JUNCTORS
                for step, schema in held(key, value):
                    yield Node("schema", schema, step, self, self.crd, junctor)


class Place:
    """A spot in a tree: a node, and perhaps a way below it.

    `within` is a line and a column, from 1, in the text that stands there, such as a CEL rule.
    """

    __slots__ = ("keys", "node", "within")

    def __init__(self, node: Node, keys: Path = (), within: tuple[int, int] | None = None) -> None:
        self.node = node
        self.keys = keys
        self.within = within

    @property
    def path(self) -> Path:
        """Return the way here from the top of the CRD."""
        return (*self.node.path, *self.keys)


def held(key: str, value: Any) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """Yield the step to and the data of each schema that the value of a keyword holds."""
    if isinstance(value, dict):
        if HOLDS[key] in ("named", "named-or-strings"):
            for name, schema in value.items():
                if isinstance(schema, dict):
                    yield (key, name), schema
        else:
            yield (key,), value
    elif isinstance(value, list):
        for i, schema in enumerate(value):
            if isinstance(schema, dict):
                yield (key, i), schema


def walk(root: Node) -> Iterator[Node]:
    """Yield a node and every node below it once, in the order of the text."""
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(list(node.children())))
