"""Lists of the API as iterables that fetch one page after the other."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any, Generic, TypeVar, cast

Item = TypeVar("Item")
Page = TypeVar("Page")


class Paginator(Generic[Item, Page]):
    """The items of a list: `for order in client.orders.list(): …`. It can be iterated again.

    Nothing is requested before the first item is asked for.
    """

    def __init__(self, fetch: Callable[[str | None], Page], cursor: str | None) -> None:
        self._fetch = fetch
        self._cursor = cursor

    def __iter__(self) -> Iterator[Item]:
        for page in self.pages():
            yield from cast("dict[str, Any]", page)["items"]

    def pages(self) -> Iterator[Page]:
        """The pages as the API answers them, with `has_more` and `next_cursor`."""
        cursor = self._cursor
        while True:
            page = self._fetch(cursor)
            yield page
            following = next_cursor(page)
            if following is None or following == cursor:
                return
            cursor = following


class AsyncPaginator(Generic[Item, Page]):
    """The items of a list: `async for order in client.orders.list(): …`."""

    def __init__(self, fetch: Callable[[str | None], Awaitable[Page]], cursor: str | None) -> None:
        self._fetch = fetch
        self._cursor = cursor

    async def __aiter__(self) -> AsyncIterator[Item]:
        async for page in self.pages():
            for item in cast("dict[str, Any]", page)["items"]:
                yield item

    async def pages(self) -> AsyncIterator[Page]:
        """The pages as the API answers them, with `has_more` and `next_cursor`."""
        cursor = self._cursor
        while True:
            page = await self._fetch(cursor)
            yield page
            following = next_cursor(page)
            if following is None or following == cursor:
                return
            cursor = following


def next_cursor(page: Any) -> str | None:
    """Where the next page begins; None on the last one."""
    return page.get("next_cursor") if page.get("has_more") else None
