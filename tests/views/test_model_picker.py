"""The models to choose from, as people read them."""

import pytest

from chat.upstream.catalogue import LlmModel
from chat.views import model_picker
from tests.support.server import Server


@pytest.mark.parametrize(
    ("window", "said"),
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
def test_a_window_is_said_as_its_maker_says_it(window: int, said: str) -> None:
    assert model_picker.tokens(window) == said


@pytest.mark.parametrize(
    ("price", "said"), [(0.06, "$0.06"), (0.4, "$0.40"), (0.293, "$0.293"), (4.0, "$4.00"), (None, "")]
)
def test_a_price_has_the_digits_that_say_something(price: float | None, said: str) -> None:
    assert model_picker.dollars(price) == said


def test_what_costs_nothing_is_free_and_what_nobody_knows_is_not() -> None:
    assert model_picker.facts(LlmModel("local/x", "X", 8192, local=True))["free"]
    assert model_picker.facts(LlmModel("@cf/a/x", "X", 8192, price_in=0, price_out=0))["free"]
    assert not model_picker.facts(LlmModel("@cf/a/x", "X", 8192))["free"]
    assert not model_picker.facts(LlmModel("@cf/a/x", "X", 8192, price_in=0.1, price_out=0.2))["free"]


@pytest.mark.database
def test_every_model_of_the_site_can_be_chosen(server: Server) -> None:
    alice = server.person("alice")
    part = alice.get("/models/").text
    offered = alice.get("/").text.count("<option ")
    assert part.count('type="radio"') == offered > 8
    assert 'type="search"' in part
    assert "128k context · $0.06 in · $0.40 out" in part
