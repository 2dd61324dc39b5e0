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

    def __init__(self, failure: PlatformFailure, retry_after: int) -> None:
        super().__init__(
            f"{failure.platform} did not give a usable response; try again.",
            upstream=_upstream(failure),
            retry_after=retry_after,
        )


class PlatformBusy(ServiceUnavailable):
    """The marketplace's rate limit, or our own budget for calling it, is used up for now."""

    code = "platform_busy"
    title = "The marketplace accepts no more calls for now"

    def __init__(self, failure: PlatformFailure, retry_after: int) -> None:
        super().__init__(
            f"{failure.platform} accepts no more calls for the moment; try again.",
            upstream=_upstream(failure),
            retry_after=retry_after,
        )


class PlatformAuthExpired(ServiceUnavailable):
    """Our authorisation at the marketplace has expired or was revoked.

    An operator must connect it again: `tradewind platforms connect`.
    """

    code = "platform_auth_expired"
    title = "The marketplace must be connected again"

    def __init__(self, failure: PlatformFailure) -> None:
        super().__init__(
            f"Our authorisation at {failure.platform} has expired; an operator must renew it.",
            upstream=_upstream(failure),
            retry_after=60,
        )


def api_error(failure: PlatformFailure) -> PlatformFailed | PlatformBusy | PlatformAuthExpired:
    """Translate a marketplace's failure into the error that the API answers with."""
    if isinstance(failure, NotAuthorised):
        return PlatformAuthExpired(failure)
    retry_after = max(1, round(failure.retry_after)) if isinstance(failure, Unavailable) else 5
    if isinstance(failure, Throttled):
        return PlatformBusy(failure, retry_after)
    return PlatformFailed(failure, retry_after)


def _upstream(failure: PlatformFailure) -> dict[str, str]:
    return {"platform": failure.platform, "code": failure.code, "message": failure.message}
