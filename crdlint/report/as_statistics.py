"""The counts of a run: how often each rule was found, the worst and most frequent first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crdlint.finding import SEVERITIES
from crdlint.report.as_text import last_line
from crdlint.report.terminal import Style

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crdlint.finding import Finding, Summary
    from crdlint.report import Options


def render(findings: Iterable[Finding], summary: Summary, options: Options) -> str:
    """Return a line for each rule and severity: count, severity, rule, and what it says."""
    from crdlint import pages

    counts: dict[tuple[str, str], int] = {}
    for finding in findings:
        key = (finding.severity, finding.rule)
        counts[key] = counts.get(key, 0) + 1
    style = Style(color=options.color)
    width = max((len(str(number)) for number in counts.values()), default=1)
    longest = max((len(rule) for _, rule in counts), default=1)
    lines = []
    for (severity, rule), number in sorted(
        counts.items(), key=lambda item: (SEVERITIES.index(item[0][0]), -item[1], item[0][1])
    ):
        said = pages.page(rule).summary
        shown = style(f"{severity:7}", severity)
        lines.append(f"{number:{width}}  {shown}  {rule:{longest}}  {said}\n")
    return "".join(lines) + last_line(summary, "", options)
