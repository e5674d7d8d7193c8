"""IP addresses, e-mail addresses and URIs, judged as Go's standard library does."""

from __future__ import annotations

import re


def _octets(text: str, *, sloppy: bool) -> bool:
    parts = text.split(".")
    if len(parts) != 4:
        return False
    for part in parts:
        if not (part.isascii() and part.isdigit()):
            return False
        if sloppy:
            digits = part.lstrip("0")
        elif part[0] == "0" and len(part) > 1:
            return False
        else:
            digits = part
        if len(digits) > 3 or int(digits or "0") > 255:
            return False
    return True


_HEX_GROUP = "[0-9a-fA-F]*"


def _ipv6(text: str, *, sloppy: bool) -> bool:
    """Judge an IPv6 address without a zone; `sloppy` is Go's parser before 1.17."""
    rest = text
    ellipsis = rest.startswith("::")
    if ellipsis:
        rest = rest[2:]
        if not rest:
            return True
    groups = 0
    while groups < 8:
        found = re.match(_HEX_GROUP, rest)
        digits = found.group() if found else ""
        value = digits.lstrip("0") if sloppy else digits
        if not digits or len(value) > 4:
            return False
        if rest[len(digits) : len(digits) + 1] == ".":
            if (not ellipsis and groups != 6) or groups > 6:
                return False
            if not _octets(rest, sloppy=sloppy):
                return False
            groups += 2
            rest = ""
            break
        groups += 1
        rest = rest[len(digits) :]
        if not rest:
            break
        if rest[0] != ":" or len(rest) == 1:
            return False
        rest = rest[1:]
        if rest[0] == ":":
            if ellipsis:
                return False
            ellipsis = True
            rest = rest[1:]
            if not rest:
                break
    return not rest and (groups < 8) == ellipsis


_FIRST_IP_MARK = "[.:%]"


def is_ip(text: str) -> bool:
    """Tell whether Go's net.ParseIP takes a text."""
    mark = re.search(_FIRST_IP_MARK, text)
    if mark is None or mark.group() == "%":
        return False
    if mark.group() == ".":
        return _octets(text, sloppy=False)
    return _ipv6(text, sloppy=False)


def is_ipv4(text: str) -> bool:
    """Tell whether a text has the format ipv4, leading zeros allowed."""
    # A mapped address such as ::ffff:1.2.3.4 has a dot, and that is all the server asks for.
    for char in text:
        if char == ".":
            return _octets(text, sloppy=True)
        if char == ":":
            return "." in text and _ipv6(text, sloppy=True)
    return False


def is_ipv6(text: str) -> bool:
    """Tell whether a text has the format ipv6."""
    return ":" in text and is_ip(text)


_DIGITS = "[0-9]+"


def is_cidr(text: str) -> bool:
    """Tell whether a text has the format cidr, leading zeros allowed."""
    address, slash, mask = text.partition("/")
    if not slash or not re.fullmatch(_DIGITS, mask):
        return False
    if _octets(address, sloppy=True):
        bits = 32
    elif _ipv6(address, sloppy=True):
        bits = 128
    else:
        return False
    digits = mask.lstrip("0")
    return len(digits) <= 3 and int(digits or "0") <= bits


# URIs

_SCHEME = r"([A-Za-z][A-Za-z0-9+.-]*)?:"
_HOST_CHARS = frozenset(
    "!\"$&'()*+,-.0123456789:;<=>[]_~ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)
_ESCAPE = "%([0-9A-Fa-f]{2})?"


def _escapes(text: str) -> list[int] | None:
    """Return the bytes that a text escapes with %, or None where one is malformed."""
    found = [pair[1] for pair in re.finditer(_ESCAPE, text)]
    return None if None in found else [int(pair, 16) for pair in found]


def _plain_host(text: str) -> bool:
    escaped = _escapes(text)
    return (
        escaped is not None
        and all(byte >= 0x80 or byte == 0x25 for byte in escaped)
        and all(char in _HOST_CHARS or char == "%" or char > "\x7f" for char in text)
    )


def _zone(text: str) -> bool:
    escaped = _escapes(text)
    return (
        escaped is not None
        and all(byte in (0x20, 0x25) or chr(byte) in _HOST_CHARS for byte in escaped)
        and all(char in _HOST_CHARS or char == "%" or char > "\x7f" for char in text)
    )


def _ip_literal(text: str) -> bool:
    """Judge what stands between brackets: an IPv6 address, perhaps with a zone after %25."""
    address, mark, zone = text.partition("%25")
    if not _plain_host(address) or (mark and not _zone(mark + zone)):
        return False
    # Once unescaped the zone begins with %; any other way to write % cannot name an address.
    if mark and not zone:
        return False
    return "%" not in address and ":" in address and is_ip(address)


def _host(scheme: str, host: str) -> bool:
    bracket = host.rfind("[")
    if bracket > 0:
        return False
    if bracket == 0:
        end = host.rfind("]")
        return end > 0 and _port(host[end + 1 :]) and _ip_literal(host[1:end])
    colon = host.find(":")
    if colon != -1 and scheme not in ("http", "https"):
        colon = host.rfind(":")
    return (colon == -1 or _port(host[colon:])) and _plain_host(host)


def _port(text: str) -> bool:
    return re.fullmatch("(?::[0-9]*)?", text) is not None


_USERINFO = r"[A-Za-z0-9._:~!$&'()*+,;=%@-]*"


def is_request_uri(text: str) -> bool:
    """Tell whether Go's url.ParseRequestURI takes a text."""
    if not text or any(char < " " or char == "\x7f" for char in text):
        return False
    if text == "*":
        return True
    found = re.match(_SCHEME, text)
    scheme = found[1] if found else ""
    if scheme is None:
        return False  # it begins with a colon
    rest = text[found.end() :] if found else text
    rest = rest.partition("?")[0]
    if not rest.startswith("/"):
        return bool(scheme)
    if scheme and rest.startswith("//"):
        authority, slash, path = rest[2:].partition("/")
        userinfo, at, host = authority.rpartition("@")
        if not _host(scheme.lower(), host):
            return False
        if at and (not re.fullmatch(_USERINFO, userinfo) or _escapes(userinfo) is None):
            return False
        rest = slash + path
    return _escapes(rest) is not None


# E-mail addresses

_ATEXT = r"[^\x00-\x20\x7f()<>\[\]:;@\\,\"]+"
_DTEXT = r"\[([^\x00-\x20\x7f\[\]\\]*)\]"
_QUOTED = r'"((?:[^\x00-\x08\x0a-\x1f\x7f"\\]|\\[^\x00-\x08\x0a-\x1f\x7f])*)"'


class _BadAddressError(Exception):
    """The text is no e-mail address."""


class _Mail:
    """A place in a text that is read as an RFC 5322 address, the way Go's net/mail reads it."""

    __slots__ = ("at", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def take(self, regex: str) -> re.Match[str] | None:
        found = re.compile(regex).match(self.text, self.at)
        if found:
            self.at = found.end()
        return found

    def peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def spaces(self) -> None:
        self.take("[ \t]*")

    def comments(self) -> None:
        self.spaces()
        while self.peek() == "(":
            self.comment()
            self.spaces()

    def comment(self) -> str:
        """Read a comment, which may hold others, from its opening parenthesis on."""
        depth, said, i, text = 1, [], self.at + 1, self.text
        while i < len(text) and depth:
            if text[i] == "\\" and i + 1 < len(text):
                i += 1
            elif text[i] == "(":
                depth += 1
            elif text[i] == ")":
                depth -= 1
            if depth:
                said.append(text[i])
            i += 1
        if depth:
            raise _BadAddressError
        self.at = i
        return "".join(said)

    def address(self, *, groups: bool) -> int:
        """Read one address or group and return how many mailboxes it has."""
        self.spaces()
        if not self.peek():
            raise _BadAddressError
        start = self.at
        try:
            self.spec()
        except _BadAddressError:
            self.at = start
        else:
            self.spaces()
            if self.peek() == "(" and any(map(_bad_charset, re.split("[ \t]+", self.comment()))):
                raise _BadAddressError
            return 1
        if self.peek() != "<":
            self.phrase()
        self.spaces()
        if groups and self.take(":"):
            return self.group()
        if not self.take("<"):
            raise _BadAddressError
        self.spec()
        if not self.take(">"):
            raise _BadAddressError
        return 1

    def group(self) -> int:
        self.spaces()
        if self.take(";"):
            self.comments()
            return 0
        count = 0
        while True:
            self.spaces()
            count += self.address(groups=False)
            self.comments()
            if self.take(";"):
                self.comments()
                return count
            if not self.take(","):
                raise _BadAddressError

    def spec(self) -> None:
        """Read local part, at sign and domain."""
        self.spaces()
        if self.peek() == '"':
            quoted = self.take(_QUOTED)
            if not quoted or not quoted[1]:
                raise _BadAddressError
        else:
            self.dot_atom()
        if not self.take("@"):
            raise _BadAddressError
        self.spaces()
        if self.peek() == "[":
            literal = self.take(_DTEXT)
            if not literal or not is_ip(literal[1]):
                raise _BadAddressError
        else:
            self.dot_atom()

    def dot_atom(self) -> None:
        atom = self.take(_ATEXT)
        if not atom or "" in atom[0].split("."):
            raise _BadAddressError

    def phrase(self) -> None:
        """Read the words of a display name; what follows the last word is left alone."""
        words = 0
        while True:
            if words:
                self.comments()
            self.spaces()
            word = self.take(_QUOTED if self.peek() == '"' else _ATEXT)
            if not word or _bad_charset(word[0]):
                break
            words += 1
        if not words and self.peek():
            raise _BadAddressError


def _bad_charset(word: str) -> bool:
    """Tell whether a word is encoded by RFC 2047, well, but in a charset that Go does not know."""
    parts = word.split("?")
    if len(parts) != 5 or parts[0] != "=" or parts[4] != "=" or not parts[1]:
        return False
    charset, encoding, text = parts[1:4]
    if encoding in ("B", "b"):
        text = re.sub("[\r\n]", "", text)
        group = "[A-Za-z0-9+/]"
        good = re.fullmatch(f"(?:{group}{{4}})*(?:{group}{{2}}==|{group}{{3}}=)?", text)
    elif encoding in ("Q", "q"):
        good = re.fullmatch(r"(?:=[0-9A-Fa-f]{2}|[\t\n\r -<>-~])*", text)
    else:
        return False
    return good is not None and charset.casefold() not in ("utf-8", "iso-8859-1", "us-ascii")


def is_email(text: str) -> bool:
    """Tell whether Go's mail.ParseAddress takes a text."""
    mail = _Mail(text)
    try:
        count = mail.address(groups=True)
        mail.comments()
    except _BadAddressError:
        return False
    return count == 1 and not mail.peek()
