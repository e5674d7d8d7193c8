"""The `diff` command; `cli` adds it to its group."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from crdlint import options, settings, sides
from crdlint.helping import STATUSES, Command, option

if TYPE_CHECKING:
    from crdlint.acknowledge import Acknowledgement
    from crdlint.api import Report
    from crdlint.settings import Chosen, Settings
    from crdlint.source import Source

STABILITIES = ("alpha", "beta", "stable")
_MEANT = "What is meant"
EXAMPLES = (
    ("crdlint diff old.yaml new.yaml", "two files, or two folders"),
    ("crdlint diff v0.45.0:install.yaml install.yaml", "a git revision with the working tree"),
    ("crdlint diff --base origin/main config/crd", "what a pull request changes"),
    ("crdlint diff cluster:widgets.example.com widgets.yaml", "what a cluster has, by kubectl"),
    (
        "crdlint diff --base main --fail-on server-refuses,stored-objects .",
        "fail only for what breaks stored objects or is refused",
    ),
    ("crdlint diff --base main --ack-template meant.toml .", "acknowledge what is meant, then"),
    ("crdlint diff --base main --ack meant.toml .", "leave it out"),
)


@click.command(
    cls=Command,
    short_help="Say what an update of CRDs does, and to whom.",
    examples=EXAMPLES,
    statuses=STATUSES,
)
@sides.two_sides
@option(
    "--stability",
    type=click.Choice(STABILITIES),
    group=_MEANT,
    help="Versions less stable than this are held to less. Default: beta.",
)
@option(
    "--ack",
    "ack_files",
    metavar="FILE",
    multiple=True,
    group=_MEANT,
    help="Leave out what the [[acknowledge]] entries of FILE name, besides those of the "
    "configuration. Repeatable.",
)
@option(
    "--ack-template",
    metavar="FILE",
    group=_MEANT,
    help="Write such entries for the errors and warnings of this run into a new FILE; the reasons "
    "are yours to add.",
)
@click.option("--no-fold", is_flag=True, help="List the same change in many places one by one.")
@click.option("--all-changes", is_flag=True, help="Only list every difference, of any kind.")
@click.option(
    "--objects",
    multiple=True,
    metavar="PATH",
    help="Objects that people have, such as a dump by kubectl get KIND -A -o yaml: which of them"
    " are refused, pruned or defaulted otherwise. Repeatable.",
)
@settings.shared(effects=True)
def diff(
    paths: tuple[str, ...],
    base: str | None,
    head: str | None,
    stored_versions: str | None,
    stored_from_history: bool,
    not_established: bool,
    stability: str | None,
    ack_files: tuple[str, ...],
    ack_template: str | None,
    no_fold: bool,
    all_changes: bool,
    objects: tuple[str, ...],
    chosen: Chosen,
) -> int:
    """Say what the API server says to an update of CRDs, and who else it hurts.

    OLD and NEW are each a file, a folder, - for stdin, REVISION:PATH of git, or cluster:NAME.
    With --base, PATH is the part of the repository to compare; without one, the paths
    of the configuration, or all of it.
    """
    from crdlint import diffing, revision
    from crdlint.config import ConfigError
    from crdlint.source import SourceError

    trees = base is not None or head is not None
    run = chosen.settle(paths if trees else paths[-1:], effects=True)
    if base == "HEAD" and head is None:  # as our hook says; pre-commit may check a range
        base = os.environ.get("PRE_COMMIT_FROM_REF") or base
    try:
        if trees and not paths and run.config:
            paths = tuple(run.config.paths())
        old, new = sides.sides(paths, base, head, command="diff")
        if all_changes:
            minor = (run.minors or [_newest()])[-1]
            for line in diffing.all_changes(old, new, minor=minor):
                click.echo(line)
            return 0
        meant = _acknowledged(run, ack_files)

        def compare(old: list[Source], new: list[Source]) -> Report:
            return diffing.diff(
                old,
                new,
                minors=run.minors,
                established=False if not_established else None,
                stored_versions=sides.stored(stored_versions, stored_from_history, paths, base),
                held_to=stability or run.get("stability") or "beta",
                fold=not no_fold,
                trees=trees,
                policy=run.policy,
                acknowledged=meant,
                objects=[source for path in objects for source in revision.side(path)],
            )

        report = compare(old, new)
        found = (*report.findings, *report.suppressed)
        if trees and any(finding.rule == "crd-removed" for finding in found):
            # A file that did not change may still have it, so look at all of them.
            report = compare(*sides.whole(paths, base, head))
        if ack_template:
            _write_template(ack_template, report)
    except (SourceError, ConfigError, diffing.DiffError) as error:
        raise click.ClickException(str(error)) from None
    return run.finish(report, diff=True)


def _acknowledged(run: Settings, files: tuple[str, ...]) -> list[Acknowledgement]:
    """Return the acknowledgements of the configuration and of the files named."""
    from crdlint.config import ConfigError, load

    found = run.config.acknowledged() if run.config else []
    for file in files:
        given = load(file)
        if others := [key for key in given.data if key != "acknowledge"]:
            line = given.line(others[0])
            raise ConfigError(f"{file}:{line}: {others[0]}: --ack takes [[acknowledge]] only")
        found += given.acknowledged()
    return found


def _write_template(file: str, report: Report) -> None:
    """Write the findings that count as acknowledgements to fill in, never over a file."""
    from crdlint import acknowledge

    if os.path.lexists(file):
        raise click.ClickException(
            f"{file} exists already; name a new file, then move what you keep"
        )
    counting = [finding for finding in report.findings if finding.severity != "info"]
    options.write(file, acknowledge.template(counting))


def _newest() -> int:
    from crdlint import kubernetes

    return kubernetes.NEWEST
