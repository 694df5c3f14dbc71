"""The calls of tools wherever their reply is shown: in pages, the review, and in copies."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from django.utils.html import escape

from chat.conversations.turns.fork import fork
from chat.engine.generation import step_store
from chat.models import Citation, Conversation, Message, Run, Step, User
from chat.sharing import links
from chat.sharing.snapshot import copy
from chat.views.conversations import thread
from tests.support.steps import EVIL, OTHER_CHAT, PAGE, SECRET, looked_up, run_of, step_of

pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]
SHOWN = ("tool", "call", "arguments", "state", "summary", "sources", "cost", "created", "finished")


@pytest.fixture(autouse=True)
def sharing(settings: Any) -> None:
    settings.SHARING = "permanent"


@pytest.fixture
def talk(alice: User) -> Conversation:
    return looked_up(alice)


def leaf_of(conversation: Conversation) -> Message:
    leaf = conversation.active_leaf
    assert leaf
    return leaf


def page_of(talk: Conversation, **options: Any) -> str:
    _link, token = links.create(talk.user, leaf_of(talk).pk, "7", shows_name=False, **options)
    return Client().get(f"/s/{token}/").content.decode()


def test_the_page_links_each_source(client: Client, talk: Conversation) -> None:
    client.force_login(talk.user)
    page = client.get(f"/c/{talk.pk}/").content.decode()
    for found in re.findall(r'<a href="/c/2d0f[^>]*>', page):
        assert found == f'<a href="{OTHER_CHAT}">'
    assert page.count(f'<a href="{OTHER_CHAT}">') == 2  # of the step, and of the reply
    assert "<script>alert" not in page
    assert "2 searches · 1 page not read · 2 s" in page
    assert '<span class="pages">1 Oct 2026</span>' in page


def test_of_the_addresses_that_may_be_read_the_latest_count(
    talk: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(step_store, "MAX_CITED", 2)
    reply = leaf_of(talk)
    later = Message.objects.create(conversation=talk, parent=reply, role=Message.Role.ASSISTANT, text="More.")
    addresses = [f"https://web.example/{number}" for number in range(2)]
    Citation.objects.add(later.pk, [Citation(title="A page", url=each, text="A") for each in addresses])
    run_of(later, talk.user)
    assert known_in(talk) == addresses


def known_in(conversation: Conversation) -> list[str]:
    """The addresses of a conversation that may be read in its next reply."""
    return sorted(step_store._known(conversation.pk))


def test_of_a_copy_no_address_may_be_read_unasked(talk: Conversation, alice: User) -> None:
    Message.objects.filter(conversation=talk, role="user").update(text=f"Look at {PAGE}&d=3")
    assert known_in(talk) == [OTHER_CHAT, PAGE, f"{PAGE}&d=3"]
    assert known_in(fork(alice, talk, leaf_of(talk).pk)) == []
    _link, token = links.create(alice, leaf_of(talk).pk, "7", shows_name=False, shows_steps=True)
    assert known_in(copy(User.objects.create_user("bob"), token, "m")) == []


def test_a_question_of_others_stays_theirs_if_answered_again(talk: Conversation, alice: User) -> None:
    made = fork(alice, talk, leaf_of(talk).pk)
    question = leaf_of(made).parent
    assert question
    again = Message.objects.create(conversation=made, parent=question, role="assistant", text="So.")
    Message.objects.filter(pk=question.pk).update(created=again.created - timedelta(seconds=10))
    run_of(again, alice)
    assert known_in(made) == []
    own = Message.objects.create(conversation=made, parent=again, role="user", text=f"And {PAGE}?")
    run_of(Message.objects.create(conversation=made, parent=own, role="assistant"), alice)
    assert known_in(made) == [PAGE]


def test_a_page_without_steps_asks_for_none(talk: Conversation) -> None:
    with CaptureQueriesContext(connection) as with_them:
        thread.read(talk)
    assert not [query for query in with_them if '"result"' in query["sql"]]
    Step.objects.all().delete()
    with CaptureQueriesContext(connection) as without:
        thread.read(talk)
    assert len(without) == len(with_them) - 1


def test_a_shared_page_shows_no_steps_and_no_chats(talk: Conversation) -> None:
    page = page_of(talk)
    for hidden in ('class="steps"', "Search the web", "My safe", SECRET, "/c/2d0f", "1234"):
        assert hidden not in page
    assert "Source 1 is not shared" in page
    assert page.index("Source 1 is not shared") < page.index("Boats float.")  # which is the second still
    assert page.count("<summary>") == 2


def test_ticked_a_shared_page_shows_steps_without_results(talk: Conversation) -> None:
    page = page_of(talk, shows_steps=True)
    for shown in ("Search the web for “&lt;/li&gt;", f"Read {PAGE}".replace("&", "&amp;"), "1 chat"):
        assert shown in page
    for hidden in ("My safe", SECRET, "/c/2d0f", "<script>alert"):
        assert hidden not in page
    assert page.count('rel="nofollow noopener noreferrer"') == 2


def test_later_steps_are_not_shared(talk: Conversation) -> None:
    run = Run.objects.get()
    step_of(run, 4, arguments={"query": "later"}, created=timezone.now() + timedelta(1))
    assert "later" not in page_of(talk, shows_steps=True)


def test_the_owner_ticks_the_steps(client: Client, talk: Conversation) -> None:
    client.force_login(talk.user)
    address = f"/messages/{leaf_of(talk).pk}/share/"
    assert 'name="steps"' in client.get(address, headers={"accept": "text/html"}).content.decode()
    for sent, shown in (({}, False), ({"steps": True}, True), ({"steps": False}, False)):
        made = client.post(address, sent, content_type="application/json").json()
        page = Client().get(made["url"][made["url"].index("/s/") :])
        assert ("Search the web" in page.content.decode()) is shown
    assert client.get(reverse("chat:shared_links")).content.decode().count("With the steps") == 1
    Step.objects.all().delete()
    assert 'name="steps"' not in client.get(address, headers={"accept": "text/html"}).content.decode()


def rows(conversation: Conversation, *more: str) -> list[Any]:
    found = Step.objects.filter(message=conversation.active_leaf_id).order_by("number")
    return list(found.values_list(*SHOWN, *more))


def test_a_fork_has_the_steps_and_tools(client: Client, talk: Conversation) -> None:
    made = fork(talk.user, talk, leaf_of(talk).pk)
    assert made.tools == talk.tools
    assert rows(made, "result") == rows(talk, "result")
    assert set(Step.objects.filter(message=made.active_leaf_id).values_list("run", "user")) == {(None, None)}
    client.force_login(talk.user)
    assert "2 searches" in client.get(f"/c/{made.pk}/").content.decode()
    again = fork(talk.user, made, leaf_of(made).pk)
    assert rows(again) == rows(talk)


@pytest.mark.parametrize("shows", [False, True])
def test_a_readers_copy_has_what_the_page_shows(talk: Conversation, shows: bool) -> None:
    bob = User.objects.create_user("bob")
    _link, token = links.create(talk.user, leaf_of(talk).pk, "7", shows_name=False, shows_steps=shows)
    made = copy(bob, token, "m")
    assert made.tools == []
    copied = Step.objects.filter(message=made.active_leaf_id).order_by("number")
    assert [step.tool for step in copied] == (["search_my_chats", "web_search", "read_page"] if shows else [])
    assert not any(step.result for step in copied)
    assert [len(step.sources) for step in copied] == ([0, 1, 0] if shows else [])
    cited = Citation.objects.filter(message=made.active_leaf_id).order_by("number")
    assert [each.title for each in cited] == ["Source 1 is not shared", f"A page {EVIL}"]
    assert [each.text for each in cited] == ["", "Boats float."]
    assert not Citation.objects.filter(message=made.active_leaf_id, url__startswith="/").exists()


def test_reviewers_see_arguments_times_and_costs(reviewer: Client, talk: Conversation) -> None:
    step_of(Run.objects.get(), 4, sources=[{"number": 3, "title": "Nowhere", "url": "", "date": ""}])
    page = reviewer.get(f"/admin/chat/conversation/{talk.pk}/change/").content.decode()
    assert "&quot;query&quot;: &quot;&lt;/li&gt;&lt;script&gt;alert(1)&lt;/script&gt;&quot;" in page
    evil = Step.objects.get(message__conversation=talk, number=2)
    assert escape(evil.written_arguments) in page  # whole; PostgreSQL has an order of its own for the keys
    for each in ("<code>search_my_chats</code>", "My safe", "about $0.00025", "This took too long.", "2.0 s"):
        assert each in page
    assert "<bdi>Nowhere</bdi></li>" in page  # no link, which would lead to this page
    assert "<script>alert" not in page
    assert "/c/2d0f" not in page


def test_the_usage_page_adds_what_tools_cost(client: Client, talk: Conversation) -> None:
    Step.objects.all().delete()
    step_of(Run.objects.get(), 4, cost=1.25, created=timezone.now())
    client.force_login(talk.user)
    page = client.get(reverse("chat:usage")).content.decode()
    assert "<bdi>Web search</bdi></th><td>1</td><td>0</td><td>0</td><td>$1.25</td>" in page
    assert "<td>$1.25</td>" in page.partition("<tfoot>")[2].partition("</tfoot>")[0]
