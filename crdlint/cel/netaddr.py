"""IP addresses and networks, read and written as Go's net/netip does."""

from __future__ import annotations

import re

from crdlint.cel.gotext import decimal, quote
from crdlint.cel.values import MAX_INT, EvalError

_HEX = re.compile("[0-9a-fA-F]*")
_NO_NETWORK = "network address parse error during conversion from string: "
_MAPPED = 0xFFFF  # the upper 96 bits of an IPv4-mapped IPv6 address


class Ip:
    """An address: its number, and how many bits it has (32 or 128)."""

    __slots__ = ("bits", "number")
    type_name = "net.IP"

    def __init__(self, number: int, bits: int) -> None:
        self.number = number
        self.bits = bits

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ip) and (self.number, self.bits) == (other.number, other.bits)

    def __hash__(self) -> int:
        return hash((self.number, self.bits))

    def __str__(self) -> str:
        if self.bits == 32:
            return ".".join(str(self.number >> shift & 0xFF) for shift in (24, 16, 8, 0))
        groups = [self.number >> shift & 0xFFFF for shift in range(112, -1, -16)]
        start, end = _zeros(groups)
        if end - start < 2:
            return ":".join(f"{group:x}" for group in groups)
        before, after = groups[:start], groups[end:]
        return "::".join(":".join(f"{group:x}" for group in part) for part in (before, after))


def _zeros(groups: list[int]) -> tuple[int, int]:
    """Return where the first of the longest runs of zeros begins and ends."""
    best = (0, 0)
    for start in range(8):
        end = start
        while end < 8 and not groups[end]:
            end += 1
        if end - start > best[1] - best[0]:
            best = start, end
    return best


class Cidr:
    """An address and how many of its bits name the network."""

    __slots__ = ("ip", "length")
    type_name = "net.CIDR"

    def __init__(self, ip: Ip, length: int) -> None:
        self.ip = ip
        self.length = length

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Cidr) and (self.ip, self.length) == (other.ip, other.length)

    def __hash__(self) -> int:
        return hash((self.ip, self.length))

    def __str__(self) -> str:
        return f"{self.ip}/{self.length}"


class _BadAddressError(Exception):
    """What is wrong with an address, and the rest of the text from there on."""

    def __init__(self, message: str, rest: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.rest = rest


def parse_ip(text: str) -> Ip:
    """Read an address without a zone that is no mapped one.

    Raises:
        EvalError: it is none; the message is the server's.
    """
    try:
        ip, zone = parse_address(text)
    except EvalError as error:
        raise EvalError(
            f"IP Address {quote(text)} parse error during conversion from string: {error.message}"
        ) from None
    if zone:
        raise EvalError(f"IP address {quote(text)} with zone value is not allowed")
    if _is_mapped(ip):
        raise EvalError(f"IPv4-mapped IPv6 address {quote(text)} is not allowed")
    return ip


def parse_cidr(text: str) -> Cidr:
    """Read a network; its address need not be the first of it.

    Raises:
        EvalError: it is none; the message is the server's.
    """
    address, slash, length = text.rpartition("/")
    prefix = f"{_NO_NETWORK}{_NO_NETWORK}netip.ParsePrefix({quote(text)}): "  # it says so twice
    if not slash:
        raise EvalError(f"{prefix}no '/'")
    try:
        ip, zone = parse_address(address)
    except EvalError as error:
        raise EvalError(prefix + error.message) from None
    if zone:
        raise EvalError(f"{prefix}IPv6 zones cannot be present in a prefix")
    if not re.fullmatch("[0-9]|[1-9][0-9]+", length) or decimal(length) > MAX_INT:
        raise EvalError(f"{prefix}bad bits after slash: {quote(length)}")
    if decimal(length) > ip.bits:
        raise EvalError(f"{prefix}prefix length out of range")
    if _is_mapped(ip):
        raise EvalError(f"{_NO_NETWORK}IPv4-mapped IPv6 address {quote(text)} is not allowed")
    return Cidr(ip, int(length))


def _is_mapped(ip: Ip) -> bool:
    return ip.bits == 128 and ip.number >> 32 == _MAPPED


def parse_address(text: str) -> tuple[Ip, str]:
    """Read an address and its zone ("" without one).

    Raises:
        EvalError: it is none; the message is that of netip.ParseAddr.
    """
    try:
        return _parsed(text)
    except _BadAddressError as error:
        at = f" (at {quote(error.rest)})" if error.rest else ""
        raise EvalError(f"ParseAddr({quote(text)}): {error.message}{at}") from None


def _parsed(text: str) -> tuple[Ip, str]:
    mark = re.search("[.:%]", text)
    if mark is None:
        raise _BadAddressError("unable to parse IP")
    if mark.group() == "%":
        raise _BadAddressError("missing IPv6 address")
    if mark.group() == ".":
        return Ip(_ipv4(text), 32), ""
    address, percent, zone = text.partition("%")
    if percent and not zone:
        raise _BadAddressError("zone must be a non-empty string")
    return Ip(_ipv6(address), 128), zone


def _ipv4(text: str) -> int:
    fields: list[int] = []
    value, digits = 0, 0
    for i, char in enumerate(text):
        if "0" <= char <= "9":
            if digits == 1 and value == 0:
                raise _BadAddressError("IPv4 field has octet with leading zero")
            value, digits = value * 10 + int(char), digits + 1
            if value > 255:
                raise _BadAddressError("IPv4 field has value >255")
        elif char == ".":
            if i in (0, len(text) - 1) or text[i - 1] == ".":
                raise _BadAddressError("IPv4 field must have at least one digit", text[i:])
            if len(fields) == 3:
                raise _BadAddressError("IPv4 address too long")
            fields.append(value)
            value = digits = 0
        else:
            raise _BadAddressError("unexpected character", text[i:])
    if len(fields) < 3:
        raise _BadAddressError("IPv4 address too short")
    return int.from_bytes([*fields, value], "big")


def _ipv6(text: str) -> int:
    groups: list[int] = []
    gap = -1
    rest = text
    if rest.startswith("::"):
        gap, rest = 0, rest[2:]
        if not rest:
            return 0
    while len(groups) < 8:
        digits = _hex(rest)
        if rest.startswith(".", len(digits)):
            groups += _embedded(rest, groups, gap)
            rest = ""
            break
        groups.append(int(digits, 16))
        rest = rest[len(digits) :]
        if not rest:
            break
        if rest[0] != ":":
            raise _BadAddressError("unexpected character, want colon", rest)
        if len(rest) == 1:
            raise _BadAddressError("colon must be followed by more characters", rest)
        rest = rest[1:]
        if rest[0] == ":":
            if gap >= 0:
                raise _BadAddressError("multiple :: in address", rest)
            gap, rest = len(groups), rest[1:]
            if not rest:
                break
    if rest:
        raise _BadAddressError("trailing garbage after address", rest)
    if len(groups) < 8:
        if gap < 0:
            raise _BadAddressError("address string too short")
        groups[gap:gap] = [0] * (8 - len(groups))
    elif gap >= 0:
        raise _BadAddressError("the :: must expand to at least one field of zeros")
    return int.from_bytes(b"".join(group.to_bytes(2, "big") for group in groups), "big")


def _hex(rest: str) -> str:
    found = _HEX.match(rest)
    digits = found.group() if found else ""
    if len(digits) > 4:
        raise _BadAddressError("each group must have 4 or less digits", rest)
    if not digits:
        raise _BadAddressError("each colon-separated field must have at least one digit", rest)
    return digits


def _embedded(rest: str, groups: list[int], gap: int) -> list[int]:
    """Read an IPv4 address at the end as two groups."""
    if gap < 0 and len(groups) != 6:
        raise _BadAddressError(
            "embedded IPv4 address must replace the final 2 fields of the address", rest
        )
    if len(groups) > 6:
        raise _BadAddressError(
            "too many hex fields to fit an embedded IPv4 at the end of the address", rest
        )
    number = _ipv4(rest)
    return [number >> 16, number & 0xFFFF]


# What addresses are for.


def is_unspecified(ip: Ip) -> bool:
    """Tell whether an address is all zeros."""
    return ip.number == 0


def is_loopback(ip: Ip) -> bool:
    """Tell whether an address is in 127.0.0.0/8 or ::1."""
    return ip.number >> 24 == 127 if ip.bits == 32 else ip.number == 1


def is_link_local_unicast(ip: Ip) -> bool:
    """Tell whether an address is in 169.254.0.0/16 or fe80::/10."""
    return ip.number >> 16 == 0xA9FE if ip.bits == 32 else ip.number >> 118 == 0xFE80 >> 6


def is_link_local_multicast(ip: Ip) -> bool:
    """Tell whether an address is in 224.0.0.0/24, or in ff02::/16 with any flags."""
    return ip.number >> 8 == 0xE00000 if ip.bits == 32 else (ip.number >> 112) & 0xFF0F == 0xFF02


def _is_multicast(ip: Ip) -> bool:
    return ip.number >> 28 == 0xE if ip.bits == 32 else ip.number >> 120 == 0xFF


def is_global_unicast(ip: Ip) -> bool:
    """Tell whether an address is for one host and not only for a link; private ones are."""
    if ip.bits == 32 and ip.number == 0xFFFFFFFF:
        return False
    return not (
        is_unspecified(ip) or is_loopback(ip) or _is_multicast(ip) or is_link_local_unicast(ip)
    )


def masked(cidr: Cidr) -> Cidr:
    """Return a network with its first address."""
    rest = cidr.ip.bits - cidr.length
    return Cidr(Ip(cidr.ip.number >> rest << rest, cidr.ip.bits), cidr.length)


def contains_ip(cidr: Cidr, ip: Ip) -> bool:
    """Tell whether an address is in a network."""
    rest = cidr.ip.bits - cidr.length
    return ip.bits == cidr.ip.bits and ip.number >> rest == cidr.ip.number >> rest


def contains_cidr(cidr: Cidr, other: Cidr) -> bool:
    """Tell whether all of another network is in a network."""
    return cidr.length <= other.length and contains_ip(cidr, other.ip)
