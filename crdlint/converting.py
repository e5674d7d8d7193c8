"""Conversion of CRDs from apiextensions.k8s.io/v1beta1 to v1, as edits of their text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from crdlint import document as documents
from crdlint import fixes, fixing, kubernetes, reading
from crdlint.edits import MOVE, Change, changed, no_collector, plain, same
from crdlint.fixes.cure import drop, put, rename
from crdlint.outline import NotEditable
from crdlint.report import is_refused
from crdlint.shape import GROUP

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crdlint.document import Document, Path
    from crdlint.finding import Finding

OLD, NEW = f"{GROUP}/v1beta1", f"{GROUP}/v1"
_SAYS_OLD = re.compile(re.escape(OLD).encode())
PRESERVE = "x-kubernetes-preserve-unknown-fields"
_SPEC = ("spec",)
_VERSIONS = ("spec", "versions")
_CONVERSION = ("spec", "conversion")
# What v1beta1 has once for all versions, and what it is called in each version of v1.
_MOVED = {
    "validation": "schema",
    "subresources": "subresources",
    "additionalPrinterColumns": "additionalPrinterColumns",
    "selectableFields": "selectableFields",
}


class Converted:
    """A file after conversion: the new bytes, how many CRDs changed, and what is left to do.

    `left` has what the API server refuses of the new CRDs; `failed` why a CRD stays as it was, as
    (line, name, why).
    """

    __slots__ = ("count", "data", "failed", "left")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.count = 0
        self.left: list[Finding] = []
        self.failed: list[tuple[int, str, str]] = []


@no_collector()
def convert(data: bytes, name: str, *, keep: bool = True) -> Converted:
    """Convert every v1beta1 CRD of a file; all else in it stays as it is.

    With `keep`, fields that v1beta1 did not prune are not pruned by the new CRD either.
    """
    result = Converted(data)
    pieces = []
    whole: Document | None = None
    for document in documents.read(data, name, wanted=reading.WANTED):
        if document.error is not None:
            result.failed += _unread(document)
            continue
        olds = [] if document.skipped else list(_old_crds(document))
        if not olds:
            continue
        try:
            start, end, raw = fixing.raw_text(data, document)
            work = _Work(document, raw)
            for prefix in olds:
                _convert(work, prefix, keep=keep, result=result)
            pieces.append((start, end, work.raw.encode()))
            whole = work.document if (start, end) == (0, len(data)) else None
        except NotEditable as error:
            result.failed.append((document.first_line, "", str(error)))
    for start, end, piece in reversed(pieces):
        result.data = result.data[:start] + piece + result.data[end:]
    if result.count:
        new = documents.read(result.data, name, wanted=reading.WANTED)
        result.left = _refused([whole] if whole is not None else new)
    return result


def _unread(document: Document) -> Iterator[tuple[int, str, str]]:
    """Yield (line, name, why) of a document that says v1beta1 CRD and does not parse."""
    for subject in reading.subjects(document, kubernetes.NEWEST):
        hit = subject.hits[0]
        if document.contains(_SAYS_OLD):
            yield hit.span.line, subject.name, hit.message


def _old_crds(document: Document) -> Iterator[Path]:
    """Yield the ways to the v1beta1 CRDs of a document."""
    for subject in reading.subjects(document, kubernetes.NEWEST):
        data = document.value(subject.prefix)
        if data.get("apiVersion") == OLD:
            yield subject.prefix


def _refused(read: Iterable[Document]) -> list[Finding]:
    """Return what the server refuses of the documents of a file, less what stays v1beta1."""
    options = fixing.Options()
    drafts = [fixing.Draft(document, options) for document in read if not document.skipped]
    return [
        finding
        for draft in drafts
        for finding in draft.findings
        if finding.rule != "api-version-not-served" and is_refused(finding)
    ]


class _Work:
    """One document on its way: its text as the file has it, and as data."""

    def __init__(self, document: Document, raw: str) -> None:
        self.document = document
        self.raw = raw

    def make(self, changes: list[Change]) -> None:
        """Make some changes; raises NotEditable, and then nothing is changed."""
        if not changes:
            return
        document = self.document
        edits = fixing.edits_of(document.text, changes)
        raw = fixing.edited(self.raw, document.text, edits)
        new = next(documents.read(raw.encode(), document.name))
        if new.error is not None or not same(plain(new.data), changed(document.data, changes)):
            raise NotEditable("another value would change")
        self.document, self.raw = new, raw


def _convert(work: _Work, prefix: Path, *, keep: bool, result: Converted) -> None:
    """Convert one CRD, or say why it stays as it was."""
    before = work.document, work.raw
    old = work.document.value(prefix)
    line = work.document.locate(prefix).line
    name = str((old.get("metadata") or {}).get("name") or "")
    pruned = (old.get("spec") or {}).get("preserveUnknownFields") is False
    try:
        _check(old)
        for step in (_versions, _spec):
            crd = work.document.value(prefix)
            work.make([change.below(prefix) for change in step(crd)])
        _mend(work)
        if keep and not pruned:
            crd = work.document.value(prefix)
            work.make([change.below(prefix) for change in _kept(crd)])
    except NotEditable as error:
        work.document, work.raw = before
        result.failed.append((line, name, str(error)))
    else:
        result.count += 1


def _check(crd: dict[str, Any]) -> None:
    """Raise NotEditable where a document is not one to convert."""
    if why := _unfit(crd):
        raise NotEditable(why)


def _unfit(crd: dict[str, Any]) -> str:
    spec = crd.get("spec")
    if not isinstance(spec, dict):
        return "it has no spec"
    if reading.is_partial(crd):
        return "it is a part of a CRD; convert the whole"
    versions = spec.get("versions")
    if versions is not None and not (
        isinstance(versions, list) and all(isinstance(version, dict) for version in versions)
    ):
        return "its versions are no list of versions"
    if not versions and not isinstance(spec.get("version"), str):
        return "it has no version"
    columns = [spec.get("additionalPrinterColumns")]
    columns += [version.get("additionalPrinterColumns") for version in versions or ()]
    for part in columns:
        if part is not None and not (
            isinstance(part, list) and all(isinstance(column, dict) for column in part)
        ):
            return "its printer columns are no list of columns"
    return ""


def _spec(crd: dict[str, Any]) -> Iterator[Change]:
    """Change all that has another name, place or default in v1."""
    spec = crd["spec"]
    yield put(("apiVersion",), NEW)
    if not spec.get("scope"):
        yield put((*_SPEC, "scope"), "Namespaced", after="names")
    behind = "scope" if "scope" in spec else "names"
    yield put((*_SPEC, "preserveUnknownFields"), False, after=behind)
    if "version" in spec:
        yield drop((*_SPEC, "version"))
    for i, version in enumerate(spec["versions"]):
        for k, column in enumerate(version.get("additionalPrinterColumns") or ()):
            if _renames(column):
                path = (*_VERSIONS, i, "additionalPrinterColumns", k, "JSONPath")
                yield rename(path, "jsonPath")
    yield from _parts(spec)
    yield from _schemas(spec)
    yield from _webhook(spec.get("conversion"))


def _renames(column: dict[str, Any]) -> bool:
    return "JSONPath" in column and "jsonPath" not in column


def _versions(crd: dict[str, Any]) -> Iterator[Change]:
    """Write out the only version where it is just named."""
    spec = crd["spec"]
    if not spec.get("versions"):
        version = {"name": spec["version"], "served": True, "storage": True}
        yield put(_VERSIONS, [version], after="version")


def _parts(spec: dict[str, Any]) -> Iterator[Change]:
    """Move what stands once for all versions to each of them."""
    for old, new in _MOVED.items():
        if old not in spec:
            continue
        value, names = spec[old], {}
        if old == "additionalPrinterColumns" and value and all(map(_renames, value)):
            names = {"JSONPath": "jsonPath"}
            value = [{names.get(key, key): column[key] for key in column} for column in value]
        for i, version in enumerate(spec["versions"]):
            if new not in version and value is not None and not _empty_schema(old, value):
                place = (*_VERSIONS, i, new)
                yield Change(MOVE, place, value, source=(*_SPEC, old), names=names)
        yield drop((*_SPEC, old))


def _empty_schema(key: str, value: Any) -> bool:
    return key == "validation" and not (isinstance(value, dict) and value.get("openAPIV3Schema"))


def _webhook(conversion: Any) -> Iterator[Change]:
    """Put the address of the conversion webhook and its review versions below `webhook`."""
    if not isinstance(conversion, dict):
        return
    reviews = conversion.get("conversionReviewVersions")
    if conversion.get("strategy") == "Webhook" and not reviews:
        reviews = ["v1beta1"]
    webhook: dict[str, Any] = {}
    if conversion.get("webhookClientConfig") is not None:
        webhook["clientConfig"] = conversion["webhookClientConfig"]
    if reviews:
        webhook["conversionReviewVersions"] = reviews
    if webhook:
        yield put((*_CONVERSION, "webhook"), webhook)
    for key in ("webhookClientConfig", "conversionReviewVersions"):
        if key in conversion:
            yield drop((*_CONVERSION, key))


def _schemas(spec: dict[str, Any]) -> Iterator[Change]:
    """Give versions without a schema one that takes everything, as they did."""
    anything = {"type": "object", PRESERVE: True}
    for i, version in enumerate(spec["versions"]):
        if _empty_schema("validation", version.get("schema", spec.get("validation"))):
            yield put((*_VERSIONS, i, "schema"), {"openAPIV3Schema": anything})


# What v1 refuses of schemas that v1beta1 took, and what a machine can put right safely.
_MENDED = (
    "column-path",
    "column-required",
    "column-type",
    "default-in-metadata",
    "embedded-resource-in-metadata",
    "embedded-resource-shape",
    "int-or-string-alone",
    "items-list",
    "junctor-keyword",
    "list-map-key-optional",
    "list-type",
    "map-type",
    "metadata-field-type",
    "preserve-unknown-fields-false",
    "properties-and-additional-properties",
    "root-additional-properties",
    "root-metadata-restricted",
    "root-nullable",
    "root-type",
    "set-items-not-atomic",
    "schema-not-convertible",
    "status-root-keyword",
    "type-not-supported",
    "type-required",
    "unique-items",
    "unsupported-keyword",
)


def _mend(work: _Work) -> None:
    """Make the safe fixes of what v1 newly refuses."""
    fixes.load()
    result = fixing.Fixed(b"")
    options = fixing.Options(select=_MENDED)
    draft = fixing.Draft(work.document, options)
    draft.raw = work.raw
    fixing.fix_document(draft, options, result)
    work.document, work.raw = draft.document, draft.raw


def _kept(crd: dict[str, Any]) -> Iterator[Change]:
    """Keep what was not pruned: at every level, since each object prunes for itself."""
    from crdlint.fixes.spec import open_objects

    for i, version in enumerate(crd["spec"]["versions"]):
        root = (*_VERSIONS, i, "schema", "openAPIV3Schema")
        for path, key, value in open_objects(version["schema"]["openAPIV3Schema"]):
            if value is None:
                yield drop((*root, *path, key))
            else:
                yield put((*root, *path, key), value, after="type")
