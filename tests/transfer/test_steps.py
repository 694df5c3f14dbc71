"""The calls of tools in our own JSON, and in an import of it."""

from datetime import UTC
from typing import Any

import jsonschema_rs
import pytest

from chat.engine.generation import step_store
from chat.models import Citation, Conversation, ImportJob, Step, User
from chat.search.query import parse
from chat.search.results import search
from chat.transfer.reader import Untrusted, _check_tree
from chat.transfer.records import (
    MAX_STEPS,
    ImportedConversation,
    ImportedMessage,
    ImportedSource,
    ImportedStep,
)
from tests.support.steps import BEGUN, looked_up
from tests.transfer.exported import SCHEMA, as_html, as_json, as_markdown
from tests.transfer.importing import imported

pytestmark = [
    pytest.mark.database,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("folder"),
]


@pytest.fixture
def talk() -> Conversation:
    return looked_up(User.objects.create_user("ann"))


def reply(exported: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = exported["messages"][1]
    return found


def test_our_json_has_each_step_and_is_imported(talk: Conversation, bob: User) -> None:
    found = as_json(talk)
    jsonschema_rs.validator_for(SCHEMA).validate(found)
    assert found["tools"] == ["search_my_chats"]
    assert "steps" not in found["messages"][0]
    first, second, third = reply(found)["steps"]
    assert [step["n"] for step in (first, second, third)] == [1, 2, 3]
    assert second["arguments"]["deep"] == {"er": [1, None, True]}
    assert second["sources"][0]["date"] == reply(found)["citations"][1]["date"] == "2026-10-01"
    assert (second["cost"], third["state"]) == (0.00025, "failed")
    assert imported(bob, found).state == ImportJob.State.DONE
    again = as_json(Conversation.objects.get(user=bob))
    assert again["tools"] == found["tools"]
    assert reply(again)["steps"] == reply(found)["steps"]
    assert reply(again)["citations"] == reply(found)["citations"]


def test_an_imported_step_costs_nobody_anything(talk: Conversation, bob: User) -> None:
    imported(bob, as_json(talk))
    rows = Step.objects.filter(message__conversation__user=bob)
    assert set(rows.values_list("run", "user")) == {(None, None)}


def test_no_address_of_a_file_may_be_read_unasked(talk: Conversation, bob: User) -> None:
    found = as_json(talk)
    found["messages"][0]["text"] = "Look at https://web.example/asked"
    imported(bob, found)
    made = Conversation.objects.get(user=bob)
    assert Citation.objects.filter(message__conversation=made).count() == 2
    assert step_store._known(made.pk) == set()


def test_a_tool_that_is_not_offered_is_not_switched_on(talk: Conversation, bob: User) -> None:
    imported(bob, as_json(talk) | {"tools": ["mcp:nowhere", "search_my_chats"]})
    assert Conversation.objects.get(user=bob).tools == ["search_my_chats"]


@pytest.mark.parametrize(
    "changed",
    [
        {"tool": None},
        {"tool": "x" * 101},
        {"state": "lost"},
        {"arguments": []},
        {"arguments": "{}"},
        {"arguments": {"a": "\0"}},
        {"summary": "x" * 301},
        {"result": 5},
        {"cost": -1},
        {"cost": "1"},
        {"sources": [{"number": 1, "title": "a", "url": "javascript:alert(1)"}]},
        {"sources": [{"number": 1, "title": "a", "url": "//evil.example"}]},
        {"sources": [{"number": 1, "title": "a", "url": "/logout/"}]},
        {"sources": [{"number": -1, "title": "a"}]},
        {"sources": [{"number": 1, "title": "a", "date": "1 May 2026"}]},
        {"sources": [{"number": 1, "title": "a", "date": "2026-02-31"}]},
        {"created": "yesterday"},
        {},  # but too many
    ],
)
def test_a_wrong_step_refuses_the_conversation(
    talk: Conversation, bob: User, changed: dict[str, Any]
) -> None:
    found = as_json(talk)
    reply(found)["steps"][0] |= changed
    reply(found)["steps"] *= 1 if changed else MAX_STEPS
    imported(bob, found)
    assert not Conversation.objects.filter(user=bob).exists()


def test_what_is_odd_is_left_out(talk: Conversation, bob: User, monkeypatch: Any) -> None:
    found = as_json(talk)
    first, second, third = reply(found)["steps"]
    deep: dict[str, Any] = {}
    for _ in range(40):
        deep = {"a": deep}
    first |= {"state": "running", "arguments": deep, "created": "0001-01-01T00:00:00Z"}
    second |= {"arguments": {"query": "x" * 30_000}, "finished": "9999-12-31T23:59:59Z"}
    third["result"] = "x" * 1_000_000
    reply(found)["steps"] += [third] * 4
    assert imported(bob, found).state == ImportJob.State.DONE
    rows = list(Step.objects.filter(message__conversation__user=bob).order_by("number"))
    assert [step.arguments for step in rows[:2]] == [{}, {}]
    assert (rows[0].state, rows[1].finished) == ("stopped", None)
    assert rows[0].created.year == 2026
    assert [len(step.result) for step in rows[2:]] == [1_000_000] * 4 + [0]


@pytest.mark.parametrize(
    "step",
    [
        ImportedStep("a", "done", "[]"),
        ImportedStep("a", "done", "{"),
        ImportedStep("a", "done", '{"a": "\\u0000"}'),
        ImportedStep("a", "done", '{"a": ' + "[" * 50 + "]" * 50 + "}"),
        ImportedStep("a", "done", "{}", sources=[ImportedSource(1, "a", "javascript:a")]),
        ImportedStep("a", "done", "{}", sources=[ImportedSource(1, "a", date="2026-02-31")]),
        ImportedStep("a", "done", "{}", result="x" * 5_000_000),
    ],
)
def test_a_child_that_lies_is_not_believed(step: ImportedStep) -> None:
    asked = ImportedMessage("q", None, "user", "?")
    told = ImportedMessage("a", "q", "assistant", "!", steps=[step])
    with pytest.raises(Untrusted):
        _check_tree(ImportedConversation("chat", "c", "t", [asked, told], "a"))


def test_results_are_not_searched(talk: Conversation, bob: User) -> None:
    imported(bob, as_json(talk))
    assert [search(bob.pk, parse(words, UTC)).results != [] for words in ("How", "float")] == [True, False]


def test_readable_exports_link_no_page_of_this_site(talk: Conversation) -> None:
    for whole in (as_html(talk), as_markdown(talk)):
        assert "/c/" not in whole
        assert "My safe" in whole
        assert "1 Oct 2026" in whole


def test_running_and_copied_steps_come_in_their_order(talk: Conversation) -> None:
    step = Step.objects.earliest("number")
    assert step.run
    Step.objects.create(
        message=step.message, number=1, turn=0, revision=1, tool="first", created=BEGUN, state="done"
    )
    found = as_json(talk)
    assert [each["tool"] for each in reply(found)["steps"]] == [
        "first", "search_my_chats", "web_search", "read_page"
    ]  # fmt: skip
