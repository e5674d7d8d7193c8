"""What may stand in allOf, anyOf, oneOf and not: value validations only.

Source: validateNestedValueValidation and validateStructuralCompleteness.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdlint.keywords import HOLDS, JUNCTORS, ZERO
from crdlint.kubernetes import JUNCTOR_ADDITIONAL_PROPERTIES_FALSE
from crdlint.rule import STRUCTURAL, Problem, lint
from crdlint.rules.structural import has_items, is_zero, unseen_in_junctor
from crdlint.tree import held

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from crdlint.document import Path
    from crdlint.rule import Problems
    from crdlint.tree import Node

STRUCTURE = (
    "type",
    "additionalProperties",
    "default",
    "title",
    "description",
    "nullable",
    "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-embedded-resource",
    "x-kubernetes-int-or-string",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-list-type",
    "x-kubernetes-map-type",
    "x-kubernetes-validations",
)


@lint("junctor-keyword", on="junctor", stage=STRUCTURAL)
def junctor_keyword(node: Node) -> Problems:
    """Refuse structure inside a junctor; it belongs to the schema around it."""
    found = [key for key in STRUCTURE if key in node.data]
    if not found or exempt(node) or unseen_in_junctor(node):
        return
    for key in found:
        value = node.data[key]
        if key in ZERO and value == ZERO[key]:
            continue
        if key == "additionalProperties" and _false_is_free(node, value):
            continue
        if value == [] and key.endswith(("list-map-keys", "validations")):
            continue
        junctor = next(step for step in _steps_up(node) if step in JUNCTORS)
        message = f"cannot stand inside {junctor}"
        yield Problem(node.at(key), message, refused=["Forbidden"])


def _false_is_free(node: Node, value: Any) -> bool:
    return value is False and node.crd.minor >= JUNCTOR_ADDITIONAL_PROPERTIES_FALSE


def _steps_up(node: Node | None) -> Iterator[str | int]:
    while node is not None:
        yield node.step[0]
        node = node.parent


def exempt(node: Node) -> bool:
    """Tell whether the node is part of an int-or-string pattern that the server lets through.

    These are `anyOf: [{type: integer}, {type: string}]` in this order and nothing else, on a
    node outside of junctors, or the same in its `allOf[0]`.
    """
    above = node.parent
    if above is None or node.step[0] != "anyOf":
        return False
    if above.junctor and not (
        above.step == ("allOf", 0) and above.parent is not None and not above.parent.junctor
    ):
        return False
    return _is_int_or_string(above.get("anyOf"))


def _is_int_or_string(branches: Any) -> bool:
    return len(branches) == 2 and all(
        branch.get("type") == kind
        and all(key == "type" or is_zero(key, value, spine=False) for key, value in branch.items())
        for branch, kind in zip(branches, ("integer", "string"), strict=True)
    )


@lint("junctor-metadata", on="junctor.properties", stage=STRUCTURAL)
def junctor_metadata(node: Node, properties: dict[str, Any]) -> Problems:
    """Refuse any property called metadata in a junctor, at any depth."""
    if "metadata" in properties and not unseen_in_junctor(node):
        message = "no property called metadata may stand inside a junctor"
        yield Problem(node.at("properties", "metadata"), message, refused=["Forbidden"])


@lint("junctor-incomplete", on="root", stage=STRUCTURAL)
def junctor_incomplete(node: Node) -> Problems:
    """Refuse junctors of the root that name fields which the schema does not declare.

    The server looks at junctors of the root only.
    """
    for key in JUNCTORS:
        if key in node.data:
            for way, branch in held(key, node.data[key]):
                yield from _missing(node, branch, node.data, way, ())


def _missing(
    root: Node, branch: Mapping[str, Any], spine: Mapping[str, Any], way: Path, path: Path
) -> Problems:
    """Yield what a branch at `way` below the root names beyond the spine at `path`."""
    for key in JUNCTORS:
        if key in branch:
            for step, inner in held(key, branch[key]):
                yield from _missing(root, inner, spine, (*way, *step), path)
    for key in ("items", "properties"):
        if key not in branch or (HOLDS[key] == "named" and not branch[key]):
            continue
        if key == "items" and not has_items(branch):
            continue
        for step, inner in held(key, branch[key]):
            place = (*path, *step)
            below = spine.get("items") if key == "items" else (spine.get(key) or {}).get(step[1])
            if isinstance(below, dict):
                yield from _missing(root, inner, below, (*way, *step), place)
            else:
                what = "items" if key == "items" else repr(step[1])
                message = f"{what} is named here, but not declared outside of the junctor"
                yield Problem(
                    root.at(*way, *step), message, refused=[("Required", root.at(*place))]
                )
