"""Documents: what is read, where it stands, and what is odd about it."""

from __future__ import annotations

import json
import time
from pathlib import Path as FilePath
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from crdlint import yaml_build
from crdlint.document import Document, Map, Seq, Span, YAMLError, load, read

SHARED = FilePath(__file__).resolve().parents[2] / "shared"
CASES = SHARED / "cases" / "yaml.jsonl"
CORPUS = SHARED / "corpus"


def one(text: str | bytes) -> Document:
    (document,) = read(text.encode() if isinstance(text, str) else text, "file.yaml")
    return document


def shown(document: Document, span: Span) -> str:
    assert span.line == span.end_line
    return document.line(span.line)[span.column - 1 : span.end_column - 1]


def at(document: Document, *path: str | int, key: bool = False) -> str:
    return shown(document, document.locate(path, key=key))


# What is read.


@pytest.mark.skipif(not CASES.exists(), reason="the conformance data are not here")
def test_reads_every_snippet_like_the_server() -> None:
    wrong = []
    for line in CASES.read_bytes().splitlines():
        case = json.loads(line)
        if case["source"].lstrip('"') == "x" * len(case["source"].lstrip('"')):
            continue  # recorded from longer texts than these: two keys beyond 1,024 characters
        try:
            loaded = load(case["source"].encode())
            got = json.dumps(loaded[0] if len(loaded) == 1 else loaded, sort_keys=True)
        except YAMLError:
            got = "refused"
        want = case["json"] and json.dumps(json.loads(case["json"]), sort_keys=True)
        if got != (want or "refused"):
            wrong.append((case["source"], want, got))
            continue
        duplicate = any(d.duplicates for d in read(case["source"].encode(), ""))
        if want and duplicate != case["duplicateKey"]:
            wrong.append((case["source"], "duplicate", str(duplicate)))
    assert not wrong


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("on: y", {"true": True}),
        ("a: [0755, 0o7, 1_000, 0x1F, 1e3, 08, 1.0, -0.0]", [493, 7, 1000, 31, 1000, 8, 1, 0]),
        ("a: [1:30, 2001-01-01, 1e400, _1, tRue]", ["1:30", "2001-01-01", "1e400", "_1", "tRue"]),
        ("a: [18446744073709551615, 18446744073709551616]", [2**64 - 1, 18446744073709552000]),
        ("a: !!binary /w==", "\ufffd"),
        ("a: [b:, {c:}]", ["b:", {"c:": None}]),
        ("a: ['x', b!foo :]", ["x", "b!foo :"]),
        ('a: "x\ufeffy"', "x\ufeffy"),
        ("a: !!float 3", 3),
        ("a: !!timestamp 2001-1-2", "2001-1-2"),
    ],
)
def test_scalars(text: str, data: Any) -> None:
    (loaded,) = load(text.encode())
    assert json.dumps(loaded.get("a", loaded)) == json.dumps(data)


@pytest.mark.parametrize("key", ["1e6", "1234567.8", "99999999.5", "1e-5", "0.00012345", "-.inf"])
def test_float_keys_are_written_in_single_precision(key: str) -> None:
    want = {
        "1e6": "1e+06",
        "1234567.8": "1.2345678e+06",
        "99999999.5": "1e+08",
        "1e-5": "1e-05",
    }
    assert load(f"{key}: v".encode()) == [{want.get(key, key): "v"}]


@pytest.mark.parametrize(
    ("text", "message", "line", "column"),
    [
        ("a: .nan", "json: unsupported value: NaN", 1, 4),
        ("a: 1\nb: -.Inf", "json: unsupported value: -Inf", 2, 4),
        ("a: 1\n~: 2", "unsupported map key of type null", 2, 1),
        ("18446744073709551615: 2", "unsupported map key of type uint64", 1, 1),
        ("%YAML 1.2\r---\ra: 1", "found incompatible YAML document", 1, 1),
        ("%YAML 1.1\na: 1", "did not find expected <document start>", 2, 1),
        ('a: "x\\/"', "found unknown escape character", 1, 6),
        ("é: \x07", "control characters are not allowed", 1, 4),
        ("a: *b", "unknown anchor 'b' referenced", 1, 4),
        ("a: &b [*b]", "anchor 'b' value contains itself", 1, 8),
        ("? [a]\n: b", "invalid map key", 1, 3),
        ("a: [x?y]", "did not find expected ','", 1, 6),
        ("a: !!int x", "cannot decode !!str `x` as a !!int", 1, 4),
        ("a: !!float 18446744073709551615", "cannot decode !!int", 1, 4),
        ("a: !!binary @", "found character that cannot start any token", 1, 13),
        ("a: !!binary abc", "!!binary value contains invalid base64 data", 1, 4),
        ("b:\n  <<: 1", "map merge requires map", 2, 3),
        ("a: &a [{x: 1}]\nb:\n  <<: *a", "map merge requires map", 3, 3),
        ("a:\n\tb: 1", "found character that cannot start any token", 2, 1),
    ],
)
def test_errors_say_what_and_where(text: str, message: str, line: int, column: int) -> None:
    with pytest.raises(YAMLError):
        load(text.encode())
    for head in ("", "# first\n---\n"):
        error = list(read((head + text).encode(), ""))[-1].error
        assert error is not None
        assert message in error.message
        in_file = line + head.count("\n")
        assert (error.line, error.column) == (in_file, column)
        assert str(error).startswith(f"line {in_file}, column {column}: ")


def test_bytes_that_are_no_text() -> None:
    error = one(b"a: 1\nb: x\xff\n").error
    assert error is not None
    assert (error.line, error.column) == (2, 5)


# Files and documents.


@pytest.mark.parametrize(
    ("data", "indexes", "lines"),
    [
        (b"a: 1\n---\nb: 2\n", [0, 1], [1, 3]),
        (b"---\na: 1\n--- # c\nb: 2", [0, 1], [1, 4]),
        (b"---\n---\na: 1\n", [0, 1], [1, 3]),
        (b"# head\n---\na: 1\n---\n\n---\nb: 1\n---\n", [0, 1, 3], [1, 3, 7]),
        (b"\n---\na: 1", [1], [3]),
        (b"a: |\n  ---\n  b\n", [0], [1]),
        (b"", [], []),
        (b" \r\n\t", [], []),
        (b"\xef\xbb\xbf---\na: 1\n", [0], [1]),
        (b"a: 1\r\n---\r\nb: 2\r\n", [0, 1], [1, 3]),
    ],
)
def test_documents_are_counted_like_the_server(
    data: bytes, indexes: list[int], lines: list[int]
) -> None:
    documents = list(read(data, "f"))
    assert [d.index for d in documents] == indexes
    assert [d.first_line for d in documents] == lines
    assert not any(d.error for d in documents)


def test_a_separator_with_text_ends_the_file() -> None:
    (document,) = read(b"a: 1\n--- b: 2\n---\nc: 3\n", "f")
    assert document.error is not None
    assert document.error.message == "invalid Yaml document separator: b: 2"
    assert (document.index, document.error.line) == (0, 2)
    assert document.data is None


def test_chunks_without_the_wanted_word_are_not_read() -> None:
    data = b'a: [\n---\nkind: Wanted\n---\nb: "\\x57anted"\n'
    documents = list(read(data, "f", wanted=b"Wanted"))
    assert [d.skipped for d in documents] == [True, False, False]
    assert documents[0].error is None
    assert documents[2].data == {"b": "Wanted"}


def test_last_line() -> None:
    first, second = read(b"a: 1\nb: 2\n---\n\nc: 1", "f")
    assert (first.first_line, first.last_line) == (1, 2)
    assert (second.first_line, second.last_line) == (4, 5)


# JSON.


def test_json_is_read_as_json() -> None:
    document = one(
        '{"a": "\\/\\ud83d\\ude00\\ud800", "b": [1.0, 1e3, -0.0, 123456789012345678901]}'
    )
    assert document.data == {"a": "/\U0001f600\ufffd", "b": [1, 1000, 0, 123456789012345680000]}
    assert type(document.data) is Map
    assert at(document, "b", 1) == "1e3"
    assert at(document, "b") == '"b"'
    assert at(document, "a") == '"\\/\\ud83d\\ude00\\ud800"'


@pytest.mark.parametrize("text", ['{"a": NaN}', '{"a": 1,}', '{"a": 1} # c', "{a: 1e400}"])
def test_what_starts_like_json_may_be_yaml(text: str) -> None:
    assert one(text).error is None


def test_a_second_json_value_is_dropped() -> None:
    document = one('{"a": 1}\n{"b": 2}\n')
    assert document.data == {"a": 1}
    assert [(s.kind, s.span.line, s.text) for s in document.surprises] == [
        ("dropped", 2, '{"b": 2}')
    ]


def test_json_duplicates() -> None:
    document = one('{"x": [{"a": 1,\n "a": 2}]}')
    (duplicate,) = document.duplicates
    assert (duplicate.path, duplicate.key) == (("x", 0, "a"), "a")
    assert (duplicate.first.line, duplicate.second.line) == (1, 2)
    assert at(document, "x", 0, "a") == "2"
    assert len(document.duplicates) == 1


# Places.

PLACES = """\
# é
spec:
  "names": {kind: Widget, plural: 'wid''gets', on: yes}   # c
  list:
  - name: v1   # c
    text: |
      block
  - &x "ü b": plain text, with: colon # no
    'c d' : "q\\"q" # c
  - [1, {a b: c}, , x]
  -
  - null
  none:
  tagged: !!str 5
  alias: *x
"""


def test_places() -> None:
    text = PLACES.replace("with: colon", "with:colon").replace(", , x", ", ~, x")
    document = one(text.replace("  alias: *x\n", ""))
    assert document.error is None
    spec = ("spec",)
    for path, value, key in [
        (spec, "spec", "spec"),
        ((*spec, "names"), '"names"', '"names"'),
        ((*spec, "names", "kind"), "Widget", "kind"),
        ((*spec, "names", "plural"), "'wid''gets'", "plural"),
        ((*spec, "names", "true"), "yes", "on"),
        ((*spec, "list", 0), "name", "name"),
        ((*spec, "list", 0, "name"), "v1", "name"),
        ((*spec, "list", 0, "text"), "|", "text"),
        ((*spec, "list", 1, "ü b"), "plain text, with:colon", '"ü b"'),
        ((*spec, "list", 1, "c d"), '"q\\"q"', "'c d'"),
        ((*spec, "list", 2), "[", "["),
        ((*spec, "list", 2, 0), "1", "1"),
        ((*spec, "list", 2, 1, "a b"), "c", "a b"),
        ((*spec, "list", 2, 2), "~", "~"),
        ((*spec, "list", 2, 3), "x", "x"),
        ((*spec, "list", 3), "-", "-"),
        ((*spec, "list", 4), "null", "null"),
        ((*spec, "none"), "none", "none"),
        ((*spec, "tagged"), "5", "tagged"),
    ]:
        assert (at(document, *path), at(document, *path, key=True)) == (value, key), path
        assert document.has(path)
    assert document.locate(()) == document.locate(("spec",))
    for missing in [("spec", "list", 0, "no", "more"), ("spec", "list", 9), ("spec", "none", "x")]:
        assert not document.has(missing)
    assert at(document, "spec", "list", 0, "no", "more") == "name"
    assert at(document, "spec", "list", 9) == "list"
    assert at(document, "spec", "names", "kind", "x") == "kind"


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("head", ["", "\ufeff", "é: 1\n---\n", "# \u2028# x\n", "---\n"])
def test_places_behind_anything(head: str, end: str) -> None:
    text = (head + "a:\n  é: [x, yy]\n  'b': z\n").replace("\n", end)
    document = list(read(text.encode(), "f"))[-1]
    assert document.error is None, document.error
    assert at(document, "a", "é", 1) == "yy"
    assert at(document, "a", "b") == "z"
    assert at(document, "a", "b", key=True) == "'b'"


def test_aliases_and_merges_lead_to_where_the_text_is() -> None:
    document = one("a: &a {x: 1}\nb: *a\nc:\n  <<: *a\n  z: 2\n")
    assert document.data == {"a": {"x": 1}, "b": {"x": 1}, "c": {"x": 1, "z": 2}}
    assert document.locate(("b",)).line == 2
    assert document.locate(("b", "x")) == document.locate(("a", "x"))
    assert document.locate(("c", "x"), key=True) == document.locate(("a", "x"), key=True)
    assert at(document, "c", "z") == "2"


def test_no_place_in_what_was_not_read() -> None:
    assert one("a: [").locate(("a",)).line == 1
    assert one("# nothing").locate(("a", 0)).line == 1


WORDS = st.text(st.sampled_from("abz019é-:#,[]{}?&*!|>'\"%@` \U0001f600"), max_size=8)
DATA = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=20,
)


def paths(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[tuple[str | int, ...], Any]]:
    found = [(path, value)]
    if isinstance(value, dict):
        for key, inner in value.items():
            found += paths(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            found += paths(inner, (*path, index))
    return found


def lands(document: Document) -> None:
    """Check that every path leads to the text of its key and of its value."""
    for path, value in paths(document.data):
        if path and isinstance(path[-1], str):
            assert load(at(document, *path, key=True).encode() + b": ")[0] == {path[-1]: None}, path
        if path and isinstance(value, (str, int)) and value != "":
            (again,) = load(at(document, *path).encode())
            assert again == value, path


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(WORDS, DATA, min_size=1, max_size=4), st.booleans())
def test_every_path_leads_to_its_text(data: Any, flow: bool) -> None:
    text = yaml.safe_dump(data, allow_unicode=True, width=10_000, default_flow_style=flow)
    document = one("# é\n" + text)
    if document.error is None and document.data == data:  # PyYAML quotes less than go-yaml needs
        lands(document)
    document = one(json.dumps(data))
    assert document.data == data
    for path, value in paths(document.data):
        if path and not isinstance(value, (dict, list)):
            assert json.loads(at(document, *path)) == value
        if path and isinstance(path[-1], str):
            assert json.loads(at(document, *path, key=True)) == path[-1]


@pytest.mark.skipif(not CORPUS.exists(), reason="the conformance data are not here")
def test_every_path_of_real_files_leads_to_its_text() -> None:
    count = 0
    for file in sorted((CORPUS / "forms").iterdir())[::3]:
        for document in read(file.read_bytes(), file.name):
            for path, value in paths(document.data):
                if path and isinstance(value, str) and value and "\n" not in value:
                    text = at(document, *path).strip("\"'")
                    if text[:1] not in ("|", ">", "*"):
                        assert value.startswith(text) or "\\" in text or "''" in text, path
                        count += 1
    assert count > 1000


# Duplicates and surprises.


def test_duplicates_have_both_places() -> None:
    document = one("x:\n- a: 1\n  b: 2\n  'a': 3\n")
    (duplicate,) = document.duplicates
    assert (duplicate.path, duplicate.key) == (("x", 0, "a"), "a")
    assert (duplicate.first, duplicate.second) == (Span(2, 3, 2, 4), Span(4, 3, 4, 6))
    assert document.data == {"x": [{"a": 3, "b": 2}]}
    assert at(document, "x", 0, "a") == "3"
    assert at(document, "x", 0, "b") == "2"


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ('1: a\n"1": b', []),
        ('"1": a\n1: b\n"1": c', ["1"]),
        ('yes: a\n"true": b', []),
        ("yes: a\ntrue: b", ["true"]),
        ("1: a\n1.0: b", []),
        (".nan: a\n.nan: b", []),
        ("a: &x {p: 1}\nb: {<<: *x, p: 2}", ["p"]),
        ("a: &x {p: 1}\nb: {p: 2, <<: *x}", ["p"]),
        ("a: &x {p: 1}\nb: {<<: [*x, *x]}", ["p"]),
        ("a: &x {1: 1}\nb: {<<: *x, '1': 2}", []),
    ],
)
def test_duplicates_are_those_of_strict_decoding(text: str, keys: list[str]) -> None:
    assert [d.key for d in one(text).duplicates] == keys


@pytest.mark.parametrize(
    ("text", "kind", "path", "span", "raw"),
    [
        ("on: 1", "boolean-key", ("true",), Span(1, 1, 1, 3), "on"),
        ("True: 1", "boolean-key", ("true",), Span(1, 1, 1, 5), "True"),
        ("a:\n- yes", "boolean", ("a", 0), Span(2, 3, 2, 6), "yes"),
        ("a: n", "boolean", ("a",), Span(1, 4, 1, 5), "n"),
        ("mode: 0755", "octal", ("mode",), Span(1, 7, 1, 11), "0755"),
        ("mode: 0o7", "octal", ("mode",), Span(1, 7, 1, 10), "0o7"),
        ("a: {b: 1_000}", "number", ("a", "b"), Span(1, 8, 1, 13), "1_000"),
        ("a: 0x1F", "number", ("a",), Span(1, 4, 1, 8), "0x1F"),
        ("a: 12e3", "number", ("a",), Span(1, 4, 1, 8), "12e3"),
        ("1.10: x", "number", ("1.1",), Span(1, 1, 1, 5), "1.10"),
        ("010: x", "octal", ("8",), Span(1, 1, 1, 4), "010"),
        ("a: 1\n...\nb: 2", "dropped", (), Span(3, 1, 3, 5), "b: 2"),
        ("  a: 1\n# c\n\nb: 2 ", "dropped", (), Span(4, 1, 4, 5), "b: 2"),
        ("[1] # c\n[2]", "dropped", (), Span(2, 1, 2, 4), "[2]"),
        ("a: &a {x: 1}\nb:\n  x: 2\n  <<: *a", "merge-override", ("b", "x"), Span(4, 3, 4, 5), "x"),
    ],
)
def test_surprises(text: str, kind: str, path: Any, span: Span, raw: str) -> None:
    (surprise,) = one(text).surprises
    assert (surprise.kind, surprise.path, surprise.span, surprise.text) == (kind, path, span, raw)


@pytest.mark.parametrize(
    "text",
    [
        "a: [true, False, 'y', \"0755\", 10, 0, 00, 07, 08, 1.0, 1.50, -5, 1:30, ~, !!str yes]",
        "true: 1\n1: 2\n1.5: 3",
        "a: 1\n...\n# c\n...\n",
        "a: &a {x: 1}\nb:\n  <<: *a\n  x: 2",
        "a: &a {x: 1}\nb: &b {x: 2}\nc: {<<: [*a, *b]}",
        "a: 1\n# c\n  # d\n",
        "a: {b: [on]}\na: {}",  # what is lost surprises nobody
        "1: {b: on}\n'1': x",
    ],
)
def test_nothing_surprises(text: str) -> None:
    assert one(text).surprises == []


# Bad input ends soon, with an error.

BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{chr(98 + i)}: &{chr(98 + i)} [{','.join(['*' + chr(97 + i)] * 9)}]\n" for i in range(20)
)
MERGES = "a: &a {" + ",".join(f"k{i}: 1" for i in range(9000)) + "}\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" * 100_000, "exceeded max depth of 10000"),
        ("{a: " * 100_000, "exceeded max depth of 10000"),
        ('{"a":' * 100_000, "exceeded max depth of 10000"),
        ("- " * 100_000 + "x", "exceeded max depth of 10000"),
        ("a: " + "{<<: " * 100_000, "merges are nested too deeply"),
        (BOMB, "document contains excessive aliasing"),
        (MERGES + "b: {<<: *a}\n" * 9000, "document contains excessive aliasing"),
    ],
)
def test_hostile_text(text: str, message: str) -> None:
    began = time.process_time()
    error = one(text).error
    assert error is not None
    assert message in error.message
    assert time.process_time() - began < 10


@pytest.mark.parametrize(
    "text", ["[" * 9000 + "]" * 9000, "- " * 900 + "x", '{"a":' * 3000 + "1" + "}" * 3000]
)
def test_depth_the_server_takes(text: str) -> None:
    document = one(text)
    assert document.error is None
    depth, here = 0, document.data
    while isinstance(here, (dict, list)) and here:
        here = here["a"] if isinstance(here, dict) else here[0]
        depth += 1
    assert depth in (8999, 900, 3000)


@settings(max_examples=300, deadline=None)
@given(st.text(st.sampled_from("ab1:-[]{}\"'&*!|>#?,%\n\t \\/<é\ufeff\x85"), max_size=40))
def test_nothing_crashes(text: str) -> None:
    for document in read(text.encode(), "f"):
        for path, _ in paths(document.data) if document.error is None else []:
            document.locate(path)
            document.locate(path, key=True)
        assert all(isinstance(s.span, Span) for s in document.surprises)
        assert all(isinstance(d.first, Span) for d in document.duplicates)


@given(st.binary(max_size=40))
def test_no_bytes_crash(data: bytes) -> None:
    for document in read(data, "f"):
        document.locate(("a",))


# Without libyaml.


def test_without_libyaml(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml_build, "_parser", yaml_build._python_parser)
    document = one(PLACES.replace("with: colon", "x").replace(", , x", "").replace("*x", "y"))
    assert document.error is None
    assert type(document.data["spec"]["list"]) is Seq
    assert at(document, "spec", "names", "true") == "yes"
    assert at(document, "spec", "tagged") == "5"
    error = one('a: "\\ud800"').error
    assert error is not None


# Places inside a text.

SPELLINGS = {
    "plain": "a: one two\n",
    "plain over lines": "a: one\n  two\n\n  three\n",
    "single quotes": "a: 'it''s one\n\n  of two'\n",
    "double quotes": 'a: "tab\\tquote\\" \\u00e9 \\x41 fold\\\n   ed and\n  on"\n',
    "literal": "a: |\n  one\n\n    two\n  three\n",
    "literal with an indent": "a: |2-\n    one\n  two\n",
    "folded": "a: >\n  one\n  two\n\n  three\n    more\n  end\n",
    "anchor and tag": "a: &x !!str 'one two'\n",
    "flow": "a: {b: one two}\n",
    "windows line ends": "a: |\r\n  one\r\n  two\r\n",
    "json": '{"a": "line\\nend \\ud83d\\ude00 \\/ x"}',
}


@pytest.mark.parametrize("name", SPELLINGS)
def test_finds_every_character_of_a_text(name: str) -> None:
    document = one(SPELLINGS[name])
    path: tuple[str, ...] = ("a",) if isinstance(document.data["a"], str) else ("a", "b")
    value = document.value(path)
    for i, char in enumerate(value):
        row = value.count("\n", 0, i)
        span = document.locate(path, within=(row + 1, i - value.rfind("\n", 0, i)))
        stands = document.line(span.line)[span.column - 1 : span.column]
        if not char.isspace() and stands != "\\":
            assert stands == char, (i, value)
        elif stands == "\\":
            assert char in '\t\n"/A\u00e9\U0001f600', (i, value)


def test_a_text_from_an_alias_is_placed_at_the_alias() -> None:
    document = one("a: &x one two\nb: *x\n")
    assert shown(document, document.locate(("b",), within=(1, 5))) == "*x"
