"""Value validations that contradict themselves or do nothing: enums, bounds, patterns, formats."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from crdlint import formats
from crdlint.keywords import repeated
from crdlint.kubernetes import BOUNDS_TYPED, UNRECOGNIZED_FORMAT_WARNING
from crdlint.rule import WARN, Problem, lint

if TYPE_CHECKING:
    from crdlint.rule import Problems
    from crdlint.tree import Node

INT_OR_STRING = "x-kubernetes-int-or-string"
PRESERVE = "x-kubernetes-preserve-unknown-fields"

# Which type each keyword looks at; on any other type the server ignores it.
APPLIES = {
    "maxLength": ("string",),
    "minLength": ("string",),
    "pattern": ("string",),
    "maximum": ("integer", "number"),
    "minimum": ("integer", "number"),
    "exclusiveMaximum": ("integer", "number"),
    "exclusiveMinimum": ("integer", "number"),
    "multipleOf": ("integer", "number"),
    "maxItems": ("array",),
    "minItems": ("array",),
    "maxProperties": ("object",),
    "minProperties": ("object",),
    "required": ("object",),
}


@lint("unrecognized-format", on="schema.format", stage=WARN)
def unrecognized_format(node: Node, name: str) -> Problems:
    """Warn of formats that the server ignores; source: getUnrecognizedFormatsInSchema."""
    kind = node.get("type") or ""
    if not name or formats.known(kind, name, node.crd.minor):
        return
    refused = ["Warning"] if node.crd.minor >= UNRECOGNIZED_FORMAT_WARNING else []
    what = f"on type {kind}" if kind else "without a type"
    cure = ""
    if name[0] == "^" or name[-1] == "$":
        cure = "Write the regular expression as pattern, not as format."
    elif kind == "integer" and name.startswith("uint"):
        cure = "Write format: int32 or int64 with minimum: 0."
    message = f"{name!r} {what} is no format that the API server knows, so nothing is checked"
    yield Problem(node.at("format"), message, refused=refused, help=cure)


def fits(value: Any, kind: str) -> bool:
    """Tell whether a JSON value is of a schema type."""
    if kind == "boolean":
        return isinstance(value, bool)
    if kind == "integer":
        return not isinstance(value, bool) and (
            isinstance(value, int) or (isinstance(value, float) and value.is_integer())
        )
    if kind == "number":
        return isinstance(value, int | float) and not isinstance(value, bool)
    kinds = {"string": str, "array": list, "object": dict}
    return kind not in kinds or isinstance(value, kinds[kind])


@lint("enum-member-type", on="schema.enum")
def enum_member_type(node: Node, enum: list[Any]) -> Problems:
    """Warn of enum values that no value of the type can equal."""
    kind = node.get("type")
    if not kind:
        return
    for i, value in enumerate(enum):
        if fits(value, kind) or (value is None and node.get("nullable")):
            continue
        spelled = _spelled(value)
        message = f"{spelled} is no {kind}, so no object can ever hold it"
        yield Problem(node.at("enum", i), message)


def _spelled(value: Any) -> str:
    """Spell a value as JSON, shortened."""
    import json

    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "..."


@lint("enum-empty", on="schema.enum")
def enum_empty(node: Node, enum: list[Any]) -> Problems:
    """Warn of an enum without values: the server takes it as no enum at all."""
    if not enum:
        yield Problem(node.at("enum"), "an empty enum allows every value")


@lint("enum-refuses-null", on="schema.nullable")
def enum_refuses_null(node: Node, nullable: bool) -> Problems:
    """Note nullable fields with an enum: the server finds null in no enum, even when listed."""
    enum = node.get("enum")
    if nullable and enum:
        message = "does nothing beside an enum: null is refused, listed or not"
        yield Problem(node.at("nullable"), message, related=[(node.at("enum"), "the enum")])


@lint("enum-duplicate", on="schema.enum")
def enum_duplicate(node: Node, enum: list[Any]) -> Problems:
    """Note enum values that stand twice."""
    for i in repeated(enum):
        yield Problem(node.at("enum", i), f"{_spelled(enum[i])} stands in the enum twice")


@lint(
    "bounds-unsatisfiable",
    on="schema.maximum schema.maxLength schema.maxItems schema.maxProperties schema.multipleOf",
)
def bounds_unsatisfiable(node: Node, _: Any) -> Problems:
    """Report bounds that no value can meet: every object with the field is refused."""
    for low, high in (
        ("minimum", "maximum"),
        ("minLength", "maxLength"),
        ("minItems", "maxItems"),
        ("minProperties", "maxProperties"),
    ):
        least, most = node.get(low), node.get(high)
        if most is None:
            continue
        if low == "minimum":
            strict = node.get("exclusiveMinimum") or node.get("exclusiveMaximum")
        else:
            least, strict = least or 0, False
        if least is not None and (least > most or (strict and least == most)):
            message = (
                f"nothing lies between {low} {least} and {high} {most}, so every value is refused"
            )
            related = [(node.at(low), f"{low} here")] if low in node.data else []
            yield Problem(node.at(high), message, related=related)


@lint("bound-refuses-all", on="schema.maximum schema.minimum schema.multipleOf")
def bound_refuses_all(node: Node, _: Any) -> Problems:
    """Report bounds that are no number of the type: servers from 1.36 refuse every value then."""
    kind = node.get("type")
    if node.crd.minor < BOUNDS_TYPED or kind not in ("integer", "number"):
        return
    from crdlint.objects.numbers import RANGES, float_of, in_range

    format_ = node.get("format") or ""
    format_ = format_ if format_ in RANGES[kind] else ""
    for key in ("maximum", "minimum", "multipleOf"):
        bound = node.get(key)
        if bound is not None and not in_range(float_of(bound), kind, format_):
            message = (
                f"{bound} is no {format_ or 'int64'}, so servers from 1.36 on refuse every value"
            )
            yield Problem(node.at(key), message)


@lint("keyword-without-effect", on=" ".join(f"schema.{key}" for key in APPLIES))
def keyword_without_effect(node: Node, _: Any) -> Problems:
    """Note keywords that do nothing for the type of the field."""
    kind = node.get("type")
    if not kind or node.get(INT_OR_STRING):
        return
    for key, value in node.data.items():
        kinds = APPLIES.get(key)
        if kinds is None or kind in kinds or value is False or value in ("", []):
            continue
        message = f"limits {' and '.join(kinds)} values, and does nothing on type {kind}"
        yield Problem(node.at(key), message)


@lint("exclusive-bound-alone", on="schema.exclusiveMaximum schema.exclusiveMinimum")
def exclusive_bound_alone(node: Node, _: Any) -> Problems:
    """Note exclusive bounds without the bound that they make exclusive."""
    for key, bound in (("exclusiveMaximum", "maximum"), ("exclusiveMinimum", "minimum")):
        if node.get(key) and node.get(bound) is None:
            yield Problem(node.at(key), f"does nothing without {bound}")


# One piece of a pattern outside of groups: what it is, and how often it may stand.
_PIECE = re.compile(
    r"""(?P<piece>\\. | \[\^?\]?(?:\\.|\[:\w+:\]|[^\]\\])*\] | [^\\()\[|])
        (?P<often>[*?]\?? | \+\?? | \{\d+(?:,\d*)?\}\??)?""",
    re.VERBOSE | re.DOTALL,
)


def contradicts_itself(pattern: str) -> bool:
    """Tell whether a pattern asks for text before ^ or after $, which no string has.

    Only patterns without groups and alternatives are looked at; False where that is not so.
    """
    at, before, ended = 0, False, False
    while at < len(pattern):
        match = _PIECE.match(pattern, at)
        if match is None:
            return False
        at = match.end()
        piece, often = match["piece"], match["often"] or ""
        if piece in ("^", "$"):
            if before and piece == "^":
                return True
            ended = ended or (piece == "$" and not often)
        elif piece not in ("\\b", "\\B", "\\A", "\\z") and often[:1] not in ("*", "?"):
            if often.startswith(("{0", "{,")):
                continue
            if ended:
                return True
            before = True
    return False


@lint("pattern-unsatisfiable", on="schema.pattern")
def pattern_unsatisfiable(node: Node, pattern: str) -> Problems:
    """Report patterns that no string matches."""
    inner = pattern[1:-1]
    quoted = len(pattern) > 3 and pattern[0] == pattern[-1] and pattern[0] in "'\"/"
    if contradicts_itself(pattern) or (quoted and inner[0] == "^" and inner[-1] == "$"):
        message = f"no string can match {pattern!r}"
        if quoted:
            message += f": the {pattern[0]} at both ends is part of the pattern"
        yield Problem(node.at("pattern"), message)


@lint("int-or-string-half-constrained", on=f"schema.{INT_OR_STRING}")
def int_or_string_half_constrained(node: Node, int_or_string: bool) -> Problems:
    """Note int-or-string fields whose text form is limited, but not the number, or the reverse."""
    if not int_or_string or node.get("x-kubernetes-validations") or node.get("enum"):
        return
    text = [k for k in ("pattern", "maxLength", "minLength") if node.get(k) is not None]
    number = [k for k in ("maximum", "minimum", "multipleOf") if node.get(k) is not None]
    if text and not number and not _quantity(node.get("pattern")):
        message = "limits the text form only; any integer passes"
        yield Problem(node.at(text[0]), message)
    elif number and not text:
        message = "limits the integer form only; any text passes"
        yield Problem(node.at(number[0]), message)


def _quantity(pattern: Any) -> bool:
    """Tell whether a pattern is that of a resource quantity, which any integer is."""
    return isinstance(pattern, str) and "Ki" in pattern.replace("([KMGTPE]i)", "Ki")


@lint("quantity-as-string", on="schema.additionalProperties")
def quantity_as_string(node: Node, extra: Any) -> Problems:
    """Note resource lists whose quantities are plain strings, so that `cpu: 1` is refused."""
    if (
        isinstance(extra, dict)
        and extra.get("type") == "string"
        and node.step[0] == "properties"
        and node.step[1] in ("limits", "requests")
        and node.parent is not None
        and {"limits", "requests"} & set(node.parent.get("properties") or {})
    ):
        message = "quantities as plain strings refuse a number such as cpu: 1"
        yield Problem(node.at("additionalProperties"), message)
