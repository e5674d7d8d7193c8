"""The formats, held against what kube-openapi's strfmt says of the same texts."""

from __future__ import annotations

import pytest

from crdlint import formats

GOOD: dict[str, list[str]] = {
    "bsonobjectid": ["507f1f77bcf86cd799439011"],
    "uri": [
        "http://a.b/c?d#e",
        "https://[::1]:80/x",
        "https://[fe80::1%25en0]/",
        "mailto:a@b",
        "/abs",
        "//host/x",
        "*",
        "http://u:p@h:1/%20",
        "http://h:",
        "a:b",
        "x://a:b:1",
        "http://[::ffff:1.2.3.4]",
        "http://\xe9.com",
        "http://a%C3%A9",
        "http://u@p@h/",
        "http://h/ x",
        "http:///x",
        "h-t.p+://x",
        "http://[::1%25%20]",
        "http:?x",
        "http://a]b/",
    ],
    "email": [
        "a@b",
        '"a b"@c.d',
        "A B <a@b.c>",
        "<a@b>",
        "a@[1.2.3.4]",
        "g: a@b;",
        "a@b (x)",
        "=?utf-8?q?x?= <a@b>",
        '"" <a@b>',
        "\xe9@\xe9",
        "a@[::1]",
        '"a\\"b"@c',
        " a@b ",
        "a@ b",
        "A (c) <a@b>",
        "a@b(x(y)z)",
        "a.b. c <a@b>",
        '"a" "b" <c@d>',
        "x =?foo?q?xx?= <a@b>",
        "a\u3000b <a@b>",
        "< a@b>",
        "a:<b@c>;",
    ],
    "hostname": [
        "a.com",
        "a",
        "\xe9.com",
        "a.bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb",
        "x" * 63,
        "\u2603.net",
        "1.com",
        "a--b.cc",
        "\u20ac",
        "\u0430.\u0440\u0444",
        "$a.com",
        "a+b",
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx.com",
        "\ud83d",
    ],
    "ipv4": [
        "1.2.3.4",
        "01.02.03.004",
        "::ffff:1.2.3.4",
        "1.2.3.0000000000000004",
        "::1.2.3.04",
        "1:2:3:4:5:6:1.2.3.4",
        "00001::1.2.3.4",
    ],
    "ipv6": [
        "::",
        "::1",
        "1::",
        "1:2:3:4:5:6:7:8",
        "1:2:3:4:5:6:7::",
        "::ffff:1.2.3.4",
        "1:2:3:4:5:6:1.2.3.4",
        "0:0:0:0:0:0:0:0",
    ],
    "cidr": [
        "1.2.3.4/24",
        "::/0",
        "::1/128",
        "1.2.3.4/024",
        "01.2.3.4/8",
        "::ffff:1.2.3.4/40",
        "00001::/8",
    ],
    "mac": [
        "00:00:5e:00:53:01",
        "02:00:5e:10:00:00:00:01",
        "00-00-5e-00-53-01",
        "0000.5e00.5301",
        "0200.5e10.0000.0001",
        "00005e005301",
        "02005e1000000001",
        "aa:aa:aa:aa:aa:aa:aa:aa:aa:aa:aa:aa:aa:aa:aa:aa:aa:aa:aa:aa",
        "a" * 40,
    ],
    "uuid": ["123e4567-e89b-12d3-a456-426614174000", "123e4567e89b12d3a456426614174000"],
    "uuid3": ["123e4567-e89b-32d3-a456-426614174000"],
    "uuid4": ["123e4567-e89b-42d3-a456-426614174000", "123E4567-E89B-42D3-A456-426614174000"],
    "uuid5": ["123e4567-e89b-52d3-a456-426614174000"],
    "isbn": ["0321751043", "978-0321751041", "3 401 01319 X"],
    "isbn10": ["0321751043", "3 401 01319 X"],
    "isbn13": ["978-0321751041"],
    "creditcard": ["4111-1111-1111-1111", "374953669708156", "6011464355444102"],
    "ssn": ["191-60-2869", "191 60 2869"],
    "hexcolor": ["#fff", "abcdef"],
    "rgbcolor": ["rgb(0,31,255)", "rgb( 1 , 2 , 3 )", "rgb(199,1,1)"],
    "byte": ["aGVsbG8=", "YQ==", "YWI=", "YWJj"],
    "password": ["x", ""],
    "date": ["2020-02-29", "0000-02-29"],
    "date-time": [
        "2020-01-01T00:00:00Z",
        "2020-01-01t23:59:59.9z",
        "2020-01-01T00:00:00+99:99",
        "2020-01-01T00:00:00ZT1",
        "2020-01-01T00:00:00x12Z",
        "2020-01-01T00:00:00\xe91Z",
    ],
    "duration": [
        "1h",
        "1.5h",
        ".5s",
        "1.h",
        "1 day",
        "2 weeks",
        "0",
        "+0",
        "-1m",
        "1h1",
        "1\xb5s",
        "1\u03bcs",
        "99999999999h",
        "-9223372036854775808ns",
        "1 microsecond",
        "1 MICROS",
        "9223372036854775807 d",
        "3 sec x",
        "1 w k",
        "1 hours",
        "00000000000000000000001h",
        "1..2s",
        "0.99999999999999999999h",
        "2562047h47m16.854775807s",
        "2562047h47m16.854775808s",
        "-2562047h47m16.854775808s",
    ],
    "k8s-short-name": ["abc", "a-b", "a" * 63],
    "k8s-long-name": ["a.b", "a" * 253],
}
BAD: dict[str, list[str]] = {
    "bsonobjectid": [],
    "uri": [
        "http://a:b:1",
        "http://a%20b",
        "http://[1.2.3.4]/",
        "http://a b/",
        "1http://x",
        ":x",
        "?x",
        "http://[fe80::1%25]/",
        "http://[fe80::1%en0]/",
        "http://[::1]%80/",
        "http://a[b/",
    ],
    "email": [
        "g:;",
        "g:a@b,c@d;",
        "=?foo?q?x?= <a@b>",
        "a@b (=?foo?q?xx?=)",
        "a..b@c",
        ".a@b",
        "a@b.",
        '""@b',
        "a b@c",
        "a@b c",
        "a\t@b",
        "a @b",
        "(c)a@b",
        "A=?x",
        "a@b(x\\)",
        "a:b@c",
        "=?foo?b?YQ==?= x <a@b>",
        "a <b> c",
        "a@[IPv6:::1]",
        "a@[::1%25x]",
        "<a@b >",
        "a: b@c , d@e ;",
        "a:b;",
    ],
    "hostname": [
        "-a.com",
        "a-.com",
        "a_b.com",
        "a.b1",
        "a.bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb",
        "x" * 64,
        "x-yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy",
        "a..b",
        "a.",
        "a b",
        "abc.abc.abc.abc.abc.abc.abc.abc.abc.abc.abc.abc.abc.abc.abc.abc.abc.abc.abc.abc.abc.abc.abc.abc.abc.abc.abc.abc.abc.abc.abc.abc.abc.abc.abc.abc.abc.abc.abc.abc.abc.abc.abc.abc.abc.abc.abc.abc.abc.abc.abc.abc.abc.abc.abc.abc.abc.abc.abc.abc.abc.abc.abc.abc.abc.abc.abc.abc.abc.abc",
        "\xe9\xe9\xe9\xe9\xe9\xe9\xe9\xe9\xe9\xe9\xe9\xe9\xe9\xe9\xe9\xe9\xe9\xe9\xe9\xe9\xe9\xe9\xe9\xe9\xe9\xe9\xe9\xe9\xe9\xe9\xe9\xe9.com",
        "a\xb2",
        "\u2177.com",
    ],
    "ipv4": [
        "1.2.3",
        "1.2.3.256",
        "1.2.3.4.5",
        "::1",
        "16777215.1.1.1",
        "1.2.3.4:",
        "a.1.2.3",
        ":1.2.3.4",
        "\u0661.2.3.4",
    ],
    "ipv6": [
        "1::2::3",
        "::1.2.3.04",
        "fe80::1%eth0",
        "12345::",
        "1:2:3:4:5:6:7:1.2.3.4",
        "::1:",
        "1:2:3:4:5:6:7:8:9",
        "1:2:3:4:5:6:7:8::",
        "::00001",
        "1:::2",
        "1.2.3.4",
        "%::1",
        "g::",
    ],
    "cidr": ["1.2.3.4/33", "::1/129", "1.2.3.4/", "/8", "1.2.3.4/8/8", "1.2.3.4/-1"],
    "mac": ["00:00-5e:00:53:01", "00:00:5e:00:53"],
    "uuid": [],
    "uuid3": [],
    "uuid4": [],
    "uuid5": [],
    "isbn": [],
    "isbn10": ["340101319x"],
    "isbn13": [],
    "creditcard": ["30190239451016"],
    "ssn": ["191602869", "191-602869"],
    "hexcolor": ["#FFFF"],
    "rgbcolor": ["rgb(01,2,3)", "rgb(256,1,1)"],
    "byte": ["", "YQ=", "Y"],
    "password": [],
    "date": ["2019-02-29", "2020-13-01", "2020-1-01", "10000-01-01", "2020-04-31", "+200-01-01"],
    "date-time": [
        "2020-01-01T24:00:00Z",
        "2020-01-01T00:00:60Z",
        "2020-01-01T00:00:00",
        "2020-01-01 00:00:00Z",
        "2020-01-01T00:00:00\n1Z",
    ],
    "duration": [
        "3 hrs",
        "",
        "5 fortnights",
        "99999999999.h",
        "9223372036854775808ns",
        "1 \xb5",
        "9223372036854775808 d",
        "1mi",
        "1mil",
        "1wkx",
        "1hrs",
        ".s",
        "\u0661s",
        "1 day 99999999999999999999 q",
    ],
    "k8s-short-name": ["-a", "A", "a" * 64],
    "k8s-long-name": ["a..b", "a" * 254],
}


@pytest.mark.parametrize("name", GOOD)
def test_takes_what_go_takes(name: str) -> None:
    assert [text for text in GOOD[name] if not formats.matches(name, text)] == []


@pytest.mark.parametrize("name", BAD)
def test_refuses_what_go_refuses(name: str) -> None:
    assert [text for text in BAD[name] if formats.matches(name, text)] == []


def test_every_format_is_tested() -> None:
    assert {name.replace("-", "") for name in GOOD} == set(formats.MATCHERS)


def test_known_by_type() -> None:
    assert formats.known("string", "date-time", 25)
    assert formats.known("", "datetime", 25)
    assert not formats.known("string", "Date", 37)
    assert not formats.known("string", "int32", 37)
    assert formats.known("integer", "int64", 37)
    assert not formats.known("integer", "uint32", 37)
    assert formats.known("number", "double", 37)
    assert not formats.known("number", "int32", 37)
    assert not formats.known("boolean", "date", 37)


def test_kubernetes_names_count_by_the_compatibility_version() -> None:
    assert [
        minor for minor in range(25, 38) if formats.known("string", "k8s-short-name", minor)
    ] == [35, 36, 37]


def test_an_unknown_format_asks_nothing() -> None:
    assert formats.matches("nope", "anything")


@pytest.mark.parametrize("name", GOOD)
def test_long_texts_take_linear_time(name: str) -> None:
    for text in (
        "a" * 200_000,
        "1." * 100_000,
        "1h" * 100_000,
        "(" * 200_000,
        "a@" * 100_000,
        '"' * 200_000,
        "x <" * 70_000,
    ):
        formats.matches(name, text)
