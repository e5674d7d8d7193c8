"""Cures for names: of the CRD, its group, plural, kind, versions, and for the scope."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdlint import objectmeta
from crdlint.fixes.cure import cure, drop, put
from crdlint.fixes.metadata import drop_item
from crdlint.keywords import same_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crdlint.edits import Change
    from crdlint.fixes.cure import Case

NAMES = ("spec", "names")


def _text(case: Case, *path: str | int) -> str:
    value = case.get(*path)
    return value if isinstance(value, str) else ""


@cure("crd-name")
def plural_and_group(case: Case) -> Iterator[Change]:
    """Name the CRD after its plural and group."""
    wanted = f"{_text(case, *NAMES, 'plural')}.{_text(case, 'spec', 'group')}"
    if objectmeta.dns1123_subdomain(wanted):
        return
    if case.has("metadata", "generateName"):
        yield drop(("metadata", "generateName"))
    yield from _name_it(case, wanted)


def _name_it(case: Case, wanted: str) -> Iterator[Change]:
    if _text(case, "metadata", "name") == wanted:
        return
    if isinstance(case.get("metadata"), dict):
        yield put(("metadata", "name"), wanted)
    elif not case.has("metadata"):
        yield put(("metadata",), {"name": wanted}, after="kind")


def _label(text: str) -> str:
    """Return a text as a DNS label of lower-case letters, digits and hyphens, "" if it is none."""
    lowered = text.strip().lower()
    return "" if objectmeta.dns1035_label(lowered) else lowered


@cure("names-format")
def lower_case(case: Case) -> Iterator[Change]:
    """Write a name in lower case; a plural takes the name of the CRD along."""
    value = case.value
    if not isinstance(value, str) or case.path[-1] in ("kind", "listKind"):
        return
    new = _label(value)
    if not new:
        new = _label(value.strip().replace("_", "-").replace(" ", "-").replace(".", "-"))
        case.doubt()
    if not new or new == value:
        return
    yield put(case.path, new)
    if case.path[-1] == "plural":
        yield from _name_it(case, f"{new}.{_text(case, 'spec', 'group')}")


@cure("names-required")
def missing_names(case: Case) -> Iterator[Change]:
    """Take the plural from the name of the CRD, and the kind from listKind."""
    key = str(case.path[-1])
    new = ""
    if key == "plural":
        group, name = _text(case, "spec", "group"), _text(case, "metadata", "name")
        new = name.removesuffix(f".{group}") if group and name.endswith(f".{group}") else ""
        if not new and (kind := _text(case, *NAMES, "kind").lower()):
            case.doubt()
            new = f"{kind}es" if kind.endswith(("s", "x", "ch", "sh")) else f"{kind}s"
        new = "" if objectmeta.dns1035_label(new) else new
    elif key == "kind":
        new = _text(case, *NAMES, "listKind").removesuffix("List")
        if not new or new == _text(case, *NAMES, "listKind"):
            case.doubt()
            singular = _text(case, *NAMES, "singular") or _singular(_text(case, *NAMES, "plural"))
            new = singular[:1].upper() + singular[1:]
    if not new:
        return
    if isinstance(case.get(*NAMES), dict):
        yield put((*NAMES, key), new)
        if key == "plural":
            yield from _name_it(case, f"{new}.{_text(case, 'spec', 'group')}")


def _singular(plural: str) -> str:
    for ending, instead in (("ies", "y"), ("sses", "ss"), ("xes", "x"), ("s", "")):
        if plural.endswith(ending):
            return plural.removesuffix(ending) + instead
    return plural


@cure("list-kind-same")
def no_list_kind(case: Case) -> Iterator[Change]:
    """Take listKind away; the server makes it of the kind and List."""
    if case.has(*NAMES, "listKind"):
        yield drop((*NAMES, "listKind"))


@cure("short-name-own", "short-name-repeated")
def short_name_once(case: Case) -> Iterator[Change]:
    """Take a short name away that adds nothing."""
    yield drop_item(case, case.path)


@cure("short-name-built-in", safe=False)
def short_name_unreachable(case: Case) -> Iterator[Change]:
    """Take a short name away that kubectl reads as another resource."""
    yield drop_item(case, case.path)


@cure("group")
def group(case: Case) -> Iterator[Change]:
    """Take a missing group from the name of the CRD; write it in lower case."""
    value, name = _text(case, "spec", "group"), _text(case, "metadata", "name")
    plural = _text(case, *NAMES, "plural")
    if value:
        new = value.strip().lower()
    else:
        new = name.removeprefix(f"{plural}.") if name.startswith(f"{plural}.") and plural else ""
    if not new or new == value or objectmeta.dns1123_subdomain(new) or "." not in new:
        return
    if isinstance(case.get("spec"), dict):
        yield put(("spec", "group"), new)
        yield from _name_it(case, f"{plural}.{new}")


_SCOPES = {
    "namespaced": "Namespaced",
    "namespace": "Namespaced",
    "cluster": "Cluster",
    "clustered": "Cluster",
}


@cure("scope")
def scope(case: Case) -> Iterator[Change]:
    """Spell the scope as the server does; a missing one was Namespaced before v1."""
    value = _text(case, "spec", "scope")
    new = _SCOPES.get(value.strip().lower(), "")
    if not value:
        case.doubt()
        new = "Namespaced"
    if new and isinstance(case.get("spec"), dict):
        yield put(("spec", "scope"), new, after="names")


@cure("version-name")
def version_name(case: Case) -> Iterator[Change]:
    """Write the name of a version in lower case; put the v before a number that lacks it."""
    value = case.value
    if not isinstance(value, str):
        return
    new = _label(value) or _label(value.strip().lower().replace(".", "").replace("_", ""))
    if not new and (new := _label(f"v{value.strip().lower()}")):
        case.doubt()
    others = [v.get("name") for v in _versions(case) if isinstance(v, dict)]
    if new and new not in others:
        yield put(case.path, new)


def _versions(case: Case) -> list[Any]:
    versions = case.get("spec", "versions")
    return versions if isinstance(versions, list) else []


@cure("version-name-unique")
def version_once(case: Case) -> Iterator[Change]:
    """Take a version away that stands there before, word for word."""
    versions = _versions(case)
    index = case.path[2]
    if not isinstance(index, int) or index >= len(versions):
        return
    again = versions[index]
    for first in versions[:index]:
        if not isinstance(first, dict) or first.get("name") != again.get("name"):
            continue
        if same_json({**first, "storage": None}, {**again, "storage": None}):
            case.doubtful = bool(again.get("storage")) and not first.get("storage")
            yield drop(case.path[:3])
        return
