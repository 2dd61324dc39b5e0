"""Endpoints: a function with typed parameters becomes a route, its inputs and its reference."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, get_args, get_origin, get_type_hints
from uuid import UUID

from tradewind.errors import ApiError, ResourceNotFound
from tradewind.ids import Kind
from tradewind.web.caller import Caller, Requires
from tradewind.web.concurrency import TooManyConcurrentRequests
from tradewind.web.idempotency import IdempotencyKey
from tradewind.web.request import Request
from tradewind.web.response import Response
from tradewind.web.site import Form

Handler = Callable[..., Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One method of one path, with everything that its function's signature says about it.

    Parameters are recognised by what they are: ids and texts are those of the path, in its order
    (`/{id}` may be called `order_id` here), `Caller` (perhaps with a role) asks for credentials,
    `body` and `query` are structs (a body that may be None may be left out),
    `IdempotencyKey` is that header, `Request` the request itself, and anything else is a part of
    the application, handed in by its type.

    `path_kinds` are the kinds of the path's ids by the names that the function gives them; None is
    a plain text. `also` are other statuses of success, and what each says.

    An `expensive` endpoint holds the database or a marketplace for long: an account has only a few
    such requests at once (see `web/concurrency.py`).

    An `urgent` endpoint stops an abuse, and so is open to who is abused: it is let through when
    the account's budget is used up, by whoever did that.

    An endpoint with a `raw_body` reads it from the request itself, whatever it is. Any other that
    takes no `body` refuses one.

    A `page` is for people: whoever opens it is known by the session cookie, refusals are pages as
    well, and a form is checked to be one of ours (see `web/site.py`).
    """

    method: str
    path: str
    handler: Handler
    status: int
    tag: str
    errors: Sequence[type[ApiError]]
    headers: Mapping[str, str]
    media_type: str
    hidden: bool
    quiet: bool
    urgent: bool
    expensive: bool
    form: bool
    page: bool
    also: Mapping[int, str]
    raw_body: bool = False
    answers: Any = None
    caller: str | None = None
    role: str | None = None
    body: Any = None
    body_required: bool = True
    query: Any = None
    request: str | None = None
    once: str | None = None
    once_required: bool = False
    path_kinds: Mapping[str, Kind | None] = field(default_factory=dict)
    parts: Mapping[str, type] = field(default_factory=dict)

    @property
    def path_names(self) -> list[str]:
        """The names of the path's parameters, as callers read them."""
        return _path_names(self.path)

    @property
    def is_api(self) -> bool:
        """Whether programs call it, which are told of everything that it does not know.

        What browsers and load balancers open ignores parameters that it does not know.
        """
        return self.path.startswith("/v1/")


class Routes:
    """A group of endpoints under one prefix, shown under one heading of the reference.

    Hidden ones are not in the reference; quiet ones write no log line while all is well; `pages`
    are for people with a browser.
    """

    def __init__(
        self,
        prefix: str,
        *,
        tag: str,
        hidden: bool = False,
        quiet: bool = False,
        pages: bool = False,
    ) -> None:
        self.prefix = prefix
        self.tag = tag
        self.hidden = hidden
        self.quiet = quiet
        self.pages = pages
        self.endpoints: list[Endpoint] = []

    def get(self, path: str = "", **options: Any) -> Callable[[Handler], Handler]:
        return self._declare("GET", path, **options)

    def post(self, path: str = "", **options: Any) -> Callable[[Handler], Handler]:
        return self._declare("POST", path, **options)

    def patch(self, path: str = "", **options: Any) -> Callable[[Handler], Handler]:
        return self._declare("PATCH", path, **options)

    def delete(self, path: str = "", **options: Any) -> Callable[[Handler], Handler]:
        return self._declare("DELETE", path, **options)

    def _declare(
        self,
        method: str,
        path: str,
        *,
        status: int = 200,
        errors: Sequence[type[ApiError]] = (),
        headers: Mapping[str, str] | None = None,
        answers: Any = None,
        media_type: str = "application/json",
        urgent: bool = False,
        expensive: bool = False,
        form: bool = False,
        also: Mapping[int, str] | None = None,
        raw_body: bool = False,
    ) -> Callable[[Handler], Handler]:
        def declare(handler: Handler) -> Handler:
            read = _read_signature(handler, self.prefix + path)
            if answers is not None:
                read["answers"] = answers
            if expensive and "caller" not in read:
                raise TypeError(f"{method} {path}: only what an account asks for is expensive.")
            if self.pages:
                _check_page(method, self.prefix + path, read.get("body"))
            self.endpoints.append(
                Endpoint(
                    method=method,
                    path=self.prefix + path,
                    handler=handler,
                    status=status,
                    tag=self.tag,
                    errors=(*errors, TooManyConcurrentRequests) if expensive else tuple(errors),
                    headers=headers or {},
                    media_type=media_type,
                    hidden=self.hidden,
                    quiet=self.quiet,
                    urgent=urgent,
                    expensive=expensive,
                    form=form or self.pages,
                    page=self.pages,
                    also=also or {},
                    raw_body=raw_body,
                    **read,
                )
            )
            return handler

        return declare


def _read_signature(handler: Handler, path: str) -> dict[str, Any]:
    hints = get_type_hints(handler, include_extras=True)
    returns = hints.pop("return", None)
    read: dict[str, Any] = {"parts": {}, "path_kinds": {}}
    for name, hint in hints.items():
        kind, extras = _unwrapped(hint)
        id_kind = next((e for e in extras if isinstance(e, Kind)), None)
        if id_kind is not None or kind is str:
            read["path_kinds"][name] = id_kind
        elif kind is Caller:
            read["caller"] = name
            read["role"] = next((e.role for e in extras if isinstance(e, Requires)), None)
        elif kind is IdempotencyKey or IdempotencyKey in get_args(kind):
            read["once"], read["once_required"] = name, kind is IdempotencyKey
        elif kind is Request:
            read["request"] = name
        elif name == "body":
            options = [option for option in get_args(kind) if option is not type(None)]
            read["body_required"] = type(None) not in get_args(kind)
            read["body"] = kind if read["body_required"] else options[0]
        elif name == "query":
            read["query"] = kind
        else:
            read["parts"][name] = kind
    if len(read["path_kinds"]) != len(_path_names(path)):
        raise TypeError(f"{path}: the function reads {', '.join(read['path_kinds']) or 'nothing'}.")
    if returns not in (None, type(None), Response):
        read["answers"] = returns
    return read


def _path_names(path: str) -> list[str]:
    return [part[1:-1] for part in path.split("/") if part.startswith("{")]


def _check_page(method: str, path: str, body: Any) -> None:
    """Every form of a page can be told from a forged one, or the process does not even start."""
    if method not in {"GET", "POST"}:
        raise TypeError(f"{method} {path}: a browser's form can only GET and POST.")
    if method == "POST" and not (isinstance(body, type) and issubclass(body, Form)):
        raise TypeError(f"{method} {path}: the body of a page is a web.site.Form.")


def _unwrapped(hint: Any) -> tuple[Any, Sequence[Any]]:
    if get_origin(hint) is Annotated:
        kind, *extras = get_args(hint)
        return kind, extras
    return hint, ()


def read_path(kinds: Mapping[str, Kind | None], values: Sequence[str]) -> dict[str, UUID | str]:
    """The path's parameters by name; an id that cannot exist is refused like a missing one."""
    found: dict[str, UUID | str] = {}
    for (name, kind), text in zip(kinds.items(), values, strict=True):
        if kind is None:
            found[name] = text
            continue
        value = kind.read(text)
        if value is None:
            raise ResourceNotFound(kind)
        found[name] = value
    return found
