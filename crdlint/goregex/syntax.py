"""Parse the text of patterns as Go's regexp/syntax does."""

from __future__ import annotations

from crdlint.goregex import RegexError, classes
from crdlint.goregex.tree import (
    ANY,
    ANY_NOT_NEWLINE,
    BAR,
    BEGIN_LINE,
    BEGIN_TEXT,
    CAPTURE,
    CLASS,
    DOT_NEWLINE,
    END_LINE,
    END_TEXT,
    FOLD,
    NO_WORD_BOUNDARY,
    NON_GREEDY,
    ONE_LINE,
    PAREN,
    PLUS,
    QUEST,
    REPEAT,
    STAR,
    WORD_BOUNDARY,
    Builder,
    Node,
)

_MAX_REPEAT = 1000
_ALNUM = frozenset("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
_DIGITS = frozenset("0123456789")
_OCTAL = frozenset("01234567")
_HEX = frozenset("0123456789abcdefABCDEF")
_SPECIAL = frozenset("(|)^$.[*+?{\\")
_C_ESCAPES = {"a": 7, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
_ASSERTIONS = {"A": BEGIN_TEXT, "b": WORD_BOUNDARY, "B": NO_WORD_BOUNDARY, "z": END_TEXT}
_OPERATORS = {"*": STAR, "+": PLUS, "?": QUEST}
_SIGNS = {"i": FOLD, "s": DOT_NEWLINE, "U": NON_GREEDY}


def parse(pattern: str) -> Node:
    """Return the tree of a pattern; raise RegexError where Go refuses it."""
    return _Parser(pattern).parse()


class _Parser(Builder):
    """One pass over the text of a pattern, as Go parses."""

    def refuse(self, message: str, start: int, end: int | None = None) -> RegexError:
        return RegexError(f"{message}: `{self.pattern[start:end]}`", start)

    def parse(self) -> Node:
        pattern, at, end = self.pattern, 0, len(self.pattern)
        last = -1  # where the repetition just before begins
        while at < end:
            repeat = -1
            c = pattern[at]
            if c not in _SPECIAL:
                self.literal(ord(c))
                at += 1
            elif c == "(":
                at = self.open(at)
            elif c == "|":
                self.concat()
                if not self.swap_bar():
                    self.op(BAR)
                at += 1
            elif c == ")":
                self.right_paren()
                at += 1
            elif c == "[":
                at = self.char_class(at)
            elif c in _OPERATORS:
                repeat, at = at, self.repeat(_OPERATORS[c], 0, 0, at, at + 1, last)
            elif c == "{":
                repeat, at = self.counted(at, last)
            elif c == "\\":
                at = self.escape(at)
            else:
                self.op(self.simple(c))
                at += 1
            last = repeat
        self.close()
        if len(self.stack) != 1:
            raise self.whole("missing closing )")
        return self.stack[0]

    def simple(self, c: str) -> int:
        if c == ".":
            return ANY if self.flags & DOT_NEWLINE else ANY_NOT_NEWLINE
        if self.flags & ONE_LINE:
            return BEGIN_TEXT if c == "^" else END_TEXT
        return BEGIN_LINE if c == "^" else END_LINE

    def repeat(self, kind: int, least: int, most: int, at: int, after: int, last: int) -> int:
        flags = self.flags
        if self.pattern[after : after + 1] == "?":
            after += 1
            flags ^= NON_GREEDY
        if last >= 0:
            raise self.refuse("invalid nested repetition operator", last, after)
        if not self.stack or self.stack[-1].kind >= PAREN:
            raise self.refuse("missing argument to repetition operator", at, after)
        node = self.new(kind)
        node.least, node.most, node.flags = least, most, flags
        node.sub = [self.stack[-1]]
        self.stack[-1] = node
        self.check_limits(node)
        if kind == REPEAT and (least >= 2 or most >= 2) and not _repeats_in_limit(node):
            raise self.refuse("invalid repeat count", at, after)
        return after

    def counted(self, at: int, last: int) -> tuple[int, int]:
        """Read `{2}`, `{2,}` or `{2,3}`, or a brace that stands for itself."""
        least, i = self.integer(at + 1)
        most = least
        if i >= 0 and self.pattern[i : i + 1] == ",":
            i += 1
            if self.pattern[i : i + 1] == "}":
                most = -1
            else:
                most, i = self.integer(i)
        if i < 0 or self.pattern[i : i + 1] != "}":
            self.literal(0x7B)
            return -1, at + 1
        i += 1
        if least > _MAX_REPEAT or most > _MAX_REPEAT or 0 <= most < least:
            raise self.refuse("invalid repeat count", at, i)
        return at, self.repeat(REPEAT, least, most, at, i, last)

    def integer(self, at: int) -> tuple[int, int]:
        """Return a decimal number and where it ends (-1: there is none)."""
        end = at
        while end < len(self.pattern) and self.pattern[end] in _DIGITS:
            end += 1
        if end == at or (self.pattern[at] == "0" and end > at + 1):
            return 0, -1
        return (int(self.pattern[at:end]) if end - at < 9 else 10**8), end

    def open(self, at: int) -> int:
        pattern = self.pattern
        if pattern[at + 1 : at + 2] != "?":
            self.op(PAREN).least = 1
            return at + 1
        name = 0
        if pattern.startswith("P<", at + 2) and len(pattern) > at + 4:
            name = at + 4
        elif pattern.startswith("<", at + 2) and len(pattern) > at + 3:
            name = at + 3
        if not name:
            return self.group_flags(at)
        end = pattern.find(">", at)
        if end < 0:
            raise self.refuse("invalid named capture", at)
        if end == name or not all(c == "_" or c in _ALNUM for c in pattern[name:end]):
            raise self.refuse("invalid named capture", at, end + 1)
        self.op(PAREN).least = 1
        return end + 1

    def group_flags(self, start: int) -> int:
        """Read `(?i)`, `(?i:`, `(?:` and the like."""
        flags, negative, saw = self.flags, False, False
        at = start + 2
        while at < len(self.pattern):
            c = self.pattern[at]
            at += 1
            if c == "m":  # the flag of Go is the opposite: one line
                flags = flags | ONE_LINE if negative else flags & ~ONE_LINE
                saw = True
            elif c in _SIGNS:
                flags = flags & ~_SIGNS[c] if negative else flags | _SIGNS[c]
                saw = True
            elif c == "-" and not negative:
                negative, saw = True, False
            elif c in ":)" and (saw or not negative):
                if c == ":":
                    self.op(PAREN)
                self.flags = flags
                return at
            else:
                break
        raise self.refuse("invalid or unsupported Perl syntax", start, at)

    def right_paren(self) -> None:
        self.close()
        if len(self.stack) < 2 or self.stack[-2].kind != PAREN:
            raise self.whole("unexpected )")
        inner = self.stack.pop()
        paren = self.stack.pop()
        self.flags = paren.flags
        if paren.least:
            paren.kind, paren.least, paren.sub = CAPTURE, 0, [inner]
            inner = paren
        self.push(inner)

    # -- escapes and classes

    def escape(self, at: int) -> int:
        pattern = self.pattern
        c = pattern[at + 1 : at + 2]
        if c in _ASSERTIONS:
            self.op(_ASSERTIONS[c])
            return at + 2
        if c == "C":
            raise self.refuse("invalid escape sequence", at, at + 2)
        if c == "Q":
            end = pattern.find("\\E", at + 2)
            for quoted in pattern[at + 2 : end if end >= 0 else None]:
                self.literal(ord(quoted))
            return end + 2 if end >= 0 else len(pattern)
        node = self.new(CLASS)
        node.flags = self.flags
        found = self.escaped_class(at)
        if found:
            node.ranges = found[0]
            self.push(node)
            return found[1]
        self.free += 1
        rune, after = self.escaped_rune(at)
        self.literal(rune)
        return after

    def escaped_class(self, at: int) -> tuple[list[tuple[int, int]], int] | None:
        r"""Read `\d`, `\W`, `\pL`, `\p{Greek}`; None where there is none."""
        c = self.pattern[at + 1 : at + 2]
        lower = c.lower()
        if c and lower in "dsw":
            ranges = classes.PERL[lower]
            if self.flags & FOLD:
                ranges = classes.fold(ranges)
            return (ranges if c == lower else classes.negate(ranges)), at + 2
        if c not in ("p", "P"):
            return None
        after = at + 3
        if self.pattern[at + 2 : at + 3] == "{":
            after = self.pattern.find("}", at) + 1
            if not after:
                raise self.refuse("invalid character class range", at)
            name = self.pattern[at + 3 : after - 1]
        else:
            name = self.pattern[at + 2 : at + 3]
        negative = c == "P"
        if name.startswith("^"):
            negative, name = not negative, name[1:]
        found = classes.named(name, bool(self.flags & FOLD))
        if found is None:
            raise self.refuse("invalid character class range", at, after)
        return (classes.negate(found) if negative else found), after

    def escaped_rune(self, at: int) -> tuple[int, int]:
        pattern = self.pattern
        if at + 1 >= len(pattern):
            raise RegexError("trailing backslash at end of expression: ``", at)
        c, i = pattern[at + 1], at + 2
        if c == "0" or (c in _OCTAL and pattern[i : i + 1] in _OCTAL and i < len(pattern)):
            while i < min(at + 4, len(pattern)) and pattern[i] in _OCTAL:
                i += 1
            return int(pattern[at + 1 : i], 8), i
        if c == "x" and i < len(pattern):
            return self.hexadecimal(at, i)
        if c in _C_ESCAPES:
            return _C_ESCAPES[c], i
        if c.isascii() and c not in _ALNUM:
            return ord(c), i
        raise self.refuse("invalid escape sequence", at, i)

    def hexadecimal(self, at: int, i: int) -> tuple[int, int]:
        pattern = self.pattern
        if pattern[i] != "{":
            digits = pattern[i : i + 2]
            if len(digits) == 2 and digits[0] in _HEX and digits[1] in _HEX:
                return int(digits, 16), i + 2
            raise self.refuse("invalid escape sequence", at, i + 2)
        rune, first = 0, i + 1
        for end in range(first, len(pattern)):
            c = pattern[end]
            if c == "}" and end > first:
                return rune, end + 1
            rune = rune * 16 + int(c, 16) if c in _HEX else classes.TOP + 1
            if rune > classes.TOP:
                raise self.refuse("invalid escape sequence", at, end + 1)
        raise self.refuse("invalid escape sequence", at)

    def char_class(self, start: int) -> int:
        pattern = self.pattern
        node = self.new(CLASS)
        node.flags = self.flags
        at = start + 1
        negative = pattern.startswith("^", at)
        at += negative
        first = at
        ranges: list[tuple[int, int]] = []
        while at == first or not pattern.startswith("]", at):
            found = self.class_group(at)
            if found:
                ranges += found[0]
                at = found[1]
                continue
            low, after = self.class_rune(at, start)
            high = low
            if pattern[after : after + 1] == "-" and pattern[after + 1 : after + 2] not in (
                "",
                "]",
            ):
                high, after = self.class_rune(after + 1, start)
                if high < low:
                    raise self.refuse("invalid character class range", at, after)
            single = [(low, high)]
            ranges += classes.fold(single) if self.flags & FOLD else single
            at = after
        ranges = classes.clean(ranges)
        node.ranges = classes.negate(ranges) if negative else ranges
        self.push(node)
        return at + 1

    def class_group(self, at: int) -> tuple[list[tuple[int, int]], int] | None:
        r"""Read `[:alpha:]`, `\d` or `\pL` in a class; None where there is none."""
        pattern = self.pattern
        if pattern.startswith("\\", at):
            return self.escaped_class(at)
        if not pattern.startswith("[:", at) or (end := pattern.find(":]", at + 2)) < 0:
            return None
        name = pattern[at + 2 : end]
        negative = name.startswith("^")
        ranges = classes.POSIX.get(name[negative:])
        if ranges is None:
            raise self.refuse("invalid character class range", at, end + 2)
        if self.flags & FOLD:
            ranges = classes.fold(ranges)
        return (classes.negate(ranges) if negative else ranges), end + 2

    def class_rune(self, at: int, start: int) -> tuple[int, int]:
        if at >= len(self.pattern):
            raise self.refuse("missing closing ]", start)
        if self.pattern[at] == "\\":
            return self.escaped_rune(at)
        return ord(self.pattern[at]), at + 1


def _repeats_in_limit(node: Node) -> bool:
    """Say whether no part is repeated more than a thousand times by all around it."""
    todo = [(node, _MAX_REPEAT)]
    while todo:
        part, left = todo.pop()
        if part.kind == REPEAT:
            times = part.least if part.most < 0 else part.most
            if part.most == 0:
                continue
            if times > left:
                return False
            left //= max(times, 1)
        todo += [(sub, left) for sub in part.sub]
    return True
