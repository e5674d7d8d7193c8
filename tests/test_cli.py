"""The command line: inputs, outputs, exit statuses, and that no input brings a traceback."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest
from command import BAD, GOOD, ROOT

if TYPE_CHECKING:
    from pathlib import Path

FIXTURES = ROOT / "fixtures"
QUEUE = FIXTURES / "queue.yaml"


def crdlint(
    *args: str | Path, stdin: bytes | str = b"", cwd: Path = ROOT, **env: str
) -> subprocess.CompletedProcess[str]:
    data = stdin if isinstance(stdin, str) else stdin.decode("utf-8", "surrogateescape")
    done = subprocess.run(
        [sys.executable, "-m", "crdlint", *map(str, args)],
        input=data.encode("utf-8", "surrogateescape"),
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT), **env},
        capture_output=True,
        check=False,
    )
    out, err = done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
    assert "Traceback" not in err, err
    return subprocess.CompletedProcess(done.args, done.returncode, out, err)


def lint(*args: str | Path, **more: Any) -> dict[str, Any]:
    done = crdlint("lint", "--format", "json", *args, **more)
    assert done.returncode in (0, 1), done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def rules(report: dict[str, Any]) -> list[str]:
    return [finding["rule"] for finding in report["findings"]]


def test_clean_is_0_and_says_so() -> None:
    done = crdlint("lint", "-", stdin=GOOD)
    assert done.returncode == 0
    assert "1 CRD" in done.stdout


def test_a_refused_crd_is_1_with_its_place() -> None:
    done = crdlint("lint", "-", "--stdin-filename", "a.yaml", stdin=BAD)
    assert done.returncode == 1
    assert "a.yaml:17:24" in done.stdout
    assert "'objekt' is no type" in done.stdout
    assert "spec: {type: objekt}" in done.stdout


@pytest.mark.parametrize(
    ("fail_on", "status"), [("error", 0), ("warning", 1), ("info", 1), ("never", 0)]
)
def test_fail_on(fail_on: str, status: int) -> None:
    assert crdlint("lint", QUEUE, "--fail-on", fail_on).returncode == status


@pytest.mark.parametrize(
    "args",
    [
        ["lint"],
        ["lint", "no-such-file.yaml"],
        ["lint", "--format", "xml", QUEUE],
        ["lint", "--format", "json", "--format", "text", QUEUE],
        ["lint", "--kubernetes-version", "1.20", QUEUE],
        ["lint", "--kubernetes-version", "new", QUEUE],
        ["lint", "--format", "json=no/such/folder/x.json", QUEUE],
        ["lint", "--files-from", "no-such-list", QUEUE],
        ["lint", "--no-such-option"],
        ["explain", "no-such-rule-at-all"],
    ],
)
def test_wrong_usage_is_2_with_a_message(args: list[Any]) -> None:
    done = crdlint(*args)
    assert done.returncode == 2
    assert done.stderr.strip()


def test_an_unreadable_path_does_not_stop_the_others(tmp_path: Path) -> None:
    done = crdlint("lint", "--format", "json", tmp_path / "gone.yaml", QUEUE)
    assert done.returncode == 2
    assert "gone.yaml" in done.stderr
    assert json.loads(done.stdout)["summary"]["crds"] == 1


def test_a_folder_is_searched_for_yaml_and_json(tmp_path: Path) -> None:
    (tmp_path / "deep" / ".git").mkdir(parents=True)
    (tmp_path / "deep" / "a.yml").write_text(GOOD)
    (tmp_path / "deep" / ".git" / "b.yaml").write_text(BAD)
    (tmp_path / "notes.txt").write_text(BAD)
    (tmp_path / "loop").symlink_to(tmp_path)
    report = lint(tmp_path)
    assert report["summary"]["crds"] == 1
    assert not report["findings"]


def test_files_from_a_list_and_from_stdin(tmp_path: Path) -> None:
    (tmp_path / "a b.yaml").write_text(GOOD)
    names = tmp_path / "names"
    names.write_text(f"{tmp_path}/a b.yaml\n{QUEUE}\n")
    assert lint("--files-from", names)["summary"]["crds"] == 2
    listed = f"{tmp_path}/a b.yaml\0{QUEUE}\0"
    assert lint("--files-from", "-", stdin=listed)["summary"]["crds"] == 2


def test_several_formats_in_one_run(tmp_path: Path) -> None:
    sarif, data = tmp_path / "x.sarif", tmp_path / "x.json"
    done = crdlint(
        "lint",
        FIXTURES,
        "--format",
        "text",
        "--format",
        f"sarif={sarif}",
        "--format",
        f"json={data}",
    )
    assert done.returncode == 1
    assert json.loads(sarif.read_text("utf-8"))["version"] == "2.1.0"
    assert json.loads(data.read_text("utf-8"))["version"] == 1
    assert sorted(p.name for p in tmp_path.iterdir()) == ["x.json", "x.sarif"]


def test_the_same_input_gives_the_same_bytes_however_it_is_spread() -> None:
    one = crdlint("lint", FIXTURES, "--format", "json", "--jobs", "1")
    many = crdlint("lint", FIXTURES, "--format", "json", "--jobs", "4")
    assert one.stdout == many.stdout
    assert len(one.stdout) > 1000


def test_a_large_run_is_spread_and_says_the_same(tmp_path: Path) -> None:
    text = BAD + "          " + "".join(f"f{i}: {{type: string}}\n          " for i in range(20000))
    for name in ("a.yaml", "b.yaml", "c.yaml"):
        (tmp_path / name).write_text(text.rstrip() + "\n")
    one = crdlint("lint", tmp_path, "--format", "json", "--jobs", "1")
    many = crdlint("lint", tmp_path, "--format", "json", "--jobs", "2")
    assert one.stdout == many.stdout
    assert one.stdout.count("type-not-supported") == 3


def test_colour_only_when_asked_for() -> None:
    assert "\x1b[" not in crdlint("lint", "-", stdin=BAD).stdout
    assert "\x1b[" in crdlint("lint", "-", "--color", "always", stdin=BAD).stdout
    assert "\x1b[" in crdlint("lint", "-", stdin=BAD, FORCE_COLOR="1").stdout
    assert "\x1b[" not in crdlint("lint", "-", stdin=BAD, FORCE_COLOR="1", NO_COLOR="1").stdout


def test_a_range_says_which_servers_refuse() -> None:
    text = GOOD.replace(
        "spec: {type: object}",
        "spec: {type: object, allOf: [{additionalProperties: false}]}",
    )
    report = lint("-", "--kubernetes-version", "1.29..1.32", stdin=text)
    (finding,) = report["findings"]
    assert finding["servers"] == "1.29-1.30"
    assert report["kubernetes"] == "1.29-1.32"
    assert not lint("-", stdin=text)["findings"]


def test_a_newer_version_than_known_is_a_note() -> None:
    done = crdlint("lint", QUEUE, "--kubernetes-version", "1.99")
    assert done.returncode == 0
    assert "1.99 is newer" in done.stderr


def test_a_list_has_items() -> None:
    report = lint(FIXTURES / "list.yaml")
    assert {f["item"] for f in report["findings"]} == {1}
    assert report["summary"]["crds"] == 2


HOSTILE = {
    "empty": b"",
    "blank": b"\n\n---\n---\n",
    "binary": bytes(range(256)) * 40,
    "not UTF-8": GOOD.encode().replace(b"widgets", b"wi\xffgets"),
    "UTF-16": GOOD.encode("utf-16"),
    "deep flow": b"kind: CustomResourceDefinition\na: " + b"[" * 100_000,
    "deep JSON": b'{"kind":"CustomResourceDefinition","a":' + b'{"a":' * 100_000,
    "alias bomb": b"kind: CustomResourceDefinition\n"
    + b"".join(
        b"a%d: &a%d [%s]\n" % (i, i, b",".join([b"*a%d" % (i - 1)] * 9)) for i in range(1, 9)
    ).replace(b"a1: &a1 [" + b",".join([b"*a0"] * 9) + b"]", b"a1: &a1 [x]"),
    "a list": b"- kind: CustomResourceDefinition\n",
    "a number": b"1 # CustomResourceDefinition",
    "null spec": b"apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nspec:\n",
    "text spec": b"apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nspec: x\n",
    "odd kinds": b"apiVersion: [1]\nkind: CustomResourceDefinition\nmetadata: 3\nspec: {versions: 1, group: {}, names: []}\n",
    "list of odd items": b"apiVersion: v1\nkind: List\nitems: [1, null, {kind: CustomResourceDefinition}, {kind: 3}]\n",
    "files one after the other without ---": (
        GOOD.replace("{type: object}", "{type: string, enum: [on, off]}") + GOOD
    ).encode(),
    "enum below <<": GOOD.replace("{type: object}", "{<<: {type: string, enum: [on]}}").encode(),
    "NUL": GOOD.encode() + b"\0",
}


@pytest.mark.parametrize("data", HOSTILE.values(), ids=list(HOSTILE))
def test_hostile_input_is_no_traceback_and_stops_nothing(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes(data)
    (tmp_path / "b.yaml").write_text(BAD)
    start = time.monotonic()
    report = lint(tmp_path / "a.yaml", tmp_path / "b.yaml")
    assert "type-not-supported" in rules(report)
    assert "internal-error" not in rules(report)
    assert time.monotonic() - start < 30


def test_what_does_not_parse_is_an_error_only_if_it_says_crd() -> None:
    broken = GOOD.replace("scope: Namespaced", "scope: [Namespaced")
    report = lint("-", stdin=broken)
    assert rules(report) == ["yaml-syntax"]
    assert report["findings"][0]["server"] == [{"type": "DecodeError", "field": ""}]
    assert report["findings"][0]["line"] > 1
    assert not lint("-", stdin="a: [")["findings"]
    template = GOOD.replace("scope: Namespaced", "{{- if .Values.x }}")
    assert rules(lint("-", stdin=template)) == ["helm-template"]


def test_a_closed_pipe_is_quiet() -> None:
    command = f"{sys.executable} -m crdlint lint {FIXTURES} | head -n 1"
    done = subprocess.run(
        command, shell=True, capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert done.stdout.count("\n") == 1
    assert done.stderr == ""


def test_ctrl_c_is_quiet(tmp_path: Path) -> None:
    fifo = tmp_path / "never"
    os.mkfifo(fifo)
    process = subprocess.Popen(
        [sys.executable, "-m", "crdlint", "lint", str(fifo)],
        cwd=ROOT,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert out == ""


def test_an_output_that_cannot_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    target.mkdir()
    done = crdlint("lint", QUEUE, "--format", f"json={target}")
    assert done.returncode == 2
    assert list(tmp_path.iterdir()) == [target]


def test_rules_and_explain() -> None:
    listed = json.loads(crdlint("rules", "--format", "json").stdout)
    assert len(listed["rules"]) > 100
    assert "type-required" in crdlint("rules").stdout
    page = crdlint("explain", "type-required")
    assert page.returncode == 0
    assert "A field without a type" in page.stdout
    message = (
        'The CustomResourceDefinition "widgets.example.com" is invalid: '
        "spec.validation.openAPIV3Schema.properties[spec].properties[acl].type: Required value: "
        "must not be empty for specified object fields"
    )
    assert "type-required" in crdlint("explain", message).stdout


def test_every_rule_in_a_report_has_a_page_to_explain() -> None:
    listed = json.loads(crdlint("rules", "--format", "json").stdout)
    known = {rule["id"] for rule in listed["rules"]}
    assert set(rules(lint(FIXTURES))) <= known


def test_a_clean_run_imports_nothing_heavy() -> None:
    code = (
        "import sys; from crdlint import cli\n"
        f"sys.argv = ['crdlint', 'lint', {str(FIXTURES / 'clean.yaml')!r}]\n"
        "try: cli.main()\n"
        "except SystemExit as done: assert not done.code, done.code\n"
        "heavy = {'jsonschema', 'deepdiff', 'ruamel', 'openapi_spec_validator', 'dataclasses',\n"
        "         'typing', 'importlib.metadata', 'difflib', 'tomllib', 'pickle', 'subprocess'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True
    )
    bare = subprocess.run(
        [sys.executable, "-c", "import sys, click, yaml; print(sorted(sys.modules))"],
        capture_output=True,
        text=True,
        check=True,
    )
    extra = json.loads(done.stderr.replace("'", '"'))
    assert {name for name in extra if f"'{name}'" not in bare.stdout} == set()
