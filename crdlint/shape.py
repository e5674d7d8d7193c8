"""Plain data to a typed CRD as the API server decodes it; says what decoding refuses or drops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdlint.decode import (
    BYTES,
    FLAG,
    LONG,
    NUMBER,
    RAW,
    RAW_LIST,
    SHORT,
    TEXT,
    TEXT_MAP,
    TEXTS,
    TIME,
    Field,
    Refusal,
    decode,
    listed,
    lower,
    mapped,
    not_a_schema,
    obj,
    objects,
    struct,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crdlint.decode import Decoder, Trail
    from crdlint.document import Path

GROUP = "apiextensions.k8s.io"
# The endpoint fills in what is missing: all of it, or the version of its own group.
_SERVED = ("", f"{GROUP}/", f"{GROUP}/v1")


class Shape:
    """A decoded CRD, and what decoding it brought up.

    `crd` is the typed CRD: unknown fields and nulls dropped, defaults set; the same path leads to
    the same thing in the source. `error` is the first reason why it cannot be decoded, or None.
    `unknown` has the paths that strict field validation refuses, `hidden` those of unknown fields
    that the server drops without a word.
    """

    __slots__ = ("crd", "error", "hidden", "unknown")

    def __init__(self) -> None:
        self.crd: dict[str, Any] = {}
        self.error: Refusal | None = None
        self.unknown: list[Path] = []
        self.hidden: list[Path] = []


def shape(data: Mapping[str, Any], *, minor: int = 37) -> Shape:
    """Decode one CRD document as the server of a Kubernetes minor does on create.

    A v1beta1 document is decoded by its own fields first: only where they fit is the answer that
    the version is not served.
    Source: apiextensions v1 types, their hand-written unmarshallers, and sigs.k8s.io/json.
    """
    result = Shape()
    version = data.get("apiVersion")
    old = version == f"{GROUP}/v1beta1"
    if isinstance(version, str) and not old and version not in _SERVED:
        message = f"there is no CustomResourceDefinition in {version!r}"
        result.error = Refusal("DecodeError", ("apiVersion",), message)
        return result
    crd, decoder = decode(_V1BETA1 if old else _V1, data, minor)
    result.error = decoder.error
    if old:
        if result.error is None:
            message = "v1beta1 is not served since Kubernetes 1.22"
            result.error = Refusal("NotServed", ("apiVersion",), message)
        return result
    result.unknown, result.hidden = decoder.unknown, decoder.hidden
    if result.error is None:
        result.crd = with_defaults(crd)
    return result


def _items(d: Decoder, value: Any, trail: Trail, _: bool) -> Any:
    """Decode a schema or a list of them; anything else decodes to neither, without an error."""
    if isinstance(value, dict):
        return _SCHEMA(d, value, trail, True)
    if isinstance(value, list):
        return _SCHEMAS(d, value, trail, True)
    return []


def _schema_or_bool(d: Decoder, value: Any, trail: Trail, _: bool) -> Any:
    if isinstance(value, dict):
        return _SCHEMA(d, value, trail, True)
    if not isinstance(value, bool):
        not_a_schema(d, value, trail)
    return value


def _schema_or_names(d: Decoder, value: Any, trail: Trail, _: bool) -> Any:
    if isinstance(value, dict):
        return _SCHEMA(d, value, trail, True)
    return TEXTS.decode(d, value, trail, True) if isinstance(value, list) else []


def _schema(d: Decoder, value: Any, trail: Trail, blind: bool) -> Any:
    return _SCHEMA(d, value, trail, blind)


SCHEMA = Field(_schema)
SCHEMAS = Field(listed(SCHEMA, {}))
SCHEMA_MAP = Field(mapped(SCHEMA, {}))

VALIDATION = {
    "rule": TEXT,
    "message": TEXT,
    "messageExpression": Field(TEXT.decode, str, since=27),
    "reason": Field(TEXT.decode, str, since=28),
    "fieldPath": Field(TEXT.decode, str, since=28),
    "optionalOldSelf": Field(FLAG.decode, since=29, gate=30),
}
JSON_SCHEMA = {
    "id": TEXT,
    "$schema": TEXT,
    "$ref": TEXT,
    "description": TEXT,
    "type": TEXT,
    "format": TEXT,
    "title": TEXT,
    "default": RAW,
    "maximum": NUMBER,
    "exclusiveMaximum": FLAG,
    "minimum": NUMBER,
    "exclusiveMinimum": FLAG,
    "maxLength": LONG,
    "minLength": LONG,
    "pattern": TEXT,
    "maxItems": LONG,
    "minItems": LONG,
    "uniqueItems": FLAG,
    "multipleOf": NUMBER,
    "enum": RAW_LIST,
    "maxProperties": LONG,
    "minProperties": LONG,
    "required": TEXTS,
    "items": Field(_items),
    "allOf": SCHEMAS,
    "oneOf": SCHEMAS,
    "anyOf": SCHEMAS,
    "not": SCHEMA,
    "properties": SCHEMA_MAP,
    "additionalProperties": Field(_schema_or_bool),
    "patternProperties": SCHEMA_MAP,
    "dependencies": Field(mapped(Field(_schema_or_names), [])),
    "additionalItems": Field(_schema_or_bool),
    "definitions": SCHEMA_MAP,
    "externalDocs": obj({"description": TEXT, "url": TEXT}),
    "example": RAW,
    "nullable": FLAG,
    "x-kubernetes-preserve-unknown-fields": FLAG,
    "x-kubernetes-embedded-resource": FLAG,
    "x-kubernetes-int-or-string": FLAG,
    "x-kubernetes-list-map-keys": TEXTS,
    "x-kubernetes-list-type": TEXT,
    "x-kubernetes-map-type": TEXT,
    "x-kubernetes-validations": objects(VALIDATION),
}
_SCHEMA = struct(JSON_SCHEMA)
_SCHEMAS = SCHEMAS.decode
SCHEMA.decode = _SCHEMA  # the fields of a schema hold schemas

NAMES = {
    "plural": TEXT,
    "singular": TEXT,
    "shortNames": TEXTS,
    "kind": TEXT,
    "listKind": TEXT,
    "categories": TEXTS,
}
OBJECT_META = {
    "name": TEXT,
    "generateName": TEXT,
    "namespace": TEXT,
    "selfLink": TEXT,
    "uid": TEXT,
    "resourceVersion": TEXT,
    "generation": LONG,
    "creationTimestamp": TIME,
    "deletionTimestamp": TIME,
    "deletionGracePeriodSeconds": LONG,
    "labels": TEXT_MAP,
    "annotations": TEXT_MAP,
    "ownerReferences": objects(
        {
            "apiVersion": TEXT,
            "kind": TEXT,
            "name": TEXT,
            "uid": TEXT,
            "controller": FLAG,
            "blockOwnerDeletion": FLAG,
        }
    ),
    "finalizers": TEXTS,
    "managedFields": objects(
        {
            "manager": TEXT,
            "operation": TEXT,
            "apiVersion": TEXT,
            "time": TIME,
            "fieldsType": TEXT,
            "fieldsV1": RAW,
            "subresource": TEXT,
        }
    ),
}
COLUMN = {
    "name": TEXT,
    "type": TEXT,
    "format": TEXT,
    "description": TEXT,
    "priority": SHORT,
    "jsonPath": TEXT,
}
SCALE = {"specReplicasPath": TEXT, "statusReplicasPath": TEXT, "labelSelectorPath": TEXT}
VERSION = {
    "name": TEXT,
    "served": FLAG,
    "storage": FLAG,
    "deprecated": FLAG,
    "deprecationWarning": TEXT,
    "schema": obj({"openAPIV3Schema": SCHEMA}),
    "subresources": obj({"status": obj({}), "scale": obj(SCALE)}),
    "additionalPrinterColumns": objects(COLUMN),
    "selectableFields": objects({"jsonPath": TEXT}, since=30, gate=31),
}
CLIENT_CONFIG = {
    "url": TEXT,
    "service": obj({"namespace": TEXT, "name": TEXT, "path": TEXT, "port": SHORT}),
    "caBundle": BYTES,
}
CONVERSION = {
    "strategy": TEXT,
    "webhook": obj({"clientConfig": obj(CLIENT_CONFIG), "conversionReviewVersions": TEXTS}),
}
STATUS = {
    "conditions": objects(
        {
            "type": TEXT,
            "status": TEXT,
            "lastTransitionTime": TIME,
            "reason": TEXT,
            "message": TEXT,
            "observedGeneration": Field(LONG.decode, since=35),
        }
    ),
    "acceptedNames": obj(NAMES),
    "storedVersions": TEXTS,
    "observedGeneration": Field(LONG.decode, since=35),
}
SPEC = {
    "group": TEXT,
    "names": obj(NAMES),
    "scope": TEXT,
    "versions": objects(VERSION),
    "conversion": obj(CONVERSION),
    "preserveUnknownFields": FLAG,
}
CRD = {
    "apiVersion": TEXT,
    "kind": TEXT,
    "metadata": obj(OBJECT_META),
    "spec": obj(SPEC),
    "status": obj(STATUS),
}
_V1 = struct(CRD)

_OLD_COLUMN = {"JSONPath" if key == "jsonPath" else key: field for key, field in COLUMN.items()}
_OLD_VERSION = {**VERSION, "additionalPrinterColumns": objects(_OLD_COLUMN)}
_OLD_SPEC = {
    **SPEC,
    "version": TEXT,
    "validation": VERSION["schema"],
    "subresources": VERSION["subresources"],
    "additionalPrinterColumns": objects(_OLD_COLUMN),
    "selectableFields": VERSION["selectableFields"],
    "versions": objects(_OLD_VERSION),
    "conversion": obj(
        {
            "strategy": TEXT,
            "webhookClientConfig": obj(CLIENT_CONFIG),
            "conversionReviewVersions": TEXTS,
        }
    ),
}
_V1BETA1 = struct({**CRD, "spec": obj(_OLD_SPEC)})


def with_defaults(crd: dict[str, Any]) -> dict[str, Any]:
    """Return a decoded CRD with the defaults that the server sets; source: v1 defaults.go."""
    spec = dict(crd.get("spec") or {})
    names = dict(spec.get("names") or {})
    kind = names.get("kind") or ""
    if not names.get("singular"):
        names["singular"] = lower(kind)
    if not names.get("listKind") and kind:
        names["listKind"] = f"{kind}List"
    spec["names"] = names
    conversion = spec.get("conversion")
    if conversion is None:
        spec["conversion"] = {"strategy": "None"}
    else:
        config = (conversion.get("webhook") or {}).get("clientConfig") or {}
        service = config.get("service")
        if service is not None and service.get("port") is None:
            config = {**config, "service": {**service, "port": 443}}
            webhook = {**conversion["webhook"], "clientConfig": config}
            spec["conversion"] = {**conversion, "webhook": webhook}
    return {**crd, "spec": spec}


# What v1beta1 has once for all versions, and where v1 has it in each.
_MOVED = {
    "subresources": "subresources",
    "validation": "schema",
    "additionalPrinterColumns": "additionalPrinterColumns",
    "selectableFields": "selectableFields",
}


def from_v1beta1(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return an apiextensions v1beta1 CRD as the v1 it means, undecoded.

    Its defaults are made explicit: scope Namespaced, preserveUnknownFields true, versions from
    version, conversionReviewVersions [v1beta1]; what stood at the top goes to every version.
    Source: v1beta1 defaults.go and conversion.go.
    """
    new = {**data, "apiVersion": f"{GROUP}/v1"}
    old = data.get("spec")
    if old is not None and not isinstance(old, dict):
        return new
    spec = dict(old or {})
    top = {place: spec.pop(key) for key, place in _MOVED.items() if spec.get(key) is not None}
    for key in _MOVED:
        spec.pop(key, None)
    first = spec.pop("version", None)
    versions = spec.get("versions")
    if not versions and first:
        versions = [{"name": first, "served": True, "storage": True}]
    if isinstance(versions, list):
        versions = [_version_from_v1beta1(version, top) for version in versions]
    spec["versions"] = versions
    if spec.get("scope") in (None, ""):
        spec["scope"] = "Namespaced"
    if spec.get("preserveUnknownFields") is None:
        spec["preserveUnknownFields"] = True
    if isinstance(spec.get("conversion"), dict):
        spec["conversion"] = _conversion_from_v1beta1(spec["conversion"])
    new["spec"] = spec
    return new


def place_in_v1beta1(path: Path, data: Mapping[str, Any]) -> Path:
    """Return where a v1beta1 CRD, undecoded, has what stands at a path of the v1 it means."""
    spec = data.get("spec")
    if path[:2] != ("spec", "versions") or not isinstance(spec, dict):
        return path
    place, rest = path[3:4], path[4:]
    for key, moved in _MOVED.items():
        if place == (moved,) and spec.get(key) is not None:
            return ("spec", key, *("JSONPath" if step == "jsonPath" else step for step in rest))
    return path if spec.get("versions") else ("spec", "version")


def _version_from_v1beta1(version: Any, top: Mapping[str, Any]) -> Any:
    if version is None:
        version = {}
    if not isinstance(version, dict):
        return version
    new = {**version, **top}
    columns = new.get("additionalPrinterColumns")
    if isinstance(columns, list):
        new["additionalPrinterColumns"] = [_column_from_v1beta1(column) for column in columns]
    return new


def _column_from_v1beta1(column: Any) -> Any:
    if not isinstance(column, dict):
        return column
    new = {key: value for key, value in column.items() if key in COLUMN and key != "jsonPath"}
    if "JSONPath" in column:
        new["jsonPath"] = column["JSONPath"]
    return new


def _conversion_from_v1beta1(old: Mapping[str, Any]) -> dict[str, Any]:
    config, reviews = old.get("webhookClientConfig"), old.get("conversionReviewVersions")
    strategy = old.get("strategy")
    if strategy == "Webhook" and reviews in (None, []):
        reviews = ["v1beta1"]
    new: dict[str, Any] = {"strategy": strategy}
    if config is not None or reviews is not None:
        new["webhook"] = {"clientConfig": config, "conversionReviewVersions": reviews}
    return new


def decode_fields(
    data: Mapping[str, Any], table: Mapping[str, Field]
) -> tuple[dict[str, Any], list[str], str]:
    """Decode an object by a field table: its data, its unknown fields, and the first error or "".

    Unknown fields are spelled as the server does: `name`, `ownerReferences[0].name`.
    """
    typed, decoder = decode(struct(table), data, 99)
    error = decoder.error
    where = ".".join(str(step) for step in error.path) if error else ""
    unknown = [strict_spelling(path) for path in decoder.unknown]
    return dict(typed), unknown, f"{where} {error.message}".strip() if error else ""


def strict_spelling(path: Path) -> str:
    """Spell a path as strict decoding prints unknown fields: keys of maps after dots, too."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return text.removeprefix(".")
