"""validate(): which objects are judged, by which CRD and as what, and what is said where."""

from __future__ import annotations

import json
from typing import Any

import pytest

from crdlint import validating
from crdlint.report import FORMATS, render
from crdlint.source import Source

SPEC = """\
type: object
properties:
  spec:
    type: object
    required: [name]
    properties:
      name: {type: string}
      size: {type: integer, maximum: 3, default: 2}
  status:
    type: object
    properties: {phase: {type: string, enum: [Ready, Failed]}}
"""


def crd(
    schema: str = SPEC, *, kind: str = "Widget", scope: str = "Namespaced", more: str = ""
) -> str:
    indented = "".join(f"        {line}\n" for line in schema.splitlines())
    plural = kind.lower() + "s"
    return f"""\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: {plural}.example.com}}
spec:
  group: example.com
  names: {{kind: {kind}, plural: {plural}}}
  scope: {scope}
  versions:
  - name: v1
    served: true
    storage: true
{more}    schema:
      openAPIV3Schema:
{indented}  - name: v1alpha1
    served: false
    storage: false
    schema: {{openAPIV3Schema: {{type: object}}}}
"""


def widget(spec: str = "{name: x}", *, name: str = "hammer", more: str = "", meta: str = "") -> str:
    return (
        "apiVersion: example.com/v1\nkind: Widget\n"
        f"metadata: {{name: {name}{meta}}}\nspec: {spec}\n{more}"
    )


STATUS = "    subresources: {status: {}}\n"


def judge(text: str, *crds: str, old: str = "", **options: Any) -> validating.ValidateReport:
    definitions = [Source(f"crd{i}.yaml", c.encode) for i, c in enumerate(crds or (crd(),))]
    if old:
        options["olds"] = [Source("old.yaml", old.encode)]
    return validating.validate(definitions, [Source("o.yaml", text.encode)], **options)


def found(report: validating.ValidateReport) -> list[tuple[str, str, int]]:
    return [(f.rule, f.field, f.spot.line) for f in report.findings]


def test_a_clean_object() -> None:
    report = judge(widget())
    assert found(report) == []
    (judged,) = report.judged
    assert judged.accepted
    assert judged.stored == {
        "apiVersion": "example.com/v1",
        "kind": "Widget",
        "metadata": {"name": "hammer", "namespace": "default"},
        "spec": {"name": "x", "size": 2},
    }


def test_findings_have_field_place_and_what_the_server_says() -> None:
    report = judge(widget("\n  size: 5\n  nmae: x"))
    assert found(report) == [
        ("object-required", "spec.name", 4),
        ("object-bounds", "spec.size", 5),
        ("object-unknown-field", "spec.nmae", 6),
    ]
    required, bounds, unknown = report.findings
    assert required.server == [("Required", "spec.name")]
    assert bounds.server == [("Invalid", "spec.size")]
    assert (bounds.spot.column, bounds.spot.end_column) == (9, 10)
    assert unknown.server == [("Warning", "spec.nmae")]
    assert (unknown.severity, unknown.crd, unknown.spot.version) == (
        "warning",
        "widgets.example.com",
        "v1",
    )


def test_strict_refuses_unknown_fields_and_duplicate_keys() -> None:
    text = widget("{name: x, nmae: y, size: 1, size: 2}")
    loose, strict = judge(text), judge(text, strict=True)
    assert loose.judged[0].accepted
    assert {f.severity for f in loose.findings} == {"warning"}
    assert not strict.judged[0].accepted
    said = {f.rule: (f.severity, f.server) for f in strict.findings}
    assert said == {
        "object-unknown-field": ("error", [("Strict", "spec.nmae")]),
        "duplicate-key": ("error", [("Strict", "spec.size")]),
    }


def test_fields_with_dots_are_found_in_the_file() -> None:
    report = judge(widget("\n  name: x\n  a.b[0]:\n    c: 1\n  a: 1"))
    assert found(report) == [
        ("object-unknown-field", "spec[a.b[0]]", 6),
        ("object-unknown-field", "spec.a", 8),
    ]


def test_rules_that_are_not_reached_belong_to_what_keeps_the_server_from_them() -> None:
    schema = SPEC + "x-kubernetes-validations: [{rule: self.spec.size < 3}]\n"
    report = judge(widget("{name: 5}"), crd(schema))
    (finding,) = report.findings
    assert finding.server == [("TypeInvalid", "spec.name"), ("Invalid", "<nil>")]


def test_a_rule_is_evaluated() -> None:
    schema = SPEC + "x-kubernetes-validations: [{rule: self.spec.size < 3, message: too big}]\n"
    report = judge(widget("{name: x, size: 3}"), crd(schema))
    assert [(f.rule, f.message) for f in report.findings] == [("object-cel", "too big")]


def test_a_word_that_yaml_reads_otherwise_is_said() -> None:
    report = judge(widget("{name: yes}"))
    assert report.findings[0].message.startswith("must be a string, not true; YAML reads yes so")


def test_junctor_branches_belong_to_one_finding() -> None:
    schema = """\
type: object
properties:
  spec:
    type: object
    oneOf: [{required: [a]}, {required: [b]}]
    properties: {a: {type: string}, b: {type: string}}
"""
    (finding,) = judge(widget("{}"), crd(schema)).findings
    assert finding.rule == "object-junctor"
    assert finding.field == "spec"
    assert finding.server == [("Invalid", "<nil>"), ("Required", "spec.a")]


def test_version_that_is_not_served() -> None:
    for version in ("v1alpha1", "v2"):
        report = judge(widget().replace("/v1", f"/{version}"))
        assert found(report) == [("object-not-served", "apiVersion", 1)]
        assert report.findings[0].server == [("NoMatch", "apiVersion")]
        assert not report.judged[0].accepted
        assert "the CRD serves v1" in report.findings[0].message


def test_namespace_on_a_cluster_scoped_kind() -> None:
    report = judge(widget(meta=", namespace: tools"), crd(scope="Cluster"))
    assert found(report) == [("object-scope", "metadata.namespace", 3)]
    assert report.judged[0].accepted
    assert report.judged[0].stored is not None
    assert "namespace" not in report.judged[0].stored["metadata"]


def test_kinds_that_no_crd_has_are_counted() -> None:
    other = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
    text = f"{widget()}---\n{other}---\n{other}---\nreplicas: 3\n"
    report = judge(text)
    assert found(report) == []
    assert len(report.judged) == 1
    (note,) = report.summary.notes
    assert note == "2 objects are of kinds that no CRD given has: ConfigMap (2)"
    strict = judge(text, strict_kinds=True)
    assert [f.rule for f in strict.findings] == ["object-kind-unknown"] * 2
    assert {f.severity for f in strict.findings} == {"error"}


def test_the_group_counts() -> None:
    report = judge(widget().replace("example.com", "example.org"))
    assert report.judged == []
    assert report.unknown == {"Widget.example.org": 1}


def test_lists_are_opened() -> None:
    items = f"- {json.dumps({'apiVersion': 'example.com/v1', 'kind': 'Widget', 'metadata': {'name': 'a'}})}\n"
    typed = "- {metadata: {name: b}, spec: {name: x, size: 9}}\n"
    text = f"apiVersion: v1\nkind: List\nitems:\n{items}---\n"
    text += f"apiVersion: example.com/v1\nkind: WidgetList\nitems:\n{typed}"
    report = judge(text)
    assert [(j.given.document.index, j.given.item, j.accepted) for j in report.judged] == [
        (0, 0, True),
        (1, 0, False),
    ]
    (finding,) = report.findings
    assert (finding.spot.item, finding.spot.line, finding.spot.path) == (0, 9, ("spec", "size"))
    assert report.objects[1]["item"] == 0


def test_a_kind_named_like_a_list_is_none() -> None:
    schema = "type: object\nproperties: {items: {type: array, items: {type: string}}}\n"
    text = "apiVersion: example.com/v1\nkind: AllowList\nmetadata: {name: a}\nitems: [x, 5]\n"
    report = judge(text, crd(schema, kind="AllowList"))
    assert found(report) == [("object-type", "items[1]", 4)]


def test_several_crds_and_the_last_of_two_for_a_kind_counts() -> None:
    gadget = "apiVersion: example.com/v1\nkind: Gadget\nmetadata: {name: g}\n"
    loose = crd("type: object\nproperties: {spec: {type: object}}\n")
    report = judge(f"{widget('{}')}---\n{gadget}", crd(), crd(kind="Gadget"), loose)
    assert found(report) == []
    assert [j.given.identity()[2] for j in report.judged] == ["Widget", "Gadget"]
    assert report.summary.crds == 3
    assert "defined in crd0.yaml and in crd2.yaml" in report.summary.notes[0]


def test_a_crd_that_the_server_refuses_is_said_once_and_its_objects_are_judged() -> None:
    bad = crd(SPEC.replace("{phase: {type: string", "{phase: {type: text"))
    report = judge(f"{widget('{name: 1}')}---\n{widget('{name: 1}', name='b')}", bad)
    assert [f.rule for f in report.findings] == ["object-crd-refused", "object-type", "object-type"]
    refused = report.findings[0]
    assert refused.spot.file == "crd0.yaml"
    assert {kind for kind, _ in refused.server or ()} == {"NotSupported"}


def test_a_dump_of_a_crd_is_one_that_a_cluster_has() -> None:
    dump = crd().replace(
        "{name: widgets.example.com}", '{name: widgets.example.com, resourceVersion: "7"}'
    )
    assert found(judge(widget(), dump)) == []


def test_no_crd_at_all() -> None:
    with pytest.raises(validating.ValidateError, match="names no CustomResourceDefinition"):
        judge(widget(), "kind: ConfigMap\napiVersion: v1\n")


def test_a_document_that_does_not_parse() -> None:
    report = judge(f"{widget()}---\na: [\n")
    assert [(f.rule, f.server) for f in report.findings] == [("yaml-syntax", [("DecodeError", "")])]
    assert len(report.judged) == 1


def test_what_only_some_servers_say_is_marked_with_them() -> None:
    report = judge(
        widget("{name: x, size: 5, x: 1}"),
        old=widget("{name: y, size: 5}"),
        minors=[28, 29, 30, 31],
    )
    assert [(f.rule, f.servers) for f in report.findings] == [
        ("object-bounds", "1.28-1.29"),
        ("object-unknown-field", ""),
    ]
    assert not report.judged[0].accepted


def test_old_objects_are_found_by_kind_namespace_and_name() -> None:
    old = f"{widget('{name: a, size: 5}', meta=', namespace: one')}---\n{widget('{name: a}', meta=', namespace: two')}"
    for namespace, refused in (("one", False), ("two", True)):
        new = widget("{name: b, size: 5}", meta=f", namespace: {namespace}")
        report = judge(new, old=old)
        assert bool(report.findings) == refused
        assert report.summary.notes == []
    created = judge(widget(meta=", namespace: three"), old=old)
    assert "1 object has no old one of the same kind and name" in created.summary.notes[0]
    alone = judge(widget(name="b"), old=widget(name="b", meta=", namespace: one"))
    assert alone.summary.notes == []


def test_an_old_object_that_does_not_parse() -> None:
    with pytest.raises(
        validating.ValidateError, match=r"old.yaml:2: this old object does not parse"
    ):
        judge(widget(), old="a: [")


def test_the_status_subresource() -> None:
    definition = crd(more=STATUS)
    new = widget("{name: 5}", more="status: {phase: Odd}\n")
    plain = judge(new, definition, old=widget())
    assert [f.field for f in plain.findings] == ["spec.name"]
    status = judge(new, definition, old=widget(), status=True)
    assert [(f.field, f.server) for f in status.findings] == [
        ("status.phase", [("NotSupported", "status.phase")])
    ]
    without = judge(new, old=widget(), status=True)
    assert [f.rule for f in without.findings] == ["object-not-served"]


@pytest.mark.parametrize("style", FORMATS)
def test_every_format_takes_the_report(style: str) -> None:
    report = judge(widget("{size: 5, x: 1}"))
    assert render(style, report, texts=report.texts)


def test_json() -> None:
    report = judge(widget("{name: x, x: 1}"))
    made = json.loads(render("json", report, texts=report.texts))
    assert made["objects"] == [
        {
            "file": "o.yaml",
            "document": 0,
            "accepted": True,
            "pruned": ["spec.x"],
            "stored": {
                "apiVersion": "example.com/v1",
                "kind": "Widget",
                "metadata": {"name": "hammer", "namespace": "default"},
                "spec": {"name": "x", "size": 2},
            },
        }
    ]
    assert made["summary"]["objects"] == 1


def test_the_same_fault_of_two_objects_has_two_fingerprints() -> None:
    report = judge(f"{widget('{name: 1}')}---\n{widget('{name: 1}', name='saw')}")
    assert len({f.fingerprint for f in report.findings}) == 2


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hello",
        "- a\n",
        "kind: 5\napiVersion: []\n",
        "kind: Widget\napiVersion: example.com/v1\n",
        "kind: Widget\napiVersion: example.com/v1\nmetadata: []\n",
        "kind: Widget\napiVersion: example.com/v1\nmetadata: {name: 5}\n",
        "kind: Widget\napiVersion: example.com/v1\nmetadata: {name: a}\nspec: null\n",
        "kind: List\napiVersion: v1\nitems: [1, null, {kind: Widget}, [], {apiVersion: example.com/v1, kind: Widget}]\n",
        "\x00",
        "a: &a [*a]\n",
    ],
)
def test_odd_documents_bring_no_exception(text: str) -> None:
    report = judge(text, strict=True, strict_kinds=True)
    for style in ("text", "json"):
        assert render(style, report, texts=report.texts)
