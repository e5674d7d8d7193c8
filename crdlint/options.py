"""What the commands share: exit statuses, options, and how a report leaves the process."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Sequence

CLEAN, FOUND, WRONG = 0, 1, 2


def minors(_: click.Context, __: click.Parameter, text: str | None) -> list[int] | None:
    from crdlint import kubernetes

    if text is None:
        return None
    try:
        named, notes = kubernetes.parse_range(text)
    except kubernetes.VersionError as error:
        raise click.BadParameter(str(error)) from None
    for line in notes:
        note(line)
    return named


def outputs(texts: Sequence[str], also: tuple[str, ...] = ()) -> list[tuple[str, str]]:
    """Read `--format FMT[=FILE]`: (format, file) pairs, "" for stdout, which only one may take.

    `also` names formats that a command has beside those of all.
    """
    from crdlint.report import FORMATS

    known = (*FORMATS, *(name for name in also if name not in FORMATS))
    pairs = []
    for text in texts or ("text",):
        name, _equals, file = text.partition("=")
        if name not in known:
            raise click.BadParameter(f"{name!r} is no format; there are {', '.join(known)}")
        pairs.append((name, file))
    if sum(not file for _, file in pairs) > 1:
        raise click.BadParameter("only one format can go to stdout; write the others as FMT=FILE")
    return pairs


def note(text: str) -> None:
    """Print a note on stderr."""
    click.echo(f"note: {text}", err=True)


def coloured(choice: str) -> bool:
    import os

    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or sys.stdout.isatty()


def write(file: str, text: str) -> None:
    """Write a file whole or not at all."""
    import os
    import tempfile

    folder = os.path.dirname(file) or "."
    try:
        handle, name = tempfile.mkstemp(dir=folder, prefix=".crdlint-")
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as out:
                out.write(text)
            mask = os.umask(0)
            os.umask(mask)
            os.chmod(name, 0o666 & ~mask)
            os.replace(name, os.path.realpath(file))
        except BaseException:
            os.unlink(name)
            raise
    except OSError as error:
        raise click.UsageError(
            f"{file} cannot be written: {error.strerror}; name a file in a folder that exists "
            "and that you may write to"
        ) from None
