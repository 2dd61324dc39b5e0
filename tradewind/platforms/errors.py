"""The errors that callers get when a marketplace is unknown, not connected, or failed."""

from tradewind.errors import Invalid, ServiceUnavailable, UpstreamFailed
from tradewind.platforms.failures import NotAuthorised, PlatformFailure, Throttled, Unavailable


class UnsupportedPlatform(Invalid):
    """There is no marketplace of this name. `GET /v1/platforms` lists them."""

    code = "unsupported_platform"
    title = "No such marketplace"

    def __init__(self, name: str) -> None:
        super().__init__(f'There is no marketplace called "{name}"; GET /v1/platforms lists them.')


class PlatformNotConfigured(Invalid):
    """The marketplace exists, but this installation has no credentials for it.

    An operator sets them with `tradewind platforms connect`, or under `/v1/admin/platforms`.
    """

    code = "platform_not_configured"
    title = "The marketplace is not connected"

    def __init__(self, platform: str) -> None:
        super().__init__(f"{platform} is not connected here; an operator can connect it.")


class CapabilityNotSupported(Invalid):
    """This marketplace cannot do that. `GET /v1/platforms` lists the capabilities of each."""

    code = "capability_not_supported"
    title = "The marketplace cannot do this"

    def __init__(self, platform: str, capability: str) -> None:
        super().__init__(f"{platform} does not offer {capability}.")


class PlatformFailed(UpstreamFailed):
    """The marketplace failed or gave an unreadable response, and nothing stored can answer.

    `upstream` has its own code and message. Try again after the seconds in `Retry-After`.
    """

    code = "platform_failed"
    title = "The marketplace failed"


class PlatformBusy(ServiceUnavailable):
    """The marketplace's rate limit, or our own budget for calling it, is used up for now."""

    code = "platform_busy"
    title = "The marketplace accepts no more calls for now"


class PlatformAuthExpired(ServiceUnavailable):
    """Our authorisation at the marketplace has expired or was revoked.

    An operator must connect it again: `tradewind platforms connect`.
    """

    code = "platform_auth_expired"
    title = "The marketplace must be connected again"


def api_error(failure: PlatformFailure) -> PlatformFailed | PlatformBusy | PlatformAuthExpired:
    """Translate a marketplace's failure into the error that the API answers with."""
    platform = failure.platform
    upstream = {"platform": platform, "code": failure.code, "message": failure.message}
    if isinstance(failure, NotAuthorised):
        message = f"Our authorisation at {platform} has expired; an operator must renew it."
        return PlatformAuthExpired(message, upstream=upstream, retry_after=60)
    retry_after = max(1, round(failure.retry_after)) if isinstance(failure, Unavailable) else 5
    if isinstance(failure, Throttled):
        message = f"{platform} accepts no more calls for the moment; try again."
        return PlatformBusy(message, upstream=upstream, retry_after=retry_after)
    message = f"{platform} did not give a usable response; try again."
    return PlatformFailed(message, upstream=upstream, retry_after=retry_after)
