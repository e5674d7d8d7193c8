"""The examples of the pages of diff rules are tests."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import pytest
from diff_helpers import compare

from crdlint import kubernetes, pages
from crdlint.diffrule import DIFF_IDS

if TYPE_CHECKING:
    from crdlint.pages import Example

IDS = [*DIFF_IDS, "crd-added", "crd-removed", "rollback-unsafe"]


def pairs(rule: str) -> list[tuple[Example, Example]]:
    examples = pages.page(rule).examples
    before = [e for e in examples if e.role == "before"]
    after = [e for e in examples if e.role == "after"]
    assert before, "a page of a diff rule has a pair of blocks, before and after"
    assert len(before) == len(after)
    return list(zip(before, after, strict=True))


@pytest.mark.parametrize("rule", IDS)
def test_example(rule: str) -> None:
    for before, after in pairs(rule):
        minor = after.minor or kubernetes.NEWEST
        found: dict[tuple[str, int], list[str]] = defaultdict(list)
        for finding in compare(before.document, after.document, minor=minor):
            if finding.rule == "rollback-unsafe" != rule:
                continue  # many changes make a rollback unsafe; only its own page marks it
            for spot in finding.places or [finding.spot]:
                found[spot.file, spot.line].append(finding.rule)
        marked = {
            (name, line): sorted(rules)
            for name, example in (("old.yaml", before), ("new.yaml", after))
            for line, rules in example.marks.items()
        }
        assert {at: sorted(rules) for at, rules in found.items()} == marked


@pytest.mark.parametrize("rule", IDS)
def test_page(rule: str) -> None:
    page = pages.page(rule)
    assert page.cure, "the first sentence of Fix says what to do"
    assert page.why
    if page.severity == "error":
        assert page.effects, "an error hurts somebody"
