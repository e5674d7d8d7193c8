"""Every command of the README does what it says."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BLOCKS = re.findall(r"```console\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
COMMANDS = [
    line.partition("  #")[0].strip() for block in BLOCKS for line in block.splitlines() if line
]
SETUP, TESTS, *USES = COMMANDS


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    path = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
    env = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        command, shell=True, cwd=folder, env=env, capture_output=True, text=True, check=False
    )


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A user's folder: CRDs in config/crd, and stand-ins for crdlint, helm and kustomize."""
    (tmp_path / "config" / "crd").mkdir(parents=True)
    crd = ROOT / "fixtures" / "queue.yaml"
    shutil.copy(crd, tmp_path / "config" / "crd")
    shutil.copytree(ROOT / "fixtures", tmp_path / "fixtures")
    (tmp_path / "bin").mkdir()
    scripts = {
        "crdlint": f'exec {sys.executable} -m crdlint "$@"',
        "helm": f"exec cat {crd}",
        "kustomize": f"exec cat {crd}",
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
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.strip()
    if "sarif" in command:
        assert (project / "crdlint.sarif").stat().st_size > 100
