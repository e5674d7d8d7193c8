"""List and map topology: x-kubernetes-list-type, -list-map-keys and -map-type.

Source: ValidateCustomResourceDefinitionOpenAPISchema, and
https://kubernetes.io/docs/reference/using-api/server-side-apply/#merge-strategy
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdlint.kubernetes import SET_OF_NON_SCALARS_WARNING
from crdlint.rule import KEYWORDS, WARN, Problem, lint

if TYPE_CHECKING:
    from crdlint.rule import Problems
    from crdlint.tree import Node

LIST_TYPE = "x-kubernetes-list-type"
MAP_KEYS = "x-kubernetes-list-map-keys"
MAP_TYPE = "x-kubernetes-map-type"


def _items(node: Node) -> dict[str, Any] | None:
    items = node.get("items")
    return items if isinstance(items, dict) else None


@lint("list-type", on=f"schema.{LIST_TYPE}", stage=KEYWORDS)
def list_type(node: Node, kind: str) -> Problems:
    """Refuse unknown list types, and list types on what is no array."""
    if kind not in ("atomic", "set", "map"):
        message = f"{kind!r} is no list type; there are atomic, set and map"
        yield Problem(node.at(LIST_TYPE), message, refused=["NotSupported"])
    if (actual := node.get("type") or "") != "array":
        yield _needs_type(node, LIST_TYPE, actual, "array")


@lint("map-type", on=f"schema.{MAP_TYPE}", stage=KEYWORDS)
def map_type(node: Node, kind: str) -> Problems:
    """Refuse unknown map types, and map types on what is no object."""
    if kind not in ("atomic", "granular"):
        message = f"{kind!r} is no map type; there are atomic and granular"
        yield Problem(node.at(MAP_TYPE), message, refused=["NotSupported"])
    if (actual := node.get("type") or "") != "object":
        yield _needs_type(node, MAP_TYPE, actual, "object")


def _needs_type(node: Node, key: str, actual: str, wanted: str) -> Problem:
    message = f"{key} needs type: {wanted}" + (f", not {actual!r}" if actual else "")
    refused = [("Invalid" if actual else "Required", node.at("type"))]
    return Problem(node.at(key), message, refused=refused)


@lint("set-items-not-atomic", on=f"schema.{LIST_TYPE}", stage=KEYWORDS)
def set_items_not_atomic(node: Node, kind: str) -> Problems:
    """Refuse sets whose items are merged field by field."""
    items = _items(node)
    if kind != "set" or items is None or node.get("type") != "array":
        return
    for wanted, key in (("array", LIST_TYPE), ("object", MAP_TYPE)):
        unset = items.get(key) is None
        if (
            items.get("type") == wanted
            and items.get(key) != "atomic"
            and not (unset and key == LIST_TYPE)
        ):
            message = f"a set of type {wanted} needs {key}: atomic on its items"
            place = node.at("items") if unset else node.at("items", key)
            yield Problem(place, message, refused=[("Invalid", node.at("items", key))])


@lint("list-map-keys-without-map", on=f"schema.{MAP_KEYS}", stage=KEYWORDS)
def list_map_keys_without_map(node: Node, keys: list[str]) -> Problems:
    """Refuse map keys on a list that is no map."""
    kind = node.get(LIST_TYPE)
    if keys and kind != "map":
        message = f"{', '.join(keys)}: keys need {LIST_TYPE}: map" + (
            f", not {kind!r}" if kind is not None else ""
        )
        refused = [("Required" if kind is None else "Invalid", node.at(LIST_TYPE))]
        yield Problem(node.at(MAP_KEYS), message, refused=refused)


@lint("list-map-items", on=f"schema.{LIST_TYPE}", stage=KEYWORDS)
def list_map_items(node: Node, kind: str) -> Problems:
    """Refuse list maps whose items are not objects of one schema."""
    if kind != "map":
        return
    if node.get("items") is None:
        message = "a list of type map needs items"
        yield Problem(node.at(LIST_TYPE), message, refused=[("Required", node.at("items"))])
    elif (items := _items(node)) is None:
        message = "a list of type map needs one schema for all items"
        yield Problem(node.at("items"), message, refused=["Invalid"])
    elif (actual := items.get("type")) != "object":
        message = f"a list of type map holds objects, not {actual or 'untyped items'}"
        place = node.at("items", "type") if actual else node.at("items")
        yield Problem(place, message, refused=[("Invalid", node.at("items", "type"))])


@lint("list-map-keys", on=f"schema.{LIST_TYPE}", stage=KEYWORDS)
def list_map_keys(node: Node, kind: str) -> Problems:
    """Refuse list maps without keys, and keys that are undeclared, repeated or no scalars."""
    if kind != "map":
        return
    keys = node.get(MAP_KEYS) or []
    if not keys:
        message = f"a list of type map needs {MAP_KEYS}"
        yield Problem(node.at(LIST_TYPE), message, refused=[("Required", node.at(MAP_KEYS))])
    items = _items(node)
    if items is None or items.get("type") != "object":
        return
    properties = items.get("properties") or {}
    refused = [("Invalid", node.at(MAP_KEYS))]
    for i, key in enumerate(keys):
        if key not in properties:
            message = f"{key!r} is no property of the items"
            yield Problem(node.at(MAP_KEYS, i), message, refused=refused)
        elif (actual := properties[key].get("type")) in ("array", "object"):
            place = node.at("items", "properties", key, "type")
            message = f"a key of a list map is a scalar, not {actual}"
            related = [(node.at(MAP_KEYS, i), "named as a key here")]
            yield Problem(place, message, refused=["Invalid"], related=related)
        if key in keys[:i]:
            message = f"{key!r} stands here twice"
            yield Problem(node.at(MAP_KEYS, i), message, refused=refused)


@lint("list-map-key-optional", on=f"schema.{LIST_TYPE}", stage=KEYWORDS)
def list_map_key_optional(node: Node, kind: str) -> Problems:
    """Refuse keys of list maps that an item may lack: they need `required` or a default."""
    for key, i, schema, required in _declared_keys(node, kind):
        if key not in required and schema.get("default") is None:
            here = node.at("items", "properties", key)
            message = f"{key!r} is a key of this list map, but neither required nor defaulted"
            yield Problem(
                here,
                message,
                refused=[("Required", node.at("items", "properties", key, "default"))],
                related=[(node.at(MAP_KEYS, i), "named as a key here")],
            )


@lint("list-item-nullable", on=f"schema.{LIST_TYPE}", stage=KEYWORDS)
def list_item_nullable(node: Node, kind: str) -> Problems:
    """Refuse null as an item of a set or map, or as a key."""
    items = _items(node)
    if kind in ("set", "map") and items is not None and items.get("nullable"):
        message = f"items of a list of type {kind} cannot be null"
        yield Problem(node.at("items", "nullable"), message, refused=["Forbidden"])
    for key, _, schema, _ in _declared_keys(node, kind):
        if schema.get("nullable"):
            place = node.at("items", "properties", key, "nullable")
            message = f"{key!r} is a key of a list map and cannot be null"
            yield Problem(place, message, refused=["Forbidden"])


def _declared_keys(node: Node, kind: str) -> list[tuple[str, int, dict[str, Any], list[str]]]:
    """Return each declared key of a list map: name, index, schema, and what items require."""
    items = _items(node)
    if kind != "map" or items is None:
        return []
    properties, required = items.get("properties") or {}, items.get("required") or []
    keys = node.get(MAP_KEYS) or []
    return [(key, i, properties[key], required) for i, key in enumerate(keys) if key in properties]


@lint("set-of-non-scalars", on=f"schema.{LIST_TYPE}", stage=WARN)
def set_of_non_scalars(node: Node, kind: str) -> Problems:
    """Warn of sets that server-side apply and CEL do not support; source: WarningsOnCreate."""
    items = _items(node)
    if kind == "set" and items is not None and items.get("type") in ("object", "array"):
        message = f"neither server-side apply nor CEL supports a set of type {items['type']}"
        refused = ["Warning"] if node.crd.minor >= SET_OF_NON_SCALARS_WARNING else []
        yield Problem(node.at(LIST_TYPE), message, refused=refused)
