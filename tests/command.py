"""Running crdlint as a process in tests, and a small CRD to spoil."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
GOOD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: widgets.example.com
spec:
  group: example.com
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
          spec: {type: object}
"""
BAD = GOOD.replace("{type: object}", "{type: objekt}")  # type-not-supported
UNTYPED = GOOD.replace("spec: {type: object}", "spec: {}")  # type-required


def crdlint(*args: str | Path, cwd: Path, stdin: str = "", **env: str) -> Any:
    """Run crdlint in a folder; its output is text."""
    done = subprocess.run(
        [sys.executable, "-m", "crdlint", *map(str, args)],
        input=stdin,
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT), **env},
        capture_output=True,
        check=False,
        text=True,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done


def report(*args: str | Path, cwd: Path, **more: Any) -> dict[str, Any]:
    """Run crdlint and return its JSON report."""
    done = crdlint(*args, "--format", "json", cwd=cwd, **more)
    assert done.returncode in (0, 1), done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def rules(found: dict[str, Any]) -> list[str]:
    """Return the rules of a JSON report, in its order."""
    return [finding["rule"] for finding in found["findings"]]


def git(folder: Path, *args: str) -> str:
    """Run git in a folder with an author of its own."""
    who = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"]
    done = subprocess.run(
        ["git", *who, *args], cwd=folder, capture_output=True, check=True, text=True
    )
    return done.stdout
