"""Measure `crdlint lint` as ratios in one run; see README.md beside this file."""

from __future__ import annotations

import os
import resource
import shlex
import statistics
import subprocess
import sys
import time
from pathlib import Path

RUNS = 7
SMALL = Path(__file__).parent.parent / "fixtures" / "queue.yaml"
CRDLINT = shlex.split(os.environ.get("CRDLINT", f"{sys.executable} -m crdlint"))
IMPORTS = [sys.executable, "-c", "import click, yaml"]


def files(paths: list[str]) -> list[str]:
    """List the YAML and JSON files of some files and folders."""
    found: list[Path] = []
    for path in map(Path, paths):
        found += (
            [p for p in sorted(path.rglob("*")) if p.suffix in {".yaml", ".yml", ".json"}]
            if path.is_dir()
            else [path]
        )
    return [str(path) for path in found]


def wall(command: list[str]) -> float:
    """Run a command and return its wall time in seconds."""
    start = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return time.perf_counter() - start


def compare(name: str, ours: list[str], theirs: list[str]) -> None:
    """Run two commands in turn and print the ratio of their medians, pair by pair."""
    wall(ours), wall(theirs)
    pairs = [(wall(ours), wall(theirs)) for _ in range(RUNS)]
    a, b = (statistics.median(column) for column in zip(*pairs, strict=True))
    ratio = statistics.median(x / y for x, y in pairs)
    print(f"{name}: {a * 1000:.0f} ms against {b * 1000:.0f} ms, ratio {ratio:.2f}")


def main() -> None:
    """Measure what the command line names."""
    paths = files(sys.argv[1:])
    compare(
        "one small CRD against importing click and yaml", [*CRDLINT, "lint", str(SMALL)], IMPORTS
    )
    if not paths:
        return
    size = sum(os.path.getsize(path) for path in paths)
    print(f"{len(paths)} files, {size / 1e6:.1f} MB")
    lint = [*CRDLINT, "lint", "--format", "json", *paths]
    if oracle := os.environ.get("CRDLINT_ORACLE"):
        compare("crdlint against the server's own code", lint, [oracle, "lint", *paths])
    else:
        print(f"crdlint: {wall(lint) * 1000:.0f} ms")
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    print(f"peak memory of the largest process: {peak / 1024:.0f} MB")


if __name__ == "__main__":
    main()
