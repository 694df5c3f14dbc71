"""The local model goes on with a last message of its own."""

from pathlib import Path

import pytest

from chat.upstream.catalog import LlmModel
from chat.upstream.chat_request import ChatRequest
from chat.upstream.client import Client
from chat.upstream.providers.llama_cpp import LocalModel
from chat.upstream.providers.workers_ai import build_local_request

ASKED = {"role": "user", "content": "Count from one to ten in words, separated by commas."}


@pytest.mark.parametrize(("last", "thinking"), [("user", None), ("assistant", {"enable_thinking": False})])
def test_no_thinking_comes_before_words_that_are_there_already(last: str, thinking) -> None:
    model = LlmModel("local/a", "A", window=1_000, local=True)
    body = build_local_request(
        "http://local", "key", ChatRequest([ASKED, {"role": last, "content": "one, two"}], model, 10)
    ).body
    assert body.get("chat_template_kwargs") == thinking


@pytest.mark.local
async def test_it_goes_on_in_the_middle_of_a_sentence(bundled: Path) -> None:
    model = LocalModel(bundled)
    made = Client(None, model)
    begun = {"role": "assistant", "content": "One, two, three,"}
    text = ""
    try:
        async with made.stream(ChatRequest([ASKED, begun], model.model, 12)) as reply:
            async for delta in reply:
                text += delta.text
    finally:
        await made.aclose()
        model.close()
    assert text.startswith(" four, five")
