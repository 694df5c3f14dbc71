"""The list of models and of finetunes, as Cloudflare has it and in every state it may come in."""

from datetime import date
from typing import Any

import pytest

from chat.upstream.catalog import LlmModel, bundled, from_record, to_record
from chat.upstream.errors import ErrorKind, UpstreamError
from chat.upstream.providers import model_search
from tests.fake_cloudflare.models import CHAT_SCHEMA, DECISION_SCHEMA, envelope, finetune, price, record
from tests.fake_cloudflare.server import Fake
from tests.upstream.asking import client

GLM = "@cf/zai-org/glm-4.7-flash"
LLAMA = "@cf/meta/llama-3.3-70b-instruct-fp8-fast"
NEW = "@cf/maker/new-9b-a3b-instruct"
EFFORT = {
    "supported_efforts": ["max", "high", "low", 7, "<b>"],
    "default_effort": "max",
    "normalizes_to": {"null": "max"},
}


async def found(fake: Fake) -> dict[str, LlmModel]:
    async with client(fake) as made:
        return {model.id: model for model in await model_search.models(made.cloudflare)}


async def refused(fake: Fake) -> UpstreamError:
    with pytest.raises(UpstreamError) as caught:
        await found(fake)
    return caught.value


async def test_the_list_of_what_is_known_is_what_is_known(fake: Fake) -> None:
    assert list((await found(fake)).values()) == list(bundled())
    (call,) = fake.lists.calls
    assert "task=Text%20Generation" in call["path"] or "task=Text+Generation" in call["path"]
    assert "include_deprecated=true" in call["path"]
    assert call["headers"]["authorization"] == "Bearer fake-token"


async def test_everything_that_is_declared_is_read(fake: Fake) -> None:
    fake.lists.models = [
        record(
            NEW,
            require_workers_paid="true",
            context_window="131072",
            max_output_length="4096",
            function_calling="true",
            vision="true",
            lora="true",
            beta="true",
            reasoning_effort=EFFORT,
            terms="https://example.org/",
            planned_deprecation_date="2027-05-30",
            price=price(0.15, 0.5, 0.03),
        )
    ]
    assert (await found(fake))[NEW] == LlmModel(
        NEW,
        "New 9B A3B",
        window=131_072,
        max_output=4_096,
        reasoning=True,
        vision=True,
        tools=True,
        lora=True,
        beta=True,
        paid=True,
        price_in=0.15,
        price_out=0.5,
        price_cached=0.03,
        retires=date(2027, 5, 30),
        efforts=("max", "high", "low"),
    )


async def test_bundled_knowledge_wins(fake: Fake) -> None:
    fake.lists.models = [
        record("@cf/google/gemma-4-26b-a4b-it", context_window="256000"),
        record(LLAMA, context_window="24000", price=price(0.29, 2.25)),
        record("@cf/qwen/qwq-32b", context_window="16000", price=price(0.5, 1.0)),
    ]
    models = await found(fake)
    assert models["@cf/google/gemma-4-26b-a4b-it"].window == 131_072
    assert (models[LLAMA].price_in, models[LLAMA].price_out) == (0.293, 2.253)
    assert models[LLAMA].name == "Llama 3.3 70B Fast"
    shrunk = models["@cf/qwen/qwq-32b"]
    assert (shrunk.window, shrunk.price_in, shrunk.inline_reasoning) == (16_000, 0.5, True)


@pytest.mark.parametrize("most", [1, 7, 31, 32, 100])
async def test_all_pages_are_fetched(fake: Fake, most: int) -> None:
    fake.lists.models = [record(f"@cf/maker/model-{number}") for number in range(25)]
    fake.lists.most = most
    assert len(await found(fake)) == 25
    assert len(fake.lists.calls) == -(-25 // most)


@pytest.mark.parametrize(
    "shape", [lambda r: envelope(r), lambda r: {"data": r}, lambda r: r, lambda r: {"result": {"data": r}}]
)
async def test_any_envelope_is_opened(fake: Fake, shape: Any) -> None:
    fake.lists.result = shape([record(GLM)])
    assert set(await found(fake)) == {GLM}


async def test_records_without_use_are_skipped_and_the_others_stay(fake: Fake) -> None:
    odd: list[Any] = [None, 7, "x", [], {}, {"name": None}, {"name": 5}, record("")]
    odd += [
        record("@cf/black/painter", task="Text-to-Image"),
        {"name": GLM, "properties": None, "task": None},
    ]
    odd += [record(NEW, context_window=None, price="free", reasoning_effort=7, vision=1, beta=[])]
    odd += [{"name": LLAMA, "properties": [None, {}, {"property_id": 3}, {"property_id": "vision"}]}]
    fake.lists.models = odd
    models = await found(fake)
    assert set(models) == {GLM, NEW, LLAMA}
    assert models[NEW] == LlmModel(NEW, "New 9B A3B", window=model_search.USUAL_WINDOW_TOKENS)


@pytest.mark.parametrize("window", ["0", "-5", "1e6", "12", "9" * 30, True, 1.5, [], "١٢٣٤٥"])
async def test_a_window_that_cannot_be_is_none(fake: Fake, window: Any) -> None:
    fake.lists.models = [record(NEW, context_window=window)]
    assert (await found(fake))[NEW].window == model_search.USUAL_WINDOW_TOKENS


@pytest.mark.parametrize(
    "name",
    [
        "@cf/../../zones",
        "@cf/maker/..",
        "@cf/maker/model/../../x",
        "@cf/maker/model?x=y",
        "@cf/maker/mo del",
        "@cf/maker/model\r\nHost: evil",
        "@cf/maker/%2e%2e",
        "@cf/maker/model+x",
        "@cf//model",
        "https://evil.example/",
        "maker/model",
        "@cf/maker/" + "x" * 200,
    ],
)
async def test_an_id_that_could_lead_elsewhere_is_never_taken(fake: Fake, name: str) -> None:
    fake.lists.models = [record(GLM), record(name)]
    assert set(await found(fake)) == {GLM}


@pytest.mark.parametrize(
    ("how", "kind", "detail"),
    [
        ("10000", ErrorKind.AUTH, "Authentication error"),
        ("500", ErrorKind.UNAVAILABLE, ""),
        ("html", ErrorKind.UNAVAILABLE, "The response is not JSON."),
        ("endless", ErrorKind.UNAVAILABLE, "The response is too long."),
        ("pages", ErrorKind.UNAVAILABLE, "The list does not end."),
        ("far", ErrorKind.UNAVAILABLE, ""),
    ],
)
async def test_a_list_that_cannot_be_had_whole_is_an_error(
    fake: Fake, how: str, kind: ErrorKind, detail: str
) -> None:
    fake.lists.fails["search"] = how
    error = await refused(fake)
    assert (error.kind, error.detail) == (kind, detail)
    assert len(fake.lists.calls) <= model_search.MAX_SEARCH_PAGES
    assert fake.calls == []  # a redirect is not followed


async def test_a_list_that_never_comes_is_given_up(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_search, "MAX_FETCH_SECONDS", 0.2)
    fake.lists.fails["search"] = "hang"
    assert (await refused(fake)).kind is ErrorKind.UNAVAILABLE


@pytest.mark.parametrize("result", [envelope([]), envelope(None), envelope(5), {"success": False}, 7, "x"])
async def test_no_list_and_an_empty_one_are_errors(fake: Fake, result: Any) -> None:
    fake.lists.result = result
    await refused(fake)


async def finetuned(fake: Fake) -> list[LlmModel]:
    async with client(fake) as made:
        return await model_search.finetunes(made.cloudflare, await model_search.models(made.cloudflare))


async def test_a_finetune_is_asked_of_its_base(fake: Fake) -> None:
    key = "00000000-0000-4000-8000-000000000001"
    fake.lists.finetunes = [finetune("cats", LLAMA, key)]
    (cats,) = await finetuned(fake)
    assert (cats.id, cats.name) == (f"{LLAMA}+{key}", "cats (Llama 3.3 70B Fast)")
    assert (cats.address, cats.lora_parameters, cats.window) == (LLAMA, {"lora": key}, 24_000)


async def test_a_finetune_that_is_of_no_use_is_skipped(fake: Fake) -> None:
    good = finetune("two\nlines\x07", LLAMA)
    fake.lists.finetunes = [
        None,
        {},
        finetune("of nobody", "@cf/gone/model"),
        finetune("way out", LLAMA, "../../x"),
        finetune("", LLAMA),
        {**good, "name": 5},
        good,
    ]
    (one,) = await finetuned(fake)
    assert one.name == "two lines (Llama 3.3 70B Fast)"


def test_a_model_comes_back_from_json_as_it_was() -> None:
    whole = LlmModel(NEW, "New", 9_000, efforts=("low",), retires=date(2027, 1, 2), base=GLM, finetune="x")
    for model in (*bundled(), whole):
        assert from_record(to_record(model) | {"of_a_later_version": 1}) == model


@pytest.mark.parametrize(
    ("levels", "efforts"),
    [
        ("Off, Low, High, Max", ("none", "low", "high", "max")),
        ("high", ("high",)),
        ("", ()),
        ("<b>, low", ("low",)),
        ("true", ()),
    ],
)
async def test_levels_of_thinking_may_be_plain_words(
    fake: Fake, levels: str, efforts: tuple[str, ...]
) -> None:
    fake.lists.models = [record(NEW, reasoning_effort=levels)]
    model = (await found(fake))[NEW]
    assert (model.efforts, model.reasoning) == (efforts, bool(efforts))


MESSAGES: dict[str, Any] = {"properties": {"messages": {}}, "required": ["messages"]}
EMBEDS: dict[str, Any] = {"properties": {"text": {}}, "required": ["text"]}


@pytest.mark.parametrize(
    ("schema", "chats"),
    [
        (CHAT_SCHEMA, True),
        (DECISION_SCHEMA, False),
        (EMBEDS, False),
        (MESSAGES, True),
        ({"properties": {"prompt": {}}}, True),
        ({"oneOf": [EMBEDS, MESSAGES]}, True),
        (
            {"anyOf": [{"type": "object", "oneOf": [EMBEDS, MESSAGES]}, {"properties": {"requests": {}}}]},
            True,
        ),
        ({"anyOf": [{"oneOf": [EMBEDS]}, DECISION_SCHEMA]}, False),
        ({"properties": {"prompt": {}, "image": {}}, "required": ["prompt", "image"]}, False),
        ({}, True),
        (None, True),
        ("string", True),
        ({"oneOf": "x", "properties": []}, True),
    ],
)
def test_a_chat_is_known_by_what_one_variant_takes_and_requires(schema: Any, chats: bool) -> None:
    assert model_search.is_for_chat(schema) is chats
