"""Which revision a GitHub event says the work at hand is based on; fetched where it is not here."""

from __future__ import annotations

import base64
import json
import os
import subprocess
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_NONE = "0" * 40  # what a push event has for a branch that is new
_DEEPER = (50, 500, 5000)  # commits to fetch until the histories meet


def find(env: Mapping[str, str], named: str = "") -> str | None:
    """Return the commit to compare the checkout with, or None where there is none; print why.

    `named` is a branch, tag or commit that a user asked for. Else a pull request is compared with
    what it is merged into, a push with what was there before, a merge queue with its base, and
    anything else with the commit where it left the default branch.
    """
    git = Git(env)
    event = read_event(env)
    name = env.get("GITHUB_EVENT_NAME", "")
    if named:
        return _or_note(git.fetch(named), f"{named} is not to be had from origin")
    if pull := event.get("pull_request"):
        return _of_pull_request(git, pull)
    if name == "merge_group":
        sha = (event.get("merge_group") or {}).get("base_sha", "")
        return _or_note(git.fetch(sha), "the base of the merge group is not to be had")
    before = event.get("before", "") if name == "push" else ""
    if before.strip("0") and (commit := git.fetch(before)):
        return commit
    branch = (event.get("repository") or {}).get("default_branch", "")
    commit = git.fetch(branch) if branch else None
    commit = commit and git.fork_point(commit)
    return _or_note(commit, "there is nothing to compare with; name a revision with base-ref")


def read_event(env: Mapping[str, str]) -> dict[str, Any]:
    """Return the event that started the run, or an empty one."""
    try:
        with open(env.get("GITHUB_EVENT_PATH", ""), encoding="utf-8") as stream:
            event = json.load(stream)
    except (OSError, ValueError):
        return {}
    return event if isinstance(event, dict) else {}


def _of_pull_request(git: Git, pull: dict[str, Any]) -> str | None:
    """Return what a pull request changes: against the first parent of the merge that is tested.

    Where the branch itself is checked out, it is what the branch left behind; the target's later
    work is not the pull request's.
    """
    parents = git.parents()
    if len(parents) == 2 and parents[1] == pull["head"]["sha"]:
        return _or_note(git.fetch(parents[0]), f"{parents[0]} is not to be had from origin")
    target = git.fetch(pull["base"]["sha"])
    return _or_note(target and git.fork_point(target), "the base of the pull request is not here")


def _or_note(commit: str | None, otherwise: str) -> str | None:
    if commit is None:
        click.echo(f"::notice title=crdlint diff::Nothing was compared: {otherwise}.")
    return commit


def trusting(env: Mapping[str, str], **settings: str) -> dict[str, str]:
    """Return an environment in which git takes these settings, and reads a checkout of others.

    In a container the user that runs the steps is not the one that owns the checkout.
    """
    made = dict(env)
    settings = {"safe.directory": "*", **settings}
    for i, (key, value) in enumerate(settings.items()):
        made |= {f"GIT_CONFIG_KEY_{i}": key, f"GIT_CONFIG_VALUE_{i}": value}
    return made | {"GIT_CONFIG_COUNT": str(len(settings))}


class Git:
    """Git in the checkout, with the rights and the token of the run."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self.env = dict(env)
        self.env["GIT_TERMINAL_PROMPT"] = "0"
        self.server = env.get("GITHUB_SERVER_URL") or "https://github.com"
        self.token = env.get("CRDLINT_TOKEN", "")

    def ask(self, *arguments: str, **settings: str) -> str | None:
        """Run git and return what it prints, or None where it fails."""
        env = trusting(self.env, **settings)
        command = ["git", *arguments]
        done = subprocess.run(  # noqa: S603 - a list, never a shell
            command, env=env, capture_output=True, check=False
        )
        return None if done.returncode else os.fsdecode(done.stdout).strip()

    def commit(self, revision: str) -> str | None:
        """Return the commit that a revision stands for here."""
        if not revision or revision.startswith("-"):
            return None
        return self.ask("rev-parse", "--quiet", "--verify", f"{revision}^{{commit}}")

    def parents(self) -> list[str]:
        """Return the parents of HEAD, also those that a shallow clone has not."""
        head = (self.ask("cat-file", "commit", "HEAD") or "").partition("\n\n")[0]
        return [line.split()[1] for line in head.splitlines() if line.startswith("parent ")]

    def fetch(self, revision: str) -> str | None:
        """Return the commit of a branch, tag or commit, from origin where it is no commit here."""
        if not revision or revision.startswith("-"):
            return None
        known = self.commit(revision)
        if known and known.startswith(revision):
            return known
        # A depth would cut off the history of a clone that has all of it.
        depth = ("--depth=1",) if self._is_shallow() else ()
        if self._from_origin(depth, revision):
            return self.commit("FETCH_HEAD")
        return self.commit(f"origin/{revision}") or known

    def fork_point(self, target: str) -> str:
        """Return where HEAD left another commit, fetching history for it; else that commit."""
        head = self.commit("HEAD") or ""
        for depth in (0, *_DEEPER):
            if depth and not (
                self._is_shallow() and self._from_origin([f"--deepen={depth}"], target, head)
            ):
                break
            if found := self.ask("merge-base", target, "HEAD"):
                return found
        return target

    def _is_shallow(self) -> bool:
        return self.ask("rev-parse", "--is-shallow-repository") == "true"

    def _from_origin(self, how: Sequence[str], *revisions: str) -> bool:
        """Fetch from origin as checkout left it, and where that may not, with the token."""
        call = ("fetch", "--no-tags", "--quiet", *how, "origin", *revisions)
        if self.ask(*call) is not None:
            return True
        if not self.token:
            return False
        login = base64.b64encode(f"x-access-token:{self.token}".encode()).decode()
        header = {f"http.{self.server}/.extraheader": f"AUTHORIZATION: basic {login}"}
        return self.ask(*call, **header) is not None
