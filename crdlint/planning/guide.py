"""Say each step of a road in words: why, what to check, what to run, and how far back it goes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crdlint import kubernetes, yaml_text
from crdlint.planning import stages as staging
from crdlint.planning.stages import FILL_IN, SCHEMAS

if TYPE_CHECKING:
    from crdlint.finding import Finding
    from crdlint.planning.road import Road, Step

_MIGRATION_STABLE = 37
_NO_WAY_BACK = "rollback-unsafe"


class Action:
    """Something to run before a step: a file to apply or a script."""

    __slots__ = ("file", "text", "title")

    def __init__(self, title: str, text: str, file: str) -> None:
        self.title = title
        self.text = text
        self.file = file


def title(road: Road, step: Step) -> str:
    """Name what a step does, in a line."""
    does = step.change(road)
    parts = []
    if does.added:
        waits = ", not yet storage" if road.moves.new_storage in does.added and (
            does.storage != road.moves.new_storage
        ) else ""  # fmt: skip
        parts.append(f"add {_and(does.added)}{waits}")
    if does.deprecated:
        parts.append(f"deprecate {_and(does.deprecated)}")
    if does.stores:
        parts.append(f"store objects as {does.storage}")
    if does.opened:
        parts.append(f"serve {_and(does.opened)}")
    if does.closed:
        parts.append(f"stop serving {_and(does.closed)}")
    if does.removed:
        parts.append(f"remove {_and(does.removed)}")
    if does.schemas:
        parts.append("change the schema in place")
    if does.rest:
        parts.append("change columns or subresources")
    if does.conversion:
        parts.append(does.conversion)
    return "; ".join(parts) or "apply the new CRD"


def why(road: Road, step: Step) -> list[str]:
    """Say why a step is one of its own."""
    if step.refused:
        return ["NEW asks for it, and the API server does not take it"]
    does, moves = step.change(road), road.moves
    reasons = []
    if moves.new_storage in does.added and does.storage != moves.new_storage:
        reasons.append(
            f"{moves.new_storage} must be known to the release that a rollback leads to before"
            " anything is stored in it"
        )
    if does.stores:
        reasons.append(
            f"new writes are stored as {does.storage}; objects written before stay as"
            f" {does.stored}, and both stand in status.storedVersions"
        )
    left = [name for name in does.removed if moves.old[name].get("served")]
    if does.closed:
        reasons.append(
            f"clients of {_and(does.closed)} fail at once, so this step shows who is left while it"
            " can still be taken back"
        )
    if left and len(road.steps) == 1:
        reasons.append(
            f"clients of {_and(left)} fail at once, as the API server takes no step in between"
        )
    if does.removed:
        reasons.append(
            "the API server lets a version go only when it is not in status.storedVersions"
        )
    if SCHEMAS in step.kinds and does.schemas and step.kinds == [SCHEMAS] and len(road.steps) > 1:
        reasons.append(
            "in one step with the versions that come and go it would hurt stored objects"
        )
    return reasons or [_plain_reason(road, step)]


def _plain_reason(road: Road, step: Step) -> str:
    """Say why a step is there that only does what NEW asks for."""
    if step.hurts:
        return "NEW asks for it, and no other order of steps spares what it breaks"
    if len(road.steps) == 1:
        return "the API server takes it in one step, and no stored object is hurt"
    return "NEW asks for it, and no stored object is hurt"


def checks(road: Road, step: Step) -> list[str]:
    """Say what to look at before a step."""
    does = step.change(road)
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
    lost = does.closed + [n for n in does.removed if does.before[n].get("served")]
    if lost:
        told = all(does.before[name].get("deprecated") for name in lost)
        metric = " and the metric `apiserver_requested_deprecated_apis` tell" if told else " tells"
        found.append(f"no client asks for {_and(lost)} any more: the audit log{metric}")
    if does.removed:
        found.append(
            f"`kubectl get crd {road.name} -o jsonpath='{{.status.storedVersions}}'` names none of"
            f" {_and(does.removed)}"
        )
    return found


def actions(road: Road, step: Step) -> list[Action]:
    """Return what to run before a step: the CRD of the step before is in force."""
    if not step.migrates:
        return []
    (storage,) = step.stored
    done = [_by_hand(road, storage, f"migrate-{step.number}.sh")]
    if road.minor < kubernetes.STORAGE_VERSION_MIGRATION:
        return done
    by_server = _by_server(road, storage, f"migrate-{step.number}.yaml")
    if road.minor >= _MIGRATION_STABLE:
        return [by_server]
    done[0].title = "or, where that API is off, " + done[0].title
    return [by_server, *done]


def _by_server(road: Road, storage: str, file: str) -> Action:
    """Return the migration that the API server's own controller makes."""
    spec = road.new["spec"]
    stable = road.minor >= _MIGRATION_STABLE
    name = f"{road.name}-{storage}"
    manifest = {
        "apiVersion": f"storagemigration.k8s.io/{'v1' if stable else 'v1beta1'}",
        "kind": "StorageVersionMigration",
        "metadata": {"name": name},
        "spec": {"resource": {"group": spec["group"], "resource": spec["names"]["plural"]}},
    }
    head = (
        f"# Rewrites all objects as {storage}. One of this name that ran before does nothing any\n"
        "# more: delete it first. Then create this, and wait for it:\n"
        f"# kubectl wait --for=condition=Succeeded --timeout=1h storageversionmigration/{name}\n"
    )
    asks = (
        ""
        if stable
        else " (asks for the feature gate StorageVersionMigrator and the API"
        " storagemigration.k8s.io/v1beta1, which are off by default)"
    )
    return Action(
        f"rewrite all objects as {storage}, and wait until the condition Succeeded is True; it"
        f" trims status.storedVersions as long as the CRD is not touched meanwhile{asks}",
        head + yaml_text.dump(manifest),
        file,
    )


def _by_hand(road: Road, storage: str, file: str) -> Action:
    """Return a script that writes every object as it is, and trims storedVersions."""
    what = _resource(road)
    text = (
        "#!/bin/sh\n"
        f"# Rewrite all objects as {storage}: a write that changes nothing is stored in the\n"
        "# storage version. One that somebody changes meanwhile is refused with a conflict: run\n"
        "# this again until it ends with 0.\n"
        "set -eu\n"
        f"names=$(kubectl get {what} --all-namespaces -o name)\n"
        'if [ -n "$names" ]; then\n'
        f"  kubectl get {what} --all-namespaces -o json | kubectl replace -f -\n"
        "fi\n"
        "# Only now that nothing is stored otherwise; the API server does not check that.\n"
        f"kubectl patch crd {road.name} --subresource=status --type=merge \\\n"
        f"""  -p '{{"status":{{"storedVersions":["{storage}"]}}}}'\n"""
    )
    return Action(
        f"rewrite all objects as {storage}, then drop the others from status.storedVersions"
        " (kubectl 1.24 or newer)",
        text,
        file,
    )


def rollback(road: Road, step: Step) -> str:
    """Say how far back one can go once a step is applied and used."""
    stored = set(step.stored) | {staging.storage_of(step.crd)}
    if step.refused:
        return ""
    ways = [(0, road.old)]
    ways += [(s.number, s.crd) for s in road.steps if s.number < step.number]
    for number, crd in ways:
        missing = stored - staging.versions_of(crd).keys()
        if not missing:
            since = [s for s in road.steps if number < s.number <= step.number]
            loses = any(note.rule == _NO_WAY_BACK for s in since for note in (*s.notes, *s.hurts))
            lost = " of objects written since, what only the newer schema knows is lost there"
            name = f"step {number}" if number else "OLD"
            return f"as far as {name}, which knows every version that is stored" + (
                f";{lost}" if loses else ""
            )
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
