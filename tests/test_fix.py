"""`crdlint fix`: what it changes, what it leaves alone, and how it ends."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from crdlint import document, fixing
from crdlint.cli import cli
from crdlint.edits import plain, same

if TYPE_CHECKING:
    from click.testing import Result

SHARED = Path(__file__).parent.parent.parent / "shared" / "corpus"

CRD = """\
# A widget.
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: widget.example.com   # to be put right
spec:
  group: "example.com"
  names: {kind: Widget, plural: widgets}
  scope: Namespaced
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              properties:
                mode: {type: string, enum: [Fast, off]}  # two
                'tags':
                  type: array
                  uniqueItems: true   # no
                  items: {type: string}
"""
FIXED = (
    CRD.replace("widget.example.com", "widgets.example.com")
    .replace("Fast, off", 'Fast, "off"')
    .replace(
        "                  uniqueItems: true   # no\n",
        "                  x-kubernetes-list-type: set\n",
    )
)


def run(*arguments: str, text: bytes | None = None) -> Result:
    return CliRunner().invoke(cli, ["fix", *arguments], input=text, standalone_mode=False)


def fixed(text: str, *, unsafe: bool = False) -> fixing.Fixed:
    return fixing.fix(text.encode(), "crd.yaml", fixing.Options(unsafe=unsafe))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "crd.yaml"
    path.write_text(CRD)
    return path


def test_only_what_is_wrong_changes() -> None:
    result = fixed(CRD)
    assert result.data.decode() == FIXED
    assert {fix.finding.rule for fix in result.made} == {
        "crd-name",
        "yaml-boolean-value",
        "unique-items",
    }
    assert not result.left
    assert fixed(FIXED).data.decode() == FIXED


@pytest.mark.parametrize("lines", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["", "\n"])
def test_line_ends_and_marks_stay(lines: str, mark: str, end: str) -> None:
    def dressed(text: str) -> str:
        return mark + (text.rstrip("\n") + end).replace("\n", lines)

    assert fixed(dressed(CRD)).data.decode() == dressed(FIXED)


def test_other_documents_stay_as_they_are() -> None:
    other = "---\r\nkind:   ConfigMap  # odd\ndata: {a: yes,   b: 'x'}\n---\n"
    assert fixed(other + CRD + "---\n# end\n").data.decode() == other + FIXED + "---\n# end\n"


def test_json_stays_json() -> None:
    data = next(document.read(CRD.encode(), "")).data
    data["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"][
        "mode"
    ]["enum"] = ["é😀"]
    text = json.dumps(plain(data), indent=2)
    result = json.loads(fixed(text).data)
    assert result["metadata"]["name"] == "widgets.example.com"
    tags = result["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    assert "uniqueItems" not in tags["properties"]["tags"]
    assert fixed(text).data.decode().count("\\ud83d\\ude00") == 1


def test_lists_of_crds_and_shared_parts() -> None:
    two = CRD.replace("      schema:\n", "      schema: &all\n").replace(", off", "") + (
        "    - name: v1beta1\n      served: true\n      storage: false\n      schema: *all\n"
    )
    result = fixed(two)
    assert not result.left
    assert result.data.decode().count("x-kubernetes-list-type: set") == 1
    inner = "".join(f"  {line}\n" for line in CRD.splitlines())
    listed = f"apiVersion: v1\nkind: List\nitems:\n- {inner.lstrip()}"
    result = fixed(listed)
    assert not result.left
    assert "widgets.example.com" in result.data.decode()


def test_unsafe_fixes_wait_to_be_asked_for() -> None:
    two = CRD.replace("storage: true", "storage: false")
    result = fixed(two)
    assert [finding.rule for finding in result.unsafe] == ["storage-version"]
    assert "storage: false" in result.data.decode()
    assert not fixed(two, unsafe=True).left


def test_a_fix_that_would_bring_another_finding_is_not_made() -> None:
    text = FIXED.replace("storage: true\n", "storage: true\n      deprecationWarning: use v2\n")
    result = fixed(text)
    assert result.data.decode() == text
    ((finding, why),) = result.failed
    assert finding.rule == "deprecation-warning"
    assert "storage-version-deprecated" in why


def test_a_diff_is_shown_and_nothing_is_written(file: Path) -> None:
    result = run(str(file))
    assert result.return_value == 1
    assert file.read_text() == CRD
    assert "-  name: widget.example.com   # to be put right" in result.stdout
    assert "+  name: widgets.example.com   # to be put right" in result.stdout
    assert "would fix 3 findings in 1 file" in result.stderr
    file.write_text(FIXED)
    assert run(str(file)).return_value == 0


def test_a_diff_can_be_applied(file: Path, tmp_path: Path) -> None:
    import shutil
    import subprocess

    if shutil.which("patch") is None:
        pytest.skip("no patch")
    file.write_text(CRD.rstrip("\n"))
    shown = run("--diff", str(file)).stdout
    subprocess.run(["patch", "-p0", str(file)], input=shown, text=True, check=True, cwd=tmp_path)
    assert file.read_text() == FIXED.rstrip("\n")


def test_files_are_written_whole_with_their_mode(file: Path, tmp_path: Path) -> None:
    file.chmod(0o640)
    result = run("--write", str(tmp_path))
    assert result.return_value == 0
    assert file.read_text() == FIXED
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert os.listdir(tmp_path) == ["crd.yaml"]


def test_links_are_followed_but_not_out_of_what_was_named(file: Path, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    link = folder / "link.yaml"
    link.symlink_to(file)
    result = run("--write", str(folder))
    assert result.return_value == 2
    assert "outside of what was named" in result.stderr
    assert file.read_text() == CRD
    assert run("--write", str(link)).return_value == 0
    assert link.is_symlink()
    assert file.read_text() == FIXED


def test_what_may_not_be_written_is_said(file: Path) -> None:
    file.chmod(0o444)
    result = run("--write", str(file))
    assert result.return_value == 2
    assert "crd.yaml: may not be written" in result.stderr
    assert file.read_text() == CRD


def test_stdin_goes_to_stdout() -> None:
    result = run("-", text=CRD.encode())
    assert result.stdout == FIXED
    assert result.return_value == 1
    assert run("--diff", "-", text=CRD.encode()).stdout.startswith("--- <stdin>\n")


def test_rules_can_be_selected(file: Path) -> None:
    run("--write", "--select", "crd-name,unique-items", str(file))
    assert file.read_text() == FIXED.replace('"off"', "off")


def test_configuration_and_ignores_are_heeded(file: Path, tmp_path: Path) -> None:
    ignored = CRD.replace("# no", "# crdlint: ignore[unique-items] known")
    file.write_text(ignored)
    (tmp_path / "crdlint.toml").write_text('[rules]\nyaml-boolean-value = "off"\n')
    run("--write", str(file))
    assert file.read_text() == ignored.replace("widget.example.com", "widgets.example.com")
    assert (
        fixed(f"# crdlint: ignore-file[crd-name] ours\nkind: X\n---\n{CRD}")
        .data.decode()
        .count("widget.")
    )
    run("--write", "--no-config", str(file))
    assert '"off"' in file.read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "name a file"),
        (["--select", "crd-nam", "x"], "crd-nam is no rule"),
        (["--select", "cel-cost", "x"], "cel-cost has no fix"),
    ],
)
def test_wrong_usage(arguments: list[str], words: str) -> None:
    result = run(*arguments)
    assert words in str(result.exception)


def test_files_that_cannot_be_read_do_not_stop_the_others(file: Path, tmp_path: Path) -> None:
    result = run("--write", str(tmp_path / "none.yaml"), str(file))
    assert result.return_value == 2
    assert file.read_text() == FIXED


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\0",
        "a: [",
        "kind: CustomResourceDefinition\napiVersion: apiextensions.k8s.io/v1\nspec: []\n",
        "kind: CustomResourceDefinition\napiVersion: apiextensions.k8s.io/v1\nmetadata: 1\nspec: {group: 1, versions: [1, null]}\n",
        CRD.encode("utf-16").decode("latin-1"),
        CRD.replace("properties:", "properties: {}\n#", 1),
    ],
)
def test_odd_texts_stay(text: str) -> None:
    result = fixed(text, unsafe=True)
    if not result.made:
        assert result.data == text.encode()


def test_utf_16_is_not_edited() -> None:
    data = CRD.encode("utf-16")
    result = fixing.fix(data, "x", fixing.Options())
    assert result.data == data


def test_deep_schemas_do_not_overflow() -> None:
    depth = 3000
    schema = '{"type":"object","properties":{"a":' * depth + '{"type":"int"}' + "}}" * depth
    text = CRD[: CRD.index("          type: object")] + " " * 10 + schema + "\n"
    fixed(text)


def test_reports_get_the_same_edits() -> None:
    from crdlint import api
    from crdlint.source import Source

    report = api.lint([Source("crd.yaml", CRD.encode)])
    suggest = fixing.suggester(report)
    found = {finding.rule: suggest(finding) for finding in report.findings}

    def places(pieces: list[fixing.Replacement]) -> list[tuple[int | str, ...]]:
        return [(p.line, p.column, p.end_line, p.end_column, p.text) for p in pieces]

    name, word, unique = (found[key] for key in ("crd-name", "yaml-boolean-value", "unique-items"))
    assert name is not None
    assert word is not None
    assert unique is not None
    assert places(name.pieces) == [(5, 9, 5, 27, "widgets.example.com")]
    assert places(word.pieces) == [(21, 51, 21, 54, '"off"')]
    new = "\n                  x-kubernetes-list-type: set\n"
    assert places([unique.whole]) == [(23, 30, 25, 1, new)]
    assert len(unique.pieces) == 2
    assert unique.safe


def test_sarif_and_reviewdog_carry_the_fixes(file: Path) -> None:
    def lint(form: str) -> dict[str, Any]:
        done = CliRunner().invoke(cli, ["lint", "--format", form, str(file)], standalone_mode=False)
        report: dict[str, Any] = json.loads(done.stdout)
        return report

    results = {r["ruleId"]: r for r in lint("sarif")["runs"][0]["results"]}
    (fix,) = results["crd-name"]["fixes"]
    (change,) = fix["artifactChanges"]
    assert change["artifactLocation"]["uri"].endswith("crd.yaml")
    assert change["replacements"] == [
        {
            "deletedRegion": {"startLine": 5, "startColumn": 9, "endLine": 5, "endColumn": 27},
            "insertedContent": {"text": "widgets.example.com"},
        }
    ]
    rows = {row["code"]["value"]: row for row in lint("rdjson")["diagnostics"]}
    assert rows["yaml-boolean-value"]["suggestions"] == [
        {
            "range": {"start": {"line": 21, "column": 51}, "end": {"line": 21, "column": 54}},
            "text": '"off"',
        }
    ]


@pytest.mark.skipif(not SHARED.is_dir(), reason="the corpus is not here")
def test_spoilt_crds_are_never_broken() -> None:
    files = sorted((SHARED / "mutants").glob("*.yaml"))[::60]
    made = 0
    for path in files:
        data = path.read_bytes()
        result = fixing.fix(data, path.name, fixing.Options(unsafe=True))
        made += len(result.made)
        again = fixing.fix(result.data, path.name, fixing.Options(unsafe=True))
        assert again.data == result.data, path
        if not result.made:
            assert result.data == data
            (before,) = document.read(data, "")
            (after,) = document.read(result.data, "")
            assert same(before.data, after.data)
    assert made > len(files) / 3
