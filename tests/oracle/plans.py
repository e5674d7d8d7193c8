"""Hold the steps of plans against the API server's own code: each is taken as the plan says.

usage: CRDLINT_ORACLE=.../crdoracle python tests/oracle/plans.py OLD NEW [OLD NEW]...

For each pair of files the plan is made, and each step given to the oracle as an update of the step
before, with the storedVersions that the plan reckons with. A plan whose steps are all taken, or
that says of the first that is refused that it is, is right; also, every step of a NEW that can be
created must be one that can be created. Prints what differs; exit status 1 if anything does.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from crdlint import converting, differ, document, reading, yaml_text
from crdlint.planning import road


def oracle(command: str, *files: Path) -> dict[str, Any]:
    done = subprocess.run(
        [os.environ["CRDLINT_ORACLE"], command, *files], capture_output=True, text=True, check=True
    )
    return dict(json.loads(done.stdout.splitlines()[0]))


def roads(old: str, new: str) -> list[road.Road]:
    before = list(document.read(Path(old).read_bytes(), old, wanted=reading.WANTED))
    text = converting.convert(Path(new).read_bytes(), new).data
    after = list(document.read(text, new, wanted=reading.WANTED))
    sides = differ.read_sides(before, after, differ.Options(37))
    found = []
    for a, b in differ.pair(*sides):
        if a is not None and b is not None and a.crd is not None and b.crd is not None:
            held: Any = a.crd.data
            wanted: Any = b.crd.data
            found.append(road.find(held, wanted))
    return found


def differences(plan: road.Road, folder: Path) -> list[str]:
    wrong = []
    before, step_file = folder / "before.yaml", folder / "step.yaml"
    step_file.write_text(yaml_text.dump(plan.new))
    creatable = oracle("lint", step_file)["accepted"]
    crd = plan.old
    for step in plan.steps:
        before.write_text(yaml_text.dump({**crd, "status": {"storedVersions": step.stored}}))
        step_file.write_text(step.text)
        verdict = oracle("update", before, step_file)
        if verdict["accepted"] == bool(step.refused):
            wrong.append(f"step {step.number}: {verdict.get('errors')}, not as planned")
        if creatable and not oracle("lint", step_file)["accepted"]:
            wrong.append(f"step {step.number} cannot be created")
        if step.refused:
            break
        crd = step.crd
    return wrong


def main() -> int:
    pairs = list(zip(sys.argv[1::2], sys.argv[2::2], strict=True))
    plans = steps = wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for old, new in pairs:
            for plan in roads(old, new):
                plans += 1
                steps += len(plan.steps)
                for text in differences(plan, Path(folder)):
                    wrong += 1
                    print(f"{new}: {text}")
    print(f"{len(pairs)} pairs, {plans} plans, {steps} steps, {wrong} wrong")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
