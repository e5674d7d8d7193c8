"""Comparisons of what a CRD is: its name, group, kind, scope and other names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crdlint.diffrule import Problem, diff, show, step

if TYPE_CHECKING:
    from crdlint.changes import Change
    from crdlint.diffrule import Problems
    from crdlint.tree import Crd


def established(crd: Crd) -> bool:
    """Tell whether the server serves the stored CRD; assumed where its status does not say."""
    status = crd.data.get("status") or {}
    conditions = status.get("conditions") or []
    return not conditions or any(
        c.get("type") == "Established" and c.get("status") == "True" for c in conditions
    )


@diff("crd-name-changed", on="crd.name")
def crd_name_changed(change: Change) -> Problems:
    refused = [("Invalid", "metadata.name")]
    if not change.after:
        refused.append(("Required", "metadata.name"))
    yield Problem(
        change,
        f"{step(change)}: for the server this is another CRD; the objects stay behind",
        refused=refused,
    )


@diff("crd-group-changed", on="crd.group")
def crd_group_changed(change: Change) -> Problems:
    yield Problem(
        change,
        f"{step(change)}: the group cannot change; stored objects belong to the old one",
        refused=[("Invalid", "spec.group")],
    )


@diff("crd-plural-changed", on="crd.names.plural")
def crd_plural_changed(change: Change) -> Problems:
    yield Problem(
        change,
        f"{step(change)}: the plural cannot change; stored objects are kept under the old one",
        refused=[("Invalid", "spec.names.plural")],
    )


@diff("crd-kind-changed", on="crd.names.kind")
def crd_kind_changed(change: Change) -> Problems:
    refused = [("Invalid", "spec.names.kind")] if established(change.old.crd) else []
    yield Problem(
        change, f"{step(change)}: stored objects and clients have the old kind", refused=refused
    )


@diff("crd-scope-changed", on="crd.scope")
def crd_scope_changed(change: Change) -> Problems:
    refused = [("Invalid", "spec.scope")] if established(change.old.crd) else []
    yield Problem(
        change,
        f"{step(change)}: stored objects are kept by the old scope and could not be found",
        refused=refused,
    )


@diff("crd-list-kind-changed", on="crd.names.listKind")
def crd_list_kind_changed(change: Change) -> Problems:
    kind = change.old.crd.names.get("kind") != change.new.crd.names.get("kind")
    if not kind:
        yield Problem(change, f"{step(change)}: typed clients decode lists by the old list kind")


@diff("crd-singular-changed", on="crd.names.singular")
def crd_singular_changed(change: Change) -> Problems:
    yield Problem(change, f"{step(change)}: `kubectl get` no longer knows the old singular")


def _lost(change: Change) -> list[str]:
    after = change.after or []
    return [name for name in change.before or [] if name not in after]


@diff("crd-short-name-removed", on="crd.names.shortNames")
def crd_short_name_removed(change: Change) -> Problems:
    for name in _lost(change):
        yield Problem(change, f"{show(name)} is gone: scripts that call `kubectl get {name}` fail")


@diff("crd-short-name-added", on="crd.names.shortNames")
def crd_short_name_added(change: Change) -> Problems:
    before = change.before or []
    for name in change.after or []:
        if name not in before:
            yield Problem(
                change,
                f"{show(name)} is new: names are not accepted if a CRD of the group has it",
            )


@diff("crd-category-removed", on="crd.names.categories")
def crd_category_removed(change: Change) -> Problems:
    for name in _lost(change):
        yield Problem(change, f"{show(name)} is gone: `kubectl get {name}` no longer lists these")


@diff("crd-category-added", on="crd.names.categories")
def crd_category_added(change: Change) -> Problems:
    before = change.before or []
    for name in change.after or []:
        if name not in before:
            yield Problem(change, f"{show(name)} is new: `kubectl get {name}` lists these too")


@diff("preserve-unknown-fields-global-disabled", on="crd.preserveUnknownFields")
def preserve_unknown_fields_global_disabled(change: Change) -> Problems:
    if change.before and not change.after:
        yield Problem(
            change,
            "true -> false: fields that no schema names are pruned on the next read of an object",
        )
