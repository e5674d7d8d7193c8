"""Reports: each format is a function of findings, a summary and options that returns text."""

# pathlib costs more start-up than a clean run may.

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

from crdlint.finding import order

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from crdlint.finding import Finding, Summary

    Lines = Callable[[str], list[str] | None]
    Format = Callable[[Iterable[Finding], Summary, "Options"], str]

HOME = "https://github.com/crdlint/crdlint"


class Options:
    """What a report needs to know besides the findings.

    `kubernetes` is the version or range asked for, as the JSON report prints it. `lines` gives the
    lines of a file by the name it has in findings, as `split_lines` does, or None where it cannot
    be read. `root` is the folder that paths are relative to in the formats of ROOTED.
    `diff` says that the findings are of `diff`. `verbose` shows all that the API server says.
    `quiet` leaves out all but findings. `suppressed` has the findings that were put aside.
    `fix` gives what to replace for a finding (see fixing.Suggestion), None where there is no fix.
    `objects` has an entry for each object of `validate`, for the JSON report; else it is None.
    """

    __slots__ = (
        "category",
        "color",
        "diff",
        "fix",
        "kubernetes",
        "lines",
        "objects",
        "quiet",
        "root",
        "suppressed",
        "verbose",
    )

    def __init__(
        self,
        *,
        kubernetes: str = "",
        color: bool = False,
        lines: Lines | None = None,
        root: str = "",
        category: str = "",
        diff: bool = False,
        verbose: bool = False,
        quiet: bool = False,
        suppressed: Sequence[Finding] = (),
        objects: list[dict[str, Any]] | None = None,
        fix: Callable[[Finding], Any] | None = None,
    ) -> None:
        self.kubernetes = kubernetes
        self.color = color
        self.lines = lines or line_reader()
        self.root = root
        self.category = category  # of the SARIF run: `crdlint-lint/`
        self.diff = diff
        self.fix = fix or (lambda _: None)
        self.objects = objects
        self.quiet = quiet
        self.suppressed = suppressed
        self.verbose = verbose


def _late(module: str) -> Format:
    """Return the `render` of a module of this package, imported when it is first called."""

    def render(findings: Iterable[Finding], summary: Summary, options: Options) -> str:
        made: str = import_module(f"crdlint.report.{module}").render(findings, summary, options)
        return made

    return render


# A format is a module of this package with `render`, and its entry here.
FORMATS: dict[str, Format] = {
    "text": _late("as_text"),
    "json": _late("as_json"),
    "sarif": _late("as_sarif"),
    "github": _late("as_github"),
    "gitlab": _late("as_gitlab"),
    "azure": _late("as_azure"),
    "markdown": _late("as_markdown"),
    "junit": _late("as_junit"),
    "checkstyle": _late("as_checkstyle"),
    "rdjson": _late("as_rdjson"),
}
_OF_DIFF: dict[str, Format] = {"text": _late("as_diff")}
_STATISTICS = _late("as_statistics")

# Formats whose readers know files by their path in the repository; the others show it as given.
ROOTED = ("sarif", "github", "gitlab", "azure")

NOT_A_REFUSAL = ("Strict", "Warning")  # what `server` has besides the errors of a plain request


def render(
    name: str,
    report: Any,
    *,
    color: bool = False,
    verbose: bool = False,
    diff: bool = False,
    quiet: bool = False,
    statistics: bool = False,
    suppressed: bool = False,
    texts: dict[str, bytes] | None = None,
    fix: Callable[[Finding], Any] | None = None,
) -> str:
    """Return what a run found (its findings, summary and kubernetes) in a format by its name.

    `statistics` makes counts of the text; `suppressed` puts what was put aside into SARIF.
    `texts` has the text of what cannot be read again, such as stdin, by its name in findings.
    `fix` gives the fix of a finding, for the formats that carry fixes.
    """
    objects = getattr(report, "objects", None)
    command = "diff" if diff else "lint" if objects is None else "validate"
    options = Options(
        kubernetes=report.kubernetes,
        color=color,
        verbose=verbose,
        diff=diff,
        objects=objects,
        lines=line_reader(texts),
        root=find_root() if name in ROOTED else "",
        category=f"crdlint-{command}/",
        quiet=quiet,
        suppressed=report.suppressed,
        fix=fix,
    )
    findings = report.findings
    if suppressed and name == "sarif":
        findings = sorted([*findings, *report.suppressed], key=order)
    made = (_OF_DIFF if diff else {}).get(name, FORMATS[name])
    if statistics and name == "text":
        made = _STATISTICS
    return made(findings, report.summary, options)


def split_lines(text: str) -> list[str]:
    """Split a text at LF, CRLF and CR; one that ends with a line end has an empty last line."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def line_reader(known: dict[str, bytes] | None = None) -> Lines:
    """Return a function that gives the lines of a file, from `known` texts or else from disk.

    Holds one file at a time: findings come sorted by file.
    """
    texts = known or {}
    held: list[tuple[str, list[str] | None]] = []

    def lines(file: str) -> list[str] | None:
        if not held or held[0][0] != file:
            held[:] = [(file, _read_lines(file, texts.get(file)))]
        return held[0][1]

    return lines


def _read_lines(file: str, data: bytes | None) -> list[str] | None:
    if data is None:
        try:
            with open(file, "rb") as stream:
                data = stream.read()
        except (OSError, ValueError):
            return None
    return split_lines(data.decode("utf-8", "replace"))


def find_root(start: str = ".") -> str:
    """Return the root of the repository around a folder, or the folder itself where there is none.

    GITHUB_WORKSPACE counts as a root where the folder is inside it.
    """
    here = os.path.realpath(start)
    workspace = os.environ.get("GITHUB_WORKSPACE", "")
    if workspace:
        workspace = os.path.realpath(workspace)
        if os.path.join(here, "").startswith(os.path.join(workspace, "")):
            return workspace
    folder = here
    while not os.path.exists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return here
        folder = parent
    return folder


def relative(file: str, root: str) -> str:
    """Return the path of a file from the root, with `/` and links resolved; `stdin` for `-`.

    A file of a git revision, `REVISION:PATH`, has the path that it has there. A file outside of
    the root keeps its name.
    """
    if file in ("-", ""):
        return "stdin"
    revision, colon, path = file.partition(":")
    if revision and colon and not os.path.lexists(file):
        return file if revision == "cluster" else path  # git's own paths start at the root
    top = os.path.join(os.path.realpath(root or "."), "")
    try:
        full = os.path.realpath(file)
    except (OSError, ValueError):  # a name that no file can have, given for stdin
        full = ""
    path = full[len(top) :] if full.startswith(top) else file
    return path.replace(os.sep, "/")


def headline(finding: Finding) -> str:
    """Return the field first, then the message."""
    return f"{finding.field}: {finding.message}" if finding.field else finding.message


def inline(finding: Finding) -> str:
    """Return what a report of one line for each finding can say of it, with the cure."""
    text = headline(finding)
    if finding.servers:
        text += f" (Kubernetes {finding.servers})"
    if len(finding.places) > 1:
        text += f" (and {count(len(finding.places) - 1, 'more place')})"
    if finding.help:
        text += f"{'' if text.endswith(('.', '!', '?')) else '.'} {finding.help}"
    return text


def is_refused(finding: Finding) -> bool:
    """Tell whether the API server refuses what the finding is about, and not only warns of it."""
    return any(kind not in NOT_A_REFUSAL for kind, _ in finding.server or ())


def count(number: int, word: str) -> str:
    """Return a number with its noun: `1 error`, `2 errors`."""
    return f"{number} {word}" if number == 1 else f"{number} {word}s"
