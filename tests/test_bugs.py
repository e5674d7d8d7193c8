"""Problems that people met in public: each gets the rule and the severity that would have helped."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from crdlint import api, diffing
from crdlint.policy import Policy
from crdlint.source import Source

if TYPE_CHECKING:
    from crdlint.finding import Finding

CASES = os.path.join(os.path.dirname(__file__), "..", "..", "shared", "cases", "bugs")
pytestmark = pytest.mark.skipif(not os.path.isdir(CASES), reason="no conformance data here")

# The rule that speaks of a case, and how bad it is.
LINT = {
    "03": ("schema-required", "error"),
    "04": ("list-map-key-optional", "error"),
    "05": ("type-required", "error"),
    "06": ("type-required", "error"),
    "07": ("junctor-keyword", "error"),
    "12": ("root-metadata-restricted", "error"),
    "15": ("cel-cost", "error"),
    "16": ("cel-cost", "error"),
    "19": ("cel-int-or-string-guard", "warning"),
    "24": ("conversion-webhook-client-config", "error"),
    "25": ("conversion-none-lossy", "warning"),
    "31": ("status-without-subresource", "warning"),
    "33": ("duplicate-key", "error"),
    "37": ("unknown-field", "error"),
    "39": ("yaml-boolean-value", "error"),
    "41": ("quantity-as-string", "info"),
    "42": ("int-or-string-half-constrained", "info"),
    "46": ("pattern-invalid", "error"),
    "47": ("unrecognized-format", "warning"),
    "48": ("pattern-unsatisfiable", "warning"),
    "52": ("opaque-root", "warning"),
    "54": ("version-field-required", "warning"),
    "57": ("type-required", "error"),
    "61": ("unrecognized-format", "warning"),
}
CONVENTIONS = {"56": ("conditions-shape", "warning")}
DIFF = {
    "01": ("stored-version-removed", "error"),
    "23": ("conversion-webhook-removed-same-schemas", "warning"),
    "26": ("field-added-required", "error"),
    "29": ("field-removed", "error"),
    "43": ("crd-scope-changed", "error"),
    "45": ("list-type-to-map", "error"),
    "53": ("min-length-tightened", "error"),
    "59": ("storage-version-changed-on-introduction", "warning"),
}
SILENT = {"lint": ("58",), "diff": ("50",)}


def source(case: str, name: str) -> Source:
    file = os.path.join(CASES, case, name)
    with open(file, "rb") as stream:
        data = stream.read()
    return Source(f"{case}/{name}", lambda: data)


def linted(case: str, profile: str = "default") -> list[Finding]:
    return api.lint([source(case, "crd.yaml")], policy=Policy(profile)).findings


def compared(case: str) -> list[Finding]:
    return diffing.diff([source(case, "old.yaml")], [source(case, "new.yaml")]).findings


def said(findings: list[Finding]) -> set[tuple[str, str]]:
    return {(finding.rule, finding.severity) for finding in findings}


@pytest.mark.parametrize("case", LINT)
def test_lint(case: str) -> None:
    assert LINT[case] in said(linted(case))


@pytest.mark.parametrize("case", CONVENTIONS)
def test_conventions(case: str) -> None:
    assert CONVENTIONS[case] in said(linted(case, "api"))


@pytest.mark.parametrize("case", DIFF)
def test_diff(case: str) -> None:
    assert DIFF[case] in said(compared(case))


def test_what_must_stay_silent() -> None:
    found = [f for case in SILENT["lint"] for f in linted(case)]
    found += [f for case in SILENT["diff"] for f in compared(case)]
    assert [f for f in found if f.severity != "info"] == []


def test_no_case_is_left_out() -> None:
    known = {*LINT, *CONVENTIONS, *DIFF, *SILENT["lint"], *SILENT["diff"]}
    assert {name for name in os.listdir(CASES) if name.isdigit()} == known


def test_no_case_crashes_a_rule() -> None:
    for case in {*LINT, *CONVENTIONS, *SILENT["lint"]}:
        assert "internal-error" not in {f.rule for f in linted(case, "strict")}
