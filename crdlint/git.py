"""Git as the user has it: run it, ask it, and say what it said when it failed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from crdlint.source import SourceError

if TYPE_CHECKING:
    import subprocess


def ask(*arguments: str) -> str | None:
    """Run git and return what it prints, or None where it fails."""
    found = run(["git", *arguments])
    return None if found.returncode else os.fsdecode(found.stdout)


def run(command: list[str], text: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
    """Run a git command with some bytes as its input; raise SourceError where it does not start."""
    import subprocess  # several milliseconds that a run without git need not pay

    environment = {**os.environ, "LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0"}
    try:
        return subprocess.run(  # noqa: S603 - a list, never a shell
            command, input=text, capture_output=True, check=False, env=environment
        )
    except FileNotFoundError:
        raise SourceError(
            "git", "is not installed, or not in PATH", "install git, or name files"
        ) from None
    except OSError as error:
        raise SourceError(
            "git", f"does not start: {error.strerror}", "check that it runs"
        ) from None


def said(found: subprocess.CompletedProcess[bytes]) -> str:
    """Return the first line of what git complained of."""
    lines = found.stderr.decode("utf-8", "replace").strip().splitlines()
    return (lines[0] if lines else f"exit status {found.returncode}").removeprefix("fatal: ")


def is_commit(revision: str) -> bool:
    """Tell whether git knows a revision."""
    return ask("rev-parse", "--quiet", "--verify", f"{revision}^{{commit}}") is not None


def demand_commit(revision: str) -> None:
    """Raise SourceError unless git knows a revision."""
    if revision.startswith("-") or not is_commit(revision):
        raise unknown_revision(revision, revision)


def unknown_revision(revision: str, asked: str) -> SourceError:
    """Return the error for a revision that git does not know."""
    if revision == "HEAD":
        return SourceError(asked, "the repository has no commit yet", "commit, or name files")
    return SourceError(
        asked,
        f"there is no such file, and git knows no revision {revision!r}{shallow()}",
        "fetch it (git fetch --tags origin; git fetch --unshallow), or name a file",
    )


def shallow() -> str:
    """Return words that say so when the clone lacks history, else ""."""
    told = (ask("rev-parse", "--is-shallow-repository") or "").strip() == "true"
    return ", as this clone is shallow" if told else ""


def demand_repository(asked: str) -> None:
    """Raise SourceError outside of a git repository."""
    found = run(["git", "rev-parse", "--is-inside-work-tree"])
    if found.returncode:
        why = said(found)
        reason = "is neither a file nor a revision: here is no git repository"
        if "dubious ownership" in why:
            reason = f"git refuses to read the repository: {why}"
        raise SourceError(asked, reason, "name a file or folder, or run it inside the repository")
