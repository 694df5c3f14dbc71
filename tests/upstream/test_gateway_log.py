"""A gateway's log entry of a reply, and feedback sent to it."""

import asyncio
from typing import Any

import pytest

from chat.upstream.client import Account, Client, Gateway
from chat.upstream.errors import ErrorKind, UpstreamError
from chat.upstream.providers.ai_gateway import NO_GATEWAY as NOWHERE
from chat.upstream.providers.ai_gateway import GatewayLogRef
from tests.fake_cloudflare.server import NO_GATEWAY, Fake
from tests.upstream.asking import ask, client, runs

ASKED = {"cf-aig-gateway-id": "team"}


@pytest.mark.parametrize(
    ("headers", "passage"),
    [
        ({}, GatewayLogRef("team")),
        (
            {"cf-aig-log-id": "01ARZ3NDEKTSV4RRFFQ69G5FAV"},
            GatewayLogRef("team", "01ARZ3NDEKTSV4RRFFQ69G5FAV"),
        ),
        ({"cf-aig-cache-status": "HIT"}, GatewayLogRef("team", cached=True)),
        ({"cf-aig-cache-status": "MISS", "cf-aig-step": "0"}, GatewayLogRef("team", step=0, missed=True)),
        ({"cf-aig-step": "2"}, GatewayLogRef("team", step=2)),
        (
            {"cf-aig-model": "gpt-5", "cf-aig-provider": "openai"},
            GatewayLogRef("team", served_by="openai/gpt-5"),
        ),
        (
            {"cf-aig-model": "openai/gpt-5", "cf-aig-provider": "openai"},
            GatewayLogRef("team", served_by="openai/gpt-5"),
        ),
        (
            {"cf-aig-routed-model": "@cf/a/b", "cf-aig-provider": "workers-ai"},
            GatewayLogRef("team", served_by="@cf/a/b"),
        ),
        (
            {"cf-aig-routed-model": "x", "cf-aig-model": "cloudflare/auto"},
            GatewayLogRef("team", served_by="x"),
        ),
        ({"cf-aig-model": "<b>", "cf-aig-provider": "openai"}, GatewayLogRef("team")),
        # Values that would lead an address elsewhere, or break a row.
        ({"cf-aig-log-id": "../../../user/tokens"}, GatewayLogRef("team")),
        ({"cf-aig-log-id": "x" * 65, "cf-aig-step": "-1"}, GatewayLogRef("team")),
        ({"cf-aig-step": "99999"}, GatewayLogRef("team")),
    ],
)
def test_a_gateways_word_is_kept_where_it_is_one(headers: dict[str, str], passage: GatewayLogRef) -> None:
    assert GatewayLogRef.from_headers(ASKED, headers) == passage
    assert GatewayLogRef.from_headers({}, headers) == NOWHERE


async def test_a_reply_says_how_it_came(fake: Fake) -> None:
    questions = ("fake: words tokens=2", "fake: words tokens=2", "fake: fallback step=2")
    async with client(fake, gateway=Gateway("team", cache_ttl=60)) as made:
        passages = [(await ask(made, question)).stream.gateway_log_ref for question in questions]
        refused = (await ask(made, "fake: status code=2016")).stream.gateway_log_ref
    assert [each.cached for each in passages] == [False, True, False]
    assert [each.step for each in passages] == [None, None, 2]
    assert len({each.log_id for each in [*passages, refused]}) == 4
    assert {each.gateway for each in [*passages, refused]} == {"team"}


@pytest.mark.parametrize(("up", "feedback"), [(True, 1), (False, -1), (None, None)])
async def test_a_thumb_is_one_number(fake: Fake, up: bool | None, feedback: Any) -> None:
    async with client(fake) as made:
        await made.cloudflare.send_feedback(GatewayLogRef("team", "log-7"), up)
    (call,) = fake.calls
    path = "/client/v4/accounts/acc/ai-gateway/gateways/team/logs/log-7"
    assert (call["method"], call["path"], call["body"]) == ("PATCH", path, {"feedback": feedback})
    assert call["headers"]["authorization"] == "Bearer fake-token"


async def test_a_thumb_that_is_refused_is_told(fake: Fake) -> None:
    async with client(fake) as made:
        with pytest.raises(UpstreamError) as refused:
            await made.cloudflare.send_feedback(GatewayLogRef(NO_GATEWAY, "log-7"), True)
    assert (refused.value.kind, refused.value.code) == (ErrorKind.INVALID, "2001")


async def test_a_thumb_that_nobody_takes_is_told() -> None:
    gone = Fake()
    gone.close()
    async with client(gone) as made:
        with pytest.raises(UpstreamError) as refused:
            await made.cloudflare.send_feedback(GatewayLogRef("team", "log-7"), True)
    assert refused.value.kind is ErrorKind.UNAVAILABLE
    assert "127.0.0.1" not in refused.value.detail


async def test_thumbs_and_questions_share_no_more_than_the_token(fake: Fake) -> None:
    made = Client(Account("acc", "fake-token", fake.base_url), None, gateway=Gateway("team"))
    await asyncio.gather(
        made.cloudflare.send_feedback(GatewayLogRef("team", "log-7"), True), ask(made, "fake: setcookie")
    )
    await made.cloudflare.send_feedback(GatewayLogRef("team", "log-7"), None)
    await made.aclose()
    assert len(runs(fake)) == 1
    assert not [call for call in fake.calls if "cookie" in call["headers"]]
    rated = [call["headers"] for call in fake.calls if call["method"] == "PATCH"]
    assert not [name for headers in rated for name in headers if name.startswith("cf-aig")]
