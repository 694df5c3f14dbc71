"""The fake must be trusted before a test can rest on it. What its scenarios send, tests/upstream asserts."""

import asyncio
import time

import httpx
import pytest

from tests.fake_cloudflare.server import Fake, running
from tests.support.waiting import becomes
from tests.wire.streams import read as read_body

MODEL = "@cf/zai-org/glm-4.7-flash"
TOKEN = {"Authorization": "Bearer fake-token"}


@pytest.fixture
async def fake():
    async with running() as server:
        yield server


@pytest.fixture
async def client(fake):
    async with httpx.AsyncClient(base_url=fake.base_url, headers=TOKEN, trust_env=False) as http:
        yield http


def model_call(question: str, **more: object) -> tuple[str, dict[str, object]]:
    body = {"messages": [{"role": "user", "content": question}], "stream": True, **more}
    return f"/accounts/acct/ai/run/{MODEL}", body


async def test_a_long_question_is_repeated_soon(client):
    """A token every 0.01 s would take half a minute."""
    question = "word " * 3_000
    began = time.monotonic()
    url, body = model_call(question)
    assert read_body((await client.post(url, json=body)).content).text == f"You said: {question}"
    assert time.monotonic() - began < 15


async def test_a_request_for_no_stream_gets_the_whole_answer(client):
    url, body = model_call("Hello", stream=False)
    response = await client.post(url, json=body)
    assert response.json()["result"]["response"] == "You said: Hello"


async def test_a_wrong_scenario_is_told_to_the_author_of_the_test(client):
    for question in ("fake: nonsense", "fake: words colour=red"):
        url, body = model_call(question)
        response = await client.post(url, json=body)
        assert (response.status_code, response.json()["success"]) == (400, False)


async def test_only_a_known_token_is_let_in(fake, client):
    assert (await client.get("/user/tokens/verify")).json()["result"]["status"] == "active"
    assert (await client.get("/accounts/acct/ai/models/search")).json()["result"][0]["name"] == MODEL
    account_token = {"Authorization": "Bearer fake-account-token"}
    assert (await client.get("/user/tokens/verify", headers=account_token)).status_code == 401
    assert (await client.get("/accounts/acct/tokens/verify", headers=account_token)).status_code == 200
    url, body = model_call("Hello")
    response = await client.post(url, json=body, headers={"Authorization": "Bearer wrong"})
    assert response.status_code == 401
    assert response.json()["errors"] == [{"code": 10000, "message": "Authentication error"}]


@pytest.mark.parametrize("question", ["fake: words tokens=50000", "fake: silent", "fake: hang after=1",
                                      "fake: comments_only", "fake: endless_line"])  # fmt: skip
async def test_a_client_that_leaves_is_noticed_at_once(fake, client, question):
    url, body = model_call(question)
    async with client.stream("POST", url, json=body) as response:
        assert response.status_code == 200
        await asyncio.sleep(0.05)
        assert fake.calls[0]["ended"] is None
    await becomes(lambda: fake.calls[0]["ended"])
    assert fake.calls[0]["closed_by_client"], "long before its own end"


async def test_a_client_that_leaves_before_the_headers_is_noticed_too(fake, client):
    url, body = model_call("fake: hang before=headers")
    with pytest.raises(httpx.ReadTimeout):
        await client.post(url, json=body, timeout=httpx.Timeout(60, read=0.1))
    await becomes(lambda: fake.calls and fake.calls[0]["closed_by_client"])


async def test_calls_are_recorded_and_connections_kept(fake, client):
    for question in ("fake: words tokens=1 delay=0", "fake: native tokens=1 delay=0"):
        url, body = model_call(question)
        await client.post(url, json=body)
    async with httpx.AsyncClient(base_url=fake.url, trust_env=False) as other:
        calls = (await other.get("/calls")).json()
        await other.delete("/calls")
    assert [call["body"]["stream"] for call in calls] == [True, True]
    assert calls[0]["path"] == f"/client/v4/accounts/acct/ai/run/{MODEL}"
    assert calls[0]["headers"]["authorization"] == "Bearer fake-token"
    assert calls[0]["started"] <= calls[0]["ended"]
    assert not any(call["closed_by_client"] for call in calls)
    assert calls[0]["peer"] == calls[1]["peer"]
    assert fake.calls == []


def test_it_also_runs_in_a_thread_for_tests_that_block():
    with Fake() as fake:
        url, body = model_call("Hello")
        response = httpx.post(fake.base_url + url, json=body, headers=TOKEN, trust_env=False)
        assert response.text.endswith("data: [DONE]\n\n")
        fake.wait_for(lambda calls: calls and calls[0]["ended"])
