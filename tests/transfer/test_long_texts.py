"""Texts that are too long for one message: every character is kept, in several."""

import re
from typing import Any

import pytest

from chat.models import Conversation, Message, User
from chat.transfer.formats import conversation_of
from chat.transfer.records import MAX_IMPORTED_CHARS, MAX_IMPORTED_TEXT_CHARS, ImportedConversation
from tests.transfer import samples
from tests.transfer.importing import imported
from tests.transfer.turns import chatgpt, chatgpt_message, claude, librechat, open_webui, texts

LINES = "".join(f"{number:099}\n" for number in range(9_000))  # 900,000 characters
WORDS = "".join(f"{number:099} " for number in range(9_000))
ONE_WORD = "0123456789" * 90_000


def thinking(text: str) -> ImportedConversation:
    return claude("Well?", [{"type": "thinking", "thinking": text}, {"type": "text", "text": "Yes."}])


def code(text: str, fence: str = "```") -> str:
    return f"{fence}python\n{text}\n{fence}"


@pytest.mark.parametrize("long", [LINES, WORDS, ONE_WORD], ids=["lines", "words", "one word"])
@pytest.mark.parametrize(
    "written",
    [
        lambda long: claude(long, "Yes."),
        lambda long: chatgpt(chatgpt_message("user", "Well?"), chatgpt_message("assistant", long)),
        lambda long: open_webui(long),
        lambda long: librechat("Yes.", long),
        thinking,
        lambda long: conversation_of(samples.librechat(options={"promptPrefix": long})),
    ],
    ids=["claude", "chatgpt", "open_webui", "librechat", "reasoning", "system"],
)
def test_each_part_fits_and_nothing_is_lost(written: Any, long: str) -> None:
    found: ImportedConversation = written(long)
    every = [each for message in found.messages for each in (message.reasoning, message.text)]
    assert max(map(len, [*every, found.system])) <= MAX_IMPORTED_TEXT_CHARS
    assert long.strip() in "".join(every)
    assert found.left_out["long"] == [" ".join(long.split())[:100]]
    assert found.messages[-1].key == found.leaf
    assert [each.parent for each in found.messages] == [None, *(each.key for each in found.messages[:-1])]


@pytest.mark.parametrize("fence", ["```", "~~~~"])
def test_a_code_block_goes_on_in_the_next_part(fence: str) -> None:
    long = code(LINES, fence)
    _, *parts = texts(open_webui(f"See:\n\n{long}\n\nDone."))
    assert len(parts) == 3
    for part in parts:
        found = re.fullmatch(rf"(?s).*?{fence}python\n(.*)\n{fence}.*", part)
        assert found
        assert found[1].strip() in LINES
    assert parts[-1].endswith("Done.")


def test_a_fence_as_long_as_a_part_ends() -> None:
    assert "".join(texts(open_webui("`" * 900_000))[1:]) == "`" * 900_000


def test_the_versions_of_a_long_reply_stay_versions() -> None:
    other = {"b": ("m0", chatgpt_message("assistant", "Other."))}
    found = chatgpt(chatgpt_message("user", "?"), chatgpt_message("assistant", LINES), more=other)
    assert sum(each.parent == "m0" for each in found.messages) == 2


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("folder")
def test_long_texts_are_counted_and_named_at_the_end(ann: User) -> None:
    long = f"Dear diary. {LINES}"
    sent = samples.claude(chat_messages=[{"sender": "human", "text": long}])
    job = imported(ann, [sent])
    assert Conversation.objects.count() == 1
    assert "".join(Message.objects.order_by("created").values_list("text", flat=True)) == long
    assert job.preview["lost"]["long"] == job.preview["without"]["long"]
    assert job.preview["lost"]["long"]["names"][0].startswith("Dear diary. 000")


def test_a_conversation_is_still_bounded() -> None:
    sent = samples.claude(chat_messages=[{"sender": "human", "text": "x" * (MAX_IMPORTED_CHARS + 1)}])
    with pytest.raises(Exception, match="large"):
        conversation_of(sent)
