"""The Azure Pipelines report: logging commands that become the issues of a build."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crdlint.finding import SEVERITIES
from crdlint.report import inline, relative
from crdlint.report.terminal import clean

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crdlint.finding import Finding, Summary
    from crdlint.report import Options

# How the agent's commands spell what would end them; a per cent sign first.
_ESCAPES = (("%", "%AZP25"), (";", "%3B"), ("\r", "%0D"), ("\n", "%0A"), ("]", "%5D"))
_KINDS = {"error": "error", "warning": "warning"}


def render(findings: Iterable[Finding], summary: Summary, options: Options) -> str:
    """Return one command an error or warning, the worst first: the agent keeps ten of a kind.

    There is no third kind of issue, so notes are plain lines of the log.
    """
    del summary
    found = sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity))
    return "".join(f"{_line(finding, options.root)}\n" for finding in found)


def _line(finding: Finding, root: str) -> str:
    spot = finding.spot
    path = clean(relative(spot.file, root))
    text = clean(inline(finding))
    kind = _KINDS.get(finding.severity)
    if kind is None:
        return f"{path}:{spot.line}:{spot.column}: note[{finding.rule}]: {text}".replace(
            "##", "# #"
        )
    where = {
        "type": kind,
        "sourcepath": path,
        "linenumber": spot.line,
        "columnnumber": spot.column,
        "code": finding.rule,
    }
    properties = "".join(f"{key}={_escape(str(value))};" for key, value in where.items())
    return f"##vso[task.logissue {properties}]{_escape(text)}"


def _escape(text: str) -> str:
    for character, code in _ESCAPES:
        text = text.replace(character, code)
    return text
