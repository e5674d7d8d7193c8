"""The JUnit report, for CI systems that show test results."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from crdlint.report import count, headline, inline
from crdlint.report.xml import HEAD, element, text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crdlint.finding import Finding, Summary
    from crdlint.report import Options


def render(findings: Iterable[Finding], summary: Summary, options: Options) -> str:
    """Return a suite for each file with findings; errors and warnings are failures.

    A run without failures has one case that passes: systems take none at all for a mistake.
    """
    del options
    found = list(findings)
    suites = [
        _suite(file, list(group)) for file, group in groupby(found, lambda each: each.spot.file)
    ]
    if not any(map(_fails, found)):
        looked = f"{count(summary.crds, 'CRD')} in {count(summary.files, 'file')}"
        case = element("testcase", classname="crdlint", name=looked)
        counts = {"tests": 1, "failures": 0, "errors": 0}
        suites.insert(0, element("testsuite", f"\n  {case}\n ", name="crdlint", **counts))
    content = "\n" + "".join(f" {suite}\n" for suite in suites)
    failures = sum(map(_fails, found))
    counts = {"tests": len(found) + (not failures), "failures": failures, "errors": 0}
    return f"{HEAD}{element('testsuites', content, name='crdlint', **counts)}\n"


def _fails(finding: Finding) -> bool:
    return finding.severity != "info"


def _suite(file: str, findings: list[Finding]) -> str:
    counts = {"tests": len(findings), "failures": sum(map(_fails, findings)), "errors": 0}
    cases = "".join(f"  {_case(finding)}\n" for finding in findings)
    return element("testsuite", f"\n{cases} ", name=file, **counts)


def _case(finding: Finding) -> str:
    spot = finding.spot
    where = f"{spot.file}:{spot.line}:{spot.column}"
    body = text("\n".join([where, inline(finding)]))
    if _fails(finding):
        content = element("failure", body, message=headline(finding), type=finding.severity)
    else:
        content = element("system-out", body)
    name = f"{finding.rule}: {finding.field or 'line'} ({spot.line})"
    return element("testcase", content, classname=spot.file, name=name, file=spot.file)
