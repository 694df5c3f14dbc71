"""Options of the AI Gateway in a call, for keys that may set them, and the headers of its response."""

import json
from functools import partial
from typing import Any

import pytest
from django.test import AsyncClient, override_settings

from chat.api.gateway_options import GATEWAY_OPTIONS
from chat.db.executor import run_in_db
from chat.engine.engine import Engine
from chat.models import Call
from tests.api.client import CHAT, MODEL, RUN, question
from tests.api.in_process import bearer, engine
from tests.fake_cloudflare.server import Fake

__all__ = ["engine"]
pytestmark = pytest.mark.django_db(transaction=True)
ID = "cf-aig-gateway-id"


async def ask(headers: dict[str, str], *, path: str = CHAT, allowed: bool = True, **body: Any) -> Any:
    name = "allowed" if allowed else "other"
    authorization = await run_in_db(partial(bearer, name, may_set_gateway=allowed))
    return await AsyncClient().post(
        path, {**question("hello"), **body}, "application/json", headers=authorization | headers
    )


def sent(fake: Fake) -> dict[str, str]:
    """The headers for the gateway that went with the last call."""
    return {name: value for name, value in fake.calls[-1]["headers"].items() if name.startswith("cf-aig-")}


async def test_headers_are_passed_on_and_the_log_id_comes_back(engine: Engine, fake: Fake) -> None:
    labels = {"team": "blue", "person": "somebody else"}
    gateway_headers = {
        ID: "team",
        "cf-aig-cache-ttl": "300",
        "cf-aig-metadata": json.dumps(labels),
        "cf-aig-collect-log-payload": "true",
        "cf-aig-max-attempts": "2",
    }
    response = await ask(gateway_headers)
    assert response.status_code == 200
    passed = sent(fake)
    told = json.loads(passed.pop("cf-aig-metadata"))
    assert passed == {name: value for name, value in gateway_headers.items() if name != "cf-aig-metadata"}
    assert (told["team"], set(told)) == ("blue", {"team", "person", "site"})
    assert told["person"] != labels["person"], "whose call it is stays true in the log"
    call = await run_in_db(Call.objects.get)
    assert call.gateway == "team"
    assert response["cf-aig-log-id"] == call.gateway_log
    assert response["cf-aig-cache-status"] == "MISS"


async def test_the_option_of_the_body_says_the_same(engine: Engine, fake: Fake) -> None:
    option = {
        "id": "team",
        "skipCache": True,
        "eventId": "e-1",
        "retries": {"maxAttempts": 3, "backoff": "linear"},
    }
    run_body = {"prompt": "hello", "gateway": option, "messages": None}
    told = {ID: "team", "cf-aig-skip-cache": "true", "cf-aig-event-id": "e-1", "cf-aig-max-attempts": "3"}
    response = await ask({"cf-aig-skip-cache": "false"}, path=f"{RUN}/{MODEL}", **run_body)
    assert response.status_code == 200
    assert told.items() <= sent(fake).items()
    assert sent(fake)["cf-aig-backoff"] == "linear"
    assert "cf-aig-log-id" in response


async def test_stream_reports_the_gateway_and_repeats_hit_the_cache(engine: Engine) -> None:
    headers = await run_in_db(partial(bearer, may_set_gateway=True))
    headers |= {ID: "team", "cf-aig-cache-ttl": "300"}
    told = []
    for _ in range(2):
        response = await AsyncClient().post(
            CHAT, {**question("cached?"), "stream": True}, "application/json", headers=headers
        )
        told.append(response["cf-aig-cache-status"])
        assert response["cf-aig-log-id"]
        assert [part async for part in response]
    assert told == ["MISS", "HIT"]


async def test_a_cache_that_is_not_skipped_is_asked(engine: Engine) -> None:
    """The options as Cloudflare's first samples write them."""
    gateway = {"id": "team", "skipCache": False, "cacheTtl": 3600}
    run_body = {"prompt": "cached so?", "gateway": gateway, "messages": None}
    headers = await run_in_db(partial(bearer, may_set_gateway=True))
    told = []
    for _ in range(2):
        response = await AsyncClient().post(f"{RUN}/{MODEL}", run_body, "application/json", headers=headers)
        told.append(response["cf-aig-cache-status"])
    assert told == ["MISS", "HIT"]


@pytest.mark.parametrize("in_body", [False, True])
@pytest.mark.parametrize(
    ("header", "value", "option", "sent_as"),
    [
        ("cf-aig-session-id", "s1", "s1", "s1"),
        ("cf-aig-turn-id", "turn:7", "turn:7", "turn:7"),
        ("cf-aig-no-session-affinity", "true", True, "true"),
        (
            "cf-aig-allowed-models",
            "anthropic/*, openai/gpt-5",
            ["anthropic/*", "openai/gpt-5"],
            "anthropic/*,openai/gpt-5",
        ),
        ("cf-aig-allowed-providers", "anthropic,openai", ["anthropic", "openai"], "anthropic,openai"),
        ("cf-aig-byok-alias", "team-a", "team-a", "team-a"),
        ("cf-aig-zdr", "true", True, "true"),
        ("cf-aig-no-wholesale", "false", False, "false"),
        ("cf-aig-custom-cost", '{"per_token_in": 0.5}', {"per_token_in": 0.5}, '{"per_token_in": 0.5}'),
    ],
)
async def test_headers_of_the_auto_router_and_of_keys_are_passed_on(
    engine: Engine, fake: Fake, header: str, value: str, option: Any, sent_as: str, in_body: bool
) -> None:
    if in_body:
        response = await ask({}, gateway={"id": "team", GATEWAY_OPTIONS[header][0]: option})
    else:
        response = await ask({ID: "team", header: value})
    assert response.status_code == 200
    assert sent(fake)[header] == (sent_as if in_body and sent_as else value)


async def test_a_cache_key_is_the_persons_own(engine: Engine, fake: Fake) -> None:
    await ask({ID: "team", "cf-aig-cache-key": "mine"})
    assert len(sent(fake)["cf-aig-cache-key"]) == 64


@pytest.mark.parametrize(
    ("headers", "body", "name"),
    [
        ({"cf-aig-skip-cache": "true"}, {}, "cf-aig-skip-cache"),
        ({ID: "team"}, {}, ID),
        ({"cf-skip-cache": "true"}, {}, "cf-skip-cache"),
        ({}, {"gateway": {"id": "team"}}, "gateway.id"),
    ],
)
async def test_other_keys_are_refused_by_name(
    engine: Engine, fake: Fake, headers: dict[str, str], body: Any, name: str
) -> None:
    calls = len(fake.calls)
    response = await ask(headers, allowed=False, **body)
    error = response.json()["error"]
    assert (response.status_code, error["code"]) == (403, "insufficient_permissions")
    assert f"“{name}”" in error["message"]
    assert len(fake.calls) == calls
    assert await run_in_db(Call.objects.count) == 0


WRONG = [
    ({ID: "../x"}, {}, ID),
    ({ID: "team", "cf-aig-cache-ttl": "59"}, {}, "cf-aig-cache-ttl"),
    ({ID: "team", "cf-aig-cache-ttl": "9" * 5_000}, {}, "cf-aig-cache-ttl"),
    ({ID: "team", "cf-aig-skip-cache": "maybe"}, {}, "cf-aig-skip-cache"),
    ({ID: "team", "cf-aig-metadata": "{"}, {}, "cf-aig-metadata"),
    ({ID: "team", "cf-aig-metadata": '{"a": 1e400}'}, {}, "cf-aig-metadata"),
    ({ID: "team", "cf-aig-metadata": '{"a": 1, "b": 2, "c": 3, "d": 4}'}, {}, "cf-aig-metadata"),
    ({ID: "team", "cf-aig-metadata": '{"cf.user_id": "x"}'}, {}, "cf-aig-metadata"),
    ({ID: "team", "cf-aig-authorization": "Bearer x"}, {}, "cf-aig-authorization"),
    ({ID: "team", "cf-aig-custom-cost": "{}"}, {}, "cf-aig-custom-cost"),
    ({ID: "team", "cf-aig-custom-cost": '{"per_token_in": -1}'}, {}, "cf-aig-custom-cost"),
    ({ID: "team", "cf-aig-custom-cost": '{"free": 1}'}, {}, "cf-aig-custom-cost"),
    ({ID: "team", "cf-aig-session-id": "two words"}, {}, "cf-aig-session-id"),
    ({ID: "team", "cf-aig-turn-id": "x" * 201}, {}, "cf-aig-turn-id"),
    ({ID: "team", "cf-aig-no-session-affinity": "maybe"}, {}, "cf-aig-no-session-affinity"),
    ({ID: "team", "cf-aig-allowed-models": "a/b, <c>"}, {}, "cf-aig-allowed-models"),
    ({ID: "team", "cf-aig-allowed-providers": ""}, {}, "cf-aig-allowed-providers"),
    ({ID: "team", "cf-aig-zdr": "1"}, {}, "cf-aig-zdr"),
    ({ID: "team", "cf-aig-byok-alias": "../x"}, {}, "cf-aig-byok-alias"),
    ({"cf-aig-skip-cache": "true"}, {}, "gateway.id"),
    ({}, {"gateway": {"id": "team", "customCost": '{\n"total_cost": 1}'}}, "gateway.customCost"),
    ({}, {"gateway": 7}, "gateway"),
    ({}, {"gateway": {"id": "team", "retries": []}}, "gateway.retries"),
    ({}, {"gateway": {"id": 7.5}}, "gateway.id"),
    ({}, {"gateway": {"id": "team", "somehow": 1}}, "gateway.somehow"),
    ({}, {"gateway": {"id": "team", "backoff": ["linear"]}}, "gateway.backoff"),
]


async def test_options_unknown_to_gateways_are_refused_by_name(engine: Engine, fake: Fake) -> None:
    calls = len(fake.calls)
    headers = await run_in_db(partial(bearer, may_set_gateway=True))
    for wrong, body, name in WRONG:
        response = await AsyncClient().post(
            CHAT, {**question("hello"), **body}, "application/json", headers=headers | wrong
        )
        error = response.json()["error"]
        assert (response.status_code, error["param"]) == (400, name)
        assert f"“{name}”" in error["message"]
    assert len(fake.calls) == calls


async def test_a_site_with_a_gateway_needs_no_name(engine: Engine, fake: Fake) -> None:
    with override_settings(AI_GATEWAY_ID="team"):
        assert (await ask({"cf-aig-skip-cache": "false", ID: "other"})).status_code == 200
    assert sent(fake)[ID] == "other"
