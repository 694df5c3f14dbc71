"""The tree of a conversation: its walks, its checks, and its order before it is stored.

This runs in the child process that reads the file, so it knows no Django. Each walk visits a node once.
"""

from collections import Counter
from collections.abc import Container, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from .problems import ConversationProblem
from .records import (
    ASSISTANT,
    MAX_IMPORTED_CHARS,
    MAX_IMPORTED_MESSAGES,
    MAX_IMPORTED_TEXT_CHARS,
    USER,
    ImportedConversation,
    ImportedMessage,
)

MAX_NODES = 2 * MAX_IMPORTED_MESSAGES  # of the file's tree; some nodes, such as tool calls, are not imported
TICK = timedelta(microseconds=1)  # between two versions of a message
EARLIEST_TIME = datetime(2000, 1, 1, tzinfo=UTC)  # an earlier time is a mistake in the file
UNKNOWN_TIME = datetime.min.replace(tzinfo=UTC)  # of a mark whose time the file does not tell
SEPARATOR = "\n\n"  # between two pieces of reasoning
TEXTLESS_QUESTION = "…"  # the text of a question that has none, such as a lone image


@dataclass(slots=True)
class Node:
    """A node of the tree in another chat's file. `message` is None for a node that is not imported.

    The `reasoning` of such a node belongs to the replies below it.
    """

    key: str
    parent: str
    message: ImportedMessage | None = None
    reasoning: str = ""


# The pieces of reasoning above a message, from the last to the first: (those before it, text). Branches share
# their beginning, so the text is copied only when a message takes it.
Thoughts = tuple["Thoughts | None", str]


def messages_of(nodes: list[Node]) -> tuple[list[ImportedMessage], dict[str, str]]:
    """Return the messages, and {node's key: key of its message, or of the nearest message above it}.

    A node whose parent is not in the file begins a branch. Raises ConversationProblem.
    """
    roots, children = _tree_of(nodes)
    found: list[ImportedMessage] = []
    chars = 0
    message_of_node: dict[str, str] = {}
    pending: list[tuple[Node, str, Thoughts | None]]
    pending = [(node, "", None) for node in reversed(roots)]
    while pending:
        node, above, thoughts = pending.pop()
        if node.message is None and node.reasoning:
            thoughts = thoughts, node.reasoning
        if thoughts and (node.message.role == USER if node.message else not children[node.key]):
            # No reply followed the reasoning, because it was stopped.
            stopped = ImportedMessage(f"{node.key} stopped", None, ASSISTANT, "")
            found += _with_question(stopped, above, thoughts)
            chars += len(stopped.reasoning)
            above, thoughts = stopped.key, None
        if node.message is not None:
            found += _with_question(node.message, above, thoughts)
            chars += len(node.message.text) + len(node.message.reasoning)
            above, thoughts = node.key, None
        # Checked here, because reasoning above many replies would fill the memory.
        if chars > MAX_IMPORTED_CHARS:
            raise ConversationProblem("large")
        message_of_node[node.key] = above
        pending += [(child, above, thoughts) for child in reversed(children[node.key])]
    if len(message_of_node) < len(nodes):
        raise ConversationProblem("loop")
    return found, message_of_node


def _tree_of(nodes: list[Node]) -> tuple[list[Node], dict[str, list[Node]]]:
    """Return the roots, and each node's children by its key. The roots have no key: it could be a node's."""
    if len(nodes) > MAX_NODES:
        raise ConversationProblem("many")
    children: dict[str, list[Node]] = {node.key: [] for node in nodes}
    if len(children) < len(nodes):
        raise ConversationProblem("duplicate")
    if "" in children:
        raise ConversationProblem("id")
    roots: list[Node] = []
    for node in nodes:
        children.get(node.parent, roots).append(node)
    return roots, children


def join_replies(
    messages: list[ImportedMessage], message_of_node: dict[str, str], cut: Container[str] = ()
) -> tuple[list[ImportedMessage], dict[str, str]]:
    """Join each reply with the one above it, if that has no other version below: they are one turn.

    The joined reply has the key of the last one. Those that would be too long together are left apart. `cut`:
    the keys of those that were cut off within a sentence or code, which the next one goes on with.
    """
    by_key = {message.key: message for message in messages}
    children = Counter(message.parent for message in messages)
    key_of: dict[str, str] = {}  # the key of the reply that one was joined with
    for last in reversed(messages):
        chain = [last]
        chars = len(last.text) + len(last.reasoning)
        while last.role == ASSISTANT and last.key not in key_of:
            above = by_key.get(chain[-1].parent or "")
            if above is None or above.role != ASSISTANT or children[above.key] > 1:
                break
            chars += len(above.text) + len(above.reasoning) + 2 * len(SEPARATOR)
            if chars > MAX_IMPORTED_TEXT_CHARS:
                break
            chain.append(above)
            key_of[above.key] = last.key
        _join(last, chain[::-1], cut)
    joined = [message for message in messages if message.key not in key_of]
    return joined, {node: key_of.get(key, key) for node, key in message_of_node.items()}


def _join(last: ImportedMessage, chain: list[ImportedMessage], cut: Container[str]) -> None:
    if len(chain) < 2:
        return
    first = chain[0]
    said = [each for each in chain if each.text]
    pieces = [each.text + ("" if each.key in cut else SEPARATOR) for each in said[:-1]]
    last.text = "".join([*pieces, *(each.text for each in said[-1:])])
    last.reasoning = SEPARATOR.join(each.reasoning for each in chain if each.reasoning)
    last.parent, last.created = first.parent, first.created or last.created
    last.model = last.model or next((each.model for each in chain if each.model), "")
    last.citations = list(dict.fromkeys(citation for each in chain for citation in each.citations))


def _joined(thoughts: Thoughts | None) -> str:
    texts = []
    while thoughts:
        thoughts, text = thoughts
        texts.append(text)
    return SEPARATOR.join(filter(None, reversed(texts)))


def _with_question(message: ImportedMessage, above: str, thoughts: Thoughts | None) -> list[ImportedMessage]:
    """Return the message as a child of `above`. A reply at the root gets an empty question before it."""
    is_reply = message.role == ASSISTANT
    if is_reply:
        message.reasoning = _joined((thoughts, message.reasoning))
    message.parent = above or None
    if above or not is_reply:
        return [message]
    question = ImportedMessage(f"{message.key} question", None, USER, TEXTLESS_QUESTION)
    question.created = message.created
    message.parent = question.key
    return [question, message]


def put_in_order(conversation: ImportedConversation) -> ImportedConversation:
    """Check the tree, fill in missing values, and sort the messages, parents first.

    Versions of a message get distinct times, because they are ordered by them. Raises ConversationProblem.
    """
    messages = conversation.messages
    _check(messages)
    now = datetime.now(UTC)
    conversation.created = known_time(conversation.created, now) or _first(messages, now)
    children: dict[str | None, list[ImportedMessage]] = {}
    for message in messages:
        message.created = known_time(message.created, now)
        children.setdefault(message.parent, []).append(message)
    conversation.messages = _sorted(children, conversation.created)
    if len(conversation.messages) < len(messages):
        raise ConversationProblem("loop")
    last = max(message.created for message in conversation.messages if message.created)
    conversation.updated = known_time(conversation.updated, now) or min(last, now)
    for mark in ("pinned_at", "archived_at"):
        if moment := getattr(conversation, mark):
            setattr(conversation, mark, known_time(moment, now) or conversation.updated)
    if conversation.leaf not in {message.key for message in messages}:
        conversation.leaf = _deepest(conversation.messages)
    return conversation


def _check(messages: list[ImportedMessage]) -> None:
    if not messages:
        raise ConversationProblem("empty")
    if len(messages) > MAX_IMPORTED_MESSAGES:
        raise ConversationProblem("many")
    keys = Counter(message.key for message in messages)
    if len(keys) < len(messages):
        raise ConversationProblem("duplicate")
    for message in messages:
        if message.parent is not None and message.parent not in keys:
            raise ConversationProblem("parent")


def _sorted(children: dict[str | None, list[ImportedMessage]], begun: datetime) -> list[ImportedMessage]:
    """Return the messages that can be reached from the root, parents first, and complete their times."""
    found: list[ImportedMessage] = []
    pending: list[tuple[str | None, datetime]] = [(None, begun - TICK)]
    while pending:
        parent, after = pending.pop()
        versions = children.get(parent, [])
        for version in versions:
            version.created = version.created or after + TICK
        earlier: datetime | None = None
        for version in sorted(versions, key=_created):
            if earlier is not None and _created(version) <= earlier:
                version.created = earlier + TICK
            earlier = version.created
            found.append(version)
            pending.append((version.key, _created(version)))
    return found


def _created(message: ImportedMessage) -> datetime:
    assert message.created
    return message.created


def _first(messages: Iterable[ImportedMessage], now: datetime) -> datetime:
    return min((found for each in messages if (found := known_time(each.created, now))), default=now)


def known_time(moment: datetime | None, now: datetime) -> datetime | None:
    """Return the time; None if it is missing, in the future or before EARLIEST_TIME."""
    return moment if moment and EARLIEST_TIME <= moment <= now else None


def _deepest(messages: list[ImportedMessage]) -> str:
    """Return the key of the newest leaf."""
    parents = {message.parent for message in messages}
    return max((each for each in messages if each.key not in parents), key=_created).key
