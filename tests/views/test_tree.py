"""A conversation as a tree: branches, the version that is shown, and the keys of turns."""

import re
import uuid
from concurrent.futures import ThreadPoolExecutor
from itertools import permutations

import pytest

from tests.support.people import CSRF
from tests.support.server import Person, Server
from tests.views.conversations import OTHER_MODEL
from tests.views.trees import ask_to_end, cut_short, messages, shown, started

pytestmark = pytest.mark.database
CALLS = {
    "edit": ("user_message", {"content": "else"}),
    "regenerate": ("message", {}),
    "continue": ("message", {}),
}


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


def test_the_first_question_has_versions_too(alice: Person, fake) -> None:
    first = ask_to_end(alice, "one", system="Be kind.")
    edited = started(alice, f"/messages/{first.meta['user_message']}/edit/", content="uno")
    assert messages(fake) == [("system", "Be kind."), ("user", "uno")]
    assert shown(alice, first.conversation) == [edited.meta["user_message"], edited.meta["message"]]
    for version in (first.meta, edited.meta):
        select(alice, version["user_message"])
        assert shown(alice, first.conversation) == [version["user_message"], version["message"]]


def test_model_and_system_sent_with_an_edit_hold_from_then_on(alice: Person, fake) -> None:
    first = ask_to_end(alice, "one")
    path = f"/messages/{first.meta['user_message']}/edit/"
    edited = started(alice, path, content="uno", model=OTHER_MODEL, system="Be short.")
    assert edited.meta["model"] == OTHER_MODEL
    further = ask_to_end(alice, "two", f"/c/{first.conversation}/messages/")
    assert further.meta["model"] == OTHER_MODEL
    assert messages(fake)[0] == ("system", "Be short.")


def test_regenerate_sends_the_question_and_the_history_before_it(alice: Person, fake) -> None:
    first = ask_to_end(alice, "one")
    second = ask_to_end(alice, "two", f"/c/{first.conversation}/messages/")
    before = messages(fake)
    again = started(alice, f"/messages/{second.meta['message']}/regenerate/")
    assert messages(fake) == before
    assert again.meta["user_message"] == second.meta["user_message"]
    assert again.meta["message"] != second.meta["message"]
    assert shown(alice, first.conversation)[-2:] == [second.meta["user_message"], again.meta["message"]]
    midway = started(alice, f"/messages/{first.meta['message']}/regenerate/")
    assert messages(fake) == [("user", "one")]
    assert shown(alice, first.conversation) == [first.meta["user_message"], midway.meta["message"]]


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


def test_forms_are_answered_with_303_to_the_conversation(alice: Person) -> None:
    first = ask_to_end(alice, "one")
    form = {"csrfmiddlewaretoken": CSRF, "client_key": str(uuid.uuid4())}
    edit = f"/messages/{first.meta['user_message']}/edit/"
    responses = [alice.client.post(edit, data={**form, "content": "uno\r\n!"}) for _ in range(2)]
    assert {response.headers["Location"] for response in responses} == {f"/c/{first.conversation}/"}
    assert {response.status_code for response in responses} == {303}
    page = alice.get(f"/c/{first.conversation}/").text.replace("\r", "")
    assert "uno\n!" in page
    stream = alice.followed(re.findall(r'data-run="([0-9a-f-]{36})"', page)[-1])
    again = alice.client.post(f"/messages/{stream.meta['message']}/regenerate/", data=form)
    assert (again.status_code, again.headers["Location"]) == (303, f"/c/{first.conversation}/")
    assert shown(alice, first.conversation)[-1] != stream.meta["message"]


def select(alice: Person, message: str) -> dict[str, str]:
    response = alice.post(f"/messages/{message}/select/", {})
    assert response.status_code == 200
    return response.json()


def test_the_chosen_version_is_shown_until_another_is_chosen(alice: Person, fake) -> None:
    first = ask_to_end(alice, "one")
    again = started(alice, f"/messages/{first.meta['message']}/regenerate/")
    question, old, new = first.meta["user_message"], first.meta["message"], again.meta["message"]
    chosen = select(alice, old)
    assert chosen == {"conversation": first.conversation, "message": old, "leaf": old}
    for _ in range(2):
        assert shown(alice, first.conversation) == [question, old]
    select(alice, new)
    assert shown(alice, first.conversation) == [question, new]
    select(alice, old)
    ask_to_end(alice, "two", f"/c/{first.conversation}/messages/")
    assert messages(fake) == [("user", "one"), ("assistant", first.text), ("user", "two")]


def test_each_branch_remembers_the_versions_chosen_within_it(alice: Person) -> None:
    first = ask_to_end(alice, "one")
    path = f"/c/{first.conversation}/messages/"
    left = ask_to_end(alice, "left", path)
    left_again = started(alice, f"/messages/{left.meta['message']}/regenerate/")
    left_end = ask_to_end(alice, "the end of the left", path)
    right = started(alice, f"/messages/{left.meta['user_message']}/edit/", content="right")
    right_again = started(alice, f"/messages/{right.meta['message']}/regenerate/")
    root = [first.meta["user_message"], first.meta["message"]]
    whole_left = [
        left.meta["user_message"],
        left_again.meta["message"],
        left_end.meta["user_message"],
        left_end.meta["message"],
    ]
    select(alice, left.meta["user_message"])
    assert shown(alice, first.conversation) == root + whole_left
    select(alice, left.meta["message"])  # the older reply, behind which nothing was asked
    assert shown(alice, first.conversation) == [*root, left.meta["user_message"], left.meta["message"]]
    select(alice, right.meta["message"])
    select(alice, left.meta["user_message"])
    assert shown(alice, first.conversation) == [*root, left.meta["user_message"], left.meta["message"]]
    select(alice, right.meta["user_message"])
    assert shown(alice, first.conversation) == [*root, right.meta["user_message"], right.meta["message"]]
    select(alice, right_again.meta["message"])
    assert shown(alice, first.conversation)[-1] == right_again.meta["message"]


def test_a_form_goes_back_to_the_message(alice: Person) -> None:
    first = ask_to_end(alice, "one")
    started(alice, f"/messages/{first.meta['message']}/regenerate/")
    path = f"/messages/{first.meta['message']}/select/"
    response = alice.client.post(path, data={"csrfmiddlewaretoken": CSRF})
    assert response.status_code == 303
    assert response.headers["Location"] == f"/c/{first.conversation}/#m-{first.meta['message']}"
    assert shown(alice, first.conversation)[-1] == first.meta["message"]


def test_choosing_moves_a_conversation_nowhere_in_the_list(alice: Person, server: Server) -> None:
    first = ask_to_end(alice, "one")
    updated = "SELECT updated FROM chat_conversation ORDER BY created DESC LIMIT 1"
    before = server.database.value(updated)
    select(alice, first.meta["message"])
    assert server.database.value(updated) == before


@pytest.fixture
def hers(alice: Person) -> dict[str, str]:
    """A reply of alice's that every call can be made on."""
    return cut_short(alice, "truncated").meta


def path(hers: dict[str, str], call: str) -> str:
    return f"/messages/{hers[CALLS[call][0]]}/{call}/"


@pytest.mark.parametrize("call", CALLS)
def test_a_key_replays_its_run_also_when_that_has_finished(alice: Person, hers, fake, call: str) -> None:
    sent, before = str(uuid.uuid4()), len(fake.calls)
    first = started(alice, path(hers, call), client_key=sent, **CALLS[call][1])
    second = started(alice, path(hers, call), client_key=sent, **CALLS[call][1])
    assert (second.status, second.run, second.text) == (200, first.run, first.text)
    assert len(fake.calls) == before + 1


@pytest.mark.parametrize("call", CALLS)
def test_twenty_calls_with_one_key_are_one_run(alice: Person, server: Server, hers, fake, call: str) -> None:
    sent, before = str(uuid.uuid4()), len(fake.calls)

    def send(_: int) -> tuple[str, str]:
        stream = started(server.person("alice"), path(hers, call), client_key=sent, **CALLS[call][1])
        return stream.run, stream.text

    with ThreadPoolExecutor(20) as pool:
        assert len(set(pool.map(send, range(20)))) == 1
    assert len(fake.calls) == before + 1


@pytest.mark.parametrize(
    ("call", "other", "more"),
    [
        *((call, other, {}) for call, other in permutations(CALLS, 2)),
        ("edit", "edit", {"content": "something else"}),
        ("edit", "edit", {"model": OTHER_MODEL}),
        ("edit", "edit", {"system": "Be short."}),
        ("regenerate", "regenerate", {"model": OTHER_MODEL}),
    ],
)
def test_a_key_of_another_call_is_a_conflict(alice: Person, hers, fake, call: str, other: str, more) -> None:
    sent = str(uuid.uuid4())
    started(alice, path(hers, call), client_key=sent, **CALLS[call][1])
    before = len(fake.calls)
    response = alice.post(path(hers, other), {"client_key": sent, **CALLS[other][1], **more})
    assert (response.status_code, response.json()["error"]["code"]) == (409, "conflict")
    further = alice.post(f"/c/{hers['conversation']}/messages/", {"content": "else", "client_key": sent})
    assert (further.status_code, further.json()["error"]["code"]) == (409, "conflict")
    assert len(fake.calls) == before


@pytest.mark.parametrize("call", CALLS)
def test_a_key_on_another_message_is_a_conflict(alice: Person, hers, call: str) -> None:
    sent, another = str(uuid.uuid4()), cut_short(alice, "truncated").meta
    started(alice, path(hers, call), client_key=sent, **CALLS[call][1])
    response = alice.post(path(another, call), {"client_key": sent, **CALLS[call][1]})
    assert (response.status_code, response.json()["error"]["code"]) == (409, "conflict")
