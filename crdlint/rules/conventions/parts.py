"""What the checks of the conventions share: the name of a field, and types that are borrowed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crdlint.tree import Node

LIST_TYPE = "x-kubernetes-list-type"
INT_OR_STRING = "x-kubernetes-int-or-string"
TYPE_META = frozenset(("apiVersion", "kind", "metadata"))

# Fields by which types of Kubernetes itself are known: the rarest first, then what stands with it.
# Authors of a CRD that embeds them cannot change them.
_KUBERNETES = {
    "activeDeadlineSeconds": {"containers", "restartPolicy"},  # PodSpec
    "automountServiceAccountToken": {"containers"},  # PodSpec in part
    "containers": {"volumes"},  # PodSpec in part
    "backoffLimit": {"completions", "parallelism", "template"},  # JobSpec
    "allocatedResourceStatuses": {"accessModes", "capacity"},  # PersistentVolumeClaimStatus
    "imagePullPolicy": {"env", "image", "resources"},  # Container
    "nodeAffinity": {"podAffinity", "podAntiAffinity"},  # Affinity
    "preferredDuringSchedulingIgnoredDuringExecution": set(),
    "requiredDuringSchedulingIgnoredDuringExecution": set(),
    "tolerationSeconds": {"effect", "key", "operator"},  # Toleration
    "topologyKey": {"labelSelector"},  # TopologySpreadConstraint, PodAffinityTerm
    "valueFrom": {"name", "value"},  # EnvVar
    "configMapRef": {"prefix", "secretRef"},  # EnvFromSource
    "matchExpressions": {"matchLabels"},  # LabelSelector
    "hostPath": {"emptyDir", "secret"},  # Volume
    "mountPath": {"name", "subPath"},  # VolumeMount
    "claims": {"limits", "requests"},  # ResourceRequirements
    "httpGet": {"exec", "tcpSocket"},  # Probe, LifecycleHandler
    "seLinuxOptions": {"runAsUser"},  # SecurityContext, PodSecurityContext
    "volumeMode": {"accessModes", "resources"},  # PersistentVolumeClaimSpec
    "clusterIP": {"ports", "selector"},  # ServiceSpec
    "optional": {"key", "name"},  # SecretKeySelector, ConfigMapKeySelector
    "apiGroup": {"kind", "name"},  # TypedLocalObjectReference
    "loadBalancer": {"conditions"},  # ServiceStatus
    "resourceVersion": {"apiVersion", "fieldPath", "uid"},  # ObjectReference
    "ownerReferences": {"annotations", "labels"},  # ObjectMeta
    "managedFields": {"annotations", "labels"},  # ObjectMeta
}


def name_of(node: Node) -> str:
    """Return the name of the field that a schema is of, or "" where it is an item or the like."""
    step = node.step
    return str(step[1]) if step[0] == "properties" and len(step) == 2 else ""


def belongs_to_resource(node: Node) -> bool:
    """Tell whether a field is apiVersion, kind or metadata of a whole object."""
    parent = node.parent
    return (
        name_of(node) in TYPE_META
        and parent is not None
        and (parent.is_root or bool(parent.get("x-kubernetes-embedded-resource")))
    )


def own(node: Node) -> bool:
    """Tell whether the author of the CRD chose what stands at a schema.

    That is not so in object metadata, nor within types that Kubernetes itself defines, which are
    told by names of fields that stand together in them.
    """
    section, borrowed = _lineage(node)
    return section != "metadata" and not borrowed


def within(node: Node, name: str) -> bool:
    """Tell whether a schema is a field at the top of the resource, or below it."""
    return _lineage(node)[0] == name


def _lineage(node: Node) -> tuple[str, bool]:
    """Return the field at the top that a schema belongs to, and whether its type is borrowed.

    Every node on the way keeps the answer, as many checks ask for it.
    """
    unknown = []
    part = node
    while getattr(part, "memo", None) is None and not part.is_root and part.parent is not None:
        unknown.append(part)
        part = part.parent
    section, borrowed = getattr(part, "memo", ("", False))
    for part in reversed(unknown):
        if part.parent is not None and part.parent.is_root:
            section = name_of(part)
        borrowed = borrowed or _known_type(part.get("properties") or {})
        part.memo = section, borrowed
    return section, borrowed


def _known_type(properties: Mapping[str, Any]) -> bool:
    keys = properties.keys()
    return any(mark in keys and others <= keys for mark, others in _KUBERNETES.items())
