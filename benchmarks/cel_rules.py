"""Time a rule: parse, check and cost, each rule of the CRDs below a folder once.

usage: python benchmarks/cel_rules.py FOLDER
"""

from __future__ import annotations

import statistics
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from crdlint import document
from crdlint.cel import rules as cel
from crdlint.cel.compile import compile_at
from crdlint.cel.syntax import deep
from crdlint.cel.types import BOOL_TYPE
from crdlint.shape import shape

if TYPE_CHECKING:
    from crdlint.cel.rulereport import RuleReport


def reports(folder: str) -> list[RuleReport]:
    """Return the rules of every version of every CRD below a folder."""
    found = []
    for path in sorted(Path(folder).rglob("*.y*ml")):
        for read in document.read(path.read_bytes(), str(path)):
            crd = shape(read.data).crd if isinstance(read.data, dict) else {}
            for version in (crd.get("spec") or {}).get("versions") or []:
                schema = (version.get("schema") or {}).get("openAPIV3Schema")
                if schema:
                    found += cel.check_schema(schema, minor=37).rules
    return found


def main() -> None:
    """Print median and percentiles in microseconds."""
    rules = {(r.rule, id(r.decl)): r for r in reports(sys.argv[1]) if r.ok}
    times = []
    with deep():
        for rule in rules.values():
            assert rule.decl is not None
            best = float("inf")
            for _ in range(5):
                start = time.perf_counter()
                compile_at(
                    rule.rule, rule.decl, BOOL_TYPE, compat=36, minor=37, optional_old_self=False
                )
                best = min(best, time.perf_counter() - start)
            times.append(best * 1e6)
    times.sort()
    print(
        f"{len(times)} rules: median {statistics.median(times):.0f} us, "
        f"p90 {times[len(times) * 9 // 10]:.0f}, mean {statistics.mean(times):.0f}, "
        f"max {times[-1]:.0f}"
    )


if __name__ == "__main__":
    main()
