"""Lists and maps: who owns what in them, and what an item must have."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from crdlint.rule import Problem, lint
from crdlint.rules.conventions.parts import LIST_TYPE, TYPE_META, name_of, own, within

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crdlint.rule import Problems
    from crdlint.tree import Node

PRESERVE = "x-kubernetes-preserve-unknown-fields"
EMBEDDED = "x-kubernetes-embedded-resource"
_DEMANDS = ("required", "minProperties", "anyOf", "oneOf", "allOf", "x-kubernetes-validations")
# Fields by which people tell the items of a list apart, best first.
_KEYS = ("name", "type", "key", "id")
# What the conventions keep maps for, by how the name of the field ends.
_DATA = re.compile(
    r"(?:labels?|annotations?|selectors?|matchLabels|data|limits|requests|capacity|allocatable|"
    r"param(?:eter)?s|options|attributes|headers|env|config|values|variables|properties|args|tags|"
    r"hard|used|overhead|metadata)$",
    re.IGNORECASE,
)


@lint("list-type-missing", on="spine.items")
def list_type_missing(node: Node, items: Any) -> Problems:
    """Note lists of which server-side apply and CEL know nothing."""
    if node.get(LIST_TYPE) is not None or not isinstance(items, dict) or _in_atomic(node):
        return
    if not own(node):
        return
    key = _key(items)
    message = "no list type, so the list is one value to server-side apply and CEL"
    cure = ""
    if items.get("type") == "object":
        message = "no list type: in server-side apply two owners overwrite each other's items"
        if key:
            cure = f"Declare {LIST_TYPE}: map with the key {key}, or say atomic."
    yield Problem(node.at(), message, help=cure)


def _in_atomic(node: Node) -> bool:
    """Tell whether a list is part of a larger value that apply never looks into."""
    part = node
    while (parent := part.parent) is not None and parent.kind == "schema":
        if part.step == ("items",) and parent.get(LIST_TYPE) != "map":
            return True
        if parent.get("x-kubernetes-map-type") == "atomic":
            return True
        part = parent
    return False


def _key(items: Mapping[str, Any]) -> str:
    """Return the field that can be the key of a list map, or ""."""
    fields, required = items.get("properties") or {}, items.get("required") or []
    for name in _KEYS:
        if name in required and (fields.get(name) or {}).get("type") == "string":
            return name
    return ""


@lint("map-of-objects", "map-field", on="spine.additionalProperties")
def maps(node: Node, values: Any) -> Problems:
    """Note maps of objects, and maps that hold no labels, selectors or data."""
    if not isinstance(values, dict) or not own(node):
        return
    if values.get("type") == "object" and (values.get("properties") or {}):
        message = "names that users choose stand where fields do; Kubernetes lists named objects"
        yield Problem(node.at(), message, rule="map-of-objects")
    elif name_of(node) and not within(node, "status") and not _DATA.search(name_of(node)):
        message = "no schema says which keys there are, so a misspelt one is kept without a word"
        yield Problem(node.at(), message, rule="map-field")


@lint("list-item-empty", on="spine.items")
def list_item_empty(node: Node, items: Any) -> Problems:
    """Note lists of objects none of whose fields is required."""
    if not isinstance(items, dict) or items.get("type") != "object" or within(node, "status"):
        return
    demands = any(items.get(key) for key in _DEMANDS)
    if items.get("properties") and not demands and own(node):
        message = "{} is a valid item, so a misplaced dash makes an item more"
        yield Problem(node.at("items"), message)


@lint("unknown-fields-kept", on=f"spine.{PRESERVE}")
def unknown_fields_kept(node: Node, keeps: bool) -> Problems:
    """Note parts of the schema in which every typo is kept; the root has a rule of its own."""
    if not keeps or node.is_root or node.get(EMBEDDED):
        return
    if set(node.get("properties") or {}) - TYPE_META:
        message = "a misspelt field beside the declared ones is kept, and never reported"
    else:
        message = "nothing below is checked or pruned, and no tool can explain what to write there"
    yield Problem(node.at(PRESERVE), message)
