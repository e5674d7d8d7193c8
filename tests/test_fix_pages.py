"""Every page that names a fix shows what it makes; the fix makes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crdlint import document, fixes, fixing, pages
from crdlint.edits import plain, same
from crdlint.policy import Policy

if TYPE_CHECKING:
    from crdlint.pages import Example, Page

fixes.load()
FIXED = [page for page in pages.load() if page.fix]


def run(page: Page, example: Example) -> fixing.Fixed:
    options = fixing.Options(
        unsafe=True,
        select=[page.id],
        minors=[example.minor] if example.minor else None,
        policy=Policy(extra=[page.id]),
    )
    return fixing.fix(example.document.encode(), f"{page.id}.yaml", options)


def bad_examples(page: Page) -> list[Example]:
    marked = [e for e in page.examples if page.id in {r for rs in e.marks.values() for r in rs}]
    return [example for example in marked if example.section == "Bad"]


def test_every_fix_has_a_page_and_every_page_a_fix() -> None:
    named = {page.id: page.fix for page in pages.load() if page.fix}
    assert named == {rule: level for rule, (level, _) in fixes.CURES.items()}


@pytest.mark.parametrize("page", FIXED, ids=lambda page: page.id)
def test_an_example_is_cured(page: Page) -> None:
    results = [run(page, example) for example in bad_examples(page)]
    cured = [r for r in results if r.made and not any(f.rule == page.id for f in r.left)]
    assert cured, [why for result in results for _, why in result.failed]


# Pages whose good example shows more than the fix does: another name, a schema of one's own.
SHOWN_OTHERWISE = frozenset(
    """conversion-none-webhook decode-error default-in-map-invalid default-invalid
    deprecation-warning embedded-resource-in-metadata enum-empty exclusive-bound-alone
    items-required list-kind-same list-type map-type metadata-label preserve-unknown-fields-true
    root-additional-properties root-metadata-restricted set-items-not-atomic set-of-non-scalars
    short-name-built-in short-name-own status-without-subresource type-required
    unrecognized-format version-name-unique""".split()
)


@pytest.mark.parametrize("page", FIXED, ids=lambda page: page.id)
def test_the_page_shows_what_the_fix_makes(page: Page) -> None:
    good = [
        next(document.read(example.document.encode(), "good")).data
        for example in page.examples
        if example.section == "Fix"
    ]
    made = [
        next(document.read(run(page, example).data, "bad")).data for example in bad_examples(page)
    ]
    shown = any(same(plain(a), plain(b)) for a in good for b in made)
    assert shown != (page.id in SHOWN_OTHERWISE)
