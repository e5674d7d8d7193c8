"""What each overload of CEL does at run time."""

from __future__ import annotations

from crdlint.cel import conversions, lists, netaddr, operators, quantity, semver, strings, urls
from crdlint.cel import timestamps as times
from crdlint.cel.datavalues import ObjectValue, SchemaList
from crdlint.cel.formatting import format_text
from crdlint.cel.namedformats import FORMATS, NamedFormat
from crdlint.cel.values import (
    NONE,
    Duration,
    EvalError,
    MapValue,
    Optional,
    Timestamp,
    TypeValue,
    compare,
    equal,
    no_such_overload,
    type_name,
    unfit,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Function = Callable[..., Any]

# The functions trust that their arguments are of the types that the overload takes, save where
# cel-go has no guard before a call: for operators, and where a function here looks for itself.
# Not here: the logical operators and the conditional, which do not need all of their operands; the
# index operators, which belong to the values; and the functions of an authorizer, which a rule of a
# CRD cannot get at. UNGUARDED names the functions that cel-go calls with whatever there is.
UNGUARDED = frozenset(
    (
        *("contains", "startsWith", "endsWith", "matches", "flatten"),
        *("size", "sort", "@sortByAssociatedKeys"),
    )
)


def _identity(value: Any) -> Any:
    return value


def _size(value: Any) -> int:
    if isinstance(value, (str, bytes, list, MapValue)):
        return len(value)
    raise unfit("size", value)


def _type(value: Any) -> TypeValue:
    return TypeValue(type_name(value))


def _is(parse: Function) -> Callable[..., bool]:
    """Return what tells whether a text can be read."""

    def check(*args: Any) -> bool:
        try:
            parse(*args)
        except EvalError:
            return False
        return True

    return check


def _not_equal(a: Any, b: Any) -> bool:
    try:
        return not equal(a, b)
    except EvalError:
        return True


# Optionals.


def _none() -> Optional:
    return NONE


def _value(optional: Optional) -> Any:
    if not optional.has_value:
        raise EvalError("optional.none() dereference")
    return optional.value


def _has_value(optional: Optional) -> bool:
    return optional.has_value


def _or(optional: Optional, other: Optional) -> Optional:
    return optional if optional.has_value else other


def _or_value(optional: Optional, other: Any) -> Any:
    return optional.value if optional.has_value else other


def _non_zero(value: Any) -> Optional:
    if value is None or isinstance(value, (bool, int, float)):
        zero = not value
    elif isinstance(value, (SchemaList, ObjectValue)):
        zero = False  # the server does not ask what comes out of the data
    elif isinstance(value, (str, bytes, list, MapValue)):
        zero = len(value) == 0
    elif isinstance(value, Duration):
        zero = value.nanos == 0
    else:
        zero = isinstance(value, Timestamp) and value.nanos == _ZERO_TIME
    return NONE if zero else Optional(value)


_ZERO_TIME = -62_135_596_800 * 1_000_000_000  # Go's: the year 1 begins


# Kubernetes' libraries.


def _query(url: urls.Url) -> MapValue:
    return MapValue(urls.query(url).items())


def _semver(text: str, normalize: bool = False) -> semver.Semver:
    return semver.parse_normalized(text) if normalize else semver.parse(text)


def _part(index: int) -> Callable[[semver.Semver], int]:
    def part(version: semver.Semver) -> int:
        number = version.numbers[index]
        return number - (1 << 64) if number >> 63 else number  # as an int64 overflows

    return part


def _as_integer(value: quantity.Quantity) -> int:
    number = quantity.as_integer(value)
    if number is None:
        raise EvalError("cannot convert value to integer")
    return number


def _quantity_sign(value: quantity.Quantity) -> int:
    return (value.value > 0) - (value.value < 0)


def _with_int(function: Function) -> Function:
    return lambda value, number: function(value, quantity.from_int(number))


def _family(ip: netaddr.Ip) -> int:
    return 4 if ip.bits == 32 else 6


def _is_canonical(text: str) -> bool:
    return str(netaddr.parse_ip(text)) == text


def _contains_ip(cidr: netaddr.Cidr, text: str) -> bool:
    try:
        ip = netaddr.parse_ip(text)
    except EvalError:
        raise no_such_overload() from None  # the server keeps to itself what is wrong
    return netaddr.contains_ip(cidr, ip)


def _contains_cidr(cidr: netaddr.Cidr, text: str) -> bool:
    return netaddr.contains_cidr(cidr, netaddr.parse_cidr(text))


def _format(name: str) -> Callable[[], NamedFormat]:
    return lambda: FORMATS[name]


def _format_named(name: str) -> Optional:
    return Optional(FORMATS[name]) if name in FORMATS else NONE


def _validate(named: NamedFormat, text: str) -> Optional:
    wrong = named.validate(text)
    return Optional(wrong) if wrong else NONE


def _ordered(kind: str, order: Function) -> dict[str, Function]:
    return {
        f"{kind}_compare_to": order,
        f"{kind}_is_greater_than": lambda a, b: order(a, b) > 0,
        f"{kind}_is_less_than": lambda a, b: order(a, b) < 0,
    }


# Overloads that come in one form for each of several types.

_LIST_TYPES = ("int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes")
_LONG_NAMES = {"duration": Duration.type_name, "timestamp": Timestamp.type_name}
_NUMBERS = ("int64", "uint64", "double")
_PAIRS = (*_NUMBERS, *(f"{a}_{b}" for a in _NUMBERS for b in _NUMBERS if a != b))
_ORDERED = ("bool", "string", "bytes", "timestamp", "duration", *_PAIRS)


def _for(ids: str, function: Function, kinds: tuple[str, ...]) -> dict[str, Function]:
    """Return the same function for each overload; `*` in the ids stands for a type."""
    return {ids.replace("*", kind): function for kind in kinds}


def _lists() -> dict[str, Function]:
    table: dict[str, Function] = {}
    for kind in _LIST_TYPES:
        name = _LONG_NAMES.get(kind, kind)
        table[f"list_{kind}_is_sorted_bool"] = lists.is_sorted
        table[f"list_{kind}_max_{kind}"] = lists.maximum
        table[f"list_{kind}_min_{kind}"] = lists.minimum
        table[f"list_{name}_sort"] = lists.sort
        table[f"list_{name}_sortByAssociatedKeys"] = lists.sort_by_keys
    for kind, zero in lists.ZEROS.items():
        table[f"list_{kind}_sum_{kind}"] = lists.summing(zero)
    return table


def _getters() -> dict[str, Function]:
    table: dict[str, Function] = {}
    for name, function in (
        ("year", times.year),
        ("month", times.month),
        ("day_of_year", times.day_of_year),
        ("day_of_month", times.day_of_month),
        ("day_of_month_1_based", times.day_of_month_from_1),
        ("day_of_week", times.day_of_week),
        ("hours", times.hour),
        ("minutes", times.minute),
        ("seconds", times.second),
        ("milliseconds", times.milliseconds),
    ):
        table[f"timestamp_to_{name}"] = table[f"timestamp_to_{name}_with_tz"] = function
    # Its id is not like the others.
    table["timestamp_to_seconds_tz"] = table.pop("timestamp_to_seconds_with_tz")
    return table


_OPERATORS: dict[str, Function] = {
    "logical_not": operators.inverted,
    **_for("negate_*", operators.negated, ("int64", "double")),
    **_for(
        "add_*",
        operators.plus,
        (
            *("bytes", "double", "duration_duration", "duration_timestamp", "timestamp_duration"),
            *("int64", "list", "string", "uint64"),
        ),
    ),
    **_for(
        "subtract_*",
        operators.minus,
        (
            *("double", "duration_duration", "int64", "timestamp_duration"),
            *("timestamp_timestamp", "uint64"),
        ),
    ),
    **_for("multiply_*", operators.times, _NUMBERS),
    **_for("divide_*", operators.divided, _NUMBERS),
    **_for("modulo_*", operators.modulo, ("int64", "uint64")),
    **_for("in_*", operators.within, ("list", "map")),
    "equals": equal,
    "not_equals": _not_equal,
    **_for("less_*", lambda a, b: compare(a, b) < 0, _ORDERED),
    **_for("less_equals_*", lambda a, b: compare(a, b) <= 0, _ORDERED),
    **_for("greater_*", lambda a, b: compare(a, b) > 0, _ORDERED),
    **_for("greater_equals_*", lambda a, b: compare(a, b) >= 0, _ORDERED),
}

_CONVERSIONS: dict[str, Function] = {
    **{
        f"{kind}_to_{kind}": _identity
        for kind in (
            *("bool", "bytes", "double", "duration", "int64", "string", "timestamp", "uint64"),
        )
    },
    "to_dyn": _identity,
    "type": _type,
    "string_to_bool": conversions.to_bool,
    "string_to_bytes": conversions.to_bytes,
    **_for("*_to_double", conversions.to_double, ("int64", "string", "uint64")),
    **_for(
        "*_to_int64",
        conversions.to_int,
        ("double", "duration", "string", "timestamp", "uint64"),
    ),
    **_for("*_to_uint64", conversions.to_uint, ("double", "int64", "string")),
    **_for(
        "*_to_string",
        conversions.to_string,
        ("bool", "bytes", "double", "duration", "int64", "timestamp", "uint64"),
    ),
    **_for("*_to_string", str, ("ip", "cidr")),
    "string_to_duration": times.to_duration,
    "string_to_timestamp": times.to_timestamp,
    "int64_to_timestamp": times.from_seconds,
}

_STRINGS: dict[str, Function] = {
    "contains_string": strings.contains,
    "starts_with_string": strings.starts_with,
    "ends_with_string": strings.ends_with,
    "matches": strings.matches,
    "matches_string": strings.matches,
    "string_find_string": strings.find,
    "string_find_all_string": strings.find_all,
    "string_find_all_string_int": strings.find_all,
    "string_char_at_int": strings.char_at,
    "string_index_of_string": strings.index_of,
    "string_index_of_string_int": strings.index_of,
    "string_last_index_of_string": strings.last_index_of,
    "string_last_index_of_string_int": strings.last_index_of_before,
    "string_lower_ascii": strings.lower_ascii,
    "string_upper_ascii": strings.upper_ascii,
    "string_replace_string_string": strings.replace,
    "string_replace_string_string_int": strings.replace,
    "string_split_string": strings.split,
    "string_split_string_int": strings.split,
    "string_substring_int": strings.substring,
    "string_substring_int_int": strings.substring_range,
    "string_trim": strings.trim,
    "strings_quote": strings.quote,
    "string_format": format_text,
    "list_join": strings.join,
    "list_join_string": strings.join,
}

_TIMES: dict[str, Function] = {
    **_getters(),
    "duration_to_hours": times.duration_hours,
    "duration_to_minutes": times.duration_minutes,
    "duration_to_seconds": times.duration_seconds,
    "duration_to_milliseconds": times.duration_milliseconds,
}

_COLLECTIONS: dict[str, Function] = {
    **_lists(),
    **_for("size_*", _size, ("bytes", "list", "map", "string")),
    **_for("*_size", _size, ("bytes", "list", "map", "string")),
    "list_a_index_of_int": lists.index_of,
    "list_a_last_index_of_int": lists.last_index_of,
    "list_includes_dyn_dyn": lists.includes,
    "list_first": lists.first,
    "list_last": lists.last,
    "list_slice": lists.cut,
    "list_flatten": lists.flatten,
    "list_flatten_int": lists.flatten,
    "list_reverse": lists.reverse,
    "list_distinct": lists.distinct,
    "lists_range": lists.numbers,
    "list_sets_contains_list": lists.set_contains,
    "list_sets_equivalent_list": lists.set_equivalent,
    "list_sets_intersects_list": lists.set_intersects,
    "@mapInsert_map_key_value": lists.map_inserted,
    "@mapInsert_map_map": lists.map_merged,
}

_OPTIONALS: dict[str, Function] = {
    "optional_none": _none,
    "optional_of": Optional,
    "optional_ofNonZeroValue": _non_zero,
    "optional_hasValue": _has_value,
    "optional_value": _value,
    "optional_or_optional": _or,
    "optional_orValue_value": _or_value,
    "optional_unwrap": lists.unwrap,
    "optional_unwrapOpt": lists.unwrap,
}

_KUBERNETES: dict[str, Function] = {
    "string_to_url": urls.parse,
    "is_url_string": _is(urls.parse_request),
    "url_get_scheme": lambda url: url.scheme,
    "url_get_host": urls.host,
    "url_get_hostname": urls.hostname,
    "url_get_port": urls.port,
    "url_get_escaped_path": urls.escaped_path,
    "url_get_query": _query,
    "string_to_quantity": quantity.parse,
    "is_quantity_string": _is(quantity.parse),
    **_ordered("quantity", quantity.compare),
    "quantity_sign": _quantity_sign,
    "quantity_get_float": quantity.as_float,
    "quantity_get_int": _as_integer,
    "quantity_is_integer": lambda value: quantity.as_integer(value) is not None,
    "quantity_add": quantity.add,
    "quantity_add_int": _with_int(quantity.add),
    "quantity_sub": quantity.subtract,
    "quantity_sub_int": _with_int(quantity.subtract),
    "string_to_semver": _semver,
    "string_bool_to_semver": _semver,
    "is_semver_string": _is(_semver),
    "is_semver_string_bool": _is(_semver),
    **_ordered("semver", semver.compare),
    "semver_major": _part(0),
    "semver_minor": _part(1),
    "semver_patch": _part(2),
    "string_to_ip": netaddr.parse_ip,
    "is_ip": _is(netaddr.parse_ip),
    "ip_is_canonical": _is_canonical,
    "ip_family": _family,
    "ip_is_unspecified": netaddr.is_unspecified,
    "ip_is_loopback": netaddr.is_loopback,
    "ip_is_link_local_unicast": netaddr.is_link_local_unicast,
    "ip_is_link_local_multicast": netaddr.is_link_local_multicast,
    "ip_is_global_unicast": netaddr.is_global_unicast,
    "string_to_cidr": netaddr.parse_cidr,
    "is_cidr": _is(netaddr.parse_cidr),
    "cidr_contains_ip_ip": netaddr.contains_ip,
    "cidr_contains_ip_string": _contains_ip,
    "cidr_contains_cidr": netaddr.contains_cidr,
    "cidr_contains_cidr_string": _contains_cidr,
    "cidr_ip": lambda cidr: cidr.ip,
    "cidr_prefix_length": lambda cidr: cidr.length,
    "cidr_masked": netaddr.masked,
    **{f"format.{name}": _format(name) for name in FORMATS},
    "format-named": _format_named,
    "format-validate": _validate,
}

IMPLEMENTATIONS: dict[str, Function] = {
    **_OPERATORS,
    **_CONVERSIONS,
    **_STRINGS,
    **_TIMES,
    **_COLLECTIONS,
    **_OPTIONALS,
    **_KUBERNETES,
}
