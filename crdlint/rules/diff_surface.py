"""Comparisons of what stands around a version's schema: subresources, columns, field selectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crdlint.diffrule import Problem, diff, show
from crdlint.tree import ABSENT

if TYPE_CHECKING:
    from crdlint.changes import Change
    from crdlint.diffrule import Problems


@diff("status-subresource-removed", on="version.subresources.status")
def status_subresource_removed(change: Change) -> Problems:
    if change.removed:
        yield Problem(
            change,
            "/status is gone: controllers that write it get 404, and any update may change it",
        )


@diff("status-subresource-added", on="version.subresources.status")
def status_subresource_added(change: Change) -> Problems:
    if change.added:
        yield Problem(
            change,
            "status in plain creates and updates is dropped without a word;"
            " controllers must write /status and need the right to",
        )


@diff("scale-subresource-removed", on="version.subresources.scale")
def scale_subresource_removed(change: Change) -> Problems:
    if change.removed:
        yield Problem(change, "/scale is gone: `kubectl scale` and autoscalers get 404")


@diff("scale-subresource-added", on="version.subresources.scale")
def scale_subresource_added(change: Change) -> Problems:
    if change.added:
        yield Problem(change, "/scale is new: every write must keep its paths at whole numbers")


@diff(
    "scale-path-changed",
    "scale-label-selector-removed",
    "scale-label-selector-added",
    on="version.subresources.scale",
)
def scale_changed(change: Change) -> Problems:
    if change.added or change.removed:
        return
    for key in ("specReplicasPath", "statusReplicasPath", "labelSelectorPath"):
        before, after = change.before.get(key), change.after.get(key)
        if before == after:
            continue
        spot = type(change)(
            change.pair,
            change.key,
            old_keys=(*change.old_keys, key),
            new_keys=(*change.new_keys, key),
        )
        if key == "labelSelectorPath" and not after:
            rule, text = "scale-label-selector-removed", "autoscalers can no longer find the pods"
        elif key == "labelSelectorPath" and not before:
            rule, text = "scale-label-selector-added", "autoscalers read the selector there"
        else:
            rule, text = (
                "scale-path-changed",
                "autoscalers and `kubectl scale` act on another field",
            )
        before, after = (ABSENT if value is None else value for value in (before, after))
        yield Problem(spot, f"{key}: {show(before)} -> {show(after)}: {text}", rule=rule)


@diff("selectable-field-removed", on="version.selectableFields")
def selectable_field_removed(change: Change) -> Problems:
    if change.removed:
        yield Problem(
            change,
            f"{show(change.name)} is gone: requests that select by it are refused,"
            " and informers that do never sync",
        )


@diff("selectable-field-added", on="version.selectableFields")
def selectable_field_added(change: Change) -> Problems:
    if change.added:
        yield Problem(change, f"{show(change.name)} is new: clients may select by it")


@diff("printer-column-removed", on="version.additionalPrinterColumns")
def printer_column_removed(change: Change) -> Problems:
    if change.removed:
        yield Problem(change, f"the column {show(change.name)} is gone from `kubectl get`")


@diff("printer-column-added", on="version.additionalPrinterColumns")
def printer_column_added(change: Change) -> Problems:
    if change.added:
        yield Problem(change, f"the column {show(change.name)} is new in `kubectl get`")


@diff("printer-column-changed", on="version.additionalPrinterColumns")
def printer_column_changed(change: Change) -> Problems:
    if change.added or change.removed:
        return
    keys = [
        key
        for key in ("type", "format", "priority", "jsonPath")
        if (change.before.get(key) or "") != (change.after.get(key) or "")
    ]
    if keys:
        steps = (
            f"{key} {show(change.before.get(key, ABSENT))} -> {show(change.after.get(key, ABSENT))}"
            for key in keys
        )
        yield Problem(change, f"the column {show(change.name)}: {', '.join(steps)}")
