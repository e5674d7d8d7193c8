"""The GitHub report: workflow commands that become annotations, the worst first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crdlint.finding import SEVERITIES
from crdlint.report import count, headline, relative
from crdlint.report.terminal import clean

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crdlint.finding import Finding, Summary
    from crdlint.report import Options

COMMANDS = {"error": "error", "warning": "warning", "info": "notice"}
SHOWN = 10  # annotations of each kind that GitHub shows for a step


def render(findings: Iterable[Finding], summary: Summary, options: Options) -> str:
    """Return one workflow command a finding, errors before warnings before notices.

    GitHub shows only the first 10 of each kind; a notice says how many more there are.
    """
    del summary
    by_severity: dict[str, list[Finding]] = {severity: [] for severity in SEVERITIES}
    for finding in findings:
        by_severity[finding.severity].append(finding)
    lines = []
    for severity in SEVERITIES:
        if severity == "info":
            lines += _rest(by_severity)
        lines += [_command(finding, options.root) for finding in by_severity[severity]]
    return "".join(f"{line}\n" for line in lines)


def _rest(by_severity: dict[str, list[Finding]]) -> list[str]:
    """Return a notice of what GitHub will not show, to stand before the other notices."""
    over = {
        severity: len(found) - (SHOWN - 1 if severity == "info" else SHOWN)
        for severity, found in by_severity.items()
    }
    if over["error"] <= 0 and over["warning"] <= 0 and over["info"] <= 1:
        return []
    rest = [count(number, f"more {severity}") for severity, number in over.items() if number > 0]
    text = f"GitHub shows {SHOWN} annotations of a kind for a step; the log has {', '.join(rest)}."
    return [f"::notice title=crdlint::{_data(text)}"]


def _command(finding: Finding, root: str) -> str:
    spot = finding.spot
    where = {
        "file": clean(relative(spot.file, root)),
        "line": str(spot.line),
        "endLine": str(spot.end_line),
    }
    if spot.line == spot.end_line:  # GitHub reads columns as those of one line
        where |= {"col": str(spot.column), "endColumn": str(spot.end_column)}
    where["title"] = finding.rule
    properties = ",".join(f"{key}={_property(value)}" for key, value in where.items())
    text = clean(headline(finding))
    if finding.servers:
        text += f" (Kubernetes {clean(finding.servers)})"
    if len(finding.places) > 1:
        text += f" (and {count(len(finding.places) - 1, 'more place')})"
    if finding.help:
        text += f"\n{clean(finding.help)}"
    return f"::{COMMANDS[finding.severity]} {properties}::{_data(text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
