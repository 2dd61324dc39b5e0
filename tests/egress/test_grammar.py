"""The URL grammar beyond the corpus: every parser reads an accepted URL the same way."""

import re
from ipaddress import IPv6Address, ip_address
from urllib.parse import urlsplit

import pycurl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tradewind.egress.grammar import LONGEST_URL, UrlRejected, parse

PORTS = frozenset({443, 8443})

LABELS = st.from_regex(r"[a-z0-9]([a-z0-9-]{0,20}[a-z0-9])?", fullmatch=True)
NAMES = st.builds(
    lambda labels, last: ".".join([*labels, last]),
    st.lists(LABELS, min_size=1, max_size=4),
    st.sampled_from(["com", "org", "de", "io", "xn--p1ai"]),
)
PATHS = st.from_regex(
    r"/([A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-F]{2}){0,20}(\?[a-z=&/?@]{0,9})?", fullmatch=True
)
NEAR_MISSES = st.text(
    alphabet="htps:/\\@#?%[].0123456789abcdefxX-_ \t\n\r\x00\u3002\uff0e,;~", max_size=60
)
ALMOST_PLAIN = st.builds(
    lambda url, at, odd: url[:at] + odd + url[at:],
    st.builds("https://{}{}{}".format, NAMES, st.sampled_from(["", ":443"]), PATHS),
    st.integers(0, 60),
    st.sampled_from(
        ["", *map(chr, range(128)), "\u3002", "\uff0e", "\uff20", "\u2044", "@127.0.0.1"]
    ),
)


def reason(url: str, *, development: bool = False) -> str:
    with pytest.raises(UrlRejected) as refusal:
        parse(url, ports=PORTS, development=development)
    return refusal.value.reason


@settings(deadline=None)
@given(NAMES, st.sampled_from(["", ":443", ":8443"]), PATHS)
def test_a_plain_url_is_read_as_it_is_written(name: str, port: str, path: str) -> None:
    target = parse(f"https://{name}{port}{path}", ports=PORTS)

    number = int(port[1:] or 443)
    assert (target.scheme, target.host, target.port, target.path) == ("https", name, number, path)
    assert target.url == f"https://{name}:{number}{path}"
    assert target.authority == (name if number == 443 else f"{name}:{number}")
    assert target.literal is None


@settings(deadline=None)
@given(
    st.one_of(st.text(max_size=80), NEAR_MISSES, NEAR_MISSES.map("https://".__add__), ALMOST_PLAIN)
)
@example("https://a.com\n")
@example("https://a.com:443\n/")
@example("https://[::1]\n/")
@example("https://1.2.3.4\u0661/")
def test_what_is_accepted_means_the_same_to_other_parsers(url: str) -> None:
    try:
        target = parse(url, ports=PORTS)
    except UrlRejected:
        return

    other = urlsplit(url)
    assert (other.scheme, other.port or 443) == ("https", target.port)
    assert other.hostname == target.host.strip("[]")
    assert (other.username, other.password, other.fragment) == (None, None, "")
    libcurl = pycurl.CurlUrl()
    libcurl.setpart(pycurl.UPART_URL, url, pycurl.U_PATH_AS_IS)
    host = libcurl.getpart(pycurl.UPART_HOST, 0)
    if target.literal is None:
        assert host.lower() == target.host
    else:
        assert ip_address(host.strip("[]")) == target.literal
    assert libcurl.getpart(pycurl.UPART_PORT, pycurl.U_DEFAULT_PORT) == str(target.port)
    assert re.fullmatch(r"[\x21-\x7e]+", target.url)
    assert parse(target.url, ports=PORTS) == target


@settings(deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([int, hex, oct]))
def test_an_ipv4_address_has_one_spelling(number: int, written: type[int]) -> None:
    quad = ".".join(str(number >> shift & 255) for shift in (24, 16, 8, 0))
    assert str(parse(f"https://{quad}/", ports=PORTS).literal) == quad

    odd = written(number)
    for host in (
        f"{odd}",
        ".".join(f"0{number >> shift & 255:o}" for shift in (24, 16, 8, 0)),
        ".".join(hex(number >> shift & 255) for shift in (24, 16, 8, 0)),
        f"{number >> 24}.{number & 0xFFFFFF}",
        f"{number >> 24}.{number >> 16 & 255}.{number & 0xFFFF}",
        f"{quad}.",
        f"{quad}.0",
        f"[{quad}]",
        f"[::ffff:{quad}]",
    ):
        assert reason(f"https://{host}/") == "host"


@settings(deadline=None)
@given(st.integers(0, 2**128 - 1))
def test_an_ipv6_address_is_read_in_brackets_only(number: int) -> None:
    text = IPv6Address(number)
    for spelling in (text.compressed, text.exploded, text.exploded.upper()):
        assert parse(f"https://[{spelling}]:8443/", ports=PORTS).literal == text
        assert reason(f"https://{spelling}/") == "host"
        assert reason(f"https://[{spelling}%eth0]/") == "host"
        assert reason(f"https://[{spelling}%25eth0]/") == "host"


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("", "form"),
        ("https:///path", "host"),
        ("https://a.com/" + "x" * LONGEST_URL, "too_long"),
        ("https://a.com/ b", "characters"),
        ("https://a.com/\x7f", "characters"),
        ("https://a.com\\@b.com/", "backslash"),
        ("https://a.com/#", "fragment"),
        ("http://a.com/", "scheme"),
        ("https://a@b.com/", "credentials"),
        ("https://@b.com/", "credentials"),
        ("https://a.com:/", "host"),
        ("https://a.com:0443/", "port"),
        ("https://a.com:65979/", "port"),
        ("https://a.com:80/", "port"),
        ("https://a..com/", "host"),
        ("https://.a.com/", "host"),
        ("https://a.com./", "host"),
        ("https://a-.com/", "host"),
        ("https://localhost/", "host"),
        ("https://a.localhost/", "host"),
        ("https://com/", "host"),
        ("https://" + "a." * 126 + "com/", "host"),
        ("https://a.com/%zz", "path"),
        ("https://a.com/%", "path"),
        ("https://a.com/<script>", "path"),
        ('https://a.com/"', "path"),
        ("https://a.com/{x}", "path"),
    ],
)
def test_a_refusal_says_why(url: str, why: str) -> None:
    assert reason(url) == why


@pytest.mark.parametrize(
    ("url", "host", "port", "path"),
    [
        ("https://a.com", "a.com", 443, "/"),
        ("https://a.com?x=1", "a.com", 443, "/?x=1"),
        ("HTTPS://A.Com/X", "a.com", 443, "/X"),
        ("https://a.com/a[]=1?b[]=2", "a.com", 443, "/a[]=1?b[]=2"),
        ("https://a.com/a/../b/./%2e%2E/", "a.com", 443, "/a/../b/./%2e%2E/"),
        ("https://a.com//x", "a.com", 443, "//x"),
        ("https://a.com/" + "x" * (LONGEST_URL - 14), "a.com", 443, "/" + "x" * 2034),
    ],
)
def test_what_is_accepted_keeps_its_path(url: str, host: str, port: int, path: str) -> None:
    target = parse(url, ports=PORTS)

    assert (target.host, target.port, target.path) == (host, port, path)


@pytest.mark.parametrize(
    ("url", "host", "port"),
    [
        ("http://localhost/", "localhost", 80),
        ("http://localhost:3000/x", "localhost", 3000),
        ("https://localhost/", "localhost", 443),
        ("http://127.0.0.1:1/", "127.0.0.1", 1),
        ("http://[::1]:65535/", "[::1]", 65535),
        ("http://hooks.example.com:8080/", "hooks.example.com", 8080),
    ],
)
def test_development_accepts_http_any_port_and_localhost(url: str, host: str, port: int) -> None:
    target = parse(url, ports=PORTS, development=True)

    assert (target.host, target.port) == (host, port)


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost:0/",
        "http://a.localhost/",
        "http://receiver/",
        "ftp://localhost/",
        "http://localhost./",
        "http://127.1/",
        "http://a@localhost/",
        "http://localhost:65536/",
    ],
)
def test_development_is_no_less_strict_about_the_rest(url: str) -> None:
    reason(url, development=True)
