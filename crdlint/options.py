"""What the commands share: exit statuses, options, and how a report leaves the process."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from crdlint.api import Report

CLEAN, FOUND, WRONG = 0, 1, 2
WITH_FIXES = ("sarif", "rdjson")
FAIL_ON = ("error", "warning", "info", "never")
PROFILES = ("default", "api", "strict")
FORMATS_HELP = (
    "text (default), json, sarif, github, gitlab, azure, markdown, junit, checkstyle or rdjson;"
    " with =FILE into a file. Repeatable."
)


def style(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declare --format of a command that prints one document; the first name is the default."""
    return click.option(
        "--format",
        "style",
        type=click.Choice(names),
        default=names[0],
        show_default=True,
        help="How to print it.",
    )


def minors(_: click.Context, __: click.Parameter, text: str | None) -> list[int] | None:
    return None if text is None else read_minors(text)


def read_minors(text: str) -> list[int]:
    """Return the minors of a version or range; say as a note what was read otherwise."""
    from crdlint import kubernetes

    try:
        named, notes = kubernetes.parse_range(text)
    except kubernetes.VersionError as error:
        raise click.BadParameter(str(error)) from None
    for line in notes:
        note(line)
    return named


def outputs(texts: Sequence[str]) -> list[tuple[str, str]]:
    """Read `--format FMT[=FILE]`: (format, file) pairs, "" for stdout, which only one may take."""
    from crdlint.report import FORMATS

    pairs = []
    for text in texts or ("text",):
        name, _equals, file = text.partition("=")
        if name not in FORMATS:
            raise click.BadParameter(f"{name!r} is no format; there are {', '.join(FORMATS)}")
        pairs.append((name, file))
    if sum(not file for _, file in pairs) > 1:
        raise click.BadParameter("only one format can go to stdout; write the others as FMT=FILE")
    return pairs


def note(text: str) -> None:
    """Print a note on stderr."""
    click.echo(f"note: {text}", err=True)


def coloured(choice: str) -> bool:
    """Tell whether stdout gets colours: as asked for, else as the environment says."""
    import os

    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if forced := os.environ.get("FORCE_COLOR"):
        return forced not in ("0", "false")
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def write(file: str, text: str) -> None:
    """Write a file whole or not at all; what is no file, such as a pipe, is written to in place."""
    import os

    try:
        if os.path.exists(file) and not os.path.isfile(file):
            with open(file, "w", encoding="utf-8", newline="\n") as out:
                out.write(text)
        else:
            _replace(os.path.realpath(file), text)
    except OSError as error:
        raise click.ClickException(
            f"{file} cannot be written: {error.strerror}; name a file in a folder that exists "
            "and that you may write to"
        ) from None


def _replace(file: str, text: str) -> None:
    """Put a new file in the place of an old one, with its permissions, or those of any new one."""
    import os
    import tempfile

    try:
        mode = os.stat(file).st_mode & 0o7777
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        mode = 0o666 & ~mask
    handle, name = tempfile.mkstemp(dir=os.path.dirname(file), prefix=".crdlint-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as out:
            out.write(text)
        os.chmod(name, mode)
        os.replace(name, file)
    except BaseException:
        os.unlink(name)
        raise


def formats(_: click.Context, __: click.Parameter, texts: Sequence[str]) -> list[tuple[str, str]]:
    return outputs(texts)


class Progress:
    """Say on a terminal which file is being read, once a run takes long."""

    def __init__(self) -> None:
        import time

        self.clock = time.monotonic
        self.start = self.clock()
        self.shown = False
        self.on = sys.stderr.isatty()
        self.count = 0

    def tick(self, name: str) -> None:
        """Count a file, and show it when a second has passed since the last one shown."""
        self.count += 1
        if self.on and self.clock() - self.start > 1:
            self.start, self.shown = self.clock() - 0.9, True
            click.echo(f"\r\x1b[K{self.count} files, {name[-60:]}", nl=False, err=True)

    def clear(self) -> None:
        """Leave the line of the terminal as it was."""
        if self.shown:
            click.echo("\r\x1b[K", nl=False, err=True)


def _suggester(report: Report) -> Any:
    """Return what gives reports the fix of a finding; `validate` and its kin have none."""
    from crdlint import api

    if not isinstance(report, api.Report):
        return None
    from crdlint import fixing

    return fixing.suggester(report)


def finish(
    report: Report,
    outputs: list[tuple[str, str]],
    color: str,
    failed: bool,
    *,
    diff: bool = False,
    quiet: bool = False,
    verbose: bool = False,
    statistics: bool = False,
    suppressed: bool = False,
) -> int:
    """Write a report in every format that was asked for, and return the exit status."""
    from crdlint import report as formats

    for line in () if quiet else report.summary.notes:
        note(line)
    for line in report.errors:
        click.echo(f"error: {line}", err=True)
    for name, file in outputs:
        text = formats.render(
            name,
            report,
            color=not file and coloured(color),
            diff=diff,
            quiet=quiet,
            verbose=verbose,
            statistics=statistics,
            suppressed=suppressed,
            texts=report.texts,
            fix=_suggester(report) if name in WITH_FIXES and not diff else None,
        )
        if file:
            write(file, text)
        else:
            sys.stdout.write(text)
    sys.stdout.flush()
    return WRONG if report.errors else FOUND if failed else CLEAN
