"""What users see: descriptions, columns, messages of rules, and defaults that they can rely on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdlint.rule import Problem, lint
from crdlint.rules.conventions.parts import TYPE_META, own
from crdlint.rules.parts import hidden, schema_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crdlint.rule import Problems
    from crdlint.tree import Node

COLUMNS = "additionalPrinterColumns"
RULES = "x-kubernetes-validations"
CREATED = ".metadata.creationTimestamp"


@lint("root-description-missing", on="root")
def root_description_missing(node: Node) -> Problems:
    """Note resources that `kubectl explain` says nothing of."""
    if not node.get("description"):
        message = "kubectl explain and generated clients say nothing of what the resource is for"
        yield Problem(node.at(), message)


@lint("description-missing", on="spine.properties")
def description_missing(node: Node, properties: Mapping[str, Any]) -> Problems:
    """Note fields that `kubectl explain` says nothing of."""
    whole = node.is_root or node.get("x-kubernetes-embedded-resource")
    for name, schema in properties.items():
        if schema.get("description") or (whole and name in TYPE_META) or not own(node):
            continue
        if not (node.is_root and name in ("spec", "status")):
            message = "kubectl explain and generated clients say nothing of what it is for"
            yield Problem(node.at("properties", name), message)


@lint("columns-missing", on="version")
def columns_missing(node: Node) -> Problems:
    """Note resources whose table shows a name and an age only."""
    schema = schema_of(node.data)
    if node.get(COLUMNS) or not node.get("served") or not schema or hidden(node, COLUMNS):
        return
    if "status" in (schema.get("properties") or {}):
        message = "kubectl get shows name and age only: users must open each object for its status"
        yield Problem(node.at(COLUMNS), message)


@lint("column-age-type", on=f"version.{COLUMNS}")
def column_age_type(node: Node, columns: list[Mapping[str, Any]]) -> Problems:
    """Note ages that are shown as points in time, and ages of something else."""
    if hidden(node, COLUMNS):
        return
    for i, column in enumerate(columns or []):
        path, name = column.get("jsonPath"), str(column.get("name") or "")
        if path == CREATED and column.get("type") != "date":
            message = f"type {column.get('type')} shows a point in time, and only date shows an age"
            yield Problem(node.at(COLUMNS, i, "type"), message)
        elif name.lower() == "age" and path != CREATED:
            message = f"the age of every other resource is that of {CREATED}, not of {path}"
            yield Problem(node.at(COLUMNS, i, "jsonPath"), message)


@lint("cel-message-missing", "cel-message-style", on=f"spine.{RULES}")
def cel_messages(node: Node, rules: list[Any]) -> Problems:
    """Note rules whose refusal users cannot understand."""
    for i, rule in enumerate(rules):
        message = rule.get("message") or ""
        if not message and not rule.get("messageExpression"):
            said = "users who are refused read `failed rule: ` and the expression"
            yield Problem(node.at(RULES, i), said, rule="cel-message-missing")
        elif message.rstrip().endswith(".") and not message.rstrip().endswith(".."):
            said = "errors are joined by commas, so the full stop stands inside a sentence"
            yield Problem(node.at(RULES, i, "message"), said, rule="cel-message-style")


@lint("default-out-of-reach", on="spine.properties")
def default_out_of_reach(node: Node, properties: Mapping[str, Any]) -> Problems:
    """Note objects whose defaults apply only where somebody writes the object.

    Only where all fields have one is the object without fields sure to mean the same.
    """
    required = node.get("required") or ()
    for name, schema in properties.items():
        if schema.get("type") != "object" or schema.get("default") is not None or name in required:
            continue
        if node.is_root and name in (*TYPE_META, "spec", "status"):
            continue
        fields = schema.get("properties") or {}
        defaults = [key for key, field in fields.items() if field.get("default") is not None]
        if defaults and len(defaults) == len(fields) and own(node):
            shown = ", ".join(defaults[:3]) + (", ..." if len(defaults) > 3 else "")
            message = f"the defaults of {shown} are not set in objects that leave {name} out"
            yield Problem(node.at("properties", name), message)
