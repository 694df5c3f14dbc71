"""Replies by a JSON schema, whole and streamed, and who answered where a gateway chose."""

import json
from typing import Any

import pytest
from django.test import AsyncClient

from chat.db.executor import run_in_db
from chat.engine.engine import Engine
from tests.api.client import CHAT, RUN
from tests.api.in_process import bearer, engine
from tests.fake_cloudflare.server import Fake
from tests.fake_cloudflare.text_scenarios import says_line

__all__ = ["engine"]
ROUTE = {"GATEWAY_MODELS": [("dynamic/cheap", 128_000)]}
pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.parametrize("engine", [ROUTE], indirect=True),
]
LLAMA, LORA = "@cf/meta/llama-3.3-70b-instruct-fp8-fast", "@cf/google/gemma-2b-it-lora"
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}
FORMAT = {"type": "json_schema", "json_schema": {"name": "City", "schema": SCHEMA, "strict": True}}
SAID = '{"city": "Oslo"}'


async def post(url: str, **body: Any) -> Any:
    headers = await run_in_db(bearer)
    return await AsyncClient().post(url, body, "application/json", headers=headers)


def chat_body(**more: Any) -> dict[str, Any]:
    question = [{"role": "user", "content": says_line(SAID)}]
    return {"model": LLAMA, "messages": question, "response_format": FORMAT, **more}


async def test_a_schema_with_a_stream_is_streamed(engine: Engine, fake: Fake) -> None:
    response = await post(CHAT, **chat_body(stream=True))
    assert response.status_code == 200
    sent = b"".join([piece async for piece in response.streaming_content]).decode()
    frames = [json.loads(line[6:]) for line in sent.splitlines() if line.startswith("data: {")]
    text = "".join(frame["choices"][0]["delta"].get("content") or "" for frame in frames if frame["choices"])
    assert text == SAID
    assert sent.endswith("data: [DONE]\n\n")
    call = fake.calls[-1]
    assert (call["body"]["stream"], call["body"]["response_format"]["json_schema"]) == (False, SCHEMA)


async def test_a_model_that_cannot_says_so_with_cloudflares_code(engine: Engine) -> None:
    refused = await post(f"{RUN}/{LORA}", prompt="hello", response_format=FORMAT)
    assert refused.status_code == 400
    [error] = refused.json()["errors"]
    assert error["code"] == 5025
    assert "JSON schema" in error["message"]


async def test_whom_a_route_chose_comes_back_in_a_header(engine: Engine, fake: Fake) -> None:
    response = await post(CHAT, **chat_body(model="dynamic/cheap"))
    assert response.json()["choices"][0]["message"]["content"] == SAID
    assert response.headers["cf-aig-model"] == "openai/gpt-5-mini"
    assert response.headers["cf-aig-log-id"]
    assert fake.calls[-1]["path"] == "/v1/acc/default/compat/chat/completions"
