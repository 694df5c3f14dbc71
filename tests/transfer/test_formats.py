"""Reading of the files of other chats."""

import time
import tracemalloc
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest

from chat.transfer.formats import conversation_of
from chat.transfer.formats.drafts import Draft, Drafts
from chat.transfer.formats.markup import read_details
from chat.transfer.problems import ConversationProblem
from chat.transfer.records import MAX_IMPORTED_MESSAGES, ImportedConversation
from chat.transfer.tree import TEXTLESS_QUESTION
from tests.transfer import samples, turns
from tests.transfer.samples import BEGUN, ChatFile


def lines(found: ImportedConversation) -> list[tuple[str | None, str, str, str]]:
    """Each message as (the text that it follows, role, text, model)."""
    texts = {message.key: message.text for message in found.messages}
    return [(texts.get(each.parent or ""), each.role, each.text, each.model) for each in found.messages]


def details_read(content: str) -> tuple[str, str]:
    draft = Draft(Drafts(), "assistant")
    read_details(content, draft)
    message = draft.message("a")
    assert message
    return message.text, message.reasoning


def test_of_chatgpt_the_shown_tree_is_read() -> None:
    found = conversation_of(samples.chatgpt())
    question = "What is this?"
    assert lines(found) == [
        (None, "user", question, ""),
        (question, "assistant", "A dog.", "gpt-4o"),
        (question, "assistant", "A cat.", "gpt-5"),
    ]
    assert (found.title, found.model, found.system) == ("A picture", "gpt-5", "I am Ann.\n\nBe brief.")
    assert (found.leaf, found.left_out["attachment"]) == ("a2", ["cat.png"])
    assert found.messages[2].reasoning == "**s**\n\nIt looks like a cat."
    assert found.created == datetime.fromtimestamp(BEGUN, UTC)
    assert found.messages[2].created == datetime.fromtimestamp(BEGUN + 6, UTC)


def test_of_claude_texts_and_thinking_are_read() -> None:
    found = conversation_of(samples.claude())
    poem = "Write a poem"
    assert lines(found) == [(None, "user", poem, ""), (poem, "assistant", "Roses\n\nare red", "")]
    assert found.messages[1].reasoning == "Rhyme?\n\n**x**"
    assert (found.leaf, found.left_out) == ("m2", {"attachment": ["notes.txt"]})


@pytest.mark.parametrize("bare", [False, True])
def test_of_open_webui_the_tree_is_read(bare: bool) -> None:
    sent = samples.open_webui()
    found = conversation_of(sent["chat"] if bare else sent)
    assert lines(found) == [
        (None, "user", "15 * 17?", ""),
        ("15 * 17?", "assistant", "254", "llama3"),
        ("15 * 17?", "assistant", "255", "deepseek-r1"),
    ]
    assert (found.title, found.system, found.leaf) == ("Sums", "You can count.", "a2")
    assert found.messages[1].feedback == (False, "")
    assert found.messages[2].reasoning == "Let me see <this>."
    assert found.left_out == {"attachment": ["sum.pdf"]}
    assert (found.pinned_at is None) is bare
    first, second = (message.created for message in found.messages[1:])
    assert first
    assert second
    assert first < second, "of the same second, the order of the file counts"


@pytest.mark.parametrize("flat", [False, True])
def test_of_librechat_trees_and_lists_are_read(flat: bool) -> None:
    sent = samples.librechat()
    if flat:
        question = sent["messages"][0]
        sent["messages"] = [question | {"children": []}, *question["children"]]
    found = conversation_of(sent)
    assert lines(found) == [(None, "user", "Hi", ""), ("Hi", "assistant", "Hello!", "gpt-4o")]
    assert (found.system, found.model, found.left_out["attachment"]) == ("Be kind.", "gpt-4o", ["x.png"])
    assert (found.messages[1].reasoning, found.messages[1].feedback) == ("Hm.", (True, ""))


def test_tags_are_made_to_fit_or_left_out() -> None:
    sent = samples.open_webui(meta={"tags": ["math", "x" * 41, "a\nb", 1]})
    assert conversation_of(sent).tags == ["math", "a b"]


def test_a_reply_to_nothing_gets_a_question() -> None:
    sent = samples.claude()
    del sent["chat_messages"][0]
    assert lines(conversation_of(sent)) == [
        (None, "user", TEXTLESS_QUESTION, ""),
        (TEXTLESS_QUESTION, "assistant", "Roses\n\nare red", ""),
    ]


def test_reasoning_that_is_not_closed_is_text() -> None:
    open_ones = '<details type="reasoning">' * 10_000
    assert details_read(open_ones) == (open_ones, "")


def test_damaged_characters_are_replaced() -> None:
    sent = samples.claude(name="a\0b")
    sent["chat_messages"][1]["content"] = [{"type": "text", "text": "half \ud83d a\0b"}]
    found = conversation_of(sent)
    assert (found.title, found.messages[1].text) == ("ab", "half � ab")


def test_times_that_cannot_be_are_left_out() -> None:
    for odd in (10**300, -1, "yesterday", "0001-01-01T00:00:00+14:00", True, {}, 9e99, 253402300799):
        sent = samples.chatgpt(create_time=odd, update_time=odd)
        sent["mapping"]["q"]["message"]["create_time"] = odd
        found = conversation_of(sent)
        assert found.created
        assert found.updated
        assert datetime(2000, 1, 1, tzinfo=UTC) <= found.created <= datetime.now(UTC)


def with_messages(number: int) -> ChatFile:
    message = samples.claude()["chat_messages"][0]
    return samples.claude(chat_messages=[message | {"uuid": str(key)} for key in range(number)])


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        ({}, "invalid"),
        ({"mapping": []}, "invalid"),
        ({"mapping": {}}, "empty"),
        ({"mapping": {"a": 1, "b": None}}, "empty"),
        ({"chat_messages": [1, None]}, "empty"),
        ({"history": {"messages": {"a": []}}}, "empty"),
        ({"conversationId": 1, "messages": [[]]}, "empty"),
        (with_messages(MAX_IMPORTED_MESSAGES + 1), "many"),
    ],
)
def test_records_that_are_no_conversation_are_refused(sent: ChatFile, code: str) -> None:
    with pytest.raises(ConversationProblem) as refused:
        conversation_of(sent)
    assert refused.value.code == code


def test_quoted_reasoning_takes_linear_time() -> None:
    """A file of 16 MB took minutes."""
    many = '<details type="reasoning">x</details>' * 100_000
    began = time.thread_time()
    assert details_read(many)[0] == ""
    assert time.thread_time() - began < 2


A = "a" * 100_000


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (turns.open_webui, '<details type="reasoning">' + "\n" * 100_000 + "x</details>"),
        (turns.open_webui, '<details type="tool_calls">' + "\n" * 100_000 + "x</details>"),
        (turns.open_webui, f'<details type="code_interpreter" {A}>x</details>'),
        (partial(turns.claude, "Well?"), "<antArtifact " + 'identifier="x ' * 30_000),
        (partial(turns.claude, "Well?"), f'<antArtifact {A} identifier="x">Kettle</antArtifact>'),
        (turns.librechat, f":::artifact{{{A}}}\n:::"),
        (turns.librechat, "\ue200" * 100_000),
        (turns.librechat, "\\ue200" * 100_000),
    ],
)
def test_a_text_takes_linear_time(read: Callable[[str], Any], text: str) -> None:
    began = time.thread_time()
    read(text)
    assert time.thread_time() - began < 1


def test_thoughts_above_many_replies_count_for_each() -> None:
    """Expect a limit: stored with each reply, the thoughts of a small file would fill the disk."""
    sent = samples.chatgpt()
    thoughts, reply = sent["mapping"]["th"], sent["mapping"]["a2"]
    thoughts["message"]["content"]["thoughts"] = [{"content": "x" * 400_000}]
    sent["mapping"] |= {f"more{number}": reply for number in range(50)}
    with pytest.raises(ConversationProblem) as refused:
        conversation_of(sent)
    assert refused.value.code == "large"


def thinking(nodes: int) -> ChatFile:
    return {"content": {"content_type": "thoughts", "thoughts": [{"content": "x" * nodes}]}}


def test_thoughts_above_many_thoughts_fill_no_memory() -> None:
    """A file of a megabyte took gigabytes before it was refused."""
    reply = samples.chatgpt()["mapping"]["a2"]["message"]
    mapping = {"first": {"message": thinking(399_990)}}
    for number in range(1_000):
        mapping[f"t{number}"] = {"parent": "first", "message": thinking(1)}
        mapping[f"a{number}"] = {"parent": f"t{number}", "message": reply}
    tracemalloc.start()
    with pytest.raises(ConversationProblem) as refused:
        conversation_of({"mapping": mapping})
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert refused.value.code == "large"
    assert peak < 64_000_000
