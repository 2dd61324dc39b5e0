"""Logs: one wide line per request or job, as JSON for programs or coloured for people."""

import logging
import re
import sys
from contextvars import ContextVar
from typing import Any, Literal, TextIO

import msgspec
import structlog

# It ends where the next traceback begins: what is quoted may itself have lines, and empty ones.
_DETAIL = re.compile(
    r"\n?DETAIL:.*?(?=\n\n(?:The above exception was|During handling of the above)|\Z)", re.DOTALL
)
_encode = msgspec.json.Encoder(enc_hook=str).encode

# The fields that the current request or job adds to its one line.
_notes: ContextVar[dict[str, Any] | None] = ContextVar("notes", default=None)

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()


def begin() -> dict[str, Any]:
    """Begin the wide line of a request or job; its caller logs it."""
    line: dict[str, Any] = {}
    _notes.set(line)
    return line


def note(**fields: Any) -> None:
    """Add fields to the wide line of the current request or job, if there is one."""
    line = _notes.get()
    if line is not None:
        line.update(fields)


def configure(style: Literal["json", "console"], level: str, stream: TextIO | None = None) -> None:
    """Send every log line, the standard library's too, to stderr or `stream` in one style."""
    stream = stream or sys.stderr
    shared: list[structlog.typing.Processor] = [
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
    minimum = logging.getLevelNamesMapping()[level.upper()]
    if style == "json":
        structlog.configure(
            processors=[*shared, _render_json],
            wrapper_class=structlog.make_filtering_bound_logger(minimum),
            logger_factory=structlog.BytesLoggerFactory(stream.buffer),
            cache_logger_on_first_use=True,
        )
    else:
        colours = stream.isatty()
        structlog.configure(
            processors=[
                *shared,
                _without_details,
                structlog.dev.ConsoleRenderer(colors=colours),
            ],
            wrapper_class=structlog.make_filtering_bound_logger(minimum),
            logger_factory=structlog.PrintLoggerFactory(stream),
            cache_logger_on_first_use=True,
        )
    root = logging.getLogger()
    root.handlers = [_ToStructlog()]
    root.setLevel(max(minimum, logging.WARNING))


def _without_details(
    _logger: Any, _method: str, event: structlog.typing.EventDict
) -> structlog.typing.EventDict:
    """Drop the DETAIL of a PostgreSQL error: it quotes whole rows, with names and addresses."""
    for name, text in event.items():
        if isinstance(text, str) and "DETAIL:" in text:
            event[name] = _DETAIL.sub("", text)
    return event


def _render_json(logger: Any, method: str, event: structlog.typing.EventDict) -> bytes:
    line = _encode(event)
    if b"DETAIL:" in line:  # rare: to search the whole line is faster than each field
        line = _encode(_without_details(logger, method, event))
    return line


class _ToStructlog(logging.Handler):
    """Passes the lines of libraries to our log, so that there is one stream in one style."""

    def emit(self, record: logging.LogRecord) -> None:
        log.log(
            min(record.levelno // 10 * 10, logging.CRITICAL),  # libraries use levels in between
            record.getMessage(),
            logger=record.name,
            exc_info=record.exc_info or None,
        )
