"""The form of rule pages: what the parser takes, what it refuses, and that ours are whole."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from test_pages import WITHOUT_EXAMPLE

from crdlint import pages
from crdlint.pages import Page, PageError, parse

HEAD = (
    '---\nseverity: error\nsince: "1.25"\nserver: true\nfix: safe\neffects: writers gitops\n---\n'
)
BODY = """\
# some-rule: The default is not one of the values the enum allows

The server refuses it, e.g. on apply. A second sentence.

A second paragraph.

## Bad
```yaml
type: object
properties:
  mode: {type: string, enum: [Fast, Safe], default: Slow}  # finding
  # ## Fix
  other: {type: string}  # finding[other-rule, some-rule]
```

## Fix
Add `"v1.0"` (e.g. `Slow`) to
the enum or take a default
of it. Then apply again.

```yaml kubernetes=1.30
type: object
```

## The server says
- `…: Unsupported value: …: supported values: …`
- `` has `ticks` ``
"""
PAGE = HEAD + BODY


def read(text: str) -> Page:
    return parse(text, "rules/some-rule.md")


def test_head_and_title() -> None:
    page = read(PAGE)
    assert page.id == "some-rule"
    assert page.summary == "The default is not one of the values the enum allows"
    assert (page.severity, page.since, page.server, page.profile, page.fix) == (
        "error", "1.25", True, "default", "safe",
    )  # fmt: skip
    assert page.effects == ("writers", "gitops")
    assert page.url.endswith("/rules/some-rule.md")


def test_parts_of_the_body() -> None:
    page = read(PAGE)
    assert list(page.sections) == ["", "Bad", "Fix", "The server says"]
    assert page.why.startswith("The server refuses it")
    assert page.why.endswith("paragraph.")
    assert page.cure == 'Add `"v1.0"` (e.g. `Slow`) to the enum or take a default of it.'
    assert page.wordings == ["…: Unsupported value: …: supported values: …", "has `ticks`"]


@pytest.mark.parametrize(
    ("fix", "cure"),
    [
        ("Set `a.b` to 1.5. More.", "Set `a.b` to 1.5."),
        ("Write `x`.\n\nMore", "Write `x`."),
        ("Do that", "Do that"),
        ("Rename it (see `b`.)\nThen go.", "Rename it (see `b`.)"),
        ("Upgrade to Kubernetes 1.30. It is there.", "Upgrade to Kubernetes 1.30."),
        ("Take `None`, i.e. No conversion. Done.", "Take `None`, i.e. No conversion."),
        ("", ""),
    ],
)
def test_cure_is_the_first_sentence(fix: str, cure: str) -> None:
    assert read(f"---\nseverity: info\n---\n# some-rule: T\n\n## Fix\n{fix}\n").cure == cure


def test_schema_example_becomes_a_crd() -> None:
    bad, good = read(PAGE).examples
    assert (bad.section, good.section) == ("Bad", "Fix")
    assert (bad.minor, good.minor) == (None, 30)
    assert PAGE.splitlines()[bad.line - 1] == "type: object"
    crd = yaml.safe_load(bad.document)
    assert crd["metadata"]["name"] == "widgets.example.com"
    schema = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    assert schema == yaml.safe_load(bad.text)
    lines = bad.document.splitlines()
    assert {lines[n - 1].strip().split(":")[0]: rules for n, rules in bad.marks.items()} == {
        "mode": ["some-rule"],
        "other": ["other-rule", "some-rule"],
    }


@pytest.mark.parametrize(
    "block",
    [
        "apiVersion: v1\nkind: CustomResourceDefinition\nspec: {}  # finding\n",
        'apiVersion: v1\n"kind": "CustomResourceDefinition"\nspec: {}  # finding\n',
        "{kind: CustomResourceDefinition,\nmetadata: {},\nspec: {}}  # finding\n",
    ],
)
def test_whole_document_stays_as_it_is(block: str) -> None:
    page = read(f"---\nseverity: info\n---\n# some-rule: T\n\n```yaml before\n{block}```\n")
    (example,) = page.examples
    assert example.document == example.text == block
    assert example.marks == {3: ["some-rule"]}
    assert example.role == "before"


def test_property_named_kind_is_no_document() -> None:
    block = "type: object\nproperties:\n  kind: {type: string}\n"
    (example,) = read(f"---\nseverity: info\n---\n# some-rule: T\n```yaml\n{block}```\n").examples
    assert example.document != block


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        ("---\nseverity", "severity", r"some-rule\.md:1: a page starts with"),
        ("severity: error", "severity: fatal", r":2: severity is 'fatal', not one of error"),
        ("severity: error\n", "", r":6: the head says no severity"),
        ("severity: error", "severity: error # c", r":2: severity is"),
        ("severity: error", "severity: error\nseverity: info", r":3: severity is there twice"),
        ('since: "1.25"', "since: v1.25", r":3: since is 'v1.25'"),
        ("server: true", "server: yes", r":4: server is 'yes', not true or false"),
        ("fix: safe", "fix: maybe", r":5: fix is 'maybe'"),
        ("fix: safe", "profile: loud", r":5: profile is 'loud', not one of default, api, strict"),
        ("fix: safe", "- fix", r":5: expected `key: value`"),
        ("fix: safe", "colour: red", r":5: unknown key 'colour'"),
        ("writers gitops", "writers writers", r":6: effects is"),
        ("writers gitops", "everyone", r":6: effects is 'everyone'"),
        ("effects: writers gitops\n---\n# some", "effects: writers\n# some", r":7: expected `key"),
        ("# some-rule: The", "# other-rule: The", r":8: expected the title `# some-rule: "),
        ("# some-rule: The default", "# some-rule The default", r":8: expected the title"),
    ],
)
def test_malformed_head_names_file_and_line(before: str, after: str, says: str) -> None:
    assert before in PAGE
    with pytest.raises(PageError, match=says):
        read(PAGE.replace(before, after, 1))


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        ("# finding\n", "# finding: x\n", r"some-rule\.md:18: a mark is"),
        (
            "```yaml kubernetes=1.30",
            "```yaml kubernetes=v30",
            r":28: 'kubernetes=v30' after `yaml`",
        ),
        (
            "type: object\n```\n\n## The",
            "type: object\n\n## The",
            r":28: the block that starts here",
        ),
    ],
)
def test_malformed_example_names_file_and_line(before: str, after: str, says: str) -> None:
    assert before in PAGE
    with pytest.raises(PageError, match=says):
        _ = read(PAGE.replace(before, after, 1)).examples


def test_section_twice_is_refused() -> None:
    page = read(PAGE.replace("## Fix\nAdd", "## Bad\nAdd"))
    with pytest.raises(PageError, match=r":23: the section 'Bad' is there twice"):
        _ = page.sections


@pytest.mark.parametrize("text", ["", "\n", "---", "---\n", "---\nseverity: info\n---", "\0"])
def test_nothing_but_page_errors(text: str) -> None:
    with pytest.raises(PageError):
        read(text)


@pytest.mark.parametrize("rule", ["no-such-rule", "../README", "README", "", "a/b", "Ä"])
def test_unknown_rule(rule: str) -> None:
    with pytest.raises(PageError, match="there is no rule"):
        pages.page(rule)


def test_page_reads_one_file_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "some-rule.md").write_text(PAGE, encoding="utf-8")
    (tmp_path / "broken.md").write_text("nothing", encoding="utf-8")
    (tmp_path / "README.md").write_text("index", encoding="utf-8")
    monkeypatch.setattr(pages, "folder", lambda: str(tmp_path))
    monkeypatch.setattr(pages, "_READ", {})
    assert pages.ids() == ["broken", "some-rule"]
    first = pages.page("some-rule")
    (tmp_path / "some-rule.md").unlink()
    assert pages.page("some-rule") is first
    with pytest.raises(PageError, match=r"broken\.md:1:"):
        pages.load()


def test_import_is_cheap() -> None:
    code = (
        "import sys; before = set(sys.modules); import crdlint.pages; "
        "print(*sorted(m for m in set(sys.modules) - before if not m.startswith('crdlint')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {"pathlib", "dataclasses", "importlib.resources", "importlib.metadata", "hashlib"}
    assert not heavy & set(done.stdout.split())


REAL = pages.ids()


@pytest.mark.parametrize("rule", REAL)
def test_our_pages_are_whole(rule: str) -> None:
    page = pages.page(rule)
    assert page.why, "a page says why"
    assert page.cure, "a page says how to put it right"
    assert len(page.cure) <= 200, page.cure
    assert not page.summary.endswith("."), page.summary
    assert len(page.summary) <= 100
    if rule not in WITHOUT_EXAMPLE:
        assert any(example.section == "Bad" for example in page.examples)
        assert any(example.marks for example in page.examples)
    for example in page.examples:
        known = {name for names in example.marks.values() for name in names}
        assert known <= set(REAL), f"line {example.line} marks rules without a page"
        if example.section == "Fix":
            assert not example.marks, f"line {example.line}: the good example has a mark"
    if page.server:
        assert page.wordings, "a page of a server check has `## The server says`"
    for wording in page.wordings:
        assert len(re.sub(r"\W", "", wording)) >= 8, f"{wording!r} says too little to be found by"


def test_index_is_up_to_date() -> None:
    written = Path(pages.folder(), "README.md").read_text(encoding="utf-8")
    assert written == pages.index(), "run `python -m crdlint.pages`"
