"""CEL's tokens, literals and the nodes of its syntax tree, as cel-go reads them."""

from __future__ import annotations

import re
import sys
from typing import Any

# Kinds of nodes.
LITERAL, IDENT, SELECT, CALL, LIST, MAP, STRUCT, COMPREHENSION = range(8)

MAX_NODES = 20_000  # macros that copy their target can grow a tree without end

# The longest tree that fits the limits above needs several Python frames a level.
_FRAMES = 60_000


class deep:  # noqa: N801 - read as a verb: with deep()
    """Allow as many nested calls as the deepest tree within the limits needs."""

    __slots__ = ("_before",)

    def __init__(self) -> None:
        self._before = 0

    def __enter__(self) -> None:
        self._before = sys.getrecursionlimit()
        sys.setrecursionlimit(max(self._before, _FRAMES))

    def __exit__(self, *_: object) -> None:
        sys.setrecursionlimit(self._before)


class CelError(Exception):
    """Why the server does not take an expression; `offset` counts code points from 0."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset


class Node:
    """A part of an expression.

    LITERAL has `name` (its type) and `value`; IDENT `name`; SELECT `target`, the field as `name`,
    and `value` True for a presence test; CALL `name`, `target` (None for a global function) and
    `args`; LIST `args` and in `value` the indices of its optional elements; MAP entries of key,
    value, optional; STRUCT `name` and entries of field name, value, optional.
    `pos` is the offset in code points. The checker sets `type` and `overloads`, the cost estimator
    `size`, `entry` and `way`.
    """

    __slots__ = (
        "args",
        "entry",
        "height",
        "kind",
        "name",
        "overloads",
        "pos",
        "size",
        "target",
        "type",
        "value",
        "way",
    )

    def __init__(
        self,
        kind: int,
        pos: int,
        name: str = "",
        target: Any = None,
        args: Any = (),
        value: Any = None,
    ) -> None:
        self.kind = kind
        self.pos = pos
        self.name = name
        self.target = target
        self.args = args
        self.value = value
        self.height = 0
        self.type: Any = None
        self.overloads: Any = None
        self.size: Any = None
        self.entry: Any = None
        self.way: Any = None


class Comprehension(Node):
    """A loop that a macro stands for.

    For each of `target` it sets `var` (and `var2`) and, while `condition` holds, gives `accu`,
    at first `init`, the value of `step`; then its value is `result`.
    """

    __slots__ = ("accu", "condition", "init", "result", "step", "var", "var2")

    def __init__(
        self,
        pos: int,
        target: Node,
        names: tuple[str, str, str],
        init: Node,
        condition: Node,
        step: Node,
        result: Node,
    ) -> None:
        super().__init__(COMPREHENSION, pos, "", target)
        self.var, self.var2, self.accu = names
        self.init = init
        self.condition = condition
        self.step = step
        self.result = result


_ESCAPE = (
    r"""\\(?:[abfnrtv"'\\?`]|[0-3][0-7][0-7]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})"""
)
_TOKEN = re.compile(
    rf"""
    (?:[\t\ \r\n\f]++|//[^\n]*+)*+(?:
    (?P<text>[bB]?(?:
        \"\"\"(?:[^\\]|{_ESCAPE})*?\"\"\"|'''(?:[^\\]|{_ESCAPE})*?'''
        |\"[^\\\"\n\r]*(?:{_ESCAPE}[^\\\"\n\r]*)*\"|'[^\\'\n\r]*(?:{_ESCAPE}[^\\'\n\r]*)*'
        |[rR](?:\"\"\"(?s:.)*?\"\"\"|'''(?s:.)*?'''|\"[^\"\n\r]*\"|'[^'\n\r]*')))
    |(?P<name>[_a-zA-Z][_a-zA-Z0-9]*)
    |(?P<float>[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?)
    |(?P<uint>(?:0x[0-9a-fA-F]+|[0-9]+)[uU])
    |(?P<int>0x[0-9a-fA-F]+|[0-9]+)
    |(?P<quoted>`[a-zA-Z0-9_.\-/\ ]+`)
    |(?P<sign>==|!=|<=|>=|&&|\|\||[-+*/%<>!?:.,()\[\]{{}}])
    |(?P<end>\Z))
    """,
    re.VERBOSE,
)
_SPACE = re.compile(r"(?:[\t \r\n\f]++|//[^\n]*+)*+")
_KEYWORDS = frozenset(("true", "false", "null", "in"))
_ESCAPES = {
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
}
_ESCAPED = re.compile(_ESCAPE)
_LINE_END = re.compile(r"\r\n?")


def place(text: str, offset: int) -> tuple[int, int]:
    """Return line and column of an offset, both from 1, the column in code points."""
    before = text[:offset]
    return before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1


class Tokens:
    """The tokens of a text: kind (a sign or keyword is its own kind), text and offset of each."""

    __slots__ = ("kinds", "offsets", "texts")

    def __init__(self, text: str) -> None:
        kinds: list[str] = []
        texts: list[str] = []
        offsets: list[int] = []
        at = 0
        match = _TOKEN.match
        while True:
            found = match(text, at)
            if found is None:
                at = _after_space(text, at)
                raise CelError(_bad_token(text, at), at)
            kind = found.lastgroup
            assert kind is not None
            word = found.group(kind)
            if kind == "sign" or (kind == "name" and word in _KEYWORDS):
                kinds.append(word)
            else:
                kinds.append(kind)
            texts.append(word)
            at = found.end()
            offsets.append(at - len(word))
            if kind == "end":
                break
        self.kinds = kinds
        self.texts = texts
        self.offsets = offsets


def _after_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return at if found is None else found.end()


def _bad_token(text: str, at: int) -> str:
    char = text[at]
    if char in "\"'" or (char in "rRbB" and text[at + 1 : at + 2] in ("'", '"')):
        return "syntax error: this string does not end, or has an escape that CEL does not know"
    return f"syntax error: {char!r} cannot stand here"


def number(kind: str, text: str, pos: int) -> Node:
    if kind == "float":
        number = float(text)
        if number in (float("inf"), float("-inf")):
            raise CelError("syntax error: this double is too large", pos)
        return Node(LITERAL, pos, "double", value=number)
    digits = text[:-1] if kind == "uint" else text
    if len(digits) > 400:
        digits = digits.lstrip("-0x") or "0"
        if len(digits) > 400:
            raise CelError(f"syntax error: this {kind} does not fit 64 bits", pos)
    value = int(digits, 16 if "0x" in digits else 10)
    low, high = (0, (1 << 64) - 1) if kind == "uint" else (-(1 << 63), (1 << 63) - 1)
    if not low <= value <= high:
        raise CelError(f"syntax error: this {kind} does not fit 64 bits", pos)
    return Node(LITERAL, pos, kind, value=value)


def text_literal(token: str, pos: int) -> Node:
    """Return the literal of a string or of bytes."""
    is_bytes = token[0] in "bB"
    body = token[1:] if is_bytes else token
    raw = body[0] in "rR"
    if raw:
        body = body[1:]
    if "\r" in body:
        body = _LINE_END.sub("\n", body)
    quotes = 3 if len(body) >= 6 and body[:3] in ('"""', "'''") else 1
    body = body[quotes:-quotes]
    if is_bytes:
        return Node(LITERAL, pos, "bytes", value=_bytes(body, pos, raw=raw))
    if not raw and "\\" in body:
        body = _ESCAPED.sub(lambda found: _char(found.group(), pos), body)
    return Node(LITERAL, pos, "string", value=body)


def _char(escape: str, pos: int) -> str:
    letter = escape[1]
    if letter in _ESCAPES:
        return _ESCAPES[letter]
    if letter in "xXuU":
        code = int(escape[2:], base=16)
    elif letter in "0123":
        code = int(escape[1:], 8)
    else:
        return letter
    if 0xD800 <= code < 0xE000 or code > 0x10FFFF:
        raise CelError(f"syntax error: {escape} is no Unicode code point", pos)
    return chr(code)


def _bytes(body: str, pos: int, *, raw: bool) -> bytes:
    if raw or "\\" not in body:
        return body.encode("utf-8", "surrogatepass")
    parts: list[bytes] = []
    at = 0
    for found in _ESCAPED.finditer(body):
        parts.append(body[at : found.start()].encode("utf-8", "surrogatepass"))
        escape = found.group()
        if escape[1] in "uU":
            raise CelError(f"syntax error: {escape} cannot stand in bytes", pos)
        if escape[1] in "xX":
            parts.append(bytes((int(escape[2:], base=16),)))
        elif escape[1] in "0123":
            parts.append(bytes((int(escape[1:], 8),)))
        else:
            parts.append(_char(escape, pos).encode())
        at = found.end()
    parts.append(body[at:].encode("utf-8", "surrogatepass"))
    return b"".join(parts)
