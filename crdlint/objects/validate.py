"""An object against an OpenAPI schema, judged as the API server's validator does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdlint import formats
from crdlint.govalues import is_int64
from crdlint.objects.error import KINDS, NAMES, ObjectError, child_field, dotted, path_of, spelled
from crdlint.objects.error import number as spelled_number
from crdlint.objects.guard import deep
from crdlint.objects.numbers import BOUNDS, RANGES, float_of, in_enum, in_range, json_integer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crdlint.objects.correlation import Correlated
    from crdlint.objects.error import At

    Schema = Mapping[str, Any]

NUMBER_FORMATS_SINCE = 36
_INT_OR_STRING = "integer,string"


def validate(
    schema: Schema, value: Any, *, minor: int, base: str = "", structural: bool = False
) -> list[ObjectError]:
    """Return the errors that the server's schema validation has for a value.

    Args:
        schema: a decoded JSONSchemaProps.
        value: plain data.
        minor: the server's minor version.
        base: the field that stands before every field the server prints.
        structural: judge as the server judges defaults, through the structural schema: formats of
            other types and versions count, int-or-string is untyped, additionalProperties below
            junctors do not count.

    Returns:
        The errors in the server's order, without repetitions.
    """
    found: list[ObjectError] = []
    with deep():
        Validator(minor, base=base, structural=structural).check(schema, value, None, found)
    return unique(found)


def validate_update(
    schema: Schema, correlated: Correlated, *, minor: int, base: str = ""
) -> list[ObjectError]:
    """Return the errors that remain of an update, once those of unchanged parts are dropped.

    Source: ratchetingValueValidator of apiextensions.
    """
    found: list[ObjectError] = []
    with deep():
        walk = _Ratcheting(minor, base=base, correlated=correlated)
        walk.check(schema, correlated.new, None, found)
    return unique(found)


def unique(errors: list[ObjectError]) -> list[ObjectError]:
    """Drop errors that the server would print twice with the same words, as it does."""
    if len(errors) < 2 and not any(error.causes for error in errors):
        return errors
    seen = set()
    kept = []
    for error in errors:
        key = (error.keyword, error.path, str(error.limit))
        if key not in seen:
            seen.add(key)
            kept.append(error)
    return kept


class Validator:
    """One walk over a value.

    `check` adds errors to a list and returns what kube-openapi calls the match count: how many
    checks went well, by which the server picks the branch of anyOf and oneOf whose errors it shows.
    """

    __slots__ = ("base", "minor", "structural")

    def __init__(self, minor: int, *, base: str, structural: bool) -> None:
        self.minor = minor
        self.base = base
        self.structural = structural

    def check(
        self, schema: Schema, value: Any, at: At, out: list[ObjectError], nested: bool = False
    ) -> int:
        """Check a value against a schema; `nested` says that the schema stands below a junctor."""
        get = schema.get
        types = get("type") or ""
        if not self.structural and get("x-kubernetes-int-or-string"):
            types = _INT_OR_STRING
        if value is None:
            return self._null(schema, types, at, out)
        format_ = get("format") or ""
        if format_ and not self.structural:
            of = "" if types == _INT_OR_STRING else types
            if not formats.known(of, format_, self.minor):
                format_ = ""
        if isinstance(value, str):
            kind = "string"
        elif isinstance(value, dict):
            kind = "object"
        elif isinstance(value, list):
            kind = "array"
        elif isinstance(value, bool):
            kind = "boolean"
        else:
            kind = "integer" if is_int64(value) else "number"
        count = 4  # the junctors and the enum apply to every value, and the junctors count twice
        if types or format_:
            count += 1
            if self._has_type(types, format_, kind, value):
                count += 1
            else:
                self._type_error(types or format_, kind, value, at, out)
        if get("anyOf") or get("oneOf") or get("allOf") or get("not") is not None:
            count += self._junctors(schema, value, at, out)
        if kind == "string":
            count += self._string(schema, format_, value, at, out)
        elif kind == "array":
            count += self._list(schema, value, at, out, nested)
        elif kind in ("integer", "number"):
            count += 2
            self._number(schema, types, format_, kind, value, at, out)
        enum = get("enum")
        if enum and not in_enum(enum, value):
            self._enum_error(enum, value, at, out)
        if kind == "object":
            count += self._object(schema, value, at, out, nested)
        return count

    def _add(
        self,
        type_: str,
        keyword: str,
        at: At,
        message: str,
        out: list[ObjectError],
        *,
        limit: object = None,
        value: object = None,
    ) -> None:
        field = child_field(self.base, dotted(at))
        out.append(
            ObjectError(
                type_, field, path_of(at), message, keyword=keyword, limit=limit, value=value
            )
        )

    def _whole(
        self,
        keyword: str,
        at: At,
        message: str,
        out: list[ObjectError],
        *,
        limit: object = None,
        causes: list[ObjectError] | None = None,
    ) -> None:
        """Add an error that the server prints without a field of its own."""
        field = child_field(self.base, "")
        out.append(
            ObjectError(
                "Invalid",
                field,
                path_of(at),
                message,
                keyword=keyword,
                limit=limit,
                causes=causes or (),
            )
        )

    def _null(self, schema: Schema, types: str, at: At, out: list[ObjectError]) -> int:
        count = 1
        if types and not schema.get("nullable"):
            count = 0
            self._type_error(types, "null", None, at, out)
        if schema.get("enum"):  # null is in no enum, even one that has it
            self._enum_error(schema["enum"], None, at, out)
        return count

    def _has_type(self, types: str, format_: str, kind: str, value: Any) -> bool:
        numeric = "number" in types or "integer" in types
        if format_ and not numeric and kind in ("string", "array"):
            return True  # a quirk: beside a format, texts and lists are not asked for their type
        if kind in types.split(","):
            return True
        if kind == "integer":
            return "number" in types
        return kind == "number" and "integer" in types and json_integer(float_of(value))

    def _type_error(
        self, types: str, kind: str, value: Any, at: At, out: list[ObjectError]
    ) -> None:
        wanted = " or ".join(NAMES.get(name, name) for name in types.split(","))
        seen = KINDS[kind] if kind != "string" else f"the text {spelled(value)}"
        if kind == "number":
            seen = spelled_number(value)
        elif kind == "boolean":
            seen = spelled(value)
        self._add(
            "TypeInvalid",
            "type",
            at,
            f"must be {wanted}, not {seen}",
            out,
            limit=types,
            value=value,
        )

    def _enum_error(self, enum: list[Any], value: Any, at: At, out: list[ObjectError]) -> None:
        shown = ", ".join(spelled(allowed) for allowed in enum[:12])
        if len(enum) > 12:
            shown += f" and {len(enum) - 12} more"
        message = f"{spelled(value)} is not one of {shown}"
        self._add("NotSupported", "enum", at, message, out, value=value)

    def _string(
        self, schema: Schema, format_: str, value: str, at: At, out: list[ObjectError]
    ) -> int:
        """Check length or pattern, of which only the first failure counts, and format."""
        get = schema.get
        most, least, pattern = get("maxLength"), get("minLength"), get("pattern")
        size = len(value)
        if most is not None and size > most:
            message = f"has {_count(size, 'character')}, at most {most} allowed"
            self._add("TooLong", "maxLength", at, message, out)
        elif least is not None and size < least:
            message = f"has {_count(size, 'character')}, at least {least} needed"
            self._add("Invalid", "minLength", at, message, out, value=value)
        elif pattern and not _matches(pattern, value):
            message = f"{spelled(value)} does not match the pattern {pattern}"
            self._add("Invalid", "pattern", at, message, out, limit=pattern, value=value)
        if format_ and formats.known_to_strfmt(format_):
            if not formats.matches(format_, value):
                message = f"{spelled(value)} is not of the format {format_}"
                self._add("TypeInvalid", "format", at, message, out, limit=format_, value=value)
            return 2
        return 1

    def _number(
        self,
        schema: Schema,
        types: str,
        format_: str,
        kind: str,
        value: Any,
        at: At,
        out: list[ObjectError],
    ) -> None:
        get = schema.get
        native = types if self.minor >= NUMBER_FORMATS_SINCE and types in RANGES else ""
        format_ = format_ if native and format_ in RANGES[native] else ""
        if native and not in_range(value, native, format_):
            message = f"{spelled(value)} does not fit {format_ or 'a 64-bit integer'}"
            self._whole("number-format", at, message, out, limit=format_)
        whole = kind == "integer"
        for keyword in ("multipleOf", "maximum", "minimum"):
            limit = get(keyword)
            if limit is None:
                continue
            bound = float_of(limit)
            exact = whole
            if native and not in_range(bound, native, format_):
                exact = False
                message = (
                    f"{keyword} {spelled_number(limit)} does not fit"
                    f" {format_ or 'a 64-bit integer'}, so every number is refused"
                )
                self._whole(keyword + "-range", at, message, out, limit=format_)
            said = BOUNDS[keyword](value if exact else float_of(value), bound, schema, exact)
            if said:
                self._add("Invalid", keyword, at, said, out, value=value)

    def _list(
        self, schema: Schema, value: list[Any], at: At, out: list[ObjectError], nested: bool
    ) -> int:
        count = 2
        items = schema.get("items")
        if isinstance(items, dict):
            for i, item in enumerate(value):
                count += self.check(items, item, (at, i, False), out, nested)
        least, most = schema.get("minItems"), schema.get("maxItems")
        if least is not None and len(value) < least:
            message = f"has {_count(len(value), 'item')}, at least {least} needed"
            self._add("Invalid", "minItems", at, message, out)
        if most is not None and len(value) > most:
            message = f"has {_count(len(value), 'item')}, at most {most} allowed"
            self._add("TooMany", "maxItems", at, message, out)
        return count

    def _object(
        self, schema: Schema, value: dict[str, Any], at: At, out: list[ObjectError], nested: bool
    ) -> int:
        get = schema.get
        count = 1
        least, most = get("minProperties"), get("maxProperties")
        if least is not None and len(value) < least:
            message = f"has {_count(len(value), 'field')}, at least {least} needed"
            self._add("Invalid", "minProperties", at, message, out)
        if most is not None and len(value) > most:
            message = f"has {_count(len(value), 'field')}, at most {most} allowed"
            self._add("TooMany", "maxProperties", at, message, out)
        properties = get("properties") or {}
        rest = get("additionalProperties")
        if nested and self.structural:
            rest = None
        if rest is False:
            for name in value:
                if name not in properties:
                    message = f"must not have the field {spelled(name)}"
                    self._add("Invalid", "additionalProperties", at, message, out, limit=name)
        elif isinstance(rest, dict):
            for name, item in value.items():
                if name not in properties:
                    count += self.check(rest, item, (at, name, True), out, nested)
        for name, item in value.items():
            found = properties.get(name)
            if found is not None:
                count += self.check(found, item, (at, name, False), out, nested)
        for name in get("required") or ():
            if name not in value:
                self._add("Required", "required", (at, name, True), "is required", out)
        return count

    def _junctors(self, schema: Schema, value: Any, at: At, out: list[ObjectError]) -> int:
        count = self._any_of(schema.get("anyOf") or (), value, at, out)
        count += self._one_of(schema.get("oneOf") or (), value, at, out)
        count += self._all_of(schema.get("allOf") or (), value, at, out)
        never = schema.get("not")
        if never is not None:
            errors: list[ObjectError] = []
            self.check(never, value, at, errors, True)
            if not errors:
                self._whole("not", at, "is what `not` forbids", out)
        return count

    def _any_of(self, branches: Any, value: Any, at: At, out: list[ObjectError]) -> int:
        best: list[ObjectError] = []
        best_count = -1
        for branch in branches:
            errors: list[ObjectError] = []
            count = self.check(branch, value, at, errors, True)
            if not errors:
                return count
            if count > best_count:
                best, best_count = errors, count
        if not branches:
            return 0
        message = f"matches none of the {len(branches)} schemas of anyOf"
        self._whole("anyOf", at, _nearest(message, best), out, causes=best)
        return best_count

    def _one_of(self, branches: Any, value: Any, at: At, out: list[ObjectError]) -> int:
        best: list[ObjectError] = []
        best_count, good, good_count = -1, 0, 0
        for branch in branches:
            errors: list[ObjectError] = []
            count = self.check(branch, value, at, errors, True)
            if not errors:
                good += 1
                good_count = good_count if good > 1 else count
                best = []
            elif not good and count > best_count:
                best, best_count = errors, count
        if not branches:
            return 0
        if good == 1:
            return good_count
        if good:
            message = f"matches {good} schemas of oneOf, exactly one is needed"
            self._whole("oneOf", at, message, out, limit=good)
            return 0
        message = f"matches none of the {len(branches)} schemas of oneOf"
        self._whole("oneOf", at, _nearest(message, best), out, limit=0, causes=best)
        return best_count

    def _all_of(self, branches: Any, value: Any, at: At, out: list[ObjectError]) -> int:
        total, failed = 0, []
        good = 0
        for branch in branches:
            errors: list[ObjectError] = []
            total += self.check(branch, value, at, errors, True)
            good += not errors
            failed += errors
        if failed:
            message = f"matches {good} of the {len(branches)} schemas of allOf"
            self._whole("allOf", at, _nearest(message, failed), out, limit=not good, causes=failed)
        return total


class _Ratcheting(Validator):
    """A walk over the new value of an update, with the old one beside it.

    What a node's checks say, those of its junctors' branches too, is dropped where the value is
    the same as the old one. Nothing is dropped below a value to which no old one belongs.
    """

    __slots__ = ("here", "root")

    def __init__(self, minor: int, *, base: str, correlated: Correlated) -> None:
        super().__init__(minor, base=base, structural=False)
        self.root = correlated
        self.here: Correlated | None = None

    def check(
        self, schema: Schema, value: Any, at: At, out: list[ObjectError], nested: bool = False
    ) -> int:
        """Check a value as Validator does, less what an unchanged value excuses."""
        if nested:
            return super().check(schema, value, at, out, nested)
        around = self.here
        self.here = here = self._follow(around, at)
        errors: list[ObjectError] = []
        count = super().check(schema, value, at, errors)
        self.here = around
        if errors and (here is None or not here.equal()):
            out += errors
        return count

    def _follow(self, around: Correlated | None, at: At) -> Correlated | None:
        if at is None:
            return self.root
        if around is None or (around is self.root and at[1] in ("apiVersion", "kind")):
            return None
        return around.child(at[1])


def _nearest(message: str, errors: list[ObjectError]) -> str:
    """Say what the branch that came nearest lacks, where one sentence can."""
    if len(errors) == 1 and not errors[0].causes and errors[0].keyword != "required":
        return f"{message} (nearest: {errors[0].message})"
    missing = [str(error.path[-1]) for error in errors if error.keyword == "required"]
    if missing and len(missing) == len(errors):
        return f"{message} (nearest: it lacks {', '.join(missing)})"
    return message


def _count(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def _matches(pattern: str, text: str) -> bool:
    from crdlint import goregex

    try:
        return bool(goregex.matches(pattern, text))
    except goregex.RegexError:
        return False  # the server refuses any text then
