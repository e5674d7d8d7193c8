"""The commands `rules` and `explain`: what crdlint looks for, and why."""

from __future__ import annotations

import click

from crdlint import options
from crdlint.helping import Command


@click.command(
    cls=Command,
    examples=(
        ("crdlint rules", "severity, profile and title of each"),
        ("crdlint rules --format json", "for programs"),
    ),
)
@options.style("text", "json")
def rules(style: str) -> int:
    """List all rules."""
    from crdlint import explain

    click.echo(explain.table(style))
    return options.CLEAN


@click.command(
    "explain",
    cls=Command,
    short_help="Show the page of a rule, or find the rule for an error message.",
    examples=(
        ("crdlint explain type-required", "why, a bad example, a good one"),
        (
            'crdlint explain "must not be empty for specified object fields"',
            "what kubectl, Helm or Argo CD printed",
        ),
    ),
    statuses=(("0", "shown"), ("2", "no such rule or message")),
)
@click.argument("what", metavar="RULE|TEXT")
def explain(what: str) -> int:
    """Show the page of a rule, or find the rule for an error message of the API server."""
    from crdlint import explain as pages_of

    color = options.coloured("auto")
    found = pages_of.explain(what, color=color)
    if found is None:
        raise click.ClickException(pages_of.unknown(what))
    click.echo(found, color=color)
    return options.CLEAN
