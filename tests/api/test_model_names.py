"""A retired model has a successor, on a site with the local model alone too."""

import pytest

from chat.api.errors import ModelNotFound
from chat.api.models import resolve_model
from chat.catalog import catalog
from chat.upstream.catalog import LlmModel

LOCAL = LlmModel("local/small", "Small", 2_048, local=True)


@pytest.mark.parametrize("name", ["@cf/meta/llama-2-7b-chat-int8", "@cf/meta/llama-3.1-8b-instruct"])
def test_the_local_model_answers_for_those_that_are_gone(name: str) -> None:
    assert resolve_model(catalog.initial_catalog([LOCAL]), name) is LOCAL


@pytest.mark.parametrize("name", ["@cf/baai/bge-m3", "gpt-4o", "@cf/meta/llama-2-7b-chat-int9"])
def test_models_for_other_tasks_are_none(name: str) -> None:
    with pytest.raises(ModelNotFound):
        resolve_model(catalog.initial_catalog([LOCAL]), name)


@pytest.mark.parametrize("prefix", ["workers-ai/", "cloudflare/"])
def test_the_provider_before_a_name_is_understood(prefix: str) -> None:
    hosted = LlmModel("@cf/a/b", "B", 8_000)
    offered = catalog.initial_catalog([LOCAL, hosted])
    assert resolve_model(offered, f"{prefix}@cf/a/b") is hosted
    for other in (f"{prefix}local/small", f"{prefix}{prefix}@cf/a/b", "openai/@cf/a/b"):
        with pytest.raises(ModelNotFound):
            resolve_model(offered, other)
