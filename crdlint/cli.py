"""The command line: the group of commands, and how the process ends."""

from __future__ import annotations

import sys

import click

from crdlint import __version__
from crdlint.options import CLEAN, WRONG

INTERRUPTED = 130

# Command -> the module of crdlint.commands that has it under the same name. Modules are loaded
# when a command is run, so that none pays for the others.
COMMANDS = {
    "cel": "cel",
    "convert": "convert",
    "completion": "completion",
    "config": "config",
    "diff": "diff",
    "explain": "rules",
    "fix": "fix",
    "export": "export",
    "init": "config",
    "lint": "lint",
    "plan": "plan",
    "rules": "rules",
    "stored": "stored",
    "validate": "validate",
    "versions": "versions",
}


class _Lazy(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        import importlib

        module = importlib.import_module(f"crdlint.commands.{COMMANDS[cmd_name]}")
        command: click.Command = getattr(module, cmd_name)
        return command


@click.group(
    cls=_Lazy,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit status: 0 nothing at or above --fail-on, 1 findings, "
    "2 wrong usage or unreadable input.",
)
@click.version_option(__version__, "-V", "--version", message="crdlint %(version)s")
def cli() -> None:
    """Say, without a cluster, what a Kubernetes API server says to a CustomResourceDefinition."""


def main() -> None:
    """Run the command line; never show a traceback for what a user can cause."""
    import os

    try:
        status = cli.main(prog_name="crdlint", standalone_mode=False)
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
