"""Texts that are longer than a message can be here: kept in several messages, one after another.

The limit bounds what one message costs on a page, in a search and in the reader. Prompts join messages of one
role, so models read the text as a whole.
"""

import re
from collections.abc import Iterator

from chat.transfer.problems import ConversationProblem
from chat.transfer.records import (
    MAX_IMPORTED_CHARS,
    MAX_IMPORTED_TEXT_CHARS,
    USER,
    ImportedConversation,
    ImportedMessage,
)
from chat.transfer.tree import TICK

from . import foreign, markup

MAX_OPENING_CHARS = 100  # of a line that opens a code block, which is repeated in the next part
PART_CHARS = MAX_IMPORTED_TEXT_CHARS - 2 * MAX_OPENING_CHARS
BREAKS = ("\n\n", "\n", " ")  # where a text is cut, the best first
MAX_NAME_CHARS = 100


def in_parts(conversation: ImportedConversation) -> ImportedConversation:
    """Cut what is too long, and name it. Raises ConversationProblem if all messages together are too long."""
    messages = conversation.messages
    if len(conversation.system) > MAX_IMPORTED_TEXT_CHARS:
        first = ImportedMessage("system", None, USER, conversation.system, created=conversation.created)
        for root in (each for each in messages if each.parent is None):
            root.parent = first.key
        conversation.system = ""
        messages.insert(0, first)
    if sum(len(each.text) + len(each.reasoning) for each in messages) > MAX_IMPORTED_CHARS:
        raise ConversationProblem("large")
    for each in (*messages,):
        longest = max(each.text, each.reasoning, key=len)
        if len(longest) > MAX_IMPORTED_TEXT_CHARS:
            messages += _cut(each)
            name = foreign.one_line(longest[:MAX_IMPORTED_TEXT_CHARS])[:MAX_NAME_CHARS]
            conversation.left_out.setdefault("long", []).append(name)
    return conversation


def _cut(message: ImportedMessage) -> list[ImportedMessage]:
    """Leave the end in the message, so that what follows it still does; return the messages before it."""
    *thoughts, thought = _parts(message.reasoning)
    said, *rest = _parts(message.text)
    pieces = [*((each, "") for each in thoughts), (thought, said), *(("", each) for each in rest)]
    before: list[ImportedMessage] = []
    for number, (reasoning, text) in enumerate(pieces[:-1], 1):
        each = ImportedMessage(f"{message.key} part {number}", message.parent, message.role, text, reasoning)
        each.model, each.created, each.selected_at = message.model, message.created, message.selected_at
        before.append(each)
        message.parent, message.selected_at = each.key, None
        message.created = message.created and message.created + TICK
    message.reasoning, message.text = pieces[-1]
    return before


def _parts(text: str) -> Iterator[str]:
    """Yield a text in parts. A code block that is cut goes on in the next one."""
    while len(text) > MAX_IMPORTED_TEXT_CHARS:
        places = (text.rfind(each, PART_CHARS // 2, PART_CHARS) + 1 for each in BREAKS)
        place = next(filter(None, places), PART_CHARS)
        part, text = text[:place], text[place:]
        opening = markup.open_fence(part)
        if 0 < len(opening) <= MAX_OPENING_CHARS:
            marks = re.match(r" *(?:`+|~+)", opening)
            assert marks
            part, text = part.removesuffix("\n") + "\n" + marks[0], f"{opening}\n{text}"
        yield part
    yield text
