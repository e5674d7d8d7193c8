"""Compare every CRD with itself, and with itself in other clothes: nothing but the server's word.

usage: CRDLINT_ORACLE=.../crdoracle python tests/oracle/identity.py FOLDER

Each CRD is compared with itself, with its keys in another order, and with its descriptions
rewritten and no comments. What crdlint reports must be what the server says to that update, and
nothing at all where it accepts. Prints every disagreement; exit status 1 if there is one.
"""

from __future__ import annotations

import copy
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from test_diff_laws import crds_of, redocumented, schemas_only, shuffled

from crdlint import diffing
from crdlint.source import find


def server_says(old: Path, new: Path) -> list[tuple[str, str]]:
    done = subprocess.run(
        [os.environ["CRDLINT_ORACLE"], "update", old, new],
        capture_output=True,
        text=True,
        check=True,
    )
    record = json.loads(done.stdout.splitlines()[0])
    return sorted((e["type"], e["field"]) for e in record.get("errors") or ())


def clothes(data: Any, rng: random.Random) -> dict[str, Any]:
    return {
        "itself": copy.deepcopy(data),
        "reordered": shuffled(data, rng),
        "described": schemas_only(data, redocumented),
    }


def main() -> int:
    rng = random.Random(1)
    pairs = wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        old, new = Path(folder, "old.json"), Path(folder, "new.json")
        for file in sorted(Path(sys.argv[1]).rglob("*.y*ml")):
            for data in crds_of(file):
                old.write_text(json.dumps(data))
                for name, other in clothes(data, rng).items():
                    new.write_text(json.dumps(other))
                    report = diffing.diff(find([str(old)]), find([str(new)]))
                    pairs += 1
                    found = sorted(
                        claim
                        for finding in report.findings
                        for claim in finding.server or ()
                        if claim[0] not in ("Warning", "Strict")
                    )
                    silent = [f.rule for f in report.findings if not f.server]
                    if not found and not silent:
                        continue
                    if found != server_says(old, new) or silent:
                        wrong += 1
                        print(f"{file}: {name}: {found} {silent}")
    print(f"{pairs} pairs, {wrong} wrong")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
