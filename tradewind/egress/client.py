"""The HTTP client for marketplaces: libcurl on the event loop, with a deadline and a size limit."""

import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO

import certifi
import pycurl

_CONNECT_MS = 3000
_LARGEST_RESPONSE = 8 * 1024 * 1024
_IDLE_CONNECTIONS = 64

# libcurl's words for: we never got as far as sending anything.
_NOT_SENT = frozenset(
    {
        pycurl.E_COULDNT_RESOLVE_HOST,
        pycurl.E_COULDNT_CONNECT,
        pycurl.E_SSL_CONNECT_ERROR,
        pycurl.E_PEER_FAILED_VERIFICATION,
        pycurl.E_URL_MALFORMAT,
        pycurl.E_UNSUPPORTED_PROTOCOL,
    }
)


@dataclass(frozen=True, slots=True)
class Reply:
    """A response."""

    status: int
    body: bytes


class CallFailed(Exception):
    """No whole answer came. `sent` is whether the request may have reached the other side."""

    def __init__(self, reason: str, *, sent: bool) -> None:
        super().__init__(reason)
        self.sent = sent


class Client:
    """Calls over kept-alive connections. It follows no redirect, uses no proxy and no cookie."""

    def __init__(self) -> None:
        self._multi = pycurl.AsyncCurlMulti()
        self._multi.setopt(pycurl.M_MAXCONNECTS, _IDLE_CONNECTIONS)
        self._authorities = ssl.get_default_verify_paths().cafile or certifi.where()

    async def post(
        self, url: str, body: bytes, headers: Sequence[str], *, seconds: float, repeatable: bool
    ) -> Reply:
        """Send a POST, and wait for the whole answer, all within `seconds`.

        libcurl sends a request again by itself when a kept connection turns out to be dead before
        an answer began. What is not `repeatable` therefore gets a connection of its own.
        """
        curl = pycurl.Curl()
        response = BytesIO()

        def take(chunk: bytes) -> int:
            """Fewer bytes taken than given ends the transfer."""
            if response.tell() + len(chunk) > _LARGEST_RESPONSE:
                return 0
            return response.write(chunk)

        curl.setopt(pycurl.URL, url)
        curl.setopt(pycurl.POST, 1)
        curl.setopt(pycurl.POSTFIELDS, body)
        curl.setopt(pycurl.HTTPHEADER, [*headers, "Accept-Encoding: identity", "Expect:"])
        curl.setopt(pycurl.WRITEFUNCTION, take)
        curl.setopt(pycurl.TIMEOUT_MS, max(1, int(seconds * 1000)))
        curl.setopt(pycurl.CONNECTTIMEOUT_MS, _CONNECT_MS)
        curl.setopt(pycurl.FRESH_CONNECT, 0 if repeatable else 1)
        curl.setopt(pycurl.NOSIGNAL, 1)
        curl.setopt(pycurl.FOLLOWLOCATION, 0)
        curl.setopt(pycurl.PROXY, "")
        curl.setopt(pycurl.CAINFO, self._authorities)
        try:
            await self._multi.perform(curl)
            return Reply(curl.getinfo(pycurl.RESPONSE_CODE), response.getvalue())
        except pycurl.error as error:
            code, message = error.args
            sent = code not in _NOT_SENT and curl.getinfo(pycurl.REQUEST_SIZE) > 0
            raise CallFailed(message or f"libcurl error {code}", sent=sent) from None
        finally:
            curl.close()

    async def close(self) -> None:
        await self._multi.aclose()
