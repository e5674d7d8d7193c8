"""One comparison of two sides feeds every diff rule; folds what is one change in many places."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdlint import pages, ratchets, reading
from crdlint import rule as rules
from crdlint.changes import changes
from crdlint.difffindings import fold, from_hit, judged_finding, refusal, whole
from crdlint.diffrule import DIFF, SETTLE, Problem
from crdlint.finding import Finding, Summary, order
from crdlint.rules.diff_versions import storage_version, stored_versions
from crdlint.severity import judge
from crdlint.tree import Crd

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from crdlint.changes import Change
    from crdlint.diffrule import Registered
    from crdlint.document import Document
    from crdlint.reading import Subject


class DiffError(Exception):
    """Two sides that cannot be compared; the message says what to do."""


def load() -> None:
    """Import the modules of diff rules, so that they register themselves."""
    import pkgutil
    from importlib import import_module

    from crdlint import rules as package

    for module in pkgutil.iter_modules(package.__path__):
        if module.name.startswith("diff_"):
            import_module(f"crdlint.rules.{module.name}")


load()
rules.ALL_IDS.update(dict.fromkeys(("crd-added", "crd-removed", "rollback-unsafe")))


class Options:
    """What a comparison is told besides the two sides, and what it leaves besides the findings.

    `counts` tells whether a finding is to be reported, before equal ones are folded. `aside` gets
    those that are not but were put aside, `names` the CRDs that were compared, `unread` what of OLD
    could not be read. `trees` says that the sides are states of a repository, not of one CRD: what
    shares no name is two CRDs, and what cannot be read is left out. With `prove` every finding that
    hurts objects or writers comes with an object that shows it.
    """

    __slots__ = (
        "aside",
        "counts",
        "established",
        "fold",
        "held_to",
        "minor",
        "names",
        "prove",
        "stored_versions",
        "trees",
        "unread",
    )

    def __init__(
        self,
        minor: int,
        *,
        established: bool | None = None,
        stored_versions: list[str] | Callable[[str], list[str] | None] | None = None,
        held_to: str = "beta",
        fold: bool = True,
        counts: Callable[[Finding], bool] | None = None,
        trees: bool = False,
        prove: bool = True,
    ) -> None:
        self.counts = counts
        self.prove = prove
        self.trees = trees
        self.unread: list[str] = []
        self.aside: list[Finding] = []
        self.names: set[str] = set()
        self.minor = minor
        self.established = established
        self.stored_versions = stored_versions
        self.held_to = held_to
        self.fold = fold


def compare(old: Crd, new: Crd) -> list[Problem]:
    """Run every diff rule over two CRDs, the stored one and its update."""
    problems: list[Problem] = []
    for change in changes(old, new):
        kind = change.new.kind
        for registered in DIFF.get(f"{kind}.{change.key}" if change.key else kind, ()):
            problems += _run(registered, change)
    for settle in SETTLE:
        problems = settle(problems)
    return problems


def _run(registered: Registered, change: Change) -> Iterable[Problem]:
    try:
        problems = list(registered.run(change))
    except Exception as error:  # noqa: BLE001 - a defect in one rule must not hide the others
        text = f"the check of {', '.join(registered.ids)} failed: {type(error).__name__}: {error}"
        return (Problem(change, text, rule="internal-error"),)
    for problem in problems:
        problem.rule = problem.rule or registered.ids[0]
        problem.tightens = registered.tightens
    return problems


def diff(
    old: Iterable[Document], new: Iterable[Document], options: Options
) -> tuple[list[Finding], Summary]:
    """Compare all CRDs of two sides; raise DiffError where they cannot be compared.

    OLD is what the server holds, so it must be readable; NEW may be anything.
    """
    summary = Summary()
    before, after = read_sides(old, new, options, summary)
    options.names.update(subject.name for subject in (*before, *after))
    findings: list[Finding] = []
    for a, b in pair(before, after, trees=options.trees):
        if a is None:
            findings += _counting(_added(b), options)
        elif b is None:
            findings += _counting(_removed(a), options)
        else:
            findings += _update(a, b, options)
    findings.sort(key=order)
    for finding in findings:
        summary.counts[finding.severity] += 1
    return findings, summary


def read_sides(
    old: Iterable[Document],
    new: Iterable[Document],
    options: Options,
    summary: Summary | None = None,
) -> tuple[list[Subject], list[Subject]]:
    """Return the CRDs of both sides, patches left out; raise DiffError where OLD is unreadable."""
    return _stored(old, options), _updates(new, options, summary or Summary())


def _stored(documents: Iterable[Document], options: Options) -> list[Subject]:
    """Read the old side as the server holds it: with defaults, v1beta1 as the v1 it means."""
    found = []
    for document in documents:
        if document.skipped:
            continue
        for subject in reading.subjects(document, options.minor):
            if subject.partial:
                continue
            if subject.crd is None:
                subject.read_v1beta1(options.minor)
            if subject.crd is None:
                why = subject.hits[0].message if subject.hits else "it is no CRD"
                line = subject.hits[0].span.line if subject.hits else 1
                unread = f"{document.name}:{line}: the old CRD cannot be read: {why}"
                if options.trees:
                    options.unread.append(unread)
                    continue
                raise DiffError(f"{unread}. Name what the cluster holds now as the first argument")
            _assume(subject.crd, options)
            found.append(subject)
    return found


def _assume(crd: Crd, options: Options) -> None:
    """Set what the command line knows of the stored CRD's status."""
    stored = options.stored_versions
    if callable(stored):
        stored = stored(crd.name)
    if stored is None and options.established is None:
        return
    data: Any = crd.data
    status = dict(data.get("status") or {})
    if stored is not None:
        status["storedVersions"] = list(stored)
    if options.established is not None:
        state = "True" if options.established else "False"
        status["conditions"] = [{"type": "Established", "status": state}]
    data["status"] = status


def _updates(documents: Iterable[Document], options: Options, summary: Summary) -> list[Subject]:
    found = []
    for document in documents:
        summary.documents += 1
        if document.skipped:
            continue
        for subject in reading.subjects(document, options.minor):
            if not subject.partial:
                summary.crds += 1
                found.append(subject)
    return found


def pair(
    old: list[Subject], new: list[Subject], *, trees: bool = False
) -> Iterator[tuple[Subject | None, Subject | None]]:
    """Match the CRDs of two sides: by name and path, then by name; a single one with a single one.

    The sides are trees where a single one may have come and another one gone.

    Raises:
        DiffError: each side has one CRD, and they have nothing in common.
    """
    twins: dict[int, Subject] = {}
    taken: set[int] = set()
    for key in (_name_and_path, _name_and_base, _name):
        free: dict[object, list[Subject]] = {}
        for a in old:
            if id(a) not in taken:
                free.setdefault(key(a), []).append(a)
        for b in new:
            if id(b) not in twins and (same := free.get(key(b))):
                twins[id(b)] = same.pop(0)
                taken.add(id(twins[id(b)]))
    known = {a.name: a for a in reversed(old)}
    for b in new:
        if id(b) not in twins and b.name in known:  # a further copy of what is paired
            twins[id(b)] = known[b.name]
    if len(old) == len(new) == 1 and not twins:
        a, b = old[0], new[0]
        akin = _akin(a, b)
        if not akin and not trees:
            raise DiffError(
                f"{a.document.name} has {a.name}, {b.document.name} has {b.name}: these are two"
                " different CRDs. Name two states of the same one, or two folders"
            )
        if akin:
            twins[id(b)] = a
    for b in new:
        yield twins.get(id(b)), b
    paired = {a.name for a in twins.values()}
    for a in old:
        if a.name not in paired:
            yield a, None


def _name(subject: Subject) -> str:
    return subject.name


def _path(subject: Subject) -> str:
    """Return the path of a file without the revision in front."""
    name = subject.document.name
    head, colon, tail = name.partition(":")
    return (tail if colon and head else name).removeprefix("./")


def _name_and_path(subject: Subject) -> tuple[str, str]:
    return subject.name, _path(subject)


def _name_and_base(subject: Subject) -> tuple[str, str]:
    return subject.name, _path(subject).rpartition("/")[2]


def _akin(a: Subject, b: Subject) -> bool:
    """Tell whether two CRDs with different names may be one that was renamed."""
    if a.crd is None or b.crd is None:
        return True
    x, y = a.crd.names, b.crd.names
    return any(x.get(key) and x.get(key) == y.get(key) for key in ("kind", "plural"))


def _counting(
    findings: Iterable[Finding], options: Options, *, to_fold: bool = False
) -> list[Finding]:
    """Return the findings that are to be reported, and keep what was put aside."""
    if options.counts is None:
        return list(findings)
    kept, aside = [], []
    for finding in findings:
        if options.counts(finding):
            kept.append(finding)
        elif finding.suppressed:
            aside.append(finding)
    options.aside += fold(aside, one_by_one=not options.fold) if to_fold else aside
    return kept


def _added(subject: Subject | None) -> Iterator[Finding]:
    if subject is not None:
        if subject.crd is None:
            yield from (from_hit(subject, hit) for hit in subject.hits)
        else:
            yield whole(subject, "crd-added", "the CRD is new")


def _removed(subject: Subject) -> Iterator[Finding]:
    message = "the CRD is gone: the server deletes all its objects with it"
    yield whole(subject, "crd-removed", message)


def _update(old: Subject, new: Subject, options: Options) -> Iterator[Finding]:
    """Yield what the server says to one update, then who else it hurts."""
    hits = [from_hit(new, hit) for hit in new.hits if hit.claims or new.crd is None]
    yield from _counting(hits, options)
    if old.crd is None or new.crd is None:
        return
    refused = [refusal(new, problem) for problem in ratchets.update(old.crd, new.crd)]
    causes: dict[int, Problem] = {}
    found = []
    for problem in compare(old.crd, new.crd):
        finding = judged_finding(old, new, problem, options.held_to)
        if finding is not None:
            causes[id(finding)] = problem
            found.append(finding)
    yield from _counting(refused, options)
    counting = _counting(found, options, to_fold=True)
    folded = fold(counting, one_by_one=not options.fold)
    if options.prove:
        _witness(old.crd, new.crd, [(finding, causes[id(finding)]) for finding in folded])
    yield from folded
    if not any("server-refuses" in finding.effects for finding in (*refused, *found)):
        yield from _counting(_way_back(old, new, options), options)


def _way_back(old: Subject, new: Subject, options: Options) -> Iterator[Finding]:
    """Say what a rollback would break: the comparison the other way round, in one finding."""
    assert old.crd is not None
    assert new.crd is not None
    status = dict(old.crd.data.get("status") or {})
    stored = stored_versions(old.crd)
    storage = storage_version(new.crd)
    status["storedVersions"] = stored if storage in stored else [*stored, storage]
    after = Crd(
        {**new.crd.data, "status": status}, new.document, item=new.item, minor=options.minor
    )
    counts: dict[str, int] = {}
    refused = False
    for problem in compare(after, old.crd):
        page = pages.page(problem.rule)
        judged = judge(problem, page.severity, page.effects, held_to=options.held_to)
        if judged and judged.severity == "error" and _HARMS & set(judged.effects):
            counts[problem.rule] = counts.get(problem.rule, 0) + 1
            refused |= "server-refuses" in judged.effects
    if counts:
        said = "the API server refuses it" if refused else "it loses or breaks what is new"
        each = ", ".join(f"{n} {rule}" for rule, n in counts.items())
        yield whole(new, "rollback-unsafe", f"a rollback is not safe, {said}: {each}")


def _witness(old: Crd, new: Crd, hurting: list[tuple[Finding, Problem]]) -> None:
    """Add to each finding that hurts objects or writers one that shows it, or why there is none."""
    hurting = [pair for pair in hurting if not _HURT.isdisjoint(pair[0].effects)]
    if not hurting:
        return
    from crdlint import witnessing

    known = witnessing.Witnesses(old, new)
    for finding, problem in hurting:
        try:
            witness = known.of(problem)
        except witnessing.Unproven as error:
            finding.unproven = str(error)
        except Exception as error:  # noqa: BLE001 - a defect here must not hide the finding
            finding.unproven = f"the search failed: {type(error).__name__}: {error}"
        else:
            finding.witness = witness.object
            finding.witnessed = witnessing.described(witness)


_HURT = frozenset(("stored-objects", "writers"))  # whom a witness speaks for
_HARMS = {"server-refuses", "stored-objects"}
