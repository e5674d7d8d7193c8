"""What the checks of a version's parts share: its schema, and parts that stand for all versions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crdlint.tree import Node


def schema_of(version: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the schema of a version, or None where it has none."""
    schema = (version.get("schema") or {}).get("openAPIV3Schema")
    return schema if isinstance(schema, dict) else None


def hidden(node: Node, part: str) -> bool:
    """Tell whether the server has looked at a part in the first version, where all agree on it."""
    return node.step[-1] != 0 and node.crd.hoisted(part)
