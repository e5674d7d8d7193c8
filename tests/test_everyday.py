"""Everyday commands on odd input: clear words and the documented exit status, never a traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from command import BAD, GOOD, ROOT, crdlint, report, rules

if TYPE_CHECKING:
    from pathlib import Path


def test_utf16_that_does_not_decode_is_no_silent_pass(tmp_path: Path) -> None:
    # As the redirection of some shells writes it: with a mark, little end first.
    (tmp_path / "crd.yaml").write_bytes(GOOD.encode("utf-16"))
    (finding,) = report("lint", "crd.yaml", cwd=tmp_path)["findings"]
    assert finding["rule"] == "yaml-syntax"
    assert "the file is UTF-16, so save it as UTF-8" in finding["message"]


def test_deep_json_on_one_line_is_no_silent_pass(tmp_path: Path) -> None:
    deep = '{"kind": "CustomResourceDefinition", "x": ' + "[" * 20000 + "]" * 20000 + "}"
    (tmp_path / "crd.json").write_text(deep)
    assert rules(report("lint", "crd.json", cwd=tmp_path)) == ["yaml-syntax"]
    (tmp_path / "other.json").write_text(deep.replace("Custom", "Costume"))
    assert rules(report("lint", "other.json", cwd=tmp_path)) == []


def test_a_long_enum_takes_linear_time(tmp_path: Path) -> None:
    crd = yaml.safe_load(GOOD)
    schema = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    names = [f"name{i}" for i in range(40_000)]
    schema["properties"]["spec"] = {"type": "string", "enum": [*names, "name7"]}
    (tmp_path / "crd.json").write_text(json.dumps(crd))
    found = report("lint", "--select", "enum-duplicate", "crd.json", cwd=tmp_path)["findings"]
    assert [finding["path"][-2:] for finding in found] == [["enum", 40000]]


def test_enum_values_are_compared_as_json(tmp_path: Path) -> None:
    crd = yaml.safe_load(GOOD)
    schema = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    values = [1, True, 1.0, "1", {"a": 1}, {"a": True}, {"a": 1.0}, [0], [False], [0], None, None]
    schema["properties"]["spec"] = {"enum": values, "x-kubernetes-preserve-unknown-fields": True}
    (tmp_path / "crd.json").write_text(json.dumps(crd))
    found = report("lint", "--select", "enum-duplicate", "crd.json", cwd=tmp_path)["findings"]
    assert [finding["path"][-1] for finding in found] == [2, 6, 9, 11]


def run(folder: Path, shell: str) -> Any:
    """Run a line of a shell, in which crdlint is `$crdlint`."""
    return subprocess.run(
        ["bash", "-c", shell],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "crdlint": f"{sys.executable} -m crdlint"},
        capture_output=True,
        check=False,
        text=True,
    )


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="has no /dev/full")
@pytest.mark.parametrize("command", ["lint crd.yaml", "rules", "--help", "config", "lint --help"])
def test_output_that_cannot_be_written(tmp_path: Path, command: str) -> None:
    (tmp_path / "crd.yaml").write_text(BAD)
    done = run(tmp_path, f"$crdlint {command} > /dev/full")
    assert done.returncode == 2
    assert "the output cannot be written: No space left on device" in done.stderr
    assert "Traceback" not in done.stderr
    assert run(tmp_path, "$crdlint lint crd.yaml --nope 2> /dev/full").returncode == 2


def test_closed_streams_leave_the_exit_status(tmp_path: Path) -> None:
    (tmp_path / "crd.yaml").write_text(BAD)
    done = run(tmp_path, "$crdlint lint crd.yaml >&-")
    assert (done.returncode, done.stderr) == (1, "")
    assert run(tmp_path, "$crdlint lint crd.yaml 2>&- >/dev/null").returncode == 1
    done = run(tmp_path, "$crdlint lint - <&-")
    assert done.returncode == 2
    assert "standard input: cannot be read" in done.stderr


@pytest.mark.parametrize("command", [["lint", "crd.yaml"], ["rules"], ["--help"]])
def test_a_reader_that_goes_away_has_what_it_wanted(tmp_path: Path, command: list[str]) -> None:
    (tmp_path / "crd.yaml").write_text(BAD)
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "crdlint", *command],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=writer,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_current_folder_that_is_gone(tmp_path: Path) -> None:
    (tmp_path / "crd.yaml").write_text(BAD)
    done = run(tmp_path, "mkdir gone; cd gone; rmdir ../gone; $crdlint lint ../crd.yaml")
    assert done.returncode == 2
    assert "the current folder is gone; change to one that exists" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_configuration_as_windows_editors_write_it(tmp_path: Path) -> None:
    (tmp_path / "crd.yaml").write_text(BAD)
    text = '[rules]\r\ntype-not-supported = "info"\r\n'
    (tmp_path / "crdlint.toml").write_bytes(text.encode("utf-8-sig"))
    (finding,) = report("lint", "crd.yaml", cwd=tmp_path)["findings"]
    assert finding["severity"] == "info"
    (tmp_path / "crdlint.toml").write_bytes(text.encode("utf-16"))
    done = crdlint("lint", "crd.yaml", cwd=tmp_path)
    assert done.returncode == 2
    assert "crdlint.toml: the configuration is not UTF-8; save it so" in done.stderr


def test_what_is_no_file_is_written_to_in_place(tmp_path: Path) -> None:
    (tmp_path / "crd.yaml").write_text(BAD)
    done = run(tmp_path, "$crdlint lint crd.yaml --format json=/dev/stdout | head -c 12")
    assert done.stdout == '{"version": '
    os.mkfifo(tmp_path / "pipe")
    done = run(tmp_path, "cat pipe & $crdlint lint crd.yaml --format json=pipe; wait")
    assert json.loads(done.stdout)["version"] == 1
    assert (tmp_path / "pipe").is_fifo()
    done = run(tmp_path, "$crdlint lint crd.yaml --format json=.")
    assert done.returncode == 2
    assert ". cannot be written: Is a directory" in done.stderr


def test_a_report_keeps_the_permissions_of_the_file_before(tmp_path: Path) -> None:
    (tmp_path / "crd.yaml").write_text(BAD)
    (tmp_path / "report.json").write_text("old")
    (tmp_path / "report.json").chmod(0o640)
    (tmp_path / "link.json").symlink_to("report.json")
    run(tmp_path, "$crdlint lint crd.yaml --format json=link.json")
    assert (tmp_path / "link.json").is_symlink()
    assert (tmp_path / "report.json").read_text() != "old"
    assert (tmp_path / "report.json").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("text", ["", "{", "[]", '{"version": 2}', "\udcff", '{"x":' * 5000])
def test_a_baseline_that_is_none_is_not_written_over(tmp_path: Path, text: str) -> None:
    (tmp_path / "crd.yaml").write_text(BAD)
    known = tmp_path / "known.json"
    known.write_bytes(text.encode(errors="surrogateescape"))
    before = known.read_bytes()
    for more in ([], ["--update-baseline"]):
        done = crdlint("lint", "crd.yaml", "--baseline", "known.json", *more, cwd=tmp_path)
        assert done.returncode == 2
        assert "remove it and write it anew with --update-baseline" in done.stderr
    assert known.read_bytes() == before
    known.unlink()
    done = crdlint("lint", "crd.yaml", "--baseline", "known.json", *more, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "note: known.json has 1 finding now\n")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
@pytest.mark.parametrize("style", ["text", "markdown", "junit", "checkstyle", "github", "azure"])
def test_reports_are_utf8_in_any_locale(tmp_path: Path, style: str, encoding: str) -> None:
    (tmp_path / "é.yaml").write_text(BAD.replace("objekt", "objet-é-字"), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "crdlint", "lint", "é.yaml", "--format", style],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": encoding},
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (1, b"")
    assert "objet-é-字" in done.stdout.decode("utf-8")


@pytest.mark.parametrize(
    ("env", "coloured"),
    [
        ({}, False),
        ({"FORCE_COLOR": "1"}, True),
        ({"FORCE_COLOR": "0"}, False),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        ({"FORCE_COLOR": "", "NO_COLOR": ""}, False),
    ],
)
@pytest.mark.parametrize("command", [["lint", "crd.yaml"], ["explain", "type-required"]])
def test_the_environment_says_whether_to_colour(
    tmp_path: Path, command: list[str], env: dict[str, str], coloured: bool
) -> None:
    (tmp_path / "crd.yaml").write_text(BAD)
    done = crdlint(*command, cwd=tmp_path, **{"NO_COLOR": "", "FORCE_COLOR": "", **env})
    assert ("\x1b[" in done.stdout) is coloured


@pytest.mark.parametrize(("term", "coloured"), [("dumb", False), ("xterm", True)])
def test_a_dumb_terminal_has_no_colours(tmp_path: Path, term: str, coloured: bool) -> None:
    pty = pytest.importorskip("pty")
    (tmp_path / "crd.yaml").write_text(BAD)
    controller, terminal = pty.openpty()
    env = {key: value for key, value in os.environ.items() if not key.endswith("_COLOR")}
    subprocess.run(
        [sys.executable, "-m", "crdlint", "lint", "crd.yaml"],
        cwd=tmp_path,
        env={**env, "PYTHONPATH": str(ROOT), "TERM": term},
        stdout=terminal,
        check=False,
    )
    assert (b"\x1b[" in os.read(controller, 100_000)) is coloured
    os.close(terminal)
    os.close(controller)


@pytest.mark.parametrize(
    ("name", "shown"), [("", "''"), ("a\nb", r"'a\nb'"), ("\x1b[31m", r"'\x1b[31m'"), ("é", "é")]
)
def test_a_name_in_an_error_stays_on_its_line(tmp_path: Path, name: str, shown: str) -> None:
    done = crdlint("lint", name, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.splitlines()[0].startswith(f"error: {shown}: does not exist; ")
