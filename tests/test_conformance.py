"""Hold crdlint against the API server's verdicts where the conformance data stand beside us."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SHARED = ROOT.parent / "shared"
SCORE = SHARED / "tools" / "score.py"
CRDLINT = f"{sys.executable} -m crdlint"

pytestmark = pytest.mark.skipif(not SCORE.exists(), reason="the conformance data are not here")

# Each set must be full. `--without-cel` also leaves out defaults that only running a CEL rule
# refuses, which crdlint does not do yet.
SETS = [
    ("cases", "create", ("--without-cel",)),
    ("cases", "versions", ("--without-cel",)),
    ("cases", "update", ("--without-cel",)),
    ("cases", "changes", ()),
    ("corpus", "lint", ()),
    ("corpus", "mutants", ("--without-cel",)),
    ("corpus", "forms", ()),
    ("corpus", "versions", ()),
    ("corpus", "cel", ()),
    ("corpus", "cel_mutants", ()),
]


def score(data: str, name: str, *flags: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, SCORE, *flags, "--crdlint", CRDLINT, SHARED / data, name],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )


@pytest.mark.parametrize(("data", "name", "flags"), SETS, ids=[f"{d}-{n}" for d, n, _ in SETS])
def test_every_verdict_is_the_servers(data: str, name: str, flags: tuple[str, ...]) -> None:
    done = score(data, name, *flags)
    assert done.returncode == 0, done.stdout + done.stderr


def test_yaml_is_read_as_the_server_reads_it() -> None:
    # One row keeps the verdict on a text of over a thousand characters, but only its first 120.
    done = score("cases", "yaml")
    assert "same value 510/511" in done.stdout, done.stdout + done.stderr
