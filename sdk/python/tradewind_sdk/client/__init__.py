"""Calls the API: a method for every operation, retries, lists as iterables. Needs httpx."""

import importlib.util

if importlib.util.find_spec("httpx") is None:
    raise ModuleNotFoundError(
        "tradewind_sdk.client needs httpx; install it with: pip install 'tradewind-sdk[client]'",
        name="httpx",
    )

from tradewind_sdk.client.call import OMITTED, Omitted
from tradewind_sdk.client.client import AsyncTradewind, Tradewind
from tradewind_sdk.client.errors import (
    ApiConnectionError,
    ApiError,
    ApiTimeout,
    AuthenticationError,
    BadRequest,
    Conflict,
    FieldError,
    Gone,
    InvalidResponse,
    NotFound,
    PermissionDenied,
    RateLimited,
    ServerError,
    TradewindError,
    ValidationError,
)
from tradewind_sdk.client.generated import types
from tradewind_sdk.client.paging import AsyncPaginator, Paginator
from tradewind_sdk.client.retries import RetryPolicy
from tradewind_sdk.client.sse import ServerSentEvent

__all__ = [
    "OMITTED",
    "ApiConnectionError",
    "ApiError",
    "ApiTimeout",
    "AsyncPaginator",
    "AsyncTradewind",
    "AuthenticationError",
    "BadRequest",
    "Conflict",
    "FieldError",
    "Gone",
    "InvalidResponse",
    "NotFound",
    "Omitted",
    "Paginator",
    "PermissionDenied",
    "RateLimited",
    "RetryPolicy",
    "ServerError",
    "ServerSentEvent",
    "Tradewind",
    "TradewindError",
    "ValidationError",
    "types",
]
