"""A conversation as a reviewer reads it."""

import re
import uuid
from datetime import datetime, timedelta

import pytest
from django.test import Client

from chat.admin import transcript
from chat.engine.outcome import THINKING_CODE, THINKING_TEXT
from chat.models import Message, Run, RunChunk, Worker
from tests.admin import seed
from tests.admin.conftest import LIST

pytestmark = [pytest.mark.database, pytest.mark.django_db]
LEAF = re.compile(r"\?leaf=([0-9a-f-]{36})")
SHOWN = re.compile(r'<article [^>]*id="m-([0-9a-f-]{36})"')


def read(client: Client, talk: object, query: str = "") -> str:
    response = client.get(f"{LIST}{talk.pk}/change/?{query}")
    assert response.status_code == 200
    return response.content.decode()


def shown(page: str) -> list[uuid.UUID]:
    return [uuid.UUID(key) for key in SHOWN.findall(page)]


def test_it_says_what_was_said_and_all_about_it(reviewer: Client) -> None:
    talk = seed.talk(
        "alice", "On <boats>", question="**Why** <b>?", reply="Because **so**.", reasoning="Let me <think>",
    )  # fmt: skip
    talk.system, talk.deleted = "Be <brief>", seed.BEGUN + timedelta(days=3)
    talk.save()
    seed.judge(seed.messages_of(talk)[1], False, "Not <true>")
    page = read(reviewer, talk)
    assert "On &lt;boats&gt;" in page
    assert "**Why** &lt;b&gt;?" in page  # as it was typed
    assert "<strong>so</strong>" in page
    for text in ("Let me &lt;think&gt;", "Be &lt;brief&gt;", "Not &lt;true&gt;", "Thumbs down"):
        assert text in page
    for fact in (
        "GLM 4.7 Flash",
        "alice@example.org",
        "4 Nov 2026, 09:00",
        "1,000 in, 20 out",
        "<dt>Cost</dt><dd>&lt;\u00a0$0.0001</dd>",
    ):
        assert fact in page
    assert "2026-11-01T09:02:00+00:00" in page


def test_a_long_tree_is_read_as_texts_in_order_of_time(db: None) -> None:
    """Drivers need 25 ms to convert the ids and times of 10,000 messages."""
    talk = seed.talk(turns=3)
    parts = ("00.5", "00.45", "00", "00.000001", "01", "00.999999")
    for message, seconds in zip(seed.messages_of(talk), parts, strict=True):
        created = datetime.fromisoformat(f"2026-11-01T09:00:{float(seconds):09.6f}+00:00")
        Message.objects.filter(pk=message.pk).update(created=created, selected_at=created)
    rows = transcript._shape(talk)
    assert {type(value) for row in rows for value in row} == {str, type(None)}
    assert [uuid.UUID(row[0]) for row in rows] == [message.pk for message in seed.messages_of(talk)]
    times = [row[2] for row in rows]
    assert times == sorted(times)
    assert times == [row[3] for row in rows]


def test_a_reply_that_thinking_left_no_tokens_for_says_so(reviewer: Client) -> None:
    talk = seed.talk(
        reply="", reasoning="Hm. " * 50, status="truncated", error_code=THINKING_CODE,
        error_message=THINKING_TEXT, finish_reason="length",
    )  # fmt: skip
    page = read(reviewer, talk)
    assert "The model used all its tokens for thinking" in page
    assert "<code>thinking</code>" in page


def test_a_failure_says_its_code_and_the_request_id(reviewer: Client) -> None:
    talk = seed.talk(
        reply="", status="failed", error_code="busy", error_message="Too <busy>", request_id="req-77",
        completion_tokens=None, finish_reason="",
    )  # fmt: skip
    page = read(reviewer, talk)
    for text in ("Failed", "<code>busy</code>", "Too &lt;busy&gt;", "<code>req-77</code>"):
        assert text in page


def test_the_price_is_not_guessed(reviewer: Client) -> None:
    assert "<dt>Cost</dt><dd>unknown</dd>" in read(reviewer, seed.talk(model="@cf/unknown"))


def test_a_reply_that_is_being_written_shows_what_there_is(reviewer: Client) -> None:
    talk = seed.talk(reply="")
    worker = Worker.objects.create(host="here", pid=1)
    Run.objects.filter(conversation=talk).update(status="running", finished=None, worker=worker)
    run = Run.objects.get(conversation=talk)
    RunChunk.objects.create(run=run, kind="t", start=0, text="half a *repl")
    page = read(reviewer, talk)
    assert "half a *repl" in page
    assert "Running" in page


def test_the_page_runs_nothing(reviewer: Client) -> None:
    response = reviewer.get(f"{LIST}{seed.talk().pk}/change/")
    assert b"<script" not in response.content
    assert b"style=" not in response.content
    assert "require-trusted-types-for 'script'" in response["Content-Security-Policy"]
    assert "require-trusted-types-for" in reviewer.get(LIST)["Content-Security-Policy"]


def test_owner_branch_is_shown_and_others_are_linked(reviewer: Client) -> None:
    talk = seed.talk(turns=2)
    first, reply, second, _ = trunk = seed.messages_of(talk)
    seed.branch(first, talk, question="Edited")
    seed.branch(reply, talk, turns=2, question="Another second")
    elsewhere = seed.branch(None, talk, question="Another first")
    seed.branch(elsewhere[1], talk, turns=3)
    seed.branch(second, talk)
    page = read(reviewer, talk)
    assert shown(page) == [message.pk for message in trunk]
    assert "The owner currently sees a different branch" not in page
    seen, found = {""}, set(shown(page))
    waiting = LEAF.findall(page)
    while waiting:
        if (leaf := waiting.pop()) in seen:
            continue
        seen.add(leaf)
        page = read(reviewer, talk, f"leaf={leaf}")
        assert uuid.UUID(leaf) in shown(page)
        found |= set(shown(page))
        waiting += LEAF.findall(page)
    assert found == set(talk.messages.values_list("pk", flat=True))


def test_a_fork_marks_the_version_that_is_shown(reviewer: Client) -> None:
    talk = seed.talk()
    other = seed.branch(None, talk, question="Edited")
    page = read(reviewer, talk, f"leaf={other[0].pk}")
    assert shown(page) == [message.pk for message in other]
    assert re.search(rf'leaf={other[0].pk}[^>]*aria-current="true">2<', page)
    assert "The owner currently sees a different branch" in page


def test_a_version_leads_on_to_what_its_author_chose_last(reviewer: Client) -> None:
    talk = seed.talk()
    question, old = seed.messages_of(talk)
    newer = seed.branch(question, talk)[0]
    Message.objects.filter(pk=old.pk).update(selected_at=newer.created + timedelta(days=1))
    assert shown(read(reviewer, talk, f"leaf={question.pk}")) == [question.pk, old.pk]


def test_a_long_conversation_comes_in_pages_of_a_hundred(reviewer: Client) -> None:
    talk = seed.talk(turns=105)
    keys = [message.pk for message in seed.messages_of(talk)]
    page, pages = read(reviewer, talk, "_changelist_filters=q%3Da"), []
    for _ in range(2):
        pages.append(shown(page))
        older = re.search(r'href="\?(before=[^"]*)">Older messages', page)
        assert older
        assert "_changelist_filters=q%3Da" in older[1]
        page = read(reviewer, talk, older[1].replace("&amp;", "&"))
    pages.append(shown(page))
    assert [len(each) for each in pages] == [100, 100, 10]
    assert [key for each in reversed(pages) for key in each] == keys
    assert "Older messages" not in page
    newer = re.search(r'href="\?([^"]*)">Newer messages', page)
    assert newer
    assert shown(read(reviewer, talk, newer[1].replace("&amp;", "&"))) == pages[1]


@pytest.mark.parametrize(
    "query", ["leaf={foreign}", "leaf={missing}", "leaf=x", "before={missing}", "before=x"]
)
def test_a_message_that_is_not_there_is_not_found(reviewer: Client, query: str) -> None:
    talk, other = seed.talks("alice", ["one", "other"])
    keys = {"foreign": seed.messages_of(other)[0].pk, "missing": seed.missing()}
    assert reviewer.get(f"{LIST}{talk.pk}/change/?{query.format(**keys)}").status_code == 404


@pytest.mark.parametrize("key", [uuid.uuid4(), "x", "_00"])
def test_a_conversation_that_is_not_there_is_not_found(reviewer: Client, key: object) -> None:
    assert reviewer.get(f"{LIST}{key}/change/").status_code == 404


def test_next_and_previous_walk_the_list_as_it_was_filtered(reviewer: Client) -> None:
    talks = seed.talks("alice", ["boat 1", "car", "boat 2", "boat 3"])
    page = reviewer.get(f"{LIST}?q=boat&o=-8").content.decode()
    link = re.search(rf'href="({LIST}{talks[3].pk}/change/[^"]*)"', page)
    assert link
    newest = reviewer.get(link[1].replace("&amp;", "&")).context
    assert (newest["previous"], newest["next"]) == (None, talks[2].pk)
    middle = reviewer.get(f"{LIST}{talks[2].pk}/change/?{newest['kept']}").context
    assert (middle["previous"], middle["next"]) == (talks[3].pk, talks[0].pk)
    assert middle["list_url"] == f"{LIST}?q=boat&o=-8"
    outside = reviewer.get(f"{LIST}{talks[1].pk}/change/?{newest['kept']}").context
    assert (outside["previous"], outside["next"]) == (None, None)


@pytest.mark.parametrize(
    "filters",
    ["updated__gte%3Dx", "user__password__contains%3Dx", "%253D%26%26", "p%3D9", "title__contains%3D%2500"],
)
def test_odd_filters_only_cost_the_way(reviewer: Client, filters: str) -> None:
    talk = seed.talk()
    assert reviewer.get(f"{LIST}{talk.pk}/change/?_changelist_filters={filters}").status_code == 200
