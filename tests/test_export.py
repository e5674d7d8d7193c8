"""The export command: JSON Schemas that take what the server takes, and OpenAPI documents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import openapi_spec_validator
import pytest
from test_cli import QUEUE, crdlint

from crdlint import document, kubernetes, reading
from crdlint.exporting import as_jsonschema
from crdlint.exporting.patterns import portable
from crdlint.objects import resource
from crdlint.objects.served import versions_of

CORPUS = Path(__file__).parents[2] / "shared" / "corpus"

HEAD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  names: {kind: Widget, plural: widgets}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    SUBRESOURCES
    schema:
      openAPIV3Schema: """


def crd(spec: Any, subresources: str = "") -> str:
    schema = {"type": "object", "properties": {"spec": spec}}
    head = HEAD.replace("SUBRESOURCES", subresources or "deprecated: false")
    return head + json.dumps(schema) + "\n"


def exported(text: str, **options: Any) -> as_jsonschema.Exported:
    (part,) = document.read(text.encode(), "crd.yaml")
    (subject,) = reading.subjects(part, kubernetes.NEWEST)
    assert subject.crd is not None
    (version,) = subject.crd.root.children()
    return as_jsonschema.export(version, **options)


def valid(text: str, spec: Any, **options: Any) -> bool:
    schema = exported(text, **options).schema
    validator = jsonschema.validators.validator_for(schema)
    validator.check_schema(schema)
    return bool(validator(schema).is_valid(widget(spec)))


def widget(spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "example.com/v1",
        "kind": "Widget",
        "metadata": {"name": "one"},
        "spec": spec,
    }


def accepted(text: str, spec: Any) -> bool:
    (part,) = document.read(text.encode(), "crd.yaml")
    (subject,) = reading.subjects(part, kubernetes.NEWEST)
    assert subject.crd is not None
    (served,) = versions_of(subject.crd.data, minor=kubernetes.NEWEST)
    return resource.take(served, widget(spec)).accepted


def fields(**properties: Any) -> dict[str, Any]:
    required = [name for name, schema in properties.items() if schema.pop("needed", False)]
    made = {"type": "object", "properties": properties}
    return {**made, "required": required} if required else made


TEXT = {"type": "string"}
CASES: list[tuple[Any, Any, bool]] = [
    (fields(a={"x-kubernetes-int-or-string": True}), {"a": 1}, True),
    (fields(a={"x-kubernetes-int-or-string": True}), {"a": "1"}, True),
    (fields(a={"x-kubernetes-int-or-string": True}), {"a": True}, False),
    (fields(a={**TEXT, "nullable": True, "needed": True}), {"a": None}, True),
    (fields(a={**TEXT, "needed": True}), {"a": None}, False),
    (fields(a={**TEXT}), {"a": None}, True),
    (fields(a={**TEXT, "nullable": True, "enum": ["x"]}), {"a": None}, False),
    (fields(a={**TEXT, "enum": ["x"]}), {"a": None}, True),
    (fields(a={**TEXT, "needed": True, "default": "x"}), {}, True),
    (fields(a={**TEXT, "needed": True}), {}, False),
    (fields(a={"type": "integer", "format": "int32"}), {"a": 1 << 31}, False),
    (fields(a={"type": "integer", "format": "int32", "minimum": 3}), {"a": 2}, False),
    (fields(a={"type": "integer", "format": "int32", "maximum": 3}), {"a": 3}, True),
    (fields(a={"type": "integer", "maximum": 3, "exclusiveMaximum": True}), {"a": 3}, False),
    (fields(a={**TEXT, "format": "date-time"}), {"a": "today"}, False),
    (fields(a={**TEXT, "format": "date-time"}), {"a": "2020-01-01T00:00:00Z"}, True),
    (fields(a={**TEXT, "pattern": r"^[[:alpha:]]+\z"}), {"a": "abc"}, True),
    (fields(a={**TEXT, "pattern": r"^[[:alpha:]]+\z"}), {"a": "1"}, False),
    (fields(a={"type": "array", "items": TEXT, "x-kubernetes-list-type": "set"}), {"a": ["x", "x"]}, False),
    (fields(a={"type": "object", "additionalProperties": {"type": "integer"}}), {"a": {"x": None}}, True),
    (fields(a={"type": "array", "items": {"type": "integer"}}), {"a": [None]}, False),
    (fields(a={"type": "array", "items": {"x-kubernetes-preserve-unknown-fields": True}}), {"a": [None]}, True),
    (fields(a={"type": "array", "items": {"x-kubernetes-preserve-unknown-fields": True, "not": {"required": ["b"]}}}), {"a": [None]}, True),
    (fields(a={"type": "array", "items": {"x-kubernetes-preserve-unknown-fields": True, "enum": [1]}}), {"a": [None]}, False),
    (fields(a={"type": "array", "items": {"x-kubernetes-int-or-string": True}}), {"a": [None]}, False),
    ({**fields(a={**TEXT}, b={**TEXT}), "oneOf": [{"required": ["a"]}, {"required": ["b"]}]}, {"a": "x", "b": None}, True),
    ({**fields(a={**TEXT}, b={**TEXT}), "oneOf": [{"required": ["a"]}, {"required": ["b"]}]}, {"a": "x", "b": "x"}, False),
    ({**fields(a={**TEXT, "default": "x"}, b={**TEXT}), "not": {"required": ["b"]}}, {}, True),
    (fields(a={"type": "object", "x-kubernetes-preserve-unknown-fields": True}), {"a": {"x": 1}}, True),
    (fields(a={"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True}), {"a": {}}, False),
    (fields(), {"unknown": 1}, True),
]  # fmt: skip


@pytest.mark.parametrize(("spec", "value", "expected"), CASES)
@pytest.mark.parametrize("dialect", as_jsonschema.DIALECTS)
def test_json_schema_says_what_the_server_says(
    spec: Any, value: Any, expected: bool, dialect: str
) -> None:
    text = crd(spec)
    assert accepted(text, value) == expected
    assert valid(text, value, dialect=dialect) == expected


def test_closed_schemas_refuse_what_is_pruned() -> None:
    text = crd(fields(a=TEXT, b={"type": "object", "x-kubernetes-preserve-unknown-fields": True}))
    assert valid(text, {"a": "x", "b": {"c": 1}}, closed=True)
    assert not valid(text, {"c": 1}, closed=True)


def test_what_cannot_be_said_is_listed() -> None:
    items = {"type": "object", "required": ["k"], "properties": {"k": TEXT}}
    spec = fields(
        a={"type": "array", "items": items, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]},
        b={**TEXT, "pattern": r"\p{Greek}"},
        c={**TEXT, "format": "cidr"},
    )  # fmt: skip
    spec["x-kubernetes-validations"] = [{"rule": "has(self.a)"}]
    assert exported(crd(spec)).unsaid == [
        (".spec.a", "items that are unique by k"),
        (".spec.b", r"pattern \p{Greek}"),
        (".spec.c", "format cidr"),
        (".spec", "1 CEL rule"),
    ]


@pytest.mark.parametrize(
    ("pattern", "written"),
    [
        (r"^a+$", r"^a+$"),
        (r"\Aa\z", r"^a$"),
        (r"(?P<name>a)", "(a)"),
        (r"[[:digit:]x]", "[0-9x]"),
        (r"\ a", " a"),
        (r"(?i)a", None),
        (r"\pL", None),
        (r"\Qa+\E", None),
        (r"[a\]b]\/", r"[a\]b]\/"),
    ],
)
def test_patterns(pattern: str, written: str | None) -> None:
    assert portable(pattern) == written


def test_status_of_a_subresource_is_not_asked_for() -> None:
    text = (
        crd(fields())
        .replace("deprecated: false", "subresources: {status: {}}")
        .replace('"spec": {', '"status": {"type": "integer"}, "spec": {')
    )
    schema = exported(text).schema
    value = {**widget({}), "status": "anything"}
    assert jsonschema.Draft7Validator(schema).is_valid(value)


def test_openapi_is_valid_and_has_the_paths_of_the_server(tmp_path: Path) -> None:
    file = tmp_path / "crd.yaml"
    scale = "{specReplicasPath: .spec.a, statusReplicasPath: .status.a}"
    file.write_text(
        crd(fields(a={"type": "integer"}), f"subresources: {{status: {{}}, scale: {scale}}}")
    )
    done = crdlint("export", "--format", "openapi", file)
    assert done.returncode == 0, done.stderr
    made = json.loads(done.stdout)
    openapi_spec_validator.validate(made)
    one = "/apis/example.com/v1/namespaces/{namespace}/widgets/{name}"
    assert set(made["paths"]) == {
        "/apis/example.com/v1/widgets",
        "/apis/example.com/v1/namespaces/{namespace}/widgets",
        one,
        f"{one}/status",
        f"{one}/scale",
    }
    assert made["paths"][one]["get"]["operationId"] == "readExampleComV1NamespacedWidget"
    own = made["components"]["schemas"]["com.example.v1.Widget"]
    assert own["properties"]["spec"]["properties"] == {"a": {"type": "integer"}}
    assert own["x-kubernetes-group-version-kind"] == [
        {"group": "example.com", "version": "v1", "kind": "Widget"}
    ]


def test_files_are_named_as_kubeconform_looks_for_them(tmp_path: Path) -> None:
    (tmp_path / "crd.yaml").write_text(crd(fields(a=TEXT)))
    done = crdlint("export", tmp_path / "crd.yaml", "--output", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert (
        json.loads((tmp_path / "out/example.com/widget_v1.json").read_text())["title"] == "Widget"
    )
    named = ("--file-name", "{plural}-{version}.json", "--output", tmp_path / "other")
    assert crdlint("export", tmp_path / "crd.yaml", *named).returncode == 0
    assert (tmp_path / "other/widgets-v1.json").exists()


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("--only", "v9"), "no such version"),
        (("--output", "out", "--file-name", "{nothing}"), "is no file name"),
        (("--output", "out", "--file-name", "../{kind}"), "leads out of"),
        (("--output", "out", "--file-name", "{kind.__class__}"), "is no file name"),
        (("--output", "out", "--file-name", "{kind!r}"), "is no file name"),
        (("--output", "out", "--file-name", "{kind:>9}"), "is no file name"),
        (("--output", "out", "--file-name", "{0}{"), "is no file name"),
        (("--output", "out", "--file-name", "{kind}/"), "names no file"),
        (("--output", "out", "--file-name", ""), "names no file"),
        (("--output", ""), "--output ."),
        (("--dialect", "draft-99"), "draft-99"),
    ],
)
def test_wrong_usage_is_2(tmp_path: Path, args: tuple[str, ...], words: str) -> None:
    (tmp_path / "crd.yaml").write_text(crd(fields(a=TEXT)))
    done = crdlint("export", tmp_path / "crd.yaml", *args)
    assert done.returncode == 2
    assert words in done.stderr
    assert not done.stdout


def test_a_refused_crd_is_not_exported(tmp_path: Path) -> None:
    (tmp_path / "crd.yaml").write_text(crd({"type": "strign"}))
    done = crdlint("export", tmp_path / "crd.yaml")
    assert done.returncode == 2
    assert "crdlint lint" in done.stderr


def test_a_crd_as_a_cluster_has_it_is_exported() -> None:
    done = crdlint("export", "--only", "v1", QUEUE)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["properties"]["kind"]["enum"] == ["Queue"]


@pytest.mark.skipif(not CORPUS.exists(), reason="the conformance data are not here")
def test_accepted_objects_are_valid() -> None:
    known: dict[tuple[str, ...], Any] = {}
    checked = 0
    for line in (CORPUS / "objects.jsonl").read_bytes().splitlines()[::4]:
        row = json.loads(line)
        if not row["accepted"]:
            continue
        value = row["object"]
        key = row["crd"], value["apiVersion"], value["kind"]
        if key not in known:
            known[key] = _schema(*key)
        if known[key] is None:
            continue
        checked += 1
        wrong = [error.message for error in known[key].iter_errors(value)]
        assert not wrong, (key, wrong)
    assert checked > 100


def _schema(name: str, api_version: str, kind: str) -> Any:
    file = CORPUS / name
    for part in document.read(file.read_bytes(), name, wanted=reading.WANTED):
        for subject in reading.subjects(part, kubernetes.NEWEST) if not part.skipped else ():
            if subject.crd is None or subject.crd.names.get("kind") != kind:
                continue
            for version in subject.crd.root.children():
                if api_version.endswith(f"/{version.get('name')}"):
                    return jsonschema.Draft7Validator(as_jsonschema.export(version).schema)
    return None


def test_a_refusal_names_place_reason_and_cure(tmp_path: Path) -> None:
    file = tmp_path / "crd.yaml"
    file.write_text(crd({"type": "strign"}))
    said = crdlint("export", file).stderr
    assert f"{file}:14: " in said
    assert "strign" in said
    file.write_text("kind: CustomResourceDefinition\nspec: [\n")
    assert f"{file}:3: " in crdlint("export", file).stderr
    file.write_text(crd(fields(a=TEXT)).replace("k8s.io/v1", "k8s.io/v1beta1"))
    assert f"crdlint convert --write {file}" in crdlint("export", file).stderr


def test_two_versions_never_go_to_one_file(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(crd(fields(a=TEXT)))
    (tmp_path / "b.yaml").write_text(crd(fields(b=TEXT)))
    out = tmp_path / "out"
    done = crdlint("export", tmp_path / "a.yaml", tmp_path / "b.yaml", "--output", out)
    assert done.returncode == 2
    assert "--file-name" in done.stderr
    assert not out.exists()
    (tmp_path / "b.yaml").write_text(crd(fields(a=TEXT)))
    done = crdlint("export", tmp_path / "a.yaml", tmp_path / "b.yaml", "--output", out)
    assert done.returncode == 0
    assert "wrote 1 file below" in done.stderr


def test_patterns_that_only_go_reads_are_published_as_they_are(tmp_path: Path) -> None:
    file = tmp_path / "crd.yaml"
    file.write_text(crd(fields(a={**TEXT, "pattern": "^((?i)mon)$"})))
    done = crdlint("export", "--format", "openapi", file)
    assert done.returncode == 0, done.stderr
    assert '"pattern": "^((?i)mon)$"' in done.stdout
    assert "the pattern ^((?i)mon)$" in done.stderr


@pytest.mark.parametrize("style", ["jsonschema", "openapi"])
def test_deep_schemas(tmp_path: Path, style: str) -> None:
    deep = '{"type": "object", "properties": {"a": ' * 900 + json.dumps(TEXT) + "}}" * 900
    (tmp_path / "crd.yaml").write_text(crd("DEEP").replace('"DEEP"', deep))
    done = crdlint("export", "--format", style, tmp_path / "crd.yaml")
    assert done.returncode == 0, done.stderr
    assert "was not checked" in done.stderr
    assert done.stdout.count('"a": {') == 900
