"""Cures for YAML that reads unlike it looks, and for values of the wrong kind."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from crdlint.fixes.cure import append, cure, drop, put, rename, schema_path, unshadow

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crdlint.document import Path
    from crdlint.edits import Change
    from crdlint.fixes.cure import Case

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,15})(?:\.[0-9]{1,15})?")


@cure("yaml-boolean-value")
def quote_value(case: Case) -> Iterator[Change]:
    """Quote a word that is read as a boolean."""
    if isinstance(case.value, bool) and case.text:
        yield put(case.path, case.text)


@cure("yaml-boolean-key")
def quote_key(case: Case) -> Iterator[Change]:
    """Quote a key that is read as a boolean."""
    if case.text and not case.has(*case.path[:-1], case.text):
        yield rename(case.path, case.text)


@cure("yaml-number")
def plain_number(case: Case) -> Iterator[Change]:
    """Quote a number where a text belongs, else write it as it is read."""
    _, schema = case.schema
    if schema.get("type") == "string" and case.text:
        yield put(case.path, case.text)
    elif schema.get("type") in ("integer", "number"):
        yield put(case.path, case.value)


@cure("duplicate-key")
def keep_last(case: Case) -> Iterator[Change]:
    """Leave of several entries of one key the last, which is the one that counts."""
    yield unshadow(case.path)


@cure("decode-error")
def right_kind(case: Case) -> Iterator[Change]:
    """Write a value as the kind that the field takes, where it says the same."""
    wanted = re.match(r"must be (?:an? )?(.+?)(?:, not |\Z)", case.message)
    if wanted is None or not case.has(*case.path):
        return
    if case.path[-1] == "required" and isinstance(case.value, bool):
        yield from _required_of_parent(case)
        return
    new = _as(wanted[1], case.value, case.text)
    if new is not None:
        yield put(case.path, new)
    elif wanted[1].startswith("RFC 3339") and case.path == ("metadata", "creationTimestamp"):
        yield drop(case.path)


def _as(wanted: str, value: Any, text: str) -> Any:
    """Return a value as another kind, None where it does not say the same as that."""
    if wanted == "text":
        return text if isinstance(value, (bool, int, float)) and text else None
    if wanted in ("true or false", "true, false or a schema"):
        return {"true": True, "false": False}.get(value.lower()) if isinstance(value, str) else None
    if wanted in ("whole number", "number"):
        return as_number(value, whole=wanted == "whole number")
    if wanted == "list":
        return [value] if isinstance(value, str) else None
    return None


def as_number(value: Any, *, whole: bool) -> int | float | None:
    """Return the number that a text spells, None where it is none."""
    if not isinstance(value, str) or not _NUMBER.fullmatch(value):
        return None
    if "." not in value:
        return int(value)
    return None if whole else float(value)


def _required_of_parent(case: Case) -> Iterator[Change]:
    """Turn `required: true` of a field into its name in the list of the object around it."""
    way = schema_path(case.path)
    if len(way) < 2 or way[-2] != "properties":
        return
    yield drop(case.path)
    if case.value:
        yield from require(case, way[:-2], str(way[-1]))


def require(case: Case, schema: Path, name: str) -> Iterator[Change]:
    """Add a name to the required fields of a schema."""
    required = case.get(*schema, "required")
    if isinstance(required, list):
        if name not in required:
            yield append((*schema, "required"), name)
    else:
        yield put((*schema, "required"), [name], after="properties")
