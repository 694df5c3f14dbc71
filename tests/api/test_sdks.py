"""The official SDKs and LangChain's integration work with these APIs."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Iterator
from typing import Any

import cloudflare
import langchain_cloudflare
import openai
import pydantic
import pytest

from tests.api.client import MODEL, Program
from tests.fake_cloudflare.text_scenarios import says_line
from tests.files import documents
from tests.support.server import Server

WORDS = "fake: words tokens=4 delay=0.02"
SAID = "word1 word2 word3 word4"
TOOL = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}


@pytest.fixture(scope="module")
def chat(server: Server, alices: Program) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key=alices.key, max_retries=0) as client:
        yield client


@pytest.fixture(scope="module")
def workers(server: Server, alices: Program) -> Iterator[cloudflare.Cloudflare]:
    base = f"{server.url}/client/v4"
    with cloudflare.Cloudflare(base_url=base, api_token=alices.key, max_retries=0) as client:
        yield client


@pytest.fixture(scope="module")
def chain(server: Server, alices: Program) -> Iterator[langchain_cloudflare.ChatCloudflareWorkersAI]:
    made = langchain_cloudflare.ChatCloudflareWorkersAI(
        account_id="any", api_token=alices.key, base_url=f"{server.url}/client/v4", model=MODEL
    )
    yield made
    made.client.close()


def user(text: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text}]


class TestOpenAI:
    def test_a_whole_answer_and_its_parts(self, chat: openai.OpenAI) -> None:
        completion = chat.chat.completions.create(model=MODEL, messages=user(WORDS), temperature=0, user="me")
        assert completion.choices[0].message.content == SAID
        assert completion.usage
        assert completion.usage.completion_tokens == 4
        assert completion._request_id

    def test_a_stream(self, chat: openai.OpenAI) -> None:
        options = {"include_usage": True}
        chunks = list(
            chat.chat.completions.create(
                model=MODEL, messages=user(WORDS), stream=True, stream_options=options
            )
        )
        assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices) == SAID
        assert chunks[-1].usage
        assert chunks[-1].usage.completion_tokens == 4

    def test_its_streaming_helper_puts_tool_calls_together(self, chat: openai.OpenAI) -> None:
        request = {"model": MODEL, "messages": user("fake: tools delay=0"), "tools": [TOOL]}
        with chat.chat.completions.stream(**request) as stream:
            final = stream.get_final_completion()
        calls = final.choices[0].message.tool_calls
        assert calls
        assert (calls[0].function.name, calls[0].function.arguments) == ("weather", '{"at": "Oslo"}')
        whole = chat.chat.completions.create(**request).choices[0]
        assert whole.finish_reason == "tool_calls"
        assert whole.message.tool_calls

    def test_structured_output(self, chat: openai.OpenAI) -> None:
        class City(pydantic.BaseModel):
            name: str
            country: str

        question = says_line('{"name": "Oslo", "country": "Norway"}')
        parsed = chat.chat.completions.parse(model=MODEL, messages=user(question), response_format=City)
        assert parsed.choices[0].message.parsed == City(name="Oslo", country="Norway")

    def test_models(self, chat: openai.OpenAI) -> None:
        assert MODEL in [model.id for model in chat.models.list()]
        assert chat.models.retrieve(MODEL).owned_by == "zai-org"

    def test_errors(self, server: Server, chat: openai.OpenAI) -> None:
        create = chat.chat.completions.create
        with pytest.raises(openai.NotFoundError):
            create(model="gpt-4o", messages=user("x"))
        with pytest.raises(openai.BadRequestError):
            create(model=MODEL, messages=[])
        with pytest.raises(openai.RateLimitError) as limited:
            create(model=MODEL, messages=user("fake: status code=3036"))
        assert limited.value.code == "insufficient_quota"
        with pytest.raises(openai.APIError):
            list(create(model=MODEL, messages=user("fake: cut after=2"), stream=True))
        with pytest.raises(openai.AuthenticationError):
            chat.with_options(api_key="chat_wrong").models.list()

    def test_its_async_client(self, server: Server, alices: Program) -> None:
        async def ask() -> str:
            async with openai.AsyncOpenAI(base_url=f"{server.url}/v1", api_key=alices.key) as client:
                stream = await client.chat.completions.create(model=MODEL, messages=user(WORDS), stream=True)
                return "".join([chunk.choices[0].delta.content or "" async for chunk in stream])

        assert asyncio.run(ask()) == SAID


class TestCloudflare:
    def test_a_prompt_and_messages(self, workers: cloudflare.Cloudflare) -> None:
        for inputs in ({"prompt": WORDS}, {"messages": user(WORDS)}):
            response = workers.ai.run(MODEL, account_id="any", **inputs)
            assert response["response"] == SAID

    def test_its_call_of_openais_shape(self, server: Server, alices: Program) -> None:
        base = f"{server.url}/client/v4/accounts/any/ai/v1"
        with openai.OpenAI(base_url=base, api_key=alices.key, max_retries=0) as client:
            response = client.chat.completions.create(model=MODEL, messages=user(WORDS))
        assert response.choices[0].message.content == SAID

    def test_models(self, workers: cloudflare.Cloudflare) -> None:
        names = [model["name"] for model in workers.ai.models.list(account_id="any", per_page=3)]
        assert MODEL in names
        assert len(names) == len(set(names)) > 3

    def test_errors(self, workers: cloudflare.Cloudflare) -> None:
        with pytest.raises(cloudflare.BadRequestError) as unknown:
            workers.ai.run("@cf/none/such", account_id="any", prompt="x")
        assert unknown.value.errors[0].code == 5007
        with pytest.raises(cloudflare.RateLimitError):
            workers.ai.run(MODEL, account_id="any", prompt="fake: status code=3040")
        with pytest.raises(cloudflare.AuthenticationError):
            workers.with_options(api_token="chat_wrong").ai.run(MODEL, account_id="any", prompt="x")


class TestLangChain:
    def test_invoke(self, chain: langchain_cloudflare.ChatCloudflareWorkersAI) -> None:
        response = chain.invoke(WORDS)
        assert response.content == SAID
        assert response.usage_metadata
        assert response.usage_metadata["output_tokens"] == 4

    def test_reasoning(self, chain: langchain_cloudflare.ChatCloudflareWorkersAI) -> None:
        """Expect each text once."""
        scenario = "fake: reasoning think=2 tokens=3 delay=0"
        assert chain.invoke(scenario).content == [
            {"type": "thinking", "thinking": "thought1 thought2 "},
            {"type": "text", "text": "word1 word2 word3"},
        ]
        assert "".join(str(chunk.content) for chunk in chain.stream(scenario)) == "word1 word2 word3"

    def test_a_stream(self, chain: langchain_cloudflare.ChatCloudflareWorkersAI) -> None:
        chunks = list(chain.stream("fake: words tokens=20 delay=0.05"))
        text = "".join(str(chunk.content) for chunk in chunks)
        assert text.split() == [f"word{number}" for number in range(1, 21)]
        assert len(chunks) > 2

    def test_ainvoke(self, chain: langchain_cloudflare.ChatCloudflareWorkersAI) -> None:
        async def ask() -> str:
            response = await chain.ainvoke(WORDS)
            await chain.async_client.aclose()
            return str(response.content)

        assert asyncio.run(ask()) == SAID

    def test_tools(self, chain: langchain_cloudflare.ChatCloudflareWorkersAI) -> None:
        response = chain.bind_tools([TOOL]).invoke("fake: tools delay=0")
        assert [(call["name"], call["args"]) for call in response.tool_calls] == [("weather", {"at": "Oslo"})]
        chunks = list(chain.bind_tools([TOOL]).stream("fake: tools delay=0"))
        called = [call for chunk in chunks for call in chunk.tool_calls]
        assert [(call["name"], call["args"]) for call in called] == [("weather", {"at": "Oslo"})]


def test_the_sdk_of_openai_sends_files(chat: openai.OpenAI) -> None:
    def send(document: bytes) -> str:
        url = "data:application/pdf;base64," + base64.b64encode(document).decode()
        file = {"filename": "a.docx", "file_data": url}
        content: Any = [{"type": "file", "file": file}, {"type": "text", "text": "Well?"}]
        reply = chat.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": content}])
        return str(reply.choices[0].message.content)

    assert "the text" in send(documents.docx("the text"))
    with pytest.raises(openai.UnprocessableEntityError, match="password"):
        send(documents.encrypted_office())
