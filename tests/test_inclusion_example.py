"""Texts that some patterns match and others do not."""

from __future__ import annotations

import pytest

from crdlint import goregex
from crdlint.inclusion import UndecidedError, example
from crdlint.objects.texts import Demand, texts

LABEL = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
NAME = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"


@pytest.mark.parametrize(
    ("yes", "no", "least", "most", "expected"),
    [
        ([LABEL], [], 0, None, "a"),
        ([NAME], [LABEL], 0, None, "a.a"),
        ([LABEL], [NAME], 0, None, None),
        (["^[a-z]{1,5}$"], [], 6, None, None),
        (["^(a|bb)+$"], ["a"], 0, None, "bb"),
        (["b$", "^a"], [], 4, 4, "aaab"),
        ([], [], 2, None, "aa"),
        (["a"], [], 0, 0, None),
    ],
)
def test_example(
    yes: list[str], no: list[str], least: int, most: int | None, expected: str | None
) -> None:
    assert example(yes, no, least=least, most=most) == expected


def test_long_texts_are_found_and_match() -> None:
    text = example([NAME], least=254)
    assert text is not None
    assert len(text) == 254
    assert goregex.matches(NAME, text)


def test_word_boundaries_are_not_decided() -> None:
    with pytest.raises(UndecidedError):
        example([r"\ba\b"])
    assert next(texts(Demand([{"type": "string", "pattern": r"\bfoo\b"}], 37))) == "foo"


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "string"}, "example"),
        ({"type": "string", "format": "ipv4"}, "192.0.2.1"),
        ({"type": "string", "minLength": 3, "maxLength": 3, "pattern": "^[A-Z]+$"}, "AAA"),
        ({"type": "string", "maxLength": 0}, ""),
        ({"type": "string", "minLength": 3, "maxLength": 2}, None),
        ({"type": "string", "pattern": "("}, None),
    ],
)
def test_readable_texts(schema: dict[str, object], expected: str | None) -> None:
    assert next(texts(Demand([schema], 37)), None) == expected
