"""Rules are checked as the API server checks them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from crdlint.cel import bounds, fieldpath
from crdlint.cel.context import convertible
from crdlint.cel.rulereport import CEL, KEYWORDS, RuleReport, SchemaReport
from crdlint.cel.rules import RULE_LIMIT, check_schema, factor
from crdlint.cel.types import escape

KEY = "x-kubernetes-validations"
CORPUS = Path(__file__).parents[1] / "../shared/corpus"


def schema(spec: dict[str, Any], *rules: Any) -> dict[str, Any]:
    """Return the schema of a resource whose spec is this, with these rules on spec."""
    listed = [{"rule": rule} if isinstance(rule, str) else rule for rule in rules]
    return {"type": "object", "properties": {"spec": {**spec, KEY: listed}}}


def thing(**fields: Any) -> dict[str, Any]:
    return {"type": "object", "properties": fields}


STRING = {"type": "string"}
INT = {"type": "integer"}
THING = thing(
    name=STRING,
    short={"type": "string", "maxLength": 10},
    count=INT,
    ratio={"type": "number"},
    on={"type": "boolean"},
    either={"x-kubernetes-int-or-string": True},
    when={"type": "string", "format": "date-time"},
    wait={"type": "string", "format": "duration"},
    raw={"type": "string", "format": "byte"},
    ports={"type": "array", "maxItems": 5, "items": thing(port=INT, name=STRING)},
    labels={"type": "object", "additionalProperties": STRING},
    open={"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    anything={"x-kubernetes-preserve-unknown-fields": True},
    namespace=STRING,
    resource={
        "type": "object",
        "x-kubernetes-embedded-resource": True,
        "x-kubernetes-preserve-unknown-fields": True,
    },
    **{"a-b.c/d": STRING, "__x": STRING, "1a": STRING},
)


def one(rule: Any, minor: int = 37, spec: dict[str, Any] = THING, **more: Any) -> RuleReport:
    return check_schema(schema(spec, rule), minor=minor, **more).rules[0]


def said(report: SchemaReport) -> set[tuple[str, str, tuple[Any, ...]]]:
    return {(p.id, p.type, p.suffix) for p in report.all_problems()}


@pytest.mark.parametrize(
    "rule",
    [
        "self.name == 'a'",
        "self.count + 1 > 2",
        "self.ratio < 1.5",
        "self.count < self.ratio",
        "self.either == 1 || self.either == 'a'",
        "self.when > timestamp('2020-01-01T00:00:00Z')",
        "self.wait == duration('1h')",
        "self.raw == b'a'",
        "self.ports.all(p, p.port > 0)",
        "self.ports.all(i, p, p.port > i)",
        "self.labels.all(k, self.labels[k] != '')",
        "self.labels['a'] == 'b' && 'a' in self.labels",
        "self.?name.orValue('x') == 'x'",
        "self.ports[?0].hasValue()",
        "self.namespace == 'a' && self.__namespace__ == 'a'",
        "self.a__dash__b__dot__c__slash__d == self.__underscores__x",
        "self.resource.metadata.name == self.resource.kind",
        "self.name.matches('^a$') && matches(self.name, 'b')",
        "self.name.lowerAscii().find('[a-z]+') == self.name.split(',')[0]",
        "type(self.either) == int || type(self.either) == string",
        "self == oldSelf",
        "quantity('1Gi').isLessThan(quantity(self.name))",
        "isIP(self.name) && ip(self.name).family() == 4",
        "cidr(self.name).containsIP('1.2.3.4')",
        "url(self.name).getHost() == 'a'",
        "!format.dns1123Label().validate(self.name).hasValue()",
        "semver(self.name).major() > 1",
        "self.ports.map(p, p.name).distinct().size() > 1",
        "self.ports.sortBy(p, p.port)[0].port == 1",
        "self.ports.transformMap(i, p, p.name)[0] == ''",
        "sets.contains(['a'], [self.name])",
        "'%s %d'.format([self.name, self.count]) == ''",
        "[1, 2].sum() == [1, 2].max()",
        "dyn(self.name) == 1",
        "self.ports == []",
        "has(self.open) && has(self.ports)",
        "optional.of(self.name).optMap(n, n.size()).orValue(0) > 1",
        "[[]] == [[1]]",
        "self.ports.exists(self, self.port == 1)",
        "string(self.count) + 'a' == 'b'",
    ],
)
def test_compiles(rule: str) -> None:
    report = one(rule)
    assert report.ok, report.error
    assert report.rule_cost is not None


@pytest.mark.parametrize(
    "rule",
    [
        "self.nothing",
        "self.name == 1",
        "self.count == 1.0",
        "self.name + 1 == 'a'",
        "self.name",
        "self.name && true",
        "other == 1",
        "nothing(self.name)",
        "self.anything == 1",
        "self.open.field == 1",
        "self.resource.metadata.labels == {}",
        "self.1a == ''",
        "self.ports.all(p, p.port)",
        "self.name.all(c, true)",
        "self.count.all(c, true)",
        "self.all(k, true)",
        "[1, 'a'] == []",
        "[1, dyn('a')].size() == 2",
        "{1: 'a', 'b': 'c'}.size() == 1",
        "self.name.matches('(')",
        "matches(self.name, '(')",
        "matches('(', self.name)",
        "timestamp('nonsense') == self.when",
        "duration('1') == self.wait",
        "int('a') == 1",
        "uint(-1) == 1u",
        "bool('maybe')",
        "'%d'.format(['a']) == ''",
        "'%s'.format([]) == ''",
        "'%s'.format([1, 2]) == ''",
        "'%q'.format([1]) == ''",
        "self.on == null",
        "cel.bind(x, self.name, x == 'a')",
        "math.greatest(1, 2) == 2",
        "base64.encode(b'a') == ''",
        "self.name.reverse() == ''",
        "authorizer.path('/').check('get').allowed()",
        "google.protobuf.Unheard{} == null",
        "[self.name][timestamp(0)] == ''",
    ],
)
def test_does_not_compile(rule: str) -> None:
    report = one(rule)
    assert not report.ok
    assert [p.type for p in report.problems] == ["Invalid"]
    assert report.problems[0].suffix == (KEY, 0, "rule")
    assert report.problems[0].stage == CEL


@pytest.mark.parametrize(
    ("rule", "since"),
    [
        ("self.?name.hasValue()", 29),
        ("self.count < self.ratio", 29),
        ("quantity('1').sign() == 1 || sign(quantity('1')) == 1", None),
        ("sign(quantity('1')) == 1", 29),
        ("sets.contains(['a'], ['b'])", 30),
        ("'%s'.format(['a']) == 'a'", 30),
        ("isIP(self.name)", 31),
        ("self.namespace == 'a'", 32),
        ("format.uri().validate('a').hasValue()", 32),
        ("self.ports.all(i, p, true)", 33),
        ("isSemver(self.name)", 34),
        ("self.ports.distinct().size() == 1", 35),
        ("self.ports.map(p, p.name).includes('a')", None),
    ],
)
def test_libraries_by_minor(rule: str, since: int | None) -> None:
    assert [m for m in range(25, 38) if one(rule, m).ok] == list(range(since or 38, 38))


def test_a_stored_rule_may_use_what_the_server_knows() -> None:
    rule = "self.ports.distinct().size() == 1"
    assert not one(rule, 34).ok
    assert one(rule, 34).problems[0].id == "cel-env-version"
    assert "1.35" in one(rule, 34).problems[0].message
    assert one(rule, 34, stored={rule}).ok
    message = {"rule": "true", "messageExpression": "string(self.ports.distinct().size())"}
    assert one(message, 34).message_error
    assert one(message, 34, stored={message["messageExpression"]}).message_error
    assert not one(message, 34, stored_messages={message["messageExpression"]}).message_error


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ({"rule": " "}, ("cel-rule-required", "Required", "rule")),
        ({}, ("cel-rule-required", "Required", "rule")),
        ({"rule": "true", "message": " \t"}, ("cel-message-blank", "Invalid", "message")),
        ({"rule": "true", "message": "a\nb"}, ("cel-message-newline", "Invalid", "message")),
        ({"rule": "true &&\ntrue"}, ("cel-message-required", "Required", "message")),
        (
            {"rule": "true", "messageExpression": " "},
            ("cel-message-expression-blank", "Required", "messageExpression"),
        ),
        ({"rule": "true", "reason": "Because"}, ("cel-reason", "NotSupported", "reason")),
        ({"rule": "true", "fieldPath": ".no"}, ("cel-field-path", "Invalid", "fieldPath")),
    ],
)
def test_keyword_checks(rule: dict[str, Any], expected: tuple[str, str, str]) -> None:
    report = check_schema(schema(THING, rule), minor=37)
    rule_id, kind, field = expected
    assert said(report) == {(rule_id, kind, (KEY, 0, field))}
    assert report.all_problems()[0].stage == KEYWORDS


def test_keyword_problems_stop_cel_at_the_node_and_above() -> None:
    inner = {"type": "string", KEY: [{"rule": " "}]}
    report = check_schema(schema(thing(a=inner), "self.nothing"), minor=37)
    assert {p.id for p in report.all_problems()} == {"cel-rule-required"}
    assert [r.reached for r in report.rules] == [False, False]
    assert [r.ok for r in report.rules] == [False, False]


def test_blocked_nodes_are_listed_but_say_nothing() -> None:
    report = check_schema(
        schema(THING, "self.nothing"), minor=37, blocked=lambda path: "spec" in path
    )
    assert report.all_problems() == []
    assert not report.rules[0].ok
    assert not report.rules[0].reached


def test_rules_below_junctors_get_the_keyword_checks_only() -> None:
    spec = {**THING, "allOf": [thing(a={KEY: [{"rule": ""}, {"rule": "nonsense("}]})]}
    report = check_schema(schema(spec), minor=37)
    assert report.rules == []
    assert [(p.path, p.suffix) for p in report.problems] == [
        (("properties", "spec", "allOf", 0, "properties", "a"), (KEY, 0, "rule"))
    ]


def test_message_expression() -> None:
    assert one({"rule": "true", "messageExpression": "self.name"}).message_error is None
    wrong = check_schema(schema(THING, {"rule": "true", "messageExpression": "1"}), minor=37)
    assert said(wrong) == {
        ("cel-message-expression-string", "Invalid", (KEY, 0, "messageExpression"))
    }
    broken = check_schema(schema(THING, {"rule": "true", "messageExpression": "("}), minor=37)
    assert said(broken) == {
        ("cel-message-expression-compile", "Invalid", (KEY, 0, "messageExpression"))
    }
    assert (
        check_schema(
            schema(THING, {"rule": "true", "messageExpression": "("}), minor=26
        ).all_problems()
        == []
    )


def test_optional_old_self() -> None:
    fine = {"rule": "oldSelf.hasValue()", "optionalOldSelf": True}
    assert one(fine).ok
    assert one(fine).uses_old_self
    unused = {"rule": "true", "optionalOldSelf": False}
    assert said(check_schema(schema(THING, unused), minor=37)) == {
        ("cel-optional-old-self-unused", "Invalid", (KEY, 0, "optionalOldSelf"))
    }
    broken = check_schema(schema(THING, {"rule": "(", "optionalOldSelf": True}), minor=37)
    assert {p.suffix[-1] for p in broken.all_problems()} == {"rule", "optionalOldSelf"}


@pytest.mark.parametrize(
    ("items", "ok"),
    [
        ({}, False),
        ({"x-kubernetes-list-type": "set"}, False),
        ({"x-kubernetes-list-type": "map"}, True),
    ],
)
def test_old_self_needs_items_that_can_be_matched(items: dict[str, Any], ok: bool) -> None:
    item = {**thing(a=STRING), KEY: [{"rule": "self.a == oldSelf.a"}]}
    spec = thing(list={"type": "array", "maxItems": 3, "items": item, **items})
    report = check_schema(schema(spec), minor=37)
    assert report.rules[0].ok == ok
    assert {p.id for p in report.all_problems()} == (
        set() if ok else {"cel-old-self-uncorrelatable"}
    )


def test_untyped_nodes_cannot_have_rules() -> None:
    spec = {"x-kubernetes-preserve-unknown-fields": True}
    report = check_schema(schema(spec, "true"), minor=37)
    assert [(p.id, p.type, p.suffix) for p in report.problems] == [
        ("cel-no-type", "InternalError", (KEY,))
    ]


def test_costs_multiply_with_the_bounds_above() -> None:
    item = {
        **thing(a={"type": "string", "maxLength": 10}),
        KEY: [{"rule": "self.a.matches('^ab$')"}],
    }
    report = check_schema(
        thing(spec=thing(list={"type": "array", "maxItems": 100, "items": item})), minor=37
    ).rules[0]
    assert (report.rule_cost, report.cardinality, report.cost) == (7, 100, 700)
    assert report.bounded
    del item["properties"]["a"]["maxLength"]
    report = check_schema(thing(spec=thing(list={"type": "array", "items": item})), minor=37).rules[
        0
    ]
    assert report.cardinality == 3 * 1024 * 1024 // 3
    assert not report.bounded
    assert report.over_budget
    assert [p.id for p in report.problems] == ["cel-rule-cost"]
    assert "more than 100x" in report.problems[0].message


def test_metadata_name_is_bounded_since_1_37() -> None:
    root = {"type": "object", KEY: [{"rule": "self.metadata.name.startsWith(self.kind)"}]}
    root[KEY] = [{"rule": "self.metadata.name.matches('^[a-z]+$')"}]
    new, old = (check_schema(root, minor=m).rules[0].rule_cost for m in (37, 36))
    assert new is not None
    assert old is not None
    assert new < 1000
    assert old > 100_000


def test_the_total_is_limited_and_the_dearest_rules_are_named() -> None:
    node = {"type": "string", "maxLength": 3_000_000}
    fields = {f"f{i}": {**node, KEY: [{"rule": "self.matches('^aaaa$')"}]} for i in range(60)}
    report = check_schema(thing(**fields), minor=37)
    total = [p for p in report.problems if p.id == "cel-total-cost"]
    assert report.total > 100_000_000
    assert [len(p.path) for p in total] == [2, 2, 2, 2, 0]
    assert {p.type for p in total} == {"Forbidden"}
    kept = check_schema(thing(**fields), minor=37, unchanged=True)
    assert len([p for p in kept.problems if p.id == "cel-total-cost"]) == 5


def test_unchanged_schemas_keep_their_dear_rules() -> None:
    spec = thing(name=STRING, names={"type": "array", "items": STRING})
    rule = "self.names.all(n, self.names.exists(m, m == n))"
    assert {p.id for p in check_schema(schema(spec, rule), minor=37).rules[0].problems} == {
        "cel-rule-cost"
    }
    assert check_schema(schema(spec, rule), minor=37, unchanged=True).rules[0].problems == []


def test_differences_of_cost_between_minors() -> None:
    labelled = thing(a={"type": "string", "enum": ["x", "yy"]})
    cheap, dear = (one("self.a.matches('^x$')", m, labelled).rule_cost for m in (29, 28))
    assert cheap is not None
    assert dear is not None
    assert cheap < dear
    called = "matches(url(self.name).getEscapedPath(), '^a$')"
    assert [one(called, m).over_budget for m in (36, 37)] == [False, True]
    assert one("url(self.name).getEscapedPath().matches('^a$')", 36).over_budget
    assert one("has(self.name)", 28).rule_cost == (one("has(self.name)", 29).rule_cost or 0) + 1


@pytest.mark.parametrize(
    ("cost", "expected"),
    [(10_500_000, "1.050000x"), (20_000_000, "2.0x"), (1_000_000_001, "more than 100x")],
)
def test_factors_are_worded_as_the_server_does(cost: int, expected: str) -> None:
    assert factor(cost, RULE_LIMIT) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("plain", "plain"),
        ("a-b.c/d", "a__dash__b__dot__c__slash__d"),
        ("__a", "__underscores__a"),
        ("namespace", "__namespace__"),
        ("in", "__in__"),
        ("1a", None),
        ("", None),
        ("a b", None),
        ("\u00e4", None),
    ],
)
def test_escapes(name: str, expected: str | None) -> None:
    assert escape(name) == expected


@pytest.mark.parametrize(
    ("path", "ok"),
    [
        (".name", True),
        ("['name']", True),
        (".ports", True),
        (".ports[0]", False),
        (".ports.port", False),
        (".labels.x", True),
        (".labels['a.b/c']", True),
        (".labels['it\\'s']", True),
        (".labels['\\q']", False),
        (".labels['a'", False),
        (".labels[a]", False),
        ("name", False),
        (".", False),
        ("..name", False),
        (".name.", False),
    ],
)
def test_field_paths(path: str, ok: bool) -> None:
    if ok:
        fieldpath.check(path, THING)
    else:
        with pytest.raises(fieldpath.FieldPathError):
            fieldpath.check(path, THING)


def test_a_step_beyond_an_open_map_fails_the_server() -> None:
    spec = thing(open={"type": "object", "additionalProperties": True})
    report = check_schema(schema(spec, {"rule": "true", "fieldPath": ".open.a.b"}), minor=37)
    assert [(p.id, p.type) for p in report.all_problems()] == [("cel-field-path", "Panic")]


def test_what_cannot_be_converted() -> None:
    assert convertible(THING)
    assert convertible({"$ref": "", "dependencies": {}})
    for key, value in (("$ref", "a"), ("definitions", {"a": {}}), ("items", [{}])):
        assert not convertible(thing(a={"anyOf": [{key: value}]}))


def test_bounds_alone_or_together_bring_a_rule_under_the_limit() -> None:
    spec = thing(names={"type": "array", "items": STRING})
    rule = "self.names.all(n, self.names.exists(m, m == n))"
    root = schema(spec, rule)
    report = check_schema(root, minor=37).rules[0]
    assert report.over_budget
    found = bounds.suggest(root, report, minor=37)
    assert found
    for suggestion in found:
        changed = json.loads(json.dumps(root))
        for bound in suggestion.bounds:
            node = changed
            for step in bound.path:
                node = node[step]
            node[bound.keyword] = bound.value
        again = check_schema(changed, minor=37).rules[0]
        assert again.cost == suggestion.cost
        assert not again.over_budget
    assert check_schema(root, minor=37).rules[0].cost == report.cost


def test_types_in_messages_stay_short_however_deep_the_schema() -> None:
    node: dict[str, Any] = STRING
    for _ in range(5_000):
        node = {"type": "array", "maxItems": 1, "items": node}
    report = check_schema(
        {"type": "object", "properties": {"a": {**node, KEY: [{"rule": "self + 1 == 2"}]}}},
        minor=37,
    )
    assert not report.rules[0].ok
    assert len(report.rules[0].error or "") < 500


def test_five_thousand_rules() -> None:
    fields = {f"f{i}": {"type": "string", KEY: [{"rule": "self == 'a'"}]} for i in range(5_000)}
    report = check_schema(thing(**fields), minor=37)
    assert len(report.rules) == 5_000
    assert all(rule.ok for rule in report.rules)


def test_a_rule_of_a_megabyte() -> None:
    report = one("self.name == '" + "a" * 1_000_000 + "'")
    assert not report.ok
    assert "100000" in (report.error or "")


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not here")
@pytest.mark.parametrize("name", ["cel", "cel_mutants"])
def test_verdicts_and_costs_of_real_rules(name: str) -> None:
    from crdlint import document
    from crdlint.server import join
    from crdlint.shape import from_v1beta1, shape

    wrong: list[Any] = []
    for line in (CORPUS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()[::7]:
        row = json.loads(line)
        file = CORPUS / row["file"]
        data = next(
            d.data for d in document.read(file.read_bytes(), str(file)) if d.index == row["doc"]
        )
        if str(data["apiVersion"]).endswith("v1beta1"):
            data = from_v1beta1(data)
        crd = shape(data).crd
        for expected in row["cel"]:
            if expected.get("total") or "versions[*]" in expected["path"]:
                continue
            versions = crd["spec"]["versions"]
            i = int(expected["path"].split("versions[")[1].split("]")[0])
            root = versions[i]["schema"]["openAPIV3Schema"]
            rest = expected["path"].split("openAPIV3Schema.", 1)[1]
            for rule in check_schema(root, minor=37).rules:
                if join((*rule.path, KEY, rule.index)) == rest:
                    cost = expected.get("cost")
                    cost = int(cost) if isinstance(cost, str) else cost
                    if (rule.ok, rule.cost if rule.ok else None) != (
                        expected["ok"],
                        cost if rule.ok else None,
                    ):
                        wrong.append((row["file"], rest, rule.error, rule.cost, expected))
                    break
            else:
                wrong.append((row["file"], rest, "not found"))
    assert wrong == []
