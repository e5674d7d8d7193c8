"""Everyday commands on odd input: clear words and the documented exit status, never a traceback."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import yaml
from command import GOOD, report, rules

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
