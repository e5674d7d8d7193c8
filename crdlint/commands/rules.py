"""The commands `rules` and `explain`: what crdlint looks for, and why."""

from __future__ import annotations

import click

from crdlint import options


@click.command()
@click.option("--format", "style", type=click.Choice(("text", "json")), default="text")
def rules(style: str) -> int:
    """List all rules."""
    from crdlint import explain

    click.echo(explain.table(style))
    return options.CLEAN


@click.command("explain", epilog="Example: crdlint explain type-required")
@click.argument("what", metavar="RULE|TEXT")
def explain(what: str) -> int:
    """Show the page of a rule, or find the rule for an error message of the API server."""
    from crdlint import explain as pages_of

    color = options.coloured("auto")
    found = pages_of.explain(what, color=color)
    if found is None:
        raise click.UsageError(pages_of.unknown(what))
    click.echo(found, color=color)
    return options.CLEAN
