"""What differs between the Kubernetes versions that crdlint speaks for."""

from __future__ import annotations

OLDEST = 25
NEWEST = 37

# The first minor that behaves so; sources: feature gates, and the release that has the check.
JUNCTOR_ADDITIONAL_PROPERTIES_FALSE = 31
SELECTABLE_FIELDS = 31
UNRECOGNIZED_FORMAT_WARNING = 34
SET_OF_NON_SCALARS_WARNING = 37
VALIDATION_RATCHETING = 30
STORAGE_VERSION_MIGRATION = 35
BOUNDS_TYPED = 36


class VersionError(ValueError):
    """A Kubernetes version that crdlint cannot read or does not know."""


def parse_minor(text: str) -> int:
    """Return the minor of a version such as `1.30`, `v1.30.2` or `1.30+`; raise VersionError."""
    plain = text.strip().removeprefix("v").removesuffix("+")
    parts = plain.split(".")
    if len(parts) not in (2, 3) or parts[0] != "1" or not parts[1].isdecimal():
        raise VersionError(
            f"{text!r} is no Kubernetes version: write it as 1.30, or a range as 1.28..1.37"
        )
    minor = int(parts[1])
    if minor < OLDEST:
        raise VersionError(f"Kubernetes {text} is too old: name one of 1.{OLDEST} to 1.{NEWEST}")
    return minor


def parse_range(text: str) -> tuple[list[int], list[str]]:
    """Return the minors that `1.30` or `1.28..1.37` name, and notes on what was read otherwise.

    Raises:
        VersionError: the text is no version, names one below 1.25, or the range runs backwards.
    """
    first, dots, last = text.partition("..")
    low = parse_minor(first)
    high = parse_minor(last) if dots else low
    if high < low:
        raise VersionError(f"the range {text} runs backwards: write {last}..{first}")
    notes = []
    if high > NEWEST:
        notes.append(f"Kubernetes 1.{high} is newer than crdlint knows; it is read as 1.{NEWEST}")
    return list(range(min(low, NEWEST), min(high, NEWEST) + 1)), notes


def spell_minors(minors: list[int]) -> str:
    """Spell sorted minors as runs, such as `1.28-1.30, 1.33`."""
    runs: list[list[int]] = []
    for minor in minors:
        if runs and runs[-1][1] == minor - 1:
            runs[-1][1] = minor
        else:
            runs.append([minor, minor])
    return ", ".join(f"1.{a}" if a == b else f"1.{a}-1.{b}" for a, b in runs)
