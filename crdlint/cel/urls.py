"""URLs as CEL sees them: parsed, unescaped and written again as Go's net/url does."""

from __future__ import annotations

import re

from crdlint.cel.gotext import quote
from crdlint.cel.netaddr import parse_address
from crdlint.cel.values import EvalError

_HEX = frozenset(b"0123456789abcdefABCDEF")
_PLAIN = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~")
# The bytes that are not escaped in each part of a URL.
_PATH = _PLAIN | set(b"$&+,/:;=@")
_HOST = _PLAIN | set(b"!\"$&'()*+,:;<=>[]")
_USER = _PLAIN | set(b"$&+,;=")
_FRAGMENT = _PLAIN | set(b"!$&()*+,/:;=?@")
_ALLOWED_ESCAPED = _PLAIN | set(b"!$&'()*+,;=:@[]%/")  # what a path may keep as it was written

_SCHEME = re.compile("([A-Za-z][A-Za-z0-9+.-]*):")
_CONTROL = re.compile("[\x00-\x1f\x7f]")
_USER_INFO = re.compile(r"[A-Za-z0-9\-._:~!$&'()*+,;=%@]*")
_PORT = re.compile("(?::[0-9]*)?")
_MAX_QUERY = 10_000  # parameters


class Url:
    """A URL in parts: path as bytes, the rest as text; `user` is None where there is none.

    A byte of the host that is no UTF-8 is half of a surrogate pair, as in file names.
    """

    __slots__ = (
        "force_query",
        "fragment",
        "host",
        "omit_host",
        "opaque",
        "path",
        "query",
        "raw_path",
        "scheme",
        "user",
    )
    type_name = "kubernetes.URL"

    def __init__(self) -> None:
        self.scheme = self.opaque = self.host = self.query = self.raw_path = self.fragment = ""
        self.path = b""
        self.user: str | None = None
        self.force_query = self.omit_host = False

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Url) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __str__(self) -> str:
        text = f"{self.scheme}:" if self.scheme else ""
        if self.opaque:
            text += self.opaque
        else:
            if self.host or self.user is not None or (self.scheme and not self.omit_host):
                if self.host or self.path or self.user is not None:
                    text += "//"
                if self.user is not None:
                    text += f"{self.user}@"
                text += escape(_bytes(self.host), _HOST)
            text += escaped_path(self)
        if self.force_query or self.query:
            text += f"?{self.query}"
        return f"{text}#{self.fragment}" if self.fragment else text


class _BadUrlError(Exception):
    """What is wrong with a URL."""


def parse(text: str) -> Url:
    """Read an absolute URL or path, with a fragment.

    Raises:
        EvalError: it is none; the message is the server's.
    """
    try:
        parse_request(text)
        return _parse_reference(text)
    except EvalError as error:
        raise EvalError(f"URL parse error during conversion from string: {error.message}") from None


def parse_request(text: str) -> Url:
    """Read an absolute URL or path; a fragment is no part of its own.

    Raises:
        EvalError: it is none; the message is that of url.ParseRequestURI.
    """
    try:
        return _parse(text, request=True)
    except _BadUrlError as error:
        raise EvalError(f"parse {quote(text)}: {error}") from None


def _parse_reference(text: str) -> Url:
    before, _, fragment = text.partition("#")
    try:
        url = _parse(before, request=False)
    except _BadUrlError as error:
        raise EvalError(f"parse {quote(before)}: {error}") from None
    try:
        plain = unescape(_bytes(fragment))
    except _BadUrlError as error:
        raise EvalError(f"parse {quote(text)}: {error}") from None
    url.fragment = _kept(fragment, plain, _FRAGMENT)
    return url


def _parse(text: str, *, request: bool) -> Url:
    if _CONTROL.search(text):
        raise _BadUrlError("net/url: invalid control character in URL")
    if not text and request:
        raise _BadUrlError("empty url")
    url = Url()
    if text == "*":
        url.path = b"*"
        return url
    if text.startswith(":"):
        raise _BadUrlError("missing protocol scheme")
    scheme = _SCHEME.match(text)
    rest = text
    if scheme:
        url.scheme = scheme[1].lower()
        rest = text[scheme.end() :]
    rest, mark, url.query = rest.partition("?")
    url.force_query = bool(mark) and not url.query
    if not rest.startswith("/"):
        if url.scheme:
            url.opaque = rest
            return url
        if request:
            raise _BadUrlError("invalid URI for request")
        if ":" in rest.partition("/")[0]:
            raise _BadUrlError("first path segment in URL cannot contain colon")
    slashes = rest.startswith("//")
    if slashes and (url.scheme or (not request and not rest.startswith("///"))):
        authority, slash, path = rest[2:].partition("/")
        rest = slash + path
        _authority(url, authority)
    elif url.scheme:
        url.omit_host = True
    url.path = unescape(_bytes(rest))
    if escape(url.path, _PATH) != rest:
        url.raw_path = rest
    return url


def _authority(url: Url, authority: str) -> None:
    user, at, host = authority.rpartition("@")
    url.host = _host(url.scheme, host)
    if not at:
        return
    if not _USER_INFO.fullmatch(user):
        raise _BadUrlError("net/url: invalid userinfo")
    name, colon, password = user.partition(":")
    url.user = escape(unescape(_bytes(name)), _USER)
    if colon:
        url.user += ":" + escape(unescape(_bytes(password)), _USER)


def _host(scheme: str, host: str) -> str:
    bracket = host.rfind("[")
    if bracket > 0:
        raise _BadUrlError("invalid IP-literal")
    if bracket == 0:
        return _ip_literal(host)
    colon = host.find(":")
    if colon != -1 and scheme not in ("http", "https"):
        colon = host.rfind(":")
    if colon != -1:
        _check_port(host[colon:])
    return _unescape_host(host).decode("utf-8", "surrogateescape")


def _ip_literal(host: str) -> str:
    end = host.rfind("]")
    if end < 0:
        raise _BadUrlError("missing ']' in host")
    port = host[end + 1 :]
    _check_port(port)
    address, percent, zone = host[1:end].partition("%25")
    name = _unescape_host(address)
    if percent:
        name += _unescape_host(percent + zone, zone=True)
    inside = name.decode("utf-8", "surrogateescape")
    try:
        ip, _ = parse_address(inside)
    except EvalError as error:
        raise _BadUrlError(f"invalid host: {error.message}") from None
    if ip.bits == 32:
        raise _BadUrlError("invalid IP-literal")
    return f"[{inside}]{port}"


def _check_port(text: str) -> None:
    if not _PORT.fullmatch(text):
        raise _BadUrlError(f"invalid port {quote(text)} after host")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _valid(text: str) -> str:
    """Return a text with U+FFFD for each byte in it that is no UTF-8."""
    return re.sub("[\udc80-\udcff]", "\ufffd", text)


def escape(raw: bytes, allowed: frozenset[int]) -> str:
    """Return bytes with % and two digits for each that is not allowed."""
    if allowed.issuperset(raw):
        return raw.decode("ascii")
    return "".join(chr(byte) if byte in allowed else f"%{byte:02X}" for byte in raw)


def unescape(raw: bytes) -> bytes:
    """Return bytes with the escapes read."""
    if b"%" not in raw:
        return raw
    first, *parts = raw.split(b"%")
    plain = [first]
    for part in parts:
        if len(part) < 2 or not _HEX.issuperset(part[:2]):
            raise _bad_escape(raw, plain)
        plain += bytes((int(part[:2], 16),)), part[2:]
    return b"".join(plain)


def _bad_escape(raw: bytes, plain: list[bytes]) -> _BadUrlError:
    """Return the error for the first escape that is none: it and what follows, three bytes."""
    # Each escape that was read took three bytes and gave one.
    at = sum(map(len, plain)) + 2 * (len(plain) // 2)
    shown = raw[at : at + 3].decode("utf-8", "surrogateescape")
    return _BadUrlError(f"invalid URL escape {quote(shown)}")


def _unescape_host(text: str, *, zone: bool = False) -> bytes:
    """Return a host unescaped; only what is not ASCII (in a zone: what may be there) is escaped."""
    raw = _bytes(text)
    plain = bytearray()
    at = 0
    while at < len(raw):
        byte = raw[at]
        if byte == 0x25:
            escaped = raw[at : at + 3]
            value = unescape(escaped)[0]
            wrong = value != 0x20 and value not in _HOST if zone else value < 0x80
            if wrong and escaped != b"%25":
                raise _BadUrlError(f"invalid URL escape {quote(escaped.decode())}")
            plain.append(value)
            at += 3
            continue
        if byte < 0x80 and byte not in _HOST:
            raise _BadUrlError(f"invalid character {quote(chr(byte))} in host name")
        plain.append(byte)
        at += 1
    return bytes(plain)


def _kept(written: str, plain: bytes, allowed: frozenset[int]) -> str:
    """Return a part as it was written where that is a way to escape it, or escaped anew."""
    raw = _bytes(written)
    if (allowed | _ALLOWED_ESCAPED).issuperset(raw):
        return written
    return escape(plain, allowed)


def escaped_path(url: Url) -> str:
    """Return the path with escapes, as it was written where that is possible."""
    if url.raw_path and (_PATH | _ALLOWED_ESCAPED).issuperset(_bytes(url.raw_path)):
        return url.raw_path
    return "*" if url.path == b"*" else escape(url.path, _PATH)


def host(url: Url) -> str:
    """Return the host and the port."""
    return _valid(url.host)


def _host_and_port(url: Url) -> tuple[str, str]:
    name, colon, port = url.host.rpartition(":")
    if not colon or not re.fullmatch("[0-9]*", port):
        name, port = url.host, ""
    if name.startswith("[") and name.endswith("]"):
        name = name[1:-1]
    return _valid(name), port


def hostname(url: Url) -> str:
    """Return the host without its port, and an IPv6 address without brackets."""
    return _host_and_port(url)[0]


def port(url: Url) -> str:
    """Return the port, or "" without one."""
    return _host_and_port(url)[1]


def query(url: Url) -> dict[str, list[str]]:
    """Return the values of each query parameter; what cannot be read is left out."""
    values: dict[str, list[str]] = {}
    if url.query.count("&") >= _MAX_QUERY:
        return values
    for pair in url.query.split("&"):
        if not pair or ";" in pair:
            continue
        key, _, value = pair.partition("=")
        try:
            name, content = (
                _valid(unescape(_bytes(part.replace("+", " "))).decode("utf-8", "surrogateescape"))
                for part in (key, value)
            )
        except _BadUrlError:
            continue
        values.setdefault(name, []).append(content)
    return values
