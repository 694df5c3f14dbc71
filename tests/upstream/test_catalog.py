"""The models that can be chosen: only their ids ever reach an address."""

import re
from collections.abc import Callable

import pytest

from chat.upstream.catalog import (
    CLOUDFLARE_MODEL_ID,
    DEFAULT_MODEL,
    Catalog,
    LlmModel,
    RetiredModel,
    UnknownModel,
    bundled,
    retired,
)

FIRST = LlmModel("@cf/a/first", "First", window=8_000)
SECOND = LlmModel("@cf/b/second", "Second", window=8_000)


def test_the_models_come_in_the_order_they_are_offered() -> None:
    assert list(Catalog([SECOND, FIRST], FIRST.id)) == [SECOND, FIRST]


def test_the_default_is_one_of_them() -> None:
    assert Catalog([FIRST, SECOND], SECOND.id).default is SECOND
    with pytest.raises(UnknownModel):
        Catalog([FIRST], SECOND.id)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "@cf/a/First",
        "@cf/a/first/",
        "@cf/a/first?x=y",
        "@cf/a/first\r\nHost: evil",
        "../../../zones",
        "%2e%2e/zones",
        "http://169.254.169.254/",
        "x" * 10_000,
    ],
)
def test_any_other_name_is_unknown(name: str) -> None:
    with pytest.raises(UnknownModel):
        Catalog([FIRST], FIRST.id).get(name)


def test_the_bundled_list_is_sound() -> None:
    models = bundled()
    assert len({model.id for model in models}) == len(models) >= 10
    assert models[0].id == DEFAULT_MODEL
    for model in models:
        assert re.fullmatch(r"@(cf|hf)/[a-z0-9._-]+/[a-z0-9._-]+", model.id), model.id
        assert model.name
        assert model.window >= 1_024
        assert model.max_output is None or 0 < model.max_output <= model.window
        assert not model.local


GONE = RetiredModel("@cf/a/gone", "Gone", FIRST.id)


def some(*numbers: int) -> Callable[[], set[int]]:
    return lambda: set(numbers)


def never() -> set[int]:
    raise AssertionError("nobody had to be asked for their groups")


def test_a_model_for_some_is_unknown_to_the_others() -> None:
    catalog = Catalog([FIRST, SECOND], FIRST.id, groups={SECOND.id: frozenset({3, 4})})
    assert list(catalog.for_groups(some(4, 9))) == [FIRST, SECOND]
    others = catalog.for_groups(some(9))
    assert list(others) == [FIRST]
    with pytest.raises(UnknownModel):
        others.resolve(SECOND.id)
    assert others.name_of(SECOND.id) == "Second"  # what it wrote before keeps its name
    assert others.get_known(SECOND.id) is SECOND


def test_groups_are_asked_for_only_where_they_matter() -> None:
    catalog = Catalog([FIRST, SECOND], FIRST.id)
    assert catalog.for_groups(never) is catalog


def test_a_retired_model_is_answered_for() -> None:
    older = RetiredModel("@cf/a/older", "Older", GONE.id)
    nobody = RetiredModel("@cf/a/nobody", "Nobody", "@cf/a/unheard-of")
    circle = [RetiredModel("@cf/a/x", "X", "@cf/a/y"), RetiredModel("@cf/a/y", "Y", "@cf/a/x")]
    catalog = Catalog([SECOND, FIRST], SECOND.id, retired=[GONE, older, nobody, *circle])
    assert catalog.resolve(GONE.id) is FIRST
    assert catalog.resolve(older.id) is FIRST
    assert catalog.resolve(nobody.id) is catalog.resolve("@cf/a/x") is SECOND
    assert catalog.resolve(SECOND.id) is SECOND
    assert catalog.name_of(GONE.id) == "Gone"
    with pytest.raises(UnknownModel):
        catalog.get(GONE.id)
    with pytest.raises(UnknownModel):
        catalog.resolve("@cf/a/unheard-of")


def test_one_that_may_not_be_used_takes_nobodys_place() -> None:
    gone = RetiredModel("@cf/a/gone", "Gone", SECOND.id)
    catalog = Catalog([FIRST, SECOND], FIRST.id, groups={SECOND.id: frozenset({3})}, retired=[gone])
    assert catalog.for_groups(some(3)).resolve(gone.id) is SECOND
    assert catalog.for_groups(some()).resolve(gone.id) is FIRST


def test_every_retired_model_names_one_that_is_there() -> None:
    catalog = Catalog(bundled(), DEFAULT_MODEL, retired=retired())
    assert len({each.id for each in retired()}) == len(retired()) >= 35
    for each in retired():
        assert CLOUDFLARE_MODEL_ID.fullmatch(each.id)
        assert catalog.retired(each.id) == each
        assert each.replacement in {model.id for model in bundled()}


@pytest.mark.parametrize(
    "name",
    [
        "@cf/meta/llama-2-7b-chat-int8",
        "@cf/meta/llama-2-7b-chat-fp16",
        "@cf/meta/llama-3.1-8b-instruct",
        "@cf/facebook/bart-large-cnn",
        "@cf/unum/uform-gen2-qwen-500m",
        "@cf/defog/sqlcoder-7b-2",
        "@hf/thebloke/zephyr-7b-beta-awq",
    ],
)
def test_the_models_of_old_programs_have_a_successor_everywhere(name: str) -> None:
    everything = Catalog(bundled(), DEFAULT_MODEL, retired=retired())
    replacement = everything.resolve(name)
    assert replacement in bundled()
    alone = Catalog([FIRST], FIRST.id, retired=retired())
    assert alone.resolve(name) is FIRST, "on a site with one model that one"
