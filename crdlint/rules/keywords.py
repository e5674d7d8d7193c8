"""Keywords that a CRD's schema may not use, or not there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdlint.rule import CONVERT, KEYWORDS, Problem, lint

if TYPE_CHECKING:
    from crdlint.rule import Problems
    from crdlint.tree import Node

TYPES = ("array", "boolean", "integer", "number", "object", "string")
META_FIELDS = frozenset(("metadata", "kind", "apiVersion"))


@lint(
    "unsupported-keyword",
    on="schema.id schema.$ref schema.patternProperties schema.additionalItems"
    " schema.dependencies schema.definitions",
    stage=KEYWORDS,
)
def unsupported_keyword(node: Node, _: Any) -> Problems:
    """Refuse JSON Schema keywords that CRDs do not have; source: specStandardValidatorV3."""
    for key in ("id", "patternProperties", "definitions"):
        if node.get(key):
            yield _unsupported(node, key)
    for key in ("$ref", "additionalItems", "dependencies"):
        if node.get(key) is not None:
            yield _unsupported(node, key)


def _unsupported(node: Node, key: str) -> Problem:
    return Problem(node.at(key), "is no keyword of a CRD", refused=["Forbidden"])


@lint("items-list", on="schema.items", stage=KEYWORDS)
def items_list(node: Node, items: Any) -> Problems:
    """Refuse a list of schemas as items; source: specStandardValidatorV3."""
    if isinstance(items, list) and items:
        message = f"a list of {len(items)} schemas is refused; all items share one schema"
        yield Problem(node.at("items"), message, refused=["Forbidden"])


CONVERTIBLE = (
    "schema.id schema.$schema schema.$ref schema.patternProperties schema.dependencies"
    " schema.additionalItems schema.definitions schema.items"
    " schema.x-kubernetes-preserve-unknown-fields"
)


@lint("schema-not-convertible", on=CONVERTIBLE, stage=CONVERT)
def schema_not_convertible(node: Node, _: Any) -> Problems:
    """Refuse what has no place in a structural schema; source: structural schema conversion.

    The server says it at the root, and only when it has nothing else to say of the schema.
    """
    keys = [k for k in _FILLED if node.get(k)]
    keys += [k for k in ("additionalItems",) if node.get(k) is not None]
    if isinstance(node.get("items"), list) and node.get("items"):
        keys.append("items")
    if node.get("x-kubernetes-preserve-unknown-fields") is False:
        keys.append("x-kubernetes-preserve-unknown-fields")
    for key in keys[:1]:
        message = "cannot be part of a structural schema"
        yield Problem(node.at(key), message, refused=[("Invalid", node.root.at())])


_FILLED = ("id", "$schema", "$ref", "patternProperties", "dependencies", "definitions")


@lint("type-not-supported", on="schema.type", stage=KEYWORDS)
def type_not_supported(node: Node, kind: str) -> Problems:
    """Refuse unknown types; source: specStandardValidatorV3."""
    if kind and kind not in TYPES:
        refused = ["NotSupported", "Forbidden"] if kind == "null" else ["NotSupported"]
        message = f"{kind!r} is no type; the API server knows {', '.join(TYPES)}"
        yield Problem(node.at("type"), message, refused=refused)


@lint("unique-items", on="schema.uniqueItems", stage=KEYWORDS)
def unique_items(node: Node, unique: bool) -> Problems:
    """Refuse uniqueItems: true, whose check is quadratic; source: CRD schema validation."""
    if unique:
        message = "true is refused, since comparing all items takes quadratic time"
        yield Problem(node.at("uniqueItems"), message, refused=["Forbidden"])


@lint("properties-and-additional-properties", on="schema.additionalProperties", stage=KEYWORDS)
def properties_and_additional_properties(node: Node, extra: Any) -> Problems:
    """Refuse a schema or false beside properties; source: CRD schema validation."""
    if node.get("properties") and extra is not True:
        message = "cannot stand beside properties: an object is either a struct or a map"
        related = [(node.at("properties"), "properties here")]
        yield Problem(
            node.at("additionalProperties"), message, refused=["Forbidden"], related=related
        )


@lint(
    "preserve-unknown-fields-false",
    on="schema.x-kubernetes-preserve-unknown-fields",
    stage=KEYWORDS,
)
def preserve_unknown_fields_false(node: Node, preserve: bool) -> Problems:
    """Refuse an explicit false; source: CRD schema validation."""
    if preserve is False:
        place = node.at("x-kubernetes-preserve-unknown-fields")
        yield Problem(place, "false is refused; only true may be written", refused=["Invalid"])


def meta_field_above(node: Node) -> tuple[Node, bool] | None:
    """Return the outermost metadata, kind or apiVersion node at or above, and if it is the root's.

    Such a field belongs to the root of a version or to an embedded resource.
    """
    found = None
    while node.parent is not None and node.parent.kind == "schema":
        above = node.parent
        if (
            node.step[0] == "properties"
            and node.step[1] in META_FIELDS
            and (above.is_root or above.get("x-kubernetes-embedded-resource"))
        ):
            found = node, above.is_root
        node = above
    return found


@lint("default-in-metadata", on="schema.default", stage=KEYWORDS)
def default_in_metadata(node: Node, _: Any) -> Problems:
    """Refuse defaults below the root's metadata, and in maps of any object metadata.

    Source: specStandardValidatorV3.withForbiddenDefaults.
    """
    meta = meta_field_above(node)
    if meta is None:
        return
    field, at_root = meta
    if at_root:
        message = f"no default may stand in the {field.step[1]} of the resource itself"
        yield Problem(node.at("default"), message, refused=["Forbidden"])
    elif _in_map_below_meta(node):
        message = "no default may stand in a map of object metadata"
        yield Problem(node.at("default"), message, refused=["Forbidden"])


def _in_map_below_meta(node: Node) -> bool:
    """Tell whether a map (additionalProperties) stands between the node and a metadata field."""
    while node.parent is not None and node.parent.kind == "schema":
        if node.step[0] == "additionalProperties" and meta_field_above(node.parent):
            return True
        node = node.parent
    return False


@lint("embedded-resource-in-metadata", on="schema.x-kubernetes-embedded-resource", stage=KEYWORDS)
def embedded_resource_in_metadata(node: Node, embedded: bool) -> Problems:
    """Refuse resources embedded in metadata; source: specStandardValidatorV3."""
    if embedded and meta_field_above(node):
        place = node.at("x-kubernetes-embedded-resource")
        message = "no resource can be embedded in the metadata of a resource"
        yield Problem(place, message, refused=["Forbidden"])
