"""validate(): custom resources against the CRDs of their kinds; never exits."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from crdlint import document as documents
from crdlint import engine, ignores, kubernetes, pages, reading, server, shape
from crdlint.api import Report
from crdlint.finding import EXTERNAL, order
from crdlint.objectfindings import UNPARSED, Given, Sheet, crd_refused, objects_in
from crdlint.objects import resource
from crdlint.objects.served import Served
from crdlint.policy import NOT_RUN, Policy
from crdlint.report import is_refused

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from crdlint.document import Document
    from crdlint.finding import Finding
    from crdlint.objects.resource import Outcome
    from crdlint.reading import Subject
    from crdlint.source import Source

    Key = tuple[str, str]  # group and kind
    Named = tuple[str, str, str]  # group, kind and name

_ALSO = (UNPARSED, "duplicate-key")  # rules of `lint` that speak of objects too

__all__ = ["Judged", "ValidateError", "ValidateReport", "validate"]


class ValidateError(Exception):
    """What keeps a run from judging anything; the message says why and what to do."""


class Judged:
    """What the server does with one object.

    `given` is where it stands and what it says, `accepted` whether every server asked takes it;
    `pruned` (the fields dropped, as the server spells them) and `stored` (None where it does not
    decode) are those of the newest server asked.
    """

    __slots__ = ("accepted", "given", "pruned", "stored")

    def __init__(self, given: Given) -> None:
        self.given = given
        self.accepted = True
        self.pruned: list[str] = []
        self.stored: dict[str, Any] | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the entry of the JSON report."""
        row: dict[str, Any] = {
            "file": self.given.document.name,
            "document": self.given.document.index,
        }
        if self.given.item is not None:
            row["item"] = self.given.item
        return row | {"accepted": self.accepted, "pruned": self.pruned, "stored": self.stored}


class ValidateReport(Report):
    """A report with what became of each object of a known kind, in the order of the files."""

    __slots__ = ("judged", "unknown")

    def __init__(self, minors: list[int]) -> None:
        super().__init__(minors)
        self.judged: list[Judged] = []
        self.unknown: dict[str, int] = {}  # objects of kinds that no CRD has, by kind

    @property
    def objects(self) -> list[dict[str, Any]]:
        """Return the entries of `objects` in the JSON report."""
        return [judged.as_dict() for judged in self.judged]


class Kind:
    """One CRD for one server, its versions made ready when an object first asks for them.

    `data` is the decoded CRD, also of one that the server refuses; an empty one where it does not
    decode.
    """

    __slots__ = ("_asked", "_served", "data", "minor", "subject")

    def __init__(self, subject: Subject, data: Mapping[str, Any], minor: int) -> None:
        self.subject = subject
        self.data = data
        self.minor = minor
        self._asked = False
        self._served: dict[str, Served] = {}

    def version(self, name: str) -> Served | None:
        """Return a version that is served, or None."""
        if name not in self._served:
            for version in self._versions():
                if version.get("name") == name and version.get("served"):
                    self._served[name] = Served(self.data, version, minor=self.minor)
        return self._served.get(name)

    def served_versions(self) -> list[str]:
        """Return the names of the versions that are served."""
        return [str(v.get("name")) for v in self._versions() if v.get("served")]

    def _versions(self) -> list[Mapping[str, Any]]:
        return (self.data.get("spec") or {}).get("versions") or []

    def refusal(self) -> Finding | None:
        """Return the finding that the server refuses the CRD itself, when first asked."""
        if self._asked:
            return None
        self._asked = True
        return _refusal(self.subject)


def _refusal(subject: Subject) -> Finding | None:
    crd = subject.crd
    if crd is None:
        for hit in subject.hits:
            if hit.claims and not _harmless(hit.claims):
                return crd_refused(subject, hit.path, hit.message, hit.claims)
        return None
    for problem in engine.lint(crd):
        claims = server.claims(crd, problem)
        if claims and not _harmless(claims):
            return crd_refused(subject, problem.place.path, problem.message, claims)
    return None


def _harmless(claims: list[tuple[str, str]]) -> bool:
    """Tell whether a CRD that the server says this of can be there all the same.

    A bad request is the dump of a CRD that a cluster has.
    """
    return all(type_ in ("Warning", "Strict", "BadRequest") for type_, _ in claims)


def validate(
    crds: Iterable[Source],
    objects: Iterable[Source],
    *,
    minors: list[int] | None = None,
    olds: Iterable[Source] | None = None,
    strict: bool = False,
    strict_kinds: bool = False,
    status: bool = False,
    policy: Policy | None = None,
) -> ValidateReport:
    """Send custom resources the way through the API servers of these versions.

    Args:
        crds: where the definitions come from.
        objects: where the objects come from; files may hold several, and Lists.
        minors: Kubernetes minors, such as `[30, 31]`; the newest known by default.
        olds: where the objects come from that others update: those of the same kind, namespace
            and name. What has none is created.
        strict: refuse unknown fields and duplicate keys, as `kubectl` asks for.
        strict_kinds: make an error of each object whose kind no CRD has.
        status: write to the status subresource.
        policy: which rules count, and how much; the default profile by default. What an object
            becomes does not depend on it.

    Raises:
        SourceError: a source cannot be read.
        ValidateError: there is no CRD, or an old object cannot be read.
    """
    report = ValidateReport(minors or [kubernetes.NEWEST])
    kinds = _kinds(crds, report)
    run = _Run(report, kinds, strict=strict, strict_kinds=strict_kinds, status=status)
    if olds is not None:
        run.olds = _olds(olds, run.known)
    for source in objects:
        data = source.read()
        report.summary.files += 1
        if not os.path.isfile(source.name):
            report.texts[source.name] = data
        report.files.add(source.name)
        found: Iterable[Document] = documents.read(data, source.name)
        if ignores.WORD in data:
            found = list(found)  # a comment may speak for what stands before it
            report.ignores.read(found)
        for document in found:
            report.summary.documents += 1
            run.document(document)
    report.summary.objects = len(report.judged)
    _heed(report, policy or Policy())
    if report.unknown:
        report.summary.notes.append(_unknown_kinds(report.unknown))
    if run.created:
        what = "object has" if run.created == 1 else "objects have"
        text = f"{run.created} {what} no old one of the same kind and name, so it counts as created"
        report.summary.notes.append(text)
    return report


def _heed(report: ValidateReport, policy: Policy) -> None:
    """Leave out of a report what is not to be reported, and report the ignores without use."""
    found, report.findings = report.findings, []
    for finding in found:
        here = policy.for_file(finding.spot.file)
        if not here.settle(finding):
            if not is_refused(finding):
                continue
            finding.suppressed = (EXTERNAL, NOT_RUN)
        report.put(finding, here)
    report.findings += report.ignores.findings(policy, of_validate)
    report.close()


def of_validate(name: str) -> bool:
    """Tell whether a rule is one that `validate` looks for."""
    return name in _ALSO or pages.page(name).of_objects


def _unknown_kinds(unknown: Mapping[str, int]) -> str:
    named = [f"{kind} ({count})" if count > 1 else kind for kind, count in unknown.items()]
    more = ", ..." if len(named) > 6 else ""
    total = sum(unknown.values())
    what = "object is" if total == 1 else "objects are"
    return f"{total} {what} of kinds that no CRD given has: {', '.join(named[:6])}{more}"


def _kinds(crds: Iterable[Source], report: ValidateReport) -> dict[int, dict[Key, Kind]]:
    """Read the CRDs, by server, and group and kind; of two for the same the last counts."""
    found: dict[int, dict[Key, Kind]] = {minor: {} for minor in report.minors}
    for source in crds:
        for document in documents.read(source.read(), source.name, wanted=reading.WANTED):
            if document.skipped:
                continue
            if document.error is not None:
                _unparsed(document, report)
                continue
            for minor, by_key in found.items():
                for subject in reading.subjects(document, minor):
                    _keep(subject, by_key, report, minor)
    if not found[report.minors[0]]:
        raise ValidateError(
            "--crds names no CustomResourceDefinition: name the file or folder that has those of"
            " the objects, such as --crds config/crd"
        )
    return found


def _unparsed(document: Document, report: ValidateReport) -> None:
    """Refuse to go on without a CRD that does not parse; a template that is none yet is noted."""
    for subject in reading.subjects(document, report.minors[0]):
        for hit in subject.hits:
            said = f"{document.name}:{hit.span.line}: this CRD does not parse: {hit.message}"
            if hit.claims:
                raise ValidateError(f"{said}; `crdlint lint` shows the place")
            report.summary.notes.append(said)


def _keep(subject: Subject, by_key: dict[Key, Kind], report: ValidateReport, minor: int) -> None:
    if subject.partial:
        return
    raw = subject.document.value(subject.prefix)
    data = _decoded(subject, raw, minor)
    spec = data.get("spec") or (raw.get("spec") if isinstance(raw, dict) else None)
    names = spec.get("names") if isinstance(spec, dict) else None
    group, name = (
        part if isinstance(part, str) else ""
        for part in ((spec or {}).get("group"), (names or {}).get("kind"))
    )
    first = minor == report.minors[0]
    report.summary.crds += first
    if first and (group, name) in by_key:
        other, where = by_key[group, name].subject.document.name, subject.document.name
        text = f"{name} of {group} is defined in {other} and in {where}; the latter counts"
        report.summary.notes.append(text)
    by_key[group, name] = Kind(subject, data, minor)


def _decoded(subject: Subject, raw: Any, minor: int) -> Mapping[str, Any]:
    """Return the decoded CRD; one of v1beta1 as the v1 it means."""
    if subject.crd is not None:
        return subject.crd.data
    if isinstance(raw, dict) and raw.get("apiVersion") == f"{reading.GROUP}/v1beta1":
        decoded = shape.shape(shape.from_v1beta1(raw), minor=minor)
        if decoded.error is None:
            return decoded.crd
    return {}


def _olds(sources: Iterable[Source], known: set[str]) -> dict[Named, list[Given]]:
    """Read the objects that others update, by group, kind and name."""
    found: dict[Named, list[Given]] = {}
    for source in sources:
        for document in documents.read(source.read(), source.name):
            if document.error is not None:
                line = document.error.line or document.first_line
                raise ValidateError(
                    f"{document.name}:{line}: this old object does not parse:"
                    f" {document.error.message}; write it as kubectl get -o yaml prints it"
                )
            for given in objects_in(document, known):
                group, _, kind = given.identity()
                found.setdefault((group, kind, given.name()), []).append(given)
    return found


class _Run:
    """One run over objects: what was asked for, and the report that grows.

    `olds` has the objects that others update, or is None where all are created; `created` counts
    those that had none.
    """

    __slots__ = (
        "created",
        "kinds",
        "known",
        "olds",
        "report",
        "status",
        "strict",
        "strict_kinds",
    )

    def __init__(
        self,
        report: ValidateReport,
        kinds: dict[int, dict[Key, Kind]],
        *,
        strict: bool,
        strict_kinds: bool,
        status: bool,
    ) -> None:
        self.report = report
        self.kinds = kinds
        self.known = {kind for _, kind in kinds[report.minors[0]]}
        self.strict = strict
        self.strict_kinds = strict_kinds
        self.status = status
        self.olds: dict[Named, list[Given]] | None = None
        self.created = 0

    def document(self, document: Document) -> None:
        """Judge every object of a document by every server asked."""
        if document.error is not None:
            sheet = Sheet(Given(document, None, (), None), strict=self.strict)
            self.report.findings += sheet.unparsed()
            return
        for given in objects_in(document, self.known):
            self.given(given)

    def given(self, given: Given) -> None:
        """Judge one object; what only some servers say is marked with them."""
        by_key: dict[tuple[Any, ...], tuple[Finding, list[int]]] = {}
        judged = Judged(given)
        minors = self.report.minors
        for minor in minors:
            sheet = Sheet(given, strict=self.strict)
            if not self.judge(sheet, self.kinds[minor], judged):
                return
            for finding in sheet.findings:
                key = (*order(finding), tuple(finding.server or ()))
                by_key.setdefault(key, (finding, []))[1].append(minor)
        self.report.judged.append(judged)
        for finding, held in by_key.values():
            if len(held) < len(minors):
                finding.servers = kubernetes.spell_minors(held)
            self.report.findings.append(finding)

    def judge(self, sheet: Sheet, kinds: Mapping[Key, Kind], judged: Judged) -> bool:
        """Judge an object for one server, or return False where it is of no kind that is known."""
        group, version, name = sheet.given.identity()
        kind = kinds.get((group, name))
        if kind is None:
            self.unknown(sheet)
            return False
        sheet.crd = kind.subject.name
        sheet.version = version
        served = kind.version(version)
        if refused := kind.refusal():
            self.report.findings.append(refused)
        if served is None:
            sheet.not_served(version, kind.served_versions())
        elif self.status and not served.status:
            sheet.no_status(version)
        else:
            # The places of JSON are dear, and it has duplicate keys only where it is made by hand.
            if self.strict or not sheet.given.document.is_json:
                sheet.duplicates(reading.duplicates(sheet.given))
            outcome = self.take(kind, served, sheet.given)
            sheet.outcome(outcome, served)
            judged.pruned, judged.stored = outcome.pruned, outcome.stored
        judged.accepted = judged.accepted and not sheet.refused
        return True

    def take(self, kind: Kind, served: Served, given: Given) -> Outcome:
        """Send an object through one version: as an update of the old one, where it has one."""
        old = self.old(given, served) if self.olds is not None else None
        if old is None:
            self.created += self.olds is not None and served.minor == self.report.minors[0]
            return resource.take(served, given.data, keep_status=self.status)
        stored = kind.version(old.identity()[1])
        return resource.update(served, old.data, given.data, stored=stored, status=self.status)

    def old(self, given: Given, served: Served) -> Given | None:
        """Return the object that another one updates; a namespace left out may be any."""
        group, _, kind = given.identity()
        found = (self.olds or {}).get((group, kind, given.name()), [])
        if not served.namespaced:
            return found[0] if found else None
        own = given.namespace()
        same = [old for old in found if old.namespace() == own]
        if not same and len(found) == 1 and "" in (own, found[0].namespace()):
            same = found
        return same[0] if same else None

    def unknown(self, sheet: Sheet) -> None:
        """Count an object whose kind no CRD has."""
        label = sheet.given.label()
        self.report.unknown[label] = self.report.unknown.get(label, 0) + 1
        if self.strict_kinds:
            sheet.unknown_kind(label)
            self.report.findings += sheet.findings
