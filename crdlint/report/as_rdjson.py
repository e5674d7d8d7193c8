"""The rdjson report: the Reviewdog Diagnostic Format (reviewdog, proto/rdf)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from crdlint.pages import URL
from crdlint.report import HOME, inline
from crdlint.report.terminal import clean

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crdlint.finding import Finding, Summary
    from crdlint.report import Lines, Options

MOST_LINES = 20  # of a suggestion
_SEVERITIES = {"error": "ERROR", "warning": "WARNING", "info": "INFO"}


def render(findings: Iterable[Finding], summary: Summary, options: Options) -> str:
    """Return one DiagnosticResult; paths as given, which reviewdog reads from its own folder."""
    del summary
    rows = [
        {**_diagnostic(finding, options.lines), **_suggestions(finding, options)}
        for finding in findings
    ]
    result = {"source": {"name": "crdlint", "url": HOME}, "diagnostics": rows}
    return json.dumps(result, indent=1) + "\n"


def _diagnostic(finding: Finding, lines_of: Lines) -> dict[str, Any]:
    spot = finding.spot
    lines = lines_of(spot.file)
    return {
        "message": clean(inline(finding)),
        "location": {
            "path": clean(spot.file),
            "range": {
                "start": _position(lines, spot.line, spot.column),
                "end": _position(lines, spot.end_line, spot.end_column),
            },
        },
        "severity": _SEVERITIES[finding.severity],
        "code": {"value": finding.rule, "url": URL.format(finding.rule)},
    }


def _suggestions(finding: Finding, options: Options) -> dict[str, Any]:
    """Return the fix of a finding as one suggestion, as reviewers apply one by one.

    One that reaches over many lines, or wants to be looked at, is for `crdlint fix`.
    """
    found = options.fix(finding)
    if found is None or not found.safe:
        return {}
    piece, lines = found.whole, options.lines(finding.spot.file)
    if piece.end_line - piece.line > MOST_LINES:
        return {}
    place = {
        "start": _position(lines, piece.line, piece.column),
        "end": _position(lines, piece.end_line, piece.end_column),
    }
    return {"suggestions": [{"range": place, "text": piece.text}]}


def _position(lines: list[str] | None, line: int, column: int) -> dict[str, int]:
    """Return a position with its column in UTF-8 bytes, as the format counts."""
    if lines and line <= len(lines) and not lines[line - 1].isascii():
        text = lines[line - 1]
        before = text.removeprefix("\ufeff") if line == 1 else text
        column += len(before[: column - 1].encode("utf-8", "replace")) - (column - 1)
    return {"line": line, "column": column}
