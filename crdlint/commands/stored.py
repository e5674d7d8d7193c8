"""The `stored` command: which storedVersions clusters can have, from the history in git."""

from __future__ import annotations

import os
from itertools import groupby
from typing import TYPE_CHECKING, Any

import click

from crdlint import options
from crdlint.helping import Command

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crdlint.history import Cluster, History, Step


@click.command(
    cls=Command,
    short_help="Show which versions clusters can have stored, from git.",
    examples=(
        ("crdlint stored config/crd/widgets.yaml", "all commits up to now"),
        ("crdlint stored widgets.example.com --tags 'v*'", "what was released"),
        ("crdlint stored widgets.example.com --revisions v0.1.0..main", "since a release"),
    ),
    statuses=(("0", "shown"), ("2", "wrong usage, or no such CRD in git")),
)
@click.argument("what", metavar="PATH|NAME")
@click.option(
    "--revisions", metavar="RANGE", help="Commits to walk: a revision or A..B. Default: HEAD."
)
@click.option("--tags", metavar="PATTERN", help="Walk the tags that match instead, such as 'v*'.")
@options.style("text", "json")
def stored(what: str, revisions: str | None, tags: str | None, style: str) -> int:
    """Say which version was storage from when to when, and what clusters may have stored.

    Walks the history of a CRD, by its name, through moves and renames of files. Every storage
    version that a cluster has seen stands in its status.storedVersions until somebody migrates
    the objects and drops it; the API server refuses a CRD that lacks one.
    """
    from crdlint.source import SourceError

    if revisions is not None and tags is not None:
        raise click.UsageError("give --revisions or --tags, not both")
    progress = _Progress()
    try:
        found = [_history(name, path, revisions, tags, progress) for name, path in _asked(what)]
    except SourceError as error:
        raise click.ClickException(str(error)) from None
    finally:
        progress.clear()
    if style == "json":
        import json

        shown = [_as_json(history) for history in found]
        click.echo(json.dumps({"version": 1, "crds": shown}, indent=1, ensure_ascii=False))
    else:
        click.echo("\n\n".join("\n".join(_text(history)) for history in found))
    return options.CLEAN


class _Progress(options.Progress):
    """Say on a terminal where the walk is."""

    def show(self, where: str) -> None:
        if self.on:
            self.tick(where)


def _asked(what: str) -> list[tuple[str, str]]:
    """Return (name, path from the top) of each CRD that was asked for."""
    from crdlint import document, git, kubernetes, reading, revision, source

    git.demand_repository(what)
    if not os.path.exists(what):
        return [(what, "")]
    found = [
        (subject.name, revision.below_top(one.name))
        for one in source.find([what])
        for part in document.read(one.read(), one.name, wanted=reading.WANTED)
        if not part.skipped
        for subject in reading.subjects(part, kubernetes.NEWEST)
        if subject.name and not subject.partial
    ]
    if not found:
        raise source.SourceError(
            what, "has no CustomResourceDefinition", "name another file, or metadata.name of a CRD"
        )
    return found


def _history(
    name: str, path: str, revisions: str | None, tags: str | None, progress: _Progress
) -> History:
    from crdlint import git, history

    if tags is not None:
        return history.of_tags(name, tags, progress=progress.show)
    tip = revisions or "HEAD"
    if path and git.ask("cat-file", "-e", f"{tip.rpartition('..')[2] or 'HEAD'}:{path}") is None:
        path = ""  # not committed there: look for the CRD by its name
    return history.of_commits(name, tip, path=path, progress=progress.show)


def _when(step: Step) -> str:
    return f"{step.label} ({step.date})"


def _text(history: History) -> Iterator[str]:
    newest = history.steps[-1]
    yield f"{history.name} ({history.path}), {_count(history.revisions, 'revision')}"
    for span in history.spans:
        until = "now" if span.last is newest else f"after {_when(span.last)}"
        yield f"  {span.version} is storage from {_when(span.first)} to {until}"
    yield ""
    for first, last, stored in _groups(history.clusters):
        who = f"at {first.label}" if first is last else f"from {first.label} to {last.label}"
        yield f"  clusters that got it {who} have storedVersions {', '.join(stored) or 'empty'}"
    for step, missing in _refusals(history):
        yield (
            f"  {_when(step)} lacks {', '.join(missing)}: clusters that stored it"
            " refuse that upgrade until its objects are migrated"
        )
    yield f"  possible in all: --stored-versions {','.join(history.stored_versions)}"
    if history.cut:
        yield "  the clone is shallow: what was before is not known (git fetch --unshallow)"


def _groups(clusters: list[Cluster]) -> Iterator[tuple[Step, Step, list[str]]]:
    """Yield (first, last, storedVersions) of clusters in a row that end alike."""
    for stored, group in groupby(clusters, key=lambda cluster: cluster.stored):
        members = list(group)
        yield members[0].installed, members[-1].installed, stored


def _refusals(history: History) -> list[tuple[Step, list[str]]]:
    """Return each step that some cluster refuses, with the versions that it misses."""
    found: dict[int, tuple[Step, list[str]]] = {}
    for cluster in history.clusters:
        for step, missing in cluster.refused:
            known = found.setdefault(id(step), (step, []))[1]
            known += [name for name in missing if name not in known]
    order = {id(step): i for i, step in enumerate(history.steps)}
    return sorted(found.values(), key=lambda entry: order[id(entry[0])])


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _as_json(history: History) -> dict[str, Any]:
    return {
        "crd": history.name,
        "path": history.path,
        "revisions": history.revisions,
        "shallow": history.cut,
        "storedVersions": history.stored_versions,
        "storage": [
            {"version": span.version, "from": span.first.label, "to": span.last.label}
            for span in history.spans
        ],
        "steps": [
            {
                "revision": step.label,
                "commit": step.commit,
                "date": step.date,
                "path": step.path,
                "versions": [
                    {"name": v.name, "served": v.served, "storage": v.storage}
                    for v in step.versions
                ],
            }
            for step in history.steps
        ],
        "clusters": [
            {
                "installed": cluster.installed.label,
                "storedVersions": cluster.stored,
                "refused": [
                    {"revision": step.label, "missing": missing}
                    for step, missing in cluster.refused
                ],
            }
            for cluster in history.clusters
        ],
    }
