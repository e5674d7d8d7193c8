"""Build the tree of a pattern as Go's regexp/syntax does, limits and factoring included."""

from __future__ import annotations

from crdlint.goregex import RegexError, classes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator

# Kinds of nodes, in Go's order (a class is merged into the greater of two).
EMPTY, LITERAL, CLASS, ANY_NOT_NEWLINE, ANY = 2, 3, 4, 5, 6
BEGIN_LINE, END_LINE, BEGIN_TEXT, END_TEXT, WORD_BOUNDARY, NO_WORD_BOUNDARY = 7, 8, 9, 10, 11, 12
CAPTURE, STAR, PLUS, QUEST, REPEAT, CONCAT, ALTERNATE = 13, 14, 15, 16, 17, 18, 19
PAREN, BAR = 128, 129  # stand on the stack only

# Flags
FOLD, DOT_NEWLINE, ONE_LINE, NON_GREEDY = 1, 8, 16, 32

_MAX_HEIGHT = 1000
_MAX_SIZE = (128 << 20) // 40  # instructions
_MAX_RUNES = (128 << 20) // 4


_CHAR_CLASS = frozenset((CLASS, ANY_NOT_NEWLINE, ANY))


class Node:
    """A part of a parsed pattern: `kind`, `runes` of a literal, `ranges` of a class, `sub`."""

    __slots__ = ("flags", "height", "kind", "least", "most", "ranges", "runes", "size", "sub")

    def __init__(self, kind: int, flags: int) -> None:
        self.kind = kind
        self.flags = flags
        self.runes: list[int] = []
        self.ranges: list[tuple[int, int]] = []
        self.sub: list[Node] = []
        self.least = self.most = 0  # of a repeat (-1: no end); of a parenthesis: captures or not
        self.height = self.size = 0  # 0: not known


def _is_class(node: Node) -> bool:
    return node.kind in _CHAR_CLASS or (node.kind == LITERAL and len(node.runes) == 1)


def _same(one: Node, other: Node) -> bool:
    """Say whether two leading parts are the same (only classes, also repeated, matter)."""
    if one.kind != other.kind:
        return False
    if one.kind == REPEAT:
        return (
            (one.flags ^ other.flags) & NON_GREEDY == 0
            and (one.least, one.most) == (other.least, other.most)
            and _is_class(one.sub[0])
            and _same(one.sub[0], other.sub[0])
        )
    if one.kind in (LITERAL, CLASS):
        return (
            (one.flags ^ other.flags) & FOLD == 0
            and one.runes == other.runes
            and one.ranges == other.ranges
        )
    return one.kind in _CHAR_CLASS


def _can_factor(node: Node) -> bool:
    if node.kind == REPEAT:
        return node.least == node.most and _is_class(node.sub[0])
    return _is_class(node)


def _clean(node: Node) -> None:
    """Clean a class before it takes part in an alternation."""
    if node.kind != CLASS:
        return
    node.ranges = classes.clean(node.ranges)
    if node.ranges == [(0, classes.TOP)]:
        node.kind, node.ranges = ANY, []
    elif node.ranges == [(0, 9), (11, classes.TOP)]:
        node.kind, node.ranges = ANY_NOT_NEWLINE, []


def rune_ranges(rune: int, flags: int) -> list[tuple[int, int]]:
    """Return what a rune of a literal matches: with FOLD all that folds to the same."""
    if flags & FOLD:
        return classes.clean((other, other) for other in classes.orbit(rune))
    return [(rune, rune)]


def _literal_ranges(node: Node) -> list[tuple[int, int]]:
    return rune_ranges(node.runes[0], node.flags)


def _has_newline(node: Node) -> bool:
    if node.kind == LITERAL:
        return node.runes == [10]
    return node.kind == ANY or any(low <= 10 <= high for low, high in node.ranges)


def _merge(into: Node, other: Node) -> None:
    """Let a class (the greater kind of the two) match what another class matches too."""
    if into.kind == ANY_NOT_NEWLINE:
        if _has_newline(other):
            into.kind = ANY
    elif into.kind == CLASS:
        more = _literal_ranges(other) if other.kind == LITERAL else other.ranges
        into.ranges = into.ranges + more  # lists are shared
    elif into.kind == LITERAL:
        if other.runes == into.runes and other.flags == into.flags:
            return
        into.ranges = _literal_ranges(into) + _literal_ranges(other)
        into.kind, into.runes = CLASS, []


class Builder:
    """The stack of parsed parts that a parser pushes to."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.flags = ONE_LINE
        self.stack: list[Node] = []
        # Go counts the nodes it allocates, less those it uses again: its limits depend on it.
        self.free = 0
        self.nodes = 0
        self.runes = 0
        self.repeats = 1
        self.sizes = False
        self.heights = False

    # -- nodes and limits

    def new(self, kind: int) -> Node:
        """Return a new node, counted as Go counts what it allocates."""
        if self.free:
            self.free -= 1
        else:
            self.nodes += 1
        return Node(kind, 0)

    def check_limits(self, node: Node) -> None:
        """Refuse a pattern that has grown beyond Go's limits with this node."""
        if self.runes > _MAX_RUNES:
            raise self.whole("expression too large")
        if node.kind == REPEAT and not self.sizes:
            times = max(node.least if node.most == -1 else node.most, 1)
            product = self.repeats * times
            self.repeats = _MAX_SIZE if times > _MAX_SIZE // self.repeats else product
        if not self.sizes and self.nodes >= _MAX_SIZE // self.repeats:
            self.sizes = True
            for other in self.stack:
                self.check_size(other)
        if self.sizes:
            self.check_size(node)
        if self.nodes >= _MAX_HEIGHT:
            if not self.heights:
                self.heights = True
                for other in self.stack:
                    self.check_height(other)
            self.check_height(node)

    def check_size(self, node: Node) -> None:
        """Refuse a node that takes too many instructions."""
        node.size = 0
        for part in _unknown(node, "size"):
            part.size = max(1, _size(part))
        if node.size > _MAX_SIZE:
            raise self.whole("expression too large")

    def check_height(self, node: Node) -> None:
        """Refuse a node with too many others one below the other."""
        node.height = 0
        for part in _unknown(node, "height"):
            part.height = 1 + max((sub.height for sub in part.sub), default=0)
        if node.height > _MAX_HEIGHT:
            raise self.whole("expression nests too deeply")

    def whole(self, message: str) -> RegexError:
        """Return an error that quotes the whole pattern."""
        return RegexError(f"{message}: `{self.pattern}`", 0)

    # -- the stack

    def push(self, node: Node) -> None:
        """Push a node; a class of one letter becomes a literal."""
        self.runes += len(node.runes) or 2 * len(node.ranges)
        rune = -1
        if node.kind == CLASS and 0 < len(node.ranges) <= 2:
            rune, folded = _single(node.ranges)
        if rune >= 0:
            flags = self.flags | FOLD if folded else self.flags & ~FOLD
            if self.join(rune, flags):
                return
            node.kind, node.runes, node.ranges, node.flags = LITERAL, [rune], [], flags
        else:
            self.join(-1, 0)
        self.stack.append(node)
        self.check_limits(node)

    def join(self, rune: int, flags: int) -> bool:
        """Join two literals on top of the stack; say whether the rune took the second's place."""
        stack = self.stack
        if len(stack) < 2:
            return False
        last, before = stack[-1], stack[-2]
        if last.kind != LITERAL or before.kind != LITERAL or (last.flags ^ before.flags) & FOLD:
            return False
        before.runes += last.runes
        if rune >= 0:
            last.runes, last.flags = [rune], flags
            return True
        stack.pop()
        self.free += 1
        return False

    def literal(self, rune: int) -> None:
        """Push a rune that stands for itself."""
        node = self.new(LITERAL)
        node.flags = self.flags
        node.runes = [classes.orbit(rune)[0] if self.flags & FOLD else rune]
        self.push(node)

    def op(self, kind: int) -> Node:
        """Push a node that is known by its kind alone."""
        node = self.new(kind)
        node.flags = self.flags
        self.push(node)
        return node

    def top(self) -> list[Node]:
        """Take what stands above the topmost `|` or `(` off the stack."""
        at = len(self.stack)
        while at and self.stack[at - 1].kind < PAREN:
            at -= 1
        taken = self.stack[at:]
        del self.stack[at:]
        return taken

    def concat(self) -> None:
        """Make one node of what stands above the topmost `|` or `(`."""
        self.join(-1, 0)
        subs = self.top()
        self.push(self.whole_of(subs, CONCAT) if subs else self.new(EMPTY))

    def alternate(self) -> None:
        """Make one node of the alternatives above the topmost `(`."""
        subs = self.top()
        _clean(subs[-1])
        self.push(self.whole_of(subs, ALTERNATE))

    def swap_bar(self) -> bool:
        """Put what stands above a `|` below it; say whether there was one."""
        stack = self.stack
        if len(stack) < 2 or stack[-2].kind != BAR:
            return False
        if len(stack) >= 3 and _is_class(stack[-1]) and _is_class(stack[-3]):
            small, great = stack.pop(), stack[-2]
            if small.kind > great.kind:
                small, great = great, small
                stack[-2] = great
            _merge(great, small)
            self.free += 1
            return True
        if len(stack) >= 3:
            _clean(stack[-3])
        stack[-1], stack[-2] = stack[-2], stack[-1]
        return True

    def close(self) -> None:
        """Finish a group, or the whole pattern."""
        self.concat()
        if self.swap_bar():
            self.stack.pop()
        self.alternate()

    def whole_of(self, subs: list[Node], kind: int) -> Node:
        """Make one node of several, without recursion however deep the factoring goes."""
        running = [self.collapse(subs, kind)]
        node: Node | None = None
        while running:
            try:
                inner = running[-1].send(node) if node else next(running[-1])
            except StopIteration as done:
                node = done.value
                running.pop()
            else:
                node = None
                running.append(self.collapse(inner, ALTERNATE))
        assert node is not None
        return node

    def collapse(self, subs: list[Node], kind: int) -> Generator[list[Node], Node, Node]:
        """Make one node of several; yields lists of alternatives and is sent the node of each."""
        if len(subs) == 1:
            return subs[0]
        node = self.new(kind)
        for sub in subs:
            if sub.kind == kind:
                node.sub += sub.sub
                self.free += 1
            else:
                node.sub.append(sub)
        if kind == ALTERNATE:
            node.sub = yield from self.factor(node.sub)
            if len(node.sub) == 1:
                self.free += 1
                return node.sub[0]
        return node

    def factor(self, subs: list[Node]) -> Generator[list[Node], Node, list[Node]]:
        """Take common beginnings out of alternatives (Go's size and height count the result)."""
        if len(subs) < 2:
            return subs
        subs = yield from self.factor_literals(subs)
        subs = yield from self.factor_classes(subs)
        out: list[Node] = []
        run: list[Node] = []
        for sub in [*subs, None]:
            if sub is not None and _is_class(sub):
                run.append(sub)
                continue
            if len(run) > 1:
                run = [self.merge_run(run)]
            out += run
            run = []
            if sub is not None:
                out.append(sub)
        return [
            sub
            for sub, after in zip(out, [*out[1:], None], strict=True)
            if after is None or sub.kind != EMPTY or after.kind != EMPTY
        ]

    def merge_run(self, run: list[Node]) -> Node:
        """Make one class of several that are alternatives."""
        great = 0
        for j, sub in enumerate(run):
            best = run[great]
            size = len(sub.runes) + 2 * len(sub.ranges)
            if best.kind < sub.kind or (
                best.kind == sub.kind and len(best.runes) + 2 * len(best.ranges) < size
            ):
                great = j
        run[0], run[great] = run[great], run[0]
        for sub in run[1:]:
            _merge(run[0], sub)
            self.free += 1
        _clean(run[0])
        return run[0]

    def factor_literals(self, subs: list[Node]) -> Generator[list[Node], Node, list[Node]]:
        """Take literal text out of alternatives next to one another that begin with it."""
        out: list[Node] = []
        start, flags = 0, 0
        text: list[int] = []
        for i in range(len(subs) + 1):
            mine: list[int] = []
            my_flags = 0
            if i < len(subs):
                first = subs[i]
                if first.kind == CONCAT and first.sub:
                    first = first.sub[0]
                if first.kind == LITERAL:
                    mine, my_flags = first.runes, first.flags & FOLD
                if my_flags == flags:
                    same = 0
                    while same < min(len(text), len(mine)) and text[same] == mine[same]:
                        same += 1
                    if same:
                        text = text[:same]
                        continue
            if i - start > 1:
                prefix = self.new(LITERAL)
                prefix.flags, prefix.runes = flags, list(text)
                for j in range(start, i):
                    subs[j] = self.without_literal(subs[j], len(text))
                    self.check_limits(subs[j])
                suffix = yield subs[start:i]
                node = self.new(CONCAT)
                node.sub = [prefix, suffix]
                out.append(node)
            else:
                out += subs[start:i]
            start, text, flags = i, mine, my_flags
        return out

    def factor_classes(self, subs: list[Node]) -> Generator[list[Node], Node, list[Node]]:
        """Take a class out of alternatives next to one another that begin with it."""
        out: list[Node] = []
        start = 0
        first: Node | None = None
        for i in range(len(subs) + 1):
            mine: Node | None = None
            if i < len(subs):
                mine = _leading(subs[i])
                if first and mine and _can_factor(first) and _same(first, mine):
                    continue
            if i - start > 1 and first:
                for j in range(start, i):
                    subs[j] = self.without_first(subs[j], j != start)
                    self.check_limits(subs[j])
                suffix = yield subs[start:i]
                node = self.new(CONCAT)
                node.sub = [first, suffix]
                out.append(node)
            else:
                out += subs[start:i]
            start, first = i, mine
        return out

    def without_literal(self, node: Node, n: int) -> Node:
        """Return a node without the first runes of the text it begins with."""
        first = node.sub[0] if node.kind == CONCAT and node.sub else node
        if first.kind == LITERAL:
            first.runes = first.runes[n:]
            if not first.runes:
                first.kind = EMPTY
        if first is node or first.kind != EMPTY:
            return node
        self.free += 1
        return self.without_sub(node)

    def without_first(self, node: Node, reuse: bool) -> Node:
        """Return a node without its first part."""
        self.free += reuse
        if node.kind == CONCAT and node.sub:
            return self.without_sub(node)
        return self.new(EMPTY)

    def without_sub(self, node: Node) -> Node:
        """Return a concatenation without its first part."""
        node.sub = node.sub[1:]
        if len(node.sub) == 1:
            self.free += 1
            return node.sub[0]
        return node


def _single(ranges: list[tuple[int, int]]) -> tuple[int, bool]:
    """Return the least rune of a class that is one letter, and whether in either case; or -1."""
    low, high = ranges[0]
    if len(ranges) == 1 and low == high:
        return low, False
    if len(ranges) == 2:
        second, end = ranges[1]
        if low != high or second != end:
            return -1, False
    elif high != low + 1:
        return -1, False
    else:
        second = high
    return (low, True) if classes.orbit(low) == (low, second) else (-1, False)


def _leading(node: Node) -> Node | None:
    if node.kind == CONCAT and node.sub:
        node = node.sub[0]
    return None if node.kind == EMPTY else node


def _unknown(node: Node, what: str) -> list[Node]:
    """Return the node and the parts below it of which something is not known, deepest first."""
    out, todo = [], [node]
    while todo:
        part = todo.pop()
        out.append(part)
        todo += [sub for sub in part.sub if not getattr(sub, what)]
    return out[::-1]


def _size(node: Node) -> int:
    """Return how many instructions a node takes, its parts' sizes being known."""
    kind = node.kind
    if kind == LITERAL:
        return len(node.runes)
    total = sum(sub.size for sub in node.sub)
    if kind in (CAPTURE, STAR):
        return 2 + total
    if kind in (PLUS, QUEST):
        return 1 + total
    if kind == ALTERNATE:
        return total + max(len(node.sub) - 1, 0)
    if kind == REPEAT:
        if node.most == -1:
            return 1 + node.least * total if node.least else 2 + total
        return node.most * total + node.most - node.least
    return total
