"""The configuration: finds crdlint.toml, reads it, and says what is wrong with it and where."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crdlint.acknowledge import Acknowledgement
    from crdlint.policy import Ignore

NAMES = ("crdlint.toml", ".crdlint.toml")  # in one folder the first wins
PYPROJECT = "pyproject.toml"
_SHARED = b"tool.crdlint"


class ConfigError(Exception):
    """A configuration that cannot be used; the message names file, line, reason and cure."""


class Config:
    """What one file says. Paths in it are relative to its folder."""

    __slots__ = ("_lines", "data", "file", "folder")

    def __init__(self, file: str, data: dict[str, Any], lines: dict[tuple[Any, ...], int]) -> None:
        self.file = file
        self.folder = os.path.dirname(os.path.abspath(file))
        self.data = data
        self._lines = lines

    def line(self, *path: Any) -> int:
        """Return the line of the file where a key stands, or the table around it."""
        return _line(self._lines, path)

    def get(self, key: str, default: Any = None) -> Any:
        """Return what the file says of a key."""
        return self.data.get(key, default)

    def overrides(self, file: str) -> list[int]:
        """Return which entries of `overrides` are of a file, by its name as given."""
        entries = self.get("overrides")
        if not entries:
            return []
        from crdlint import globs

        path = self._relative(file)
        return [
            i
            for i, entry in enumerate(entries)
            if any(globs.path_matches(pattern, path) for pattern in entry["paths"])
        ]

    def _relative(self, file: str) -> str:
        return os.path.relpath(local_path(file), self.folder).replace(os.sep, "/")

    def ignores(self) -> list[Ignore]:
        """Return the ignores of the file."""
        from crdlint.configcheck import as_list
        from crdlint.policy import Ignore

        return [
            Ignore(
                as_list(entry.get("rule")),
                crd=entry.get("crd", ""),
                field=entry.get("field", ""),
                reason=entry["reason"],
                file=self.file,
                line=self.line("ignore", i),
            )
            for i, entry in enumerate(self.get("ignore", ()))
        ]

    def acknowledged(self) -> list[Acknowledgement]:
        """Return the acknowledgements of the file."""
        from crdlint.acknowledge import Acknowledgement

        return [
            Acknowledgement(
                entry["fingerprint"],
                entry["reason"],
                until=entry.get("until", ""),
                crd=entry.get("crd", ""),
                file=self.file,
                line=self.line("acknowledge", i),
            )
            for i, entry in enumerate(self.get("acknowledge", ()))
        ]

    def paths(self) -> list[str]:
        """Return what to read when no path is given, as seen from the current folder."""
        found: list[str] = []
        for pattern in self.get("paths", ()):
            full = os.path.join(self.folder, pattern)
            names = [full]
            if any(char in pattern for char in "*?["):
                import glob

                names = sorted(glob.glob(full, recursive=True))
                if not names:
                    line = self.line("paths")
                    raise ConfigError(
                        f"{self.file}:{line}: paths: nothing is there that {pattern!r} names"
                    )
            found += [os.path.relpath(name) for name in names]
        return found

    def file_of(self, key: str) -> str:
        """Return a file that the configuration names, as seen from the current folder, or ""."""
        name = self.get(key)
        return os.path.relpath(os.path.join(self.folder, name)) if name else ""


def local_path(file: str) -> str:
    """Return where a file is here; of `REVISION:PATH` where it would be in the working tree."""
    if ":" in file and not os.path.lexists(file):
        return os.path.join(_top(), file.partition(":")[2])  # as git has it, from the top
    return os.path.abspath(file)


def _top() -> str:
    """Return the root of the repository around the current folder, else that folder."""
    here = folder = os.getcwd()
    while not os.path.exists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return here
        folder = parent
    return folder


class Finder:
    """Finds the configuration nearest to a file: in its folder or the next one above.

    The search ends at the root of a repository. `always` is the one for every file, where that is
    given; it is None together with `off` where there is to be none.
    """

    __slots__ = ("_known", "always", "off")

    def __init__(self, *, always: Config | None = None, off: bool = False) -> None:
        self.always = always
        self.off = off
        self._known: dict[str, Config | None] = {}

    def of_file(self, file: str) -> Config | None:
        """Return the configuration for a file, by its name as given; raise ConfigError."""
        return self.of_folder(os.path.dirname(local_path(file)))

    def of_folder(self, folder: str) -> Config | None:
        """Return the configuration for what stands in a folder; raise ConfigError."""
        if self.off or self.always:
            return self.always
        folders = []
        found: Config | None = None
        while folder not in self._known:
            folders.append(folder)
            found = _in_folder(folder)
            parent = os.path.dirname(folder)
            if found or parent == folder or os.path.exists(os.path.join(folder, ".git")):
                break
            folder = parent
        else:
            found = self._known[folder]
        self._known.update(dict.fromkeys(folders, found))
        return found

    def of_run(self, paths: Iterable[str]) -> Config | None:
        """Return the configuration for a whole run: that of the folder which has all its paths."""
        folders = []
        for path in paths:
            here = local_path(path) if path != "-" else os.getcwd()
            folders.append(here if os.path.isdir(here) else os.path.dirname(here))
        try:
            common = os.path.commonpath(folders or [os.getcwd()])
        except ValueError:  # different drives
            common = os.getcwd()
        return self.of_folder(common)


def _in_folder(folder: str) -> Config | None:
    for name in NAMES:
        file = os.path.join(folder, name)
        if os.path.isfile(file):
            return load(os.path.relpath(file))
    file = os.path.join(folder, PYPROJECT)
    if os.path.isfile(file):
        try:
            with open(file, "rb") as stream:
                mine = _SHARED in stream.read()
        except OSError:
            return None  # somebody else's file
        if mine:
            found = load(os.path.relpath(file))
            return found if found.data else None
    return None


def load(file: str) -> Config:
    """Read a configuration; raise ConfigError."""
    import tomllib

    try:
        with open(file, "rb") as stream:
            text = stream.read().decode("utf-8-sig")  # with the mark that some editors write
        data: Any = tomllib.loads(text)
    except OSError as error:
        raise ConfigError(f"{file}: the configuration cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{file}: the configuration is not UTF-8; save it so") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigError(_no_toml(file, str(error), text)) from None
    top: tuple[str, ...] = ()
    if os.path.basename(file) == PYPROJECT:
        top = ("tool", "crdlint")
        for key in top:
            data = data.get(key, {}) if isinstance(data, dict) else {}
    data = _plain(data)
    lines = {
        path[len(top) :]: line for path, line in _lines(text).items() if path[: len(top)] == top
    }
    _check(file, data, lines)
    return Config(file, data, lines)


def _no_toml(file: str, error: str, text: str) -> str:
    """Say where a file stops being TOML."""
    import re

    what, _, place = error.rpartition(" (at ")
    at = re.match(r"line ([0-9]+), column ([0-9]+)", place)
    if at:
        return f"{file}:{at[1]}:{at[2]}: this is no TOML: {what}"
    if place.startswith("end of document"):
        return f"{file}:{len(text.splitlines())}: this is no TOML: {what}, at the end of it"
    return f"{file}: this is no TOML: {error}"


def _plain(value: Any) -> Any:
    """Return TOML's data as JSON has it: dates as text."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value if isinstance(value, (str, bool, int, float)) else value.isoformat()


def _lines(text: str) -> dict[tuple[Any, ...], int]:
    """Return on which line of a TOML file each table and key starts, as far as a line shows it."""
    import re

    word = r"""(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')"""
    keys = rf"{word}(?:[ \t]*\.[ \t]*{word})*"
    header = re.compile(rf"[ \t]*(\[\[?)[ \t]*({keys})[ \t]*\]")
    pair = re.compile(rf"[ \t]*({keys})[ \t]*=")
    found: dict[tuple[Any, ...], int] = {}
    counts: dict[tuple[Any, ...], int] = {}
    table: tuple[Any, ...] = ()
    for number, line in enumerate(text.split("\n"), start=1):
        if match := header.match(line):
            path: tuple[Any, ...] = ()
            steps = _steps(match[2], word)
            for i, step in enumerate(steps):
                path += (step,)
                if match[1] == "[[" and i == len(steps) - 1:
                    counts[path] = counts.get(path, -1) + 1
                if path in counts:
                    path += (counts[path],)
            table = path
            found.setdefault(table, number)
        elif match := pair.match(line):
            found.setdefault((*table, *_steps(match[1], word)), number)
    return found


def _steps(keys: str, word: str) -> list[str]:
    import re

    return [key.strip("\"'") for key in re.findall(word, keys)]


def _line(lines: dict[tuple[Any, ...], int], path: Sequence[Any]) -> int:
    for length in range(len(path), 0, -1):
        if (found := lines.get(tuple(path[:length]))) is not None:
            return found
    return lines.get((), 1)


def _check(file: str, data: Any, lines: dict[tuple[Any, ...], int]) -> None:
    """Hold the data to the schema, its rules to those there are, and its dates to the calendar."""
    from crdlint import configcheck

    found = [(_line(lines, path), path, text) for path, text in configcheck.complaints(data)]
    if found:
        found.sort(key=lambda complaint: complaint[0])
        said = [
            f"{file}:{line}: {': '.join(filter(None, (spell(path), text)))}"
            for line, path, text in found
        ]
        raise ConfigError("\n".join(said))


def spell(path: Iterable[Any]) -> str:
    """Spell a path in the configuration: `overrides[0].rules`."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else str(step)
    return text
