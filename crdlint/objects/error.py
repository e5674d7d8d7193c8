"""What the API server says against an object: error type, field, place and our words for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    Path = tuple[str | int, ...]
    # The way to a value, from the last step on: the rest of the way, the key or index, and whether
    # the key was found through additionalProperties (which shows in how the server spells it).
    At = tuple[Any, str | int, bool] | None

ROOT_FIELD = "<nil>"  # how the server prints the field of an error about the whole object


class ObjectError:
    """One error of the server about an object.

    `type` is the server's error type, `field` the field as it prints it, `path` the place in the
    object and `keyword` the part of the schema (or the check) that speaks. `causes` are the errors
    of a junctor's branches, which the server prints beside the junctor's own.
    """

    __slots__ = ("causes", "field", "keyword", "limit", "message", "path", "type", "value")

    def __init__(
        self,
        type_: str,
        field: str,
        path: Path,
        message: str,
        *,
        keyword: str = "",
        limit: object = None,
        value: object = None,
        causes: Iterable[ObjectError] = (),
    ) -> None:
        self.type = type_
        self.field = field
        self.path = path
        self.message = message
        self.keyword = keyword
        self.limit = limit
        self.value = value
        self.causes = list(causes)

    def __repr__(self) -> str:
        return f"ObjectError({self.type}, {self.field!r}, {self.message!r})"

    def all(self) -> Iterator[ObjectError]:
        """Yield this error and those of the branches below it."""
        stack = [self]
        while stack:
            error = stack.pop()
            yield error
            stack.extend(reversed(error.causes))


def path_of(at: At) -> Path:
    """Return the way to a value from its top."""
    steps: list[str | int] = []
    while at is not None:
        at, key, _ = at
        steps.append(key)
    return tuple(reversed(steps))


def dotted(at: At) -> str:
    """Spell the way to a value as kube-openapi does: `spec.list[0].name`, keys with dots as is."""
    steps = []
    while at is not None:
        steps.append(at)
        at = at[0]
    text = ""
    for _, key, extra in reversed(steps):
        if isinstance(key, int):
            text += f"[{key}]"
        elif text or extra:
            text += f".{key}"
        else:
            text = key
    return text


def child_field(base: str, name: str) -> str:
    """Spell what the server prints for a name that kube-openapi gives below a field.

    Source: kubeOpenAPIResultToFieldErrors, and field.Path of apimachinery.
    """
    if not name or name == ".":
        return base or ROOT_FIELD
    name = name.removeprefix(".")
    if not base:
        return name or "[]"
    return f"{base}.{name}" if name else f"{base}[]"


def field_path(at: At, base: str = "") -> str:
    """Spell the way to a value as apimachinery's field.Path does: `spec.map[key].list[0]`."""
    steps = []
    while at is not None:
        steps.append(at)
        at = at[0]
    text = base
    for _, key, extra in reversed(steps):
        if isinstance(key, int) or extra or not key:
            text += f"[{key}]"
        else:
            text += f".{key}" if text else key
    return text or ROOT_FIELD


def spelled(value: object) -> str:
    """Spell a value briefly for a message, in the user's terms."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        text = value if len(value) <= 80 else value[:77] + "..."
        return '"' + text.replace("\n", "\\n") + '"'
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    return number(value)


def number(value: Any) -> str:
    """Spell a number without a needless fraction."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e21:
        return str(int(value))
    if isinstance(value, int) and value.bit_length() > 200:
        return "a huge number"
    return str(value)


NAMES = {
    "object": "an object",
    "array": "a list",
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
}
KINDS = {**NAMES, "boolean": "a boolean"}
