"""Parameters of a conversation: sent with a turn or as settings, they hold until they are forgotten."""

import json
import re
import uuid
from typing import Any

import httpx
import pytest

from chat.conversations.turns.commands import (
    Command,
    ContinueReply,
    EditMessage,
    RegenerateReply,
    SendMessage,
)
from tests.support.databases import Database
from tests.support.people import CSRF
from tests.support.server import Person
from tests.views.conversations import OTHER_MODEL, kept, others
from tests.views.refusals import refused
from tests.views.trees import ask_to_end, cut_short, sent, started

LLAMA = "@cf/meta/llama-3.3-70b-instruct-fp8-fast"
FORM = {"csrfmiddlewaretoken": CSRF}


def logged(database: Database, run: str) -> dict[str, Any]:
    value = database.value(f"SELECT parameters FROM chat_run WHERE id IN {run, run.replace('-', '')}")
    return json.loads(value) if isinstance(value, str) else value


def error_message(response: httpx.Response) -> str:
    """Return the message of an error “malformed”."""
    refused(response, 400, "malformed")
    return response.json()["error"]["message"]


def test_values_sent_with_the_first_turn_last(alice: Person, database: Database, fake) -> None:
    chosen = {"temperature": 0.25, "thinking": False, "max_tokens": 700, "top_k": 5, "seed": None}
    first = ask_to_end(alice, "Hello", parameters=chosen)
    body = {"max_tokens": 700, "temperature": 0.25, "chat_template_kwargs": {"enable_thinking": False}}
    assert sent(fake) == body
    assert logged(database, first.run) == {name: body[name] for name in body if name != "max_tokens"}
    ask_to_end(alice, "And now?", f"/c/{first.conversation}/messages/")
    assert sent(fake) == body
    del chosen["seed"]
    assert kept(database, first.conversation) == chosen


def test_a_further_turn_changes_and_forgets_single_ones(alice: Person, database: Database, fake) -> None:
    first = ask_to_end(alice, "Hello", parameters={"temperature": 0.25, "top_p": 0.5})
    path = f"/c/{first.conversation}/messages/"
    ask_to_end(alice, "And now?", path, parameters={"temperature": None, "seed": 7})
    assert sent(fake) == {"max_tokens": 16_384, "top_p": 0.5, "seed": 7}
    assert kept(database, first.conversation) == {"top_p": 0.5, "seed": 7}


def test_unsupported_values_wait_for_a_model_that_takes_them(alice: Person, database: Database, fake) -> None:
    chosen = {"temperature": 4.5, "top_k": 5, "effort": "low"}
    first = ask_to_end(alice, "Hello", parameters=chosen)
    assert sent(fake) == {"max_tokens": 16_384, "temperature": 2}
    path = f"/c/{first.conversation}/messages/"
    ask_to_end(alice, "And now?", path, model=LLAMA)
    assert sent(fake) == {"max_tokens": 8_000, "temperature": 4.5, "top_k": 5}
    ask_to_end(alice, "And then?", path, model=OTHER_MODEL)
    assert sent(fake) == {"max_tokens": 16_384, "temperature": 2, "reasoning_effort": "low"}
    assert kept(database, first.conversation) == chosen


def test_edited_written_anew_and_continued_with_other_parameters(alice: Person, fake) -> None:
    first = cut_short(alice, "truncated")
    edit = f"/messages/{first.meta['user_message']}/edit/"
    started(alice, edit, content="fake: length tokens=3", parameters={"temperature": 1})
    assert sent(fake) == {"max_tokens": 16_384, "temperature": 1}
    again = f"/messages/{first.meta['message']}/regenerate/"
    second = started(alice, again, parameters={"max_tokens": 40_000})
    assert sent(fake) == {"max_tokens": 40_000, "temperature": 1}
    started(alice, f"/messages/{second.meta['message']}/continue/", parameters={"temperature": None})
    assert sent(fake) == {"max_tokens": 40_000}


def test_a_budget_is_never_larger_than_the_model_can_give(alice: Person, fake) -> None:
    ask_to_end(alice, "Hello", model=OTHER_MODEL, parameters={"max_tokens": 100_000})
    assert sent(fake) == {"max_tokens": 16_384}


def test_settings_are_merged_and_change_nothing_else(
    alice: Person, hers: str, database: Database, fake
) -> None:
    before = others(database, hers)
    settings = f"/c/{hers}/settings/"
    response = alice.post(settings, {"parameters": {"temperature": 0.5, "seed": 3}})
    assert response.json() == {"conversation": hers, "parameters": {"temperature": 0.5, "seed": 3}}
    response = alice.post(settings, {"parameters": {"seed": None, "thinking": True}})
    assert response.json() == {"conversation": hers, "parameters": {"temperature": 0.5, "thinking": True}}
    assert others(database, hers) == before
    ask_to_end(alice, "And now?", f"/c/{hers}/messages/")
    assert sent(fake)["chat_template_kwargs"] == {"enable_thinking": True}


def test_a_form_has_one_field_a_parameter(alice: Person, hers: str, database: Database) -> None:
    form = {
        **FORM,
        "system": "",
        "temperature": "0.5",
        "seed": " 3 ",
        "thinking": "off",
        "effort": "",
        "top_p": "",
    }
    response = alice.client.post(f"/c/{hers}/settings/", data=form)
    assert (response.status_code, response.headers["location"]) == (303, f"/c/{hers}/")
    assert kept(database, hers) == {"temperature": 0.5, "seed": 3, "thinking": False}
    alice.client.post(f"/c/{hers}/settings/", data={**FORM, "temperature": "", "thinking": "on"})
    assert kept(database, hers) == {"seed": 3, "thinking": True}


def test_a_form_that_begins_a_conversation_brings_them_along(alice: Person, database: Database, fake) -> None:
    form = {**FORM, "content": "Hello", "client_key": str(uuid.uuid4()), "temperature": "0.5", "seed": ""}
    assert alice.client.post("/c/", data=form).status_code == 303
    conversation = alice.client.post("/c/", data=form).headers["location"].split("/")[2]
    assert kept(database, conversation) == {"temperature": 0.5}


WRONG = [
    ({"temperature": 5.5}, "“temperature” must be a number between 0 and 5."),
    ({"temperature": "hot"}, "“temperature” must be a number between 0 and 5."),
    ({"top_p": 0}, "“top_p” must be a number between 0.001 and 1."),
    ({"top_k": 2.5}, "“top_k” must be a whole number between 1 and 100."),
    ({"max_tokens": 0}, "“max_tokens” must be a whole number between 1 and 10,000,000."),
    ({"seed": True}, "“seed” must be a whole number between 0 and 9,999,999,999."),
    ({"frequency_penalty": -3}, "“frequency_penalty” must be a number between -2 and 2."),
    ({"thinking": "maybe"}, "“thinking” must be true or false."),
    ({"effort": "none"}, "“effort” must be one of: low, medium, high, xhigh, max."),
]
NO_OBJECT = "“parameters” must be a JSON object."
JSON_WRONG = [
    *WRONG,
    ({"temperature": float("nan")}, "This isn’t valid JSON."),  # RFC 8259 has no such number
    ({"thinking": 1}, "“thinking” must be true or false."),
    ({"temperature": 1, "heat": 1}, "Unknown parameter “heat”. Accepted fields: effort, frequency_penalty, "),
    ([], NO_OBJECT),
    ("temperature", NO_OBJECT),
]


@pytest.mark.parametrize(("parameters", "words"), JSON_WRONG, ids=str)
@pytest.mark.parametrize("path", ["/c/", "/c/{}/messages/", "/c/{}/settings/"])
def test_a_value_out_of_range_is_refused_with_the_range(
    alice: Person, hers: str, unchanged, path: str, parameters: Any, words: str
) -> None:
    content = {} if "settings" in path else {"content": "Hello"}
    body = json.dumps({**content, "parameters": parameters})
    headers = {"Content-Type": "application/json"}
    response = alice.client.post(path.format(hers), content=body, headers=headers)
    assert error_message(response).startswith(words)


@pytest.mark.parametrize("call", ["edit", "regenerate", "continue"])
def test_each_call_on_a_message_refuses_it_too(alice: Person, call: str) -> None:
    meta = cut_short(alice, "truncated").meta
    message = meta["user_message" if call == "edit" else "message"]
    body = {"content": "Hello"} if call == "edit" else {}
    response = alice.post(f"/messages/{message}/{call}/", {**body, "parameters": {"top_k": 0}})
    assert error_message(response) == "“top_k” must be a whole number between 1 and 100."


@pytest.mark.parametrize(("parameters", "words"), [*WRONG, ({"parameters": {}}, NO_OBJECT)], ids=str)
def test_a_form_is_told_the_range_as_well(
    alice: Person, hers: str, unchanged, parameters, words: str
) -> None:
    form = {**FORM, **{name: str(value) for name, value in parameters.items()}}
    response = alice.client.post(f"/c/{hers}/settings/", data=form, headers={"Accept": "application/json"})
    assert error_message(response) == words


def test_a_key_with_other_parameters_is_a_conflict(alice: Person, fake) -> None:
    key, chosen = str(uuid.uuid4()), {"temperature": 0.5, "seed": 3}
    first = ask_to_end(alice, "Hello", client_key=key, parameters=chosen)
    before = len(fake.calls)
    second = ask_to_end(alice, "Hello", client_key=key, parameters={"seed": 3, "temperature": 0.5})
    assert second.run == first.run
    for parameters in ({"temperature": 0.5}, None):
        response = alice.post("/c/", {"content": "Hello", "client_key": key, "parameters": parameters})
        refused(response, 409, "conflict")
    assert len(fake.calls) == before


KEY = uuid.UUID("6d4e1b83-cc54-4db4-a7d3-59b0e7a3b7d1")


@pytest.mark.parametrize(
    ("command", "fingerprint"),
    [
        (SendMessage("Hello", KEY, KEY, None, "m", "s"), "63d08175d10f5105"),
        (EditMessage(KEY, "Hello", KEY, "m", "s"), "6410bec02b770004"),
        (RegenerateReply(KEY, KEY, "m"), "e0130433c212d370"),
        (ContinueReply(KEY, KEY), "524b7306eceb3370"),
    ],
)
def test_fingerprint_without_parameters_is_stable(command: Command, fingerprint: str) -> None:
    assert command.fingerprint.startswith(fingerprint)


def test_a_models_controls_are_those_that_it_knows(alice: Person) -> None:
    part = alice.get("/models/parameters/", params={"model": LLAMA}).text
    assert 'name="top_k"' in part
    assert 'name="thinking"' not in part
    assert 'name="thinking"' not in alice.get("/models/parameters/").text  # it is in the message box
    assert 'name="thinking"' in alice.get("/models/parameters/?assistant").text
    refused(alice.get("/models/parameters/?model=x", headers={"X-Requested-With": "fetch"}), 400, "malformed")


def test_a_form_resets_them_all(alice: Person, hers: str, database: Database) -> None:
    alice.post(f"/c/{hers}/settings/", {"parameters": {"temperature": 0.5, "top_k": 3}})
    response = alice.client.post(f"/c/{hers}/settings/", data={**FORM, "parameters": "reset"})
    assert response.status_code == 303
    assert kept(database, hers) == {}


def test_the_form_offers_less_than_a_call_may_send(alice: Person) -> None:
    form = alice.get(f"/models/parameters/?model={LLAMA}").text
    field = re.search(r'<input id="set-temperature"[^>]*>', form)
    assert field
    assert 'max="2"' in field[0]
    assert 'data-accepts="[0, 5]"' in field[0]
    first = ask_to_end(alice, "Hello", model=LLAMA, parameters={"temperature": 4.5})
    page = alice.get(f"/c/{first.conversation}/").text
    field = re.search(r'<input id="set-temperature"[^>]*>', page)
    assert field
    assert 'value="4.5"' in field[0]
    assert 'max="4.5"' in field[0], "what a call has set stays valid"
