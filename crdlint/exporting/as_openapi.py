"""A version of a CRD as the OpenAPI 3.0 document that the API server publishes for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdlint.exporting.kubernetes_types import (
    META,
    QUERIES,
    SCALE,
    SCHEMAS,
    TYPE_META,
    listed,
    ref,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crdlint.tree import Node

    Schema = Mapping[str, Any]

_KIND = "x-kubernetes-group-version-kind"
_MEDIA = ("application/json", "application/yaml")
_PATCHES = (
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/apply-patch+yaml",
)
# A request: method, verb of x-kubernetes-action, first word of operationId, further answers.
_ONE = (
    ("get", "get", "read", ()),
    ("put", "put", "replace", (("201", "Created"),)),
    ("patch", "patch", "patch", ()),
)
_ACCEPTED, _CREATED = ("202", "Accepted"), ("201", "Created")
_RESOURCE: dict[str, Any] = {**TYPE_META, "metadata": ref(META + "ObjectMeta")}
_OBJECT_MAPS = ("properties",)
_SCHEMAS = ("items", "additionalProperties", "not")
_SCHEMA_LISTS = ("allOf", "anyOf", "oneOf")


def export(version: Node) -> dict[str, Any]:
    """Write the document of one version: paths, and the schemas that they use.

    Source: BuildOpenAPIV3 of apiextensions' controller/openapi/builder.
    """
    return _Builder(version).document()


class _Builder:
    """What the parts of one document share."""

    def __init__(self, version: Node) -> None:
        crd = version.crd
        self.version = version
        self.group = str(crd.spec.get("group") or "")
        self.name = str(version.get("name") or "")
        self.names = crd.names
        self.kind = str(crd.names.get("kind") or "")
        self.plural = str(crd.names.get("plural") or "")
        self.namespaced = crd.spec.get("scope") == "Namespaced"
        self.subresources = version.get("subresources") or {}

    def document(self) -> dict[str, Any]:
        return {
            "openapi": "3.0.0",
            "info": {"title": "Kubernetes CRD Swagger", "version": "v0.1.0"},
            "paths": self._paths(),
            "components": {"schemas": self._schemas()},
        }

    def _model(self, kind: str) -> str:
        return ".".join((*reversed(self.group.split(".")), self.name, kind))

    def _identity(self, kind: str) -> dict[str, Any]:
        return {"group": self.group, "version": self.name, "kind": kind}

    # Schemas.

    def _schemas(self) -> dict[str, Any]:
        list_kind = str(self.names.get("listKind") or f"{self.kind}List")
        mine = {
            self._model(self.kind): self._own(),
            self._model(list_kind): {
                "type": "object",
                "description": f"{list_kind} is a list of {self.kind}",
                "required": ["items"],
                "properties": {
                    **TYPE_META,
                    "items": listed(ref(self._model(self.kind))),
                    "metadata": ref(META + "ListMeta"),
                },
                _KIND: [self._identity(list_kind)],
            },
        }
        used = {**mine, **SCHEMAS}
        if self.subresources.get("scale") is None:
            used.pop(SCALE)
        return dict(sorted(used.items()))

    def _own(self) -> dict[str, Any]:
        root = next((node.data for node in self.version.children()), None)
        made: dict[str, Any] = published(root) if root is not None else {"type": "object"}
        if root is not None:
            made.setdefault("properties", {}).update(_RESOURCE)
        return {**made, _KIND: [self._identity(self.kind)]}

    # Paths.

    def _paths(self) -> dict[str, Any]:
        base = f"/apis/{self.group}/{self.name}"
        root = f"{base}/{self.plural}"
        paths: dict[str, Any] = {}
        mine, of_list = (
            self._model(self.kind),
            self._model(str(self.names.get("listKind") or f"{self.kind}List")),
        )
        if self.namespaced:
            everywhere = self._operation("list", "list", of_list, suffix="ForAllNamespaces")
            paths[root] = {"get": everywhere}
            root = f"{base}/namespaces/{{namespace}}/{self.plural}"
        paths[root] = self._with_parameters(
            {
                "get": self._operation("list", "list", of_list),
                "post": self._operation("post", "create", mine, (_CREATED, _ACCEPTED), body=mine),
                "delete": self._operation("deletecollection", "deleteCollection", META + "Status"),
            }
        )
        one = f"{root}/{{name}}"
        paths[one] = self._with_parameters(self._on_one(mine), name=True)
        paths[one]["delete"] = self._operation(
            "delete", "delete", META + "Status", (_ACCEPTED,), body=META + "DeleteOptions"
        )
        for key, model in (("status", mine), ("scale", SCALE)):
            if self.subresources.get(key) is not None:
                requests = self._on_one(model, suffix=key.title())
                paths[f"{one}/{key}"] = self._with_parameters(requests, name=True)
        return paths

    def _on_one(self, model: str, suffix: str = "") -> dict[str, Any]:
        return {
            method: self._operation(
                action,
                word,
                model,
                more,
                body={"put": model, "patch": META + "Patch"}.get(method, ""),
                suffix=suffix,
            )
            for method, action, word, more in _ONE
        }

    def _with_parameters(self, requests: dict[str, Any], *, name: bool = False) -> dict[str, Any]:
        parameters = [_parameter("name", "path")] if name else []
        if self.namespaced:
            parameters.append(_parameter("namespace", "path"))
        return {**requests, **({"parameters": parameters} if parameters else {})}

    def _operation(
        self,
        action: str,
        word: str,
        answer: str,
        more: tuple[tuple[str, str], ...] = (),
        *,
        body: str = "",
        suffix: str = "",
    ) -> dict[str, Any]:
        """Write one request: its parameters, its body and its answers."""
        scope = "Namespaced" if self.namespaced and suffix != "ForAllNamespaces" else ""
        words = "".join(part.title() for part in self.group.split(".")) + self.name.title()
        group = "".join(char for char in words if char.isalnum())
        content = {media: {"schema": ref(answer)} for media in _MEDIA}
        made: dict[str, Any] = {
            "description": f"{word} {self.kind}{f' ({suffix})' if suffix else ''}",
            "operationId": f"{word}{group}{scope}{self.kind}{suffix}",
            "tags": [f"{group[:1].lower()}{group[1:]}"],
            "parameters": [
                _parameter(key, "query", schema) for key, schema in QUERIES[action].items()
            ],
            "responses": {
                code: {"description": text, "content": content}
                for code, text in (("200", "OK"), *more)
            }
            | {"401": {"description": "Unauthorized"}},
            "x-kubernetes-action": action,
            _KIND: self._identity(self.kind),
        }
        if body:
            media = _PATCHES if action == "patch" else _MEDIA
            made["requestBody"] = {"content": {kind: {"schema": ref(body)} for kind in media}}
            if action != "delete":
                made["requestBody"]["required"] = True
        return made


def _parameter(name: str, place: str, schema: Any = None) -> dict[str, Any]:
    made = {"name": name, "in": place, "schema": schema or {"type": "string"}}
    return {**made, "required": True} if place == "path" else made


def published(schema: Schema) -> dict[str, Any]:
    """Write a structural schema as the server publishes it.

    Source: ToKubeOpenAPI and addEmbeddedProperties of apiextensions.
    """
    made: dict[str, Any] = {}
    for key, value in schema.items():
        if value in (None, "", [], {}) and key != "default":
            continue
        if key in _OBJECT_MAPS:
            made[key] = {name: published(below) for name, below in value.items()}
        elif key in _SCHEMAS and isinstance(value, dict):
            made[key] = published(value)
        elif key in _SCHEMA_LISTS:
            made[key] = [published(branch) for branch in value]
        elif value is not False or key in ("additionalProperties", "default"):
            made[key] = value
    if schema.get("x-kubernetes-embedded-resource"):
        made.setdefault("properties", {}).update(_RESOURCE)
        required = made.get("required") or []
        missing = [name for name in ("kind", "apiVersion") if name not in required]
        made["required"] = [*required, *missing]
    return made
