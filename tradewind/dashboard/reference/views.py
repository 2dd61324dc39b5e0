"""The OpenAPI document as the pages of the reference show it. Pure."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tradewind.dashboard.reference.model import (
    ApiReference,
    CauseLink,
    ErrorLink,
    ReferenceField,
    ReferenceOperation,
    ReferencePage,
    SuccessResponse,
)
from tradewind.dashboard.reference.samples import SampleRequest, SampleResult, samples_of
from tradewind.events.catalogue import ORDER_UPDATED, PAYMENT_UPDATED

Json = Mapping[str, Any]

_DEEPEST = 6
_SENTENCE_END = re.compile(r"[.:;] ")
_NOT_LETTERS = re.compile(r"[^a-z0-9]+")
_PROBLEM = "application/problem+json"
_JSON = "application/json"
_STREAM = "text/event-stream"
# The headers that every response has; the introduction describes them.
_EVERYWHERE = {"X-Request-Id", "RateLimit", "RateLimit-Policy", "Idempotent-Replayed"}
_FORMATS = {"date-time": "time", "binary": "file"}
_WORDS = {"string": "text", "integer": "whole number", "boolean": "true or false"}
# The events that operations cause, at once or when the marketplace confirms.
CAUSED_EVENTS: Mapping[str, Sequence[CauseLink]] = {
    "create_order": [CauseLink(ORDER_UPDATED, "sync")],
    "order_cart": [CauseLink(ORDER_UPDATED, "sync")],
    "order_import": [CauseLink(ORDER_UPDATED, "sync")],
    "get_order": [CauseLink(ORDER_UPDATED, "sync"), CauseLink(PAYMENT_UPDATED, "refund")],
    "cancel_order": [
        CauseLink(ORDER_UPDATED, "cancellation"),
        CauseLink(PAYMENT_UPDATED, "cancellation"),
    ],
    "request_order_payment": [CauseLink(PAYMENT_UPDATED, "payment_requested")],
    "withdraw_order_payment": [CauseLink(PAYMENT_UPDATED, "request_withdrawn")],
    "approve_payment": [
        CauseLink(PAYMENT_UPDATED, "approved"),
        CauseLink(PAYMENT_UPDATED, "payment_started"),
        CauseLink(PAYMENT_UPDATED, "payment_succeeded"),
        CauseLink(PAYMENT_UPDATED, "payment_failed"),
        CauseLink(ORDER_UPDATED, "sync"),
    ],
    "reject_payment": [CauseLink(PAYMENT_UPDATED, "rejected")],
    "request_refund": [CauseLink(PAYMENT_UPDATED, "refund")],
    "advance_sandbox_order": [CauseLink(ORDER_UPDATED, "sync")],
    "receive_notice": [CauseLink(ORDER_UPDATED, "sync")],
}


def api_reference(document: Json, base_url: str) -> ApiReference:
    """The pages of the reference; samples call `base_url`."""
    return _Reader(document, base_url).reference()


def slug_of(title: str) -> str:
    """A heading as a part of a URL: `Orders (operators)` is `orders-operators`."""
    return _NOT_LETTERS.sub("-", title.lower()).strip("-")


def pretty(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


class _Reader:
    """Reads one document."""

    def __init__(self, document: Json, base_url: str) -> None:
        self._document = document
        self._base_url = base_url

    def reference(self) -> ApiReference:
        operations: dict[str, list[ReferenceOperation]] = {}
        for path, methods in self._document["paths"].items():
            for method, described in methods.items():
                operation = self._operation(method.upper(), path, described)
                operations.setdefault(described["tags"][0], []).append(operation)
        pages = [
            ReferencePage(
                slug_of(tag["name"]), tag["name"], tag["description"], operations[tag["name"]]
            )
            for tag in self._document["tags"]
        ]
        errors = {
            (error.code, error.status): error
            for page in pages
            for operation in page.operations
            for error in operation.errors
        }
        info = self._document["info"]
        return ApiReference(
            info["title"],
            info["summary"],
            info["description"],
            pages,
            [errors[key] for key in sorted(errors)],
        )

    def _operation(self, method: str, path: str, described: Json) -> ReferenceOperation:
        title, rest = _title_of(described["summary"])
        parameters = [self._resolved(each) for each in described["parameters"]]
        media_type, body = self._body(described.get("requestBody"))
        security = described["security"]
        roles = [role for each in security for role in each.get("apiKey", ())]
        request = SampleRequest(
            operation_id=described["operationId"],
            method=method,
            path=_filled(path, parameters),
            path_values=[
                str(_parameter_example(each)) for each in parameters if each["in"] == "path"
            ],
            query={
                each["name"]: str(_parameter_example(each))
                for each in parameters
                if each["in"] == "query" and each["required"]
            },
            needs_key=bool(security),
            needs_idempotency_key=any(
                each["name"] == "Idempotency-Key" and each["required"] for each in parameters
            ),
            body=self._example(body) if media_type == _JSON else None,
            body_schema=body["schema"] if media_type == _JSON else {},
            body_is_required=described.get("requestBody", {}).get("required", False),
            schemas=self._document["components"]["schemas"],
            takes_query=any(each["in"] == "query" for each in parameters),
            file_type="text/csv" if media_type == "application/octet-stream" else "",
            result=self._result(described["responses"], parameters),
        )
        return ReferenceOperation(
            id=described["operationId"],
            method=method,
            path=path,
            title=title,
            description="\n\n".join(filter(None, [rest, described["description"]])),
            role=roles[0] if roles else "",
            needs_credentials=bool(security),
            path_parameters=self._parameters(parameters, "path"),
            query_parameters=self._parameters(parameters, "query"),
            header_parameters=self._parameters(parameters, "header"),
            body_media_type=media_type,
            body_fields=self._fields(body.get("schema", {})) if media_type == _JSON else (),
            body_example="" if request.body is None else pretty(request.body),
            responses=list(self._responses(described["responses"])),
            errors=list(self._errors(described["responses"])),
            events=CAUSED_EVENTS.get(described["operationId"], ()),
            samples=samples_of(request, self._base_url),
        )

    def _result(self, responses: Json, parameters: Sequence[Json]) -> SampleResult:
        """What the SDKs return for the first response of success."""
        success = next(self._resolved(each) for code, each in responses.items() if code < "3")
        content = success.get("content", {})
        if not content:
            return "nothing"
        if _JSON not in content:
            return "events" if _STREAM in content else "file"
        schema = self._resolved(content[_JSON]["schema"])
        if not {"items", "has_more"} <= set(schema.get("properties", ())):
            return "value"
        names = {each["name"] for each in parameters if each["in"] == "query"}
        return "pages" if names & {"cursor", "after"} else "page"

    def _resolved(self, value: Json) -> Json:
        if "$ref" not in value:
            return value
        component: Any = self._document
        for step in value["$ref"].split("/")[1:]:
            component = component[step]
        resolved: Json = component
        return resolved

    def _body(self, described: Json | None) -> tuple[str, Json]:
        if described is None:
            return "", {}
        [(media_type, content)] = described["content"].items()
        return media_type, content

    def _example(self, content: Json) -> Any:
        if "example" in content:
            return content["example"]
        examples = content.get("examples", {})
        return self._resolved(examples["example"])["value"] if "example" in examples else None

    def _parameters(self, parameters: Sequence[Json], location: str) -> Sequence[ReferenceField]:
        return [
            self._field(
                each["name"],
                {**each["schema"], "description": each.get("description", "")},
                is_required=each["required"],
                example=_parameter_example(each) if each["required"] else None,
            )
            for each in parameters
            if each["in"] == location
        ]

    def _responses(self, responses: Json) -> Iterator[SuccessResponse]:
        for status, reference in responses.items():
            response = self._resolved(reference)
            contents = [
                (media_type, content)
                for media_type, content in response.get("content", {}).items()
                if media_type != _PROBLEM
            ]
            if int(status) >= 400 and not contents:  # noqa: PLR2004 - HTTP's classes
                continue
            media_type, content = contents[0] if contents else ("", {})
            example = self._example(content)
            headers = [
                self._field(name, self._header(header), is_required=False)
                for name, header in response["headers"].items()
                if name not in _EVERYWHERE
            ]
            yield SuccessResponse(
                status,
                response["description"],
                media_type,
                self._fields(content.get("schema", {})),
                headers,
                "" if example is None else pretty(example),
            )

    def _header(self, header: Json) -> Json:
        header = self._resolved(header)
        return {**header["schema"], "description": header.get("description", "")}

    def _errors(self, responses: Json) -> Iterator[ErrorLink]:
        for status, reference in responses.items():
            content = self._resolved(reference).get("content", {}).get(_PROBLEM, {})
            for code, example in content.get("examples", {}).items():
                yield ErrorLink(int(status), code, self._resolved(example)["value"]["title"])

    def _fields(self, schema: Json, depth: int = 0) -> Sequence[ReferenceField]:
        """The fields of an object, or of the items of a list."""
        schema = self._resolved(schema)
        if depth >= _DEEPEST:
            return ()
        for option in schema.get("anyOf", ()):
            if fields := self._fields(option, depth):
                return fields
        if schema.get("type") == "array":
            return self._fields(schema["items"], depth)
        if isinstance(schema.get("additionalProperties"), dict) and "properties" not in schema:
            return self._fields(schema["additionalProperties"], depth)
        required = schema.get("required", ())
        return [
            self._field(name, member, is_required=name in required, depth=depth + 1)
            for name, member in schema.get("properties", {}).items()
        ]

    def _field(
        self,
        name: str,
        schema: Json,
        *,
        is_required: bool,
        depth: int = 1,
        example: Any = None,
    ) -> ReferenceField:
        options = [self._resolved(option) for option in schema.get("anyOf", [schema])]
        some = next((option for option in options if option.get("type") != "null"), {})
        some = self._resolved(some)
        descriptions = (schema.get("description"), some.get("description"))
        if example is None:
            example = next(iter(schema.get("examples") or some.get("examples") or ()), None)
        return ReferenceField(
            name,
            self._kind(schema),
            is_required,
            next((text for text in descriptions if text), ""),
            list(_limits(some)),
            "" if example in (None, some.get("default")) else _json(example),
            self._fields(schema, depth),
        )

    def _kind(self, schema: Json) -> str:
        schema = self._resolved(schema)
        if "anyOf" in schema:
            return " or ".join(dict.fromkeys(map(self._kind, schema["anyOf"])))
        kind: str = schema.get("type", "any value")
        if kind == "array":
            return f"list of {self._kind(schema['items'])}"
        if kind == "string" and "format" in schema:
            return _FORMATS.get(schema["format"], str(schema["format"]))
        return _WORDS.get(kind, kind)


def _title_of(summary: str) -> tuple[str, str]:
    """A short title, and the whole summary where it says more."""
    title = _SENTENCE_END.split(summary, maxsplit=1)[0]
    return title.replace("`", ""), "" if title == summary else f"{summary}."


def _limits(schema: Json) -> Iterator[str]:
    """The limits of a value in words."""
    if "enum" in schema:
        yield "one of " + ", ".join(f"`{value}`" for value in schema["enum"])
    for least, most, noun in (
        ("minLength", "maxLength", " characters"),
        ("minItems", "maxItems", " items"),
        ("minProperties", "maxProperties", " fields"),
        ("minimum", "maximum", ""),
    ):
        if least in schema and most in schema:
            yield f"{schema[least]:,} to {schema[most]:,}{noun}"
        elif most in schema:
            yield f"at most {schema[most]:,}{noun}"
        elif least in schema:
            yield f"at least {schema[least]:,}{noun}"
    if schema.get("default") not in (None, {}, []):
        yield f"default `{_json(schema['default'])}`"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _filled(path: str, parameters: Sequence[Json]) -> str:
    for each in parameters:
        if each["in"] == "path":
            path = path.replace(f"{{{each['name']}}}", str(_parameter_example(each)))
    return path


def _parameter_example(parameter: Json) -> Any:
    if "example" in parameter:
        return parameter["example"]
    schema = parameter["schema"]
    return next(iter(schema.get("examples", ())), parameter["name"])
