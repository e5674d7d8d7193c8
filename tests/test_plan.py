"""Plans: which step comes when, what stands between them, and that every step is as said."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from test_cli import crdlint

if TYPE_CHECKING:
    from pathlib import Path

TEXT = {"type": "string"}


def version(name: str, *, served: bool = True, storage: bool = False, **fields: Any) -> Any:
    spec = {"type": "object", "properties": fields or {"a": TEXT}}
    schema = {"type": "object", "properties": {"spec": spec}}
    return {
        "name": name,
        "served": served,
        "storage": storage,
        "schema": {"openAPIV3Schema": schema},
    }


def crd(*versions: Any, status: list[str] | None = None, **spec: Any) -> dict[str, Any]:
    made: dict[str, Any] = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "names": {"kind": "Widget", "plural": "widgets"},
            "scope": "Namespaced",
            "versions": list(versions),
            **spec,
        },
    }
    return {**made, "status": {"storedVersions": status}} if status else made


def plan(tmp_path: Path, old: Any, new: Any, *args: str, status: int = 0) -> dict[str, Any]:
    for name, data in (("old.yaml", old), ("new.yaml", new)):
        (tmp_path / name).write_text(json.dumps(data))
    files = (tmp_path / "old.yaml", tmp_path / "new.yaml")
    done = crdlint("plan", *files, "--format", "json", *args)
    assert done.returncode == status, done.stderr or done.stdout
    (found,) = json.loads(done.stdout)["plans"]
    return dict(found)


def titles(found: dict[str, Any]) -> list[str]:
    return [step["title"] for step in found["steps"]]


def states(found: dict[str, Any]) -> list[list[str]]:
    """Return the versions of each step: `v1!` is storage, `v1-` not served, `v1?` deprecated."""
    return [
        [
            v["name"]
            + "!" * v["storage"]
            + "-" * (not v["served"])
            + "?" * bool(v.get("deprecated"))
            for v in step["crd"]["spec"]["versions"]
        ]
        for step in found["steps"]
    ]


def test_a_harmless_change_is_one_step(tmp_path: Path) -> None:
    found = plan(
        tmp_path, crd(version("v1", storage=True)), crd(version("v1", storage=True, a=TEXT, b=TEXT))
    )
    assert titles(found) == ["change the schema in place"]
    assert found["safe"]


def test_nothing_to_do(tmp_path: Path) -> None:
    found = plan(tmp_path, crd(version("v1", storage=True)), crd(version("v1", storage=True)))
    assert found["steps"] == []


def test_one_version_replaces_another(tmp_path: Path) -> None:
    old = crd(version("v1beta1", storage=True))
    found = plan(tmp_path, old, crd(version("v1", storage=True)))
    assert states(found) == [
        ["v1", "v1beta1!?"],
        ["v1!", "v1beta1?"],
        ["v1!", "v1beta1-"],
        ["v1!"],
    ]
    assert [bool(step["first"]) for step in found["steps"]] == [False, False, False, True]
    assert found["steps"][-1]["storedVersions"] == ["v1"]
    assert found["safe"]
    rollback = [step["rollback"] for step in found["steps"]]
    assert "OLD" in rollback[0]
    assert "step 1" in rollback[1]


@pytest.mark.parametrize(
    ("kubernetes", "file", "words"),
    [
        ("1.30", "migrate-4.sh", "--subresource=status"),
        ("1.35", "migrate-4.yaml", "storagemigration.k8s.io/v1beta1"),
        ("1.37", "migrate-4.yaml", "storagemigration.k8s.io/v1\n"),
    ],
)
def test_objects_are_rewritten_as_the_server_can(
    tmp_path: Path, kubernetes: str, file: str, words: str
) -> None:
    old = crd(version("v1beta1", storage=True))
    args = ("--kubernetes-version", kubernetes, "--write", str(tmp_path / "plan"))
    found = plan(tmp_path, old, crd(version("v1", storage=True)), *args)
    actions = found["steps"][3]["first"]
    assert actions[0]["file"] == file
    assert words in (tmp_path / "plan" / file).read_text()
    names = sorted(path.name for path in (tmp_path / "plan").iterdir())
    files = [action["file"] for action in actions]
    assert names == sorted([*files, *(f"step-{n}.yaml" for n in range(1, 5))])
    # A beta API is off unless somebody turned it on: then the script does it.
    assert len(actions) == (2 if kubernetes == "1.35" else 1)
    assert ("off by default" in actions[0]["title"]) == (kubernetes == "1.35")


def test_a_script_rewrites_nothing_where_there_is_nothing(tmp_path: Path) -> None:
    old = crd(version("v1beta1", storage=True))
    args = ("--kubernetes-version", "1.30")
    found = plan(tmp_path, old, crd(version("v1", storage=True)), *args)
    (action,) = found["steps"][3]["first"]
    script = tmp_path / "migrate.sh"
    script.write_text(action["text"])
    tools = tmp_path / "bin"
    tools.mkdir()
    for objects, wanted in (("", ["get", "patch"]), ("x", ["get", "get", "replace", "patch"])):
        kubectl = tools / "kubectl"
        kubectl.write_text(
            f"#!/bin/sh\necho $1 >> {tmp_path}/log\n[ $1 = get ] && echo {objects}\ntrue\n"
        )
        kubectl.chmod(0o755)
        (tmp_path / "log").write_text("")
        env = {"PATH": f"{tools}:/usr/bin:/bin"}
        subprocess.run(["sh", str(script)], check=True, env=env)
        assert sorted((tmp_path / "log").read_text().split()) == sorted(wanted)


def test_a_single_step_has_no_reason_of_a_road(tmp_path: Path) -> None:
    wide = crd(version("v1", storage=True, a=TEXT, b=TEXT))
    (step,) = plan(tmp_path, crd(version("v1", storage=True)), wide)["steps"]
    assert step["why"] == ["the API server takes it in one step, and no stored object is hurt"]
    assert "what only the newer schema knows is lost" in step["rollback"]
    narrow = crd(version("v1", storage=True))
    (step,) = plan(tmp_path, wide, narrow, status=1)["steps"]
    assert "no stored object is hurt" not in step["why"][0]
    typo = crd(version("v1", storage=True, a={"type": "strign"}))
    (step,) = plan(tmp_path, narrow, typo, status=1)["steps"]
    assert step["why"] == ["NEW asks for it, and the API server does not take it"]


def test_a_webhook_that_is_there_is_told_only_what_is_new(tmp_path: Path) -> None:
    webhook = {
        "strategy": "Webhook",
        "webhook": {
            "conversionReviewVersions": ["v1"],
            "clientConfig": {"service": {"namespace": "a", "name": "b"}},
        },
    }
    beta = version("v1beta1", a=TEXT, old=TEXT)
    old = crd(beta, version("v1", storage=True, a=TEXT), conversion=webhook)
    new = crd(beta, version("v1", storage=True, a=TEXT, fresh=TEXT), conversion=webhook)
    (step,) = plan(tmp_path, old, new)["steps"]
    (way,) = step["webhook"]
    assert (way["from"], way["to"]) == ("v1", "v1beta1")
    assert ".spec.fresh" in way["duties"][0]
    (other,) = plan(tmp_path, old, {**old, "metadata": {**old["metadata"], "labels": {"a": "b"}}})[
        "steps"
    ]
    assert other["webhook"] == []


UNHELD = [
    (lambda made: made["spec"].pop("versions"), "spec.versions is missing"),
    (lambda made: made["spec"].update(names={}), "spec.names.plural is missing"),
    (lambda made: made["spec"].pop("group"), "spec.group is missing"),
    (lambda made: made["spec"]["versions"][0].pop("name"), "a version has no name"),
    (lambda made: made["spec"]["versions"][0].update(storage=False), "storage: true"),
    (lambda made: made["spec"]["versions"].append(version("v1")), "v1 stands there twice"),
    (lambda made: made["spec"]["versions"].append(version("v2", storage=True)), "storage: true"),
    (lambda made: made["spec"].update(versions=3), "must be a list"),
]


@pytest.mark.parametrize(("spoil", "words"), UNHELD)
def test_what_no_server_holds_is_said_with_its_place(
    tmp_path: Path, spoil: Any, words: str
) -> None:
    good, bad = (crd(version("v1", storage=True)) for _ in range(2))
    spoil(bad)
    found = plan(tmp_path, good, bad, status=1)
    assert words in found["verdict"]
    assert "new.yaml:1" in found["verdict"]
    assert not found["safe"]
    done = crdlint("plan", tmp_path / "new.yaml", tmp_path / "old.yaml")
    assert done.returncode == 2
    assert words in done.stderr
    assert "new.yaml:1" in done.stderr


def test_a_file_that_does_not_parse_is_named(tmp_path: Path) -> None:
    plan(tmp_path, crd(version("v1", storage=True)), crd(version("v1", storage=True)))
    broken = tmp_path / "broken.yaml"
    broken.write_text("kind: CustomResourceDefinition\nspec: [\n")
    done = crdlint("plan", tmp_path / "old.yaml", broken)
    assert done.returncode == 1
    assert f"{broken}:3" in done.stdout


def test_deep_schemas(tmp_path: Path) -> None:
    whole = json.dumps(crd(version("v1", storage=True, a="DEEP")))
    deep = '{"type": "object", "properties": {"a": ' * 900 + json.dumps(TEXT) + "}}" * 900
    file = tmp_path / "crd.yaml"
    file.write_text(whole.replace('"DEEP"', deep))
    done = crdlint("plan", file, file)
    assert done.stdout == "widgets.example.com: nothing to do: NEW is what OLD is\n"
    assert done.returncode == 0


def test_a_dump_is_not_written_with_what_the_server_sets(tmp_path: Path) -> None:
    old = crd(version("v1", storage=True))
    new = crd(version("v1", storage=True, a=TEXT, b=TEXT))
    new["metadata"] |= {"resourceVersion": "12", "uid": "x"}
    (tmp_path / "old.yaml").write_text(json.dumps(old))
    (tmp_path / "new.yaml").write_text("# a dump\n" + json.dumps(new))
    files = (tmp_path / "old.yaml", tmp_path / "new.yaml")
    assert crdlint("plan", *files, "--write", tmp_path / "plan").returncode == 0
    assert "resourceVersion" not in (tmp_path / "plan/step-1.yaml").read_text()


def test_written_steps_lint_and_follow_one_another(tmp_path: Path) -> None:
    old = crd(version("v1beta1", storage=True))
    new = crd(version("v1", storage=True, a=TEXT, b=TEXT))
    plan(tmp_path, old, new, "--write", str(tmp_path / "plan"))
    steps = sorted((tmp_path / "plan").glob("step-*.yaml"))
    assert crdlint("lint", *steps, "--fail-on", "error").returncode == 0
    for before, after in zip([tmp_path / "old.yaml", *steps], steps, strict=False):
        args = ("--fail-on", "server-refuses,stored-objects", "--format", "json")
        done = crdlint("diff", before, after, *args)
        errors = [
            finding
            for finding in json.loads(done.stdout)["findings"]
            if finding["severity"] == "error" and "stored-objects" in finding["effects"]
        ]
        assert not errors, (after.name, errors)


def test_versions_that_differ_are_bridged_by_a_webhook(tmp_path: Path) -> None:
    old = crd(version("v1beta1", storage=True, a=TEXT, gone=TEXT))
    found = plan(tmp_path, old, crd(version("v1", storage=True, a=TEXT, fresh=TEXT)))
    first, *_, last = found["steps"]
    assert first["crd"]["spec"]["conversion"]["strategy"] == "Webhook"
    assert "fill-in" in first["before"][0]
    duties = {way["from"]: way["duties"][0] for way in first["webhook"]}
    assert "keep .spec.gone of v1beta1" in duties["v1beta1"]
    assert "keep .spec.fresh of v1" in duties["v1"]
    assert last["crd"]["spec"]["conversion"]["strategy"] == "None"
    assert found["safe"]


def test_a_break_that_no_road_avoids_is_shown_with_an_object(tmp_path: Path) -> None:
    old = crd(version("v1", storage=True, a=TEXT, b=TEXT))
    found = plan(tmp_path, old, crd(version("v1", storage=True, a=TEXT)), status=1)
    (step,) = found["steps"]
    (harm,) = step["hurts"]
    assert harm["rule"] == "field-removed"
    assert harm["witness"]["spec"] == {"b": "example"}
    assert not found["safe"]


def test_another_crd_is_copied_to(tmp_path: Path) -> None:
    old = crd(version("v1", storage=True))
    found = plan(tmp_path, old, crd(version("v1", storage=True), scope="Cluster"), status=1)
    assert "spec.scope" in found["verdict"]
    assert found["steps"] == []
    assert any("copy every object" in line for line in found["advice"])


def test_what_the_server_refuses_is_said_first(tmp_path: Path) -> None:
    old = crd(version("v1", storage=True))
    new = crd(version("v1", storage=True, a={"type": "strign"}))
    found = plan(tmp_path, old, new, status=1)
    assert found["verdict"].startswith("no safe road: the API server refuses step 1")
    assert found["steps"][0]["hurts"][0]["server"]


def test_stored_versions_are_migrated_before_they_go(tmp_path: Path) -> None:
    old = crd(
        version("v1", storage=True), version("v1alpha1", served=False), status=["v1alpha1", "v1"]
    )
    found = plan(tmp_path, old, crd(version("v1", storage=True)))
    assert states(found)[-1] == ["v1!"]
    assert found["steps"][-1]["first"]
    assert found["steps"][-1]["storedVersions"] == ["v1"]


def test_an_old_api_version_is_converted_first(tmp_path: Path) -> None:
    old = crd(version("v1", storage=True))
    beta = {
        "apiVersion": "apiextensions.k8s.io/v1beta1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "names": {"kind": "Widget", "plural": "widgets"},
            "scope": "Namespaced",
            "version": "v1",
            "preserveUnknownFields": False,
            "validation": {
                "openAPIV3Schema": {
                    "type": "object",
                    "properties": {
                        "spec": {"type": "object", "properties": {"a": TEXT, "b": TEXT}}
                    },
                }
            },
        },
    }
    found = plan(tmp_path, old, beta)
    assert "crdlint convert" in found["notes"][0]
    assert found["safe"]


def test_text_and_markdown(tmp_path: Path) -> None:
    plan(tmp_path, crd(version("v1beta1", storage=True)), crd(version("v1", storage=True)))
    files = (tmp_path / "old.yaml", tmp_path / "new.yaml")
    text = crdlint("plan", *files).stdout
    assert text.startswith("widgets.example.com: 4 steps, each a release")
    assert "  Step 2: store objects as v1\n" in text
    markdown = crdlint("plan", *files, "--format", "markdown").stdout
    assert "#### Step 2: store objects as v1" in markdown


def test_removed_and_added_crds(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    (tmp_path / "a/crd.yaml").write_text(json.dumps(crd(version("v1", storage=True))))
    gone = crdlint("plan", tmp_path / "a", tmp_path / "b")
    assert gone.returncode == 1
    assert "deletes all its objects" in gone.stdout
    fresh = crdlint("plan", tmp_path / "b", tmp_path / "a")
    assert "the CRD is new: apply it" in fresh.stdout
    assert fresh.returncode == 0


def test_wrong_usage_is_2(tmp_path: Path) -> None:
    assert crdlint("plan").returncode == 2
    assert crdlint("plan", tmp_path / "none.yaml", tmp_path / "none.yaml").returncode == 2
    plan(tmp_path, crd(version("v1", storage=True)), crd(version("v1", storage=True)))
    files = (tmp_path / "old.yaml", tmp_path / "new.yaml")
    (tmp_path / "file").write_text("")
    (tmp_path / "new.yaml").write_text(json.dumps(crd(version("v2", storage=True))))
    done = crdlint("plan", *files, "--write", tmp_path / "file")
    assert done.returncode == 2
    assert "--write" in done.stderr


WRITTEN = """\
# licence
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: widgets.example.com  # the name
spec:
  group: example.com
  scope: Namespaced
  names:
    plural: 'widgets'
    kind: Widget
  versions:
  # the only one
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object  # as wished
            properties:
              a: {type: string, enum: ["on", "y"]}
"""


def test_steps_keep_the_words_of_new(tmp_path: Path) -> None:
    (tmp_path / "old.yaml").write_text(WRITTEN.replace("- name: v1", "- name: v1beta1"))
    (tmp_path / "new.yaml").write_text(WRITTEN)
    files = (tmp_path / "old.yaml", tmp_path / "new.yaml")
    done = crdlint("plan", *files, "--write", tmp_path / "plan")
    assert done.returncode == 0, done.stderr
    first, second, _, last = (
        path.read_text() for path in sorted((tmp_path / "plan").glob("step-*.yaml"))
    )
    assert last == "# Step 4 of 4: remove v1beta1\n" + WRITTEN
    for text in (first, second):
        for line in ("# licence", "# the name", "# the only one", "# as wished", "'widgets'"):
            assert line in text
    for path in (tmp_path / "plan").glob("step-*.yaml"):
        linted = json.loads(crdlint("lint", path, "--format", "json").stdout)
        assert not [f for f in linted["findings"] if f["severity"] == "error"], path.name
    assert '"y"' in first.partition("name: v1beta1")[2]


def test_steps_of_another_plan_are_never_written_over(tmp_path: Path) -> None:
    old, new = crd(version("v1beta1", storage=True)), crd(version("v1", storage=True))
    where = tmp_path / "plan"
    plan(tmp_path, old, new, "--write", str(where))
    plan(tmp_path, old, new, "--write", str(where))  # the same again is no harm
    filled = (where / "step-2.yaml").read_text().replace("served", "mine")
    (where / "step-2.yaml").write_text(filled)
    before = {path.name: path.read_text() for path in where.iterdir()}
    wider = crd(version("v1", storage=True, a=TEXT, b=TEXT))
    for one, other in ((old, new), (new, wider)):
        (tmp_path / "old.yaml").write_text(json.dumps(one))
        (tmp_path / "new.yaml").write_text(json.dumps(other))
        files = (tmp_path / "old.yaml", tmp_path / "new.yaml")
        done = crdlint("plan", *files, "--write", where)
        assert done.returncode == 2
        assert "is there already" in done.stderr
    assert {path.name: path.read_text() for path in where.iterdir()} == before


def test_what_breaks_clients_alone_is_said(tmp_path: Path) -> None:
    old = crd(version("v1", storage=True, a={"type": "integer"}))
    found = plan(tmp_path, old, crd(version("v1", storage=True)))
    assert found["verdict"].endswith("no stored object is hurt; 1 change breaks clients")
    (finding,) = found["steps"][0]["clients"]
    assert finding["field"] == ".spec.a"
    assert finding["witness"] is None or "spec" in finding["witness"]
    text = crdlint("plan", tmp_path / "old.yaml", tmp_path / "new.yaml").stdout
    assert "    clients: .spec.a: integer -> string" in text


def test_the_configuration_names_the_server(tmp_path: Path) -> None:
    (tmp_path / "crdlint.toml").write_text('kubernetes-version = "1.28..1.31"\n')
    file = tmp_path / "crd.json"
    file.write_text(json.dumps(crd(version("v1", storage=True))))
    for more, server in (((), "1.31"), (("--kubernetes-version", "1.33"), "1.33")):
        done = crdlint("plan", file, file, "--format", "json", *more)
        assert json.loads(done.stdout)["kubernetes"] == server
