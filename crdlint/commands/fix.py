"""The `fix` command: the mechanical cures, shown as a diff or written."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from crdlint import options, rewriting, settings
from crdlint.helping import Command

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crdlint.fixing import Fixed
    from crdlint.source import Source


def _rules(_: click.Context, __: click.Parameter, texts: tuple[str, ...]) -> frozenset[str]:
    """Read --select: rules that have a fix, each option one or more with commas."""
    from crdlint import fixes

    fixes.load()
    named = [word.strip() for text in texts for word in text.split(",") if word.strip()]
    for name in named:
        if name in fixes.CURES:
            continue
        from crdlint import pages

        known = name in pages.ids()
        reason = "has no fix" if known else "is no rule"
        raise click.BadParameter(f"{name} {reason}; crdlint rules lists them")
    return frozenset(named)


@click.command(
    cls=Command,
    short_help="Cure what a machine can cure, and leave every other byte.",
    examples=(
        ("crdlint fix config/crd", "show what would change"),
        ("crdlint fix --write --select crd-name config/crd", "change it, for one rule"),
        ("kustomize build | crdlint fix -", "what comes from stdin, fixed"),
    ),
    statuses=(
        ("0", "nothing to fix; with --write no error remains"),
        ("1", "something to fix; with --write an error remains"),
        ("2", "wrong usage, or a file that cannot be read or written"),
    ),
)
@click.argument("paths", nargs=-1, metavar="PATH...")
@click.option("--diff", "mode", flag_value="diff", help="Show what would change (the default).")
@click.option("--write", "mode", flag_value="write", help="Change the files.")
@click.option("--unsafe", is_flag=True, help="Make fixes that want to be looked at, too.")
@click.option(
    "--select",
    multiple=True,
    metavar="RULE",
    callback=_rules,
    help="Fix only what this rule finds. Repeatable, or with commas.",
)
@click.option(
    "--kubernetes-version",
    "minors",
    metavar="VERSION",
    callback=options.minors,
    help="API server to speak for: 1.30, or a range as 1.28..1.37. Default: the newest.",
)
@click.option(
    "--profile",
    type=click.Choice(options.PROFILES),
    help="Rules to run. Default: what the configuration says, else default.",
)
@click.option("--config", "config_file", metavar="FILE", help="Read this configuration.")
@click.option("--no-config", is_flag=True, help="Read no configuration.")
@click.option(
    "--color",
    type=click.Choice(("auto", "always", "never")),
    default="auto",
    show_default=True,
    help="Colour the diff.",
)
def fix(
    paths: tuple[str, ...],
    mode: str | None,
    unsafe: bool,
    select: frozenset[str],
    minors: list[int] | None,
    profile: str | None,
    config_file: str | None,
    no_config: bool,
    color: str,
) -> int:
    """Cure what a machine can cure in CRDs, and leave every other byte as it is.

    PATH is a file, a folder (all .yaml, .yml and .json below it) or - for stdin, whose text goes
    to stdout as it is after the fixes. Nothing is changed without --write. A fix is made only when
    the file reads right afterwards: the finding gone, no other come, all other values equal.
    """
    from crdlint import fixing, source

    if not paths:
        raise click.UsageError("name a file, a folder, or - for stdin: crdlint fix config/crd")
    told = settings.Chosen(
        {
            "config_file": config_file,
            "extend_select": [],
            "fail_on": None,
            "ignore": [],
            "levels": {},
            "minors": minors,
            "no_config": no_config,
            "no_ignores": False,
            "profile": profile,
            "select": [],
        }
    ).settle(paths)
    wanted = fixing.Options(unsafe=unsafe, select=select, minors=told.minors, policy=told.policy)
    run = _Run(mode, options.coloured(color))
    for file in source.find(paths):
        try:
            data = file.read()
        except source.SourceError as error:
            run.fail(str(error))
            continue
        run.take(file, data, fixing.fix(data, file.name, wanted), paths)
    return run.close()


class _Run:
    """Shows or writes what becomes of each file, and counts."""

    def __init__(self, mode: str | None, colour: bool) -> None:
        self.mode = mode
        self.colour = colour
        self.fixed = self.files = self.unsafe = self.errors = 0
        self.failed = False

    def fail(self, text: str) -> None:
        self.failed = True
        click.echo(f"error: {text}", err=True)

    def take(self, file: Source, data: bytes, result: Fixed, paths: Iterable[str]) -> None:
        """Deal with one file."""
        for finding, why in result.failed:
            spot = finding.spot
            options.note(f"{spot.file}:{spot.line}: {finding.rule} is not fixed: {why}")
        stdin = file.size < 0
        if stdin and self.mode != "diff":
            sys.stdout.buffer.write(result.data)
            sys.stdout.flush()
        elif result.data != data:
            if self.mode != "write":
                rewriting.show(file.name, data, result.data, colour=self.colour)
            elif not self.write(file.name, result.data, paths):
                return
        self.files += result.data != data
        self.fixed += len(result.made)
        self.unsafe += len(result.unsafe)
        self.errors += sum(finding.severity == "error" for finding in result.left)

    def write(self, name: str, data: bytes, paths: Iterable[str]) -> bool:
        """Write a file; return whether that went well."""
        try:
            rewriting.replace(name, data, paths)
        except rewriting.WriteError as error:
            self.fail(str(error))
            return False
        return True

    def close(self) -> int:
        """Say on stderr what was done, and return the exit status."""
        writes = self.mode == "write"
        text = "nothing to fix"
        if self.fixed:
            verb = "fixed" if writes else "would fix"
            findings = "finding" if self.fixed == 1 else "findings"
            files = "1 file" if self.files == 1 else f"{self.files} files"
            text = f"{verb} {self.fixed} {findings} in {files}"
            if not writes:
                text += "; --write changes the files"
        if self.unsafe:
            text += f"; {self.unsafe} more with --unsafe"
        click.echo(text, err=True)
        if self.failed:
            return options.WRONG
        return options.FOUND if (self.errors if writes else self.fixed) else options.CLEAN
