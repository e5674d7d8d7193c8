"""The whole way of a custom resource through the server: decode, prune, default, validate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdlint.govalues import as_stored, is_int64, same_go
from crdlint.kubernetes import VALIDATION_RATCHETING
from crdlint.objects.correlation import Correlated
from crdlint.objects.defaulting import drop_nulls
from crdlint.objects.embedded import check_embedded, coerce, meta_problems
from crdlint.objects.error import ROOT_FIELD, ObjectError, spelled
from crdlint.objects.guard import deep
from crdlint.objects.listtypes import check_lists
from crdlint.objects.prune import prune
from crdlint.objects.validate import validate, validate_update

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from crdlint.objectmeta import MetaError
    from crdlint.objects.served import Served

    Object = dict[str, Any]
    # Evaluates the CEL rules of a version on a new object and, for an update, the old one.
    Rules = Callable[[Served, Object, Object | None], Iterable[ObjectError]]


def NO_RULES(*_: object) -> tuple[()]:  # noqa: N802 - a constant to its users
    """Count all CEL rules as kept."""
    return ()


# Errors of these types keep the server from looking at CEL rules.
_BLOCKING = frozenset(("NotSupported", "Required", "TooLong", "TooMany", "TypeInvalid"))
# What the server sets itself on create, whatever the object says.
_SYSTEM = (
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "generation",
    "resourceVersion",
    "selfLink",
)
# What an update takes from the stored object: always, or where it leaves it out.
_CARRIED = {
    "uid": False,
    "creationTimestamp": True,
    "deletionTimestamp": True,
    "deletionGracePeriodSeconds": False,
}
_SCALE_PATHS = ("specReplicasPath", "statusReplicasPath", "labelSelectorPath")
_MAX_INT32 = (1 << 31) - 1
_GENERATED = "xxxxx"


class Outcome:
    """What the server does with an object.

    `errors` in the server's order (a junctor's has those of its branches as causes), `pruned` the
    fields it drops, spelled as it reports them under strict validation, `stored` the object that
    it would store, or None where it does not decode, and `status_dropped` whether a status was
    left out because of the status subresource.
    """

    __slots__ = ("errors", "pruned", "status_dropped", "stored")

    def __init__(self) -> None:
        self.errors: list[ObjectError] = []
        self.pruned: list[str] = []
        self.stored: Object | None = None
        self.status_dropped = False

    @property
    def accepted(self) -> bool:
        """Tell whether the server takes the object (unless asked for strict validation)."""
        return not self.errors

    def all_errors(self) -> list[ObjectError]:
        """Return every error that the server prints, those of junctor branches too."""
        found = [one for error in self.errors for one in error.all()]
        seen = set()
        kept = []
        for error in found:
            key = (error.type, error.field, error.keyword, error.message)
            if key not in seen:
                seen.add(key)
                kept.append(error)
        return kept


class _UndecodableError(Exception):
    def __init__(self, error: ObjectError) -> None:
        super().__init__(error.message)
        self.error = error


def take(
    served: Served,
    data: Mapping[str, Any],
    *,
    rules: Rules | None = None,
    keep_status: bool = False,
) -> Outcome:
    """Send an object the way of a create request.

    Args:
        served: the version that the object's apiVersion and kind name.
        data: the object as plain data; it is left as it is.
        rules: evaluates CEL rules in place of the server's own way; NO_RULES counts them as kept.
        keep_status: validate the status too, as an update of the status subresource would.

    Returns:
        What the server answers and stores. Source: apiextensions' customresource handler and
        strategy.
    """
    with deep():
        outcome = Outcome()
        try:
            value = decode(served, data, outcome)
        except _UndecodableError as error:
            outcome.errors.append(error.error)
            return outcome
        value = _prepare(served, value, outcome, keep_status=keep_status)
        outcome.errors = check(served, value, rules=rules)
        outcome.stored = _stored(value, data)
        return outcome


def decode(served: Served, data: Mapping[str, Any], outcome: Outcome) -> Object:
    """Decode, prune and default an object; what is dropped is added to `outcome.pruned`."""
    for key in ("kind", "apiVersion"):
        if key in data and not isinstance(data[key], str):
            raise _refused((key,), f"must be a string, not {spelled(data[key])}")
    metadata: Object | None = None
    if "metadata" in data:
        metadata, unknown = _metadata(data["metadata"])
        outcome.pruned += [f"metadata.{name}" for name in unknown]
    value: Any = as_stored(data)
    if not served.preserve:
        value, dropped = prune(value, served.schema, root=True)
        outcome.pruned += dropped
        value = drop_nulls(value, served.schema)
    if served.embeds:
        coerced = coerce(value, served.schema, root=False)
        if coerced.error is not None:
            raise _refused(coerced.error.path, coerced.error.message)
        outcome.pruned += coerced.unknown
        value = coerced.value
    if metadata is not None:
        value = {**value, "metadata": metadata}
    outcome.pruned.sort()
    result = served.defaulter.apply(value)
    return dict(result)


def _metadata(data: Any) -> tuple[Object, list[str]]:
    from crdlint import objectmeta

    typed, unknown, wrong = objectmeta.decode(data, drop_malformed=False)
    if wrong:
        raise _refused(("metadata",), wrong)
    return dict(typed or {}), list(unknown)


def _refused(path: tuple[str | int, ...], message: str) -> _UndecodableError:
    return _UndecodableError(ObjectError("DecodeError", "", path, message, keyword="decode"))


def _prepare(served: Served, value: Object, outcome: Outcome, *, keep_status: bool) -> Object:
    """Set what the server sets before it validates: namespace, generated name, no status."""
    metadata = value.get("metadata")
    if isinstance(metadata, dict) or metadata is None:
        metadata = {k: v for k, v in (metadata or {}).items() if k not in _SYSTEM}
        if not served.namespaced:
            metadata.pop("namespace", None)
        elif not metadata.get("namespace"):
            metadata["namespace"] = "default"
        if not metadata.get("name") and metadata.get("generateName"):
            metadata["name"] = metadata["generateName"][:58] + _GENERATED
        value["metadata"] = metadata
    if served.status and not keep_status and "status" in value:
        del value["status"]
        outcome.status_dropped = True
    return value


def update(
    served: Served,
    old: Mapping[str, Any],
    new: Mapping[str, Any],
    *,
    stored: Served | None = None,
    rules: Rules | None = None,
    status: bool = False,
) -> Outcome:
    """Send an object the way of an update (PUT) of another one.

    Args:
        served: the version that the new object's apiVersion and kind name.
        old: the object that the server has.
        new: the object that is to replace it.
        stored: the version that the old object names, where it is another; nothing but the
            apiVersion is converted.
        rules: evaluates CEL rules in place of the server's own way; NO_RULES counts them as kept.
        status: write to the status subresource, which takes over nothing but the status.

    Returns:
        What the server answers and stores. Source: apiextensions' customresource strategies, and
        BeforeUpdate of apiserver's registry/rest.
    """
    with deep():
        outcome = Outcome()
        try:
            value = decode(served, new, outcome)
        except _UndecodableError as error:
            outcome.errors.append(error.error)
            return outcome
        try:
            before = _read(served, old, stored or served)
        except _UndecodableError as error:
            outcome.errors.append(_refused((), f"the old object: {error}").error)
            return outcome
        # A file may leave the namespace out; both are in the one that the request names.
        given = {"namespace": (value.get("metadata") or {}).get("namespace")}
        before["metadata"] = _meta_on_update(served, dict(before.get("metadata") or {}), given)
        if status:
            value = _only_status(value, before)
        else:
            value["metadata"] = _meta_on_update(
                served, dict(value.get("metadata") or {}), before["metadata"]
            )
            if served.status:
                outcome.status_dropped = _keep_status(value, before)
            _count_generation(value, before)
        outcome.errors = check_update(served, value, before, rules=rules, status=status)
        outcome.stored = value
        return outcome


def _read(served: Served, old: Mapping[str, Any], stored: Served) -> Object:
    """Return an object as the server reads it from storage, in the version that is asked for."""
    value = decode(stored, old, Outcome())
    if stored is not served:
        value["apiVersion"] = served.api_version
        if not served.preserve:
            value, _ = prune(value, served.schema, root=True)
    return dict(value)


def _meta_on_update(served: Served, new: Object, old: Object) -> Object:
    """Set what the server sets in metadata before it validates an update."""
    if not served.namespaced:
        new.pop("namespace", None)
    elif not new.get("namespace"):
        new["namespace"] = old.get("namespace") or "default"
    for key, always in _CARRIED.items():
        if key in old and (always or new.get(key) in (None, "")):
            new[key] = old[key]
    new.pop("resourceVersion", None)
    return new


def _only_status(new: Object, old: Object) -> Object:
    """Return the old object with the status, and the record of who manages what, of the new one."""
    value = {**old, "metadata": dict(old["metadata"])}
    for holder, given, key in (
        (value, new, "status"),
        (value["metadata"], new.get("metadata") or {}, "managedFields"),
    ):
        holder.pop(key, None)
        if key in given:
            holder[key] = given[key]
    return value


def _keep_status(new: Object, old: Object) -> bool:
    """Let the status be the old one; tell whether the new object had another."""
    given = new.pop("status", None)
    if "status" in old:
        new["status"] = old["status"]
    return given is not None and not same_go(given, old.get("status"))


def _count_generation(new: Object, old: Object) -> None:
    generation = old["metadata"].get("generation")
    new["metadata"].pop("generation", None)
    if generation is not None:
        bodies = ({k: v for k, v in one.items() if k != "metadata"} for one in (new, old))
        changed = not same_go(*bodies)
        new["metadata"]["generation"] = generation + changed


def check_update(
    served: Served,
    new: Object,
    old: Object,
    *,
    rules: Rules | None = None,
    status: bool = False,
) -> list[ObjectError]:
    """Return the errors of validating an update; both objects are decoded and defaulted."""
    errors = _check_metadata_update(served, new, old)
    correlated = Correlated(new, old, served.schema)
    errors += _check_schema_update(served, correlated, status=status)
    errors += _check_scale(served, new, status_only=status)
    if served.embeds and not status:
        errors += check_embedded(served.schema, new, root=False)
    if served.has_lists and not check_lists(served.schema, old):
        errors += check_lists(served.schema, new)
    if served.has_rules:
        errors += _check_rules(served, new, old, errors, rules)
    return errors


def _check_schema_update(
    served: Served, correlated: Correlated, *, status: bool
) -> list[ObjectError]:
    """Check the object, or its status alone."""
    if not status:
        return _check_ratcheted(served.schema, correlated, served.minor)
    value = correlated.new
    schema = ((served.schema or {}).get("properties") or {}).get("status")
    if "status" not in value:
        return []
    part = correlated.child("status")
    part = part or Correlated(value["status"], correlated.old.get("status"), None)
    errors = _check_ratcheted(schema, part, served.minor, base="status")
    for error in errors:
        for one in error.all():
            one.path = ("status", *one.path)
    return errors


def _check_ratcheted(
    schema: Mapping[str, Any] | None, correlated: Correlated, minor: int, *, base: str = ""
) -> list[ObjectError]:
    if schema is None:
        return []
    if minor < VALIDATION_RATCHETING:
        return validate(schema, correlated.new, minor=minor, base=base)
    return validate_update(schema, correlated, minor=minor, base=base)


def _check_metadata_update(served: Served, new: Object, old: Object) -> list[ObjectError]:
    from crdlint import objectmeta

    meta = new["metadata"]
    errors = [
        _metadata_error(problem, "metadata")
        for problem in meta_problems(meta, objectmeta.path_segment, namespaced=served.namespaced)
    ]
    for problem in objectmeta.validate_update(meta, old["metadata"]):
        frozen = problem.path[0] in objectmeta.IMMUTABLE or problem.type == "Forbidden"
        errors.append(_metadata_error(problem, "immutable" if frozen else "metadata"))
    # Labels and the like are judged by both.
    return list({(e.type, e.path, e.message): e for e in reversed(errors)}.values())[::-1]


def _metadata_error(problem: MetaError, keyword: str) -> ObjectError:
    path = ("metadata", *problem.path)
    field = f"metadata{problem.field}"
    return ObjectError(problem.type, field, path, problem.message, keyword=keyword)


def _stored(value: Object, data: Mapping[str, Any]) -> Object:
    given = data.get("metadata")
    if isinstance(given, dict) and not given.get("name") and given.get("generateName"):
        metadata = {k: v for k, v in value["metadata"].items() if k != "name"}
        return {**value, "metadata": metadata}
    return value


def check(served: Served, value: Object, *, rules: Rules | None = None) -> list[ObjectError]:
    """Return the errors of validating a new, decoded and defaulted object."""
    errors = _check_metadata(served, value)
    if served.schema is not None:
        errors += validate(served.schema, value, minor=served.minor)
    errors += _check_scale(served, value)
    if served.embeds:
        errors += check_embedded(served.schema, value, root=False)
    if served.has_lists:
        errors += check_lists(served.schema, value)
    if served.has_rules:
        errors += _check_rules(served, value, None, errors, rules)
    return errors


def _check_rules(
    served: Served,
    value: Object,
    old: Object | None,
    errors: list[ObjectError],
    rules: Rules | None,
) -> list[ObjectError]:
    if any(one.type in _BLOCKING for error in errors for one in error.all()):
        message = "rules were not evaluated, as the object is invalid without them"
        return [ObjectError("Invalid", ROOT_FIELD, (), message, keyword="rules-skipped")]
    if rules is None:
        from crdlint.objects.rules import evaluate

        rules = evaluate
    return list(rules(served, value, old))


def _check_metadata(served: Served, value: Object) -> list[ObjectError]:
    from crdlint import objectmeta

    problems = meta_problems(
        value["metadata"], objectmeta.dns1123_subdomain, namespaced=served.namespaced
    )
    return [_metadata_error(problem, "metadata") for problem in problems]


def _check_scale(served: Served, value: Object, *, status_only: bool = False) -> list[ObjectError]:
    """Check what the scale subresource reads: two numbers of replicas and a selector."""
    if served.scale is None:
        return []
    found = []
    for key in _SCALE_PATHS[status_only:]:
        spelled_path = served.scale.get(key)
        if spelled_path is None:
            if key == "labelSelectorPath":
                continue
            spelled_path = ""
        steps = spelled_path.removeprefix(".").split(".")
        there, part, at = _nested(value, steps)
        said = ""
        if not there:
            said = f"is below {spelled(part)}, which is not an object" if part is not None else ""
        elif key == "labelSelectorPath":
            said = "" if isinstance(part, str) else f"must be a string, not {spelled(part)}"
        elif not is_int64(part):
            said = f"must be an integer, not {spelled(part)}"
        elif not 0 <= part <= _MAX_INT32:
            said = f"is {part}, allowed is 0 to {_MAX_INT32}"
        if said:
            field = spelled_path or "[]"
            message = f"{said} (for the scale subresource)"
            found.append(ObjectError("Invalid", field, at, message, keyword="scale"))
    return found


def _nested(value: Any, steps: list[str]) -> tuple[bool, Any, tuple[str, ...]]:
    """Follow fields: (True, value, way), or (False, what is no object or None, way so far)."""
    for i, step in enumerate(steps):
        if value is None:
            return False, None, tuple(steps[:i])
        if not isinstance(value, dict):
            return False, value, tuple(steps[:i])
        if step not in value:
            return False, None, tuple(steps[:i])
        value = value[step]
    return True, value, tuple(steps)
