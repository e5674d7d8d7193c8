"""Patterns are refused, and match, as Go's regexp does."""

from __future__ import annotations

import json
import random
import re
import time
from pathlib import Path

import pytest

from crdlint import goregex
from crdlint.goregex import classes, emit, sets, syntax

REFUSED = [
    (r"\Z", r"invalid escape sequence: `\Z`", 0),
    (r"a\1", r"invalid escape sequence: `\1`", 1),
    (r"\8", r"invalid escape sequence: `\8`", 0),
    (r"\C", r"invalid escape sequence: `\C`", 0),
    (r"\x4", r"invalid escape sequence: `\x4`", 0),
    (r"\x{110000}", r"invalid escape sequence: `\x{110000`", 0),
    (r"\x{}", r"invalid escape sequence: `\x{}`", 0),
    (r"\x{41", r"invalid escape sequence: `\x{41`", 0),
    ("A\\u0041", "invalid escape sequence: `\\u`", 1),
    (r"[\b]", r"invalid escape sequence: `\b`", 1),
    ("a\\", "trailing backslash at end of expression: ``", 1),
    ("a**", "invalid nested repetition operator: `**`", 1),
    ("a+*?", "invalid nested repetition operator: `+*?`", 1),
    ("a++", "invalid nested repetition operator: `++`", 1),
    ("a{2}{3}", "invalid nested repetition operator: `{2}{3}`", 1),
    ("*a", "missing argument to repetition operator: `*`", 0),
    ("(+?)", "missing argument to repetition operator: `+?`", 1),
    ("a|{2}", "missing argument to repetition operator: `{2}`", 2),
    ("a{1001}", "invalid repeat count: `{1001}`", 1),
    ("a{2,1}", "invalid repeat count: `{2,1}`", 1),
    ("a{9999999999}", "invalid repeat count: `{9999999999}`", 1),
    ("(a{100}){11}", "invalid repeat count: `{11}`", 8),
    ("((a{2,}){501})", "invalid repeat count: `{501}`", 8),
    ("a(b", "missing closing ): `a(b`", 0),
    ("a[b", "missing closing ]: `[b`", 1),
    ("[]", "missing closing ]: `[]`", 0),
    ("a)b", "unexpected ): `a)b`", 0),
    ("x[b-a]", "invalid character class range: `b-a`", 2),
    ("[a-\\d]", "invalid escape sequence: `\\d`", 3),
    ("[[:foo:]]", "invalid character class range: `[:foo:]`", 1),
    (r"\p{Foo}", r"invalid character class range: `\p{Foo}`", 0),
    (r"\pX", r"invalid character class range: `\pX`", 0),
    (r"\p{Lu", r"invalid character class range: `\p{Lu`", 0),
    ("(?P<a b>c)", "invalid named capture: `(?P<a b>`", 0),
    ("(?P<n", "invalid named capture: `(?P<n`", 0),
    ("(?<>a)", "invalid named capture: `(?<>`", 0),
    ("(?<=a)b", "invalid named capture: `(?<=a)b`", 0),
    ("a(?=b)", "invalid or unsupported Perl syntax: `(?=`", 1),
    ("(?!b)", "invalid or unsupported Perl syntax: `(?!`", 0),
    ("(?>b)", "invalid or unsupported Perl syntax: `(?>`", 0),
    ("(?P=n)", "invalid or unsupported Perl syntax: `(?P`", 0),
    ("(?i-)", "invalid or unsupported Perl syntax: `(?i-)`", 0),
    ("(?x)", "invalid or unsupported Perl syntax: `(?x`", 0),
    ("(?", "invalid or unsupported Perl syntax: `(?`", 0),
]

MATCHES = [
    ("a$", "a\n", False),
    ("(?m)a$", "a\nb", True),
    ("(?m)^b", "a\nb", True),
    (r"a\z", "a", True),
    (".", "\n", False),
    ("(?s).", "\n", True),
    (r"\s", "\v", False),
    ("[[:space:]]", "\v", True),
    (r"^\d$", "\u0663", False),
    (r"^\w$", "\u00e9", False),
    (r"\bk", "\u00e9k", True),
    (r"^\pL+$", "\u00e9\u03a3z", True),
    (r"^\p{Greek}$", "\u03a3", True),
    (r"^\p{^Greek}$", "\u03a3", False),
    (r"^\p{Letter}$", "z", True),
    (r"^[\p{Lu}_]+$", "A_B", True),
    ("(?i)^k$", "\u212a", True),
    (r"(?i)^\w$", "\u017f", True),
    ("(?i)^[^k]$", "\u212a", False),
    ("a(?i)b(?-i)c", "aBc", True),
    ("(a(?i)b)c", "aBC", False),
    ("(?i:a)b", "AB", False),
    ("(?U)^a+$", "aaa", True),
    (r"^\Qa.b\E+$", "a.bbb", True),
    (r"^\Qa.b", "axb", False),
    ("^a{,2}$", "a{,2}", True),
    ("^a{01}$", "a{01}", True),
    ("^{$", "{", True),
    ("^[]a]$", "]", True),
    ("^[^]a]$", "]", False),
    (r"^\x{1F600}$", "\U0001f600", True),
    (r"^\07\101$", "\aA", True),
    ("(?P<n>a)(?<m>b)", "ab", True),
    ("^*a", "ba", True),
    ("^(|a)*b$", "aab", True),
    ("(a?){3}b", "b", True),
    (r"(?:\b|-){2}", "", False),
    (r"a(?:\A{2}){1}", "a", False),
    (r"\B", "", True),
    ("K[12]|(?i:k)[34]", "k3", True),
    ("K[12]|(?i:k)[34]", "k1", False),
    ("[^\\x00-\\x{10FFFF}]", "a", False),
    ("\ufffd", "\ud800", True),
]


def _message(pattern: str) -> str | None:
    try:
        goregex.check(pattern)
    except goregex.RegexError as error:
        return error.message
    return None


@pytest.mark.parametrize(("pattern", "message", "position"), REFUSED)
def test_refused_in_the_words_of_go(pattern: str, message: str, position: int) -> None:
    for use in (goregex.check, goregex.compile, lambda text: goregex.matches(text, "")):
        with pytest.raises(goregex.RegexError) as caught:
            use(pattern)
        assert (caught.value.message, caught.value.position) == (message, position)


@pytest.mark.parametrize(("pattern", "text", "expected"), MATCHES)
def test_matches_as_go_does(pattern: str, text: str, expected: bool) -> None:
    goregex.check(pattern)
    assert goregex.matches(pattern, text) is expected
    plain = text.replace("\ud800", "\ufffd")
    assert bool(goregex.compile(pattern).search(plain)) is expected
    assert _by_states(pattern, plain) is expected


def _by_states(pattern: str, text: str) -> bool:
    return emit.Matcher(syntax.parse(pattern)).follow(text)


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("(" * 999 + "a" + ")" * 999, None),
        ("(" * 1000 + "a" + ")" * 1000, "expression nests too deeply"),
        ("(?:" * 5000 + "a" + ")" * 5000, None),
        ("(" * 20000, "missing closing )"),
        ("(a{1000}){0}", None),
        ("(?:" + "a*" * 1000 + "){1000}", None),
        ("(?:" + "a*" * 3000 + "){1000}", "expression too large"),
        ("(?:" + "a" * 5000 + "){1000}", "expression too large"),
    ],
)
def test_limits_are_those_of_go(pattern: str, message: str | None) -> None:
    found = _message(pattern)
    assert (found and found.split(":")[0]) == message


def test_deep_patterns_match_without_recursion() -> None:
    pattern = "^" + "(a" * 330 + ")*" * 330 + "$"
    assert goregex.matches(pattern, "a" * 50)
    assert not goregex.matches(pattern, "a" * 50 + "b")
    assert goregex.compile(pattern).search("aaa")


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("^(a+)+$", "a" * 50_000 + "b", False),
        ("^(a|aa)*$", "a" * 50_000 + "b", False),
        ("(x+x+)+y", "x" * 20_000, False),
        ("(.*)(.*)(.*)(.*)x", "y" * 20_000, False),
        ("^(a?){40}a{40}$", "a" * 40, True),
        ("^(a?){40}b{40}$", "a" * 40, False),
        ("a*b", "a" * 50_000, False),
        ("(?:" + "[a-z]?" * 300 + "){1000}!", "a" * 500, False),
        ("(?:(?:a+c?)+" + "[bc]" * 250 + "){1000}!", "a" * 40, False),
        ("(?:" + "(a" * 100 + ")*" * 100 + "x?" * 300 + "){1000}!", "a" * 120, False),
        (r"(.{0,30}\pL){0,30}!", "".join(map(chr, range(0x100, 0x4E20))), False),
    ],
)
def test_time_is_bounded(pattern: str, text: str, expected: bool) -> None:
    start = time.process_time()
    assert goregex.matches(pattern, text) is expected
    assert time.process_time() - start < 5


def test_errors_are_new_each_time() -> None:
    caught = []
    for _ in range(2):
        with pytest.raises(goregex.RegexError) as info:
            goregex.check("(?=a)")
        caught.append(info.value)
    assert caught[0] is not caught[1]
    assert str(caught[0]) == caught[0].message


def test_classes_of_two_letters_make_those_of_one() -> None:
    every = classes.named("Any", False)
    for group in "CLMNPSZ":
        inside = classes.named(group, False)
        assert inside
        assert classes.clean([*inside, *classes.negate(inside)]) == every
    assert classes.named("Lu", False) == classes.named("uppercase-letter", False)
    assert classes.named("Old_Italic", False) is None  # Go looks for Olditalic


def test_folding_goes_both_ways() -> None:
    assert classes.orbit(ord("k")) == (0x4B, 0x6B, 0x212A)
    assert classes.orbit(ord("1")) == (0x31,)
    every = [(0x41, 0x1E943)]
    assert classes.fold(every) == every
    for rune in range(0x20000):
        orbit = classes.orbit(rune)
        assert rune in orbit
        assert all(classes.orbit(other) == orbit for other in orbit)


ATOMS = [*"abkKsS-_ 1", "\n", "\u017f", "\u00e9", ".", "^", "$", r"\b", r"\B", r"\A", r"\z"]
ATOMS += [r"\d", r"\W", r"\s", r"\S", r"\n", r"\x41", r"\x{6b}", r"\012", r"\.", r"\pL", r"\P{Lu}"]
ATOMS += [r"\p{Greek}", r"\Qa.\E", "(?i)", "(?s)", "(?m)", "(?U)", "(?-i)", "}", "]", ","]
ATOMS += ["[a-c]", "[^k]", "[]x]", "[[:alpha:]]", r"[\d-]", "[S-a]", "[^[:^word:]]", "[a-]"]
BROKEN = [r"\Z", r"\1", "(?=a)", "(?!a)", "**", "{1001}", "{2,1}", "[b-a]", "[[:x:]]", "[", "("]
BROKEN += [
    ")",
    r"\p{Foo}",
    r"\x{",
    "(?P<n",
    "(?P=n)",
    "+",
    "{",
    "{,2}",
    "{01}",
    "\\u0041",
    "a{2}{2}",
]
REPEATS = ["*", "+", "?", "*?", "+?", "{2}", "{0}", "{1,}", "{2,3}", "{0,2}?", "{30}"]
GROUPS = ["(", "(?:", "(?i:", "(?s:", "(?m:", "(?-i:"]


def _pattern(random_: random.Random, depth: int) -> str:
    out = []
    for _ in range(random_.choice([0, 1, 1, 2, 2, 3])):
        roll = random_.random()
        if roll < 0.6 or not depth:
            item = random_.choice(ATOMS)
        elif roll < 0.85:
            item = random_.choice(GROUPS) + _pattern(random_, depth - 1) + ")"
        elif roll < 0.95:
            item = "|".join(_pattern(random_, depth - 1) for _ in range(2))
        else:
            item = random_.choice(BROKEN)
        out.append(item + (random_.choice(REPEATS) if random_.random() < 0.3 else ""))
    return "".join(out)


def _text(random_: random.Random) -> str:
    return "".join(random_.choice("abkKsS-_ 1\n\u00e9\u017f") for _ in range(random_.randrange(6)))


@pytest.mark.parametrize("seed", range(4))
def test_both_ways_to_match_agree(seed: int) -> None:
    random_ = random.Random(seed)
    for _ in range(400):
        pattern = _pattern(random_, 3)
        if _message(pattern) is not None:
            continue
        compiled = goregex.compile(pattern)
        for _ in range(4):
            text = _text(random_)
            found = _by_states(pattern, text)
            assert bool(compiled.search(text)) is found, (pattern, text)
            by_places = sets.matches(syntax.parse(pattern), text)
            assert by_places is found, (pattern, text)
            assert goregex.matches(pattern, text) is found, (pattern, text)


@pytest.mark.parametrize("seed", range(4))
def test_plain_patterns_are_those_the_parser_takes(seed: int) -> None:
    random_ = random.Random(seed)
    pieces = [*r"ab0-z]^.\d\-[({})*+?|,19", "[a-z]", "[^a-z0-9-]", "{2}", "{1,3}", ")?", "(?:"]
    for _ in range(4000):
        pattern = "".join(random_.choice(pieces) for _ in range(random_.randrange(1, 9)))
        if goregex._is_plain(pattern):
            syntax.parse(pattern)


@pytest.mark.parametrize("seed", range(4))
def test_re2_is_of_the_same_opinion(seed: int) -> None:
    re2 = pytest.importorskip("re2")
    options = re2.Options()
    options.log_errors = False
    random_ = random.Random(seed)
    for _ in range(500):
        pattern = _pattern(random_, 3)
        try:
            theirs = re2.compile(pattern, options)
        except re2.error:
            theirs = None
        ours = _message(pattern)
        if ours and ours.startswith("invalid nested repetition operator"):
            continue  # re2 takes some of these
        assert (theirs is None) == (ours is not None), (pattern, ours)
        if theirs is not None:
            for _ in range(3):
                text = _text(random_)
                assert goregex.matches(pattern, text) is bool(theirs.search(text)), (pattern, text)


@pytest.mark.parametrize("seed", range(2))
def test_any_text_gives_a_verdict(seed: int) -> None:
    random_ = random.Random(seed)
    pieces = [*BROKEN, *ATOMS, *REPEATS, "\\", "[", "(?", "\ud800", "\U0010ffff", "\0", "[^", "\\p"]
    for _ in range(3000):
        pattern = "".join(random_.choice(pieces) for _ in range(random_.randrange(8)))
        message = _message(pattern)
        if message is None:
            goregex.matches(pattern, "a\ud800")
        else:
            code, _, quoted = message.partition(": `")
            assert code
            assert quoted.endswith("`")


def test_patterns_of_real_definitions() -> None:
    folder = Path(__file__).parents[2] / "shared" / "corpus" / "crds"
    if not folder.is_dir():
        pytest.skip("no corpus here")
    found = set()
    for file in folder.rglob("*.yaml"):
        for quoted in re.findall(
            r"^\s*pattern: '((?:[^'\n]|'')*)'$", file.read_text(), re.MULTILINE
        ):
            found.add(quoted.replace("''", "'"))
        for quoted in re.findall(
            r'^\s*pattern: ("(?:[^"\\\n]|\\["\\])*")$', file.read_text(), re.MULTILINE
        ):
            found.add(json.loads(quoted))
        found |= set(re.findall(r"^\s*pattern: (\^[^#:\n]*\$)$", file.read_text(), re.MULTILINE))
    assert len(found) > 50
    for pattern in sorted(found):
        if _message(pattern) is None:
            for text in ("", "a", "example.com", "1.2.3.4", "10Gi", "a-b_c"):
                assert goregex.matches(pattern, text) is _by_states(pattern, text), pattern
