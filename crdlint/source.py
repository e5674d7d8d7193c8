"""Where text comes from: files, folders, standard input and lists of files."""

from __future__ import annotations

import os
import stat
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

STDIN = "-"
SUFFIXES = (".yaml", ".yml", ".json")
_SKIPPED = frozenset((".git", ".hg", ".svn"))


class SourceError(Exception):
    """Input that cannot be had; the message names the file, the reason and the cure."""

    def __init__(self, name: str, reason: str, cure: str) -> None:
        shown = name if name and name.isprintable() else repr(name)
        super().__init__(f"{shown}: {reason}; {cure}")
        self.name = name
        self.reason = reason
        self.cure = cure


class Source:
    """A text with a name: as given on the command line, or joined from a folder and what is in it.

    `read` returns the bytes and raises SourceError. Other kinds of source give their own reader.
    """

    __slots__ = ("_reader", "name")

    def __init__(self, name: str, reader: Callable[[], bytes] | None = None) -> None:
        self.name = name
        self._reader = reader

    def read(self) -> bytes:
        """Return the whole text."""
        return self._reader() if self._reader else read_file(self.name)

    @property
    def size(self) -> int:
        """Return how many bytes a file has, or -1 for what cannot be read a second time."""
        if self._reader:
            return -1
        try:
            status = os.stat(self.name)
        except (OSError, ValueError):
            return 0
        return status.st_size if stat.S_ISREG(status.st_mode) else -1

    def __repr__(self) -> str:
        return f"Source({self.name!r})"


class Unreadable(Source):
    """A path that cannot be read, kept in its place so that the others still are."""

    __slots__ = ("_error",)

    def __init__(self, error: SourceError) -> None:
        super().__init__(error.name)
        self._error = error

    def read(self) -> bytes:
        """Raise what is wrong with the path."""
        raise self._error


def read_file(name: str) -> bytes:
    """Read a file or a pipe (as a shell's process substitution gives), not a device."""
    try:
        with open(name, "rb") as file:
            if stat.S_ISCHR(os.fstat(file.fileno()).st_mode) or _is_disk(file.fileno()):
                raise SourceError(name, "is a device, not a file", "name a file with YAML or JSON")
            return file.read()
    except OSError as error:
        raise _explain(name, error) from None
    except ValueError:
        raise SourceError(name, "is not a file name", "leave out the NUL character") from None


def _is_disk(descriptor: int) -> bool:
    return stat.S_ISBLK(os.fstat(descriptor).st_mode)


def read_stdin() -> bytes:
    """Read standard input to its end."""
    try:
        return sys.stdin.buffer.read()
    except (OSError, AttributeError, ValueError) as error:
        reason = f"cannot be read ({getattr(error, 'strerror', None) or 'it is closed'})"
        raise SourceError("standard input", reason, "pipe YAML or JSON into it") from None


def find(
    paths: Iterable[str], *, stdin_filename: str = "", files_from: str | None = None
) -> Iterator[Source]:
    """Yield the sources that paths name, each once, in the order given; folders in sorted order.

    A folder stands for the .yaml, .yml and .json files in it and below. `-` is standard input,
    reported as `stdin_filename`. `files_from` is a file with one path on each line, or separated by
    NUL, or `-`: those paths come after the others. A path that cannot be read is a source whose
    `read` raises SourceError; a list of files that cannot be read raises it here.
    """
    seen: set[str] = set()
    listed = list(paths)
    if files_from is not None:
        if files_from == STDIN and STDIN in listed:
            cure = "give the list in a file, or the documents in files"
            raise SourceError("-", "is both the list of files and a document", cure)
        listed += listed_paths(files_from)
    for path in listed:
        for source in _at(path, stdin_filename):
            if source.name not in seen:
                seen.add(source.name)
                yield source


def listed_paths(name: str) -> list[str]:
    """Return the paths that a file, or standard input for `-`, lists: by line or NUL."""
    data = read_stdin() if name == STDIN else read_file(name)
    if b"\0" in data:
        entries = data.split(b"\0")
    else:
        entries = [line.removesuffix(b"\r") for line in data.split(b"\n")]
    return [os.fsdecode(entry) for entry in entries if entry]


def _at(path: str, stdin_filename: str) -> Iterator[Source]:
    """Yield what one path names."""
    if path == STDIN:
        yield Source(stdin_filename or "<stdin>", read_stdin)
        return
    try:
        folder = stat.S_ISDIR(os.stat(path).st_mode)
    except OSError as error:
        yield Unreadable(_explain(path, error))
        return
    except ValueError:
        cure = "leave out the NUL character"
        yield Unreadable(SourceError(path, "is not a file name", cure))
        return
    if folder:
        yield from _below(path)
    else:
        yield Source(path)


def _below(folder: str) -> Iterator[Source]:
    """Yield the files in a folder and below it, sorted by name.

    Links are followed, but no folder is entered twice, so they may lead in circles. What cannot be
    read becomes a source too, whose `read` says why.
    """
    entered: set[tuple[int, int]] = set()  # device and inode
    stack = [folder]
    while stack:
        path = stack.pop()
        try:
            status = os.stat(path)
            if not stat.S_ISDIR(status.st_mode):
                if stat.S_ISREG(status.st_mode):
                    yield Source(path)
                continue
            names = sorted(os.listdir(path), reverse=True)
        except OSError as error:
            yield Source(path, _raiser(_explain(path, error)))
            continue
        identity = (status.st_dev, status.st_ino)
        if identity in entered:
            continue
        entered.add(identity)
        for name in names:
            child = os.path.join(path, name)
            wanted = name.lower().endswith(SUFFIXES)
            if name not in _SKIPPED and (wanted or os.path.isdir(child)):
                stack.append(child)


def _raiser(error: SourceError) -> Callable[[], bytes]:
    def read() -> bytes:
        raise error

    return read


def _explain(name: str, error: OSError) -> SourceError:
    """Turn what the operating system says into reason and cure."""
    link = os.path.islink(name)
    if isinstance(error, FileNotFoundError):
        if link:
            return SourceError(name, "is a link to nothing", "mend or remove the link")
        return SourceError(name, "does not exist", "check the spelling and the current folder")
    if isinstance(error, PermissionError):
        return SourceError(name, "may not be read", "grant read permission to this user")
    if isinstance(error, IsADirectoryError):
        return SourceError(name, "is a folder, not a file", "name a file in it")
    if isinstance(error, NotADirectoryError):
        return SourceError(name, "lies below something that is no folder", "check the path")
    reason = f"cannot be read ({error.strerror or error})"
    return SourceError(name, reason, "check that it is a readable file")
