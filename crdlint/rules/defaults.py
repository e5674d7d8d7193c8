"""Defaults: what the server refuses of them, and what it lets through and that fails later."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdlint.rule import DEFAULTS, Problem, lint

if TYPE_CHECKING:
    from crdlint.rule import Problems
    from crdlint.tree import Node

_PRUNED = frozenset(("default-unknown-fields",))
_METADATA = frozenset(
    ("default-embedded-typemeta", "default-embedded-metadata", "default-in-embedded-metadata")
)
_CEL = frozenset(("default-cel", "default-cel-budget"))


@lint(
    "default-invalid",
    "default-pruned",
    "default-metadata",
    "default-cel",
    "default-cel-budget",
    on="root",
    stage=DEFAULTS,
)
def default_refused(root: Node) -> Problems:
    """Refuse defaults that the schema itself would refuse or prune; source: ValidateDefaults."""
    from crdlint.objects.defaults import check_defaults, defaults_of

    if next(defaults_of(root.data), None) is None:
        return
    for found in check_defaults(root.data, minor=root.crd.minor):
        rule = _rule(found.id)
        node = (*found.node, "default")
        fields = [(found.type, found.field), *found.also]
        yield Problem(
            root.at(*node, *found.inside),
            found.message,
            rule=rule,
            refused=[(kind, _spell(root, found.node) + field) for kind, field in fields],
        )


def _rule(problem: str) -> str:
    """Return the rule that speaks for a problem of object validation."""
    if problem in _PRUNED:
        return "default-pruned"
    if problem in _METADATA:
        return "default-metadata"
    return problem if problem in _CEL else "default-invalid"


def _spell(root: Node, steps: Any) -> str:
    from crdlint import server

    return server.spell(root.crd, (*root.path, *steps))


@lint("default-int-or-string", on="spine.default")
def default_int_or_string(node: Node, default: Any) -> Problems:
    """Report defaults of int-or-string fields that are neither; the server lets them through."""
    if node.get("x-kubernetes-int-or-string") and (
        isinstance(default, bool | float | list | dict) and default is not None
    ):
        message = (
            "is neither a number nor a text, so every object that needs the default is refused"
        )
        yield Problem(node.at("default"), message)


@lint("default-list-repeats", on="spine.default")
def default_list_repeats(node: Node, default: Any) -> Problems:
    """Report defaults of sets and list maps in which an item stands twice."""
    if not isinstance(default, list) or node.get("x-kubernetes-list-type") not in ("set", "map"):
        return
    from crdlint.objects.listtypes import check_lists

    for error in check_lists({"properties": {"x": node.data}}, {"x": default}):
        message = f"{error.message}, so every object that needs the default is refused"
        yield Problem(node.at("default", *error.path[1:]), message)


@lint("default-in-map-invalid", on="schema.additionalProperties")
def default_in_map_invalid(node: Node, extra: Any) -> Problems:
    """Report defaults below a map that the schema refuses; the server does not look there."""
    if not isinstance(extra, dict) or node.junctor or _in_map(node):
        return
    from crdlint.objects.defaults import check_defaults, defaults_of

    if next(defaults_of(extra, is_resource_root=False), None) is None:
        return
    for found in check_defaults(extra, minor=node.crd.minor, is_resource_root=False):
        way = ("additionalProperties", *found.node, "default", *found.inside)
        message = f"{found.message}, which shows only when an object needs the default"
        yield Problem(node.at(*way), message)


def _in_map(node: Node) -> bool:
    """Tell whether an outer map holds this one: then its own check comes here."""
    while node.parent is not None and node.parent.kind == "schema":
        if node.step[0] == "additionalProperties":
            return True
        node = node.parent
    return False
