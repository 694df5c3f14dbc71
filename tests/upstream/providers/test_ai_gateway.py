"""Requests to an AI Gateway, header by header, and the division of retries."""

import asyncio
import json
from typing import Any

import pytest

from chat.upstream.catalog import LlmModel, Provider
from chat.upstream.client import Account, Client, Gateway
from chat.upstream.errors import ErrorKind, UpstreamError
from chat.upstream.providers.ai_gateway import NO_GATEWAY as NOWHERE
from chat.upstream.providers.ai_gateway import GatewayLogRef
from tests.fake_cloudflare.server import NO_GATEWAY, Fake
from tests.upstream.asking import MODEL, ask, client, runs

WORDS = "fake: words tokens=2"
THIRD, AUTO = (
    LlmModel(name, "x", 8_000, host=Provider.GATEWAY) for name in ("openai/gpt-5", "cloudflare/auto")
)
LABELS = {"person": "p7", "conversation": "c7", "site": "chat.example"}


def told(call: dict[str, Any]) -> dict[str, str]:
    """Return the gateway's headers, by the rest of each name."""
    return {
        name.removeprefix("cf-aig-"): value
        for name, value in call["headers"].items()
        if name.startswith("cf-aig-")
    }


async def ask_through(
    gateway: Gateway | None, fake: Fake, question: str = WORDS, **more: Any
) -> dict[str, str]:
    async with client(fake, gateway=gateway) as made:
        await ask(made, question, **more)
    return told(runs(fake)[-1])


async def test_without_a_gateway_none_is_told_anything(fake: Fake) -> None:
    assert await ask_through(None, fake, metadata=LABELS, skip_cache=True) == {}


async def test_unset_options_are_left_to_the_gateway(fake: Fake) -> None:
    assert await ask_through(Gateway("default"), fake) == {
        "gateway-id": "default",
        "collect-log-payload": "false",
    }


@pytest.mark.parametrize(
    ("model", "labels", "session"),
    [
        (THIRD, LABELS, "pseudonym"),
        (AUTO, LABELS, "pseudonym"),
        (MODEL, LABELS, None),
        (THIRD, {"person": "p7"}, None),  # an API call, whose client may name a session itself
    ],
)
async def test_a_conversation_is_a_session_of_the_auto_router(
    fake: Fake, model: LlmModel, labels: dict[str, str], session: str | None
) -> None:
    async with client(fake, gateway=Gateway("team")) as made:
        await ask(made, WORDS, model, metadata=labels, session_affinity="pseudonym")
        own = {"cf-aig-session-id": "mine", "cf-aig-gateway-id": "team"}
        await ask(made, WORDS, model, metadata=labels, session_affinity="pseudonym", gateway=own)
    assert [told(call).get("session-id") for call in runs(fake)] == [session, "mine"]


async def test_the_call_is_the_same_but_for_the_headers(fake: Fake) -> None:
    for gateway in (None, Gateway("default", cache_ttl=60, max_attempts=3)):
        async with client(fake, gateway=gateway) as made:
            await ask(made, WORDS, session_affinity="a")
    plain, through = runs(fake)
    assert (plain["path"], plain["body"]) == (through["path"], through["body"])
    rest = {name: value for name, value in through["headers"].items() if not name.startswith("cf-aig-")}
    assert rest == plain["headers"]


@pytest.mark.parametrize(
    ("given", "header", "value"),
    [
        ({"cache_ttl": 60}, "cache-ttl", "60"),
        ({"cache_ttl": 0}, "skip-cache", "true"),
        ({"request_timeout": 1500}, "request-timeout", "1500"),
        ({"max_attempts": 5}, "max-attempts", "5"),
        ({"retry_delay": 250}, "retry-delay", "250"),
        ({"backoff": "exponential"}, "backoff", "exponential"),
        ({"log_payloads": True}, "collect-log-payload", "true"),
    ],
)
async def test_each_wish_is_one_header(fake: Fake, given: dict[str, Any], header: str, value: str) -> None:
    sent = await ask_through(Gateway("g-1", **given), fake)
    assert sent == {"gateway-id": "g-1", "collect-log-payload": "false"} | {header: value}


async def test_a_price_of_ones_own_is_told_a_token(fake: Fake) -> None:
    sent = await ask_through(Gateway("g", cost=(0.06, 0.4)), fake)
    assert json.loads(sent["custom-cost"]) == pytest.approx({"per_token_in": 6e-8, "per_token_out": 4e-7})


async def test_metadata_has_five_entries_at_most(fake: Fake) -> None:
    sent = await ask_through(Gateway("g"), fake, metadata=LABELS | {"site": "bücher.example"})
    assert sent["metadata"].isascii()
    assert json.loads(sent["metadata"]) == LABELS | {"site": "bücher.example"}
    many = {f"n{n}": "x" for n in range(9)}
    assert len(json.loads((await ask_through(Gateway("g"), fake, metadata=many))["metadata"])) == 5


async def test_metadata_is_sent_only_if_wanted(fake: Fake) -> None:
    assert "metadata" not in await ask_through(Gateway("g", metadata=False), fake, metadata=LABELS)


async def test_another_version_never_comes_from_the_cache(fake: Fake) -> None:
    gateway = Gateway("g", cache_ttl=600, cache_per_person=True)
    sent = await ask_through(gateway, fake, metadata=LABELS, skip_cache=True)
    assert sent["skip-cache"] == "true"
    assert "cache-key" not in sent


async def test_cache_per_user_if_the_setting_says_so(fake: Fake) -> None:
    own, shared = Gateway("g", cache_ttl=600, cache_per_person=True), Gateway("g", cache_ttl=600)

    async def key(gateway: Gateway, person: str = "p7", question: str = WORDS, **more: Any) -> str | None:
        sent = await ask_through(gateway, fake, question, metadata={"person": person}, **more)
        return sent.get("cache-key")

    first = await key(own)
    assert first is not None
    assert len(first) == 64
    assert await key(own) == first
    others = [
        await key(own, person="p8"),
        await key(own, question=f"more\n{WORDS}"),
        await key(own, max_tokens=9),
        await key(own, user_parameters={"seed": 5}),
    ]
    assert len({first, *others}) == 5
    assert await key(shared) is None


async def test_a_header_carries_nothing_of_what_was_typed(fake: Fake) -> None:
    gateway = Gateway("g", cache_ttl=600, cache_per_person=True, log_payloads=True, cost=(1, 1))
    secret = "a secret of the person\r\nx-evil: 1"
    await ask_through(gateway, fake, f"{secret}\n{WORDS}", metadata=LABELS, session_affinity="a")
    (call,) = runs(fake)
    assert secret in call["body"]["messages"][0]["content"]
    assert not [text for text in [*call["headers"].values(), call["path"]] if "secret" in text]
    assert "x-evil" not in call["headers"]
    assert call["path"].endswith(MODEL.id)


@pytest.mark.parametrize(("attempts", "calls"), [(None, 3), (1, 3), (2, 1), (5, 1)])
@pytest.mark.parametrize("refusal", ["status code=3040", "status code=7013", "status code=1 http=502"])
async def test_where_the_gateway_tries_again_we_do_not(
    fake: Fake, attempts: int | None, calls: int, refusal: str
) -> None:
    async with client(fake, gateway=Gateway("g", max_attempts=attempts)) as made:
        reply = await ask(made, f"fake: {refusal}")
    assert reply.kind in (ErrorKind.BUSY, ErrorKind.UNAVAILABLE)
    assert len(runs(fake)) == calls


async def test_a_request_that_never_reached_the_gateway_is_retried(fake: Fake) -> None:
    async with client(fake, gateway=Gateway("g", max_attempts=5)) as made:
        reply = await ask(made, "fake: flaky fails=2 key=cut drop=1")
    assert reply.error is None
    assert len(runs(fake)) == 3


async def test_an_empty_answer_is_still_asked_for_without_a_stream(fake: Fake) -> None:
    own = Gateway("g", cache_ttl=600, cache_per_person=True, max_attempts=5)
    async with client(fake, gateway=own) as made:
        await ask(made, "fake: json shape=empty", metadata=LABELS)
    first, second = runs(fake)
    assert [first["body"]["stream"], second["body"]["stream"]] == [True, False]
    assert told(first)["cache-key"] != told(second)["cache-key"]


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
