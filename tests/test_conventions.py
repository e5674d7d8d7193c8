"""The conventions: what the profiles switch on, and what the checks spare."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from crdlint import api, pages
from crdlint.policy import Policy
from crdlint.rules.conventions import naming
from crdlint.source import Source

TEXT: dict[str, Any] = {"type": "string"}
CONVENTIONS = {page.id for page in pages.load() if page.profile != "default"}


def crd(
    spec: Any = None, status: Any = None, *, names: Any = None, **version: Any
) -> dict[str, Any]:
    """Return a CRD with the fields given below spec and status."""
    fields = {
        key: {"type": "object", "properties": value}
        for key, value in (("spec", spec), ("status", status))
        if value is not None
    }
    root = {"type": "object", "description": "d", "properties": fields}
    names = {
        "plural": "widgets",
        "singular": "widget",
        "kind": "Widget",
        "listKind": "WidgetList",
        **(names or {}),
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{names['plural']}.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": names,
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "subresources": {"status": {}},
                    "schema": {"openAPIV3Schema": root},
                    **version,
                }
            ],
        },
    }


def found(document: Any, profile: str = "strict") -> list[tuple[str, str]]:
    """Return rule and message of all findings of the conventions."""
    source = Source("crd.json", lambda: json.dumps(document).encode())
    report = api.lint([source], policy=Policy(profile))
    assert not [f for f in report.findings if f.rule == "internal-error"]
    return [(f.rule, f.message) for f in report.findings if f.rule in CONVENTIONS]


def says(document: Any, rule: str) -> list[str]:
    return [message for name, message in found(document) if name == rule]


# Profiles


def run(code: str) -> list[str]:
    """Return the words that code prints in a process of its own."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_conventions_are_in_no_default_profile() -> None:
    code = (
        "from crdlint import rule, rules\nrules.load()\nbefore = set(rule.ALL_IDS)\n"
        "rules.load_conventions()\nprint(*(set(rule.ALL_IDS) - before))"
    )
    assert {pages.page(name).profile for name in run(code)} == {"api", "strict"}


def test_each_profile_has_all_of_the_one_before() -> None:
    document = crd({"is_on": {"type": "boolean"}, "n": {"type": "number"}})
    default, conventions, strict = (
        {name for name, _ in found(document, profile)} for profile in ("default", "api", "strict")
    )
    assert not default
    assert {"float-field", "field-name-case"} <= conventions < strict
    assert "boolean-field" in strict - conventions


def test_the_default_profile_imports_no_convention() -> None:
    code = (
        "import sys\nfrom crdlint import api\nfrom crdlint.source import Source\n"
        "api.lint([Source('x', lambda: b'kind: CustomResourceDefinition')])\n"
        "print(*(m for m in sys.modules if m.startswith('crdlint.rules.conventions')))"
    )
    assert run(code) == []


def test_a_single_rule_can_be_switched_on() -> None:
    source = Source("crd.json", lambda: json.dumps(crd({"on": {"type": "boolean"}})).encode())
    findings = api.lint([source], policy=Policy(extra=["boolean-field"])).findings
    assert [f.rule for f in findings if f.rule in CONVENTIONS] == ["boolean-field"]


# Conditions


def conditions(**changes: Any) -> dict[str, Any]:
    """Return a CRD whose conditions are as metav1.Condition says, but for some of its fields."""
    fields: dict[str, Any] = {
        "type": {"type": "string", "maxLength": 316},
        "status": {"type": "string", "enum": ["True", "False", "Unknown"]},
        "observedGeneration": {"type": "integer", "format": "int64"},
        "reason": {"type": "string", "minLength": 1, "maxLength": 1024},
        "message": {"type": "string", "maxLength": 32768},
        "lastTransitionTime": {"type": "string", "format": "date-time"},
    }
    required = [name for name in fields if name != "observedGeneration"]
    fields |= changes
    items = {
        "type": "object",
        "required": required,
        "properties": {k: v for k, v in fields.items() if v},
    }
    listed = {
        "type": "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["type"],
        "items": items,
    }
    return crd({}, {"conditions": listed})


def test_conditions_of_apimachinery_are_fine() -> None:
    names = {name for name, _ in found(conditions())}
    assert not names & {"conditions-shape", "conditions-list-map", "conditions-missing"}


@pytest.mark.parametrize(
    ("changes", "gap"),
    [
        ({"reason": None}, "there is no reason"),
        ({"status": TEXT}, "status has no enum of True, False and Unknown"),
        ({"status": {**TEXT, "enum": ["True", "False"]}}, "status has no enum"),
        ({"reason": {**TEXT, "maxLength": 9}}, "reason may be empty"),
        ({"reason": {**TEXT, "pattern": "^A"}}, "reason has no maxLength: 1024"),
        ({"lastTransitionTime": TEXT}, "lastTransitionTime has no format: date-time"),
    ],
)
def test_conditions_shape(changes: dict[str, Any], gap: str) -> None:
    (message,) = says(conditions(**changes), "conditions-shape")
    assert gap in message


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"x-kubernetes-list-type": "atomic", "x-kubernetes-list-map-keys": []}, "one value"),
        ({"x-kubernetes-list-map-keys": ["type", "status"]}, "may stand there twice"),
        ({"type": "object", "items": None, "x-kubernetes-list-type": None}, "of type object"),
    ],
)
def test_conditions_list_map(change: dict[str, Any], part: str) -> None:
    document = conditions()
    root = document["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    listed = root["properties"]["status"]["properties"]["conditions"]
    listed |= change
    for key in [key for key, value in listed.items() if value is None]:
        del listed[key]
    (message,) = says(document, "conditions-list-map")
    assert part in message


def test_conditions_further_down_count() -> None:
    parents = {"type": "array", "items": {"type": "object", "properties": {"conditions": TEXT}}}
    assert not says(crd({}, {"parents": parents}), "conditions-missing")
    assert says(crd({}, {"ready": TEXT}), "conditions-missing")


# Names


@pytest.mark.parametrize(
    ("name", "spelled"),
    [
        ("foo_bar", "fooBar"),
        ("foo-bar-baz", "fooBarBaz"),
        ("FooBar", "fooBar"),
        ("URLPath", "urlPath"),
        ("ID", "id"),
        ("_", "camelCase"),
        ("x-descriptors", "xDescriptors"),
    ],
)
def test_names_are_spelt_as_kubernetes_does(name: str, spelled: str) -> None:
    (message,) = says(crd({name: TEXT}), "field-name-case")
    assert f"users write {spelled} " in message
    assert naming._camel(name) == spelled


@pytest.mark.parametrize(
    ("name", "spelled"),
    [
        ("callbackUrl", "callbackURL"),
        ("podIps", "podIPs"),
        ("clusterId", "clusterID"),
        ("hTTPGet", "httpGet"),
        ("apiUrlPath", "apiURLPath"),
        ("identity", ""),
        ("mTLS", ""),
        ("httpGet", ""),
        ("podIP", ""),
        ("valid", ""),
    ],
)
def test_acronyms(name: str, spelled: str) -> None:
    messages = says(crd({name: TEXT}), "acronym-case")
    assert [m.split("spell it ")[1].split(",")[0] for m in messages] == [spelled] * bool(spelled)


@pytest.mark.parametrize(
    ("names", "rule"),
    [
        ({"kind": "WidgetList", "listKind": "WidgetListList"}, "kind-name"),
        ({"kind": "WidgetController", "listKind": "WidgetControllerList"}, "kind-name"),
        ({"kind": "widget", "listKind": "widgetList"}, "kind-name"),
        ({"plural": "widget", "singular": "widget"}, "plural-name"),
        ({"listKind": "Widgets"}, "list-kind-name"),
    ],
)
def test_names_of_the_resource(names: dict[str, str], rule: str) -> None:
    assert rule in {name for name, _ in found(crd({}, names=names), "api")}
    assert not {"kind-name", "plural-name", "list-kind-name"} & {n for n, _ in found(crd({}))}


# Values, lists and bounds


@pytest.mark.parametrize(
    ("field", "rule", "expected"),
    [
        ({"type": "integer"}, "integer-format", 1),
        ({"type": "integer", "format": "int32"}, "integer-format", 0),
        ({"type": "integer", "maximum": 65535}, "integer-format", 0),
        ({"type": "integer", "maximum": 2**31}, "integer-format", 1),
        ({"x-kubernetes-int-or-string": True}, "integer-format", 0),
        ({"type": "string", "enum": ["TCP", "Fast", "v1.2"]}, "enum-case", 0),
        ({"type": "string", "enum": ["fast", "slow"]}, "enum-case", 1),
        ({"type": "integer", "format": "int64", "minimum": 0}, "int64-range", 1),
        ({"type": "integer", "format": "int64", "minimum": 0, "maximum": 9}, "int64-range", 0),
        ({"type": "integer", "minimum": 0, "maximum": 9}, "number-unbounded", 0),
        ({"type": "string", "nullable": True}, "nullable-field", 1),
        ({"type": "string", "nullable": True, "default": "a"}, "nullable-field", 0),
        ({"type": "string", "nullable": True, "default": "a"}, "nullable-with-default", 1),
        ({"type": "string", "format": "date-time"}, "string-unbounded", 0),
        ({"type": "string", "enum": ["A"]}, "string-unbounded", 0),
        ({"type": "array", "items": TEXT}, "list-type-missing", 1),
        ({"type": "array", "items": TEXT, "x-kubernetes-list-type": "set"}, "list-type-missing", 0),
        ({"type": "array", "items": {"type": "array", "items": TEXT}}, "list-type-missing", 1),
        ({"type": "object", "additionalProperties": TEXT}, "map-field", 1),
        (
            {"type": "object", "properties": {"a": {**TEXT, "default": "b"}}},
            "default-out-of-reach",
            1,
        ),
    ],
)
def test_values(field: dict[str, Any], rule: str, expected: int) -> None:
    assert len(says(crd({"some": field}), rule)) == expected


@pytest.mark.parametrize(
    ("name", "field", "rule", "expected"),
    [
        ("labels", {"type": "object", "additionalProperties": TEXT}, "map-field", 0),
        ("nodeSelector", {"type": "object", "additionalProperties": TEXT}, "map-field", 0),
        ("startTime", TEXT, "time-format", 1),
        ("startTime", {**TEXT, "pattern": "^[0-9]"}, "time-format", 0),
        ("waitTime", TEXT, "time-format", 0),
        ("timeout", {"type": "integer"}, "duration-unit", 1),
        ("timeoutSeconds", {"type": "integer"}, "duration-unit", 0),
        ("timeout", TEXT, "duration-unchecked", 1),
        ("timeout", {**TEXT, "pattern": "s$"}, "duration-unchecked", 0),
        ("statusCode", {"type": "integer", "enum": [301, 302]}, "numeric-enum", 0),
        ("level", {"type": "integer", "enum": [1, 2]}, "numeric-enum", 1),
    ],
)
def test_by_name(name: str, field: dict[str, Any], rule: str, expected: int) -> None:
    assert len(says(crd({name: field}), rule)) == expected


def test_a_key_is_named_where_the_items_have_one() -> None:
    items = {"type": "object", "required": ["name"], "properties": {"name": TEXT}}
    document = crd({"ports": {"type": "array", "items": items}})
    source = Source("crd.json", lambda: json.dumps(document).encode())
    findings = api.lint([source], policy=Policy("api")).findings
    (finding,) = [f for f in findings if f.rule == "list-type-missing"]
    assert "the key name" in finding.help


def test_types_of_kubernetes_are_spared() -> None:
    container = {"type": "object", "properties": {"env": {"type": "array", "items": TEXT}}}
    pod = {
        "type": "object",
        "properties": {
            "activeDeadlineSeconds": {"type": "integer"},
            "restartPolicy": TEXT,
            "containers": {"type": "array", "items": container},
        },
    }
    own = [message for _, message in found(crd({"template": pod}))]
    assert own == [m for _, m in found(crd({"template": {"type": "object"}}))]


def test_bounds_that_rules_depend_on() -> None:
    rules_ = [{"rule": "self.names.all(n, n != '')", "message": "no"}]
    names: dict[str, Any] = {"type": "array", "items": TEXT, "x-kubernetes-list-type": "atomic"}
    spec = {"type": "object", "properties": {"names": names}, "x-kubernetes-validations": rules_}
    document = crd({"inner": spec})
    assert "has no maxItems, and a rule looks at it" in says(document, "cel-field-unbounded")[0]
    names["maxItems"] = 9
    assert not [m for m in says(document, "cel-field-unbounded") if "maxItems" in m]


def test_rules_need_messages() -> None:
    def messages(rule: dict[str, str]) -> set[str]:
        field = {**TEXT, "maxLength": 9, "x-kubernetes-validations": [rule]}
        return {n for n, _ in found(crd({"a": field})) if n.startswith("cel-message")}

    assert messages({"rule": "self != 'a'"}) == {"cel-message-missing"}
    assert messages({"rule": "self != 'a'", "message": "not a."}) == {"cel-message-style"}
    assert messages({"rule": "self != 'a'", "message": "not a"}) == set()
    assert messages({"rule": "self != 'a'", "messageExpression": "'not ' + self"}) == set()


def test_columns() -> None:
    ready = {"name": "Ready", "type": "string", "jsonPath": ".status.ready"}
    age = {"name": "Age", "type": "string", "jsonPath": ".metadata.creationTimestamp"}
    document = crd({}, {"ready": TEXT}, additionalPrinterColumns=[ready, age])
    assert [n for n, _ in found(document, "api") if n.startswith("column")] == ["column-age-type"]
    assert says(crd({}, {"ready": TEXT}), "columns-missing")
    assert not says(crd({}), "columns-missing")


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"status": {}}},
        {"type": "object", "properties": {"status": {"type": "object", "required": ["a"]}}},
        {"type": "object", "properties": {"spec": {"type": "array"}}},
        {"type": "object", "properties": {"a": {"type": "array", "items": [{"type": "string"}]}}},
        {"type": "object", "required": ["spec", "status"]},
        {"properties": {"spec": {"enum": [1, "a", None, {}], "required": ["x"]}}},
        {},
    ],
)
def test_no_schema_crashes_a_check(schema: dict[str, Any]) -> None:
    document = crd({})
    document["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = schema
    found(document)


def test_unsigned_numbers_are_told_how_to_be_written() -> None:
    document = crd({"size": {"type": "integer", "format": "uint32"}})
    source = Source("crd.json", lambda: json.dumps(document).encode())
    (finding,) = [f for f in api.lint([source]).findings if f.rule == "unrecognized-format"]
    assert finding.help == "Write format: int32 or int64 with minimum: 0."
