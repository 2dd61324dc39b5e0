"""The address book over HTTP: saved, listed, changed and deleted by its owner only."""

import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from kit.server import Person, Server

from tradewind import ids

ADDRESS = {
    "name": "张三",
    "phone": "15251667788",
    "province": "浙江省",
    "city": "杭州市",
    "district": "滨江区",
    "detail": "网商路699号",
}
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


def save(api: Server, by: Person, **body: Any) -> Any:
    answer = api.call("POST", "/v1/addresses", by=by, json={**ADDRESS, **body})
    assert answer.status_code == 201, answer.text
    return answer.json()


def change(api: Server, by: Person, address: Any, **body: Any) -> httpx.Response:
    return api.call("PATCH", f"/v1/addresses/{address['id']}", by=by, json=body)


def defaults(api: Server, by: Person) -> list[str]:
    listed = api.call("GET", "/v1/addresses?limit=100", by=by).json()["items"]
    return [address["id"] for address in listed if address["is_default"]]


def problem(answer: httpx.Response, status: int, code: str) -> Any:
    shown = answer.json()
    assert (answer.status_code, shown["code"]) == (status, code), shown
    return shown


def pointers(shown: Any) -> list[str]:
    return [error["pointer"] for error in shown["errors"]]


def test_an_address_is_saved_and_read_again(api: Server) -> None:
    buyer = api.person()

    answer = api.call(
        "POST",
        "/v1/addresses",
        by=buyer,
        json={**ADDRESS, "label": " 仓库 ", "postal_code": "310000"},
    )

    saved = answer.json()
    assert answer.status_code == 201
    assert answer.headers["location"] == f"/v1/addresses/{saved['id']}"
    assert ids.ADDRESS.read(saved["id"]) is not None
    assert saved == {
        **ADDRESS,
        "id": saved["id"],
        "label": "仓库",
        "postal_code": "310000",
        "is_default": True,
        "created_at": saved["created_at"],
        "updated_at": saved["created_at"],
    }
    assert _TIME.fullmatch(saved["created_at"])
    assert api.call("GET", answer.headers["location"], by=buyer).json() == saved
    listed = api.call("GET", "/v1/addresses", by=buyer).json()
    assert listed == {"items": [saved], "has_more": False, "next_cursor": None}


def test_addresses_are_listed_newest_first_in_pages(api: Server) -> None:
    buyer = api.person()
    saved = [save(api, buyer, label=str(number))["id"] for number in range(5)]

    first = api.call("GET", "/v1/addresses?limit=3", by=buyer).json()
    rest = api.call("GET", f"/v1/addresses?limit=3&cursor={first['next_cursor']}", by=buyer).json()

    assert [address["id"] for address in first["items"] + rest["items"]] == saved[::-1]
    assert (first["has_more"], rest["has_more"], rest["next_cursor"]) == (True, False, None)


def test_a_change_leaves_what_it_does_not_name_and_clears_what_is_empty(api: Server) -> None:
    buyer = api.person()
    saved = save(api, buyer, label="a", postal_code="310000")

    changed = change(api, buyer, saved, phone="+86 152 5166 7789", label="", postal_code="").json()

    assert changed == saved | {
        "phone": "+86 152 5166 7789",
        "label": "",
        "postal_code": None,
        "updated_at": changed["updated_at"],
    }
    assert changed["updated_at"] > saved["updated_at"]
    assert pointers(problem(change(api, buyer, saved), 422, "validation_failed")) == [""]


def test_exactly_one_address_is_the_default(api: Server) -> None:
    buyer = api.person()
    first = save(api, buyer)
    second = save(api, buyer)
    assert defaults(api, buyer) == [first["id"]]

    third = save(api, buyer, is_default=True)
    assert defaults(api, buyer) == [third["id"]]

    assert change(api, buyer, second, is_default=True).json()["is_default"]
    assert defaults(api, buyer) == [second["id"]]

    problem(change(api, buyer, second, is_default=False), 409, "default_address_required")
    assert change(api, buyer, first, is_default=False).status_code == 200
    assert defaults(api, buyer) == [second["id"]]

    assert api.call("DELETE", f"/v1/addresses/{second['id']}", by=buyer).status_code == 204
    assert defaults(api, buyer) == [third["id"]]


def test_twenty_new_defaults_at_once_leave_one(api: Server) -> None:
    buyer = api.person()
    saved = [save(api, buyer) for _ in range(10)]

    def act(number: int) -> int:
        if number < len(saved):
            return change(api, buyer, saved[number], is_default=True).status_code
        body = {**ADDRESS, "is_default": True}
        return api.call("POST", "/v1/addresses", by=buyer, json=body).status_code

    with ThreadPoolExecutor(20) as pool:
        statuses = list(pool.map(act, range(20)))

    assert statuses == [200] * 10 + [201] * 10
    assert len(defaults(api, buyer)) == 1


def test_first_addresses_saved_at_once_have_one_default(api: Server) -> None:
    buyer = api.person()

    with ThreadPoolExecutor(10) as pool:
        list(pool.map(lambda _: save(api, buyer), range(10)))

    assert len(defaults(api, buyer)) == 1


def test_the_address_book_is_bounded_also_when_many_save_at_once(api: Server) -> None:
    buyer = api.person()
    api.fetch(
        """
        INSERT INTO saved_address
        SELECT tradewind_uuid7(), $1, '', 'n', '15251667788', 'p', 'c', 'd', 'x', NULL, n = 1,
               tradewind_now(), tradewind_now()
          FROM generate_series(1, 498) AS n
        """,
        buyer.uuid,
    )

    with ThreadPoolExecutor(10) as pool:
        answers = list(
            pool.map(lambda _: api.call("POST", "/v1/addresses", by=buyer, json=ADDRESS), range(10))
        )

    refused = [answer for answer in answers if answer.status_code != 201]
    assert len(refused) == 8
    assert problem(refused[0], 409, "address_limit_reached")["limit"] == 500


@pytest.mark.parametrize("method", ["GET", "PATCH", "DELETE"])
def test_another_accounts_address_looks_like_a_missing_one(api: Server, method: str) -> None:
    owner, stranger = api.person(), api.person()
    saved = save(api, owner)
    body: dict[str, Any] = {"json": {"is_default": True}} if method == "PATCH" else {}

    answers = [
        api.call(method, f"/v1/addresses/{address_id}", by=stranger, **body)
        for address_id in (saved["id"], ids.ADDRESS.show(ids.new()))
    ]

    shown = [answer.json() | {"request_id": ""} for answer in answers]
    assert shown[0] == shown[1]
    problem(answers[0], 404, "not_found")
    assert api.call("GET", f"/v1/addresses/{saved['id']}", by=owner).json() == saved


def test_every_wrong_field_is_named_at_once(api: Server) -> None:
    wrong = {
        "name": "名" * 10_240,
        "phone": "call me",
        "province": "浙江\n省",
        "city": " ",
        "district": "滨江\u202e区",
        "detail": "\u0007",
        "postal_code": "1" * 21,
        "label": "a\tb",
        "zip": "1",
    }

    answer = api.call("POST", "/v1/addresses", by=api.person(), json=wrong)

    shown = problem(answer, 422, "validation_failed")
    assert sorted(pointers(shown)) == sorted(f"/{name}" for name in wrong)
    assert "one line of 1 to 50 characters" in shown["errors"][0]["message"]


@pytest.mark.parametrize(
    ("region", "pointer", "message"),
    [
        ({"province": "浙姜省"}, "/province", "did you mean 浙江省"),
        ({"city": "苏州"}, "/city", "苏州市 is in 江苏省"),
        ({"district": "滨河区"}, "/district", "did you mean 滨江区"),
    ],
)
def test_an_unknown_region_is_an_error_that_suggests_the_nearest(
    api: Server, region: dict[str, str], pointer: str, message: str
) -> None:
    buyer = api.person()
    saved = save(api, buyer)
    answers = [
        api.call("POST", "/v1/addresses", by=buyer, json=ADDRESS | region),
        change(api, buyer, saved, **region),
    ]

    for answer in answers:
        shown = problem(answer, 422, "validation_failed")
        assert pointers(shown) == [pointer]
        assert message in shown["errors"][0]["message"]
    assert api.call("GET", "/v1/addresses", by=buyer).json()["items"] == [saved]


def test_a_region_is_saved_by_its_full_names(api: Server) -> None:
    buyer = api.person()

    saved = save(api, buyer, province="北京", city="市辖区", district="朝阳")
    changed = change(api, buyer, saved, province="浙江", city="杭州", district="余杭").json()

    assert [saved[name] for name in ("province", "city", "district")] == [
        "北京市",
        "北京市",
        "朝阳区",
    ]
    assert [changed[name] for name in ("province", "city", "district")] == [
        "浙江省",
        "杭州市",
        "余杭区",
    ]


def test_an_old_region_stays_when_something_else_changes(api: Server) -> None:
    buyer = api.person()
    saved = save(api, buyer)
    api.fetch("UPDATE saved_address SET district = '江干区' WHERE account_id = $1", buyer.uuid)

    assert change(api, buyer, saved, name="李四").json()["district"] == "江干区"


def test_a_pasted_address_is_taken_apart_and_not_stored(api: Server) -> None:
    buyer = api.person()

    parsed = api.call(
        "POST", "/v1/addresses/parse", by=buyer, json={"text": "张三 浙江杭州 网商路699号"}
    )
    long = api.call("POST", "/v1/addresses/parse", by=buyer, json={"text": "长" * 1001})
    blank = api.call("POST", "/v1/addresses/parse", by=buyer, json={"text": " \n"})

    assert parsed.json() == {
        "name": "张三",
        "phone": None,
        "province": "浙江省",
        "city": "杭州市",
        "district": None,
        "detail": "网商路699号",
        "postal_code": None,
    }
    assert pointers(problem(long, 422, "validation_failed")) == ["/text"]
    assert pointers(problem(blank, 422, "validation_failed")) == ["/text"]
    assert api.call("GET", "/v1/addresses", by=buyer).json()["items"] == []


def test_addresses_and_phone_numbers_are_not_logged(api: Server) -> None:
    buyer = api.person()
    secrets = {"name": "不要记录", "phone": "13912340987", "detail": "秘密路87号"}
    saved = save(api, buyer, **secrets)
    change(api, buyer, saved, phone="13912340986", province="没有省")
    text = " ".join(secrets.values())
    api.call("POST", "/v1/addresses/parse", by=buyer, json={"text": text})
    api.call("POST", "/v1/addresses", by=buyer, json={**secrets, "city": 1})

    logged = api.log.read_text()

    assert "/v1/addresses" in logged
    for secret in (*secrets.values(), "13912340986", "1391234"):
        assert secret not in logged
        assert secret.encode("unicode_escape").decode() not in logged


def test_what_happened_to_addresses_is_audited_without_them(api: Server) -> None:
    buyer = api.person()
    saved = save(api, buyer)
    change(api, buyer, saved, name="李四")
    api.call("DELETE", f"/v1/addresses/{saved['id']}", by=buyer)

    rows = api.fetch(
        "SELECT action, subject, details::text AS details FROM audit"
        " WHERE account_id = $1 AND action LIKE 'address.%' ORDER BY at, id",
        buyer.uuid,
    )

    assert [row["action"] for row in rows] == [
        "address.created",
        "address.changed",
        "address.deleted",
    ]
    assert {row["subject"] for row in rows} == {saved["id"]}
    assert not [row for row in rows if "三" in row["details"] or "李" in row["details"]]
