"""The hooks for pre-commit: as they are declared, and run by pre-commit itself."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from crdlint.cli import COMMANDS

ROOT = Path(__file__).parent.parent
HOOKS = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
QUEUE = (ROOT / "fixtures" / "queue.yaml").read_text("utf-8")
ENVIRONMENT = {
    **{key: value for key, value in os.environ.items() if not key.startswith("GIT_")},
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.com",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.com",
}


def git(where: Path, *arguments: str) -> str:
    command = ["git", *arguments]
    done = subprocess.run(
        command, cwd=where, env=ENVIRONMENT, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def test_hooks_are_commands_of_crdlint() -> None:
    assert [hook["id"] for hook in HOOKS] == ["crdlint", "crdlint-diff"]
    for hook in HOOKS:
        program, command, *_ = hook["entry"].split()
        assert program == "crdlint"
        assert command in COMMANDS
        assert hook["language"] == "python"
        assert hook["description"].endswith(".")


def test_the_diff_hook_sees_files_that_are_removed() -> None:
    (hook,) = (hook for hook in HOOKS if hook["id"] == "crdlint-diff")
    assert hook["always_run"] is True
    assert hook["pass_filenames"] is False


@pytest.fixture(scope="module")
def hooks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with what is to be released of this one, as pre-commit would clone it."""
    if not shutil.which("pre-commit"):
        pytest.skip("pre-commit is not installed")
    top = tmp_path_factory.mktemp("hooks")
    for name in ("crdlint", "rules"):
        shutil.copytree(ROOT / name, top / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE", ".pre-commit-hooks.yaml"):
        shutil.copy(ROOT / name, top / name)
    git(top, "init", "-q", "-b", "main")
    git(top, "add", ".")
    git(top, "commit", "-q", "-m", "one")
    git(top, "tag", "v0")
    return top


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where pre-commit keeps its environments: made once for all tests."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture
def project(tmp_path: Path, hooks: Path) -> Path:
    """A user's repository with one CRD, and the five lines that the README gives."""
    top = tmp_path / "project"
    (top / "config/crd").mkdir(parents=True)
    (top / "config/crd/queue.yaml").write_text(QUEUE, "utf-8")
    (top / "values.yaml").write_text("replicas: 1\n")
    lines = ["repos:", f"- repo: {hooks}", "  rev: v0", "  hooks:"]
    lines += ["  - {id: crdlint, verbose: true}", "  - {id: crdlint-diff, verbose: true}"]
    (top / ".pre-commit-config.yaml").write_text("\n".join(lines) + "\n")
    git(top, "init", "-q", "-b", "main")
    git(top, "add", ".")
    return top


def pre_commit(where: Path, home: Path, *arguments: str) -> tuple[int, str]:
    done = subprocess.run(
        ["pre-commit", *arguments],
        cwd=where,
        env={
            **ENVIRONMENT,
            "PRE_COMMIT_HOME": str(home),
            "PRE_COMMIT_COLOR": "never",
            "PIP_RETRIES": "1",  # where there is no network, say so soon
        },
        check=False,
        capture_output=True,
        text=True,
    )
    text = done.stdout + done.stderr
    if "An unexpected error has occurred" in text and "install" in text:
        pytest.skip(f"the hooks cannot be installed here: {text[-300:]}")
    return done.returncode, text


def passed(text: str, name: str) -> bool:
    return any(
        line.startswith(f"{name}.") and line.endswith("Passed") for line in text.splitlines()
    )


def test_try_repo(project: Path, hooks: Path, home: Path) -> None:
    status, text = pre_commit(project, home, "try-repo", str(hooks), "crdlint", "--all-files")
    assert status == 0, text
    assert passed(text, "crdlint")


def test_every_day(project: Path, home: Path) -> None:
    file = project / "config/crd/queue.yaml"
    status, text = pre_commit(project, home, "run")
    assert status == 0, f"before the first commit: {text}"
    git(project, "commit", "-q", "-m", "one")

    file.write_text(QUEUE.replace("minimum: 0", "minimum: 1"), "utf-8")
    git(project, "add", ".")
    status, text = pre_commit(project, home, "run")
    assert status == 1
    assert passed(text, "crdlint"), text
    assert "error[minimum-" in text, text

    file.write_text(QUEUE.replace("type: integer", "type: int", 1), "utf-8")
    git(project, "add", ".")
    status, text = pre_commit(project, home, "run", "crdlint")
    assert status == 1
    assert "config/crd/queue.yaml:" in text

    git(project, "rm", "-q", "-f", "config/crd/queue.yaml")
    status, text = pre_commit(project, home, "run")
    assert status == 1
    assert "error[crd-removed]" in text, text

    git(project, "reset", "-q", "--hard")
    (project / "values.yaml").write_text("replicas: 2\n")
    git(project, "commit", "-q", "-a", "-m", "two", "--no-verify")
    (project / "values.yaml").write_text("replicas: 3\n")
    git(project, "add", ".")
    status, text = pre_commit(project, home, "run")
    assert status == 0, text
    assert passed(text, "crdlint")
    assert passed(text, "crdlint diff")
