"""The shared components of the reference: headers, parameters, and error responses."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tradewind.errors import ApiError
from tradewind.ids import Kind
from tradewind.web import problems

_REF = "#/components/{section}/{name}"

# What each header says, and an example of it.
_HEADERS: Mapping[str, tuple[str, str]] = {
    "X-Request-Id": (
        "The id of this request in logs; a well-formed id that you send is kept.",
        "req_06EJ4KQZC5T9XN4R5ZJ2V7M8QW",
    ),
    "RateLimit-Policy": (
        "The plan's quota `q` per window `w` in seconds.",
        '"default";q=1200;w=60',
    ),
    "RateLimit": (
        "Requests `r` that fit now, and the seconds `t` until the full burst is available.",
        '"default";r=119;t=1',
    ),
    "Retry-After": ("Seconds to wait before trying again.", "2"),
    "WWW-Authenticate": ("The ways to authenticate.", 'Bearer realm="tradewind"'),
    "Idempotent-Replayed": ("`true` when this response is a repetition.", "true"),
}


@dataclass(frozen=True, slots=True)
class ProblemResponse:
    """The response with one status: its possible errors, and its headers."""

    status: int
    errors: Sequence[type[ApiError]]
    with_credentials: bool

    @property
    def name(self) -> str:
        """`NotFound`, `MalformedJsonOrMalformedCursor`; `Public…` where nobody is authenticated."""
        codes = "Or".join(pascal(error.code) for error in self.errors)
        return codes if self.with_credentials else f"Public{codes}"


class Shared:
    """Collects what several operations share, so that they refer to it.

    Problem responses that only one operation has stay where they are.
    """

    def __init__(self, responses: Iterable[ProblemResponse]) -> None:
        counted = Counter(response.name for response in responses)
        self._repeated = {name for name, count in counted.items() if count > 1}
        self.sections: dict[str, dict[str, Any]] = {
            "parameters": {},
            "headers": {},
            "responses": {},
            "examples": {},
        }

    def parameter(self, name: str, parameter: dict[str, Any]) -> dict[str, Any]:
        return self._reference("parameters", name, parameter)

    def id_parameter(self, name: str, kind: Kind) -> dict[str, Any]:
        """An id of ours in the path."""
        described = {
            "name": name,
            "in": "path",
            "required": True,
            "description": f"The id of the {kind.noun}.",
            "schema": {"type": "string", "pattern": kind.pattern},
            "example": kind.example,
        }
        return self.parameter(f"{pascal(kind.noun)}Id", described)

    def idempotency_key(self, *, required: bool) -> dict[str, Any]:
        described = {
            "name": "Idempotency-Key",
            "in": "header",
            "required": required,
            "description": "A new one for each new request; kept for 7 days.",
            "schema": {"type": "string", "pattern": "^[\\x20-\\x7e]{1,255}$"},
            "example": "0b8e2f3a-6c1d-4e5f-9a7b-1c2d3e4f5a6b",
        }
        return self.parameter("IdempotencyKey" if required else "OptionalIdempotencyKey", described)

    def headers(self, *, with_credentials: bool, more: Iterable[str] = ()) -> dict[str, Any]:
        limits = ["RateLimit-Policy", "RateLimit"] if with_credentials else []
        return {name: self._header(name) for name in ["X-Request-Id", *limits, *more]}

    def example(self, name: str, value: Any) -> dict[str, Any]:
        return self._reference("examples", name, {"value": value})

    def problem(self, response: ProblemResponse) -> dict[str, Any]:
        """A problem response, by reference where several operations have it."""
        more = []
        if response.status in (429, 503):
            more.append("Retry-After")
        if response.status == 401:  # noqa: PLR2004
            more.append("WWW-Authenticate")
        described = {
            "description": " ".join(f"`{error.code}`: {error.title}." for error in response.errors),
            "headers": self.headers(with_credentials=response.with_credentials, more=more),
            "content": {"application/problem+json": self.problem_content(response.errors)},
        }
        if response.name not in self._repeated:
            return described
        return self._reference("responses", response.name, described)

    def problem_content(self, errors: Iterable[type[ApiError]]) -> dict[str, Any]:
        return {
            "schema": {"$ref": _REF.format(section="schemas", name="Problem")},
            "examples": {
                error.code: self.example(_example_name(error), _problem_example(error))
                for error in errors
            },
        }

    def _header(self, name: str) -> dict[str, Any]:
        text, example = _HEADERS[name]
        described = {"description": text, "schema": {"type": "string"}, "example": example}
        return self._reference("headers", name, described)

    def _reference(self, section: str, name: str, value: dict[str, Any]) -> dict[str, Any]:
        if self.sections[section].setdefault(name, value) != value:
            raise TypeError(f"Two {section} of the reference would have the name {name}.")
        return {"$ref": _REF.format(section=section, name=name)}


def pascal(text: str) -> str:
    """`malformed_json` and `API key` as parts of names: `MalformedJson`, `APIKey`."""
    return "".join(word[:1].upper() + word[1:] for word in text.replace("_", " ").split())


def problem_schemas() -> dict[str, Any]:
    """The problem document (RFC 9457), and what it can hold."""
    text = {"type": "string"}
    return {
        "Problem": {
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
                    "items": {"$ref": _REF.format(section="schemas", name="ProblemField")},
                },
                "current": {"type": "string", "description": "The state that forbids it."},
                "allowed": {
                    "type": "array",
                    "items": text,
                    "description": "The possible values.",
                },
                "upstream": {"$ref": _REF.format(section="schemas", name="ProblemUpstream")},
            },
        },
        "ProblemField": {
            "type": "object",
            "description": "A wrong field of the body, or a wrong query parameter.",
            "required": ["pointer", "code", "message"],
            "properties": {"pointer": text, "code": text, "message": text},
        },
        "ProblemUpstream": {
            "type": "object",
            "description": "The marketplace's response.",
            "properties": {"platform": text, "code": text, "message": text},
        },
    }


def _example_name(error: type[ApiError]) -> str:
    """The code; with the status where two errors share a code, such as 403 and 409."""
    return error.code if "code" in vars(error) else f"{error.code}_{problems.status_of(error)}"


def _problem_example(error: type[ApiError]) -> dict[str, Any]:
    return {
        "type": f"https://tradewind.example/problems/{error.code}",
        "title": error.title,
        "status": problems.status_of(error),
        "detail": " ".join((error.__doc__ or error.title).split("\n\n")[0].split()),
        "code": error.code,
        "request_id": "req_06EJ4KQZC5T9XN4R5ZJ2V7M8QW",
    }
