"""The `convert` command: CRDs of apiextensions.k8s.io/v1beta1 become v1."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from crdlint import options, rewriting
from crdlint.helping import Command

if TYPE_CHECKING:
    from crdlint.converting import Converted
    from crdlint.source import Source


@click.command(
    cls=Command,
    short_help="Convert CRDs from apiextensions v1beta1 to v1.",
    examples=(
        ("crdlint convert crd.yaml > crd-v1.yaml", "one file, to stdout"),
        ("crdlint convert --write config/crd", "all files of a folder, in place"),
    ),
    statuses=(
        ("0", "the API server takes every CRD of the files"),
        ("1", "something is left to do, listed on stderr"),
        ("2", "wrong usage, or a file that cannot be read or written"),
    ),
)
@click.argument("paths", nargs=-1, metavar="PATH...")
@click.option("--write", "mode", flag_value="write", help="Change the files.")
@click.option("--diff", "mode", flag_value="diff", help="Show what would change.")
@click.option(
    "--prune",
    is_flag=True,
    help="Let the new CRD prune unknown fields that v1beta1 kept, as v1 does by default.",
)
@click.option(
    "--color",
    type=click.Choice(("auto", "always", "never")),
    default="auto",
    show_default=True,
    help="Colour the diff.",
)
def convert(paths: tuple[str, ...], mode: str | None, prune: bool, color: str) -> int:
    """Convert CRDs from apiextensions.k8s.io/v1beta1 to v1, their comments and order kept.

    PATH is a file, a folder (with --write or --diff) or - for stdin. The result of one file goes
    to stdout. Schema, subresources and columns move to each version; unknown fields that v1beta1
    kept are kept. What is no v1beta1 CRD stays as it is. What a machine cannot put right, such as
    a schema that is not structural, is listed, and the rest still done.
    """
    from crdlint import converting, source

    if not paths:
        raise click.UsageError("name a file, a folder, or - for stdin: crdlint convert crd.yaml")
    files = list(source.find(paths))
    if mode is None and len(files) > 1:
        raise click.UsageError(
            f"{len(files)} files cannot all go to stdout; add --write or --diff, or name one"
        )
    run = _Run(mode, paths, options.coloured(color))
    for file in files:
        try:
            data = file.read()
        except source.SourceError as error:
            run.fail(str(error))
            continue
        run.take(file, data, converting.convert(data, file.name, keep=not prune))
    return run.close()


class _Run:
    """Shows or writes what becomes of each file, and says what is left."""

    def __init__(self, mode: str | None, paths: tuple[str, ...], colour: bool) -> None:
        self.mode = mode
        self.paths = paths
        self.colour = colour
        self.count = self.left = 0
        self.failed = False

    def fail(self, text: str) -> None:
        """Report a file that cannot be read or written."""
        self.failed = True
        click.echo(f"error: {text}", err=True)

    def take(self, file: Source, data: bytes, result: Converted) -> None:
        """Deal with one file."""
        for line, name, why in result.failed:
            click.echo(f"{file.name}:{line}: {name or 'a CRD'} is not converted: {why}", err=True)
        for finding in result.left:
            spot = finding.spot
            text = f"{finding.rule}: {finding.field} {finding.message}"
            click.echo(f"{file.name}:{spot.line}: {text}", err=True)
        if self.mode is None or (self.mode == "write" and file.size < 0):
            sys.stdout.buffer.write(result.data)
            sys.stdout.flush()
        elif result.data != data and self.mode == "diff":
            rewriting.show(file.name, data, result.data, colour=self.colour)
        elif result.data != data:
            try:
                rewriting.replace(file.name, result.data, self.paths)
            except rewriting.WriteError as error:
                self.fail(str(error))
                return
        self.count += result.count
        self.left += len(result.failed) + len(result.left)

    def close(self) -> int:
        """Say on stderr what was done, and return the exit status."""
        crds = "1 CRD" if self.count == 1 else f"{self.count} CRDs"
        text = f"converted {crds}" if self.count else "no v1beta1 CRD to convert"
        if self.left:
            text += f"; {self.left} left to do by hand, `crdlint fix --unsafe` may know some"
        click.echo(text, err=True)
        if self.failed:
            return options.WRONG
        return options.FOUND if self.left else options.CLEAN
