"""Replies in JSON: asked for whole where the model's server does not stream them, the schema in its shape."""

import asyncio
import json
from typing import Any

import pytest

from chat.upstream import chat_request
from chat.upstream.catalog import LlmModel, Provider
from chat.upstream.chat_request import ChatRequest
from chat.upstream.client import Timeouts
from chat.upstream.errors import ErrorKind
from tests.fake_cloudflare.server import Fake
from tests.fake_cloudflare.text_scenarios import says_line
from tests.support.waiting import becomes
from tests.upstream.asking import MODEL, Reply, ask, client, runs

LLAMA = LlmModel("@cf/meta/llama-3.3-70b-instruct-fp8-fast", "Llama", window=24_000)
GEMMA_LORA = LlmModel("@cf/google/gemma-2b-it-lora", "Gemma", window=8_192)
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}
ENVELOPE = {"name": "City", "schema": SCHEMA, "strict": True}
SAID = '{"city": "Oslo"}'


def wanted(schema: dict[str, Any] = ENVELOPE) -> dict[str, Any]:
    return {"response_format": {"type": "json_schema", "json_schema": schema}}


@pytest.mark.parametrize("schema", [SCHEMA, ENVELOPE])
@pytest.mark.parametrize("model", [MODEL, LLAMA])
async def test_json_mode_is_unstreamed_with_the_bare_schema(
    fake: Fake, model: LlmModel, schema: dict[str, Any]
) -> None:
    reply = await ask(fake, says_line(SAID), model, raw_parameters=wanted(schema))
    assert (reply.error, reply.text, reply.stream.complete) == (None, SAID, True)
    [call] = runs(fake)
    assert call["body"]["stream"] is False
    assert call["body"]["response_format"] == wanted(SCHEMA)["response_format"]


async def test_without_a_schema_too(fake: Fake) -> None:
    reply = await ask(fake, says_line(SAID), raw_parameters={"response_format": {"type": "json_object"}})
    assert json.loads(reply.text) == {"city": "Oslo"}


async def test_reasoning_and_usage_come_with_it(fake: Fake) -> None:
    reply = await ask(fake, "fake: reasoning think=2 tokens=1 delay=0", raw_parameters=wanted())
    assert (reply.reasoning, reply.text) == ("thought1 thought2 ", "word1")
    assert reply.stream.usage
    assert reply.stream.decoder.finish_reason == "stop"


async def test_text_is_no_format_that_is_asked_for(fake: Fake) -> None:
    reply = await ask(fake, "hello", LLAMA, raw_parameters={"response_format": {"type": "text"}})
    assert reply.error is None
    assert runs(fake)[0]["body"]["stream"] is True
    assert "response_format" not in runs(fake)[0]["body"]


@pytest.mark.parametrize("host", [Provider.GATEWAY, Provider.ENDPOINT])
@pytest.mark.parametrize("schema", [SCHEMA, ENVELOPE])
def test_others_stream_it_and_get_the_envelope(host: Provider, schema: dict[str, Any]) -> None:
    model = LlmModel("openai/gpt-5", "GPT", window=100_000, host=host)
    told = ChatRequest([], model, 100, raw_parameters=wanted(schema))
    assert not told.unstreamed
    envelope = told.parameters["response_format"]["json_schema"]
    assert (envelope["schema"], bool(envelope["name"])) == (SCHEMA, True)


def test_a_schema_with_a_property_called_schema_is_no_envelope() -> None:
    schema = {"type": "object", "schema": {"odd": True}}
    assert chat_request._to_provider_shape(LLAMA, wanted(schema))["response_format"]["json_schema"] == schema


@pytest.mark.parametrize(
    ("scenario", "words"), [("status code=5025", "JSON schema"), ("status code=5023", "“stream”")]
)
async def test_a_refusal_says_what_it_is_about(fake: Fake, scenario: str, words: str) -> None:
    reply = await ask(fake, f"fake: {scenario}", raw_parameters=wanted())
    assert reply.error
    assert reply.error.kind is ErrorKind.INVALID
    assert reply.error.permanent
    assert words in reply.error.message


async def test_a_model_without_json_schema_is_named(fake: Fake) -> None:
    reply = await ask(fake, "hello", GEMMA_LORA, raw_parameters=wanted())
    assert reply.error
    assert (reply.error.code, reply.error.status) == ("5025", 400)


async def test_json_that_could_not_be_written_is_told(fake: Fake) -> None:
    denied = says_line("JSON Mode couldn't be met").replace("says", "denies", 1)
    reply = await ask(fake, denied, raw_parameters=wanted())
    assert reply.error
    assert "matches the schema" in reply.error.message


async def test_a_whole_answer_may_take_longer_than_a_first_token(fake: Fake) -> None:
    async with client(fake, timeouts=Timeouts(silence=0.2)) as made:
        streamed = await ask(made, "fake: words tokens=2 first=0.6")
        whole = await ask(made, "fake: words tokens=2 first=0.6", raw_parameters=wanted())
    assert streamed.kind is ErrorKind.TIMEOUT
    assert (whole.error, whole.text) == (None, "word1 word2")


async def test_but_not_for_ever_and_is_not_asked_for_again(fake: Fake) -> None:
    async with client(fake, timeouts=Timeouts(silence=0.2, progress=1.0)) as made:
        hung = await ask(made, "fake: hang before=headers", raw_parameters=wanted())
        late = await ask(made, "fake: status code=3046", raw_parameters=wanted())
    assert (hung.kind, late.kind) == (ErrorKind.TIMEOUT, ErrorKind.TIMEOUT)
    assert len(runs(fake)) == 2


async def test_leaving_stops_the_model(fake: Fake) -> None:
    async with client(fake) as made:
        waiting = asyncio.create_task(ask(made, "fake: hang before=headers", raw_parameters=wanted()))
        await becomes(lambda: runs(fake))
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        await becomes(lambda: runs(fake)[0]["ended"])
    assert runs(fake)[0]["closed_by_client"]


async def test_a_passing_failure_is_asked_again(fake: Fake) -> None:
    async with client(fake) as made:
        reply: Reply = await ask(made, "fake: flaky fails=1 key=json code=3040", raw_parameters=wanted())
    assert (reply.error, len(runs(fake))) == (None, 2)
