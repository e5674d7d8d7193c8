"""Every command of the README does what it says."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from crdlint import __version__
from crdlint.report import FORMATS

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf-8")
RECIPES = (ROOT / "docs" / "integrations.md").read_text("utf-8")


SAMPLE = """\
apiVersion: messaging.example.com/v1
kind: Queue
metadata: {name: orders}
"""


def commands(text: str) -> list[str]:
    blocks = re.findall(r"```console\n(.*?)```", text, re.DOTALL)
    return [line.partition("  #")[0].strip() for block in blocks for line in block.splitlines()]


def documents(text: str) -> list[str]:
    return re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)


SETUP, TESTS, *USES = filter(None, commands(README))
USES = list(dict.fromkeys([*USES, *filter(None, commands(RECIPES))]))
ACTION = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
HOOKS = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    path = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
    env = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        command, shell=True, cwd=folder, env=env, capture_output=True, text=True, check=False
    )


def git(where: Path, *arguments: str) -> None:
    who = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"]
    env = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    subprocess.run(["git", *who, *arguments], cwd=where, env=env, check=True, capture_output=True)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A user's repository with CRDs, and stand-ins for crdlint and for what is not ours."""
    crd = ROOT / "fixtures" / "queue.yaml"
    for folder in ("config/crd", "bundle/manifests"):
        (tmp_path / folder).mkdir(parents=True)
        shutil.copy(crd, tmp_path / folder)
    shutil.copytree(ROOT / "fixtures", tmp_path / "fixtures")
    (tmp_path / "config/samples").mkdir()
    (tmp_path / "config/samples/orders.yaml").write_text(SAMPLE)
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "one")
    git(tmp_path, "tag", f"v{__version__}")
    with (tmp_path / "bundle/manifests/queue.yaml").open("a") as more:
        more.write("# another line\n")
    (tmp_path / "bin").mkdir()
    others = dict.fromkeys(("helm", "kustomize", "argocd", "kubectl"), f"exec cat {crd}")
    scripts = {
        "crdlint": f'exec {sys.executable} -m crdlint "$@"',
        "reviewdog": "exec cat",
        **others,
    }
    for name, body in scripts.items():
        file = tmp_path / "bin" / name
        file.write_text(f"#!/bin/sh\n{body}\n")
        file.chmod(0o755)
    return tmp_path


def test_the_first_two_commands_set_up_everything() -> None:
    assert SETUP.startswith("python3 -m venv .venv && .venv/bin/pip install --quiet . && ")
    assert TESTS == "bash .ci/run"
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o111


def test_the_main_job_finds_the_three_mistakes(project: Path) -> None:
    done = run(SETUP.rpartition(".venv/bin/")[2], project)
    assert done.returncode == 1, done.stderr
    rules = set(re.findall(r"^error\[([a-z-]+)\]", done.stdout, re.MULTILINE))
    assert rules == {"pattern-invalid", "yaml-boolean-value", "list-map-key-optional"}
    shown = re.search(r"```text\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    assert shown
    assert shown[1].strip() in done.stdout


@pytest.mark.parametrize("command", USES)
def test_use(command: str, project: Path) -> None:
    done = run(command, project)
    shows_a_diff = " fix " in command
    assert done.returncode == shows_a_diff, done.stdout + done.stderr
    written = re.findall(r"--format [a-z]+=(\S+)", command)
    assert done.stdout.strip() or written
    for name in written:
        assert (project / name).stat().st_size > 30


def test_commands_are_shown_for_what_people_have() -> None:
    text = "\n".join(USES)
    for word in ("helm template", "kustomize build", "argocd app", "bundle/manifests", "cluster:"):
        assert word in text


def the(word: str, text: str) -> str:
    (found,) = (block for block in documents(text) if word in block)
    return found


@pytest.mark.parametrize("text", [README, RECIPES], ids=["README", "integrations"])
def test_pre_commit_configuration(text: str) -> None:
    block = the("repos:", text)
    (repo,) = yaml.safe_load(block)["repos"]
    assert repo["rev"] == f"v{__version__}"
    assert [hook["id"] for hook in repo["hooks"]] == [hook["id"] for hook in HOOKS]
    assert text is RECIPES or len(block.splitlines()) <= 5


@pytest.mark.parametrize("text", [README, RECIPES], ids=["README", "integrations"])
def test_workflow(text: str, tmp_path: Path) -> None:
    block = the("runs-on:", text)
    assert text is RECIPES or len(block.splitlines()) <= 5
    (job,) = yaml.safe_load(block)["jobs"].values()
    step = job["steps"][-1]
    assert step["uses"] == f"crdlint/crdlint@v{__version__}"
    assert set(step["with"]) <= set(ACTION["inputs"])
    file = tmp_path / ".github" / "workflows" / "crds.yml"
    file.parent.mkdir(parents=True)
    file.write_text(block, "utf-8")
    for command in (
        ["check-jsonschema", "--builtin-schema", "vendor.github-workflows", str(file)],
        ["actionlint", str(file)],
        ["action-validator", str(file)],
    ):
        if shutil.which(command[0]):
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("word", "schema"), [("CI_PIPELINE", "gitlab-ci"), ("UsePython", "azure-pipelines")]
)
def test_other_systems(word: str, schema: str, tmp_path: Path) -> None:
    block = the(word, RECIPES)
    assert f"pip install git+https://github.com/crdlint/crdlint@v{__version__}\n" in block
    scripts = re.findall(r"(crdlint (?:lint|diff) .*)", block)
    assert scripts
    for script in scripts:
        options = re.findall(r"--format ([a-z]+)", script)
        assert all(form in FORMATS for form in options)
    if shutil.which("check-jsonschema"):
        file = tmp_path / "file.yml"
        file.write_text(block, "utf-8")
        command = ["check-jsonschema", "--builtin-schema", f"vendor.{schema}", str(file)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def test_every_input_and_format_is_told_of() -> None:
    for name in (*ACTION["inputs"], *ACTION["outputs"]):
        assert f"`{name}`" in RECIPES
    for form in FORMATS:
        assert form in (README + RECIPES).lower()
