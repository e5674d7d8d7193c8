"""Versions: their names, which is stored, served, deprecated, and whether each has a schema."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from crdlint import objectmeta
from crdlint.keywords import HOLDS
from crdlint.kubernetes import STORAGE_VERSION_MIGRATION
from crdlint.rule import SPEC, Problem, lint
from crdlint.rules.parts import schema_of
from crdlint.rules.selectable import without_schema
from crdlint.tree import Node, held

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crdlint.rule import Problems
    from crdlint.tree import Crd, Place

_KUBE_VERSION = re.compile(r"v([1-9][0-9]*)(?:(alpha|beta)([1-9][0-9]*))?\Z")
_RANK = {None: 3, "beta": 2, "alpha": 1}
WARNING_BYTES = 256


def priority(name: str) -> tuple[int, int, int, list[int]]:
    """Return a key by which versions sort from the least to the most preferred.

    v2 stands over v1, that over v1beta1, that over v1alpha1, that over any other name, and of
    other names the first in the alphabet is preferred. Source: apimachinery's version comparison.
    """
    found = _KUBE_VERSION.match(name)
    if found is None:
        return (0, 0, 0, [*(-ord(char) for char in name), 1])
    return (_RANK[found[2]], int(found[1]), int(found[3] or 0), [])


def preferred(crd: Crd) -> str:
    """Return the served version that clients get who name none, or ""."""
    served = [str(v.get("name") or "") for v in crd.versions if v.get("served")]
    return max(served, key=priority, default="")


@lint("version-name", on="version", stage=SPEC)
def version_name(node: Node) -> Problems:
    """Refuse version names that are no DNS labels; source: CRD spec validation.

    The internal type keeps the first name once more, so the server speaks of it twice.
    """
    name = node.get("name") or ""
    wrong = objectmeta.dns1035_label(name)
    if not wrong:
        return
    refused: list[Any] = ["Invalid"]
    if name and node.step[-1] == 0:
        refused.append(("Invalid", "spec.version"))
    message = f"{name!r} is refused: {wrong[0]}" if name else "a version needs a name, such as v1"
    yield Problem(node.at("name"), message, refused=refused)


@lint("version-name-unique", on="crd", stage=SPEC)
def version_name_unique(node: Node) -> Problems:
    """Refuse two versions of one name; source: CRD spec validation."""
    seen: dict[str, int] = {}
    refused: list[Any] = [("Invalid", "spec.versions")]
    for i, version in enumerate(node.crd.versions):
        name = version.get("name") or ""
        if name not in seen:
            seen[name] = i
            continue
        related = [(node.at("spec", "versions", seen[name], "name"), "first here")]
        place = node.at("spec", "versions", i, "name")
        if refused and _stored_refused(node.crd):
            refused.append(("Invalid", "status.storedVersions"))
        yield Problem(place, f"{name!r} is a version already", refused=refused, related=related)
        refused = []  # the server says it once for all


@lint("storage-version", on="crd", stage=SPEC)
def storage_version(node: Node) -> Problems:
    """Refuse any number of storage versions but one; source: CRD spec and status validation.

    A new CRD's status.storedVersions is made of its first storage version, so that is refused too.
    """
    crd = node.crd
    stored = [i for i, version in enumerate(crd.versions) if version.get("storage")]
    if len(stored) == 1:
        return
    refused: list[Any] = [("Invalid", "spec.versions")]
    if _stored_refused(crd):
        refused.append(("Invalid", "status.storedVersions"))
    if not stored:
        message = "no version has storage: true, so the server would not know how to keep objects"
        if not crd.versions:
            message = "a CRD needs versions, and storage: true on one of them"
        yield Problem(node.at("spec", "versions"), message, refused=refused)
        return
    names = [str(crd.versions[i].get("name") or "") for i in stored]
    related = [(node.at("spec", "versions", stored[0], "storage"), "first here")]
    message = f"{', '.join(names)} all have storage: true, and one version is stored"
    if len(names) == 2:
        message = f"{names[0]} and {names[1]} both have storage: true, and one version is stored"
    place = node.at("spec", "versions", stored[1], "storage")
    yield Problem(place, message, refused=refused, related=related)


def _stored_refused(crd: Crd) -> bool:
    """Tell whether the server refuses the status.storedVersions that it makes itself.

    Source: PrepareForCreate, ValidateCustomResourceDefinitionStoredVersions.
    """
    if crd.old is not None:
        return False
    known = {v.get("name") or "" for v in [v for v in crd.versions if v.get("storage")][:1]}
    if not known:
        return True
    for version in crd.versions:
        name = version.get("name") or ""
        if version.get("storage") and name not in known:
            return True
        known.discard(name)
    return False


@lint("deprecation-warning", on="version", stage=SPEC)
def deprecation_warning(node: Node) -> Problems:
    """Refuse warnings that cannot be sent in a header; source: validateDeprecationWarning."""
    text = node.get("deprecationWarning")
    if text is None:
        return
    if not node.get("deprecated"):
        message = "stands on a version that is not deprecated: true"
    elif not text:
        message = "is empty; leave it out for the server's own text"
    elif len(text.encode("utf-8", "surrogatepass")) > WARNING_BYTES:
        size = len(text.encode("utf-8", "surrogatepass"))
        message = f"has {size} bytes, and a warning may have {WARNING_BYTES}"
    elif not text.isprintable():
        char = next(char for char in text if not char.isprintable())
        message = f"has {char!r}, and a warning may only have printable characters"
    else:
        return
    yield Problem(node.at("deprecationWarning"), message, refused=["Invalid"])


@lint("schema-required", on="version", stage=SPEC)
def schema_required(node: Node) -> Problems:
    """Refuse versions without a schema, served or not; source: CRD spec validation.

    selectableFields lose what they select with it.
    """
    if schema_of(node.data) is not None:
        return
    crd = node.crd
    lacked = crd.old is not None and any(schema_of(v) is None for v in crd.old.versions)
    if lacked and (not node.get("served") or crd.spec.get("preserveUnknownFields")):
        return
    field = f"spec.versions[{node.step[-1]}].schema.openAPIV3Schema"
    name = node.get("name") or "this version"
    message = f"{name} has no schema, and apiextensions.k8s.io/v1 wants one for every version"
    refused = [("Required", field), *without_schema(node)]
    yield Problem(node.at("schema", "openAPIV3Schema"), message, refused=refused)


@lint("preserve-unknown-fields-true", on="crd", stage=SPEC)
def preserve_unknown_fields_true(node: Node) -> Problems:
    """Refuse a CRD that prunes nothing; source: validatePreserveUnknownFields.

    With it no conversion but None is taken, and no default.
    """
    crd = node.crd
    if not crd.spec.get("preserveUnknownFields"):
        return
    refused: list[Any] = []
    excused = crd.old is not None and crd.old.spec.get("preserveUnknownFields")
    if not excused or any(_has_default(schema) for schema in crd.schemas):
        refused.append("Invalid")
    conversion = crd.spec.get("conversion")
    if conversion is not None and conversion.get("strategy") != "None":
        refused.append(("Invalid", node.at("spec", "conversion", "strategy")))
    if refused:
        message = "true is refused: apiextensions.k8s.io/v1 prunes what a schema does not declare"
        yield Problem(node.at("spec", "preserveUnknownFields"), message, refused=refused)


def _has_default(root: Node) -> bool:
    """Tell whether a default stands anywhere in a schema; source: specHasDefaults."""
    stack = [root.data]
    while stack:
        data = stack.pop()
        if data.get("default") is not None:
            return True
        for key, value in data.items():
            if key in HOLDS:
                stack.extend(schema for _, schema in held(key, value))
    return False


@lint("version-field-required", on="version")
def version_field_required(node: Node) -> Problems:
    """Warn of versions without served or storage, which the published schema of CRDs requires.

    The API server itself reads what is absent as false.
    """
    for key in ("served", "storage"):
        if node.get(key) is None:
            message = (
                "is absent: the API server reads false, but kubectl before 1.27 and other checks"
                " against the OpenAPI schema refuse the file"
            )
            yield Problem(node.at(key), message)


@lint("no-version-served", on="crd")
def no_version_served(node: Node) -> Problems:
    """Report CRDs whose resource nobody can reach."""
    versions = node.crd.versions
    if versions and not any(version.get("served") for version in versions):
        message = "no version is served, so the resource does not exist for any client"
        yield Problem(node.at("spec", "versions", 0, "served"), message)


@lint("deprecated-without-warning", on="version")
def deprecated_without_warning(node: Node) -> Problems:
    """Report deprecated versions whose users are not told what to use instead."""
    if node.get("deprecated") and node.get("deprecationWarning") is None and node.get("served"):
        name = node.get("name")
        best = max(
            (
                str(v.get("name") or "")
                for v in node.crd.versions
                if v.get("served") and not v.get("deprecated")
            ),
            key=priority,
            default="",
        )
        what = (
            f"users of {name} get a warning that names {best} at best, and not what to change"
            if best
            else f"users of {name} get a warning that does not say what to use instead"
        )
        yield Problem(node.at("deprecated"), what)


@lint("storage-version-not-newest", "storage-version-deprecated", on="crd")
def storage_version_not_newest(node: Node) -> Problems:
    """Report a storage version that is not the one clients prefer, or that is on its way out."""
    crd = node.crd
    stored = [i for i, version in enumerate(crd.versions) if version.get("storage")]
    if len(stored) != 1:
        return
    version = crd.versions[stored[0]]
    name = str(version.get("name") or "")
    if version.get("deprecated"):
        message = f"{name} is deprecated, and every object is kept in it"
        place = node.at("spec", "versions", stored[0], "storage")
        yield Problem(place, message, rule="storage-version-deprecated")
        return
    best = preferred(crd)
    if best and priority(best)[0] > 0 and priority(best) > priority(name):
        message = f"{name} is stored, but clients prefer {best}"
        place = node.at("spec", "versions", stored[0], "storage")
        index = next(i for i, v in enumerate(crd.versions) if v.get("name") == best)
        related = [(node.at("spec", "versions", index, "name"), "served, and preferred")]
        yield Problem(place, message, related=related)


@lint("version-name-style", on="version")
def version_name_style(node: Node) -> Problems:
    """Report version names that no client can rank."""
    name = node.get("name") or ""
    if name and not objectmeta.dns1035_label(name) and not _KUBE_VERSION.match(name):
        message = f"{name!r} ranks below every v1, v1beta1 and v1alpha1, whatever it means"
        yield Problem(node.at("name"), message)


@lint("stored-version-gone", "storage-migration-pending", on="crd.status")
def stored_versions(node: Node, status: Mapping[str, Any]) -> Problems:
    """Report what the status of a CRD from a cluster says of objects in other versions."""
    crd = node.crd
    stored = [name for name in status.get("storedVersions") or [] if isinstance(name, str)]
    known = {version.get("name") for version in crd.versions}
    current = next((str(v.get("name")) for v in crd.versions if v.get("storage")), "")
    for i, name in enumerate(stored):
        place = node.at("status", "storedVersions", i)
        if name not in known:
            message = f"objects may be kept in {name}, which is not in spec.versions any more"
            yield Problem(place, message, rule="stored-version-gone")
    waiting = [name for name in stored if name in known and name != current]
    if current and waiting:
        place = node.at("status", "storedVersions", stored.index(waiting[0]))
        message = (
            f"objects may still be kept in {', '.join(waiting)}, while {current} is stored now"
        )
        yield Problem(
            place, message, rule="storage-migration-pending", help=_migration(crd, current, place)
        )


def _migration(crd: Crd, current: str, _: Place) -> str:
    """Return how to move all objects into the storage version, for a Kubernetes version."""
    if crd.minor >= STORAGE_VERSION_MIGRATION:
        return (
            f"Create a StorageVersionMigration for {crd.name}, which rewrites every object in"
            f" {current} and then trims status.storedVersions"
        )
    patch = f'{{"status":{{"storedVersions":["{current}"]}}}}'
    return (
        f"Update every object without a change, which writes it in {current}, then run"
        f" `kubectl patch crd {crd.name} --subresource=status --type=merge -p '{patch}'`"
    )
