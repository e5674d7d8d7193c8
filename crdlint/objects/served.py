"""One served version of a CRD, made ready to take objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdlint.govalues import same_go
from crdlint.objects.defaulting import Defaulter
from crdlint.objects.embedded import coerce, has_embedded
from crdlint.objects.prune import prune

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from crdlint.objects.rules import RuleTree

    Schema = Mapping[str, Any]

_META_FIELDS = ("apiVersion", "kind", "metadata")


class Served:
    """A version of a kind: its schema, scope and subresources.

    `crd` is a decoded v1 CRD, `version` the name of one of its versions.
    """

    __slots__ = (
        "api_version",
        "defaulter",
        "embeds",
        "group",
        "has_lists",
        "has_rules",
        "kind",
        "minor",
        "namespaced",
        "preserve",
        "rules",
        "scale",
        "schema",
        "served",
        "status",
        "version",
    )

    def __init__(self, crd: Mapping[str, Any], version: Mapping[str, Any], *, minor: int) -> None:
        spec = crd.get("spec") or {}
        self.minor = minor
        self.group: str = spec.get("group") or ""
        self.kind: str = (spec.get("names") or {}).get("kind") or ""
        self.version: str = version.get("name") or ""
        self.api_version = f"{self.group}/{self.version}"
        self.namespaced = spec.get("scope") == "Namespaced"
        self.served = bool(version.get("served"))
        self.preserve = bool(spec.get("preserveUnknownFields"))
        subresources = version.get("subresources") or {}
        self.status = subresources.get("status") is not None
        self.scale: Mapping[str, Any] | None = subresources.get("scale")
        schema: Schema | None = (version.get("schema") or {}).get("openAPIV3Schema")
        self.schema = schema if schema is None or self.preserve else with_pruned_defaults(schema)
        self.defaulter = Defaulter(self.schema)
        self.embeds = has_embedded(self.schema)
        self.has_rules = self.has_lists = False
        self.rules: RuleTree | None = None  # made when the first object comes
        for node in spine(self.schema):
            self.has_rules = self.has_rules or bool(node.get("x-kubernetes-validations"))
            self.has_lists = self.has_lists or "x-kubernetes-list-type" in node


def versions_of(crd: Mapping[str, Any], *, minor: int) -> Iterator[Served]:
    """Yield each version of a decoded v1 CRD, the unserved ones too."""
    for version in (crd.get("spec") or {}).get("versions") or []:
        yield Served(crd, version, minor=minor)


def spine(schema: Schema | None) -> Iterator[Schema]:
    """Yield every node of a schema that stands outside of junctors."""
    stack: list[Any] = [schema]
    while stack:
        node = stack.pop()
        if not isinstance(node, dict):
            continue
        yield node
        stack += (node.get("properties") or {}).values()
        stack += (node.get("items"), node.get("additionalProperties"))


def with_pruned_defaults(schema: Schema) -> Schema:
    """Return a schema without what its default values have too much; the given one is left as is.

    A server does this to defaults before it uses them, also to those below additionalProperties,
    which it never checked. Source: PruneDefaults of apiextensions.
    """
    for path, value in list(_defaults(schema)):
        meta = any(key in _META_FIELDS for key, _ in path)
        if not meta and not isinstance(value, (dict, list)):
            continue
        pruned = _pruned(value, path, schema)
        if not same_go(pruned, value):
            schema = _replaced(schema, path, pruned)
    return schema


# A way through a schema: pairs of the key (or 0 for the items of a list) and the keyword.
_Way = tuple[tuple[Any, str], ...]


def _defaults(schema: Schema) -> Iterator[tuple[_Way, Any]]:
    stack: list[tuple[Any, _Way]] = [(schema, ())]
    while stack:
        node, way = stack.pop()
        if node.get("default") is not None:
            yield way, node["default"]
        for key, below in (node.get("properties") or {}).items():
            stack.append((below, (*way, (key, "properties"))))
        for key, keyword in ((0, "items"), ("*", "additionalProperties")):
            if isinstance(node.get(keyword), dict):
                stack.append((node[keyword], (*way, (key, keyword))))


def _pruned(value: Any, way: _Way, schema: Schema) -> Any:
    """Prune a default inside the smallest object that has it; None where nothing is left."""
    whole = value
    for key, keyword in reversed(way):
        whole = [whole] if keyword == "items" else {key: whole}
    if not isinstance(whole, dict):
        return value
    whole = coerce(whole, schema, root=True, drop_invalid=True).value
    found, _ = prune(whole, schema, root=True)
    for key, keyword in way:
        if keyword == "items":
            found = found[0] if isinstance(found, list) and found else None
        else:
            found = found.get(key) if isinstance(found, dict) else None
    return found


def _replaced(schema: Schema, way: _Way, default: Any) -> Schema:
    root = node = dict(schema)
    for key, keyword in way:
        if keyword == "properties":
            below = dict(node["properties"][key])
            node["properties"] = {**node["properties"], key: below}
        else:
            below = node[keyword] = dict(node[keyword])
        node = below
    if default is None:
        del node["default"]
    else:
        node["default"] = default
    return root
