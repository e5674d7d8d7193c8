"""Resources embedded in objects: their type and their metadata."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdlint.objects.error import ObjectError, field_path, path_of, spelled
from crdlint.objects.guard import deep

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from crdlint.objectmeta import MetaError
    from crdlint.objects.error import At

    Schema = Mapping[str, Any]

_EMBEDDED = "x-kubernetes-embedded-resource"
MAX_LABEL = 63


class Coercion:
    """What bringing embedded metadata into the form of ObjectMeta gave.

    `value` is the new value (the given one is left as it is), `unknown` the metadata fields that
    were dropped, as the server spells them, and `error` the first thing that does not decode.
    """

    __slots__ = ("error", "unknown", "value")

    def __init__(self, value: Any) -> None:
        self.value = value
        self.unknown: list[str] = []
        self.error: ObjectError | None = None


def has_embedded(schema: Schema | None) -> bool:
    """Tell whether a structural schema holds an embedded resource."""
    stack = [schema]
    while stack:
        node = stack.pop()
        if not isinstance(node, dict):
            continue
        if node.get(_EMBEDDED):
            return True
        stack += (node.get("properties") or {}).values()
        stack += (node.get("items"), node.get("additionalProperties"))
    return False


def coerce(
    value: Any, schema: Schema | None, *, root: bool, base: str = "", drop_invalid: bool = False
) -> Coercion:
    """Bring the metadata of embedded resources into the form of ObjectMeta.

    With `root` the value itself counts as embedded. With `drop_invalid` what does not decode is
    dropped; otherwise it ends the walk with an error.
    Source: CoerceWithOptions of apiextensions' objectmeta package.
    """
    found = Coercion(value)
    walk = _Coercer(found, base=base, drop_invalid=drop_invalid)
    try:
        with deep():
            found.value = walk.coerce(value, {} if root and schema is None else schema, None, root)
    except _StopError:
        found.value = value
    found.unknown.sort()
    return found


class _StopError(Exception):
    """Something does not decode, and the server looks no further."""


class _Coercer:
    __slots__ = ("base", "drop_invalid", "found")

    def __init__(self, found: Coercion, *, base: str, drop_invalid: bool) -> None:
        self.found = found
        self.base = base
        self.drop_invalid = drop_invalid

    def stop(self, at: At, message: str, keyword: str, value: Any) -> None:
        self.found.error = ObjectError(
            "Invalid", field_path(at, self.base), path_of(at), message, keyword=keyword, value=value
        )
        raise _StopError

    def coerce(self, value: Any, schema: Schema | None, at: At, root: bool) -> Any:
        if schema is None or not isinstance(value, (dict, list)):
            return value
        changed: Any = None
        if isinstance(value, list):
            items = schema.get("items")
            if isinstance(items, dict):
                for i, item in enumerate(value):
                    new = self.coerce(item, items, (at, i, False), False)
                    if new is not item:
                        changed = list(value) if changed is None else changed
                        changed[i] = new
            return value if changed is None else changed
        properties = schema.get("properties") or {}
        rest = schema.get("additionalProperties")
        for key, item in value.items():
            below = properties.get(key)
            if below is not None:
                new = self.coerce(item, below, (at, key, False), False)
            else:
                below = rest if isinstance(rest, dict) else None
                new = self.coerce(item, below, (at, key, True), False)
            if new is not item:
                changed = dict(value) if changed is None else changed
                changed[key] = new
        if root or schema.get(_EMBEDDED):
            return self.resource(value if changed is None else changed, at)
        return value if changed is None else changed

    def resource(self, value: dict[str, Any], at: At) -> dict[str, Any]:
        """Check the types of apiVersion and kind, and rebuild metadata."""
        changed = None
        for key in ("apiVersion", "kind"):
            if key in value and not isinstance(value[key], str):
                if not self.drop_invalid:
                    message = f"must be a string, not {spelled(value[key])}"
                    self.stop((at, key, False), message, "typemeta", value[key])
                changed = dict(value) if changed is None else changed
                del changed[key]
        if "metadata" in value:
            from crdlint import objectmeta

            here = (at, "metadata", False)
            typed, unknown, wrong = objectmeta.decode(
                value["metadata"], drop_malformed=self.drop_invalid
            )
            prefix = field_path(here, self.base)
            self.found.unknown += [f"{prefix}.{name}" for name in unknown]
            if wrong:
                self.stop(here, wrong, "metadata", value["metadata"])
            if typed is not None and typed != value["metadata"]:
                changed = dict(value) if changed is None else changed
                changed["metadata"] = typed
        return value if changed is None else changed


def check_embedded(
    schema: Schema | None, value: Any, *, root: bool, base: str = ""
) -> list[ObjectError]:
    """Return what the server refuses about the type and metadata of embedded resources.

    Source: Validate of apiextensions' objectmeta package.
    """
    found: list[ObjectError] = []
    if root and schema is None:
        schema = {}
    with deep():
        _check(schema, value, None, root, base, found)
    return found


def _check(
    schema: Schema | None, value: Any, at: At, root: bool, base: str, found: list[ObjectError]
) -> None:
    if schema is None:
        return
    if isinstance(value, dict):
        if root or schema.get(_EMBEDDED):
            _check_resource(value, at, base, found)
        properties = schema.get("properties") or {}
        rest = schema.get("additionalProperties")
        for key, item in value.items():
            if isinstance(item, (dict, list)):
                below = properties.get(key)
                if below is not None:
                    _check(below, item, (at, key, False), False, base, found)
                elif isinstance(rest, dict):
                    _check(rest, item, (at, key, True), False, base, found)
    elif isinstance(value, list):
        items = schema.get("items")
        if isinstance(items, dict):
            for i, item in enumerate(value):
                if isinstance(item, (dict, list)):
                    _check(items, item, (at, i, False), False, base, found)


def _check_resource(value: dict[str, Any], at: At, base: str, found: list[ObjectError]) -> None:
    for key in ("apiVersion", "kind"):
        here = (at, key, False)
        field = field_path(here, base)
        if key not in value:
            found.append(
                ObjectError(
                    "Required", field, path_of(here), "is required", keyword="typemeta", limit=key
                )
            )
            continue
        wrong = type_problem(key, value[key])
        if wrong:
            found.append(
                ObjectError(
                    "Invalid", field, path_of(here), wrong, keyword="typemeta", value=value[key]
                )
            )
    if "metadata" in value:
        _check_metadata(value["metadata"], (at, "metadata", False), base, found)


def type_problem(key: str, text: Any) -> str:
    """Say what is wrong with an apiVersion or kind, or return an empty text."""
    if not isinstance(text, str):
        return f"must be a string, not {spelled(text)}"
    if not text:
        return "must not be empty"
    if key == "apiVersion":
        if text != "/" and text.count("/") > 1:
            return f"{spelled(text)} is no group and version"
        return ""
    from crdlint import objectmeta

    wrong = objectmeta.dns1035_label(text.lower())
    return "; ".join(wrong)


def meta_problems(
    metadata: Mapping[str, Any], name: Callable[[str], list[str]], *, namespaced: bool
) -> Iterator[MetaError]:
    """Yield what is wrong with decoded metadata, whose names must satisfy `name`.

    What is a prefix of names may end in a dash, and may be a dot or two.
    """
    from crdlint import objectmeta

    metadata = dict(metadata)
    prefix = metadata.pop("generateName", "")
    if prefix:
        text = prefix[:-2] + "a" if len(prefix) > 1 and prefix.endswith("-") else prefix
        if text not in (".", "..") or name is not objectmeta.path_segment:
            for message in name(text):
                yield objectmeta.MetaError("Invalid", ("generateName",), message)
    yield from objectmeta.validate(metadata, name=name, namespaced=namespaced)


def _check_metadata(metadata: Any, at: At, base: str, found: list[ObjectError]) -> None:
    from crdlint import objectmeta

    typed, _, wrong = objectmeta.decode(metadata, drop_malformed=False)
    field = field_path(at, base)
    if wrong:
        found.append(ObjectError("Invalid", field, path_of(at), wrong, keyword="metadata"))
        return
    typed = dict(typed or {})
    typed.setdefault("name", "fakename")  # a name is not needed here, and nothing else differs
    for problem in meta_problems(
        typed, objectmeta.path_segment, namespaced=bool(typed.get("namespace"))
    ):
        steps = tuple(problem.path)
        found.append(
            ObjectError(
                problem.type,
                field + problem.field,
                path_of(at) + steps,
                problem.message,
                keyword="metadata",
            )
        )
