"""Printer columns: what the API server refuses, and columns that stay empty."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdlint import jsonpath
from crdlint.rule import SPEC, Problem, lint
from crdlint.rules.parts import hidden, schema_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crdlint.rule import Problems
    from crdlint.tree import Node

PART = "additionalPrinterColumns"
TYPES = ("boolean", "date", "integer", "number", "string")
FORMATS = ("byte", "date", "date-time", "double", "float", "int32", "int64", "password")


@lint("column-required", "column-type", "column-path", on=f"version.{PART}", stage=SPEC)
def columns(node: Node, value: list[Mapping[str, Any]]) -> Problems:
    """Refuse columns without name, type or path, and unknown types; source: column validation."""
    if hidden(node, PART):
        return
    for i, column in enumerate(value or []):
        for key in ("name", "type", "jsonPath"):
            if not column.get(key):
                message = f"a column needs its {key}"
                place = node.at(PART, i, key)
                yield Problem(place, message, rule="column-required", refused=["Required"])
        for key, known in (("type", TYPES), ("format", FORMATS)):
            text = column.get(key)
            if text and text not in known:
                message = f"{text!r} is no {key} of a column; the server knows {', '.join(known)}"
                place = node.at(PART, i, key)
                yield Problem(place, message, rule="column-type", refused=["Invalid"])
        path = column.get("jsonPath")
        if path and not path.startswith("."):
            message = f"{path!r} does not start with a dot"
            place = node.at(PART, i, "jsonPath")
            yield Problem(place, message, rule="column-path", refused=["Invalid"])


@lint("column-path-syntax", "column-path-unknown", "column-path-type", on=f"version.{PART}")
def column_paths(node: Node, value: list[Mapping[str, Any]]) -> Problems:
    """Report columns that the table printer cannot fill; source: tableconvertor.

    A path that does not parse takes all other columns of the version with it.
    """
    schema = schema_of(node.data)
    if hidden(node, PART) and node.crd.hoisted("schema"):
        return
    for i, column in enumerate(value or []):
        path = column.get("jsonPath") or ""
        if not path.startswith("."):
            continue
        place = node.at(PART, i, "jsonPath")
        try:
            steps = jsonpath.parse(path)
        except jsonpath.JSONPathError as error:
            message = f"{path!r} is no JSONPath ({error}), so kubectl get shows none of the columns"
            yield Problem(place, message, rule="column-path-syntax")
            continue
        if schema is None:
            continue
        target = jsonpath.follow(schema, steps)
        name = column.get("name")
        if target.missing:
            message = f"{path} leads nowhere ({target.missing}), so {name} stays empty"
            yield Problem(place, message, rule="column-path-unknown")
        elif target.schema and (found := _unfit(target.schema, str(column.get("type")))):
            message = f"{path} is of type {found}, so a column of type {column['type']} stays empty"
            yield Problem(place, message, rule="column-path-type")


def _unfit(schema: Mapping[str, Any], wanted: str) -> str:
    """Return a field's type where a column of a type never shows it; source: cellForJSONValue."""
    kind = str(schema.get("type") or "")
    if not kind or wanted not in TYPES or wanted == "string":
        return ""
    fits = {
        "integer": ("integer", "number"),
        "number": ("integer", "number"),
        "boolean": ("boolean",),
        "date": ("string",),
    }
    return "" if kind in fits[wanted] else kind


@lint("column-repeated", "column-age-missing", on=f"version.{PART}")
def column_set(node: Node, value: list[Mapping[str, Any]]) -> Problems:
    """Report two columns of one name, and tables without an age."""
    if hidden(node, PART):
        return
    seen: dict[str, int] = {}
    for i, column in enumerate(value or []):
        name = column.get("name") or ""
        if name and name in seen:
            related = [(node.at(PART, seen[name], "name"), "the same name")]
            message = f"two columns are called {name}"
            place = node.at(PART, i, "name")
            yield Problem(place, message, rule="column-repeated", related=related)
        seen.setdefault(name, i)
    if value and not any(
        column.get("jsonPath") == ".metadata.creationTimestamp" for column in value
    ):
        message = "with columns of its own a CRD loses the AGE that kubectl get shows otherwise"
        yield Problem(node.at(PART), message, rule="column-age-missing")
