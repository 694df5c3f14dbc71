"""Changes of a document by regular expressions, as ChatGPT's canvas describes them.

The expressions are the file's, so each gets little processor time: Python's `re` has no limit of its own, and
looks for signals while it matches. They are Python's, used with `re.finditer` and `Match.expand`.
"""

import re
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

MAX_DOCUMENT_CHARS = 200_000
PATTERN_SECONDS = 0.1  # of processor time
FILE_SECONDS = 10.0  # of all patterns in a file; later ones are only looked for as they stand
MAX_PATTERN_CHARS = 20_000
# The expressions by which the canvas rewrites a whole document.
WHOLE = re.compile(
    r"\^?(\(\?s\))?\^?(\.|\[\\s\\S\]|\[\\S\\s\]|\[\\w\\W\]|\(\.\|\\n\)|\(\?:\.\|\\n\))[*+]\??\$?"
)


class _TooSlow(Exception):
    pass


class Patterns:
    """The changes by expressions of one file. Its budget keeps them from using up the time for the others."""

    def __init__(self) -> None:
        self.renew()

    def renew(self) -> None:
        self._seconds_left = FILE_SECONDS

    def replaced(self, content: str, pattern: str, replacement: str, *, multiple: bool) -> str | None:
        """Return the content with the replacement at the first match, or at all; None if there is none.

        A dot matches a line break only if there is no match without that. An expression that is invalid or
        takes too long is looked for as plain text.
        """
        if WHOLE.fullmatch(pattern):
            return _expanded(re.fullmatch("(?s).*", content), replacement)
        for flags in (re.MULTILINE, re.MULTILINE | re.DOTALL):
            if self._seconds_left > 0 and len(pattern) <= MAX_PATTERN_CHARS:
                began = time.process_time()
                try:
                    with _limited():
                        found = _replaced(content, pattern, flags, replacement, multiple)
                except (_TooSlow, re.error, RecursionError, OverflowError, OSError):
                    break  # an OSError where the kernel refuses the timer
                finally:
                    self._seconds_left -= time.process_time() - began
                if found is not None:
                    return found
        if not pattern or pattern not in content:
            return None
        return content.replace(pattern, replacement, -1 if multiple else 1)


def _replaced(
    content: str, pattern: str, flags: re.RegexFlag, replacement: str, multiple: bool
) -> str | None:
    pieces, done, chars = [], 0, 0
    for match in re.compile(pattern, flags).finditer(content):
        new = _expanded(match, replacement)
        chars += len(new)
        if chars > MAX_DOCUMENT_CHARS:
            return None
        pieces += [content[done : match.start()], new]
        done = match.end()
        if not multiple:
            break
    return "".join([*pieces, content[done:]]) if pieces else None


def _expanded(match: re.Match[str] | None, replacement: str) -> str:
    """Return the replacement with its groups; as it stands if it is no valid template."""
    assert match
    longest = len(replacement) + replacement.count("\\") * len(match[0])
    try:
        return match.expand(replacement) if longest <= 2 * MAX_DOCUMENT_CHARS else replacement
    except (re.error, IndexError):
        return replacement


@contextmanager
def _limited() -> Iterator[None]:
    """Raise _TooSlow in the block's matching after PATTERN_SECONDS. Signals reach only the main thread."""
    if threading.current_thread() is not threading.main_thread():
        raise _TooSlow

    def end(_number: int, frame: FrameType | None) -> None:
        # A finalizer that runs in between would swallow the exception, so it waits for the next signal.
        if frame and (frame.f_code in MATCHING or frame.f_globals.get("__package__") == "re"):
            raise _TooSlow

    before = signal.signal(signal.SIGVTALRM, end)
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, PATTERN_SECONDS, PATTERN_SECONDS / 10)
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


MATCHING = (_replaced.__code__, _expanded.__code__)
OF_FILE = Patterns()  # of the file that this process reads
