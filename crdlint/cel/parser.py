"""CEL text to a syntax tree, as cel-go's parser reads it."""

from __future__ import annotations

from crdlint.cel.macros import find
from crdlint.cel.syntax import (
    CALL,
    IDENT,
    LIST,
    LITERAL,
    MAP,
    SELECT,
    STRUCT,
    CelError,
    Node,
    Tokens,
    number,
    text_literal,
)

MAX_CODE_POINTS = 100_000  # of an expression
MAX_DEPTH = 250  # of rules of the grammar, and of operations, within one another

# Words that no variable or function may have; as fields they are fine.
_RESERVED = frozenset(
    "as break const continue else for function if import let loop package namespace return var "
    "void while".split()
)
_RELATIONS = {
    "<": "_<_",
    "<=": "_<=_",
    ">": "_>_",
    ">=": "_>=_",
    "==": "_==_",
    "!=": "_!=_",
    "in": "@in",
}
_SUMS = {"+": "_+_", "-": "_-_"}
_PRODUCTS = {"*": "_*_", "/": "_/_", "%": "_%_"}
_CALCULATIONS = {**_SUMS, **_PRODUCTS}


class Parser:
    """Reads one expression; `compat` is the minor whose syntax and macros hold."""

    __slots__ = ("_calc", "_depth", "_i", "_relation", "compat", "kinds", "offsets", "texts")

    def __init__(self, text: str, compat: int) -> None:
        tokens = Tokens(text)
        self.kinds = tokens.kinds
        self.texts = tokens.texts
        self.offsets = tokens.offsets
        self.compat = compat
        self._i = 0
        # How deep the grammar's rules expr, relation and calc are in themselves.
        self._depth = self._relation = self._calc = 0

    def parse(self) -> Node:
        """Return the tree of the whole text."""
        node = self._expr()
        if self.kinds[self._i] != "end":
            raise self._unexpected()
        if node.height > MAX_DEPTH:
            raise CelError(f"syntax error: more than {MAX_DEPTH} operations in one another", 0)
        return node

    def _unexpected(self) -> CelError:
        i = self._i
        if self.kinds[i] == "end":
            return CelError("syntax error: the expression ends too early", self.offsets[i])
        return CelError(f"syntax error: {self.texts[i]!r} cannot stand here", self.offsets[i])

    def _expect(self, kind: str) -> None:
        if self.kinds[self._i] != kind:
            i = self._i
            text = "the end" if self.kinds[i] == "end" else repr(self.texts[i])
            raise CelError(f"syntax error: {kind!r} is missing before {text}", self.offsets[i])
        self._i += 1

    def _too_deep(self) -> CelError:
        return CelError(
            f"syntax error: parentheses, calls or operators nest deeper than {MAX_DEPTH}",
            self.offsets[self._i],
        )

    def _expr(self) -> Node:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise self._too_deep()
        node = self._or()
        i = self._i
        if self.kinds[i] == "?":
            self._i = i + 1
            then = self._or()
            self._expect(":")
            other = self._expr()
            height = 1 + max(node.height, then.height, other.height)
            node = Node(CALL, self.offsets[i], "_?_:_", None, [node, then, other])
            node.height = height
        self._depth -= 1
        return node

    def _or(self) -> Node:
        node = self._and()
        if self.kinds[self._i] != "||":
            return node
        terms, places = [node], []
        while self.kinds[self._i] == "||":
            places.append(self.offsets[self._i])
            self._i += 1
            terms.append(self._and())
        return _balanced("_||_", terms, places)

    def _and(self) -> Node:
        node = self._relate()
        if self.kinds[self._i] != "&&":
            return node
        terms, places = [node], []
        while self.kinds[self._i] == "&&":
            places.append(self.offsets[self._i])
            self._i += 1
            terms.append(self._relate())
        return _balanced("_&&_", terms, places)

    def _relate(self) -> Node:
        self._relation += 1
        if self._relation > MAX_DEPTH:
            raise self._too_deep()
        node = self._calculate(1)
        while (name := _RELATIONS.get(self.kinds[self._i])) is not None:
            pos = self.offsets[self._i]
            self._i += 1
            # The right side is a relation of its own to the grammar, one level deeper.
            self._relation += 1
            if self._relation > MAX_DEPTH:
                raise self._too_deep()
            right = self._calculate(1)
            self._relation -= 1
            node = _binary(name, pos, node, right)
        self._relation -= 1
        return node

    def _calculate(self, level: int) -> Node:
        """Read sums (level 1) or products (level 2)."""
        self._calc += 1
        if self._calc > MAX_DEPTH:
            raise self._too_deep()
        node = self._unary()
        while (name := _CALCULATIONS.get(self.kinds[self._i])) is not None:
            own = 2 if self.kinds[self._i] in _PRODUCTS else 1
            if own < level:
                break
            pos = self.offsets[self._i]
            self._i += 1
            node = _binary(name, pos, node, self._calculate(own + 1))
        self._calc -= 1
        return node

    def _unary(self) -> Node:
        kind = self.kinds[self._i]
        if kind == "!" or (kind == "-" and self.kinds[self._i + 1] not in ("int", "float")):
            pos = self.offsets[self._i]
            times = 0
            while self.kinds[self._i] == kind:
                times += 1
                self._i += 1
            node = self._member()
            if times % 2 == 0:
                return node
            height = node.height
            node = Node(CALL, pos, f"{kind}_", None, [node])
            node.height = height
            return node
        return self._member()

    def _member(self) -> Node:
        node = self._primary()
        kinds = self.kinds
        while True:
            kind = kinds[self._i]
            if kind == ".":
                node = self._dot(node)
            elif kind == "[":
                pos = self.offsets[self._i]
                self._i += 1
                name = "_[_]"
                if kinds[self._i] == "?":
                    self._need_optionals("[?")
                    name = "_[?_]"
                    self._i += 1
                index = self._expr()
                self._expect("]")
                node = _binary(name, pos, node, index)
            else:
                return node

    def _need_optionals(self, sign: str) -> None:
        if self.compat < 28:
            raise CelError(f"syntax error: {sign!r} is not known", self.offsets[self._i])

    def _dot(self, target: Node) -> Node:
        self._i += 1
        optional = self.kinds[self._i] == "?"
        if optional:
            self._need_optionals(".?")
            self._i += 1
        i = self._i
        kind, name, pos = self.kinds[i], self.texts[i], self.offsets[i]
        if kind == "quoted":
            name = name[1:-1]
        elif kind != "name":
            raise self._unexpected()
        self._i = i + 1
        if kind == "name" and not optional and self.kinds[i + 1] == "(":
            self._i = i + 2
            args = self._args()
            height = max((arg.height for arg in args), default=0)
            return self._call(name, pos, target, args, 1 + max(height, target.height))
        if optional:
            field = Node(LITERAL, pos, "string", value=name)
            node = Node(CALL, pos, "_?._", None, [target, field])
        else:
            node = Node(SELECT, pos, name, target)
        node.height = target.height + 1
        return node

    def _args(self) -> list[Node]:
        args: list[Node] = []
        if self.kinds[self._i] == ")":
            self._i += 1
            return args
        while True:
            args.append(self._expr())
            if self.kinds[self._i] == ",":
                self._i += 1
            else:
                self._expect(")")
                return args

    def _call(
        self, name: str, pos: int, target: Node | None, args: list[Node], height: int
    ) -> Node:
        expand = find(name, len(args), member=target is not None, compat=self.compat)
        node = None
        if expand is not None:
            node = expand(pos, target, args)
        if node is None:
            node = Node(CALL, pos, name, target, args)
        node.height = height
        return node

    def _primary(self) -> Node:
        i = self._i
        kind = self.kinds[i]
        pos = self.offsets[i]
        if kind in ("name", "."):
            return self._named()
        self._i = i + 1
        if kind == "text":
            return text_literal(self.texts[i], pos)
        if kind == "(":
            node = self._expr()
            self._expect(")")
            return node
        if kind in ("int", "uint", "float"):
            return number(kind, self.texts[i], pos)
        if kind == "-" and self.kinds[i + 1] in ("int", "float"):
            self._i = i + 2
            return number(self.kinds[i + 1], "-" + self.texts[i + 1], pos)
        if kind in ("true", "false"):
            return Node(LITERAL, pos, "bool", value=kind == "true")
        if kind == "null":
            return Node(LITERAL, pos, "null")
        if kind == "[":
            return self._list(pos)
        if kind == "{":
            return self._map(pos)
        self._i = i
        raise self._unexpected()

    def _named(self) -> Node:
        """Read an identifier, a call of a global function, or a message."""
        i = self._i
        dot = self.kinds[i] == "."
        if dot:
            i += 1
        if self.kinds[i] != "name":
            self._i = i
            raise self._unexpected()
        j = i + 1
        while self.kinds[j] == "." and self.kinds[j + 1] == "name":
            j += 2
        if self.kinds[j] == "{":
            self._i = j + 1
            name = "".join(self.texts[self._i - (j - i) - 1 : j])
            return self._message(f".{name}" if dot else name, self.offsets[i])
        name, pos = self.texts[i], self.offsets[i]
        self._i = i + 1
        if name in _RESERVED:
            raise CelError(f"syntax error: {name!r} is a reserved word", pos)
        if dot:
            name = f".{name}"
        if self.kinds[i + 1] == "(":
            self._i = i + 2
            args = self._args()
            height = max((arg.height for arg in args), default=0)
            return self._call(name, pos, None, args, height)
        return Node(IDENT, pos, name)

    def _optional(self) -> bool:
        if self.kinds[self._i] != "?":
            return False
        self._need_optionals("?")
        self._i += 1
        return True

    def _more(self, close: str) -> bool:
        """Step over the comma after an element; tell whether another element follows."""
        if self.kinds[self._i] == ",":
            self._i += 1
            if self.kinds[self._i] != close:
                return True
        self._expect(close)
        return False

    def _start(self, close: str) -> bool:
        """Step over what an empty list or map may have; tell whether an element follows."""
        if self.kinds[self._i] == ",":
            self._i += 1
        elif self.kinds[self._i] != close:
            return True
        self._expect(close)
        return False

    def _list(self, pos: int) -> Node:
        elements: list[Node] = []
        optional: list[int] = []
        more = self._start("]")
        while more:
            if self._optional():
                optional.append(len(elements))
            elements.append(self._expr())
            more = self._more("]")
        node = Node(LIST, pos, "", None, elements, tuple(optional))
        node.height = max((e.height for e in elements), default=0)
        return node

    def _map(self, pos: int) -> Node:
        entries: list[tuple[Node, Node, bool]] = []
        height = 0
        more = self._start("}")
        while more:
            optional = self._optional()
            key = self._expr()
            self._expect(":")
            value = self._expr()
            entries.append((key, value, optional))
            height = max(height, key.height, value.height)
            more = self._more("}")
        node = Node(MAP, pos, "", None, entries)
        node.height = height
        return node

    def _message(self, name: str, pos: int) -> Node:
        entries: list[tuple[str, Node, bool]] = []
        height = 0
        more = self._start("}")
        while more:
            optional = self._optional()
            i = self._i
            field = self.texts[i]
            if self.kinds[i] == "quoted":
                field = field[1:-1]
            elif self.kinds[i] != "name":
                raise self._unexpected()
            self._i = i + 1
            self._expect(":")
            value = self._expr()
            entries.append((field, value, optional))
            height = max(height, value.height)
            more = self._more("}")
        node = Node(STRUCT, pos, name, None, entries)
        node.height = height
        return node


def _binary(name: str, pos: int, left: Node, right: Node) -> Node:
    node = Node(CALL, pos, name, None, [left, right])
    node.height = 1 + max(left.height, right.height)
    return node


def _balanced(name: str, terms: list[Node], places: list[int]) -> Node:
    """Return a chain of && or || as the balanced tree that cel-go makes of it."""
    height = max(term.height for term in terms)

    def tree(low: int, high: int) -> Node:
        middle = (low + high + 1) // 2
        left = terms[middle] if middle == low else tree(low, middle - 1)
        right = terms[middle + 1] if middle == high else tree(middle + 1, high)
        return Node(CALL, places[middle], name, None, [left, right])

    node = tree(0, len(places) - 1)
    node.height = height
    return node


def parse(text: str, compat: int) -> Node:
    """Return the tree of an expression as a server with the syntax of minor `compat` reads it.

    Raises:
        CelError: it does not parse.
    """
    if len(text) > MAX_CODE_POINTS:
        message = (
            f"the expression has {len(text)} code points, the API server reads {MAX_CODE_POINTS}"
        )
        raise CelError(message, 0)
    return Parser(text, compat).parse()
