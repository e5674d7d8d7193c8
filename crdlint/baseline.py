"""The findings that a project knows and lives with: a file of them, or those of a revision."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from crdlint.finding import EXTERNAL, Finding, Spot, fingerprint
from crdlint.rule import declare

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crdlint.api import Report
    from crdlint.policy import Policy

UNUSED = "unused-baseline-entry"
VERSION = 1
_ABOUT = (
    "Findings of `crdlint lint` that are known. They are matched by fingerprint, not by line. "
    "Write them anew with --update-baseline."
)
# A file that is none is never written over: it may be another one, named by mistake.
_ANEW = "name another file, or remove it and write it anew with --update-baseline"

declare(UNUSED)


class BaselineError(Exception):
    """A baseline that cannot be read; the message names the file, the reason and the cure."""


class Entry:
    """Some equal findings that are known: how many, and what a reader wants to know of them."""

    __slots__ = ("count", "crd", "field", "file", "fingerprint", "line", "message", "rule")

    def __init__(self, known: dict[str, Any], line: int = 1) -> None:
        self.fingerprint = str(known.get("fingerprint", ""))
        count = known.get("count", 1)
        self.count = count if isinstance(count, int) else 1
        self.rule = str(known.get("rule", ""))
        self.crd = str(known.get("crd", ""))
        self.field = str(known.get("field", ""))
        self.message = str(known.get("message", ""))
        self.file = str(known.get("file", ""))  # relative to the folder of the baseline
        self.line = line  # in the baseline

    def as_dict(self) -> dict[str, Any]:
        """Return the entry as plain data, without what is empty."""
        row: dict[str, Any] = {"crd": self.crd, "rule": self.rule, "field": self.field}
        row |= {"message": self.message, "file": self.file, "fingerprint": self.fingerprint}
        if self.count != 1:
            row["count"] = self.count
        return {key: value for key, value in row.items() if value}

    def order(self) -> tuple[str, ...]:
        """Return the key that entries are sorted by."""
        return self.crd, self.rule, self.field, self.message, self.fingerprint


class Baseline:
    """What is known, and from where: a file, or the findings of a revision."""

    __slots__ = ("entries", "file", "why")

    def __init__(self, entries: Iterable[Entry], *, file: str = "", why: str = "") -> None:
        self.entries = list(entries)
        self.file = file
        self.why = why or f"in the baseline {file}"

    def apply(self, report: Report, policy: Policy) -> None:
        """Put known findings aside, each as often as it is known; report what matches nothing."""
        left: dict[str, int] = {}
        for entry in self.entries:
            left[entry.fingerprint] = left.get(entry.fingerprint, 0) + entry.count
        kept = []
        for finding in report.findings:
            if left.get(finding.fingerprint, 0) > 0:
                left[finding.fingerprint] -= 1
                finding.suppressed = (EXTERNAL, self.why)
                report.suppressed.append(finding)
            else:
                kept.append(finding)
        report.findings = kept
        if self.file:
            report.findings += self._unused(report, policy, left)
        report.close()

    def _unused(self, report: Report, policy: Policy, left: dict[str, int]) -> Iterator[Finding]:
        judged = policy.judge(UNUSED)
        if judged is None:
            return
        for entry in self.entries:
            over = min(left[entry.fingerprint], entry.count)
            if over <= 0 or not self._judgeable(entry, report):
                continue
            left[entry.fingerprint] -= over
            some = f"{over} of {entry.count} times " if entry.count > 1 else ""
            known = f"{entry.rule} at {entry.field}" if entry.field else entry.rule
            text = f"{known or entry.fingerprint} is known {some}but not found any more"
            yield Finding(
                UNUSED,
                judged[0],
                text,
                Spot(self.file, 0, entry.line),
                crd=entry.crd,
                help=judged[1],
                fingerprint=fingerprint(UNUSED, entry.crd, "", entry.field, text),
            )

    def _judgeable(self, entry: Entry, report: Report) -> bool:
        """Tell whether the run has looked where the finding of an entry was."""
        if entry.crd in report.names or not entry.file:
            return True
        file = os.path.join(os.path.dirname(self.file), entry.file)
        if not os.path.exists(file):
            return True
        return os.path.realpath(file) in {os.path.realpath(name) for name in report.files}

    def updated(self, report: Report) -> str:
        """Return the text of the file with the findings of a run.

        Entries of CRDs that the run did not look at stay.
        """
        entries = [entry for entry in self.entries if not self._judgeable(entry, report)]
        folder = os.path.dirname(self.file)
        known: dict[str, Entry] = {}
        for finding in report.findings:
            if finding.fingerprint in known:
                known[finding.fingerprint].count += 1
            else:
                known[finding.fingerprint] = _entry(finding, folder)
        return _text([*entries, *known.values()])


def _entry(finding: Finding, folder: str) -> Entry:
    file = finding.spot.file
    if os.path.exists(file):
        file = os.path.relpath(file, folder or ".").replace(os.sep, "/")
    return Entry(
        {
            "fingerprint": finding.fingerprint,
            "rule": finding.rule,
            "crd": finding.crd,
            "field": finding.field,
            "message": finding.message,
            "file": file,
        }
    )


def _text(entries: list[Entry]) -> str:
    import json

    def line(entry: Entry) -> str:
        return "  " + json.dumps(entry.as_dict())

    rows = ",\n".join(line(entry) for entry in sorted(entries, key=Entry.order))
    listed = f"[\n{rows}\n ]" if rows else "[]"
    return (
        f'{{\n "version": {VERSION},\n "about": {json.dumps(_ABOUT)},\n "findings": {listed}\n}}\n'
    )


def read(file: str) -> Baseline:
    """Read a baseline from a file; raise BaselineError."""
    import json

    try:
        with open(file, encoding="utf-8") as stream:
            text = stream.read()
    except OSError as error:
        raise BaselineError(
            f"{file}: the baseline cannot be read: {error.strerror};"
            " write one with --update-baseline"
        ) from None
    except ValueError:
        raise BaselineError(f"{file}: the baseline is not UTF-8; {_ANEW}") from None
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BaselineError(f"{file}: the baseline is no JSON: {error}; {_ANEW}") from None
    rows = data.get("findings") if isinstance(data, dict) else None
    if not isinstance(rows, list) or data.get("version") != VERSION:
        raise BaselineError(f"{file}: this is no baseline of version {VERSION}; {_ANEW}")
    lines = text.split("\n")
    return Baseline(_entries(rows, lines, file), file=file)


def _entries(rows: list[Any], lines: list[str], file: str) -> Iterator[Entry]:
    start = 0
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, dict) or not isinstance(row.get("fingerprint"), str):
            said = f"{file}: entry {number} of the baseline has no fingerprint; {_ANEW}"
            raise BaselineError(said)
        here = (i for i in range(start, len(lines)) if row["fingerprint"] in lines[i])
        start = next(here, start)
        yield Entry(row, start + 1)


def of_findings(findings: Iterable[Finding], why: str) -> Baseline:
    """Return the findings of another run as what is known."""
    return Baseline([_entry(finding, "") for finding in findings], why=why)
