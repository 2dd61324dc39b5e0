"""Endpoints: a function with typed parameters becomes a route, its inputs and its reference."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, TypedDict, Unpack, get_args, get_origin, get_type_hints
from uuid import UUID

from tradewind.errors import ApiError, existing
from tradewind.ids import Kind
from tradewind.web.caller import Caller, Requires
from tradewind.web.concurrency import TooManyConcurrentRequests
from tradewind.web.idempotency import IdempotencyKey
from tradewind.web.inputs import BODY_LIMIT
from tradewind.web.request import Request
from tradewind.web.response import Response
from tradewind.web.scopes import RequiredScope
from tradewind.web.site import Form

Handler = Callable[..., Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One method of one path, with everything that its function's signature says about it.

    Parameters are recognised by their types: ids and texts belong to the path, in its order
    (`/{id}` may be called `order_id` here), `Caller` (perhaps with a role) asks for credentials,
    `body` and `query` are structs (a body that may be None may be left out),
    `IdempotencyKey` is that header, `Request` is the request itself, and anything else is a part
    of the application, passed in by its type.

    `path_kinds` are the kinds of the path's ids by the names of the function's parameters; None is
    plain text. For the options see `RouteOptions`.

    A `page` is for people: the session cookie says who opens it, errors are pages as well, and a
    form must come from a page of this site (see `web/site.py`).
    """

    method: str
    path: str
    handler: Handler
    tag: str
    hidden: bool
    quiet: bool
    page: bool
    form: bool
    status: int = 200
    also: Mapping[int, str] = field(default_factory=dict)
    errors: Sequence[type[ApiError]] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    request_headers: Mapping[str, str] = field(default_factory=dict)
    media_type: str = "application/json"
    urgent: bool = False
    expensive: bool = False
    raw_body: bool = False
    upload: str = ""
    body_limit: int = BODY_LIMIT
    multipart: bool = False
    returns: Any = None
    caller: str | None = None
    role: str | None = None
    scope: RequiredScope | None = None
    body: Any = None
    body_required: bool = True
    query: Any = None
    request: str | None = None
    idempotency_key: str | None = None
    idempotency_key_required: bool = False
    path_kinds: Mapping[str, Kind | None] = field(default_factory=dict)
    parts: Mapping[str, type] = field(default_factory=dict)

    @property
    def path_names(self) -> list[str]:
        """The names of the path's parameters, as callers read them."""
        return _path_names(self.path)

    @property
    def is_api(self) -> bool:
        """Whether programs call it. An API endpoint rejects parameters that it does not know.

        Pages and health checks ignore them: browsers and load balancers add all sorts.
        """
        return self.path.startswith("/v1/")


class RouteOptions(TypedDict, total=False):
    """What a route says beyond its function's signature.

    Every route of the API with a caller has a `scope`: the one that an API key with scopes needs,
    `ANY_SCOPE`, with which every key may call it, or `FULL_ACCESS`, with which no such key may.
    Without it none may either, and a test fails.

    `status` is that of success, `also` are other ones, and what each means. `errors` and `headers`
    are what the reference lists (it adds the errors that follow from the signature, so for an id in
    the path ResourceNotFound), and `request_headers` are those that the function reads from the
    request. `returns` is the type of the body where the function returns a
    `Response`, and `media_type` its content type.

    An `expensive` endpoint holds the database or a marketplace for long: an account has only a few
    such requests at the same time (see `web/concurrency.py`). An `urgent` endpoint stops an abuse,
    so it works when the account's budget is used up. With `form` the body is a form, not JSON.
    With `raw_body` the function reads the body from the request; any other endpoint without a
    `body` rejects one. If that body is a file, `upload` describes it. `body_limit` is the largest
    size of a body in bytes. With `multipart` the form of a page contains files, whose fields are of
    type `bytes`; a text `file_name` gets the name of the file in the field `file`.
    """

    scope: RequiredScope
    status: int
    also: Mapping[int, str]
    errors: Sequence[type[ApiError]]
    headers: Mapping[str, str]
    request_headers: Mapping[str, str]
    returns: Any
    media_type: str
    expensive: bool
    urgent: bool
    form: bool
    raw_body: bool
    upload: str
    body_limit: int
    multipart: bool


class Routes:
    """A group of endpoints under one prefix, shown under one heading of the reference.

    Hidden routes are not in the reference; quiet ones log only errors; `pages` are for people with
    a browser.
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

    def get(self, path: str = "", **options: Unpack[RouteOptions]) -> Callable[[Handler], Handler]:
        return self._declare("GET", path, options)

    def post(self, path: str = "", **options: Unpack[RouteOptions]) -> Callable[[Handler], Handler]:
        return self._declare("POST", path, options)

    def patch(
        self, path: str = "", **options: Unpack[RouteOptions]
    ) -> Callable[[Handler], Handler]:
        return self._declare("PATCH", path, options)

    def delete(
        self, path: str = "", **options: Unpack[RouteOptions]
    ) -> Callable[[Handler], Handler]:
        return self._declare("DELETE", path, options)

    def _declare(
        self,
        method: str,
        path: str,
        options: RouteOptions,
    ) -> Callable[[Handler], Handler]:
        def declare(handler: Handler) -> Handler:
            endpoint = Endpoint(
                method=method,
                path=self.prefix + path,
                handler=handler,
                tag=self.tag,
                hidden=self.hidden,
                quiet=self.quiet,
                page=self.pages,
                **{
                    "form": self.pages,
                    **_read_signature(handler, self.prefix + path),
                    **options,
                },
            )
            if self.pages:
                _check_page(endpoint)
            if endpoint.expensive:
                if endpoint.caller is None:
                    raise TypeError(f"{method} {path}: an expensive endpoint needs a caller.")
                errors = (*endpoint.errors, TooManyConcurrentRequests)
                endpoint = replace(endpoint, errors=errors)
            self.endpoints.append(endpoint)
            return handler

        return declare


def _read_signature(handler: Handler, path: str) -> dict[str, Any]:
    hints = get_type_hints(handler, include_extras=True)
    returns = hints.pop("return", None)
    signature: dict[str, Any] = {
        "parts": {},
        "path_kinds": {},
        "returns": None if returns in (type(None), Response) else returns,
    }
    for name, hint in hints.items():
        kind, extras = _unwrapped(hint)
        id_kind = next((e for e in extras if isinstance(e, Kind)), None)
        if id_kind is not None or kind is str:
            signature["path_kinds"][name] = id_kind
        elif kind is Caller:
            signature["caller"] = name
            signature["role"] = next((e.role for e in extras if isinstance(e, Requires)), None)
        elif kind is IdempotencyKey or IdempotencyKey in get_args(kind):
            signature["idempotency_key"] = name
            signature["idempotency_key_required"] = kind is IdempotencyKey
        elif kind is Request:
            signature["request"] = name
        elif name == "body":
            options = [option for option in get_args(kind) if option is not type(None)]
            signature["body_required"] = type(None) not in get_args(kind)
            signature["body"] = kind if signature["body_required"] else options[0]
        elif name == "query":
            signature["query"] = kind
        else:
            signature["parts"][name] = kind
    if len(signature["path_kinds"]) != len(_path_names(path)):
        raise TypeError(
            f"{path}: the function reads {', '.join(signature['path_kinds']) or 'nothing'}."
        )
    return signature


def _path_names(path: str) -> list[str]:
    return [part[1:-1] for part in path.split("/") if part.startswith("{")]


def _check_page(endpoint: Endpoint) -> None:
    """Check that a page's form carries a CSRF token, or do not start."""
    method, body = endpoint.method, endpoint.body
    if method not in {"GET", "POST"}:
        raise TypeError(f"{method} {endpoint.path}: a browser's form can only GET and POST.")
    if method == "POST" and not (isinstance(body, type) and issubclass(body, Form)):
        raise TypeError(f"{method} {endpoint.path}: the body of a page is a web.site.Form.")


def _unwrapped(hint: Any) -> tuple[Any, Sequence[Any]]:
    if get_origin(hint) is Annotated:
        kind, *extras = get_args(hint)
        return kind, extras
    return hint, ()


def read_path(kinds: Mapping[str, Kind | None], values: Sequence[str]) -> dict[str, UUID | str]:
    """The path's parameters by name; an id that cannot exist is ResourceNotFound."""
    parameters: dict[str, UUID | str] = {}
    for (name, kind), text in zip(kinds.items(), values, strict=True):
        parameters[name] = text if kind is None else existing(kind.read(text), kind)
    return parameters
