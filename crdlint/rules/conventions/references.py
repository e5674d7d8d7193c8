"""Fields that point at other objects."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from crdlint.rule import Problem, lint
from crdlint.rules.conventions.parts import own, within

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crdlint.rule import Problems
    from crdlint.tree import Node

_REFERENCE = re.compile(r"(?:^r|[a-z]R)ef(?:erence)?s?$")


@lint("cross-namespace-reference", on="spine.properties")
def cross_namespace_reference(node: Node, properties: Mapping[str, Any]) -> Problems:
    """Note references out of a namespace, which need the consent of the other one."""
    if node.crd.spec.get("scope") != "Namespaced":
        return
    for name, schema in properties.items():
        target = schema.get("items") if schema.get("type") == "array" else schema
        if not isinstance(target, dict) or not _REFERENCE.search(name):
            continue
        if "namespace" in (target.get("properties") or {}) and _chosen(node):
            message = "who may write in one namespace makes the controller read in any other"
            yield Problem(node.at("properties", name), message)


def _chosen(node: Node) -> bool:
    """Tell whether users write what stands here."""
    return own(node) and not within(node, "status")
