"""Reports for CI systems: to the byte over samples, and by their schemas over real findings."""

from __future__ import annotations

import json
import os
import re
import subprocess
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import diff_helpers  # noqa: F401 - loads the checks of diff
import jsonschema
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from report_samples import TEXTS, finding, own_pages, samples, summary

from crdlint import api, diffing, pages, report, source
from crdlint.cli import COMMANDS, cli
from crdlint.diffrule import DIFF_IDS
from crdlint.finding import Spot, Summary
from crdlint.policy import Policy
from crdlint.report import FORMATS, Options, as_markdown, as_sarif, line_reader, xml

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Golden

    from crdlint.api import Report

MACHINES = ("gitlab", "azure", "markdown", "junit", "checkstyle", "rdjson", "github", "sarif")


def render(name: str, found: Any, **options: Any) -> str:
    options.setdefault("lines", line_reader(TEXTS))
    options.setdefault("kubernetes", "1.37")
    return FORMATS[name](found, summary(), Options(**options))


@pytest.mark.usefixtures("own_pages")
@pytest.mark.parametrize("name", [name for name in FORMATS if name not in ("sarif", "text")])
def test_samples(name: str, golden: Golden) -> None:
    golden(f"report/{name}.txt", render(name, samples()))


@pytest.mark.usefixtures("own_pages")
@pytest.mark.parametrize("name", ["text", "markdown", "json"])
def test_samples_of_diff(name: str, golden: Golden) -> None:
    golden(f"report/diff-{name}.txt", render(name, samples(), diff=True))


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Report]:
    """What lint finds in all fixtures and in every bad example, and diff in all its examples."""
    folder = tmp_path_factory.mktemp("examples")
    for side in ("bad", "before", "after"):
        (folder / side).mkdir()
    for rule in pages.ids():
        for i, example in enumerate(pages.page(rule).examples):
            side = example.role or "bad"
            if (folder / side).is_dir():
                (folder / side / f"{rule}-{i}.yaml").write_text(example.document, "utf-8")
    pairs = [
        diffing.diff(source.find([str(before)]), source.find([str(after)]))
        for before, after in zip(
            sorted((folder / "before").iterdir()), sorted((folder / "after").iterdir()), strict=True
        )
    ]
    diffed = pairs[0]
    for pair in pairs[1:]:
        diffed.take(pair)
    policy = Policy("strict")
    linted = api.lint(
        source.find([os.path.relpath("fixtures"), str(folder / "bad")]), policy=policy
    )
    assert len({each.rule for each in linted.findings}) > 100
    assert len({each.rule for each in diffed.findings}) > len(DIFF_IDS) / 2
    return {"lint": linted, "diff": diffed}


KINDS = ["lint", "diff"]


def parse(text: str) -> ET.Element:
    return ET.fromstring(text.encode())  # noqa: S314 - our own


def made(name: str, kind: str, reports: dict[str, Report]) -> str:
    return report.render(name, reports[kind], diff=kind == "diff")


TEXT = {"type": "string", "minLength": 1}
LINE = {"type": "integer", "minimum": 1}
# The part of Code Climate's issue that docs.gitlab.com/ci/testing/code_quality asks for.
GITLAB = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["description", "check_name", "fingerprint", "severity", "location"],
        "additionalProperties": False,
        "properties": {
            "description": TEXT,
            "check_name": TEXT,
            "fingerprint": TEXT,
            "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
            "location": {
                "type": "object",
                "required": ["path", "lines"],
                "properties": {
                    "path": {"type": "string", "pattern": r"^[^.\n]|^\.[^/]"},
                    "lines": {
                        "type": "object",
                        "required": ["begin"],
                        "properties": {"begin": LINE, "end": LINE},
                        "additionalProperties": False,
                    },
                },
                "additionalProperties": False,
            },
        },
    },
}


@pytest.mark.parametrize("kind", KINDS)
def test_gitlab_schema_and_unique_fingerprints(kind: str, reports: dict[str, Report]) -> None:
    rows = json.loads(made("gitlab", kind, reports))
    jsonschema.Draft202012Validator(GITLAB).validate(rows)
    prints = [row["fingerprint"] for row in rows]
    assert len(prints) == len(set(prints)) == len(reports[kind].findings)


def test_gitlab_fingerprints_stay_when_others_come() -> None:
    spot = Spot("a.yaml")
    some = [finding("a", "error", f"m{i}", spot, fingerprint=f"f{i}") for i in range(3)]
    rows = json.loads(render("gitlab", [*some[::-1], *some]))
    assert [row["fingerprint"] for row in rows[:3]] == ["f2", "f1", "f0"]
    copies = [row["fingerprint"] for row in rows[3:]]
    assert len({*copies, "f0", "f1", "f2"}) == 6
    assert [row["fingerprint"] for row in json.loads(render("gitlab", some))] == ["f0", "f1", "f2"]


def test_gitlab_severity_says_what_the_server_refuses() -> None:
    refused = finding("a", "error", "m", Spot("f"), server=[("Invalid", "spec")])
    warned = finding("a", "error", "m", Spot("f"), server=[("Warning", "spec")])
    rows = json.loads(render("gitlab", [refused, warned]))
    assert [row["severity"] for row in rows] == ["blocker", "critical"]


POSITION = {
    "type": "object",
    "required": ["line", "column"],
    "properties": {"line": LINE, "column": LINE},
    "additionalProperties": False,
}
# Of reviewdog, proto/rdf/reviewdog.proto: DiagnosticResult.
RDJSON = {
    "type": "object",
    "required": ["source", "diagnostics"],
    "additionalProperties": False,
    "properties": {
        "source": {"type": "object", "properties": {"name": TEXT, "url": TEXT}},
        "diagnostics": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["message", "location", "severity", "code"],
                "additionalProperties": False,
                "properties": {
                    "message": TEXT,
                    "severity": {"enum": ["ERROR", "WARNING", "INFO"]},
                    "code": {
                        "type": "object",
                        "properties": {"value": TEXT, "url": TEXT},
                        "additionalProperties": False,
                    },
                    "location": {
                        "type": "object",
                        "required": ["path", "range"],
                        "additionalProperties": False,
                        "properties": {
                            "path": TEXT,
                            "range": {
                                "type": "object",
                                "required": ["start", "end"],
                                "properties": {"start": POSITION, "end": POSITION},
                                "additionalProperties": False,
                            },
                        },
                    },
                },
            },
        },
    },
}


@pytest.mark.parametrize("kind", KINDS)
def test_rdjson_schema(kind: str, reports: dict[str, Report]) -> None:
    result = json.loads(made("rdjson", kind, reports))
    jsonschema.Draft202012Validator(RDJSON).validate(result)
    assert len(result["diagnostics"]) == len(reports[kind].findings)


def test_rdjson_columns_are_bytes() -> None:
    spot = Spot("f", 0, 1, 3, 1, 4)
    row = json.loads(render("rdjson", [finding("a", "info", "m", spot)], lines=lambda _: ["a𐐀b"]))
    assert row["diagnostics"][0]["location"]["range"] == {
        "start": {"line": 1, "column": 6},
        "end": {"line": 1, "column": 7},
    }


@pytest.mark.parametrize("kind", KINDS)
def test_checkstyle(kind: str, reports: dict[str, Report]) -> None:
    root = parse(made("checkstyle", kind, reports))
    assert root.tag == "checkstyle"
    assert root.get("version")
    names = [file.get("name") for file in root]
    assert all(names)
    assert {error.tag for file in root for error in file} == {"error"}
    errors = [error.attrib for file in root for error in file]
    assert len(errors) == len(reports[kind].findings)
    for error in errors:
        assert set(error) == {"line", "column", "severity", "message", "source"}
        assert error["severity"] in ("error", "warning", "info")
        assert int(error["line"]) >= 1 <= int(error["column"])


@pytest.mark.parametrize("kind", KINDS)
def test_junit_counts_what_it_has(kind: str, reports: dict[str, Report]) -> None:
    root = parse(made("junit", kind, reports))
    assert root.tag == "testsuites"
    cases = root.findall("testsuite/testcase")
    assert len(cases) == len(reports[kind].findings) == int(root.get("tests", ""))
    assert len(root.findall("*/*/failure")) == int(root.get("failures", ""))
    for suite in root:
        assert len(suite) == int(suite.get("tests", ""))
        assert len(suite.findall("*/failure")) == int(suite.get("failures", ""))
    assert all(case.get("name") and case.get("classname") for case in cases)


def test_junit_has_a_case_that_passes_where_nothing_fails() -> None:
    root = parse(render("junit", []))
    assert [case.attrib for case in root.findall("*/testcase")] == [
        {"classname": "crdlint", "name": "1 CRD in 2 files"}
    ]
    info = parse(render("junit", [finding("a", "info", "m", Spot("f"))]))
    assert len(info.findall("*/testcase")) == 2
    assert not info.findall("*/*/failure")


@pytest.mark.parametrize("kind", KINDS)
def test_junitparser_reads_it(kind: str, reports: dict[str, Report]) -> None:
    junitparser = pytest.importorskip("junitparser")
    read = junitparser.JUnitXml.fromstring(made("junit", kind, reports).encode())
    assert sum(len(suite) for suite in read) == len(reports[kind].findings)


@given(st.text())
def test_xml_holds_any_text(text: str) -> None:
    row = parse(xml.element("a", xml.text(text), b=text))
    assert row.get("b") == xml.plain(text)
    assert row.text == (("\n".join(map(xml.plain, text.split("\n")))) or None)


def test_azure_escapes() -> None:
    spot = Spot("a;b]%.yaml", 0, 2, 3)
    assert render("azure", [finding("a-b", "error", "100%; [x]\n##vso[y]", spot)]) == (
        "##vso[task.logissue type=error;sourcepath=a%3Bb%5D%AZP25.yaml;linenumber=2;columnnumber=3;"
        "code=a-b;]100%AZP25%3B [x%5D\\n##vso[y%5D\n"
    )
    note = finding("a-b", "info", "##vso[task.complete]", Spot("f"))
    assert render("azure", [note]) == "f:1:1: note[a-b]: # #vso[task.complete]\n"


def test_azure_puts_the_worst_first() -> None:
    some = [finding("a", s, "m", Spot("f")) for s in ("info", "warning", "error")]
    lines = render("azure", some).splitlines()
    assert [line.partition(";")[0] for line in lines[:2]] == [
        "##vso[task.logissue type=error",
        "##vso[task.logissue type=warning",
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_markdown_tables_have_four_cells(kind: str, reports: dict[str, Report]) -> None:
    text = made("markdown", kind, reports)
    assert len(text) <= as_markdown._WHOLE
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len(rows) > 10
    for row in rows:
        assert len(re.findall(r"(?<!\\)\|", row)) == 5, row


def test_markdown_loses_rows_until_it_fits() -> None:
    some = [
        finding(f"a-{i % 7}", "warning", "x" * 300, Spot(f"{'f' * 300}.yaml"), field="y" * 900)
        for i in range(200)
    ]
    text = render("markdown", some)
    assert 10_000 < len(text) <= as_markdown._WHOLE
    assert re.search(r"\| and 1[0-9][0-9] more \|", text)


@pytest.mark.parametrize(
    ("findings", "crds", "verdict"),
    [
        ([], 1, "✅ the API server of Kubernetes 1.37 accepts this CRD; nothing found"),
        ([], 0, "✅ no CustomResourceDefinition in 2 files"),
        (["Invalid"], 1, "❌ the API server of Kubernetes 1.37 refuses this CRD"),
        (["Invalid"], 5, "❌ the API server of Kubernetes 1.37 refuses 1 of these 5 CRDs"),
        (["Warning"], 5, "❌ the API server of Kubernetes 1.37 accepts these 5 CRDs; 1 error"),
    ],
)
def test_markdown_verdict(findings: list[str], crds: int, verdict: str) -> None:
    looked = Summary()
    looked.files, looked.crds = 2, crds
    looked.counts["error"] = len(findings)
    some = [finding("a", "error", "m", Spot("f"), server=[(kind, "spec")]) for kind in findings]
    text = FORMATS["markdown"](some, looked, Options(kubernetes="1.37"))
    assert text.splitlines()[0] == f"### crdlint: {verdict}"


def test_sarif_is_cut_to_the_bytes_that_github_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(as_sarif, "MOST_BYTES", 3_000)
    severities = ("info", "warning", "error")
    some = [
        finding("a-b", severities[i % 3], f"m{i * 7919**9}", Spot("f", 0, i + 1))
        for i in range(300)
    ]
    text = render("sarif", some, category="crdlint-lint/")
    assert as_sarif._compressed(text) <= 3_000
    (run,) = json.loads(text)["runs"]
    assert 10 < len(run["results"]) < 300
    assert {result["level"] for result in run["results"]} <= {"error", "warning"}
    (note,) = run["invocations"][0]["toolExecutionNotifications"]
    assert note["message"]["text"] == (
        f"The worst {len(run['results'])} of 300 findings are in this report."
    )


@pytest.mark.parametrize("kind", KINDS)
def test_sarif_multitool_has_nothing_to_say(
    kind: str, reports: dict[str, Report], tmp_path: Path
) -> None:
    tool = os.environ.get("SARIF_MULTITOOL")  # the program of npm @microsoft/sarif-multitool-linux
    if not tool:
        pytest.skip("SARIF_MULTITOOL names no program")
    file, out = tmp_path / "in.sarif", tmp_path / "out.sarif"
    file.write_text(made("sarif", kind, reports), "utf-8")
    options = ["--rule-kind", "Sarif;Ghas", "--level", "Error;Warning", "--log", "ForceOverwrite"]
    subprocess.run(
        [tool, "validate", str(file), *options, "-o", str(out)],
        env={**os.environ, "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT": "1"},
        check=True,
        capture_output=True,
    )
    (run,) = json.loads(out.read_text("utf-8-sig"))["runs"]
    assert run.get("results", []) == []


@pytest.mark.parametrize("command", ["lint", "diff"])
def test_help_names_every_format(command: str) -> None:
    assert command in COMMANDS
    text = " ".join(CliRunner().invoke(cli, [command, "--help"]).output.split())
    listed = text.partition("FMT[=FILE] ")[2].partition(";")[0]
    assert re.split(r", | or ", listed.replace(" (default)", "")) == list(FORMATS)


__all__ = ["own_pages"]
