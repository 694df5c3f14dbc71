"""Cloudflare's list in the database: what is new, gone, back or otherwise; what was decided here stays."""

import asyncio
import io
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from chat.catalog import catalog, watcher
from chat.catalog.watcher import CatalogDiff, FetchedModels
from chat.models import CatalogState, SiteModel
from chat.upstream.catalog import Catalog, bundled
from chat.upstream.errors import from_payload
from tests.fake_cloudflare.errors import error
from tests.fake_cloudflare.models import DECISION_SCHEMA, finetune, record
from tests.fake_cloudflare.server import TOKEN, Fake
from tests.upstream.asking import client

pytestmark = [pytest.mark.database, pytest.mark.django_db]
GLM, GEMMA, LLAMA = (
    "@cf/zai-org/glm-4.7-flash",
    "@cf/google/gemma-4-26b-a4b-it",
    "@cf/meta/llama-3.3-70b-instruct-fp8-fast",
)
NEW = "@cf/maker/new-9b"
rows = SiteModel.objects


@pytest.fixture(autouse=True)
def account(settings: Any, fake: Fake) -> None:
    settings.CLOUDFLARE_ACCOUNT_ID, settings.CLOUDFLARE_API_TOKEN = "acc", TOKEN
    settings.CLOUDFLARE_API_BASE_URL = fake.base_url
    settings.DEFAULT_MODEL = ""
    catalog.register_models([])


def fetched(fake: Fake) -> FetchedModels:
    async def fetch() -> FetchedModels:
        async with client(fake) as made:
            return await watcher.fetch(made.cloudflare)

    return asyncio.run(fetch())


def refreshed(fake: Fake) -> CatalogDiff:
    return watcher.store_models(fetched(fake))


def now() -> Catalog:
    return catalog.load_catalog([])


def without(fake: Fake, name: str) -> None:
    fake.lists.models = [each for each in fake.lists.models if each["name"] != name]


def test_first_sync_of_known_models_changes_no_offer(fake: Fake) -> None:
    before = list(now())
    assert not refreshed(fake)
    assert list(now()) == before == list(bundled())
    assert CatalogState.objects.get().fetched
    assert not CatalogState.objects.status().is_due


def test_new_models_come_last_and_non_chat_models_are_hidden(fake: Fake) -> None:
    guard = "@cf/meta/llama-guard-3-8b"
    fake.lists.models += [record(NEW, context_window="9000"), record(guard)]
    assert set(refreshed(fake).added) == {NEW, guard}
    assert list(now())[-1].id == NEW
    assert rows.get(pk=guard).enabled is False


def test_models_without_a_chat_schema_are_left_out(fake: Fake) -> None:
    clefs = ["@cf/cloudflare/clef", "@cf/cloudflare/clef-flash", "@cf/cloudflare/clef-omni"]
    other, odd = "@cf/maker/decides", "@cf/maker/no-schema"
    fake.lists.schemas |= {other: {"anyOf": [DECISION_SCHEMA]}, odd: 7003}
    fake.lists.models += [record(each) for each in (*clefs, other, odd, NEW)]
    assert refreshed(fake).added == [odd, NEW]
    assert set(fake.lists.schema_calls) == {*clefs, other, odd, NEW}, "of those that are not known here"


def test_one_that_was_offered_before_its_schema_was_read_is_gone(fake: Fake) -> None:
    name = "@cf/cloudflare/clef"
    fake.lists.models += [record(name)]
    schema = fake.lists.schemas.pop(name)
    assert refreshed(fake).added == [name]
    fake.lists.schemas[name] = schema
    assert refreshed(fake).delisted == [name]
    assert name not in {model.id for model in now()}


def test_missing_models_are_retired_and_come_back(fake: Fake) -> None:
    everything = fake.lists.models
    without(fake, GEMMA)
    assert refreshed(fake).delisted == [GEMMA]
    assert now().retired(GEMMA)
    assert refreshed(fake).delisted == []
    fake.lists.models = everything
    assert refreshed(fake).relisted == [GEMMA]
    assert now().get(GEMMA)


def test_changed_declarations_are_reported_and_hold(fake: Fake) -> None:
    refreshed(fake)
    without(fake, LLAMA)
    fake.lists.models += [record(LLAMA, context_window="20000", lora="true", function_calling="true")]
    changes = refreshed(fake)
    assert changes.changed == {LLAMA: ["window 24000, now 20000"]}
    assert now().get(LLAMA).window == 20_000


def test_the_administrators_decisions_stay(fake: Fake) -> None:
    decided = {"enabled": False, "position": 7, "display_name": "Ours"}
    rows.filter(pk=GEMMA).update(**decided)
    rows.put_default(LLAMA)
    without(fake, GEMMA)
    refreshed(fake)
    assert rows.filter(pk=GEMMA, **decided).exists()
    assert now().default.id == LLAMA


def test_learned_limits_hold_until_the_declaration_changes(fake: Fake) -> None:
    refreshed(fake)
    catalog.record_rejection(GEMMA, from_payload(error(3030)[1]), confirmed=True)
    refreshed(fake)
    assert now().get(GEMMA).window == 60_000
    without(fake, GEMMA)
    fake.lists.models += [record(GEMMA, context_window="70000")]
    refreshed(fake)
    assert now().get(GEMMA).window == 70_000


def test_finetunes_stand_behind_their_base(fake: Fake) -> None:
    fake.lists.finetunes = [finetune("cats", LLAMA)]
    (key,) = refreshed(fake).added
    ids = [model.id for model in now()]
    assert ids.index(key) == ids.index(LLAMA) + 1
    assert now().get(key).name == "cats (Llama 3.3 70B Fast)"


def test_unlisted_finetunes_stay_while_models_are_renewed(fake: Fake) -> None:
    fake.lists.finetunes = [finetune("cats", LLAMA)]
    (key,) = refreshed(fake).added
    fake.lists.fails["finetunes"] = "10000"
    fake.lists.models += [record(NEW)]
    assert refreshed(fake).added == [NEW]
    assert now().get(key)
    fake.lists.fails.clear()
    fake.lists.finetunes = []
    assert refreshed(fake).delisted == [key]
    assert now().resolve(key).id == LLAMA


def command() -> str:
    output = io.StringIO()
    call_command("models", stdout=output)
    return output.getvalue()


def test_the_command_says_what_changed(fake: Fake) -> None:
    without(fake, GEMMA)
    without(fake, LLAMA)
    fake.lists.models += [record(NEW), record(LLAMA, context_window="20000", lora="true")]
    fake.lists.finetunes = [finetune("cats", LLAMA)]
    assert command().splitlines()[1:] == [
        "new: cats (Llama 3.3 70B Fast)",
        "gone: Gemma 4 26B A4B",
        "changed: Llama 3.3 70B Fast: window 24000, now 20000",
        f"Cloudflare lists {len(bundled())} text models and 1 finetunes.",
    ]
    assert (
        command() == f"Cloudflare lists {len(bundled())} text models and 1 finetunes. Nothing has changed.\n"
    )


@pytest.mark.parametrize("how", ["10000", "500", "html"])
def test_the_command_fails_in_a_sentence_and_changes_nothing(fake: Fake, how: str) -> None:
    before = list(rows.values())
    fake.lists.fails["search"] = how
    with pytest.raises(CommandError, match=r"The models stay as they are\."):
        command()
    assert list(rows.values()) == before


def test_the_command_needs_an_account(settings: Any) -> None:
    settings.CLOUDFLARE_ACCOUNT_ID = ""
    with pytest.raises(CommandError, match="CLOUDFLARE_ACCOUNT_ID"):
        command()
