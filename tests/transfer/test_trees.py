"""Trees that are none, in every format: each is read or refused after a walk that visits a node once."""

import uuid
from collections.abc import Callable
from typing import Any

import pytest

from chat.transfer.formats import conversation_of
from chat.transfer.problems import ConversationProblem
from chat.transfer.records import ASSISTANT, MAX_IMPORTED_MESSAGES, ImportedMessage
from chat.transfer.tree import MAX_NODES, Node, messages_of

Nodes = list[tuple[Any, Any]]  # (id, parent)
MOMENT = "2024-05-01T10:00:00Z"


def chatgpt(nodes: Nodes) -> Any:
    content = {"content_type": "text", "parts": ["?"]}
    return {
        "mapping": {
            key: {"parent": parent, "message": {"author": {"role": "user"}, "content": content}}
            for key, parent in nodes
        }
    }


def claude(nodes: Nodes) -> Any:
    return {
        "chat_messages": [
            {"uuid": key, "parent_message_uuid": parent, "sender": "human", "text": "?"}
            for key, parent in nodes
        ]
    }


def open_webui(nodes: Nodes) -> Any:
    messages = {key: {"parentId": parent, "role": "user", "content": "?"} for key, parent in nodes}
    return {"chat": {"history": {"messages": messages}}}


def librechat(nodes: Nodes) -> Any:
    messages = [
        {"messageId": key, "parentMessageId": parent, "isCreatedByUser": True, "text": "?"}
        for key, parent in nodes
    ]
    return {"conversationId": "c", "messages": messages}


def own(nodes: Nodes) -> Any:
    def identifier(name: Any) -> Any:
        return str(uuid.uuid5(uuid.NAMESPACE_URL, name)) if name and isinstance(name, str) else name

    messages = [
        {
            "id": identifier(key),
            "parent": identifier(parent),
            "role": "user",
            "text": "?",
            "reasoning": "",
            "model": "",
            "created": MOMENT,
        }
        for key, parent in nodes
    ]
    return {
        "format": "chat.conversation",
        "version": 1,
        "id": str(uuid.uuid4()),
        "title": "t",
        "model": "",
        "system": "",
        "parameters": {},
        "created": MOMENT,
        "updated": MOMENT,
        "messages": messages,
    }


MAPS, LISTS, FOREIGN = (chatgpt, open_webui), (claude, librechat), (chatgpt, open_webui, claude, librechat)
ALL = (*FOREIGN, own)
CIRCLE = [("a", "b"), ("b", "a")]
CHAIN = [("0", None), *((str(n), str(n - 1)) for n in range(1, MAX_IMPORTED_MESSAGES))]
SIBLINGS = [(str(n), None) for n in range(MAX_IMPORTED_MESSAGES)]
TOO_MANY = [(str(n), None) for n in range(MAX_NODES + 1)]
# Formats, nodes, and how many messages are read, or the problem.
TREES: list[tuple[tuple[Callable[[Nodes], Any], ...], Nodes, int | str]] = [
    (MAPS, [("", None)], "id"),
    (MAPS, [("", "")], "id"),
    (MAPS, [("a", None), ("", "a"), ("b", "")], "id"),
    (MAPS, [("a", 1), ("b", ["a"]), ("c", {}), ("d", True), ("e", "")], 5),
    (FOREIGN, [("a", "elsewhere")], 1),
    ((own,), [("a", "elsewhere")], "parent"),
    (ALL, [("a", "a")], "loop"),
    (ALL, CIRCLE, "loop"),
    (ALL, [("r", None), *CIRCLE], "loop"),
    (ALL, [*CIRCLE, ("c", "a")], "loop"),
    (ALL, [("a", "c"), ("b", "a"), ("c", "b")], "loop"),
    ((*LISTS, own), [("a", None), ("a", None)], "duplicate"),
    ((*LISTS, own), [("a", None), ("a", "a")], "duplicate"),
    ((*LISTS, own), [("a", None), ("b", "a"), ("b", "b")], "duplicate"),
    ((own,), [("", None)], "invalid"),
    ((own,), [(1, None)], "invalid"),
    ((own,), [(None, None)], "invalid"),
    ((own,), [("a", ["a"])], "invalid"),
    ((own,), [("a", "")], "invalid"),
    (ALL, CHAIN, len(CHAIN)),
    (ALL, list(reversed(CHAIN)), len(CHAIN)),
    (ALL, SIBLINGS, len(SIBLINGS)),
    (ALL, TOO_MANY, "many"),
    (ALL, [], "empty"),
]


def outcome(value: Any) -> int | str:
    """How many messages are read, parents first and none twice; else the problem."""
    try:
        messages = conversation_of(value).messages
    except ConversationProblem as problem:
        return problem.code
    known: set[str | None] = {None}
    for message in messages:
        assert message.parent in known
        assert message.key not in known
        known.add(message.key)
    return len(messages)


@pytest.mark.parametrize(
    ("write", "nodes", "wanted"),
    [
        pytest.param(write, nodes, wanted, id=f"{write.__name__}-{number}")
        for number, (formats, nodes, wanted) in enumerate(TREES)
        for write in formats
    ],
)
def test_a_tree_is_read_or_refused(write: Callable[[Nodes], Any], nodes: Nodes, wanted: int | str) -> None:
    assert outcome(write(nodes)) == wanted


@pytest.mark.parametrize("key", ["", None, 1, ["a"], {}])
def test_an_id_that_is_none_counts_as_missing(key: Any) -> None:
    """Older files of Claude have none; there the place counts."""
    nodes = [(key, None), ("b", None)]
    assert (outcome(claude(nodes)), outcome(librechat(nodes))) == (2, "id")


def test_children_inside_their_parents_are_bounded() -> None:
    inner: dict[str, Any] = {"messageId": "x", "isCreatedByUser": True, "text": "?", "children": []}
    wide = [inner | {"messageId": str(number)} for number in range(MAX_NODES + 1)]
    for messages, wanted in ((wide, "many"), ([inner | {"children": [inner]}], "duplicate")):
        assert outcome({"conversationId": "c", "messages": messages}) == wanted


def test_reasoning_above_all_replies_is_bounded_by_its_text() -> None:
    """A chain of short thoughts is copied for each reply below its end."""
    half = MAX_NODES // 2
    nodes = [Node(str(n), str(n - 1), reasoning="x") for n in range(half)]
    replies = [
        Node(f"r{n}", str(half - 1), ImportedMessage(f"r{n}", None, ASSISTANT, "!")) for n in range(half)
    ]
    with pytest.raises(ConversationProblem) as refused:
        messages_of([*nodes, *replies])
    assert refused.value.code == "large"
