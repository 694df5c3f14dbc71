"""One line a record, whatever somebody put into a URL or a name."""

import logging
import re

from chat.redaction import redact

LINE = "{asctime} {levelname} {name}: {message}"
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
ONE_TIME_LINK = re.compile(r"(/accounts/(?:setup|invite|reset/[^/\s\"']+)/)[^/\s\"']+")


def escape(text: str) -> str:
    """Write control characters as `\\x1b`: raw ones forge lines and drive the reader's terminal."""
    return CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


class RefusalFilter(logging.Filter):
    """Django logs a refusal with the traceback of the exception that it was; its own line says it all."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Every record passes; those of answers below 500 pass without a traceback."""
        if getattr(record, "status_code", 500) < 500:
            record.exc_info = record.exc_text = None
        return True


class LineFormatter(logging.Formatter):
    """Escapes each line, indents those of a traceback, and leaves out secrets and tokens of one-time links.

    The site's own secrets are looked for in the record as a whole, its traceback too: another library's words
    may quote what it was given.
    """

    def __init__(self) -> None:
        super().__init__(LINE, style="{")

    def format(self, record: logging.LogRecord) -> str:
        """The record, which may be several lines."""
        return redact(super().format(record))

    def formatMessage(self, record: logging.LogRecord) -> str:
        """The record's own line."""
        return ONE_TIME_LINK.sub(r"\1…", escape(super().formatMessage(record)))

    def formatException(self, ei: object) -> str:
        """The traceback, indented so that none of its lines can pass for a record."""
        return _indented(super().formatException(ei))  # type: ignore[arg-type]

    def formatStack(self, stack_info: str) -> str:
        """The stack of a record that asked for it, likewise."""
        return _indented(stack_info)


def _indented(text: str) -> str:
    lines = ONE_TIME_LINK.sub(r"\1…", text).split("\n")
    return "\n".join("    " + escape(line) for line in lines)
