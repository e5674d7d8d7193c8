"""What is wrong with a configuration: held to its JSON Schema, and to the rules there are.

jsonschema takes longer to import than a small run lasts, so a few lines here look first whether the
data fits; jsonschema is asked only for what is wrong where it does not.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

from crdlint.spelling import meant

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    Path = tuple[Any, ...]

SCHEMA = "config.schema.json"
_TYPES: dict[str, type | tuple[type, ...]] = {"object": dict, "array": list, "string": str}


def schema_file() -> str:
    """Return the file of the published JSON Schema."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), SCHEMA)


def schema() -> dict[str, Any]:
    """Return the JSON Schema of the configuration."""
    import json

    with open(schema_file(), encoding="utf-8") as stream:
        found: dict[str, Any] = json.load(stream)
    return found


def complaints(data: Any) -> Iterator[tuple[Path, str]]:
    """Yield what is wrong with a configuration: where, and why with the cure."""
    published = schema()
    if not fits(data, published, published["$defs"]):
        yield from _by_schema(data, published)
        return
    yield from _rules(data)
    yield from _values(data)


def fits(value: Any, schema: dict[str, Any], defs: dict[str, Any]) -> bool:
    """Tell whether a value is valid by a schema, as far as that of the configuration goes."""
    if "$ref" in schema and not fits(value, defs[schema["$ref"].rpartition("/")[2]], defs):
        return False
    if "enum" in schema and value not in schema["enum"]:
        return False
    types = schema.get("type")
    if types is not None:
        allowed = [types] if isinstance(types, str) else types
        if not any(isinstance(value, _TYPES[name]) for name in allowed):
            return False
    if "anyOf" in schema and not any(fits(value, part, defs) for part in schema["anyOf"]):
        return False
    if isinstance(value, str):
        long_enough = len(value) >= schema.get("minLength", 0)
        return long_enough and re.search(schema.get("pattern", ""), value) is not None
    if isinstance(value, list):
        long_enough = len(value) >= schema.get("minItems", 0)
        return long_enough and all(fits(item, schema.get("items", {}), defs) for item in value)
    return not isinstance(value, dict) or _object_fits(value, schema, defs)


def _object_fits(value: dict[str, Any], schema: dict[str, Any], defs: dict[str, Any]) -> bool:
    known = schema.get("properties", {})
    others = schema.get("additionalProperties", {})
    return all(key in value for key in schema.get("required", ())) and all(
        fits(item, known[key], defs)
        if key in known
        else others is not False and fits(item, others, defs)
        for key, item in value.items()
    )


def _by_schema(data: Any, published: dict[str, Any]) -> Iterator[tuple[Path, str]]:
    """Yield what jsonschema finds, in our words."""
    from jsonschema import Draft202012Validator

    for error in Draft202012Validator(published).iter_errors(data):
        path = tuple(error.absolute_path)
        if error.validator == "additionalProperties":
            known = list(error.schema.get("properties", ()))
            for key in error.instance:
                if key not in known:
                    yield (*path, key), f"there is no such key{meant(key, known)}"
        else:
            yield path, _words(error)


def _words(error: Any) -> str:
    value, limit = error.instance, error.validator_value
    if error.validator == "enum":
        close = meant(value, limit) if isinstance(value, str) else ""
        return f"{value!r} is not one of {', '.join(limit)}{close}"
    if error.validator == "type":
        names = {"object": "a table", "array": "a list", "string": "a text"}
        kinds = [limit] if isinstance(limit, str) else limit
        return f"{value!r} is not {' or '.join(names[kind] for kind in kinds)}"
    if error.validator == "required":
        missing = next(key for key in limit if key not in value)
        about = error.schema["properties"][missing].get("description", "")
        return f"{missing} is missing{': ' if about else ''}{about}"
    if error.validator == "anyOf":
        return "name a rule, a crd or a field: it would ignore everything"
    if error.validator in ("minLength", "minItems"):
        return "must not be empty"
    about = error.schema.get("description", "")
    return f"{value!r} is none. {about}" if about else f"{value!r} does not match {limit}"


def as_list(value: str | Sequence[str] | None) -> list[str]:
    """Return one text or a list of them as a list."""
    return [value] if isinstance(value, str) else list(value or ())


def _rules(data: dict[str, Any]) -> Iterator[tuple[Path, str]]:
    from crdlint import pages

    named = list(rules_named(data))
    known = frozenset(pages.ids()) if named else frozenset()
    for path, rule in named:
        if rule not in known:
            yield path, f"there is no rule {rule!r}{meant(rule, known)}"


def rules_named(data: dict[str, Any]) -> Iterator[tuple[tuple[Any, ...], str]]:
    """Yield every rule that a configuration names, with its path there."""
    yield from ((("rules", rule), rule) for rule in data.get("rules", ()))
    for i, entry in enumerate(data.get("overrides", ())):
        yield from ((("overrides", i, "rules", rule), rule) for rule in entry.get("rules", ()))
    for i, entry in enumerate(data.get("ignore", ())):
        yield from ((("ignore", i, "rule"), rule) for rule in as_list(entry.get("rule")))


def _values(data: dict[str, Any]) -> Iterator[tuple[Path, str]]:
    """Yield what only more than the schema knows: versions and dates."""
    if text := data.get("kubernetes-version"):
        from crdlint import kubernetes

        try:
            kubernetes.parse_range(text)
        except kubernetes.VersionError as error:
            yield ("kubernetes-version",), str(error)
    for i, entry in enumerate(data.get("acknowledge", ())):
        if until := entry.get("until"):
            import time

            try:
                time.strptime(until, "%Y-%m-%d")
            except ValueError:
                yield ("acknowledge", i, "until"), f"{until} is no day of the calendar"
