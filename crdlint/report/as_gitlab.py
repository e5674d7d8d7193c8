"""The GitLab report: a Code Quality artifact, shown in merge requests.

The format is the part of Code Climate's that GitLab reads: docs.gitlab.com/ci/testing/code_quality.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from crdlint.report import inline, is_refused, relative
from crdlint.report.terminal import clean

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crdlint.finding import Finding, Summary
    from crdlint.report import Options

_SEVERITIES = {"error": "critical", "warning": "minor", "info": "info"}
_REFUSED = "blocker"


def render(findings: Iterable[Finding], summary: Summary, options: Options) -> str:
    """Return a JSON array of issues, with paths from the root of the repository."""
    del summary
    seen: set[str] = set()
    rows = [_issue(finding, options.root, seen) for finding in findings]
    return json.dumps(rows, indent=1) + "\n"


def _issue(finding: Finding, root: str, seen: set[str]) -> dict[str, Any]:
    spot = finding.spot
    path = clean(relative(spot.file, root))
    refused = finding.severity == "error" and is_refused(finding)
    return {
        "description": clean(inline(finding)),
        "check_name": finding.rule,
        "fingerprint": _unique(finding, path, seen),
        "severity": _REFUSED if refused else _SEVERITIES[finding.severity],
        "location": {"path": path, "lines": {"begin": spot.line, "end": spot.end_line}},
    }


def _unique(finding: Finding, path: str, seen: set[str]) -> str:
    """Return a fingerprint that no other issue has: GitLab drops all but one of equal ones.

    It knows no line, so an issue stays the same one when text moves. A further copy of the same
    CRD takes its path into the hash, and its number only where that does not tell them apart.
    """
    text = finding.fingerprint or f"{finding.rule}\0{finding.field}\0{finding.message}"
    made = finding.fingerprint or _hash(text)
    number = 1
    while made in seen:
        made = _hash(f"{text}\0{path}\0{number}")
        number += 1
    seen.add(made)
    return made


def _hash(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
