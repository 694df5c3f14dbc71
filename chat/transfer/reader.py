"""The objects of an imported file, as its confined child (`child.py`) tells them.

Its lines are untrusted: here they become records within their limits, whose messages are a tree.
"""

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import IO, Any

import msgspec

from chat.files.confinement import ChildLimits, Crashed, stream_confined
from chat.limits import MEBIBYTE
from chat.rendering.links import is_source
from chat.wire import strict_json

from . import import_files, records
from .json_files import UNPACKED_FACTOR
from .problems import CONVERSATION_PROBLEMS, FILE_PROBLEMS, FileProblem

IMPORT_READER = "chat.transfer.child"
ADDRESS_SPACE_BYTES = 1_073_741_824
CPU_SECONDS, CPU_SECONDS_PER_MEBIBYTE = 60, 2  # of the uploaded file
MAX_LINE_BYTES = 33_554_432  # of a message with all its runs; base64 of a file has its own limit
SMALL_OUTPUT_BYTES = 67_108_864  # of the smallest file
Keep = Callable[[bytes], int]  # keeps the content of an attachment, and returns where


class Untrusted(Exception):
    """The child told what it cannot have read: a fault of ours, or the file has taken control of it."""


def objects(
    file: IO[bytes], beat: Callable[[], object], keep: Keep, *, skip: int = 0, content_bytes: int = 0
) -> Iterator[records.Imported | records.Refusal]:
    """Yield each object of the file after the first `skip`, or why it is left out.

    `beat` is called every second. `keep` gets the contents of the attachments of the next conversation that
    have at most `content_bytes`. Raises FileProblem and Untrusted, and what `stream_confined` does.
    """
    size = file.seek(0, 2)
    cpu_seconds = CPU_SECONDS + CPU_SECONDS_PER_MEBIBYTE * (size // MEBIBYTE)
    output_bytes = SMALL_OUTPUT_BYTES + 2 * UNPACKED_FACTOR * size
    limits = ChildLimits(ADDRESS_SPACE_BYTES, cpu_seconds, 2 * cpu_seconds, output_bytes)
    arguments = (str(each) for each in (import_files.max_file_bytes(), skip, content_bytes))
    line_bytes = MAX_LINE_BYTES + 2 * content_bytes
    lines = stream_confined(IMPORT_READER, file, limits, *arguments, line_bytes=line_bytes, beat=beat)
    messages: list[records.ImportedMessage] = []
    expected: list[records.ImportedAttachment] = []  # whose contents come next, the first one last
    with closing(lines):
        for record in map(_record, lines):
            match record:
                case records.End(problem=""):
                    return
                case records.End(problem=problem):
                    raise FileProblem(problem if problem in FILE_PROBLEMS else "failed")
                case records.ImportedMessage():
                    messages.append(record)
                    expected = [each for each in record.attachments if _is_told(each, content_bytes)][::-1]
                case records.FileContent(content=content):
                    if not expected or expected[-1].size != len(content):
                        raise Untrusted("an unexpected file")
                    expected.pop().offset = keep(content)
                case records.ImportedConversation():
                    record.messages, messages = messages, []
                    _check_tree(record)
                    yield record
                case _:
                    yield record
            if len(messages) > records.MAX_IMPORTED_MESSAGES:
                raise Untrusted("too many messages")
    raise Crashed("it told no end")


def _is_told(attachment: records.ImportedAttachment, content_bytes: int) -> bool:
    return attachment.packed is None and 0 < attachment.size <= content_bytes


def _record(line: bytes) -> records.Record:
    try:
        record: records.Record = records.decode(line)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise Untrusted(str(error)) from None
    if b"\\u0000" in line and _has_nul(msgspec.to_builtins(record)):
        raise Untrusted("a NUL, which PostgreSQL rejects")
    if isinstance(record, records.Refusal) and record.code not in (*CONVERSATION_PROBLEMS, "prompt"):
        raise Untrusted("an unknown problem")
    return record


def _has_nul(value: Any) -> bool:
    if isinstance(value, dict):
        return any(_has_nul(each) for pair in value.items() for each in pair)
    if isinstance(value, list):
        return any(map(_has_nul, value))
    return isinstance(value, str) and "\0" in value


def _check_tree(conversation: records.ImportedConversation) -> None:
    """Check what the child has put in order: messages follow their parents, citations what they cite."""
    known: set[str] = set()
    chars = results = 0
    for each in conversation.messages:
        if each.key in known or (each.parent not in known if each.parent else each.role == records.ASSISTANT):
            raise Untrusted("messages that are not in order")
        known.add(each.key)
        chars += len(each.text) + len(each.reasoning)
        for citation in each.citations:
            if citation.attachment and citation.attachment[0] not in known:
                raise Untrusted("a citation of nothing")
            _check_source(citation)
        for step in each.steps:
            results += len(step.result)
            _check_arguments(step.arguments)
            for source in step.sources:
                _check_source(source)
    if (
        conversation.leaf not in known
        or chars > records.MAX_IMPORTED_CHARS
        or results > records.MAX_RESULTS_CHARS
    ):
        raise Untrusted("messages that lead nowhere, or are too long")


def _check_source(source: records.ImportedCitation | records.ImportedSource) -> None:
    if not is_source(source.url, source.date):
        raise Untrusted("an address or a date that is none")


def _check_arguments(text: str) -> None:
    try:
        found = strict_json.loads(text.encode(), max_depth=records.MAX_ARGUMENTS_DEPTH)
    except strict_json.InvalidJSON:
        found = None
    if not isinstance(found, dict) or _has_nul(found):
        raise Untrusted("arguments of a call that are none")
