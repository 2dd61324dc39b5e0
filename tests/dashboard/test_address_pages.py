"""The pages of the address book under attack: other accounts, forged forms, hostile input."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from kit.pages import Pages
from kit.server import Person, Server

from tradewind import ids

FORM = {
    "name": "张三",
    "phone": "15251667788",
    "province": "浙江省",
    "city": "杭州市",
    "district": "滨江区",
    "detail": "网商路699号",
}


@pytest.fixture
def buyer(api: Server) -> Person:
    return api.person()


@pytest.fixture
def pages(api: Server, buyer: Person) -> Iterator[Pages]:
    signed_in = Pages(api, buyer)
    yield signed_in
    signed_in.client.close()


def saved(api: Server, by: Person) -> list[dict[str, object]]:
    items: list[dict[str, object]] = api.call("GET", "/v1/addresses", by=by).json()["items"]
    return items


def test_a_form_of_another_site_saves_nothing(api: Server, buyer: Person, pages: Pages) -> None:
    answers = [
        pages.client.post("/addresses/new", data=FORM),
        pages.client.post("/addresses/new", data={"csrf": "x", **FORM}),
        pages.client.post("/addresses/parse", data={"text": "张三"}),
    ]

    assert {answer.status_code for answer in answers} == {403}
    assert saved(api, buyer) == []


def test_a_form_sent_twenty_times_at_once_saves_one_address(
    api: Server, buyer: Person, pages: Pages
) -> None:
    form = {"csrf": pages.token, "submit_token": ids.ADDRESS.show(ids.new()), **FORM}
    url, cookies = f"{api.url}/addresses/new", dict(pages.client.cookies)

    with ThreadPoolExecutor(20) as pool:
        sent = [pool.submit(httpx.post, url, data=form, cookies=cookies) for _ in range(20)]
        statuses = {answer.result().status_code for answer in sent}

    assert statuses == {303}
    assert [address["id"] for address in saved(api, buyer)] == [form["submit_token"]]
    # Somebody who goes back and changes the form saves another one.
    pages.post("/addresses/new", **(form | {"name": "李四"}))
    assert [address["name"] for address in saved(api, buyer)] == ["李四", "张三"]


def test_the_id_of_another_accounts_address_is_no_way_to_it(
    api: Server, buyer: Person, pages: Pages
) -> None:
    owner = api.person()
    theirs = api.call("POST", "/v1/addresses", by=owner, json=FORM).json()

    answer = pages.post("/addresses/new", submit_token=theirs["id"], **FORM)

    assert answer.status_code == 303
    [ours] = saved(api, buyer)
    assert ours["id"] != theirs["id"]
    assert saved(api, owner) == [theirs]


@pytest.mark.parametrize(
    ("method", "action"),
    [("GET", "edit"), ("POST", "edit"), ("POST", "default"), ("POST", "delete")],
)
def test_an_address_of_another_account_is_missing(
    api: Server, pages: Pages, method: str, action: str
) -> None:
    owner = api.person()
    theirs = api.call("POST", "/v1/addresses", by=owner, json=FORM).json()
    statuses = []
    for address_id in (theirs["id"], ids.ADDRESS.show(ids.new())):
        path = f"/addresses/{address_id}/{action}"
        form = FORM if action == "edit" else {}
        answer = pages.get(path) if method == "GET" else pages.post(path, **form)
        statuses.append(answer.status_code)

    assert statuses == [404, 404]
    assert saved(api, owner) == [theirs]


def test_hostile_values_are_errors_beside_their_fields(
    api: Server, buyer: Person, pages: Pages
) -> None:
    hostile = {
        "name": "名" * 10_240,
        "phone": "<script>alert(1)</script>",
        "detail": "a\x07b",
        "label": "\u202e",
    }

    answer = pages.post("/addresses/new", **(FORM | hostile))

    assert answer.status_code == 422
    for name in hostile:
        assert f'id="error-{name}"' in answer.text
    assert "<script>alert" not in answer.text
    assert saved(api, buyer) == []


def test_a_pasted_text_fills_the_form_and_stores_nothing(
    api: Server, buyer: Person, pages: Pages
) -> None:
    filled = pages.post("/addresses/parse", text="张三 15251667788 浙江杭州滨江 <i>网商路</i>")
    empty = pages.post("/addresses/parse", text=" ")
    long = pages.post("/addresses/parse", text="长" * 1001)

    assert filled.status_code == 200
    assert 'value="滨江区"' in filled.text
    assert "&lt;i&gt;网商路&lt;/i&gt;" in filled.text
    assert (empty.status_code, long.status_code) == (422, 422)
    assert saved(api, buyer) == []


def test_the_names_are_served_once_for_each_version(pages: Pages, api: Server) -> None:
    form = pages.get("/addresses/new").text
    path = form.partition('data-divisions="')[2].partition('"')[0]

    names = pages.get(path)
    old = pages.get("/addresses/divisions/old")

    assert names.json()["北京市"] == {"北京市": old.json()["北京市"]["北京市"]}
    assert "滨江区" in names.json()["浙江省"]["杭州市"]
    assert "immutable" in names.headers["cache-control"]
    assert old.headers["cache-control"] == "no-store"
    assert httpx.get(api.url + path).status_code == 303
