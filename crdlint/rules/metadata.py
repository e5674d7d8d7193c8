"""ObjectMeta of the CRD itself: name, labels, annotations, owners, finalizers, size."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from crdlint import objectmeta
from crdlint.keywords import repeated
from crdlint.rule import SPEC, WARN, Problem, lint

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crdlint.document import Path
    from crdlint.rule import Problems
    from crdlint.tree import Crd, Node

# A client-side apply keeps the whole object in this annotation, and annotations have a limit.
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
ANNOTATION_LIMIT = 256 * 1024
REQUEST_LIMIT = 3 * 1024 * 1024
ETCD_LIMIT = 1536 * 1024
# A text below that, and without anchors that multiply it, is near no limit.
_LARGE = re.compile(rb"(?s).{65536}|: &")

_RULES = {
    "labels": "metadata-label",
    "annotations": "metadata-annotation",
    "ownerReferences": "metadata-owner-reference",
    "finalizers": "metadata-finalizer",
    "managedFields": "metadata-managed-fields",
}


def required_name(crd: Crd) -> str:
    """Return the only name that the server takes for a CRD."""
    return f"{crd.names.get('plural') or ''}.{crd.spec.get('group') or ''}"


def name_refused(crd: Crd) -> bool:
    """Tell whether a CRD has a name, and the server refuses it for not being plural.group."""
    return crd.old is None and bool(crd.name) and crd.name != required_name(crd)


@lint("crd-name", on="crd", stage=SPEC)
def crd_name(node: Node) -> Problems:
    """Refuse any name but plural.group; source: ValidateCustomResourceDefinition.

    Where plural or group is missing, that is the cause, and its own rule speaks of the name too.
    """
    crd = node.crd
    if crd.old is not None:
        return
    wanted = required_name(crd)
    prefix = crd.metadata.get("generateName")
    place = node.at("metadata", "name")
    refused_prefix: list[Any] = []
    if prefix and (prefix != wanted or _bad_name(prefix.removesuffix("-"))):
        refused_prefix = [("Invalid", node.at("metadata", "generateName"))]
    if not crd.name:
        message = f"a CRD is named after its plural and group: {wanted}"
        if prefix:
            message = f"a generated name never is {wanted}, as a CRD's name must be"
            yield Problem(
                node.at("metadata", "generateName"),
                message,
                refused=[*refused_prefix, ("Invalid", place)],
            )
        else:
            yield Problem(place, message, refused=["Required"])
        return
    if refused_prefix:
        message = f"a generated name never is {wanted}, as a CRD's name must be"
        yield Problem(node.at("metadata", "generateName"), message, refused=["Invalid"])
    complete = crd.names.get("plural") and crd.spec.get("group")
    if complete and crd.name != wanted:
        related = [
            (node.at("spec", "names", "plural"), "the plural"),
            (node.at("spec", "group"), "the group"),
        ]
        message = f"{crd.name!r} is refused: with this plural and group it must be {wanted!r}"
        yield Problem(place, message, refused=["Invalid"], related=related)
    elif wrong := _bad_name(crd.name):
        yield Problem(place, f"{crd.name!r} is no DNS name: {wrong[0]}", refused=["Invalid"])


def _bad_name(name: str) -> list[str]:
    return objectmeta.dns1123_subdomain(name)


@lint(*_RULES.values(), on="crd.metadata", stage=SPEC)
def object_meta(node: Node, metadata: Mapping[str, Any]) -> Problems:
    """Refuse what generic validation of ObjectMeta refuses; source: ValidateObjectMeta."""
    present = {key: metadata[key] for key in _RULES if metadata.get(key)}
    if not present:
        return
    kept, origin = _distinct_owners(present.get("ownerReferences") or [])
    if kept:
        present["ownerReferences"] = kept
    present["name"] = "x"
    said: set[tuple[Path, str]] = set()
    for error in objectmeta.validate(present, name=lambda _: [], namespaced=False):
        path: Path = tuple(error.path)
        if path[0] == "ownerReferences" and len(path) > 1:
            path = (path[0], origin[int(path[1])], *path[2:])
        if (path, error.type) in said:
            continue  # one name is too long and badly formed: one cure
        said.add((path, error.type))
        yield Problem(
            node.at("metadata", *path),
            error.message,
            rule=_RULES[str(path[0])],
            refused=[(error.type, "metadata" + error.field)],
        )


def _distinct_owners(owners: list[Any]) -> tuple[list[Any], list[int]]:
    """Return the owner references without repetitions, and where each stands in the file."""
    again = set(repeated(owners))
    origin = [i for i in range(len(owners)) if i not in again]
    return [owners[i] for i in origin], origin


@lint("metadata-owner-reference-repeated", on="crd.metadata", stage=WARN)
def owner_repeated(node: Node, metadata: Mapping[str, Any]) -> Problems:
    """Warn of repeated owner references, which the server drops before it validates."""
    owners = metadata.get("ownerReferences") or []
    _, origin = _distinct_owners(owners)
    refused = ["Warning"]  # one warning names all of them
    for i, owner in enumerate(owners):
        if i not in origin:
            message = f"{owner.get('kind')} {owner.get('name')} is listed before; this is dropped"
            yield Problem(node.at("metadata", "ownerReferences", i), message, refused=refused)
            refused = []


@lint("resource-version-set", on="crd.metadata", stage=SPEC)
def resource_version_set(node: Node, metadata: Mapping[str, Any]) -> Problems:
    """Report a resourceVersion, with which nothing can be created; source: the etcd3 store."""
    version = metadata.get("resourceVersion") or ""
    if node.crd.old is not None or not (version.isascii() and version.isdigit()):
        return
    if 0 < int(version[:30]) < 2**64:
        message = "an object from a cluster: it can replace itself, but nowhere be created"
        refused = [("BadRequest", node.at("metadata", "resourceVersion"))]
        yield Problem(node.at("metadata", "resourceVersion"), message, refused=refused)


@lint("client-side-apply-too-large", "object-too-large", on="crd")
def too_large(node: Node) -> Problems:
    """Report CRDs that are too big for an annotation, a request, or an object in etcd."""
    data = _written(node.crd)
    if data is None:
        return
    try:
        text = _json(data)
    except RecursionError:
        return  # thousands of levels deep: no client can write it either
    size = _size(text)
    if size > ETCD_LIMIT:
        limit = f"a request may have {REQUEST_LIMIT:,}"
        if size <= REQUEST_LIMIT:
            limit = f"etcd takes objects of {ETCD_LIMIT:,}"
        message = f"as JSON it has {size:,} bytes, and {limit}"
        yield Problem(node.at("kind"), message, rule="object-too-large")
        return
    applied = _last_applied_size(data, text)
    if applied > ANNOTATION_LIMIT:
        message = (
            f"a client-side kubectl apply is refused: with the copy of the CRD that it adds,"
            f" annotations have {applied:,} bytes of {ANNOTATION_LIMIT:,}"
        )
        yield Problem(node.at("kind"), message, rule="client-side-apply-too-large")


def _written(crd: Crd) -> Mapping[str, Any] | None:
    """Return the CRD as it stands in its file, or None where that is plainly small."""
    document = crd.document
    if not document.contains(_LARGE):
        return None
    data = document.data
    if crd.item is not None and isinstance(data, dict):
        data = (data.get("items") or [])[crd.item]
    return data if isinstance(data, dict) else None


def _last_applied_size(data: Mapping[str, Any], text: str) -> int:
    """Return the bytes of all annotations after a client-side apply; `text` is the data as JSON."""
    metadata = data.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    others = {}
    if isinstance(metadata, dict) and isinstance(annotations, dict):
        others = {key: value for key, value in annotations.items() if key != LAST_APPLIED}
        if len(others) < len(annotations):
            text = _json({**data, "metadata": {**metadata, "annotations": others}})
    escaped = sum(text.count(char) for char in "<>&") * 5  # kubectl writes \u003c and the like
    copied = _size(text) + escaped + 1  # and a line end
    return (
        _size(LAST_APPLIED)
        + copied
        + sum(_size(key + value) for key, value in others.items() if isinstance(value, str))
    )


def _json(data: Mapping[str, Any]) -> str:
    import json

    return json.dumps(data, separators=(",", ":"), ensure_ascii=False, sort_keys=True)


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
