"""OpenAPI 3.1: the reference, written from the endpoints themselves."""

import inspect
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from tradewind.errors import Refusal
from tradewind.storage.pool import DatabaseAway
from tradewind.web import problems
from tradewind.web.endpoint import Endpoint
from tradewind.web.idempotency import (
    IdempotencyKeyMalformed,
    IdempotencyKeyMissing,
    IdempotencyKeyReused,
    RequestInFlight,
)
from tradewind.web.paging import MalformedCursor, PageQuery

_REF = "#/components/schemas/{name}"

_HEADERS: Mapping[str, tuple[str, str]] = {
    "X-Request-Id": (
        "Names this request in logs; a well-formed one that you send is kept.",
        "req_06EJ4KQZC5T9XN4R5ZJ2V7M8QW",
    ),
    "RateLimit-Policy": (
        "The plan's quota `q` per window `w` in seconds.",
        '"default";q=1200;w=60',
    ),
    "RateLimit": (
        "Requests `r` that fit now, and the seconds `t` until the whole burst is back.",
        '"default";r=119;t=1',
    ),
    "Retry-After": ("Seconds to wait before trying again.", "2"),
    "WWW-Authenticate": ("The ways to authenticate.", 'Bearer realm="tradewind"'),
    "Idempotent-Replayed": ("`true` when this answer was given before.", "true"),
}

_SECURITY = {
    "accessToken": {
        "type": "http",
        "scheme": "bearer",
        "bearerFormat": "JWT",
        "description": "The access token of `POST /v1/auth/login`, valid for 90 days.",
    },
    "apiKey": {
        "type": "apiKey",
        "in": "header",
        "name": "x-api-key",
        "description": "A key from `POST /v1/api-keys` or the dashboard.",
    },
}


def describe(
    endpoints: Iterable[Endpoint],
    gate_errors: Sequence[type[Refusal]],
    webhooks: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The whole document. `gate_errors` are what credentials and limits can be refused with.

    `webhooks` are what receivers are sent: the type of the body by the name of the event.
    """
    shown = [endpoint for endpoint in endpoints if not endpoint.hidden]
    kinds = [kind for e in shown for kind in (e.body, e.query, e.answers) if kind is not None]
    kinds += (webhooks or {}).values()
    schemas, components = msgspec.json.schema_components(kinds, ref_template=_REF)
    by_kind = dict(zip(kinds, schemas, strict=True))
    components["Problem"] = _problem_schema()
    paths: dict[str, Any] = {}
    for endpoint in shown:
        operation = _Operation(endpoint, by_kind, components, gate_errors).described()
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = operation
    queries = {e.query.__name__ for e in shown if e.query is not None}
    document = {
        "openapi": "3.1.0",
        "info": {
            "title": "Tradewind",
            "version": "1",
            "summary": "Cross-border purchasing behind one API.",
            "description": (
                "Search products on marketplaces, order there, pay with an approval step, and be "
                "told of every change by signed webhooks.\n\n"
                "`/v1` only grows: tolerate new fields and new values of enumerations. Every error "
                "is a problem document (RFC 9457) whose `type` opens a page that explains it."
            ),
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "tags": [{"name": tag} for tag in dict.fromkeys(e.tag for e in shown)],
        "paths": paths,
        "webhooks": {
            name: {"post": _webhook(name, by_kind[kind])} for name, kind in (webhooks or {}).items()
        },
        "components": {
            "schemas": {n: s for n, s in sorted(components.items()) if n not in queries},
            "securitySchemes": _SECURITY,
        },
    }
    return _with_plain_names(document)


_DELIVERY_HEADERS = {
    "X-Service-Event": "The name of the event.",
    "X-Service-Delivery": "The id of this attempt; another one at every retry.",
    "X-Service-Timestamp": "Unix time in seconds, taken at the send.",
    "X-Service-Signature": "`sha256=` and the hex HMAC-SHA-256 of timestamp, `.` and raw body.",
}


def _webhook(name: str, schema: Any) -> dict[str, Any]:
    """What a receiver is sent, and what it answers."""
    return {
        "operationId": f"receive_{name.replace('.', '_')}",
        "tags": ["Webhooks"],
        "summary": f"What a subscription to `{name}` is sent",
        "description": "Verify the signature over the raw body, de-duplicate by `id`, ignore what "
        "is older than what you have by `data.order.updated_at`, and answer with 2xx in 10 s.",
        "parameters": [
            {
                "name": header,
                "in": "header",
                "required": True,
                "description": text,
                "schema": {"type": "string"},
            }
            for header, text in _DELIVERY_HEADERS.items()
        ],
        "requestBody": {"required": True, "content": {"application/json": {"schema": schema}}},
        "responses": {"2XX": {"description": "Taken. Anything else is tried again."}},
        "security": [],
    }


class _Operation:
    """Writes one endpoint's part of the document."""

    def __init__(
        self,
        endpoint: Endpoint,
        schemas: Mapping[Any, Any],
        components: Mapping[str, Any],
        gate_errors: Sequence[type[Refusal]],
    ) -> None:
        self.endpoint = endpoint
        self.schemas = schemas
        self.components = components
        self.gate_errors = gate_errors

    def described(self) -> dict[str, Any]:
        endpoint = self.endpoint
        summary, _, rest = inspect.cleandoc(endpoint.handler.__doc__ or "").partition("\n\n")
        operation: dict[str, Any] = {
            "operationId": endpoint.handler.__name__,
            "tags": [endpoint.tag],
            "summary": " ".join(summary.split()).rstrip("."),
            "description": self._description(rest),
            "parameters": [*self._path(), *self._query(), *self._once()],
            "responses": self._responses(),
            "security": [{"accessToken": []}, {"apiKey": []}] if endpoint.caller else [],
        }
        if endpoint.body is not None:
            media = "application/x-www-form-urlencoded" if endpoint.form else "application/json"
            operation["requestBody"] = {
                "required": endpoint.body_required,
                "content": {media: self._content(endpoint.body)},
            }
        return operation

    def _description(self, text: str) -> str:
        needs = f"Needs the role `{self.endpoint.role}`." if self.endpoint.role else ""
        paragraphs = [" ".join(part.split()) for part in text.split("\n\n") if part.strip()]
        return "\n\n".join(filter(None, [*paragraphs, needs]))

    def _path(self) -> list[dict[str, Any]]:
        return [
            {
                "name": name,
                "in": "path",
                "required": True,
                "schema": {"type": "string", **({"pattern": kind.pattern} if kind else {})},
                **({"description": f"The id of the {kind.noun}."} if kind else {}),
            }
            for name, kind in self.endpoint.path_kinds.items()
        ]

    def _query(self) -> list[dict[str, Any]]:
        if self.endpoint.query is None:
            return []
        schema = self._resolved(self.schemas[self.endpoint.query])
        found = []
        for name, field in schema["properties"].items():
            described = dict(field)
            parameter = {
                "name": name,
                "in": "query",
                "required": name in schema.get("required", ()),
                "schema": _without_null(described),
            }
            if "description" in described:
                parameter["description"] = described.pop("description")
            if parameter["schema"].get("type") == "array":
                parameter |= {"style": "form", "explode": False}
            found.append(parameter)
        return found

    def _once(self) -> list[dict[str, Any]]:
        if self.endpoint.once is None:
            return []
        return [
            {
                "name": "Idempotency-Key",
                "in": "header",
                "required": self.endpoint.once_required,
                "description": "A fresh one for each new request; kept for 7 days.",
                "schema": {"type": "string", "pattern": "^[\\x20-\\x7e]{1,255}$"},
            }
        ]

    def _responses(self) -> dict[str, Any]:
        endpoint = self.endpoint
        success: dict[str, Any] = {
            "description": "Done." if endpoint.status == 204 else "The answer.",  # noqa: PLR2004
            "headers": self._headers(),
        }
        success["headers"] |= {
            name: {"description": text, "schema": {"type": "string"}}
            for name, text in endpoint.headers.items()
        }
        if endpoint.answers is not None:
            success["content"] = {endpoint.media_type: self._content(endpoint.answers)}
        found = {str(endpoint.status): success}
        for status, text in endpoint.also.items():
            without_body = status == 304  # noqa: PLR2004
            found[str(status)] = {
                **{k: v for k, v in success.items() if not (without_body and k == "content")},
                "description": text,
            }
        by_status: dict[int, list[type[Refusal]]] = {}
        for kind in self._errors():
            by_status.setdefault(problems.status_of(kind), []).append(kind)
        for status, kinds in sorted(by_status.items()):
            found[str(status)] = self._problem(status, kinds)
        return found

    def _errors(self) -> list[type[Refusal]]:
        endpoint = self.endpoint
        kinds: list[type[Refusal]] = [
            problems.ValidationFailed,
            problems.BodyTooLarge,
            problems.InternalError,
        ]
        kinds += endpoint.errors
        if endpoint.caller is not None:
            kinds += self.gate_errors
        if endpoint.role is not None:
            kinds.append(problems.InsufficientPermissions)
        if endpoint.body is not None:
            kinds += [
                problems.MalformedJson,
                problems.BodyTooSlow,
                problems.UnsupportedMediaType,
            ]
        if endpoint.query is not None and issubclass(endpoint.query, PageQuery):
            kinds.append(MalformedCursor)
        if endpoint.once is not None:
            kinds += [IdempotencyKeyMalformed, IdempotencyKeyReused, RequestInFlight]
        if endpoint.once_required:
            kinds.append(IdempotencyKeyMissing)
        if endpoint.caller is not None or endpoint.parts:
            kinds.append(DatabaseAway)
        return list(dict.fromkeys(kinds))

    def _problem(self, status: int, kinds: Sequence[type[Refusal]]) -> dict[str, Any]:
        headers = self._headers(problem=True)
        if status in (429, 503):
            headers["Retry-After"] = _header("Retry-After")
        if status == 401:  # noqa: PLR2004
            headers["WWW-Authenticate"] = _header("WWW-Authenticate")
        return {
            "description": " ".join(f"`{kind.code}`: {kind.title}." for kind in kinds),
            "headers": headers,
            "content": {
                "application/problem+json": {
                    "schema": {"$ref": _REF.format(name="Problem")},
                    "examples": {kind.code: {"value": _problem_example(kind)} for kind in kinds},
                }
            },
        }

    def _headers(self, *, problem: bool = False) -> dict[str, Any]:
        names = ["X-Request-Id"]
        if self.endpoint.caller is not None:
            names += ["RateLimit-Policy", "RateLimit"]
        if self.endpoint.once is not None and not problem:
            names.append("Idempotent-Replayed")
        return {name: _header(name) for name in names}

    def _content(self, kind: Any) -> dict[str, Any]:
        schema = self.schemas[kind]
        return {"schema": schema, "example": self._example(schema)}

    def _example(self, schema: Mapping[str, Any]) -> Any:
        """A whole example, put together from the examples of its fields."""
        if "examples" in schema:
            return schema["examples"][0]
        schema = self._resolved(schema)
        if "properties" in schema:
            return {name: self._example(field) for name, field in schema["properties"].items()}
        if "anyOf" in schema:
            return self._example(schema["anyOf"][0])
        if schema.get("type") == "array":
            return [self._example(schema["items"])]
        for word in ("examples", "enum"):
            if word in schema:
                return schema[word][0]
        return schema.get(
            "default",
            {"string": "text", "integer": 1, "boolean": False}.get(schema.get("type", "null")),
        )

    def _resolved(self, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        if "$ref" in schema:
            found: Mapping[str, Any] = self.components[schema["$ref"].rpartition("/")[2]]
            return found
        return schema


def _header(name: str) -> dict[str, Any]:
    text, example = _HEADERS[name]
    return {"description": text, "schema": {"type": "string"}, "example": example}


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """A query parameter is left out rather than null."""
    options = [option for option in schema.get("anyOf", ()) if option.get("type") != "null"]
    if len(options) == 1:
        return {**{k: v for k, v in schema.items() if k not in ("anyOf", "default")}, **options[0]}
    return schema


def _problem_schema() -> dict[str, Any]:
    text = {"type": "string"}
    return {
        "title": "Problem",
        "type": "object",
        "description": "A problem document (RFC 9457).",
        "required": ["type", "title", "status", "detail", "code", "request_id"],
        "properties": {
            "type": {"type": "string", "format": "uri", "description": "Opens an explanation."},
            "title": text,
            "status": {"type": "integer"},
            "detail": text,
            "code": {"type": "string", "description": "Stable; compare this."},
            "request_id": text,
            "retry_after": {"type": "integer", "description": "Seconds to wait."},
            "errors": {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["pointer", "code", "message"],
                    "properties": {"pointer": text, "code": text, "message": text},
                },
            },
            "current": {"type": "string", "description": "The state that forbids it."},
            "allowed": {"type": "array", "items": text, "description": "What would be possible."},
            "upstream": {
                "type": "object",
                "properties": {"platform": text, "code": text, "message": text},
            },
        },
    }


def _problem_example(kind: type[Refusal]) -> dict[str, Any]:
    return {
        "type": f"https://tradewind.example/problems/{kind.code}",
        "title": kind.title,
        "status": problems.status_of(kind),
        "detail": " ".join((kind.__doc__ or kind.title).split("\n\n")[0].split()),
        "code": kind.code,
        "request_id": "req_06EJ4KQZC5T9XN4R5ZJ2V7M8QW",
    }


def _with_plain_names(document: dict[str, Any]) -> dict[str, Any]:
    """Generic structs get names that people would give: `Page_KeyOut_` becomes `PageOfKeyOut`."""
    text = msgspec.json.encode(document).decode()
    for name in document["components"]["schemas"]:
        if name.endswith("_"):
            text = text.replace(f'"{name}"', f'"{name[:-1].replace("_", "Of")}"')
            text = text.replace(f'/{name}"', f'/{name[:-1].replace("_", "Of")}"')
    plain: dict[str, Any] = msgspec.json.decode(text)
    return plain
