"""What makes a schema structural: every field has one type, given outside of junctors.

Source: ValidateStructural, and https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#specifying-a-structural-schema
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdlint import goregex
from crdlint.keywords import EMPTY, ZERO
from crdlint.rule import ROOT, STRUCTURAL, Problem, lint

if TYPE_CHECKING:
    from crdlint.rule import Problems
    from crdlint.tree import Node

PRESERVE = "x-kubernetes-preserve-unknown-fields"
INT_OR_STRING = "x-kubernetes-int-or-string"
EMBEDDED = "x-kubernetes-embedded-resource"


def has_items(data: Any) -> bool:
    """Tell whether items hold a schema (a scalar such as `items: true` decodes to none)."""
    return isinstance(data.get("items"), dict)


@lint("type-required", on="spine", stage=STRUCTURAL)
def type_required(node: Node) -> Problems:
    """Refuse spine nodes without a type; source: validateStructuralInvariants."""
    data = node.data
    if data.get("type"):
        return
    if data.get(INT_OR_STRING) or data.get(PRESERVE) or data.get(EMBEDDED):
        return
    what = (
        "the root"
        if node.is_root
        else "the items of a list"
        if node.step[0] == "items"
        else "a field"
        if node.step[0] == "properties"
        else "the values of a map"
    )
    yield Problem(node.at(), f"{what} needs a type", refused=[("Required", node.at("type"))])


@lint("root-type", on="root.type", stage=STRUCTURAL)
def root_type(node: Node, kind: str) -> Problems:
    """Refuse roots that are no objects; source: validateStructuralInvariants."""
    if kind and kind != "object":
        message = f"a resource is an object, but this is {kind!r}"
        yield Problem(node.at("type"), message, refused=["Invalid"])


@lint("items-required", on="spine.type", stage=STRUCTURAL)
def items_required(node: Node, kind: str) -> Problems:
    """Refuse arrays without items; source: validateStructuralInvariants."""
    if kind == "array" and not has_items(node.data):
        message = "an array needs items, or nothing is known of what it holds"
        yield Problem(node.at("type"), message, refused=[("Required", node.at("items"))])


@lint("root-additional-properties", on="root.additionalProperties", stage=STRUCTURAL)
def root_additional_properties(node: Node, _: Any) -> Problems:
    """Refuse a resource that is a map; source: validateStructuralInvariants."""
    message = "the root is a resource, not a map"
    yield Problem(node.at("additionalProperties"), message, refused=["Forbidden"])


@lint("int-or-string-alone", on=f"spine.{INT_OR_STRING}", stage=STRUCTURAL)
def int_or_string_alone(node: Node, int_or_string: bool) -> Problems:
    """Refuse other extensions beside int-or-string; source: validateExtensions."""
    if not int_or_string:
        return
    for key in (PRESERVE, EMBEDDED):
        if node.get(key):
            message = f"cannot be true beside {INT_OR_STRING}"
            yield Problem(
                node.at(key), message, refused=["Invalid"], related=[(node.at(INT_OR_STRING), "")]
            )


@lint("embedded-resource-shape", on=f"spine.{EMBEDDED}", stage=STRUCTURAL)
def embedded_resource_shape(node: Node, embedded: bool) -> Problems:
    """Refuse embedded resources that are no objects with fields; source: structural invariants."""
    if not embedded:
        return
    kind = node.get("type")
    if kind != "object":
        message = f"an embedded resource is an object, but this is {kind!r}"
        if kind:
            yield Problem(node.at("type"), message, refused=["Invalid"])
        else:
            message = "an embedded resource needs type: object"
            yield Problem(node.at(EMBEDDED), message, refused=[("Required", node.at("type"))])
    if node.get("additionalProperties") is not None:
        place = node.at("additionalProperties")
        yield Problem(place, "an embedded resource is not a map", refused=["Forbidden"])
    if not node.get(PRESERVE) and not node.get("properties"):
        message = f"an embedded resource needs properties or {PRESERVE}: true"
        yield Problem(node.at(EMBEDDED), message, refused=[("Required", node.at("properties"))])


@lint("metadata-field-type", on="spine.properties", stage=STRUCTURAL)
def metadata_field_type(node: Node, properties: dict[str, Any]) -> Problems:
    """Refuse wrong types of kind, apiVersion, metadata in resources; source: same as above."""
    if not (node.is_root or node.get(EMBEDDED)):
        return
    for name, wanted in (("kind", "string"), ("apiVersion", "string"), ("metadata", "object")):
        if name in properties and (kind := properties[name].get("type")) != wanted:
            place = node.at("properties", name, "type")
            message = f"must be {wanted} in a resource, not {kind!r}"
            yield Problem(place, message, refused=["Invalid"])


@lint("root-metadata-restricted", on="root.properties", stage=STRUCTURAL)
def root_metadata_restricted(node: Node, properties: dict[str, Any]) -> Problems:
    """Refuse to restrict metadata beyond name and generateName; source: metadata invariants."""
    if "metadata" not in properties:
        return
    metadata = properties["metadata"]
    for key, value in metadata.items():
        if key in ("type", "default") or is_zero(key, value, spine=True):
            continue
        if key == "properties":
            others = [name for name in value if name not in ("name", "generateName")]
            if not others:
                continue
            place = node.at("properties", "metadata", key, others[0])
        else:
            place = node.at("properties", "metadata", key)
        message = "a CRD may only restrict name and generateName of object metadata"
        yield Problem(place, message, refused=[("Forbidden", node.at("properties", "metadata"))])
        return


def is_zero(key: str, value: Any, *, spine: bool) -> bool:
    """Tell whether a keyword leaves no trace in the structural schema the server builds."""
    if key in ZERO:
        return bool(value == ZERO[key])
    if key == "properties":
        return spine and not value
    if key == "additionalProperties":
        return not spine and value is False
    return key in _REBUILT and not value


# Lists that the conversion rebuilds item by item, and what it refuses before: empty leaves nothing.
_REBUILT = EMPTY - {"required", "x-kubernetes-list-map-keys", "x-kubernetes-validations"} | {"$ref"}


@lint("pattern-invalid", on="schema.pattern", stage=STRUCTURAL)
def pattern_invalid(node: Node, pattern: str) -> Problems:
    """Refuse what Go's regexp cannot compile; source: validateValueValidation."""
    if not pattern:
        return
    try:
        goregex.check(pattern)
    except goregex.RegexError as error:
        if not (node.junctor and unseen_in_junctor(node)):
            message = f"Go cannot compile {pattern!r}: {error.message}"
            yield Problem(node.at("pattern"), message, refused=["Invalid"])


def unseen_in_junctor(node: Node) -> bool:
    """Tell whether the server does not look here: below additionalProperties in a junctor."""
    while node.junctor and node.parent is not None:
        if node.step[0] == "additionalProperties" and node.parent.junctor:
            return True
        node = node.parent
    return False


@lint("root-nullable", on="root.nullable", stage=ROOT)
def root_nullable(node: Node, nullable: bool) -> Problems:
    """Refuse a nullable resource; source: validateCustomResourceDefinitionValidation."""
    if nullable:
        yield Problem(node.at("nullable"), "a resource is never null", refused=["Forbidden"])


# What the server allows at the root beside the status subresource, in the order of its struct.
_STATUS_ROOT_ALLOWED = frozenset(
    (
        "description",
        "type",
        "format",
        "title",
        "maximum",
        "exclusiveMaximum",
        "minimum",
        "exclusiveMinimum",
        "maxLength",
        "minLength",
        "pattern",
        "maxItems",
        "minItems",
        "uniqueItems",
        "multipleOf",
        "required",
        "items",
        "properties",
        "externalDocs",
        "example",
        PRESERVE,
        "x-kubernetes-validations",
    )
)
_BEFORE_TYPE = ("id", "$schema", "$ref")


@lint("status-root-keyword", on="root", stage=ROOT)
def status_root_keyword(node: Node) -> Problems:
    """Refuse root keywords that the status subresource would lose.

    The server stops at the first one, in the order of its struct; a wrong type comes before
    nearly all. Source: validateCustomResourceDefinitionValidation.
    """
    if not status_enabled(node):
        return
    bad = [
        key
        for key, value in node.data.items()
        if key not in _STATUS_ROOT_ALLOWED and not (key in ZERO and value == ZERO[key])
    ]
    kind = node.get("type")
    if kind and kind != "object" and not any(key in _BEFORE_TYPE for key in bad):
        message = f"with the status subresource the root must be an object, not {kind!r}"
        yield Problem(node.at("type"), message, refused=["Invalid"])
    elif bad:
        message = "cannot stand at the root beside the status subresource"
        yield Problem(node.at(bad[0]), message, refused=[("Invalid", node.at())])


def status_enabled(root: Node) -> bool:
    """Tell whether the server takes the status subresource to be on for this schema."""
    crd, version = root.crd, root.version
    parts = [(v.get("name"), v.get("subresources") or {}) for v in crd.versions]
    if crd.hoisted("schema"):
        return any(part.get("status") is not None for _, part in parts)
    name = version.get("name") if version else ""
    # Versions with the same name are refused elsewhere; the server looks at the first of them.
    return next((p.get("status") is not None for n, p in parts if n == name), False)
