"""The formats of the log: one line per record, even if a URL or a name contains control characters."""

import json
import logging
import re
from datetime import UTC, datetime
from typing import Any

from chat.telemetry.redaction import redact
from chat.telemetry.request_id import request_id

LINE_FORMAT = "{asctime} {levelname} {name}: {message}"
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
ONE_TIME_LINK = re.compile(r"(/(?:s|accounts/(?:setup|invite|reset/[^/\s\"']+))/)[^/\s\"']+")


def escape(text: str) -> str:
    """Write control characters as `\\x1b`, because raw ones forge lines and control the reader's terminal."""
    return CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


class RefusalFilter(logging.Filter):
    """Drop the tracebacks that Django logs with responses below 500, because the record's line is enough."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Return True, after removing the traceback if the record's response has a status below 500."""
        if getattr(record, "status_code", 500) < 500:
            record.exc_info = record.exc_text = None
        return True


class LineFormatter(logging.Formatter):
    """Escape each line, indent tracebacks, and redact the site's secrets and the tokens of one-time links.

    The secrets are redacted in the whole record, its traceback included, because the message of another
    library may quote its arguments.
    """

    def __init__(self) -> None:
        super().__init__(LINE_FORMAT, style="{")

    def format(self, record: logging.LogRecord) -> str:
        """Return the record, with its traceback on further lines."""
        return redact(super().format(record))

    def formatMessage(self, record: logging.LogRecord) -> str:
        line = super().formatMessage(record)
        for name, value in _fields(record).items():
            line += f" {name}={'-' if value is None else value}"
        return ONE_TIME_LINK.sub(r"\1…", escape(line))

    def formatException(self, ei: object) -> str:
        """Return the traceback, indented so that none of its lines can pass for a record."""
        return _indented(super().formatException(ei))  # type: ignore[arg-type]

    def formatStack(self, stack_info: str) -> str:
        """Return the stack of a record logged with `stack_info`, indented likewise."""
        return _indented(stack_info)


def _fields(record: logging.LogRecord) -> dict[str, Any]:
    """Return what an entry says in fields of its own: `extra={"fields": {…}}`, and the request's id."""
    fields: dict[str, Any] = getattr(record, "fields", {})
    current = request_id.get()
    return {"request_id": current} | fields if current else fields


def _redact(text: str) -> str:
    return ONE_TIME_LINK.sub(r"\1…", redact(text))


def _indented(text: str) -> str:
    lines = ONE_TIME_LINK.sub(r"\1…", text).split("\n")
    return "\n".join("    " + escape(line) for line in lines)


class JsonFormatter(logging.Formatter):
    """Write a record as one JSON object: `time` (UTC, ISO 8601), `level`, `logger`, `message`, `exception`.

    An entry that was logged during a request has its `request_id`, and one of the access log more fields.

    Redacts what `LineFormatter` does. JSON escapes the control characters.
    """

    def format(self, record: logging.LogRecord) -> str:
        entry: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": _redact(record.getMessage()),
        }
        for name, value in _fields(record).items():
            entry[name] = _redact(value) if isinstance(value, str) else value
        if record.exc_info:
            entry["exception"] = _redact(self.formatException(record.exc_info))
        return json.dumps(entry)
