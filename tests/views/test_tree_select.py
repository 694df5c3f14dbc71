"""Choosing the version that is shown; the choice is remembered, and so are those below it."""

import pytest

from tests.support.people import CSRF
from tests.support.server import Person, Server
from tests.views.trees import ask_to_end, shown, started
from tests.views.upstream_calls import messages

pytestmark = pytest.mark.database


@pytest.fixture
def alice(server: Server) -> Person:
    return server.person("alice")


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


def test_first_questions_are_versions_of_one_another(alice: Person) -> None:
    first = ask_to_end(alice, "one")
    edited = started(alice, f"/messages/{first.meta['user_message']}/edit/", content="uno")
    select(alice, first.meta["user_message"])
    assert shown(alice, first.conversation) == [first.meta["user_message"], first.meta["message"]]
    select(alice, edited.meta["user_message"])
    assert shown(alice, first.conversation) == [edited.meta["user_message"], edited.meta["message"]]


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
