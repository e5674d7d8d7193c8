"""ObjectMeta: how it decodes, and what makes it invalid, in CRDs and embedded or real objects."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from crdlint.decode import lower

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from crdlint.document import Path

ANNOTATION_LIMIT = 256 * 1024
MANAGER_LIMIT = 128
SUBRESOURCE_LIMIT = 256

_LABEL = r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = re.compile(rf"{_LABEL}(?:\.{_LABEL})*\Z")
_DNS1123_LABEL = re.compile(rf"{_LABEL}\Z")
_DNS1035_LABEL = re.compile(r"[a-z](?:[-a-z0-9]*[a-z0-9])?\Z")
_QUALIFIED = re.compile(r"(?:[A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]\Z")


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _named(text: str, limit: int, pattern: re.Pattern[str], rule: str) -> list[str]:
    """Return what is wrong with a name: its length in bytes, its form."""
    wrong = []
    if _bytes(text) > limit:
        wrong.append(f"must have at most {limit} characters, not {_bytes(text)}")
    if not pattern.match(text):
        wrong.append(rule)
    return wrong


def dns1123_subdomain(text: str) -> list[str]:
    """Return why a text is no DNS-1123 subdomain; source: IsDNS1123Subdomain."""
    rule = (
        "must consist of lower case letters, digits, - and ., with a letter or digit at both ends"
    )
    return _named(text, 253, _SUBDOMAIN, rule)


def dns1123_label(text: str) -> list[str]:
    """Return why a text is no DNS-1123 label; source: IsDNS1123Label."""
    rule = "must consist of lower case letters, digits and -, with a letter or digit at both ends"
    return _named(text, 63, _DNS1123_LABEL, rule)


def dns1035_label(text: str) -> list[str]:
    """Return why a text is no DNS-1035 label; source: IsDNS1035Label."""
    rule = (
        "must consist of lower case letters, digits and -, start with a letter, "
        "and end with a letter or digit"
    )
    return _named(text, 63, _DNS1035_LABEL, rule)


def qualified_name(text: str) -> list[str]:
    """Return why a text is no qualified name (`example.com/name`); source: IsQualifiedName."""
    parts = text.split("/")
    if len(parts) > 2:
        return ["must be a name, with at most one prefix and / before it"]
    wrong = []
    if len(parts) == 2:
        if not parts[0]:
            wrong.append("must have a DNS subdomain before the /")
        else:
            wrong += [f"prefix {message}" for message in dns1123_subdomain(parts[0])]
    name = parts[-1]
    if not name:
        wrong.append("must have a name")
    elif _bytes(name) > 63:
        wrong.append(f"must have a name of at most 63 characters, not {_bytes(name)}")
    if not _QUALIFIED.match(name):
        wrong.append(
            "must consist of letters, digits, -, _ and ., with a letter or digit at both ends"
        )
    return wrong


def label_value(text: str) -> list[str]:
    """Return why a text is no label value; source: IsValidLabelValue."""
    rule = "must be empty or letters, digits, -, _ and ., with a letter or digit at both ends"
    return _named(text, 63, _QUALIFIED, rule) if text else []


def path_segment(text: str) -> list[str]:
    """Return why a text is no segment of a URL path; source: IsValidPathSegmentName."""
    if text in (".", ".."):
        return [f"must not be {text!r}"]
    return [f"must not contain {mark!r}" for mark in "/%" if mark in text]


class MetaError:
    """One thing wrong with object metadata.

    `path` is the way to it below metadata, `field` what the server prints after `metadata`.
    """

    __slots__ = ("field", "message", "path", "type")

    def __init__(self, type_: str, path: Path, message: str, field: str | None = None) -> None:
        self.type = type_
        self.path = path
        self.message = message
        self.field = _spell(path) if field is None else field


def _spell(path: Path) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)


def validate(
    meta: Mapping[str, Any], *, name: Callable[[str], list[str]], namespaced: bool
) -> Iterator[MetaError]:
    """Yield what is wrong with decoded metadata on create; source: ValidateObjectMeta.

    Args:
        meta: the metadata, with types as the server decodes them.
        name: returns why a text is no name of such an object.
        namespaced: whether the object has a namespace.
    """
    if generate := meta.get("generateName"):
        for message in name(generate):
            yield MetaError("Invalid", ("generateName",), message)
    if not meta.get("name"):
        yield MetaError("Required", ("name",), "name or generateName is needed")
    else:
        for message in name(meta["name"]):
            yield MetaError("Invalid", ("name",), message)
    yield from _namespace(meta.get("namespace") or "", namespaced)
    if (meta.get("generation") or 0) < 0:
        yield MetaError("Invalid", ("generation",), "must not be negative")
    yield from _labels(meta.get("labels") or {})
    yield from _annotations(meta.get("annotations") or {})
    yield from _owners(meta.get("ownerReferences") or [])
    yield from _finalizers(meta.get("finalizers") or [])
    for i, entry in enumerate(meta.get("managedFields") or []):
        yield from _managed(i, entry)


def _namespace(text: str, namespaced: bool) -> Iterator[MetaError]:
    if not namespaced:
        if text:
            yield MetaError("Forbidden", ("namespace",), "objects of this kind have no namespace")
    elif not text:
        yield MetaError("Required", ("namespace",), "a namespace is needed")
    else:
        for message in dns1123_label(text):
            yield MetaError("Invalid", ("namespace",), message)


def _labels(labels: Mapping[str, str]) -> Iterator[MetaError]:
    for key, value in labels.items():
        for message in qualified_name(key):
            text = f"label {key!r} {message}"
            yield MetaError("Invalid", ("labels", key), text, ".labels")
        for message in label_value(value):
            text = f"value {value!r} of label {key!r} {message}"
            yield MetaError("Invalid", ("labels", key), text, ".labels")


def _annotations(annotations: Mapping[str, str]) -> Iterator[MetaError]:
    size = 0
    for key, value in annotations.items():
        size += _bytes(key) + _bytes(value)
        for message in qualified_name(lower(key)):
            text = f"annotation {key!r} {message}"
            yield MetaError("Invalid", ("annotations", key), text, ".annotations")
    if size > ANNOTATION_LIMIT:
        text = f"hold {size} bytes together, and the limit is {ANNOTATION_LIMIT}"
        yield MetaError("TooLong", ("annotations",), text)


def _owners(owners: list[Mapping[str, Any]]) -> Iterator[MetaError]:
    controller = ""
    for i, owner in enumerate(owners):
        here: Path = ("ownerReferences", i)
        version = owner.get("apiVersion") or ""
        _, slash, rest = version.partition("/")
        if not version:
            yield MetaError("Required", (*here, "apiVersion"), "is needed in an owner reference")
        elif version.count("/") > 1 or (slash and not rest):
            text = f"must be group/version or version, not {version!r}"
            yield MetaError("Invalid", (*here, "apiVersion"), text)
        for key in ("kind", "name", "uid"):
            if not owner.get(key):
                yield MetaError("Required", (*here, key), "is needed in an owner reference")
        if version in ("v1", "/v1") and owner.get("kind") == "Event":
            yield MetaError("Invalid", here, "an Event cannot own anything")
        if owner.get("controller"):
            this = f"{owner.get('kind') or ''}/{owner.get('name') or ''}"
            if controller:
                text = f"only one owner can be the controller, not both {controller} and {this}"
                yield MetaError("Invalid", ("ownerReferences",), text)
            else:
                controller = this


def _finalizers(finalizers: list[str]) -> Iterator[MetaError]:
    for i, finalizer in enumerate(finalizers):
        for message in qualified_name(finalizer):
            text = f"finalizer {finalizer!r} {message}"
            yield MetaError("Invalid", ("finalizers", i), text, ".finalizers")
    if "orphan" in finalizers and "foregroundDeletion" in finalizers:
        yield MetaError("Invalid", ("finalizers",), "orphan excludes foregroundDeletion")


def _managed(i: int, entry: Mapping[str, Any]) -> Iterator[MetaError]:
    here: Path = ("managedFields", i)
    operation = entry.get("operation") or ""
    if not operation:
        yield MetaError("Required", (*here, "operation"), "is needed")
    elif operation not in ("Apply", "Update"):
        text = f"must be Apply or Update, not {operation!r}"
        yield MetaError("NotSupported", (*here, "operation"), text)
    kind = entry.get("fieldsType") or ""
    if kind not in ("", "FieldsV1"):
        yield MetaError("Invalid", (*here, "fieldsType"), f"must be FieldsV1, not {kind!r}")
    manager = entry.get("manager") or ""
    if _bytes(manager) > MANAGER_LIMIT:
        yield MetaError("TooLong", (*here, "manager"), f"is longer than {MANAGER_LIMIT} bytes")
    if not all(is_print(mark) for mark in manager):
        yield MetaError("Invalid", (*here, "manager"), "must hold printable characters only")
    if _bytes(entry.get("subresource") or "") > SUBRESOURCE_LIMIT:
        text = f"is longer than {SUBRESOURCE_LIMIT} bytes"
        yield MetaError("TooLong", (*here, "subresource"), text)


def is_print(mark: str) -> bool:
    """Tell whether Go's unicode.IsPrint takes a character: no space but the ASCII one."""
    return mark == " " or (mark.isprintable() and not mark.isspace())


# What is immutable, and what it is when it is not there.
IMMUTABLE: dict[str, Any] = {
    "name": "",
    "namespace": "",
    "uid": "",
    "creationTimestamp": None,
    "deletionTimestamp": None,
    "deletionGracePeriodSeconds": None,
}
# What the server takes from the stored object where an update leaves it out.
_CARRIED = ("uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds")


def validate_update(new: Mapping[str, Any], old: Mapping[str, Any]) -> Iterator[MetaError]:
    """Yield what is wrong with decoded metadata on update; source: ValidateObjectMetaUpdate.

    The server sets the generation itself and carries over uid and timestamps, so what NEW leaves
    out of these is no change; a file has no resourceVersion, and a client adds it.
    """
    from crdlint.decode import utc

    if old.get("deletionTimestamp"):
        kept = old.get("finalizers") or []
        for i, finalizer in enumerate(new.get("finalizers") or []):
            if finalizer not in kept:
                text = f"finalizer {finalizer!r} is new, and the object is being deleted"
                yield MetaError("Forbidden", ("finalizers", i), text, ".finalizers")
    for key, absent in IMMUTABLE.items():
        before, after = old.get(key, absent), new.get(key, absent)
        if after == absent and key in _CARRIED:
            continue
        if isinstance(before, str) and isinstance(after, str) and key.endswith("Timestamp"):
            before, after = utc(before), utc(after)
        if before != after:
            was = "absent" if before == absent else repr(before)
            text = f"is immutable: it was {was}, and cannot become {after!r}"
            yield MetaError("Invalid", (key,), text)
    yield from _labels(new.get("labels") or {})
    yield from _annotations(new.get("annotations") or {})
    yield from _owners(new.get("ownerReferences") or [])
    for i, entry in enumerate(new.get("managedFields") or []):
        yield from _managed(i, entry)


def decode(metadata: Any, *, drop_malformed: bool) -> tuple[dict[str, Any] | None, list[str], str]:
    """Decode embedded metadata as ObjectMeta and give it back as the server would write it.

    Returns the metadata without empty fields, the names of unknown fields, and why it cannot be
    decoded ("" where it can). With `drop_malformed` what cannot be decoded is left out field by
    field. Source: GetObjectMeta of the structural schema's objectmeta package.
    """
    from crdlint.shape import OBJECT_META, decode_fields

    if metadata is None:
        return {}, [], ""
    if not isinstance(metadata, dict):
        return None, [], "must be an object"
    typed, unknown, wrong = decode_fields(metadata, OBJECT_META)
    if wrong and drop_malformed:
        typed, unknown, wrong = {}, [], ""
        for key, value in metadata.items():
            one, strange, bad = decode_fields({key: value}, OBJECT_META)
            if not bad:
                typed.update(one)
                unknown += strange
    if wrong:
        return None, unknown, wrong
    return _written(typed), unknown, ""


def _written(typed: Mapping[str, Any]) -> dict[str, Any]:
    """Return metadata as Go writes it: without empty values, with times in UTC."""
    from crdlint.decode import utc

    new = _filled(typed, pointers=("deletionGracePeriodSeconds",))
    for key in ("creationTimestamp", "deletionTimestamp"):
        if key in new:
            new[key] = utc(new[key])
    if new.get("creationTimestamp") == _NEVER:
        del new["creationTimestamp"]
    if new.get("deletionTimestamp") == _NEVER:
        new["deletionTimestamp"] = None  # a pointer to no time
    if "ownerReferences" in new:
        new["ownerReferences"] = [{**_OWNER, **owner} for owner in new["ownerReferences"]]
    if "managedFields" in new:
        entries = [_filled(entry, pointers=("fieldsV1",)) for entry in new["managedFields"]]
        new["managedFields"] = [
            {**entry, "time": utc(entry["time"])} if "time" in entry else entry for entry in entries
        ]
    return new


_NEVER = "0001-01-01T00:00:00Z"  # Go's zero time
_OWNER = {"apiVersion": "", "kind": "", "name": "", "uid": ""}  # written even when they are empty


def _filled(typed: Mapping[str, Any], *, pointers: tuple[str, ...]) -> dict[str, Any]:
    """Leave out what is empty, save for pointers, which say more than their value."""
    return {
        key: value
        for key, value in typed.items()
        if key in pointers or (value not in ("", [], {}) and value != 0)
    }
