"""From documents to CRDs: finds the CRDs of a file, and says what reading them brought up."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from crdlint import document as yaml_document
from crdlint import server, shape
from crdlint.keywords import JUNCTORS
from crdlint.rule import declare
from crdlint.tree import Crd

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Protocol

    from crdlint.document import Document, Path, Span

    class Part(Protocol):
        """An object in a document, in a List perhaps, and the way to it."""

        @property
        def document(self) -> Document:
            """Return the document."""

        @property
        def item(self) -> int | None:
            """Return the index in a List, or None outside of one."""

        @property
        def prefix(self) -> Path:
            """Return the way from the document to the object."""


KIND = "CustomResourceDefinition"
GROUP = "apiextensions.k8s.io"
WANTED = KIND.encode()
_SAYS_CRD = re.compile(
    rb"(?m)^[\s{-]*[\"']?kind[\"']?\s*:\s*[\"']?CustomResourceDefinition[\"']?\s*,?\s*(?:#.*)?$"
)
_SAYS_CRD_IN_JSON = re.compile(
    rb"\A\s*\{(?:[\s\S]*?[{,])?\s*\"kind\"\s*:\s*\"CustomResourceDefinition\"\s*[,}]"
)
_TEMPLATE = re.compile(rb"\{\{")

declare(
    "yaml-syntax",
    "helm-template",
    "partial-crd",
    "decode-error",
    "api-version-not-served",
    "unknown-field",
    "unknown-field-dropped",
    "duplicate-key",
    "yaml-boolean-key",
    "yaml-boolean-value",
    "yaml-number",
    "yaml-text-dropped",
    "yaml-merge-override",
    "internal-error",
)


class Hit:
    """Something found while reading: a rule, a place in the file, a message."""

    __slots__ = ("claims", "field", "message", "path", "related", "rule", "span")

    def __init__(
        self,
        rule: str,
        message: str,
        *,
        span: Span,
        path: Path = (),
        field: str = "",
        claims: list[tuple[str, str]] | None = None,
        related: list[tuple[Span, str]] | None = None,
    ) -> None:
        self.rule = rule
        self.message = message
        self.span = span
        self.path = path
        self.field = field
        self.claims = claims
        self.related = related or []


class Subject:
    """One CRD of a document: the tree to check, or None where it could not be read."""

    __slots__ = ("crd", "document", "hits", "item", "name", "partial", "prefix", "respell")

    def __init__(self, document: Document, item: int | None, prefix: Path) -> None:
        self.document = document
        self.item = item
        self.prefix = prefix  # the way from the document to the CRD: () or ("items", i)
        self.crd: Crd | None = None
        self.name = ""
        self.partial = False
        self.hits: list[Hit] = []
        # How the document spells a path of the CRD, where it is written as another version.
        self.respell: Callable[[Path], Path] | None = None

    def locate(
        self, path: Path, *, key: bool = False, within: tuple[int, int] | None = None
    ) -> Span:
        """Return the span of a place in this CRD; `within` is a line and column of its text."""
        if self.respell is not None:
            path = self.respell(path)
        return self.document.locate((*self.prefix, *path), key=key, within=within)

    def read_v1beta1(self, minor: int) -> None:
        """Take a CRD that is written as apiextensions v1beta1 for the v1 it means.

        Anything else that could not be read stays so.
        """
        if not any(hit.rule == "api-version-not-served" for hit in self.hits):
            return
        data = self.document.value(self.prefix)
        decoded = shape.shape(shape.from_v1beta1(data), minor=minor)
        if decoded.error is None:
            self.crd = Crd(decoded.crd, self.document, item=self.item, minor=minor)
            self.respell = lambda path: shape.place_in_v1beta1(path, data)


def subjects(document: Document, minor: int) -> Iterator[Subject]:
    """Yield every CRD of a document; Lists are opened. Documents that are no CRD yield nothing."""
    if document.error is not None:
        if hit := _unparsed(document):
            subject = Subject(document, None, ())
            subject.hits.append(hit)
            yield subject
        return
    for data, item, prefix in _crds(document.data):
        subject = Subject(document, item, prefix)
        _read(subject, data, minor)
        yield subject


def _crds(data: Any) -> Iterator[tuple[dict[str, Any], int | None, Path]]:
    """Find the CRDs in a document's data, as kubectl would send them."""
    if not isinstance(data, dict):
        return
    kind, version = data.get("kind"), data.get("apiVersion")
    # A version that is no text is for decoding to refuse, not a reason to look away.
    group = version.partition("/")[0] if isinstance(version, str) else ""
    if kind == KIND and group in (GROUP, ""):
        yield data, None, ()
    elif (kind == "List" and version == "v1") or (kind == f"{KIND}List" and group == GROUP):
        items = data.get("items")
        for i, item in enumerate(items if isinstance(items, list) else ()):
            if isinstance(item, dict) and item.get("kind") == KIND:
                yield item, i, ("items", i)


def _unparsed(document: Document) -> Hit | None:
    """Say why a document that claims to be a CRD does not parse, or None when it does not claim."""
    error = document.error
    assert error is not None
    if not (document.contains(_SAYS_CRD) or document.contains(_SAYS_CRD_IN_JSON)):
        return None
    line, column = error.line or document.first_line, error.column or 1
    span = yaml_document.Span(line, column, line, column)
    if document.contains(_TEMPLATE):
        message = f"this Helm template is no YAML before it is rendered: {error.message}"
        return Hit("helm-template", message, span=span)
    message = error.message
    if document.is_utf16:
        message += "; the file is UTF-16, so save it as UTF-8"
    return Hit("yaml-syntax", message, span=span, claims=[("DecodeError", "")])


def _read(subject: Subject, data: dict[str, Any], minor: int) -> None:
    metadata = data.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    subject.name = name if isinstance(name, str) else ""
    if is_partial(data):
        subject.partial = True
        message = (
            "has neither group nor names nor a storage version, so it is a patch or a part of a CRD"
        )
        span = subject.locate(("kind",))
        subject.hits.append(Hit("partial-crd", message, span=span, path=("kind",)))
        return
    decoded = shape.shape(data, minor=minor)
    hits = subject.hits
    refused = decoded.error
    if refused is not None:
        rule = "api-version-not-served" if refused.type == "NotServed" else "decode-error"
        hits.append(
            Hit(
                rule,
                refused.message,
                span=subject.locate(refused.path),
                path=refused.path,
                field=people_write(refused.path),
                claims=[(refused.type, server.join(refused.path))],
            )
        )
    else:
        subject.crd = Crd(decoded.crd, subject.document, item=subject.item, minor=minor)
    hits += _unknown(subject, decoded)
    hits += duplicates(subject)
    hits += _surprises(subject)


def is_partial(data: dict[str, Any]) -> bool:
    """Tell whether a document is no whole CRD: neither group nor names nor storage version."""
    spec, metadata = data.get("spec"), data.get("metadata")
    if not all(part is None or isinstance(part, dict) for part in (spec, metadata)):
        return False  # no patch either: the server cannot decode it
    if not spec:
        return True
    if spec.get("group") or spec.get("names"):
        return False
    versions = spec.get("versions")
    if isinstance(versions, list):
        return not any(isinstance(v, dict) and v.get("storage") for v in versions)
    return not versions


def _unknown(subject: Subject, decoded: shape.Shape) -> Iterator[Hit]:
    """Yield fields that the server does not know: refused under strict validation, or dropped."""
    refused = decoded.error is not None
    for path in decoded.unknown:
        field = shape.strict_spelling(path)
        yield Hit(
            "unknown-field",
            "there is no such field; kubectl apply is refused, other clients lose it",
            span=subject.locate(path, key=True),
            path=path,
            field=people_write(path),
            claims=None if refused else [("Strict", field)],
        )
    for path in decoded.hidden:
        yield Hit(
            "unknown-field-dropped",
            "there is no such field, and the API server drops it without a word",
            span=subject.locate(path, key=True),
            path=path,
            field=people_write(path),
        )


def _inside(part: Part, path: Path) -> Path | None:
    """Return a document's path as seen from an object in it, or None where it lies outside."""
    length = len(part.prefix)
    return path[length:] if path[:length] == part.prefix else None


def duplicates(part: Part) -> Iterator[Hit]:
    """Yield the keys that are written twice in an object."""
    for duplicate in part.document.duplicates:
        path = _inside(part, duplicate.path)
        if path is None:
            continue
        yield Hit(
            "duplicate-key",
            f"{duplicate.key!r} is written twice, and the first is lost",
            span=duplicate.second,
            path=path,
            field=people_write(path),
            # kubectl keeps the last one before it sends, so only a raw YAML body is refused
            claims=[("Strict", server.join(path))] if part.item is None else None,
            related=[(duplicate.first, "first written here")],
        )


_SURPRISES = {
    "boolean-key": ("yaml-boolean-key", "{text} is read as the boolean {value}, not as a name"),
    "boolean": ("yaml-boolean-value", "{text} is read as the boolean {value}"),
    "octal": ("yaml-number", "{text} is read as the octal number {value}"),
    "number": ("yaml-number", "{text} is read as the number {value}"),
    "dropped": ("yaml-text-dropped", "the API server never reads what follows here: {text}"),
    "merge-override": ("yaml-merge-override", "<< overwrites {text}, which stands before it"),
}


def _surprises(subject: Subject) -> Iterator[Hit]:
    for surprise in subject.document.surprises:
        path = _inside(subject, surprise.path)
        if path is None or not _matters(subject, surprise.kind, path):
            continue
        rule, message = _SURPRISES[surprise.kind]
        value: Any = path[-1] if path else ""
        if surprise.kind in ("boolean", "octal", "number"):
            value = subject.document.value(surprise.path)
            value = str(value).lower() if isinstance(value, bool) else value
        text = message.format(text=surprise.text, value=value)
        yield Hit(rule, text, span=surprise.span, path=path, field=people_write(path))


def _matters(subject: Subject, kind: str, path: Path) -> bool:
    """Tell whether a surprising scalar stands where a person meant a text.

    Booleans where a boolean belongs (`served: yes`) mean what they say, and so do numbers; in
    enum, default and example values of another type they do not.
    """
    if kind not in ("boolean", "octal", "number"):
        return True
    at = next((i for i, step in enumerate(path) if step in ("enum", "default", "example")), None)
    if at is None:
        return False
    if not subject.document.has((*subject.prefix, *path)):
        return False  # below `<<`, and so at another place
    schema = subject.document.value((*subject.prefix, *path[:at]))
    type_ = schema.get("type") if isinstance(schema, dict) else None
    if kind == "boolean":
        return type_ != "boolean"
    return kind == "octal" or type_ not in ("integer", "number")


def people_write(path: Path) -> str:
    """Spell a path as people write the field: `.spec.size enum[0]` below a schema."""
    if "openAPIV3Schema" not in path:
        return server.join(path)
    steps = list(path[path.index("openAPIV3Schema") + 1 :])
    field = ""
    while steps:
        key = steps[0]
        if key == "properties" and len(steps) > 1:
            field += f".{steps[1]}"
            del steps[:2]
        elif key in ("items", "additionalProperties") and len(steps) > 1:
            field += "[*]" if key == "items" else ".*"
            del steps[0]
        elif key in JUNCTORS and len(steps) > 2 and isinstance(steps[1], int):
            del steps[:2]
        else:
            break
    name = field or "the root"
    return f"{name} {server.join(tuple(steps))}" if steps else name
