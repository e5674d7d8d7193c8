"""What is there for every day: options, help, links, counts, completion, problem matchers."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from command import BAD, GOOD, ROOT, UNTYPED, crdlint

from crdlint import cli
from crdlint.helping import Command, Option
from crdlint.pages import URL

if TYPE_CHECKING:
    from pathlib import Path

    import click


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a CRD that is refused, and one that is not."""
    (tmp_path / "bad.yaml").write_text(BAD)
    (tmp_path / "good.yaml").write_text(GOOD.replace("idget", "adget"))
    return tmp_path


def command(name: str) -> click.Command:
    import click as click_

    found = cli.cli.get_command(click_.Context(cli.cli), name)
    assert found is not None
    return found


def test_statistics_count_by_rule(folder: Path) -> None:
    (folder / "more.yaml").write_text(UNTYPED.replace("idget", "idge") + "          x: {}\n")
    done = crdlint("lint", ".", "--statistics", cwd=folder)
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert [line.split()[:3] for line in lines[:2]] == [
        ["2", "error", "type-required"],
        ["1", "error", "type-not-supported"],
    ]
    assert lines[-1] == "3 errors: 3 CRDs in 3 files"
    data = json.loads(crdlint("lint", ".", "--statistics", "--format", "json", cwd=folder).stdout)
    assert len(data["findings"]) == 3
    (folder / "old.yaml").write_text(GOOD)
    (folder / "new.yaml").write_text(GOOD.replace("Namespaced", "Cluster"))
    done = crdlint("diff", "old.yaml", "new.yaml", "--statistics", cwd=folder)
    assert "1  error    crd-scope-changed" in done.stdout


@pytest.mark.parametrize("quiet", ["-q", "--quiet"])
def test_quiet_prints_findings_only(quiet: str, folder: Path) -> None:
    done = crdlint("lint", "good.yaml", quiet, cwd=folder)
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)
    done = crdlint("lint", "bad.yaml", quiet, cwd=folder)
    assert done.stdout.startswith("error[type-not-supported]")
    assert "1 error" not in done.stdout
    assert done.returncode == 1
    (folder / "same.yaml").write_text(BAD)
    done = crdlint("diff", "good.yaml", "good.yaml", quiet, cwd=folder)
    assert done.stdout == ""


def test_exit_zero_is_for_findings_not_for_errors(folder: Path) -> None:
    assert crdlint("lint", "bad.yaml", "--exit-zero", cwd=folder).returncode == 0
    assert crdlint("lint", "none.yaml", "--exit-zero", cwd=folder).returncode == 2
    (folder / "new.yaml").write_text(
        GOOD.replace("idget", "adget").replace("Namespaced", "Cluster")
    )
    args = ("diff", "good.yaml", "new.yaml")
    assert crdlint(*args, cwd=folder).returncode == 1
    assert crdlint(*args, "--exit-zero", cwd=folder).returncode == 0


def test_select_runs_these_rules_and_no_others(folder: Path) -> None:
    (folder / "bad.yaml").write_text(BAD.replace("scope:", "foo: 1\n  scope:"))

    def found(*args: str) -> list[str]:
        done = crdlint("lint", "bad.yaml", "--format", "json", *args, cwd=folder)
        return [finding["rule"] for finding in json.loads(done.stdout)["findings"]]

    assert found() == ["unknown-field", "type-not-supported"]
    assert found("--select", "unknown-field") == ["unknown-field"]
    assert found("--select", "unknown-field,type-not-supported") == found()
    assert found("--select", "unknown-field", "--select", "type-not-supported") == found()
    assert found("--ignore", "unknown-field") == ["type-not-supported"]


def test_rules_are_links_where_there_is_colour(folder: Path) -> None:
    url = URL.format("type-not-supported")
    assert f"\033]8;;{url}\033\\" in crdlint("lint", "bad.yaml", "--color", "always", cwd=folder).stdout  # fmt: skip
    assert "\033]8" not in crdlint("lint", "bad.yaml", "--color", "never", cwd=folder).stdout
    assert "\033]8" not in crdlint("lint", "bad.yaml", cwd=folder).stdout


def test_each_command_says_in_a_line_what_it_does(folder: Path) -> None:
    lines = crdlint("--help", cwd=folder, COLUMNS="80").stdout.splitlines()
    for name in cli.COMMANDS:
        (line,) = (line for line in lines if line.startswith(f"  {name} "))
        assert line.endswith(".")
        assert not line.endswith("..."), line


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_help_has_groups_examples_and_exit_statuses(name: str, folder: Path) -> None:
    text = crdlint(name, "--help", cwd=folder).stdout
    assert f"Usage: crdlint {name}" in text
    assert f"crdlint {name}" in text.partition("Examples:")[2]
    if name in ("lint", "diff"):
        for heading in ("Options:", "What to look for:", "Configuration:", "Output:", "Result:"):
            assert re.search(rf"(?m)^{heading}$", text), heading
        assert "Exit status:\n  0  nothing at or above --fail-on" in text
    shown = command(name)
    assert isinstance(shown, Command)
    for typed, _ in shown.examples:
        for word in re.findall(r"--[a-z-]+", typed):
            assert word in {opt for p in shown.params for opt in p.opts}, typed


@pytest.mark.parametrize("name", ["lint", "diff"])
def test_each_option_has_help_and_stands_once(name: str) -> None:
    seen: list[str] = []
    for parameter in command(name).params:
        if isinstance(parameter, Option):
            assert parameter.help, parameter.name
            assert parameter.help.endswith((".", ")")), parameter.name
        seen += parameter.opts if parameter.param_type_name == "option" else []
    assert len(seen) == len(set(seen))


TESTED = "\n".join(
    file.read_text(encoding="utf-8") for file in sorted((ROOT / "tests").glob("*.py"))
)


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_option_is_used_by_a_test(name: str) -> None:
    for parameter in command(name).params:
        if parameter.param_type_name == "option":
            used = [
                opt for opt in parameter.opts if re.search(rf"(?<![\w-]){opt}(?![\w-])", TESTED)
            ]
            assert used, f"no test uses {name} {parameter.opts[0]}"


MATCHERS = json.loads((ROOT / "docs" / "problem-matcher.json").read_text("utf-8"))["problemMatcher"]


def matched(owner: str, text: str) -> list[dict[str, Any]]:
    """Return what a runner of GitHub reads off a text with a matcher, line by line."""
    (matcher,) = [matcher for matcher in MATCHERS if matcher["owner"] == owner]
    found: list[dict[str, Any]] = []
    step = 0
    values: dict[str, Any] = {}
    for line in text.splitlines():
        pattern = matcher["pattern"][step]
        match = re.search(pattern["regexp"], line)
        if match is None:
            step, values = 0, {}
            continue
        values |= {key: match[at] for key, at in pattern.items() if key != "regexp"}
        step += 1
        if step == len(matcher["pattern"]):
            found.append({"severity": matcher.get("severity"), **values})
            step, values = 0, {}
    return found


def test_problem_matchers_read_the_text_report(folder: Path) -> None:
    (folder / "part.yaml").write_text(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: a}\n"
    )
    text = crdlint("lint", "bad.yaml", "part.yaml", cwd=folder).stdout
    data = json.loads(
        crdlint("lint", "bad.yaml", "part.yaml", "--format", "json", cwd=folder).stdout
    )
    read = matched("crdlint", text) + matched("crdlint-info", text)
    assert len(read) == len(data["findings"]) == 2
    for entry, finding in zip(read, data["findings"], strict=True):
        assert entry["code"] == finding["rule"]
        assert entry["severity"] == finding["severity"].replace("info", "notice")
        assert (entry["file"], int(entry["line"]), int(entry["column"])) == (
            finding["file"],
            finding["line"],
            finding["column"],
        )
        assert finding["message"] in entry["message"]


def test_problem_matchers_read_the_notes_of_diff(folder: Path) -> None:
    (folder / "new").mkdir()
    (folder / "old").mkdir()
    (folder / "old" / "a.yaml").write_text(GOOD)
    (folder / "new" / "a.yaml").write_text(GOOD)
    (folder / "new" / "b.yaml").write_text(GOOD.replace("idget", "adget"))
    text = crdlint("diff", "old", "new", cwd=folder).stdout
    (note,) = matched("crdlint-diff-info", text)
    assert note["file"] == "new/b.yaml"
    assert note["severity"] == "notice"
    assert note["code"] == "crd-added"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script_of_the_shell(shell: str, folder: Path) -> None:
    done = crdlint("completion", shell, cwd=folder)
    assert done.returncode == 0
    assert "_CRDLINT_COMPLETE" in done.stdout
    if shell != "fish" and shutil.which(shell):
        checked = subprocess.run([shell, "-n"], input=done.stdout, text=True, check=False)
        assert checked.returncode == 0


def complete(folder: Path, words: str) -> list[str]:
    """Return what bash is offered for the last of some words."""
    env = {
        "_CRDLINT_COMPLETE": "bash_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - 1),
    }
    done = crdlint(cwd=folder, **env)
    return [line.partition(",")[2] for line in done.stdout.splitlines()]


def test_completion_knows_commands_options_and_rules(folder: Path) -> None:
    assert complete(folder, "crdlint li") == ["lint"]
    assert "--baseline" in complete(folder, "crdlint lint --ba")
    assert "type-required" in complete(folder, "crdlint lint --ignore type-r")
    assert complete(folder, "crdlint lint --profile st") == ["strict"]


def test_messages_go_to_stderr_and_data_to_stdout(folder: Path) -> None:
    done = crdlint("lint", "bad.yaml", "none.yaml", "-v", "--format", "json", cwd=folder)
    json.loads(done.stdout)
    assert "none.yaml" in done.stderr
    assert "note: configuration" in done.stderr
