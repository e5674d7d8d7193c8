"""The scale and status subresources, and whether the schema has what they work on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdlint import jsonpath
from crdlint.rule import SPEC, Problem, lint
from crdlint.rules.parts import hidden, schema_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crdlint.rule import Problems
    from crdlint.tree import Node

# Where each path of scale must begin; the last one may be absent.
PATHS = {
    "specReplicasPath": (".spec.",),
    "statusReplicasPath": (".status.",),
    "labelSelectorPath": (".spec.", ".status."),
}


@lint("scale-path", on="version.subresources", stage=SPEC)
def scale_path(node: Node, subresources: Mapping[str, Any]) -> Problems:
    """Refuse scale paths outside of spec and status; source: CRD subresources validation."""
    scale = (subresources or {}).get("scale")
    if scale is None or hidden(node, "subresources"):
        return
    for key, starts in PATHS.items():
        path = scale.get(key) or ""
        place = node.at("subresources", "scale", key)
        if not path:
            if key != "labelSelectorPath":
                message = f"scale needs it, such as {starts[0]}replicas"
                yield Problem(place, message, refused=["Required"])
        elif not path.startswith(starts):
            message = f"{path!r} does not start with {' or '.join(starts)}"
            yield Problem(place, message, refused=["Invalid"])


@lint("scale-path-unknown", "scale-path-type", on="version.subresources")
def scale_path_unknown(node: Node, subresources: Mapping[str, Any]) -> Problems:
    """Report scale paths that lead to nothing, or to no whole number; source: the scale registry.

    The server splits them at dots, so they cannot lead into a list.
    """
    scale = (subresources or {}).get("scale")
    schema = schema_of(node.data)
    if scale is None or schema is None or hidden(node, "subresources"):
        return
    for key, starts in PATHS.items():
        path = scale.get(key) or ""
        if not path.startswith(starts):
            continue
        place = node.at("subresources", "scale", key)
        consequence = "so autoscalers cannot find the pods"
        if key != "labelSelectorPath":
            consequence = "so kubectl scale and autoscalers fail"
        if "[" in path:
            message = f"{path} is split at dots, and no field has such a name, {consequence}"
            yield Problem(place, message, rule="scale-path-unknown")
            continue
        target = jsonpath.follow(schema, [("field", name) for name in path[1:].split(".")])
        if target.missing:
            message = f"{path} leads nowhere ({target.missing}), {consequence}"
            yield Problem(place, message, rule="scale-path-unknown")
            continue
        kind = target.schema.get("type") if target.schema else ""
        wanted = "string" if key == "labelSelectorPath" else "integer"
        if kind and kind != wanted and (kind, wanted) != ("number", "integer"):
            message = f"{path} is of type {kind}, and scale takes {wanted}, {consequence}"
            yield Problem(place, message, rule="scale-path-type")


@lint("status-subresource-without-status", "status-without-subresource", on="version")
def status_halves(node: Node) -> Problems:
    """Report a status subresource without a status field, and a status field without one."""
    schema = schema_of(node.data)
    if schema is None:
        return
    properties = schema.get("properties") or {}
    enabled = (node.get("subresources") or {}).get("status") is not None
    if enabled and "status" not in properties:
        if not _keeps_all(schema):
            message = "the schema has no status, so whatever a controller writes there is pruned"
            place = node.at("subresources", "status")
            yield Problem(place, message, rule="status-subresource-without-status")
    elif "status" in properties and not enabled:
        message = (
            "every user who may edit the object may edit its status, and every update of it"
            " counts as a new generation"
        )
        place = node.at("schema", "openAPIV3Schema", "properties", "status")
        yield Problem(place, message, rule="status-without-subresource")


@lint("status-required", on="root.required")
def status_required(node: Node, required: list[str]) -> Problems:
    """Report a resource of which no object can be created; source: PrepareForCreate.

    With the status subresource the server drops the status of a new object, a default included,
    before it validates.
    """
    version = node.version
    enabled = version is not None and (version.get("subresources") or {}).get("status") is not None
    if enabled and "status" in required:
        message = "status is dropped from new objects before they are checked: each is refused"
        yield Problem(node.at("required", required.index("status")), message)


def _keeps_all(schema: Mapping[str, Any]) -> bool:
    return bool(schema.get(jsonpath.PRESERVE) or schema.get("additionalProperties"))
