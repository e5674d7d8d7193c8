"""The Checkstyle report, which Jenkins, reviewdog and many editors read."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from crdlint.report import inline
from crdlint.report.xml import HEAD, element

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crdlint.finding import Finding, Summary
    from crdlint.report import Options

_VERSION = "4.3"  # of the format; what most other tools say


def render(findings: Iterable[Finding], summary: Summary, options: Options) -> str:
    """Return one `file` a file with findings, its paths as they were given."""
    del summary, options
    files = [
        element("file", "\n" + "".join(map(_error, group)) + " ", name=file)
        for file, group in groupby(findings, lambda finding: finding.spot.file)
    ]
    content = "\n" + "".join(f" {file}\n" for file in files)
    return f"{HEAD}{element('checkstyle', content, version=_VERSION)}\n"


def _error(finding: Finding) -> str:
    row = element(
        "error",
        line=finding.spot.line,
        column=finding.spot.column,
        severity=finding.severity,
        message=inline(finding),
        source=f"crdlint.{finding.rule}",
    )
    return f"  {row}\n"
