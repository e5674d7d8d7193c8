"""How a changed file is shown as a diff, or replaced."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def show(name: str, before: bytes, after: bytes, *, colour: bool) -> None:
    """Print a unified diff; the bytes of the lines are those of the file."""
    styles = {"+": "green", "-": "red", "@": "cyan"}
    for line in diff_lines(name, before, after):
        text = line.decode("utf-8", "replace")
        style = styles.get(text[:1]) if colour else None
        if style:
            sys.stdout.buffer.write(click.style(text.rstrip("\r\n"), fg=style).encode() + b"\n")
        else:
            sys.stdout.buffer.write(line)
    sys.stdout.flush()


def diff_lines(name: str, before: bytes, after: bytes) -> Iterator[bytes]:
    """Yield the lines of a unified diff of two texts."""
    import difflib

    file = os.fsencode(name)
    for line in difflib.diff_bytes(
        difflib.unified_diff,
        _lines(before),
        _lines(after),
        file,
        file,
    ):
        yield line if line.endswith(b"\n") else line + b"\n\\ No newline at end of file\n"


def _lines(text: bytes) -> list[bytes]:
    """Cut a text behind its line feeds; a carriage return alone ends no line."""
    lines = [line + b"\n" for line in text.split(b"\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


class WriteError(Exception):
    """A file that is not written; the message names file, reason and cure."""


def replace(name: str, data: bytes, paths: Iterable[str]) -> None:
    """Replace a file whole or not at all; links are followed, but not out of the given paths.

    The file keeps its mode. Raises WriteError.
    """
    import stat
    import tempfile

    real = os.path.realpath(name)
    roots = [os.path.realpath(path) for path in paths]
    if not any(real == root or real.startswith(os.path.join(root, "")) for root in roots):
        raise WriteError(f"{name}: is a link to {real}, outside of what was named; name that file")
    try:
        mode = stat.S_IMODE(os.stat(real).st_mode)
        if not mode & 0o222 or not os.access(real, os.W_OK):
            raise WriteError(f"{name}: may not be written; grant write permission to this user")
        handle, temporary = tempfile.mkstemp(dir=os.path.dirname(real), prefix=".crdlint-")
        try:
            with os.fdopen(handle, "wb") as out:
                out.write(data)
            os.chmod(temporary, mode)
            os.replace(temporary, real)
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError as error:
        raise WriteError(
            f"{name}: cannot be written ({error.strerror}); check the folder it is in"
        ) from None
