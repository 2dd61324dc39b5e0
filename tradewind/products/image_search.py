"""Searches products that look like a picture: uploads it once, then searches by its ID."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import replace
from uuid import UUID

from tradewind.errors import ValidationFailed
from tradewind.platforms.contract import Capability
from tradewind.platforms.errors import api_error
from tradewind.platforms.failures import PlatformFailure, Rejected
from tradewind.platforms.model import Query
from tradewind.platforms.pacing import Purpose
from tradewind.platforms.registry import Platforms
from tradewind.products.picture import UnusablePicture, check_picture
from tradewind.products.search import CachedPage, SearchCache
from tradewind.storage.keyring import Keyring
from tradewind.storage.sealing import CannotUnseal, seal, unseal


async def upload_image(
    platforms: Platforms, keyring: Keyring, account_id: UUID, platform: str, picture: bytes
) -> str:
    """Upload a picture to a marketplace; return the image ID by which the account searches.

    Nothing is stored here. The image ID is the marketplace's own, encrypted for the account: no
    other account can search by it.
    """
    connector = await platforms.able(platform, Capability.IMAGE_SEARCH, Purpose.BROWSE)
    try:
        check_picture(picture)
    except UnusablePicture as expected:
        raise ValidationFailed("/image", f"Must be {expected}.") from None
    try:
        image_id = await connector.upload_image(picture)
    except Rejected as rejection:
        message = f"The marketplace rejected the picture: {rejection.message}"
        raise ValidationFailed("/image", message, "rejected") from rejection
    except PlatformFailure as failure:
        raise api_error(failure) from failure
    location = _location(account_id, connector.traits.platform)
    return urlsafe_b64encode(seal(keyring, image_id.encode(), location)).decode()


async def search_by_image(
    platforms: Platforms,
    cache: SearchCache,
    keyring: Keyring,
    account_id: UUID,
    platform: str,
    query: Query,
) -> CachedPage:
    """Search by the image ID in the query, which `upload_image` returned for this account."""
    connector = await platforms.able(platform, Capability.IMAGE_SEARCH, Purpose.BROWSE)
    location = _location(account_id, connector.traits.platform)
    try:
        sealed = urlsafe_b64decode((query.image_id or "").encode("ascii"))
        image_id = unseal(keyring, sealed, location).decode()
    except (ValueError, CannotUnseal):
        message = "Must be an image_id of your account at this marketplace. Send the image again."
        raise ValidationFailed("/image_id", message) from None
    try:
        return await cache.find_or_fetch(connector, replace(query, image_id=image_id))
    except Rejected as rejection:
        message = f"The marketplace no longer has the picture: {rejection.message}"
        raise ValidationFailed("/image_id", message, "expired") from rejection
    except PlatformFailure as failure:
        raise api_error(failure) from failure


def _location(account_id: UUID, platform: str) -> str:
    return f"image_search/{platform}/{account_id}"
