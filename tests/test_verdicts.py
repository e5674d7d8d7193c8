"""Small CRDs, each named for what it shows, held to the API server's verdict on them.

`expected.json` says of every CRD document what a server of Kubernetes 1.37 answers to its creation:
[document, item of a List or null, accepted, [[error type, field], ...], refused under strict field
validation only, number of warnings].
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from crdlint import api, source

FOLDER = Path(__file__).parent.parent / "fixtures" / "verdicts"
EXPECTED: dict[str, list[list[Any]]] = json.loads((FOLDER / "expected.json").read_bytes())

# Answers given before validation: there the field is ours, the server names none.
BEFORE_VALIDATION = {"DecodeError", "NotServed", "BadRequest"}

Verdict = list[Any]


def verdicts(name: str) -> dict[tuple[int, int | None], Verdict]:
    """Return what crdlint says of each document of a file that it has something to say about."""
    report = api.lint(source.find([str(FOLDER / name)]), minors=[37])
    assert not report.errors
    claims: dict[tuple[int, int | None], list[tuple[str, str]]] = {}
    for finding in report.findings:
        assert finding.rule != "internal-error", finding.message
        place = finding.spot.document, finding.spot.item
        claims.setdefault(place, []).extend(finding.server or [])
    return {place: verdict(said) for place, said in claims.items()}


def verdict(claims: list[tuple[str, str]]) -> Verdict:
    types = [type_ for type_, _ in claims]
    refusals = {claim for claim in claims if claim[0] not in ("Strict", "Warning")}
    return [
        not refusals,
        comparable(sorted(refusals)),
        "Strict" in types,
        types.count("Warning"),
    ]


def comparable(errors: list[tuple[str, str]]) -> list[list[str]]:
    return [[type_, "" if type_ in BEFORE_VALIDATION else field] for type_, field in errors]


@pytest.mark.parametrize("name", EXPECTED)
def test_the_verdict_is_the_servers(name: str) -> None:
    said = verdicts(name)
    silent = verdict([])
    for document, item, accepted, errors, strict, warnings in EXPECTED[name]:
        pairs = [(type_, field) for type_, field in errors]
        expected = [accepted, comparable(pairs), strict, warnings]
        assert said.pop((document, item), silent) == expected, f"document {document}, item {item}"
    assert all(other == silent for other in said.values()), "said of what is no CRD"


def test_every_file_has_an_expectation() -> None:
    files = {path.name for path in FOLDER.iterdir()} - {"expected.json"}
    assert files == set(EXPECTED)


def test_line_ends_and_byte_order_marks_are_still_there() -> None:
    crlf = (FOLDER / "crlf.yaml").read_bytes()
    assert crlf.count(b"\r\n") == crlf.count(b"\n") > 0
    for name in ("bom.yaml", "bom.json"):
        assert (FOLDER / name).read_bytes().startswith(b"\xef\xbb\xbf")
