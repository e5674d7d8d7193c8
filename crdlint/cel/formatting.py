"""The function format of CEL: texts made of clauses such as %s and %.2f."""

from __future__ import annotations

from crdlint.cel.conversions import to_string
from crdlint.cel.gotext import atoi, positional, quote, shortest, special
from crdlint.cel.values import Duration, EvalError, Timestamp, type_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_DIGITS = "0123456789"
_DEFAULT_PRECISION = 6
_SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
_SPECIAL_TEXTS = frozenset(("NaN", "Infinity", "-Infinity"))
_MAX_DEPTH = 400


def format_text(text: str, args: list[Any]) -> str:
    """Return a text with an argument in place of each clause.

    Raises:
        EvalError: an argument is missing, or a clause is none or is not for its argument.
    """
    parts = text.split("%")
    out = [parts[0]]
    at, used = 1, 0
    while at < len(parts):
        rest = parts[at]
        at += 1
        if not rest and at < len(parts):  # %% stands for one
            out += "%", parts[at]
            at += 1
            continue
        if used >= len(args):
            raise EvalError(f"index {used} out of range")
        if not rest:
            raise EvalError("unexpected end of string")
        arg = args[used]
        used += 1
        if isinstance(arg, EvalError):
            raise arg
        letter, precision, after = _clause(rest, has_more=at < len(parts))
        try:
            out += _CLAUSES[letter](arg, precision), after
        except EvalError as error:
            raise EvalError(f"error during formatting: {error.message}") from None
    return "".join(out)


def _clause(rest: str, *, has_more: bool) -> tuple[str, int | None, str]:
    """Read the letter of a clause, its precision and what comes after it."""
    precision = None
    if rest[0] == ".":
        digits = rest[1 : len(rest) - len(rest[1:].lstrip(_DIGITS))]
        rest = rest[1 + len(digits) :]
        if not rest and not has_more:
            raise _bad("error while parsing precision: could not find end of precision specifier")
        try:
            precision = atoi(digits)
        except EvalError as error:
            why = f"error while converting precision to integer: {error.message}"
            raise _bad(f"error while parsing precision: {why}") from None
    # What Go looks at is a byte.
    letter = chr(rest[0].encode("utf-8", "surrogatepass")[0]) if rest else "%"
    if letter not in _CLAUSES:
        raise _bad(f'unrecognized formatting clause "{letter}"')
    return letter, precision, rest[1:]


def _bad(why: str) -> EvalError:
    return EvalError(f"could not parse formatting clause: {why}")


def _not_for(rule: str, arg: Any) -> EvalError:
    return EvalError(f"{rule}, was given {type_name(arg)}")


# Clauses.


def _string(arg: Any, _: int | None = None) -> str:
    kind = type_name(arg)
    if kind in ("list", "map"):
        return _nested(arg, 0)
    if kind not in _STRINGS:
        raise _not_for(
            "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, "
            "types, durations, and timestamps",
            arg,
        )
    if kind == "null_type":
        return "null"
    try:
        return to_string(arg)
    except EvalError as error:
        why = f"could not convert argument {quote(error.message)} to string"
        raise EvalError(why) from None


_STRINGS = frozenset(
    (
        "int",
        "uint",
        "double",
        "bool",
        "string",
        "google.protobuf.Timestamp",
        "bytes",
        "google.protobuf.Duration",
        "type",
        "null_type",
    )
)


def _nested(value: Any, depth: int) -> str:
    """Write a list or a map with its elements."""
    if depth > _MAX_DEPTH:
        raise EvalError("the value nests too deeply to be formatted")
    if isinstance(value, list):
        return f"[{', '.join([_element(item, depth) for item in value])}]"
    pairs = []
    for key in value:
        if type_name(key) not in ("string", "bool", "int", "uint"):
            raise EvalError(f"no formatting function for map key of type {type_name(key)}")
        pairs.append((_element(key, depth), _element(value.find(key), depth)))
    return f"{{{', '.join(f'{key}:{text}' for key, text in sorted(pairs, key=_key))}}}"


def _key(pair: tuple[str, str]) -> str:
    return pair[0]


def _element(value: Any, depth: int) -> str:
    """Write a value as an expression would."""
    if isinstance(value, EvalError):
        raise value
    kind = type_name(value)
    if kind in ("list", "map"):
        return _nested(value, depth + 1)
    if kind not in _STRINGS:
        raise EvalError(f"no formatting function for {kind}")
    if kind == "double":
        text = special(value)
        return quote(text) if text else f"{value:.6f}"
    text = _string(value)
    if isinstance(value, Timestamp):
        return f"timestamp({quote(text)})"
    if isinstance(value, Duration):
        return f"duration({quote(text)})"
    return {"string": quote(text), "bytes": f"b{quote(text)}"}.get(kind, text)


def _decimal(arg: Any, _: int | None) -> str:
    if type_name(arg) not in ("int", "uint"):
        raise _not_for("decimal clause can only be used on integers", arg)
    return str(int(arg))


def _number(arg: Any, clause: str) -> float:
    if isinstance(arg, str) and arg in _SPECIAL_TEXTS:
        return float(arg)
    if not isinstance(arg, float):
        raise _not_for(f"{clause} clause can only be used on doubles", arg)
    return arg


def _no_number(number: float) -> str:
    """Return what stands for infinities and NaN, or ""."""
    return special(number).replace("+", "").replace("Inf", "∞")


def _fixed(arg: Any, precision: int | None) -> str:
    number = _number(arg, "fixed-point")
    if precision is None:
        precision = _DEFAULT_PRECISION
    if precision >= _NO_PRECISION:
        return "%!(NOVERB)"
    text = _no_number(number)
    if text:
        return text
    # The library takes a precision apart: 8 bits of it for what is there at least, and 16, with a
    # sign, for what is there at most.
    least, most = precision & 0xFF, (precision + 0x8000) % 0x10000 - 0x8000
    size = abs(number)
    text = positional(*shortest(size)) if most < 0 else f"{size:.{most}f}"
    whole, _, fraction = text.partition(".")
    fraction = fraction.rstrip("0").ljust(least, "0")
    sign = "-" if number < 0 else ""
    return f"{sign}{int(whole):,}.{fraction}" if fraction else f"{sign}{int(whole):,}"


_NO_PRECISION = 10_000_010  # from here on Go's parser of formats reads no number


def _scientific(arg: Any, width: int | None) -> str:
    """Write a number with seven digits; what is meant as its precision is taken as its width."""
    number = _number(arg, "scientific")
    if width is None:
        width = _DEFAULT_PRECISION
    if width >= _NO_PRECISION:
        return "%!(NOVERB)"
    text = _no_number(number)
    if not text:
        mantissa, _, power = f"{number:.6e}".replace("e+", "e").partition("e")
        sign = "-" if number < 0 else ""
        text = f"{sign}{mantissa.lstrip('-')}\u00d710{power.translate(_SUPERSCRIPTS)}"
    return text.rjust(width & 0xFFFF)


def _binary(arg: Any, _: int | None) -> str:
    if type_name(arg) not in ("int", "uint", "bool"):
        raise _not_for("only integers and bools can be formatted as binary", arg)
    return f"{int(arg):b}"


def _hex(arg: Any, _: int | None) -> str:
    if isinstance(arg, str):
        arg = arg.encode("utf-8", "surrogatepass")
    if isinstance(arg, bytes):
        return arg.hex()
    if type_name(arg) not in ("int", "uint"):
        raise _not_for("only integers, byte buffers, and strings can be formatted as hex", arg)
    return f"{int(arg):x}"


def _upper_hex(arg: Any, _: int | None) -> str:
    return _hex(arg, None).upper()


def _octal(arg: Any, _: int | None) -> str:
    if type_name(arg) not in ("int", "uint"):
        raise _not_for("octal clause can only be used on integers", arg)
    return f"{int(arg):o}"


_CLAUSES: dict[str, Callable[[Any, int | None], str]] = {
    "s": _string,
    "d": _decimal,
    "f": _fixed,
    "e": _scientific,
    "b": _binary,
    "x": _hex,
    "X": _upper_hex,
    "o": _octal,
}
