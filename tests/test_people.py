"""What an update does to the objects that people have."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from test_witness import NUMBER, TEXT, crd, holding

from crdlint import diffing, source

if TYPE_CHECKING:
    from pathlib import Path


def widget(name: str, spec: Any, **more: Any) -> dict[str, Any]:
    head = {"apiVersion": "example.com/v1", "kind": "Widget"}
    return {**head, "metadata": {"name": name, "namespace": "x"}, "spec": spec, **more}


def run(folder: Path, before: str, after: str, *objects: Any) -> diffing.DiffReport:
    (folder / "dump.json").write_text(json.dumps({"kind": "List", "items": list(objects)}))
    for name, text in (("old", before), ("new", after)):
        (folder / f"{name}.json").write_text(text)
    old, new, dump = (source.find([str(folder / f"{n}.json")]) for n in ("old", "new", "dump"))
    return diffing.diff(old, new, objects=dump)


def test_refused_ones_are_named_with_their_field(tmp_path: Path) -> None:
    old, new = crd(holding(TEXT)), crd(holding({**TEXT, "maxLength": 3}))
    objects = widget("long", {"f": "abcd"}), widget("short", {"f": "abc"}), widget("bad", {"f": 1})
    report = run(tmp_path, old, new, *objects, {"kind": "ConfigMap", "apiVersion": "v1"})
    (finding,) = (f for f in report.findings if f.spot.file.endswith("dump.json"))
    assert (finding.rule, finding.field, finding.effects) == (
        "object-bounds",
        "spec.f",
        ["writers"],
    )
    assert "Widget x/long" in finding.message
    assert report.summary.notes[-1] == (
        "objects: 1 refused, 1 taken as before, 1 refused before already, 1 of other kinds"
    )
    assert [row["name"] for row in report.objects or []] == ["long", "short"]


def test_what_an_unrelated_update_does_not_excuse_hurts_stored_objects(tmp_path: Path) -> None:
    list_ = {"type": "array", "items": TEXT}
    old = crd(holding(list_))
    new = crd(holding({**list_, "items": {**TEXT, "maxLength": 1}}))
    report = run(tmp_path, old, new, widget("a", {"f": ["ab"]}))
    assert report.objects is not None
    assert report.objects[0]["update"] == "accepted"  # nothing in spec changes
    embedded = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    old = crd(holding(embedded))
    new = crd(holding({**embedded, "x-kubernetes-embedded-resource": True}))
    report = run(tmp_path, old, new, widget("a", {"f": {}}))
    assert report.objects is not None
    assert report.objects[0]["update"] == "refused"
    finding = next(f for f in report.findings if f.rule == "object-metadata")
    assert finding.effects == ["stored-objects", "writers"]


@pytest.mark.parametrize(
    ("before", "after", "spec", "row"),
    [
        (holding(TEXT), {"type": "object"}, {"f": "x"}, {"pruned": ["spec.f"]}),
        (
            holding({**NUMBER, "default": 1}),
            holding({**NUMBER, "default": 2}),
            {},
            {"changed": [{"field": "spec.f", "before": 1, "after": 2}]},
        ),
    ],
)
def test_pruned_and_defaulted_otherwise(
    tmp_path: Path, before: Any, after: Any, spec: Any, row: dict[str, Any]
) -> None:
    report = run(tmp_path, crd(before), crd(after), widget("a", spec))
    assert report.objects is not None
    assert row.items() <= report.objects[0].items()
    assert report.objects[0]["create"] == "accepted"


def test_an_object_whose_version_goes_is_out_of_reach(tmp_path: Path) -> None:
    old, new = crd({"type": "object"}, {"type": "object"}), crd({"type": "object"})
    report = run(tmp_path, old, new, widget("a", {}, apiVersion="example.com/v2"))
    assert report.objects is not None
    assert report.objects[0]["create"] == "gone"
    assert any(f.rule == "object-not-served" for f in report.findings)


def test_no_object_no_entry(tmp_path: Path) -> None:
    report = run(tmp_path, crd({"type": "object"}), crd({"type": "object"}))
    assert report.objects == []
    assert report.summary.notes[-1] == "objects: none found"
