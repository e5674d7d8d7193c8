"""Ignores: comments, annotations and entries of the configuration, and those without use."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from command import BAD, GOOD, UNTYPED, crdlint, report, rules
from hypothesis import example, given, settings
from hypothesis import strategies as st

from crdlint import api, comments, document
from crdlint.policy import Ignore, Policy
from crdlint.source import Source

if TYPE_CHECKING:
    from pathlib import Path

    from crdlint.api import Report


def lint(text: str, policy: Policy | None = None) -> Report:
    return api.lint([Source("a.yaml", text.encode)], policy=policy)


def names(found: Report) -> list[str]:
    return [finding.rule for finding in found.findings]


def commented(comment: str, text: str = UNTYPED) -> str:
    return text.replace("spec: {}", f"spec: {{}}  {comment}")


def above(comment: str, text: str = UNTYPED) -> str:
    return text.replace("          spec: {}", f"{comment}\n          spec: {{}}")


@pytest.mark.parametrize(
    "text",
    [
        commented("# crdlint: ignore[type-required] the operator knows"),
        commented("# crdlint:ignore[ type-required , unknown-field ]"),
        commented("# any # crdlint: ignore[type-required]: said why"),
        above("          # crdlint: ignore[type-required]"),
        above("# crdlint: ignore[type-required]\n\n# another remark"),
        above("# crdlint: ignore[unknown-field]\n# crdlint: ignore[type-required]"),
        "# crdlint: ignore-file[type-required]\n" + UNTYPED,
        UNTYPED + "# crdlint: ignore-file[type-required]\n",
        "# crdlint: ignore-file[type-required]\n---\n" + UNTYPED,
        UNTYPED + "---\n# crdlint: ignore-file[type-required]\na: 1\n",
        UNTYPED.replace(
            "spec:\n", "  annotations: {crdlint.dev/ignore: type-required}\nspec:\n", 1
        ),
        UNTYPED.replace(
            "spec:\n", "  annotations: {crdlint.dev/ignore: 'no-op, type-required'}\nspec:\n", 1
        ),
    ],
)
def test_an_ignore_puts_a_finding_aside(text: str) -> None:
    found = lint(text)
    assert "type-required" not in names(found)
    assert [finding.rule for finding in found.suppressed] == ["type-required"]
    assert found.summary.suppressed == 1
    assert found.summary.counts["error"] == 0


@pytest.mark.parametrize(
    "text",
    [
        above("          # crdlint: ignore[type-required]\n          a: {type: object}"),
        above("          a: {type: object} # crdlint: ignore[type-required]"),
        above("          a: {type: object, description: '# crdlint: ignore[type-required]'}"),
        above('          a: {type: object, description: "\n            # crdlint: ignore[type-required]"}'),
        above("          a:\n            type: object\n            description: |\n              text\n              # crdlint: ignore-file[type-required]"),
        "# crdlint: ignore-file[unknown-field]\n" + UNTYPED,
        commented("#crdlint ignore[type-required]"),
        commented("# crdlint: ignore"),
        UNTYPED.replace("spec:\n", "  labels: {crdlint.dev/ignore: type-required}\nspec:\n", 1),
    ],
)  # fmt: skip
def test_what_is_no_ignore_of_it_leaves_the_finding(text: str) -> None:
    found = lint(text)
    assert "type-required" in names(found)
    assert not found.suppressed


def test_a_comment_is_told_from_text_that_looks_like_one() -> None:
    text = """\
# crdlint: a
a: b # crdlint: b
c: "x # crdlint: NO"
d: | # crdlint: d
  text
  # crdlint: NO

# crdlint: e
e: 'several
  # crdlint: NO
  '
f: plain # remark # crdlint: f
g: plain
  more # crdlint: g
h: x#crdlint: h
"""
    (made,) = document.read(text.replace("#crdlint: h", "#crdlint:NO").encode(), "x")
    found = list(comments.comments(made, "crdlint:"))
    assert [comment.text[-1] for comment in found] == list("abdefg")
    assert [comment.alone for comment in found] == [True, False, False, True, False, False]
    assert [comment.span.line for comment in found] == [1, 2, 4, 8, 12, 14]


_PIECES = st.sampled_from([
    "a: b", "c: ", "  d: e", "- f", "  - g", " # crdlint: x", "# crdlint: x", "'", '"', "|", ">-", "|2", "\n", "\n", "\n",
    "  ", " ", "[", "]", "{k: v}", ", ", "&n ", "*n", "!!str ", "h#crdlint: x", "\t", "é", "\\", "? ", "---", "\u2028", "\r",
])  # fmt: skip


@settings(max_examples=500)
@example("&n  # crdlint: x\n''")
@example("!!str &n\n# crdlint: x\n |2 # crdlint: x\n  # crdlint: x")
@example("|\u2028 # crdlint: x")
@given(st.lists(_PIECES, max_size=14).map("".join))
def test_a_comment_can_change_without_changing_the_data_and_nothing_else_can(text: str) -> None:
    documents = list(document.read(text.encode(), "x"))
    if len(documents) != 1 or documents[0].error is not None or documents[0].text != f"{text}\n":
        return
    (made,) = documents
    if made._built.end is not None:
        return  # what follows is never read
    spans = [comment.span for comment in comments.comments(made, "crdlint:")]
    for match in re.finditer("(?<=#) ?crdlint: x", text):
        at = match.start()
        row, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
        found = any(s.line == row and s.column <= column < s.end_column for s in spans)
        other = f"{text[:at]}{match[0][:-1]}y{text[match.end() :]}"
        (again,) = document.read(other.encode(), "x")
        if found:
            assert again.data == made.data
        elif re.search(r"(?:\A|\s)#\Z", text[:at]) and not (made.duplicates or made.surprises):
            # libyaml lets a comment follow on some other characters; YAML and crdlint do not
            assert again.data != made.data


def test_json_has_no_comments() -> None:
    text = json.dumps({"a": "\n# crdlint: ignore-file[x]\n"}, indent=1)
    (made,) = document.read(text.encode(), "x")
    assert not list(comments.comments(made, "crdlint:"))


def test_in_what_does_not_parse_comments_count_all_the_same() -> None:
    broken = "# crdlint: ignore-file[yaml-syntax]\n" + GOOD.replace("Namespaced", "[Namespaced")
    found = lint(broken)
    assert names(found) == []
    assert [finding.rule for finding in found.suppressed] == ["yaml-syntax"]


def test_an_item_of_a_list_has_its_own_annotation() -> None:
    crd: dict[str, Any] = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com", "annotations": {}},
        "spec": {"foo": 1},
    }
    other = json.loads(json.dumps(crd))
    other["metadata"]["annotations"]["crdlint.dev/ignore"] = "unknown-field"
    for each in (crd, other):
        each["spec"] |= {
            "group": "example.com",
            "names": {"plural": "widgets", "kind": "Widget"},
            "scope": "Cluster",
            "versions": [],
        }
    found = lint(json.dumps({"apiVersion": "v1", "kind": "List", "items": [crd, other]}))
    assert [f.spot.item for f in found.findings if f.rule == "unknown-field"] == [0]
    assert [f.spot.item for f in found.suppressed] == [1]


def test_unused_and_unknown_ignores_are_reported() -> None:
    found = lint(commented("# crdlint: ignore[type-required, duplicate-key, type-requird]"))
    assert names(found) == ["invalid-ignore", "unused-ignore"]
    said = {finding.rule: finding.message for finding in found.findings}
    assert "did you mean type-required?" in said["invalid-ignore"]
    assert "duplicate-key" in said["unused-ignore"]
    assert {finding.spot.line for finding in found.findings} == {17}


def test_an_ignore_of_a_rule_that_does_not_run_is_not_judged() -> None:
    from crdlint import pages

    of_api = next(page.id for page in pages.load() if page.profile == "api" and not page.of_diff)
    of_diff = next(page.id for page in pages.load() if page.of_diff)
    comment = f"# crdlint: ignore[{of_api}, {of_diff}]"
    text = GOOD.replace("spec: {type: object}", f"spec: {{type: object}}  {comment}")
    assert names(lint(text)) == []
    assert "unused-ignore" in names(lint(text, Policy(extra={of_api}))) or of_api in [
        finding.rule for finding in lint(text, Policy(extra={of_api})).suppressed
    ]


def test_without_ignores_everything_counts() -> None:
    text = commented("# crdlint: ignore[type-required, unknown-field]")
    assert names(lint(text, Policy(heed=False))) == ["type-required"]


def test_one_place_of_a_folded_finding_can_be_put_aside() -> None:
    version = GOOD[GOOD.index("  - name: v1") :]
    text = GOOD + version.replace("name: v1", "name: v2").replace("storage: true", "storage: false")
    text = text.replace("spec: {type: object}", "spec: {}")
    (whole,) = [f for f in lint(text).findings if f.rule == "type-required"]
    assert len(whole.places) == 2
    text = text.replace("spec: {}", "spec: {} # crdlint: ignore[type-required]", 1)
    (left,) = [f for f in lint(text).findings if f.rule == "type-required"]
    assert left.places == []
    assert left.spot.line > 20


@pytest.mark.parametrize(
    "ignore",
    [
        Ignore(["type-required"]),
        Ignore(crd="widgets.example.com"),
        Ignore(["unknown-field", "type-required"], crd="*.example.com", field=".spec"),
        Ignore(field=".sp*"),
        Ignore(field=".**"),
        Ignore(field="spec.versions[0].schema.**"),
        Ignore(field="spec.**"),
    ],
)
def test_the_configuration_ignores_by_rule_crd_and_field(ignore: Ignore) -> None:
    found = lint(UNTYPED, Policy(ignores=[ignore]))
    assert names(found) == []
    assert found.suppressed[0].suppressed == ("external", "")


@pytest.mark.parametrize(
    "ignore",
    [
        Ignore(["unknown-field"]),
        Ignore(crd="gadgets.example.com"),
        Ignore(["type-required"], field=".spec.*"),
        Ignore(["type-required"], field=".status"),
        Ignore(["type-required"], crd="example.com"),
    ],
)
def test_an_ignore_of_something_else_does_not(ignore: Ignore) -> None:
    assert names(lint(UNTYPED, Policy(ignores=[ignore]))) == ["type-required"]


def test_what_the_server_refuses_can_be_ignored_but_the_verdict_stands(tmp_path: Path) -> None:
    (tmp_path / "old.yaml").write_text(GOOD)
    new = GOOD.replace("Namespaced", "Cluster # crdlint: ignore[crd-scope-changed] moved by hand")
    (tmp_path / "new.yaml").write_text(new)
    done = crdlint("diff", "old.yaml", "new.yaml", cwd=tmp_path)
    assert done.returncode == 0
    assert "refuses this update: spec.scope (suppressed)" in done.stdout
    assert "1 suppressed" in done.stdout
    off = crdlint("diff", "old.yaml", "new.yaml", "--ignore", "crd-scope-changed", "--no-ignores", cwd=tmp_path)  # fmt: skip
    assert off.returncode == 0
    assert "refuses this update" in off.stdout
    done = crdlint("diff", "old.yaml", "new.yaml", "--no-ignores", cwd=tmp_path)
    assert done.returncode == 1


def test_markdown_tells_the_servers_verdict_on_a_crd_whose_findings_are_ignored(
    tmp_path: Path,
) -> None:
    (tmp_path / "a.yaml").write_text(commented("# crdlint: ignore[type-required]"))
    done = crdlint("lint", "a.yaml", "--format", "markdown", cwd=tmp_path)
    assert done.returncode == 0
    assert "refuses this CRD" in done.stdout
    (tmp_path / "a.yaml").write_text(UNTYPED)
    args = ("--select", "unknown-field", "--format", "markdown")
    assert "refuses this CRD" in crdlint("lint", "a.yaml", *args, cwd=tmp_path).stdout


def test_diff_judges_the_ignores_of_its_own_rules_on_the_new_side(tmp_path: Path) -> None:
    (tmp_path / "old.yaml").write_text(GOOD + "# crdlint: ignore[crd-scope-changed]\n")
    (tmp_path / "new.yaml").write_text(
        GOOD + "# crdlint: ignore-file[crd-scope-changed, type-required]\n"
    )
    found = report("diff", "old.yaml", "new.yaml", cwd=tmp_path)
    assert rules(found) == ["unused-ignore"]
    assert "crd-scope-changed" in found["findings"][0]["message"]


def test_many_processes_report_the_same_ignores(tmp_path: Path) -> None:
    filler = "".join(f"          f{i}: {{type: string}}\n" for i in range(24_000))
    text = commented("# crdlint: ignore[type-required, unknown-field]").rstrip() + f"\n{filler}"
    for name in ("a.yaml", "b.yaml", "c.yaml"):
        (tmp_path / name).write_text(text.replace("widgets", f"{name[0]}widgets"))
    one, many = (report("lint", ".", "--jobs", jobs, cwd=tmp_path) for jobs in ("1", "2"))
    assert one == many
    assert one["summary"]["suppressed"] == 3
    assert rules(one).count("unused-ignore") == 3


def test_sarif_has_what_was_suppressed_only_when_asked(tmp_path: Path) -> None:
    text = commented("# crdlint: ignore[type-required] we know")
    (tmp_path / "a.yaml").write_text(text)
    plain = crdlint("lint", "a.yaml", "--format", "sarif", cwd=tmp_path)
    assert json.loads(plain.stdout)["runs"][0]["results"] == []
    full = crdlint(
        "lint", "a.yaml", "--format", "sarif", "--sarif-include-suppressed", cwd=tmp_path
    )
    (result,) = json.loads(full.stdout)["runs"][0]["results"]
    assert result["suppressions"] == [{"kind": "inSource", "justification": "we know"}]
    assert full.returncode == 0


def test_verbose_text_lists_what_was_suppressed_and_why(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(commented("# crdlint: ignore[type-required] we know"))
    done = crdlint("lint", "a.yaml", "-v", cwd=tmp_path)
    assert "suppressed a.yaml:17: type-required" in done.stdout
    assert "(we know)" in done.stdout
    assert "configuration: none" in done.stderr
    (tmp_path / "a.yaml").write_text(BAD)
    assert "= fingerprint: " in crdlint("lint", "a.yaml", "--verbose", cwd=tmp_path).stdout
