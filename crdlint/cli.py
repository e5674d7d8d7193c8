"""The command line: the group of commands, and how the process ends."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from crdlint import __version__
from crdlint.options import CLEAN, WRONG

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# Command -> the module of crdlint.commands that has it under the same name. Modules are loaded
# when a command is run, so that none pays for the others. The order is that of --help.
COMMANDS = {
    "lint": "lint",
    "diff": "diff",
    "validate": "validate",
    "fix": "fix",
    "explain": "rules",
    "rules": "rules",
    "cel": "cel",
    "versions": "versions",
    "stored": "stored",
    "plan": "plan",
    "convert": "convert",
    "export": "export",
    "init": "config",
    "config": "config",
    "completion": "completion",
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

    # A reader that goes away (`| head`) has what it wanted; click would exit with 1, as if
    # something was found.

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        try:
            return super().make_context(*args, **extra)
        except BrokenPipeError:
            raise click.exceptions.Exit(CLEAN) from None

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise click.exceptions.Exit(CLEAN) from None


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
    _prepare_output()
    try:
        status = cli.main(prog_name="crdlint", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.Exit as done:
        status = done.exit_code
    except click.ClickException as error:
        _complain(error.show)
        status = WRONG
    except click.Abort:
        raise KeyboardInterrupt from None
    except BrokenPipeError:
        _drop_output()
        status = CLEAN
    except OSError as error:
        _drop_output()
        said = f"Error: {_failed(error)}"
        _complain(lambda: click.echo(said, err=True))
        status = WRONG
    sys.exit(status)


def _prepare_output() -> None:
    """Let any text be written: as UTF-8, and on a terminal in what that shows."""
    import os

    for name in ("stdout", "stderr"):
        stream: Any = getattr(sys, name)
        if stream is None:  # closed by the caller, who wants the exit status only
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif stream.isatty():
            stream.reconfigure(errors="replace")
        else:
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def _drop_output() -> None:
    """Let what is not yet written go nowhere, so that the end of the process does not fail too."""
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _complain(say: Callable[[], None]) -> None:
    """Say on stderr what is wrong; where that cannot be written, the exit status says it."""
    import contextlib

    with contextlib.suppress(OSError):
        say()


def _failed(error: OSError) -> str:
    """Say what the system refused that no command expects: output, or the current folder."""
    if not _has_folder():
        return "the current folder is gone; change to one that exists"
    if error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return f"the output cannot be written: {error.strerror}; send it elsewhere"


def _has_folder() -> bool:
    import os

    try:
        return bool(os.getcwd())
    except OSError:
        return False
