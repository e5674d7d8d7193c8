"""The `validate` command: what a server does with custom resources."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from crdlint import settings
from crdlint.helping import STATUSES, Command

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crdlint.settings import Chosen, Settings
    from crdlint.validating import Judged, ValidateReport

STORED, DIFF = "stored", "diff"


EXAMPLES = (
    ("crdlint validate --crds config/crd config/samples", "samples against the CRDs beside them"),
    (
        "kubectl get widgets -A -o yaml | crdlint validate --crds crd.yaml -",
        "what a cluster has, under a CRD to come",
    ),
    (
        "crdlint validate --crds crd.yaml --old stored.yaml new.yaml",
        "an update of a stored object: transition rules, ratcheting",
    ),
    (
        "crdlint validate --crds v1.2.0:config/crd --show diff a.yaml",
        "what pruning and defaults do",
    ),
)


@click.command(
    cls=Command,
    short_help="Check custom resources as the API server does.",
    examples=EXAMPLES,
    statuses=STATUSES,
)
@click.argument("paths", nargs=-1, required=True, metavar="OBJECT...")
@click.option(
    "--crds",
    multiple=True,
    required=True,
    metavar="PATH",
    help="CRDs of the objects: a file, a folder, -, REVISION:PATH of git or cluster:NAME. "
    "Repeatable.",
)
@click.option(
    "--old",
    "olds",
    multiple=True,
    metavar="PATH",
    help="The stored objects, which those of the same kind, namespace and name update.",
)
@click.option("--strict", is_flag=True, help="Refuse unknown fields, as kubectl asks for.")
@click.option("--strict-kinds", is_flag=True, help="Refuse objects whose kind no CRD has.")
@click.option(
    "--subresource", type=click.Choice(("status",)), help="Write to this subresource instead."
)
@click.option(
    "--show",
    type=click.Choice((STORED, DIFF)),
    help="Print the objects as the server stores them, or what it changes in them; the report in"
    " text then goes to stderr.",
)
@settings.shared()
def validate(
    paths: tuple[str, ...],
    crds: tuple[str, ...],
    olds: tuple[str, ...],
    strict: bool,
    strict_kinds: bool,
    subresource: str | None,
    show: str | None,
    chosen: Chosen,
) -> int:
    """Send custom resources the API server's way: prune, default, validate.

    OBJECT is a file, a folder, - for stdin, or REVISION:PATH of git; files may hold several
    objects, and Lists as `kubectl get -o yaml` prints them.
    """
    if show and any(not file and name != "text" for name, file in chosen.outputs):
        raise click.UsageError(f"--show {show} has stdout; name a file for the report, as FMT=FILE")
    if (*crds, *olds, *paths).count("-") > 1:
        raise click.UsageError("only one of --crds, --old and OBJECT can be stdin")
    from crdlint import validating
    from crdlint.config import ConfigError
    from crdlint.revision import side
    from crdlint.source import SourceError

    run = chosen.settle(paths)
    try:
        report = validating.validate(
            [source for path in crds for source in side(path)],
            [source for path in paths for source in side(path)],
            minors=run.minors,
            olds=[source for path in olds for source in side(path)] if olds else None,
            strict=strict,
            strict_kinds=strict_kinds,
            status=subresource == "status",
            policy=run.policy,
        )
    except (SourceError, ConfigError, validating.ValidateError) as error:
        raise click.ClickException(str(error)) from None
    return run.finish(report) if show is None else _finish(report, run, show)


def _finish(report: ValidateReport, run: Settings, show: str) -> int:
    """Print what becomes of the objects on stdout, and the report beside it."""
    from crdlint.report import render

    chosen = run.chosen
    status = run.finish(report, outputs=[pair for pair in chosen.outputs if pair[1]])
    if ("text", "") in chosen.outputs:
        text = render(
            "text",
            report,
            color=chosen.color == "always",  # the colours of stdout say nothing about stderr
            quiet=chosen.quiet,
            verbose=chosen.verbose,
            statistics=chosen.statistics,
            texts=report.texts,
        )
        click.echo(text, nl=False, err=True)
    for text in _stored(report.judged) if show == STORED else _changes(report.judged):
        sys.stdout.write(text)
    sys.stdout.flush()
    return status


def _stored(judged: list[Judged]) -> Iterator[str]:
    """Yield the objects as the server stores them, as documents of one stream."""
    from crdlint import yaml_text

    first = True
    for one in judged:
        if one.accepted:
            yield ("" if first else "---\n") + yaml_text.dump(one.stored)
            first = False


def _changes(judged: list[Judged]) -> Iterator[str]:
    """Yield what the server changes in each object that it takes, as a unified diff."""
    from difflib import unified_diff

    from crdlint import yaml_text

    for one in judged:
        if one.accepted:
            given, name = one.given, one.given.document.name
            shown = f"{name} ({'/'.join(filter(None, (given.namespace(), given.name())))})"
            before, after = (yaml_text.dump(data).splitlines() for data in (given.data, one.stored))
            for line in unified_diff(
                before, after, name, shown, "as written", "as stored", lineterm=""
            ):
                yield f"{line}\n"
