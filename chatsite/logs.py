"""One line a record, whatever somebody put into a URL or a name."""

import logging
import re

LINE = "{asctime} {levelname} {name}: {message}"
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
ONE_TIME_LINK = re.compile(r"(/accounts/(?:setup|invite|reset/[^/\s\"']+)/)[^/\s\"']+")


def escape(text: str) -> str:
    """Write control characters as `\\x1b`: raw ones forge lines and drive the reader's terminal."""
    return CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


class LineFormatter(logging.Formatter):
    """Escapes each line, indents the lines of a traceback, and leaves out the token of a one-time link."""

    def __init__(self) -> None:
        super().__init__(LINE, style="{")

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
