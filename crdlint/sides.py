"""What the commands that compare share: two sides, and what the server holds of the old one."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from crdlint import options
from crdlint.helping import option

if TYPE_CHECKING:
    from collections.abc import Callable

    from crdlint.source import Source

    Sides = tuple[list[Source], list[Source]]
    Stored = list[str] | Callable[[str], list[str] | None] | None

_SIDES, _STORED = "What to compare", "What the server holds"


def two_sides(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the arguments and options that name two sides."""
    added = (
        click.argument("paths", nargs=-1, metavar="OLD NEW | [PATH]..."),
        option(
            "--base",
            metavar="REV",
            is_flag=False,
            flag_value="",
            group=_SIDES,
            help="Compare the working tree with this git revision; without REV with the merge"
            " base.",
        ),
        option(
            "--head",
            metavar="REV",
            group=_SIDES,
            help="With --base: this revision, not the working tree.",
        ),
        option(
            "--stored-versions",
            metavar="V1,V2",
            group=_STORED,
            help="Versions that objects are stored in. Default: status.storedVersions of OLD.",
        ),
        option(
            "--stored-from-history",
            is_flag=True,
            group=_STORED,
            help="Take from git which versions objects can be stored in: all that were ever"
            " storage.",
        ),
        option(
            "--not-established",
            is_flag=True,
            group=_STORED,
            help="The server does not serve OLD yet.",
        ),
    )
    for add in reversed(added):
        command = add(command)
    return command


def sides(paths: tuple[str, ...], base: str | None, head: str | None, *, command: str) -> Sides:
    """Return the sources of both sides; of revisions the files that differ.

    Raises SourceError, and UsageError where the command line names no two sides.
    """
    from crdlint import revision
    from crdlint.source import SUFFIXES

    if base is not None or head is not None:
        if any(os.path.isfile(path) and not path.endswith(SUFFIXES) for path in paths):
            return whole(paths, base, head)  # a name that only the command line makes YAML
        old, new, start = revision.touched(base or None, head, paths)
        if not old and not new:
            options.note(f"no YAML or JSON file differs from {start}")
        return old, new
    if len(paths) != 2:
        raise click.UsageError(
            f"name two sides, such as: crdlint {command} old.yaml new.yaml; or a git revision to"
            f" compare with: crdlint {command} --base main config/crd"
        )
    if paths == ("-", "-"):
        raise click.UsageError("only one side can be stdin; give the other as a file")
    before, after = (list(revision.side(path)) for path in paths)
    return before, after


def whole(paths: tuple[str, ...], base: str | None, head: str | None) -> Sides:
    """Return the sources of both sides of a revision, files that do not differ too."""
    from crdlint import revision

    old, new, _ = revision.changed(base or None, head, paths)
    return old, new


def stored(
    named: str | None, from_history: bool, paths: tuple[str, ...], base: str | None
) -> Stored:
    """Return the stored versions that the command line names, or what finds them in git."""
    if not from_history:
        return _names(named)
    if named is not None:
        raise click.UsageError("give --stored-versions or --stored-from-history, not both")
    from crdlint import history, revision

    return history.stored_of(base or revision.revision_of(paths[0] if paths else "") or "HEAD")


def _names(text: str | None) -> list[str] | None:
    if text is None:
        return None
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise click.BadParameter("names no version: write --stored-versions v1alpha1,v1")
    return names
