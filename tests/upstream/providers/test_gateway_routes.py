"""Dynamic routes and the Auto Router: asked of the gateway's own host, and who they chose is told."""

import pytest

from chat.upstream.catalog import LlmModel, Provider
from chat.upstream.client import Gateway
from chat.upstream.errors import ErrorKind
from tests.fake_cloudflare.server import NO_ROUTE, TOKEN, Fake
from tests.fake_cloudflare.text_scenarios import says_line
from tests.upstream.asking import ask, client, runs

WORDS = "fake: words tokens=2 delay=0"
ROUTE = LlmModel("dynamic/cheap", "dynamic/cheap", window=128_000, host=Provider.GATEWAY)
AUTO = LlmModel("cloudflare/auto", "cloudflare/auto", window=128_000, host=Provider.GATEWAY)


@pytest.mark.parametrize(
    ("model", "served_by"), [(ROUTE, "openai/gpt-5-mini"), (AUTO, "@cf/zai-org/glm-4.7-flash")]
)
async def test_a_route_is_asked_of_the_gateways_own_host(fake: Fake, model: LlmModel, served_by: str) -> None:
    async with client(fake, gateway=Gateway("team", cache_ttl=60)) as made:
        reply = await ask(made, WORDS, model, max_tokens=77)
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
        await ask(made, WORDS, ROUTE)
    assert runs(fake)[0]["path"] == "/v1/acc/default/compat/chat/completions"


async def test_a_route_that_is_not_there_is_refused(fake: Fake) -> None:
    missing = LlmModel(f"dynamic/{NO_ROUTE}", "x", window=128_000, host=Provider.GATEWAY)
    async with client(fake) as made:
        assert (await ask(made, WORDS, missing)).kind is ErrorKind.INVALID


async def test_json_over_a_route_is_requested_unstreamed(fake: Fake) -> None:
    schema = {"type": "object", "properties": {}}
    wanted = {"response_format": {"type": "json_schema", "json_schema": schema}}
    async with client(fake) as made:
        reply = await ask(made, says_line('{"a": 1}'), ROUTE, raw_parameters=wanted)
    assert reply.text == '{"a": 1}'
    body = runs(fake)[0]["body"]
    assert body["stream"] is False
    assert body["response_format"]["json_schema"]["schema"] == schema
