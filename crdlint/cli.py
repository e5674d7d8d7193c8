"""The command line: click commands and exit codes, nothing else."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from crdlint import __version__
from crdlint.celcli import cel as cel_command
from crdlint.diffcli import diff as diff_command
from crdlint.options import CLEAN, FOUND, WRONG, coloured, minors, note, outputs, write

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from crdlint.api import Report

INTERRUPTED = 130
FAIL_ON = ("error", "warning", "info", "never")
PROFILES = ("default", "api", "strict")


@click.group(
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit status: 0 nothing at or above --fail-on, 1 findings, "
    "2 wrong usage or unreadable input.",
)
@click.version_option(__version__, "-V", "--version", message="crdlint %(version)s")
def cli() -> None:
    """Say, without a cluster, what a Kubernetes API server says to a CustomResourceDefinition."""


def _formats(_: click.Context, __: click.Parameter, texts: Sequence[str]) -> list[tuple[str, str]]:
    return outputs(texts)


def _shared(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that every command with findings has."""
    options = (
        click.option(
            "--kubernetes-version",
            "minors",
            metavar="VERSION",
            callback=minors,
            help="API server to speak for: 1.30, or a range as 1.28..1.37. Default: the newest.",
        ),
        click.option(
            "--format",
            "outputs",
            metavar="FMT[=FILE]",
            multiple=True,
            callback=_formats,
            help="text (default), json, sarif or github; with =FILE into a file. Repeatable.",
        ),
        click.option(
            "--fail-on",
            type=click.Choice(FAIL_ON),
            default="error",
            show_default=True,
            help="Lowest severity that makes the exit status 1.",
        ),
        click.option(
            "--profile",
            type=click.Choice(PROFILES),
            default="default",
            show_default=True,
            help="Rules to run: the server's verdict and data loss; API conventions; everything.",
        ),
        click.option(
            "--color",
            type=click.Choice(("auto", "always", "never")),
            default="auto",
            show_default=True,
            help="Colour in text; NO_COLOR and FORCE_COLOR are heeded.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


@cli.command(
    epilog="Examples: crdlint lint config/crd; helm template . | crdlint lint -; "
    "crdlint lint --kubernetes-version 1.28..1.37 --format sarif=crdlint.sarif crd.yaml"
)
@click.argument("paths", nargs=-1, metavar="PATH...")
@click.option("--stdin-filename", metavar="NAME", help="Name to show for what comes from stdin.")
@click.option(
    "--files-from", metavar="FILE", help="Read more paths from FILE (or -), one a line or NUL."
)
@click.option(
    "--jobs",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="Processes for large inputs; 0 (default) for as many as there are processors.",
)
@_shared
def lint(
    paths: tuple[str, ...],
    stdin_filename: str | None,
    files_from: str | None,
    jobs: int,
    minors: list[int] | None,
    outputs: list[tuple[str, str]],
    fail_on: str,
    profile: str,
    color: str,
) -> int:
    """Check CRDs as the API server does on create, and for what hurts later.

    PATH is a file, a folder (all .yaml, .yml and .json below it) or - for stdin.
    """
    from crdlint import api, source
    from crdlint.policy import Policy, fails

    if not paths and not files_from:
        raise click.UsageError("name a file, a folder, or - for stdin: crdlint lint config/crd")
    progress = _Progress()
    try:
        sources = source.find(paths, stdin_filename=stdin_filename or "", files_from=files_from)
        report = api.lint(
            sources,
            minors=minors,
            policy=Policy(profile),
            progress=progress.tick if progress.on else None,
            jobs=jobs,
        )
    except source.SourceError as error:
        progress.clear()
        raise click.UsageError(str(error)) from None
    progress.clear()
    return _finish(report, outputs, color, fails(report.findings, fail_on))


class _Progress:
    """Say on a terminal which file is being read, once a run takes long."""

    def __init__(self) -> None:
        import time

        self.clock = time.monotonic
        self.start = self.clock()
        self.shown = False
        self.on = sys.stderr.isatty()
        self.count = 0

    def tick(self, name: str) -> None:
        self.count += 1
        if self.on and self.clock() - self.start > 1:
            self.start, self.shown = self.clock() - 0.9, True
            click.echo(f"\r\x1b[K{self.count} files, {name[-60:]}", nl=False, err=True)

    def clear(self) -> None:
        if self.shown:
            click.echo("\r\x1b[K", nl=False, err=True)


def _finish(report: Report, outputs: list[tuple[str, str]], color: str, failed: bool) -> int:
    """Write a report in every format that was asked for, and return the exit status."""
    from crdlint import report as formats

    for line in report.summary.notes:
        note(line)
    for line in report.errors:
        click.echo(f"error: {line}", err=True)
    for name, file in outputs:
        in_colour = not file and coloured(color)
        text = formats.render(name, report, color=in_colour, texts=report.texts)
        if file:
            write(file, text)
        else:
            sys.stdout.write(text)
    sys.stdout.flush()
    return WRONG if report.errors else FOUND if failed else CLEAN


@cli.command()
@click.option("--format", "style", type=click.Choice(("text", "json")), default="text")
def rules(style: str) -> int:
    """List all rules."""
    from crdlint import explain

    click.echo(explain.table(style))
    return CLEAN


@cli.command("explain", epilog="Example: crdlint explain type-required")
@click.argument("what", metavar="RULE|TEXT")
def explain_(what: str) -> int:
    """Show the page of a rule, or find the rule for an error message of the API server."""
    from crdlint import explain

    found = explain.explain(what, color=coloured("auto"))
    if found is None:
        raise click.UsageError(explain.unknown(what))
    click.echo(found)
    return CLEAN


cli.add_command(cel_command)
cli.add_command(diff_command)


def main() -> None:
    """Run the command line; never show a traceback for what a user can cause."""
    import os

    try:
        status = cli.main(standalone_mode=False)
    except click.exceptions.Exit as done:
        status = done.exit_code
    except click.ClickException as error:
        error.show()
        status = WRONG
    except (KeyboardInterrupt, click.Abort):
        click.echo("interrupted", err=True)
        status = INTERRUPTED
    except BrokenPipeError:
        # The reader went away (`| head`): what it wanted, it has.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = CLEAN
    sys.exit(status)
