"""Which findings count, and how much: profiles, severities and what makes a run fail."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crdlint import pages
from crdlint.finding import SEVERITIES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crdlint.finding import Finding

PROFILES = ("default", "api", "strict")  # each has all that the one before has


class Policy:
    """What a run reports: the rules of a profile, and single rules switched on besides."""

    __slots__ = ("_known", "extra", "profile")

    def __init__(self, profile: str = "default", extra: Iterable[str] = ()) -> None:
        self.profile = profile
        self.extra = frozenset(extra)
        self._known: dict[str, tuple[str, str]] = {}

    @property
    def conventions(self) -> bool:
        """Tell whether any rule counts that the default profile leaves out."""
        return self.profile != PROFILES[0] or any(
            pages.page(rule).profile != PROFILES[0] for rule in self.extra
        )

    def judge(self, rule: str) -> tuple[str, str] | None:
        """Return the severity of a rule and its cure, or None when the profile leaves it out."""
        known = self._known.get(rule)
        if known is None:
            page = pages.page(rule)
            on = PROFILES.index(page.profile) <= PROFILES.index(self.profile)
            known = (page.severity, page.cure) if on or rule in self.extra else ("", "")
            self._known[rule] = known
        return known if known[0] else None


def fails(findings: Iterable[Finding], fail_on: str) -> bool:
    """Tell whether any finding is at or above a severity; `never` fails on none."""
    if fail_on == "never":
        return False
    worst = SEVERITIES[: SEVERITIES.index(fail_on) + 1]
    return any(finding.severity in worst for finding in findings)
