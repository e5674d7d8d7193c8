"""Findings that somebody put aside: by a comment, by an annotation, or in the configuration."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from crdlint.finding import EXTERNAL, IN_SOURCE, Finding, Spot, fingerprint
from crdlint.rule import declare
from crdlint.spelling import meant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from crdlint.comments import Comment
    from crdlint.document import Document
    from crdlint.policy import Ignore, Policy

ANNOTATION = "crdlint.dev/ignore"
WORD = b"crdlint"  # a file without it has neither comment nor annotation
UNUSED, INVALID = "unused-ignore", "invalid-ignore"
LINE, FILE, CRD = "line", "file", "crd"  # what a directive speaks for
_COMMENT = "crdlint:"
_DIRECTIVE = r"#[ \t]*crdlint:[ \t]*ignore(-file)?[ \t]*\[([^\]]*)\][ \t]*:?[ \t]*(.*)"
_LIKE_ONE = r"#[ \t]*crdlint:[ \t]*(?:ignore\b|[\w-]+[ \t]*\[)"

declare(UNUSED, INVALID)


class Directive:
    """An ignore in a file: the rules it names, what it speaks for, and which of them were used.

    `line` is the line that one of LINE speaks for; `spot` is where it stands itself.
    """

    __slots__ = ("line", "reason", "rules", "scope", "spot", "used")

    def __init__(
        self, scope: str, rules: Iterable[str], spot: Spot, *, line: int = 0, reason: str = ""
    ) -> None:
        self.scope = scope
        self.rules = [rule for text in rules if (rule := text.strip())]
        self.spot = spot
        self.line = line
        self.reason = reason
        self.used: set[str] = set()


class Ignores:
    """All ignores of a run, and which of them put something aside."""

    __slots__ = ("_by_place", "directives", "used")

    def __init__(self) -> None:
        self.directives: list[Directive] = []
        self.used: set[tuple[str, int]] = set()  # file and line of those in a configuration
        self._by_place: dict[tuple[Any, ...], list[Directive]] = {}

    def take(self, other: Ignores) -> None:
        """Add those of another part of the run."""
        self.used |= other.used
        for directive in other.directives:
            self._add(directive)

    def read(self, documents: Iterable[Document]) -> None:
        """Read the comments and annotations of documents."""
        for document in documents:
            for directive in (*_in_comments(document), *_in_annotations(document)):
                self._add(directive)

    def _add(self, directive: Directive) -> None:
        spot = directive.spot
        keys = {
            LINE: (spot.file, directive.line),
            FILE: (spot.file,),
            CRD: (spot.file, spot.document, spot.item),
        }
        self.directives.append(directive)
        self._by_place.setdefault(keys[directive.scope], []).append(directive)

    def hides(self, finding: Finding, policy: Policy) -> bool:
        """Tell whether a finding is put aside, and note by what.

        Of a finding with several places, those that are put aside are taken out.
        """
        if not policy.heed or not (self._by_place or policy.ignores):
            return False
        kept: list[Spot] = []
        spots = finding.places or [finding.spot]
        for spot in spots:
            found = self._in_source(finding, spot) or self._external(finding, spot, policy)
            if found is None:
                kept.append(spot)
            else:
                finding.suppressed = finding.suppressed or found
        if not kept:
            return True
        finding.suppressed = None
        if len(kept) < len(spots):
            finding.spot = kept[0]
            finding.places = kept if len(kept) > 1 else []
        return False

    def _in_source(self, finding: Finding, spot: Spot) -> tuple[str, str] | None:
        found = None
        for key in (
            (spot.file, spot.line),
            (spot.file, spot.document, spot.item),
            (spot.file,),
        ):
            for directive in self._by_place.get(key, ()):
                if finding.rule in directive.rules:
                    directive.used.add(finding.rule)
                    found = found or (IN_SOURCE, directive.reason)
        return found

    def _external(self, finding: Finding, spot: Spot, policy: Policy) -> tuple[str, str] | None:
        found = None
        for ignore in policy.ignores:
            if ignore.matches(finding, spot):
                self.used.add((ignore.file, ignore.line))
                found = found or (EXTERNAL, ignore.reason)
        return found

    def findings(self, policy: Policy, judged: Callable[[str], bool]) -> Iterator[Finding]:
        """Yield what is wrong with the directives: rules that are none, and those without use.

        `judged` tells whether a rule is one that the run looks for at all.
        """
        from crdlint import pages

        known = frozenset(pages.ids()) if self.directives else frozenset()
        for directive in self.directives:
            here = policy.for_file(directive.spot.file)
            if not here.heed:
                continue
            if not directive.rules:
                text = "this names no rule: write # crdlint: ignore[RULE] and the reason"
                yield from _finding(INVALID, text, directive, here)
            for rule in dict.fromkeys(directive.rules):
                if rule not in known:
                    text = f"there is no rule {rule!r}{meant(rule, known)}"
                    yield from _finding(INVALID, text, directive, here)
                elif rule not in directive.used and judged(rule) and here.judge(rule) is not None:
                    text = f"nothing of {rule} is found {_WHERE[directive.scope]}"
                    yield from _finding(UNUSED, text, directive, here)

    def unused(
        self, ignore: Ignore, policy: Policy, judged: Callable[[str], bool]
    ) -> Iterator[Finding]:
        """Yield a finding for an ignore of the configuration that put nothing aside."""
        runs = any(judged(rule) and policy.judge(rule) is not None for rule in ignore.rules)
        if (ignore.file, ignore.line) not in self.used and (runs or not ignore.rules):
            spot = Spot(ignore.file, 0, ignore.line)
            directive = Directive(FILE, (), spot)
            meant = ", ".join(ignore.rules) or "any rule"
            where = " in ".join(filter(None, (ignore.field, ignore.crd))) or "these files"
            yield from _finding(
                UNUSED, f"nothing of {meant} is found in {where}", directive, policy
            )


_WHERE = {LINE: "on this line", FILE: "in this file", CRD: "in this CRD"}


def _finding(rule: str, text: str, directive: Directive, policy: Policy) -> Iterator[Finding]:
    judged = policy.judge(rule)
    if judged is not None:
        severity, cure = judged
        prints = fingerprint(rule, "", "", directive.scope, text)
        yield Finding(rule, severity, text, directive.spot, help=cure, fingerprint=prints)


def _in_comments(document: Document) -> Iterator[Directive]:
    if not document.contains(re.compile(_COMMENT.encode())):
        return
    from crdlint.comments import comments

    for comment in comments(document, _COMMENT):
        match = re.search(_DIRECTIVE, comment.text)
        whole, rules, reason = match.groups() if match else ("", "", "")
        match = match or re.search(_LIKE_ONE, comment.text)
        if match is None:
            continue  # another remark
        span = comment.span
        start = span.column + match.start()
        spot = Spot(document.name, document.index, span.line, start, span.line, span.end_column)
        line = 0 if whole else _meant_line(document, comment)
        yield Directive(FILE if whole else LINE, rules.split(","), spot, line=line, reason=reason)


def _meant_line(document: Document, comment: Comment) -> int:
    """Return the line that a comment speaks for: its own, or the next one that is no comment."""
    line = comment.span.line
    if comment.alone:
        line += 1
        while line < document.last_line and document.line(line).lstrip()[:1] in ("", "#"):
            line += 1
    return line


def _in_annotations(document: Document) -> Iterator[Directive]:
    for data, item, prefix in _objects(document.data):
        metadata = data.get("metadata")
        annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
        text = annotations.get(ANNOTATION) if isinstance(annotations, dict) else None
        if not isinstance(text, str):
            continue
        path = ("metadata", "annotations", ANNOTATION)
        span = document.locate((*prefix, *path))
        spot = Spot(
            document.name,
            document.index,
            span.line,
            span.column,
            span.end_line,
            span.end_column,
            path,
            item,
        )
        yield Directive(CRD, text.split(","), spot, reason=f"annotation {ANNOTATION}")


def _objects(data: Any) -> Iterator[tuple[dict[str, Any], int | None, tuple[Any, ...]]]:
    """Yield the objects of a document: itself, and what a List holds."""
    if isinstance(data, dict):
        yield data, None, ()
        items = data.get("items")
        for i, item in enumerate(items if isinstance(items, list) else ()):
            if isinstance(item, dict):
                yield item, i, ("items", i)
