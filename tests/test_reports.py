"""Reports: what each format prints for the same findings, to the byte and by its schema."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_samples import CRD, TEXTS, finding, own_pages, samples, summary

from crdlint import report
from crdlint.finding import Spot
from crdlint.pages import URL
from crdlint.report import FORMATS, Options, as_github, as_sarif, line_reader, split_lines
from crdlint.report.linehash import line_hashes
from crdlint.report.terminal import clean, excerpt, width

if TYPE_CHECKING:
    from pathlib import Path

    from crdlint.finding import Finding

__all__ = ["own_pages"]
pytestmark = pytest.mark.usefixtures("own_pages")


def render(name: str, found: list[Finding] | None = None, **options: Any) -> str:
    options.setdefault("lines", line_reader(TEXTS))
    options.setdefault("kubernetes", "1.37")
    found = samples() if found is None else found
    return FORMATS[name](found, summary(), Options(**options))


TEXT = """\
error[plural-dns]: spec.names.plural: `Widgets` has an upper case letter
 --> a/crd.yaml:4:19
  |
1 | apiVersion: v1 # ünï 漢字
  | ---------- needed here
...
4 |   names: {plural: Widgets, 漢字: \U0001f600, other: value}
  |                   ^^^^^^^
 ::: b c.yaml:2:6
  |
2 | two: 2
  |      - and the [other](x) here
  |
  = the API server says: spec.names.plural: Invalid value (and 1 more)
  = help: Write the plural in lower case.

warning[folded]: .x: emoji
 --> a/crd.yaml:4:35
  |
4 |   names: {plural: Widgets, 漢字: \U0001f600, other: value}
  |                                      ^^^^^
  |
  = note: and 2 more places: line 6 (v1beta1), b c.yaml:1:1
  = holds for: Kubernetes 1.28-1.30
  = help: Do it.

info[long]: 100% of\\nline \u241b[31m
 --> a/crd.yaml:7:250
  |
7 | LONG
  | MARK

error[diffed]: .spec.ports[*].name: gone
 --> b c.yaml:2:1
  |
2 | two: 2
  | ^^^^^^
 ::: a/crd.yaml:5:3
  |
5 |   x: 1
  |   - before
  |
  = strict validation refuses: spec.a
  = the API server warns of: spec.b
  = the API server says: Required value
  = hurts: writers, GitOps
  = valid before: creating it is refused now: a: too odd
      a: ü

error[unread]: x
 --> no file.yaml:3:1

3 errors, 1 warning, 1 info: 1 CRD in 2 files; 4 suppressed
`crdlint explain plural-dns` says why and shows how to put it right
"""


def test_text() -> None:
    clipped = f"...{'x' * 159}'"
    assert len(CRD.splitlines()[6]) == 308
    mark = " " * (250 - 1 - (308 - 160) + 3) + "^" * 10
    assert render("text") == TEXT.replace("LONG", clipped).replace("MARK", mark)


def test_text_in_colour_has_the_same_words() -> None:
    coloured = render("text", color=True)
    link = URL.format("plural-dns")
    assert f"\033]8;;{link}\033\\\033[1;31merror[plural-dns]\033[0m\033]8;;\033\\" in coloured
    assert re.sub(r"\033\[[0-9;]*m|\033\]8;;.*?\033\\", "", coloured) == render("text")
    assert coloured.count("\033[0m") * 2 == coloured.count("\033[")  # each is closed


def test_text_verbose_shows_every_error_of_the_server() -> None:
    lines = render("text", verbose=True).splitlines()
    assert "  = the API server says: spec.names.plural: Invalid value" in lines
    assert "  = the API server says: metadata.name: Invalid value" in lines


def test_text_of_a_range_says_which_servers_refuse() -> None:
    made = finding("a", "error", "m", Spot("x"), server=[("Invalid", "spec")], servers="1.25-1.30")
    assert "= Kubernetes 1.25-1.30 says: spec: Invalid value" in render("text", [made])


def test_text_numbers_line_up() -> None:
    texts = {"f": b"\n".join(b"line %d" % i for i in range(1, 121))}
    made = finding(
        "a", "error", "m", Spot("f", 0, 100, 1, 100, 5), related=[(Spot("f", 0, 9, 1, 9, 5), "r"), (Spot("f", 0, 10, 6, 10, 8), "s")]
    )  # fmt: skip
    assert "\n".join(render("text", [made], lines=line_reader(texts)).splitlines()[1:10]) == (
        """\
   --> f:100:1
    |
  9 | line 9
    | ---- r
 10 | line 10
    |      -- s
...
100 | line 100
    | ^^^^\
"""
    )


@pytest.mark.parametrize(
    ("counts", "crds", "line"),
    [
        ((0, 0, 0), 0, "no CustomResourceDefinition in 2 files; 4 suppressed\n"),
        ((0, 0, 0), 1, "nothing found: 1 CRD in 2 files; 4 suppressed\n"),
        ((2, 0, 1), 12, "2 errors, 1 info: 12 CRDs in 2 files; 4 suppressed\n"),
    ],
)
def test_text_summary(counts: tuple[int, int, int], crds: int, line: str) -> None:
    made = summary()
    made.crds = crds
    made.counts = dict(zip(("error", "warning", "info"), counts, strict=True))
    assert FORMATS["text"]([], made, Options()) == line


@pytest.mark.parametrize(
    ("line", "start", "end", "shown"),
    [
        ("a: b", 3, 4, ("a: b", 3, 1)),
        ("\ta: b", 1, 2, ("    a: b", 4, 1)),
        ("漢字: x", 0, 2, ("漢字: x", 0, 4)),
        ("漢字: x", 4, 5, ("漢字: x", 6, 1)),
        ("e\u0301: x", 4, 5, ("e\u0301: x", 3, 1)),
        ("\x1b[2J\u202e: x", 7, 8, ("\u241b[2J\ufffd: x", 7, 1)),
        ("ab", 5, 9, ("ab", 2, 1)),
        ("ab", 1, 1, ("ab", 1, 1)),
        ("", 0, 0, ("", 0, 1)),
    ],
)
def test_excerpt(line: str, start: int, end: int, shown: tuple[str, int, int]) -> None:
    assert excerpt(line, start, end) == shown


@given(st.text(), st.integers(0, 400), st.integers(0, 400))
def test_excerpt_holds_its_mark_and_nothing_that_moves_the_cursor(
    text: str, start: int, end: int
) -> None:
    line = text * 20
    shown, before, under = excerpt(line, start, end)
    assert under >= 1
    assert before + under <= width(shown) + 1
    assert not re.search(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\ud800-\udfff]", shown)
    assert not re.search(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\ud800-\udfff]", clean(text))


JSON_HEAD = ["rule", "severity", "message", "crd", "file", "document"]
JSON_TAIL = ["line", "column", "endLine", "endColumn", "path", "server"]


def test_json_keys_and_their_order() -> None:
    text = render("json")
    made = json.loads(text)
    assert text.isascii()
    assert text.endswith("}\n")
    assert list(made) == ["version", "kubernetes", "findings", "summary"]
    assert (made["version"], made["kubernetes"]) == (1, "1.37")
    keys = [list(row) for row in made["findings"]]
    assert keys[0] == [*JSON_HEAD, *JSON_TAIL, "fingerprint", "help", "related"]
    assert keys[1] == [*JSON_HEAD, "item", *JSON_TAIL, "servers", "fingerprint", "help", "places"]
    assert keys[2] == [*JSON_HEAD, *JSON_TAIL, "fingerprint", "help"]
    assert made["summary"] == {
        "files": 2, "documents": 3, "crds": 1, "error": 3, "warning": 1, "info": 1, "suppressed": 4,
    }  # fmt: skip
    assert list(made["summary"])[:4] == ["files", "documents", "crds", "error"]


def test_json_values() -> None:
    first, folded, long, *_ = json.loads(render("json"))["findings"]
    assert first["path"] == ["spec", "names", "plural"]
    assert first["server"] == [
        {"type": "Invalid", "field": "spec.names.plural"},
        {"type": "Invalid", "field": "metadata.name"},
    ]
    assert first["related"][1] == {
        "file": "b c.yaml", "document": 0, "line": 2, "column": 6, "endLine": 2, "endColumn": 7,
        "path": [], "message": "and the [other](x) here",
    }  # fmt: skip
    assert folded["item"] == 3
    assert folded["servers"] == "1.28-1.30"
    assert folded["places"][0] == {
        "file": "a/crd.yaml", "document": 1, "item": 3, "line": 4, "column": 35, "path": ["a", 0],
        "version": "v1",
    }  # fmt: skip
    assert long["server"] is None
    assert long["message"] == "100% of\nline \x1b[31m"


def test_json_of_diff_has_effects_old_and_witness() -> None:
    rows = json.loads(render("json", diff=True))["findings"]
    assert all(
        list(row)[-3:] == ["effects", "old", "witness"] for row in rows if row["rule"] != "diffed"
    )
    assert list(rows[3])[-2:] == ["witness", "witnessed"]
    assert rows[3]["effects"] == ["writers", "gitops"]
    assert list(rows[3]["old"]) == [
        "file",
        "document",
        "line",
        "column",
        "endLine",
        "endColumn",
        "path",
    ]
    assert rows[3]["witness"] == {"a": "ü"}
    assert (rows[0]["effects"], rows[0]["old"], rows[0]["witness"]) == ([], None, None)


def test_json_without_findings() -> None:
    assert json.loads(render("json", []))["findings"] == []


def test_github_commands() -> None:
    assert render("github").splitlines() == [
        "::error file=a/crd.yaml,line=4,endLine=4,col=19,endColumn=26,title=plural-dns::spec.names.plural: `Widgets` has an upper case letter%0AWrite the plural in lower case.",
        "::error file=b c.yaml,line=2,endLine=3,title=diffed::.spec.ports[*].name: gone",
        "::error file=no file.yaml,line=3,endLine=3,col=1,endColumn=6,title=unread::x",
        "::warning file=a/crd.yaml,line=4,endLine=4,col=35,endColumn=40,title=folded::.x: emoji (Kubernetes 1.28-1.30) (and 2 more places)%0ADo it.",
        "::notice file=a/crd.yaml,line=7,endLine=7,col=250,endColumn=260,title=long::100%25 of\\nline \u241b[31m",
    ]  # fmt: skip


def test_github_escapes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a,b:c%.yaml").touch()  # else it would be a file of a revision
    made = finding("a", "error", "::set-output name=x::y\r\n%0A", Spot("a,b:c%.yaml"))
    assert render("github", [made]) == (
        "::error file=a%2Cb%3Ac%25.yaml,line=1,endLine=1,col=1,endColumn=1,title=a::"
        "::set-output name=x::y\\r\\n%250A\n"
    )


@pytest.mark.parametrize(
    ("errors", "infos", "rest"),
    [
        (10, 0, None),
        (11, 0, "the log has 1 more error."),
        (0, 10, None),
        (0, 11, "the log has 2 more infos."),  # the notice of the rest takes a place itself
        (12, 10, "the log has 2 more errors, 1 more info."),
    ],
)
def test_github_counts_what_is_not_shown(errors: int, infos: int, rest: str | None) -> None:
    made = [finding("i", "info", "m", Spot("f")) for _ in range(infos)]
    made += [finding("e", "error", "m", Spot("f")) for _ in range(errors)]
    lines = render("github", made).splitlines()
    kinds = [line.split(" ")[0] for line in lines]
    assert kinds == sorted(kinds)  # errors, then notices
    if rest is None:
        assert len(lines) == errors + infos
    else:
        assert lines[errors].startswith("::notice title=crdlint::")
        assert lines[errors].endswith(rest)
        assert len(lines) == errors + infos + 1
    assert as_github.SHOWN == 10


def strict(required: str, optional: str = "", /, **properties: Any) -> dict[str, Any]:
    names = [*required.split(), *optional.split()]
    assert set(names) == set(properties)
    return {
        "type": "object",
        "additionalProperties": False,
        "required": required.split(),
        "properties": properties,
    }


STRING = {"type": "string", "minLength": 1}
TEXT_1K = strict("text", text={"type": "string", "minLength": 1, "maxLength": 1024})
MESSAGE = strict("text", text=STRING)
LEVEL = {"enum": ["error", "warning", "note"]}
COUNT = {"type": "integer", "minimum": 1}
PHYSICAL = strict(
    "artifactLocation region",
    artifactLocation=strict(
        "uri uriBaseId",
        uri={"type": "string", "pattern": r"^[A-Za-z0-9._~%-][A-Za-z0-9._~%/-]*$"},
        uriBaseId={"const": "%SRCROOT%"},
    ),
    region=strict(
        "startLine startColumn endLine endColumn",
        startLine=COUNT, startColumn=COUNT, endLine=COUNT, endColumn=COUNT,
    ),
)  # fmt: skip
RULE = strict(
    "id shortDescription fullDescription help helpUri defaultConfiguration properties",
    "name",
    id=STRING,
    name={"type": "string", "pattern": "^[A-Z][A-Za-z0-9]*$", "maxLength": 255},
    shortDescription=TEXT_1K,
    fullDescription=TEXT_1K,
    help=strict("text markdown", text=STRING, markdown=STRING),
    helpUri={"type": "string", "pattern": "^https://"},
    defaultConfiguration=strict("level", level=LEVEL),
    properties={
        "type": "object",
        "properties": {
            "tags": {"type": "array", "items": STRING, "maxItems": 10, "uniqueItems": True},
            "precision": {"enum": ["very-high", "high", "medium", "low"]},
            "problem.severity": {"enum": ["error", "warning", "recommendation"]},
        },
        "additionalProperties": False,
    },
)
RESULT = strict(
    "ruleId ruleIndex level message locations",
    "relatedLocations partialFingerprints properties",
    ruleId=STRING,
    ruleIndex={"type": "integer", "minimum": 0},
    level=LEVEL,
    message=MESSAGE,
    locations={
        "type": "array",
        "minItems": 1,
        "maxItems": 1,
        "items": strict("physicalLocation", physicalLocation=PHYSICAL),
    },
    relatedLocations={
        "type": "array",
        "minItems": 1,
        "items": strict(
            "id message physicalLocation", id=COUNT, message=MESSAGE, physicalLocation=PHYSICAL
        ),
    },
    partialFingerprints={
        "type": "object",
        "properties": {
            "crdlint/v1": STRING,
            "primaryLocationLineHash": {
                "type": "string",
                "pattern": "^[0-9a-f]{1,16}:[1-9][0-9]*$",
            },
        },
        "additionalProperties": False,
    },
    properties={"type": "object"},
)
RUN = strict(
    "tool invocations originalUriBaseIds columnKind results",
    "automationDetails properties",
    tool=strict(
        "driver",
        driver=strict(
            "name semanticVersion version informationUri rules",
            name={"const": "crdlint"},
            semanticVersion={"type": "string", "pattern": r"^\d+\.\d+\.\d+"},
            version=STRING,
            informationUri=STRING,
            rules={"type": "array", "items": RULE},
        ),
    ),
    invocations={"type": "array", "minItems": 1, "maxItems": 1, "items": {
        "type": "object", "required": ["executionSuccessful"],
    }},
    originalUriBaseIds={"type": "object", "required": ["%SRCROOT%"]},
    columnKind={"const": "utf16CodeUnits"},
    results={"type": "array", "items": RESULT, "maxItems": 25_000},
    automationDetails=strict("id", id={"type": "string", "pattern": "/$"}),
    properties=strict("findings", findings=COUNT),
)  # fmt: skip
# The part of SARIF 2.1.0 that crdlint writes, with GitHub's limits and nothing else let through.
SARIF = strict(
    "$schema version runs",
    "",
    **{
        "$schema": {"const": "https://json.schemastore.org/sarif-2.1.0.json"},
        "version": {"const": "2.1.0"},
        "runs": {"type": "array", "minItems": 1, "maxItems": 1, "items": RUN},
    },
)


def sarif(found: list[Finding] | None = None, **options: Any) -> Any:
    made = json.loads(render("sarif", found, **options))
    jsonschema.Draft202012Validator(SARIF).validate(made)
    return made["runs"][0]


def test_sarif_rules_and_results() -> None:
    run = sarif(category="crdlint-lint/")
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["diffed", "folded", "long", "plural-dns", "unread"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    plural = rules[3]
    assert plural["name"] == "PluralDns"
    assert "name" not in rules[0]  # it would repeat the id
    assert plural["shortDescription"]["text"] == "A plural-dns thing."
    assert len(plural["fullDescription"]["text"]) == 1024
    assert plural["help"]["text"].endswith("\nDo it.")
    assert plural["help"]["markdown"].endswith(f"\n\n[plural-dns]({plural['helpUri']})")
    assert [rule["defaultConfiguration"]["level"] for rule in rules[1:3]] == ["warning", "note"]
    assert run["automationDetails"] == {"id": "crdlint-lint/"}
    assert [r["level"] for r in run["results"]] == ["error", "warning", "note", "error", "error"]


def test_sarif_columns_are_utf16_units() -> None:
    regions = [r["locations"][0]["physicalLocation"]["region"] for r in sarif()["results"]]
    line = CRD.splitlines()[3]
    column = len(line[:34].encode("utf-16-le")) // 2 + 1
    assert line[34:39] == "other"
    assert regions[1] == {
        "startLine": 4,
        "startColumn": column,
        "endLine": 4,
        "endColumn": column + 5,
    }
    assert column == 36  # one character stands before it that takes two units
    assert (regions[0]["startColumn"], regions[0]["endColumn"]) == (19, 26)


def test_sarif_links_related_places_in_the_message() -> None:
    first, folded, _, diffed, _ = sarif()["results"]
    assert first["message"]["text"] == (
        "spec.names.plural: `Widgets` has an upper case letter. See [needed here](1), "
        "[and the (other)(x) here](2)."
    )
    assert [place["id"] for place in first["relatedLocations"]] == [1, 2]
    uris = [p["physicalLocation"]["artifactLocation"]["uri"] for p in first["relatedLocations"]]
    assert uris == ["a/crd.yaml", "b%20c.yaml"]
    assert folded["message"]["text"] == (
        ".x: emoji (Kubernetes 1.28-1.30). See [also v1beta1 line 6](1), [also line 1](2)."
    )
    assert diffed["message"]["text"] == ".spec.ports[*].name: gone. See [before](1)."


def test_sarif_of_many_places_names_some() -> None:
    spots = [Spot("f", 0, i, 1) for i in range(1, 21)]
    (result,) = sarif([finding("a-b", "info", "m", spots[0], places=spots)])["results"]
    assert result["message"]["text"].endswith("[also line 11](10) and 9 more places.")
    assert len(result["relatedLocations"]) == 10


def test_sarif_fingerprints() -> None:
    results = sarif()["results"]
    prints = [result.get("partialFingerprints") for result in results]
    hashes = line_hashes(split_lines(CRD))
    assert prints[0] == {"crdlint/v1": "abc", "primaryLocationLineHash": hashes[3]}
    assert prints[3] == {"primaryLocationLineHash": line_hashes(["one", "two: 2", "three"])[1]}
    assert prints[4] is None  # the file cannot be read


def test_sarif_keeps_the_worst(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(as_sarif, "MOST_RESULTS", 3)
    made = [finding("a-b", s, f"m{i}", Spot("f", 0, i + 1)) for i, s in enumerate(("info", "warning", "error", "info", "error"))]  # fmt: skip
    run = sarif(made)
    assert [result["message"]["text"] for result in run["results"]] == ["m1.", "m2.", "m4."]
    (note,) = run["invocations"][0]["toolExecutionNotifications"]
    assert note["message"]["text"] == "The worst 3 of 5 findings are in this report."


def test_sarif_without_findings() -> None:
    run = sarif([])
    assert run["results"] == []
    assert "automationDetails" not in run


def test_paths_are_relative_to_the_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "a.yaml").touch()
    (tmp_path / "link.yaml").symlink_to("config/a.yaml")
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    monkeypatch.chdir(tmp_path / "config")
    root = report.find_root()
    assert root == os.path.realpath(tmp_path)
    for name in (
        "a.yaml",
        "./a.yaml",
        "../config/a.yaml",
        str(tmp_path / "config" / "a.yaml"),
        "../link.yaml",
    ):
        assert report.relative(name, root) == "config/a.yaml"
    assert report.relative("-", root) == "stdin"
    assert report.relative("HEAD~1:config/b.yaml", root) == "config/b.yaml"
    assert report.relative("cluster:widgets.example.com", root) == "cluster:widgets.example.com"
    assert report.relative("/elsewhere/b.yaml", root) == "/elsewhere/b.yaml"
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path / "config"))
    assert report.find_root() == os.path.realpath(tmp_path / "config")
    monkeypatch.setenv("GITHUB_WORKSPACE", "/elsewhere")
    assert report.find_root() == root


def rolling(text: str) -> list[str]:
    """Hash the lines of a text as codeql-action does it: one unit at a time, in a ring."""
    data = text.encode("utf-16-le", "surrogatepass")
    units = [int.from_bytes(data[i : i + 2], "little") for i in range(0, len(data), 2)]
    ring, starts = [0] * 100, [0] * 100
    total = index = line = 0
    line_start, after_cr = True, False
    counts: dict[str, int] = {}
    out = []

    def put(unit: int) -> None:
        nonlocal total, index
        total = (37 * total + unit - pow(37, 100) * ring[index]) % 2**64
        ring[index] = unit
        index = (index + 1) % 100

    def flush() -> None:
        if starts[index]:
            value = f"{total:x}"
            counts[value] = counts.get(value, 0) + 1
            out.append(f"{value}:{counts[value]}")
            starts[index] = 0

    for raw in [*units, 65535]:
        skip = raw in (32, 9) or (after_cr and raw == 10)
        after_cr = raw == 13
        if skip:
            continue
        unit = 10 if raw == 13 else raw
        flush()
        if line_start:
            line += 1
            starts[index] = line
        line_start = unit == 10
        put(unit)
    for _ in range(100):
        flush()
        put(0)
    return out


HELLO = ["e9496ae3ebfced30:1", "fb7c023a8b9ccb3f:1", "ce8ba1a563dcdaca:1", "e20e36e16fcb0cc8:1",
         "b3edc88f2938467e:1", "c8e28b0b4002a3a0:1", "c129715d7a2bc9a3:1"]  # fmt: skip
# Published with the tests of github/codeql-action.
VECTORS = [
    ("", ["c129715d7a2bc9a3:1"]),
    (
        " a\nb\n  \t\tc\n d",
        ["271789c17abda88f:1", "54703d4cd895b18:1", "180aee12dab6264:1", "a23a3dc5e078b07b:1"],
    ),
    (" hello; \t\nworld!!!\n\n\n  \t\tGreetings\n End\n", HELLO),
    (" hello; \t\nworld!!!\r\r\r  \t\tGreetings\r End\r", HELLO),
    (" hello; \t\r\nworld!!!\r\n\r\n\r\n  \t\tGreetings\r\n End\r\n", HELLO),
    (" hello; \t\nworld!!!\r\n\n\r  \t\tGreetings\r End\r\n", HELLO),
    (
        "Lorem ipsum dolor sit amet.\n" * 10,
        [
            *(f"a7f2ff13bc495cf2:{i}" for i in range(1, 7)),
            "a7f2ff1481e87703:1",
            "a9cf91f7bbf1862b:1",
            "55ec222b86bcae53:1",
            "cc97dc7b1d7d8f7b:1",
            "c129715d7a2bc9a3:1",
        ],
    ),
]


@pytest.mark.parametrize(("text", "hashes"), VECTORS)
def test_line_hash_vectors(text: str, hashes: list[str]) -> None:
    assert line_hashes(split_lines(text)) == hashes
    assert rolling(text) == hashes


def test_line_hash_by_hand() -> None:
    # One line `a` without an end: the units are 97, 65535 and 98 zeros.
    assert line_hashes(["a"]) == [f"{(97 * pow(37, 99) + 65535 * pow(37, 98)) % 2**64:x}:1"]


@given(st.text(alphabet=" \t\r\nab\U0001f600\ufeff", max_size=400), st.integers(1, 4))
def test_line_hash_is_that_of_the_rolling_window(text: str, times: int) -> None:
    assert line_hashes(split_lines(text * times)) == rolling(text * times)


@given(st.text(alphabet="\r\nab\x85\u2028\x0c"))
def test_split_lines_splits_at_cr_and_lf_alone(text: str) -> None:
    assert split_lines(text) == re.split(r"\r\n|\r|\n", text)


def test_line_reader_reads_files_and_known_texts(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x\xff\r\ny\n")
    lines = line_reader({"-": b"stdin"})
    assert lines(str(tmp_path / "a")) == ["x\ufffd", "y", ""]
    assert lines("-") == ["stdin"]
    assert lines(str(tmp_path / "b")) is None
    assert lines(str(tmp_path)) is None
    assert lines("a\0b") is None


class Run:
    kubernetes = "1.30-1.32"
    findings = samples()
    summary = summary()
    suppressed: tuple[Finding, ...] = ()


@pytest.mark.parametrize("name", list(FORMATS))
def test_render_by_name(name: str) -> None:
    text = report.render(name, Run(), texts=TEXTS)
    assert text == report.render(name, Run(), texts=TEXTS)
    assert "plural-dns" in text
    text.replace("\ufeff", "").encode("utf-8")


def test_odd_text_breaks_no_format() -> None:
    odd = "\ud800\x00\r\n\u202e]( {0} %s"
    made = finding(
        "a-b", "error", odd, Spot("f\ud800\n", 0, 10**6, 10**6), field=odd, crd=odd, help=odd,
        related=[(Spot("-", 0, 1, 10**6, 2, 1), odd)], server=[(odd, odd)], fingerprint="x",
    )  # fmt: skip
    for name in FORMATS:
        render(name, [made], lines=line_reader({"-": b"a"})).encode("utf-8")
