"""Hold `convert` and `fix` against the API server's own code.

usage: CRDLINT_ORACLE=.../crdoracle python tests/oracle/convert.py FOLDER...

Converts every v1beta1 CRD of the files in the folders and asks the oracle for each result: it takes
the CRD, or crdlint names what is left. For each one that it takes, objects with unknown fields at
every level are sent through the new CRD: what the old one kept must be stored as it was. Prints
every failure; exit status 1 if there is one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crdlint import converting, document
from crdlint.shape import from_v1beta1

if TYPE_CHECKING:
    from collections.abc import Iterator

UNKNOWN = {"notDeclared": {"deep": [{"x": 1}, "y"]}}
SCALARS = {"string": "a", "integer": 1, "number": 1.5, "boolean": True}


def sample(schema: Any, *, root: bool = False) -> Any:
    """Return a value with every declared field and, at each level, one that is not declared."""
    if not isinstance(schema, dict) or schema.get("x-kubernetes-int-or-string"):
        return 1
    kind = schema.get("type")
    branches = [b for key in ("anyOf", "oneOf") for b in schema.get(key) or () if b.get("type")]
    if kind is None and branches:
        return sample(branches[0])
    if kind in SCALARS:
        enum = schema.get("enum")
        return enum[0] if enum else SCALARS[kind]
    if kind == "array":
        return [sample(schema.get("items") or {})]
    extra = schema.get("additionalProperties")
    declared = schema.get("properties") or {}
    meta = ("apiVersion", "kind", "metadata")
    made = {k: sample(v) for k, v in declared.items() if not (root and k in meta)}
    if isinstance(extra, dict):
        return {**made, "key": sample(extra)}
    return {**made, **UNKNOWN}


def objects(crd: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield an object of each served version of a v1 CRD."""
    spec = crd["spec"]
    for version in spec["versions"]:
        if not version.get("served"):
            continue
        schema = (version.get("schema") or {}).get("openAPIV3Schema") or {}
        yield {
            "apiVersion": f"{spec['group']}/{version['name']}",
            "kind": spec["names"]["kind"],
            "metadata": {"name": "x", **({"namespace": "d"} if spec["scope"] != "Cluster" else {})},
            **sample(schema, root=True),
        }


def lines(*arguments: str) -> list[dict[str, Any]]:
    run = subprocess.run(
        [os.environ["CRDLINT_ORACLE"], *arguments], capture_output=True, text=True, check=False
    )
    return [json.loads(line) for line in run.stdout.splitlines()]


def kept(old: dict[str, Any], file: Path, folder: Path) -> list[str]:
    """Send objects through a new CRD; return what of them is not stored."""
    lost: list[str] = []
    for i, value in enumerate(objects(from_v1beta1(old))):
        thing = folder / f"object{i}.json"
        thing.write_text(json.dumps(value))
        for answer in lines("cr", "-keep-status", str(file), str(thing)):
            lost += answer.get("pruned") or []
            stored = answer.get("object")
            if stored is not None and not answer.get("errors"):
                bare = {k: v for k, v in stored.items() if k != "metadata"}
                if bare != {k: v for k, v in value.items() if k != "metadata"}:
                    lost.append("stored otherwise")
    return lost


def main() -> int:
    files = [
        Path(folder, name)
        for top in sys.argv[1:]
        for folder, _, names in os.walk(top)
        for name in names
        if name.endswith((".yaml", ".yml", ".json"))
    ]
    taken = named = sent = bad = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file in sorted(files):
            data = file.read_bytes()
            if converting.OLD.encode() not in data:
                continue
            result = converting.convert(data, str(file))
            new = folder / "new.yaml"
            new.write_bytes(result.data)
            olds = [d.data for d in document.read(data, str(file)) if d.error is None]
            for old, answer in zip(olds, lines("lint", str(new)), strict=False):
                if not isinstance(old, dict) or old.get("apiVersion") != converting.OLD:
                    continue
                if answer["apiVersion"] == converting.OLD:
                    bad += not result.failed
                    named += bool(result.failed)
                    print(file, "stays:", result.failed)
                elif not answer["accepted"]:
                    if result.left:
                        named += 1
                    else:
                        bad += 1
                        print(file, "refused unsaid:", answer["errors"][:3])
                else:
                    taken += 1
                    pruned = (old.get("spec") or {}).get("preserveUnknownFields") is False
                    lost: list[str] = [] if pruned else kept(old, new, folder)
                    sent += not pruned
                    if lost:
                        bad += 1
                        print(file, "loses:", lost[:5])
    print(f"{taken} taken ({sent} with objects), {named} left with reasons, {bad} wrong")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
