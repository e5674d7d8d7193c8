"""`explain` finds a page by its id or by what the API server says; `rules` lists all pages."""

from __future__ import annotations

import json
import re
import textwrap
from typing import TYPE_CHECKING

import pytest

from crdlint import explain, pages
from crdlint.pages import PageError

if TYPE_CHECKING:
    from pathlib import Path

PAGES = {
    "type-required": (
        "A field without a type",
        ["must not be empty for specified object fields", "must not be empty for specified items"],
    ),
    "empty": ("Something is empty", ["must not be empty"]),
    "storage-version-count": (
        "Not exactly one storage version",
        ["…: Invalid value: …: must have exactly one version marked as storage version"],
    ),
    "stored-versions": ("No stored version", ["must have at least one stored version"]),
    "default-not-in-enum": (
        "The default is not one of the values the enum allows",
        ["…default…: Unsupported value: …: supported values: …"],
    ),
    "group-required": ("The group is missing", ["Required value"]),
    "plural-required": ("The plural name is missing", ["Required value"]),
    "old-api-version": (
        "apiextensions.k8s.io/v1beta1 is gone",
        [
            'no matches for kind "CustomResourceDefinition" in version "apiextensions.k8s.io/v1beta1"'
        ],
    ),
    "pattern-no-regex": (
        "The pattern is no Go regular expression",
        [r"error parsing regexp: …: `…`"],
    ),
    "advice": ("A short name that a built-in resource has", []),
    "short": ("Too short to be found by", ["a …"]),
}


@pytest.fixture(autouse=True)
def own_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for rule, (title, wordings) in PAGES.items():
        says = "".join(f"- `` {wording} ``\n" for wording in wordings)
        (tmp_path / f"{rule}.md").write_text(
            f'---\nseverity: error\nsince: "1.25"\nserver: true\nprofile: api\nfix: safe\n'
            f"effects: writers\n---\n# {rule}: {title}\n\nWhy of {rule}.\n\n## Bad\n"
            f"```yaml\ntype: object  # finding\n# a note\n```\n\n## Fix\nMend `{rule}`. Then.\n\n"
            f"## The server says\n{says}",
            encoding="utf-8",
        )
    monkeypatch.setattr(pages, "folder", lambda: str(tmp_path))
    monkeypatch.setattr(pages, "_READ", {})


def found(text: str) -> list[str]:
    return [page.id for page, _ in explain.explain_text(text)]


def said(text: str) -> list[str]:
    """Return the rules whose wording the text has, not those that are only alike."""
    return [
        p.id for p, how in explain.explain_text(text) if how.startswith("The API server says: ")
    ]


KUBECTL = """\
The CustomResourceDefinition "widgets.example.com" is invalid:\x20
* spec.validation.openAPIV3Schema.properties[spec].type: Required value: must not be empty for specified object fields
* spec.validation.openAPIV3Schema.properties[m].default: Unsupported value: "Slow": supported values: "Fast", "Safe"
* spec.versions: Invalid value: []apiextensions.CustomResourceDefinitionVersion{apiextensions.CustomResourceDefinitionVersion{Name:"v1", Served:true}}: must have exactly one version marked as storage version
"""
KUBECTL_RULES = ["type-required", "default-not-in-enum", "storage-version-count"]
HELM = """\
Error: INSTALLATION FAILED: failed to install CRD crds/x.yaml: 1 error occurred:
\t* CustomResourceDefinition.apiextensions.k8s.io "x" is invalid: [spec.versions: Invalid value: []apiextensions.CustomResourceDefinitionVersion{}: must have exactly one version marked as storage version, status.storedVersions: Invalid value: []string{}: must have at least one stored version]
"""
HELM_RULES = ["storage-version-count", "stored-versions"]
ARGO = r"""one or more objects failed to apply, reason: CustomResourceDefinition.apiextensions.k8s.io "x" is invalid: spec.validation.openAPIV3Schema.properties[m].default: Unsupported value: "Slow": supported values: "Fast", "Safe". Retrying attempt #1 at 10:00AM."""


@pytest.mark.parametrize(
    ("text", "rules"),
    [(KUBECTL, KUBECTL_RULES), (HELM, HELM_RULES), (ARGO, ["default-not-in-enum"])],
)
def test_finds_every_error_however_it_is_quoted(text: str, rules: list[str]) -> None:
    for form in (
        text,
        "\n".join(textwrap.wrap(text, 60)),
        "\r\n".join(text[i : i + 47] for i in range(0, len(text), 47)),  # cut inside words
        json.dumps(text),
        json.dumps(json.dumps(text)),
        "  message: '" + text.replace("'", "''") + "'",
        "\n".join(f"│ {line}" for line in text.splitlines()),
        "\n".join(f"> {line}" for line in text.splitlines()),
        text.upper(),
    ):
        assert sorted(set(found(form)) & set(rules)) == sorted(rules), form
        assert found(form)[0] in rules


def test_a_wording_inside_a_longer_one_is_not_named() -> None:
    assert found("x.type: Required value: must not be empty for specified object fields") == [
        "type-required",
        "group-required",
        "plural-required",
    ]
    assert found("must not be empty, must not be empty for specified object fields") == [
        "type-required",
        "empty",
    ]


def test_same_wording_goes_to_the_page_that_the_field_names() -> None:
    assert found("spec.names.plural: Required value")[0] == "plural-required"
    assert found("spec.group: Required value")[0] == "group-required"


def test_parts_of_a_wording_stay_within_one_error() -> None:
    text = "* spec.default: Invalid value: 1\n* spec.x: Unsupported value: 2: supported values: 3"
    assert "default-not-in-enum" not in said(text)
    assert "default-not-in-enum" in said(text.replace("Invalid value: 1\n* spec.x: ", ""))


def test_backticks_and_backslashes_of_a_message_do_not_matter() -> None:
    text = r'spec.x.pattern: Invalid value: "(?=\\d)": error parsing regexp: invalid or unsupported Perl syntax: `(?=`'
    assert found(text) == ["pattern-no-regex"]


def test_report_of_crdlint_itself_names_the_rule() -> None:
    assert found("error[advice]: spec.names.shortNames: `po` is taken\n --> a.yaml:1:2") == [
        "advice"
    ]


def test_like_words_where_no_wording_fits() -> None:
    ((page, how),) = explain.explain_text(
        "spec.versions: exactly one version must be marked as the storage version"
    )
    assert page.id == "storage-version-count"
    assert how.startswith("The API server says something like it: ")
    assert found("short name of a built-in resource") == ["advice"]


@pytest.mark.parametrize("text", ["hello world", "", "\0\0", "…", "a b", "***", "x" * 300_000])
def test_nothing_found(text: str) -> None:
    assert found(text) == []
    assert explain.explain(text) is None
    assert "crdlint rules" in explain.unknown(text)


@pytest.mark.parametrize("wrong", ["typ-required", "TYPE-REQUIRED", " type_required"])
def test_did_you_mean(wrong: str) -> None:
    assert "did you mean type-required" in explain.unknown(wrong)


def test_rule_for_the_terminal() -> None:
    assert explain.explain_rule("advice") == (
        """\
advice: A short name that a built-in resource has
error - said by the API server itself - since Kubernetes 1.25 - on from the profile api - hurts writers - safe fix

Why of advice.

Bad
    type: object  # finding
    # a note

Fix
Mend `advice`. Then.

The server says

https://github.com/crdlint/crdlint/blob/main/rules/advice.md
"""
    )
    with pytest.raises(PageError):
        explain.explain_rule("nothing")


def test_colour_changes_no_words() -> None:
    plain, coloured = (explain.explain_rule("type-required", color=c) for c in (False, True))
    assert "\033[" not in plain
    assert re.sub(r"\033\[[0-9;]*m", "", coloured) == re.sub("`` ?| ?``|`", "", plain)


def test_one_match_shows_the_page_and_several_are_short() -> None:
    one = explain.explain("must have at least one stored version")
    assert one is not None
    assert one.startswith(
        "The API server says: must have at least one stored version\n\nstored-vers"
    )
    several = explain.explain(HELM)
    assert several is not None
    assert (
        several.splitlines()[0] == "error[storage-version-count]: Not exactly one storage version"
    )
    assert "  help: Mend `stored-versions`." in several.splitlines()
    assert explain.explain("stored-versions") == explain.explain_rule("stored-versions")


def test_table() -> None:
    lines = explain.table().splitlines()
    assert lines[0].split() == ["rule", "severity", "profile", "server", "what", "it", "reports"]
    assert [line.split()[0] for line in lines[1:]] == sorted(PAGES)
    assert len({line.index("A short") for line in lines if line.startswith("advice")}) == 1
    assert re.sub(r"\033\[[0-9;]*m", "", explain.table(color=True)) == explain.table()


def test_table_as_json() -> None:
    rows = json.loads(explain.table("json"))["rules"]
    assert [row["id"] for row in rows] == sorted(PAGES)
    assert rows[0] == {
        "id": "advice",
        "severity": "error",
        "summary": "A short name that a built-in resource has",
        "profile": "api",
        "server": True,
        "since": "1.25",
        "fix": "safe",
        "effects": ["writers"],
        "help": "Mend `advice`.",
        "url": "https://github.com/crdlint/crdlint/blob/main/rules/advice.md",
    }


def test_long_and_repetitive_text_takes_no_time() -> None:
    assert "default-not-in-enum" not in said("default: Unsupported value: x " * 6000)


def test_every_wording_of_our_pages_leads_to_its_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    lost = [
        f"{page.id}: {wording}"
        for page in pages.load()
        for wording in page.wordings
        if page.id not in [p.id for p, _ in explain.explain_text(wording.replace("…", " x1 "))]
    ]
    assert not lost, "\n".join(lost)
