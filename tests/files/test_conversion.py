"""Documents that Cloudflare reads: what is sent, what comes back, and what is said when it does not."""

import io

import httpx
import pytest

from chat.exceptions import RequestError
from chat.files import document_types
from chat.files.extraction import Extracted, NeedsConversion, convert
from chat.upstream.client import Client
from chat.upstream.providers import cloudflare_api
from tests.fake_cloudflare import conversion as fake_conversion
from tests.fake_cloudflare.server import TOKEN
from tests.files import documents
from tests.upstream.asking import with_fake

ODT = "application/vnd.oasis.opendocument.text"


def odt(text: str) -> bytes:
    return documents.package({"mimetype": ODT, "content.xml": f"<text>{text}</text>"})


async def convert_bytes(made: Client, content: bytes) -> Extracted:
    return await convert(made, 1, io.BytesIO(content), NeedsConversion(ODT))


async def refused(made: Client, content: bytes) -> str:
    with pytest.raises(RequestError) as error:
        await convert_bytes(made, content)
    return f"{error.value.status} {error.value.code} {error.value.retry_after}"


async def test_a_document_becomes_markdown() -> None:
    async with with_fake() as (made, fake):
        found = await convert_bytes(made, odt("Grüße"))
        (call,) = fake.calls
    assert found == Extracted(ODT, ("# document.odt\n\nGrüße",))
    assert call["path"] == "/client/v4/accounts/acc/ai/tomarkdown"
    assert call["headers"]["content-type"].startswith("multipart/form-data; boundary=")


async def test_cloudflare_reads_all_types_that_are_left_to_it() -> None:
    async with with_fake() as (_made, fake), httpx.AsyncClient() as http:
        url, headers = (
            f"{fake.base_url}/accounts/acc/ai/tomarkdown/supported",
            {"Authorization": f"Bearer {TOKEN}"},
        )
        response = await http.get(url, headers=headers)
    supported = {(each["extension"], each["mimeType"]) for each in response.json()["result"]}
    ours = [each for each in document_types.KNOWN_DOCUMENT_TYPES if each.is_converted]
    assert ours
    assert {(f".{each.extensions[0]}", each.media_type) for each in ours} <= supported


async def test_failures_are_told_apart() -> None:
    async with with_fake() as (made, _fake):
        for content, refusal in (
            (b"no archive", "422 broken_document None"),
            (b"fake: error 3006", "422 document_too_long None"),
            (b"fake: error 3040", "503 conversion_unavailable 30"),
            (b"fake: error 3036", "503 conversion_unavailable None"),
            (b"fake: not JSON", "503 conversion_unavailable 30"),
        ):
            assert await refused(made, content) == refusal


async def test_a_wrong_token_and_a_dead_server() -> None:
    async with with_fake("wrong") as (made, fake):
        assert await refused(made, odt("x")) == "503 conversion_unavailable None"
        await fake.stop()
        assert await refused(made, odt("x")) == "503 conversion_unavailable 30"


async def test_a_file_that_is_too_large_is_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    async with with_fake() as (made, fake):
        monkeypatch.setattr(cloudflare_api, "MAX_CONVERTED_BYTES", 10)
        assert await refused(made, odt("x")) == "422 document_too_long None"
        assert not fake.calls
        monkeypatch.undo()
        monkeypatch.setattr(cloudflare_api, "MAX_MARKDOWN_RESPONSE_BYTES", 10)
        assert await refused(made, odt("x")) == "422 document_too_long None"


async def test_a_site_without_an_account_says_so() -> None:
    made = Client(None, None)
    assert await refused(made, odt("x")) == "415 not_a_document None"
    await made.aclose()


async def test_the_fake_refuses_what_cloudflare_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fake_conversion, "LARGEST_FORM", 1_000)
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with with_fake() as (_made, fake), httpx.AsyncClient(headers=headers) as http:
        url = f"{fake.base_url}/accounts/acc/ai/tomarkdown"
        assert (await http.post(url, files={"files": ("a.odt", bytes(2_000))})).status_code == 413
        assert (await http.post(url, files={"file": ("a.odt", b"x")})).status_code == 400
        assert (
            await http.post(url, content=b"x", headers={"Content-Type": "multipart/form-data"})
        ).status_code == 400
        assert (await http.get(url)).status_code == 404
        (result,) = (await http.post(url, files={"files": ("a.rtf", b"x", "application/rtf")})).json()[
            "result"
        ]
        assert result["format"] == "error"
