"""Selectable fields: what the API server refuses."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from crdlint.keywords import same_json
from crdlint.kubernetes import SELECTABLE_FIELDS
from crdlint.rule import SPEC, Problem, lint
from crdlint.rules.parts import hidden, schema_of
from crdlint.tree import held

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crdlint.rule import Problems
    from crdlint.tree import Node

PART = "selectableFields"
LIMIT = 8
TYPES = ("string", "boolean", "integer")
# A delimiter, a quoted text (which may lack its end), or what stands between.
_TOKEN = re.compile(
    r"[.\[\]]|'(?:'|(?:[^']|(?<=\\)')*(?:(?<!\\)'|\Z))|[^'.\[\]][^.\[\]]*", re.DOTALL
)


class PanicError(Exception):
    """The server's code runs into a nil pointer on this path."""


class PathError(Exception):
    """A path that the server refuses; the message says why."""


def without_schema(node: Node) -> list[Any]:
    """Return what the server says of the selectableFields of a version without a schema."""
    fields = node.get(PART)
    if not fields or node.crd.minor < SELECTABLE_FIELDS or _empty_at_top(node):
        return []
    if node.crd.hoisted(PART):
        # at the top of spec they count as one list
        return [("Invalid", "spec.selectableFields")]
    return [("Invalid", f"spec.versions[{node.step[-1]}].selectableFields")]


def _empty_at_top(node: Node) -> bool:
    """Tell whether all versions share a `schema` that holds nothing, which the server overlooks."""
    return schema_of(node.data) is None and bool(
        node.get("schema") is not None and node.crd.hoisted("schema") and node.crd.hoisted(PART)
    )


@lint("selectable-hoisting", on=f"version.{PART}", stage=SPEC)
def selectable_hoisting(node: Node, value: list[Any]) -> Problems:
    """Refuse equal lists beside different schemas, and the reverse; source: CRD spec validation.

    The server moves what is equal in all versions to the top of spec, list and schema each for
    itself, and then misses the one where it finds the other (kubernetes#140689).
    """
    crd = node.crd
    if not value or crd.minor < SELECTABLE_FIELDS or schema_of(node.data) is None:
        return
    equal, equal_schema = crd.hoisted(PART), crd.hoisted("schema")
    if equal == equal_schema or hidden(node, PART):
        return
    if equal:
        message = (
            "are the same in every version while the schemas differ; the API server then looks for"
            " a schema that all versions share, and refuses the CRD for having none"
        )
        yield Problem(node.at(PART), message, refused=[("Invalid", "spec.selectableFields")])
    else:
        message = (
            "differ between versions while the schemas are the same; the API server then looks for"
            " a schema of this version only, and refuses the CRD for having none"
        )
        yield Problem(node.at(PART), message, refused=["Invalid"])


@lint(
    "selectable-path",
    "selectable-type",
    "selectable-repeated",
    "selectable-too-many",
    on=f"version.{PART}",
    stage=SPEC,
)
def selectable(node: Node, value: list[Mapping[str, Any]]) -> Problems:
    """Refuse paths that lead to no selectable field; source: selectable fields validation."""
    crd = node.crd
    schema = schema_of(node.data)
    if not value or crd.minor < SELECTABLE_FIELDS or hidden(node, PART):
        return
    if schema is None and not _empty_at_top(node):
        return  # schema-required speaks of it
    if crd.hoisted(PART) != crd.hoisted("schema"):
        return  # the server does not get there: selectable-hoisting
    known = schema is not None and convertible(schema)
    if schema is not None and not known:
        at_top = "spec." if crd.hoisted("schema") else f"spec.versions[{node.step[-1]}]."
        message = "cannot be checked against a schema that is not structural"
        refused = [("Invalid", f"{at_top}schema.openAPIV3Schema")]
        yield Problem(node.at(PART), message, rule="selectable-path", refused=refused)
    seen: dict[tuple[str, ...], int] = {}
    for i, field in enumerate(value):
        yield from _check(
            node, i, str(field.get("jsonPath") or ""), schema if known else None, seen
        )
    if len(seen) > LIMIT and not _unchanged(node, value):
        message = f"{len(seen)} fields, and at most {LIMIT} can be selected by"
        yield Problem(node.at(PART), message, rule="selectable-too-many", refused=["TooMany"])


def _check(
    node: Node,
    i: int,
    path: str,
    schema: Mapping[str, Any] | None,
    seen: dict[tuple[str, ...], int],
) -> Problems:
    place = node.at(PART, i, "jsonPath")
    if not path:
        message = "a selectable field needs its path, such as .spec.color"
        yield Problem(place, message, rule="selectable-path", refused=["Required"])
        return
    try:
        steps, found = find(path, schema)
    except PathError as error:
        message = f"{path!r} is refused: {error}"
        yield Problem(place, message, rule="selectable-path", refused=["Invalid"])
        return
    except PanicError:
        message = f"{path!r} crashes the API server, which finds no schema on the way (HTTP 500)"
        yield Problem(place, message, rule="selectable-path", refused=[("Panic", "")])
        return
    if steps[0] == "metadata":
        message = f"{path} is metadata, where only name and namespace can be selected by"
        yield Problem(place, message, rule="selectable-path", refused=["Invalid"])
    kind = (found or {}).get("type") or ""
    if kind not in TYPES:
        what = f"of type {kind}" if kind else "of no single type"
        message = f"{path} is {what}, and only {', '.join(TYPES)} can be selected by"
        yield Problem(place, message, rule="selectable-type", refused=["Invalid"])
    if steps in seen:
        related = [(node.at(PART, seen[steps], "jsonPath"), "listed here before")]
        message = f"{path} is listed twice"
        yield Problem(
            place, message, rule="selectable-repeated", refused=["Duplicate"], related=related
        )
    else:
        seen[steps] = i


def find(
    path: str, schema: Mapping[str, Any] | None
) -> tuple[tuple[str, ...], Mapping[str, Any] | None]:
    """Follow a path as `.a.b`; return its steps and the schema there, None where it is open.

    Source: ValidFieldPath of apiextensions' CEL package, without array notation.

    Raises:
        PathError: the server refuses the path.
        PanicError: the server goes on from a place that has no schema.
    """
    steps: list[str] = []
    parts = iter(_TOKEN.findall(path))
    for part in parts:
        if part == "[":
            raise PathError("brackets are not allowed")
        if part != ".":
            raise PathError(f"a dot must stand before {part!r}")
        name = next(parts, None)
        if name is None:
            raise PathError("it ends with a dot")
        if schema is None:
            raise PanicError
        properties, extra = schema.get("properties"), schema.get("additionalProperties")
        if properties:
            if name not in properties:
                raise PathError(f"{'.'.join(['', *steps, name])} is not in the schema")
            schema = properties[name]
        elif extra is not None:
            schema = extra if isinstance(extra, dict) else None
            name = f"[{name}]"
        else:
            raise PathError(f"{'.'.join(['', *steps]) or 'the root'} declares no fields")
        steps.append(name)
    return tuple(steps), schema


_CONVERTED = ("properties", "items", "additionalProperties", "allOf", "anyOf", "oneOf", "not")
_FILLED = ("id", "$schema", "$ref", "patternProperties", "dependencies", "definitions")


def convertible(root: Mapping[str, Any]) -> bool:
    """Tell whether a schema can become a structural one; source: NewStructural."""
    stack = [root]
    while stack:
        data = stack.pop()
        if any(data.get(key) for key in _FILLED) or data.get("additionalItems") is not None:
            return False
        if data.get("x-kubernetes-preserve-unknown-fields") is False:
            return False
        if isinstance(data.get("items"), list) and data["items"]:
            return False
        for key in _CONVERTED:
            if key in data:
                stack.extend(schema for _, schema in held(key, data[key]))
    return True


def _unchanged(node: Node, value: list[Any]) -> bool:
    """Tell whether the stored version has the same list, which excuses its length."""
    if node.crd.old is None:
        return False
    for version in node.crd.old.versions:
        if version.get("name") == node.get("name"):
            return same_json(version.get(PART) or [], value)
    return False
