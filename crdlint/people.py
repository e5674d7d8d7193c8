"""What an update of CRDs does to the objects that people have: samples in a repository, a dump."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from crdlint import document as documents
from crdlint.objectfindings import Given, Sheet, objects_in
from crdlint.objects.resource import take, update
from crdlint.objects.served import Served
from crdlint.objects.shown import differences
from crdlint.tree import ABSENT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crdlint.finding import Finding
    from crdlint.objects.resource import Object, Outcome
    from crdlint.source import Source
    from crdlint.tree import Crd

    Key = tuple[str, str]  # group and kind

_TOUCHED = "crdlint/unrelated-update"  # an annotation whose change stands for any other one
_MOST_CHANGES = 20
_MOST_NAMED = 10  # of the objects that change


class People:
    """The objects of the CRDs that are updated, with what becomes of each.

    `rows` are the entries of `objects` in the JSON report, `findings` what breaks, and `counts`
    how many objects there are of each kind of outcome.
    """

    __slots__ = ("_served", "counts", "findings", "minor", "rows", "updates")

    def __init__(self, updates: Iterable[tuple[Crd, Crd]], minor: int) -> None:
        self.updates = {key_of(old): (old, new) for old, new in updates}
        self.minor = minor
        self.findings: list[Finding] = []
        self.rows: list[dict[str, Any]] = []
        self.counts: dict[str, int] = {}
        self._served: dict[tuple[str, str, bool], Served | None] = {}

    def read(self, sources: Iterable[Source]) -> None:
        """Judge every object of some files."""
        kinds = {kind for _, kind in self.updates}
        for source in sources:
            for document in documents.read(source.read(), source.name):
                for given in objects_in(document, kinds):
                    self.judge(given)

    def judge(self, given: Given) -> None:
        """Send one object through the old and the new CRD, on create and on an unrelated update."""
        group, version, kind = given.identity()
        pair = self.updates.get((group, kind))
        if pair is None:
            self._count("of other kinds")
            return
        old, new = (self._version(crd, version, crd is pair[1]) for crd in pair)
        if old is None or not old.served:
            self._count("of versions that were not served")
            return
        before = take(old, given.data)
        if not before.accepted:
            self._count("refused before already")
            return
        sheet = Sheet(given, strict=False)
        sheet.crd, sheet.version = pair[1].name, version
        row = _row(given)
        if new is None or not new.served or new.kind != old.kind:
            served = [str(v.get("name")) for v in pair[1].versions if v.get("served")]
            sheet.not_served(version, served)
            row["create"] = row["update"] = "gone"
        else:
            self._compare(sheet, row, before, new)
        self._keep(sheet, row)

    def _version(self, crd: Crd, name: str, is_new: bool) -> Served | None:
        key = (crd.name, name, is_new)
        if key not in self._served:
            found = (v for v in crd.versions if v.get("name") == name)
            version = next(found, None)
            served = None if version is None else Served(crd.data, version, minor=self.minor)
            self._served[key] = served
        return self._served[key]

    def _compare(self, sheet: Sheet, row: dict[str, Any], before: Outcome, new: Served) -> None:
        after = take(new, sheet.given.data)
        after.pruned = [field for field in after.pruned if field not in before.pruned]
        later = _untouched(new, before.stored or {})
        row["create"] = "accepted" if after.accepted else "refused"
        row["update"] = "accepted" if later.accepted else "refused"
        row["pruned"] = after.pruned
        changed = _changed(before, after)
        row["changed"] = [
            {"field": field} | {k: v for k, v in (("before", a), ("after", b)) if v is not ABSENT}
            for field, a, b in changed
        ]
        sheet.outcome(after, new)

    def _keep(self, sheet: Sheet, row: dict[str, Any]) -> None:
        """Add what an object tells to the report."""
        self.rows.append(row)
        name = "/".join(part for part in (sheet.given.namespace(), sheet.given.name()) if part)
        for finding in sheet.findings:
            lost = any(kind == "Warning" for kind, _ in finding.server or ())
            finding.server = None  # what the server says to the update of the CRD stands there
            finding.severity = "error"
            finding.message = f"{finding.message} ({row['kind']} {name or 'without a name'})"
            if lost:
                finding.effects = ["stored-objects"]
            elif row["update"] == "accepted":
                finding.effects = ["writers"]
            else:
                finding.effects = ["stored-objects", "writers"]
            self.findings.append(finding)
        if row["create"] == "gone":
            self._count("out of reach")
            return
        for key, word in (("create", "refused"), ("update", "refused on an unrelated update")):
            if row[key] == "refused":
                self._count(word)
        if row["pruned"]:
            self._count("pruned")
        if row["changed"]:
            self._count("defaulted otherwise")
        if row["create"] == row["update"] == "accepted" and not (row["pruned"] or row["changed"]):
            self._count("taken as before")

    def _count(self, word: str) -> None:
        self.counts[word] = self.counts.get(word, 0) + 1

    def notes(self) -> list[str]:
        """Say how many objects there are of each outcome, and what changes in the first of them."""
        said = ", ".join(f"{number} {word}" for word, number in self.counts.items())
        lines = [f"objects: {said or 'none found'}"]
        changed = [row for row in self.rows if row["changed"]]
        for row in changed[:_MOST_NAMED]:
            name = "/".join(part for part in (row["namespace"], row["name"]) if part)
            fields = ", ".join(change["field"] for change in row["changed"])
            lines.append(f"{row['kind']} {name}: defaulted otherwise: {fields}")
        if len(changed) > _MOST_NAMED:
            more = len(changed) - _MOST_NAMED
            lines.append(f"and {more} more, which --format json names")
        return lines


def key_of(crd: Crd) -> Key:
    """Return group and kind."""
    return str(crd.spec.get("group") or ""), str(crd.names.get("kind") or "")


def _row(given: Given) -> dict[str, Any]:
    row: dict[str, Any] = {"file": given.document.name, "document": given.document.index}
    if given.item is not None:
        row["item"] = given.item
    row |= {"kind": given.identity()[2], "namespace": given.namespace(), "name": given.name()}
    return row | {"create": "", "update": "", "pruned": [], "changed": []}


def _untouched(new: Served, stored: Object) -> Outcome:
    """Update a stored object in an annotation, and nothing else."""
    touched = copy.deepcopy(stored)
    metadata = touched.setdefault("metadata", {})
    metadata["annotations"] = {**(metadata.get("annotations") or {}), _TOUCHED: "1"}
    return update(new, stored, touched)


def _changed(before: Outcome, after: Outcome) -> list[tuple[str, Any, Any]]:
    """Return what is stored otherwise, but for what is pruned."""
    if before.stored is None or after.stored is None:
        return []
    return list(_told(before.stored, after.stored, after.pruned))[:_MOST_CHANGES]


def _told(before: Object, after: Object, pruned: list[str]) -> Iterator[tuple[str, Any, Any]]:
    for field, a, b in differences(before, after, ()):
        if not any(field == name or name.startswith((f"{field}.", f"{field}[")) for name in pruned):
            yield field, a, b
