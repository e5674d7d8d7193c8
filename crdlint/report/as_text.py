"""The text report for people: a headline, the source with carets under it, and the cure."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from crdlint.finding import SEVERITIES
from crdlint.pages import URL
from crdlint.report import count, headline
from crdlint.report.terminal import Style, clean, excerpt

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crdlint.finding import Finding, Spot, Summary
    from crdlint.report import Lines, Options

WITNESS = "valid before"  # heads the object that shows what breaks
PLACES = 5  # of a folded finding that are named

# How kubectl spells the server's error types.
SPELLED = {
    "Required": "Required value",
    "Invalid": "Invalid value",
    "TypeInvalid": "Invalid value",
    "NotSupported": "Unsupported value",
    "Duplicate": "Duplicate value",
    "TooLong": "Too long",
    "TooMany": "Too many",
    "NotFound": "Not found",
    "InternalError": "Internal error",
    "DecodeError": "cannot be decoded",
    "BadRequest": "bad request",
    "NotServed": "this apiVersion is not served",
    "NoMatch": "no such kind",
    "Panic": "the server panics",
}
EFFECTS = {
    "server-refuses": "the API server refuses the update",
    "stored-objects": "stored objects",
    "writers": "writers",
    "readers": "readers",
    "gitops": "GitOps",
    "rollback": "rollback",
    "depends-on-webhook": "depends on the conversion webhook",
}


def render(findings: Iterable[Finding], summary: Summary, options: Options) -> str:
    """Return a block for each finding, and a last line that sums up."""
    style = Style(color=options.color)
    blocks = []
    first = ""
    for finding in findings:
        blocks.append(_block(finding, options, style))
        first = first or finding.rule
    blocks.append(last_line(summary, first, options))
    return "\n".join(blocks)


def _block(finding: Finding, options: Options, style: Style) -> str:
    kind = kind_of(finding, style)
    lines = [kind + style(f": {clean(headline(finding))}", "bold")]
    marked = [(finding.spot, "", finding.severity)]
    marked += [(spot, label, "related") for spot, label in finding.related]
    if finding.old is not None:
        marked.append((finding.old, "before", "related"))
    gutter = max(len(str(spot.line)) for spot, _, _ in marked)
    lines += _snippets(marked, options.lines, gutter, style)
    notes = _notes(finding, verbose=options.verbose)
    if notes:
        lines.append(style(f"{'':{gutter}} |", "line"))
    for key, text in notes:
        sign = style("=", "line")
        lines.append(f"{'':{gutter}} {sign} {style(f'{key}:', 'bold')} {clean(text)}")
        if key == WITNESS:
            lines += [f"{'':{gutter}}     {line}" for line in _object(finding, options)]
    return "\n".join(lines) + "\n"


def _object(finding: Finding, options: Options) -> list[str]:
    """Return the lines of a finding's witness."""
    from crdlint.report import witnesses

    most = sys.maxsize if options.verbose else witnesses.MOST_LINES
    return [clean(line) for line in witnesses.lines(finding, most=most)]


def kind_of(finding: Finding, style: Style) -> str:
    """Return severity and rule, which leads to the rule's page."""
    text = style(f"{finding.severity}[{finding.rule}]", finding.severity)
    return style.link(text, URL.format(finding.rule))


def _snippets(
    marked: list[tuple[Spot, str, str]], lines_of: Lines, gutter: int, style: Style
) -> list[str]:
    """Return the source lines of all spots, file by file, the finding's own file first."""
    by_file: dict[str, list[tuple[Spot, str, str]]] = {}
    for entry in marked:
        by_file.setdefault(entry[0].file, []).append(entry)
    out = []
    arrow = "-->"
    for file, entries in by_file.items():
        spot, label, _ = entries[0]
        at = f"{clean(file)}:{spot.line}:{spot.column}"
        lines = lines_of(file)
        out.append(f"{'':{gutter}}{style(arrow, 'line')} {at}")
        arrow = ":::"
        if lines is None:
            out[-1] += f" {clean(label)}" if label else ""
            out += [
                f"{'':{gutter}}{style('...', 'line')} line {other.line}: {clean(text)}"
                for other, text, _ in entries[1:]
            ]
            continue
        out.append(style(f"{'':{gutter}} |", "line"))
        out += _source(entries, lines, gutter, style)
    return out


def _source(
    entries: list[tuple[Spot, str, str]], lines: list[str], gutter: int, style: Style
) -> list[str]:
    """Return the marked lines of one file in order, each with its marks under it."""
    out = []
    bar = style(f"{'':{gutter}} |", "line")
    shown = 0  # the last line that stands in the report
    for spot, label, kind in sorted(entries, key=lambda entry: (entry[0].line, entry[0].column)):
        text = lines[spot.line - 1] if spot.line <= len(lines) else ""
        if spot.line == 1:
            text = text.removeprefix("\ufeff")  # columns do not count a byte order mark
        end = spot.end_column if spot.end_line == spot.line else len(text) + 1
        source, before, width = excerpt(text, spot.column - 1, end - 1)
        if shown and spot.line > shown + 1:
            out.append(style("...", "line"))
        if spot.line != shown:
            out.append(f"{style(f'{spot.line:{gutter}} |', 'line')} {source}".rstrip())
        shown = spot.line
        mark = ("-" if kind == "related" else "^") * width
        if label:
            mark += f" {clean(label)}"
        out.append(f"{bar} {' ' * before}{style(mark, kind)}")
    return out


def _notes(finding: Finding, *, verbose: bool) -> list[tuple[str, str]]:
    """Return the lines below the source: their heading and text."""
    notes = []
    others = finding.places[1:]
    if others:
        named = ", ".join(_short(spot, finding.spot.file) for spot in others[:PLACES])
        rest = ", ..." if len(others) > PLACES else ""
        notes.append(("note", f"and {count(len(others), 'more place')}: {named}{rest}"))
    notes += _server(finding, verbose=verbose)
    if finding.effects:
        notes.append(("hurts", ", ".join(EFFECTS.get(word, word) for word in finding.effects)))
    if finding.witnessed:
        from crdlint.report import witnesses

        notes.append((WITNESS, witnesses.says(finding)))
    elif finding.unproven and verbose:
        notes.append(("no witness", finding.unproven))
    if finding.help:
        notes.append(("help", finding.help))
    if verbose and finding.fingerprint:
        notes.append(("fingerprint", finding.fingerprint))
    return notes


def _short(spot: Spot, file: str) -> str:
    where = f"line {spot.line}" if spot.file == file else f"{spot.file}:{spot.line}:{spot.column}"
    return f"{where} ({spot.version})" if spot.version else where


def _server(finding: Finding, *, verbose: bool) -> list[tuple[str, str]]:
    """Return what the API server prints for the finding, as kubectl shows it."""
    who = f"Kubernetes {finding.servers}" if finding.servers else "the API server"
    said: dict[str, list[str]] = {}
    for kind, field in finding.server or ():
        if kind == "Strict":
            said.setdefault("strict validation refuses", []).append(field)
        elif kind == "Warning":
            said.setdefault(f"{who} warns of", []).append(field)
        else:
            words = SPELLED.get(kind, kind)
            said.setdefault(f"{who} says", []).append(f"{field}: {words}" if field else words)
    if finding.servers and not said:
        return [("holds for", who)]
    notes = []
    for key, texts in said.items():
        if verbose:
            notes += [(key, text) for text in texts]
        else:
            more = f" (and {len(texts) - 1} more)" if len(texts) > 1 else ""
            notes.append((key, texts[0] + more))
    return notes


def last_line(summary: Summary, rule: str, options: Options) -> str:
    """Return what was put aside, if that is asked for, the sum of a run, and where to read on."""
    if options.quiet:
        return ""
    style = Style(color=options.color)
    found = [
        style(count(summary.counts[severity], severity), severity)
        for severity in SEVERITIES
        if summary.counts[severity]
    ]
    if not summary.crds and not found:
        line = f"no CustomResourceDefinition in {count(summary.files, 'file')}"
    else:
        looked = f"{count(summary.crds, 'CRD')} in {count(summary.files, 'file')}"
        if summary.objects is not None:
            looked = f"{count(summary.objects, 'object')} in {count(summary.files, 'file')}"
        line = f"{', '.join(found) or style('nothing found', 'good')}: {looked}"
    if summary.suppressed:
        line += f"; {summary.suppressed} suppressed"
    if rule:
        line += f"\n`crdlint explain {rule}` says why and shows how to put it right"
    aside = [_aside(finding, style) for finding in options.suppressed if options.verbose]
    return "\n".join([*aside, line]) + "\n"


def _aside(finding: Finding, style: Style) -> str:
    """Return a line for a finding that was put aside, with the reason."""
    spot = finding.spot
    where = f"{clean(spot.file)}:{spot.line}"
    reason = finding.suppressed[1] if finding.suppressed else ""
    said = f" ({clean(reason)})" if reason else ""
    return f"{style('suppressed', 'dim')} {where}: {finding.rule}: {clean(headline(finding))}{said}"
