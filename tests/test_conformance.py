"""Hold crdlint against the API server's verdicts where the conformance data stand beside us."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SHARED = Path(__file__).parents[2] / "shared"
SCORE = SHARED / "tools" / "score.py"
CRDLINT = f"{sys.executable} -m crdlint"

pytestmark = pytest.mark.skipif(not SCORE.exists(), reason="the conformance data are not here")

# Each set must be full; `--without-cel` leaves out what needs the CEL checks.
SETS = [
    ("cases", "yaml", ()),
    ("cases", "create", ("--without-cel",)),
    ("cases", "versions", ("--without-cel",)),
    ("corpus", "lint", ("--without-cel",)),
    ("corpus", "mutants", ("--without-cel",)),
    ("corpus", "forms", ("--without-cel",)),
    ("corpus", "versions", ("--without-cel",)),
]


@pytest.mark.parametrize(("data", "name", "flags"), SETS, ids=[f"{d}-{n}" for d, n, _ in SETS])
def test_every_verdict_is_the_servers(data: str, name: str, flags: tuple[str, ...]) -> None:
    done = subprocess.run(
        [sys.executable, SCORE, *flags, "--crdlint", CRDLINT, SHARED / data, name],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
