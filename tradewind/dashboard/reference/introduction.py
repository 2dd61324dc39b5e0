"""The introduction of the API reference: what holds for every operation."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class IntroductionSection:
    """A heading, and a paragraph in which backticks mark code."""

    heading: str
    text: str


INTRODUCTION: Sequence[IntroductionSection] = (
    IntroductionSection(
        "Credentials",
        "Send an API key as `x-api-key`, or an access token as `Authorization: Bearer …`. "
        "Create a key on the page API keys of the dashboard, or with `POST /v1/api-keys`. The"
        " samples read it from the environment variable `TRADEWIND_API_KEY`.",
    ),
    IntroductionSection(
        "Samples",
        "Every operation has a sample for a shell and for the SDKs of Python, Node and Go, which "
        "retry, keep one idempotency key for each call, and iterate over lists. The READMEs in "
        "`sdk/` say how to install them.",
    ),
    IntroductionSection(
        "Requests and responses",
        "Bodies are JSON in UTF-8, 256 KiB at most. Times are RFC 3339 in UTC, amounts are in"
        " CNY with at most two decimals, and ids are opaque texts. `/v1` only grows: accept "
        "new fields and new values. Every response has an `X-Request-Id`; name it when you "
        "report a problem.",
    ),
    IntroductionSection(
        "Errors",
        "An error is a problem document (RFC 9457). Compare its `code`; `errors` names every "
        "wrong field, and `type` opens a page that explains it. Unknown fields and query "
        "parameters are errors as well.",
    ),
    IntroductionSection(
        "Lists",
        "A list has `items`, `has_more` and `next_cursor`, newest first. Send `next_cursor` "
        "as `cursor` to go on; `limit` is 1 to 100.",
    ),
    IntroductionSection(
        "Idempotency",
        "Send an `Idempotency-Key` of your own with requests that must happen once. A "
        "repetition gets the first response, with `Idempotent-Replayed: true`. Keys are kept "
        "for 7 days.",
    ),
    IntroductionSection(
        "Rate limits",
        "`RateLimit` says how many requests fit now. A 429 has `Retry-After`: wait that many "
        "seconds.",
    ),
)
