"""Comparisons of versions: which exist, which are served and stored, how they are converted."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from crdlint.changes import Change, same
from crdlint.diffrule import Problem, diff, show, step
from crdlint.kubernetes import STORAGE_VERSION_MIGRATION
from crdlint.tree import same_schemas

if TYPE_CHECKING:
    from crdlint.diffrule import Problems
    from crdlint.tree import Crd, Node

_KUBE_VERSION = re.compile(r"v([1-9][0-9]*)(?:(alpha|beta)([1-9][0-9]*))?")


def stored_versions(crd: Crd) -> list[str]:
    """Return the versions objects may be stored in: of the status, else the storage version."""
    status = crd.data.get("status") or {}
    known = [str(name) for name in status.get("storedVersions") or []]
    return known or [str(v.get("name")) for v in crd.versions if v.get("storage")][:1]


def storage_version(crd: Crd) -> str:
    """Return the name of the storage version, or "" where there is none."""
    return next((str(v.get("name")) for v in crd.versions if v.get("storage")), "")


def preferred_version(crd: Crd) -> str:
    """Return the version that clients take when they ask for none.

    Source: apimachinery's CompareKubeAwareVersionStrings over the served versions.
    """
    served = [str(v.get("name")) for v in crd.versions if v.get("served")]
    return min(served, key=_priority, default="")


def _priority(name: str) -> tuple[Any, ...]:
    match = _KUBE_VERSION.fullmatch(name)
    if match is None:
        return (1, 0, 0, 0, name)
    major, stage, minor = match.groups()
    rank = {None: 0, "beta": 1, "alpha": 2}[stage]
    return (0, rank, -int(major), -int(minor or 0), name)


def _find(change: Change, name: str, new: bool = True) -> Node | None:
    root = change.new if new else change.old
    return next((n for n in root.children() if n.get("name") == name), None)


def _at_version(change: Change, name: str, key: str) -> Change:
    """Return a change whose spot is a key of a version, or the list where the version is gone."""
    steps = []
    for new in (False, True):
        node = _find(change, name, new)
        steps.append((*node.step, key) if node else ("spec", "versions"))
    return Change(change.pair, "versions", old_keys=steps[0], new_keys=steps[1], name=name)


@diff("stored-version-removed", on="crd")
def stored_version_removed(change: Change) -> Problems:
    old, new = change.old.crd, change.new.crd
    kept = {str(v.get("name")) for v in new.versions}
    stated = bool((old.data.get("status") or {}).get("storedVersions"))
    for i, name in enumerate(stored_versions(old)):
        if name not in kept:
            why = "status.storedVersions lists it" if stated else "it was the storage version"
            yield Problem(
                _at_version(change, name, "name"),
                f"{name} is gone, but objects may be stored in it ({why}): they could not be read",
                refused=[("Invalid", f"status.storedVersions[{i}]")],
                help=migration(change.new.crd, name),
            )


def migration(crd: Crd, version: str) -> str:
    """Return the safe way out of a stored version for a Kubernetes version."""
    target = storage_version(crd) or "the new version"
    steps = f"Keep {version} in spec.versions, rewrite every object in {target}, and remove it last"
    if crd.minor >= STORAGE_VERSION_MIGRATION:
        return (
            f"{steps}: a StorageVersionMigration (storagemigration.k8s.io) rewrites the objects"
            " and takes the version out of status.storedVersions"
        )
    patch = f'{{"status":{{"storedVersions":["{target}"]}}}}'
    return (
        f"{steps}: update each object without a change, then"
        f" `kubectl patch crd {crd.name} --subresource=status --type=merge -p '{patch}'`"
    )


@diff("version-removed", "version-removed-unserved", on="crd.versions")
def version_removed(change: Change) -> Problems:
    if not change.removed:
        return
    unless = _unless_stored(change)
    if change.before.get("served"):
        once = "" if change.before.get("deprecated") else "; it was never marked deprecated"
        yield Problem(
            change,
            f"{change.name} was served: its clients get 404{once}{unless}",
            rule="version-removed",
        )
    else:
        yield Problem(
            change,
            f"{change.name} is gone; nobody could use it, as it was not served{unless}",
            rule="version-removed-unserved",
        )


def _unless_stored(change: Change) -> str:
    """Say what the server may say of a version, where nothing tells which are stored."""
    crd = change.old.crd
    stated = (crd.data.get("status") or {}).get("storedVersions")
    if stated or change.name in stored_versions(crd):
        return ""
    return "; the API server refuses this if status.storedVersions has it"


@diff("version-added", on="crd.versions")
def version_added(change: Change) -> Problems:
    if change.added:
        served = "served" if change.after.get("served") else "not served"
        yield Problem(change, f"{change.name} is new, {served}")


@diff("storage-version-changed", "storage-version-changed-on-introduction", on="crd")
def storage_version_changed(change: Change) -> Problems:
    before, after = storage_version(change.old.crd), storage_version(change.new.crd)
    if not before or not after or before == after:
        return
    spot = _at_version(change, after, "storage")
    if _find(change, after, new=False) is None:
        yield Problem(
            spot,
            f"{before} -> {after}, which is new in this release: after a rollback the objects"
            " written meanwhile cannot be read",
            rule="storage-version-changed-on-introduction",
        )
    else:
        yield Problem(
            spot,
            f"{before} -> {after}: stored objects stay in {before} until each is written again,"
            " and a rollback needs both versions",
            rule="storage-version-changed",
        )


@diff("version-unserved", "storage-version-unserved", "version-served", on="version.served")
def served_changed(change: Change) -> Problems:
    if change.after:
        yield Problem(change, "false -> true: clients may use it", rule="version-served")
        return
    yield Problem(change, "true -> false: its clients get 404", rule="version-unserved")
    if change.new.get("storage"):
        yield Problem(
            change,
            "objects are stored in a version that nobody can ask for",
            rule="storage-version-unserved",
        )


@diff("no-served-version", on="crd")
def no_served_version(change: Change) -> Problems:
    if preferred_version(change.old.crd) and not preferred_version(change.new.crd):
        spot = Change(
            change.pair, "versions", old_keys=("spec", "versions"), new_keys=("spec", "versions")
        )
        yield Problem(
            spot, "no version is served any more: the objects are out of everyone's reach"
        )


@diff("preferred-version-changed", on="crd")
def preferred_version_changed(change: Change) -> Problems:
    before, after = preferred_version(change.old.crd), preferred_version(change.new.crd)
    still = _find(change, before)
    if before and after and before != after and still is not None and still.get("served"):
        yield Problem(
            _at_version(change, after, "served"),
            f"{before} -> {after}: `kubectl get`, Helm and other clients that ask for no version"
            f" now get {after}",
        )


@diff("version-deprecated", "version-undeprecated", on="version.deprecated")
def deprecated_changed(change: Change) -> Problems:
    if change.after:
        yield Problem(change, "clients get a warning with each request", rule="version-deprecated")
    else:
        yield Problem(change, "clients get no warning any more", rule="version-undeprecated")


@diff("deprecation-warning-changed", on="version.deprecationWarning")
def deprecation_warning_changed(change: Change) -> Problems:
    yield Problem(change, step(change))


@diff("stored-versions-in-manifest", on="crd")
def stored_versions_in_manifest(change: Change) -> Problems:
    stated = (change.new.data.get("status") or {}).get("storedVersions") or []
    before = (change.old.data.get("status") or {}).get("storedVersions") or []
    if stated and list(stated) != list(before):
        keys = ("status", "storedVersions")
        spot = Change(change.pair, "status", old_keys=keys, new_keys=keys)
        yield Problem(spot, f"{show(stated)}: the API server ignores the status of an update")


def _conversion(change: Change) -> tuple[dict[str, Any], dict[str, Any]]:
    before, after = change.before or {}, change.after or {}
    return dict(before), dict(after)


def _strategy(conversion: dict[str, Any]) -> str:
    return str(conversion.get("strategy") or "None")


def _below(change: Change, *keys: str) -> Change:
    path = ("spec", "conversion", *keys)
    return Change(change.pair, "conversion", old_keys=path, new_keys=path)


@diff(
    "conversion-webhook-added",
    "conversion-webhook-removed",
    "conversion-webhook-removed-same-schemas",
    on="crd.conversion",
)
def conversion_strategy_changed(change: Change) -> Problems:
    before, after = map(_strategy, _conversion(change))
    if before == after:
        return
    spot = _below(change, "strategy")
    if after == "Webhook":
        yield Problem(
            spot,
            f"{before} -> {after}: every read and write across versions, lists and the garbage"
            " collector's too, fails while the webhook does not answer",
            rule="conversion-webhook-added",
        )
    elif _one_schema(change.old.crd, change.new.crd):
        yield Problem(
            spot,
            f"{before} -> {after}: all versions in use have the same schema, so only what the"
            " webhook changed besides is missed",
            rule="conversion-webhook-removed-same-schemas",
        )
    else:
        yield Problem(
            spot,
            f"{before} -> {after}: objects stored in one version are taken as they are for another,"
            " and what its schema does not name is pruned",
            rule="conversion-webhook-removed",
        )


def _one_schema(old: Crd, new: Crd) -> bool:
    """Tell whether the versions that objects are stored in or served at share their schema."""
    stored = stored_versions(old)
    used = [
        version.get("schema")
        for version in new.versions
        if version.get("served") or version.get("storage") or version.get("name") in stored
    ]
    return all(same_schemas(used[0], other) for other in used[1:])


@diff(
    "conversion-endpoint-changed",
    "conversion-ca-bundle-removed",
    "conversion-ca-bundle-changed",
    "conversion-review-version-removed",
    "conversion-review-version-added",
    on="crd.conversion",
)
def conversion_webhook_changed(change: Change) -> Problems:
    before, after = _conversion(change)
    if _strategy(before) != "Webhook" or _strategy(after) != "Webhook":
        return
    old, new = before.get("webhook") or {}, after.get("webhook") or {}
    a, b = old.get("clientConfig") or {}, new.get("clientConfig") or {}
    for key in ("url", "service"):
        x, y = a.get(key), b.get(key)
        if not same(x or None, y or None):
            yield Problem(
                _below(change, "webhook", "clientConfig", key),
                f"{_endpoint(a)} -> {_endpoint(b)}: conversion fails until a webhook answers there",
                rule="conversion-endpoint-changed",
            )
            break
    x, y = a.get("caBundle") or "", b.get("caBundle") or ""
    if x != y:
        spot = _below(change, "webhook", "clientConfig", "caBundle")
        if not y:
            text = "it is gone: the server does not trust the webhook unless something injects it"
            yield Problem(spot, text, rule="conversion-ca-bundle-removed")
        else:
            text = "the server trusts other certificates of the webhook"
            yield Problem(spot, text, rule="conversion-ca-bundle-changed")
    yield from _review_versions(change, old, new)


def _endpoint(config: dict[str, Any]) -> str:
    service = config.get("service")
    if not service:
        return str(config.get("url") or "none")
    port = service.get("port") or 443
    path = service.get("path") or ""
    return f"{service.get('namespace')}/{service.get('name')}:{port}{path}"


def _review_versions(change: Change, old: dict[str, Any], new: dict[str, Any]) -> Problems:
    x, y = (list(side.get("conversionReviewVersions") or []) for side in (old, new))
    spot = _below(change, "webhook", "conversionReviewVersions")
    for name in x:
        if name not in y:
            yield Problem(
                spot,
                f"{show(name)} is gone: the server asks in the first of {show(y)} that it knows",
                rule="conversion-review-version-removed",
            )
    for name in y:
        if name not in x:
            text = f"{show(name)} is new: the server takes the first that it knows"
            yield Problem(spot, text, rule="conversion-review-version-added")
