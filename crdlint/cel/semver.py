"""Semantic versions: parse and compare them as the API server does."""

from __future__ import annotations

import re

from crdlint.cel.gotext import decimal, quote
from crdlint.cel.values import MAX_UINT, EvalError

TYPE_CHECKING = False
if TYPE_CHECKING:
    # A part of a pre-release: numbers come before texts.
    Part = tuple[int, int, str]

_NUMBER = re.compile("[0-9]*")
_WORD = re.compile("[0-9A-Za-z-]*")


class Semver:
    """A version; a pre-release has parts, and the build does not count in comparisons."""

    __slots__ = ("build", "numbers", "pre")
    type_name = "kubernetes.Semver"

    def __init__(self, numbers: tuple[int, ...], pre: tuple[Part, ...], build: str) -> None:
        self.numbers = numbers
        self.pre = pre
        self.build = build

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Semver) and compare(self, other) == 0

    def __hash__(self) -> int:
        return hash((self.numbers, self.pre))

    def __str__(self) -> str:
        text = ".".join(map(str, self.numbers))
        if self.pre:
            text += "-" + ".".join(word or str(number) for _, number, word in self.pre)
        return f"{text}+{self.build}" if self.build else text


def compare(a: Semver, b: Semver) -> int:
    """Return the order of two versions as -1, 0 or 1; a release comes after its pre-releases."""
    mine, theirs = (a.numbers, not a.pre, a.pre), (b.numbers, not b.pre, b.pre)
    return (mine > theirs) - (mine < theirs)


def parse(text: str) -> Semver:
    """Read a version.

    Raises:
        EvalError: it is none; the message is that of blang/semver.
    """
    if not text:
        raise EvalError("Version string empty")
    parts = text.split(".", 2)
    if len(parts) != 3:
        raise EvalError("No Major.Minor.Patch elements found")
    major = _number("Major", "major", parts[0])
    minor = _number("Minor", "minor", parts[1])
    patch, plus, build = parts[2].partition("+")
    patch, dash, pre = patch.partition("-")
    numbers = (major, minor, _number("Patch", "patch", patch))
    parsed = tuple(map(_pre_release, pre.split("."))) if dash else ()
    for word in build.split(".") if plus else ():
        if not word:
            raise EvalError("Build meta data is empty")
        if not _WORD.fullmatch(word):
            raise EvalError(f"Invalid character(s) found in build meta data {quote(word)}")
    return Semver(numbers, parsed, build)


def _number(title: str, name: str, text: str) -> int:
    if not _NUMBER.fullmatch(text):
        raise EvalError(f"Invalid character(s) found in {name} number {quote(text)}")
    if len(text) > 1 and text[0] == "0":
        raise EvalError(f"{title} number must not contain leading zeroes {quote(text)}")
    return _uint(text)


def _uint(text: str) -> int:
    if not text:
        raise EvalError('strconv.ParseUint: parsing "": invalid syntax')
    value = decimal(text)
    if value > MAX_UINT:
        raise EvalError(f"strconv.ParseUint: parsing {quote(text)}: value out of range")
    return value


def _pre_release(text: str) -> Part:
    if not text:
        raise EvalError("Prerelease is empty")
    if _NUMBER.fullmatch(text):
        if len(text) > 1 and text[0] == "0":
            raise EvalError(
                f"Numeric PreRelease version must not contain leading zeroes {quote(text)}"
            )
        return 0, _uint(text), ""
    if not _WORD.fullmatch(text):
        raise EvalError(f"Invalid character(s) found in prerelease {quote(text)}")
    return 1, 0, text


def parse_normalized(text: str) -> Semver:
    """Read a version that may be short, begin with v and have leading zeros.

    Raises:
        EvalError: it is no version all the same.
    """
    parts = [_without_zeros(part) for part in text.removeprefix("v").split(".", 2)]
    if len(parts) < 3:
        if "+" in parts[-1] or "-" in parts[-1]:
            raise EvalError("short version cannot contain PreRelease/Build meta data")
        parts += ["0"] * (3 - len(parts))
    return parse(".".join(parts))


def _without_zeros(part: str) -> str:
    if len(part) < 2 and part.isascii():  # what counts is the number of bytes
        return part
    short = part.lstrip("0")
    return short if short and short[0] in "0123456789" else "0" + short
