"""The examples of the pages of objects are tests."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import pytest

from crdlint import objectfindings, pages, validating
from crdlint.source import Source

if TYPE_CHECKING:
    from crdlint.pages import Example, Page

PAGES = [p for p in pages.load() if any(e.role == "object" for e in p.examples)]
CASES = [(p, e) for p in PAGES for e in p.examples if e.role == "object"]


def nearest(page: Page, example: Example, role: str) -> Example | None:
    """Return the last block of a role before an object, in its section or in one before."""
    found = [e for e in page.examples if e.role == role and e.line < example.line]
    return found[-1] if found else None


@pytest.mark.parametrize(
    ("page", "example"), CASES, ids=[f"{p.id}-{e.section}-{e.line}" for p, e in CASES]
)
def test_example(page: Page, example: Example) -> None:
    crd = nearest(page, example, "crd")
    assert crd is not None, "an object needs the CRD of its kind, as a block before it"
    old = next((e for e in page.examples if e.role == "old" and e.section == example.section), None)
    report = validating.validate(
        [Source("crd.yaml", crd.document.encode)],
        [Source("object.yaml", example.text.encode)],
        olds=[Source("old.yaml", old.text.encode)] if old else None,
        minors=[example.minor] if example.minor else None,
        strict_kinds=True,
    )
    found: dict[tuple[str, int], list[str]] = defaultdict(list)
    for finding in report.findings:
        found[finding.spot.file, finding.spot.line].append(finding.rule)
    marked = {("crd.yaml", line): rules for line, rules in crd.marks.items()}
    # An object stands as it is; the block of a schema is wrapped, and its marks count there.
    shift = example.document.count("\n") - example.text.count("\n")
    marked |= {("object.yaml", line - shift): rules for line, rules in example.marks.items()}
    assert found == marked


@pytest.mark.parametrize("page", PAGES, ids=[p.id for p in PAGES])
def test_page_shows_bad_and_good(page: Page) -> None:
    marked = {e.section: bool(e.marks) for e in page.examples if e.role != "old" and e.marks}
    assert "Fix" not in marked
    assert marked.get("Bad")


def test_every_rule_of_objects_has_a_page_with_objects() -> None:
    assert {p.id for p in PAGES} == set(objectfindings.IDS)
