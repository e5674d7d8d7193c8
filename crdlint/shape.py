"""Plain data to a typed CRD as the API server decodes it; says what decoding refuses or drops."""

from __future__ import annotations

import binascii
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from crdlint.document import Path

GROUP = "apiextensions.k8s.io"
INT32 = (-(1 << 31), (1 << 31) - 1)
INT64 = (-(1 << 63), (1 << 63) - 1)


class Refusal:
    """Why the server cannot take the request at all: its error type, the place, and the reason."""

    __slots__ = ("message", "path", "type")

    def __init__(self, type_: str, path: Path, message: str) -> None:
        self.type = type_
        self.path = path
        self.message = message


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

    Source: apiextensions v1 types, their hand-written unmarshallers, and sigs.k8s.io/json.
    """
    result = Shape()
    version = data.get("apiVersion")
    if isinstance(version, str) and version not in ("", f"{GROUP}/v1"):
        if version == f"{GROUP}/v1beta1":
            message = "v1beta1 is not served since Kubernetes 1.22"
            result.error = Refusal("NotServed", ("apiVersion",), message)
        else:
            message = f"there is no CustomResourceDefinition in {version!r}"
            result.error = Refusal("DecodeError", ("apiVersion",), message)
        return result
    decoder = _Decoder(result, minor)
    crd = _struct(CRD)(decoder, data, (), False)
    if result.error is None:
        result.crd = with_defaults(crd)
    return result


Trail = tuple[Any, ...]  # () or (trail of the parent, key): flattened only where it is needed
Decode = "Callable[[_Decoder, Any, Trail, bool], Any]"

_GONE: Any = object()


class _Decoder:
    """What the decoding functions share: the first error, and what is not known."""

    __slots__ = ("minor", "result")

    def __init__(self, result: Shape, minor: int) -> None:
        self.result = result
        self.minor = minor

    def refuse(self, trail: Trail, message: str) -> None:
        if self.result.error is None:
            self.result.error = Refusal("DecodeError", _flat(trail), message)

    def unknown(self, trail: Trail, blind: bool) -> None:
        (self.result.hidden if blind else self.result.unknown).append(_flat(trail))


def _flat(trail: Trail) -> Path:
    steps = []
    while trail:
        trail, step = trail
        steps.append(step)
    return tuple(reversed(steps))


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return f"the boolean {str(value).lower()}"
    if isinstance(value, str):
        return f"the text {value!r}" if len(value) <= 40 else "a text"
    if isinstance(value, int | float):
        return f"the number {value}"
    return "a list" if isinstance(value, list) else "an object"


class Field:
    """How one field is decoded.

    A value of the type `exact` is taken as it is; any other goes through `decode`. Servers before
    `since` do not know the field; servers before `gate` know it and drop it in silence.
    """

    __slots__ = ("decode", "exact", "gate", "since")

    def __init__(
        self, decode: Any, exact: type | None = None, *, since: int = 0, gate: int = 0
    ) -> None:
        self.decode = decode
        self.exact = exact
        self.since = since
        self.gate = gate


def _struct(table: dict[str, Field]) -> Any:
    """Return the decoding function of an object with these fields."""

    def decode(d: _Decoder, value: Any, trail: Trail, blind: bool) -> Any:
        if not isinstance(value, dict):
            d.refuse(trail, f"must be an object, not {_kind(value)}")
            return {}
        changed: dict[str, Any] | None = None
        minor = d.minor
        for key, inner in value.items():
            field = table.get(key)
            if field is None or minor < field.since:
                d.unknown((trail, key), blind)
                new = _GONE
            elif inner is None or minor < field.gate:
                new = _GONE
            elif type(inner) is field.exact:
                continue
            else:
                new = field.decode(d, inner, (trail, key), blind)
                if new is inner:
                    continue
            if changed is None:
                changed = {}
            changed[key] = new
        return value if changed is None else _with(value, changed)

    return decode


def _with(value: dict[str, Any], changed: dict[str, Any]) -> dict[str, Any]:
    """Return a mapping with some values changed or gone."""
    merged = {key: changed.get(key, inner) for key, inner in value.items()}
    return {key: inner for key, inner in merged.items() if inner is not _GONE}


def _scalar(what: str, accepts: Callable[[Any], bool]) -> Any:
    def decode(d: _Decoder, value: Any, trail: Trail, _: bool) -> Any:
        if not accepts(value):
            d.refuse(trail, f"must be {what}, not {_kind(value)}")
        return value

    return decode


def _whole(low: int, high: int) -> Any:
    """Return the decoding function of a whole number; 10.0 and 1e3 arrive as 10 and 1000."""

    def decode(d: _Decoder, value: Any, trail: Trail, _: bool) -> Any:
        if isinstance(value, float) and value.is_integer() and abs(value) < 1e21:
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            d.refuse(trail, f"must be a whole number, not {_kind(value)}")
        elif not low <= value <= high:
            d.refuse(trail, f"must be between {low} and {high}, not {value}")
        return value

    return decode


def _number(d: _Decoder, value: Any, trail: Trail, _: bool) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float):
        d.refuse(trail, f"must be a number, not {_kind(value)}")
    elif isinstance(value, int) and abs(value) > 1 << 53:
        return float(value)  # the server keeps 64-bit floats
    return value


def _list(of: Field, empty: Any) -> Any:
    """Return the decoding function of a list; null items become the `empty` value of the type."""

    def decode(d: _Decoder, value: Any, trail: Trail, blind: bool) -> Any:
        if not isinstance(value, list):
            d.refuse(trail, f"must be a list, not {_kind(value)}")
            return []
        new: list[Any] | None = None
        for i, inner in enumerate(value):
            if type(inner) is of.exact:
                continue
            item = empty if inner is None else of.decode(d, inner, (trail, i), blind)
            if item is not inner:
                if new is None:
                    new = list(value)
                new[i] = item
        return value if new is None else new

    return decode


def _map(of: Field, empty: Any) -> Any:
    """Return the decoding function of a map; null values become the `empty` value of the type."""

    def decode(d: _Decoder, value: Any, trail: Trail, blind: bool) -> Any:
        if not isinstance(value, dict):
            d.refuse(trail, f"must be an object, not {_kind(value)}")
            return {}
        changed: dict[str, Any] | None = None
        for key, inner in value.items():
            if type(inner) is of.exact:
                continue
            item = empty if inner is None else of.decode(d, inner, (trail, key), blind)
            if item is not inner:
                if changed is None:
                    changed = {}
                changed[key] = item
        return value if changed is None else _with(value, changed)

    return decode


def _raw(_: _Decoder, value: Any, __: Trail, ___: bool) -> Any:
    return value


def _raw_list(d: _Decoder, value: Any, trail: Trail, _: bool) -> Any:
    if not isinstance(value, list):
        d.refuse(trail, f"must be a list, not {_kind(value)}")
        return []
    return value


def _base64(d: _Decoder, value: Any, trail: Trail, _: bool) -> Any:
    """Check a text of bytes as Go decodes it: standard base64, line ends ignored."""
    if isinstance(value, list):  # Go takes a list of small numbers as bytes, too
        if any(isinstance(b, bool) or not isinstance(b, int) or not 0 <= b < 256 for b in value):
            d.refuse(trail, "must be base64, not a list")
        return value
    if not isinstance(value, str):
        d.refuse(trail, f"must be a base64 text, not {_kind(value)}")
        return value
    text = value.replace("\n", "").replace("\r", "")
    try:
        binascii.a2b_base64(text.encode("ascii"), strict_mode=True)
    except (ValueError, binascii.Error):
        if text:
            d.refuse(trail, "is not base64")
    return value


_TIME = re.compile(
    r"\d{4}-(\d\d)-(\d\d)T(\d{1,2}):(\d\d):(\d\d)(?:[.,]\d+)?(?:Z|[+-](\d\d):(\d\d))\Z", re.ASCII
)


def _time(d: _Decoder, value: Any, trail: Trail, _: bool) -> Any:
    """Check a time as Go's RFC 3339 layout reads it."""
    if not isinstance(value, str):
        d.refuse(trail, f"must be an RFC 3339 time, not {_kind(value)}")
    elif not is_time(value):
        d.refuse(trail, f"must be an RFC 3339 time such as 2026-01-31T08:00:00Z, not {value!r}")
    return value


def is_time(text: str) -> bool:
    """Tell whether Go parses a text with its RFC 3339 layout."""
    match = _TIME.match(text)
    if match is None:
        return False
    month, day, hour, minute, second = (int(part) for part in match.groups()[:5])
    zone = [int(part or 0) for part in match.groups()[5:]]
    if not (1 <= month <= 12 and hour < 24 and minute < 60 and second < 60):
        return False
    year = int(text[:4])
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    days = 29 if month == 2 and leap else 28 if month == 2 else 30 if month in (4, 6, 9, 11) else 31
    return 1 <= day <= days and zone[0] <= 24 and zone[1] < 60


def _schema(d: _Decoder, value: Any, trail: Trail, blind: bool) -> Any:
    return _SCHEMA(d, value, trail, blind)


def _items(d: _Decoder, value: Any, trail: Trail, _: bool) -> Any:
    """Decode a schema or a list of them; anything else decodes to neither, without an error."""
    if isinstance(value, dict):
        return _SCHEMA(d, value, trail, True)
    if isinstance(value, list):
        return _SCHEMAS(d, value, trail, True)
    return []


def _schema_or_bool(d: _Decoder, value: Any, trail: Trail, _: bool) -> Any:
    if isinstance(value, dict):
        return _SCHEMA(d, value, trail, True)
    if not isinstance(value, bool):
        d.refuse(trail, f"must be true, false or a schema, not {_kind(value)}")
    return value


def _schema_or_names(d: _Decoder, value: Any, trail: Trail, _: bool) -> Any:
    if isinstance(value, dict):
        return _SCHEMA(d, value, trail, True)
    return _NAMES(d, value, trail, True) if isinstance(value, list) else []


TEXT = Field(_scalar("a text", lambda value: isinstance(value, str)), str)
FLAG = Field(_scalar("true or false", lambda value: isinstance(value, bool)), bool)
SHORT = Field(_whole(*INT32))
LONG = Field(_whole(*INT64))
NUMBER = Field(_number)
RAW = Field(_raw)
TIME = Field(_time)
TEXTS = Field(_list(TEXT, ""))
TEXT_MAP = Field(_map(TEXT, ""))
SCHEMA = Field(_schema)
SCHEMAS = Field(_list(SCHEMA, {}))
SCHEMA_MAP = Field(_map(SCHEMA, {}))


def _object(table: dict[str, Field]) -> Field:
    return Field(_struct(table))


def _objects(table: dict[str, Field]) -> Field:
    return Field(_list(_object(table), {}))


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
    "enum": Field(_raw_list),
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
    "dependencies": Field(_map(Field(_schema_or_names), [])),
    "additionalItems": Field(_schema_or_bool),
    "definitions": SCHEMA_MAP,
    "externalDocs": _object({"description": TEXT, "url": TEXT}),
    "example": RAW,
    "nullable": FLAG,
    "x-kubernetes-preserve-unknown-fields": FLAG,
    "x-kubernetes-embedded-resource": FLAG,
    "x-kubernetes-int-or-string": FLAG,
    "x-kubernetes-list-map-keys": TEXTS,
    "x-kubernetes-list-type": TEXT,
    "x-kubernetes-map-type": TEXT,
    "x-kubernetes-validations": _objects(VALIDATION),
}
_SCHEMA = _struct(JSON_SCHEMA)
_SCHEMAS = _list(SCHEMA, {})
_NAMES = _list(TEXT, "")

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
    "ownerReferences": _objects(
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
    "managedFields": _objects(
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
    "schema": _object({"openAPIV3Schema": SCHEMA}),
    "subresources": _object({"status": _object({}), "scale": _object(SCALE)}),
    "additionalPrinterColumns": _objects(COLUMN),
    "selectableFields": Field(_list(_object({"jsonPath": TEXT}), {}), since=30, gate=31),
}
CONVERSION = {
    "strategy": TEXT,
    "webhook": _object(
        {
            "clientConfig": _object(
                {
                    "url": TEXT,
                    "service": _object(
                        {"namespace": TEXT, "name": TEXT, "path": TEXT, "port": SHORT}
                    ),
                    "caBundle": Field(_base64),
                }
            ),
            "conversionReviewVersions": TEXTS,
        }
    ),
}
STATUS = {
    "conditions": _objects(
        {
            "type": TEXT,
            "status": TEXT,
            "lastTransitionTime": TIME,
            "reason": TEXT,
            "message": TEXT,
            "observedGeneration": Field(LONG.decode, since=35),
        }
    ),
    "acceptedNames": _object(NAMES),
    "storedVersions": TEXTS,
    "observedGeneration": Field(LONG.decode, since=35),
}
CRD = {
    "apiVersion": TEXT,
    "kind": TEXT,
    "metadata": _object(OBJECT_META),
    "spec": _object(
        {
            "group": TEXT,
            "names": _object(NAMES),
            "scope": TEXT,
            "versions": _objects(VERSION),
            "conversion": _object(CONVERSION),
            "preserveUnknownFields": FLAG,
        }
    ),
    "status": _object(STATUS),
}


def with_defaults(crd: dict[str, Any]) -> dict[str, Any]:
    """Return a decoded CRD with the defaults that the server sets; source: v1 defaults.go."""
    spec = dict(crd.get("spec") or {})
    names = dict(spec.get("names") or {})
    kind = names.get("kind") or ""
    if not names.get("singular"):
        names["singular"] = kind.lower()
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


_MOVED = ("subresources", "additionalPrinterColumns")


def from_v1beta1(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return an apiextensions v1beta1 CRD as the v1 it means, undecoded.

    Its defaults are made explicit: scope Namespaced, preserveUnknownFields true, versions from
    version, conversionReviewVersions [v1beta1]; what stood at the top goes to every version.
    Source: v1beta1 defaults.go and conversion.go.
    """
    old = data.get("spec")
    spec = dict(old) if isinstance(old, dict) else {}
    top = {key: spec.pop(key) for key in _MOVED if spec.get(key) is not None}
    schema = spec.pop("validation", None)
    first = spec.pop("version", None)
    versions = spec.get("versions") or (
        [{"name": first, "served": True, "storage": True}] if first else []
    )
    spec["versions"] = [
        _version_from_v1beta1(version, top, schema) if isinstance(version, dict) else version
        for version in versions
    ]
    spec.setdefault("scope", "Namespaced")
    if spec.get("preserveUnknownFields") is None:
        spec["preserveUnknownFields"] = True
    if isinstance(spec.get("conversion"), dict):
        spec["conversion"] = _conversion_from_v1beta1(spec["conversion"])
    return {**data, "apiVersion": f"{GROUP}/v1", "spec": spec}


def _version_from_v1beta1(
    version: dict[str, Any], top: Mapping[str, Any], schema: Any
) -> dict[str, Any]:
    new = {**top, **version}
    if schema is not None and new.get("schema") is None:
        new["schema"] = schema
    columns = new.get("additionalPrinterColumns")
    if isinstance(columns, list):
        new["additionalPrinterColumns"] = [
            {"jsonPath" if key == "JSONPath" else key: value for key, value in column.items()}
            if isinstance(column, dict)
            else column
            for column in columns
        ]
    return new


def _conversion_from_v1beta1(old: Mapping[str, Any]) -> dict[str, Any]:
    new = dict(old)
    config = new.pop("webhookClientConfig", None)
    reviews = new.pop("conversionReviewVersions", None)
    if new.get("strategy") == "Webhook" or config is not None or reviews:
        webhook: dict[str, Any] = {}
        if config is not None:
            webhook["clientConfig"] = config
        webhook["conversionReviewVersions"] = reviews or ["v1beta1"]
        new["webhook"] = webhook
    return new


def decode_fields(
    data: Mapping[str, Any], table: dict[str, Field]
) -> tuple[dict[str, Any], list[str], str]:
    """Decode an object by a field table: its data, its unknown fields, and the first error or ""."""
    result = Shape()
    typed = _struct(table)(_Decoder(result, 99), data, (), False)
    error = result.error
    where = ".".join(str(step) for step in error.path) if error else ""
    unknown = [str(path[0]) for path in result.unknown if len(path) == 1]
    return dict(typed), unknown, f"{where} {error.message}".strip() if error else ""
