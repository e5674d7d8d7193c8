"""Hold CEL's functions against the API server's own libraries, on generated calls.

usage: CRDLINT_CELEVAL=.../celeval python tests/oracle/cel_functions_fuzz.py [CALLS] [SEED] [OVERLOAD]

celeval is built from tests/oracle/celeval. Each call is of a random overload, with arguments that
are made of the texts the overload is about and spoilt ones. Prints every disagreement; exit status 1
if there is one. Errors count as equal with equal messages.
"""

from __future__ import annotations

import json
import math
import os
import random
import re
import struct
import subprocess
import sys
from typing import Any

from crdlint.cel import namedformats, netaddr, quantity, semver, urls
from crdlint.cel.functions import IMPLEMENTATIONS
from crdlint.cel.library import _split
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
)

MAX_INT, MIN_INT = (1 << 63) - 1, -(1 << 63)
INTEGERS = [0, 1, 2, 3, -1, -2, 7, 64, 1000, 1 << 31, 1 << 53, MAX_INT, MIN_INT, 253402300800]
DOUBLES = [0.0, -0.0, 1.5, 0.1, 1e-5, 123456.0, 1e6, 1e21, 5e-324, math.inf, -math.inf, math.nan]
DOUBLES += [9.223372036854776e18, 1.8446744073709552e19, -1417.7275, 9.9999995]
# What the texts of an argument are made of, by a part of the overload's id.
TEXTS = {
    "duration": "0 1s 1h30m -1ns 0.1ns 1.5h .5s 2562047h47m16.854775807s 1d 1 -2562047h47m16.854775808s",
    "timestamp": "2023-07-14T10:30:45.123Z 0001-01-01T00:00:00Z 9999-12-31T23:59:59-01:00 "
    "2023-07-14T10:30:45+02:00 2024-02-30T00:00:00Z 2023-03-26T01:30:00Z 2023-07-14T24:00:00Z",
    "tz": "UTC Europe/Berlin America/New_York Asia/Kathmandu Nope/Zone ../x +01:00 -08:30 a:b 1:",
    "quantity": "0 1 -1.5 100m 1k 1Ki 1.5Gi 1e3 1E 8Ei 10Ei 9223372036854775808 1n 0.1u . + 1e 1Kii",
    "cidr": "10.1.2.3/8 0.0.0.0/0 1.2.3.4/33 2001:db8::1/32 ::ffff:1.2.3.4/96 1.2.3.4 ::/129 a/8",
    "ip": "1.2.3.4 127.0.0.1 169.254.1.1 224.0.0.1 ff02::1 fe80::1 ::1 2001:DB8::1 1.2.3 ::ffff:1.2.3.4",
    "semver": "1.2.3 1.0.0-alpha.1 1.0.0-1+b v1 01.2 1.2.3-01 18446744073709551616.0.0 1.2-a a.b.c",
    "url": "https://u:p@h:80/a%2Fb?x=1&y=%zz#f http://[::1%25e]/ /p mailto:a@b http://h:p/ //h rel http://h/%zz",
    "format-": "a a-b a.b A -a a- example.com/name 2020-01-01 YQ== 2020-01-01T00:00:00Z dns1123Label uri",
    "find": "a a* a+? (a|ab)(c|bcd)* ^ $ [a-c]+ (?i)ABC ( [ (|a)* .*?b",
    "matches": "a a* ^a$ [a-c]+ (?i)ABC ( [ a**",
}
CLAUSES = [
    "%s",
    "%d",
    "%f",
    "%.2f",
    "%e",
    "%x",
    "%X",
    "%o",
    "%b",
    "%%",
    "%",
    "%.",
    "%q",
    "a",
    "%.300f",
]
SPOIL = "aAéß😀\t 09.-+:/%[]eEinukMG"
OPERATORS = re.compile("_(.{1,2})_")


class Call:
    """The text of an expression, and its value or the message of its error."""

    def __init__(self, text: str, value: Any = None, error: str | None = None) -> None:
        self.text = text
        self.value = value
        self.error = error


def called(overload: str, text: str, *args: Call) -> Call:
    for arg in args:
        if arg.error is not None:
            return Call(text, error=arg.error)
    try:
        return Call(text, IMPLEMENTATIONS[overload](*(arg.value for arg in args)))
    except EvalError as error:
        return Call(text, error=error.message)


def literal(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Uint):
        return f"{int(value)}u"
    if isinstance(value, float):
        if not math.isfinite(value):
            return f'double("{value}" + "")'
        return repr(value) if re.search("[.e]", repr(value)) else f"{value!r}.0"
    if isinstance(value, bytes):
        return 'b"' + "".join(f"\\x{byte:02x}" for byte in value) + '"'
    if isinstance(value, str):
        return (
            '"'
            + "".join(f"\\U{ord(c):08x}" if c in '"\\\n\t\r' or c > "~" else c for c in value)
            + '"'
        )
    return str(value)


class Maker:
    """Makes values of a type as expressions."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def text(self, about: str) -> str:
        rng = self.rng
        for part, words in TEXTS.items():
            if part in about:
                text = rng.choice(words.split(" "))
                break
        else:
            text = "".join(rng.choice("aab" + SPOIL) for _ in range(rng.randrange(7)))
        if rng.random() < 0.2:
            at = rng.randrange(len(text) + 1)
            text = text[:at] + rng.choice(SPOIL) + text[at + rng.randrange(2) :]
        return text

    def plain(self, type_: str, about: str) -> Any:
        rng = self.rng
        small = rng.randrange(-1, 7)
        if type_ == "int":
            return small if rng.random() < 0.6 else rng.choice(INTEGERS)
        if type_ == "uint":
            return Uint(abs(small) if rng.random() < 0.6 else (1 << 64) - 1)
        if type_ == "double":
            return rng.choice([*DOUBLES, round(rng.uniform(-2000, 2000), 5)])
        if type_ == "bool":
            return rng.random() < 0.5
        if type_ == "bytes":
            return rng.choice([b"", b"ab", "é".encode(), b"\xff"])
        return self.text(about)

    def value(self, type_: str, about: str = "") -> Call:
        rng = self.rng
        if type_ in ("int", "uint", "double", "bool", "bytes", "string"):
            value = self.plain(type_, about)
            shown = literal(value)
            return Call(f'({shown} + "")' if type_ == "string" else shown, value)
        if type_ == "Format":
            name = rng.choice(list(namedformats.FORMATS))
            return Call(f"format.{name}()", namedformats.FORMATS[name])
        if type_ == "dyn":
            inner = self.value(rng.choice(["int", "string", "double", "timestamp", "list(int)"]))
            return Call(f"dyn({inner.text})", inner.value, inner.error)
        if type_ == "type":
            return Call("int", TypeValue("int"))
        if type_.startswith("opt("):
            inner = self.value("string")
            return rng.choice(
                [
                    Call("optional.none()", NONE),
                    Call(f"optional.of({inner.text})", Optional(inner.value)),
                ]
            )
        if type_.startswith("map("):
            keys = {self.plain("int", ""): self.value("string") for _ in range(rng.randrange(3))}
            shown = ", ".join(f"{key}: {value.text}" for key, value in keys.items())
            return Call(
                f"{{{shown}}}", MapValue([(key, value.value) for key, value in keys.items()])
            )
        if type_.startswith("list("):
            return self.sequence(type_[5:-1])
        name = type_.lower()
        text = self.text(name)
        return called(f"string_to_{name}", f'{name}({literal(text)} + "")', Call("", text))

    def sequence(self, type_: str) -> Call:
        count = self.rng.choice([0, 1, 2, 3, 4, 30])
        items = [self.value(type_) for _ in range(count)]
        items = [self.rng.choice(items) for _ in items]
        error = next((item.error for item in items if item.error is not None), None)
        return Call(
            f"[{', '.join(item.text for item in items)}]", [item.value for item in items], error
        )

    def call(self, name: str, overload: str, signature: str) -> Call:
        receiver, member, rest = signature.partition(".(")
        types = [receiver, *_split(rest[:-1])] if member else _split(signature[1:-1])
        param = self.rng.choice(["int", "string", "double", "bytes", "timestamp", "Quantity"])
        args = []
        for i, type_ in enumerate(types):
            about = overload if i or len(types) == 1 or "_tz" not in overload else ""
            if ("find" in overload or "matches" in overload) and not i:
                about = ""
            args.append(self.value(re.sub(r"\b[ABKVT]\b", param, type_), about))
        if overload == "string_format":
            args = self.formatted()
        texts = [arg.text for arg in args]
        operator = OPERATORS.fullmatch(name)
        if operator:
            text = f"({texts[0]} {operator[1]} {texts[1]})"
        elif name in ("!_", "-_"):
            text = f"{name[0]}({texts[0]})"
        elif name == "@in":
            text = f"({texts[0]} in {texts[1]})"
        elif member:
            text = f"({texts[0]}).{name}({', '.join(texts[1:])})"
        else:
            text = f"{name}({', '.join(texts)})"
        return called(overload, text, *args)

    def formatted(self) -> list[Call]:
        text = "".join(self.rng.choice(CLAUSES) for _ in range(self.rng.randrange(1, 4)))
        kinds = [
            "int",
            "string",
            "double",
            "bytes",
            "duration",
            "list(double)",
            "bool",
            "map(",
            "type",
        ]
        items = [self.value(self.rng.choice(kinds)) for _ in range(text.count("%"))]
        error = next((item.error for item in items if item.error is not None), None)
        shown = ", ".join(f"dyn({item.text})" for item in items)
        return [Call(f'("{text}" + "")', text), Call(f"[{shown}]", [i.value for i in items], error)]


OPAQUE = {
    quantity.Quantity: "quantity",
    urls.Url: "url",
    netaddr.Ip: "ip",
    netaddr.Cidr: "cidr",
    semver.Semver: "semver",
    namedformats.NamedFormat: "format",
}


def encoded(value: Any) -> list[Any]:
    """Return a value as celeval writes it."""
    for kind, name in OPAQUE.items():
        if isinstance(value, kind):
            return [name, str(value)]
    if value is None:
        return ["null"]
    if isinstance(value, (bool, str)):
        return [type(value).__name__.replace("str", "string"), value]
    if isinstance(value, int):
        return ["uint" if isinstance(value, Uint) else "int", str(int(value))]
    if isinstance(value, float):
        return ["double", "nan" if math.isnan(value) else struct.pack(">d", value).hex()]
    if isinstance(value, bytes):
        return ["bytes", value.hex()]
    if isinstance(value, Duration):
        return ["duration", str(value.nanos)]
    if isinstance(value, Timestamp):
        return ["timestamp", "{}.{:09d}".format(*divmod(value.nanos, 10**9))]
    if isinstance(value, TypeValue):
        return ["type", value.name]
    if isinstance(value, Optional):
        return ["optional", encoded(value.value)] if value.has_value else ["optional"]
    if isinstance(value, list):
        return ["list", *map(encoded, value)]
    return ["map", sorted(json.dumps([encoded(key), encoded(value.find(key))]) for key in value)]


def plain_maps(value: Any) -> Any:
    """Return what celeval wrote with the entries of maps written in Python's way."""
    if not isinstance(value, list):
        return value
    if value[:1] == ["map"]:
        return ["map", sorted(json.dumps(plain_maps(json.loads(entry))) for entry in value[1])]
    return [plain_maps(item) for item in value]


def known_to_differ(call: Call, theirs: list[Any]) -> bool:
    """Tell of what is not the functions' doing: the compiler's verdicts, limits, and its panics."""
    return (
        theirs[0] in ("compile", "program")
        or (theirs[0] == "error" and ("cost limit" in theirs[1] or "internal error" in theirs[1]))
        or call.text.endswith(("in [])", "([]).sum()"))
    )


def main() -> int:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    maker = Maker(random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 1))
    wanted = sys.argv[3] if len(sys.argv) > 3 else ""
    lines = [line.split(" ")[:3] for line in OVERLOADS.splitlines()]
    lines = [
        line
        for line in lines
        if line[1] in IMPLEMENTATIONS
        and wanted in line[1]
        and not line[0].startswith(("@sort", "cel.@"))
    ]
    calls = [maker.call(*maker.rng.choice(lines)) for _ in range(count)]
    # Go writes such exponents out, digit by digit.
    calls = [call for call in calls if not re.search("[eE][+-]?[0-9]{5}", call.text)]
    given = "\n".join(json.dumps(call.text) for call in calls)
    done = subprocess.run(
        [os.environ["CRDLINT_CELEVAL"]], input=given.encode(), capture_output=True, check=True
    )
    wrong = compared = 0
    for call, line in zip(calls, done.stdout.decode().splitlines(), strict=True):
        theirs = plain_maps(json.loads(line))
        ours = encoded(call.value) if call.error is None else ["error", call.error]
        if known_to_differ(call, theirs):
            continue
        compared += 1
        if ours != theirs:
            wrong += 1
            print(f"{call.text}\n  server  {theirs}\n  crdlint {ours}")
    print(f"{compared} of {len(calls)} calls compared, {wrong} differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
