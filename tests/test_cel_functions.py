"""What CEL's functions do at run time; the values are those of the server's own libraries."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest

from crdlint import goregex
from crdlint.cel.functions import IMPLEMENTATIONS
from crdlint.cel.gosort import order
from crdlint.cel.overloads import OVERLOADS
from crdlint.cel.values import (
    NONE,
    Duration,
    EvalError,
    MapValue,
    Optional,
    Timestamp,
    TypeValue,
    Uint,
    equal,
)

MAX_INT, MIN_INT = (1 << 63) - 1, -(1 << 63)
_ELSEWHERE = re.compile("logical_and|logical_or|conditional|not_strictly_false|.*index.*")
_OF_AUTHORIZER = re.compile("(authorizer|pathcheck|groupcheck|resourcecheck|decision)_.*")


def call(overload: str, *args: Any) -> Any:
    """Call an overload; errors are texts that begin with `!`."""
    try:
        return IMPLEMENTATIONS[overload](*args)
    except EvalError as error:
        return f"!{error.message}"


def shown(value: Any) -> Any:
    """Return a value so that pytest can compare and print it."""
    if isinstance(value, Optional):
        return ("optional", shown(value.value)) if value.has_value else ("none",)
    if isinstance(value, MapValue):
        return {key: shown(value.find(key)) for key in value}
    if isinstance(value, (Timestamp, Duration)):
        return type(value).__name__, value.nanos
    if isinstance(value, (str, bytes, bool, int, float, list, type(None))):
        return value
    return value.name if isinstance(value, TypeValue) else str(value)


def test_every_overload_is_there_or_belongs_elsewhere() -> None:
    ids = [line.split(" ")[1] for line in OVERLOADS.splitlines()]
    missing = [
        name
        for name in ids
        if name not in IMPLEMENTATIONS
        and not _ELSEWHERE.fullmatch(name)
        and not _OF_AUTHORIZER.fullmatch(name)
    ]
    assert missing == []
    assert set(IMPLEMENTATIONS) <= set(ids)


def time(text: str) -> Any:
    return IMPLEMENTATIONS["string_to_timestamp"](text)


def span(text: str) -> Any:
    return IMPLEMENTATIONS["string_to_duration"](text)


def quantity(text: str) -> Any:
    return IMPLEMENTATIONS["string_to_quantity"](text)


TABLES: dict[str, list[tuple[Any, ...]]] = {
    # conversions
    "double_to_string": [
        (1000000.0, "1e+06"),
        (123456.0, "123456"),
        (0.0001, "0.0001"),
        (0.00001, "1e-05"),
        (-0.0, "-0"),
        (math.inf, "+Inf"),
        (math.nan, "NaN"),
        (1.5e300, "1.5e+300"),
    ],
    "double_to_int64": [
        (1.9, 1),
        (-1.9, -1),
        (math.nan, "!integer overflow"),
        (float(1 << 63), "!integer overflow"),
    ],
    "double_to_uint64": [(-0.5, "!unsigned integer overflow"), (1.9, 1)],
    "string_to_int64": [
        ("+7", 7),
        ("0_1", "!type conversion error from 'string' to 'int'"),
        (str(MIN_INT), MIN_INT),
        (str(MAX_INT + 1), "!type conversion error from 'string' to 'int'"),
    ],
    "string_to_uint64": [("+1", "!type conversion error from 'string' to 'uint'")],
    "string_to_double": [
        ("0x1p4", 16.0),
        ("1e999", "!type conversion error from 'string' to 'double'"),
    ],
    "string_to_bool": [("T", True), ("yes", "!type conversion error from 'string' to 'bool'")],
    "bytes_to_string": [(b"\xff", "!invalid UTF-8 in bytes, cannot convert to string")],
    "duration_to_string": [(span("1h30m0.25s"), "5400.25s"), (span("-1ns"), "-0.000000001s")],
    "timestamp_to_string": [
        (time("2023-07-14T10:30:45.120+02:00"), "2023-07-14T10:30:45.12+02:00"),
        (time("2023-07-14T10:30:45+00:00"), "2023-07-14T10:30:45Z"),
    ],
    # numbers
    "add_int64": [(MAX_INT, 1, "!integer overflow")],
    "divide_int64": [(-7, 2, -3), (1, 0, "!division by zero"), (MIN_INT, -1, "!integer overflow")],
    "modulo_int64": [(-7, 2, -1), (1, 0, "!modulus by zero")],
    "subtract_uint64": [(Uint(1), Uint(2), "!unsigned integer overflow")],
    "less_int64_double": [(1, math.nan, "!NaN values cannot be ordered"), (1, 1.5, True)],
    # texts
    "string_char_at_int": [("aé", 1, "é"), ("aé", 2, ""), ("aé", 3, "!index out of range: 3")],
    "string_index_of_string_int": [
        ("abab", "b", 2, 3),
        ("abab", "", 9, 4),
        ("a", "a", -1, "!index out of range: -1"),
    ],
    "string_last_index_of_string_int": [
        ("abab", "ab", 1, 0),
        ("abab", "b", 4, -1),
        ("ab", "", 9, 2),
    ],
    "string_lower_ascii": [("AÉİ", "aÉİ")],
    "string_trim": [("\u00a0 a\x1c\n", "a\x1c")],
    "string_split_string_int": [
        ("a,b,c", ",", 2, ["a", "b,c"]),
        ("abc", "", 2, ["a", "bc"]),
        ("abc", ",", 0, []),
        ("", "", -1, []),
        ("", ",", -1, [""]),
    ],
    "string_replace_string_string_int": [("aaa", "a", "b", 2, "bba"), ("ab", "", "-", 2, "-a-b")],
    "string_substring_int_int": [
        ("abc", 2, 1, "!invalid substring range. start: 2, end: 1"),
        ("abc", 1, 4, "!index out of range: 4"),
    ],
    "strings_quote": [('a"\\\n\x00é', '"a\\"\\\\\\n\x00é"')],
    "list_join_string": [(["a", 1], "-", "!join: invalid input: 1"), (["a", "b"], "-", "a-b")],
    "matches": [
        ("ab", "^a", True),
        ("", "[", "!error parsing regexp: missing closing ]: `[`"),
        (1, "a", "!no such overload: matches"),
    ],
    "string_find_string": [
        ("xaab", "a+?", "a"),
        ("b", "a", ""),
        ("", "(", "!Illegal regex: error parsing regexp: missing closing ): `(`"),
    ],
    "string_find_all_string": [("aab", "a*", ["aa", ""]), ("abc", "", ["", "", "", ""])],
    # times
    "string_to_timestamp": [
        (
            "2023-02-29T00:00:00Z",
            "!type conversion error from 'string' to 'google.protobuf.Timestamp'",
        ),
        ("9999-12-31T23:59:59-01:00", "!timestamp overflow"),
    ],
    "string_to_duration": [
        ("0.1ns", ("Duration", 0)),
        ("1d", "!type conversion error from 'string' to 'google.protobuf.Duration'"),
        ("-2562047h47m16.854775808s", ("Duration", MIN_INT)),
    ],
    "add_timestamp_duration": [(time("9999-12-31T23:59:59Z"), span("1s"), "!timestamp overflow")],
    "subtract_timestamp_timestamp": [
        (time("9999-01-01T00:00:00Z"), time("0001-01-01T00:00:00Z"), "!integer overflow")
    ],
    "timestamp_to_hours_with_tz": [
        (time("2023-03-26T01:30:00Z"), "Europe/Berlin", 3),
        (time("2023-03-26T01:30:00Z"), "-02:30", 23),
        (time("2023-03-26T01:30:00Z"), "Mars/Olympus", "!unknown time zone Mars/Olympus"),
        (time("2023-03-26T01:30:00Z"), "../x", "!time: invalid location name"),
        (time("2023-03-26T01:30:00Z"), "x:0", '!strconv.Atoi: parsing "x": invalid syntax'),
    ],
    "timestamp_to_day_of_year": [(time("2024-12-31T00:00:00Z"), 365)],
    "timestamp_to_day_of_week": [(time("2023-07-16T00:00:00Z"), 0)],
    "timestamp_to_year_with_tz": [(time("0001-01-01T00:00:00Z"), "-01:00", 0)],
    "duration_to_hours": [(span("-90m"), -1), (span("1999999h59m59.999999999s"), 2000000)],
    "duration_to_milliseconds": [(span("1.5s"), 1500)],
    # lists
    "list_int_max_int": [([1, 3, 2], 3), ([], "!max called on empty list")],
    "list_double_is_sorted_bool": [([1.0, math.nan, 0.0], True), ([1.0, 0.0], False)],
    "list_int_sum_int": [([MAX_INT, 1], "!integer overflow")],
    "list_slice": [
        ([1, 2, 3], 1, 2, [2]),
        ([1], 1, 0, "!cannot slice(1, 0), start index must be less than or equal to end index"),
        ([1], -1, 0, "!cannot slice(-1, 0), negative indexes not supported"),
        ([1], 0, 2, "!cannot slice(0, 2), list is length 1"),
    ],
    "list_flatten_int": [([1, [2, [3]]], 1, [1, 2, [3]]), ([], -1, "!level must be non-negative")],
    "list_flatten": [("a", "!no such overload: string.flatten()"), ([[1], [2]], [1, 2])],
    "list_distinct": [([1, 1.0, Uint(1), "1", "1"], [1, "1"])],
    "lists_range": [(3, [0, 1, 2]), (-1, "!lists.range: size must be non-negative, got -1")],
    "list_sets_equivalent_list": [([1, 2, 2], [2, 1], True), ([1], [1, 2], False)],
    "list_int_sort": [([2, 1], [1, 2]), ([1, "a"], "!list elements must have the same type")],
    "@mapInsert_map_key_value": [
        (MapValue([(1, 2)]), 1, 3, "!insert failed: key 1 already exists"),
        (MapValue([(1, 2)]), 2, 3, {1: 2, 2: 3}),
    ],
    # optionals
    "optional_ofNonZeroValue": [("", ("none",)), (0, ("none",)), ("a", ("optional", "a"))],
    "optional_value": [(NONE, "!optional.none() dereference")],
    "optional_unwrap": [([NONE, Optional(1)], [1])],
    # quantities
    "string_to_quantity": [
        ("1e", "!unable to parse quantity's suffix"),
        (
            "1 k",
            "!quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
        ),
        ("+Ei", "!unable to parse numeric part of quantity"),
        ("1000k", "1M"),
        ("1024Ki", "1Mi"),
        ("0.5Ki", "512"),
        ("10Ei", "9223372036854775807"),
        ("0.0000000001", "1n"),
        ("-1.5", "-1500m"),
        (".", "0"),
    ],
    "quantity_get_int": [
        (quantity("1k"), 1000),
        (quantity("1.5"), "!cannot convert value to integer"),
        (quantity("9223372036854775808"), "!cannot convert value to integer"),
    ],
    "quantity_get_float": [(quantity("100m"), 0.1), (quantity("1e400"), math.inf)],
    "quantity_compare_to": [
        (quantity("1Ki"), quantity("1k"), 1),
        (quantity("1.0"), quantity("1"), 0),
    ],
    "quantity_add": [(quantity("9223372036854775807"), quantity("1"), "9223372036854775808")],
    "quantity_sub_int": [(quantity("0"), MIN_INT, str(MIN_INT)), (quantity("1"), 1, "0")],
    # versions
    "string_bool_to_semver": [
        ("v01.2", True, "1.2.0"),
        ("1.2-a", True, "!short version cannot contain PreRelease/Build meta data"),
        ("v1.2.3", False, '!Invalid character(s) found in major number "v1"'),
        ("1.0.0-01", False, '!Numeric PreRelease version must not contain leading zeroes "01"'),
    ],
    # addresses
    "string_to_ip": [
        ("2001:DB8:0:0:1:0:0:1", "2001:db8::1:0:0:1"),
        (
            "1.2.3",
            '!IP Address "1.2.3" parse error during conversion from string: ParseAddr("1.2.3"): IPv4 address too short',
        ),
        ("::ffff:1.2.3.4", '!IPv4-mapped IPv6 address "::ffff:1.2.3.4" is not allowed'),
        ("fe80::1%eth0", '!IP address "fe80::1%eth0" with zone value is not allowed'),
    ],
    "is_cidr": [("10.1.2.3/8", True), ("10.0.0.0/33", False), ("::ffff:1.2.3.4/96", False)],
    "ip_is_canonical": [("::1", True), ("0::1", False)],
    # URLs
    "string_to_url": [
        ("a:b@c", "a:b@c"),
        (
            "rel",
            '!URL parse error during conversion from string: parse "rel": invalid URI for request',
        ),
        (
            "http://h/%zz",
            '!URL parse error during conversion from string: parse "http://h/%zz": invalid URL escape "%zz"',
        ),
        (
            "http://a:b/",
            '!URL parse error during conversion from string: parse "http://a:b/": invalid port ":b" after host',
        ),
    ],
    # formats
    "string_format": [
        ("%s %d%%", ["a", 1], "a 1%"),
        ("%.2f", [1234567.891], "1,234,567.89"),
        ("%e", [1052.032911275], "1.052033\u00d710⁰³"),
        ("%.12e", [0.5], "5.000000\u00d710⁻⁰¹".rjust(12)),
        ("%f", ["Infinity"], "∞"),
        ("%x %X %o %b", ["aé", Uint(255), 8, True], "61c3a9 FF 10 1"),
        (
            "%s",
            [["a", 1.5, None, b"a", span("1s"), MapValue()]],
            '["a", 1.500000, null, b"a", duration("1s"), {}]',
        ),
        ("%s", [MapValue([("b", [1.5]), ("a", None)])], '{"a":null, "b":[1.500000]}'),
        (
            "%d",
            ["a"],
            "!error during formatting: decimal clause can only be used on integers, was given string",
        ),
        ("%s", [], "!index 0 out of range"),
        ("%", [1], "!unexpected end of string"),
        (
            "%.f",
            [1.5],
            '!could not parse formatting clause: error while parsing precision: error while converting precision to integer: strconv.Atoi: parsing "": invalid syntax',
        ),
        ("%q", [1], '!could not parse formatting clause: unrecognized formatting clause "q"'),
    ],
}
CASES = [(name, *case) for name, cases in TABLES.items() for case in cases]


@pytest.mark.parametrize("case", CASES, ids=lambda row: str(row[0]))
def test_call(case: tuple[Any, ...]) -> None:
    name, *args, expected = case
    result = shown(call(name, *args))
    assert result == expected
    assert isinstance(result, bool) == isinstance(expected, bool)


def test_a_sum_compares_from_the_left_only() -> None:
    two = IMPLEMENTATIONS["quantity_add"](quantity("1"), quantity("1"))
    assert equal(two, quantity("2"))
    with pytest.raises(EvalError):
        equal(quantity("2"), two)


def test_a_comparison_may_end_that_a_quantity_is_an_integer() -> None:
    one = quantity("1")
    assert call("quantity_is_integer", one) is True
    assert call("quantity_compare_to", one, quantity("1.00000000000000000001")) == -1
    assert call("quantity_is_integer", one) is False


def test_quantities_with_huge_exponents_take_no_time() -> None:
    huge, tiny = quantity("1e2000000000"), quantity("1e-2000000000")
    assert call("quantity_compare_to", huge, tiny) == 1
    assert call("quantity_get_float", huge) == math.inf
    assert shown(tiny) == "1e-9"
    assert call("quantity_add", huge, tiny) == "!quantities are too far apart to be added"


def test_a_loop_of_loops_finds_its_match_in_time() -> None:
    assert call("string_find_string", "a" * 2000 + "!", "(a*)*b") == ""
    assert call("string_find_string", "a" * 300 + "b", "(a*)*b") == "a" * 300 + "b"


FINDS = [
    ("a|ab", "ab", ["a"]),
    ("ab|a", "ab", ["ab"]),
    ("(a|ab)(c|bcd)*", "abcd", ["abcd"]),
    ("a{1,2}?", "aaa", ["a", "a", "a"]),
    ("(|a)*", "aa", ["", "", ""]),
    ("(|a)+", "aa", ["", "", ""]),
    ("^a", "aa", ["a"]),
    (r"\b", "ab c", ["", "", "", ""]),
    ("(?U)a+", "aa", ["a", "a"]),
    ("(?s).", "\né", ["\n", "é"]),
]


@pytest.mark.parametrize(("pattern", "text", "expected"), FINDS)
def test_find_all(pattern: str, text: str, expected: list[str]) -> None:
    assert goregex.find_all(pattern, text) == expected
    assert goregex.find_all(pattern, text, 1) == expected[:1]
    assert goregex.find_all(pattern, text, 0) == []


def test_equal_keys_change_places_as_in_go() -> None:
    assert order([2, 1, 2, 1]) == [1, 3, 0, 2]
    keys = [i % 2 for i in range(14)]
    assert order(keys) == [8, 12, 2, 0, 4, 10, 6, 3, 7, 9, 5, 11, 1, 13]
