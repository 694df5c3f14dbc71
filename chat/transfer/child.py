"""The child process that reads an imported file, its standard input, and tells what is in it (`records.py`).

    child.py MAX_BYTES SKIP CONTENT_BYTES

MAX_BYTES: the limit for imports. SKIP: objects at the beginning of which nothing is told. CONTENT_BYTES: the
largest content of an attachment that is told, 0 for none.
"""

import sys
from collections.abc import Iterable, Iterator
from typing import IO

from msgspec import ValidationError

from chat.limits import MAX_ATTACHMENTS

from .formats import object_in, patterns
from .json_items import Unreadable
from .problems import ConversationProblem, FileProblem, PromptProblem
from .records import (
    End,
    FileContent,
    ImportedAssistant,
    ImportedConversation,
    ImportedMessage,
    ImportedPrompt,
    OtherFiles,
    Record,
    Refusal,
    decode,
    encode,
)
from .sources import PackedFiles, objects_in, open_archive


def main() -> None:
    max_bytes, skip, content_bytes = (int(argument) for argument in sys.argv[1:])
    for told in lines(sys.stdin.buffer, max_bytes, skip, content_bytes):
        sys.stdout.buffer.write(told)
        sys.stdout.buffer.flush()


def lines(file: IO[bytes], max_bytes: int, skip: int, content_bytes: int) -> Iterator[bytes]:
    """Yield the lines of each object at once, so that none is told in part."""
    patterns.OF_FILE.renew()
    try:
        archive = open_archive(file)
        packed = PackedFiles(file, archive)
        for place, item in enumerate(objects_in(file, archive, max_bytes)):
            if place >= skip:
                yield _lines_of(item, content_bytes, packed)
        yield encode(End()) + b"\n"
    except FileProblem as problem:
        yield encode(End(problem.code)) + b"\n"


def _lines_of(item: bytes | Unreadable | OtherFiles, content_bytes: int, packed: PackedFiles) -> bytes:
    try:
        found = item if isinstance(item, OtherFiles) else object_in(item)
        for each in found.files if isinstance(found, ImportedAssistant) else ():
            packed.locate(each)
        records: Iterable[Record] = [found]
        if isinstance(found, ImportedConversation):
            records = _records(found, content_bytes, packed)
        told = []
        for record in records:
            line = encode(record)
            decode(line)  # as strictly as the server
            told.append(line)
        return b"\n".join([*told, b""])
    except ConversationProblem as problem:
        refusal = Refusal(problem.code)
    except PromptProblem:
        refusal = Refusal("prompt")
    except ValidationError:
        refusal = Refusal("prompt" if isinstance(found, ImportedPrompt) else "invalid")
    except MemoryError:
        refusal = Refusal("large")
    except Exception as error:  # a fault of ours: the others can be imported nevertheless
        refusal = Refusal("failed", type(error).__name__)
    return encode(refusal) + b"\n"


def _records(
    conversation: ImportedConversation, content_bytes: int, packed: PackedFiles
) -> Iterator[ImportedMessage | FileContent | ImportedConversation]:
    """Yield the messages, each with the contents of its attachments, then the conversation itself."""
    for message in conversation.messages:
        extra = message.attachments[MAX_ATTACHMENTS:]
        conversation.lost_files += [each.name for each in extra]
        message.attachments = message.attachments[:MAX_ATTACHMENTS]
        contents = [each.content for each in message.attachments if each.content]
        for each in message.attachments:
            each.size, each.content = len(each.content or b""), None
            packed.locate(each)
        yield message
        for content in contents:
            if len(content) <= content_bytes:
                yield FileContent(content)
    conversation.messages = []
    yield conversation
