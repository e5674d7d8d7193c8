"""Hold what becomes of objects against the API server's own code, on made-up and spoilt objects.

usage: CRDLINT_ORACLE=.../crdoracle python tests/oracle/objects_fuzz.py FOLDER [OBJECTS] [SEED]
           [--without-rules]

FOLDER has CRDs whose schemas are the raw material. Each round makes objects of one version, sends
each as a create, and a changed copy of each as an update of it. Verdict, errors (type and field),
pruned fields and the stored object must be the server's. Prints every disagreement; exit status 1
if there is one.
"""

from __future__ import annotations

import copy
import json
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from crdlint import document, shape
from crdlint.objects.resource import Outcome, take, update
from crdlint.objects.served import Served, versions_of

A_ROUND = 80
TEXTS = [
    "", "a", "abc", "a-b", "A_b", "x" * 70, "1", "0", "-1", "true", "null", "10Gi", "500m", "1h30m",
    "2020-01-01T00:00:00Z", "2020-01-01", "10.0.0.1", "10.0.0.0/8", "::1", "a@b.c", "aGk=", "é", "😀",
    "http://example.com/a?b=c", "example.com", "example.com/a", "https://x", "v1", "apps/v1", "a/b/c",
    "550e8400-e29b-41d4-a716-446655440000", "#fff", "50%", "a b", " a", "\n", ".", "..", "latest",
    "sha256:abc", "Always", "None", "100", "1.5", "metadata", "spec.a",
]  # fmt: skip
NUMBERS = [
    0, 1, -1, 2, 3, 5, 10, 80, 443, 8080, 65535, 65536, 100, 2147483647, 2147483648, -2147483649,
    9223372036854775807, 0.5, 1.5, -0.25, 1e300, 3.5e38, 1234567890123,
]  # fmt: skip
METADATA: list[dict[str, Any]] = [
    {"labels": {"a": "b", "example.com/x": "y"}},
    {"labels": {"a": "b c"}},
    {"labels": {"-": "x"}},
    {"annotations": {"a": "anything at all", "x/y": ""}},
    {"annotations": {"a b": "x"}},
    {"finalizers": ["example.com/f"]},
    {"finalizers": ["a b", "orphan", "foregroundDeletion"]},
    {"ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u"}]},
    {"ownerReferences": [{"apiVersion": "a/b/c", "kind": "", "name": "p", "controller": True}]},
    {"creationTimestamp": None},
    {"labels": None, "annotations": {}},
    {"labels": {"a": 1}},
    {"finalizers": "x"},
    {"unknown": 1, "labels": {"x": "y"}},
    {"generateName": "abc-"},
    {"namespace": "other"},
]


class Maker:
    """Makes values for a schema, some of which it does not allow."""

    def __init__(self, rng: random.Random, bad: float) -> None:
        self.rng = rng
        self.bad = bad

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def anything(self, depth: int = 0) -> Any:
        """Return any small JSON value."""
        rng = self.rng
        kind = rng.randrange(8 if depth < 2 else 5)
        if kind == 0:
            return None
        if kind == 1:
            return self.chance(0.5)
        if kind == 2:
            return rng.choice(NUMBERS)
        if kind < 5:
            return rng.choice(TEXTS)
        if kind < 7:
            size = rng.randrange(3)
            return {self.name(): self.anything(depth + 1) for _ in range(size)}
        return [self.anything(depth + 1) for _ in range(rng.randrange(3))]

    def name(self) -> str:
        return self.rng.choice(["a", "b", "name", "x.y", "kind", "metadata", "é", "a/b", "unknown"])

    def value(self, schema: dict[str, Any], depth: int = 0) -> Any:
        """Return a value for a schema."""
        rng = self.rng
        if self.chance(self.bad):
            return self.anything()
        if schema.get("enum") and not self.chance(self.bad):
            return copy.deepcopy(rng.choice(schema["enum"]))
        if schema.get("nullable") and self.chance(0.1):
            return None
        kind = schema.get("type") or ""
        if schema.get("x-kubernetes-int-or-string"):
            kind = rng.choice(["integer", "string"])
        if kind == "string":
            return self.text(schema)
        if kind in ("integer", "number"):
            return self.number(schema, kind)
        if kind == "boolean":
            return self.chance(0.5)
        if kind == "array":
            return self.items(schema, depth)
        if kind == "object" or schema.get("properties"):
            return self.object(schema, depth)
        return self.anything()

    def text(self, schema: dict[str, Any]) -> str:
        rng = self.rng
        least, most = schema.get("minLength"), schema.get("maxLength")
        if least is not None and self.chance(0.5):
            return "a" * int(min(max(least + rng.choice([-1, 0, 0, 1]), 0), 300))
        if most is not None and self.chance(0.3):
            return "é" * int(min(max(most + rng.choice([-1, 0, 1]), 0), 300))
        return rng.choice(TEXTS)

    def number(self, schema: dict[str, Any], kind: str) -> Any:
        rng = self.rng
        bounds = [schema[key] for key in ("minimum", "maximum", "multipleOf") if key in schema]
        if bounds and self.chance(0.7):
            near = rng.choice(bounds)
            step = rng.choice([-1, 0, 0, 1] if kind == "integer" else [-0.5, 0, 0.5])
            found = near + step
        else:
            found = rng.choice(NUMBERS[:12])
        whole = isinstance(found, float) and found.is_integer() and abs(found) < 1e15
        return int(found) if whole else found

    def items(self, schema: dict[str, Any], depth: int) -> list[Any]:
        rng = self.rng
        items = schema.get("items") or {}
        size = rng.choice([0, 1, 1, 2, 3]) if depth < 6 else rng.choice([0, 1])
        found = [self.value(items, depth + 1) for _ in range(size)]
        if found and self.chance(0.15):
            found.append(copy.deepcopy(rng.choice(found)))
        if found and self.chance(self.bad):
            found.append(None)
        return found

    def object(self, schema: dict[str, Any], depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        required = schema.get("required") or []
        share = 0.6 if depth < 3 else 0.3 if depth < 8 else 0.05
        for name, below in (schema.get("properties") or {}).items():
            wanted = 1 - self.bad if name in required else share
            if self.chance(wanted):
                found[name] = self.value(below, depth + 1)
        rest = schema.get("additionalProperties")
        if isinstance(rest, dict):
            for _ in range(self.rng.randrange(3)):
                found[self.rng.choice(TEXTS) or "k"] = self.value(rest, depth + 1)
        if self.chance(self.bad) or (
            schema.get("x-kubernetes-preserve-unknown-fields") and self.chance(0.5)
        ):
            found[self.name()] = self.anything()
        if schema.get("x-kubernetes-embedded-resource") and self.chance(0.8):
            found |= {"apiVersion": "v1", "kind": "Pod", "metadata": self.metadata("p")}
        return found

    def metadata(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = {"name": name}
        if self.chance(0.15):
            found |= copy.deepcopy(self.rng.choice(METADATA))
        return found

    def whole(self, version: Served, index: int) -> dict[str, Any]:
        """Return an object of a version."""
        schema = dict(version.schema or {})
        names = ("apiVersion", "kind", "metadata")
        properties = schema.get("properties") or {}
        schema["properties"] = {k: v for k, v in properties.items() if k not in names}
        found = self.object(schema, 0)
        name = f"o-{index}" if not self.chance(0.02) else f"O_{index}"
        head = {"apiVersion": version.api_version, "kind": version.kind}
        return {"metadata": self.metadata(name), **found, **head}

    def changed(self, old: dict[str, Any], version: Served) -> dict[str, Any]:
        """Return a copy with a few changes, as an update makes them."""
        new = copy.deepcopy(old)
        for _ in range(self.rng.choice([0, 1, 1, 2, 3])):
            holders = list(_holders(new))
            holder = self.rng.choice(holders) if holders else new
            self.change(holder, top=holder is new)
        if self.chance(0.2):
            other = self.whole(version, 0)
            key = self.rng.choice([k for k in other if k != "metadata"])
            new[key] = other[key]
        if isinstance(new["metadata"], dict) and self.chance(0.1):
            new["metadata"] |= copy.deepcopy(self.rng.choice(METADATA))
        return new

    def change(self, holder: Any, *, top: bool) -> None:
        rng = self.rng
        if isinstance(holder, list):
            how = rng.randrange(4)
            if how == 0 or not holder:
                holder.append(self.anything())
            elif how == 1:
                holder.pop(rng.randrange(len(holder)))
            elif how == 2:
                holder.append(copy.deepcopy(rng.choice(holder)))
            else:
                rng.shuffle(holder)
            return
        keys = [k for k in holder if not (top and k in ("apiVersion", "kind", "metadata"))]
        how = rng.randrange(3)
        if how == 0 or not keys:
            holder[self.name() if not top else "unknown"] = self.anything()
        elif how == 1:
            del holder[rng.choice(keys)]
        else:
            key = rng.choice(keys)
            before = holder[key]
            holder[key] = rng.choice(TEXTS) if isinstance(before, str) else self.anything()


def _holders(value: Any, top: bool = True) -> Any:
    if isinstance(value, dict):
        yield value
        for key, item in value.items():
            if not (top and key == "metadata"):
                yield from _holders(item, False)
    elif isinstance(value, list):
        yield value
        for item in value:
            yield from _holders(item, False)


def crds(folder: str) -> list[dict[str, Any]]:
    """Return the CRDs of a folder that decode."""
    found = []
    for path in sorted(Path(folder).rglob("*.yaml")):
        for doc in document.read(path.read_bytes(), path.name, wanted=b"CustomResourceDefinition"):
            data: Any = doc.data if not doc.skipped and doc.error is None else None
            is_crd = isinstance(data, dict) and data.get("kind") == "CustomResourceDefinition"
            if is_crd and shape.shape(data).error is None:
                found.append(json.loads(json.dumps(data)))
    return found


def text_of(objects: list[dict[str, Any]]) -> str:
    """Spell objects so that they are read as YAML, not as JSON."""
    return "".join(
        f"---\n# {i}\n{json.dumps(o, ensure_ascii=False)}\n" for i, o in enumerate(objects)
    )


def as_read(text: str) -> list[dict[str, Any]]:
    return [doc.data for doc in document.read(text.encode(), "objects.yaml") if doc.data]


def ask(oracle: str, folder: Path, *flags: str) -> list[dict[str, Any]]:
    command = [oracle, "cr", "-j", "1", *flags, str(folder / "crd.json"), str(folder / "new.yaml")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return [json.loads(line) for line in done.stdout.splitlines()]


def disagreements(outcome: Outcome, said: dict[str, Any]) -> list[str]:
    """Return in what an outcome is not what the server says."""
    found = []
    ours = {(e.type, e.field) for e in outcome.all_errors()}
    theirs = {(e["type"], e["field"]) for e in said["errors"]}
    if outcome.accepted != said["accepted"]:
        found.append(f"verdict: the server says {sorted(theirs)}, crdlint {sorted(ours)}")
    elif ours != theirs and not {"DecodeError", "OldDecodeError"} & {kind for kind, _ in theirs}:
        found.append(
            f"errors: only server {sorted(theirs - ours)}, only crdlint {sorted(ours - theirs)}"
        )
    if said["accepted"]:
        if sorted(outcome.pruned) != sorted(said["pruned"]):
            found.append(f"pruned: the server {said['pruned']}, crdlint {outcome.pruned}")
        stored = json.loads(json.dumps(outcome.stored))
        if stored is not None:
            stored["metadata"].pop("generation", None)
        if "generateName" not in json.dumps(said.get("object")) and stored != said.get("object"):
            found.append(f"stored: the server {said.get('object')}, crdlint {stored}")
    return found


def without_rules(node: Any) -> Any:
    if isinstance(node, dict):
        return {k: without_rules(v) for k, v in node.items() if k != "x-kubernetes-validations"}
    return [without_rules(item) for item in node] if isinstance(node, list) else node


def rounds(oracle: str, raw: list[dict[str, Any]], rng: random.Random, wanted: int) -> Counter[str]:
    """Compare until enough objects were sent; print and count disagreements."""
    counts: Counter[str] = Counter()
    while counts["creates"] < wanted:
        crd = rng.choice(raw)
        versions = [v for v in versions_of(shape.shape(crd).crd, minor=37) if v.served and v.schema]
        if not versions:
            continue
        version = rng.choice(versions)
        maker = Maker(rng, rng.choice([0.0, 0.02, 0.05, 0.2]))
        old = [maker.whole(version, i) for i in range(A_ROUND)]
        new = [maker.changed(one, version) for one in old]
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "crd.json").write_text(json.dumps(crd))
            olds, news = text_of(old), text_of(new)
            (folder / "new.yaml").write_text(olds)
            creates = ask(oracle, folder)
            (folder / "old.yaml").write_text(olds)
            (folder / "new.yaml").write_text(news)
            updates = ask(oracle, folder, "-old", str(folder / "old.yaml"))
        before, after = as_read(olds), as_read(news)
        for i, (one, two) in enumerate(zip(before, after, strict=True)):
            pairs = [("creates", take(version, one), creates[i])]
            # The server's side finds the old object by its name alone.
            if updates[i]["op"] == "update" and updates[i]["name"].endswith(str(i)):
                pairs.append(("updates", update(version, one, two), updates[i]))
            for kind, outcome, said in pairs:
                counts[kind] += 1
                counts[f"accepted {kind}"] += said["accepted"]
                for line in disagreements(outcome, said):
                    counts["disagreements"] += 1
                    counts[f"{kind} {line.partition(':')[0]}"] += 1
                    if counts["disagreements"] <= 40:
                        print(f"{version.kind} {kind} {line}"[:1500])
                        if kind == "updates":
                            print("   old", json.dumps(one)[:3000])
                        print("   new", json.dumps(one if kind == "creates" else two)[:3000])
    return counts


def main() -> int:
    """Run until enough objects were compared."""
    oracle = os.environ.get("CRDLINT_ORACLE")
    if not oracle:
        print("CRDLINT_ORACLE is not set: nothing to compare with")
        return 0
    arguments = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    folder, wanted, seed = [*arguments, *["", "20000", "1"][len(arguments) :]]
    raw = crds(folder)
    if "--without-rules" in sys.argv:
        raw = [without_rules(crd) for crd in raw]
    counts = rounds(oracle, raw, random.Random(int(seed)), int(wanted))
    print(dict(counts))
    return int(counts["disagreements"] > 0)


if __name__ == "__main__":
    sys.exit(main())
