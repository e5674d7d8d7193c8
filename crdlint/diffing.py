"""diff(): compare two sides of sources for one or several Kubernetes versions; never exits."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from crdlint import acknowledge, differ, ignores, kubernetes, pages, reading
from crdlint import document as documents
from crdlint.api import Report
from crdlint.differ import DiffError, Options
from crdlint.finding import EXTERNAL, order
from crdlint.policy import NOT_RUN, Policy
from crdlint.report import is_refused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from crdlint.acknowledge import Acknowledgement
    from crdlint.document import Document
    from crdlint.finding import Finding
    from crdlint.source import Source

__all__ = ["DiffError", "all_changes", "diff"]


class DiffReport(Report):
    """A report with what became of the objects that people have, None where none were named."""

    __slots__ = ("objects",)

    def __init__(self, minors: list[int]) -> None:
        super().__init__(minors)
        self.objects: list[dict[str, Any]] | None = None


def diff(
    old: Iterable[Source],
    new: Iterable[Source],
    *,
    minors: list[int] | None = None,
    established: bool | None = None,
    stored_versions: list[str] | Callable[[str], list[str] | None] | None = None,
    held_to: str = "beta",
    fold: bool = True,
    trees: bool = False,
    prove: bool = True,
    policy: Policy | None = None,
    acknowledged: Sequence[Acknowledgement] = (),
    objects: Iterable[Source] = (),
) -> DiffReport:
    """Compare what a server holds with what is to replace it.

    Args:
        old: what the server holds.
        new: what is to be applied.
        minors: Kubernetes minors, such as `[30, 31]`; the newest known by default.
        established: whether the server serves the old CRD; by default what its status says.
        stored_versions: versions that objects are stored in, or what tells them for the name of a
            CRD; by default what the status says.
        held_to: versions below this stability (alpha, beta, stable) are held to less.
        fold: make one finding of the same change in many places.
        trees: the sides are states of a repository, not of one CRD, so what cannot be read in the
            old one is noted and left out.
        prove: look for an object that shows each break.
        policy: which rules count, and how much; the default profile by default.
        acknowledged: findings that are meant.
        objects: objects that people have, which are sent through both sides.

    Raises:
        SourceError: a side cannot be read.
        DiffError: the sides cannot be compared.
    """
    report = DiffReport(minors or [kubernetes.NEWEST])
    policy = policy or Policy()
    before = _read(old, report)
    after = _read(new, report, heed=True)

    def counts(finding: Finding) -> bool:
        here = policy.for_file(finding.spot.file)
        if not here.settle(finding):
            if is_refused(finding):  # the verdict speaks of the server, not of what is reported
                finding.suppressed = (EXTERNAL, NOT_RUN)
            return False
        return not report.ignores.hides(finding, here)

    found: list[tuple[int, Finding]] = []
    aside: list[tuple[int, Finding]] = []
    for minor in report.minors:
        options = Options(
            minor,
            established=established,
            stored_versions=stored_versions,
            held_to=held_to,
            fold=fold,
            counts=counts,
            trees=trees,
            prove=prove,
        )
        findings, summary = differ.diff(before, after, options)
        report.summary.documents, report.summary.crds = summary.documents, summary.crds
        report.names |= options.names
        if minor == report.minors[-1]:
            report.summary.notes += options.unread
        found += ((minor, finding) for finding in findings)
        aside += ((minor, finding) for finding in options.aside)
    report.findings = list(_over_minors(found, report.minors))
    report.suppressed = list(_over_minors(aside, report.minors))
    if objects := list(objects):
        _people(before, after, objects, report, options)
    report.findings += report.ignores.findings(policy, lambda name: pages.page(name).of_diff)
    report.close()
    acknowledge.apply(acknowledged, report, policy)
    if not trees and not any(not document.skipped for document in before):
        report.summary.notes.append("the old side has no CustomResourceDefinition")
    return report


def _people(
    before: list[Document],
    after: list[Document],
    objects: list[Source],
    report: DiffReport,
    options: Options,
) -> None:
    """Add what becomes of the objects that people have under the newest server asked."""
    from crdlint.people import People

    sides = differ.read_sides(before, after, options)
    people = People(
        (
            (a.crd, b.crd)
            for a, b in differ.pair(*sides)
            if a is not None and b is not None and a.crd is not None and b.crd is not None
        ),
        options.minor,
    )
    people.read(objects)
    report.findings += people.findings
    report.objects = people.rows
    report.summary.notes += people.notes()


def _over_minors(found: Iterable[tuple[int, Finding]], minors: list[int]) -> Iterator[Finding]:
    """Make one of the findings that several servers share, which says for which it holds."""
    by_key: dict[tuple[Any, ...], tuple[Finding, list[int]]] = {}
    for minor, finding in found:
        key = (*order(finding), finding.severity, finding.help, tuple(finding.server or ()))
        by_key.setdefault(key, (finding, []))[1].append(minor)
    for finding, held in by_key.values():
        if len(held) < len(minors):
            finding.servers = kubernetes.spell_minors(held)
        yield finding


def _read(sources: Iterable[Source], report: Report, *, heed: bool = False) -> list[Document]:
    """Read one side; `heed` the ignores in it."""
    found: list[Document] = []
    for source in sources:
        data = source.read()
        report.summary.files += 1
        if not os.path.isfile(source.name):
            report.texts[source.name] = data
        documents_of_file = list(documents.read(data, source.name, wanted=reading.WANTED))
        if heed and ignores.WORD in data:
            report.ignores.read(documents_of_file)
        found += documents_of_file
    return found


def all_changes(old: Iterable[Source], new: Iterable[Source], *, minor: int) -> Iterator[str]:
    """Yield every difference between the decoded CRDs of two sides as a line, documentation too."""
    from deepdiff import DeepDiff

    report = Report([minor])
    options = Options(minor)
    sides = differ.read_sides(_read(old, report), _read(new, report), options)
    for a, b in differ.pair(*sides):
        if a is None or b is None:
            known = a or b
            if known is not None:
                yield f"{known.name}: only on the {'new' if a is None else 'old'} side"
        elif a.crd is not None and b.crd is not None:
            found = DeepDiff(a.crd.data, b.crd.data, verbose_level=2)
            yield from (f"{b.name}: {line}" for line in found.pretty().splitlines())
