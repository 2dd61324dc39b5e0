"""The dashboard's decisions: flash, charts, labels, forms, navigation, tokens."""

import re
from uuid import UUID

import pytest

from tradewind.auth.model import Role
from tradewind.dashboard.shell import charts, forms, labels, urls
from tradewind.dashboard.shell.charts import Series
from tradewind.dashboard.shell.render import Static, sidebar
from tradewind.dashboard.shell.session import (
    Flash,
    FlashSecret,
    Sessions,
    csrf_token,
    is_csrf_token,
    read_flash,
    write_flash,
)
from tradewind.egress.result import Outcome
from tradewind.errors import Conflict, ValidationFailed
from tradewind.orders.model import OrderStatus
from tradewind.orders.payments.model import PaymentStatus
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database

MINE, OTHER = UUID(int=1), UUID(int=2)


def test_a_flash_is_read_by_its_session_and_nobody_else(keyring: Keyring) -> None:
    reported = Flash("Made.", "good", FlashSecret("tw_secret", "New key"))

    cookie = write_flash(keyring, MINE, reported)

    assert re.fullmatch(r"[A-Za-z0-9_-]+", cookie)
    assert "tw_secret" not in cookie
    assert read_flash(keyring, MINE, cookie) == reported
    assert read_flash(keyring, OTHER, cookie) is None
    assert read_flash(keyring, MINE, cookie[:-2] + "AA") is None


def test_a_flash_fits_into_a_cookie_whatever_it_says(keyring: Keyring) -> None:
    cookie = write_flash(keyring, MINE, Flash("单" * 5000))

    reported = read_flash(keyring, MINE, cookie)
    assert len(cookie) < 4000
    assert reported is not None
    assert reported.text == "单" * 500 + "…"


@pytest.mark.parametrize("value", ["", "x", "ä", "%%%", "AAAA", "A" * 400])
def test_what_is_no_flash_is_none(keyring: Keyring, value: str) -> None:
    assert read_flash(keyring, MINE, value) is None


def test_a_token_is_of_one_session_and_one_secret() -> None:
    old, new = Keyring([b"1" * 32]), Keyring([b"2" * 32, b"1" * 32])
    token = csrf_token(old, MINE)

    assert is_csrf_token(old, MINE, token)
    assert is_csrf_token(new, MINE, token), "a rotated secret still knows it"
    assert csrf_token(new, MINE) != token
    for wrong in ("", "x", token[:-1], token + "x", csrf_token(old, OTHER), "ä" * 51):
        assert not is_csrf_token(old, MINE, wrong)
    assert not is_csrf_token(Keyring([b"2" * 32]), MINE, token)


def test_bars_stand_on_each_other_and_reach_what_they_count() -> None:
    series = [Series("delivered", "good", [50, 0]), Series("failed", "bad", [50, 0])]

    svg = charts.stacked_bars(["<a>", "b"], series, title="T & t", desc="D")

    bars = re.findall(r'class="bar bar-(\w+)".*?y="([\d.]+)".*?height="([\d.]+)"', svg)
    assert bars == [("good", "50.00", "50.00"), ("bad", "0.00", "50.00")]
    assert ">&lt;a&gt;: delivered 50, failed 50</title>" in svg
    assert "T &amp; t" in svg
    assert "style" not in svg


@pytest.mark.parametrize("values", [[], [0], [0, 0], [1], [3, 1, 2], [1e9, 0.5]])
def test_a_chart_can_be_made_of_anything(values: list[float]) -> None:
    labels = [str(at) for at in range(len(values))]

    svg = charts.stacked_bars(labels, [Series("a", "plain", values)], title="t", desc="")

    assert "nan" not in svg
    assert svg.count("<g>") == len(values)


@pytest.mark.parametrize("code", [*OrderStatus, *PaymentStatus, *Outcome])
def test_every_status_reads_as_words(code: str) -> None:
    assert "_" not in labels.label(code)
    assert labels.label(code) != "—"


@pytest.mark.parametrize("outcome", Outcome)
def test_every_outcome_of_an_attempt_is_explained(outcome: Outcome) -> None:
    assert labels.explanation(outcome).endswith(".")
    if outcome not in (Outcome.DELIVERED, Outcome.UNKNOWN, Outcome.CANCELLED):
        assert labels.tone(outcome) == "bad"


def test_an_error_is_said_at_the_field_it_is_about() -> None:
    assert forms.errors_of(ValidationFailed("/url", "No.")) == {"url": "No."}
    assert forms.errors_of(ValidationFailed("/events/0", "No.")) == {"events": "No."}
    assert forms.errors_of(ValidationFailed("?since", "No.")) == {"since": "No."}
    assert forms.errors_of(Conflict("Not now.")) == {"": "Not now."}


@pytest.mark.parametrize("path", ["/", "/orders", "/orders?q=a%20b&c=d", "/a//b", "/x#y"])
def test_a_path_of_ours_is_gone_to(path: str) -> None:
    assert urls.local_path(path) == path


@pytest.mark.parametrize(
    "path",
    ["", None, "orders", "//x", "/\\x", "\\\\x", "http://x", "javascript:x", "/a\nb", "/a b",
     "/\t/x", "//[", "http://[", "/ä", "/sign-in", "/sign-out?x", "/live", "/" + "x" * 3000],
)  # fmt: skip
def test_anything_else_is_not(path: str | None) -> None:
    assert urls.local_path(path) == "/"


def test_the_sidebar_has_what_one_may_open() -> None:
    def hrefs(*roles: str) -> list[str]:
        shown = sidebar(frozenset(roles), "/orders/1", {})
        return [link.href for section in shown for link in section.links]

    assert hrefs() == ["/", "/products", "/keys"]
    assert hrefs(Role.BUYER) == [
        "/",
        "/orders",
        "/imports",
        "/products",
        "/cart",
        "/webhooks",
        "/keys",
        "/addresses",
    ]
    assert "/approvals" in hrefs(Role.APPROVER)
    assert "/accounts" not in hrefs(Role.APPROVER)
    assert hrefs(Role.OPERATOR)[3:] == [
        "/accounts",
        "/admin/orders",
        "/endpoints",
        "/queue",
        "/performance",
        "/platforms",
        "/audit",
    ]
    here = [
        link.href
        for section in sidebar(frozenset(Role), "/orders/1", {})
        for link in section.links
        if link.is_current
    ]
    assert here == ["/orders"]


def test_static_files_have_one_version() -> None:
    static = Static()

    assert static.url("app.js") == f"/static/{static.version}/app.js"
    assert static.find("nothing.js") is None
    for name in ("icon-32.png", "icon-180.png"):
        content, content_type = static.find(name) or (b"", b"")
        assert (content[:4], content_type) == (b"\x89PNG", b"image/png")
    assert static.find("../render.py") is None
    with pytest.raises(LookupError):
        static.url("nothing.js")


@pytest.mark.parametrize(("secure", "flag"), [(True, "; Secure"), (False, "")])
async def test_cookies_are_for_https_alone_where_there_is_https(
    keyring: Keyring, secure: bool, flag: str
) -> None:
    sessions = Sessions(
        Database("postgresql://nowhere", size=1, name="x"), keyring, {}, secure=secure
    )

    began, ended = sessions.begin("token"), sessions.end()

    guarded = f"HttpOnly; SameSite=Lax{flag}"
    lead = "__Host-" if secure else ""
    assert began == (
        b"set-cookie",
        f"{lead}tradewind_session=token; Path=/; Max-Age=7776000; {guarded}".encode(),
    )
    assert ended == (
        b"set-cookie",
        f"{lead}tradewind_session=; Path=/; Max-Age=0; {guarded}".encode(),
    )
