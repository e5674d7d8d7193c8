"""Cures for the metadata of a CRD: what only a cluster or a controller may write."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crdlint.fixes.cure import cure, drop, put

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crdlint.document import Path
    from crdlint.edits import Change
    from crdlint.fixes.cure import Case

# What the server writes itself, whatever a file says.
_OF_THE_SERVER = (
    "resourceVersion",
    "uid",
    "creationTimestamp",
    "generation",
    "managedFields",
    "selfLink",
)


def drop_item(case: Case, path: Path) -> Change:
    """Return the change that takes an item out of a list; the last one takes the list along."""
    items = case.get(*path[:-1])
    only = isinstance(items, list) and len(items) == 1
    return drop(path[:-1]) if only else drop(path)


@cure("resource-version-set")
def not_from_a_cluster(case: Case) -> Iterator[Change]:
    """Take away what a CRD has from the cluster that it was read from."""
    for key in _OF_THE_SERVER:
        if case.has("metadata", key):
            yield drop(("metadata", key))
    if case.has("status"):
        yield drop(("status",))


@cure("metadata-managed-fields")
def no_managed_fields(case: Case) -> Iterator[Change]:
    """Take managedFields away, which the server writes."""
    if case.has("metadata", "managedFields"):
        yield drop(("metadata", "managedFields"))


@cure("metadata-owner-reference-repeated")
def owner_once(case: Case) -> Iterator[Change]:
    """Take the repeated owner away, as the server does."""
    yield drop_item(case, case.path)


@cure("metadata-owner-reference", safe=False)
def no_owners(case: Case) -> Iterator[Change]:
    """Take ownerReferences away, which a controller writes."""
    if case.has("metadata", "ownerReferences"):
        yield drop(("metadata", "ownerReferences"))


@cure("metadata-label", safe=False)
def label_to_annotation(case: Case) -> Iterator[Change]:
    """Keep the free text of a label in an annotation."""
    if len(case.path) != 3 or not isinstance(case.value, str):
        return
    key = str(case.path[2])
    if case.has("metadata", "annotations", key):
        return
    labels = case.get("metadata", "labels")
    yield drop(("metadata", "labels") if len(labels) == 1 else case.path)
    if isinstance(case.get("metadata", "annotations"), dict):
        yield put(("metadata", "annotations", key), case.value)
    elif not case.has("metadata", "annotations"):
        yield put(("metadata", "annotations"), {key: case.value}, after="labels")
