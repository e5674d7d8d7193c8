"""Findings that the tests of reports share: of every severity, in odd text, with all parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from crdlint import pages
from crdlint.finding import Finding, Spot, Summary

if TYPE_CHECKING:
    from pathlib import Path

CRD = """\
\ufeffapiVersion: v1 # ünï 漢字
kind: X
\tspec: # a tab
  names: {plural: Widgets, 漢字: \U0001f600, other: value}
  x: 1
  y: 2
long: 'LONG'
""".replace("LONG", "x" * 300)
TEXTS = {"a/crd.yaml": CRD.encode(), "b c.yaml": b"one\r\ntwo: 2\r\nthree"}


LATE = ("servers", "places", "effects", "old", "witness", "witnessed", "unproven")


def finding(rule: str, severity: str, message: str, spot: Spot, **more: Any) -> Finding:
    late = {key: more.pop(key) for key in LATE if key in more}
    made = Finding(rule, severity, message, spot, **more)
    for key, value in late.items():
        setattr(made, key, value)
    return made


def samples() -> list[Finding]:
    return [
        finding(
            "plural-dns",
            "error",
            "`Widgets` has an upper case letter",
            Spot("a/crd.yaml", 0, 4, 19, 4, 26, ("spec", "names", "plural")),
            crd="widgets.example.com",
            field="spec.names.plural",
            server=[("Invalid", "spec.names.plural"), ("Invalid", "metadata.name")],
            help="Write the plural in lower case.",
            related=[
                (Spot("a/crd.yaml", 0, 1, 1, 1, 11), "needed here"),
                (Spot("b c.yaml", 0, 2, 6, 2, 7), "and the [other](x) here"),
            ],
            fingerprint="abc",
        ),
        finding(
            "folded",
            "warning",
            "emoji",
            Spot("a/crd.yaml", 1, 4, 35, 4, 40, ("a", 0), item=3, version="v1"),
            field=".x",
            servers="1.28-1.30",
            places=[
                Spot("a/crd.yaml", 1, 4, 35, 4, 40, ("a", 0), item=3, version="v1"),
                Spot("a/crd.yaml", 0, 6, 3, version="v1beta1"),
                Spot("b c.yaml", 0, 1, 1),
            ],
            help="Do it.",
        ),
        finding("long", "info", "100% of\nline \x1b[31m", Spot("a/crd.yaml", 0, 7, 250, 7, 260)),
        finding(
            "diffed",
            "error",
            "gone",
            Spot("b c.yaml", 0, 2, 1, 3, 6),
            field=".spec.ports[*].name",
            server=[("Strict", "spec.a"), ("Warning", "spec.b"), ("Required", "")],
            old=Spot("a/crd.yaml", 0, 5, 3, 5, 4),
            effects=["writers", "gitops"],
            witness={"a": "ü"},
            witnessed={
                "request": "create",
                "before": "accepted",
                "after": {"refused": [{"type": "Invalid", "field": "a", "message": "too odd"}]},
            },
        ),
        finding("unread", "error", "x", Spot("no file.yaml", 0, 3, 1, 3, 6)),
    ]


def summary() -> Summary:
    made = Summary()
    made.files, made.documents, made.crds, made.suppressed = 2, 3, 1, 4
    made.counts = {"error": 3, "warning": 1, "info": 1}
    return made


@pytest.fixture
def own_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "pages"
    folder.mkdir()
    for made in samples()[:4]:
        (folder / f"{made.rule}.md").write_text(
            f"---\nseverity: {made.severity}\nserver: true\n---\n# {made.rule}: A {made.rule} thing\n\n"
            f"{'The server refuses it. ' * 60}\n\n## Bad\n```yaml\ntype: object  # finding\n```\n\n"
            "## Fix\nDo it. Then.\n",
            encoding="utf-8",
        )
    monkeypatch.setattr(pages, "folder", lambda: str(folder))
    monkeypatch.setattr(pages, "_READ", {})
