"""Witnesses: objects that were taken before a change and are not, or not as they are, after it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from diff_helpers import compare

from crdlint import document, shape
from crdlint.finding import Summary
from crdlint.objects.resource import take, update
from crdlint.objects.served import versions_of
from crdlint.report import FORMATS, Options

if TYPE_CHECKING:
    from crdlint.finding import Finding

TEXT = {"type": "string"}
NUMBER = {"type": "integer"}
NAMES = {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"}
RULES = "x-kubernetes-validations"


def crd(*versions: Any, **spec: Any) -> str:
    """Return a CRD as JSON; a version is a schema of `spec`, or a whole version."""
    made = []
    for i, version in enumerate(versions):
        whole = version if "schema" in version else {"schema": schema(version)}
        made.append({"name": f"v{i + 1}", "served": True, "storage": not i, **whole})
    body = {"group": "example.com", "scope": "Namespaced", "names": NAMES, **spec}
    return json.dumps(
        {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": "widgets.example.com"},
            "spec": {**body, "versions": made},
        }
    )


def schema(spec: Any) -> dict[str, Any]:
    return {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}


def holding(field: Any, **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"f": field}, **more}


def served(text: str, api_version: str) -> Any:
    decoded = shape.shape(next(iter(document.read(text.encode(), "x"))).data, minor=37)
    found = {v.api_version: v for v in versions_of(decoded.crd, minor=37)}
    return found.get(api_version)


def hurting(before: str, after: str) -> list[Finding]:
    found = compare(before, after)
    return [f for f in found if {"stored-objects", "writers"} & set(f.effects)]


def of(finding: Finding, before: str, after: str) -> dict[str, Any]:
    """Return what becomes of a witness, once the claim is checked again."""
    claim = finding.witnessed
    assert claim, finding.unproven
    then: dict[str, Any] = claim["after"]
    old = served(before, finding.witness["apiVersion"])
    new = served(after, claim.get("through") or finding.witness["apiVersion"])
    if "gone" in then:
        assert new is None or not new.served
        return then
    if claim["request"] == "update":
        outcomes = [update(side, claim["from"], finding.witness) for side in (old, new)]
    else:
        outcomes = [take(side, finding.witness) for side in (old, new)]
    if "through" not in claim:
        assert outcomes[0].accepted
        assert outcomes[0].pruned == claim.get("beforePruned", [])
    errors = {(e.type, e.field) for e in outcomes[1].all_errors()}
    assert {(e["type"], e["field"]) for e in then.get("refused", [])} <= errors
    assert set(then.get("pruned", [])) <= set(outcomes[1].pruned)
    if "changed" in then:
        assert outcomes[0].stored != outcomes[1].stored
    return then


REFUSED = [
    (TEXT, {**TEXT, "maxLength": 3}, "max-length-tightened"),
    (TEXT, {**TEXT, "minLength": 3}, "min-length-tightened"),
    (TEXT, {**TEXT, "pattern": "^[a-d]+$"}, "pattern-added"),
    ({**TEXT, "pattern": "^[a-z]+$"}, {**TEXT, "pattern": "^[a-m]+$"}, "pattern-narrowed"),
    (TEXT, {**TEXT, "format": "date-time"}, "format-added"),
    ({**TEXT, "enum": ["a", "b"]}, {**TEXT, "enum": ["a"]}, "enum-value-removed"),
    (TEXT, {**TEXT, "enum": ["a"]}, "enum-added"),
    (NUMBER, {**NUMBER, "maximum": 5}, "maximum-tightened"),
    ({**NUMBER, "minimum": 0}, {**NUMBER, "minimum": 1}, "minimum-tightened"),
    (NUMBER, {**NUMBER, "multipleOf": 4}, "multiple-of-tightened"),
    (NUMBER, TEXT, "type-changed"),
    ({"type": "number"}, NUMBER, "type-narrowed"),
    ({"x-kubernetes-int-or-string": True}, TEXT, "type-narrowed"),
    ({"type": "array", "items": TEXT}, {"type": "array", "items": TEXT, "maxItems": 2}, "max-items-tightened"),
    ({"type": "array", "items": TEXT}, {"type": "array", "items": TEXT, "minItems": 1}, "min-items-tightened"),
    ({"type": "array", "items": TEXT}, {"type": "array", "items": TEXT, "x-kubernetes-list-type": "set"}, "list-type-to-set"),
    (holding(TEXT), holding(TEXT, required=["f"]), "required-added"),
    (holding(TEXT), holding(TEXT, minProperties=1), "min-properties-tightened"),
    (holding(TEXT), holding(TEXT, anyOf=[{"required": ["f"]}]), "any-of-added"),
    (holding(TEXT), {**holding(TEXT), "not": {"required": ["f"]}}, "not-added"),
    ({"type": "array", "items": {**TEXT, "nullable": True}}, {"type": "array", "items": TEXT}, "nullable-removed-in-list"),
    (TEXT, {**TEXT, RULES: [{"rule": "self != 'blue'"}]}, "cel-rule-added"),
    (holding(NUMBER), holding(NUMBER, **{RULES: [{"rule": "!has(self.f) || self.f > 20"}]}), "cel-rule-added"),
    (TEXT, {**TEXT, RULES: [{"rule": "self == oldSelf"}]}, "cel-immutability-added"),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after", "rule"), REFUSED)
def test_shows_what_is_refused(before: Any, after: Any, rule: str) -> None:
    old, new = (crd(holding(side)) for side in (before, after))
    finding = next(f for f in hurting(old, new) if f.rule == rule)
    then = of(finding, old, new)
    assert then["refused"]
    assert "otherErrors" not in then
    assert finding.witness["metadata"] == {"name": "example"}


def test_shows_what_is_pruned_changed_and_gone() -> None:
    old, new = crd(holding(TEXT)), crd({"type": "object"})
    assert of(hurting(old, new)[0], old, new) == {"pruned": ["spec.f"]}
    old, new = (crd(holding({**TEXT, "default": x})) for x in "ab")
    change = {"field": "spec.f", "before": "a", "after": "b"}
    assert of(hurting(old, new)[0], old, new) == {"changed": [change]}
    two = crd({"type": "object"}, {"type": "object"})
    finding = next(f for f in hurting(two, crd({"type": "object"})) if f.rule == "version-removed")
    assert "v2" in of(finding, two, crd({"type": "object"}))["gone"]


def test_the_object_has_nothing_but_what_is_required_and_what_matters() -> None:
    spec = {
        "type": "object",
        "required": ["kind", "size"],
        "properties": {
            "kind": {**TEXT, "enum": ["Small"]},
            "size": {**NUMBER, "default": 3},
            "list": {"type": "array", "items": holding(TEXT, required=["f"])},
            "other": TEXT,
        },
    }
    tighter = json.loads(json.dumps(spec))
    tighter["properties"]["list"]["items"]["properties"]["f"]["maxLength"] = 2
    (finding,) = hurting(crd(spec), crd(tighter))
    assert finding.witness["spec"] == {"kind": "Small", "list": [{"f": "example"}]}


def test_old_rules_are_minded() -> None:
    rules = [{"rule": "has(self.a) != has(self.b)"}, {"rule": "!has(self.b) || self.b == 'x'"}]
    spec = {"type": "object", "properties": {"a": NUMBER, "b": TEXT, "c": TEXT}, RULES: rules}
    tighter = {**spec, "properties": {**spec["properties"], "c": {**TEXT, "maxLength": 2}}}  # type: ignore[dict-item]
    old, new = crd(spec), crd(tighter)
    (finding,) = hurting(old, new)
    assert of(finding, old, new)["refused"][0]["field"] == "spec.c"


def test_a_field_that_only_one_version_has_is_lost_between_them() -> None:
    old = crd(holding(TEXT), holding(TEXT))
    more = {"type": "object", "properties": {"f": TEXT, "g": TEXT}}
    new = crd(more, holding(TEXT))
    finding = next(f for f in hurting(old, new) if f.rule == "served-versions-field-lost")
    assert finding.witnessed["through"] == "example.com/v2"
    assert of(finding, old, new) == {"pruned": ["spec.g"]}


def test_without_a_witness_it_says_why() -> None:
    scale = {"specReplicasPath": ".spec.f", "statusReplicasPath": ".status.f"}
    whole = {"schema": schema(holding(NUMBER))}
    old, new = crd({**whole, "subresources": {"scale": scale}}), crd(whole)
    (finding,) = hurting(old, new)
    assert finding.witness is None
    assert not finding.witnessed
    assert "/scale" in finding.unproven


def test_status_is_written_to_its_own_endpoint() -> None:
    def version(status: Any) -> str:
        whole = {"openAPIV3Schema": {"type": "object", "properties": {"status": holding(status)}}}
        return crd({"schema": whole, "subresources": {"status": {}}})

    (finding,) = hurting(version(TEXT), version({**TEXT, "maxLength": 1}))
    assert finding.witnessed["request"] == "status"
    assert finding.witness["status"] == {"f": "example"}


NOT_FELT = [
    ({**TEXT, "pattern": "^[a-z]{1,5}$"}, {**TEXT, "pattern": "^[a-z]{1,5}$", "maxLength": 9}),
    ({**TEXT, "pattern": "^[a-z]"}, {**TEXT, "pattern": "^[a-z]", "minLength": 1}),
    ({**TEXT, "pattern": "^a*$", "maxLength": 3}, {**TEXT, "pattern": "^a{0,3}$", "maxLength": 3}),
    ({**NUMBER, "format": "int32"}, {**NUMBER, "format": "int32", "maximum": 2**31 - 1}),
    (holding(TEXT, required=["f"]), holding(TEXT, required=["f"], minProperties=1)),
    (holding(TEXT, required=["f"]), holding(TEXT, required=["f"], **{RULES: [{"rule": "has(self.f)"}]})),
    (holding({**TEXT, "enum": ["a"]}, required=["f"]), holding({**TEXT, "enum": ["a"]}, required=["f"], **{RULES: [{"rule": "self.f in ['a', 'b']"}]})),
    ({**TEXT, RULES: [{"rule": "self in ['a']"}]}, {**TEXT, RULES: [{"rule": "self in ['a', 'b'] || self == 'c'"}]}),
    ({"type": "object"}, {"type": "object", "properties": {"g": TEXT}, RULES: [{"rule": "!has(self.g) || self.g != ''"}]}),
    (holding(TEXT, oneOf=[{"required": ["f"]}, {"required": ["g"]}]), holding(TEXT, anyOf=[{"required": ["f"]}, {"required": ["g"]}])),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after"), NOT_FELT)
def test_what_no_object_feels_is_no_break(before: Any, after: Any) -> None:
    found = compare(crd(holding(before)), crd(holding(after)))
    assert [f.rule for f in found if f.severity == "error"] == []


def test_the_same_witness_every_time() -> None:
    old, new = crd(holding(TEXT)), crd(holding({**TEXT, "pattern": "^(a|b)+c$"}))
    first, second = (json.dumps(hurting(old, new)[0].witness) for _ in range(2))
    assert first == second


def test_one_object_that_shows_two_changes_stands_once_in_markdown() -> None:
    fields = {name: {"type": "string"} for name in ("a", "b")}
    filled = {name: {"type": "string", "default": "x"} for name in fields}
    old, new = (crd({"type": "object", "properties": side}) for side in (fields, filled))
    found = [f for f in compare(old, new) if f.rule == "default-added"]
    text = FORMATS["markdown"](found, Summary(), Options(diff=True))
    assert text.count("```yaml") == 1
    assert "Valid before (1 object)" in text
    assert text.index("`.spec.a`: spec.a is absent") < text.index("`.spec.b`: spec.b is absent")
