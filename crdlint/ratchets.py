"""What the API server says to an update: its checks, less what the stored CRD excuses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdlint import engine, server
from crdlint.keywords import HOLDS
from crdlint.rule import CEL, CONVERT, DEFAULTS, LINT, STRUCTURAL, WARN, Problem, Registered
from crdlint.rules.diff_identity import established
from crdlint.rules.diff_versions import stored_versions
from crdlint.tree import held

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from crdlint.tree import Crd, Node

# Whoever violated one of these before may violate it anywhere after. Source: the require... options
# of ValidateCustomResourceDefinitionUpdate.
_BY_RULE: dict[str, frozenset[str]] = {
    "type-not-supported": frozenset(("type-not-supported",)),
    "default-pruned": frozenset(("default-pruned",)),
    "set-items-not-atomic": frozenset(("set-items-not-atomic",)),
    "list-map-key-optional": frozenset(("list-map-key-optional", "list-item-nullable")),
    "list-item-nullable": frozenset(("list-map-key-optional", "list-item-nullable")),
}
_STRUCTURAL_ONLY = frozenset((CONVERT, STRUCTURAL, DEFAULTS, CEL))
_EXTENSIONS = (
    "x-kubernetes-embedded-resource",
    "x-kubernetes-int-or-string",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-validations",
)
_POINTERS = ("default", "x-kubernetes-preserve-unknown-fields", "x-kubernetes-list-type")


class _Stored:
    """What is wrong with the old CRD, found out only when it matters."""

    __slots__ = ("formats", "nonstructural", "rules", "warnings")

    def __init__(self, old: Crd) -> None:
        self.rules: set[str] = set()
        self.nonstructural = False
        self.formats: set[str] = set()
        self.warnings: set[str] = set()
        for root in old.schemas:
            visit = _walk(root)
            stages = {problem.stage for problem in visit.found}
            structural = not stages & {CONVERT, STRUCTURAL}
            self.nonstructural |= not structural
            found = visit.found + (visit.deferred(DEFAULTS) if structural else [])
            self.rules |= {problem.rule for problem in found}
            for problem in found:
                if problem.stage == WARN:
                    self.warnings.add(problem.message)
                    self.formats.add(str(problem.place.node.get("format") or ""))


class Ratchets:
    """Tells which problems of an update the server lets pass, as the stored CRD has them too."""

    __slots__ = ("_structural", "_was", "new", "old")

    def __init__(self, old: Crd, new: Crd) -> None:
        self.old = old
        self.new = new
        self._was: _Stored | None = None
        self._structural: bool | None = None

    @property
    def was(self) -> _Stored:
        """Return what is wrong with the old CRD."""
        if self._was is None:
            self._was = _Stored(self.old)
        return self._was

    @property
    def structural(self) -> bool:
        """Tell whether the schemas must be structural.

        Not where they were not before, unless the new CRD prunes, defaults or has an extension
        that needs it.
        """
        if self._structural is None:
            prunes = not self.new.spec.get("preserveUnknownFields")
            self._structural = prunes or not self.was.nonstructural or _needs_structure(self.new)
        return self._structural

    def kept(self, problems: list[Problem]) -> list[Problem]:
        """Return the problems that nothing excuses."""
        return [problem for problem in problems if not self.excuses(problem)]

    def excuses(self, problem: Problem) -> bool:
        """Tell whether the server does not say a problem of the new CRD; may take out a part."""
        if problem.stage in _STRUCTURAL_ONLY and not self.structural:
            return True
        others = _BY_RULE.get(problem.rule)
        if others is not None and others & self.was.rules:
            if problem.rule != "type-not-supported":
                return True
            problem.refused = [entry for entry in problem.refused if entry != "NotSupported"]
            return not problem.refused
        if problem.rule == "unrecognized-format":
            return str(problem.place.node.get("format") or "") in self.was.formats
        return problem.stage == WARN and problem.message in self.was.warnings


def _needs_structure(crd: Crd) -> bool:
    """Tell whether any schema has a default or an extension of Kubernetes."""
    stack: list[Mapping[str, Any]] = []
    for version in crd.versions:
        schema = (version.get("schema") or {}).get("openAPIV3Schema")
        if isinstance(schema, dict):
            stack.append(schema)
    while stack:
        data = stack.pop()
        if any(data.get(key) for key in _EXTENSIONS):
            return True
        if any(data.get(key) is not None for key in _POINTERS):
            return True
        for key, value in data.items():
            if key in HOLDS:
                stack.extend(schema for _, schema in held(key, value))
    return False


def _tables() -> dict[str, tuple[engine.Table, tuple[Registered, ...]]]:
    """Return the engine's tables without advice, which is not the server's."""
    if not _CHECKS:
        for kind, (table, always) in engine._TABLES[False].items():
            checks = {
                key: (tuple(c for c in checks if c.stage), holds)
                for key, (checks, holds) in table.items()
            }
            _CHECKS[kind] = checks, tuple(c for c in always if c.stage)
    return _CHECKS


_CHECKS: dict[str, tuple[engine.Table, tuple[Registered, ...]]] = {}


def _walk(root: Node) -> engine._Visit:
    """Run the server's checks over a schema, all but those that are put off."""
    tables = _tables()
    visit = engine._Visit()
    stack: list[Node] = []
    visit.node(root, *tables["root"], stack)
    while stack:
        node = stack.pop()
        visit.node(node, *tables["junctor" if node.junctor else "spine"], stack)
    return visit


def update(old: Crd, new: Crd) -> list[Problem]:
    """Return what the server says to an update, without the immutable fields and stored versions.

    Those are `diff` rules. Problems without a claim of the server are left out.
    """
    new.old = old
    ratchets = Ratchets(old, new)
    visit = engine._Visit()
    for node in (new.root, *new.root.children()):
        visit.node(node, *_tables()[node.kind], None)
    problems = ratchets.kept(visit.found)
    for root in new.schemas:
        problems += _schema(root, ratchets)
    problems += _ca_bundle(old, new)
    problems += _accepted_names(old, problems)
    _stored_versions(old, new, problems)
    return [p for p in server.settle(new, problems) if p.refused or p.rule == "internal-error"]


def _schema(root: Node, ratchets: Ratchets) -> list[Problem]:
    visit = _walk(root)
    stages: dict[str, list[Problem]] = {}
    for problem in ratchets.kept(visit.found):
        stages.setdefault(problem.stage, []).append(problem)
    free = [p for stage in engine._UNGATED for p in stages.pop(stage, ())]

    def deferred(stage: str) -> list[Problem]:
        return ratchets.kept(visit.deferred(stage))

    return server.gate(stages, deferred) + free


def _stored_versions(old: Crd, new: Crd, problems: list[Problem]) -> None:
    """Add what the server says of the storedVersions that it carries over, to whoever caused it.

    Source: PrepareForUpdate, ValidateCustomResourceDefinitionStoredVersions. Versions that are gone
    are a `diff` rule of their own.
    """
    stored = list(stored_versions(old))
    storage = [str(v.get("name") or "") for v in new.versions if v.get("storage")]
    stored += [name for name in storage[:1] if name not in stored]
    left = set(stored)
    refused = 0 if stored else 1
    for version in new.versions:
        name = str(version.get("name") or "")
        refused += bool(version.get("storage") and name not in left)
        left.discard(name)
    cause = next(
        (p for p in problems if p.rule in ("storage-version", "version-name-unique")), None
    )
    if refused and cause is not None:
        cause.refused.append(("Invalid", "status.storedVersions"))


def _accepted_names(old: Crd, problems: list[Problem]) -> Iterator[Problem]:
    """Add what the server says of the names that it has accepted, which are the old ones.

    Source: ValidateCustomResourceDefinitionStatus.
    """
    visit = engine._Visit()
    for check in LINT.get("crd", ()):
        if set(check.ids) & _NAMES:
            visit.run(check, old.root, engine._NO_VALUE)
    for problem in visit.found:
        claims = [
            (kind, field.replace("spec.names", "status.acceptedNames", 1))
            for kind, field in server.claims(old, problem)
        ]
        same = (p for p in problems if p.rule == problem.rule and p.message == problem.message)
        if (cause := next(same, None)) is not None:
            cause.refused += claims
        else:
            place = old.root.at(*problem.place.keys)
            message = f"the stored CRD has it: {problem.message}"
            yield Problem(place, message, rule=problem.rule, refused=claims)


_NAMES = frozenset(("names-format", "list-kind-same"))
CA_BUNDLE_REFUSED = 31  # the server refuses to break a bundle that was good


def _ca_bundle(old: Crd, new: Crd) -> Iterator[Problem]:
    """Refuse a bad bundle where there was a good one, or none; a create may have any."""
    if new.minor < CA_BUNDLE_REFUSED or not established(old):
        return
    strategy = (new.spec.get("conversion") or {}).get("strategy")
    bundle = _bundle(new) if strategy == "Webhook" else ""
    if bundle and not _is_pem(bundle) and (not (was := _bundle(old)) or _is_pem(was)):
        yield Problem(
            new.root.at("spec", "conversion", "webhook", "clientConfig", "caBundle"),
            "no PEM certificate in it, and the stored CRD has a good bundle or none",
            rule="ca-bundle-invalid",
            refused=["Invalid"],
        )


def _bundle(crd: Crd) -> str:
    webhook = (crd.spec.get("conversion") or {}).get("webhook") or {}
    return str((webhook.get("clientConfig") or {}).get("caBundle") or "")


def _is_pem(bundle: str) -> bool:
    """Tell whether a bundle has a certificate that can be read; source: ParseCertsPEM."""
    import base64
    import binascii
    import re

    try:
        text = base64.b64decode(bundle, validate=False)
    except (binascii.Error, ValueError):
        return False
    blocks = re.findall(
        rb"-----BEGIN CERTIFICATE-----\r?\n(.*?)-----END CERTIFICATE-----", text, re.DOTALL
    )
    for block in blocks:
        try:
            der = base64.b64decode(b"".join(block.split()), validate=True)
        except (binascii.Error, ValueError):
            continue
        return der[:1] == b"\x30"
    return False
