"""A form with files is split at its boundary, whatever the files hold."""

from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tradewind.web.multipart import file_names, split_multipart

TYPE = "multipart/form-data; boundary=xYz"


def form(*parts: bytes, end: bytes = b"--xYz--\r\n") -> bytes:
    return b"".join(b"--xYz\r\n" + part + b"\r\n" for part in parts) + end


def field(name: str, value: bytes, more: str = "") -> bytes:
    return f'Content-Disposition: form-data; name="{name}"{more}\r\n\r\n'.encode() + value


@given(st.binary(max_size=500).filter(lambda data: b"xYz" not in data))
def test_a_file_arrives_as_it_is(data: bytes) -> None:
    body = form(field("csrf", b"1"), field("picture", data, '; filename="a.png"'))

    assert split_multipart(TYPE, body) == [("csrf", b"1"), ("picture", data)]


def test_the_name_of_a_file() -> None:
    body = form(
        field("csrf", b'filename="x"'),
        field("file", b"1", '; filename="\u5f20.csv"\r\nContent-Type: text/csv'),
        field("other", b"", '; filename=""'),
    )

    assert file_names(TYPE, body) == {"file": "\u5f20.csv"}
    assert file_names(TYPE, b"") == {}


def test_a_quoted_boundary_and_other_headers() -> None:
    part = (
        b'content-type: image/png\r\ncontent-disposition: form-data; filename=x; name="p"\r\n\r\n1'
    )

    assert split_multipart('multipart/form-data; boundary="xYz"', form(part)) == [("p", b"1")]


def test_a_file_name_is_not_the_name_of_a_field() -> None:
    part = b'Content-Disposition: form-data; filename="csrf"\r\n\r\n1'

    assert split_multipart(TYPE, form(part)) is None


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("multipart/form-data", form(field("a", b"1"))),
        (TYPE, b""),
        (TYPE, b"--xYz--"[:5]),
        (TYPE, form(field("a", b"1"), end=b"")),
        (TYPE, form(b"no head")),
        (TYPE, form(b"x: " + b"y" * 5000 + b"\r\n\r\n1")),
        (TYPE, form(*[field("a", b"1")] * 60)),
    ],
)
def test_what_is_no_form(content_type: str, body: bytes) -> None:
    assert split_multipart(content_type, body) is None


@given(st.text(max_size=100), st.binary(max_size=300))
def test_nothing_crashes(content_type: str, body: bytes) -> None:
    split_multipart(f"multipart/form-data; boundary={content_type}", body)


def test_no_body_is_slow() -> None:
    started = perf_counter()
    for piece in (b"\r\n--xYz", b"\r\n--xY", b"\r\n", b"content-disposition: form-data; "):
        split_multipart(TYPE, b"--xYz\r\n" + piece * (4_000_000 // len(piece)))
    assert perf_counter() - started < 1
