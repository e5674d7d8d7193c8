"""What stands around the schemas: the server's verdict on odd inputs, and advice."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from crdlint import document, engine, gourl, jsonpath, reading, rule, server
from crdlint.rules import metadata, names, versions

if TYPE_CHECKING:
    from crdlint.tree import Crd

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "properties": {
                "a": {"type": "string"},
                "n": {"type": "number"},
                "m": {"type": "object", "additionalProperties": {"type": "string"}},
                "t": {"type": "object", "additionalProperties": True},
                "i": {"type": "integer"},
                "q'x": {"type": "string"},
                "l": {"type": "array", "items": {"type": "string"}},
                "ios": {"x-kubernetes-int-or-string": True},
            },
        },
        "metadata": {"type": "object", "properties": {"name": {"type": "string"}}},
    },
}
VERSION = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": SCHEMA}}
BASE: dict[str, Any] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "widgets.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "widgets", "kind": "Widget"},
        "versions": [VERSION],
    },
}
# Each row: what differs from BASE, and what the API server 1.37 says to it on create.
ROWS = [
    json.loads(line)
    for line in (Path(__file__).parent / "data/outside_schemas.jsonl").read_text().splitlines()
]


def build(patch: dict[str, Any]) -> dict[str, Any]:
    """Return BASE with some fields of metadata and spec replaced; versions build on VERSION."""
    made = copy.deepcopy(BASE)
    for top, fields in patch.items():
        if fields is None or top not in made:
            made[top] = fields
            continue
        made[top].update(fields)
        if fields.get("versions"):
            made[top]["versions"] = [copy.deepcopy(VERSION) | v for v in fields["versions"]]
    return made


def crd(patch: dict[str, Any], minor: int = 37) -> Crd:
    return crds([build(patch)], minor)[0]


def crds(objects: list[dict[str, Any]], minor: int = 37, name: str = "crd.yaml") -> list[Crd]:
    text = "\n---\n".join(json.dumps(made) for made in objects)
    found = []
    for doc in document.read(text.encode(), name):
        for subject in reading.subjects(doc, minor):
            assert subject.crd is not None, subject.hits[0].message
            found.append(subject.crd)
    return found


def said(subject: Crd) -> list[list[str]]:
    """Return what the rules claim that the server says, without warnings, each once."""
    claims = {c for problem in engine.lint(subject) for c in server.claims(subject, problem)}
    return sorted([kind, field] for kind, field in claims if kind not in ("Warning", "Strict"))


def found(subject: Crd) -> list[str]:
    return [problem.rule for problem in engine.lint(subject)]


@pytest.mark.parametrize("row", ROWS, ids=[str(i) for i in range(len(ROWS))])
def test_server_verdict(row: dict[str, Any]) -> None:
    assert said(crd(row["crd"])) == row["server"]


def versioned(*overrides: dict[str, Any]) -> dict[str, Any]:
    return {"spec": {"versions": list(overrides)}}


def test_selectable_fields_are_dropped_before_1_31() -> None:
    patch = versioned({"selectableFields": [{"jsonPath": "nonsense"}]})
    assert said(crd(patch, 30)) == []
    assert said(crd(patch, 31)) == [["Invalid", "spec.selectableFields[0].jsonPath"]]


def test_repeated_owner_is_warned_of_and_dropped_before_validation() -> None:
    owner = {"apiVersion": "v1", "kind": "Node", "name": "a", "uid": "1", "controller": True}
    bad = {"apiVersion": "v1", "kind": "Node", "name": "", "uid": "2"}
    subject = crd({"metadata": {"ownerReferences": [owner, dict(owner), bad]}})
    problems = engine.lint(subject)
    assert [p.rule for p in problems if p.refused] == ["metadata-owner-reference"]
    # the second one is gone when the third is judged
    assert said(subject) == [["Required", "metadata.ownerReferences[1].name"]]
    place = next(p.place for p in problems if p.rule == "metadata-owner-reference")
    assert place.path == ("metadata", "ownerReferences", 2, "name")
    subject = crd({"metadata": {"ownerReferences": [owner, dict(owner), dict(owner)]}})
    claims = [server.claims(subject, problem) for problem in engine.lint(subject)]
    assert claims == [[("Warning", "metadata.ownerReferences[1]")], []]


def test_resource_version_is_only_said_of_a_number() -> None:
    for text, rules in (("17", ["resource-version-set"]), ("0", []), ("x", [])):
        assert found(crd({"metadata": {"resourceVersion": text}})) == rules


def test_update_excuses_what_the_stored_crd_has() -> None:
    review = {
        "strategy": "Webhook",
        "webhook": {"conversionReviewVersions": ["v2"], "clientConfig": {"url": "https://a"}},
    }
    many = [{"jsonPath": f".spec.m.x{i}"} for i in range(9)]
    patches: list[dict[str, Any]] = [
        {"metadata": {"name": "other.example.com"}},
        {"spec": {"conversion": review}},
        {"spec": {"preserveUnknownFields": True}},
        {"spec": {"group": "a.k8s.io"}, "metadata": {"name": "widgets.a.k8s.io"}},
        versioned({"selectableFields": many}),
        versioned({}, {"name": "v2", "storage": False, "served": False, "schema": None}),
    ]
    for patch in patches:
        subject = crd(patch)
        assert said(subject), patch
        subject.old = crd(patch)
        assert not said(subject), patch


def test_names_conflict_needs_two_crds_of_one_group() -> None:
    check = next(c for c in rule.set_checks() if c.ids == ("names-conflict",))

    def conflicts(group: str, **spec_names: Any) -> list[str]:
        other = build({"metadata": {"name": f"gadgets.{group}"}, "spec": {"group": group}})
        other["spec"]["names"] = {"plural": "gadgets", "kind": "Gadget", **spec_names}
        first = build({"spec": {"names": {**BASE["spec"]["names"], "shortNames": ["wd"]}}})
        return [problem.message.split()[0] for problem in check.run(crds([first, other]))]

    assert conflicts("example.com") == []
    assert conflicts("example.com", shortNames=["wd"]) == ["'wd'"]
    assert conflicts("example.com", singular="widgets") == ["'widgets'"]
    assert conflicts("example.com", kind="WidgetList") == ["'WidgetList'"]
    assert conflicts("example.com", shortNames=["Widget"]) == []  # two pools
    assert conflicts("example.org", shortNames=["wd"]) == []
    assert list(check.run([*crds([build({})]), *crds([build({})], name="copy.yaml")])) == []


def test_crd_repeated_looks_at_one_file() -> None:
    check = next(c for c in rule.set_checks() if c.ids == ("crd-repeated",))
    assert len(list(check.run(crds([build({}), build({})])))) == 1
    assert not list(check.run([*crds([build({})]), *crds([build({})], name="copy.yaml")]))


def test_versions_rank_as_kubernetes_ranks_them() -> None:
    ranked = [
        "v10",
        "v2",
        "v1",
        "v11beta2",
        "v10beta3",
        "v3beta1",
        "v12alpha1",
        "bar",
        "bars",
        "foo",
    ]
    backwards = ranked[::-1]
    assert sorted(backwards, key=versions.priority, reverse=True) == ranked


def test_stored_versions_of_a_dump() -> None:
    patch = versioned({"name": "v1beta1", "storage": False}, {})
    patch["status"] = {"storedVersions": ["v1alpha1", "v1beta1", "v1"]}
    rules = [r for r in found(crd(patch)) if "stor" in r]
    assert rules == ["stored-version-gone", "storage-migration-pending"]
    cures = {}
    for minor in (30, 37):
        problems = engine.lint(crd(patch, minor))
        cures[minor] = next(p.help for p in problems if p.rule == "storage-migration-pending")
    assert "kubectl patch" in cures[30]
    assert "StorageVersionMigration" in cures[37]


@pytest.mark.parametrize(
    ("size", "rules"),
    [
        (1000, []),
        (262144 // 2, []),
        (270000, ["client-side-apply-too-large"]),
        (1600 * 1024, ["object-too-large"]),
        (3200 * 1024, ["object-too-large"]),
    ],
)
def test_size(size: int, rules: list[str]) -> None:
    schema = copy.deepcopy(SCHEMA) | {"description": "x" * size}
    subject = crd(versioned({"schema": {"openAPIV3Schema": schema}}))
    assert [r for r in found(subject) if "large" in r] == rules


def test_last_applied_is_counted_without_an_older_copy() -> None:
    made = build({})
    bare = metadata._last_applied_size(made, dump(made))
    made["metadata"]["annotations"] = {metadata.LAST_APPLIED: "x" * 1000, "a": "b"}
    grown = metadata._last_applied_size(made, dump(made))
    # `"annotations":{"a":"b"},` in the copy, and the other annotation itself
    assert grown - bare == len('"annotations":{"a":"b"},') + len("ab")


def dump(made: dict[str, Any]) -> str:
    return json.dumps(made, separators=(",", ":"), sort_keys=True)


def columns(path: str, kind: str = "string") -> dict[str, Any]:
    age = {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}
    column = {"name": "N", "type": kind, "jsonPath": path}
    return versioned({"additionalPrinterColumns": [column, age]})


@pytest.mark.parametrize(
    ("path", "kind", "rules"),
    [
        (".spec.a", "string", []),
        (".spec.a", "date", []),
        (".spec.a", "integer", ["column-path-type"]),
        (".spec.n", "integer", []),
        (".spec.i", "boolean", ["column-path-type"]),
        (".spec.ios", "integer", []),
        (".spec.l[0]", "string", []),
        (".spec.l[0]", "integer", ["column-path-type"]),
        (".spec.l.a", "string", ["column-path-unknown"]),
        (".spec.m.anything", "string", []),
        (".spec.t.any.thing", "integer", []),
        (".spec.b", "string", ["column-path-unknown"]),
        (".spec.a.b", "string", ["column-path-unknown"]),
        (".status.x", "string", ["column-path-unknown"]),
        (".metadata.labels.app", "string", []),
        (".metadata.generation", "integer", []),
        (".metadata.nothing", "string", ["column-path-unknown"]),
        (".kind", "string", []),
        (".spec['a']", "string", []),
        (".spec['a.b']", "string", ["column-path-unknown"]),
        ("..a", "string", []),
        (".spec.l[", "string", ["column-path-syntax"]),
    ],
)
def test_column_paths(path: str, kind: str, rules: list[str]) -> None:
    assert [r for r in found(crd(columns(path, kind))) if r.startswith("column")] == rules


# Verdicts of client-go's parser, in braces as the table convertor calls it.
READABLE = (
    ".a .a[0] .a[*] .a[-1] .a[:] .a[1:2:3] .a['b'] .a[?(@.x==1)] .a[?(@.x)] .a[?(@.x=='y')].z .a..b"
    ' .a[0,1] .a|b .- .a[?()] ... .a}b .a\\.b .* .. .a[] .a[?(@.type=="Ready")].status'
).split()
UNREADABLE = (
    ".a[ .a[-] .a[x] .a[1:2:3:4] .a[\"b\"] .a['b' .a[?(@.x==1] .a[?(@.x==1) .a{b .a,b"
    " .a] .a....b .a[0,x] .a[99999999999999999999]"
).split()


def test_jsonpath_takes_what_client_go_takes() -> None:
    wrong = []
    for path in (*READABLE, *UNREADABLE):
        try:
            jsonpath.parse(path)
            taken = True
        except jsonpath.JSONPathError:
            taken = False
        if taken != (path in READABLE):
            wrong.append(path)
    assert not wrong


def test_jsonpath_bounds_its_depth() -> None:
    with pytest.raises(jsonpath.JSONPathError):
        jsonpath.parse(".a" + "[?(" * 20000)
    assert len(jsonpath.parse(".a" * 20000)) == 20000


def test_url_parts() -> None:
    url = gourl.parse("HTTPS://u:p@h:1/p?q=1#f")
    assert (url.scheme, url.user, url.host, url.query, url.fragment) == (
        "https",
        "u:p",
        "h:1",
        "q=1",
        "f",
    )
    # a fragment is part of the path where a request is read
    assert gourl.parse_request("https://h/#f").fragment == ""


def scaled(**paths: str) -> dict[str, Any]:
    scale = {"specReplicasPath": ".spec.i", "statusReplicasPath": ".status.i", **paths}
    schema = copy.deepcopy(SCHEMA)
    schema["properties"]["status"] = {
        "type": "object",
        "properties": {"i": {"type": "integer"}, "s": {"type": "string"}},
    }
    parts = {"subresources": {"scale": scale, "status": {}}}
    return versioned(parts | {"schema": {"openAPIV3Schema": schema}})


@pytest.mark.parametrize(
    ("paths", "rules"),
    [
        ({}, []),
        ({"labelSelectorPath": ".status.s"}, []),
        ({"labelSelectorPath": ".status.i"}, ["scale-path-type"]),
        ({"labelSelectorPath": ""}, []),
        ({"specReplicasPath": ".spec.a"}, ["scale-path-type"]),
        ({"specReplicasPath": ".spec.l[0]"}, ["scale-path-unknown"]),
        ({"specReplicasPath": ".spec.count"}, ["scale-path-unknown"]),
        ({"statusReplicasPath": ".status."}, ["scale-path-unknown"]),
    ],
)
def test_scale_paths(paths: dict[str, str], rules: list[str]) -> None:
    assert found(crd(scaled(**paths))) == rules


@pytest.mark.parametrize(
    ("bundle", "rules"),
    [
        ("Cg==", ["ca-bundle-placeholder"]),
        ("", []),
        ("VGhpcyBpcyBub3QgYSBjZXJ0aWZpY2F0ZSBidXQgYSBzZW50ZW5jZS4=", ["ca-bundle-invalid"]),
        ("LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUI=", []),
    ],
)
def test_ca_bundle(bundle: str, rules: list[str]) -> None:
    webhook = {
        "conversionReviewVersions": ["v1"],
        "clientConfig": {"url": "https://a", "caBundle": bundle},
    }
    patch = {"spec": {"conversion": {"strategy": "Webhook", "webhook": webhook}}}
    assert [r for r in found(crd(patch)) if r.startswith("ca-")] == rules


def test_short_names_and_categories() -> None:
    own = {
        **BASE["spec"]["names"],
        "shortNames": ["widget", "po", "wd", "wd"],
        "categories": ["all"],
    }
    assert found(crd({"spec": {"names": own}})) == [
        "short-name-own",
        "short-name-built-in",
        "short-name-repeated",
        "category-all",
    ]
    assert names.lowered("K\u0130") == "ki"  # not i with a dot as a mark of its own


@pytest.mark.parametrize("wrong", ["spec: []", 'spec: ""', "spec: 3", "metadata: 3"])
def test_what_cannot_be_decoded_is_no_patch(wrong: str) -> None:
    text = f"apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n{wrong}\n"
    (part,) = document.read(text.encode(), "crd.yaml")
    (subject,) = reading.subjects(part, 37)
    assert [hit.rule for hit in subject.hits] == ["decode-error"]
