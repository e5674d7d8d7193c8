"""The annotation that API groups of the Kubernetes community need."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crdlint import gourl
from crdlint.rule import SPEC, Problem, lint

if TYPE_CHECKING:
    from crdlint.rule import Problems
    from crdlint.tree import Crd, Node

ANNOTATION = "api-approved.kubernetes.io"
APPROVED, UNAPPROVED, MISSING, INVALID = "approved", "unapproved", "missing", "invalid"


def protected(group: str) -> bool:
    """Tell whether a group is the Kubernetes community's; source: IsProtectedCommunityGroup."""
    return group in ("k8s.io", "kubernetes.io") or group.endswith((".k8s.io", ".kubernetes.io"))


def state(crd: Crd) -> str:
    """Return what the annotation says; source: GetAPIApprovalState."""
    text = (crd.metadata.get("annotations") or {}).get(ANNOTATION) or ""
    if not text:
        return MISSING
    if text.startswith("unapproved"):
        return UNAPPROVED
    try:
        url = gourl.parse_request(text)
    except gourl.URLError:
        return INVALID
    return APPROVED if url.host and url.scheme else INVALID


@lint("api-approved", on="crd", stage=SPEC)
def api_approved(node: Node) -> Problems:
    """Refuse community groups without the approval annotation; source: validateAPIApproval."""
    crd = node.crd
    group = crd.spec.get("group") or ""
    if not protected(group):
        return
    found = state(crd)
    if found not in (MISSING, INVALID) or (crd.old is not None and state(crd.old) == found):
        return
    place = node.at("metadata", "annotations", ANNOTATION)
    if found == MISSING:
        message = f"the group {group} is the Kubernetes community's, which wants this annotation"
        related = [(node.at("spec", "group"), "the group")]
        yield Problem(place, message, refused=["Required"], related=related)
    else:
        text = crd.metadata["annotations"][ANNOTATION]
        message = f"{text!r} is neither a URL nor a text that starts with unapproved"
        yield Problem(place, message, refused=["Invalid"])
