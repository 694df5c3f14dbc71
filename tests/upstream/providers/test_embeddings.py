"""Embeddings by the account: what is sent, and every response that is none."""

import pytest

from chat.upstream.errors import UpstreamError
from chat.upstream.providers import cloudflare_api
from tests.fake_cloudflare.embeddings import BROKEN, BUSY
from tests.fake_cloudflare.server import TOKEN
from tests.upstream.asking import with_fake

MODEL = "@cf/baai/bge-m3"


async def test_each_text_has_a_vector() -> None:
    async with with_fake() as (made, fake):
        found = await made.cloudflare.embed(MODEL, ["holiday", "vacation", "rain"])
        (call,) = fake.calls
    assert [len(each) for each in found] == [1_024] * 3
    assert found[0] == found[1] != found[2]
    assert (call["path"], call["body"]) == (
        f"/client/v4/accounts/acc/ai/run/{MODEL}",
        {"text": ["holiday", "vacation", "rain"]},
    )


async def test_as_many_texts_as_one_request_sends_are_taken() -> None:
    async with with_fake() as (made, _fake):
        texts = ["word " * 300] * cloudflare_api.MAX_TEXTS
        assert len(await made.cloudflare.embed(MODEL, texts)) == cloudflare_api.MAX_TEXTS


@pytest.mark.parametrize(
    ("model", "text", "token", "kind", "permanent"),
    [
        (MODEL, BROKEN, TOKEN, "unavailable", False),
        (MODEL, BUSY, TOKEN, "busy", False),
        (MODEL, "", TOKEN, "invalid", True),
        (MODEL, "x" * 40_000, TOKEN, "too_long", True),
        ("@cf/baai/bge-m9", "text", TOKEN, "unknown_model", True),
        (MODEL, "text", "wrong", "auth", True),
    ],
)
async def test_a_refusal_says_its_kind(model: str, text: str, token: str, kind: str, permanent: bool) -> None:
    async with with_fake(token) as (made, _fake):
        with pytest.raises(UpstreamError) as refused:
            await made.cloudflare.embed(model, [text])
    assert (refused.value.kind, refused.value.permanent) == (kind, permanent)


@pytest.mark.parametrize(
    "body",
    [
        b"<html>",
        b"[" * 100_000,
        b"[]",
        b'{"result": {}}',
        b'{"result": {"data": [[1.0], [1.0]]}}',
        b'{"result": {"data": ["a"]}}',
        b'{"result": {"data": [[]]}}',
        b'{"result": {"data": [["a"]]}}',
        b'{"result": {"data": [[NaN]]}}',
        b'{"result": {"data": [[true, null]]}}',
        b'{"result": {"data": [[' + b"1," * cloudflare_api.MAX_DIMENSIONS + b"1]]}}",
    ],
    ids=range(11),
)
def test_a_response_without_vectors_is_refused(body: bytes) -> None:
    with pytest.raises(UpstreamError):
        cloudflare_api._vectors(body, 1)
