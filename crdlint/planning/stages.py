"""The CRDs on the way from OLD to NEW: every stage changes one thing about the versions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdlint.keywords import same_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Data = dict[str, Any]

# What a stage is for, in the order in which stages come.
SCHEMAS, ADD, STORE, UNSERVE, REMOVE = "schemas", "add", "store", "unserve", "remove"
# When the schemas of versions that stay become those of NEW.
FIRST, TOGETHER, LAST = "first", "together", "last"
ORDERS = (TOGETHER, FIRST, LAST)

_KEPT_METADATA = ("name", "labels", "annotations")
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_FLAGS = ("served", "storage", "deprecated", "deprecationWarning")
# Stands where a webhook is needed that only the user can name.
FILL_IN = "fill-in"
PLACEHOLDER: Data = {
    "strategy": "Webhook",
    "webhook": {
        "conversionReviewVersions": ["v1"],
        "clientConfig": {"service": {"namespace": FILL_IN, "name": FILL_IN, "path": "/convert"}},
    },
}


class Stage:
    """A CRD to apply, and what it changes: `kinds` out of the constants above."""

    __slots__ = ("crd", "kinds")

    def __init__(self, crd: Data, kinds: list[str]) -> None:
        self.crd = crd
        self.kinds = kinds


class Moves:
    """What becomes of the versions: names in the order of their CRD."""

    __slots__ = ("added", "gone", "new", "new_storage", "old", "old_storage", "shared", "unserved")

    def __init__(self, old: Data, new: Data) -> None:
        self.old, self.new = versions_of(old), versions_of(new)
        self.added = [name for name in self.new if name not in self.old]
        self.gone = [name for name in self.old if name not in self.new]
        self.shared = [name for name in self.new if name in self.old]
        self.unserved = [
            name
            for name, version in self.old.items()
            if version.get("served") and not (self.new.get(name) or {}).get("served")
        ]
        self.old_storage = storage_of(old)
        self.new_storage = storage_of(new)

    @property
    def in_place(self) -> bool:
        """Tell whether a version that stays gets another schema or other subresources."""
        return any(
            not same_json(_without_flags(self.old[name]), _without_flags(self.new[name]))
            for name in self.shared
        )

    @property
    def any(self) -> bool:
        """Tell whether versions come, go or change places."""
        return bool(self.added or self.gone or self.unserved) or (
            self.old_storage != self.new_storage
        )


class Difference:
    """What one CRD does to the versions of the CRD before it.

    `added`, `removed`, `deprecated`, `opened` (served from now on) and `closed` (no longer served,
    but there) are names in the order of their CRD; `rest` says that columns, subresources or
    selectable fields change, `conversion` how conversion does.
    """

    __slots__ = (
        "added",
        "before",
        "closed",
        "conversion",
        "deprecated",
        "opened",
        "removed",
        "rest",
        "schemas",
        "storage",
        "stored",
        "stores",
    )

    def __init__(self, old: Data, new: Data) -> None:
        before, after = versions_of(old), versions_of(new)
        both = [(name, before[name], after[name]) for name in after if name in before]
        self.before = before
        self.added = [name for name in after if name not in before]
        self.removed = [name for name in before if name not in after]
        self.opened = [n for n, a, b in both if b.get("served") and not a.get("served")]
        self.closed = [n for n, a, b in both if a.get("served") and not b.get("served")]
        self.deprecated = [n for n, a, b in both if b.get("deprecated") and not a.get("deprecated")]
        self.stored, self.storage = storage_of(old), storage_of(new)
        self.stores = self.stored != self.storage
        keeps = [spec.get("preserveUnknownFields") or False for spec in (old["spec"], new["spec"])]
        self.schemas = keeps[0] != keeps[1] or any(
            not same_json(a.get("schema"), b.get("schema")) for _, a, b in both
        )
        self.rest = any(
            not same_json(_without(a, "schema", *_FLAGS), _without(b, "schema", *_FLAGS))
            for _, a, b in both
        )
        self.conversion = ""
        if strategy_of(old) != strategy_of(new):
            by = "by a webhook" if strategy_of(new) == "Webhook" else "without a webhook"
            self.conversion = f"convert {by}"


def versions_of(crd: Data) -> dict[str, Data]:
    """Return the versions of a CRD by name."""
    return {str(version.get("name")): version for version in crd["spec"].get("versions") or ()}


def storage_of(crd: Data) -> str:
    """Return the storage version, or "" where there is none."""
    return next((name for name, v in versions_of(crd).items() if v.get("storage")), "")


def unheld(crd: Data) -> str:
    """Say why no API server holds such a CRD, so that there is nothing to plan, or ""."""
    spec = crd.get("spec") or {}
    names = spec.get("names") or {}
    for what, there in (
        ("metadata.name", (crd.get("metadata") or {}).get("name")),
        ("spec.group", spec.get("group")),
        ("spec.scope", spec.get("scope")),
        ("spec.names.plural", names.get("plural")),
        ("spec.names.kind", names.get("kind")),
        ("spec.versions", spec.get("versions")),
    ):
        if not there:
            return f"{what} is missing"
    versions = [str(version.get("name") or "") for version in spec["versions"]]
    if "" in versions:
        return "a version has no name"
    if len(set(versions)) < len(versions):
        return f"{max(versions, key=versions.count)} stands there twice"
    storage = sum(bool(version.get("storage")) for version in spec["versions"])
    return "" if storage == 1 else f"{storage or 'no'} versions have storage: true, not one"


def strategy_of(crd: Data) -> str:
    """Return the conversion strategy."""
    return str((crd["spec"].get("conversion") or {}).get("strategy") or "None")


def clean(crd: Mapping[str, Any]) -> Data:
    """Return a CRD as it is applied: without its status and what the server sets in metadata."""
    metadata = crd.get("metadata") or {}
    kept = {key: metadata[key] for key in _KEPT_METADATA if metadata.get(key)}
    if _LAST_APPLIED in (kept.get("annotations") or {}):
        left = {k: v for k, v in kept["annotations"].items() if k != _LAST_APPLIED}
        kept = {**kept, "annotations": left} if left else _without(kept, "annotations")
    head = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}
    return {**head, "metadata": kept, "spec": crd["spec"]}


def _without(data: Mapping[str, Any], *keys: str) -> Data:
    return {key: value for key, value in data.items() if key not in keys}


def _without_flags(version: Mapping[str, Any]) -> Data:
    return _without(version, *_FLAGS)


def stages(old: Data, new: Data, order: str, *, webhook: bool) -> list[Stage]:
    """Return the stages from OLD to NEW; the last one is NEW.

    Args:
        old: the CRD that the server holds, clean.
        new: the CRD that is wanted, clean.
        order: when the schemas of versions that stay change, out of ORDERS.
        webhook: a conversion webhook is needed while versions that go stand beside those that come.
    """
    moves = Moves(old, new)
    found: list[Stage] = []
    before = old
    for kinds, crd in _crds(old, new, moves, order, webhook=webhook):
        if same_json(crd["spec"], before["spec"]):
            continue
        found.append(Stage(crd, kinds))
        before = crd
    if not found or not same_json(found[-1].crd, new):
        found.append(Stage(new, [REMOVE]))
    return found


def _crds(
    old: Data, new: Data, moves: Moves, order: str, *, webhook: bool
) -> Iterator[tuple[list[str], Data]]:
    """Yield every stage that there may be, those too that change nothing."""
    swapped = moves.new_storage not in moves.added
    bridge = PLACEHOLDER if webhook and strategy_of(new) == "None" else None

    def make(*, schemas: bool, added: bool, stored: bool, served: bool) -> Data:
        entries = []
        for name in (*moves.new, *moves.gone):
            if name in moves.added and not added:
                continue
            entry = _entry(moves, name, schemas=schemas, added=added, served=served)
            wanted = moves.new_storage if stored else moves.old_storage
            entries.append({**entry, "storage": name == wanted})
        base = new["spec"] if added else {**new["spec"], "names": old["spec"].get("names")}
        conversion = _conversion(old, new, moves, bridge, added=added)
        spec = {**base, "versions": entries, "conversion": conversion}
        return {**new, "spec": spec}

    late = order == LAST
    if order == FIRST:
        yield [SCHEMAS], make(schemas=True, added=False, stored=False, served=True)
    kinds = [ADD] + ([STORE] if swapped else []) + ([SCHEMAS] if order == TOGETHER else [])
    yield kinds, make(schemas=not late, added=True, stored=swapped, served=True)
    yield [STORE], make(schemas=not late, added=True, stored=True, served=True)
    yield [UNSERVE], make(schemas=not late, added=True, stored=True, served=False)
    if late and moves.gone:
        kept = make(schemas=False, added=True, stored=True, served=False)
        entries = [v for v in kept["spec"]["versions"] if v["name"] not in moves.gone]
        yield [REMOVE], {**kept, "spec": {**kept["spec"], "versions": entries}}
    yield [SCHEMAS] if late else [REMOVE], new


def _entry(moves: Moves, name: str, *, schemas: bool, added: bool, served: bool) -> Data:
    """Return a version as a stage has it, its storage flag aside."""
    before, after = moves.old.get(name), moves.new.get(name)
    if before is None:
        return dict(moves.new[name])
    entry = dict(after if schemas and after is not None else before)
    entry["served"] = bool(before.get("served"))
    if after is not None:
        if added and after.get("served"):
            entry["served"] = True
        if not served:
            entry["served"] = bool(after.get("served"))
        if added:
            entry = {**_without(entry, "deprecated", "deprecationWarning"), **_deprecation(after)}
    elif not served:
        entry["served"] = False
    elif added and before.get("served"):
        entry["deprecated"] = True
    return entry


def _deprecation(version: Data) -> Data:
    return {key: version[key] for key in ("deprecated", "deprecationWarning") if version.get(key)}


def _conversion(old: Data, new: Data, moves: Moves, bridge: Data | None, *, added: bool) -> Any:
    """Return the conversion of a stage: a webhook stays as long as a version needs it."""
    if strategy_of(new) != "None":
        return new["spec"]["conversion"]
    if strategy_of(old) != "None" and (moves.gone or not added):
        return old["spec"]["conversion"]
    return bridge if bridge is not None and added else {"strategy": "None"}
