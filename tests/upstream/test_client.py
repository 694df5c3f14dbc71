"""Requests, responses and each way of ending, against a fake of Cloudflare."""

import time
from typing import Any

import pytest

from chat.upstream.chat_request import ChatRequest
from chat.upstream.client import Account, Client, Timeouts
from chat.upstream.errors import ErrorKind, UpstreamError
from tests.fake_cloudflare.server import ACCOUNT_TOKEN, Fake
from tests.upstream.asking import MODEL, THINKER, account, ask, client, runs

pytestmark = pytest.mark.filterwarnings("error::ResourceWarning")


async def test_the_request_is_exactly_what_cloudflare_documents(fake: Fake) -> None:
    async with client(fake) as made:
        await ask(made, "fake: words tokens=2", session_affinity="conversation-7", max_tokens=77)
    (call,) = fake.calls
    assert (call["method"], call["path"]) == ("POST", f"/client/v4/accounts/acc/ai/run/{MODEL.id}")
    assert call["path"].endswith("/@cf/zai-org/glm-4.7-flash")
    assert call["body"] == {
        "messages": [{"role": "user", "content": "fake: words tokens=2"}],
        "stream": True,
        "max_tokens": 77,
    }
    headers = call["headers"]
    assert headers["authorization"] == "Bearer fake-token"
    assert headers["content-type"] == "application/json"
    assert headers["accept"] == "text/event-stream"
    assert headers["accept-encoding"] == "identity"
    assert headers["x-session-affinity"] == "conversation-7"
    assert "python" not in headers["user-agent"]
    assert "cookie" not in headers


async def test_without_a_conversation_there_is_no_affinity(fake: Fake) -> None:
    async with client(fake) as made:
        await ask(made, "fake: words tokens=2")
    assert "x-session-affinity" not in fake.calls[0]["headers"]


async def test_text_of_every_alphabet_arrives_as_it_was_written(fake: Fake) -> None:
    text = "Grüße, 世界, שלום, 🧑‍🚀, \u2028, \x00 and \\ud83d"
    async with client(fake) as made:
        await ask(made, text + "\nfake: words tokens=1")
    assert fake.calls[0]["body"]["messages"][0]["content"].startswith(text)


async def test_half_a_character_does_not_stop_a_question(fake: Fake) -> None:
    async with client(fake) as made:
        assert (await ask(made, "half \ud83d\nfake: words tokens=1")).text == "word1"


@pytest.mark.parametrize(
    ("scenario", "text", "reason"),
    [
        ("words tokens=3", "word1 word2 word3", "stop"),
        ("openai tokens=3", "word1 word2 word3", "stop"),
        ("native tokens=3", "word1 word2 word3", ""),
        ("crlf tokens=3", "word1 word2 word3", "stop"),
        ("crlf tokens=3 eol=cr", "word1 word2 word3", "stop"),
        ("after_done tokens=3", "word1 word2 word3", "stop"),
        ("nodone tokens=3", "word1 word2 word3", "stop"),
        ("length tokens=3", "word1 word2 word3", "length"),
        ("budget tokens=3", "word1 word2 word3", "length"),
        ("json text=whole", "whole", ""),
        ("json text=whole shape=choices", "whole", "stop"),
        ("json text=whole shape=both", "whole", "stop"),
        ("json text=whole shape=bare", "whole", "stop"),
        ("json text=whole shape=streamed_data", "whole", ""),
    ],
)
async def test_a_reply_is_read_to_its_end(fake: Fake, scenario: str, text: str, reason: str) -> None:
    reply = await ask(fake, f"fake: {scenario}")
    assert (reply.text.rstrip(), reply.error) == (text, None)
    assert reply.stream.complete
    assert reply.stream.decoder.finish_reason == reason
    assert reply.stream.request_id.endswith("-FRA")


async def test_usage_is_known(fake: Fake) -> None:
    reply = await ask(fake, "fake: words tokens=30 delay=0.002")
    assert reply.stream.usage is not None
    assert reply.stream.usage.completion_tokens >= 30
    assert reply.stream.usage.neurons > 0


@pytest.mark.parametrize("style", ["reasoning", "reasoning_content", "both", "inline"])
async def test_thinking_is_told_from_the_answer(fake: Fake, style: str) -> None:
    async with client(fake) as made:
        reply = await ask(
            made, f"fake: reasoning think=2 tokens=2 style={style}", THINKER if style == "inline" else MODEL
        )
    assert (reply.reasoning.rstrip(), reply.text.strip()) == ("thought1 thought2", "word1 word2")


@pytest.mark.parametrize("shape", ["empty", "error"])
async def test_an_answer_without_a_word_is_no_reply(fake: Fake, shape: str) -> None:
    reply = await ask(fake, f"fake: json shape={shape}")
    if shape == "error":
        assert (reply.kind, len(runs(fake))) == (ErrorKind.BUSY, 3)
    else:
        assert (reply.text, reply.error) == ("", None)
        # A whole response may be there where a stream is not.
        assert [call["body"]["stream"] for call in runs(fake)] == [True, False]


async def test_several_tokens_of_one_read_are_one_delta(fake: Fake) -> None:
    reply = await ask(fake, "fake: words tokens=200 delay=0")
    assert reply.text.count("word") == 200
    assert reply.deltas < 20


async def test_the_first_token_does_not_wait_for_a_bite(fake: Fake) -> None:
    async with client(fake, read_interval=60) as made:
        began = time.monotonic()
        async with made.stream(
            ChatRequest([{"role": "user", "content": "fake: words tokens=3 delay=0.3"}], MODEL, 9)
        ) as reply:
            await anext(reply)
            assert time.monotonic() - began < 30


async def test_a_long_queue_is_read_without_pauses(fake: Fake) -> None:
    async with client(fake, read_interval=1) as made:
        began = time.monotonic()
        reply = await ask(made, "fake: words tokens=3000 delay=0")
    assert reply.text.count("word") == 3_000
    assert time.monotonic() - began < 30, "and there are some sixty reads"


@pytest.mark.parametrize("http", [301, 302, 303, 307, 308])
async def test_a_redirect_is_never_followed(fake: Fake, http: int) -> None:
    reply = await ask(fake, f"fake: redirect http={http}")
    assert (reply.kind, len(fake.calls)) == (ErrorKind.UNAVAILABLE, 1)


async def test_no_cookie_is_ever_sent_back(fake: Fake) -> None:
    async with client(fake) as made:
        for _ in range(2):
            assert (await ask(made, "fake: setcookie")).error is None
        await made.cloudflare.verify()
    assert len(fake.calls) == 3
    assert not any("cookie" in call["headers"] for call in fake.calls)


async def test_proxies_of_the_environment_are_not_asked(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    async with client(fake) as made:
        assert (await ask(made, "fake: words tokens=1")).text == "word1"


@pytest.mark.parametrize(
    ("token", "accepted"), [("fake-token", True), (ACCOUNT_TOKEN, True), ("another", False)]
)
async def test_a_token_is_verified_whoever_owns_it(fake: Fake, token: str, accepted: bool) -> None:
    made = Client(Account("acc", token, fake.base_url), None)
    assert await made.cloudflare.verify() is accepted
    await made.aclose()
    assert all(call["path"].endswith("/tokens/verify") for call in fake.calls)


async def test_a_token_that_cannot_be_verified_is_neither_good_nor_bad() -> None:
    fake = Fake()
    fake.close()
    async with client(fake) as made:
        assert await made.cloudflare.verify() is None


async def test_the_token_is_in_no_text(
    fake: Fake, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(0)
    secret = "a secret of the person"
    texts: list[Any] = []
    scenarios = ("words", "status code=10000", "cut how=abrupt", "endless_line mb=3", "malformed", "hang")
    async with client(fake, timeouts=Timeouts(silence=0.3)) as made:
        for scenario in scenarios:
            reply = await ask(made, f"{secret}\nfake: {scenario}")
            error: BaseException | None = reply.error
            while error is not None:
                texts += [
                    str(error),
                    repr(error),
                    getattr(error, "message", ""),
                    getattr(error, "detail", ""),
                ]
                error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
        texts += [repr(made), repr(account(fake)), str(account(fake)), repr(reply.stream)]
    texts += [record.getMessage() for record in caplog.records] + list(capfd.readouterr())
    assert texts
    assert not [text for text in texts if "fake-token" in text or secret in text]


def test_an_error_is_told_by_its_name_alone() -> None:
    assert str(UpstreamError(ErrorKind.BUSY, code="3040", detail="words")) == "busy 3040"


@pytest.mark.parametrize(
    ("how", "kind"), [("clean", None), ("abrupt", ErrorKind.INTERRUPTED), ("reset", ErrorKind.INTERRUPTED)]
)
async def test_a_cut_reply_keeps_its_words_and_is_not_complete(
    fake: Fake, how: str, kind: ErrorKind | None
) -> None:
    reply = await ask(fake, f"fake: cut after=3 how={how} delay=0.03")
    assert reply.text == "word1 word2 word3"
    assert reply.kind == kind
    assert not reply.stream.complete
    assert len(runs(fake)) == 1


async def test_text_that_came_with_the_cut_is_kept(fake: Fake) -> None:
    """All of it arrives within one pause between two reads, the end as well."""
    async with client(fake, read_interval=0.3) as made:
        reply = await ask(made, "fake: cut after=9 how=abrupt delay=0.005")
    assert reply.text.count("word") == 9
    assert reply.kind is ErrorKind.INTERRUPTED


@pytest.mark.parametrize("how", ["clean", "abrupt", "reset"])
async def test_a_cut_before_the_first_token_is_asked_again(fake: Fake, how: str) -> None:
    reply = await ask(fake, f"fake: cut after=0 how={how}")
    assert reply.kind is ErrorKind.INTERRUPTED
    assert len(runs(fake)) == 3


@pytest.mark.parametrize("shape", ["errors", "error", "success", "event"])
async def test_an_error_inside_the_stream_comes_after_its_words(fake: Fake, shape: str) -> None:
    reply = await ask(fake, f"fake: instream_error after=2 shape={shape} delay=0")
    assert (reply.text, reply.kind) == ("word1 word2", ErrorKind.BUSY)
    assert reply.error is not None
    assert reply.error.code == "3040"
    assert len(runs(fake)) == 1


async def test_an_error_before_the_first_token_is_asked_again(fake: Fake) -> None:
    reply = await ask(fake, "fake: instream_error after=0")
    assert (reply.text, reply.kind, len(runs(fake))) == ("", ErrorKind.BUSY, 3)


async def test_a_permanent_error_inside_the_stream_is_final(fake: Fake) -> None:
    reply = await ask(fake, "fake: instream_error after=0 code=3036")
    assert (reply.kind, len(runs(fake))) == (ErrorKind.QUOTA, 1)


@pytest.mark.parametrize(
    ("after", "kind", "requests"), [(2, ErrorKind.INTERRUPTED, 1), (0, ErrorKind.INTERRUPTED, 3)]
)
async def test_a_broken_frame_is_an_error_wherever_it_stands(
    fake: Fake, after: int, kind: ErrorKind, requests: int
) -> None:
    reply = await ask(fake, f"fake: malformed after={after} delay=0")
    assert (reply.kind, len(runs(fake))) == (kind, requests)
    assert reply.text.split() == ["word1", "word2"][:after]


async def test_an_endless_line_is_refused_in_bounded_memory(fake: Fake) -> None:
    reply = await ask(fake, "fake: endless_line mb=50")
    assert (reply.kind, len(runs(fake))) == (ErrorKind.UNAVAILABLE, 1)
    fake.wait_for(lambda calls: calls[0]["closed_by_client"])


async def test_a_page_in_place_of_a_stream_is_an_error(fake: Fake) -> None:
    reply = await ask(fake, "fake: html http=200")
    assert reply.kind in {ErrorKind.INTERRUPTED, ErrorKind.UNAVAILABLE}
    assert reply.text == ""


async def test_a_timeout_page_is_a_timeout(fake: Fake) -> None:
    reply = await ask(fake, "fake: html")
    assert (reply.kind, len(runs(fake))) == (ErrorKind.TIMEOUT, 3)
    assert reply.error is not None
    assert reply.error.request_id.endswith("-FRA")
