"""The checks of default values in a schema."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdlint.govalues import same_go
from crdlint.objects.embedded import check_embedded, coerce, has_embedded
from crdlint.objects.prune import prune
from crdlint.objects.served import spine
from crdlint.objects.validate import validate

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from crdlint.objects.error import ObjectError

    Path = tuple[str | int, ...]
    Schema = Mapping[str, Any]

# Which rule speaks for which part of a schema.
_RULES = {
    "type": "default-type",
    "format": "default-format",
    "number-format": "default-number-format",
    "enum": "default-enum",
    "pattern": "default-pattern",
    "maxLength": "default-length",
    "minLength": "default-length",
    "maximum": "default-range",
    "minimum": "default-range",
    "multipleOf": "default-range",
    "maximum-range": "default-range",
    "minimum-range": "default-range",
    "multipleOf-range": "default-range",
    "minItems": "default-item-count",
    "maxItems": "default-item-count",
    "minProperties": "default-property-count",
    "maxProperties": "default-property-count",
    "additionalProperties": "default-unknown-fields",
    "required": "default-required",
    "anyOf": "default-junctors",
    "oneOf": "default-junctors",
    "allOf": "default-junctors",
    "not": "default-junctors",
    "typemeta": "default-embedded-typemeta",
    "metadata": "default-embedded-metadata",
    "x-kubernetes-validations": "default-cel",
    "cel-budget": "default-cel-budget",
}
_META_FIELDS = ("apiVersion", "kind", "metadata")
_EMBEDDED = "x-kubernetes-embedded-resource"
RATCHETING_SINCE = 30


class DefaultProblem:
    """What is wrong with one default value.

    `id` is the rule, `type` the server's error type, `node` the way from the schema's root to the
    node that has the default, `inside` the way within the default value, `field` what the server
    prints after that node (`.default.a[0].b`), and `also` further pairs of type and such field
    that the server prints for the same cause.
    """

    __slots__ = ("also", "field", "id", "inside", "message", "node", "type")

    def __init__(
        self,
        id_: str,
        type_: str,
        node: Path,
        inside: Path,
        field: str,
        message: str,
        also: list[tuple[str, str]] | None = None,
    ) -> None:
        self.id = id_
        self.type = type_
        self.node = node
        self.inside = inside
        self.field = field
        self.message = message
        self.also = also or []

    def __repr__(self) -> str:
        return f"DefaultProblem({self.id}, {self.type}, {self.node}, {self.field!r})"


class Context:
    """Where a node stands: the surrounding resource, and the way from there to the node.

    `resource` is the schema of the innermost embedded resource (or the root), `way` the steps
    from it: property names, and 0 for the items of a list. `in_metadata` says that the node
    specifies type or object metadata of that resource.
    """

    __slots__ = ("in_metadata", "is_resource", "resource", "way")

    def __init__(self, resource: Schema, way: Any, *, in_metadata: bool, is_resource: bool) -> None:
        self.resource = resource
        self.way = way
        self.in_metadata = in_metadata
        self.is_resource = is_resource


def check_defaults(
    schema: Schema, *, minor: int, is_resource_root: bool = True
) -> list[DefaultProblem]:
    """Return what the server refuses about the default values of a structural schema.

    Defaults below additionalProperties and junctors are not looked at, as the server does not.
    Source: ValidateDefaults of apiextensions.
    """
    found: list[DefaultProblem] = []
    rules = DefaultRules(minor)
    for path, node, context in defaults_of(schema, is_resource_root=is_resource_root):
        found += check_default(node, context, rules, path=path, minor=minor)
        if rules.stopped:
            break
    return found


class DefaultRules:
    """Runs the CEL rules on one default after the other, until their budget is spent."""

    __slots__ = ("_budget", "minor", "stopped")

    def __init__(self, minor: int) -> None:
        self.minor = minor
        self.stopped = False
        self._budget: int | None = None

    def check(self, node: Schema, value: Any, *, root: bool) -> list[ObjectError]:
        """Return what rules at a node and below refuse of its default.

        The server tries the default as an update of itself, and then as a new value.
        """
        if not any(part.get("x-kubernetes-validations") for part in spine(node)):
            return []
        from crdlint.objects.rules import BUDGET, RuleTree

        before = BUDGET if self._budget is None else self._budget
        tree = RuleTree(node, minor=self.minor, root=root)
        errors, left = tree.run(value, value, budget=before, base=".default", ratchet=False)
        if not errors and self.minor >= RATCHETING_SINCE:
            errors, created = tree.run(value, None, budget=before, base=".default")
            left = min(left, created)
        self._budget = left
        self.stopped = left < 0
        return errors


def defaults_of(
    schema: Schema, *, is_resource_root: bool = True
) -> Iterator[tuple[Path, Schema, Context]]:
    """Yield each node with a default, the way to it, and where it stands."""
    # An entry: node, way in the schema, resource, way from the resource, in metadata, is resource
    stack: list[tuple[Any, ...]] = [(schema, None, schema, None, False, is_resource_root)]
    while stack:
        node, steps, resource, way, in_metadata, is_resource = stack.pop()
        if node.get(_EMBEDDED):
            resource, way, in_metadata, is_resource = node, None, False, True
        if node.get("default") is not None:
            context = Context(resource, way, in_metadata=in_metadata, is_resource=is_resource)
            yield _unwind(steps), node, context
        items = node.get("items")
        properties = node.get("properties")
        if properties:
            for key, below in properties.items():
                meta = in_metadata or (is_resource and key in _META_FIELDS)
                step = ("properties", key)
                stack.append((below, (steps, step), resource, (way, key), meta, False))
        if isinstance(items, dict):
            stack.append((items, (steps, ("items",)), resource, (way, 0), in_metadata, False))


def _unwind(steps: Any) -> Path:
    found: list[Any] = []
    while steps is not None:
        steps, step = steps
        found += reversed(step)
    return tuple(reversed(found))


def check_default(
    node: Schema, context: Context, rules: DefaultRules, *, path: Path, minor: int
) -> list[DefaultProblem]:
    """Return what the server refuses about the default of one node, whose way is `path`."""
    value = node["default"]
    problems: list[DefaultProblem] = []
    if context.in_metadata:
        said = _surrounding(value, context)
        if said:
            message = f"makes the metadata of its object invalid: {said}"
            rule = "default-in-embedded-metadata"
            return [DefaultProblem(rule, "Invalid", path, (), ".default", message)]
    elif isinstance(value, (dict, list)):
        pruned, dropped = prune(value, node, root=context.is_resource)
        if pruned is not value and not same_go(pruned, value):
            names = ", ".join(dropped[:5]) + (" and more" if len(dropped) > 5 else "")
            message = f"has fields that the schema does not know: {names}"
            rule = "default-unknown-fields"
            problems.append(DefaultProblem(rule, "Invalid", path, (), ".default", message))
        if context.is_resource or has_embedded(node):
            value, errors = _metadata(value, node, context)
            if errors:
                return problems + [_problem(error, path) for error in errors]
    errors = validate(node, value, minor=minor, base=".default", structural=True)
    errors = errors or rules.check(node, value, root=context.is_resource)
    return problems + [_problem(error, path) for error in errors]


def _metadata(value: Any, node: Schema, context: Context) -> tuple[Any, list[ObjectError]]:
    """Coerce and check the metadata of the resources that a default value is or holds."""
    coerced = coerce(value, node, root=context.is_resource, base=".default")
    if coerced.error is not None:
        return value, [coerced.error]
    value = coerced.value
    return value, check_embedded(node, value, root=context.is_resource, base=".default")


def _surrounding(value: Any, context: Context) -> str:
    """Say why the resource around a default is invalid when it has nothing but this default."""
    steps, way = [], context.way
    while way is not None:
        way, step = way
        steps.append(step)
    for step in steps:
        value = [value] if step == 0 and isinstance(step, int) else {step: value}
    resource = {"kind": "Validation", "apiVersion": "validation/v1", **value}
    coerced = coerce(resource, context.resource, root=True)
    errors = [coerced.error] if coerced.error is not None else []
    errors = errors or check_embedded(context.resource, coerced.value, root=True)
    return "; ".join(f"{error.field} {error.message}" for error in errors[:3])


def _problem(error: ObjectError, path: Path) -> DefaultProblem:
    rule = _RULES.get(error.keyword, "default-type")
    if error.keyword == "type" and error.value is None:
        rule = "default-null-inside"
    also = [(cause.type, cause.field) for cause in error.all() if cause is not error]
    return DefaultProblem(rule, error.type, path, error.path, error.field, error.message, also)
