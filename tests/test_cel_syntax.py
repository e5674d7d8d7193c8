"""CEL text is read as cel-go reads it."""

from __future__ import annotations

import time
from typing import Any

import pytest

from crdlint.cel.parser import parse
from crdlint.cel.syntax import CALL, LITERAL, CelError, Node, deep, place


def value(text: str) -> Any:
    node = parse(text, 37)
    assert node.kind == LITERAL
    return node.value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1", 1),
        ("-1", -1),
        ("--1", 1),
        ("0x1F", 31),
        ("-0x1F", -31),
        ("007", 7),
        ("9223372036854775807", 2**63 - 1),
        ("-9223372036854775808", -(2**63)),
        ("18446744073709551615u", 2**64 - 1),
        ("0xFFU", 255),
        ("1.5", 1.5),
        (".5", 0.5),
        ("-2e3", -2000.0),
        ("1e400 == 1.0 ? 1 : 2", None),
        ("'a'", "a"),
        ('"a\'"', "a'"),
        ("'''a'b\n'''", "a'b\n"),
        ("r'\\d'", "\\d"),
        ('R"\\\'"', "\\'"),
        ("'\\x41\\u00e4\\U0001F600\\101\\n\\`'", "A\u00e4\U0001f600A\n`"),
        ("'a\\\"b'", 'a"b'),
        ("b'\\xff\\377\u00e4'", b"\xff\xff\xc3\xa4"),
        ("br'\\x'", b"\\x"),
        ("'''a\r\nb'''", "a\nb"),
        ("true", True),
        ("null", None),
        ("// a comment\n1 // and another", 1),
        ("\f1", 1),
    ],
)
def test_literals(text: str, expected: Any) -> None:
    if expected is None and text != "null":
        with pytest.raises(CelError):
            parse(text, 37)
    else:
        found = value(text)
        assert found == expected
        assert type(found) is type(expected)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "self.",
        "self..a",
        "1 +",
        "(1",
        "1)",
        "[1, , 2]",
        "{1: }",
        "a b",
        "'a",
        "'a\nb'",
        "'\\q'",
        "'\\ud800'",
        "b'\\u0041'",
        "rb'a'",
        "9223372036854775808",
        "-18446744073709551616",
        "18446744073709551616u",
        "1e999",
        "0X1F",
        "1.e5 +",
        "a = b",
        "a & b",
        "a | b",
        "a @ b",
        "#",
        "!-x",
        "-!x",
        "for",
        "package.a",
        "self.in",
        "self.true",
        "f(a,)",
        "self.`a b`()",
        "`a`",
        "has(a)",
        "has(a.b())",
        "has(a.?b)",
        "a.all(b.c, true)",
        "a.all(1, true)",
        "a.all(__result__, true)",
        "a.map(x, y, z, u)(1)",
        "a.exists(i, i, true)",
        "a ? b",
        "a ?: b",
        "a.?b()",
    ],
)
def test_refused(text: str) -> None:
    with pytest.raises(CelError):
        parse(text, 37)


@pytest.mark.parametrize(
    "text",
    [
        "[,]",
        "{,}",
        "[1,]",
        "{'a': 1,}",
        "A{}",
        "a.B{c: 1, ?d: 2,}",
        ".self.a",
        "self.for",
        "self.namespace",
        "self.`a-b/c.d e`",
        "a.all(x, y)",
        "a.all(i, x, y)",
        "a.?b[?c]",
        "[?a, b]",
        "{?'a': b}",
        "x.map(v, v > 0, v)",
        "x.y.z.transformMapEntry(k, v, {k: v})",
        "a in b in c",
        "a < b == c",
        "!!a",
        "a ? b : c ? d : e",
        "-1.a",
    ],
)
def test_accepted(text: str) -> None:
    assert isinstance(parse(text, 37), Node)


@pytest.mark.parametrize("text", ["a.?b", "a[?b]", "[?a]", "{?'a': b}"])
def test_optional_syntax_came_with_1_28(text: str) -> None:
    parse(text, 28)
    with pytest.raises(CelError):
        parse(text, 27)


def test_precedence() -> None:
    node = parse("a || b && c == d + e * -f", 37)
    assert node.name == "_||_"
    conjunction = node.args[1]
    assert conjunction.name == "_&&_"
    equation = conjunction.args[1]
    assert equation.name == "_==_"
    total = equation.args[1]
    assert total.name == "_+_"
    product = total.args[1]
    assert product.name == "_*_"
    assert product.args[1].name == "-_"


def test_chains_of_or_are_balanced() -> None:
    node = parse(" || ".join("abcdefgh"), 37)

    def depth(part: Node) -> int:
        return 1 + max(map(depth, part.args)) if part.kind == CALL else 0

    assert depth(node) == 3


@pytest.mark.parametrize(
    ("text", "offset", "at"),
    [("self.a ==\n  )", 12, (2, 3)), ("'\u00e4\U0001f600' + #", 7, (1, 8)), ("", 0, (1, 1))],
)
def test_errors_have_places_in_code_points(text: str, offset: int, at: tuple[int, int]) -> None:
    with pytest.raises(CelError) as error:
        parse(text, 37)
    assert error.value.offset == offset
    assert place(text, offset) == at


@pytest.mark.parametrize(
    ("accepted", "refused"),
    [
        ("(" * 249 + "1" + ")" * 249, "(" * 250 + "1" + ")" * 250),
        ("a" + ".b" * 250, "a" + ".b" * 251),
        ("a" + " + a" * 250, "a" + " + a" * 251),
        ("[" * 250 + "]" * 250, "[" * 251 + "]" * 251),
        ("f(" * 249 + ")" * 249, "f(" * 250 + "1" + ")" * 250),
        ("a ? b : " * 249 + "c", "a ? b : " * 250 + "c"),
        ("a + (" * 124 + "a" + ")" * 124, "a + (" * 125 + "a" + ")" * 125),
        (" || ".join("a" * 5000), " ".join("a" * 2)),
    ],
)
def test_depth_is_limited_as_in_cel_go(accepted: str, refused: str) -> None:
    with deep():
        parse(accepted, 37)
        with pytest.raises(CelError):
            parse(refused, 37)


@pytest.mark.parametrize(
    "text",
    [
        "(" * 10_000 + ")" * 10_000,
        "!" * 90_000 + "a",
        "-" * 90_000 + "1",
        "a" * 1_000_000,
        "'" + "\\" * 50_000,
        "'''" + "a" * 90_000,
        "[" * 90_000,
        "a." * 40_000,
        "a && " * 19_000 + "a",
        "1" * 90_000,
        "x" + ".optMap(v, v)" * 60,
        "//" * 45_000,
    ],
)
def test_hostile_text_ends_soon(text: str) -> None:
    start = time.perf_counter()
    with deep():
        try:
            parse(text, 37)
        except CelError as e:
            assert len(e.message) < 300  # noqa: PT017
    assert time.perf_counter() - start < 10
