"""The text report of `diff`: a verdict first, then what changes for whom."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crdlint.finding import SEVERITIES
from crdlint.report import NOT_A_REFUSAL, count, headline, is_refused
from crdlint.report.as_text import _block, kind_of, last_line
from crdlint.report.terminal import Style, clean

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crdlint.finding import Finding, Summary
    from crdlint.report import Options

# Whom a finding hurts, the worst first; a finding stands under the first that it has.
GROUPS = (
    ("server-refuses", "The API server refuses"),
    ("stored-objects", "Stored objects"),
    ("writers", "Writers"),
    ("depends-on-webhook", "The conversion webhook"),
    ("readers", "Readers"),
    ("gitops", "GitOps and server-side apply"),
    ("rollback", "Rollback"),
)
_BREAKS = {
    "stored-objects": "stored-object break",
    "writers": "writer break",
    "depends-on-webhook": "webhook dependency",
    "readers": "reader break",
    "gitops": "GitOps break",
    "rollback": "rollback break",
}


def verdict(
    findings: Iterable[Finding], kubernetes: str = "", suppressed: Sequence[Finding] = ()
) -> str:
    """Say in one line what the API server says to the update, and how many are hurt.

    The server knows nothing of what was suppressed here: what it refuses, it refuses.
    """
    findings = list(findings)
    server = f"the API server of Kubernetes {kubernetes}" if kubernetes else "the API server"
    refused = [f for f in (*findings, *suppressed) if is_refused(f)]
    if refused:
        said = [
            field for f in refused for kind, field in f.server or () if kind not in NOT_A_REFUSAL
        ]
        first = next((field for field in said if field), "")
        more = f" and {len(said) - 1} more" if len(said) > 1 else ""
        meant = " (suppressed)" if all(f.suppressed for f in refused) else ""
        when = f" ({refused[0].servers})" if refused[0].servers else ""
        return f"{server} refuses this update{when}: {first or refused[0].message}{more}{meant}"
    breaks = []
    for effect, word in _BREAKS.items():
        number = sum(group_of(f) == effect and f.severity != "info" for f in findings)
        if number:
            breaks.append(count(number, word))
    if not findings and not suppressed:
        return f"{server} accepts this update; nothing in it hurts anyone"
    return f"{server} accepts this update; {', '.join(breaks) or 'nothing in it breaks anyone'}"


def group_of(finding: Finding) -> str:
    """Return the effect that a finding stands under, or ""."""
    return next((effect for effect, _ in GROUPS if effect in finding.effects), "")


def grouped(findings: Iterable[Finding]) -> list[tuple[str, list[Finding]]]:
    """Return the findings that are more than notes under their headings, the worst first."""
    found = []
    findings = [f for f in findings if f.severity != "info"]
    for effect, title in (*GROUPS, ("", "Besides")):
        group = [f for f in findings if group_of(f) == effect]
        group.sort(key=lambda f: SEVERITIES.index(f.severity))
        if group:
            found.append((title, group))
    return found


def render(findings: Iterable[Finding], summary: Summary, options: Options) -> str:
    """Return the verdict, a block for each error and warning by whom it hurts, and the notes."""
    findings = list(findings)
    style = Style(color=options.color)
    parts = []
    if summary.crds and not options.quiet:
        refused = any(map(is_refused, (*findings, *options.suppressed)))
        said = verdict(findings, options.kubernetes, options.suppressed)
        parts.append(style(clean(said), "error" if refused else "good") + "\n")
    for title, group in grouped(findings):
        parts.append(style(f"{title} ({len(group)})", "bold") + "\n")
        parts += [_block(finding, options, style) for finding in group]
    if notes := [finding for finding in findings if finding.severity == "info"]:
        parts.append(style(f"Worth knowing ({len(notes)})", "bold"))
        parts += [_line(finding, style) for finding in notes]
        parts.append("")
    first = next((f.rule for _, group in grouped(findings) for f in group), "")
    parts.append(last_line(summary, first, options))
    return "\n".join(parts)


def _line(finding: Finding, style: Style) -> str:
    spot = finding.spot
    more = f" (and {count(len(finding.places) - 1, 'more place')})" if finding.places else ""
    kind = kind_of(finding, style)
    return f"{clean(spot.file)}:{spot.line}: {kind}: {clean(headline(finding))}{more}"
