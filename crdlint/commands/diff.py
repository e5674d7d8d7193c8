"""The `diff` command; `cli` adds it to its group."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from crdlint import options

if TYPE_CHECKING:
    from collections.abc import Callable

    from crdlint.api import Report
    from crdlint.source import Source

STABILITIES = ("alpha", "beta", "stable")
EFFECTS = (
    "server-refuses",
    "stored-objects",
    "writers",
    "readers",
    "gitops",
    "rollback",
    "depends-on-webhook",
)
SEVERITIES = ("error", "warning", "info")

Sides = tuple[list["Source"], list["Source"]]


def _fail_on(_: click.Context, __: click.Parameter, text: str) -> list[str]:
    """Read `--fail-on`: a severity, `never`, or effects separated by commas."""
    words = [word.strip() for word in text.split(",") if word.strip()]
    if words and (len(words) == 1 and words[0] in (*SEVERITIES, "never")):
        return words
    wrong = [word for word in words if word not in EFFECTS]
    if wrong or not words:
        raise click.BadParameter(
            f"{', '.join(map(repr, wrong)) or 'nothing'} is neither a severity"
            f" ({', '.join(SEVERITIES)}, never) nor effects ({', '.join(EFFECTS)})"
        )
    return words


@click.command(
    epilog="Examples: crdlint diff v0.45.0:install.yaml install.yaml; crdlint diff old/ new/; "
    "crdlint diff cluster:widgets.example.com config/crd/widgets.yaml; "
    "crdlint diff --base origin/main config/crd"
)
@click.argument("paths", nargs=-1, metavar="OLD NEW | PATH...")
@click.option(
    "--base",
    "base",
    metavar="REV",
    is_flag=False,
    flag_value="",
    help="Compare the working tree with this git revision; without REV with the merge base.",
)
@click.option("--head", metavar="REV", help="With --base: this revision, not the working tree.")
@click.option(
    "--kubernetes-version",
    "minors",
    metavar="VERSION",
    callback=options.minors,
    help="API server to speak for: 1.30, or a range as 1.28..1.37. Default: the newest.",
)
@click.option(
    "--stored-versions",
    metavar="V1,V2",
    help="Versions that objects are stored in. Default: status.storedVersions of OLD.",
)
@click.option(
    "--stored-from-history",
    is_flag=True,
    help="Take from git which versions objects can be stored in: all that were ever storage.",
)
@click.option("--not-established", is_flag=True, help="The server does not serve OLD yet.")
@click.option(
    "--stability",
    type=click.Choice(STABILITIES),
    default="beta",
    show_default=True,
    help="Versions less stable than this are held to less.",
)
@click.option("--no-fold", is_flag=True, help="List the same change in many places one by one.")
@click.option("--all-changes", is_flag=True, help="Only list every difference, of any kind.")
@click.option(
    "--format",
    "outputs",
    metavar="FMT[=FILE]",
    multiple=True,
    callback=options.formats,
    help=options.FORMATS_HELP,
)
@click.option(
    "--fail-on",
    default="error",
    show_default=True,
    callback=_fail_on,
    help="Lowest severity that makes the exit status 1, or effects, separated by commas.",
)
@click.option(
    "--color",
    type=click.Choice(("auto", "always", "never")),
    default="auto",
    show_default=True,
    help="Colour in text; NO_COLOR and FORCE_COLOR are heeded.",
)
def diff(
    paths: tuple[str, ...],
    base: str | None,
    head: str | None,
    minors: list[int] | None,
    stored_versions: str | None,
    stored_from_history: bool,
    not_established: bool,
    stability: str,
    no_fold: bool,
    all_changes: bool,
    outputs: list[tuple[str, str]],
    fail_on: list[str],
    color: str,
) -> int:
    """Say what the API server says to an update of CRDs, and who else it hurts.

    OLD and NEW are each a file, a folder, - for stdin, REVISION:PATH of git, or cluster:NAME.
    """
    from crdlint import diffing
    from crdlint.source import SourceError

    if base == "HEAD" and head is None:  # as our hook says; pre-commit may check a range
        base = os.environ.get("PRE_COMMIT_FROM_REF") or base
    try:
        old, new = _sides(paths, base, head)
        if all_changes:
            minor = (minors or [_newest()])[-1]
            for line in diffing.all_changes(old, new, minor=minor):
                click.echo(line)
            return 0
        trees = base is not None or head is not None

        def compare(old: list[Source], new: list[Source]) -> Report:
            return diffing.diff(
                old,
                new,
                minors=minors,
                established=False if not_established else None,
                stored_versions=_stored(stored_versions, stored_from_history, paths, base),
                held_to=stability,
                fold=not no_fold,
                trees=trees,
            )

        report = compare(old, new)
        if trees and any(finding.rule == "crd-removed" for finding in report.findings):
            # A file that did not change may still have it, so look at all of them.
            report = compare(*_whole(paths, base, head))
    except (SourceError, diffing.DiffError) as error:
        raise click.UsageError(str(error)) from None
    return _finish(report, outputs, color, failed=_failed(report, fail_on))


def _newest() -> int:
    from crdlint import kubernetes

    return kubernetes.NEWEST


def _names(text: str | None) -> list[str] | None:
    if text is None:
        return None
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise click.BadParameter("names no version: write --stored-versions v1alpha1,v1")
    return names


def _stored(
    named: str | None, from_history: bool, paths: tuple[str, ...], base: str | None
) -> list[str] | Callable[[str], list[str] | None] | None:
    """Return the stored versions that the command line names, or what finds them in git."""
    if not from_history:
        return _names(named)
    if named is not None:
        raise click.UsageError("give --stored-versions or --stored-from-history, not both")
    from crdlint import history, revision

    return history.stored_of(base or revision.revision_of(paths[0] if paths else "") or "HEAD")


def _sides(paths: tuple[str, ...], base: str | None, head: str | None) -> Sides:
    """Return the sources of both sides; of revisions the files that differ."""
    from crdlint import revision
    from crdlint.source import SUFFIXES

    if base is not None or head is not None:
        if any(os.path.isfile(path) and not path.endswith(SUFFIXES) for path in paths):
            return _whole(paths, base, head)  # a name that only the command line makes YAML
        old, new, start = revision.touched(base or None, head, paths)
        if not old and not new:
            options.note(f"no YAML or JSON file differs from {start}")
        return old, new
    if len(paths) != 2:
        raise click.UsageError(
            "name two sides, such as: crdlint diff old.yaml new.yaml; or a git revision to compare"
            " with: crdlint diff --base main config/crd"
        )
    if paths == ("-", "-"):
        raise click.UsageError("only one side can be stdin; give the other as a file")
    before, after = (list(revision.side(path)) for path in paths)
    return before, after


def _whole(paths: tuple[str, ...], base: str | None, head: str | None) -> Sides:
    from crdlint import revision

    old, new, _ = revision.changed(base or None, head, paths)
    return old, new


def _failed(report: Report, fail_on: list[str]) -> bool:
    from crdlint.policy import fails

    if fail_on[0] in (*SEVERITIES, "never"):
        return fails(report.findings, fail_on[0])
    wanted = set(fail_on)
    return any(f.severity != "info" and wanted & set(f.effects) for f in report.findings)


def _finish(report: Report, outputs: list[tuple[str, str]], color: str, *, failed: bool) -> int:
    """Write a report in every format that was asked for, and return the exit status."""
    from crdlint import report as formats

    for line in report.summary.notes:
        options.note(line)
    for name, file in outputs:
        coloured = not file and options.coloured(color)
        text = formats.render(name, report, color=coloured, diff=True, texts=report.texts)
        if file:
            options.write(file, text)
        else:
            sys.stdout.write(text)
    sys.stdout.flush()
    return options.FOUND if failed else options.CLEAN
