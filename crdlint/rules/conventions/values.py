"""Types of values: numbers, booleans, null, enums, times and durations."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from crdlint.rule import Problem, lint
from crdlint.rules.conventions.parts import INT_OR_STRING, name_of, own, within

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crdlint.rule import Problems
    from crdlint.tree import Node

SAFE = 2**53 - 1  # the largest whole number that every JSON reader keeps, as a double has it
INT32 = 2**31 - 1
RULES = "x-kubernetes-validations"
# Unsigned formats have a rule of their own: the server does not know them at all.
INTEGER_FORMATS = frozenset(("int32", "int64", "uint", "uint8", "uint16", "uint32", "uint64"))
_OPEN_ENUM_VALUE = re.compile(r"[a-z][a-zA-Z0-9_-]*")
# Points in time, not times of day or spans, by the first word or the last but one.
_MOMENT = re.compile(
    r"(?:^|[a-z])(?:[Ss]tart|[Ee]nd|[Ss]top|[Cc]ompletion|[Ff]inish|[Ff]inished|[Cc]reat(?:e|ed|ion)|"
    r"[Uu]pdate|[Dd]eletion|[Ee]xpir(?:ation|y)|[Tt]ransition|[Ss]cheduled|[Hh]eartbeat|[Pp]robe|"
    r"[Rr]enew|[Aa]cquire|[Ss]ync|[Ss]uccessful|[Rr]econcile)Time$"
)
_NUMBERED = re.compile(r"(?:[Cc]ode|[Pp]ort|[Vv]ersion|[Ss]ize)s?$")  # known by their numbers
_SPAN = re.compile(
    r"(?:[Tt]imeout|[Ii]nterval|[Dd]uration|[Pp]eriod|[Dd]elay|[Tt]tl|TTL|[Bb]ackoff)$"
)


@lint("integer-format", on="spine.type")
def integer_format(node: Node, kind: str) -> Problems:
    """Note whole numbers of which nobody knows whether they fit 32 bits."""
    if kind != "integer" or node.get(INT_OR_STRING) or node.get("format") in INTEGER_FORMATS:
        return
    least, most = node.get("minimum"), node.get("maximum")
    if most is not None and most <= INT32 and (least is None or least >= -INT32):
        return
    if not node.get("enum") and own(node):
        message = "no format says whether 32 bits hold it: clients pick a type and overflow"
        yield Problem(node.at(), message)


@lint("float-field", on="spine.type")
def float_field(node: Node, kind: str) -> Problems:
    """Report floating-point numbers, which change on the way through clients."""
    if kind == "number" and own(node):
        message = (
            "clients round floats differently, so a value that is read and written back changes"
        )
        yield Problem(node.at("type"), message)


@lint("int64-range", on="spine.format")
def int64_range(node: Node, form: str) -> Problems:
    """Note 64-bit numbers beyond what JSON readers keep."""
    if form != "int64" or node.get("type") != "integer" or within(node, "status"):
        return
    least, most = node.get("minimum"), node.get("maximum")
    bounded = least is not None and most is not None and least >= -SAFE and most <= SAFE
    if not bounded and own(node):
        message = "JavaScript, jq and others round numbers beyond 2^53, and no bound excludes them"
        yield Problem(node.at("format"), message)


@lint("number-unbounded", on="spine.type")
def number_unbounded(node: Node, kind: str) -> Problems:
    """Note numbers without a lower or an upper bound."""
    if kind not in ("integer", "number") or node.get("enum") or within(node, "status"):
        return
    lacking = [key for key in ("minimum", "maximum") if node.get(key) is None]
    if lacking and not node.get(RULES) and own(node):
        message = f"has no {' and no '.join(lacking)}: any such number reaches the controller"
        yield Problem(node.at(), message)


@lint("boolean-field", on="spine.type")
def boolean_field(node: Node, kind: str) -> Problems:
    """Note booleans: a third case cannot be added to them."""
    if kind == "boolean" and not within(node, "status") and own(node):
        message = "a third case cannot be added later without another field beside this one"
        yield Problem(node.at("type"), message)


@lint("nullable-field", on="spine.nullable")
def nullable_field(node: Node, nullable: bool) -> Problems:
    """Note fields for which null differs from absence."""
    if nullable and node.get("default") is None and own(node):
        message = "null is one more way to say absent, which typed clients cannot tell from it"
        yield Problem(node.at("nullable"), message)


@lint("nullable-with-default", on="spine.nullable")
def nullable_with_default(node: Node, nullable: bool) -> Problems:
    """Note defaults that null keeps away; source: PruneNonNullableNullsWithoutDefaults."""
    if nullable and node.get("default") is not None:
        message = "null stays null: the default is only set where the field is absent"
        yield Problem(node.at("nullable"), message, related=[(node.at("default"), "the default")])


@lint("numeric-enum", on="spine.enum")
def numeric_enum(node: Node, enum: list[Any]) -> Problems:
    """Note enums of numbers, which say nothing to who reads them."""
    numbers = node.get("type") in ("integer", "number") and not _NUMBERED.search(name_of(node))
    if enum and numbers and own(node):
        message = "a number does not say what it stands for, so readers must look each one up"
        yield Problem(node.at("enum"), message)


@lint("enum-case", on="spine.enum")
def enum_case(node: Node, enum: list[Any]) -> Problems:
    """Note values of enums that are not written as those of Kubernetes are."""
    odd = [v for v in enum if isinstance(v, str) and _OPEN_ENUM_VALUE.fullmatch(v)]
    if odd and node.get("type") == "string" and own(node):
        shown = ", ".join(odd[:3]) + (", ..." if len(odd) > 3 else "")
        message = f"users write values in CamelCase as in Kubernetes, and here they are {shown}"
        yield Problem(node.at("enum"), message)


@lint("time-format", on="spine.properties")
def time_format(node: Node, properties: Mapping[str, Any]) -> Problems:
    """Note points in time that may be any text."""
    for name, schema in properties.items():
        if schema.get("type") != "string" or not _MOMENT.search(name):
            continue
        if not any(schema.get(key) for key in ("format", "pattern", "enum", RULES)) and own(node):
            message = "any text is taken for a time, and clients fail to read it later"
            yield Problem(node.at("properties", name), message)


@lint("duration-format", on="spine.format")
def duration_format(node: Node, form: str) -> Problems:
    """Note durations as texts, which each language reads otherwise."""
    if form == "duration" and node.get("type") == "string" and own(node):
        message = "texts such as 1h30m are Go's: other languages need a parser of their own"
        yield Problem(node.at("format"), message)


@lint("duration-unit", "duration-unchecked", on="spine.type")
def duration_unit(node: Node, kind: str) -> Problems:
    """Note durations without a unit, and those that may be any text."""
    name = name_of(node)
    if kind not in ("integer", "string") or not _SPAN.search(name) or not own(node):
        return
    if kind == "integer":
        if not node.get(INT_OR_STRING):
            message = f"nothing says of which unit it is; {name}Seconds or the like would"
            yield Problem(node.at(), message)
    elif not any(node.get(key) for key in ("format", "pattern", "enum", RULES)):
        message = "any text is taken, and the controller fails on `5 minutes` when it reads it"
        yield Problem(node.at(), message, rule="duration-unchecked")
