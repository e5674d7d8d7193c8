"""From what the server says to an object to findings in the object's file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from crdlint import pages
from crdlint.finding import Finding, Spot, fingerprint
from crdlint.rule import declare

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crdlint.document import Document, Path, Span
    from crdlint.objects.resource import Outcome
    from crdlint.objects.served import Served
    from crdlint.reading import Hit, Subject

    Claims = list[tuple[str, str]]

# Which rule speaks for which part of a schema, or which check of the server.
RULES = {
    "type": "object-type",
    "format": "object-format",
    "number-format": "object-format",
    "enum": "object-enum",
    "pattern": "object-pattern",
    "maxLength": "object-bounds",
    "minLength": "object-bounds",
    "maximum": "object-bounds",
    "minimum": "object-bounds",
    "multipleOf": "object-bounds",
    "maximum-range": "object-bounds",
    "minimum-range": "object-bounds",
    "multipleOf-range": "object-bounds",
    "minItems": "object-bounds",
    "maxItems": "object-bounds",
    "minProperties": "object-bounds",
    "maxProperties": "object-bounds",
    "additionalProperties": "object-unknown-field",
    "required": "object-required",
    "anyOf": "object-junctor",
    "oneOf": "object-junctor",
    "allOf": "object-junctor",
    "not": "object-junctor",
    "x-kubernetes-list-type": "object-duplicate-item",
    "x-kubernetes-validations": "object-cel",
    "cel-budget": "object-cel",
    "typemeta": "object-metadata",
    "metadata": "object-metadata",
    "immutable": "object-immutable",
    "scale": "object-scale",
    "decode": "object-decode",
}
SKIPPED = "rules-skipped"  # a remark of the server on other errors, no finding of its own
NOT_SERVED = "object-not-served"
UNKNOWN_KIND = "object-kind-unknown"
CRD_REFUSED = "object-crd-refused"
UNKNOWN_FIELD = "object-unknown-field"
SCOPE = "object-scope"
UNPARSED = "yaml-syntax"

IDS = dict.fromkeys((*RULES.values(), NOT_SERVED, UNKNOWN_KIND, CRD_REFUSED, UNKNOWN_FIELD, SCOPE))
declare(*IDS)

_PLAIN = re.compile(r"[A-Za-z0-9_-]+\Z")


class Given:
    """An object as it stands in a file: its document, index in a List, way there, and data."""

    __slots__ = ("data", "document", "item", "prefix")

    def __init__(self, document: Document, item: int | None, prefix: Path, data: Any) -> None:
        self.document = document
        self.item = item
        self.prefix = prefix
        self.data = data

    def identity(self) -> tuple[str, str, str]:
        """Return group, version and kind, each "" where it is not there or no text."""
        api_version, kind = self.data.get("apiVersion"), self.data.get("kind")
        group, slash, version = str(api_version if isinstance(api_version, str) else "").rpartition(
            "/"
        )
        return (group if slash else ""), version, kind if isinstance(kind, str) else ""

    def label(self) -> str:
        """Return the kind as people say it, with its group."""
        group, _, kind = self.identity()
        if not kind:
            return "no kind"
        return f"{kind}.{group}" if group else kind

    def name(self) -> str:
        """Return metadata.name, "" where it is not there or no text."""
        return self._metadata("name")

    def namespace(self) -> str:
        """Return metadata.namespace, "" where it is not there or no text."""
        return self._metadata("namespace")

    def _metadata(self, key: str) -> str:
        metadata = self.data.get("metadata") if isinstance(self.data, dict) else None
        found = metadata.get(key) if isinstance(metadata, dict) else None
        return found if isinstance(found, str) else ""

    def locate(self, path: Path, *, key: bool = False) -> Span:
        """Return the span of a place in this object."""
        return self.document.locate((*self.prefix, *path), key=key)


def objects_in(document: Document, kinds: Iterable[str]) -> Iterator[Given]:
    """Yield the objects of a document; Lists are opened, unless a kind of `kinds` looks like one.

    What has neither kind nor apiVersion is no object.
    """
    data = document.data
    if not isinstance(data, dict) or not ("kind" in data or "apiVersion" in data):
        return
    kind, items = data.get("kind"), data.get("items")
    is_list = isinstance(kind, str) and kind.endswith("List") and kind not in kinds
    if not is_list or not isinstance(items, list):
        yield Given(document, None, (), data)
        return
    # Items of a typed list may leave out what the list says.
    typed: dict[str, Any] = {}
    if kind != "List":
        typed = {"apiVersion": data.get("apiVersion"), "kind": str(kind).removesuffix("List")}
    for i, item in enumerate(items):
        if isinstance(item, dict):
            whole = item if typed.keys() <= item.keys() else {**typed, **item}
            yield Given(document, i, ("items", i), whole)


class Sheet:
    """What one server says to one object: its findings, and whether it refuses the object."""

    __slots__ = ("crd", "findings", "given", "refused", "strict", "version", "words")

    def __init__(self, given: Given, *, strict: bool) -> None:
        self.given = given
        self.strict = strict
        self.crd = ""
        self.version = ""
        self.refused = False
        self.words: dict[Path, str] | None = None  # that YAML reads otherwise than people, by place
        self.findings: list[Finding] = []

    def add(
        self,
        rule: str,
        message: str,
        path: Path,
        *,
        claims: Claims | None = None,
        key: bool = False,
        severity: str = "",
        span: Span | None = None,
    ) -> Finding:
        """Add a finding at a place of the object."""
        page = pages.page(rule)
        field = spell(path)
        span = span or self.given.locate(path, key=key)
        spot = _spot(self.given, span, path, self.version)
        # Two objects of a file may have the same fault; the name tells them apart.
        identity = f"{self.given.namespace()}/{self.given.name()} {field}"
        finding = Finding(
            rule,
            severity or page.severity,
            message,
            spot,
            crd=self.crd,
            field=field,
            server=claims,
            help=page.cure,
            fingerprint=fingerprint(rule, self.crd, self.version, identity, message),
        )
        self.findings.append(finding)
        self.refused = self.refused or any(type_ != "Warning" for type_, _ in claims or ())
        return finding

    def outcome(self, outcome: Outcome, served: Served) -> None:
        """Add what the server says on its way through the object."""
        # What the server says of rules that it does not come to belongs to what keeps it from them.
        skipped = [(e.type, e.field) for e in outcome.errors if e.keyword == SKIPPED]
        for error in outcome.errors:
            if error.keyword == SKIPPED:
                continue
            claims = [(one.type, one.field) for one in error.all()] + skipped
            skipped = []
            self.add(
                RULES[error.keyword],
                error.message + (self.misread(error.path) if error.type == "TypeInvalid" else ""),
                error.path,
                claims=list(dict.fromkeys(claims)),
                severity="error",
            )
        self.unknown_fields(outcome.pruned)
        self.scope(served)

    def misread(self, path: Path) -> str:
        """Say that YAML reads a word as something else than a person does, if it does so here."""
        if self.words is None:
            surprises = self.given.document.surprises if not self.given.document.is_json else ()
            self.words = {surprise.path: surprise.text for surprise in surprises}
        text = self.words.get((*self.given.prefix, *path))
        return f"; YAML reads {text} so, unless it stands in quotes" if text else ""

    def duplicates(self, hits: Iterable[Hit]) -> None:
        """Add the keys that are written twice, which only strict validation refuses."""
        claim, severity = ("Strict", "error") if self.strict else ("Warning", "warning")
        for hit in hits:
            finding = self.add(
                hit.rule,
                hit.message,
                hit.path,
                claims=[(claim, hit.field)],
                severity=severity,
                span=hit.span,
            )
            finding.related = [
                (_spot(self.given, span, hit.path, self.version), words)
                for span, words in hit.related
            ]

    def unknown_fields(self, pruned: Iterable[str]) -> None:
        """Add the fields that the server drops, or refuses under strict validation."""
        claim, severity, message = "Warning", "", "there is no such field; the value is dropped"
        if self.strict:
            claim, severity, message = "Strict", "error", "there is no such field"
        for field in pruned:
            path = path_in(self.given.data, field)
            self.add(
                UNKNOWN_FIELD,
                message,
                path,
                claims=[(claim, field)],
                key=True,
                severity=severity,
            )

    def scope(self, served: Served) -> None:
        """Add a namespace where the kind has none."""
        metadata = self.given.data.get("metadata")
        namespace = metadata.get("namespace") if isinstance(metadata, dict) else None
        if namespace and not served.namespaced:
            message = f"{served.kind} is cluster-scoped, so the namespace is dropped"
            self.add(SCOPE, message, ("metadata", "namespace"))

    def not_served(self, version: str, served: list[str]) -> None:
        """Add that the CRD does not serve the version."""
        named = ", ".join(served) or "no version at all"
        message = f"{version or 'no version'} is not served; the CRD serves {named}"
        self.add(NOT_SERVED, message, ("apiVersion",), claims=[("NoMatch", "apiVersion")])

    def no_status(self, version: str) -> None:
        """Add that a version has no status to write to alone."""
        message = f"{version} has no status subresource, so its status is written with the rest"
        self.add(NOT_SERVED, message, ("apiVersion",), claims=[("NotFound", "")])

    def unknown_kind(self, label: str) -> None:
        """Add that no CRD has the kind."""
        self.add(UNKNOWN_KIND, f"no CRD given defines {label}", ("kind",))

    def unparsed(self) -> list[Finding]:
        """Return the finding that a document does not parse."""
        from crdlint.document import Span

        document = self.given.document
        error = document.error
        assert error is not None
        line, column = error.line or document.first_line, error.column or 1
        span = Span(line, column, line, column)
        self.add(UNPARSED, error.message, (), claims=[("DecodeError", "")], span=span)
        return self.findings


def _spot(of: Given | Subject, span: Span, path: Path, version: str = "") -> Spot:
    return Spot(
        of.document.name,
        of.document.index,
        span.line,
        span.column,
        span.end_line,
        span.end_column,
        path,
        of.item,
        version,
    )


def crd_refused(crd: Subject, path: Path, said: str, claims: Claims) -> Finding:
    """Return the finding that the server refuses a CRD, at the first thing wrong with it."""
    page = pages.page(CRD_REFUSED)
    return Finding(
        CRD_REFUSED,
        page.severity,
        f"the API server refuses this CRD; its objects are judged as if it stood: {said}",
        _spot(crd, crd.locate(path), path),
        crd=crd.name,
        server=claims,
        help=page.cure,
        fingerprint=fingerprint(CRD_REFUSED, crd.name, "", "", said),
    )


def spell(path: Path) -> str:
    """Spell the way to a place as people write it: `spec.ports[0].name`, "" for the whole."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif _PLAIN.match(step):
            text += f".{step}" if text else step
        else:
            text += f"[{step}]"
    return text


def path_in(data: Any, field: str) -> Path:
    """Return the way to a field that the server spells with dots, of which keys may have some."""
    found: list[str | int] = []
    while field:
        if isinstance(data, list):
            index, _, field = field.removeprefix("[").partition("]")
            data = data[int(index)]
            found.append(int(index))
            continue
        field = field.removeprefix(".") if found else field
        key = _longest_key(data, field)
        if key is None:
            break
        found.append(key)
        field, data = field[len(key) :], data[key]
    return tuple(found)


def _longest_key(data: Any, field: str) -> str | None:
    """Return the longest key of a mapping that a spelled way may start with."""
    if not isinstance(data, dict):
        return None
    ends = [i for i, mark in enumerate(field) if mark in ".["]
    for end in (len(field), *reversed(ends)):
        if field[:end] in data:
            return field[:end]
    return None
