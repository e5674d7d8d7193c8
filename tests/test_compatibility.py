"""What conversion None does to the fields of two versions."""

from __future__ import annotations

from typing import Any

import pytest

from crdlint.compatibility import CHANGED, LOSSY, REFUSED, compare

TEXT = {"type": "string"}


def thing(**fields: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"spec": {"type": "object", "properties": fields}}}


@pytest.mark.parametrize(
    ("a", "b", "rows"),
    [
        (thing(a=TEXT), thing(a=TEXT), []),
        (thing(a=TEXT), thing(a={**TEXT, "description": "said"}), []),
        (thing(a=TEXT), thing(), [(".spec.a", LOSSY, "b")]),
        (thing(), thing(a=TEXT), [(".spec.a", LOSSY, "a")]),
        (thing(a=TEXT), thing(a={"type": "integer"}), [(".spec.a", REFUSED, "")]),
        (thing(a=TEXT), thing(a={**TEXT, "maxLength": 3}), [(".spec.a", REFUSED, "")]),
        (thing(a=TEXT), thing(a={**TEXT, "default": "x"}), [(".spec.a", CHANGED, "")]),
        (
            thing(a={"type": "array", "items": {"type": "object", "properties": {"b": TEXT}}}),
            thing(a={"type": "array", "items": {"type": "object"}}),
            [(".spec.a[*].b", LOSSY, "b")],
        ),
    ],
)
def test_rows(a: Any, b: Any, rows: list[tuple[str, str, str]]) -> None:
    assert [(row.field, row.verdict, row.lacking) for row in compare(a, b)] == rows


def test_an_object_that_keeps_unknown_fields_loses_none() -> None:
    open_object = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    assert not list(compare(thing(a=thing(b=TEXT)), thing(a=open_object)))


def test_metadata_is_the_same_in_every_version() -> None:
    a = thing()
    b = thing()
    b["properties"]["metadata"] = {"type": "object", "properties": {"name": TEXT}}
    assert not list(compare(a, b))
