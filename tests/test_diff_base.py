"""`crdlint diff --base`: what a change of a repository does, and nothing that it does not do."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from crdlint.cli import cli

if TYPE_CHECKING:
    from click.testing import Result

QUEUE = (Path(__file__).parent.parent / "fixtures" / "queue.yaml").read_text("utf-8")
OTHER = QUEUE.replace("queues", "rows").replace("Queue", "Row").replace("queue", "row")


def git(*arguments: str) -> None:
    who = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"]
    env = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    subprocess.run(["git", *who, *arguments], env=env, check=True, capture_output=True)


@pytest.fixture
def top(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PRE_COMMIT_FROM_REF", raising=False)
    for name in ("a.yaml", "copy.yaml"):
        (tmp_path / name).write_text(QUEUE)
    git("init", "-q", "-b", "main")
    git("add", ".")
    git("commit", "-q", "-m", "one")
    return tmp_path


def diff(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["diff", "--base", "HEAD", *arguments], standalone_mode=False)


def test_what_did_not_change_is_not_read(top: Path) -> None:
    done = diff()
    assert done.return_value == 0
    assert "no YAML or JSON file differs from HEAD" in done.output
    (top / "values.yaml").write_text("a: 1\n")
    assert "no CustomResourceDefinition in 1 file" in diff().output


def test_a_copy_that_stays_keeps_the_crd(top: Path) -> None:
    (top / "a.yaml").unlink()
    done = diff()
    assert done.return_value == 0, done.output
    assert "crd-removed" not in done.output
    (top / "copy.yaml").unlink()
    done = diff()
    assert done.return_value == 1
    assert "error[crd-removed]" in done.output


def test_one_crd_may_go_and_another_one_come(top: Path) -> None:
    (top / "copy.yaml").unlink()
    (top / "a.yaml").write_text(OTHER)
    done = diff()
    assert done.return_value == 1, done.output
    assert "error[crd-removed]" in done.output


def test_what_was_broken_may_be_mended(top: Path) -> None:
    for name in ("a.yaml", "copy.yaml"):
        (top / name).write_text(QUEUE.replace("spec:", "spec: [", 1))
    git("commit", "-q", "-a", "-m", "two")
    for name in ("a.yaml", "copy.yaml"):
        (top / name).write_text(QUEUE)
    done = diff()
    assert done.return_value == 0, done.output
    assert "note: HEAD:a.yaml:" in done.output
    assert "the old CRD cannot be read" in done.output


def test_a_range_of_pre_commit(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (top / "a.yaml").write_text(QUEUE.replace("minimum: 0", "minimum: 1"))
    git("commit", "-q", "-a", "-m", "two")
    assert diff().return_value == 0
    monkeypatch.setenv("PRE_COMMIT_FROM_REF", "HEAD~1")
    assert diff().return_value == 1


def test_a_file_whose_name_does_not_say_yaml(top: Path) -> None:
    (top / "crd.txt").write_text(QUEUE)
    git("add", ".")
    git("commit", "-q", "-m", "two")
    (top / "crd.txt").write_text(QUEUE.replace("minimum: 0", "minimum: 1"))
    assert diff("crd.txt").return_value == 1
