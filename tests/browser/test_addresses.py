"""The address book in a real browser: with lists that depend on each other, and without scripts."""

from collections.abc import Iterator

import pytest
from kit.server import Server
from playwright.sync_api import Browser, expect

from browser.conftest import Visit

pytestmark = pytest.mark.xdist_group("browser")


@pytest.fixture
def plain_visit(browser: Browser, api: Server) -> Iterator[Visit]:
    """A visit with a browser that runs no scripts."""
    context = browser.new_context(base_url=api.url, java_script_enabled=False)
    yield Visit(context.new_page(), api)
    context.close()


def test_an_address_from_a_pasted_text_to_its_end(  # noqa: PLR0915 - one story
    visit: Visit, api: Server
) -> None:
    page = visit.page
    buyer = api.person()
    visit.sign_in(buyer, then="/addresses")
    assert visit.serious() == []
    page.get_by_role("link", name="Add an address").click()

    page.get_by_label("Paste an address").fill(
        "收货人: 张三\n手机号码: 152 5166 7788\n"
        "所在地区: 浙江省杭州市滨江区长河街道\n详细地址: 网商路699号"
    )
    page.get_by_role("button", name="Fill in the form").click()
    expect(page.get_by_label("Recipient")).to_have_value("张三")
    expect(page.get_by_label("Phone")).to_have_value("15251667788")
    expect(page.get_by_label("District")).to_have_value("滨江区")
    expect(page.get_by_label("Street address")).to_have_value("长河街道 网商路699号")
    assert visit.serious() == []

    # The lists depend on each other.
    province, city, district = (
        page.get_by_label(name) for name in ("Province", "City", "District")
    )
    province.select_option("北京市")
    expect(city).to_have_value("北京市")
    expect(district).to_have_value("")
    province.select_option("浙江省")
    city.select_option("宁波市")
    district.select_option("鄞州区")
    page.get_by_label("Label").fill("<b>Ningbo</b>")
    page.get_by_role("button", name="Save address").click()
    expect(page.get_by_text("Address saved.")).to_be_visible()
    row = page.get_by_role("row").filter(has_text="张三")
    expect(row).to_contain_text("浙江省 宁波市 鄞州区")
    expect(row).to_contain_text("<b>Ningbo</b>")
    expect(row).to_contain_text("Default")

    # A second one, with a district that the lists do not have, becomes the default.
    page.get_by_role("link", name="New address").click()
    page.get_by_label("Recipient").fill("李四")
    page.get_by_label("Phone").fill("13800138000")
    province.select_option("江苏省")
    city.select_option("苏州市")
    district.select_option("Other…")
    district.fill("工业园区")
    page.get_by_label("Street address").fill("星湖街1号")
    page.get_by_role("button", name="Save address").click()
    second = page.get_by_role("row").filter(has_text="李四")
    expect(second).to_contain_text("江苏省 苏州市 工业园区")
    second.get_by_role("button", name="Make default").click()
    expect(second).to_contain_text("Default")
    expect(row.get_by_text("Default", exact=True)).to_have_count(0)
    for width, scheme in ((390, "light"), (1280, "dark")):
        visit.look(scheme, width)
        assert visit.serious() == []
        assert visit.too_wide() == 0

    # Edited, then deleted after a confirmation.
    row.get_by_role("link", name="Edit").click()
    expect(district).to_have_value("鄞州区")
    page.get_by_label("Recipient").fill("王五")
    page.get_by_role("button", name="Save address").click()
    row = page.get_by_role("row").filter(has_text="王五")
    row.locator("summary", has_text="Delete").click()
    row.get_by_role("button", name="Delete address").click()
    expect(page.get_by_text("Address deleted.")).to_be_visible()
    expect(page.get_by_role("row").filter(has_text="王五")).to_have_count(0)
    assert visit.complaints == []


def test_the_address_book_works_without_scripts(plain_visit: Visit, api: Server) -> None:
    page = plain_visit.page
    plain_visit.sign_in(api.person(), then="/addresses/new")

    page.get_by_label("Recipient").fill("张三")
    page.get_by_label("Phone").fill("15251667788")
    page.get_by_label("Province").fill("浙江")
    page.get_by_label("City").fill("杭州")
    page.get_by_label("District").fill("滨河区")
    page.get_by_label("Street address").fill("网商路699号")
    page.get_by_role("button", name="Save address").click()
    expect(page.locator("#error-district")).to_contain_text("did you mean 滨江区")
    expect(page.get_by_label("Recipient")).to_have_value("张三")
    assert page.locator("#district-names option[value='滨江区']").count() == 1
    page.get_by_label("District").fill("滨江")
    page.get_by_role("button", name="Save address").click()

    row = page.get_by_role("row").filter(has_text="张三")
    expect(row).to_contain_text("浙江省 杭州市 滨江区")
