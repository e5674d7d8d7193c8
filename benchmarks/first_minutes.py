"""Time a new user's first minutes: hook and action, set up in five lines each, both red.

Starts from an empty virtual environment and a git repository of its own, with the lines that the
README gives. Needs the network, or packages where pip finds them. The steps of the action are those
of action.yml; only what other actions do is left out (the Python is this one).

    python benchmarks/first_minutes.py
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text("utf-8")
BREAK = ("minimum: 0", "minimum: 1")
WANTED = "minimum-tightened"


class Step:
    """Times what is done inside it."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> None:
        self.start = time.monotonic()

    def __exit__(self, *_: object) -> None:
        print(f"{time.monotonic() - self.start:7.1f} s  {self.name}", flush=True)


def run(where: Path, *command: str, env: dict[str, str] | None = None, expect: int = 0) -> str:
    """Run a command and return what it prints; end where its exit status is another one."""
    done = subprocess.run(
        command, cwd=where, env=env or dict(os.environ), capture_output=True, text=True, check=False
    )
    if done.returncode != expect:
        sys.exit(f"{' '.join(command)}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def block(word: str) -> str:
    """Return the YAML of the README that has a word in it."""
    found: list[str] = re.findall(r"```yaml\n(.*?)```", README, re.DOTALL)
    return next(text for text in found if word in text)


def released(folder: Path) -> Path:
    """Return a repository as a user would clone it at the tag that the README names."""
    top = folder / "crdlint"
    kept = ("crdlint", "rules", "pyproject.toml", "README.md", "LICENSE", "action.yml")
    for name in (*kept, ".pre-commit-hooks.yaml"):
        source = ROOT / name
        copy = shutil.copytree if source.is_dir() else shutil.copy
        top.mkdir(exist_ok=True)
        copy(source, top / name)
    run(top, "git", "init", "-q")
    run(top, "git", "add", ".")
    commit(top)
    run(top, "git", "tag", re.findall(r"rev: (\S+)", block("repos:"))[0])
    return top


def commit(where: Path) -> str:
    who = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
    run(where, "git", *who, "commit", "-q", "--no-verify", "-m", "x")
    return run(where, "git", "rev-parse", "HEAD").strip()


def project(folder: Path) -> tuple[Path, str]:
    """Return a user's repository with a CRD and a breaking change that is staged, and its base."""
    top = folder / "project"
    (top / "config/crd").mkdir(parents=True)
    crd = top / "config/crd/queue.yaml"
    shutil.copy(ROOT / "fixtures/queue.yaml", crd)
    run(top, "git", "init", "-q", "-b", "main")
    run(top, "git", "add", ".")
    base = commit(top)
    crd.write_text(crd.read_text("utf-8").replace(*BREAK), "utf-8")
    run(top, "git", "add", ".")
    return top, base


def hook(folder: Path, tool: Path, top: Path) -> None:
    """Set up pre-commit as the README says, and commit the change."""
    with Step("an empty virtual environment, and pre-commit in it"):
        venv.create(folder / "venv", with_pip=True)
        programs = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
        run(folder, str(programs / "python"), "-m", "pip", "install", "-q", "pre-commit")
    lines = block("repos:").replace("https://github.com/crdlint/crdlint", str(tool))
    (top / ".pre-commit-config.yaml").write_text(lines, "utf-8")
    print(f"           .pre-commit-config.yaml: {len(lines.splitlines())} lines")
    env = {**os.environ, "PRE_COMMIT_HOME": str(folder / "hooks")}
    call = (str(programs / "pre-commit"), "run")
    with Step("the first commit: the hooks are installed, and say no"):
        said = run(top, *call, env=env, expect=1)
    assert f"error[{WANTED}]" in said, said
    with Step("the next commit"):
        said = run(top, *call, env=env, expect=1)
    assert said.count("crdlint.") == said.count("Passed") == 1, said
    (top / ".pre-commit-config.yaml").unlink()


def action(folder: Path, tool: Path, top: Path, base: str) -> None:
    """Run the steps of the action on the change as a pull request."""
    lines = block("runs-on:")
    print(f"           .github/workflows/crds.yml: {len(lines.splitlines())} lines")
    given = yaml.safe_load(lines)["jobs"]["crds"]["steps"][-1]["with"]
    declared = yaml.safe_load((tool / "action.yml").read_text("utf-8"))
    inputs = {name: str(each["default"]) for name, each in declared["inputs"].items()} | given
    head = commit(top)
    event = {"pull_request": {"head": {"sha": head}, "base": {"sha": base}}}
    (folder / "event.json").write_text(json.dumps(event))
    env = {
        **os.environ,
        "GITHUB_ACTION_PATH": str(tool),
        "GITHUB_EVENT_NAME": "pull_request",
        "GITHUB_EVENT_PATH": str(folder / "event.json"),
        "GITHUB_OUTPUT": str(folder / "output"),
        "GITHUB_STEP_SUMMARY": str(folder / "summary"),
        "RUNNER_TEMP": str(folder),
    }
    outputs = {"steps.python.outputs.python-path": sys.executable}
    for step in declared["runs"]["steps"]:
        if "run" not in step or step.get("if", "").endswith("!= '0'"):
            continue
        values = {f"inputs.{name}": text for name, text in inputs.items()} | outputs
        own = {key: values[text[3:-2].strip()] for key, text in step["env"].items()}
        with Step(f"the action's step {step['id']!r}"):
            said = run(top, "bash", "-e", "-c", step["run"], env=env | own)
        written = (folder / "output").read_text().splitlines()
        outputs |= {
            f"steps.{step['id']}.outputs.{key}": text
            for key, _, text in (line.partition("=") for line in written)
        }
    assert outputs["steps.run.outputs.exit-code"] == "1", said
    assert outputs["steps.run.outputs.breaking"] == "true"
    annotation = re.search(r"^::error file=config/crd/queue.yaml,.*$", said, re.MULTILINE)
    assert annotation, said
    assert f"title={WANTED}" in annotation[0]


def quiet_hook(folder: Path) -> None:
    """Time the hook on 200 YAML files without a CRD against the imports it cannot do without."""
    python = next(folder.glob("hooks/repo*/py_env*/bin/python"))
    for i in range(200):
        text = f"apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: d{i}\n"
        (folder / f"{i}.yaml").write_text(text)
    files = [f"{i}.yaml" for i in range(200)]
    calls = {
        "import click, yaml": [str(python), "-c", "import click, yaml"],
        "crdlint lint, 200 files": [str(python.with_name("crdlint")), "lint", *files],
    }
    best = dict.fromkeys(calls, 1e9)
    for _ in range(10):
        for name, call in calls.items():
            start = time.perf_counter()
            subprocess.run(call, cwd=folder, check=True, capture_output=True)
            best[name] = min(best[name], time.perf_counter() - start)
    bare, full = best.values()
    print(
        f"{full * 1000:7.0f} ms 200 YAML files without a CRD: {full / bare:.2f} times the imports"
    )


def main() -> None:
    """Run all of it in a folder that is thrown away."""
    with tempfile.TemporaryDirectory(prefix="crdlint-first-") as name:
        folder = Path(name).resolve()
        with Step("everything"):
            tool = released(folder)
            top, base = project(folder)
            hook(folder, tool, top)
            action(folder, tool, top, base)
        quiet_hook(folder)
    print("hook and action are red, for the right reason")


if __name__ == "__main__":
    main()
