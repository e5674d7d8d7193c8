"""Options of commands that change files, or judge objects, as a user writes them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from command import GOOD, crdlint

if TYPE_CHECKING:
    from pathlib import Path

WIDGET = """\
apiVersion: example.com/v1
kind: Widget
metadata: {name: one}
spec: {size: 1}
"""


def test_validate_strict_refuses_what_is_pruned(tmp_path: Path) -> None:
    (tmp_path / "crd.yaml").write_text(GOOD)
    (tmp_path / "widget.yaml").write_text(WIDGET)
    files = ("validate", "--crds", "crd.yaml", "widget.yaml")
    assert crdlint(*files, cwd=tmp_path).returncode == 0
    done = crdlint(*files, "--strict", "--format", "json", cwd=tmp_path)
    assert done.returncode == 1
    (found,) = json.loads(done.stdout)["findings"]
    assert found["server"] == [{"type": "Strict", "field": "spec.size"}]


def test_fix_shows_unsafe_fixes_only_when_asked(tmp_path: Path) -> None:
    text = GOOD.replace("metadata:\n  name: widgets.example.com", "metadata: {name: widgets}")
    text = text.replace("    storage: true\n", "    storage: true\n    deprecationWarning: gone\n")
    (tmp_path / "crd.yaml").write_text(text)
    safe = crdlint("fix", "--diff", "crd.yaml", cwd=tmp_path)
    every = crdlint("fix", "--diff", "--unsafe", "crd.yaml", cwd=tmp_path)
    assert safe.returncode == every.returncode == 1
    assert (tmp_path / "crd.yaml").read_text() == text
    assert "+metadata: {name: widgets.example.com}" in every.stdout
    assert set(safe.stdout.splitlines()) <= set(every.stdout.splitlines()) | {"crd.yaml"}


def test_convert_prunes_when_asked(tmp_path: Path) -> None:
    beta = GOOD.replace("k8s.io/v1\n", "k8s.io/v1beta1\n")
    (tmp_path / "crd.yaml").write_text(beta)
    kept = crdlint("convert", "crd.yaml", cwd=tmp_path).stdout
    pruned = crdlint("convert", "--prune", "crd.yaml", cwd=tmp_path).stdout
    assert "x-kubernetes-preserve-unknown-fields: true" in kept
    assert "x-kubernetes-preserve-unknown-fields" not in pruned
    shown = crdlint("convert", "--diff", "crd.yaml", cwd=tmp_path).stdout
    assert "+apiVersion: apiextensions.k8s.io/v1" in shown
    assert (tmp_path / "crd.yaml").read_text() == beta


def test_export_closes_when_asked(tmp_path: Path) -> None:
    (tmp_path / "crd.yaml").write_text(GOOD)
    spec = {}
    for option in ((), ("--closed",)):
        done = crdlint("export", *option, "crd.yaml", cwd=tmp_path)
        schema = json.loads(done.stdout)
        spec[option] = schema["properties"]["spec"].get("additionalProperties")
    assert spec == {(): None, ("--closed",): False}
