"""Links to products: every form that people paste, and what only looks like one."""

from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tradewind.dashboard.products.lookup import may_name_product
from tradewind.errors import ValidationFailed
from tradewind.platforms.alibaba.links import LINKS as ALIBABA
from tradewind.platforms.product_links import Link
from tradewind.platforms.sandbox.links import read_simulated_id
from tradewind.platforms.taobao.links import LINKS as TAOBAO
from tradewind.products.resolve import find_linked_product

MARKETPLACES = {"alibaba": ALIBABA, "taobao": TAOBAO}


def simulated(link: Link) -> tuple[str, str] | None:
    product_id = read_simulated_id(link)
    return (
        ("sandbox", product_id) if product_id and link.origin == "http://127.0.0.1:8085" else None
    )


def find(text: str) -> tuple[str, str]:
    return find_linked_product(text, MARKETPLACES, simulated)


@pytest.mark.parametrize(
    "text",
    [
        "https://detail.1688.com/offer/628000000001.html",
        "http://detail.1688.com/offer/628000000001.html?spm=a26.1&skuId=5",
        "HTTPS://DETAIL.1688.COM/offer/628000000001.html#reviews",
        "detail.1688.com/offer/628000000001.html",
        "https://m.1688.com/offer/628000000001.html",
        "https://detail.1688.com./offer/628000000001",
        "https://detail.1688.com:443/offer/628000000001.html",
        "https://detail.m.1688.com/page/index.html?offerId=628000000001&sk=order",
        "https://m.1688.com/page/x.html?a=1&offer_id=628000000001",
        "看看这个https://detail.1688.com/offer/628000000001.html。很好",
        "【包邮】夏季 (https://detail.1688.com/offer/628000000001.html) 复制打开",
        "https://login.1688.com/member/signin.htm?Done=https%3A%2F%2Fdetail.1688.com%2Foffer%2F628000000001.html",
        "https://qr.1688.com/s/x https://detail.1688.com/offer/628000000001.html",
    ],
)
def test_a_link_to_1688(text: str) -> None:
    assert find(text) == ("alibaba", "628000000001")


@pytest.mark.parametrize(
    "text",
    [
        "https://item.taobao.com/item.htm?id=628000000001",
        "https://item.taobao.com/item.htm?spm=a21&id=628000000001&ns=1",
        "https://m.intl.taobao.com/detail/detail.html?id=628000000001",
        "https://h5.m.taobao.com/awp/core/detail.htm?id=628000000001",
        "https://world.taobao.com/item/628000000001.htm",
        "https://a.m.taobao.com/i628000000001.htm?rn=1",
        "https://detail.tmall.com/item.htm?id=628000000001&skuId=7",
        "https://detail.m.tmall.com/item.htm?id=628000000001",
        "https://chaoshi.detail.tmall.com/item.htm?id=628000000001",
        "https://detail.tmall.hk/hk/item.htm?id=628000000001",
        "https://market.m.taobao.com/app/x?itemId=628000000001",
        "https://login.taobao.com/member/login.jhtml?redirectURL=https%3A%2F%2Fitem.taobao.com%2Fitem.htm%3Fid%3D628000000001",
        "「好物」https://item.taobao.com/item.htm?id=628000000001」点击",
    ],
)
def test_a_link_to_taobao_or_tmall(text: str) -> None:
    assert find(text) == ("taobao", "628000000001")


def test_a_link_to_the_simulator() -> None:
    assert find("http://127.0.0.1:8085/offer/900000000001.html") == ("sandbox", "900000000001")
    with pytest.raises(ValidationFailed):
        find("http://127.0.0.1:8086/offer/900000000001.html")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("【淘宝】https://m.tb.cn/h.5xyz?tk=ab12 CZ0001 「裙」点击链接直接打开", "short_link"),
        ("https://e.tb.cn/h.5xyz", "short_link"),
        ("https://qr.1688.com/s/7OnLCakq", "short_link"),
        ("https://www.1688.com/", "not_a_product"),
        ("https://shop123.taobao.com/?id=5", "not_a_product"),
        ("https://detail.1688.com/offer/x.html", "not_a_product"),
        ("https://detail.1688.com/offer/12345678901234567890.html", "not_a_product"),
        ("https://detail.1688.com/offer/0.html", "not_a_product"),
        ("https://item.taobao.com/item.htm?id=12ab", "not_a_product"),
        ("a red dress", "no_product"),
        ("https://1688.com.evil.example/offer/628000000001.html", "no_product"),
        ("https://evil1688.com/offer/628000000001.html", "no_product"),
        ("https://evil.example/detail.1688.com/offer/628000000001.html", "no_product"),
        ("https://evil.example/?u=https://detail.1688.com/offer/628000000001.html", "no_product"),
        ("https://detail.1688.com@evil.example/offer/628000000001.html", "no_product"),
        ("https://user:secret@detail.1688.com/offer/628000000001.html", "no_product"),
        ("https://evil.example\\@detail.1688.com/offer/628000000001.html", "no_product"),
        ("https://detail.1688.com:8443/offer/628000000001.html", "no_product"),
        ("https://detail.1688\u3002com/offer/628000000001.html", "no_product"),
        ("https://\u0434etail.1688.com/offer/628000000001.html", "no_product"),
        ("https://detail.\uff11688.com/offer/628000000001.html", "no_product"),
        ("https://[::1/offer/628000000001.html", "no_product"),
        ("https://detail.1688.com:99999999/offer/628000000001.html", "no_product"),
        ("javascript://detail.1688.com/offer/628000000001.html", "no_product"),
        ("ftp://detail.1688.com/offer/628000000001.html", "no_product"),
    ],
)
def test_what_is_not_a_link_to_a_product(text: str, code: str) -> None:
    with pytest.raises(ValidationFailed) as refused:
        find(text)
    assert [(error.pointer, error.code) for error in refused.value.errors] == [("/text", code)]


_PIECES = st.sampled_from(
    [
        *("https://", "http://", "detail.1688.com", "item.taobao.com", "/offer/", "?id="),
        *("item.htm", "@", ":", "[", "]", "%", "\\", ".", "1" * 25, "&", "#", " ", "\u3000"),
        *("\x00", "裙", "\ud800"),
    ]
)


@given(st.one_of(st.text(max_size=4000), st.lists(_PIECES, max_size=200).map("".join)))
def test_no_text_crashes(text: str) -> None:
    try:
        platform, product_id = find(text)
    except ValidationFailed:
        return
    assert platform in MARKETPLACES
    assert product_id.isdecimal()
    assert len(product_id) <= 19


@pytest.mark.parametrize(
    "piece",
    [
        "https://",
        "a.b/",
        "https://detail.1688.com/",
        "%",
        "?id=",
        "/offer/",
        "1",
        "[",
        "@",
        " x.y/",
    ],
)
def test_no_text_is_slow(piece: str) -> None:
    text = (piece * 4000)[:4000]
    started = perf_counter()
    with pytest.raises(ValidationFailed):
        find(text)
    assert perf_counter() - started < 0.1


@pytest.mark.parametrize(
    ("text", "instead"),
    [
        ("https://m.tb.cn/h.5xyz", "https://item.taobao.com/item.htm?id=610947572360"),
        ("qr.1688.com/s/7OnLCakq", "https://detail.1688.com/offer/610947572360.html"),
    ],
)
def test_a_short_link_says_what_to_paste_instead(text: str, instead: str) -> None:
    with pytest.raises(ValidationFailed) as refused:
        find(text)

    message = refused.value.errors[0].message
    assert "Open it in a browser" in message
    assert f"such as {instead}, or the product's ID alone." in message
    # The dashboard's boxes take it for a link as well, with and without the scheme.
    assert may_name_product(text)
