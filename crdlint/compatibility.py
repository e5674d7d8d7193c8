"""Field by field, what becomes of objects that travel between versions under conversion None."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdlint.keywords import same_schema

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

LOSSY, REFUSED, CHANGED = "lossy", "refused", "changed"

# Keywords that say nothing of the value itself, or that are compared by going down.
_SILENT = frozenset(
    "description title externalDocs example type default properties items additionalProperties"
    " required nullable x-kubernetes-preserve-unknown-fields x-kubernetes-embedded-resource"
    " x-kubernetes-list-type x-kubernetes-list-map-keys x-kubernetes-map-type".split()
)
# What every resource has, whatever its schema says of it.
_EVERYWHERE = frozenset(("apiVersion", "kind", "metadata"))
PRESERVE = "x-kubernetes-preserve-unknown-fields"


class Row:
    """One field that two versions treat differently.

    `verdict` is LOSSY (a write through `lacking` drops the field), REFUSED (values that one
    version takes are refused by the other) or CHANGED (another default). `what` names the
    difference in a few words, `lacking` the side ("a" or "b") that lacks the field, else "".
    """

    __slots__ = ("field", "lacking", "verdict", "what")

    def __init__(self, field: str, verdict: str, what: str, lacking: str = "") -> None:
        self.field = field
        self.verdict = verdict
        self.what = what
        self.lacking = lacking


def compare(a: Mapping[str, Any], b: Mapping[str, Any], field: str = "") -> Iterator[Row]:
    """Yield the fields that two schemas treat differently, in the order of the text.

    Source: conversion None only rewrites apiVersion; every version prunes and validates with its
    own schema.
    """
    if a is b or same_schema(a, b):
        return
    if (kind_a := _kind(a)) != (kind_b := _kind(b)):
        yield Row(field, REFUSED, f"is {kind_a} in one and {kind_b} in the other")
        return
    yield from _own(a, b, field)
    yield from _fields(a, b, field)
    for key, step in (("items", "[*]"), ("additionalProperties", ".*")):
        below = a.get(key), b.get(key)
        if isinstance(below[0], dict) and isinstance(below[1], dict):
            yield from compare(below[0], below[1], field + step)


def _kind(schema: Mapping[str, Any]) -> str:
    if schema.get("x-kubernetes-int-or-string"):
        return "int-or-string"
    return str(schema.get("type") or "of any type")


def _own(a: Mapping[str, Any], b: Mapping[str, Any], field: str) -> Iterator[Row]:
    """Yield how the two differ in what they say of the value itself."""
    differing = sorted(
        key
        for key in (a.keys() | b.keys()) - _SILENT
        if not same_schema({k: a[k] for k in (key,) if k in a}, {k: b[k] for k in (key,) if k in b})
    )
    if bool(a.get("nullable")) != bool(b.get("nullable")):
        differing.append("nullable")
    for name in sorted(set(a.get("required") or ()) ^ set(b.get("required") or ())):
        in_both = name in (a.get("properties") or {}) and name in (b.get("properties") or {})
        if in_both:
            yield Row(f"{field}.{name}", REFUSED, "is required in one only")
    if differing:
        yield Row(field, REFUSED, f"differs in {', '.join(differing)}")
    if not same_schema({"default": a.get("default")}, {"default": b.get("default")}):
        yield Row(field, CHANGED, "has another default")


def _fields(a: Mapping[str, Any], b: Mapping[str, Any], field: str) -> Iterator[Row]:
    in_a, in_b = a.get("properties") or {}, b.get("properties") or {}
    for name in {**in_a, **in_b}:
        if not field and name in _EVERYWHERE:
            continue
        path = f"{field}.{name}"
        if name in in_a and name in in_b:
            yield from compare(in_a[name], in_b[name], path)
        elif not _keeps(b if name in in_a else a):
            yield Row(path, LOSSY, "is missing in one", "b" if name in in_a else "a")


def _keeps(schema: Mapping[str, Any]) -> bool:
    return bool(schema.get(PRESERVE)) or schema.get("additionalProperties") not in (None, False)
