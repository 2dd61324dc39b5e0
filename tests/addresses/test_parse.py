"""Pasted addresses: the usual formats are taken apart, and no character of a text is lost."""

# ruff: noqa: RUF001 - people write Chinese punctuation

import re
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tradewind.addresses.divisions import divisions
from tradewind.addresses.parse import AddressPart, ParsedAddress, is_separator, parse

ZHANG = ParsedAddress("张三", "15251667788", "浙江省", "杭州市", "滨江区", "网商路699号", "")
_NARROW = {wide: wide - 0xFEE0 for wide in range(0xFF01, 0xFF5F)}
_SEPARATORS = re.compile(r"[\s\u200b\ufeff,，;；|｜。【】]+")
_LABELS = re.compile(
    r"(?:[\s:：+()（）-]|00?86|86|转|ext\.?|收|收货人姓名|收件人姓名|收货人|收件人|联系人|姓名|名字"
    r"|手机号码|联系电话|联系方式|电话号码|手机号|手机|电话|所在地区|所在区域|所在地|省市区|地区|详细地址"
    r"|收货地址|收件地址|送货地址|街道地址|地址|邮政编码|邮编|recipient|name|mobile|phone|tel|region|street"
    r"|address|postcode|zip|(?:省|自治区)?直辖(?:县级)?(?:行政)?(?:区划|单位|市|县)?)+",
    re.IGNORECASE,
)


@pytest.mark.parametrize(
    "text",
    [
        # The format of Taobao's "copy address", and lines like it.
        "收货人: 张三\n手机号码: 15251667788\n所在地区: 浙江省杭州市滨江区\n详细地址: 网商路699号",
        "收货人：张三\r\n手机号码：15251667788\r\n所在地区：浙江省杭州市滨江区\r\n详细地址：网商路699号",
        "收件人：张三；电话：15251667788；地址：浙江省杭州市滨江区网商路699号",
        "地址：浙江省杭州市滨江区网商路699号 收件人：张三 联系电话：15251667788",
        "姓名:张三手机:15251667788地址:浙江省杭州市滨江区网商路699号",
        "Name: 张三\nPhone: 15251667788\nRegion: 浙江省/杭州市/滨江区\nAddress: 网商路699号",
        "收货人 张三\n手机 15251667788\n地址 浙江杭州滨江 网商路699号",
        # One line, with spaces or commas, in any order.
        "张三 15251667788 浙江省杭州市滨江区网商路699号",
        "张三，15251667788，浙江省 杭州市 滨江区 网商路699号",
        "张三,15251667788,浙江省,杭州市,滨江区,网商路699号",
        "浙江省杭州市滨江区网商路699号 张三 15251667788",
        "浙江省杭州市滨江区网商路699号，15251667788，张三",
        "浙江省杭州市滨江区网商路699号 张三（收） 15251667788",
        "15251667788 张三 浙江省杭州市滨江区网商路699号",
        "张三 浙江省杭州市滨江区网商路699号 15251667788",
        "15251667788，浙江省杭州市滨江区网商路699号，张三",
        "收货地址：浙江省杭州市滨江区网商路699号，张三，15251667788",
        "浙江省杭州市滨江区网商路699号 张三收 15251667788",
        "收货人:张三,15251667788,浙江省,杭州市,滨江区,网商路699号",
        "【张三】15251667788 浙江省杭州市滨江区网商路699号",
        "浙江省杭州市滨江区网商路699号 张三15251667788",
        "张三\n15251667788\n浙江省\n杭州市\n滨江区\n网商路699号",
        # Without endings, or without the province.
        "张三 15251667788 浙江 杭州 滨江 网商路699号",
        "张三 15251667788 浙江杭州滨江网商路699号",
        "张三 15251667788 浙江-杭州-滨江区 网商路699号",
        "张三 15251667788 杭州市滨江区网商路699号",
        "张三 15251667788 杭州滨江区网商路699号",
        "杭州滨江网商路699号 张三 15251667788",
        # Phones as people write them.
        "张三 +86 152 5166 7788 浙江省杭州市滨江区网商路699号",
        "张三 +86-15251667788 浙江省杭州市滨江区网商路699号",
        "张三 8615251667788 浙江省杭州市滨江区网商路699号",
        "张三 152-5166-7788 浙江省杭州市滨江区网商路699号",
        "张三 １５２５１６６７７８８ 浙江省杭州市滨江区网商路699号",
    ],
)
def test_the_usual_formats(text: str) -> None:
    assert parse(text) == ZHANG
    check_nothing_is_lost(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Municipalities.
        (
            "李四 010-62345678 北京市朝阳区建国路1号",
            ParsedAddress("李四", "010-62345678", "北京市", "北京市", "朝阳区", "建国路1号"),
        ),
        (
            "李四 13800138000 北京市市辖区朝阳区建国路1号",
            ParsedAddress("李四", "13800138000", "北京市", "北京市", "朝阳区", "建国路1号"),
        ),
        (
            "李四 13800138000 北京 北京市 朝阳区 建国路1号",
            ParsedAddress("李四", "13800138000", "北京市", "北京市", "朝阳区", "建国路1号"),
        ),
        (
            "上海浦东新区世纪大道100号 王小明 (021)58881234转801 200120",
            ParsedAddress(
                "王小明",
                "021-58881234-801",
                "上海市",
                "上海市",
                "浦东新区",
                "世纪大道100号",
                "200120",
            ),
        ),
        # A district whose city was left out, and cities without districts.
        (
            "赵六 13800138000 浙江省义乌市稠州北路1号",
            ParsedAddress("赵六", "13800138000", "浙江省", "金华市", "义乌市", "稠州北路1号"),
        ),
        (
            "赵六 13800138000 湖北省仙桃市沔街大道1号",
            ParsedAddress("赵六", "13800138000", "湖北省", "仙桃市", "仙桃市", "沔街大道1号"),
        ),
        (
            "赵六 13800138000 湖北省 省直辖县级行政区划 仙桃市 沔街大道1号",
            ParsedAddress("赵六", "13800138000", "湖北省", "仙桃市", "仙桃市", "沔街大道1号"),
        ),
        (
            "赵六 13800138000 广东省东莞市虎门镇1号",
            ParsedAddress("赵六", "13800138000", "广东省", "东莞市", "虎门镇", "1号"),
        ),
        (
            "赵六 13800138000 江苏省苏州市工业园区星湖街1号",
            ParsedAddress("赵六", "13800138000", "江苏省", "苏州市", "工业园区", "星湖街1号"),
        ),
        # Taobao's number for privacy, with the number in the name.
        (
            "张三[1234]，18412345678-1234，浙江省 杭州市 滨江区 长河街道 网商路699号 ，310052",
            ParsedAddress(
                "张三[1234]",
                "18412345678-1234",
                "浙江省",
                "杭州市",
                "滨江区",
                "长河街道 网商路699号",
                "310052",
            ),
        ),
        (
            "John Smith, 15251667788, 浙江省杭州市滨江区网商路699号 3幢 502室 (310000)",
            ParsedAddress(
                "John Smith",
                "15251667788",
                "浙江省",
                "杭州市",
                "滨江区",
                "网商路699号 3幢 502室",
                "310000",
            ),
        ),
        # A street that is named like a district, and one like a province.
        (
            "张三 15251667788 浙江省杭州市西湖大道1号",
            ParsedAddress("张三", "15251667788", "浙江省", "杭州市", "", "西湖大道1号"),
        ),
        (
            "张三 15251667788 北京东路1号",
            ParsedAddress("张三", "15251667788", detail="北京东路1号"),
        ),
        # What is not recognised stays in the detail.
        ("hello world", ParsedAddress(detail="hello world")),
        (
            "吉林市昌邑区解放东路1号",
            ParsedAddress("", "", "吉林省", "吉林市", "昌邑区", "解放东路1号"),
        ),
        ("", ParsedAddress()),
    ],
)
def test_addresses_of_their_own_kind(text: str, expected: ParsedAddress) -> None:
    assert parse(text) == expected
    check_nothing_is_lost(text)


def check_nothing_is_lost(text: str) -> None:
    """Every character is in the field of its piece, or is a label or a separator."""
    parsed = parse(text)
    assert "".join(piece.text for piece in parsed.pieces) == text
    pieces: dict[AddressPart, str] = dict.fromkeys(AddressPart, "")
    for part, piece in parsed.pieces:
        pieces[part] += piece.translate(_NARROW)
        if part is AddressPart.SEPARATOR:
            assert all(map(is_separator, piece)), piece
        elif part is AddressPart.LABEL:
            assert _LABELS.fullmatch(piece), piece
    for part in (AddressPart.NAME, AddressPart.DETAIL, AddressPart.POSTAL_CODE):
        value = getattr(parsed, part).translate(_NARROW)
        assert _SEPARATORS.sub("", value) == _SEPARATORS.sub("", pieces[part])
    assert re.sub(r"[^\d+]", "", parsed.phone) == pieces[AddressPart.PHONE]
    known = divisions()
    if written := pieces[AddressPart.PROVINCE]:
        assert known.provinces.find(written) == parsed.province
    if (written := pieces[AddressPart.CITY]) and written != "市辖区":
        assert known.all_cities.find(written) == parsed.city or parsed.city.startswith(written[:2])
    if written := pieces[AddressPart.DISTRICT]:
        names = known.districts[parsed.province, parsed.city]
        assert parsed.district in {names.find(written), written}


_WORDS = """
张三 李四 欧阳娜娜 JohnSmith 15251667788 +86 0571-88886666 152 5166 7788 310000 12345
浙江省 浙江 杭州市 杭州 滨江区 滨江 西湖 北京市 北京 朝阳区 市辖区 新疆 内蒙古 海南 吉林市
省直辖县级行政区划 仙桃市 东莞市 虎门镇 工业园区 长河街道 网商路699号 3幢 502室 转801
收货人： 手机号码: 所在地区： 详细地址: 邮编: 地址 电话 （收） (310052) Name: ０１２
１５２５１６６７７８８
"""
_FRAGMENTS = st.sampled_from(_WORDS.split())
_GAPS = st.sampled_from(["", " ", "  ", "\n", "，", ",", ";", "|", "\t", "-", "/", "。", "\u3000"])


@given(st.lists(st.tuples(_FRAGMENTS, _GAPS), max_size=14))
def test_nothing_of_a_text_made_of_addresses_is_lost(parts: list[tuple[str, str]]) -> None:
    check_nothing_is_lost("".join(fragment + gap for fragment, gap in parts))


@given(st.text(max_size=300))
@example("\x00\u202e")
def test_nothing_of_any_text_is_lost(text: str) -> None:
    check_nothing_is_lost(text)


@pytest.mark.parametrize(
    "text", ["浙江" * 500, "1" * 1000, "收:" * 500, "浙江省杭州市" * 166, " -" * 500]
)
def test_a_hostile_text_takes_no_time(text: str) -> None:
    parse("张三")
    started = time.perf_counter()

    check_nothing_is_lost(text)

    assert time.perf_counter() - started < 1
