"""Hold CEL verdicts and costs against the API server's own code, on spoilt and invented rules.

usage: CRDLINT_ORACLE=.../crdoracle python tests/oracle/cel_fuzz.py FOLDER [RULES] [SEED]

FOLDER has CRDs whose schemas and rules are the raw material. Each round puts mutated and made-up
rules into one schema with changed bounds and asks the oracle for all of them, under the function
libraries of several Kubernetes versions. Prints every disagreement; exit status 1 if there is one.
"""

from __future__ import annotations

import copy
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crdlint import document
from crdlint.cel import rules as cel
from crdlint.cel import types as t
from crdlint.cel.compile import compile_at
from crdlint.cel.library import _all_overloads
from crdlint.cel.overloads import OVERLOADS
from crdlint.cel.syntax import deep
from crdlint.cel.types import BOOL_TYPE, STRING_TYPE, Decl, Type
from crdlint.shape import shape

if TYPE_CHECKING:
    from crdlint.cel.rulereport import RuleReport

KEY = "x-kubernetes-validations"
A_NODE = 12  # rules put at one node
TOKEN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|'[^']*'|\"[^\"]*\"|\d+(?:\.\d+)?|&&|\|\||[=!<>]=|\S")
WORDS = [
    "self", "oldSelf", "true", "false", "null", "1", "0", "-1", "2u", "1.5", "'a'", "''", "b'x'",
    "[]", "{}", "[1]", "['a', 'b']", "{'a': 1}", "size", "has", "all", "exists", "map", "filter",
    "matches", "(", ")", "[", "]", ",", ".", "?", ":", "!", "-", "+", "*", "/", "%", "==", "!=", "<",
    "<=", ">", ">=", "&&", "||", "in", "x", "int", "string", "double", "dyn", "type", "duration",
    "timestamp", "quantity", "url", "ip", "cidr", "semver", "optional", "'('", "r'\\d+'", "'%s'",
]  # fmt: skip
LITERALS = {
    "bool": ["true", "false"],
    "int": ["0", "1", "-1", "7", "3000000000"],
    "uint": ["0u", "3u"],
    "double": ["0.5", "-1.0", "2e3"],
    "string": ["'a'", "''", "'abc'", "'^[a-z]+$'", "'%s'", "'1'", "'a.b/c'", "'\\u00e4'"],
    "bytes": ["b'a'", "b''", "b'\\xff'"],
    "duration": ["duration('1h')", "duration('3s')"],
    "timestamp": ["timestamp('2020-01-01T00:00:00Z')", "timestamp(0)"],
    "null": ["null"],
    "dyn": ["dyn(1)", "dyn('a')", "dyn(self)", "dyn([1])"],
}
NAMED = {
    "kubernetes.URL": "url('https://example.com')",
    "kubernetes.Quantity": "quantity('1Gi')",
    "kubernetes.Semver": "semver('1.2.3')",
    "kubernetes.NamedFormat": "format.dns1123Label()",
    "net.IP": "ip('1.2.3.4')",
    "net.CIDR": "cidr('10.0.0.0/8')",
}
OPERATORS = {
    "_==_": "==", "_!=_": "!=", "_<_": "<", "_<=_": "<=", "_>_": ">", "_>=_": ">=", "_+_": "+",
    "_-_": "-", "_*_": "*", "_/_": "/", "_%_": "%", "_&&_": "&&", "_||_": "||", "@in": "in",
}  # fmt: skip
PARAMS = (t.INT_TYPE, t.STRING_TYPE, t.BOOL_TYPE, t.DOUBLE_TYPE)


def functions() -> list[tuple[str, bool, Any]]:
    """Return (name, member, overload) of all that the generator calls."""
    found = []
    for name in dict.fromkeys(line.split(" ", 1)[0] for line in OVERLOADS.splitlines()):
        if name.startswith(("@not", "@sort", "cel.")):
            continue
        found += [(name, member, overload) for _, _, member, overload in _all_overloads(name)]
    return found


class Maker:
    """Makes expressions of a wanted type over `self`."""

    def __init__(self, rng: random.Random, decl: Decl) -> None:
        self.rng = rng
        self.functions = functions()
        self.scope: list[tuple[str, Type]] = []
        self._fields("self", decl, 0)
        self._count = 0

    def _fields(self, path: str, decl: Decl, depth: int) -> None:
        self.scope.append((path, decl.type))
        if depth < 4 and decl.fields:
            for name, field in decl.fields.items():
                self._fields(f"{path}.{name}", field, depth + 1)

    def expression(self, wanted: Type, depth: int) -> str:
        """Return an expression that is of this type, if all goes well."""
        rng = self.rng
        if depth <= 0 or rng.random() < 0.15:
            return self._leaf(wanted)
        roll = rng.random()
        if roll < 0.1:
            parts = (self.expression(t, depth - 1) for t in (BOOL_TYPE, wanted, wanted))
            return "({} ? {} : {})".format(*parts)
        if roll < 0.3 and wanted is BOOL_TYPE:
            return self._macro(depth)
        if roll < 0.35 and wanted is BOOL_TYPE:
            return self._has()
        if wanted.kind == t.LIST and roll < 0.5:
            return self._list(wanted, depth)
        return self._call(wanted, depth)

    def _leaf(self, wanted: Type) -> str:
        rng = self.rng
        fits = [path for path, of in self.scope if of is wanted or str(of) == str(wanted)]
        if fits and rng.random() < 0.75:
            return rng.choice(fits)
        if str(wanted) in LITERALS:
            return rng.choice(LITERALS[str(wanted)])
        if wanted.name in NAMED:
            return NAMED[wanted.name]
        if wanted.kind == t.LIST:
            items = [self._leaf(wanted.params[0]) for _ in range(rng.randrange(3))]
            return f"[{', '.join(items)}]"
        if wanted.kind == t.MAP:
            return f"{{{self._leaf(wanted.params[0])}: {self._leaf(wanted.params[1])}}}"
        if wanted.name == "optional_type":
            return f"optional.of({self._leaf(wanted.params[0])})"
        return rng.choice(self.scope)[0]

    def _call(self, wanted: Type, depth: int) -> str:
        rng = self.rng
        for _ in range(40):
            name, member, overload = rng.choice(self.functions)
            bound: dict[str, Type] = {}
            if not _match(overload.result, wanted, bound):
                continue
            if name == "format":
                kinds = [self.rng.choice(PARAMS) for _ in range(self.rng.randrange(3))]
                listed = ", ".join(self.expression(of, 1) for of in kinds)
                clauses = "".join(self.rng.choice(("%s", "%d", "%f", "%%")) for _ in kinds)
                return f"'{clauses}'.format([{listed}])"
            args = [
                self.expression(self._filled(arg, bound), depth - 1 - rng.randrange(2))
                for arg in overload.args
            ]
            return self._spell(name, args, member=member)
        return self._leaf(wanted)

    def _spell(self, name: str, args: list[str], *, member: bool) -> str:
        if name in OPERATORS:
            return f"({args[0]} {OPERATORS[name]} {args[1]})"
        if name in ("!_", "-_"):
            return f"{name[0]}({args[0]})"
        if name == "_?_:_":
            return f"({args[0]} ? {args[1]} : {args[2]})"
        if name in ("_[_]", "_[?_]"):
            return f"{args[0]}[{'?' if '?' in name else ''}{args[1]}]"
        if member:
            return f"{args[0]}.{name}({', '.join(args[1:])})"
        return f"{name}({', '.join(args)})"

    def _filled(self, of: Type, bound: dict[str, Type]) -> Type:
        if of.kind == t.PARAM:
            if of.name not in bound:
                lists = [scoped for _, scoped in self.scope]
                bound[of.name] = self.rng.choice([*PARAMS, *lists])
            return bound[of.name]
        if not of.params:
            return of
        return Type(of.kind, of.name, tuple(self._filled(p, bound) for p in of.params))

    def _has(self) -> str:
        fields = [path for path, _ in self.scope if "." in path]
        return f"has({self.rng.choice(fields)})" if fields else "true"

    def _list(self, wanted: Type, depth: int) -> str:
        rng = self.rng
        over, of = self._range()
        name = self._variable()
        self.scope.append((name, of))
        form = rng.choice(("map", "filter", "map3", "sortBy", "transformList"))
        if form == "map":
            text = f"{over}.map({name}, {self.expression(wanted.params[0], depth - 1)})"
        elif form == "map3":
            body = self.expression(wanted.params[0], depth - 1)
            text = f"{over}.map({name}, {self.expression(BOOL_TYPE, depth - 2)}, {body})"
        elif form == "transformList":
            body = self.expression(wanted.params[0], depth - 1)
            text = f"{over}.transformList(i{name}, {name}, {body})"
        elif form == "sortBy":
            text = f"{over}.sortBy({name}, {self.expression(t.INT_TYPE, depth - 1)})"
        else:
            text = f"{over}.filter({name}, {self.expression(BOOL_TYPE, depth - 1)})"
        self.scope.pop()
        return text

    def _range(self) -> tuple[str, Type]:
        rng = self.rng
        ranges = [(p, of) for p, of in self.scope if of.kind in (t.LIST, t.MAP)]
        if not ranges or rng.random() < 0.2:
            of = rng.choice(PARAMS)
            return f"[{self._leaf(of)}, {self._leaf(of)}]", of
        path, over = rng.choice(ranges)
        return path, over.params[0]

    def _variable(self) -> str:
        self._count += 1
        return f"v{self._count}"

    def _macro(self, depth: int) -> str:
        rng = self.rng
        over, of = self._range()
        name = self._variable()
        before = len(self.scope)
        self.scope.append((name, of))
        for field, inner in (of.fields or {}).items():
            self.scope.append((f"{name}.{field}", inner.type))
        macro = rng.choice(("all", "exists", "exists_one", "all"))
        body = self.expression(BOOL_TYPE, depth - 1)
        del self.scope[before:]
        if rng.random() < 0.15:
            return f"{over}.{macro}(k{name}, {name}, {body})"
        return f"{over}.{macro}({name}, {body})"


def _match(result: Type, wanted: Type, bound: dict[str, Type]) -> bool:
    if result.kind == t.PARAM:
        bound[result.name] = wanted
        return True
    if result.kind != wanted.kind or result.name != wanted.name:
        return False
    return all(_match(a, b, bound) for a, b in zip(result.params, wanted.params, strict=False))


def mutate(rng: random.Random, rule: str, names: list[str]) -> str:
    """Return a rule with one to three tokens spoilt."""
    tokens = TOKEN.findall(rule)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        if not tokens:
            return rng.choice(WORDS)
        i = rng.randrange(len(tokens))
        roll = rng.random()
        if roll < 0.2:
            del tokens[i]
        elif roll < 0.3:
            tokens.insert(i, tokens[i])
        elif roll < 0.4:
            j = rng.randrange(len(tokens))
            tokens[i], tokens[j] = tokens[j], tokens[i]
        elif roll < 0.75:
            same = [n for n in names if n.isidentifier() == tokens[i].isidentifier()]
            tokens[i] = rng.choice(same or WORDS)
        else:
            tokens.insert(i, rng.choice(WORDS + names))
    text = ""
    for token in tokens:
        glue = "" if not text or not (text[-1].isalnum() and token[0].isalnum()) else " "
        text += glue + token
    return text


def nodes(schema: dict[str, Any]) -> list[dict[str, Any]]:
    """Return every node of a schema outside of junctors."""
    found = [schema]
    for field in (schema.get("properties") or {}).values():
        found += nodes(field)
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            found += nodes(schema[key])
    return found


def spoil_bounds(rng: random.Random, node: dict[str, Any]) -> None:
    """Change the bounds and sometimes the format of a node."""
    kind = node.get("type")
    keys = {"string": ["maxLength", "enum", "format"], "array": ["maxItems"], "object": []}
    if kind == "object" and "additionalProperties" in node:
        keys["object"] = ["maxProperties"]
    for key in keys.get(str(kind), []):
        roll = rng.random()
        if roll < 0.3:
            node.pop(key, None)
        elif roll < 0.5:
            if key == "enum":
                node[key] = rng.sample(["a", "bcd", "\u00e4\u00f6", "", "long-value"], 2)
            elif key == "format":
                node[key] = rng.choice(["date", "date-time", "duration", "byte", "uri"])
            else:
                node[key] = rng.choice([0, 1, 5, 10, 64, 253, 1000, 100_000, 10**9])
    node.pop("default", None)
    if kind == "array" and node.get("x-kubernetes-list-type") == "set":
        del node["x-kubernetes-list-type"]


def schemas(folder: str) -> list[dict[str, Any]]:
    """Return the schemas of the CRDs below a folder."""
    found = []
    for path in sorted(Path(folder).rglob("*.y*ml")):
        if path.stat().st_size > 300_000:
            continue
        for read in document.read(path.read_bytes(), str(path)):
            crd = shape(read.data).crd if isinstance(read.data, dict) else {}
            for version in (crd.get("spec") or {}).get("versions") or []:
                schema = (version.get("schema") or {}).get("openAPIV3Schema")
                if schema and any(KEY in node for node in nodes(schema)):
                    found.append(json.loads(json.dumps(schema)))
    return found


def crd_of(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a CRD with this schema."""
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget"},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": schema},
                }
            ],
        },
    }


def invent(rng: random.Random, schema: dict[str, Any], pool: list[str]) -> dict[str, Any]:
    """Return a schema like this one with other bounds and rules."""
    schema = copy.deepcopy(schema)
    all_nodes = nodes(schema)
    for node in all_nodes:
        node.pop(KEY, None)
        if rng.random() < 0.3:
            spoil_bounds(rng, node)
    for node in rng.sample(all_nodes, min(len(all_nodes), 4)):
        decl = t.declare(node, root=node is schema, minor=37)
        if decl is None:
            continue
        names = [*(node.get("properties") or {}), *(decl.fields or {})] or ["self"]
        rules = []
        for _ in range(A_NODE):
            if rng.random() < 0.5:
                text = mutate(rng, rng.choice(pool), names)
            else:
                text = Maker(rng, decl).expression(BOOL_TYPE, rng.choice((2, 3, 4)))
            rule: dict[str, Any] = {"rule": text[:3000], "message": "no"}
            if rng.random() < 0.1:
                rule["messageExpression"] = Maker(rng, decl).expression(STRING_TYPE, 2)[:2000]
            if rng.random() < 0.1:
                rule["optionalOldSelf"] = rng.random() < 0.7
            rules.append(rule)
        node[KEY] = rules
    return schema


def ask(oracle: str, documents: list[dict[str, Any]], minors: list[int]) -> list[dict[str, Any]]:
    """Return what the oracle says of each document, in order."""
    with tempfile.TemporaryDirectory() as folder:
        names = []
        for i, crd in enumerate(documents):
            name = Path(folder) / f"{i:05d}.json"
            name.write_text(json.dumps(crd))
            names.append(str(name))
        kube = ",".join(f"1.{m}" for m in minors)
        run = subprocess.run(
            [oracle, "cel", "-kube", kube, *names], capture_output=True, text=True, check=True
        )
    by_name = {}
    for line in run.stdout.splitlines():
        record = json.loads(line)
        by_name[record["file"]] = record
    return [by_name[name] for name in names]


def whole(value: object) -> object:
    """Return a number that the oracle may have written as text."""
    return int(value) if isinstance(value, str) and value.isdigit() else value


def compare(
    schema: dict[str, Any], answer: dict[str, Any], minors: list[int]
) -> tuple[int, list[str]]:
    """Return how many rules were compared, and what differs."""
    differs: list[str] = []
    report = cel.check_schema(schema, minor=37)
    from crdlint.server import join

    base = "spec.versions[0].schema.openAPIV3Schema"
    mine = {
        f"{base}{'.' if r.path else ''}{join(r.path)}.{KEY}[{r.index}]": r for r in report.rules
    }
    count = 0
    for said in answer["cel"]:
        if said.get("total"):
            if whole(said["cost"]) != report.total and not differs:
                differs.append(f"total: {said['cost']} / {report.total}")
            continue
        count += 1
        rule = mine[said["path"]]
        where = f"{said.get('rule', '')!r}"
        if rule.ok != said["ok"]:
            differs.append(f"compiles: {where}: {said.get('error', 'ok')} / {rule.error or 'ok'}")
            continue
        if bool(rule.message_error) != bool(said.get("messageExpressionError")):
            differs.append(
                f"message: {where}: {said.get('messageExpressionError')} / {rule.message_error}"
            )
        if rule.ok:
            pairs = (
                (whole(said.get("ruleCost")), rule.rule_cost),
                (whole(said.get("cardinality")), rule.cardinality),
                (whole(said.get("cost")), rule.cost),
                (said.get("usesOldSelf", False), rule.uses_old_self),
            )
            if any(a != b for a, b in pairs):
                differs.append(f"cost: {where}: {pairs}")
        if rule.decl is None:
            continue
        source: Any = schema
        for step in rule.path:
            source = source[step]
        text = source[KEY][rule.index]
        for minor in minors:
            ok = compiles(rule, text, minor)
            if ok != (said["kube"][f"1.{minor}"] == "ok"):
                differs.append(f"1.{minor}: {where}: {said['kube'][f'1.{minor}']} / {ok}")
    return count, differs


def compiles(rule: RuleReport, text: dict[str, Any], minor: int) -> bool:
    """Tell whether rule and messageExpression compile with a minor's libraries."""
    assert rule.decl is not None
    for expression, wanted in (
        (rule.rule, BOOL_TYPE),
        (text.get("messageExpression"), STRING_TYPE),
    ):
        if expression and expression.strip():
            done = compile_at(
                expression,
                rule.decl,
                wanted,
                compat=minor - 1,
                minor=37,
                optional_old_self=text.get("optionalOldSelf") is True,
            )
            if done.error is not None:
                return False
    return True


def main() -> int:
    """Run until enough rules were compared."""
    oracle = os.environ.get("CRDLINT_ORACLE")
    if not oracle:
        print("CRDLINT_ORACLE is not set: nothing to compare with")
        return 0
    folder = sys.argv[1]
    wanted = int(sys.argv[2]) if len(sys.argv) > 2 else 20_000
    rng = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    raw = schemas(folder)
    pool = sorted({rule["rule"] for s in raw for node in nodes(s) for rule in node.get(KEY) or ()})
    print(f"{len(raw)} schemas, {len(pool)} rules to start from")
    count = compiled = 0
    bad: list[str] = []
    while count < wanted:
        minors = sorted(rng.sample(range(25, 39), 3))
        made = [invent(rng, rng.choice(raw), pool) for _ in range(40)]
        answers = ask(oracle, [crd_of(s) for s in made], minors)
        with deep():
            for schema, answer in zip(made, answers, strict=True):
                more, differs = compare(schema, answer, minors)
                count += more
                compiled += sum(1 for c in answer["cel"] if c["ok"] and not c.get("total"))
                bad += differs
                for line in differs:
                    print(line[:1500], flush=True)
        print(f"{count} rules, {compiled} compile, {len(bad)} differ", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
