"""Doors: what they lead to by themselves, and to whom they open."""

from dataclasses import replace

import pytest

from chat.upstream import doors
from chat.upstream.catalog import Catalog, Door, LlmModel, Provider, bundled

GLM = "@cf/zai-org/glm-4.7-flash"
EVERYDAY = LlmModel("@cf/a/small-8b", "Small", 8192, price_in=0.1, price_out=0.2)
SEEING = LlmModel("@cf/a/eyes-11b", "Eyes", 8192, price_in=0.3, price_out=0.6, vision=True)
DEAR = LlmModel("@cf/a/all-70b", "All", 8192, price_in=1.0, price_out=3.0, vision=True)
CODER = LlmModel("@cf/a/coder-32b", "Coder", 8192, price_in=0.5, price_out=1.0)
MODELS = [EVERYDAY, DEAR, CODER, SEEING]


def catalog(*models: LlmModel, **more: object) -> Catalog:
    return Catalog(models or MODELS, EVERYDAY.id, **more)  # type: ignore[arg-type]


def test_the_bundled_models_give_four_doors() -> None:
    default = next(model for model in bundled() if model.id == GLM)
    assert doors.choose(bundled(), default) == {
        "everyday": GLM,
        "careful": "@cf/openai/gpt-oss-120b",
        "pictures": "@cf/google/gemma-4-26b-a4b-it",
        "code": "@cf/qwen/qwen2.5-coder-32b-instruct",
    }


@pytest.mark.parametrize(
    "change",
    [{"paid": True}, {"beta": True}, {"price_in": None}, {"price_in": 9.0}],
    ids=["paid plan", "beta", "price unknown", "dearer"],
)
def test_the_cheapest_that_everybody_can_use_is_for_pictures(change: dict[str, object]) -> None:
    other = replace(SEEING, id="@cf/a/others", **change)  # type: ignore[arg-type]
    assert doors.choose([EVERYDAY, other, SEEING], EVERYDAY)["pictures"] == SEEING.id
    assert doors.choose([EVERYDAY, other], EVERYDAY)["pictures"] == other.id


def test_a_site_with_one_model_has_one_door_and_shows_none() -> None:
    chosen = doors.choose([EVERYDAY], EVERYDAY)
    assert chosen == {"everyday": EVERYDAY.id}
    assert doors.open_doors(catalog(EVERYDAY, doors=[Door("everyday", EVERYDAY.id)])) == []


def test_bases_routes_and_knowledge_are_no_doors() -> None:
    base = LlmModel("@cf/a/code-70b-lora", "Base", 8192, price_in=0, price_out=0)
    route = LlmModel("dynamic/code-70b", "Route", 8192, host=Provider.GATEWAY)
    knowledge = LlmModel("code-70b", "Papers", 8192, host=Provider.AI_SEARCH)
    assert doors.choose([EVERYDAY, base, route, knowledge], EVERYDAY) == {"everyday": EVERYDAY.id}


FOUR = [
    Door("everyday", EVERYDAY.id),
    Door("pictures", DEAR.id),
    Door("", CODER.id, "Programs", "For programs."),
    Door("", EVERYDAY.id, "Again", "The same."),
    Door("", "@cf/a/gone", "Gone", "It was."),
]


def test_each_model_has_one_door_and_a_missing_one_none() -> None:
    assert doors.open_doors(catalog(doors=FOUR)) == FOUR[:3]


def test_a_door_opens_to_the_groups_of_its_model() -> None:
    offered = catalog(doors=FOUR, groups={DEAR.id: frozenset({7})})
    assert doors.open_doors(offered.for_groups(lambda: [7])) == FOUR[:3]
    others = offered.for_groups(list)
    assert doors.open_doors(others) == [FOUR[0], FOUR[2]]
    assert doors.for_pictures(others) == SEEING  # they see all the same
    assert doors.for_pictures(offered.for_groups(lambda: [7])) == DEAR


def test_nothing_sees_where_no_model_does() -> None:
    assert doors.for_pictures(catalog(EVERYDAY, CODER)) is None
    blind_door = [Door("pictures", CODER.id)]
    assert doors.for_pictures(catalog(EVERYDAY, CODER, doors=blind_door)) is None
    assert doors.for_pictures(catalog(EVERYDAY, CODER, SEEING, doors=blind_door)) == SEEING
