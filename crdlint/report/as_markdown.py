"""The Markdown report: a comment for a pull request."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from crdlint.pages import URL
from crdlint.report import count
from crdlint.report.as_diff import GROUPS, grouped, is_refused, verdict

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crdlint.finding import Finding, Spot, Summary
    from crdlint.report import Options

_SPECIAL = re.compile(r"([\\`*_\[\]<>|#~])")
_WORDS = dict(GROUPS) | {"server-refuses": "server"}
_MOST = 50  # rows of a table; GitHub takes comments of 65,536 characters
_LONGEST = 300


def render(findings: Iterable[Finding], summary: Summary, options: Options) -> str:
    """Return the verdict, a table for each group that is hurt, and the notes folded away."""
    findings = list(findings)
    if options.diff:
        mark = "❌" if any(map(is_refused, findings)) else "✅"
        lines = [f"### crdlint: {mark} {_text(verdict(findings, options.kubernetes))}", ""]
    else:
        lines = [f"### crdlint: {count(len(findings), 'finding')}", ""]
    for title, group in grouped(findings):
        lines += [f"**{title}** ({len(group)})", "", *_table(group), ""]
    notes = [finding for finding in findings if finding.severity == "info"]
    if notes:
        lines.append(f"<details><summary>Worth knowing ({len(notes)})</summary>")
        lines += ["", *_table(notes), "", "</details>", ""]
    lines.append(f"<sub>{count(summary.crds, 'CRD')} in {count(summary.files, 'file')}</sub>")
    return "\n".join(lines) + "\n"


def _table(findings: list[Finding]) -> list[str]:
    rows = ["| | field | what changes | where |", "|---|---|---|---|"]
    for finding in findings[:_MOST]:
        mark = {"error": "🔴", "warning": "🟡", "info": "⚪"}[finding.severity]
        rule = f"[`{finding.rule}`]({URL.format(finding.rule)})"
        cure = f"<br>{_text(finding.help)}" if finding.help and finding.severity != "info" else ""
        where = _place(finding.spot)
        if len(finding.places) > 1:
            where += f" and {count(len(finding.places) - 1, 'more place')}"
        if finding.old is not None:
            where += f"<br>before: {_place(finding.old)}"
        field = _code(finding.field)
        rows.append(f"| {mark} {rule} | {field} | {_text(finding.message)}{cure} | {where} |")
    if len(findings) > _MOST:
        rows.append(f"| | | and {len(findings) - _MOST} more | |")
    return rows


def _place(spot: Spot) -> str:
    return _code(f"{spot.file}:{spot.line}")


def _text(text: str) -> str:
    """Return a text that Markdown shows as it is, in one table cell."""
    flat = " ".join(text.split())
    flat = flat if len(flat) <= _LONGEST else flat[: _LONGEST - 1] + "…"
    flat = flat.replace("@", "@\u200b")  # nobody is called by name in a pull request
    return _SPECIAL.sub(r"\\\1", flat)


def _code(text: str) -> str:
    flat = " ".join(text.split()).replace("|", "\\|")
    fence = "``" if "`" in flat else "`"
    return f"{fence}{flat}{fence}" if flat else ""
