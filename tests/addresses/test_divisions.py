"""Provinces, cities and districts: full names, short forms, exceptions, and errors that help."""

import pytest

from tradewind.addresses.divisions import divisions, resolve, stem
from tradewind.errors import ValidationFailed


def test_the_tables_are_whole() -> None:
    known = divisions()

    districts = [name for names in known.districts.values() for name in names.names]
    assert len(known.provinces.names) == 34
    assert 370 < len(known.all_cities.names) < 420
    assert 3000 < len(districts) < 3600
    # Divisions that exist since 2021, 2023 and 2024.
    assert {"临平区", "米林市", "和安县"} <= set(districts)
    assert "莱芜市" not in known.all_cities.names


def test_every_division_is_found_by_its_full_names() -> None:
    for province, cities in divisions().offered().items():
        for city, districts in cities.items():
            for district in districts or [city]:
                region = resolve(province, city, district)
                assert (region.province, region.city, region.district) == (province, city, district)


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("浙江省", "浙江"),
        ("黑龙江省", "黑龙江"),
        ("内蒙古自治区", "内蒙古"),
        ("新疆维吾尔自治区", "新疆"),
        ("香港特别行政区", "香港"),
        ("延边朝鲜族自治州", "延边"),
        ("巴音郭楞蒙古自治州", "巴音郭楞"),
        ("黔西南布依族苗族自治州", "黔西南"),
        ("大兴安岭地区", "大兴安岭"),
        ("锡林郭勒盟", "锡林郭勒"),
        ("浦东新区", "浦东"),
        ("鄂温克族自治旗", "鄂温克族"),
        ("城区", "城区"),
        ("云县", "云县"),
    ],
)
def test_the_stem_of_a_name(name: str, short: str) -> None:
    assert stem(name) == short


@pytest.mark.parametrize(
    ("typed", "full"),
    [
        (("浙江", "杭州", "滨江"), ("浙江省", "杭州市", "滨江区")),
        ((" 浙 江 省", "杭州市 ", "滨江 区"), ("浙江省", "杭州市", "滨江区")),
        (
            ("新疆省", "巴音郭楞州", "库尔勒"),
            ("新疆维吾尔自治区", "巴音郭楞蒙古自治州", "库尔勒市"),
        ),
        (("内蒙", "呼市", "新城"), ("内蒙古自治区", "呼和浩特市", "新城区")),
        (("贵州", "黔南", "都匀"), ("贵州省", "黔南布依族苗族自治州", "都匀市")),
        # Municipalities: the city is the province, or what stands for it.
        (("北京市", "市辖区", "朝阳区"), ("北京市", "北京市", "朝阳区")),
        (("北京", "北京", "朝阳"), ("北京市", "北京市", "朝阳区")),
        (("重庆市", "县", "云阳县"), ("重庆市", "重庆市", "云阳县")),
        # Counties and county-level cities directly below the province.
        (("湖北省", "省直辖县级行政区划", "仙桃市"), ("湖北省", "仙桃市", "仙桃市")),
        (("湖北省", "仙桃市", "仙桃"), ("湖北省", "仙桃市", "仙桃市")),
        (("湖北省", "仙桃市", "沙嘴街道"), ("湖北省", "仙桃市", "沙嘴街道")),
        (("海南", "省直辖县级行政单位", "琼海"), ("海南省", "琼海市", "琼海市")),
        (
            ("新疆", "自治区直辖县级行政区划", "石河子市"),
            ("新疆维吾尔自治区", "石河子市", "石河子市"),
        ),
        # Cities with towns only.
        (("广东", "东莞", "虎门"), ("广东省", "东莞市", "虎门镇")),
        (("广东省", "东莞市", "东莞市"), ("广东省", "东莞市", "东莞市")),
        (("广东省", "中山市", "某某镇"), ("广东省", "中山市", "某某镇")),
        # What marketplaces have and the official tables do not.
        (("江苏省", "苏州市", "工业园区"), ("江苏省", "苏州市", "工业园区")),
        (("四川省", "成都市", "高新区"), ("四川省", "成都市", "高新区")),
        (("浙江省", "杭州市", "其它区"), ("浙江省", "杭州市", "其它区")),
        (("重庆市", "重庆市", "渝北区"), ("重庆市", "重庆市", "渝北区")),
        (("香港", "九龙", "观塘区"), ("香港特别行政区", "九龙", "观塘区")),
        (("澳门特别行政区", "澳门", "大堂区"), ("澳门特别行政区", "澳门特别行政区", "大堂区")),
    ],
)
def test_forms_that_people_write_get_their_full_names(
    typed: tuple[str, str, str], full: tuple[str, str, str]
) -> None:
    region = resolve(*typed)

    assert (region.province, region.city, region.district) == full


@pytest.mark.parametrize(
    ("typed", "pointer", "message"),
    [
        (("浙姜省", "杭州市", "滨江区"), "/province", "did you mean 浙江省"),
        (("Zhejiang", "杭州市", "滨江区"), "/province", "Is not a province of China."),
        (("国外", "国外", "国外"), "/province", "Is not a province of China"),
        (("江苏省", "杭州", "滨江区"), "/city", "杭州市 is in 浙江省."),
        (("浙江省", "航州市", "滨江区"), "/city", "杭州市"),
        (("浙江省", "义乌市", "福田街道"), "/city", "义乌市 is a district of 金华市."),
        (("湖北省", "省直辖县级行政区划", "武昌区"), "/city", "Is not a city of 湖北省"),
        (("浙江省", "杭州市", "滨河区"), "/district", "did you mean 滨江区"),
        (("浙江省", "宁波市", "滨江区"), "/district", "滨江区 belongs to 杭州市."),
        (("北京市", "北京市", "滨江区"), "/district", "Is not a district of 北京市"),
        (("湖南省", "长沙市", "长沙市"), "/district", "Is not a district of 长沙市"),
        # 伊宁市 and 伊宁县 are two.
        (("新疆", "伊犁", "伊宁"), "/district", "did you mean 伊宁"),
    ],
)
def test_what_is_none_is_an_error_at_its_field(
    typed: tuple[str, str, str], pointer: str, message: str
) -> None:
    with pytest.raises(ValidationFailed) as caught:
        resolve(*typed)

    [error] = caught.value.errors
    assert error.pointer == pointer
    assert message in error.message
