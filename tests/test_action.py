"""The GitHub Action: its declaration, and its main step with files that stand for the runner's."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from crdlint import action, eventbase

ROOT = Path(__file__).parent.parent
ACTION = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
QUEUE = (ROOT / "fixtures" / "queue.yaml").read_text("utf-8")
BROKEN = QUEUE.replace("minimum: 0", "minimum: 1")
INPUTS = {
    "PATHS": ".", "MODE": "both", "UPLOAD_SARIF": "false", "CATEGORY": "crdlint",
    "SUMMARY": "true", "ANNOTATIONS": "auto",
}  # fmt: skip
ENVIRONMENT = {
    **{k: v for k, v in os.environ.items() if not k.startswith(("GIT_", "GITHUB_", "CRDLINT_"))},
    "PYTHONPATH": str(ROOT),
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    **{
        f"GIT_{who}_{what}": "a@example.com"
        for who in ("AUTHOR", "COMMITTER")
        for what in ("NAME", "EMAIL")
    },
}


def git(where: Path, *arguments: str) -> str:
    command = ["git", *arguments]
    done = subprocess.run(
        command, cwd=where, env=ENVIRONMENT, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def commit(where: Path, text: str) -> str:
    (where / "config/crd").mkdir(parents=True, exist_ok=True)
    (where / "config/crd/queue.yaml").write_text(text, "utf-8")
    git(where, "add", ".")
    git(where, "commit", "-q", "--allow-empty", "-m", "x")
    return git(where, "rev-parse", "HEAD")


class Server:
    """A repository as GitHub has it: main, a branch with a breaking change, and their merge."""

    def __init__(self, top: Path) -> None:
        self.event = {"repository": {"default_branch": "main"}}
        self.top = top
        top.mkdir()
        git(top, "init", "-q", "-b", "main")
        git(top, "config", "uploadpack.allowAnySHA1InWant", "true")
        self.fork = commit(top, QUEUE)
        git(top, "tag", "v1")
        git(top, "checkout", "-q", "-b", "work")
        self.work = commit(top, BROKEN)
        git(top, "checkout", "-q", "main")
        (top / "other.yaml").write_text(
            QUEUE.replace("queues.", "rows.").replace("plural: queues", "plural: rows")
        )
        self.main = commit(top, QUEUE)
        git(top, "checkout", "-q", "--detach", "main")
        git(top, "merge", "-q", "--no-edit", "work")
        self.merge = git(top, "rev-parse", "HEAD")
        git(top, "checkout", "-q", "main")

    def pull_request(self, home: str = "me/it") -> dict[str, Any]:
        head = {"sha": self.work, "repo": {"full_name": home} if home else None}
        return {"pull_request": {"head": head, "base": {"sha": self.main}}, **self.event}


@pytest.fixture
def server(tmp_path: Path) -> Server:
    return Server(tmp_path / "server")


class Runner:
    """A checkout, and the files that stand for those of the runner."""

    def __init__(self, folder: Path, server: Server, sha: str, depth: int = 1) -> None:
        self.folder = folder
        self.top = folder / "checkout"
        self.top.mkdir()
        git(self.top, "init", "-q", "-b", "main")
        git(self.top, "remote", "add", "origin", f"file://{server.top}")
        how = [f"--depth={depth}"] if depth else []
        tags = "--tags" if not depth else "--no-tags"
        spec = ["+refs/heads/*:refs/remotes/origin/*"] if not depth else []
        git(self.top, "fetch", "-q", tags, *how, "origin", sha, *spec)
        git(self.top, "checkout", "-q", "--detach", sha)
        self.summary, self.output = folder / "summary.md", folder / "output"

    def env(self, name: str, event: dict[str, Any], **inputs: str) -> dict[str, str]:
        (self.folder / "event.json").write_text(json.dumps(event))
        return {
            **ENVIRONMENT,
            "GITHUB_WORKSPACE": str(self.top),
            "GITHUB_EVENT_NAME": name,
            "GITHUB_EVENT_PATH": str(self.folder / "event.json"),
            "GITHUB_REPOSITORY": "me/it",
            "GITHUB_OUTPUT": str(self.output),
            "GITHUB_STEP_SUMMARY": str(self.summary),
            "RUNNER_TEMP": str(self.folder),
            **{f"CRDLINT_{key}": value for key, value in (INPUTS | inputs).items()},
        }

    def run(self, name: str, event: dict[str, Any], **inputs: str) -> tuple[dict[str, str], str]:
        """Run the main step as action.yml does; return its outputs and its log."""
        done = subprocess.run(
            [sys.executable, "-m", "crdlint.action"],
            cwd=self.top,
            env=self.env(name, event, **inputs),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        lines = self.output.read_text().splitlines()
        return dict(line.split("=", 1) for line in lines), done.stdout + done.stderr

    def base(self, name: str, event: dict[str, Any], named: str = "") -> str | None:
        before = Path.cwd()
        os.chdir(self.top)
        try:
            return eventbase.find(self.env(name, event), named)
        finally:
            os.chdir(before)


def test_a_pull_request_end_to_end(tmp_path: Path, server: Server) -> None:
    runner = Runner(tmp_path, server, server.merge)
    outputs, log = runner.run("pull_request", server.pull_request())
    assert outputs["exit-code"] == "1"
    assert outputs["breaking"] == "true"
    assert int(outputs["errors"]) >= 1
    assert outputs["upload"] == "false"
    assert "::error file=config/crd/queue.yaml,line=" in log
    assert "title=minimum-tightened::" in log
    summary = runner.summary.read_text("utf-8")
    assert summary.count("### crdlint:") == 2
    assert "`minimum-tightened`" in summary
    runs = json.loads(Path(outputs["sarif-file"]).read_text("utf-8"))["runs"]
    assert [run["automationDetails"]["id"] for run in runs] == ["crdlint-lint/", "crdlint-diff/"]
    (uri,) = {
        result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        for result in runs[1]["results"]
    }
    assert uri == "config/crd/queue.yaml"  # other.yaml came to main, not by the pull request


def test_what_was_wrong_before_does_not_fail_a_pull_request(tmp_path: Path, server: Server) -> None:
    git(server.top, "checkout", "-q", "main")
    base = commit(server.top, QUEUE.replace("type: object", "type: objekt"))
    head = commit(server.top, QUEUE.replace("type: object", "type: objekt") + "# more\n")
    pull = {"head": {"sha": head, "repo": {"full_name": "me/it"}}, "base": {"sha": base}}
    runner = Runner(tmp_path, server, head)
    outputs, log = runner.run("pull_request", {"pull_request": pull}, MODE="lint")
    assert (outputs["exit-code"], outputs["errors"]) == ("0", "0"), log
    outputs, _ = runner.run("push", {"before": base}, MODE="lint")
    assert outputs["exit-code"] == "1"


def test_what_is_clean_is_clean(tmp_path: Path, server: Server) -> None:
    runner = Runner(tmp_path, server, server.main)
    before = {"before": server.fork, **server.event}
    outputs, log = runner.run("push", before, PATHS="config/crd", CATEGORY="x", SUMMARY="false")
    assert (outputs["exit-code"], outputs["breaking"], outputs["errors"]) == ("0", "false", "0")
    assert "::error" not in log
    assert not runner.summary.exists()


def test_a_removed_crd_breaks(tmp_path: Path, server: Server) -> None:
    git(server.top, "rm", "-q", "config/crd/queue.yaml")
    git(server.top, "commit", "-q", "-m", "gone")
    runner = Runner(tmp_path, server, git(server.top, "rev-parse", "HEAD"))
    outputs, log = runner.run("push", {"before": server.main}, MODE="diff")
    assert outputs["breaking"] == "true"
    assert "::error file=config/crd/queue.yaml,line=" in log
    assert "title=crd-removed::" in log


@pytest.mark.parametrize("depth", [0, 1])
def test_bases(tmp_path: Path, server: Server, depth: int) -> None:
    pull = server.pull_request()
    runner = Runner(tmp_path, server, server.merge, depth)
    assert runner.base("pull_request", pull) == server.main
    assert runner.base("merge_group", {"merge_group": {"base_sha": server.main}}) == server.main
    assert runner.base("push", {"before": server.main}) == server.main
    assert runner.base("workflow_dispatch", server.event, "v1") == server.fork
    assert runner.base("workflow_dispatch", server.event, "main") == server.main
    assert runner.base("workflow_dispatch", server.event, server.fork) == server.fork
    assert runner.base("workflow_dispatch", server.event) == server.main
    assert runner.base("workflow_dispatch", {}) is None
    assert runner.base("push", server.event, "no-such") is None
    assert runner.base("push", server.event, "--upload-pack=x") is None
    if not depth:
        assert git(runner.top, "rev-parse", "--is-shallow-repository") == "false"


@pytest.mark.parametrize("depth", [0, 1])
def test_bases_of_a_branch_by_itself(tmp_path: Path, server: Server, depth: int) -> None:
    """What came to the target since is not what the branch did."""
    runner = Runner(tmp_path, server, server.work, depth)
    assert runner.base("pull_request", server.pull_request()) == server.fork
    assert runner.base("push", {"before": "0" * 40, **server.event}) == server.fork
    assert runner.base("schedule", server.event) == server.fork


def test_nothing_to_compare_with_is_said(
    tmp_path: Path, server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    runner = Runner(tmp_path, server, server.work)
    assert runner.base("workflow_dispatch", {}) is None
    assert capsys.readouterr().out.startswith("::notice title=crdlint diff::Nothing was compared")
    outputs, _ = runner.run("workflow_dispatch", {}, MODE="diff")
    assert (outputs["exit-code"], outputs["breaking"]) == ("0", "false")
    assert json.loads(Path(outputs["sarif-file"]).read_text("utf-8"))["runs"] == []


@pytest.mark.parametrize(
    ("home", "actor", "upload", "annotated"),
    [
        ("me/it", "me", "true", False),
        ("you/it", "you", "false", True),
        ("", "you", "false", True),  # the fork is gone
        ("me/it", "dependabot[bot]", "false", True),
    ],
)
def test_a_read_only_token_gets_annotations_instead(
    tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch, home: str, actor: str,
    upload: str, annotated: bool,
) -> None:  # fmt: skip
    runner = Runner(tmp_path, server, server.merge)
    monkeypatch.setitem(ENVIRONMENT, "GITHUB_ACTOR", actor)
    outputs, log = runner.run("pull_request", server.pull_request(home), UPLOAD_SARIF="true")
    assert outputs["upload"] == upload
    assert ("::error file=" in log) is annotated


def test_annotations_as_asked(tmp_path: Path, server: Server) -> None:
    runner = Runner(tmp_path, server, server.merge)
    event = server.pull_request()
    _, log = runner.run("pull_request", event, UPLOAD_SARIF="true", ANNOTATIONS="true")
    assert "::error file=" in log
    _, log = runner.run("pull_request", event, ANNOTATIONS="false")
    assert "::error file=" not in log


def test_options(tmp_path: Path, server: Server) -> None:
    runner = Runner(tmp_path, server, server.merge)
    event, sarif = server.pull_request(), tmp_path / "my.sarif"
    outputs, _ = runner.run(
        "pull_request", event, FAIL_ON="never", KUBERNETES_VERSION="1.30", PROFILE="strict",
        ARGS="--no-fold", MODE="diff", SARIF_FILE=str(sarif),
    )  # fmt: skip
    assert outputs["exit-code"] == "0"
    assert outputs["sarif-file"] == str(sarif)
    assert "Kubernetes 1.30" in runner.summary.read_text("utf-8")
    outputs, _ = runner.run("pull_request", event, FAIL_ON="writers")
    assert outputs["exit-code"] == "1"


def test_what_cannot_be_read_is_said(tmp_path: Path, server: Server) -> None:
    runner = Runner(tmp_path, server, server.merge)
    outputs, log = runner.run("push", {}, MODE="lint", PATHS="nowhere")
    assert outputs["exit-code"] == "2"
    assert "nowhere" in log
    assert "::error title=crdlint lint::" in log


def test_a_full_summary_is_left_alone(tmp_path: Path, server: Server) -> None:
    runner = Runner(tmp_path, server, server.merge)
    runner.summary.write_bytes(b"x" * (action.SUMMARY_LIMIT - 10))
    runner.run("push", {}, MODE="lint")
    assert runner.summary.stat().st_size == action.SUMMARY_LIMIT - 10


def test_files_do_not_speak_to_the_runner(tmp_path: Path, server: Server) -> None:
    git(server.top, "checkout", "-q", "work")
    commit(server.top, QUEUE.replace("kind: Queue\n", "kind: '::set-output name=x::y'\n"))
    (server.top / "yaml.py").write_text("raise SystemExit('imported from the checkout')\n")
    head = commit(server.top, (server.top / "config/crd/queue.yaml").read_text())
    _, log = Runner(tmp_path, server, head).run("push", {}, MODE="lint")
    stop = re.search(
        r"^::stop-commands::([0-9a-f]{32})$(.*?)^::\1::$", log, re.MULTILINE | re.DOTALL
    )
    assert stop
    assert "set-output" in stop[2]
    assert "imported" not in log


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("MODE", "all", "mode is 'all'; it may be lint, diff or both"),
        ("UPLOAD_SARIF", "yes", "upload-sarif is 'yes'; it may be true or false"),
        ("ANNOTATIONS", "", "annotations is ''; it may be auto, true or false"),
        ("PATHS", "'a", "paths cannot be read as words of a shell"),
        ("ARGS", '"', "args cannot be read as words of a shell"),
    ],
)
def test_wrong_inputs(name: str, value: str, said: str) -> None:
    inputs = {f"CRDLINT_{key}": text for key, text in (INPUTS | {name: value}).items()}
    with pytest.raises(action.InputError, match=re.escape(said)):
        action.run({**ENVIRONMENT, **inputs})


def test_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a/b").mkdir(parents=True)
    for name in ("a/b/x.yaml", "a/y.yaml", "a/z.json"):
        (tmp_path / name).touch()
    assert action.paths("a/**/*.yaml 'b c'\n d[1].yaml") == [
        "a/b/x.yaml",
        "a/y.yaml",
        "b c",
        "d[1].yaml",
    ]
    assert action.paths("") == ["."]


def steps() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = ACTION["runs"]["steps"]
    return found


def test_inputs_reach_the_step_by_its_environment_alone() -> None:
    for step in steps():
        assert "${{" not in step.get("run", "")
        assert ("run" in step) == (step.get("shell") == "bash")
    (main,) = (step for step in steps() if step.get("id") == "run")
    passed = {
        key.removeprefix("CRDLINT_").lower().replace("_", "-"): value
        for key, value in main["env"].items()
        if key.startswith("CRDLINT_")
    }
    assert passed == {name: f"${{{{ inputs.{name} }}}}" for name in ACTION["inputs"]}
    read = set(re.findall(r'"([A-Z_]{3,})"', (ROOT / "crdlint/action.py").read_text("utf-8")))
    for name in set(passed) - {"token"}:
        assert name.upper().replace("-", "_") in read


def test_outputs_are_those_of_the_step(tmp_path: Path, server: Server) -> None:
    outputs, _ = Runner(tmp_path, server, server.main).run("push", {}, MODE="lint")
    assert set(ACTION["outputs"]) == set(outputs) - {"upload"}
    for name, output in ACTION["outputs"].items():
        assert output["value"] == f"${{{{ steps.run.outputs.{name} }}}}"


def test_defaults_are_inputs_that_mean_something(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(action, "_run", lambda *_: action._Reports("lint", os.devnull, 0))
    monkeypatch.setattr(action, "_write_sarif", lambda *_: None)
    monkeypatch.setattr(action._Reports, "text", lambda *_: "")
    inputs = {
        f"CRDLINT_{name.upper().replace('-', '_')}": each["default"]
        for name, each in ACTION["inputs"].items()
        if name != "token"
    }
    assert action.run(inputs)["exit-code"] == "0"


def test_actions_are_pinned_with_their_version() -> None:
    text = (ROOT / "action.yml").read_text("utf-8")
    uses = re.findall(r"uses: (.*)", text)
    assert len(uses) == 2
    for use in uses:
        assert re.fullmatch(r"[a-z/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", use)


@pytest.mark.parametrize(
    "command",
    [
        ["zizmor", "--offline", "--quiet", "action.yml"],
        ["check-jsonschema", "--builtin-schema", "vendor.github-actions", "action.yml"],
        ["action-validator", "action.yml"],
    ],
    ids=lambda command: str(command[0]),
)
def test_validators_have_nothing_to_say(command: list[str]) -> None:
    if not shutil.which(command[0]):
        pytest.skip(f"{command[0]} is not installed")
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
