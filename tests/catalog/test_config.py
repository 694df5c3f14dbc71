"""A site whose models others serve, with an account and without."""

from collections.abc import Callable
from typing import Any

import pytest

from chat.catalog import config
from tests.fake_cloudflare.server import ENDPOINT_KEY, Fake
from tests.support.server import Person, Server, Stream


def ask_to_end(person: Person, **fields: str) -> Stream:
    return person.asked("fake: openai tokens=3", **fields)


def of_ones_own(fake: Fake, **more: str) -> dict[str, str]:
    """A server of OpenAI's API."""
    return {
        "OPENAI_BASE_URL": f"{fake.url}/v1",
        "OPENAI_API_KEY": ENDPOINT_KEY,
        "OPENAI_MODELS": "small-1=32000,big-1",
        **more,
    }


@pytest.mark.database
def test_a_site_runs_with_a_server_of_its_own_alone(servers: Callable[..., Server], fake: Fake) -> None:
    server = servers(**of_ones_own(fake, CLOUDFLARE_ACCOUNT_ID="", CLOUDFLARE_API_TOKEN=""))
    alice = server.person("alice")
    first = ask_to_end(alice)
    assert (first.text, first.meta["model"]) == ("word1 word2 word3", "small-1")
    alice.asked("again\nfake: openai tokens=2", f"/c/{first.conversation}/messages/")
    assert [message["role"] for message in fake.calls[-1]["body"]["messages"]] == [
        "user",
        "assistant",
        "user",
    ]
    assert {call["path"] for call in fake.calls} == {"/v1/chat/completions"}
    log = server.log.read_text()
    assert "Default model: small-1" in log
    assert "Cloudflare" not in log
    assert server.database.value("SELECT completion_tokens FROM chat_run WHERE text_length > 15") == 3
    offered = alice.get("/models/").text
    assert "127.0.0.1" in offered
    assert "local/" not in offered
    assert ENDPOINT_KEY not in offered + log + alice.get(f"/c/{first.conversation}/").text


@pytest.mark.database
def test_all_who_answer_are_offered_side_by_side(servers: Callable[..., Server], fake: Fake) -> None:
    server = servers(**of_ones_own(fake, GATEWAY_MODELS="openai/gpt-5=400000,anthropic/claude-haiku-4-5"))
    alice = server.person("alice")
    offered = alice.get("/models/").text
    for name in (
        "GLM 4.7 Flash",
        "openai/gpt-5",
        "anthropic/claude-haiku-4-5",
        "small-1",
        "AI Gateway",
        "400k",
    ):
        assert name in offered
    paths = []
    for model in ("@cf/zai-org/glm-4.7-flash", "openai/gpt-5", "big-1"):
        assert ask_to_end(alice, model=model).text == "word1 word2 word3"
        paths.append(fake.calls[-1]["path"].removeprefix("/client/v4/accounts/acc"))
    assert paths == ["/ai/run/@cf/zai-org/glm-4.7-flash", "/ai/v1/chat/completions", "/v1/chat/completions"]
    assert server.database.rows("SELECT gateway FROM chat_run ORDER BY created") == [
        ("",),
        ("default",),
        ("",),
    ]


def test_unlisted_models_are_not_requested(servers: Callable[..., Server], fake: Fake) -> None:
    server = servers(**of_ones_own(fake))
    response = server.person("alice").post("/c/", {"content": "hello", "model": "openai/gpt-5"})
    assert response.status_code == 400
    assert not [call for call in fake.calls if call["method"] == "POST"]


@pytest.mark.parametrize(
    ("name", "opens"),
    [
        ("deepseek-r1:14b", True),
        ("deepseek-ai/DeepSeek-R1-Distill-Qwen-32B", True),
        ("Qwen/QwQ-32B", True),
        ("qwen3-30b-a3b-thinking-2507", True),
        ("deepseek-v3", False),
        ("gpt-oss-20b", False),
    ],
)
def test_a_model_that_opens_its_reasoning_is_known_by_name(settings: Any, name: str, opens: bool) -> None:
    settings.OPENAI_MODELS, settings.GATEWAY_MODELS, settings.VISION_MODELS = {name: 8_192}.items(), (), ()
    settings.AI_SEARCH_INSTANCES = ()
    (model,) = config.models()
    assert model.inline_reasoning is opens
