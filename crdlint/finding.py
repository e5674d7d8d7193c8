"""What crdlint reports: a finding, its places, and the fingerprint that outlives moves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from crdlint.document import Path

SEVERITIES = ("error", "warning", "info")  # worst first
IN_SOURCE, EXTERNAL = "inSource", "external"  # SARIF's words for where a finding was put aside


class Spot:
    """A place in a file: lines and columns count from 1, in code points; the end is exclusive."""

    __slots__ = (
        "column",
        "document",
        "end_column",
        "end_line",
        "file",
        "item",
        "line",
        "path",
        "version",
    )

    def __init__(
        self,
        file: str,
        document: int = 0,
        line: int = 1,
        column: int = 1,
        end_line: int = 0,
        end_column: int = 0,
        path: Path = (),
        item: int | None = None,
        version: str = "",
    ) -> None:
        self.file = file
        self.document = document
        self.line = line
        self.column = column
        self.end_line = end_line or line
        self.end_column = end_column or column
        self.path = path
        self.item = item
        self.version = version


class Finding:
    """One thing that a user should know, with everything a report may show.

    `field` is the field first, as people write it (`.spec.ports[*].name`, `spec.names.plural`).
    `server` has (type, field) pairs as the API server prints them, or is None.
    `servers` says which Kubernetes versions it holds for ("1.28-1.30") when several were asked.
    `places` lists every place of a finding that folds several, the first being `spot`.
    `old`, `effects` and `witness` belong to `diff`: `witness` is an object that was taken before,
    `witnessed` what becomes of it now, `unproven` why there is none though somebody is hurt.
    `suppressed` is how a finding that does not count was put aside: IN_SOURCE or EXTERNAL, and why.
    """

    __slots__ = (
        "crd",
        "effects",
        "field",
        "fingerprint",
        "help",
        "message",
        "old",
        "places",
        "related",
        "rule",
        "server",
        "servers",
        "severity",
        "spot",
        "suppressed",
        "unproven",
        "witness",
        "witnessed",
    )

    def __init__(
        self,
        rule: str,
        severity: str,
        message: str,
        spot: Spot,
        *,
        crd: str = "",
        field: str = "",
        server: list[tuple[str, str]] | None = None,
        help: str = "",  # noqa: A002 - the word users see in the JSON report
        related: list[tuple[Spot, str]] | None = None,
        fingerprint: str = "",
    ) -> None:
        self.rule = rule
        self.severity = severity
        self.message = message
        self.spot = spot
        self.crd = crd
        self.field = field
        self.server = server
        self.help = help
        self.related = related or []
        self.fingerprint = fingerprint
        self.servers = ""
        self.places: list[Spot] = []
        self.effects: list[str] = []
        self.old: Spot | None = None
        self.witness: Any = None
        self.witnessed: dict[str, Any] = {}
        self.unproven = ""
        self.suppressed: tuple[str, str] | None = None


class Summary:
    """What a run looked at and found."""

    __slots__ = ("counts", "crds", "documents", "files", "notes", "objects", "suppressed")

    def __init__(self) -> None:
        self.files = 0
        self.documents = 0
        self.crds = 0
        self.objects: int | None = None  # that `validate` judged
        self.suppressed = 0
        self.counts = dict.fromkeys(SEVERITIES, 0)
        self.notes: list[str] = []  # for stderr: what was skipped or read otherwise


def order(finding: Finding) -> tuple[Any, ...]:
    """Return the key that findings are sorted by: file, place, rule, message."""
    spot = finding.spot
    return (
        spot.file,
        spot.document,
        spot.item or 0,
        spot.line,
        spot.column,
        finding.rule,
        finding.field,
        finding.message,
    )


def fingerprint(rule: str, crd: str, version: str, field: str, message: str) -> str:
    """Hash what stays when text moves: rule, CRD name, version (`*` for all), field and message.

    The place in a list does not: versions and columns may change their order.
    """
    import hashlib

    if "[" in field:
        import re

        field = re.sub(r"\[[0-9]+\]", "[]", field)
    text = f"{rule}\0{crd}\0{version}\0{field}\0{message}"
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
