"""Every example on every rule page is a test, and every rule has a check and a page."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

import pytest

from crdlint import api, differ, objectfindings, pages, rule, rules
from crdlint.policy import Policy
from crdlint.source import Source

if TYPE_CHECKING:
    from crdlint.finding import Finding

PAGES = pages.load()
# What no document can bring about: it speaks of crdlint itself, or of another file.
WITHOUT_EXAMPLE = {
    "internal-error",
    "unused-baseline-entry",
    "unused-acknowledgement",
    "expired-acknowledgement",
}
LINT_PAGES = [p for p in PAGES if not any(example.role for example in p.examples)]
CASES = [(p, example) for p in LINT_PAGES for example in p.examples]


def findings(page: pages.Page, example: pages.Example) -> list[Finding]:
    minors = [example.minor] if example.minor else None
    policy = Policy(extra={page.id})
    source = Source("page.yaml", example.document.encode)
    return api.lint([source], minors=minors, policy=policy).findings


@pytest.mark.parametrize(
    ("page", "example"), CASES, ids=[f"{p.id}-{e.section}-{e.line}" for p, e in CASES]
)
def test_example(page: pages.Page, example: pages.Example) -> None:
    found = sorted((f.spot.line, f.rule) for f in findings(page, example))
    marked = sorted((line, name) for line, names in example.marks.items() for name in names)
    assert found == marked


@pytest.mark.parametrize("page", LINT_PAGES, ids=[p.id for p in LINT_PAGES])
def test_page_shows_bad_and_good(page: pages.Page) -> None:
    if page.id not in WITHOUT_EXAMPLE:
        assert {bool(example.marks) for example in page.examples} == {True, False}
        assert any(page.id in names for e in page.examples for names in e.marks.values())


def test_every_page_has_a_check_and_every_check_a_page() -> None:
    differ.load()
    rules.load()
    rules.load_conventions()
    for name in ("acknowledge", "baseline"):  # which declare rules of their own
        import_module(f"crdlint.{name}")
    assert objectfindings.IDS.keys() <= rule.ALL_IDS.keys()
    assert {p.id for p in PAGES} == set(rule.ALL_IDS)


@pytest.mark.parametrize("page", PAGES, ids=[p.id for p in PAGES])
def test_page_has_a_cure_of_one_sentence(page: pages.Page) -> None:
    assert page.cure
    assert page.cure.count(". ") == 0
