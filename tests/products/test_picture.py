"""A picture is known by its bytes, and its size is read without decoding it."""

from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kit import pictures

from tradewind.products.picture import LARGEST_IMAGE, PictureSize, UnusablePicture, check_picture

SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'


@pytest.mark.parametrize(
    "picture",
    [
        pictures.png(64, 48),
        pictures.jpeg(64, 48),
        pictures.jpeg(64, 48, frame=0xC2),
        pictures.jpeg(64, 48, comment=b"\xff\xc0" + bytes(100)),
        b"\xff\xd8\xff\xff\xff" + pictures.jpeg(64, 48)[3:],
        pictures.webp_lossy(64, 48),
        pictures.webp_lossless(64, 48),
        pictures.webp_extended(64, 48),
    ],
)
def test_the_size_of_a_picture(picture: bytes) -> None:
    assert check_picture(picture) == PictureSize(64, 48)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        SVG,
        b"GIF89a" + bytes(20),
        b"BM" + bytes(50),
        b"%PDF-1.7",
        b"PK\x03\x04" + bytes(50),
        b"<html><img src=x>" + pictures.png(),
        SVG + pictures.jpeg(),
        pictures.png()[:20],
        pictures.png().replace(b"IHDR", b"IEND"),
        pictures.jpeg()[:6],
        b"\xff\xd8\xff\xe0\x00\x00" + bytes(100),
        b"\xff\xd8" + b"\xff\x01" * 2000,
        b"\xff\xd8" + b"\xff" * 5000,
        b"RIFF\0\0\0\0WEBPVP8X",
        b"RIFF\0\0\0\0WEBPVP8 " + bytes(40),
        b"RIFF\0\0\0\0WAVEfmt " + bytes(40),
    ],
)
def test_what_is_not_a_picture(data: bytes) -> None:
    with pytest.raises(UnusablePicture, match="JPEG, PNG or WebP"):
        check_picture(data)


@pytest.mark.parametrize(
    ("width", "height"),
    [(65_535, 65_535), (2**31, 1000), (10_001, 100), (8000, 8000), (15, 100), (0, 0)],
)
def test_a_size_that_would_be_a_burden(width: int, height: int) -> None:
    with pytest.raises(UnusablePicture, match="pixels"):
        check_picture(pictures.png_claiming(width, height))


def test_a_file_that_is_too_large() -> None:
    picture = pictures.png()
    whole = picture + bytes(LARGEST_IMAGE - len(picture))
    assert check_picture(whole) == PictureSize(64, 64)
    with pytest.raises(UnusablePicture, match="3 MiB"):
        check_picture(whole + b"\0")


_STARTS = [b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"RIFF1234WEBPVP8X", b"RIFF1234WEBPVP8L\0\0\0\0"]


@given(st.sampled_from([b"", *_STARTS]), st.binary(max_size=300))
def test_no_file_crashes(start: bytes, data: bytes) -> None:
    try:
        size = check_picture(start + data)
    except UnusablePicture:
        return
    assert 16 <= size.width <= 10_000
    assert 16 <= size.height <= 10_000


@pytest.mark.parametrize("piece", [b"\xff\xe0\x00\x02", b"\xff", b"\xff\x01", b"\xff\xd8"])
def test_no_file_is_slow(piece: bytes) -> None:
    started = perf_counter()
    with pytest.raises(UnusablePicture):
        check_picture(b"\xff\xd8\xff" + piece * (LARGEST_IMAGE // len(piece) - 1))
    assert perf_counter() - started < 0.5
