"""The fake must be trusted before a test can rest on it: what it sends, when it ends, what it records."""

import asyncio
import time
from contextlib import suppress

import httpx
import pytest

from chat.wire.frames import Delta, FrameError, FrameReader, Usage
from chat.wire.sse import Decoder, LineTooLong
from tests.fake_cloudflare.errors import ERRORS
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


async def read(client, question, **more) -> tuple[Delta, FrameReader]:
    url, body = model_call(question, **more)
    decoder, reader, deltas = Decoder(), FrameReader(inline_reasoning="inline" in question), []
    async with client.stream("POST", url, json=body) as response:
        assert response.headers["content-type"] == "text/event-stream"
        with suppress(httpx.RemoteProtocolError, httpx.ReadError):
            async for piece in response.aiter_bytes():
                deltas += [reader.read(event) for event in decoder.feed(piece)]
    deltas += [reader.read(event) for event in decoder.close()] + [reader.flush()]
    filled = [delta for delta in deltas if delta]
    text, reasoning = "".join(each.text for each in filled), "".join(each.reasoning for each in filled)
    return Delta(text, reasoning, reader.reason), reader


@pytest.mark.parametrize(
    ("question", "delta", "done"),
    [
        ("Hello there", Delta("You said: Hello there", "", "stop"), True),
        ("Hello\nfake: words tokens=3 delay=0", Delta("word1 word2 word3", "", "stop"), True),
        ('fake: words text="a  b\tc"', Delta("a  b\tc", "", "stop"), True),
        ("fake: native tokens=2", Delta("word1 word2"), True),
        ("fake: openai tokens=2", Delta("word1 word2", "", "stop"), True),
        ("fake: reasoning think=2 tokens=1", Delta("word1", "thought1 thought2 ", "stop"), True),
        ("fake: reasoning think=1 tokens=1 style=both", Delta("word1", "thought1 ", "stop"), True),
        ("fake: reasoning think=1 tokens=1 style=inline", Delta("word1", "thought1 "), True),
        ("fake: numbers", Delta('see [^1] 2.5 true {"a": 1} end', "", "stop"), True),
        ("fake: both tokens=2", Delta("word1 word2", "", "stop"), True),
        ("fake: surrogates", Delta("A😀B", "x👍y", "stop"), True),
        ("fake: emoji", Delta("Grüße 😀 👩‍👩‍👧 日本 \u2028 end"), True),
        ("fake: crlf tokens=2", Delta("word1 word2", "", "stop"), True),
        ("fake: crlf tokens=2 eol=cr", Delta("word1 word2", "", "stop"), True),
        ("fake: nodone tokens=1", Delta("word1", "", "stop"), False),
        ("fake: length tokens=1", Delta("word1", "", "length"), True),
        ("fake: empty", Delta("", "", "stop"), True),
        ("fake: after_done tokens=1", Delta("word1", "", "stop"), True),
        ("fake: tools", Delta("", "", "tool_calls"), True),
        ("fake: cut after=2", Delta("word1 word2"), False),
        ("fake: cut after=2 how=abrupt", Delta("word1 word2"), False),
        ("fake: cut after=2 how=reset", Delta("word1 word2"), False),
        ("fake: setcookie tokens=1", Delta("word1", "", "stop"), True),
    ],
)
async def test_a_scenario_reads_as_it_says(client, question, delta, done):
    got, reader = await read(client, question)
    assert got == delta
    assert reader.done is done


async def test_a_long_question_is_repeated_soon(client):
    """A token every 0.01 s would take half a minute."""
    question = "word " * 3_000
    began = time.monotonic()
    got, _reader = await read(client, question)
    assert got.text == f"You said: {question}"
    assert time.monotonic() - began < 15


async def test_the_endings_of_a_cut_stream_differ_on_the_wire(client):
    ends = {"clean": None, "abrupt": httpx.RemoteProtocolError, "reset": httpx.ReadError}
    for how, error in ends.items():
        url, body = model_call(f"fake: cut after=1 how={how}")
        async with client.stream("POST", url, json=body) as response:
            if error is None:
                await response.aread()
                continue
            with pytest.raises(error):
                await response.aread()


async def test_usage_comes_as_cloudflare_counts_it(client):
    _, reader = await read(client, "fake: words tokens=7 delay=0")
    assert reader.usage == Usage(8, 7, 0, reader.usage.neurons)
    _, reader = await read(client, "fake: budget", max_tokens=33)
    assert reader.usage.completion_tokens == 33


async def test_an_error_may_come_inside_the_stream(client):
    for shape in ("errors", "error", "success", "event"):
        with pytest.raises(FrameError):
            await read(client, f"fake: instream_error after=1 shape={shape}")
    with pytest.raises(FrameError):
        await read(client, "fake: malformed")
    with pytest.raises(LineTooLong):
        await read(client, "fake: endless_line mb=2")


@pytest.mark.parametrize("shape", ["response", "choices", "both", "bare", "streamed_data"])
async def test_json_may_answer_a_request_for_a_stream(client, shape):
    url, body = model_call(f'fake: json text="a b" shape={shape}')
    response = await client.post(url, json=body)
    assert response.headers["content-type"] == "application/json"
    assert read_body(response.content).text == "a b"


async def test_a_request_for_no_stream_gets_the_whole_answer(client):
    url, body = model_call("Hello", stream=False)
    response = await client.post(url, json=body)
    assert response.json()["result"]["response"] == "You said: Hello"


@pytest.mark.parametrize("code", ERRORS)
async def test_every_error_comes_with_its_status(client, code):
    url, body = model_call(f"fake: status code={code} retry_after=7")
    response = await client.post(url, json=body)
    assert response.status_code == ERRORS[code][0]
    assert response.headers["retry-after"] == "7"
    assert str(code) in response.text
    with pytest.raises(FrameError):
        read_body(response.content)


async def test_the_first_calls_of_a_flaky_model_fail(client):
    url, body = model_call("fake: flaky fails=2 key=a http=503 code=7009")
    statuses = [(await client.post(url, json=body)).status_code for _ in range(3)]
    assert statuses == [503, 503, 200]
    url, body = model_call("fake: flaky key=b drop=1")
    with pytest.raises(httpx.RemoteProtocolError):
        await client.post(url, json=body)
    assert (await client.post(url, json=body)).status_code == 200


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
        await read(client, question)
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


async def test_a_redirect_points_to_where_it_would_be_seen(fake, client):
    url, body = model_call("fake: redirect")
    response = await client.post(url, json=body)
    assert (response.status_code, response.headers["location"]) == (
        302,
        f"http://localhost:{fake.port}/stolen",
    )
    await client.get(response.headers["location"])
    assert fake.calls[-1]["path"] == "/stolen"


async def test_tokens_keep_their_pace(client):
    started = time.perf_counter()
    await asyncio.gather(*(read(client, "fake: words tokens=25 delay=0.02") for _ in range(20)))
    assert 0.5 < time.perf_counter() - started < 5, "twenty beside one another, not one after the other"


def test_it_also_runs_in_a_thread_for_tests_that_block():
    with Fake() as fake:
        url, body = model_call("Hello")
        response = httpx.post(fake.base_url + url, json=body, headers=TOKEN, trust_env=False)
        assert response.text.endswith("data: [DONE]\n\n")
        fake.wait_for(lambda calls: calls and calls[0]["ended"])
