"""lint() and load(): what the command line, the action and embedders call; never exits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdlint import document as documents
from crdlint import ignores, kubernetes, pages, parallel, reading, rule, server
from crdlint.document import YAMLError, load
from crdlint.finding import EXTERNAL, Finding, Spot, Summary, fingerprint, order
from crdlint.ignores import Ignores
from crdlint.policy import NOT_RUN, Policy
from crdlint.report import is_refused
from crdlint.source import SourceError
from crdlint.tree import Crd

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from crdlint.document import Document, Path, Span
    from crdlint.reading import Hit, Subject
    from crdlint.rule import Problem
    from crdlint.source import Source
    from crdlint.tree import Node, Place

__all__ = ["Report", "YAMLError", "lint", "load"]


class Report:
    """What a run found: sorted findings, a summary, and errors of files that could not be read.

    `suppressed` has the findings that were put aside. `names` has the names of all CRDs seen, and
    `files` those of the files read.
    """

    __slots__ = (
        "errors",
        "files",
        "findings",
        "ignores",
        "minors",
        "names",
        "summary",
        "suppressed",
        "texts",
    )

    def __init__(self, minors: list[int]) -> None:
        self.findings: list[Finding] = []
        self.suppressed: list[Finding] = []
        self.ignores = Ignores()
        self.names: set[str] = set()
        self.files: set[str] = set()
        self.summary = Summary()
        self.errors: list[str] = []
        self.minors = minors
        self.texts: dict[str, bytes] = {}  # what cannot be read again for a snippet, such as stdin

    def take(self, other: Report) -> None:
        """Add what another part of the run found."""
        self.findings += other.findings
        self.suppressed += other.suppressed
        self.ignores.take(other.ignores)
        self.names |= other.names
        self.files |= other.files
        self.errors += other.errors
        self.texts.update(other.texts)
        mine, theirs = self.summary, other.summary
        mine.files += theirs.files
        mine.documents += theirs.documents
        mine.crds += theirs.crds
        mine.notes += theirs.notes

    def put(self, finding: Finding, policy: Policy) -> None:
        """Add a finding, to the ones put aside if something ignores it."""
        hidden = finding.suppressed is not None or self.ignores.hides(finding, policy)
        (self.suppressed if hidden else self.findings).append(finding)

    def close(self) -> None:
        """Sort what was found, and count it."""
        self.findings.sort(key=order)
        self.suppressed.sort(key=order)
        self.summary.suppressed = len(self.suppressed)
        self.summary.counts = dict.fromkeys(self.summary.counts, 0)
        for finding in self.findings:
            self.summary.counts[finding.severity] += 1

    @property
    def kubernetes(self) -> str:
        """Return the versions judged for, such as `1.37` or `1.28-1.37`."""
        return kubernetes.spell_minors(self.minors)


def lint(
    sources: Iterable[Source],
    *,
    minors: list[int] | None = None,
    policy: Policy | None = None,
    progress: Callable[[str], None] | None = None,
    jobs: int = 1,
) -> Report:
    """Check every CRD of some sources as API servers of these versions would on create.

    Args:
        sources: where the text comes from; each is read once, so memory stays bounded.
        minors: Kubernetes minors, such as `[30, 31]`; the newest known by default.
        policy: which rules count; the default profile by default.
        progress: called with the name of each source before it is read.
        jobs: how many processes may work at once; 0 for as many as there are processors. Small
            runs stay in one process all the same.
    """
    report = Report(minors or [kubernetes.NEWEST])
    policy = policy or Policy()
    seen: list[Crd] = []

    def work(part: list[Source]) -> tuple[Report, list[Crd]]:
        mine = Report(report.minors)
        return mine, _lint_sources(part, mine, policy, progress)

    for done, crds in parallel.spread(_parts(list(sources), jobs), work):
        report.take(done)
        seen += crds
    # Processes finish in any order of files; the checks over all CRDs must not see that.
    seen.sort(key=lambda crd: (crd.document.name, crd.document.index, crd.item or 0))
    _lint_together(seen, report, policy)
    _judge_ignores(report, policy)
    report.close()
    return report


def _parts(sources: list[Source], jobs: int) -> list[list[Source]]:
    """Split sources over processes, where that is worth it."""
    jobs = jobs or parallel.processors()
    sizes = [source.size for source in sources] if jobs > 1 else []
    if jobs < 2 or sum(sizes) < parallel.WORTHWHILE or any(s.size < 0 for s in sources):
        return [sources]
    return [[sources[i] for i in group] for group in parallel.split(sizes, jobs)]


def _lint_sources(
    sources: Iterable[Source],
    report: Report,
    policy: Policy,
    progress: Callable[[str], None] | None,
) -> list[Crd]:
    """Check sources one by one into a report; return what remains of each CRD for later checks."""
    seen: list[Crd] = []
    for source in sources:
        if progress:
            progress(source.name)
        try:
            data = source.read()
        except SourceError as error:
            report.errors.append(str(error))
            continue
        report.summary.files += 1
        report.files.add(source.name)
        if source.size < 0:
            report.texts[source.name] = data
        found: Iterable[Document] = documents.read(data, source.name, wanted=reading.WANTED)
        if ignores.WORD in data:
            found = list(found)  # a comment may speak for what stands before it
            report.ignores.read(found)
        here = policy.for_file(source.name)
        for document in found:
            report.summary.documents += 1
            lint_document(document, report, here, seen)
    return seen


def _judge_ignores(report: Report, policy: Policy) -> None:
    """Report the ignores that are no use."""
    report.findings += report.ignores.findings(policy, of_lint)


def of_lint(name: str) -> bool:
    """Tell whether a rule is one that `lint` looks for."""
    page = pages.page(name)
    return not (page.of_diff or page.of_objects)


def lint_document(document: Document, report: Report, policy: Policy, seen: list[Crd]) -> None:
    """Check one document into a report; add what remains of each CRD for later checks."""
    if document.skipped:
        return
    by_minor: dict[tuple[Any, ...], tuple[Finding, list[int]]] = {}
    for minor in report.minors:
        for subject in reading.subjects(document, minor):
            if minor == report.minors[0]:
                report.summary.crds += not subject.partial
                report.names.add(subject.name)
                if subject.crd is not None:
                    seen.append(_identity(subject))
            for finding in _findings(subject, policy):
                key = (*order(finding), tuple(finding.server or ()))
                by_minor.setdefault(key, (finding, []))[1].append(minor)
    for finding, minors in by_minor.values():
        if len(report.minors) > 1 and len(minors) < len(report.minors):
            finding.servers = kubernetes.spell_minors(minors)
        report.put(finding, policy)


def _findings(subject: Subject, policy: Policy) -> Iterable[Finding]:
    for hit in subject.hits:
        if (judged := policy.judge(hit.rule)) is not None:
            yield _from_hit(subject, hit, judged)
        elif hit.claims:
            yield from _not_run(_from_hit(subject, hit, policy.aside(hit.rule)))
    if subject.crd is not None:
        from crdlint import engine  # brings all checks along, which files without a CRD do not need

        misread = {hit.path for hit in subject.hits if hit.rule.startswith("yaml-")}
        for problem in engine.lint(subject.crd, conventions=policy.conventions):
            if problem.rule == "enum-member-type" and problem.place.path in misread:
                continue  # the word that YAML reads otherwise is reported already
            if (judged := policy.judge(problem.rule)) is not None:
                yield from_problem(subject, problem, judged)
            elif problem.refused:
                yield from _not_run(from_problem(subject, problem, policy.aside(problem.rule)))


def _not_run(finding: Finding) -> Iterable[Finding]:
    """Yield a finding whose rule is off where the server refuses: verdicts speak of the server."""
    if is_refused(finding):
        finding.suppressed = (EXTERNAL, NOT_RUN)
        yield finding


def _spot(subject: Subject, span: Span, path: Path, version: str = "") -> Spot:
    document = subject.document
    return Spot(
        document.name,
        document.index,
        span.line,
        span.column,
        span.end_line,
        span.end_column,
        path,
        subject.item,
        version,
    )


def _from_hit(subject: Subject, hit: Hit, judged: tuple[str, str]) -> Finding:
    severity, cure = judged
    return Finding(
        hit.rule,
        severity,
        hit.message,
        _spot(subject, hit.span, hit.path),
        crd=subject.name,
        field=hit.field,
        server=hit.claims,
        help=cure,
        related=[(_spot(subject, span, ()), words) for span, words in hit.related],
        fingerprint=fingerprint(hit.rule, subject.name, "", hit.field, hit.message),
    )


def from_problem(subject: Subject, problem: Problem, judged: tuple[str, str]) -> Finding:
    """Turn a problem into a finding: severity from its page, span from its document."""
    severity, cure = judged
    crd = problem.place.node.crd
    path = problem.place.path
    version = _version(problem.place.node)
    field = _field(problem.place)
    finding = Finding(
        problem.rule,
        severity,
        problem.message,
        _spot(subject, subject.locate(path, within=problem.place.within), path, version),
        crd=crd.name,
        field=field,
        server=server.claims(crd, problem) or None,
        help=problem.help or cure,
        related=[
            (_spot(subject, subject.locate(place.path), place.path), words)
            for place, words in problem.related
        ],
        fingerprint=fingerprint(problem.rule, crd.name, version, field, problem.message),
    )
    if version == "*" and len(crd.versions) > 1:
        finding.places = [_twin(subject, crd, path, i) for i in range(len(crd.versions))]
    return finding


def _twin(subject: Subject, crd: Crd, path: Path, index: int) -> Spot:
    """Return the same place in another version; all versions share the schema."""
    twin = (*path[:2], index, *path[3:])
    return _spot(subject, subject.locate(twin), twin, str(crd.versions[index].get("name")))


def _version(node: Node) -> str:
    """Return the version that a place belongs to, `*` when all share it, "" outside of versions."""
    version = node.version
    if version is None:
        return ""
    if node.kind == "schema" and node.crd.hoisted("schema"):
        return "*"
    return str(version.get("name") or "")


def _field(place: Place) -> str:
    """Spell the field first, as people write it: `.spec.size maxLength`, `spec.names.plural`."""
    node = place.node
    if node.kind != "schema":
        return server.join(place.path)
    name = _version(node)
    field = reading.people_write(place.path)
    return f"{name} {field}" if name != "*" and len(node.crd.versions) > 1 else field


def _identity(subject: Subject) -> Crd:
    """Return what remains of a CRD for checks over all files: its names, and where they stand."""
    crd = subject.crd
    assert crd is not None
    names = {"group": crd.spec.get("group"), "names": crd.names, "scope": crd.spec.get("scope")}
    data = {"metadata": {"name": crd.name}, "spec": names}
    places: dict[Path, Span] = {}
    for path in _name_paths(crd):
        places[path] = subject.locate(path)
    remembered: Any = _Remembered(subject, places)  # all that problems ask of a document
    return Crd(data, remembered, item=subject.item, minor=crd.minor)


def _name_paths(crd: Crd) -> Iterable[Path]:
    yield ("metadata", "name")
    for key, value in crd.names.items():
        yield ("spec", "names", key)
        if isinstance(value, list):
            for i in range(len(value)):
                yield ("spec", "names", key, i)


class _Remembered:
    """A document of which only the places of names are kept."""

    __slots__ = ("index", "name", "places")

    def __init__(self, subject: Subject, places: dict[Path, Span]) -> None:
        self.name = subject.document.name
        self.index = subject.document.index
        self.places = places

    def locate(self, path: Path, *, key: bool = False) -> Span:  # noqa: ARG002 - as Document's
        return self.places.get(path) or self.places["metadata", "name"]


def _lint_together(seen: list[Crd], report: Report, policy: Policy) -> None:
    """Run the checks that look at all CRDs of the run."""
    if not seen:
        return
    from crdlint import rules

    rules.load()  # the CRDs may have been seen in other processes only
    for check in rule.set_checks():
        for problem in check.run(seen):
            problem.rule = problem.rule or check.ids[0]
            here = policy.for_file(problem.place.node.crd.document.name)
            if (judged := here.judge(problem.rule)) is not None:
                report.put(_from_set(problem, judged), here)


def _from_set(problem: Problem, judged: tuple[str, str]) -> Finding:
    severity, cure = judged
    crd = problem.place.node.crd
    field = server.join(problem.place.path)

    def spot(place: Place) -> Spot:
        crd = place.node.crd
        span = crd.document.locate(place.path)
        return Spot(
            crd.document.name,
            crd.document.index,
            span.line,
            span.column,
            span.end_line,
            span.end_column,
            place.path,
            crd.item,
        )

    return Finding(
        problem.rule,
        severity,
        problem.message,
        spot(problem.place),
        crd=crd.name,
        field=field,
        help=problem.help or cure,
        related=[(spot(place), words) for place, words in problem.related],
        fingerprint=fingerprint(problem.rule, crd.name, "", field, problem.message),
    )
