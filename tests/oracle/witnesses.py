"""Give every witness that diff shows to the API server's own code, under the old and the new CRD.

usage: CRDLINT_ORACLE=.../crdoracle python tests/oracle/witnesses.py PAIRS...

PAIRS are folders with pairs of CRDs: NAME.old.yaml and NAME.new.yaml, or NAME/old.yaml and
NAME/new.yaml at any depth. Prints how many findings that hurt stored objects or writers have a
witness, and each witness that does not do as claimed; exit status 1 if there is one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from crdlint import diffing, document, shape, source

HURT = {"stored-objects", "writers"}


def pairs(folders: list[str]) -> list[tuple[Path, Path]]:
    """Return the pairs of old and new files."""
    found = []
    for folder in folders:
        for old in sorted(Path(folder).rglob("*old.yaml")):
            new = old.with_name(old.name.removesuffix("old.yaml") + "new.yaml")
            if new.exists():
                found.append((old, new))
    return found


class Oracle:
    """Asks the oracle many times in one call: jobs are collected, then run."""

    def __init__(self, folder: str) -> None:
        self.folder = Path(folder)
        self.jobs: list[tuple[str, str]] = []
        self.answers: list[dict[str, Any]] = []

    def ask(self, crd: str, obj: Any) -> int:
        """Add an object to ask for under a CRD; return its number."""
        path = self.folder / f"{len(self.jobs)}.json"
        path.write_text(json.dumps(obj))
        self.jobs.append((crd, str(path)))
        return len(self.jobs) - 1

    def run(self, *flags: str) -> None:
        """Ask for all objects."""
        lines = "".join(f"{crd}\t{obj}\n" for crd, obj in self.jobs)
        command = [os.environ["CRDLINT_ORACLE"], "cr", *flags]
        done = subprocess.run(command, input=lines, capture_output=True, text=True, check=False)
        found: dict[str, dict[str, Any]] = {}
        for line in done.stdout.splitlines():
            row = json.loads(line)
            found[row.get("file") or row.get("cr")] = row
        self.answers = [found.get(obj, {}) for _, obj in self.jobs]


def as_v1(path: Path, folder: Path) -> str:
    """Return a file with the CRD as v1: the oracle's objects are taken by no other."""
    text = path.read_bytes()
    if b"apiextensions.k8s.io/v1beta1" not in text:
        return str(path)
    found = []
    for doc in document.read(text, str(path)):
        if isinstance(doc.data, dict) and doc.data.get("kind") == "CustomResourceDefinition":
            v1 = shape.from_v1beta1(doc.data)
            found.append(json.dumps({**v1, "apiVersion": "apiextensions.k8s.io/v1"}))
    out = folder / f"{abs(hash(str(path)))}.yaml"
    out.write_text("\n---\n".join(found))
    return str(out)


def told(row: dict[str, Any]) -> tuple[bool, set[tuple[str, str]], set[str]]:
    """Return what the oracle says: accepted, errors, pruned."""
    errors = {(e["type"], e["field"]) for e in row.get("errors") or []}
    return bool(row.get("accepted")), errors, set(row.get("pruned") or [])


def check(claim: dict[str, Any], before: dict[str, Any], after: dict[str, Any]) -> str:
    """Return how the server contradicts a claim, or an empty text."""
    accepted, errors, pruned = told(before)
    now, errors_now, pruned_now = told(after)
    then = claim["after"]
    if not accepted or pruned != set(claim.get("beforePruned") or []):
        return f"not accepted as it is before: {sorted(errors)[:3]} {sorted(pruned)[:3]}"
    if "gone" in then:
        return "" if {kind for kind, _ in errors_now} == {"NoMatch"} else "it is not gone"
    if "refused" in then:
        missing = {(e["type"], e["field"]) for e in then["refused"]} - errors_now
        return f"not refused so: {sorted(missing)}, but {sorted(errors_now)[:3]}" if missing else ""
    if "pruned" in then:
        missing_fields = set(then["pruned"]) - pruned_now
        return f"not pruned: {sorted(missing_fields)}" if missing_fields else ""
    if not now and not claim["after"].get("otherErrors"):
        return "refused, not changed"
    same = before.get("object") == after.get("object")
    return "stored the same" if same else ""


def main() -> int:
    counts: Counter[str] = Counter()
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        groups: dict[str, tuple[Oracle, list[Any]]] = {}
        for old, new in pairs(sys.argv[1:]):
            try:
                report = diffing.diff(source.find([str(old)]), source.find([str(new)]))
            except diffing.DiffError:
                continue
            sides = None
            for finding in report.findings:
                if not HURT & set(finding.effects):
                    continue
                counts[f"{finding.severity} findings"] += 1
                claim = finding.witnessed
                if not claim:
                    continue
                counts[f"{finding.severity} with a witness"] += 1
                sides = sides or (as_v1(old, Path(folder)), as_v1(new, Path(folder)))
                key = claim["request"] if "from" not in claim else f"from {len(groups)}"
                if key not in groups:
                    os.mkdir(f"{folder}/{len(groups)}")
                    groups[key] = (Oracle(f"{folder}/{len(groups)}"), [])
                oracle, claims = groups[key]
                seen = {**finding.witness}
                first, second = sides
                if "through" in claim:
                    first = second
                    seen["apiVersion"] = claim["through"]
                numbers = oracle.ask(first, finding.witness), oracle.ask(second, seen)
                claims.append((finding, old, numbers))
        for key, (oracle, claims) in groups.items():
            flags = ["-keep-status"] if key in ("status", "convert") else []
            if key.startswith("from "):
                stored = Path(folder) / f"stored-{key[5:]}.json"
                stored.write_text(json.dumps(claims[0][0].witnessed["from"]))
                flags = ["-old", str(stored)]
            oracle.run(*flags)
            for finding, old, (a, b) in claims:
                said = check(finding.witnessed, oracle.answers[a], oracle.answers[b])
                counts["checked"] += 1
                if said:
                    wrong.append(f"{old}: {finding.rule} {finding.field}: {said}")
    for name, number in sorted(counts.items()):
        print(f"{number:6} {name}")
    print(f"{len(wrong):6} not as claimed")
    print("\n".join(wrong[:40]))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
