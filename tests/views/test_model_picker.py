"""The models to choose from, as people read them."""

import asyncio
import re
from typing import Any

import httpx
import pytest
from django.test import Client
from django.utils.translation import override

from chat.models import User
from chat.upstream import catalog
from chat.upstream.catalog import LlmModel, Provider
from chat.views import model_picker
from chat.views.model_picker import PURPOSES, purpose
from tests.support.databases import Database
from tests.support.db_threads import close_connections
from tests.support.server import Person, Server
from tests.support.waiting import until

GLM, QWQ = "@cf/zai-org/glm-4.7-flash", "@cf/qwen/qwq-32b"


@pytest.mark.parametrize(
    ("window", "text"),
    [
        (131_072, "128k"),
        (128_000, "128k"),
        (131_000, "131k"),
        (24_000, "24k"),
        (3_500, "3.5k"),
        (1_048_576, "1M"),
        (1_310_720, "1.25M"),
    ],
)
def test_a_window_is_said_as_its_maker_says_it(window: int, text: str) -> None:
    assert model_picker.tokens(window) == text
    with override("de"):
        assert model_picker.tokens(window) == text.replace(".", ",")


@pytest.mark.parametrize(
    ("price", "text"), [(0.06, "$0.06"), (0.4, "$0.40"), (0.293, "$0.293"), (4.0, "$4.00"), (None, "")]
)
def test_a_price_has_the_digits_that_say_something(price: float | None, text: str) -> None:
    assert model_picker.dollars(price) == text


@pytest.mark.parametrize(("language", "text"), [("de", "0,06 $"), ("fr", "0,06 $"), ("en", "$0.06")])
def test_a_price_is_written_as_in_the_language(language: str, text: str) -> None:
    with override(language):
        assert model_picker.dollars(0.06) == text.replace(" ", "\xa0")


def test_a_price_of_zero_is_free_and_an_unknown_one_is_not() -> None:
    assert model_picker.facts(LlmModel("local/x", "X", 8192, local=True))["free"]
    assert model_picker.facts(LlmModel("@cf/a/x", "X", 8192, price_in=0, price_out=0))["free"]
    assert not model_picker.facts(LlmModel("@cf/a/x", "X", 8192))["free"]
    assert not model_picker.facts(LlmModel("@cf/a/x", "X", 8192, price_in=0.1, price_out=0.2))["free"]


def test_models_are_grouped_by_maker_in_the_sites_order() -> None:
    groups = {
        group.name: [model.name for model in group.models]
        for group in model_picker.by_maker(catalog.bundled())
    }
    assert list(groups)[:4] == ["Z.ai", "Google", "Meta", "OpenAI"]
    assert groups["OpenAI"] == ["GPT OSS 120B", "GPT OSS 20B"]
    assert "Llama 2 7B Chat HF LoRA" in groups["Meta"], "two names in ids, one maker"
    assert sum(map(len, groups.values())) == len(catalog.bundled())


@pytest.mark.parametrize(
    ("model", "maker"),
    [
        (LlmModel("@cf/new-maker/x-1b", "X", 8192), "New maker"),
        (LlmModel("local/x", "X", 8192, local=True), "On this server"),
        (LlmModel("@cf/meta/x+1", "X", 8192, base="@cf/meta/x", finetune="1"), "Your finetunes"),
        (LlmModel("anthropic/claude", "X", 8192, host=Provider.GATEWAY), "Anthropic"),
        (LlmModel("workers-ai/@cf/qwen/x", "X", 8192, host=Provider.GATEWAY), "Qwen"),
        (LlmModel("dynamic/support", "X", 8192, host=Provider.GATEWAY), "AI Gateway"),
        (LlmModel("gpt-x", "X", 8192, host=Provider.ENDPOINT), "llm.example.org"),
    ],
)
def test_every_model_has_a_maker(settings: Any, model: LlmModel, maker: str) -> None:
    settings.OPENAI_BASE_URL = "https://llm.example.org/v1"
    assert model_picker.maker(model) == maker


def test_each_bundled_model_has_a_purpose_of_its_own() -> None:
    assert {model.id for model in catalog.bundled()} == set(PURPOSES)


@pytest.mark.parametrize(
    ("model", "text"),
    [
        (LlmModel("@cf/a/coder-9b", "X", 8192, reasoning=True), "Writing and explaining code"),
        (LlmModel("@cf/a/x-90b", "X", 8192, reasoning=True), "Questions that need reasoning"),
        (LlmModel("@cf/a/x-90b", "X", 1_000_000, reasoning=True), "Reasoning over very long texts"),
        (LlmModel("@cf/a/x-1.5b-it", "X", 8192), "Short, simple answers"),
        (LlmModel("@cf/a/x-13b", "X", 8192), "Everyday questions"),
        (LlmModel("@cf/a/x-30b-a3b", "X", 256_000), "Everyday questions and long texts"),
        (LlmModel("local/x", "X", 8192, local=True), "Nothing leaves this server"),
    ],
)
def test_another_models_purpose_is_read_from_its_description(model: LlmModel, text: str) -> None:
    assert purpose(model) == text


@pytest.mark.database
def test_recent_models_are_those_of_the_latest_conversations(alice: Person, server: Server) -> None:
    for model in ("@cf/qwen/qwq-32b", "@cf/openai/gpt-oss-20b", "@cf/qwen/qwq-32b"):
        alice.asked("hello", model=model)
    assert 'data-recent="@cf/qwen/qwq-32b @cf/openai/gpt-oss-20b' in alice.get("/models/").text
    assert 'data-recent=""' in server.person("bob").get("/models/").text


@pytest.mark.database
def test_every_model_of_the_site_can_be_chosen(alice: Person) -> None:
    part = alice.get("/models/").text
    select = alice.get("/").text.partition('<select id="model"')[2].partition("</select>")[0]
    offered = select.count("<option ")
    assert part.count('type="radio"') == offered > 8
    assert 'type="search"' in part
    assert "128k context · $0.06 in · $0.40 out" in part
    rows = part.partition('class="model-list"')[2]
    assert rows.count("vision</span>") == rows.count(" data-sees") > 3
    assert rows.count(" data-base") == 4
    assert '<optgroup label="Meta">' in select


@pytest.mark.database
def test_the_doors_stand_first(server: Server, database: Database) -> None:
    part = server.person("alice").get("/models/").text
    doors = re.findall(r'<button class="door" type="button" value="([^"]+)".*?dir="auto">([^<]+)<', part)
    assert [name for _, name in doors] == ["Everyday", "Careful", "Pictures", "Code"]
    database.rows(
        "INSERT INTO chat_sitedoor (position, kind, name, about, model) VALUES"
        f" (0, 'everyday', '', '', ''), (1, '', 'Letters', 'For <letters>.', '{doors[1][0]}')"
    )
    database.rows("UPDATE chat_catalogstate SET version = version + 1")
    until(lambda: "Letters" in server.person("alice").get("/models/").text)
    part = server.person("alice").get("/models/").text
    assert part.count('class="door"') == 3  # with all models
    assert "For &lt;letters&gt;." in part
    assert 'label="Letters"' in server.person("alice").get("/").text
    database.rows("DELETE FROM chat_sitedoor")
    database.rows("UPDATE chat_catalogstate SET version = version + 1")
    until(lambda: "Letters" not in server.person("alice").get("/models/").text)


def test_an_assistant_is_offered_the_doors_first(server: Server) -> None:
    form = server.person("alice").get("/settings/assistants/new/").text
    select = form.partition('<select id="assistant-model"')[2].partition("</select>")[0]
    suggested = select.partition('<optgroup label="Suggested">')[2].partition("</optgroup>")[0]
    assert re.findall(r">([^<(]+) \(", suggested) == ["Everyday", "Careful", "Pictures", "Code"]
    values = re.findall(r'value="([^"]+)"', select)
    assert len(values) == len(set(values)) > 8


@pytest.mark.database
def test_favourites_are_kept_for_the_person(server: Server) -> None:
    alice, bob = server.person("alice"), server.person("bob")

    def star(person: Person, model: object, favourite: object) -> httpx.Response:
        return person.post("/models/favourites/", {"model": model, "favourite": favourite})

    assert star(alice, GLM, True).json() == {"favourites": [GLM]}
    assert star(alice, QWQ, True).json() == {"favourites": [GLM, QWQ]}
    assert star(alice, GLM, True).json() == {"favourites": [QWQ, GLM]}
    assert f'data-favourites="{QWQ} {GLM}"' in alice.get("/models/").text
    assert 'data-favourites=""' in bob.get("/models/").text
    for model, favourite in (("@cf/no/such", True), (GLM, "yes"), (GLM, None), (None, True), ("", False)):
        assert star(alice, model, favourite).status_code == 400
    alice.post("/settings/", {"theme": "dark"})
    assert star(alice, QWQ, False).json() == {"favourites": [GLM]}
    assert star(alice, "@cf/no/such", False).json() == {"favourites": [GLM]}
    assert alice.get("/").text.count('data-theme="dark"') == 1, "the other preferences stay"
    assert "Site default (Everyday)" in alice.get("/settings/").text, "as the page of the chat calls it"
    star(alice, GLM, False)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("path", ["/models/", "/models/parameters/"])
def test_a_part_of_the_page_opened_as_a_page_leads_to_the_chat(client: Client, path: str) -> None:
    client.force_login(User.objects.create_user("alice"))
    assert client.get(path).status_code == 200
    assert client.get(path, headers={"Sec-Fetch-Mode": "cors"}).status_code == 200
    opened = client.get(path, headers={"Sec-Fetch-Mode": "navigate", "Accept": "text/html"})
    assert (opened.status_code, opened.headers["Location"]) == (303, "/")
    asyncio.run(close_connections())
