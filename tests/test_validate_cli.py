"""The validate command: inputs, outputs and exit statuses."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from command import GOOD
from test_cli import crdlint

if TYPE_CHECKING:
    from pathlib import Path

CRD = GOOD.replace(
    "spec: {type: object}",
    "spec: {type: object, properties: {size: {type: integer, maximum: 3}, copies: {default: 1, type: integer}}}",
)
OBJECT = "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: a}\nspec: {size: 1}\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "crds").mkdir()
    (tmp_path / "crds" / "crd.yaml").write_text(CRD)
    (tmp_path / "objects").mkdir()
    (tmp_path / "objects" / "a.yaml").write_text(OBJECT)
    (tmp_path / "objects" / "b.json").write_text(
        json.dumps(
            {
                "apiVersion": "example.com/v1",
                "kind": "Widget",
                "metadata": {"name": "b"},
                "spec": {"size": 9, "x": 1},
            }
        )
    )
    return tmp_path


def test_exit_statuses(folder: Path) -> None:
    assert crdlint("validate", "--crds", "crds", "objects/a.yaml", cwd=folder).returncode == 0
    done = crdlint("validate", "--crds", "crds", "objects", cwd=folder)
    assert done.returncode == 1
    assert "error[object-bounds]: spec.size: 9 is too large, at most 3 allowed" in done.stdout
    assert "warning[object-unknown-field]: spec.x" in done.stdout
    assert "1 error, 1 warning: 2 objects in 2 files" in done.stdout
    never = crdlint("validate", "--crds", "crds", "--fail-on", "never", "objects", cwd=folder)
    assert never.returncode == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["objects/a.yaml"], "Missing option '--crds'"),
        (["--crds", "crds"], "Missing argument"),
        (["--crds", "objects", "objects"], "--crds names no CustomResourceDefinition"),
        (["--crds", "none", "objects"], "none"),
        (["--crds", "crds", "none.yaml"], "none.yaml"),
        (["--crds", "crds", "--old", "none.yaml", "objects"], "none.yaml"),
        (
            ["--crds", "crds", "--show", "stored", "--format", "json", "objects"],
            "--show stored has stdout; name a file for the report, as FMT=FILE",
        ),
        (["--crds", "crds", "--kubernetes-version", "1.2", "objects"], "too old"),
    ],
)
def test_wrong_usage(folder: Path, arguments: list[str], said: str) -> None:
    done = crdlint("validate", *arguments, cwd=folder)
    assert done.returncode == 2
    assert done.stdout == ""
    assert said in done.stderr


def test_json_has_every_object(folder: Path) -> None:
    done = crdlint("validate", "--crds", "crds", "--format", "json", "objects", cwd=folder)
    report = json.loads(done.stdout)
    assert [(o["file"], o["accepted"], o["pruned"]) for o in report["objects"]] == [
        ("objects/a.yaml", True, []),
        ("objects/b.json", False, ["spec.x"]),
    ]
    assert report["summary"] == {
        "files": 2,
        "documents": 2,
        "crds": 1,
        "objects": 2,
        "error": 1,
        "warning": 1,
        "info": 0,
        "suppressed": 0,
    }


def test_stdin_and_unknown_kinds(folder: Path) -> None:
    text = f"{OBJECT}---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c}}\n"
    done = crdlint("validate", "--crds", "crds", "-", stdin=text, cwd=folder)
    assert done.returncode == 0
    assert "note: 1 object is of kinds that no CRD given has: ConfigMap" in done.stderr
    strict = crdlint("validate", "--crds", "crds", "--strict-kinds", "-", stdin=text, cwd=folder)
    assert strict.returncode == 1
    assert "error[object-kind-unknown]" in strict.stdout


def test_crds_from_stdin_and_of_several_paths(folder: Path) -> None:
    done = crdlint("validate", "--crds", "-", "objects/a.yaml", stdin=CRD, cwd=folder)
    assert done.returncode == 0
    twice = crdlint("validate", "--crds", "crds", "--crds", "crds", "objects/a.yaml", cwd=folder)
    assert "the latter counts" in twice.stderr


def test_show_stored(folder: Path) -> None:
    done = crdlint("validate", "--crds", "crds", "--show", "stored", "objects", cwd=folder)
    assert done.returncode == 1
    assert done.stdout == (
        "apiVersion: example.com/v1\nkind: Widget\nmetadata:\n  name: a\n  namespace: default\n"
        "spec:\n  size: 1\n  copies: 1\n"
    )
    assert "error[object-bounds]" in done.stderr


def test_show_diff(folder: Path) -> None:
    done = crdlint(
        "validate", "--crds", "crds", "--show", "diff", "--format", "json=r.json", "objects/a.yaml",
        cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0
    assert done.stderr == ""
    changed = [line for line in done.stdout.splitlines() if line[:1] in "+-"]
    assert changed == [
        "--- objects/a.yaml\tas written",
        "+++ objects/a.yaml (a)\tas stored",
        "+  namespace: default",
        "+  copies: 1",
    ]
    assert json.loads((folder / "r.json").read_text())["findings"] == []


def test_old_objects(folder: Path) -> None:
    new = OBJECT.replace("{size: 1}", "{size: 9, copies: 2}")
    (folder / "new.yaml").write_text(new)
    (folder / "old.yaml").write_text(OBJECT.replace("size: 1", "size: 9"))
    arguments = ["validate", "--crds", "crds", "--old", "old.yaml", "new.yaml"]
    assert crdlint(*arguments, cwd=folder).returncode == 0
    before = crdlint(*arguments, "--kubernetes-version", "1.29", cwd=folder)
    assert before.returncode == 1
    assert "spec.size" in before.stdout


BAD_OBJECT = OBJECT.replace("{size: 1}", "{size: 9, x: 1}")


def findings(folder: Path, *arguments: str) -> tuple[int, list[tuple[str, str]]]:
    """Return the exit status, and rule and severity of the findings of b.yaml."""
    done = crdlint(
        "validate", "--crds", "crds", "--format", "json", *arguments, "b.yaml", cwd=folder
    )
    found = json.loads(done.stdout)["findings"]
    return done.returncode, [(finding["rule"], finding["severity"]) for finding in found]


BOUNDS, UNKNOWN = ("object-bounds", "error"), ("object-unknown-field", "warning")


@pytest.mark.parametrize(
    ("arguments", "status", "found"),
    [
        ([], 1, [BOUNDS, UNKNOWN]),
        (["--ignore", "object-bounds"], 0, [UNKNOWN]),
        (["--select", "object-bounds"], 1, [BOUNDS]),
        (["--severity", "object-bounds=info"], 0, [("object-bounds", "info"), UNKNOWN]),
        (["--severity", "object-unknown-field=off"], 1, [BOUNDS]),
        (["--ignore", "object-bounds", "--fail-on", "warning"], 1, [UNKNOWN]),
        (["--profile", "strict", "--extend-select", "object-bounds"], 1, [BOUNDS, UNKNOWN]),
        (["--exit-zero"], 0, [BOUNDS, UNKNOWN]),
    ],
)
def test_rules_can_be_chosen(
    folder: Path, arguments: list[str], status: int, found: list[tuple[str, str]]
) -> None:
    (folder / "b.yaml").write_text(BAD_OBJECT)
    assert findings(folder, *arguments) == (status, found)


def test_what_an_object_becomes_does_not_depend_on_rules(folder: Path) -> None:
    (folder / "b.yaml").write_text(BAD_OBJECT)
    arguments = ["validate", "--crds", "crds", "--ignore", "object-bounds", "b.yaml"]
    done = crdlint(*arguments, "--format", "json", cwd=folder)
    assert not json.loads(done.stdout)["objects"][0]["accepted"]
    shown = crdlint(*arguments, "--show", "stored", "-q", "--statistics", cwd=folder)
    assert shown.stdout == ""
    assert shown.stderr.split()[:3] == ["1", "warning", "object-unknown-field"]
    assert "object-bounds" not in shown.stderr


def test_the_configuration_counts(folder: Path) -> None:
    (folder / "b.yaml").write_text(BAD_OBJECT)
    (folder / "crdlint.toml").write_text(
        'kubernetes-version = "1.30"\n[rules]\nobject-unknown-field = "error"\n'
        '[[ignore]]\nrule = "object-bounds"\ncrd = "widgets.example.com"\nfield = "spec.size"\n'
        'reason = "known"\n'
    )
    assert findings(folder) == (1, [("object-unknown-field", "error")])
    assert findings(folder, "--no-config") == (1, [BOUNDS, UNKNOWN])
    (folder / "other.toml").write_text('[rules]\nobject-bounds = "off"\n')
    assert findings(folder, "--config", "other.toml") == (0, [UNKNOWN])
    verbose = crdlint("validate", "--crds", "crds", "-v", "b.yaml", cwd=folder)
    assert "known" in verbose.stdout
    assert "configuration: crdlint.toml" in verbose.stderr
    (folder / "crdlint.toml").write_text("[rules]\nobject-bound = 1\n")
    broken = crdlint("validate", "--crds", "crds", "b.yaml", cwd=folder)
    assert broken.returncode == 2
    assert "crdlint.toml:2" in broken.stderr


def test_comments_ignore_findings_and_those_without_use_are_reported(folder: Path) -> None:
    text = (
        "# crdlint: ignore-file[object-unknown-field] a field to come\n"
        f"{BAD_OBJECT}---\n{OBJECT.rstrip()}  # crdlint: ignore[object-bounds, type-required] x\n"
    )
    (folder / "b.yaml").write_text(text.replace("size: 9", "size: 9, copies: 2"))
    assert findings(folder) == (1, [BOUNDS, ("unused-ignore", "warning")])
    assert findings(folder, "--no-ignores") == (1, [BOUNDS, UNKNOWN])
    sarif = crdlint(
        "validate", "--crds", "crds", "--format", "sarif", "--sarif-include-suppressed", "b.yaml",
        cwd=folder,
    )  # fmt: skip
    results = json.loads(sarif.stdout)["runs"][0]["results"]
    assert [bool(result.get("suppressions")) for result in results] == [False, True, False]
    # What lint does not look for, it does not call unused.
    linted = crdlint("lint", "--format", "json", "b.yaml", cwd=folder)
    (finding,) = json.loads(linted.stdout)["findings"]
    assert finding["message"] == "nothing of type-required is found on this line"


def test_a_crd_that_does_not_parse_ends_the_run(folder: Path) -> None:
    (folder / "crds" / "broken.yaml").write_text(f"{CRD}  x: [\n")
    done = crdlint("validate", "--crds", "crds", "objects/a.yaml", cwd=folder)
    assert done.returncode == 2
    assert "crds/broken.yaml:" in done.stderr
    assert "this CRD does not parse" in done.stderr
    (folder / "crds" / "broken.yaml").write_text(f"{{{{ if .x }}}}\n{CRD}{{{{ end }}}}\n")
    done = crdlint("validate", "--crds", "crds", "objects/a.yaml", cwd=folder)
    assert done.returncode == 0
    assert "this Helm template is no YAML before it is rendered" in done.stderr


@pytest.mark.parametrize("arguments", [["--crds", "-", "-"], ["--crds", "crds", "--old", "-", "-"]])
def test_stdin_is_one_thing(folder: Path, arguments: list[str]) -> None:
    done = crdlint("validate", *arguments, stdin=CRD, cwd=folder)
    assert done.returncode == 2
    assert "only one of --crds, --old and OBJECT can be stdin" in done.stderr
