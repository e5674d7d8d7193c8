"""The types of Kubernetes itself that the OpenAPI document of a CRD refers to."""

from __future__ import annotations

from typing import Any

META = "io.k8s.apimachinery.pkg.apis.meta.v1."
SCALE = "io.k8s.api.autoscaling.v1.Scale"
_REFS = "#/components/schemas/"
TEXT: dict[str, Any] = {"type": "string"}
_WHOLE: dict[str, Any] = {"type": "integer", "format": "int64"}
_WHOLE32: dict[str, Any] = {"type": "integer", "format": "int32"}
_TRUTH: dict[str, Any] = {"type": "boolean"}


def ref(name: str) -> dict[str, Any]:
    """Refer to a schema of the document."""
    return {"$ref": _REFS + name}


def thing(required: str = "", /, **properties: Any) -> dict[str, Any]:
    """Return the schema of an object with these properties."""
    made: dict[str, Any] = {"type": "object", "properties": properties}
    return {**made, "required": required.split()} if required else made


def listed(items: Any) -> dict[str, Any]:
    """Return the schema of a list."""
    return {"type": "array", "items": items}


def _named(of: Any) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": of}


TYPE_META = {"apiVersion": TEXT, "kind": TEXT}

SCHEMAS: dict[str, Any] = {
    META + "Time": {"type": "string", "format": "date-time"},
    META + "FieldsV1": {"type": "object"},
    META + "Patch": {"type": "object"},
    META + "ManagedFieldsEntry": thing(
        apiVersion=TEXT,
        fieldsType=TEXT,
        fieldsV1=ref(META + "FieldsV1"),
        manager=TEXT,
        operation=TEXT,
        subresource=TEXT,
        time=ref(META + "Time"),
    ),
    META + "OwnerReference": {
        **thing(
            "apiVersion kind name uid",
            apiVersion=TEXT,
            blockOwnerDeletion=_TRUTH,
            controller=_TRUTH,
            kind=TEXT,
            name=TEXT,
            uid=TEXT,
        ),
        "x-kubernetes-map-type": "atomic",
    },
    META + "ObjectMeta": thing(
        annotations=_named(TEXT),
        creationTimestamp=ref(META + "Time"),
        deletionGracePeriodSeconds=_WHOLE,
        deletionTimestamp=ref(META + "Time"),
        finalizers={**listed(TEXT), "x-kubernetes-list-type": "set"},
        generateName=TEXT,
        generation=_WHOLE,
        labels=_named(TEXT),
        managedFields={
            **listed(ref(META + "ManagedFieldsEntry")),
            "x-kubernetes-list-type": "atomic",
        },
        name=TEXT,
        namespace=TEXT,
        ownerReferences={
            **listed(ref(META + "OwnerReference")),
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["uid"],
        },
        resourceVersion=TEXT,
        selfLink=TEXT,
        uid=TEXT,
    ),
    META + "ListMeta": {
        "type": "object",
        "properties": {
            "continue": TEXT,
            "remainingItemCount": _WHOLE,
            "resourceVersion": TEXT,
            "selfLink": TEXT,
        },
    },
    META + "Preconditions": thing(resourceVersion=TEXT, uid=TEXT),
    META + "DeleteOptions": thing(
        **TYPE_META,
        dryRun=listed(TEXT),
        gracePeriodSeconds=_WHOLE,
        orphanDependents=_TRUTH,
        preconditions=ref(META + "Preconditions"),
        propagationPolicy=TEXT,
    ),
    META + "StatusCause": thing(field=TEXT, message=TEXT, reason=TEXT),
    META + "StatusDetails": thing(
        causes=listed(ref(META + "StatusCause")),
        group=TEXT,
        kind=TEXT,
        name=TEXT,
        retryAfterSeconds=_WHOLE32,
        uid=TEXT,
    ),
    META + "Status": thing(
        **TYPE_META,
        code=_WHOLE32,
        details=ref(META + "StatusDetails"),
        message=TEXT,
        metadata=ref(META + "ListMeta"),
        reason=TEXT,
        status=TEXT,
    ),
    SCALE: thing(
        **TYPE_META,
        metadata=ref(META + "ObjectMeta"),
        spec=thing(replicas=_WHOLE32),
        status=thing("replicas", replicas=_WHOLE32, selector=TEXT),
    ),
}

# Query parameters, by what a request does.
_SHARED = {"pretty": TEXT}
_DRY_RUN = {"dryRun": TEXT, "fieldManager": TEXT, "fieldValidation": TEXT}
_LIST = {
    "allowWatchBookmarks": _TRUTH,
    "continue": TEXT,
    "fieldSelector": TEXT,
    "labelSelector": TEXT,
    "limit": {"type": "integer"},
    "resourceVersion": TEXT,
    "resourceVersionMatch": TEXT,
    "sendInitialEvents": _TRUTH,
    "timeoutSeconds": {"type": "integer"},
    "watch": _TRUTH,
}
QUERIES: dict[str, dict[str, Any]] = {
    "get": {**_SHARED, "resourceVersion": TEXT},
    "list": {**_SHARED, **_LIST},
    "deletecollection": {**_SHARED, **_LIST},
    "post": {**_SHARED, **_DRY_RUN},
    "put": {**_SHARED, **_DRY_RUN},
    "patch": {**_SHARED, **_DRY_RUN, "force": _TRUTH},
    "delete": {
        **_SHARED,
        "dryRun": TEXT,
        "gracePeriodSeconds": {"type": "integer"},
        "orphanDependents": _TRUTH,
        "propagationPolicy": TEXT,
    },
}
