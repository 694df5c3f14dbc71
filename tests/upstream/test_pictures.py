"""Pictures in a request: which are sent, what they count as, and in which shape each server gets them."""

import asyncio
import base64
import time
from collections.abc import Collection, Hashable, Iterator, Mapping
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import pytest

from chat.upstream import token_budget
from chat.upstream.catalog import Catalog, LlmModel, Provider
from chat.upstream.chat_request import ChatRequest
from chat.upstream.client import Client, Endpoint
from chat.upstream.errors import ErrorKind, UpstreamError
from chat.upstream.pictures import (
    MAX_PICTURE_BYTES,
    MAX_PICTURES,
    UNKNOWN_PICTURE_TOKENS,
    PromptPicture,
    admit,
    message_of,
    with_data,
    with_text,
)
from chat.upstream.routing.rate_limiter import RateLimiter
from chat.upstream.routing.router import Router
from chat.wire import sse
from tests.fake_cloudflare.server import ENDPOINT_KEY, Fake
from tests.upstream.asking import QUICK, account, runs

PNG = b"\x89PNG\r\n\x1a\n and more"
URL = f"data:image/png;base64,{base64.b64encode(PNG).decode()}"
SEEING = LlmModel("@cf/google/gemma-4-26b-a4b-it", "Gemma", window=200_000, vision=True)
BLIND = LlmModel("@cf/zai-org/glm-4.7-flash", "GLM", window=131_072)
CAT = PromptPicture("image/png", len(PNG), 640, 480, label="a cat", key="c")


async def load(person: Hashable, keys: Collection[str]) -> Mapping[str, bytes]:
    return {key: PNG for key in keys if key != "gone"}


def shown(messages: list[dict[str, Any]]) -> list[list[str]]:
    """The keys of the pictures in each message."""
    return [
        [part.key for part in message.get("parts", ()) if isinstance(part, PromptPicture)]
        for message in messages
    ]


def picture(key: object, size: int = 1) -> PromptPicture:
    return replace(CAT, key=str(key), size=size)


def test_message_without_pictures_is_the_plain_one() -> None:
    assert message_of("user", ["a", "", "b"]) == {"role": "user", "content": "a\n\nb"}
    plain = [{"role": "user", "content": "a"}]
    assert admit(plain, SEEING) is plain


def test_text_of_a_message_is_there_for_all_that_only_reads_text() -> None:
    message = message_of("user", ["What is this?", CAT])
    assert message == {"role": "user", "content": "What is this?", "parts": ["What is this?", CAT]}


@pytest.mark.parametrize("parts", [["What is this?"], ["What is this?", CAT]])
def test_a_text_behind_a_message_is_one_of_its_parts(parts: list[Any]) -> None:
    message = {**message_of("user", parts), "name": "alice"}
    assert with_text(message, "Well?") == {**message_of("user", [*parts, "Well?"]), "name": "alice"}


def test_model_that_cannot_see_gets_a_line_for_each_picture() -> None:
    unnamed = replace(CAT, label="")
    (message,) = admit([message_of("user", ["Well?", CAT, unnamed])], BLIND)
    assert message == {"role": "user", "content": "Well?\n\n[picture: a cat]\n\n[picture]"}


def test_latest_pictures_are_sent_and_older_ones_become_lines() -> None:
    turns = [message_of("user", [f"q{n}", picture(f"{n}a"), picture(f"{n}b")]) for n in range(5)]
    found = admit(turns, SEEING)
    assert shown(found) == [[], *([f"{n}a", f"{n}b"] for n in range(1, 5))]
    assert sum(map(len, shown(found))) == MAX_PICTURES
    assert found[0] == {"role": "user", "content": "q0\n\n[picture: a cat]\n\n[picture: a cat]"}


def test_pictures_of_one_request_have_a_limit_of_bytes() -> None:
    third = MAX_PICTURE_BYTES // 3
    turns = [message_of("user", [str(n), picture(n, third)]) for n in range(5)]
    assert shown(admit(turns, SEEING)) == [[], [], ["2"], ["3"], ["4"]]
    # No older picture is sent in the place of a later one that is too large.
    turns = [message_of("user", [picture(1)]), message_of("user", [picture(2, MAX_PICTURE_BYTES + 1)])]
    assert shown(admit(turns, SEEING)) == [[], []]


@pytest.mark.parametrize(
    ("width", "height", "tokens"),
    [(1, 1, 256), (2048, 2048, 5476), (2048, 1, 256), (1120, 1120, 1600), (0, 0, UNKNOWN_PICTURE_TOKENS)],
)
def test_picture_counts_by_its_size(width: int, height: int, tokens: int) -> None:
    sized = replace(CAT, width=width, height=height)
    message = message_of("user", ["Well?", sized])
    alone = token_budget.estimate_tokens([{"content": "Well?"}], SEEING)
    assert token_budget.estimate_tokens([message], SEEING) == alone + tokens


def test_turns_with_pictures_are_dropped_from_a_full_window() -> None:
    small = replace(SEEING, window=9_000)
    turns = [message_of("user", ["?", replace(CAT, width=1120, height=1120)]) for _ in range(8)]
    fit = token_budget.fit(turns, small)
    assert 0 < len(fit.messages) < 8
    assert token_budget.estimate_tokens(fit.messages, small) + fit.max_tokens <= 9_000


async def test_bytes_are_read_when_the_request_is_sent() -> None:
    gone = replace(CAT, key="gone")
    inline = PromptPicture("image/gif", 3, url="data:image/gif;base64,R0lG")
    (message,) = await with_data([message_of("user", ["Well?", CAT, gone, inline])], load, "alice", SEEING)
    assert message == {
        "role": "user",
        "content": [
            {"type": "text", "text": "Well?"},
            {"type": "image_url", "image_url": {"url": URL}},
            {"type": "text", "text": "[picture: a cat]"},
            {"type": "image_url", "image_url": {"url": inline.url}},
        ],
    }


async def ask_with_picture(
    made: Client, model: LlmModel, *fallbacks: LlmModel, parts: list[Any] | None = None
) -> str:
    """Ask with a picture, and return the reply's text."""
    catalog = Catalog([model, *fallbacks], model.id)
    router = Router(
        made, lambda: catalog, RateLimiter(999, 999), [each.id for each in fallbacks], retry_policy=QUICK
    )
    messages = admit([message_of("user", parts or ["Well?", CAT])], model)
    async with router.stream(ChatRequest(messages, model, 500)) as stream:
        return "".join([delta.text async for delta in stream])


@pytest.mark.parametrize(
    "id_",
    [SEEING.id, "@cf/meta/llama-3.2-11b-vision-instruct", "@cf/meta/llama-4-scout-17b-16e-instruct"],
    ids=["openai", "classic", "scout"],
)
async def test_workers_ai_gets_data_urls(fake: Fake, id_: str) -> None:
    async with aclosing(Client(account(fake), None, read_interval=0.01, load_pictures=load)) as made:
        assert "I see 1 picture" in await ask_with_picture(made, replace(SEEING, id=id_, window=20_000))
    (call,) = runs(fake)
    parts = call["body"]["messages"][0]["content"]
    assert [part["type"] for part in parts] == ["text", "image_url"]
    assert parts[1]["image_url"]["url"] == URL


async def test_model_that_cannot_see_is_sent_text(fake: Fake) -> None:
    async with aclosing(Client(account(fake), None, read_interval=0.01, load_pictures=load)) as made:
        assert "[picture: a cat]" in await ask_with_picture(made, BLIND)


async def test_operators_own_server_gets_the_same_parts() -> None:
    with Fake() as other:
        model = LlmModel("small-1", "small-1", window=32_000, host=Provider.ENDPOINT, vision=True)
        endpoint = Endpoint(f"{other.url}/v1", ENDPOINT_KEY)
        async with aclosing(
            Client(None, None, endpoint=endpoint, read_interval=0.01, load_pictures=load)
        ) as made:
            await ask_with_picture(made, model, parts=["fake: openai tokens=2", CAT])
        (call,) = runs(other)
        assert call["body"]["messages"][0]["content"][1] == {"type": "image_url", "image_url": {"url": URL}}


async def test_no_fallback_answers_without_having_seen_the_picture(fake: Fake) -> None:
    blind = LlmModel("@cf/openai/gpt-oss-20b", "Blind", window=128_000)
    seeing = LlmModel("@cf/meta/llama-4-scout-17b-16e-instruct", "Scout", window=131_000, vision=True)
    question = f"fake for {SEEING.id.rpartition('/')[2]}: status code=3040"
    async with aclosing(Client(account(fake), None, read_interval=0.01, load_pictures=load)) as made:
        await ask_with_picture(made, SEEING, blind, seeing, parts=[question, CAT])
    assert {call["path"].rpartition("/")[2] for call in runs(fake)} == {
        SEEING.id.rpartition("/")[2],
        seeing.id.rpartition("/")[2],
    }


async def test_body_that_is_too_large_is_an_error_that_is_not_retried(fake: Fake) -> None:
    async def huge(person: Hashable, keys: Collection[str]) -> Mapping[str, bytes]:
        return dict.fromkeys(keys, PNG + b"." * 9000000)

    async with aclosing(Client(account(fake), None, read_interval=0.01, load_pictures=huge)) as made:
        with pytest.raises(UpstreamError) as refused:
            await ask_with_picture(made, SEEING)
    assert refused.value.kind is ErrorKind.TOO_LONG


class Whole(str):
    """A text that is read as a whole: work on each of its characters is an error."""

    def replace(self, *change: Any) -> "Whole":
        return Whole(super().replace(*change))

    def translate(self, _table: Any) -> str:
        raise AssertionError

    def __iter__(self) -> Iterator[str]:
        raise AssertionError


def test_long_json_does_not_block_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """`str.translate` took 0.4 s for the largest request with pictures and one letter beyond ASCII."""
    encode = sse._to_json
    monkeypatch.setattr(sse, "_to_json", lambda value: Whole(encode(value)))
    assert isinstance(sse.dumps({"text": "ü"}), Whole)
    assert sse.dumps("a\u2028b\u2029c\x85d") == '"a\\u2028b\\u2029c\\u0085d"'


async def test_pictures_are_encoded_off_the_event_loop() -> None:
    seen: list[float] = []

    async def tick() -> None:
        while True:
            seen.append(time.perf_counter())
            await asyncio.sleep(0)

    ticking = asyncio.create_task(tick())
    await with_data([message_of("user", [CAT])], load, "alice", SEEING)
    ticking.cancel()
    assert len(seen) > 1
