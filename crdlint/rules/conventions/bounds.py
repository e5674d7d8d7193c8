"""Bounds of texts, lists and maps: what a user may make a controller, etcd and CEL go through."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdlint.rule import CEL, Problem, lint
from crdlint.rules.conventions.parts import INT_OR_STRING, belongs_to_resource, own, within

if TYPE_CHECKING:
    from crdlint.document import Path
    from crdlint.rule import Problems
    from crdlint.tree import Node

RULES = "x-kubernetes-validations"
HIGH = 20  # percent of the limit from which a rule hardly bears one more loop around it
# Formats whose texts have a length of their own.
_SHORT = frozenset(
    "date date-time duration uuid uuid3 uuid4 uuid5 ipv4 ipv6 cidr mac bsonobjectid ulid isbn "
    "isbn10 isbn13 creditcard ssn hexcolor rgbcolor k8s-short-name k8s-long-name".split()
)


@lint("string-unbounded", on="spine.type")
def string_unbounded(node: Node, kind: str) -> Problems:
    """Note texts of any length."""
    if kind != "string" or node.get("maxLength") is not None or node.get("enum"):
        return
    if node.get("format") in _SHORT or belongs_to_resource(node):
        return
    if own(node) and not within(node, "status"):
        message = "a text of 1.5 MiB is taken, all that etcd can store of an object"
        yield Problem(node.at(), message)


@lint("list-unbounded", on="spine.items")
def list_unbounded(node: Node, _: Any) -> Problems:
    """Note lists of any length."""
    if node.get("maxItems") is None and own(node) and not within(node, "status"):
        message = "any number of items is taken, and a rule over them may cost too much to be added"
        yield Problem(node.at(), message)


@lint("map-unbounded", on="spine.additionalProperties")
def map_unbounded(node: Node, values: Any) -> Problems:
    """Note maps of any size."""
    if not isinstance(values, dict) or within(node, "status"):
        return
    if node.get("maxProperties") is None and own(node):
        message = "any number of keys is taken, and a rule over them may cost too much to be added"
        yield Problem(node.at(), message)


@lint("required-text-empty", on="spine.required")
def required_text_empty(node: Node, required: list[str]) -> Problems:
    """Note required texts that may be empty all the same."""
    fields = node.get("properties") or {}
    for name in required:
        field = fields.get(name) or {}
        if field.get("type") != "string" or field.get(INT_OR_STRING) or within(node, "status"):
            continue
        checked = ("minLength", "pattern", "enum", "format", "default", RULES)
        if not any(field.get(key) for key in checked) and own(node):
            message = 'is required, and "" is taken: the user is told by the controller at best'
            yield Problem(node.at("properties", name), message)


@lint("cel-field-unbounded", "cel-cost-high", on=f"spine.{RULES}", stage=CEL)
def cel_field_unbounded(node: Node, rules: list[Any]) -> Problems:
    """Note fields whose missing bounds make rules dear, and rules that are near their limit.

    The server estimates what lacks a bound as large as a request can be: 3 MiB.
    """
    root, crd = node.root, node.crd
    if not rules or ("bounds", root.path) in crd.judged:
        return
    crd.judged.add(("bounds", root.path))
    from crdlint.cel.bounds import unbounded
    from crdlint.cel.rules import RULE_LIMIT, check_schema

    looked_at: dict[tuple[Path, str], int] = {}
    for report in check_schema(root.data, minor=crd.minor).rules:
        if not report.ok or report.over_budget or report.cost is None:
            continue
        open_bounds = unbounded(root.data, report, minor=crd.minor)
        for bound in open_bounds:
            looked_at[bound] = looked_at.get(bound, 0) + 1
        share = report.cost * 100 // RULE_LIMIT
        if share >= HIGH:
            message = f"may cost {share} % of what the API server grants a rule"
            place = root.at(*report.path, RULES, report.index, "rule")
            related = [(root.at(*path), f"has no {keyword}") for path, keyword in open_bounds]
            yield Problem(place, message, rule="cel-cost-high", related=related)
    for (path, keyword), count in looked_at.items():
        who = "a rule looks" if count == 1 else f"{count} rules look"
        message = f"has no {keyword}, and {who} at it: the estimate takes it for a whole request"
        yield Problem(root.at(*path), message)
