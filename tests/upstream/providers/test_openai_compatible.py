"""Others' models: what is asked of whom, and that no key goes to another server than its own."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from chat.upstream.catalog import LlmModel, Provider
from chat.upstream.chat_request import ChatRequest
from chat.upstream.client import Account, Client, Endpoint, Gateway
from chat.upstream.errors import ErrorKind
from chat.upstream.providers.openai_compatible import endpoint_request
from tests.fake_cloudflare.server import ENDPOINT_KEY, NO_ROUTE, TOKEN, Fake
from tests.fake_cloudflare.text_scenarios import says_line
from tests.upstream.asking import MODEL, Reply, ask, client, runs

WORDS = "fake: openai tokens=2"
THIRD = LlmModel("openai/gpt-5", "openai/gpt-5", window=400_000, host=Provider.GATEWAY)
SMALL = LlmModel("small-1", "small-1", window=32_000, host=Provider.ENDPOINT)
LABELS = {"person": "p7"}


@pytest.fixture
def other() -> Any:
    """The operator's own server, which is not Cloudflare."""
    made = Fake()
    yield made
    made.close()


@asynccontextmanager
async def both(
    fake: Fake, other: Fake, *, gateway: Gateway | None = None, key: str = ENDPOINT_KEY
) -> AsyncIterator[Client]:
    made = Client(
        Account("acc", TOKEN, fake.base_url),
        None,
        gateway=gateway,
        endpoint=Endpoint(f"{other.url}/v1", key),
        read_interval=0.01,
    )
    try:
        yield made
    finally:
        await made.aclose()


async def ask_labelled(made: Client, model: LlmModel, question: str = WORDS) -> Reply:
    return await ask(made, question, model, session_affinity="a", metadata=LABELS, max_tokens=77)


async def test_another_providers_model_is_asked_through_the_gateway(fake: Fake, other: Fake) -> None:
    async with both(fake, other, gateway=Gateway("team", cache_ttl=60)) as made:
        reply = await ask_labelled(made, THIRD)
    (call,) = runs(fake)
    assert (call["method"], call["path"]) == ("POST", "/client/v4/accounts/acc/ai/v1/chat/completions")
    assert call["body"] == {
        "model": "openai/gpt-5",
        "messages": [{"role": "user", "content": WORDS}],
        "max_completion_tokens": 77,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    headers = call["headers"]
    assert headers["authorization"] == f"Bearer {TOKEN}"
    assert headers["accept"] == "text/event-stream"
    assert (headers["cf-aig-gateway-id"], headers["cf-aig-cache-ttl"]) == ("team", "60")
    assert "x-session-affinity" not in headers
    assert (reply.text, reply.error) == ("word1 word2", None)
    assert reply.stream.usage is not None
    assert reply.stream.usage.completion_tokens == 2
    assert reply.stream.gateway_log_ref.gateway == "team"
    assert other.calls == []


async def test_without_a_named_gateway_the_default_one_is_used(fake: Fake, other: Fake) -> None:
    async with both(fake, other) as made:
        await ask_labelled(made, THIRD)
        await ask_labelled(made, MODEL)
    through, direct = runs(fake)
    assert through["headers"]["cf-aig-gateway-id"] == "default"
    assert through["headers"]["cf-aig-collect-log-payload"] == "false"
    assert not [name for name in direct["headers"] if name.startswith("cf-aig-")]


async def test_the_operators_server_is_asked_as_openai_documents(fake: Fake, other: Fake) -> None:
    async with both(fake, other, gateway=Gateway("team")) as made:
        reply = await ask_labelled(made, SMALL)
    (call,) = other.calls
    assert (call["method"], call["path"]) == ("POST", "/v1/chat/completions")
    assert call["body"] == {
        "model": "small-1",
        "messages": [{"role": "user", "content": WORDS}],
        "max_tokens": 77,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    assert set(call["headers"]) == {
        "host", "accept", "accept-encoding", "user-agent", "content-type", "content-length", "authorization"
    }  # fmt: skip
    assert call["headers"]["authorization"] == f"Bearer {ENDPOINT_KEY}"
    assert (reply.text, reply.error, reply.stream.gateway_log_ref.gateway) == ("word1 word2", None, "")
    assert fake.calls == []


@pytest.mark.parametrize("host", ["api.openai.com", "eu.api.openai.com", "site.openai.azure.com"])
async def test_openais_own_server_is_told_the_limit_by_its_newer_name(host: str) -> None:
    body = endpoint_request(Endpoint(f"https://{host}/v1", "k"), ChatRequest([], SMALL, 77)).body
    assert body["max_completion_tokens"] == 77
    assert "max_tokens" not in body


async def test_a_server_that_needs_no_key_gets_none(fake: Fake, other: Fake) -> None:
    async with both(fake, other, key="") as made:
        await ask_labelled(made, SMALL)
    assert "authorization" not in other.calls[0]["headers"]


async def test_a_whole_answer_is_asked_for_without_options_of_a_stream(fake: Fake, other: Fake) -> None:
    async with both(fake, other) as made:
        await ask_labelled(made, SMALL, "fake: json shape=empty")
    assert [call["body"]["stream"] for call in other.calls] == [True, False]
    assert ["stream_options" in call["body"] for call in other.calls] == [True, False]


WAYS = ["words tokens=2", "setcookie", "status code=10000", "redirect", "flaky fails=1 key={model}", "html"]


async def test_no_key_ever_reaches_the_other_server(fake: Fake, other: Fake) -> None:
    async with both(fake, other, gateway=Gateway("team")) as made:
        for way in WAYS:
            for model in (MODEL, THIRD, SMALL):
                await ask_labelled(made, model, f"fake: {way.format(model=model.name.replace('/', '-'))}")
        await made.cloudflare.verify()
        await made.cloudflare.send_feedback((await ask_labelled(made, THIRD)).stream.gateway_log_ref, True)
    for server, own, foreign in ((fake, TOKEN, ENDPOINT_KEY), (other, ENDPOINT_KEY, TOKEN)):
        assert len(server.calls) > len(WAYS)
        for call in server.calls:
            assert call["headers"]["authorization"] == f"Bearer {own}"
            assert foreign not in str(call)
            assert "cookie" not in call["headers"]
            assert "/stolen" not in call["path"]
    assert not [call for call in other.calls if "p7" in str(call["headers"]) or "acc" in call["path"]]


@pytest.mark.parametrize("http", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("model", [THIRD, SMALL], ids=["gateway", "endpoint"])
async def test_a_redirect_is_never_followed(fake: Fake, other: Fake, model: LlmModel, http: int) -> None:
    served, stranger = (fake, other) if model is THIRD else (other, fake)
    async with both(fake, other) as made:
        reply = await ask_labelled(
            made, model, f"fake: redirect http={http} to={stranger.url}/v1/chat/completions"
        )
    assert (reply.kind, len(served.calls), stranger.calls) == (ErrorKind.UNAVAILABLE, 1, [])


async def test_its_errors_do_not_name_cloudflare(fake: Fake, other: Fake) -> None:
    async with both(fake, other, key="wrong") as made:
        refused = (await ask_labelled(made, SMALL)).error
    async with both(fake, other) as made:
        blocked = (await ask_labelled(made, SMALL, "fake: status code=2016")).error
        at_cloudflare = (await ask_labelled(made, THIRD, "fake: status code=10000")).error
    assert refused is not None
    assert blocked is not None
    assert at_cloudflare is not None
    assert (refused.kind, blocked.kind) == (ErrorKind.AUTH, ErrorKind.BLOCKED)
    assert "Cloudflare" not in refused.message + blocked.message
    assert "Cloudflare" in at_cloudflare.message


async def test_gateway_retries_cover_only_its_own_models(fake: Fake, other: Fake) -> None:
    async with both(fake, other, gateway=Gateway("team", max_attempts=3)) as made:
        for model in (THIRD, SMALL):
            await ask_labelled(made, model, "fake: status code=7009")
    assert (len(runs(fake)), len(other.calls)) == (1, 3)


def test_a_key_is_in_no_text() -> None:
    assert "secret" not in repr(Endpoint("https://models.example/v1", "secret"))


TWO_WORDS = "fake: words tokens=2 delay=0"
ROUTE = LlmModel("dynamic/cheap", "dynamic/cheap", window=128_000, host=Provider.GATEWAY)
AUTO = LlmModel("cloudflare/auto", "cloudflare/auto", window=128_000, host=Provider.GATEWAY)


@pytest.mark.parametrize(
    ("model", "served_by"), [(ROUTE, "openai/gpt-5-mini"), (AUTO, "@cf/zai-org/glm-4.7-flash")]
)
async def test_a_route_is_asked_of_the_gateways_own_host(fake: Fake, model: LlmModel, served_by: str) -> None:
    async with client(fake, gateway=Gateway("team", cache_ttl=60)) as made:
        reply = await ask(made, TWO_WORDS, model, max_tokens=77)
    assert (reply.error, reply.text) == (None, "word1 word2")
    [call] = runs(fake)
    assert call["path"] == "/v1/acc/team/compat/chat/completions"
    assert (call["body"]["model"], call["body"]["max_completion_tokens"]) == (model.id, 77)
    assert call["headers"]["cf-aig-authorization"] == f"Bearer {TOKEN}"
    assert "authorization" not in call["headers"], "it would be handed on to the provider"
    assert call["headers"]["cf-aig-cache-ttl"] == "60"
    passage = reply.stream.gateway_log_ref
    assert (passage.gateway, bool(passage.log_id), passage.served_by) == ("team", True, served_by)


async def test_without_a_gateway_of_ones_own_it_is_the_default_one(fake: Fake) -> None:
    async with client(fake) as made:
        await ask(made, TWO_WORDS, ROUTE)
    assert runs(fake)[0]["path"] == "/v1/acc/default/compat/chat/completions"


async def test_a_route_that_is_not_there_is_refused(fake: Fake) -> None:
    missing = LlmModel(f"dynamic/{NO_ROUTE}", "x", window=128_000, host=Provider.GATEWAY)
    async with client(fake) as made:
        assert (await ask(made, TWO_WORDS, missing)).kind is ErrorKind.INVALID


async def test_json_over_a_route_is_requested_unstreamed(fake: Fake) -> None:
    schema = {"type": "object", "properties": {}}
    wanted = {"response_format": {"type": "json_schema", "json_schema": schema}}
    reply = await ask(fake, says_line('{"a": 1}'), ROUTE, raw_parameters=wanted)
    assert reply.text == '{"a": 1}'
    body = runs(fake)[0]["body"]
    assert body["stream"] is False
    assert body["response_format"]["json_schema"]["schema"] == schema
