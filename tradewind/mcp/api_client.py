"""Calls the HTTP API for an agent: with its key and its name, within limits of time and size."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import httpx
import msgspec

from tradewind.mcp.problems import ApiProblem, unreachable

Json = dict[str, Any]

_SECONDS = 30.0
_LARGEST_RESPONSE = 4 * 1024 * 1024
_LONGEST_AGENT = 100


@dataclass(frozen=True, slots=True)
class ApiAnswer:
    """What the API answered; `replayed`: it is the stored answer to the same request."""

    body: Json
    replayed: bool


class ApiClient:
    """Sends requests to one Tradewind. It holds no key: each call brings the key of its caller."""

    def __init__(self, url: str) -> None:
        self._url = url.rstrip("/")
        self._http = httpx.AsyncClient(timeout=_SECONDS, follow_redirects=False)

    async def close(self) -> None:
        await self._http.aclose()

    async def call(
        self,
        caller: "AgentCaller",
        method: str,
        path: str,
        *,
        body: Mapping[str, Any] | None = None,
        query: Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
    ) -> ApiAnswer:
        """The body of a successful response; ApiProblem for anything else."""
        headers = {"x-api-key": caller.key, "x-agent-name": caller.agent}
        if idempotency_key is not None:
            headers["idempotency-key"] = idempotency_key
        shown = {name: value for name, value in (query or {}).items() if value is not None}
        try:
            async with self._http.stream(
                method, self._url + path, headers=headers, json=body, params=shown
            ) as response:
                raw = bytearray()
                async for chunk in response.aiter_bytes():
                    raw += chunk
                    if len(raw) > _LARGEST_RESPONSE:
                        raise ApiProblem("The response is too large; ask for less.")
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise unreachable(error) from None
        answer = _decode(bytes(raw))
        if not response.is_success or answer is None:
            raise ApiProblem.of(response.status_code, answer)
        return ApiAnswer(answer, "idempotent-replayed" in response.headers)


@dataclass(frozen=True, slots=True)
class AgentCaller:
    """Who calls: the API key, and the name of the agent that uses it."""

    key: str
    agent: str

    def __repr__(self) -> str:
        return f"AgentCaller({self.agent!r})"  # never the key


def agent_name(name: str, version: str) -> str:
    """The name of an agent for the audit log: one line of ASCII, such as `shopper/1.2`."""
    text = f"{name}/{version}" if version else name
    ascii_text = text.encode("ascii", "replace").decode()
    line = "".join(letter if letter.isprintable() else " " for letter in ascii_text)
    return " ".join(line.split())[:_LONGEST_AGENT] or "agent"


def path_of(*steps: str) -> str:
    """A path of the API; a step can hold anything and stays one step."""
    return "/v1/" + "/".join(quote(step, safe="") for step in steps)


def derived_key(tool: str, arguments: Mapping[str, Any]) -> str:
    """An idempotency key made from a call: the same call again is the same request."""
    text = msgspec.json.encode([tool, arguments], order="deterministic")
    return f"mcp-{hashlib.sha256(text).hexdigest()[:40]}"


def _decode(raw: bytes) -> Json | None:
    try:
        decoded = msgspec.json.decode(raw) if raw else {}
    except msgspec.DecodeError:
        return None
    return decoded if isinstance(decoded, dict) else None
