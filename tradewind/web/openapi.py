"""OpenAPI 3.1: the API reference, generated from the endpoints."""

import inspect
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tradewind import errors
from tradewind.errors import ApiError
from tradewind.storage.errors import DatabaseAway
from tradewind.web import problems, scopes
from tradewind.web.endpoint import Endpoint
from tradewind.web.idempotency import (
    IdempotencyKeyMalformed,
    IdempotencyKeyMissing,
    IdempotencyKeyReused,
    RequestInFlight,
)
from tradewind.web.openapi_schemas import Schemas
from tradewind.web.openapi_shared import ProblemResponse, Shared, pascal, problem_schemas
from tradewind.web.paging import MalformedCursor, PageQuery, has_pages

_INFO = {
    "title": "Tradewind",
    "version": "1",
    "summary": "Cross-border purchasing behind one API.",
    "description": (
        "Search products on marketplaces, order there, pay with an approval step, and receive "
        "every change by signed webhooks.\n\n"
        "`/v1` only grows: accept new fields and new values of enumerations. Every error "
        "is a problem document (RFC 9457) whose `type` opens a page that explains it."
    ),
    "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
}

# Of path parameters that are not our own ids: a platform, and a product there.
_PATH_EXAMPLES = {"platform": "sandbox", "id": "900000000001"}
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
    gate_errors: Sequence[type[ApiError]],
    tags: Mapping[str, str],
    webhooks: Mapping[str, Any] | None = None,
    webhook_headers: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """The whole document.

    `gate_errors` are the errors of credentials and limits, `tags` the headings with their
    descriptions, `webhooks` the type of the body of each event type, and `webhook_headers` the
    headers of a delivery with their descriptions.
    """
    shown = [endpoint for endpoint in endpoints if not endpoint.hidden]
    webhooks = webhooks or {}
    _check_operation_ids(shown)
    schemas = Schemas(
        inputs=[kind for e in shown for kind in (e.body, e.query) if kind is not None],
        outputs=[*(e.returns for e in shown if e.returns is not None), *webhooks.values()],
    )
    operations = [_Operation(endpoint, schemas, gate_errors) for endpoint in shown]
    shared = Shared(response for each in operations for response in each.problem_responses())
    paths: dict[str, Any] = {}
    for operation in operations:
        endpoint = operation.endpoint
        methods = paths.setdefault(endpoint.path, {})
        methods[endpoint.method.lower()] = operation.described(shared)
    queries = {schemas.name_of(e.query) for e in shown if e.query is not None}
    named = {**schemas.components, **problem_schemas()}
    return {
        "openapi": "3.1.0",
        "info": _INFO,
        "servers": [{"url": "/"}],
        "tags": _tags(shown, tags),
        "paths": paths,
        "webhooks": {
            name: {"post": _webhook(name, schemas.of(kind), webhook_headers or {})}
            for name, kind in webhooks.items()
        },
        "components": {
            "schemas": {name: named[name] for name in sorted(named) if name not in queries},
            **{name: dict(sorted(section.items())) for name, section in shared.sections.items()},
            "securitySchemes": _SECURITY,
        },
    }


def _check_operation_ids(endpoints: Iterable[Endpoint]) -> None:
    counted = Counter(endpoint.handler.__name__ for endpoint in endpoints)
    twice = [name for name, count in counted.items() if count > 1]
    if twice:
        raise TypeError(f"Several endpoints have the same name: {', '.join(twice)}.")


def _tags(endpoints: Iterable[Endpoint], tags: Mapping[str, str]) -> list[dict[str, str]]:
    """The headings in use, in the order of their descriptions."""
    used = {endpoint.tag for endpoint in endpoints}
    if used - tags.keys():
        raise TypeError(f"These tags have no description: {', '.join(sorted(used - tags.keys()))}.")
    return [{"name": tag, "description": text} for tag, text in tags.items() if tag in used]


def _webhook(name: str, schema: Any, headers: Mapping[str, str]) -> dict[str, Any]:
    """The request to a customer's endpoint, and the expected response."""
    return {
        "operationId": f"receive_{name.replace('.', '_')}",
        "tags": ["Webhooks"],
        "summary": f"The request to a webhook for `{name}`",
        "description": "Verify the signature over the raw body, de-duplicate by `id`, ignore an "
        "event with an older `data.order.updated_at` than yours, and respond with 2xx within 10 s.",
        "parameters": [
            {
                "name": header,
                "in": "header",
                "required": True,
                "description": text,
                "schema": {"type": "string"},
            }
            for header, text in headers.items()
        ],
        "requestBody": {"required": True, "content": {"application/json": {"schema": schema}}},
        "responses": {"2XX": {"description": "Accepted. Anything else is retried."}},
        "security": [],
    }


class _Operation:
    """Describes one endpoint."""

    def __init__(
        self, endpoint: Endpoint, schemas: Schemas, gate_errors: Sequence[type[ApiError]]
    ) -> None:
        self.endpoint = endpoint
        self.schemas = schemas
        self.gate_errors = gate_errors

    def described(self, shared: Shared) -> dict[str, Any]:
        endpoint = self.endpoint
        summary, _, rest = inspect.cleandoc(endpoint.handler.__doc__ or "").partition("\n\n")
        operation: dict[str, Any] = {
            "operationId": endpoint.handler.__name__,
            "tags": [endpoint.tag],
            "summary": " ".join(summary.split()).rstrip("."),
            "description": self._description(rest),
            "parameters": [
                *self._path(shared),
                *self._query(shared),
                *self._idempotency_key(shared),
                *self._request_headers(),
            ],
            "responses": self._responses(shared),
            "security": self._security(),
        }
        if endpoint.caller is not None:
            operation["x-required-scope"] = endpoint.scope or scopes.FULL_ACCESS
        if endpoint.body is not None:
            media = "application/x-www-form-urlencoded" if endpoint.form else "application/json"
            operation["requestBody"] = {
                "required": endpoint.body_required,
                "content": {media: self._content(endpoint.body, shared)},
            }
        if endpoint.upload:
            file = {"schema": {"type": "string", "format": "binary"}}
            operation["requestBody"] = {
                "required": True,
                "description": endpoint.upload,
                "content": {"application/octet-stream": file},
            }
        return operation

    def _security(self) -> list[dict[str, list[str]]]:
        """The accepted credentials, with the role that the account needs."""
        if self.endpoint.caller is None:
            return []
        roles = [self.endpoint.role] if self.endpoint.role else []
        return [{scheme: roles} for scheme in _SECURITY]

    def _description(self, text: str) -> str:
        endpoint = self.endpoint
        needs = [f"Requires the role `{endpoint.role}`."] if endpoint.role else []
        if endpoint.caller is not None:
            needs.append(scopes.describe(endpoint.scope))
        paragraphs = [" ".join(part.split()) for part in text.split("\n\n") if part.strip()]
        return "\n\n".join(filter(None, [*paragraphs, " ".join(needs)]))

    def _path(self, shared: Shared) -> list[dict[str, Any]]:
        return [
            shared.id_parameter(name, kind)
            if kind
            else {
                "name": name,
                "in": "path",
                "required": True,
                "schema": {"type": "string"},
                "example": _PATH_EXAMPLES[name],
            }
            for name, kind in zip(
                self.endpoint.path_names, self.endpoint.path_kinds.values(), strict=True
            )
        ]

    def _query(self, shared: Shared) -> list[dict[str, Any]]:
        query = self.endpoint.query
        if query is None:
            return []
        schema = self.schemas.resolved(self.schemas.of(query))
        pages = PageQuery.__struct_fields__ if has_pages(query) else ()
        parameters = []
        for name, field in schema["properties"].items():
            parameter = _query_parameter(name, field, required=name in schema.get("required", ()))
            parameters.append(
                shared.parameter(pascal(name), parameter) if name in pages else parameter
            )
        return parameters

    def _idempotency_key(self, shared: Shared) -> list[dict[str, Any]]:
        if self.endpoint.idempotency_key is None:
            return []
        return [shared.idempotency_key(required=self.endpoint.idempotency_key_required)]

    def _request_headers(self) -> list[dict[str, Any]]:
        return [
            {
                "name": name,
                "in": "header",
                "required": False,
                "description": text,
                "schema": {"type": "string"},
            }
            for name, text in self.endpoint.request_headers.items()
        ]

    def _responses(self, shared: Shared) -> dict[str, Any]:
        endpoint = self.endpoint
        more = ["Idempotent-Replayed"] if endpoint.idempotency_key is not None else []
        success: dict[str, Any] = {
            "description": "Done." if endpoint.status == 204 else "The response.",  # noqa: PLR2004
            "headers": {
                **shared.headers(with_credentials=endpoint.caller is not None, more=more),
                **{
                    name: {"description": text, "schema": {"type": "string"}}
                    for name, text in endpoint.headers.items()
                },
            },
        }
        if endpoint.returns is not None:
            success["content"] = {endpoint.media_type: self._content(endpoint.returns, shared)}
        responses = {str(endpoint.status): success}
        for status, text in endpoint.also.items():
            without_body = status == 304  # noqa: PLR2004
            responses[str(status)] = {
                **{k: v for k, v in success.items() if not (without_body and k == "content")},
                "description": text,
            }
        for response in self.problem_responses():
            success_response = responses.get(str(response.status))
            if success_response is None:
                responses[str(response.status)] = shared.problem(response)
            else:  # the status is also one of success
                problem = {"application/problem+json": shared.problem_content(response.errors)}
                content = success_response.get("content", {})
                success_response["content"] = {**content, **problem}
        return responses

    def problem_responses(self) -> list[ProblemResponse]:
        by_status: dict[int, list[type[ApiError]]] = {}
        for error in self._errors():
            by_status.setdefault(problems.status_of(error), []).append(error)
        with_credentials = self.endpoint.caller is not None
        return [
            ProblemResponse(status, errors, with_credentials)
            for status, errors in sorted(by_status.items())
        ]

    def _errors(self) -> list[type[ApiError]]:
        endpoint = self.endpoint
        kinds: list[type[ApiError]] = [
            errors.ValidationFailed,
            problems.BodyTooLarge,
            problems.InternalError,
        ]
        if any(endpoint.path_kinds.values()):
            kinds.append(errors.ResourceNotFound)
        kinds += endpoint.errors
        if endpoint.caller is not None:
            kinds += [*self.gate_errors, errors.InsufficientPermissions]
        if endpoint.body is not None or endpoint.upload:
            kinds += [
                problems.MalformedJson,
                problems.BodyTooSlow,
                problems.UnsupportedMediaType,
            ]
        if endpoint.query is not None and has_pages(endpoint.query):
            kinds.append(MalformedCursor)
        if endpoint.idempotency_key is not None:
            kinds += [IdempotencyKeyMalformed, IdempotencyKeyReused, RequestInFlight]
        if endpoint.idempotency_key_required:
            kinds.append(IdempotencyKeyMissing)
        if endpoint.caller is not None or endpoint.parts:
            kinds.append(DatabaseAway)
        return list(dict.fromkeys(kinds))

    def _content(self, kind: Any, shared: Shared) -> dict[str, Any]:
        schema = self.schemas.of(kind)
        example = self.schemas.example(schema)
        name = self.schemas.name_of(kind)
        if name is None:
            return {"schema": schema, "example": example}
        return {"schema": schema, "examples": {"example": shared.example(name, example)}}


def _query_parameter(name: str, field: Mapping[str, Any], *, required: bool) -> dict[str, Any]:
    schema = _without_null(dict(field))
    parameter = {"name": name, "in": "query", "required": required, "schema": schema}
    if "description" in schema:
        parameter["description"] = schema.pop("description")
    if schema.get("type") == "array":
        parameter |= {"style": "form", "explode": True}
    return parameter


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema without null: a query parameter is omitted instead."""
    options = [option for option in schema.get("anyOf", ()) if option.get("type") != "null"]
    if len(options) == 1:
        return {**{k: v for k, v in schema.items() if k not in ("anyOf", "default")}, **options[0]}
    return schema
