"""Fields of objects: required, defaults, embedded metadata, and what pruning takes away."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdlint.rule import Problem, lint

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crdlint.rule import Problems
    from crdlint.tree import Node

PRESERVE = "x-kubernetes-preserve-unknown-fields"
EMBEDDED = "x-kubernetes-embedded-resource"
TYPE_META = frozenset(("apiVersion", "kind", "metadata"))


def keeps_unknown(data: Mapping[str, Any]) -> bool:
    """Tell whether pruning keeps fields of this object that are not declared."""
    extra = data.get("additionalProperties")
    return bool(data.get(PRESERVE)) or (extra is not None and extra is not False)


@lint("required-undeclared", on="spine.required")
def required_undeclared(node: Node, required: list[str]) -> Problems:
    """Report required fields that pruning removes before they are checked."""
    if keeps_unknown(node.data) or _kept_above(node):
        return
    declared = node.get("properties") or {}
    known = TYPE_META if node.is_root or node.get(EMBEDDED) else frozenset()
    for i, name in enumerate(required):
        if name not in declared and name not in known:
            message = f"{name!r} is required but not declared, so it is pruned and always missing"
            yield Problem(node.at("required", i), message)


def _kept_above(node: Node) -> bool:
    """Tell whether an ancestor keeps unknown fields: pruning of declared parts goes on below."""
    return node.get("type") != "object" and not node.get("properties")


@lint("required-with-default", on="spine.required")
def required_with_default(node: Node, required: list[str]) -> Problems:
    """Note required fields with a default: the default fills them in, so none is ever missing."""
    properties = node.get("properties") or {}
    for name in required:
        schema = properties.get(name)
        if isinstance(schema, dict) and schema.get("default") is not None:
            place = node.at("properties", name, "default")
            message = "the field is required as well, which the default makes pointless"
            related = [(node.at("required", required.index(name)), "required here")]
            yield Problem(place, message, related=related)


@lint("embedded-metadata-pruned", on="spine.properties")
def embedded_metadata_pruned(node: Node, properties: Mapping[str, Any]) -> Problems:
    """Report object metadata without fields, as in a template: labels written there are lost."""
    if node.is_root or node.get(EMBEDDED) or "spec" not in properties:
        return
    metadata = properties.get("metadata")
    if not isinstance(metadata, dict) or metadata.get("type") != "object":
        return
    if keeps_unknown(metadata) or metadata.get("properties") or metadata.get(EMBEDDED):
        return
    message = "declares no fields, so labels, annotations and names written here are pruned"
    yield Problem(node.at("properties", "metadata"), message)


@lint("opaque-root", "unknown-fields-kept-root", on="root")
def opaque_root(node: Node) -> Problems:
    """Warn of a resource of which nothing is declared, or at whose top anything is kept."""
    declared = set(node.get("properties") or {}) - TYPE_META
    if node.get(PRESERVE) and not declared:
        message = "keeps every field and declares none, so nothing is ever validated or pruned"
        yield Problem(node.at(PRESERVE), message)
    elif node.get(PRESERVE):
        message = "a misspelt or misplaced top-level field is kept, and never reported"
        yield Problem(node.at(PRESERVE), message, rule="unknown-fields-kept-root")
    elif not declared and not node.get(PRESERVE) and node.get("type") == "object":
        yield Problem(node.at(), "declares no field but metadata, so all else is pruned")
