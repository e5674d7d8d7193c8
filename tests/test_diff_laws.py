"""Laws of comparing: nothing differs from itself, and no change goes unseen."""

from __future__ import annotations

import copy
import json
import random
from pathlib import Path
from typing import Any

import pytest
from deepdiff import DeepDiff
from diff_helpers import schema
from hypothesis import given, settings
from hypothesis import strategies as st

from crdlint import differ, document, kubernetes
from crdlint.changes import DOCUMENTATION, changes
from crdlint.diffrule import DIFF_IDS
from crdlint.shape import shape
from crdlint.tree import Crd

SHARED = Path(__file__).parents[2] / "shared" / "corpus"
FILES = sorted((SHARED / "crds").glob("*/**/*.yaml"))[::9] if SHARED.exists() else []
KEEP = ("default", "enum", "example")  # below these every key is data


def crd(data: Any) -> Crd:
    return Crd(shape(data, minor=kubernetes.NEWEST).crd, _NowhereDocument, minor=kubernetes.NEWEST)


_NowhereDocument: Any = None


def found(old: Any, new: Any) -> list[str]:
    return [problem.rule for problem in differ.compare(crd(old), crd(new))]


def shuffled(data: Any, rng: random.Random) -> Any:
    """Return the same value with the keys of all mappings in another order."""
    if isinstance(data, dict):
        keys = list(data)
        rng.shuffle(keys)
        return {key: shuffled(data[key], rng) for key in keys}
    if isinstance(data, list):
        return [shuffled(item, rng) for item in data]
    return data


def redocumented(data: Any, named: bool = False) -> Any:
    """Return a schema with other descriptions."""
    if isinstance(data, dict):
        out = {
            key: value if key in KEEP else redocumented(value, key == "properties")
            for key, value in data.items()
            if named or key != "description"
        }
        if not named and ("type" in data or "properties" in data) and "jsonPath" not in data:
            out["description"] = "another text"
        return out
    if isinstance(data, list):
        return [redocumented(item) for item in data]
    return data


def schemas_only(data: Any, change: Any) -> Any:
    data = copy.deepcopy(data)
    for version in data["spec"].get("versions") or []:
        inner = (version.get("schema") or {}).get("openAPIV3Schema")
        if inner:
            version["schema"]["openAPIV3Schema"] = change(inner)
    return data


def crds_of(file: Path) -> list[Any]:
    found = []
    for one in document.read(file.read_bytes(), file.name):
        data = None if one.skipped or one.error else one.data
        wanted = {"kind": "CustomResourceDefinition", "apiVersion": "apiextensions.k8s.io/v1"}
        if isinstance(data, dict) and data.get("spec") and wanted.items() <= data.items():
            found.append(data)
    return found


@pytest.mark.parametrize("file", FILES, ids=[str(f.relative_to(SHARED)) for f in FILES])
def test_a_crd_does_not_differ_from_itself(file: Path) -> None:
    rng = random.Random(1)
    for data in crds_of(file):
        if shape(data, minor=kubernetes.NEWEST).error:
            continue
        assert found(data, copy.deepcopy(data)) == []
        assert found(data, shuffled(data, rng)) == []
        assert found(data, schemas_only(data, redocumented)) == []


LEAVES = st.sampled_from(
    [
        {"type": "string"},
        {"type": "string", "maxLength": 5},
        {"type": "string", "enum": ["a", "b"]},
        {"type": "string", "default": "a"},
        {"type": "integer", "minimum": 1},
        {"type": "integer", "format": "int32"},
        {"type": "number", "nullable": True},
        {"type": "boolean"},
        {"x-kubernetes-int-or-string": True},
        {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        {"type": "string", "pattern": "^a"},
        {"type": "string", "x-kubernetes-validations": [{"rule": "self != ''"}]},
    ]
)


def containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    names = st.sampled_from(["a", "b", "c"])
    fields = st.dictionaries(names, inner, min_size=1, max_size=3)
    return st.one_of(
        fields.map(lambda f: {"type": "object", "properties": f}),
        fields.map(lambda f: {"type": "object", "properties": f, "required": sorted(f)[:1]}),
        inner.map(lambda i: {"type": "array", "items": i}),
        inner.map(lambda i: {"type": "object", "additionalProperties": i}),
    )


SCHEMAS = st.dictionaries(
    st.sampled_from(["spec", "status", "data"]), st.recursive(LEAVES, containers, max_leaves=6)
).map(lambda fields: {"type": "object", "properties": fields})


def whole(body: Any) -> Any:
    return next(iter(document.read(schema(json.dumps(body)).encode(), "x"))).data


@settings(max_examples=300, deadline=None)
@given(SCHEMAS, SCHEMAS)
def test_no_change_goes_unseen(before: Any, after: Any) -> None:
    seen = found(whole(before), whole(after))
    assert set(seen) <= DIFF_IDS.keys()
    assert bool(seen) == bool(DeepDiff(before, after, ignore_type_in_groups=[]))


@settings(max_examples=100, deadline=None)
@given(SCHEMAS, SCHEMAS)
def test_every_path_leads_to_its_data(before: Any, after: Any) -> None:
    old, new = crd(whole(before)), crd(whole(after))
    for change in changes(old, new):
        for node, data in ((change.old, old.data), (change.new, new.data)):
            value: Any = data
            for key in node.path:
                value = value[key]
            assert value == node.data


def test_documentation_keywords_are_known() -> None:
    assert {"description", "title", "example", "externalDocs"} == DOCUMENTATION


def test_deep_schemas_do_not_overflow() -> None:
    def deep(leaf: str) -> Any:
        inner: Any = {"type": leaf}
        for _ in range(200):
            inner = {"type": "object", "properties": {"a": inner}}
        return inner

    assert found(whole_of(deep("string")), whole_of(deep("string"))) == []
    assert found(whole_of(deep("string")), whole_of(deep("integer"))) == ["type-changed"]


def whole_of(body: Any) -> Any:
    data = whole({"type": "object"})
    data["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = body
    return data
