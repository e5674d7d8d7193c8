"""URLs as Go's net/url reads them, as far as the API server looks at them."""

from __future__ import annotations

import re

from crdlint.addresses import _host as valid_host

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_USER_INFO = re.compile(r"[A-Za-z0-9\-._:~!$&'()*+,;=%@]*\Z")


class URLError(ValueError):
    """A text that Go's URL parser refuses; the message says why."""


class URL:
    """The parts of a URL that the API server looks at; `user` is None where there is none."""

    __slots__ = ("fragment", "host", "query", "scheme", "user")

    def __init__(self) -> None:
        self.scheme = ""
        self.user: str | None = None
        self.host = ""
        self.query = ""
        self.fragment = ""


def parse(text: str) -> URL:
    """Read a URL reference with its fragment; raise URLError. Source: net/url, Parse."""
    before, _, fragment = text.partition("#")
    url = _parse(before, request=False)
    _check_escapes(fragment)
    url.fragment = fragment
    return url


def parse_request(text: str) -> URL:
    """Read an absolute URL or path, `#` being no mark there. Source: net/url, ParseRequestURI."""
    return _parse(text, request=True)


def _parse(text: str, *, request: bool) -> URL:
    if _CONTROL.search(text):
        raise URLError("it has a control character")
    if not text and request:
        raise URLError("it is empty")
    url = URL()
    if text == "*":
        return url
    if text.startswith(":"):
        raise URLError("it has no scheme before the colon")
    scheme = _SCHEME.match(text)
    rest = text
    if scheme:
        url.scheme = scheme[1].lower()
        rest = text[scheme.end() :]
    rest, _, url.query = rest.partition("?")
    if not rest.startswith("/"):
        if url.scheme:
            return url
        if request:
            raise URLError("it is neither a URL nor a path")
        if ":" in rest.partition("/")[0]:
            raise URLError("its first path segment has a colon")
    slashes = rest.startswith("//")
    if slashes and (url.scheme or (not request and not rest.startswith("///"))):
        authority, slash, path = rest[2:].partition("/")
        rest = slash + path
        _authority(url, authority)
    _check_escapes(rest)
    return url


def _authority(url: URL, authority: str) -> None:
    user, at, host = authority.rpartition("@")
    if not valid_host(url.scheme, host):
        raise URLError(f"{host!r} is no host")
    url.host = host
    if at:
        if not _USER_INFO.match(user):
            raise URLError("its user part has a character that is not allowed there")
        _check_escapes(user)
        url.user = user


def _check_escapes(text: str) -> None:
    if bad := _BAD_ESCAPE.search(text):
        raise URLError(f"{text[bad.start() : bad.start() + 3]!r} is no escape")
