"""Editing a question and asking for another reply: new branches, and nothing that was there is lost."""

import re
import uuid

import pytest

from tests.support.people import CSRF
from tests.support.server import Person
from tests.views.conversations import OTHER_MODEL
from tests.views.trees import ask_to_end, shown, started
from tests.views.upstream_calls import messages

pytestmark = pytest.mark.database


def test_edit_makes_a_sibling_with_its_own_reply(alice: Person, fake) -> None:
    first = ask_to_end(alice, "one")
    second = ask_to_end(alice, "two", f"/c/{first.conversation}/messages/")
    edited = started(alice, f"/messages/{second.meta['user_message']}/edit/", content="zwei")
    assert messages(fake) == [("user", "one"), ("assistant", first.text), ("user", "zwei")]
    assert edited.conversation == first.conversation
    assert shown(alice, first.conversation) == [
        first.meta["user_message"],
        first.meta["message"],
        edited.meta["user_message"],
        edited.meta["message"],
    ]
    old = alice.get(f"/messages/{second.meta['message']}/source/")
    assert old.text == second.text


def test_the_first_question_can_be_edited_too(alice: Person, fake) -> None:
    first = ask_to_end(alice, "one", system="Be kind.")
    edited = started(alice, f"/messages/{first.meta['user_message']}/edit/", content="uno")
    assert messages(fake) == [("system", "Be kind."), ("user", "uno")]
    assert shown(alice, first.conversation) == [edited.meta["user_message"], edited.meta["message"]]


def test_model_and_system_sent_with_an_edit_hold_from_then_on(alice: Person, fake) -> None:
    first = ask_to_end(alice, "one")
    path = f"/messages/{first.meta['user_message']}/edit/"
    edited = started(alice, path, content="uno", model=OTHER_MODEL, system="Be short.")
    assert edited.meta["model"] == OTHER_MODEL
    further = ask_to_end(alice, "two", f"/c/{first.conversation}/messages/")
    assert further.meta["model"] == OTHER_MODEL
    assert messages(fake)[0] == ("system", "Be short.")


def test_regenerate_sends_the_same_question_and_history(alice: Person, fake) -> None:
    first = ask_to_end(alice, "one")
    second = ask_to_end(alice, "two", f"/c/{first.conversation}/messages/")
    before = messages(fake)
    again = started(alice, f"/messages/{second.meta['message']}/regenerate/")
    assert messages(fake) == before
    assert again.meta["user_message"] == second.meta["user_message"]
    assert again.meta["message"] != second.meta["message"]
    assert shown(alice, first.conversation)[-2:] == [second.meta["user_message"], again.meta["message"]]


def test_regenerate_with_a_model_keeps_that_model(alice: Person, server, fake) -> None:
    first = ask_to_end(alice, "one")
    again = started(alice, f"/messages/{first.meta['message']}/regenerate/", model=OTHER_MODEL)
    assert again.meta["model"] == OTHER_MODEL
    assert fake.calls[-1]["path"].endswith(OTHER_MODEL)
    stored = "SELECT model FROM chat_message WHERE role = 'assistant' ORDER BY created DESC LIMIT 2"
    assert server.database.rows(stored) == [(OTHER_MODEL,), ("@cf/zai-org/glm-4.7-flash",)]
    assert ask_to_end(alice, "two", f"/c/{first.conversation}/messages/").meta["model"] == OTHER_MODEL


def test_a_failed_reply_written_anew_asks_the_question_once(alice: Person, server, fake) -> None:
    questions = "SELECT COUNT(*) FROM chat_message WHERE role = 'user'"
    before = server.database.value(questions)
    failed = ask_to_end(alice, "fake: flaky key=tree http=401 code=10000")
    assert failed.done["status"] == "failed"
    again = started(alice, f"/messages/{failed.meta['message']}/regenerate/")
    assert again.done["status"] == "complete"
    assert server.database.value(questions) == before + 1


def test_regenerate_midway_leaves_out_what_followed(alice: Person, fake) -> None:
    first = ask_to_end(alice, "one")
    ask_to_end(alice, "two", f"/c/{first.conversation}/messages/")
    again = started(alice, f"/messages/{first.meta['message']}/regenerate/")
    assert messages(fake) == [("user", "one")]
    assert shown(alice, first.conversation) == [first.meta["user_message"], again.meta["message"]]


def test_forms_are_answered_with_303_to_the_conversation(alice: Person) -> None:
    first = ask_to_end(alice, "one")
    form = {"csrfmiddlewaretoken": CSRF, "client_key": str(uuid.uuid4())}
    edit = f"/messages/{first.meta['user_message']}/edit/"
    responses = [alice.client.post(edit, data={**form, "content": "uno\r\n!"}) for _ in range(2)]
    assert {response.headers["Location"] for response in responses} == {f"/c/{first.conversation}/"}
    assert {response.status_code for response in responses} == {303}
    page = alice.get(f"/c/{first.conversation}/").text.replace("\r", "")
    assert "uno\n!" in page
    with alice.follow(re.findall(r'data-run="([0-9a-f-]{36})"', page)[-1]) as stream:
        stream.to_end()
    again = alice.client.post(f"/messages/{stream.meta['message']}/regenerate/", data=form)
    assert (again.status_code, again.headers["Location"]) == (303, f"/c/{first.conversation}/")
    assert shown(alice, first.conversation)[-1] != stream.meta["message"]
