"""Pictures in API calls: data URLs for models that see, in both dialects, and each refusal."""

import base64
from typing import Any

import httpx
import pytest

from tests.api.client import CHAT, RUN, Program, code, text
from tests.fake_cloudflare.server import Fake
from tests.files import pictures
from tests.support.server import Server

SEEING = "@cf/google/gemma-4-26b-a4b-it"
BLIND = "@cf/zai-org/glm-4.7-flash"
JPEG = "data:image/jpeg;base64," + base64.b64encode(pictures.jpeg()).decode()


def shown(url: str) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": url}}


def body(*parts: Any, role: str = "user", model: str = SEEING, **more: Any) -> dict[str, Any]:
    return {"model": model, "messages": [{"role": role, "content": list(parts)}], **more}


def padded(size: int) -> str:
    """A data URL of so many bytes that begins as a JPEG does."""
    return "data:image/jpeg;base64," + base64.b64encode(pictures.jpeg().ljust(size, b"\0")).decode()


def test_both_dialects_pass_pictures_on_in_their_order(alices: Program, fake: Fake) -> None:
    content = [text("This "), shown(JPEG), text("or this?"), shown(JPEG)]
    response = alices.client.post(CHAT, json=body(*content))
    assert (
        response.json()["choices"][0]["message"]["content"] == "You said: This or this? I see 2 picture(s)."
    )
    assert fake.calls[-1]["body"]["messages"][0]["content"] == content
    native = {"messages": [{"role": "user", "content": [shown(JPEG)]}]}
    response = alices.client.post(f"{RUN}/{SEEING}", json=native)
    assert "I see 1 picture" in response.json()["result"]["response"]
    assert fake.calls[-1]["body"]["messages"][0]["content"] == [shown(JPEG)]


ENCODED = JPEG.partition(",")[2]


@pytest.mark.parametrize(
    "image", [ENCODED, JPEG, list(pictures.jpeg())], ids=["base64", "data URL", "list of bytes"]
)
@pytest.mark.parametrize("field", ["prompt", "messages"])
def test_classic_field_is_a_part_of_the_question(
    alices: Program, fake: Fake, image: str | list[int], field: str
) -> None:
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Well?"}]
    fields = {"prompt": "Well?"} if field == "prompt" else {"messages": messages}
    response = alices.client.post(f"{RUN}/{SEEING}", json={**fields, "image": image})
    assert response.json()["result"]["response"] == "You said: Well? I see 1 picture(s)."
    assert fake.calls[-1]["body"]["messages"][-1]["content"] == [text("Well?"), shown(JPEG)]


@pytest.mark.parametrize("image", ["!!!!", "AAAA", [], [256], ["a"], [1, 2], 7, {"url": JPEG}])
def test_classic_field_without_a_picture_is_refused(alices: Program, image: Any) -> None:
    response = alices.client.post(f"{RUN}/{SEEING}", json={"prompt": "Well?", "image": image})
    assert response.status_code == 400
    assert "“image”" in response.json()["errors"][0]["message"]


def test_classic_field_has_the_limits_of_pictures(alices: Program) -> None:
    large, larger = (padded(size).partition(",")[2] for size in (3_000_000, 7_100_000))
    for image, status in ((large, 200), (larger, 413), (ENCODED, 400)):
        model = BLIND if status == 400 else SEEING
        response = alices.client.post(f"{RUN}/{model}", json={"prompt": "Well?", "image": image})
        assert response.status_code == status
    alone = {"messages": [{"role": "system", "content": "Be brief."}], "image": ENCODED}
    assert alices.client.post(f"{RUN}/{SEEING}", json=alone).status_code == 400
    assert alices.client.post(CHAT, json=body(text("Well?"), image=ENCODED)).status_code == 400


def test_shape_of_the_responses_api_is_understood(alices: Program, fake: Fake) -> None:
    response = alices.client.post(CHAT, json=body({"type": "input_image", "image_url": JPEG}))
    assert response.status_code == 200
    assert fake.calls[-1]["body"]["messages"][0]["content"] == [shown(JPEG)]


@pytest.mark.parametrize(
    "part",
    [
        shown("https://example.org/cat.jpg"),
        shown("data:image/svg+xml;base64,PHN2Zz4="),
        shown("data:image/jpeg;base64,!!!!"),
        shown("data:image/png;base64," + base64.b64encode(b"%PDF-1.7").decode()),
        {"type": "image_url"},
        {"type": "image_url", "image_url": {"url": 7}},
        {"type": "audio", "audio": "x"},
    ],
    ids=["address", "svg", "no base64", "another type", "no url", "number", "audio"],
)
def test_a_file_that_is_no_picture_is_refused(alices: Program, fake: Fake, part: dict[str, Any]) -> None:
    before = len(fake.calls)
    assert alices.client.post(CHAT, json=body(text("Well?"), part)).status_code == 400
    assert len(fake.calls) == before


def test_model_that_cannot_see_is_refused(alices: Program, fake: Fake) -> None:
    before = len(fake.calls)
    response = alices.client.post(CHAT, json=body(text("Well?"), shown(JPEG), model=BLIND))
    assert code(response) == (400, "model_cannot_see")
    assert len(fake.calls) == before


@pytest.mark.parametrize("role", ["assistant", "system", "tool"])
def test_only_users_show_pictures(alices: Program, role: str) -> None:
    call_body = body(text("Well?"), shown(JPEG), role=role)
    call_body["messages"].append({"role": "user", "content": "?"})
    assert alices.client.post(CHAT, json=call_body).status_code == 400


def test_size_has_a_limit(alices: Program) -> None:
    assert alices.client.post(CHAT, json=body(*[shown(JPEG)] * 9)).status_code == 200
    response = alices.client.post(CHAT, json=body(shown(padded(7_100_000))))
    assert code(response) == (413, "too_long")
    response = alices.client.post(CHAT, json=body(*[shown(padded(4_000_000))] * 2))
    assert response.status_code == 413


def test_large_pictures_arrive_whole(alices: Program, fake: Fake) -> None:
    response = alices.client.post(CHAT, json=body(text("Well?"), shown(padded(6_900_000))))
    assert "I see 1 picture" in response.json()["choices"][0]["message"]["content"]
    assert len(fake.calls[-1]["body"]["messages"][0]["content"][1]["image_url"]["url"]) > 9_000_000


def test_stranger_cannot_send_a_large_body(server: Server) -> None:
    stranger = Program(server.url, "no such key")
    response = stranger.client.post(CHAT, json=body(shown(padded(2_000_000))))
    stranger.client.close()
    assert code(response) == (401, "invalid_api_key")
    without = httpx.post(server.url + CHAT, json=body(shown(padded(2_000_000))))
    assert without.status_code == 413


def test_recorded_call_has_a_line_for_the_picture(alices: Program, server: Server) -> None:
    server.database.rows("UPDATE chat_apikey SET keeps_conversations = true")
    alices.client.post(CHAT, json=body(text("Remember this?"), shown(JPEG)))
    found = server.database.value(
        "SELECT text FROM chat_message WHERE text LIKE 'Remember this%' ORDER BY created DESC LIMIT 1"
    )
    assert found == "Remember this?\n\n[picture]"
