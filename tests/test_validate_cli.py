"""The validate command: inputs, outputs and exit statuses."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from test_cli import GOOD, crdlint

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
