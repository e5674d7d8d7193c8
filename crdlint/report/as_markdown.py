"""The Markdown report: a comment for a pull request, or the summary of a step."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from crdlint.finding import SEVERITIES
from crdlint.pages import URL
from crdlint.report import count, is_refused
from crdlint.report.as_diff import grouped, verdict
from crdlint.report.terminal import clean

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crdlint.finding import Finding, Spot, Summary
    from crdlint.report import Options

_TICKS = re.compile("`+")
_SPECIAL = re.compile(r"([\\`*_\[\]<>|#~])")
_MOST = 50  # rows of a table
_LONGEST = 300  # characters of a message
# GitHub takes comments of 65,536 characters and summaries of 1 MiB, and drops what is longer.
_WHOLE = 65_000
_MOST_LINES = 16  # of an object
_SEVERITIES = (("error", "Errors"), ("warning", "Warnings"))
_VERDICTS = {"error": "❌", "warning": "⚠️", "info": "✅"}
_MARKS = {"error": "🔴", "warning": "🟡", "info": "⚪"}


def render(findings: Iterable[Finding], summary: Summary, options: Options) -> str:
    """Return the verdict, a table for each group, and the notes folded away.

    `diff` groups by who is hurt, the others by severity. Tables lose rows until all fits.
    """
    found = list(findings)
    most = _MOST
    while len(text := _report(found, summary, options, most)) > _WHOLE and most:
        most //= 2
    return text


def _report(findings: list[Finding], summary: Summary, options: Options, most: int) -> str:
    if options.diff:
        told = verdict(findings, options.kubernetes, options.suppressed)
        groups = grouped(findings)
    else:
        told = _verdict([*findings, *options.suppressed], summary, options.kubernetes)
        groups = [(word, _of(findings, key)) for key, word in _SEVERITIES if _of(findings, key)]
    worst = min((f.severity for f in findings), key=SEVERITIES.index, default="info")
    if worst == "info" and any(map(is_refused, options.suppressed)):
        worst = "warning"  # meant, and refused all the same
    lines = [f"### crdlint: {_VERDICTS[worst]} {_text(told)}", ""]
    changes = "what changes" if options.diff else "what is wrong"
    for title, group in groups:
        lines += [f"**{title}** ({len(group)})", "", *_table(group, changes, most), ""]
        lines += _witnesses(group[:most])
    notes = _of(findings, "info")
    if notes:
        lines.append(f"<details><summary>Worth knowing ({len(notes)})</summary>")
        lines += ["", *_table(notes, changes, most), "", "</details>", ""]
    looked = f"{count(summary.crds, 'CRD')} in {count(summary.files, 'file')}"
    if summary.suppressed:
        looked += f"; {summary.suppressed} suppressed"
    lines.append(f"<sub>{looked}</sub>")
    return "\n".join(lines) + "\n"


def _witnesses(findings: list[Finding]) -> list[str]:
    """Return the objects that show what breaks, folded away; one that shows several once."""
    shown = [finding for finding in findings if finding.witnessed]
    if not shown:
        return []
    from crdlint.report import witnesses

    by_object: dict[str, list[Finding]] = {}
    for finding in shown:
        text = "\n".join(witnesses.lines(finding, most=_MOST_LINES)).replace("```", "~~~")
        by_object.setdefault(text, []).append(finding)
    lines = [f"<details><summary>Valid before ({count(len(by_object), 'object')})</summary>", ""]
    for text, hurt in by_object.items():
        for finding in hurt:
            said = _text(witnesses.says(finding))
            lines += [f"`{finding.rule}` {_code(finding.field)}: {said}", ""]
        lines += ["```yaml", *text.split("\n"), "```", ""]
    return [*lines, "</details>", ""]


def _of(findings: list[Finding], severity: str) -> list[Finding]:
    return [finding for finding in findings if finding.severity == severity]


def _verdict(findings: list[Finding], summary: Summary, kubernetes: str) -> str:
    """Say in one line what the API server says to the CRDs, and how much else there is."""
    server = f"the API server of Kubernetes {kubernetes}" if kubernetes else "the API server"
    what = "this CRD" if summary.crds == 1 else f"these {summary.crds} CRDs"
    if refused := {finding.crd for finding in findings if is_refused(finding)}:
        if summary.crds > 1:
            what = f"{len(refused)} of {what}"
        meant = " (suppressed)" if all(f.suppressed for f in findings if is_refused(f)) else ""
        return f"{server} refuses {what}{meant}"
    if not summary.crds and not findings:
        return f"no CustomResourceDefinition in {count(summary.files, 'file')}"
    parts = [
        count(summary.counts[severity], severity if severity != "info" else "note")
        for severity in SEVERITIES
        if summary.counts[severity]
    ]
    return f"{server} accepts {what}; {', '.join(parts) or 'nothing found'}"


def _table(findings: list[Finding], changes: str, most: int) -> list[str]:
    rows = [f"| | field | {changes} | where |", "|---|---|---|---|"]
    for finding in findings[:most]:
        mark = _MARKS[finding.severity]
        rule = f"[`{finding.rule}`]({URL.format(finding.rule)})"
        cure = f"<br>{_text(finding.help)}" if finding.help and finding.severity != "info" else ""
        where = _place(finding.spot)
        if len(finding.places) > 1:
            where += f" and {count(len(finding.places) - 1, 'more place')}"
        if finding.old is not None:
            where += f"<br>before: {_place(finding.old)}"
        field = _code(finding.field)
        rows.append(f"| {mark} {rule} | {field} | {_text(finding.message)}{cure} | {where} |")
    if len(findings) > most:
        rows.append(f"| | | and {len(findings) - most} more | |")
    return rows


def _place(spot: Spot) -> str:
    return _code(f"{spot.file}:{spot.line}")


def _text(text: str) -> str:
    """Return a text that Markdown shows as it is, in one table cell."""
    flat = clean(" ".join(text.split()))
    flat = flat if len(flat) <= _LONGEST else flat[: _LONGEST - 1] + "…"
    flat = flat.replace("@", "@\u200b")  # nobody is called by name in a pull request
    return _SPECIAL.sub(r"\\\1", flat)


def _code(text: str) -> str:
    """Return a text as code in a table cell, whatever quotes it has itself."""
    flat = clean(" ".join(text.split())).replace("|", "\\|")
    if not flat:
        return ""
    fence = "`" * (max(map(len, _TICKS.findall(flat)), default=0) + 1)
    pad = " " if flat[0] == "`" or flat[-1] == "`" else ""
    return f"{fence}{pad}{flat}{pad}{fence}"
