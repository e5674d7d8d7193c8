"""Two sides of a comparison: what is paired, what the server says, how it is folded."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from diff_helpers import compare, schema

from crdlint import differ, document
from crdlint.differ import DiffError, Options
from crdlint.diffrule import DIFF

if TYPE_CHECKING:
    from crdlint.finding import Finding

TEXT = {"type": "string"}


def crd(**changes: Any) -> dict[str, Any]:
    """Return a small CRD; `versions` are (name, served, storage, schema)."""
    names = {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"}
    versions = changes.pop("versions", [("v1", True, True, {"type": "object"})])
    spec = {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {**names, **changes.pop("names", {})},
        "versions": [
            {"name": n, "served": s, "storage": t, "schema": {"openAPIV3Schema": body}}
            for n, s, t, body in versions
        ],
        **changes.pop("spec", {}),
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com", **changes.pop("metadata", {})},
        "spec": spec,
        **changes,
    }


def diff(old: Any, new: Any, **options: Any) -> list[Finding]:
    before = document.read(text(old).encode(), "old")
    after = document.read(text(new).encode(), "new")
    return differ.diff(before, after, Options(37, **options))[0]


def text(side: Any) -> str:
    if isinstance(side, str):
        return side
    docs = side if isinstance(side, list) else [side]
    return "\n---\n".join(map(json.dumps, docs))


def claims(findings: list[Finding]) -> set[tuple[str, str]]:
    return {claim for finding in findings for claim in finding.server or ()}


def rules(findings: list[Finding]) -> list[str]:
    return sorted(f.rule for f in findings if f.rule != "rollback-unsafe")


OBJECT = {"type": "object"}
TWO = [("v1", True, True, OBJECT), ("v1beta1", True, False, OBJECT)]


def test_immutable_fields() -> None:
    kind = crd(names={"kind": "Gadget", "listKind": "GadgetList"})
    assert claims(diff(crd(), kind)) == {("Invalid", "spec.names.kind")}
    assert claims(diff(crd(), kind, established=False)) == set()
    scope = crd(spec={"scope": "Cluster"})
    assert claims(diff(crd(), scope)) == {("Invalid", "spec.scope")}
    waiting = crd(status={"conditions": [{"type": "Established", "status": "False"}]})
    assert claims(diff(waiting, scope)) == set()
    assert claims(diff(crd(), crd(names={"plural": "things"}))) == {
        ("Invalid", "spec.names.plural")
    }


def test_stored_versions_from_status_option_and_storage() -> None:
    old, new = crd(versions=TWO), crd()
    assert rules(diff(old, new)) == ["version-removed"]
    dumped = crd(versions=TWO, status={"storedVersions": ["v1beta1", "v1"]})
    refusal = ("Invalid", "status.storedVersions[0]")
    assert claims(diff(dumped, new)) == {refusal}
    assert claims(diff(old, new, stored_versions=["v1", "v1beta1"])) == {
        ("Invalid", "status.storedVersions[1]")
    }
    assert claims(diff(dumped, new, stored_versions=["v1"])) == set()
    empty = crd(versions=TWO, status={"storedVersions": []})
    assert claims(diff(empty, new)) == set()


@pytest.mark.parametrize(
    ("minor", "words"), [(34, "--subresource=status"), (35, "StorageVersionMigration")]
)
def test_the_safe_path_depends_on_the_server(minor: int, words: str) -> None:
    new = json.dumps(crd(versions=[("v2", True, True, OBJECT)]))
    found = compare(json.dumps(crd()), new, minor=minor)
    (finding,) = [f for f in found if f.rule == "stored-version-removed"]
    assert words in finding.help


def test_the_servers_ratchets() -> None:
    bad = {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "object"}}
    loose = {"type": "object", "properties": {"a": bad}}
    more = {"type": "object", "properties": {"a": bad, "b": bad}}
    good = {"type": "object", "properties": {}}
    field = "spec.validation.openAPIV3Schema.properties[{}].items.x-kubernetes-map-type"
    bodies = [crd(versions=[("v1", True, True, body)]) for body in (loose, more, good)]
    assert claims(diff(bodies[0], bodies[1])) & {("Invalid", field.format("b"))} == set()
    refused = {claim for claim in claims(diff(bodies[2], bodies[1])) if claim[0] != "Warning"}
    assert len(refused) == 2, "both are new"


def test_v1beta1_on_the_old_side_is_read_as_the_v1_it_means() -> None:
    old = {
        "apiVersion": "apiextensions.k8s.io/v1beta1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "version": "v1",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget"},
            "validation": {"openAPIV3Schema": {"type": "object", "properties": {"a": TEXT}}},
        },
    }
    found = diff(old, crd())
    assert "preserve-unknown-fields-global-disabled" in rules(found)
    assert "field-removed" in rules(found)
    assert claims(diff(crd(), old)) == {("NotServed", "apiVersion")}


V1BETA1 = """\
apiVersion: apiextensions.k8s.io/v1beta1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  version: v1
  names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}
  scope: Namespaced
  additionalPrinterColumns:
  - name: Size
    type: string
    JSONPath: .a
  validation:
    openAPIV3Schema:
      type: object
      properties:
        a: {type: string}
"""


def test_a_change_from_v1beta1_shows_where_it_was() -> None:
    found = compare(V1BETA1, json.dumps(crd(versions=[("v2", True, True, {"type": "object"})])))
    lines = {f.rule: f.old.line for f in found if f.old}
    assert lines["version-removed"] == 6
    body = {"type": "object", "properties": {"a": {"type": "integer"}}}
    found = compare(V1BETA1, json.dumps(crd(versions=[("v1", True, True, body)])))
    lines = {f.rule: f.old.line for f in found if f.old}
    assert lines["type-changed"] == 17
    assert lines["printer-column-removed"] == 10


def test_a_first_schema_prunes_only_where_that_is_not_said_of_the_crd() -> None:
    old = V1BETA1.partition("  additionalPrinterColumns")[0]
    plain: dict[str, Any] = {"type": "object"}
    found = diff(old, crd(versions=[("v1", True, True, plain)]))
    assert "schema-added" not in rules(found)
    body = {**plain, "properties": {"spec": plain}}
    found = diff(old, crd(versions=[("v1", True, True, body)]))
    (added,) = (f for f in found if f.rule == "schema-added")
    assert "pruned" not in added.message
    assert added.witnessed["after"]["refused"][0]["field"] == "spec"


def test_lists_and_many_documents() -> None:
    other = crd(metadata={"name": "gadgets.example.com"}, names={"plural": "gadgets"})
    bundle = {"apiVersion": "v1", "kind": "List", "items": [crd(), other]}
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}
    changed = crd(versions=[("v1", True, True, {"type": "object", "properties": {"a": TEXT}})])
    found = diff(bundle, [config, other, changed])
    assert rules(found) == ["field-added"]
    (added,) = [f for f in found if f.rule == "field-added"]
    assert added.spot.document == 2
    assert added.old is not None
    assert added.old.item == 0


def test_crds_on_one_side() -> None:
    other = crd(metadata={"name": "gadgets.example.com"}, names={"plural": "gadgets"})
    assert rules(diff([crd()], [crd(), other])) == ["crd-added"]
    removed = diff([crd(), other], [crd()])
    assert rules(removed) == ["crd-removed"]
    assert removed[0].spot.file == "old"
    assert rules(diff([], [crd()])) == ["crd-added"]


def test_a_renamed_crd_is_an_update() -> None:
    renamed = crd(metadata={"name": "gadgets.example.com"}, names={"plural": "gadgets"})
    assert claims(diff(crd(), renamed)) == {
        ("Invalid", "metadata.name"),
        ("Invalid", "spec.names.plural"),
    }


def test_two_different_crds_are_wrong_usage() -> None:
    other = crd(
        metadata={"name": "gadgets.example.com"},
        names={
            "plural": "gadgets",
            "singular": "gadget",
            "kind": "Gadget",
            "listKind": "GadgetList",
        },
    )
    with pytest.raises(DiffError, match="two different CRDs"):
        diff(crd(), other)


def test_an_unreadable_old_side_is_wrong_usage() -> None:
    with pytest.raises(DiffError, match="cannot be read"):
        diff("kind: CustomResourceDefinition\nspec: [", crd())


def test_partial_documents_are_left_out() -> None:
    patch = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com", "annotations": {"a": "b"}},
    }
    assert diff([patch, crd()], [crd(), patch]) == []


def test_a_moved_file_is_no_removal() -> None:
    pairs = [
        differ.diff(
            document.read(json.dumps(crd()).encode(), "v1:old/a.yaml"),
            document.read(json.dumps(crd()).encode(), "new/b.yaml"),
            Options(37),
        )[0]
    ]
    assert pairs == [[]]


def body(leaf: Any) -> str:
    inner = {"type": "object", "properties": {"size": leaf}}
    fields = dict.fromkeys("abcde", inner)
    return json.dumps({"type": "object", "properties": fields})


def test_one_go_type_is_one_finding() -> None:
    old, new = schema(body(TEXT)), schema(body({**TEXT, "maxLength": 3}))
    (finding,) = compare(old, new)
    assert finding.field == ".a.size"
    assert len(finding.places) == 5
    assert finding.places[0] is finding.spot
    single = compare(old, new, fold=False)
    assert len(single) == 5
    assert len({f.fingerprint for f in single}) == 5


def test_one_change_in_two_versions_is_one_finding() -> None:
    def both(leaf: Any) -> Any:
        inner = {"type": "object", "properties": {"size": leaf}}
        return crd(versions=[("v1", True, True, inner), ("v1beta1", True, False, inner)])

    (finding,) = diff(both(TEXT), both({**TEXT, "maxLength": 3}))
    assert [spot.version for spot in finding.places] == ["v1", "v1beta1"]


def test_fingerprints_outlive_moves() -> None:
    old, new = schema(body(TEXT)), schema(body({**TEXT, "maxLength": 3}))
    (one,) = compare(old, new)
    (two,) = compare(
        "# a line\n" + old, "\n\n" + new.replace("widgets, singular", "widgets,  singular")
    )
    assert one.fingerprint == two.fingerprint
    assert one.spot.line != two.spot.line


def test_unserved_versions_hurt_nobody() -> None:
    def sides(leaf: Any) -> Any:
        inner = {"type": "object", "properties": {"size": leaf}}
        return crd(versions=[("v1", True, True, OBJECT), ("v1beta1", False, False, inner)])

    assert diff(sides(TEXT), sides({**TEXT, "maxLength": 3})) == []


def test_served_versions_only_where_it_got_worse() -> None:
    def sides(a: Any, b: Any) -> Any:
        one, two = ({"type": "object", "properties": fields} for fields in (a, b))
        return crd(versions=[("v1", True, True, one), ("v1beta1", True, False, two)])

    field = {"a": TEXT}
    old = sides(field, {})
    assert rules(diff(old, sides({**field, "b": TEXT}, {"b": TEXT}))) == ["field-added"]
    worse = diff(old, sides({**field, "b": TEXT}, {}))
    assert rules(worse) == ["field-added", "served-versions-field-lost"]
    (lost,) = [f for f in worse if f.rule == "served-versions-field-lost"]
    assert lost.field == ".b"


def test_versions_that_disagree_alike_are_named_together() -> None:
    def said(field: Any, other: Any) -> list[tuple[str, str]]:
        one, two = ({"type": "object", "properties": {"a": side}} for side in (field, other))
        stored = ("v1", True, True, one)
        new = [("v1beta1", True, False, two), ("v1beta2", True, False, two), stored]
        found = diff(crd(versions=[stored]), crd(versions=new))
        return [(f.rule, f.message) for f in found if f.rule.startswith("served-versions-")]

    refuses = "what one takes the other refuses"
    either = {"x-kubernetes-int-or-string": True}
    assert said(TEXT, TEXT) == []
    assert said(TEXT, either) == [
        (
            "served-versions-constraint-conflict",
            f"v1beta1 and v1beta2 have a wider type than v1: {refuses}",
        )
    ]
    lone = {"type": "object", "properties": {"b": TEXT}}
    assert said({**lone, "required": ["b"]}, lone) == [
        (
            "served-versions-required-conflict",
            f"required in v1, but not in v1beta1 or v1beta2: {refuses}",
        )
    ]
    atomic = {"x-kubernetes-map-type": "atomic"}
    assert said({**lone, **atomic}, lone)[0][0] == "served-versions-topology-conflict"
    parts = [{"type": "array", "items": side} for side in (lone, {**lone, **atomic})]
    assert said(*parts) == []


def test_findings_are_sorted_and_stable() -> None:
    old, new = (
        schema(body(TEXT)),
        schema(body({**TEXT, "maxLength": 3, "pattern": "^a", "enum": ["a"]})),
    )
    first = [(f.rule, f.field, f.fingerprint) for f in compare(old, new)]
    assert first == [(f.rule, f.field, f.fingerprint) for f in compare(old, new)]
    assert len(first) == 3


def test_a_crashing_rule_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(_: Any) -> Any:
        raise ValueError("oops")

    (registered,) = DIFF["schema.maxLength"]
    monkeypatch.setattr(registered, "run", crash)
    old, new = schema(body(TEXT)), schema(body({**TEXT, "maxLength": 3}))
    assert {f.rule for f in compare(old, new)} == {"internal-error"}


def test_a_removed_version_is_refused_if_it_is_stored() -> None:
    one = [TWO[0]]
    (found,) = (f for f in diff(crd(versions=TWO), crd(versions=one)) if f.field != "metadata.name")
    assert found.rule == "version-removed"
    assert "refuses this if status.storedVersions has it" in found.message
    known = diff(crd(versions=TWO, status={"storedVersions": ["v1"]}), crd(versions=one))
    assert not any("storedVersions" in f.message for f in known)


def test_fields_that_become_optional_in_one_go_type_are_one_finding() -> None:
    def sides(required: list[str]) -> Any:
        port = {"type": "object", "properties": {"a": TEXT, "b": TEXT}, "required": required}
        ports = {"type": "object", "properties": {"ports": {"type": "array", "items": port}}}
        body = {"type": "object", "properties": {"one": ports, "two": ports}}
        return crd(versions=[("v1", True, True, body)])

    found = [f for f in diff(sides(["a", "b"]), sides([])) if f.rule == "required-removed"]
    assert [len(f.places) for f in found] == [4]
