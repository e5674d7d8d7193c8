"""Which findings count, and how much: profiles, severities and what makes a run fail."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crdlint import pages
from crdlint.finding import SEVERITIES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from crdlint.finding import Finding, Spot

PROFILES = ("default", "api", "strict")  # each has all that the one before has
ON, OFF = "on", "off"
NOT_RUN = "the rule is off"  # why a refusal of the server is not reported
LEVELS = (*SEVERITIES, ON, OFF)  # what a configuration may say of a rule


class Ignore:
    """An ignore of the configuration: rules (none for all), CRD name and field as patterns.

    `file` and `line` say where it stands; these make it itself.
    """

    __slots__ = ("crd", "field", "file", "line", "reason", "rules")

    def __init__(
        self,
        rules: Sequence[str] = (),
        *,
        crd: str = "",
        field: str = "",
        reason: str = "",
        file: str = "",
        line: int = 1,
    ) -> None:
        self.rules = tuple(rules)
        self.crd = crd
        self.field = field
        self.reason = reason
        self.file = file
        self.line = line

    def matches(self, finding: Finding, spot: Spot) -> bool:
        """Tell whether a place of a finding is meant."""
        from crdlint import globs

        if self.rules and finding.rule not in self.rules:
            return False
        if self.crd and not globs.name_matches(self.crd, finding.crd):
            return False
        return not self.field or any(
            globs.field_matches(self.field, field) for field in _spellings(finding, spot)
        )


def _spellings(finding: Finding, spot: Spot) -> Iterable[str]:
    """Yield the ways a person may write the field of a place: with keyword, without, in full."""
    from crdlint import reading, server

    written = reading.people_write(spot.path)
    yield written
    if written.startswith("."):
        yield written.partition(" ")[0]
    yield server.join(spot.path)
    yield finding.field


class Policy:
    """What a run reports of a file: the rules of a profile, and what is said of single rules.

    `extra` are rules switched on besides; `levels` gives a severity, `on` or `off` for single
    rules; with `only`, no others run. `ignores` hide findings. Without `heed`, no ignore counts,
    neither these nor those in the files.
    """

    __slots__ = ("_known", "heed", "ignores", "levels", "only", "profile")

    def __init__(
        self,
        profile: str = "default",
        extra: Iterable[str] = (),
        *,
        levels: Mapping[str, str] | None = None,
        only: Iterable[str] = (),
        ignores: Sequence[Ignore] = (),
        heed: bool = True,
    ) -> None:
        self.profile = profile
        self.levels = {**dict.fromkeys(extra, ON), **(levels or {})}
        self.only = frozenset(only)
        self.ignores = ignores
        self.heed = heed
        self._known: dict[str, tuple[str, str]] = {}

    def for_file(self, file: str) -> Policy:  # noqa: ARG002 - where a configuration differs by file
        """Return the policy for a file, by its name as given."""
        return self

    @property
    def conventions(self) -> bool:
        """Tell whether any rule counts that the default profile leaves out."""
        return self.profile != PROFILES[0] or any(
            level != OFF and pages.page(rule).profile != PROFILES[0]
            for rule, level in self.levels.items()
        )

    def judge(self, rule: str) -> tuple[str, str] | None:
        """Return the severity of a rule and its cure, or None when it is not to run."""
        known = self._known.get(rule)
        if known is None:
            page = pages.page(rule)
            level = self.levels.get(rule, "")
            on = level or PROFILES.index(page.profile) <= PROFILES.index(self.profile)
            if not on or level == OFF or (self.only and rule not in self.only):
                known = ("", "")
            else:
                known = (level if level in SEVERITIES else page.severity, page.cure)
            self._known[rule] = known
        return known if known[0] else None

    def aside(self, rule: str) -> tuple[str, str]:
        """Return the severity and the cure that a rule has which is not to run."""
        page = pages.page(rule)
        return page.severity, page.cure

    def settle(self, finding: Finding) -> bool:
        """Give a finding that has its severity already the one that was asked for.

        Returns False where its rule is not to run.
        """
        if self.judge(finding.rule) is None:
            return False
        level = self.levels.get(finding.rule, "")
        if level in SEVERITIES:
            finding.severity = level
        return True


def fails(findings: Iterable[Finding], fail_on: str) -> bool:
    """Tell whether any finding is at or above a severity; `never` fails on none."""
    if fail_on == "never":
        return False
    worst = SEVERITIES[: SEVERITIES.index(fail_on) + 1]
    return any(finding.severity in worst for finding in findings)
