"""What a scalar means to go-yaml v2 and encoding/json, which the API server reads YAML with."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final

Scalar = None | bool | int | float | str


class ScalarError(Exception):
    """A scalar that the API server cannot read."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


CONSTANTS: Final[dict[str, Scalar]] = {
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "on", "On", "ON"), True),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "off", "Off", "OFF"), False),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), float("inf")),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), float("-inf")),
}
# A plain scalar that starts with anything else is a string without further tests.
STARTS: Final = frozenset("0123456789+-.yYnNtTfFoO~")
_NUMERIC: Final = frozenset("0123456789+-")
_INTEGER = re.compile(r"([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|(0|[1-9][0-9]*))")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_DOT_FLOAT = re.compile(r"\.[0-9]+(?:[eE][-+]?[0-9]+)?")
_TIMESTAMP = (
    r"[0-9]{4}-(1[0-2]|0?[1-9])-(3[01]|[12][0-9]|0?[1-9])"
    r"(?:[Tt ](?:2[0-3]|[01]?[0-9]):[0-5]?[0-9]:[0-5]?[0-9](?:[.,][0-9]+)?"
    r"(?:(?<![ ])(?:Z|[-+][0-9]{2}:[0-9]{2}))?)?"
)
_BASE64 = r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?"
_INT64: Final = 1 << 63
_UINT64: Final = 1 << 64
_MOST_DIGITS: Final = 400  # more than any 64-bit number has, less than int() refuses to read
_EXACT: Final = 1 << 53
_TAG: Final = "tag:yaml.org,2002:"
_RESOLVED_TAGS: Final = frozenset(
    _TAG + name for name in ("str", "bool", "int", "float", "null", "timestamp")
)


def resolve(text: str) -> Scalar:
    """Resolve a plain, untagged scalar as go-yaml v2 does (resolve.go).

    Floats stay floats, NaN and the infinities included; strings come back as they are.
    """
    if not text:
        return None
    first = text[0]
    if first not in STARTS:
        return text
    if text in CONSTANTS:
        return CONSTANTS[text]
    if first in _NUMERIC:
        plain = text.replace("_", "") if "_" in text else text
        whole = _integer(plain)
        if whole is not None:
            return whole
        if _FLOAT.fullmatch(plain):
            number = float(plain)
            if abs(number) != float("inf"):
                return number
    elif first == "." and _DOT_FLOAT.fullmatch(text):
        number = float(text)
        if number != float("inf"):
            return number
    return text


def _integer(plain: str) -> int | None:
    """Read what Go's ParseInt and ParseUint take with base 0, or return None."""
    match = _INTEGER.fullmatch(plain)
    if match is None or len(plain) > _MOST_DIGITS:
        return None
    sign, base16, base2, base8, base10 = match.groups()
    if base10:
        value = int(base10)
    elif base16:
        value = int(base16, 16)
    elif base2:
        value = int(base2, 2)
    else:
        value = int(base8, 8)
    if sign == "-":
        return -value if value <= _INT64 else None
    return value if value < (_INT64 if sign else _UINT64) else None


def json_number(number: float) -> int | float:
    """Return a float as it reads after a trip through encoding/json: 1.0 and 1e3 are integers."""
    if number != number or number in (float("inf"), float("-inf")):  # noqa: PLR0124
        name = "NaN" if number != number else "+Inf" if number > 0 else "-Inf"  # noqa: PLR0124
        raise ScalarError(f"json: unsupported value: {name}")
    if not number.is_integer() or abs(number) >= 1e21:
        return number
    if abs(number) < _EXACT:
        return int(number)
    digits, _, exponent = repr(number).partition("e")
    whole, _, fraction = digits.partition(".")
    if not exponent:
        return int(whole)
    return int(whole + fraction + "0" * (int(exponent) - len(fraction)))


def value(text: str) -> Scalar:
    """Read a plain, untagged scalar that stands as a value; refuse what JSON cannot hold."""
    resolved = resolve(text)
    return json_number(resolved) if isinstance(resolved, float) else resolved


def tagged(tag: str, text: str) -> Scalar:
    """Read a scalar with an explicit tag, the tag in its long form; floats stay floats."""
    if tag == _TAG + "binary":
        return _binary(text)
    if tag not in _RESOLVED_TAGS or tag == _TAG + "str":
        return text
    wanted = tag[len(_TAG) :]
    timestamp = wanted == "timestamp" and re.fullmatch(_TIMESTAMP, text)
    resolved = text if timestamp else resolve(text)
    kind = "timestamp" if timestamp else _kind(resolved)
    if kind == wanted:
        return resolved
    if kind == "int" and wanted == "float" and isinstance(resolved, int) and resolved < _INT64:
        return float(resolved)
    raise ScalarError(f"cannot decode !!{kind} `{text}` as a !!{wanted}")


def _kind(resolved: Scalar) -> str:
    """Return the short tag of a resolved scalar."""
    if resolved is None:
        return "null"
    if isinstance(resolved, bool):
        return "bool"
    return {int: "int", float: "float"}.get(type(resolved), "str")


def _binary(text: str) -> str:
    """Decode base64 as Go does; bytes that are no UTF-8 become U+FFFD one by one."""
    import base64

    packed = text.replace("\n", "").replace("\r", "")
    if not re.fullmatch(_BASE64, packed):
        raise ScalarError("!!binary value contains invalid base64 data")
    decoded = base64.b64decode(packed).decode("utf-8", "surrogateescape")
    return re.sub("[\ud800-\udfff]", "\ufffd", decoded)


def key(resolved: Scalar) -> str:
    """Return the JSON object key that a resolved scalar becomes (sigs.k8s.io/yaml)."""
    if isinstance(resolved, str):
        return resolved
    if isinstance(resolved, bool):
        return "true" if resolved else "false"
    if resolved is None:
        raise ScalarError("unsupported map key of type null")
    if isinstance(resolved, float):
        return _float32(resolved)
    if resolved >= _INT64:
        raise ScalarError(f"unsupported map key of type uint64: {resolved}")
    return str(resolved)


def _float32(number: float) -> str:
    """Write a float as Go's FormatFloat(f, 'g', -1, 32) does, with YAML's names for infinities."""
    import struct

    if number != number:  # noqa: PLR0124 - NaN
        return ".nan"
    try:
        single: float = struct.unpack("f", struct.pack("f", number))[0]
    except OverflowError:
        single = float("inf") if number > 0 else float("-inf")
    if abs(single) == float("inf"):
        return ".inf" if single > 0 else "-.inf"
    for precision in range(9):
        text = f"{single:.{precision}e}"
        if struct.unpack("f", struct.pack("f", float(text)))[0] == single:
            break
    mantissa, _, power = text.partition("e")
    exponent = int(power)
    sign = "-" if mantissa.startswith("-") else ""
    digits = mantissa.lstrip("-").replace(".", "").rstrip("0") or "0"
    if exponent < -4 or exponent >= 6:  # strconv: the threshold of the shortest form
        fraction = f".{digits[1:]}" if len(digits) > 1 else ""
        return f"{sign}{digits[0]}{fraction}e{exponent:+03d}"
    if exponent < 0:
        return f"{sign}0.{'0' * (-exponent - 1)}{digits}"
    if len(digits) <= exponent + 1:
        return sign + digits.ljust(exponent + 1, "0")
    return f"{sign}{digits[: exponent + 1]}.{digits[exponent + 1 :]}"


_TRUTH = frozenset(("true", "True", "TRUE", "false", "False", "FALSE"))


def surprise(text: str, resolved: Scalar) -> str:
    """Say how a plain scalar reads unlike it looks: "boolean", "octal", "number" or ""."""
    if isinstance(resolved, bool):
        return "" if text in _TRUTH else "boolean"
    if not isinstance(resolved, (int, float)):
        return ""
    plain = text.replace("_", "").lstrip("+-").lower()
    if plain.startswith("0o"):
        return "octal"
    if "_" in text or "e" in plain or plain.startswith(("0x", "0b")):
        return "number"
    # What is left are digits and a point; 0755 is 493, and beyond 64 bits digits get lost.
    if plain.isdigit() and len(plain) < _MOST_DIGITS and int(plain) != abs(resolved):
        return "octal" if plain[0] == "0" else "number"
    return ""
