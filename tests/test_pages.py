"""Every example on every rule page is a test, and every rule has a check and a page."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING

import pytest

from crdlint import api, engine, pages, rule
from crdlint.policy import Policy

if TYPE_CHECKING:
    from crdlint.finding import Finding

PAGES = pages.load()
MARK = re.compile(r"finding(?:\[([a-z0-9-]+)\])?")
SCHEMA = " " * 8
# What can be met by no document: it speaks of crdlint itself.
WITHOUT_EXAMPLE = {"internal-error"}
HEAD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: widgets.example.com
spec:
  group: example.com
  names: {kind: Widget, plural: widgets}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
"""
LINT_PAGES = [p for p in PAGES.values() if not any(b.role for b in p.blocks)]
CASES = [(p, b) for p in LINT_PAGES for b in p.blocks]


class Text:
    """A source that holds its text."""

    name = "page.yaml"

    def __init__(self, text: str) -> None:
        self.text = text

    def read(self) -> bytes:
        return self.text.encode()


def marked(page: pages.Page, text: str) -> set[tuple[int, str]]:
    found = set()
    for number, line in enumerate(text.splitlines(), 1):
        _, hash_mark, comment = line.rpartition("# ")
        if hash_mark and re.fullmatch(rf"{MARK.pattern}(?: {MARK.pattern})*", comment):
            found |= {(number, m[1] or page.id) for m in MARK.finditer(comment)}
    return found


def findings(page: pages.Page, block: pages.Block) -> tuple[list[Finding], int]:
    whole = "kind:" in block.text and "CustomResourceDefinition" in block.text
    text = block.text if whole else HEAD + textwrap.indent(block.text, SCHEMA)
    minors = [block.minor] if block.minor else None
    report = api.lint([Text(text)], minors=minors, policy=Policy(extra={page.id}))  # type: ignore[list-item]
    return report.findings, 0 if whole else HEAD.count("\n")


@pytest.mark.parametrize(
    ("page", "block"), CASES, ids=[f"{p.id}-{i}" for i, (p, _) in enumerate(CASES)]
)
def test_example(page: pages.Page, block: pages.Block) -> None:
    found, offset = findings(page, block)
    assert {(f.spot.line - offset, f.rule) for f in found} == marked(page, block.text)


@pytest.mark.parametrize("page", LINT_PAGES, ids=[p.id for p in LINT_PAGES])
def test_page_shows_bad_and_good(page: pages.Page) -> None:
    if page.id not in WITHOUT_EXAMPLE:
        assert {bool(marked(page, block.text)) for block in page.blocks} == {True, False}


def test_every_page_has_a_check_and_every_check_a_page() -> None:
    assert engine.lint is not None  # importing the engine registers the checks
    assert set(PAGES) - {p.id for p in PAGES.values() if p.effects} == set(rule.ALL_IDS)


@pytest.mark.parametrize("page", PAGES.values(), ids=list(PAGES))
def test_page_has_a_cure_of_one_sentence(page: pages.Page) -> None:
    assert page.cure
    assert page.cure.count(". ") == 0
