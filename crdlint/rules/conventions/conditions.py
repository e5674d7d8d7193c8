"""The status: its conditions, and fields in it that clients cannot live with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdlint.rule import Problem, lint
from crdlint.rules.conventions.parts import LIST_TYPE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from crdlint.rule import Problems
    from crdlint.tree import Node

Schema = dict[str, Any]
MAP_KEYS = "x-kubernetes-list-map-keys"
CONDITIONS = ("properties", "status", "properties", "conditions")
REQUIRED = ("type", "status", "reason", "message", "lastTransitionTime")
STATUSES = frozenset(("True", "False", "Unknown"))
# Which texts of a condition have bounds in metav1.Condition.
LENGTHS = {"type": 316, "reason": 1024, "message": 32768}


def _status(properties: Mapping[str, Any]) -> Schema:
    status = properties.get("status")
    return status if isinstance(status, dict) else {}


def _conditions(properties: Mapping[str, Any]) -> Schema | None:
    conditions = (_status(properties).get("properties") or {}).get("conditions")
    return conditions if isinstance(conditions, dict) else None


@lint("conditions-list-map", on="root.properties")
def conditions_list_map(node: Node, properties: Mapping[str, Any]) -> Problems:
    """Report conditions that two controllers cannot set side by side."""
    conditions = _conditions(properties)
    if conditions is None:
        return
    place = node.at(*CONDITIONS)
    kind = conditions.get("type")
    if kind != "array":
        message = f"is of type {kind or 'any'}, and kubectl wait reads a list"
        yield Problem(place, message)
    elif conditions.get(LIST_TYPE) != "map":
        message = "two controllers drop each other's conditions: apply takes the list as one value"
        yield Problem(place, message)
    elif (keys := conditions.get(MAP_KEYS) or []) != ["type"]:
        message = f"the key is {', '.join(keys)}, so one type of condition may stand there twice"
        yield Problem(node.at(*CONDITIONS, MAP_KEYS), message)


@lint("conditions-shape", on="root.properties")
def conditions_shape(node: Node, properties: Mapping[str, Any]) -> Problems:
    """Report conditions that say less than metav1.Condition does."""
    conditions = _conditions(properties)
    items = conditions.get("items") if conditions else None
    if not isinstance(items, dict) or items.get("type") != "object":
        return
    gaps = list(_gaps(items))
    if gaps:
        message = f"readers cannot rely on what metav1.Condition promises: {'; '.join(gaps)}"
        yield Problem(node.at(*CONDITIONS, "items"), message)


def _gaps(items: Schema) -> Iterator[str]:
    """Yield what the schema of a condition leaves open, in a few words each."""
    fields: Schema = items.get("properties") or {}
    missing = [name for name in REQUIRED if name not in fields]
    if missing:
        yield f"there is no {', '.join(missing)}"
    required = items.get("required") or []
    optional = [name for name in REQUIRED if name in fields and name not in required]
    if optional:
        yield f"{', '.join(optional)} may be absent"
    if "status" in fields and set(fields["status"].get("enum") or ()) != STATUSES:
        yield "status has no enum of True, False and Unknown"
    reason = fields.get("reason") or {}
    if reason and not (reason.get("minLength") or reason.get("pattern") or reason.get("enum")):
        yield "reason may be empty"
    for name, most in LENGTHS.items():
        field = fields.get(name)
        if field and field.get("maxLength") is None and not field.get("enum"):
            yield f"{name} has no maxLength: {most}"
    time = fields.get("lastTransitionTime") or {}
    if time and time.get("format") != "date-time":
        yield "lastTransitionTime has no format: date-time"


@lint("conditions-missing", on="root.properties")
def conditions_missing(node: Node, properties: Mapping[str, Any]) -> Problems:
    """Note a status that does not report by conditions."""
    status = _status(properties)
    if status.get("properties") and not _has_conditions(status):
        message = "has no conditions, so kubectl wait and GitOps tools cannot tell when it is ready"
        yield Problem(node.at("properties", "status"), message)


def _has_conditions(schema: Schema) -> bool:
    """Tell whether conditions stand anywhere in a status, as for each parent of a route."""
    stack = [schema]
    while stack:
        fields: Schema = stack.pop().get("properties") or {}
        if "conditions" in fields:
            return True
        for field in fields.values():
            stack += [
                s
                for s in (field, field.get("items"), field.get("additionalProperties"))
                if isinstance(s, dict)
            ]
    return False


@lint("observed-generation-missing", on="root.properties")
def observed_generation_missing(node: Node, properties: Mapping[str, Any]) -> Problems:
    """Note a status that does not say which spec it speaks of."""
    conditions = _conditions(properties)
    if conditions is None:
        return
    items = conditions.get("items")
    per_condition = (items.get("properties") or {}) if isinstance(items, dict) else {}
    if "observedGeneration" not in {**_status(properties)["properties"], **per_condition}:
        message = "nothing says which generation it is of: tools take an old status for a new one"
        yield Problem(node.at("properties", "status"), message)


@lint("status-phase", on="root.properties")
def status_phase(node: Node, properties: Mapping[str, Any]) -> Problems:
    """Note a phase, to which no value can be added without breaking clients."""
    if "phase" in (_status(properties).get("properties") or {}):
        message = "one word for all: clients that switch on it break with each value that is added"
        yield Problem(node.at("properties", "status", "properties", "phase"), message)


@lint("status-field-required", on="root.properties")
def status_field_required(node: Node, properties: Mapping[str, Any]) -> Problems:
    """Note status fields that a controller must know before it may write any other."""
    status = _status(properties)
    fields = status.get("properties") or {}
    for i, name in enumerate(status.get("required") or ()):
        if (fields.get(name) or {}).get("default") is None:
            message = f"a controller that does not know {name} yet cannot write any status"
            yield Problem(node.at("properties", "status", "required", i), message)
