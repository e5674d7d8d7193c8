"""Group, scope and names: what the API server refuses, and names that get in each other's way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdlint import objectmeta
from crdlint.rule import SPEC, Problem, lint, lint_set
from crdlint.rules.metadata import name_refused

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crdlint.rule import Problems
    from crdlint.tree import Crd, Node, Place

SCOPES = ("Cluster", "Namespaced")

# Short names and resources that every cluster has. Source: kubectl api-resources of Kubernetes 1.37
# (core, apps, autoscaling, batch, certificates, networking, policy, scheduling, storage,
# apiextensions, admissionregistration, rbac).
BUILT_IN = {
    "cj": "cronjobs",
    "cm": "configmaps",
    "crd": "customresourcedefinitions",
    "crds": "customresourcedefinitions",
    "cs": "componentstatuses",
    "csr": "certificatesigningrequests",
    "deploy": "deployments",
    "ds": "daemonsets",
    "ep": "endpoints",
    "ev": "events",
    "hpa": "horizontalpodautoscalers",
    "ing": "ingresses",
    "ip": "ipaddresses",
    "limits": "limitranges",
    "netpol": "networkpolicies",
    "no": "nodes",
    "ns": "namespaces",
    "pc": "priorityclasses",
    "pdb": "poddisruptionbudgets",
    "po": "pods",
    "pv": "persistentvolumes",
    "pvc": "persistentvolumeclaims",
    "quota": "resourcequotas",
    "rc": "replicationcontrollers",
    "rs": "replicasets",
    "sa": "serviceaccounts",
    "sc": "storageclasses",
    "sts": "statefulsets",
    "svc": "services",
}


def lowered(text: str) -> str:
    """Lower a text rune by rune, as Go's strings.ToLower does."""
    return text.lower() if text.isascii() else "".join(char.lower()[0] for char in text)


@lint("group", on="crd", stage=SPEC)
def group(node: Node) -> Problems:
    """Refuse a missing group, or one that is no domain; source: CRD spec validation."""
    name = node.crd.spec.get("group") or ""
    place = node.at("spec", "group")
    if not name:
        yield Problem(place, "a CRD needs a group", refused=["Required", *_name_too(node)])
    elif wrong := objectmeta.dns1123_subdomain(name):
        yield Problem(place, f"{name!r} is no DNS name: {wrong[0]}", refused=["Invalid"])
    elif "." not in name:
        message = f"{name!r} has no dot, and groups without one belong to Kubernetes"
        yield Problem(place, message, refused=["Invalid"])


def _name_too(node: Node) -> list[Any]:
    """Return what the server says of metadata.name, which is made of plural and group."""
    if name_refused(node.crd):
        return [("Invalid", node.at("metadata", "name"))]
    return []


@lint("scope", on="crd", stage=SPEC)
def scope(node: Node) -> Problems:
    """Refuse a scope that is neither Cluster nor Namespaced; source: CRD spec validation."""
    name = node.crd.spec.get("scope") or ""
    place = node.at("spec", "scope")
    if not name:
        message = "apiextensions.k8s.io/v1 has no default: it is Namespaced or Cluster"
        yield Problem(place, message, refused=["Required"])
    elif name not in SCOPES:
        yield Problem(
            place, f"{name!r} is neither Namespaced nor Cluster", refused=["NotSupported"]
        )


@lint("names-required", on="crd", stage=SPEC)
def names_required(node: Node) -> Problems:
    """Refuse a missing plural or kind; source: CRD spec validation.

    singular and listKind are made of kind, so they are missing with it.
    """
    names = node.crd.names
    if not names.get("plural"):
        place = node.at("spec", "names", "plural")
        message = "the name of the resource in URLs, such as widgets, is missing"
        yield Problem(place, message, refused=["Required", *_name_too(node)])
    if not names.get("kind"):
        place = node.at("spec", "names", "kind")
        also = [key for key in ("singular", "listKind") if not names.get(key)]
        refused = ["Required", *(("Required", node.at("spec", "names", key)) for key in also)]
        yield Problem(place, "the kind, such as Widget, is missing", refused=refused)


@lint("names-format", on="crd", stage=SPEC)
def names_format(node: Node) -> Problems:
    """Refuse names that are no DNS labels; source: ValidateCustomResourceDefinitionNames."""
    names = node.crd.names

    def at(*keys: str | int) -> Place:
        return node.at("spec", "names", *keys)

    kind = names.get("kind") or ""
    wrong_kind = objectmeta.dns1035_label(lowered(kind)) if kind else []
    derived = {"singular": lowered(kind), "listKind": f"{kind}List"}
    for key in ("plural", "singular", "kind", "listKind"):
        name = names.get(key) or ""
        wrong = objectmeta.dns1035_label(lowered(name) if "ind" in key else name) if name else []
        if not wrong or (wrong_kind and name == derived.get(key)):
            continue  # what is made of a bad kind is put right with it
        refused: list[Any] = ["Invalid"]
        if key == "kind":
            bad = [k for k, v in derived.items() if names.get(k) == v and _no_label(v, k)]
            refused += [("Invalid", at(k)) for k in bad]
        message = f"{name!r} is refused: {wrong[0]}"
        if key == "listKind" and name == derived[key]:
            message = f"{name!r}, kind and List, is refused: {wrong[0]}"
        yield Problem(at(key), message, refused=refused)
    for key in ("shortNames", "categories"):
        for i, name in enumerate(names.get(key) or []):
            if wrong := objectmeta.dns1035_label(name):
                message = f"{name!r} is refused: {wrong[0]}"
                yield Problem(at(key, i), message, refused=["Invalid"])


def _no_label(name: str, key: str) -> bool:
    return bool(objectmeta.dns1035_label(lowered(name) if key == "listKind" else name))


@lint("list-kind-same", on="crd", stage=SPEC)
def list_kind_same(node: Node) -> Problems:
    """Refuse a list of the same kind as its items; source: CRD names validation."""
    names = node.crd.names
    kind = names.get("kind")
    if kind and kind == names.get("listKind"):
        place = node.at("spec", "names", "listKind")
        message = f"{kind!r} is the kind of the items already"
        yield Problem(place, message, refused=["Invalid"])


@lint("short-name-own", "short-name-repeated", "short-name-built-in", on="crd")
def short_names(node: Node) -> Problems:
    """Report short names that say nothing new, or that kubectl reads as another resource."""
    names = node.crd.names
    own = {names.get("plural"): "plural", names.get("singular"): "singular"}
    seen: dict[str, int] = {}
    for i, short in enumerate(names.get("shortNames") or []):
        place = node.at("spec", "names", "shortNames", i)
        if short in seen:
            related = [(node.at("spec", "names", "shortNames", seen[short]), "listed here before")]
            message = f"{short!r} is listed twice"
            yield Problem(place, message, rule="short-name-repeated", related=related)
            continue
        seen[short] = i
        if short in own:
            message = f"{short!r} is the {own[short]} already, so it adds nothing"
            yield Problem(place, message, rule="short-name-own")
        elif short in BUILT_IN or short in BUILT_IN.values():
            resource = BUILT_IN.get(short, short)
            message = f"kubectl reads {short!r} as {resource}, so this never names the resource"
            yield Problem(place, message, rule="short-name-built-in")


@lint("category-all", on="crd")
def category_all(node: Node) -> Problems:
    """Report resources that `kubectl get all` would list."""
    for i, category in enumerate(node.crd.names.get("categories") or []):
        if category == "all":
            place = node.at("spec", "names", "categories", i)
            yield Problem(place, "kubectl get all will list every object of this kind")


@lint_set("names-conflict")
def names_conflict(crds: list[Crd]) -> Problems:
    """Report two CRDs of a group that claim a name; the later one is never served.

    The names controller has two pools a group: plural, singular and short names, and kind and
    listKind. Copies of one CRD in several files are no conflict.
    """
    pools: dict[tuple[str, str, str], tuple[Crd, Place]] = {}
    said: set[tuple[str, str]] = set()
    for crd in crds:
        for pool, name, place in _claimed(crd):
            key = (str(crd.spec.get("group") or ""), pool, name)
            other, other_place = pools.setdefault(key, (crd, place))
            pair = (other.name, crd.name)
            if other.name == crd.name or pair in said:
                continue
            said.add(pair)
            message = (
                f"{name!r} is a name of {other.name} in the same group,"
                f" so whichever comes second is never served"
            )
            yield Problem(place, message, related=[(other_place, f"a name of {other.name}")])


def _claimed(crd: Crd) -> Iterator[tuple[str, str, Place]]:
    names = crd.names
    for key, pool in (
        ("plural", "resource"),
        ("singular", "resource"),
        ("kind", "kind"),
        ("listKind", "kind"),
    ):
        if names.get(key):
            yield pool, names[key], crd.root.at("spec", "names", key)
    for i, name in enumerate(names.get("shortNames") or []):
        if name:
            yield "resource", name, crd.root.at("spec", "names", "shortNames", i)


@lint_set("crd-repeated")
def crd_repeated(crds: list[Crd]) -> Problems:
    """Report a CRD that stands twice in one file: only the last one applied remains."""
    seen: dict[tuple[str, str], Crd] = {}
    for crd in crds:
        if not crd.name:
            continue
        first = seen.setdefault((crd.document.name, crd.name), crd)
        if first is not crd:
            message = f"{crd.name} is in this file before, and the last one applied wins"
            related = [(first.root.at("metadata", "name"), "first here")]
            yield Problem(crd.root.at("metadata", "name"), message, related=related)
