"""The child process that reads an imported file, its standard input, and tells what is in it (`records.py`).

    child.py MAX_BYTES SKIP CONTENT_BYTES

MAX_BYTES: the limit for imports. SKIP: how many objects at the beginning are passed over. CONTENT_BYTES: the
largest content of an attachment that is told, 0 for none.
"""

import sys
from collections.abc import Iterable, Iterator
from typing import IO

from msgspec import ValidationError

from chat.limits import MAX_ATTACHMENTS

from . import records
from .formats import object_in, patterns
from .json_files import PackedFiles, objects_in, open_archive
from .json_items import Oversized
from .problems import ConversationProblem, FileProblem, PromptProblem


def main() -> None:
    max_bytes, skip, content_bytes = (int(argument) for argument in sys.argv[1:])
    for told in lines(sys.stdin.buffer, max_bytes, skip, content_bytes):
        sys.stdout.buffer.write(told)
        sys.stdout.buffer.flush()


def lines(file: IO[bytes], max_bytes: int, skip: int, content_bytes: int) -> Iterator[bytes]:
    """Yield the lines of each object at once, so that none is told in part."""
    patterns.OF_FILE.renew()  # the time for regular expressions that the file holds
    try:
        archive = open_archive(file)
        packed = PackedFiles(file, archive)
        for place, item in enumerate(objects_in(file, archive, max_bytes)):
            if place >= skip:
                yield _lines_of(item, content_bytes, packed)
        yield records.encode(records.End()) + b"\n"
    except FileProblem as problem:
        yield records.encode(records.End(problem.code)) + b"\n"


def _lines_of(item: bytes | Oversized | records.OtherFiles, content_bytes: int, packed: PackedFiles) -> bytes:
    try:
        found = item if isinstance(item, records.OtherFiles) else object_in(item)
        for each in found.files if isinstance(found, records.ImportedAssistant) else ():
            packed.locate(each)
        several: Iterable[records.Record] = [found]
        if isinstance(found, records.ImportedConversation):
            several = _records(found, content_bytes, packed)
        told = []
        for record in several:
            line = records.encode(record)
            records.decode(line)  # as strictly as the server
            told.append(line)
        return b"\n".join([*told, b""])
    except ConversationProblem as problem:
        refusal = records.Refusal(problem.code)
    except PromptProblem:
        refusal = records.Refusal("prompt")
    except ValidationError:
        refusal = records.Refusal("prompt" if isinstance(found, records.ImportedPrompt) else "invalid")
    except MemoryError:
        refusal = records.Refusal("large")
    except Exception as error:  # a fault of ours: the others can be imported nevertheless
        refusal = records.Refusal("failed", type(error).__name__)
    return records.encode(refusal) + b"\n"


def _records(
    conversation: records.ImportedConversation, content_bytes: int, packed: PackedFiles
) -> Iterator[records.ImportedMessage | records.FileContent | records.ImportedConversation]:
    """Yield the messages, each with the contents of its attachments, then the conversation itself."""
    for message in conversation.messages:
        extra = message.attachments[MAX_ATTACHMENTS:]
        conversation.left_out.setdefault("attachment", []).extend(each.name for each in extra)
        message.attachments = message.attachments[:MAX_ATTACHMENTS]
        contents = [each.content for each in message.attachments if each.content]
        for each in message.attachments:
            each.size, each.content = len(each.content or b""), None
            packed.locate(each)
        yield message
        for content in contents:
            if len(content) <= content_bytes:
                yield records.FileContent(content)
    conversation.messages = []
    yield conversation
