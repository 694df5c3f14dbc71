"""The model that writes titles, and the text that it gets."""

from dataclasses import replace
from typing import Any

import pytest

from chat.conversations.titles import may_read, title_model
from chat.upstream.catalog import Catalog, LlmModel, Provider, RetiredModel

CLOUDFLARE = LlmModel("@cf/a/small", "Small", window=8_000)
LARGE = LlmModel("@cf/a/large", "Large", window=8_000)
OPENAI = LlmModel("openai/gpt", "GPT", window=8_000, host=Provider.GATEWAY)
GOOGLE = LlmModel("google/gem", "Gem", window=8_000, host=Provider.GATEWAY)
ENDPOINT = LlmModel("qwen", "Qwen", window=8_000, host=Provider.ENDPOINT)
LOCAL = LlmModel("local/here", "Here", window=8_000, local=True)
MODELS = (CLOUDFLARE, OPENAI, GOOGLE, ENDPOINT, LOCAL)
READS = {
    CLOUDFLARE: {CLOUDFLARE, OPENAI, GOOGLE},
    OPENAI: {OPENAI},
    GOOGLE: {GOOGLE},
    ENDPOINT: {ENDPOINT},
    LOCAL: set(MODELS),
}


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.id)
def test_no_text_goes_to_another_server(model: LlmModel) -> None:
    assert {answering for answering in MODELS if may_read(model, answering)} == READS[model]


def test_none_turns_titles_off(settings: Any) -> None:
    settings.TITLE_MODEL = "none"
    assert title_model(Catalog([CLOUDFLARE], CLOUDFLARE.id)) is None


def test_the_sites_choice_may_be_hidden_or_restricted(settings: Any) -> None:
    settings.TITLE_MODEL = CLOUDFLARE.id
    hidden = Catalog([LARGE], LARGE.id, known=[CLOUDFLARE])
    restricted = Catalog([LARGE, CLOUDFLARE], LARGE.id, groups={CLOUDFLARE.id: frozenset({1})})
    assert title_model(hidden) == title_model(restricted) == CLOUDFLARE


def test_a_retired_model_is_replaced_by_its_successor(settings: Any) -> None:
    settings.TITLE_MODEL = CLOUDFLARE.id
    successor = replace(CLOUDFLARE, id="@cf/a/smaller")
    retired = RetiredModel(CLOUDFLARE.id, "Small", successor.id)
    assert (
        title_model(Catalog([LARGE, successor], LARGE.id, retired=[retired], known=[CLOUDFLARE])) == successor
    )


def test_an_unknown_model_writes_no_titles(settings: Any) -> None:
    settings.TITLE_MODEL = CLOUDFLARE.id
    assert title_model(Catalog([LARGE], LARGE.id)) is None
