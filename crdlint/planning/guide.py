"""Say each step of a road in words: why, what to check, what to run, and how far back it goes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crdlint import kubernetes, yaml_text
from crdlint.planning import stages as staging
from crdlint.planning.stages import ADD, FILL_IN, REMOVE, SCHEMAS, STORE, UNSERVE

if TYPE_CHECKING:
    from crdlint.finding import Finding
    from crdlint.planning.road import Road, Step

_MIGRATION_STABLE = 37


class Action:
    """Something to run before a step: a file to apply or a script."""

    __slots__ = ("file", "text", "title")

    def __init__(self, title: str, text: str, file: str) -> None:
        self.title = title
        self.text = text
        self.file = file


def title(road: Road, step: Step) -> str:
    """Name what a step does, in a line."""
    moves = road.moves
    came = [name for name in moves.added if name in staging.versions_of(step.crd)]
    left = [name for name in moves.gone if name in staging.versions_of(step.crd)]
    parts = []
    if ADD in step.kinds and moves.added:
        parts.append(f"add {_and(came)}, not yet storage" if _storage_waits(road, step)
                     else f"add {_and(came)}")  # fmt: skip
    served = [name for name in left if moves.old[name].get("served")]
    if ADD in step.kinds and served:
        parts.append(f"deprecate {_and(served)}")
    if STORE in step.kinds and moves.old_storage != moves.new_storage:
        parts.append(f"store objects as {moves.new_storage}")
    if UNSERVE in step.kinds and moves.unserved:
        parts.append(f"stop serving {_and(moves.unserved)}")
    if REMOVE in step.kinds and moves.gone:
        parts.append(f"remove {_and(moves.gone)}")
    if SCHEMAS in step.kinds and moves.in_place:
        parts.append("change the schema in place")
    return "; ".join(parts) or "apply the new CRD"


def _storage_waits(road: Road, step: Step) -> bool:
    return staging.storage_of(step.crd) != road.moves.new_storage


def why(road: Road, step: Step) -> list[str]:
    """Say why a step is one of its own."""
    moves = road.moves
    reasons = []
    if ADD in step.kinds and moves.added and _storage_waits(road, step):
        reasons.append(
            f"{moves.new_storage} must be known to the release that a rollback leads to before"
            " anything is stored in it"
        )
    if STORE in step.kinds and moves.old_storage != moves.new_storage:
        reasons.append(
            f"new writes are stored as {moves.new_storage}; objects written before stay as"
            f" {moves.old_storage}, and both stand in status.storedVersions"
        )
    if UNSERVE in step.kinds and moves.unserved:
        at_once = REMOVE in step.kinds
        reasons.append(
            f"clients of {_and(moves.unserved)} fail at once, "
            + (
                "as the API server takes no step in between"
                if at_once
                else "so this step shows who is left while it can still be taken back"
            )
        )
    if REMOVE in step.kinds and moves.gone:
        reasons.append(
            "the API server lets a version go only when it is not in status.storedVersions"
        )
    if SCHEMAS in step.kinds and moves.in_place and step.kinds == [SCHEMAS]:
        reasons.append(
            "beside the other versions the new schema would lose fields, alone it does not"
        )
    return reasons or ["the API server takes it in one step, and no stored object is hurt"]


def checks(road: Road, step: Step) -> list[str]:
    """Say what to look at before a step."""
    moves = road.moves
    found = []
    if step.hurts and not step.refused:
        found.append(
            "find the objects that this step hurts, and put them right first: `kubectl get"
            f" {_resource(road)} -A -o yaml > objects.yaml`, then `crdlint diff OLD NEW --objects"
            " objects.yaml`"
        )
    if step.bridged:
        found.append(
            f"deploy the conversion webhook, and put its address where the file says {FILL_IN!r};"
            " read an object at every version before going on"
        )
    elif staging.strategy_of(step.crd) == "Webhook" and (
        staging.strategy_of(road.old) == "None" and step.number == 1
    ):
        found.append(
            "deploy the conversion webhook and its CA first: from this step on every read of"
            " another version than the stored one asks it"
        )
    if UNSERVE in step.kinds and moves.unserved:
        found.append(
            f"no client asks for {_and(moves.unserved)} any more: the audit log and the metric"
            " `apiserver_requested_deprecated_apis` tell"
        )
    if REMOVE in step.kinds and moves.gone:
        found.append(
            f"`kubectl get crd {road.name} -o jsonpath='{{.status.storedVersions}}'` names none of"
            f" {_and(moves.gone)}"
        )
    return found


def actions(road: Road, step: Step) -> list[Action]:
    """Return what to run before a step: the CRD of the step before is in force."""
    if not step.migrates:
        return []
    (storage,) = step.stored
    patch = (
        f"kubectl patch crd {road.name} --subresource=status --type=merge"
        f""" -p '{{"status":{{"storedVersions":["{storage}"]}}}}'"""
    )
    if road.minor >= kubernetes.STORAGE_VERSION_MIGRATION:
        spec = road.new["spec"]
        kind = "v1" if road.minor >= _MIGRATION_STABLE else "v1beta1"
        manifest = {
            "apiVersion": f"storagemigration.k8s.io/{kind}",
            "kind": "StorageVersionMigration",
            "metadata": {"name": f"{road.name}-{storage}"},
            "spec": {"resource": {"group": spec["group"], "resource": spec["names"]["plural"]}},
        }
        return [
            Action(
                f"rewrite all objects as {storage}, and wait until the condition Succeeded is True;"
                " it trims status.storedVersions as long as the CRD is not touched meanwhile",
                yaml_text.dump(manifest),
                f"migrate-{step.number}.yaml",
            )
        ]
    rewrite = (
        "#!/bin/sh\n"
        f"# Rewrite all objects as {storage}: a write that changes nothing is stored in the\n"
        "# storage version. One that somebody changes meanwhile is refused with a conflict: run\n"
        "# this again until it ends with 0.\n"
        "set -eu\n"
        f"kubectl get {_resource(road)} --all-namespaces -o json | kubectl replace -f -\n"
        "# Only now that nothing is stored otherwise; the API server does not check that.\n"
        f"{patch}\n"
    )
    return [
        Action(
            f"rewrite all objects as {storage}, then drop the others from status.storedVersions"
            " (kubectl 1.24 or newer)",
            rewrite,
            f"migrate-{step.number}.sh",
        )
    ]


def rollback(road: Road, step: Step) -> str:
    """Say how far back one can go once a step is applied and used."""
    stored = set(step.stored) | {staging.storage_of(step.crd)}
    if step.refused:
        return ""
    ways = [("OLD", road.old)]
    ways += [(f"step {s.number}", s.crd) for s in road.steps if s.number < step.number]
    for name, crd in ways:
        missing = stored - staging.versions_of(crd).keys()
        if not missing:
            return f"as far as {name}, which knows every version that is stored"
    return "none: no earlier CRD knows every version that is stored"


def harm(finding: Finding) -> str:
    """Say in a line what a step does that no road avoids."""
    server = "; ".join(f"{kind} {field}" for kind, field in finding.server or ())
    return f"{finding.field}: {finding.message}" + (f" ({server})" if server else "")


def copying(road: Road) -> list[str]:
    """Lay out how objects come to a CRD that is another one for the server."""
    same = road.old["metadata"].get("name") == road.new["metadata"].get("name")
    old = _resource(road)
    if same:
        return [
            "choose another group or plural for the new CRD, as this name is taken until the end",
            f"then copy the objects of {old} to it as below",
            *_copy(old),
        ]
    return ["apply the new CRD beside the old one", *_copy(old)]


def _copy(old: str) -> list[str]:
    return [
        f"copy every object (`kubectl get {old} -A -o yaml`) with its new apiVersion and kind",
        "set owner references and finalizers again, which the copies cannot take along",
        "let the controller handle both kinds, the old one until nothing writes it",
        "deprecate the versions of the old CRD, and wait until no client asks for them",
        f"delete the old CRD: this deletes all its objects (keep `kubectl get {old} -A -o yaml`)",
    ]


def _resource(road: Road) -> str:
    spec = road.old["spec"]
    return f"{spec['names']['plural']}.{spec['group']}"


def _and(names: list[str]) -> str:
    return " and ".join(names) if len(names) < 3 else f"{', '.join(names[:-1])} and {names[-1]}"
