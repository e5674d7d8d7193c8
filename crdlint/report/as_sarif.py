"""The SARIF 2.1.0 report, as GitHub code scanning reads it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from crdlint import __version__
from crdlint.pages import URL, Page, PageError, page
from crdlint.report import HOME, headline, relative
from crdlint.report.linehash import line_hashes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crdlint.finding import Finding, Spot, Summary
    from crdlint.report import Options

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
LEVELS = {"error": "error", "warning": "warning", "info": "note"}
PROBLEMS = {"error": "error", "warning": "warning", "info": "recommendation"}
MOST_RESULTS = 25_000  # GitHub refuses a run with more
MOST_BYTES = 10_000_000  # compressed; GitHub refuses a larger file
MOST_TEXT = 1024  # characters of a description that GitHub takes
MOST_LINKS = 10  # of the places of a folded finding


def render(findings: Iterable[Finding], summary: Summary, options: Options) -> str:
    """Return the report as SARIF; where GitHub takes no more, the worst findings are kept."""
    del summary
    found = list(findings)
    kept = [found[i] for i in _worst([LEVELS[each.severity] for each in found], MOST_RESULTS)]
    rules = sorted({finding.rule for finding in kept})
    number = {rule: i for i, rule in enumerate(rules)}
    places = _Places(options)
    run: dict[str, Any] = {
        "tool": {
            "driver": {
                "name": "crdlint",
                "semanticVersion": __version__,
                "version": __version__,
                "informationUri": HOME,
                "rules": [_rule(rule) for rule in rules],
            }
        },
        "invocations": [{"executionSuccessful": True}],
        "originalUriBaseIds": {"%SRCROOT%": {"description": {"text": "The repository's root."}}},
        "columnKind": "utf16CodeUnits",
        "results": [
            {**_result(finding, number[finding.rule], places), **_fixes(finding, places, options)}
            for finding in kept
        ],
    }
    if options.category:
        run["automationDetails"] = {"id": options.category}
    if len(kept) < len(found):
        _say_cut(run, len(found))
    return write([run])


def write(runs: list[dict[str, Any]]) -> str:
    """Return runs as one SARIF file, less the least of their results where it would be too large.

    Runs of one file need automationDetails of their own, or GitHub refuses it.
    """
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": runs}
    while True:
        text = json.dumps(log, indent=1) + "\n"
        size = _compressed(text) if len(text) > MOST_BYTES else 0
        if size <= MOST_BYTES or not any(run["results"] for run in runs):
            return text
        for run in runs:
            _keep_worst(run, int(len(run["results"]) * MOST_BYTES / size * 0.9))


def _compressed(text: str) -> int:
    import zlib

    return len(zlib.compress(text.encode()))


def _worst(levels: list[str], most: int) -> list[int]:
    """Return the indices of the worst of some levels, at most so many, in their order."""
    ranks = list(LEVELS.values())
    worst = sorted(range(len(levels)), key=lambda i: ranks.index(levels[i]))
    return sorted(worst[:most])


def _keep_worst(run: dict[str, Any], most: int) -> None:
    """Keep the worst results of a run; its rules stay, so that their numbers do."""
    results = run["results"]
    run["results"] = [results[i] for i in _worst([row["level"] for row in results], most)]
    _say_cut(run, len(results))


def _say_cut(run: dict[str, Any], before: int) -> None:
    """Say in a run how many findings there were before some were left out."""
    properties = run.setdefault("properties", {})
    total = properties.setdefault("findings", before)
    text = f"The worst {len(run['results'])} of {total} findings are in this report."
    notification = {"level": "warning", "message": {"text": text}}
    run["invocations"][0]["toolExecutionNotifications"] = [notification]


class _Places:
    """Turns spots into SARIF locations; holds the hashes of one file at a time."""

    def __init__(self, options: Options) -> None:
        self.lines = options.lines
        self.root = options.root
        self.uris: dict[str, str] = {}
        self.file: str | None = None
        self.hashes: list[str] = []

    def location(self, spot: Spot) -> dict[str, Any]:
        """Return the physical location of a spot, its columns in UTF-16 units."""
        lines = self.lines(spot.file)
        region = {
            "startLine": spot.line,
            "startColumn": _column(lines, spot.line, spot.column),
            "endLine": spot.end_line,
            "endColumn": _column(lines, spot.end_line, spot.end_column),
        }
        if region["endLine"] == region["startLine"]:
            # A region is at least one character wide, else viewers show none.
            region["endColumn"] = max(region["endColumn"], region["startColumn"] + 1)
        artifact = self.artifact(spot.file)
        return {"physicalLocation": {"artifactLocation": artifact, "region": region}}

    def artifact(self, file: str) -> dict[str, str]:
        """Return where a file is."""
        uri = self.uri(file)
        return {"uri": uri} if uri.startswith("file:") else {"uri": uri, "uriBaseId": "%SRCROOT%"}

    def exact(self, file: str, piece: Any) -> dict[str, int]:
        """Return the region of a piece of text that a fix replaces; it may be empty."""
        lines = self.lines(file)
        return {
            "startLine": piece.line,
            "startColumn": _column(lines, piece.line, piece.column),
            "endLine": piece.end_line,
            "endColumn": _column(lines, piece.end_line, piece.end_column),
        }

    def uri(self, file: str) -> str:
        """Return the URI of a file, from the root where it is below that."""
        known = self.uris.get(file)
        if known is None:
            known = quote(relative(file, self.root), safe="/~", errors="replace")
            known = self.uris[file] = f"file://{known}" if known.startswith("/") else known
        return known

    def hash(self, spot: Spot) -> str | None:
        """Return the hash of a spot's line, or None where the text is not at hand."""
        if self.file != spot.file:
            lines = self.lines(spot.file)
            self.file = spot.file
            self.hashes = line_hashes(lines) if lines else []
        return self.hashes[spot.line - 1] if spot.line <= len(self.hashes) else None


def _column(lines: list[str] | None, line: int, column: int) -> int:
    """Return the column in UTF-16 units of a column in code points."""
    if not lines or line > len(lines):
        return column
    text = lines[line - 1]
    if text.isascii():
        return column
    if line == 1 and text.startswith("\ufeff"):
        text = text[1:]  # columns do not count a byte order mark
    return column + sum(char > "\uffff" for char in text[: column - 1])


def _fixes(finding: Finding, places: _Places, options: Options) -> dict[str, Any]:
    """Return the fix of a finding, empty where there is none."""
    found = options.fix(finding)
    if found is None:
        return {}
    file = finding.spot.file
    title = found.title if found.safe else f"Look at it first: {found.title}"
    change = {
        "artifactLocation": places.artifact(file),
        "replacements": [
            {
                "deletedRegion": places.exact(file, piece),
                "insertedContent": {"text": piece.text},
            }
            for piece in found.pieces
        ],
    }
    return {"fixes": [{"description": {"text": _sentence(title)}, "artifactChanges": [change]}]}


def _result(finding: Finding, index: int, places: _Places) -> dict[str, Any]:
    text = headline(finding)
    if finding.servers:
        text += f" (Kubernetes {finding.servers})"
    prints = {"crdlint/v1": finding.fingerprint} if finding.fingerprint else {}
    line_hash = places.hash(finding.spot)
    if line_hash is not None:
        prints["primaryLocationLineHash"] = line_hash
    related = list(finding.related)
    if finding.old is not None:
        related.append((finding.old, "before"))
    others = finding.places[1:]
    related += [(spot, _named(spot)) for spot in others[:MOST_LINKS]]
    links = [f"[{_link_text(label)}]({i})" for i, (_, label) in enumerate(related, start=1)]
    message = _sentence(text)
    if links:
        message += f" See {', '.join(links)}"
        more = len(others) - MOST_LINKS
        message += f" and {more} more places." if more > 0 else "."
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "ruleIndex": index,
        "level": LEVELS[finding.severity],
        "message": {"text": message},
        "locations": [places.location(finding.spot)],
    }
    if related:
        result["relatedLocations"] = [
            {"id": i, "message": {"text": _sentence(label)}, **places.location(spot)}
            for i, (spot, label) in enumerate(related, start=1)
        ]
    if prints:
        result["partialFingerprints"] = prints
    if finding.suppressed:
        kind, why = finding.suppressed
        result["suppressions"] = [{"kind": kind} | ({"justification": why} if why else {})]
    properties: dict[str, Any] = {"crd": finding.crd} if finding.crd else {}
    if finding.server:
        properties["server"] = [f"{kind} {field}".strip() for kind, field in finding.server]
    if finding.witnessed:
        properties["witness"] = {"object": finding.witness, **finding.witnessed}
    if properties:
        result["properties"] = properties
    return result


def _named(spot: Spot) -> str:
    version = f"{spot.version} " if spot.version else ""
    return f"also {version}line {spot.line}"


def _link_text(label: str) -> str:
    """Return a label without what would end the link; GitHub knows no escapes there."""
    return label.replace("[", "(").replace("]", ")").replace("\\", "/")


def _sentence(text: str) -> str:
    """Return a text on one line with a full stop, none of it a link or a placeholder."""
    line = " ".join(text.split()).replace("](", "] (") or "See the rule"
    return line if line.endswith((".", "!", "?")) else f"{line}."


def _rule(rule: str) -> dict[str, Any]:
    try:
        known = page(rule)
    except PageError:
        known = Page(rule, "")
        known.severity, known.summary = "error", f"The rule {rule}"
    url = URL.format(rule)
    why = " ".join(known.why.split()) or known.summary
    link = f"[{rule}]({url})"
    name = "".join(word.capitalize() for word in rule.split("-"))
    named = {"name": name} if name.lower() != rule else {}  # a name may not repeat the id
    return {
        "id": rule,
        **named,
        "shortDescription": {"text": _cut(_sentence(known.summary))},
        "fullDescription": {"text": _cut(_sentence(why))},
        "help": {
            "text": f"{_sentence(why)}\n{known.cure}".strip(),
            "markdown": f"{known.body.strip()}\n\n{link}".strip(),
        },
        "helpUri": url,
        "defaultConfiguration": {"level": LEVELS[known.severity]},
        "properties": {
            "precision": "very-high" if known.server else "high",
            "problem.severity": PROBLEMS[known.severity],
            "tags": ["kubernetes", "crd", *known.effects],
        },
    }


def _cut(text: str) -> str:
    return text if len(text) <= MOST_TEXT else text[: MOST_TEXT - 3] + "..."
