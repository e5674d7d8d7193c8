"""What the GitHub Action does: find the base, run the commands, and hand over what they found.

Inputs come as CRDLINT_* in the environment. Everything is written first: the exit status of the
commands is an output, and the action's last step fails by it.
"""

from __future__ import annotations

import glob
import json
import os
import secrets
import shlex
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING, Any

import click

from crdlint import eventbase

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

COMMANDS = {"lint": ("lint",), "diff": ("diff",), "both": ("lint", "diff")}
SEVERITIES = ("error", "warning", "info", "never")
# Events for a change that is to be merged: what was wrong before is not its doing.
CHANGES = ("pull_request", "pull_request_target", "merge_group")
SUMMARY_LIMIT = 1024 * 1024  # bytes of all that a step writes; GitHub drops a larger summary
WRONG = 2


class InputError(Exception):
    """An input that means nothing; says which values do."""


def main() -> None:
    """Run the action's main step; exit 0 unless the inputs are wrong."""
    try:
        outcome = run(os.environ)
    except InputError as error:
        click.echo(f"::error title=crdlint::{error}")
        sys.exit(WRONG)
    lines = "".join(f"{key}={value}\n" for key, value in outcome.items())
    _append(os.environ.get("GITHUB_OUTPUT"), lines)


def run(env: Mapping[str, str]) -> dict[str, str]:
    """Run what the inputs ask for, write every report, and return the outputs of the action."""
    commands = COMMANDS[_choice(env, "MODE", tuple(COMMANDS))]
    upload = _flag(env, "UPLOAD_SARIF") and not _read_only(env)
    annotate = _choice(env, "ANNOTATIONS", ("auto", "true", "false"))
    summarize = _flag(env, "SUMMARY")
    folder = tempfile.mkdtemp(prefix="crdlint-", dir=env.get("RUNNER_TEMP") or None)
    outputs = {"errors": 0, "warnings": 0}
    breaking, status, runs = False, 0, []
    of_a_change = env.get("GITHUB_EVENT_NAME") in CHANGES
    named = _input(env, "BASE_REF")
    base = eventbase.find(env, named) if of_a_change or "diff" in commands else None
    for command in commands:
        options = _options(env, command)
        if command == "lint" and of_a_change and base:
            options.append(f"--new-since={base}")
        elif command == "diff" and base:
            options.append(f"--base={base}")
        elif command == "diff":
            continue
        reports = _run(env, command, options, folder)
        status = max(status, reports.status)
        outputs["errors"] += reports.counts.get("error", 0)
        outputs["warnings"] += reports.counts.get("warning", 0)
        breaking |= command == "diff" and bool(reports.counts.get("error"))
        if annotate == "true" or (annotate == "auto" and not upload):
            click.echo(reports.text("github"), nl=False)
        if summarize:
            text = reports.text("markdown") + "\n"
            _append(env.get("GITHUB_STEP_SUMMARY"), text, SUMMARY_LIMIT)
        runs += reports.runs(_input(env, "CATEGORY") or "crdlint")
    file = _input(env, "SARIF_FILE") or os.path.join(folder, "crdlint.sarif")
    _write_sarif(file, runs)
    return {
        "sarif-file": file,
        **{key: str(value) for key, value in outputs.items()},
        "breaking": str(breaking).lower(),
        "exit-code": str(status),
        "upload": str(upload and bool(runs)).lower(),
    }


def paths(text: str) -> list[str]:
    """Return the paths of an input: words as in a shell, its patterns filled in."""
    found = []
    for word in _split(text, "paths"):
        matches = sorted(glob.glob(word, recursive=True)) if glob.has_magic(word) else []
        found += matches or [word]
    return found or ["."]


class _Reports:
    """The exit status of a command, and the reports that it wrote."""

    def __init__(self, command: str, folder: str, status: int) -> None:
        self.command = command
        self.folder = folder
        self.status = status
        self.counts: dict[str, int] = json.loads(self.text("json") or "{}").get("summary", {})

    def text(self, form: str) -> str:
        """Return a report, or "" where the command wrote none."""
        try:
            with open(_file(self.folder, self.command, form), encoding="utf-8") as stream:
                return stream.read()
        except FileNotFoundError:
            return ""

    def runs(self, category: str) -> list[dict[str, Any]]:
        """Return the SARIF runs under a category of their own."""
        runs: list[dict[str, Any]] = json.loads(self.text("sarif") or "{}").get("runs", [])
        for each in runs:
            each["automationDetails"] = {"id": f"{category}-{self.command}/"}
        return runs


def _run(env: Mapping[str, str], command: str, options: list[str], folder: str) -> _Reports:
    """Run a command of crdlint with its text in the log and the other reports in files."""
    forms = [f"--format={form}={_file(folder, command, form)}" for form in _FORMS]
    # The folder that is checked must have no say in what is imported.
    call = [sys.executable, "-I" if sys.flags.isolated else "-P", "-m", "crdlint", command]
    call += ["--format=text", "--color=always", *forms, *options, "--"]
    call += paths(_input(env, "PATHS"))
    word = secrets.token_hex(16)  # what stands in a YAML file must not speak to the runner
    click.echo(f"::stop-commands::{word}")
    sys.stdout.flush()
    own = eventbase.trusting({key: text for key, text in env.items() if key != "CRDLINT_TOKEN"})
    status = subprocess.run(call, check=False, env=own).returncode  # noqa: S603 - never a shell
    click.echo(f"::{word}::")
    if status == WRONG:
        click.echo(f"::error title=crdlint {command}::It could not look at all; the log says why.")
    return _Reports(command, folder, status)


_FORMS = ("json", "sarif", "github", "markdown")


def _file(folder: str, command: str, form: str) -> str:
    return os.path.join(folder, f"{command}.{form}")


def _options(env: Mapping[str, str], command: str) -> list[str]:
    """Return the options of a command that inputs stand for."""
    given = {"--config": "CONFIG", "--kubernetes-version": "KUBERNETES_VERSION"}
    options = [f"{word}={_input(env, key)}" for word, key in given.items() if _input(env, key)]
    if command == "lint" and (profile := _input(env, "PROFILE")):
        options.append(f"--profile={profile}")
    fail_on = _input(env, "FAIL_ON")
    if fail_on and (command == "diff" or fail_on in SEVERITIES):
        options.append(f"--fail-on={fail_on}")  # effects are words of diff alone
    return options + _split(_input(env, "ARGS"), "args")


def _write_sarif(file: str, runs: list[dict[str, Any]]) -> None:
    from crdlint.report import as_sarif

    with open(file, "w", encoding="utf-8", newline="\n") as stream:
        stream.write(as_sarif.write(runs))


def _read_only(env: Mapping[str, str]) -> bool:
    """Tell whether the token of the run may upload nothing: of a fork, or of Dependabot."""
    event = eventbase.read_event(env)
    if env.get("GITHUB_EVENT_NAME") != "pull_request":
        return False
    head = (event.get("pull_request") or {}).get("head") or {}
    home = (head.get("repo") or {}).get("full_name")
    return home != env.get("GITHUB_REPOSITORY") or env.get("GITHUB_ACTOR") == "dependabot[bot]"


def _append(file: str | None, text: str, limit: int = 0) -> None:
    """Append to a file of the runner, where there is one and room in it."""
    if not file:
        return
    try:
        data = text.encode("utf-8", "replace")
        if limit and os.path.exists(file) and os.path.getsize(file) + len(data) > limit:
            return
        with open(file, "ab") as stream:
            stream.write(data)
    except OSError as error:
        click.echo(f"::warning title=crdlint::{file} cannot be written: {error.strerror}")


def _input(env: Mapping[str, str], name: str) -> str:
    return env.get(f"CRDLINT_{name}", "").strip()


def _choice(env: Mapping[str, str], name: str, words: tuple[str, ...]) -> str:
    word = _input(env, name)
    if word not in words:
        shown = name.lower().replace("_", "-")
        raise InputError(f"{shown} is {word!r}; it may be {_or(words)}")
    return word


def _flag(env: Mapping[str, str], name: str) -> bool:
    return _choice(env, name, ("true", "false")) == "true"


def _or(words: Iterable[str]) -> str:
    *most, last = words
    return f"{', '.join(most)} or {last}"


def _split(text: str, name: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise InputError(f"{name} cannot be read as words of a shell: {error}") from None


if __name__ == "__main__":
    main()
