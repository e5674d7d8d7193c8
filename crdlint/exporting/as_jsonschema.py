"""A version of a CRD as a standalone JSON Schema that takes what the API server takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdlint import formats
from crdlint.exporting.patterns import portable
from crdlint.reading import people_write

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crdlint.document import Path
    from crdlint.tree import Node

    Schema = Mapping[str, Any]

DIALECTS = {
    "draft-04": "http://json-schema.org/draft-04/schema#",
    "draft-07": "http://json-schema.org/draft-07/schema#",
    "2020-12": "https://json-schema.org/draft/2020-12/schema",
}
_COPIED = (
    "title",
    "description",
    "maxLength",
    "minLength",
    "maxItems",
    "minItems",
    "minProperties",
    "default",
)
_RANGES = {
    "int32": (-(1 << 31), (1 << 31) - 1),
    "int64": (-(1 << 63), (1 << 63) - 1),
}
_RANGES_SINCE = 36  # older servers ask no number for its format
# Formats that JSON Schema names as Kubernetes does, and means the same by.
_FORMATS = frozenset("date-time date email hostname ipv4 ipv6 uri uuid byte".split())
# Readers need not look at formats, so the shape of these is said as a pattern too.
_SHAPES = {
    "date": r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$",
    "date-time": r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}.*[Zz0-9]$",
    "byte": r"^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$",
}
_NAME = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
_TEXTS = {"type": ["object", "null"], "additionalProperties": {"type": ["string", "null"]}}
_NOT_NULL = {"not": {"type": "null"}}


class Exported:
    """A JSON Schema, and what it cannot say: (field, what) pairs."""

    __slots__ = ("group", "kind", "schema", "unsaid", "version")

    def __init__(self, group: str, version: str, kind: str) -> None:
        self.group = group
        self.version = version
        self.kind = kind
        self.schema: dict[str, Any] = {}
        self.unsaid: list[tuple[str, str]] = []


def export(version: Node, *, dialect: str = "draft-07", closed: bool = False) -> Exported:
    """Write a version's schema as JSON Schema.

    Args:
        version: a version of a decoded CRD.
        dialect: a key of DIALECTS.
        closed: refuse fields that the API server would prune.

    Every object that the server accepts is valid; what JSON Schema cannot say is listed.
    """
    crd = version.crd
    names = str(crd.spec.get("group") or ""), str(version.get("name") or "")
    done = Exported(*names, str(crd.names.get("kind") or ""))
    root, start = next(((node.data, node.path) for node in version.children()), ({}, ()))
    writer = _Writer(crd.minor, dialect, closed=closed)
    schema = writer.write(root, start, embedded=True)
    done.unsaid = writer.unsaid
    properties = dict(schema.get("properties") or {})
    properties["apiVersion"] = _one_of("/".join(names), properties.get("apiVersion"))
    properties["kind"] = _one_of(done.kind, properties.get("kind"))
    properties["metadata"] = _metadata(properties.get("metadata"))
    if (version.get("subresources") or {}).get("status") is not None and "status" in properties:
        # A status that comes with a create or an update is dropped before anything is asked of it.
        kept = {"description": "Set by the controller; dropped on create and update."}
        properties["status"] = {**kept, **_described(properties["status"])}
        schema["required"] = [name for name in schema.get("required") or () if name != "status"]
    required = dict.fromkeys(("apiVersion", "kind", "metadata", *(schema.get("required") or ())))
    head = {"$schema": DIALECTS[dialect], "title": done.kind}
    done.schema = {
        **head,
        **schema,
        "type": "object",
        "properties": properties,
        "required": list(required),
    }
    return done


def _described(schema: Any) -> dict[str, Any]:
    return {key: schema[key] for key in ("description",) if key in schema}


def _one_of(value: str, before: Any) -> dict[str, Any]:
    return {**_described(before or {}), "type": "string", "enum": [value]}


def _metadata(before: Any) -> dict[str, Any]:
    """Return the schema of metadata, with what the CRD demands of name and generateName."""
    asked = (before or {}).get("properties") or {}
    name: dict[str, Any] = {"type": ["string", "null"], "maxLength": 253, "pattern": _NAME}
    demands = [asked[key] for key in ("name",) if key in asked]
    return {
        **_described(before or {}),
        "type": "object",
        "anyOf": [
            {"required": [key], "properties": {key: {"type": "string", "minLength": 1}}}
            for key in ("name", "generateName")
        ],
        "properties": {
            "name": {"allOf": [name, *demands]} if demands else name,
            "namespace": {"type": ["string", "null"]},
            "labels": _TEXTS,
            "annotations": _TEXTS,
            **({"generateName": asked["generateName"]} if "generateName" in asked else {}),
        },
    }


class _Writer:
    """One walk over a schema."""

    def __init__(self, minor: int, dialect: str, *, closed: bool) -> None:
        self.minor = minor
        self.dialect = dialect
        self.closed = closed
        self.unsaid: list[tuple[str, str]] = []

    def write(
        self, schema: Schema, path: Path, *, embedded: bool = False, required: bool = True
    ) -> dict[str, Any]:
        """Write one node outside of junctors.

        `required` says that an absent value, which null stands for, is not allowed here.
        """
        made = self._value(schema, path, None)
        self._children(schema, path, made, embedded=embedded)
        self._list_type(schema, path, made)
        if rules := schema.get("x-kubernetes-validations"):
            self._cannot(path, f"{len(rules)} CEL {'rule' if len(rules) == 1 else 'rules'}")
        return self._null(schema, made, required=required)

    def _cannot(self, path: Path, what: str) -> None:
        entry = people_write(path) or "the root", what
        if entry not in self.unsaid:
            self.unsaid.append(entry)

    def _value(self, schema: Schema, path: Path, owner: Schema | None) -> dict[str, Any]:
        """Write what a schema says of the value itself; `owner` is the node outside of junctors."""
        made: dict[str, Any] = {}
        if schema.get("x-kubernetes-int-or-string"):
            made["type"] = ["integer", "string"]
        elif schema.get("type"):
            made["type"] = schema["type"]
        made |= {key: schema[key] for key in _COPIED if schema.get(key) not in (None, "")}
        self._format(schema, path, made)
        self._pattern(schema, path, made)
        self._bounds(schema, made)
        if schema.get("multipleOf"):
            made["multipleOf"] = schema["multipleOf"]
        if schema.get("enum"):
            made["enum"] = [value for value in schema["enum"] if value is not None]
        if schema.get("maxProperties") is not None:
            if _is_map(schema):
                made["maxProperties"] = schema["maxProperties"]
            else:  # the server counts what pruning leaves
                self._cannot(path, f"maxProperties {schema['maxProperties']}")
        self._junctors(schema, path, made, owner if owner is not None else schema)
        return made

    def _format(self, schema: Schema, path: Path, made: dict[str, Any]) -> None:
        name, kind = schema.get("format") or "", str(schema.get("type") or "")
        if not formats.known(kind, name, self.minor):
            return
        if kind == "integer" and self.minor >= _RANGES_SINCE:
            made["minimum"], made["maximum"] = _RANGES[name]
        elif name in _FORMATS:
            made["format"] = name
            if name in _SHAPES:
                made["pattern"] = _SHAPES[name]
        elif kind in ("", "string"):
            self._cannot(path, f"format {name}")

    def _pattern(self, schema: Schema, path: Path, made: dict[str, Any]) -> None:
        if not schema.get("pattern"):
            return
        written = portable(schema["pattern"])
        if written is None:
            self._cannot(path, f"pattern {schema['pattern']}")
        elif "pattern" in made:
            made["allOf"] = [{"pattern": written}]
        else:
            made["pattern"] = written

    def _bounds(self, schema: Schema, made: dict[str, Any]) -> None:
        """Write bounds: of those that a format implies and that stand there, the tighter."""
        for key, exclusive, tighter in (
            ("minimum", "exclusiveMinimum", max),
            ("maximum", "exclusiveMaximum", min),
        ):
            if schema.get(key) is None:
                continue
            bound = schema[key]
            implied = made.pop(key, None)
            if implied is not None and tighter(implied, bound) == implied != bound:
                made[key] = implied
            elif not schema.get(exclusive):
                made[key] = bound
            elif self.dialect == "draft-04":
                made[key], made[exclusive] = bound, True
            else:
                made[exclusive] = bound

    def _junctors(self, schema: Schema, path: Path, made: dict[str, Any], owner: Schema) -> None:
        for key in ("allOf", "anyOf", "oneOf"):
            if schema.get(key):
                branches = [self._nested(branch, path, owner) for branch in schema[key]]
                made[key] = [*made.get(key, ()), *branches]
        if schema.get("not") is not None:
            made["not"] = self._nested(schema["not"], path, owner)

    def _nested(self, schema: Schema, path: Path, owner: Schema) -> dict[str, Any]:
        """Write a branch of a junctor; what its owner defaults is always there."""
        made = self._value(schema, path, owner)
        of = owner.get("properties") or {}
        properties = {
            name: self._nested(below, (*path, "properties", name), of.get(name) or {})
            for name, below in (schema.get("properties") or {}).items()
        }
        needed = []
        for name in schema.get("required") or ():
            own = of.get(name) or {}
            if own.get("default") is not None:
                continue
            needed.append(name)
            if not own.get("nullable"):  # null is as good as absent
                there = properties.get(name)
                properties[name] = {"allOf": [there, _NOT_NULL]} if there else _NOT_NULL
        if properties:
            made["properties"] = properties
        if needed:
            made["required"] = needed
        for key in ("items", "additionalProperties"):
            if isinstance(schema.get(key), dict):
                below = owner.get(key)
                made[key] = self._nested(
                    schema[key], (*path, key), below if isinstance(below, dict) else {}
                )
            elif schema.get(key) is False:
                made[key] = False
        made.pop("default", None)
        return made

    def _children(
        self, schema: Schema, path: Path, made: dict[str, Any], *, embedded: bool
    ) -> None:
        properties = schema.get("properties") or {}
        wanted = schema.get("required") or ()
        if properties:
            made["properties"] = {
                name: self.write(
                    below,
                    (*path, "properties", name),
                    required=name in wanted and below.get("default") is None,
                )
                for name, below in properties.items()
            }
        needed = [n for n in wanted if (properties.get(n) or {}).get("default") is None]
        if schema.get("x-kubernetes-embedded-resource"):
            needed += [name for name in ("apiVersion", "kind") if name not in needed]
            made.setdefault("properties", {}).setdefault("metadata", {"type": ["object", "null"]})
        if needed:
            made["required"] = needed
        if isinstance(schema.get("items"), dict):
            items = schema["items"]
            free = items.get("default") is not None or _takes_null(items)
            made["items"] = self.write(items, (*path, "items"), required=not free)
        rest = schema.get("additionalProperties")
        if isinstance(rest, dict):
            key = "additionalProperties"
            made[key] = self.write(rest, (*path, key), required=False)
        elif rest is False or (self.closed and _is_closed(schema)):
            made["additionalProperties"] = False
            if embedded:
                for name in ("apiVersion", "kind", "metadata"):
                    made.setdefault("properties", {}).setdefault(name, {})
        if "minProperties" in made:
            filled = sum(below.get("default") is not None for below in properties.values())
            made["minProperties"] = max(made["minProperties"] - filled, 0)

    def _list_type(self, schema: Schema, path: Path, made: dict[str, Any]) -> None:
        kind = schema.get("x-kubernetes-list-type")
        if kind == "set":
            made["uniqueItems"] = True
        elif kind == "map":
            keys = ", ".join(schema.get("x-kubernetes-list-map-keys") or ())
            self._cannot(path, f"items that are unique by {keys}")

    def _null(self, schema: Schema, made: dict[str, Any], *, required: bool) -> dict[str, Any]:
        """Allow null where the server drops it, defaults it, or takes it as a value."""
        nullable = bool(schema.get("nullable"))
        if not nullable and required and "type" not in made and "enum" not in made:
            return {"allOf": [made, _NOT_NULL]}
        if (nullable and schema.get("enum")) or (not nullable and required):
            return made
        if any(key in made for key in ("allOf", "anyOf", "oneOf", "not", "enum")):
            outside: dict[str, Any] = {
                key: made.pop(key) for key in ("description", "default") if key in made
            }
            return {**outside, "anyOf": [made, {"type": "null"}]}
        if "type" in made:
            kinds = made["type"] if isinstance(made["type"], list) else [made["type"]]
            made["type"] = [*kinds, "null"]
        return made


def _takes_null(items: Schema) -> bool:
    """Tell whether null may be an item: nothing but type and enum looks at it there."""
    return not any(items.get(key) for key in ("type", "enum", "x-kubernetes-int-or-string"))


def _is_map(schema: Schema) -> bool:
    return isinstance(schema.get("additionalProperties"), dict) or bool(
        schema.get("x-kubernetes-preserve-unknown-fields")
    )


def _is_closed(schema: Schema) -> bool:
    """Tell whether the server prunes what a schema does not name."""
    return (
        schema.get("type") == "object"
        and not schema.get("x-kubernetes-preserve-unknown-fields")
        and schema.get("additionalProperties") in (None, False)
        and not schema.get("x-kubernetes-embedded-resource")
    )
