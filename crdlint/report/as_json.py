"""The JSON report: one document, one finding a line, the same bytes for the same findings."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from crdlint import json_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crdlint.finding import Finding, Spot, Summary
    from crdlint.report import Options


def render(findings: Iterable[Finding], summary: Summary, options: Options) -> str:
    """Return the report as JSON, in ASCII, its keys in the documented order."""
    encode = json.JSONEncoder(ensure_ascii=True, allow_nan=False).encode
    rows = ",\n".join([encode(as_dict(finding, diff=options.diff)) for finding in findings])
    objects = ""
    if options.objects is not None:
        entries = ",\n".join([json_text.dump(row, ascii=True) for row in options.objects])
        objects = f' "objects": [{entries}],\n'
    return (
        f'{{"version": 1, "kubernetes": {encode(options.kubernetes)},\n'
        f' "findings": [{rows}],\n'
        f"{objects}"
        f' "summary": {encode(summary_dict(summary))}}}\n'
    )


def as_dict(finding: Finding, *, diff: bool = False) -> dict[str, Any]:
    """Return one finding as plain data."""
    row: dict[str, Any] = {
        "rule": finding.rule,
        "severity": finding.severity,
        "message": finding.message,
        "crd": finding.crd,
        **_where(finding.spot),
        "server": None,
    }
    if finding.server is not None:
        row["server"] = [{"type": kind, "field": field} for kind, field in finding.server]
    if finding.servers:
        row["servers"] = finding.servers
    row["fingerprint"] = finding.fingerprint
    row["help"] = finding.help
    if finding.places:
        row["places"] = [_place(spot) for spot in finding.places]
    if finding.related:
        row["related"] = [_where(spot) | {"message": text} for spot, text in finding.related]
    if diff:
        row["effects"] = finding.effects
        row["old"] = None if finding.old is None else _where(finding.old)
        row["witness"] = finding.witness
        if finding.witnessed:
            row["witnessed"] = finding.witnessed
        elif finding.unproven:
            row["witnessWhy"] = finding.unproven
    return row


def _where(spot: Spot) -> dict[str, Any]:
    where: dict[str, Any] = {"file": spot.file, "document": spot.document}
    if spot.item is not None:
        where["item"] = spot.item
    where |= {
        "line": spot.line,
        "column": spot.column,
        "endLine": spot.end_line,
        "endColumn": spot.end_column,
        "path": spot.path,
    }
    return where


def _place(spot: Spot) -> dict[str, Any]:
    where = _where(spot)
    del where["endLine"], where["endColumn"]
    where["version"] = spot.version
    return where


def summary_dict(summary: Summary) -> dict[str, int]:
    """Return the summary as plain data."""
    objects = {} if summary.objects is None else {"objects": summary.objects}
    return {
        "files": summary.files,
        "documents": summary.documents,
        "crds": summary.crds,
        **objects,
        **summary.counts,
        "suppressed": summary.suppressed,
    }
