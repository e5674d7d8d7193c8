"""Names of fields and of the resource: how every other Kubernetes API spells them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from crdlint.rule import Problem, lint
from crdlint.rules.conventions.parts import TYPE_META, own

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from crdlint.rule import Problems
    from crdlint.tree import Node

_CAMEL_CASE = re.compile(r"[a-z][a-zA-Z0-9]*")
_KIND = re.compile(r"[A-Z][a-zA-Z0-9]*")
# An acronym with one letter of another case, in the middle of a name or as its first word.
_BROKEN_ACRONYM = re.compile(
    r"(?<=[a-z0-9])(?:Api|Cidr|Cpu|Dns|Http|Https|Id|Ip|Json|Oidc|Sql|Ssh|Ssl|Tcp|Tls|Ttl|Udp|Uid|"
    r"Uri|Url|Uuid|Vm|Yaml)(?=[A-Z]|s?$)|^(?:aPI|cIDR|cPU|dNS|hTTPS?|iP|jSON|tLS|uID|uRL|uRI)"
)
_IS = re.compile(r"is[A-Z]")
_STAMP = re.compile(r"timestamp$", re.IGNORECASE)
_REFERENCE = re.compile(r"[a-z]References?$|^references?$")


def _fields(node: Node, properties: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the fields that an author named, with their schemas."""
    whole = node.is_root or node.get("x-kubernetes-embedded-resource")
    for name, schema in properties.items():
        if not (whole and name in TYPE_META) and isinstance(schema, dict):
            yield name, schema


@lint("field-name-case", on="spine.properties")
def field_name_case(node: Node, properties: Mapping[str, Any]) -> Problems:
    """Note names that are not written as fields of Kubernetes are."""
    for name, _ in _fields(node, properties):
        if not _CAMEL_CASE.fullmatch(name) and own(node):
            message = f"users write {_camel(name)} by habit, and that is pruned as an unknown field"
            yield Problem(node.at("properties", name), message)


def _camel(name: str) -> str:
    """Return a name as Kubernetes would spell it: `foo_bar`, `FooBar` and `foo-bar` as fooBar."""
    words = [word for word in re.split(r"[^a-zA-Z0-9]+", name) if word]
    joined = words[0] if words else "camelCase"
    joined += "".join(word[:1].upper() + word[1:] for word in words[1:])
    capitals = re.match(r"[A-Z]+(?![a-z])|[A-Z]", joined)
    return capitals[0].lower() + joined[capitals.end() :] if capitals else joined


@lint("acronym-case", on="spine.properties")
def acronym_case(node: Node, properties: Mapping[str, Any]) -> Problems:
    """Note acronyms whose letters are not all of one case."""
    for name, _ in _fields(node, properties):
        if (found := _BROKEN_ACRONYM.search(name)) and own(node):
            right = found[0].upper() if found.start() else found[0].lower()
            spelled = name[: found.start()] + right + name[found.end() :]
            message = f"other Kubernetes APIs would spell it {spelled}, and so will users"
            yield Problem(node.at("properties", name), message)


@lint("boolean-name", on="spine.properties")
def boolean_name(node: Node, properties: Mapping[str, Any]) -> Problems:
    """Note booleans that begin with `is`."""
    for name, schema in _fields(node, properties):
        if schema.get("type") == "boolean" and _IS.match(name) and own(node):
            bare = name[2:3].lower() + name[3:]
            message = f"no boolean of Kubernetes begins with is, so users write {bare}"
            yield Problem(node.at("properties", name), message)


@lint("timestamp-name", on="spine.properties")
def timestamp_name(node: Node, properties: Mapping[str, Any]) -> Problems:
    """Note points in time that are called timestamps."""
    for name, schema in _fields(node, properties):
        if schema.get("type") == "string" and _STAMP.search(name) and own(node):
            before = _STAMP.sub("", name)
            right = f"{before}Time" if before else "time"
            message = f"points in time end in Time in other Kubernetes APIs: {right}"
            yield Problem(node.at("properties", name), message)


@lint("reference-name", on="spine.properties")
def reference_name(node: Node, properties: Mapping[str, Any]) -> Problems:
    """Note references that are not called Ref."""
    for name, schema in _fields(node, properties):
        target = schema.get("items") if schema.get("type") == "array" else schema
        refers = isinstance(target, dict) and "name" in (target.get("properties") or {})
        if refers and _REFERENCE.search(name) and own(node):
            right = re.sub("Reference", "Ref", re.sub("^reference", "ref", name))
            message = f"other Kubernetes APIs call a reference to another object {right}"
            yield Problem(node.at("properties", name), message)


@lint("top-level-field", on="root.properties")
def top_level_field(node: Node, properties: Mapping[str, Any]) -> Problems:
    """Note fields beside spec and status."""
    if "spec" not in properties:
        return  # configuration and data kinds have fields of their own
    for name in properties:
        if name not in TYPE_META and name not in ("spec", "status"):
            message = "stands beside spec, where no tool looks for what users want or for a status"
            yield Problem(node.at("properties", name), message)


@lint("kind-name", "plural-name", "list-kind-name", on="crd.spec")
def kind_name(node: Node, _: Any) -> Problems:
    """Note kinds that are not named as those of Kubernetes are."""
    names = node.crd.names
    kind, plural = str(names.get("kind") or ""), str(names.get("plural") or "")
    place = node.at("spec", "names", "kind")
    if not kind:
        return
    if not _KIND.fullmatch(kind):
        message = f"{kind!r} is not CamelCase, and generated clients make it the name of a type"
        yield Problem(place, message)
    elif kind.endswith("List"):
        message = f"clients take {kind} for a list of {kind[:-4] or 'objects'}"
        yield Problem(place, message)
    elif kind.endswith("Controller"):
        message = "names what acts on the object; users look for the thing that they declare"
        yield Problem(place, message)
    one_form = kind.endswith(("s", "ata", "Info", "Hardware", "Software", "Storage"))
    if plural and plural == (names.get("singular") or kind.lower()) and not one_form:
        message = f"one and many are both {plural}, so users cannot tell a list from an object"
        yield Problem(node.at("spec", "names", "plural"), message, rule="plural-name")
    list_kind = names.get("listKind") or ""
    if list_kind and list_kind != f"{kind}List":
        message = f"generated and dynamic clients look for {kind}List, not for {list_kind}"
        yield Problem(node.at("spec", "names", "listKind"), message, rule="list-kind-name")
