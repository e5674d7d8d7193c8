"""CEL types, and the declared type that a schema has in a rule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

# Kinds of types. Everything up to TIMESTAMP is fully told by its kind.
BOOL, INT, UINT, DOUBLE, STRING, BYTES, DURATION, TIMESTAMP = range(8)
NULL, DYN, ERROR, PARAM, LIST, MAP, STRUCT, OPAQUE, TYPE = range(8, 17)

MAX_REQUEST = 3 * 1024 * 1024  # bytes of the largest request, the bound of everything unbounded
MAX_U64 = (1 << 64) - 1
_SHOWN_DEPTH = 4

NAME_MAX_LENGTH = 253  # of metadata.name; a generateName is one shorter


class Type:
    """A CEL type.

    `open` says that a type parameter occurs in it. A STRUCT made from a schema has the types of
    its fields by their CEL names; two STRUCT types are the same only if they are one object.
    """

    __slots__ = ("fields", "kind", "name", "open", "params")

    def __init__(
        self,
        kind: int,
        name: str,
        params: tuple[Type, ...] = (),
        fields: dict[str, Decl] | None = None,
    ) -> None:
        self.kind = kind
        self.name = name
        self.params = params
        self.fields = fields
        self.open: bool = kind == PARAM or any(param.open for param in params)

    def __str__(self) -> str:
        return self.shown(_SHOWN_DEPTH)

    __repr__ = __str__

    def shown(self, depth: int) -> str:
        """Return the type as text, down to a depth: a schema may be 10,000 deep."""
        if not self.params:
            return self.name
        if depth == 0:
            return f"{self.name}(...)"
        return f"{self.name}({', '.join([param.shown(depth - 1) for param in self.params])})"


BOOL_TYPE = Type(BOOL, "bool")
INT_TYPE = Type(INT, "int")
UINT_TYPE = Type(UINT, "uint")
DOUBLE_TYPE = Type(DOUBLE, "double")
STRING_TYPE = Type(STRING, "string")
BYTES_TYPE = Type(BYTES, "bytes")
DURATION_TYPE = Type(DURATION, "duration")
TIMESTAMP_TYPE = Type(TIMESTAMP, "timestamp")
NULL_TYPE = Type(NULL, "null")
DYN_TYPE = Type(DYN, "dyn")
ERROR_TYPE = Type(ERROR, "error")
TYPE_TYPE = Type(TYPE, "type")


def list_of(item: Type) -> Type:
    """Return the type of a list of such items."""
    return Type(LIST, "list", (item,))


def map_of(key: Type, value: Type) -> Type:
    """Return the type of a map of such keys and values."""
    return Type(MAP, "map", (key, value))


def optional_of(value: Type) -> Type:
    """Return the type of a value that may be absent."""
    return Type(OPAQUE, "optional_type", (value,))


def type_of(value: Type) -> Type:
    """Return the type of a type."""
    return Type(TYPE, "type", (value,))


def is_optional(t: Type) -> bool:
    """Tell whether a type is an optional one."""
    return t.kind == OPAQUE and t.name == "optional_type"


def same_type(a: Type, b: Type) -> bool:
    """Tell whether two types without type parameters are the same."""
    if a is b:
        return True
    if a.kind != b.kind or a.kind == STRUCT or a.name != b.name or len(a.params) != len(b.params):
        return False
    for x, y in zip(a.params, b.params, strict=True):
        if not same_type(x, y):
            return False
    return True


class Decl:
    """What a schema node is in a rule: its type, and the bounds that cost is estimated with.

    `max_elements` bounds the length in bytes, items or entries; `min_size` is the length in bytes
    of the shortest JSON of such a value.
    """

    __slots__ = ("elem", "fields", "key", "max_elements", "min_size", "type")

    def __init__(
        self,
        type: Type,
        min_size: int,
        max_elements: int = 0,
        *,
        elem: Decl | None = None,
        key: Decl | None = None,
        fields: dict[str, Decl] | None = None,
    ) -> None:
        self.type = type
        self.min_size = min_size
        self.max_elements = max_elements
        self.elem = elem
        self.key = key
        self.fields = fields


_BOOL = Decl(BOOL_TYPE, 4)
_INT = Decl(INT_TYPE, 1)
_DOUBLE = Decl(DOUBLE_TYPE, 1)
_KEY = Decl(STRING_TYPE, 2)

# format of a string: type, shortest JSON, longest value
_FORMATS = {
    "duration": (DURATION_TYPE, 3, 32),
    "date": (TIMESTAMP_TYPE, 12, 12),
    "date-time": (TIMESTAMP_TYPE, 21, 32),
}
RESERVED = frozenset(
    "true false null in as break const continue else for function if import let loop package "
    "namespace return var void while".split()
)
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
_ESCAPED = {".": "__dot__", "-": "__dash__", "/": "__slash__"}


def escape(name: str) -> str | None:
    """Return the CEL identifier of a property, or None if rules cannot reach it.

    Source: Escape in k8s.io/apiserver/pkg/cel.
    """
    if not name or "0" <= name[0] <= "9":
        return None
    if name in RESERVED:
        return f"__{name}__"
    if "__" not in name and _PLAIN.issuperset(name):
        return name
    out = []
    i = 0
    while i < len(name):
        char = name[i]
        if name.startswith("__", i):
            out.append("__underscores__")
            i += 1
        elif char in _PLAIN:
            out.append(char)
        elif char in _ESCAPED:
            out.append(_ESCAPED[char])
        else:
            return None
        i += 1
    return "".join(out)


def limit(schema: Mapping[str, Any], key: str) -> int | None:
    """Return a bound of a schema, negative ones as 0, or None where it has none."""
    value = schema.get(key)
    return None if value is None else max(0, int(value))


def declare(
    schema: Mapping[str, Any], *, root: bool, minor: int, path: str = "self"
) -> Decl | None:
    """Return what a structural schema is in a rule, or None where CEL cannot express it.

    `root` says that it is the root of a resource, where apiVersion, kind, metadata.name and
    metadata.generateName always exist. `path` is how messages call the node.
    Source: SchemaDeclType in k8s.io/apiserver/pkg/cel/common.
    """
    if schema.get("x-kubernetes-int-or-string"):
        length = limit(schema, "maxLength")
        return Decl(DYN_TYPE, 1, MAX_REQUEST - 2 if length is None else _wrap(length * 4))
    kind = schema.get("type")
    if root:
        schema = with_resource_fields(schema, minor)
    if kind == "string":
        return _string(schema, minor)
    if kind == "integer":
        return _INT
    if kind == "boolean":
        return _BOOL
    if kind == "object":
        return _object(schema, minor, path)
    if kind == "array":
        return _array(schema, minor, path)
    return _DOUBLE if kind == "number" else None


def _string(schema: Mapping[str, Any], minor: int) -> Decl:
    form = schema.get("format")
    length = limit(schema, "maxLength")
    if form == "byte":
        return Decl(BYTES_TYPE, 2, MAX_REQUEST - 2 if length is None else length)
    if form in _FORMATS:
        return Decl(*_FORMATS[form])
    if length is not None:
        # In bytes: a code point may have four.
        return Decl(STRING_TYPE, 2, _wrap(length * 4))
    enum = schema.get("enum")
    if enum and minor >= 29:
        longest = max((len(v.encode()) for v in enum if isinstance(v, str)), default=0)
        return Decl(STRING_TYPE, 2, longest)
    return Decl(STRING_TYPE, 2, MAX_REQUEST - 2)


def _array(schema: Mapping[str, Any], minor: int, path: str) -> Decl | None:
    items = schema.get("items")
    if not isinstance(items, dict):
        return None
    elem = _nested(items, minor, f"{path}[*]")
    if elem is None:
        return None
    most = limit(schema, "maxItems")
    if most is None:
        most = (MAX_REQUEST - 2) // (elem.min_size + 1)
    return Decl(list_of(elem.type), 2, most, elem=elem)


def _object(schema: Mapping[str, Any], minor: int, path: str) -> Decl | None:
    values = schema.get("additionalProperties")
    if isinstance(values, dict):
        elem = _nested(values, minor, f"{path}[*]")
        if elem is None:
            return None
        most = limit(schema, "maxProperties")
        if most is None:
            most = (MAX_REQUEST - 2) // (elem.min_size + 6)
        return Decl(map_of(STRING_TYPE, elem.type), 2, most, elem=elem, key=_KEY)
    required = schema.get("required") or ()
    size = 2
    fields: dict[str, Decl] = {}
    for name, prop in (schema.get("properties") or {}).items():
        field = _nested(prop, minor, f"{path}.{name}")
        if field is None:
            continue
        escaped = escape(name)
        if escaped is not None:
            fields[escaped] = field
        if required and name in required and prop.get("default") is None:
            size += len(name.encode()) + field.min_size + 4
    return Decl(Type(STRUCT, f"object({path})", (), fields), size, fields=fields)


def _nested(schema: Mapping[str, Any], minor: int, path: str) -> Decl | None:
    embedded = bool(schema.get("x-kubernetes-embedded-resource"))
    if len(path) > 200:
        path = f"...{path[-40:]}"  # only read by people, and a schema may be 10,000 deep
    return declare(schema, root=embedded, minor=minor, path=path)


def with_resource_fields(schema: Mapping[str, Any], minor: int) -> Mapping[str, Any]:
    """Return the schema of a resource with the fields that every resource has."""
    fields = schema.get("properties") or {}
    meta = fields.get("metadata") or {}
    meta_fields = meta.get("properties") or {}

    def is_string(prop: Mapping[str, Any] | None) -> bool:
        return bool(prop) and prop is not None and prop.get("type") == "string"

    if (
        is_string(fields.get("kind"))
        and is_string(fields.get("apiVersion"))
        and meta.get("type") == "object"
        and is_string(meta_fields.get("name"))
        and is_string(meta_fields.get("generateName"))
    ):
        return schema
    text = {"type": "string"}
    name, generate = text, text
    if minor >= 37:
        name = _capped(meta_fields.get("name"), NAME_MAX_LENGTH)
        generate = _capped(meta_fields.get("generateName"), NAME_MAX_LENGTH - 1)
    always = {
        "kind": text,
        "apiVersion": text,
        "metadata": {"type": "object", "properties": {"name": name, "generateName": generate}},
    }
    return {**schema, "properties": {**fields, **always}}


def _capped(declared: Mapping[str, Any] | None, most: int) -> dict[str, Any]:
    own = (declared or {}).get("maxLength")
    return {"type": "string", "maxLength": most if own is None else min(int(own), most)}


def _wrap(value: int) -> int:
    """Return a number as the server's 64 bits hold it, read without sign."""
    return value & MAX_U64
