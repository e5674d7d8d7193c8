"""The string and number formats that the API server enforces, judged as its Go code does."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

# The formats for Kubernetes names came with 1.34, but a server asks the version before its own.
KUBERNETES_NAMES_SINCE = 35
_KUBERNETES_NAMES = frozenset(("k8sshortname", "k8slongname"))
_NUMBERS = {"integer": ("int32", "int64"), "number": ("float", "double")}

_MAX_INT64 = (1 << 63) - 1


def known(type_: str, format_: str, minor: int) -> bool:
    """Tell whether a server enforces a format on values of a type ("" where none is named).

    Source: the format table of apiextensions' validation package; dashes do not count, case does.
    """
    if type_ in ("", "string"):
        name = format_.replace("-", "")
        return name in MATCHERS and (
            minor >= KUBERNETES_NAMES_SINCE or name not in _KUBERNETES_NAMES
        )
    return format_ in _NUMBERS.get(type_, ())


def known_to_strfmt(format_: str) -> bool:
    """Tell whether the format library knows a string format, whatever the server's version."""
    return format_.replace("-", "") in MATCHERS


def matches(format_: str, text: str) -> bool:
    """Tell whether a text has a known string format; True for a format that nobody knows.

    Source: go-openapi's strfmt as vendored in kube-openapi.
    """
    check = MATCHERS.get(format_.replace("-", ""))
    return check is None or check(text)


def _pattern(regex: str, flags: int = 0) -> Callable[[str], bool]:
    # Compiled by the re module when first used: most runs meet none of these.
    return lambda text: re.fullmatch(regex, text, re.ASCII | flags) is not None


def _size(text: str) -> int:
    """Return the length in bytes of UTF-8."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


# Hardware addresses

_HEX2 = "[0-9a-fA-F]{2}"
_HEX4 = "[0-9a-fA-F]{4}"
_MAC = "|".join(
    f"{part}(?:{mark}{part}){{{n - 1}}}"
    for part, mark, counts in (
        (_HEX2, ":", (6, 8, 20)),
        (_HEX2, "-", (6, 8, 20)),
        (_HEX4, "[.]", (3, 4, 10)),
        (_HEX2, "", (6, 8, 20)),
    )
    for n in counts
)

# Names

_ANY = "[LS]"
_HOSTNAME = rf"{_ANY}(?:-?{_ANY}{{0,62}})?|(?:{_ANY}(?:[LS-]{{0,61}}{_ANY})?\.)+L{{2,63}}"


def _letters(text: str) -> str:
    """Spell a text with L for letters, S for digits and symbols, and `!` for what no host has."""
    import unicodedata

    spelled = []
    for char in text:
        if char in "-.":
            spelled.append(char)
            continue
        category = "So" if "\ud800" <= char <= "\udfff" else unicodedata.category(char)
        if category[0] == "L":
            spelled.append("L")
        else:
            spelled.append("S" if category[0] == "S" or "0" <= char <= "9" else "!")
    return "".join(spelled)


_ASCII_HOST = {
    code: "L" if chr(code).isalpha() else "S" if chr(code) in "0123456789$+<=>^`|~" else "!"
    for code in range(128)
    if chr(code) not in "-."
}


def _is_hostname(text: str) -> bool:
    if _size(text) > 255 or any(_size(part) > 63 for part in text.split(".")):
        return False
    spelled = text.translate(_ASCII_HOST) if text.isascii() else _letters(text)
    return re.fullmatch(_HOSTNAME, spelled) is not None


_SHORT_NAME = "[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"
_is_short_pattern = _pattern(_SHORT_NAME)
_is_long_pattern = _pattern(rf"{_SHORT_NAME}(?:\.{_SHORT_NAME})*")


def _is_short_name(text: str) -> bool:
    return len(text) <= 63 and _is_short_pattern(text)


def _is_long_name(text: str) -> bool:
    return len(text) <= 253 and _is_long_pattern(text)


# Numbers of things

_CREDIT_CARD = _pattern(
    r"4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}"
    r"|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35\d{3})\d{11}"
)


def _is_credit_card(text: str) -> bool:
    digits = "".join(char for char in text if "0" <= char <= "9")
    if not _CREDIT_CARD(digits):
        return False
    doubled = [sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2]]
    return (sum(doubled) + sum(int(digit) for digit in digits[-1::-2])) % 10 == 0


_ISBN_NOISE = "[\t\n\f\r -]+"
_ISBN10 = _pattern("[0-9]{9}[0-9X]")
_ISBN13 = _pattern("[0-9]{13}")


def _is_isbn10(text: str) -> bool:
    digits = re.sub(_ISBN_NOISE, "", text)
    if not _ISBN10(digits):
        return False
    values = [10 if digit == "X" else int(digit) for digit in digits]
    return sum(i * value for i, value in enumerate(values, 1)) % 11 == 0


def _is_isbn13(text: str) -> bool:
    digits = re.sub(_ISBN_NOISE, "", text)
    if not _ISBN13(digits):
        return False
    return sum(int(digit) * (3 if i % 2 else 1) for i, digit in enumerate(digits)) % 10 == 0


_COLOR = r"(?:0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])"
_SPACES = r"[\t\n\f\r ]*"
_RGB = rf"rgb\({_SPACES}{_COLOR}{_SPACES},{_SPACES}{_COLOR}{_SPACES},{_SPACES}{_COLOR}{_SPACES}\)"

_SSN = _pattern(r"\d{3}[- ]?\d{2}[- ]?\d{4}")

# Times

_DATE = "([0-9]{4})-([0-9]{2})-([0-9]{2})"
_DAYS = (0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
# After the seconds Go's pattern takes any one character for the decimal point.
_TIME = r"([0-9]{2}):([0-9]{2}):([0-9]{2})(?:.[0-9]+)?(?:z|[+-][0-9]{2}:[0-9]{2})"
_LOWER = {ord("T"): "t", ord("Z"): "z"}


def _is_date(text: str) -> bool:
    found = re.fullmatch(_DATE, text)
    if found is None:
        return False
    year, month, day = (int(part) for part in found.groups())
    if not 1 <= month <= 12:
        return False
    leap = month == 2 and year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return 1 <= day <= _DAYS[month] + leap


def _is_datetime(text: str) -> bool:
    parts = text.translate(_LOWER).split("t")
    if len(parts) < 2 or not _is_date(parts[0]):
        return False
    found = re.fullmatch(_TIME, parts[1])
    return found is not None and found[1] <= "23" and found[2] <= "59" and found[3] <= "59"


_NANOSECONDS = {
    "ns": 1,
    "us": 10**3,
    "\u00b5s": 10**3,
    "\u03bcs": 10**3,
    "ms": 10**6,
    "s": 10**9,
    "m": 60 * 10**9,
    "h": 3600 * 10**9,
}
_DURATION_PART = r"([0-9]*)(?:\.([0-9]*))?([^0-9.]+)"
_LOOSE_DURATION = "([0-9]+)[\t\n\f\r ]*([A-Za-z\u00b5]+)"
# Scala's names of units: the last of each takes anything that begins with it.
_UNIT_NAMES = frozenset(("ns", "us", "\u00b5s", "ms", "s", "m", "h", "hr", "d", "w", "wk"))
_UNIT_STARTS = ("nano", "micro", "milli", "sec", "min", "hour", "day", "week")


def _is_go_duration(text: str) -> bool:
    rest = text[1:] if text[:1] in ("-", "+") else text
    if rest == "0":
        return True
    if not rest:
        return False
    total, at, pattern = 0, 0, re.compile(_DURATION_PART)
    while at < len(rest):
        part = pattern.match(rest, at)
        if part is None or not (part[1] or part[2]):
            return False
        unit = _NANOSECONDS.get(part[3])
        whole = part[1].lstrip("0")
        if unit is None or len(whole) > 19:
            return False
        total += int(whole or "0") * unit
        if part[2]:
            total += int(float("0." + part[2]) * unit)
        at = part.end()
    # The one more on the negative side is Go's too.
    return total <= _MAX_INT64 + text.startswith("-")


def _is_duration(text: str) -> bool:
    if _is_go_duration(text):
        return True
    found = False
    for part in re.finditer(_LOOSE_DURATION, text):
        digits = part[1].lstrip("0")
        if len(digits) > 19 or int(digits or "0") > _MAX_INT64:
            return False
        unit = part[2].lower()
        found = found or unit in _UNIT_NAMES or unit.startswith(_UNIT_STARTS)
    return found


def _by_address(name: str) -> Callable[[str], bool]:
    def check(text: str) -> bool:
        from crdlint import addresses

        return bool(getattr(addresses, name)(text))

    return check


_BASE64_GROUP = "[A-Za-z0-9+/]"
MATCHERS: dict[str, Callable[[str], bool]] = {
    "bsonobjectid": _pattern("[0-9a-fA-F]{24}"),
    "uri": _by_address("is_request_uri"),
    "email": _by_address("is_email"),
    "hostname": _is_hostname,
    "ipv4": _by_address("is_ipv4"),
    "ipv6": _by_address("is_ipv6"),
    "cidr": _by_address("is_cidr"),
    "mac": _pattern(_MAC),
    "uuid": _pattern("[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}", re.IGNORECASE),
    "uuid3": _pattern(
        "[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}", re.IGNORECASE
    ),
    "uuid4": _pattern(
        "[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}", re.IGNORECASE
    ),
    "uuid5": _pattern(
        "[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}", re.IGNORECASE
    ),
    "isbn": lambda text: _is_isbn10(text) or _is_isbn13(text),
    "isbn10": _is_isbn10,
    "isbn13": _is_isbn13,
    "creditcard": _is_credit_card,
    "ssn": lambda text: len(text) == 11 and _SSN(text),
    "hexcolor": _pattern("#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})"),
    "rgbcolor": _pattern(_RGB),
    "byte": _pattern(
        f"(?:{_BASE64_GROUP}{{4}})*"
        f"(?:{_BASE64_GROUP}{{2}}==|{_BASE64_GROUP}{{3}}=|{_BASE64_GROUP}{{4}})"
    ),
    "password": lambda _: True,
    "date": _is_date,
    "datetime": _is_datetime,
    "duration": _is_duration,
    "k8sshortname": _is_short_name,
    "k8slongname": _is_long_name,
}
