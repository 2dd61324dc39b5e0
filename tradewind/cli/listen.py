"""`tradewind listen`: posts the account's events to a program on this machine, as webhooks are."""

import asyncio
import json
import os
import random
import signal
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit

import typer

from tradewind import ids
from tradewind.cli import client
from tradewind.cli.output import Json, for_programs, printable, say, write_error, write_json
from tradewind.cli.sse import ServerSentEvent
from tradewind.egress.sender import USER_AGENT
from tradewind.errors import TradewindError
from tradewind.events.catalogue import ORDER_UPDATED, PAYMENT_UPDATED
from tradewind.webhooks import headers as names
from tradewind.webhooks.secret import make
from tradewind.webhooks.signing import sign

if TYPE_CHECKING:
    from tradewind.cli.remote import LocalAnswer, LocalEndpoint

_FIRST_DELAY = 0.2
_LONGEST_DELAY = 5.0
_UNAUTHENTICATED, _TOO_MANY, _SERVER_ERROR = 401, 429, 500
_SHOWN_LETTERS = 200
_INTERRUPTED = 130


class WrongForward(TradewindError):
    """A text is not a URL to which events can be posted."""


def listen(
    *,
    forward_to: Annotated[
        str | None,
        typer.Option(help="Where to post events, such as localhost:3000/hook; else only shown."),
    ] = None,
    events: Annotated[
        list[str] | None,
        typer.Option(
            help="Only these kinds; repeat, or separate by commas.",
            autocompletion=lambda: [ORDER_UPDATED, PAYMENT_UPDATED],
        ),
    ] = None,
    order: Annotated[str | None, typer.Option(help="Only events of this order.")] = None,
    after: Annotated[
        int | None,
        typer.Option(min=0, help="Resume after the event with this number; else what is new."),
    ] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Show headers and bodies as well.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Receive webhooks on this machine, without a public address, until Ctrl-C.

    Each event is posted once, in the account's order, with the headers of a webhook, signed with a
    secret that is made for this run. `r` resends the last one.
    """
    from tradewind.cli.remote import LocalEndpoint  # noqa: PLC0415 - httpx takes long

    url = None if forward_to is None else forward_url(forward_to)
    query: dict[str, Any] = {}
    if events:
        query["event"] = ",".join(events)
    if order:
        query["order"] = order
    view = _View(as_json=for_programs(as_json), verbose=verbose)
    with client.connected() as remote:
        account = remote.get("/v1/me")
        secret = make()
        view.start(remote.login.url, account["email"], url, secret)
        listener = _Listener(remote, view, secret, query, None if after is None else str(after))

        async def run() -> None:
            listener.endpoint = None if url is None else LocalEndpoint(url)
            try:
                await listener.run()
            finally:
                if listener.endpoint is not None:
                    await listener.endpoint.close()

        asyncio.run(run())
        view.stop(listener.last_id)
    raise typer.Exit(_INTERRUPTED)


def forward_url(text: str) -> str:
    """A complete URL: `3000/hook` and `localhost:3000/hook` mean this machine, by http."""
    if text.split("/", maxsplit=1)[0].isdigit():
        text = f"localhost:{text}"
    if "://" not in text:
        text = f"http://{text}"
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError:
        raise WrongForward(f"{text} is not a URL.") from None
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise WrongForward(f"{text} is not a URL to post to, such as localhost:3000/hook.")
    return text


@dataclass(frozen=True, slots=True)
class _Delivery:
    """An event as it is posted; a resend is another delivery of the same event."""

    number: str
    kind: str
    body: bytes
    headers: Mapping[str, str]

    @staticmethod
    def of(event: ServerSentEvent, secret: str) -> "_Delivery":
        body = (event.data or "").encode()
        now = int(time.time())
        return _Delivery(
            event.id,
            event.kind,
            body,
            {
                "Content-Type": "application/json",
                "User-Agent": USER_AGENT,
                names.EVENT: event.kind,
                names.DELIVERY: ids.DELIVERY.show(ids.new()),
                names.TIMESTAMP: str(now),
                names.SIGNATURE: sign(secret, now, body),
            },
        )


@dataclass
class _Listener:
    """Follows the stream over lost connections, and posts each event once."""

    remote: client.Remote
    view: "_View"
    secret: str
    query: Mapping[str, Any]
    last_id: str | None
    endpoint: "LocalEndpoint | None" = None
    last_event: ServerSentEvent | None = None
    _posting: asyncio.Lock = field(default_factory=asyncio.Lock)
    _resends: set[asyncio.Task[None]] = field(default_factory=set)

    async def run(self) -> None:
        """Listen until a signal comes; an error that does not pass is raised."""
        loop = asyncio.get_running_loop()
        following = asyncio.ensure_future(self._follow())
        for signum in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(signum, following.cancel)
        with _keys(self._resend), suppress(asyncio.CancelledError):
            await following

    async def _follow(self) -> None:
        from tradewind.cli.remote import (  # noqa: PLC0415 - httpx takes long
            RequestFailed,
            ServerUnreachable,
        )

        delay, was_connected, last_reason = _FIRST_DELAY, False, ""
        while True:
            wait = None
            try:
                try:
                    async with self.remote.stream(self.query, self.last_id) as blocks:
                        self.view.connected(self.last_id, again=was_connected)
                        delay, was_connected, last_reason = _FIRST_DELAY, True, ""
                        async for block in blocks:
                            await self._take(block)
                    reason = "the server ended the stream"
                except RequestFailed as error:
                    # The server may become unreachable here as well, which passes.
                    renewed = error.status == _UNAUTHENTICATED and self.remote.renew()
                    passes = error.status == _TOO_MANY or error.status >= _SERVER_ERROR
                    if not renewed and not (was_connected and passes):
                        raise
                    reason, wait = str(error).rstrip("."), 0.0 if renewed else error.retry_after
            except ServerUnreachable as error:
                if not was_connected:
                    raise
                reason = str(error).rstrip(".")
            if wait is None:
                wait = delay * random.uniform(0.8, 1.2)  # noqa: S311 - only to spread clients
                delay = min(delay * 2, _LONGEST_DELAY)
            self.view.lost(reason, wait, is_new=reason != last_reason)
            last_reason = reason
            await asyncio.sleep(wait)

    async def _take(self, block: ServerSentEvent) -> None:
        if block.data is not None:
            # Set before the post: whatever happens to it, it is not made again.
            self.last_id, self.last_event = block.id, block
            await self._post(block, resent=False)
        self.last_id = block.id or self.last_id

    async def _post(self, event: ServerSentEvent, *, resent: bool) -> None:
        async with self._posting:
            delivery = _Delivery.of(event, self.secret)
            answer = None
            if self.endpoint is not None:
                answer = await self.endpoint.post(delivery.headers, delivery.body)
            url = None if self.endpoint is None else self.endpoint.url
            self.view.posted(delivery, url, answer, resent=resent)

    def _resend(self) -> None:
        if self.last_event is None or self.endpoint is None:
            self.view.note("There is nothing to resend yet.")
            return
        task = asyncio.ensure_future(self._post(self.last_event, resent=True))
        self._resends.add(task)
        task.add_done_callback(self._resends.discard)


@contextmanager
def _keys(resend: Any) -> Iterator[None]:
    """Call `resend` whenever `r` is pressed, where there is a keyboard."""
    if not sys.stdin.isatty():
        yield
        return
    import termios  # noqa: PLC0415 - only on a terminal, and not on Windows
    import tty  # noqa: PLC0415

    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    loop = asyncio.get_running_loop()

    def pressed() -> None:
        keys = os.read(descriptor, 1024)
        if not keys:
            loop.remove_reader(descriptor)
        for _ in range(keys.lower().count(b"r")):
            resend()

    try:
        tty.setcbreak(descriptor, termios.TCSANOW)
        loop.add_reader(descriptor, pressed)
        yield
    finally:
        loop.remove_reader(descriptor)
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


@dataclass(frozen=True, slots=True)
class _View:
    """What is shown: lines for people, or a JSON object a line for programs."""

    as_json: bool
    verbose: bool

    def start(self, server: str, email: str, url: str | None, secret: str) -> None:
        if self.as_json:
            write_json(
                {"type": "start", "server": server, "email": email, "url": url, "secret": secret}
            )
            return
        say(f"Listening to {server} as {email}.")
        if url is not None:
            say(f"Events are posted to {url}, signed with the secret of this run:\n\n  {secret}\n")
            say("r resends the last event; Ctrl-C stops.")

    def connected(self, last_id: str | None, *, again: bool) -> None:
        if self.as_json:
            write_json({"type": "connected", "after": None if last_id is None else int(last_id)})
        else:
            self.note(f"Connected again, after event {last_id}." if again else "Connected.")

    def lost(self, reason: str, wait: float, *, is_new: bool) -> None:
        """Tell programs of every attempt to connect, and people of what is new to them."""
        if self.as_json:
            write_json({"type": "disconnected", "reason": reason, "retry_seconds": round(wait, 3)})
        elif is_new:
            self.note(f"Connection lost: {printable(reason)}. Connecting again …")

    def posted(
        self, delivery: _Delivery, url: str | None, answer: "LocalAnswer | None", *, resent: bool
    ) -> None:
        if self.as_json:
            self._write_post(delivery, url, answer, resent=resent)
            return
        order = json.loads(delivery.body)["data"]["order"]
        again = "again " if resent else ""
        self.note(
            f"#{delivery.number} {again}{delivery.kind}  {order['id']}"
            f"  {order['status']}, payment {order['payment_status']}"
        )
        if url is not None:
            say(f"          -> POST {url}  {delivery.headers[names.DELIVERY]}")
        if self.verbose:
            for name, value in delivery.headers.items():
                say(f"             {name}: {value}")
            say(f"             {printable(delivery.body.decode())}")
        if answer is not None:
            result = f"{answer.status or 'failed'} {answer.reason}".strip()
            body = printable(answer.body if self.verbose else answer.body[:_SHOWN_LETTERS])
            say(f"          <- {printable(result)} in {answer.duration_ms} ms  {body}".rstrip())

    def stop(self, last_id: str | None) -> None:
        if self.as_json:
            write_json({"type": "stop", "last": None if last_id is None else int(last_id)})
        elif last_id is not None:
            say(f"Stopped. `tradewind listen --after {last_id}` goes on from here.")

    def note(self, text: str) -> None:
        if self.as_json:
            write_error(text)
        else:
            say(f"{datetime.now():%H:%M:%S}  {text}")  # noqa: DTZ005 - the reader's own clock

    @staticmethod
    def _write_post(
        delivery: _Delivery, url: str | None, answer: "LocalAnswer | None", *, resent: bool
    ) -> None:
        write_json(
            {
                "type": "event",
                "number": int(delivery.number),
                "event": delivery.kind,
                "resent": resent,
                "request": {
                    "url": url,
                    "headers": delivery.headers,
                    "body": delivery.body.decode(),
                },
                "response": answer
                and {
                    "status_code": answer.status,
                    "reason": answer.reason,
                    "body": answer.body,
                    "duration_ms": answer.duration_ms,
                },
            }
        )
