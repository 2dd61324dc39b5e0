"""Receives notices of marketplaces over HTTP, each with the marketplace's signature."""

from typing import Annotated

from msgspec import Meta

from tradewind.errors import Unauthenticated
from tradewind.orders.notices import take_notice
from tradewind.platforms.contract import NoticeRejected
from tradewind.platforms.errors import PlatformNotConfigured, UnsupportedPlatform
from tradewind.platforms.registry import Platforms
from tradewind.storage.pool import Database
from tradewind.web.endpoint import Routes
from tradewind.web.inputs import Output, read_body
from tradewind.web.problems import BodyTooSlow, MalformedJson
from tradewind.web.request import Request

routes = Routes("/v1/notices", tag="Notices (marketplaces)")

_BODY_SECONDS = 10


class NoticeForged(Unauthenticated):
    """The notice does not carry the marketplace's signature, or cannot be read."""

    code = "notice_refused"
    title = "The notice is rejected"
    detail = "This is no notice of that marketplace, or its signature is wrong."


class NoticeOut(Output):
    """That the notice arrived."""

    received: Annotated[bool, Meta(examples=[True])]


@routes.post(
    "/{platform}",
    raw_body=True,
    errors=(UnsupportedPlatform, PlatformNotConfigured, NoticeForged, BodyTooSlow, MalformedJson),
)
async def receive_notice(
    platform: str, request: Request, db: Database, platforms: Platforms
) -> NoticeOut:
    """Take a push from a marketplace, in its own format and with its own signature.

    It is only ever a hint: the orders that it names are read through the marketplace's API, unless
    it tells nothing new, as a notice about our own call.
    """
    body = await read_body(request, seconds=_BODY_SECONDS)
    try:
        await take_notice(db, platforms, platform, dict(request.headers), body)
    except NoticeRejected as rejected:
        raise NoticeForged from rejected
    return NoticeOut(received=True)
