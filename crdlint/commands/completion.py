"""The `completion` command: what a shell needs to complete crdlint's words."""

from __future__ import annotations

import click

from crdlint import options
from crdlint.helping import Command


@click.command(
    cls=Command,
    short_help="Print the script for completion in a shell.",
    examples=(
        ('eval "$(crdlint completion bash)"', "in ~/.bashrc"),
        ('eval "$(crdlint completion zsh)"', "in ~/.zshrc"),
        ("crdlint completion fish | source", "in ~/.config/fish/config.fish"),
    ),
)
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
def completion(shell: str) -> int:
    """Print the script that makes a shell complete commands, options and rules."""
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    assert found is not None
    script = found(
        click.get_current_context().find_root().command, {}, "crdlint", "_CRDLINT_COMPLETE"
    )
    click.echo(script.source_template % script.source_vars())
    return options.CLEAN
