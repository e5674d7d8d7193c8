"""Fixes: what to change for a finding, made step by step, and each step proven before it counts."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from typing import TYPE_CHECKING, Any

from crdlint import api, fixes, ignores, kubernetes, pages, reading, rule
from crdlint import document as documents
from crdlint.edits import Plan, apply, changed, no_collector, plain, same
from crdlint.emit import Edit
from crdlint.outline import NotEditable, Outline
from crdlint.policy import Policy
from crdlint.report import is_refused

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from crdlint.document import Document, Path
    from crdlint.edits import Change
    from crdlint.finding import Finding, Spot

_BOM = "\ufeff"
_MOST_STEPS = 400  # of one document, failed ones counted: a bound, not a number to reach
_INDEX = re.compile(r"\d+")


class Fix:
    """The changes that cure one finding; `title` says in a sentence what they do."""

    __slots__ = ("changes", "finding", "safe", "title")

    def __init__(self, finding: Finding, changes: list[Change], *, safe: bool) -> None:
        self.finding = finding
        self.changes = changes
        self.safe = safe
        self.title = finding.help or pages.page(finding.rule).cure


class Fixed:
    """A file after its fixes: the new bytes, what was fixed, what could not be and why, the rest.

    `left` has every finding that remains, `unsafe` those of them with a fix that was not asked for.
    """

    __slots__ = ("data", "failed", "left", "made", "unsafe")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.made: list[Fix] = []
        self.failed: list[tuple[Finding, str]] = []
        self.left: list[Finding] = []
        self.unsafe: list[Finding] = []


class Options:
    """What is to be fixed: rules (none for all), unsafe fixes too or not, for which servers."""

    __slots__ = ("minors", "policy", "select", "unsafe")

    def __init__(
        self,
        *,
        unsafe: bool = False,
        select: Collection[str] = (),
        minors: list[int] | None = None,
        policy: Policy | None = None,
    ) -> None:
        self.unsafe = unsafe
        self.select = frozenset(select)
        self.minors = minors or [kubernetes.NEWEST]
        self.policy = policy or Policy()


@no_collector()
def fix(data: bytes, name: str, options: Options) -> Fixed:
    """Fix what can be fixed in a file; every other byte of it stays.

    A fix counts only when the text reads as it should afterwards: the values that it is about
    changed, all others equal, its finding gone and no other come.
    """
    fixes.load()
    result = Fixed(data)
    pieces: list[tuple[int, int, bytes]] = []
    found = list(documents.read(data, name, wanted=reading.WANTED))
    ignored = _ignored(found) if ignores.WORD in data and options.policy.heed else set()
    for document in found:
        if document.skipped:
            continue
        draft = Draft(document, options, ignored)
        if draft.findings:
            try:
                start, end, draft.raw = raw_text(data, document)
                fix_document(draft, options, result)
                if draft.steps:
                    pieces.append((start, end, draft.raw.encode()))
            except NotEditable as error:
                result.failed += [(f, str(error)) for f in draft.findings if _wanted(f, options)]
        result.left += draft.findings
    for start, end, piece in reversed(pieces):
        result.data = result.data[:start] + piece + result.data[end:]
    return result


def _ignored(found: list[Document]) -> set[str]:
    """Return the rules that a comment of a file ignores for all of it."""
    read = ignores.Ignores()
    read.read(found)
    return {r for each in read.directives if each.scope == ignores.FILE for r in each.rules}


def _wanted(finding: Finding, options: Options) -> bool:
    known = fixes.CURES.get(finding.rule)
    return (
        known is not None
        and (not options.select or finding.rule in options.select)
        and (options.unsafe or known[0] == fixes.SAFE)
    )


class Draft:
    """One document on its way: its text as the file has it, and what lint says of it."""

    __slots__ = ("document", "findings", "ignored", "raw", "steps")

    def __init__(self, document: Document, options: Options, ignored: Collection[str] = ()) -> None:
        self.raw = ""
        self.steps = 0
        self.ignored = ignored  # rules that another document of the file ignores for all of it
        self.take(document, options)

    def take(self, document: Document, options: Options) -> None:
        """Look at another state of the document."""
        self.document = document
        report = api.Report(options.minors)
        report.ignores.read([document])
        api.lint_document(document, report, options.policy.for_file(document.name), [])
        self.findings = [f for f in report.findings if f.rule not in self.ignored]


def raw_text(data: bytes, document: Document) -> tuple[int, int, str]:
    """Return where a document's bytes start and end in its file, and their text as it is."""
    lines = data.split(b"\n")
    first = document.first_line - 1
    start = sum(map(len, lines[:first])) + first
    count = document.text.count("\n")
    end = start + sum(map(len, lines[first : first + count])) + count
    end = min(end, len(data))
    try:
        raw = data[start:end].decode("utf-8")
    except UnicodeDecodeError:
        raise NotEditable("the file is not UTF-8") from None
    if _unified(raw) != document.text:
        raise NotEditable("the text of the document cannot be found in the file")
    return start, end, raw


def _unified(raw: str) -> str:
    """Return a text as it is read: line feeds alone, one at the end, no byte order mark."""
    text = raw.replace("\r\n", "\n")
    return (text if text.endswith("\n") else f"{text}\n").removeprefix(_BOM)


def fix_document(draft: Draft, options: Options, result: Fixed) -> None:
    """Fix one document as far as that goes."""
    failed: dict[tuple[Any, ...], str] = {}
    most = _MOST_STEPS
    for _ in range(_MOST_STEPS):
        batch = _batch(draft, options, failed, most)
        if batch is None:
            break
        chosen, plan = batch
        why = _step(draft, chosen, plan, options)
        if not why:
            result.made += chosen
            draft.steps += 1
            most = min(most * 4, _MOST_STEPS)
        elif len(chosen) == 1:
            failed[_key(chosen[0].finding)] = why
            most = _MOST_STEPS
        else:
            most = len(chosen) // 2
    for finding in draft.findings:
        why = failed.get(_key(finding), "")
        if why == _UNSAFE:
            result.unsafe.append(finding)
        elif why:
            result.failed.append((finding, why))


_UNSAFE = "unsafe"


def _batch(
    draft: Draft, options: Options, failed: dict[tuple[Any, ...], str], most: int
) -> tuple[list[Fix], Plan] | None:
    """Choose fixes that do not touch each other, at most so many; note those that cannot be."""
    chosen: list[Fix] = []
    plan: Plan | None = None
    surgery = _Surgery(draft.document, options.minors)
    for finding in draft.findings:
        if finding.rule not in fixes.CURES or _key(finding) in failed:
            continue
        if options.select and finding.rule not in options.select:
            continue
        try:
            found = surgery.fix(finding)
            if found is None:
                continue
            if not (found.safe or options.unsafe):
                failed[_key(finding)] = _UNSAFE
                continue
            plan = plan or Plan(Outline(draft.document.text))
            if plan.add(found.changes):
                chosen.append(found)
        except NotEditable as error:
            failed[_key(finding)] = str(error)
        if len(chosen) == most:
            break
    return (chosen, plan) if chosen and plan is not None else None


class _Surgery:
    """Makes fixes of the findings of one document."""

    def __init__(self, document: Document, minors: list[int]) -> None:
        self.document = document
        self.minors = minors
        self.subjects: dict[int | None, reading.Subject] | None = None

    def fix(self, finding: Finding) -> Fix | None:
        """Return the fix of a finding, None where there is none; raises NotEditable."""
        level, run = fixes.CURES[finding.rule]
        if self.subjects is None:
            minor = max(self.minors)
            self.subjects = {s.item: s for s in reading.subjects(self.document, minor)}
        safe = level == fixes.SAFE
        changes: dict[tuple[str, Path], Change] = {}
        for spot in _spots(finding):
            subject = self.subjects.get(spot.item)
            if subject is None or self.document.data is None:
                return None
            case = self._case(finding, spot, subject)
            for change in run(case):
                below = change.below(subject.prefix)
                changes.setdefault((change.kind, below.touched()), below)
            safe = safe and not case.doubtful
        return Fix(finding, list(changes.values()), safe=safe) if changes else None

    def _case(self, finding: Finding, spot: Spot, subject: reading.Subject) -> fixes.Case:
        line = self.document.line(spot.line)
        text = line[spot.column - 1 : spot.end_column - 1]
        data = self.document.value(subject.prefix)
        return fixes.Case(
            finding.rule, spot.path, finding.message, data, subject.crd, max(self.minors), text
        )


def _spots(finding: Finding) -> list[Spot]:
    return finding.places or [finding.spot]


def _key(finding: Finding) -> tuple[Any, ...]:
    return finding.rule, finding.spot.item, finding.spot.path, finding.message


def _step(draft: Draft, chosen: list[Fix], plan: Plan, options: Options) -> str:
    """Make some fixes; return "" and keep them when they prove right, else why they do not."""
    try:
        edits = plan.edits()
        wanted = changed(draft.document.data, plan.changes)
    except NotEditable as error:
        return str(error)
    raw = edited(draft.raw, draft.document.text, edits)
    read = list(documents.read(raw.encode(), draft.document.name))
    if len(read) != 1 or read[0].error is not None:
        return "the text could not be read any more"
    new = read[0]
    if not same(plain(new.data), wanted):
        return "another value would change"
    if len(new.duplicates) > len(draft.document.duplicates):
        return "a key would stand there twice"
    after = Draft(new, options, draft.ignored)
    why = _worse(draft.findings, after.findings, chosen)
    if not why:
        draft.document, draft.findings, draft.raw = new, after.findings, raw
    return why


def edited(raw: str, text: str, edits: list[Edit]) -> str:
    """Make edits of a document's text in the text as the file has it: CRLF and all."""
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    raw_starts = [0, *(match.end() for match in re.finditer("\n", raw))]
    marked = len(_BOM) if raw.startswith(_BOM) else 0

    def place(offset: int) -> int:
        row = bisect_right(starts, offset) - 1
        if row >= len(raw_starts):
            return len(raw)
        shift = marked if row == 0 else 0
        return min(raw_starts[row] + shift + offset - starts[row], len(raw))

    made = []
    for edit in edits:
        start = place(edit.start)
        end = raw.find("\n", start)
        crlf = raw[end - 1 : end] == "\r" if end > 0 else "\r\n" in raw
        made.append(Edit(start, place(edit.end), edit.text.replace("\n", "\r\n" if crlf else "\n")))
    return apply(raw, made)


def edits_of(text: str, changes: list[Change]) -> list[Edit]:
    """Return the edits of a text that make some changes; raises NotEditable."""
    plan = Plan(Outline(text))
    if not plan.add(changes):
        raise NotEditable("two changes get in each other's way")
    return plan.edits()


def _worse(before: list[Finding], after: list[Finding], chosen: list[Fix]) -> str:
    """Say which finding a step left or brought, "" where it did neither.

    What the server did not get to say before, since something else stopped it, may come up.
    """
    allowed = Counter(map(_place, before))
    allowed.subtract(_place(fix.finding) for fix in chosen)
    cured = {_place(fix.finding) for fix in chosen}
    keys = {_key(fix.finding) for fix in chosen}
    gates = _ranks(before)
    touched = {change.path for fix in chosen for change in fix.changes}
    for finding in after:
        here = _place(finding)
        allowed[here] -= 1
        if allowed[here] >= 0:
            continue
        if any(finding.rule in fixes.BRINGS.get(fix.finding.rule, ()) for fix in chosen):
            continue
        # Decoding stops at its first error.
        hidden = any(rank < _rank(finding.rule) for rank in gates) or (
            0 in gates and finding.rule == "decode-error"
        )
        if _key(finding) in keys or (here in cured and not hidden):
            return f"the finding would stay: {finding.message}"
        if not hidden or _near(finding.spot.path, touched):
            return f"another finding would come, {finding.rule}: {finding.message}"
    return ""


def _place(finding: Finding) -> tuple[Any, ...]:
    """Tell findings apart over a change that may number items otherwise."""
    return finding.rule, finding.spot.item, _INDEX.sub("*", finding.field)


def _near(path: Path, touched: set[Path]) -> bool:
    return any(path[: len(change)] == change for change in touched)


_ORDER = (rule.ROOT, rule.KEYWORDS, rule.CONVERT, rule.STRUCTURAL, rule.DEFAULTS, rule.CEL)
_STOPS_ALL = ("decode-error", "api-version-not-served")
_UNSTAGED = 99
_RANK: dict[str, int] = {}


def _rank(rule_id: str) -> int:
    """Return how late in the server's order a rule speaks: only what stops all comes before most.

    Source: the stages of `server`.
    """
    if not _RANK:
        for registered in rule.LINT.values():
            for check in registered:
                stage = _ORDER.index(check.stage) + 1 if check.stage in _ORDER else 1
                _RANK.update(dict.fromkeys(check.ids, stage))
        _RANK.update(dict.fromkeys(_STOPS_ALL, 0))
    return _RANK.get(rule_id, 0)


def _ranks(findings: Iterable[Finding]) -> set[int]:
    """Return the ranks of what the server refuses: it does not come to what is later."""
    return {_rank(finding.rule) for finding in findings if is_refused(finding)}


class Replacement:
    """A piece of a file to replace: lines and columns from 1, the end exclusive, and the text."""

    __slots__ = ("column", "end_column", "end_line", "line", "text")

    def __init__(self, document: Document, edit: Edit) -> None:
        text = document.text
        self.line, self.column = _position(document, text, edit.start)
        self.end_line, self.end_column = _position(document, text, edit.end)
        self.text = edit.text


def _position(document: Document, text: str, offset: int) -> tuple[int, int]:
    row = text.count("\n", 0, offset)
    start = text.rfind("\n", 0, offset) + 1
    return document.first_line + row, offset - start + 1


class Suggestion:
    """The fix of one finding for a report: what to replace, piece by piece, and all in one."""

    __slots__ = ("pieces", "safe", "title", "whole")

    def __init__(self, document: Document, found: Fix, edits: list[Edit], *, crlf: bool) -> None:
        self.title = found.title
        self.safe = found.safe
        start, end = edits[0].start, max(edit.end for edit in edits)
        shifted = [Edit(e.start - start, e.end - start, e.text) for e in edits]
        whole = Edit(start, end, apply(document.text[start:end], shifted))
        self.pieces = [Replacement(document, edit) for edit in edits]
        self.whole = Replacement(document, whole)
        if crlf:
            for piece in (*self.pieces, self.whole):
                piece.text = piece.text.replace("\n", "\r\n")


def suggestions(
    data: bytes, name: str, findings: Iterable[Finding], minors: list[int]
) -> Iterator[tuple[Finding, Suggestion]]:
    """Yield the fixes of findings of one file, for reports.

    Each fix by itself leaves a text that reads as it should, with all other values equal.
    """
    fixes.load()
    by_document: dict[int, list[Finding]] = {}
    for finding in findings:
        if finding.rule in fixes.CURES:
            by_document.setdefault(finding.spot.document, []).append(finding)
    if not by_document:
        return
    crlf = b"\r\n" in data
    for document in documents.read(data, name, wanted=reading.WANTED):
        if document.skipped or document.index not in by_document:
            continue
        surgery = _Surgery(document, minors)
        found = []
        for finding in by_document[document.index]:
            try:
                found.append(surgery.fix(finding))
            except NotEditable:
                continue
        for fix_, edits in _proven(document, [fix_ for fix_ in found if fix_ is not None]):
            if edits:  # what reads well already has none
                yield fix_.finding, Suggestion(document, fix_, edits, crlf=crlf)


def _proven(document: Document, found: list[Fix]) -> Iterator[tuple[Fix, list[Edit]]]:
    """Yield fixes with their edits, of which it is proven that the text reads as it should.

    Those that do not touch each other are proven together, which takes one reading.
    """
    try:
        outline = Outline(document.text)
    except NotEditable:
        return
    while found:
        plan = Plan(outline)
        together: list[Fix] = []
        later: list[Fix] = []
        for fix_ in found:
            try:
                (together if plan.add(fix_.changes) else later).append(fix_)
            except NotEditable:
                continue
        all_right = _reads(document, plan)
        for fix_ in together:
            alone = Plan(outline)
            alone.add(fix_.changes)
            if all_right or _reads(document, alone):
                yield fix_, alone.edits()
        # A fix whose own changes touch each other would wait for ever.
        found = later if together else []


def _reads(document: Document, plan: Plan) -> bool:
    try:
        text = apply(document.text, plan.edits())
    except NotEditable:
        return False
    read = list(documents.read(text.encode(), document.name))
    wanted = changed(document.data, plan.changes)
    return len(read) == 1 and read[0].error is None and same(plain(read[0].data), wanted)


def suggester(report: api.Report) -> Callable[[Finding], Suggestion | None]:
    """Return a function that gives the fix of a finding of a report, None where there is none.

    Reads a file when it is first asked for one of its findings, and holds one file at a time.
    """
    from crdlint import source

    by_file: dict[str, list[Finding]] = {}
    for finding in report.findings:
        by_file.setdefault(finding.spot.file, []).append(finding)
    held: dict[str, dict[int, Suggestion]] = {}

    def suggest(finding: Finding) -> Suggestion | None:
        file = finding.spot.file
        if finding.rule not in fixes.CURES:
            return None
        if file not in held:
            held.clear()
            try:
                data = report.texts.get(file) or source.read_file(file)
            except source.SourceError:
                data = b""
            found = suggestions(data, file, by_file.get(file, ()), report.minors)
            held[file] = {id(of): suggestion for of, suggestion in found}
        return held[file].get(id(finding))

    fixes.load()
    return suggest
