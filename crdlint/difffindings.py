"""What a comparison found as findings: their places in both files, and equal ones folded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdlint import pages, server
from crdlint.finding import Finding, Spot, fingerprint
from crdlint.severity import judge

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crdlint.diffrule import Problem
    from crdlint.document import Path
    from crdlint.reading import Subject
    from crdlint.tree import Crd


def whole(subject: Subject, rule: str, message: str) -> Finding:
    page = pages.page(rule)
    keys = ("metadata", "name")
    finding = Finding(
        rule,
        page.severity,
        message,
        _spot(subject, keys),
        crd=subject.name,
        field="metadata.name",
        help=page.cure,
        fingerprint=fingerprint(rule, subject.name, "*", "metadata.name", message),
    )
    finding.effects = list(page.effects)
    return finding


def refusal(new: Subject, problem: Any) -> Finding:
    """Turn what the server says to the update into a finding."""
    page = pages.page(problem.rule)
    assert new.crd is not None
    node, path = problem.place.node, problem.place.path
    version = str(node.version.get("name") or "") if node.version else ""
    if node.kind == "schema" and new.crd.hoisted("schema"):
        version = "*"
    field = (node.field or "the root") if node.kind == "schema" else server.join(path)
    finding = Finding(
        problem.rule,
        page.severity,
        problem.message,
        _spot(new, path, version, problem.place.within),
        crd=new.crd.name,
        field=field,
        server=server.claims(new.crd, problem),
        help=problem.help or page.cure,
        related=[(_spot(new, place.path), words) for place, words in problem.related],
        fingerprint=fingerprint(problem.rule, new.crd.name, version, field, problem.message),
    )
    if any(kind != "Warning" for kind, _ in finding.server or ()):
        finding.severity = "error"
        finding.effects = ["server-refuses"]
    return finding


def from_hit(subject: Subject, hit: Any) -> Finding:
    page = pages.page(hit.rule)
    spot = _spot(subject, hit.path)
    spot.line, spot.column = hit.span.line, hit.span.column
    spot.end_line, spot.end_column = hit.span.end_line, hit.span.end_column
    finding = Finding(
        hit.rule,
        page.severity,
        hit.message,
        spot,
        crd=subject.name,
        field=hit.field,
        server=hit.claims,
        help=page.cure,
        fingerprint=fingerprint(hit.rule, subject.name, "", hit.field, hit.message),
    )
    if any(kind != "Strict" for kind, _ in hit.claims or ()):
        finding.effects = ["server-refuses"]
    return finding


def _spot(
    subject: Subject, path: Path, version: str = "", within: tuple[int, int] | None = None
) -> Spot:
    """Return the spot of a path, cut to what is there."""
    path = _there(subject.crd, path)
    span = subject.locate(path, within=within)
    return Spot(
        subject.document.name,
        subject.document.index,
        span.line,
        span.column,
        span.end_line,
        span.end_column,
        path,
        subject.item,
        version,
    )


def _there(crd: Crd | None, path: Path) -> Path:
    if crd is None:
        return path
    value: Any = crd.data
    for i, key in enumerate(path):
        try:
            value = value[key]
        except (KeyError, IndexError, TypeError):
            return path[:i]
    return path


def judged_finding(old: Subject, new: Subject, problem: Problem, held_to: str) -> Finding | None:
    change = problem.change
    page = pages.page(problem.rule)
    judged = judge(problem, page.severity, page.effects, held_to=held_to)
    if judged is None:
        return None
    node = change.new
    version = str(node.version.get("name") or "") if node.version else ""
    field = field_of(problem)
    cure = problem.help or page.cure
    assert new.crd is not None
    finding = Finding(
        problem.rule,
        judged.severity,
        problem.message,
        _spot(new, problem.place.path, version),
        crd=new.crd.name,
        field=field,
        server=server.claims(new.crd, problem) or None,
        help=f"{cure} {judged.note}" if judged.note else cure,
        related=[(_spot(new, place.path), words) for place, words in problem.related],
    )
    finding.effects = judged.effects
    if change.old.crd is old.crd:
        finding.old = _spot(old, change.there.path, version)
    finding.fingerprint = field.rpartition(".")[2] if problem.together is None else problem.together
    return finding


def field_of(problem: Problem) -> str:
    """Spell the field first, as people write it; of the CRD itself as its own path."""
    if problem.field:
        return problem.field
    change = problem.change
    node = change.new
    if node.kind == "schema":
        return node.field or "the root"
    keys = change.new_keys
    if node.kind == "version":
        return server.join(("spec", f"versions[{node.get('name')}]", *keys))
    if keys[:2] == ("spec", "versions") and change.name:
        return server.join(("spec", f"versions[{change.name}]", *keys[3:]))
    return server.join(keys)


def fold(findings: Iterable[Finding], *, one_by_one: bool = False) -> list[Finding]:
    """Make one finding, with its places, of the same change in many fields or versions.

    One Go type used in forty fields gives the same finding below each of them: same rule, same
    message, same last name of the field.
    """
    groups: dict[tuple[Any, ...], list[Finding]] = {}
    for finding in findings:
        tail = finding.fingerprint  # what _finding left there
        key = (
            finding.rule,
            finding.severity,
            *finding.effects,
            finding.message,
            finding.help,
            tail,
        )
        groups.setdefault((*key, len(groups)) if one_by_one else key, []).append(finding)
    folded = []
    for first, *others in groups.values():
        if others:
            first.places = [first.spot, *(other.spot for other in others)]
            first.server = _joined(first, *others)
        versions = {spot.version for spot in first.places or [first.spot]}
        version = next(iter(versions)) if len(versions) == 1 else "*"
        tails = {finding.field.rpartition(".")[2] for finding in (first, *others)}
        fields = (first.field, *sorted(tails)) if len(tails) > 1 else (first.field,)
        first.fingerprint = fingerprint(
            first.rule, first.crd, version, " ".join(fields), first.message
        )
        folded.append(first)
    return folded


def _joined(*findings: Finding) -> list[tuple[str, str]] | None:
    claims = [claim for finding in findings for claim in finding.server or ()]
    return list(dict.fromkeys(claims)) or None
