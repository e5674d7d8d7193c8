"""The versions command: the table of all versions of a CRD, and what a webhook has to do."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from test_cli import crdlint

if TYPE_CHECKING:
    from pathlib import Path

HEAD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  names: {kind: Widget, plural: widgets}
  scope: Namespaced
  versions:
"""


def version(name: str, **fields: Any) -> str:
    spec = {"type": "object", "properties": fields}
    schema = {"type": "object", "properties": {"spec": spec}}
    body = {"name": name, "served": True, "storage": name == "v1"}
    return f"  - {json.dumps({**body, 'schema': {'openAPIV3Schema': schema}})}\n"


def table(tmp_path: Path, old: dict[str, Any], new: dict[str, Any], *args: str) -> Any:
    file = tmp_path / "crd.yaml"
    file.write_text(HEAD + version("v1beta1", **old) + version("v1", **new))
    done = crdlint("versions", "--format", "json", *args, file)
    assert done.returncode == 0, done.stderr
    (crd,) = json.loads(done.stdout)["crds"]
    return crd


def ways(crd: Any) -> dict[str, tuple[str, str]]:
    """Return for each field the verdicts from v1beta1 to v1 and back."""
    return {
        line["field"]: tuple(
            next(w["verdict"] for w in line["ways"] if (w["from"], w["to"]) == way)
            for way in (("v1beta1", "v1"), ("v1", "v1beta1"))
        )
        for line in crd["fields"]
    }


TEXT = {"type": "string"}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ({"a": TEXT}, {"a": TEXT}, {}),
        ({"a": TEXT}, {"a": {**TEXT, "description": "said"}}, {}),
        ({"a": TEXT}, {}, {".spec.a": ("lossy", "lossless")}),
        ({}, {"a": TEXT}, {".spec.a": ("lossless", "lossy")}),
        ({"a": TEXT}, {"a": {"type": "integer"}}, {".spec.a": ("refused", "refused")}),
        ({"a": TEXT}, {"a": {**TEXT, "maxLength": 3}}, {".spec.a": ("refused", "lossless")}),
        ({"a": TEXT}, {"a": {**TEXT, "default": "x"}}, {".spec.a": ("changed", "changed")}),
        (
            {"a": {"type": "array", "items": {"type": "object", "properties": {"b": TEXT}}}},
            {"a": {"type": "array", "items": {"type": "object"}}},
            {".spec.a[*].b": ("lossy", "lossless")},
        ),
    ],
)
def test_verdicts(tmp_path: Path, old: Any, new: Any, expected: Any) -> None:
    assert ways(table(tmp_path, old, new)) == expected


def test_all_lists_fields_that_nothing_changes(tmp_path: Path) -> None:
    assert ".spec.a" in ways(table(tmp_path, {"a": TEXT}, {"a": TEXT}, "--all"))


def test_a_webhook_is_told_what_to_do(tmp_path: Path) -> None:
    crd = table(tmp_path, {"a": TEXT}, {"b": {**TEXT, "maxLength": 3}})
    duties = {
        (w["from"], line["field"]): w["webhook"] for line in crd["fields"] for w in line["ways"]
    }
    assert "keep .spec.a of v1beta1" in duties["v1beta1", ".spec.a"]
    assert duties["v1", ".spec.a"] is None


def test_text_and_markdown_say_the_same(tmp_path: Path) -> None:
    file = tmp_path / "crd.yaml"
    file.write_text(HEAD + version("v1beta1", a=TEXT) + version("v1"))
    text = crdlint("versions", file).stdout
    assert "under conversion None objects are harmed from v1beta1 to v1" in text
    assert "v1beta1->v1: v1 lacks it" in text
    assert "A webhook from v1beta1 to v1 has to" in text
    markdown = crdlint("versions", "--format", "markdown", file).stdout
    assert "| `.spec.a` | string | absent | lossy | lossless |" in markdown


def test_one_version_has_nothing_to_compare(tmp_path: Path) -> None:
    file = tmp_path / "crd.yaml"
    file.write_text(HEAD + version("v1", a=TEXT))
    assert "v1 is the only version" in crdlint("versions", file).stdout


def test_wrong_usage_is_2(tmp_path: Path) -> None:
    assert crdlint("versions").returncode == 2
    assert crdlint("versions", tmp_path / "none.yaml").returncode == 2
    (tmp_path / "other.yaml").write_text("kind: ConfigMap\napiVersion: v1\n")
    assert "no CustomResourceDefinition" in crdlint("versions", tmp_path / "other.yaml").stderr


def test_a_renamed_field_goes_by_the_name_that_the_source_has(tmp_path: Path) -> None:
    urls = {"type": "array", "items": TEXT, "description": "Places to look at, in order."}
    crd = table(tmp_path, {"urlList": urls, "a": TEXT}, {"urls": urls, "a": TEXT})
    assert ways(crd)[".spec.urlList"] == ("lossy", "lossless")
    assert ways(crd)[".spec.urls"] == ("lossless", "lossy")
    duties = [way["webhook"] for line in crd["fields"] for way in line["ways"] if way["webhook"]]
    assert duties == [
        "carry .spec.urlList of v1beta1 over to .spec.urls of v1",
        "carry .spec.urls of v1 over to .spec.urlList of v1beta1",
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (HEAD + version("v1") + version("v1"), ":8: two versions are named v1"),
        (HEAD + "  - served: true\n    storage: true\n", ":8: a version has no name"),
        (HEAD.replace("versions:", "versions: []"), ":8: there is no version"),
        ("kind: CustomResourceDefinition\nspec: [\n", ":3: "),
        (HEAD.replace("k8s.io/v1", "k8s.io/v1beta1"), "crdlint convert --write"),
    ],
)
def test_what_cannot_be_compared_is_an_error_and_the_rest_is_shown(
    tmp_path: Path, text: str, words: str
) -> None:
    (tmp_path / "a.yaml").write_text(text)
    (tmp_path / "b.yaml").write_text(HEAD + version("v1", a=TEXT))
    done = crdlint("versions", tmp_path)
    assert done.returncode == 2
    assert words in done.stderr
    assert "v1 is the only version" in done.stdout
