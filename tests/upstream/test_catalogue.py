"""The models that can be chosen: only their ids ever reach an address."""

import re

import pytest

from chat.upstream.catalogue import DEFAULT, Catalogue, Model, UnknownModel, bundled

FIRST = Model("@cf/a/first", "First", window=8_000)
SECOND = Model("@cf/b/second", "Second", window=8_000)


def test_the_models_come_in_the_order_they_are_offered() -> None:
    assert list(Catalogue([SECOND, FIRST], FIRST.id)) == [SECOND, FIRST]


def test_the_default_is_one_of_them() -> None:
    assert Catalogue([FIRST, SECOND], SECOND.id).default is SECOND
    with pytest.raises(UnknownModel):
        Catalogue([FIRST], SECOND.id)


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
        Catalogue([FIRST], FIRST.id).get(name)


def test_the_bundled_list_is_sound() -> None:
    models = bundled()
    assert len({model.id for model in models}) == len(models) >= 10
    assert models[0].id == DEFAULT
    for model in models:
        assert re.fullmatch(r"@(cf|hf)/[a-z0-9._-]+/[a-z0-9._-]+", model.id), model.id
        assert model.name
        assert model.window >= 1_024
        assert model.max_output is None or 0 < model.max_output <= model.window
        assert not model.local


def test_every_recommended_id_can_be_looked_up() -> None:
    catalogue = Catalogue(bundled(), DEFAULT)
    assert [catalogue.get(model.id) for model in catalogue] == list(bundled())
