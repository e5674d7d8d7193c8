"""Versions as people write them."""

from __future__ import annotations

import pytest

from crdlint import kubernetes


@pytest.mark.parametrize(
    ("text", "minor"), [("1.30", 30), ("v1.30.2", 30), ("1.25", 25), ("1.30+", 30), (" 1.37 ", 37)]
)
def test_a_version_is_its_minor(text: str, minor: int) -> None:
    assert kubernetes.parse_range(text) == ([minor], [])


@pytest.mark.parametrize("text", ["1", "2.30", "1.x", "latest", "", "1.30.1.2", "1.24", "v1.9.0"])
def test_what_is_no_known_version_is_refused_with_a_cure(text: str) -> None:
    with pytest.raises(kubernetes.VersionError, match=r"1\.\d\d"):
        kubernetes.parse_range(text)


def test_a_range_names_every_minor() -> None:
    assert kubernetes.parse_range("1.28..1.31") == ([28, 29, 30, 31], [])


def test_a_range_that_runs_backwards_is_refused() -> None:
    with pytest.raises(kubernetes.VersionError, match="backwards"):
        kubernetes.parse_range("1.31..1.28")


def test_newer_than_known_is_read_as_the_newest_with_a_note() -> None:
    minors, notes = kubernetes.parse_range("1.36..1.40")
    assert minors == [36, 37]
    assert len(notes) == 1
    assert "1.40" in notes[0]
    assert kubernetes.parse_range("v1.99.0")[0] == [37]


def test_minors_are_spelled_as_runs() -> None:
    assert kubernetes.spell_minors([28, 29, 30, 33, 35, 36]) == "1.28-1.30, 1.33, 1.35-1.36"
