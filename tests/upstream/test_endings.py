"""Replies that end badly: each ending is reported as itself, and the text so far is kept."""

import pytest

from chat.upstream.errors import ErrorKind
from tests.fake_cloudflare.server import Fake
from tests.upstream.asking import ask, client, runs


@pytest.mark.parametrize(
    ("how", "kind"), [("clean", None), ("abrupt", ErrorKind.INTERRUPTED), ("reset", ErrorKind.INTERRUPTED)]
)
async def test_a_cut_reply_keeps_its_words_and_is_not_complete(
    fake: Fake, how: str, kind: ErrorKind | None
) -> None:
    async with client(fake) as made:
        reply = await ask(made, f"fake: cut after=3 how={how} delay=0.03")
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
    async with client(fake) as made:
        reply = await ask(made, f"fake: cut after=0 how={how}")
    assert reply.kind is ErrorKind.INTERRUPTED
    assert len(runs(fake)) == 3


@pytest.mark.parametrize("shape", ["errors", "error", "success", "event"])
async def test_an_error_inside_the_stream_comes_after_its_words(fake: Fake, shape: str) -> None:
    async with client(fake) as made:
        reply = await ask(made, f"fake: instream_error after=2 shape={shape} delay=0")
    assert (reply.text, reply.kind) == ("word1 word2", ErrorKind.BUSY)
    assert reply.error is not None
    assert reply.error.code == "3040"
    assert len(runs(fake)) == 1


async def test_an_error_before_the_first_token_is_asked_again(fake: Fake) -> None:
    async with client(fake) as made:
        reply = await ask(made, "fake: instream_error after=0")
    assert (reply.text, reply.kind, len(runs(fake))) == ("", ErrorKind.BUSY, 3)


async def test_a_permanent_error_inside_the_stream_is_final(fake: Fake) -> None:
    async with client(fake) as made:
        reply = await ask(made, "fake: instream_error after=0 code=3036")
    assert (reply.kind, len(runs(fake))) == (ErrorKind.QUOTA, 1)


@pytest.mark.parametrize(
    ("after", "kind", "requests"), [(2, ErrorKind.INTERRUPTED, 1), (0, ErrorKind.INTERRUPTED, 3)]
)
async def test_a_broken_frame_is_an_error_wherever_it_stands(
    fake: Fake, after: int, kind: ErrorKind, requests: int
) -> None:
    async with client(fake) as made:
        reply = await ask(made, f"fake: malformed after={after} delay=0")
    assert (reply.kind, len(runs(fake))) == (kind, requests)
    assert reply.text.split() == ["word1", "word2"][:after]


async def test_an_endless_line_is_refused_in_bounded_memory(fake: Fake) -> None:
    async with client(fake) as made:
        reply = await ask(made, "fake: endless_line mb=50")
    assert (reply.kind, len(runs(fake))) == (ErrorKind.UNAVAILABLE, 1)
    fake.wait_for(lambda calls: calls[0]["closed_by_client"])


async def test_a_page_in_place_of_a_stream_is_an_error(fake: Fake) -> None:
    async with client(fake) as made:
        reply = await ask(made, "fake: html http=200")
    assert reply.kind in {ErrorKind.INTERRUPTED, ErrorKind.UNAVAILABLE}
    assert reply.text == ""


async def test_a_timeout_page_is_a_timeout(fake: Fake) -> None:
    async with client(fake) as made:
        reply = await ask(made, "fake: html")
    assert (reply.kind, len(runs(fake))) == (ErrorKind.TIMEOUT, 3)
    assert reply.error is not None
    assert reply.error.request_id.endswith("-FRA")
