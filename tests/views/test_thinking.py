"""A reply whose tokens were used up by thinking says so, and offers what would help."""

import re
from typing import Any

import pytest

from chat.upstream.catalog import LlmModel, bundled
from chat.views.conversations.runs import retry_offers
from tests.support.people import CSRF
from tests.support.server import Person, Stream
from tests.support.waiting import until
from tests.views.conversations import kept
from tests.views.trees import ask_to_end, sent, shown, started

MODELS = {model.id: model for model in bundled()}
SAID = "The model used all its tokens for thinking and had none left for the reply."
OFFER = re.compile(r'<button class="button" name="(\w+)" value="(\w+)" data-action="retry-with"')


def burnt(alice: Person, how: str = "", **fields: Any) -> Stream:
    return ask_to_end(alice, f"Why?\nfake: burnt {how}", **fields)


def test_it_ends_as_truncated_by_thinking_whenever_it_is_read(alice: Person) -> None:
    stream = burnt(alice)
    assert stream.text == ""
    assert stream.reasoning.startswith("thought1")
    about = {name: stream.done[name] for name in ("status", "finish_reason", "code", "message")}
    assert about == {"status": "truncated", "finish_reason": "length", "code": "thinking", "message": SAID}
    again = alice.followed(stream.run)
    assert again.done == stream.done


@pytest.mark.parametrize("how", ["tokens=60", "think=0"])
def test_a_reply_with_a_text_or_without_a_thought_is_cut_as_ever(alice: Person, how: str) -> None:
    stream = burnt(alice, how)
    assert stream.done["status"] == "truncated"
    assert "code" not in stream.done
    page = alice.get(f"/c/{stream.conversation}/").text
    assert SAID not in page
    assert not OFFER.search(page)
    assert f"/messages/{stream.meta['message']}/continue/" in page


def test_a_text_that_had_only_begun_counts_as_none(alice: Person) -> None:
    assert burnt(alice, "tokens=2").done["code"] == "thinking"


def test_its_page_says_so_and_offers_more_or_less(alice: Person) -> None:
    stream = burnt(alice)
    page = alice.get(f"/c/{stream.conversation}/").text
    assert SAID in page
    assert OFFER.findall(page) == [("max_tokens", "32768"), ("thinking", "off")]
    assert f"/messages/{stream.meta['message']}/continue/" not in page


@pytest.mark.parametrize(("name", "value"), [("max_tokens", "32768"), ("thinking", "off")])
def test_an_offer_is_a_form_with_one_field(alice: Person, database, fake, name: str, value: str) -> None:
    stream = burnt(alice, "enough=20000")
    form = {"csrfmiddlewaretoken": CSRF, name: value}
    response = alice.client.post(f"/messages/{stream.meta['message']}/regenerate/", data=form)
    assert response.status_code == 303
    until(lambda: not database.value("SELECT COUNT(*) FROM chat_run WHERE finished IS NULL"))
    assert len(shown(alice, stream.conversation)) == 2
    more: dict[str, Any] = {"max_tokens": 32_768}
    less: dict[str, Any] = {"max_tokens": 16_384, "chat_template_kwargs": {"enable_thinking": False}}
    assert sent(fake) == (more if name == "max_tokens" else less)
    assert kept(database, stream.conversation) == {name: 32_768 if name == "max_tokens" else False}


def test_where_more_was_used_up_too_still_more_is_offered(alice: Person) -> None:
    stream = burnt(alice)
    again = f"/messages/{stream.meta['message']}/regenerate/"
    started(alice, again, parameters={"max_tokens": 32_768, "thinking": False})
    page = alice.get(f"/c/{stream.conversation}/").text
    assert not OFFER.search(page)  # it was not thinking any more, and answered
    started(alice, again, parameters={"thinking": None})
    offered = OFFER.findall(alice.get(f"/c/{stream.conversation}/").text)
    assert offered == [("max_tokens", "65536"), ("thinking", "off")]


@pytest.mark.parametrize(
    ("model", "chosen", "had", "offered"),
    [
        ("@cf/google/gemma-4-26b-a4b-it", {}, 16_384, [("thinking", "off")]),
        ("@cf/google/gemma-4-26b-a4b-it", {"thinking": False}, 16_384, []),
        (
            "@cf/google/gemma-4-26b-a4b-it",
            {"max_tokens": 100},
            100,
            [("max_tokens", "200"), ("thinking", "off")],
        ),
        ("@cf/openai/gpt-oss-20b", {}, 16_384, [("effort", "low")]),
        ("@cf/openai/gpt-oss-20b", {"effort": "low"}, 16_384, []),
        ("@cf/zai-org/glm-5.2", {"effort": "high"}, 128_000, [("thinking", "off")]),
        (
            "@cf/deepseek-ai/deepseek-v4-pro-0813",
            {"effort": "max"},
            1_000,
            [("max_tokens", "2000"), ("effort", "low"), ("thinking", "off")],
        ),
        ("@cf/moonshotai/kimi-k2.7-code", {}, 16_384, [("max_tokens", "32768")]),
        ("@cf/qwen/qwq-32b", {}, 8_000, [("max_tokens", "12000")]),
    ],
)
def test_only_what_would_change_something_is_offered(model: str, chosen, had: int, offered) -> None:
    found = retry_offers(MODELS[model], chosen, had)
    assert [(offer["name"], offer["value"]) for offer in found] == offered


def test_of_a_model_that_nobody_knows_more_can_be_had() -> None:
    [offer] = retry_offers(LlmModel("@cf/a/b", "B", 32_000), {}, 4_000)
    assert (offer["name"], offer["words"]) == ("max_tokens", "Try again with 8,000 tokens")
