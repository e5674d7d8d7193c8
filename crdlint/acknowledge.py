"""Breaks that are meant: findings of `diff` that somebody acknowledged, by fingerprint."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crdlint.finding import EXTERNAL, Finding, Spot, fingerprint
from crdlint.rule import declare

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from crdlint.api import Report
    from crdlint.policy import Policy

UNUSED, EXPIRED = "unused-acknowledgement", "expired-acknowledgement"

declare(UNUSED, EXPIRED)


class Acknowledgement:
    """One finding that is meant: why, until when (an ISO date, "" for ever), and where it stands.

    `crd` names the CRD that it is about, where the entry says so.
    """

    __slots__ = ("crd", "file", "fingerprint", "line", "reason", "until")

    def __init__(
        self,
        fingerprint: str,
        reason: str,
        *,
        until: str = "",
        crd: str = "",
        file: str = "",
        line: int = 1,
    ) -> None:
        self.fingerprint = fingerprint
        self.reason = reason
        self.until = until
        self.crd = crd
        self.file = file
        self.line = line


def today() -> str:
    """Return the date in UTC, so that it is the same everywhere."""
    import time

    return time.strftime("%Y-%m-%d", time.gmtime())


def apply(
    acknowledged: Sequence[Acknowledgement], report: Report, policy: Policy, date: str = ""
) -> None:
    """Put acknowledged findings aside; report acknowledgements that match nothing or ran out."""
    if not acknowledged:
        return
    now = date or today()
    valid = {a.fingerprint: a for a in acknowledged if not a.until or a.until >= now}
    met: set[str] = set()
    kept = []
    for finding in report.findings:
        met.add(finding.fingerprint)
        meant = valid.get(finding.fingerprint)
        if meant is None:
            kept.append(finding)
        else:
            finding.suppressed = (EXTERNAL, f"acknowledged: {meant.reason}")
            report.suppressed.append(finding)
    met.update(finding.fingerprint for finding in report.suppressed)
    report.findings = kept
    for entry in acknowledged:
        if entry.fingerprint not in met:
            if not entry.crd or entry.crd in report.names:
                text = f"nothing in this comparison has the fingerprint {entry.fingerprint}"
                report.findings += _finding(UNUSED, text, entry, policy)
        elif entry.until and entry.until < now:
            text = f"the acknowledgement of {entry.fingerprint} ran out after {entry.until}"
            report.findings += _finding(EXPIRED, text, entry, policy)
    report.close()


def _finding(rule: str, text: str, entry: Acknowledgement, policy: Policy) -> Iterator[Finding]:
    judged = policy.judge(rule)
    if judged is not None:
        yield Finding(
            rule,
            judged[0],
            text,
            Spot(entry.file, 0, entry.line),
            crd=entry.crd,
            help=judged[1],
            fingerprint=fingerprint(rule, entry.crd, "", "", entry.fingerprint),
        )


def template(findings: Iterable[Finding]) -> str:
    """Return findings as acknowledgements in TOML, with the reason left to write."""
    import json

    blocks: dict[str, str] = {}  # by fingerprint: two files may have the same CRD
    for finding in findings:
        text = f"{finding.field}: {finding.message}" if finding.field else finding.message
        said = "".join(char if char.isprintable() else " " for char in text)
        blocks.setdefault(
            finding.fingerprint,
            f"# {finding.severity}: {finding.rule}: {said}\n"
            "[[acknowledge]]\n"
            f"fingerprint = {json.dumps(finding.fingerprint)}\n"
            f"crd = {json.dumps(finding.crd)}\n"
            'reason = ""  # why this is meant\n'
            "# until = 2030-12-31  # the last day on which it counts\n",
        )
    return "\n".join(blocks.values())
