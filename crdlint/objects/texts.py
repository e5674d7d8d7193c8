"""Short texts that people can read and a schema takes: by length, pattern and format."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdlint import formats, goregex

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    Schema = Mapping[str, Any]

# What is tried before a text is made up, the plainest first.
_WORDS = (
    "example",
    "Example",
    "EXAMPLE",
    "example.com",
    "example-1",
    "a",
    "1",
    "10",
    "80",
    "0",
    "5m",
    "1h",
    "1Gi",
    "10%",
    "100m",
    "1.0.0",
    "v1",
    "v1.0.0",
    "192.0.2.1",
    "192.0.2.0/24",
    "2001:db8::1",
    "2001:db8::/64",
    "https://example.com",
    "/example",
    "https://example.com/example",
    "name@example.com",
    "example.com/example",
    "2024-01-31T12:00:00Z",
    "2024-01-31",
    "00000000-0000-4000-8000-000000000000",
    "*",
    "Example 1",
    "",
)
# A text of each format that the server knows, dashes left out of the name.
_OF_FORMAT = {
    "bsonobjectid": "507f1f77bcf86cd799439011",
    "uri": "https://example.com",
    "email": "name@example.com",
    "hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "cidr": "192.0.2.0/24",
    "mac": "00:00:5e:00:53:01",
    "uuid": "00000000-0000-4000-8000-000000000000",
    "uuid3": "00000000-0000-3000-8000-000000000000",
    "uuid4": "00000000-0000-4000-8000-000000000000",
    "uuid5": "00000000-0000-5000-8000-000000000000",
    "isbn": "0321751043",
    "isbn10": "0321751043",
    "isbn13": "9780321751041",
    "creditcard": "4111111111111111",
    "ssn": "111-11-1111",
    "hexcolor": "#ffffff",
    "rgbcolor": "rgb(255,255,255)",
    "byte": "ZXhhbXBsZQ==",
    "date": "2024-01-31",
    "datetime": "2024-01-31T12:00:00Z",
    "duration": "5m",
    "k8sshortname": "example",
    "k8slongname": "example.com",
}
# Texts that hardly any format or pattern takes; the first are near misses.
_ODD = ("example!", "Not Valid", "_", "é", " ", "-")
_LONGEST = 20_000  # code points of a text that is made only for its length


class Demand:
    """What several schemas ask of a text together, and what it must not be.

    `avoided` are patterns that the text must not match, `unlike` formats that it must not have.
    """

    __slots__ = ("avoided", "formats", "least", "most", "patterns", "unlike")

    def __init__(self, schemas: Iterable[Schema], minor: int) -> None:
        self.patterns: list[str] = []
        self.formats: list[str] = []
        self.avoided: list[str] = []
        self.unlike: list[str] = []
        self.least = 0
        self.most: int | None = None
        for schema in schemas:
            pattern, format_ = schema.get("pattern"), schema.get("format")
            if pattern:
                self.patterns.append(pattern)
            kind = "" if schema.get("x-kubernetes-int-or-string") else schema.get("type") or ""
            if format_ and formats.known(kind, format_, minor):
                self.formats.append(format_)
            self.least = max(self.least, schema.get("minLength") or 0)
            most = schema.get("maxLength")
            if most is not None:
                self.most = most if self.most is None else min(self.most, most)

    def takes(self, text: str) -> bool:
        """Tell whether a text is one of those asked for."""
        if len(text) < self.least or (self.most is not None and len(text) > self.most):
            return False
        return (
            all(formats.matches(name, text) for name in self.formats)
            and not any(formats.matches(name, text) for name in self.unlike)
            and all(_matches(pattern, text) for pattern in self.patterns)
            and not any(_matches(pattern, text) for pattern in self.avoided)
        )


def texts(demand: Demand) -> Iterator[str]:
    """Yield a few texts that satisfy a demand, the most readable first, or none."""
    if demand.most is not None and demand.most < demand.least:
        return
    seen = set()
    for text in _tries(demand):
        if text not in seen:
            seen.add(text)
            if demand.takes(text):
                yield text


def _tries(demand: Demand) -> Iterator[str]:
    yield from (
        _OF_FORMAT[key] for name in demand.formats if (key := name.replace("-", "")) in _OF_FORMAT
    )
    yield from _WORDS
    if demand.avoided or demand.unlike:
        yield from _ODD
    if demand.least <= _LONGEST:
        yield from _long(demand)
        yield from _made(demand)


def _long(demand: Demand) -> Iterator[str]:
    """Yield words drawn out to the least length."""
    for start, filling in (("example", "-example"), ("", "a"), ("", "1"), ("/", "a"), ("", "A")):
        size = max(demand.least, 1)
        text = (start + filling * (size // len(filling) + 1))[:size]
        yield text[:-1] + "a" if text.endswith("-") else text


def _made(demand: Demand) -> Iterator[str]:
    """Yield what the patterns themselves lead to."""
    if not demand.patterns and not demand.avoided:
        return
    from crdlint import inclusion

    try:
        found = inclusion.example(
            demand.patterns, demand.avoided, least=demand.least, most=demand.most
        )
        if found is not None:
            yield found
    except inclusion.UndecidedError:
        for pattern in demand.patterns:
            yield from _followed(pattern)


def _followed(pattern: str) -> Iterator[str]:
    """Yield texts along a pattern, each repeat taken as rarely as may be, then once more."""
    from crdlint.goregex import syntax

    try:
        parsed = syntax.parse(pattern)
    except goregex.RegexError:
        return
    for more in range(3):
        yield "".join(_follow(parsed, more))


def _follow(node: Any, more: int) -> Iterator[str]:
    from crdlint.goregex import tree

    kind = node.kind
    if kind == tree.LITERAL:
        yield "".join(map(chr, node.runes))
    elif kind == tree.CLASS:
        yield _plainest(node.ranges)
    elif kind in (tree.ANY, tree.ANY_NOT_NEWLINE):
        yield "a"
    elif kind in (tree.CAPTURE, tree.CONCAT):
        for part in node.sub:
            yield from _follow(part, more)
    elif kind == tree.ALTERNATE:
        yield from _follow(node.sub[min(more, len(node.sub) - 1)], more)
    elif kind in (tree.STAR, tree.QUEST, tree.PLUS, tree.REPEAT):
        least = {tree.PLUS: 1, tree.REPEAT: node.least}.get(kind, 0)
        most = {tree.QUEST: 1, tree.REPEAT: node.most}.get(kind, -1)
        times = least + more if most < 0 else min(least + more, most)
        for _ in range(times):
            yield from _follow(node.sub[0], more)


def _plainest(ranges: list[tuple[int, int]]) -> str:
    for char in "ae1A0-./":
        if any(low <= ord(char) <= high for low, high in ranges):
            return char
    return chr(ranges[0][0]) if ranges else ""


def _matches(pattern: str, text: str) -> bool:
    try:
        return bool(goregex.matches(pattern, text))
    except goregex.RegexError:
        return False  # as the server: no text matches then
