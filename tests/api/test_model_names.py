"""The models that calls name: retired ones, of a provider, and finetunes by `lora` beside their base."""

from dataclasses import replace

import pytest
from django.test import AsyncClient

from chat.api.errors import ModelNotFound
from chat.api.models import resolve_model, with_adapter
from chat.catalog.catalog import current, initial_catalog
from chat.db.executor import run_in_db
from chat.engine.engine import Engine
from chat.exceptions import BadRequest
from chat.upstream import catalog
from chat.upstream.catalog import Catalog, LlmModel
from tests.api.in_process import bearer, engine
from tests.fake_cloudflare.models import finetune
from tests.fake_cloudflare.server import Fake

__all__ = ["engine"]

KEY = "5f3c1d2e-0000-4000-8000-000000000001"
BASE = next(model for model in catalog.bundled() if model.id == "@cf/google/gemma-2b-it-lora")
OTHER = next(model for model in catalog.bundled() if model.id == "@cf/zai-org/glm-4.7-flash")
TELLER = replace(
    BASE,
    id=f"{BASE.id}+{KEY}",
    name="A name of our own",
    base=BASE.id,
    finetune=KEY,
    adapter_name="story-teller",
)
OFFERED = Catalog([OTHER, BASE, TELLER], OTHER.id)
LOCAL = LlmModel("local/small", "Small", 2_048, local=True)


@pytest.mark.parametrize("name", ["@cf/meta/llama-2-7b-chat-int8", "@cf/meta/llama-3.1-8b-instruct"])
def test_the_local_model_answers_for_those_that_are_gone(name: str) -> None:
    assert resolve_model(initial_catalog([LOCAL]), name) is LOCAL


@pytest.mark.parametrize("name", ["@cf/baai/bge-m3", "gpt-4o", "@cf/meta/llama-2-7b-chat-int9"])
def test_models_for_other_tasks_are_none(name: str) -> None:
    with pytest.raises(ModelNotFound):
        resolve_model(initial_catalog([LOCAL]), name)


@pytest.mark.parametrize("prefix", ["workers-ai/", "cloudflare/"])
def test_the_provider_before_a_name_is_understood(prefix: str) -> None:
    hosted = LlmModel("@cf/a/b", "B", 8_000)
    offered = initial_catalog([LOCAL, hosted])
    assert resolve_model(offered, f"{prefix}@cf/a/b") is hosted
    for other in (f"{prefix}local/small", f"{prefix}{prefix}@cf/a/b", "openai/@cf/a/b"):
        with pytest.raises(ModelNotFound):
            resolve_model(offered, other)


@pytest.mark.parametrize("name", ["story-teller", KEY])
@pytest.mark.parametrize("model", [BASE, TELLER])
def test_an_adapter_has_a_name_and_an_id(model: LlmModel, name: str) -> None:
    assert with_adapter(OFFERED, model, name) is TELLER
    assert TELLER.lora_parameters == {"lora": KEY}


@pytest.mark.parametrize(
    ("model", "name"), [(OTHER, "story-teller"), (BASE, "Story-Teller"), (OTHER, "cf-public-x")]
)
def test_an_adapter_of_another_model_is_none(model: LlmModel, name: str) -> None:
    with pytest.raises(BadRequest, match="has no adapter"):
        with_adapter(OFFERED, model, name)


@pytest.mark.django_db(transaction=True)
async def test_they_are_listed_and_applied(engine: Engine, fake: Fake) -> None:
    fake.lists.finetunes.append(finetune("story-teller", BASE.id, KEY))
    current.replace(OFFERED)
    client, headers = AsyncClient(), await run_in_db(bearer)
    listed = await client.get("/client/v4/accounts/any/ai/finetunes", headers=headers)
    assert listed.json()["result"] == [{"id": KEY, "model": BASE.id, "name": "story-teller"}]
    body = {"prompt": "hello", "lora": "story-teller"}
    path = f"/client/v4/accounts/any/ai/run/{BASE.id}"
    response = await client.post(path, body, "application/json", headers=headers)
    assert response.status_code == 200
    assert fake.calls[-1]["path"].endswith(f"/ai/run/{BASE.id}")
    assert fake.calls[-1]["body"]["lora"] == KEY
    assert "X-Requested-Model" not in response
