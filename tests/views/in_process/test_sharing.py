"""A shared link: what it shows, to whom, for how long, and what continues from it."""

import re
import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest
from django.db import connections, transaction
from django.test import Client
from django.utils import timezone

from chat.conversations import changes
from chat.conversations.turns.versions import delete_branch
from chat.exceptions import NotFound
from chat.models import Conversation, Message, Run, SharedLink, User
from chat.retention.kinds import prune
from chat.sharing import links
from chat.views import sharing as sharing_views
from tests.support.clients import as_
from tests.support.message_trees import run

pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]
GONE = "This link doesn’t exist or has expired."
HTML = {"HTTP_ACCEPT": "text/html"}


@pytest.fixture(autouse=True)
def sharing(settings: Any) -> None:
    settings.SHARING = "permanent"


@pytest.fixture
def talk(alice: User) -> Conversation:
    """A question and a reply, instructions and thoughts that are nobody's business, and a later question."""
    made = Conversation.objects.create(
        user=alice, title="Boats", model="m", system="hidden instructions", parameters={"temperature": 1}
    )
    question = Message.objects.create(conversation=made, role="user", text="Why do <b>boats</b> float?")
    reply = Message.objects.create(
        conversation=made,
        parent=question,
        role="assistant",
        model="m",
        text="By **lift**: $x^2$\n\n```python\nprint(1)\n```",
        reasoning="hidden thoughts",
    )
    later = Message.objects.create(conversation=made, parent=reply, role="user", text="a later question")
    made.active_leaf = later
    made.save()
    return made


@pytest.fixture
def reply(talk: Conversation) -> Message:
    return talk.messages.get(role="assistant")


@pytest.fixture
def hers(alice: User) -> Client:
    return as_(alice)


@pytest.fixture
def stranger() -> Client:
    return as_(User.objects.create_user("bob"))


def share(client: Client, message: Message, **fields: Any) -> Any:
    return client.post(f"/messages/{message.pk}/share/", fields, content_type="application/json")


def path_of(response: Any) -> str:
    assert response.status_code == 201, response.content
    return "/s/" + response.json()["url"].partition("/s/")[2]


@pytest.fixture
def link(hers: Client, reply: Message) -> str:
    return path_of(share(hers, reply))


def assert_gone(path: str) -> None:
    """The same bytes as for a link that never existed."""
    never = Client().get("/s/" + "x" * 43 + "/", **HTML)
    response = Client().get(path, **HTML)
    assert response.status_code == never.status_code == 404
    assert response.content == never.content
    assert GONE in response.content.decode()


def test_anybody_reads_the_branch_and_nothing_else(link: str) -> None:
    page = Client().get(link, **HTML)
    text = page.content.decode()
    assert page.status_code == 200
    for shown in ("Boats", "&lt;b&gt;boats&lt;/b&gt;", "<strong>lift</strong>", "<math", "print"):
        assert shown in text
    for hidden in ("hidden instructions", "hidden thoughts", "a later question", "alice", "<script", "<form"):
        assert hidden not in text


def test_the_page_sets_no_cookie_and_is_not_kept(link: str, stranger: Client) -> None:
    for client in (Client(), stranger):
        page = client.get(link, **HTML)
        assert not page.cookies
        assert page["Cache-Control"] == "no-store"
        assert page["Referrer-Policy"] == "no-referrer"
        assert page["X-Robots-Tag"].startswith("noindex")
        assert "script-src" not in page["Content-Security-Policy"]
        assert '<meta name="robots" content="noindex' in page.content.decode()


def test_the_name_is_shown_only_if_its_owner_says_so(hers: Client, reply: Message) -> None:
    path = path_of(share(hers, reply, name=True))
    assert "Shared by <bdi>alice</bdi>" in Client().get(path).content.decode()


def test_the_token_is_not_stored(link: str) -> None:
    token = link.split("/")[2]
    assert token not in repr(SharedLink.objects.values().get())


def test_later_text_and_a_later_title_are_not_shared(link: str, reply: Message, stranger: Client) -> None:
    Message.objects.filter(pk=reply.pk).update(text=reply.text + "\n\nadded later")
    Conversation.objects.filter(pk=reply.conversation_id).update(title="Renamed later")
    assert " later" not in Client().get(link).content.decode()
    stranger.post(f"{link}continue/")
    copied = Message.objects.get(conversation__user__username="bob", role="assistant")
    assert copied.text == reply.text


@pytest.fixture
def edited(talk: Conversation) -> Message:
    """Another version of the first question, which says less than the first one, and its reply."""
    Conversation.objects.filter(pk=talk.pk).update(title="Why does my ex float?")
    question = Message.objects.create(conversation=talk, role="user", text="Why does it float?\nTell me.")
    return Message.objects.create(conversation=talk, parent=question, role="assistant", text="Air.")


def test_the_title_is_not_of_another_version_of_the_question(
    hers: Client, reply: Message, edited: Message
) -> None:
    """A title is made of the first question, and an edit does not change it."""
    form = hers.get(f"/messages/{edited.pk}/share/", **HTML).content.decode()
    assert 'value="Why does it float?"' in form
    page = Client().get(path_of(share(hers, edited))).content.decode()
    assert "Why does it float?</h1>" in page
    assert "my ex" not in page
    first = Client().get(path_of(share(hers, reply))).content.decode()
    assert "Why does my ex float?</h1>" in first


def test_its_owner_chooses_the_title(hers: Client, reply: Message, stranger: Client) -> None:
    path = path_of(share(hers, reply, title="  How <b>boats</b>\n float "))
    page = Client().get(path).content.decode()
    assert "How &lt;b&gt;boats&lt;/b&gt; float</h1>" in page
    assert ">Boats<" not in page
    stranger.post(f"{path}continue/")
    assert Conversation.objects.get(user__username="bob").title == "How <b>boats</b> float"
    for blank in ("", " \n"):
        assert "Boats</h1>" in Client().get(path_of(share(hers, reply, title=blank))).content.decode()
    reply.conversation.refresh_from_db()
    assert reply.conversation.title == "Boats"


def test_a_title_that_is_too_long_is_refused(hers: Client, reply: Message) -> None:
    assert share(hers, reply, title="x" * 81).status_code == 413
    assert not SharedLink.objects.exists()


def test_a_deleted_first_question_is_still_the_one_of_the_title(
    hers: Client, talk: Conversation, edited: Message
) -> None:
    first = talk.messages.filter(parent=None).earliest("created")
    assert hers.post(f"/messages/{first.pk}/delete/", content_type="application/json").status_code == 200
    assert "my ex" not in Client().get(path_of(share(hers, edited))).content.decode()


def test_a_copy_does_not_tell_when_the_messages_were_written(
    link: str, stranger: Client, talk: Conversation
) -> None:
    began = timezone.now()
    Message.objects.filter(conversation=talk).update(created=began - timedelta(days=9))
    stranger.post(f"{link}continue/")
    copied = Message.objects.filter(conversation__user__username="bob")
    assert copied.count() == 2
    assert copied.filter(created__gte=began).count() == 2


def test_an_invented_link_is_not_found() -> None:
    for token in ("a", "x" * 43, "x" * 500, "%00" * 43, "é" * 43):
        assert_gone(f"/s/{token}/")


def test_a_revoked_link_is_not_found(link: str, hers: Client) -> None:
    key = SharedLink.objects.get().pk
    assert hers.post(f"/settings/shared/{key}/revoke/", content_type="application/json").status_code == 200
    assert_gone(link)


def test_an_expired_link_is_not_found_and_is_pruned(link: str, talk: Conversation) -> None:
    SharedLink.objects.update(expires=timezone.now() - timedelta(seconds=1))
    assert_gone(link)
    prune(lambda: False)
    assert not SharedLink.objects.exists()


def test_the_link_of_a_disabled_person_is_not_found(link: str) -> None:
    User.objects.filter(username="alice").update(is_active=False)
    assert_gone(link)


@pytest.mark.parametrize("several", [False, True])
def test_a_deleted_conversation_ends_its_links_for_good(
    several: bool, link: str, hers: Client, talk: Conversation
) -> None:
    if several:
        hers.post(
            "/conversations/",
            {"action": "delete", "conversations": [str(talk.pk)]},
            content_type="application/json",
        )
    else:
        hers.post(f"/c/{talk.pk}/delete/", content_type="application/json")
    assert_gone(link)
    hers.post(f"/c/{talk.pk}/undelete/", content_type="application/json")
    assert_gone(link)


def test_a_deleted_message_ends_the_links_that_show_it(link: str, hers: Client, talk: Conversation) -> None:
    question = talk.messages.get(parent=None)
    hers.post(f"/messages/{question.pk}/delete/", content_type="application/json")
    assert_gone(link)
    assert not SharedLink.objects.exists()


DELETIONS: dict[str, Callable[[Message], Any]] = {
    "several": lambda reply: changes.change(reply.conversation.user, "delete", [reply.conversation_id]),
    "one": lambda reply: changes.delete(
        Conversation.objects.filter(pk=reply.conversation_id), timezone.now()
    ),
    "message": lambda reply: delete_branch(reply.conversation.user, reply.pk),
}


@pytest.mark.parametrize("deletion", DELETIONS)
@pytest.mark.parametrize("shared_first", [True, False])
def test_a_link_made_during_a_deletion_does_not_outlive_it(
    deletion: str, shared_first: bool, alice: User, reply: Message
) -> None:
    """Interleave both: on PostgreSQL neither sees the other's uncommitted rows."""

    def delete() -> None:
        with transaction.atomic():
            DELETIONS[deletion](reply)

    def create() -> None:
        with suppress(NotFound):
            links.create(alice, reply.pk, "7", shows_name=False)

    def second() -> None:
        (delete if shared_first else create)()
        connections.close_all()

    other = threading.Thread(target=second)
    with transaction.atomic():
        (create if shared_first else delete)()
        other.start()
        other.join(0.2)
    other.join()
    assert not SharedLink.objects.exists()


def test_without_the_setting_nothing_is_shared(
    link: str, hers: Client, reply: Message, settings: Any
) -> None:
    settings.SHARING = "off"
    assert_gone(link)
    talk = f"/c/{reply.conversation_id}/"
    for path in ("/settings/shared/", f"/messages/{reply.pk}/share/", f"{talk}share/"):
        assert hers.get(path, **HTML).status_code == 404
    assert share(hers, reply).status_code == 404
    assert "/settings/shared/" not in hers.get("/settings/", **HTML).content.decode()
    assert "/share/" not in hers.get(f"/messages/{reply.pk}/actions/", **HTML).content.decode()
    page = hers.get(talk, **HTML).content.decode()
    assert 'form="share"' not in page
    assert "data-url-share" not in page


def test_a_link_lasts_for_ever_only_while_the_site_allows_it(
    hers: Client, reply: Message, settings: Any
) -> None:
    path = path_of(share(hers, reply, days="never"))
    assert Client().get(path).status_code == 200
    settings.SHARING = "expiring"
    assert_gone(path)
    assert share(hers, reply, days="never").status_code == 400


@pytest.mark.parametrize(
    "fields", [{"days": "365"}, {"days": 7}, {"name": "yes"}, {"title": 7}, {"subject": "x"}]
)
def test_a_wrong_field_is_refused(fields: dict[str, Any], hers: Client, reply: Message) -> None:
    assert share(hers, reply, **fields).status_code == 400
    assert not SharedLink.objects.exists()


@pytest.fixture
def live(reply: Message) -> Run:
    return run(reply, "running")


@pytest.mark.usefixtures("live")
def test_a_reply_that_is_being_written_is_not_shared(hers: Client, reply: Message) -> None:
    refused = share(hers, reply)
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "busy")


@pytest.mark.usefixtures("live")
def test_the_way_back_from_a_refusal_is_to_the_conversation(hers: Client, reply: Message) -> None:
    for response in (
        hers.get(f"/messages/{reply.pk}/share/", **HTML),
        hers.post(f"/messages/{reply.pk}/share/", {"days": "7"}, **HTML),
    ):
        page = response.content.decode()
        assert response.status_code == 409
        assert "A reply is still being written. Wait for it or stop it." in page
        assert f'href="/c/{reply.conversation_id}/#m-{reply.pk}">Open this chat</a>' in page
        assert "Create link" not in page


def test_a_temporary_chat_is_not_shared(hers: Client, reply: Message, talk: Conversation) -> None:
    Conversation.objects.filter(pk=talk.pk).update(temporary=True)
    assert share(hers, reply).status_code == 409
    assert 'id="share"' not in hers.get(f"/c/{talk.pk}/", **HTML).content.decode()
    for path in (f"/messages/{reply.pk}/share/", f"/c/{talk.pk}/share/"):
        refused = hers.get(path, follow=True, **HTML)
        assert refused.status_code == 409
        assert "A temporary chat can’t be shared." in refused.content.decode()


def test_the_number_of_links_is_bounded(
    hers: Client, reply: Message, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(links, "MAX_LINKS_PER_USER", 1)
    path_of(share(hers, reply))
    assert share(hers, reply).status_code == 409


def test_a_reply_without_text_is_not_quoted(hers: Client, reply: Message) -> None:
    address, part = f"/messages/{reply.pk}/share/", {"HTTP_X_REQUESTED_WITH": "fetch"}
    assert "2 messages, up to</span> <q " in hers.get(address, **part).content.decode()
    Message.objects.filter(pk=reply.pk).update(text="")
    dialog = hers.get(address, **part).content.decode()
    assert "2 messages in all." in dialog
    assert "<q " not in dialog
    assert "Last message" not in hers.get(address, **HTML).content.decode()


def test_the_form_says_what_is_shared_and_the_link_is_shown(hers: Client, reply: Message) -> None:
    address = f"/messages/{reply.pk}/share/"
    form = hers.get(address, **HTML).content.decode()
    assert "Why do &lt;b&gt;boats" in form
    assert "Show my name, <bdi>alice</bdi>" in form
    sent = hers.post(address, {"days": "30", "name": "on"}, **HTML)
    key = SharedLink.objects.get().pk
    assert (sent.status_code, sent["Location"]) == (303, f"/settings/shared/?new={key}")
    shown = hers.get(sent["Location"], **HTML)
    assert "Link created." in shown.content.decode()
    assert shown["Cache-Control"] == "no-store"
    path = re.search(r"/s/[\w-]{43}/", shown.content.decode())
    assert path
    assert Client().get(path[0]).status_code == 200
    again = hers.get("/settings/shared/", **HTML).content.decode()
    assert path[0] in again
    assert "Link created." not in again
    assert timedelta(days=29) < SharedLink.objects.get().expires - timezone.now() < timedelta(days=30)


def test_somebody_signed_in_continues_in_a_copy(link: str, stranger: Client, talk: Conversation) -> None:
    assert stranger.get(f"{link}continue/", **HTML).status_code == 200
    response = stranger.post(f"{link}continue/", {}, **HTML)
    made = Conversation.objects.get(user__username="bob")
    assert (response.status_code, response["Location"]) == (303, f"/c/{made.pk}/")
    assert (made.title, made.system, made.parameters) == ("Boats", "", {})
    assert made.model != "m"  # a model that this site does not offer
    texts = made.messages.order_by("created").values_list("text", "reasoning")
    shared = talk.messages.order_by("created").values_list("text", flat=True)[:2]
    assert list(texts) == [(text, "") for text in shared]


def test_a_dead_link_is_not_continued(link: str, stranger: Client) -> None:
    SharedLink.objects.all().delete()
    for response in (stranger.get(f"{link}continue/", **HTML), stranger.post(f"{link}continue/", {}, **HTML)):
        assert response.status_code == 404
    assert Conversation.objects.count() == 1


def test_a_page_that_is_not_there_is_not_found(link: str) -> None:
    assert Client().get(f"{link}?page=1").status_code == 200
    for number in ("0", "2", "-1", "x", "9" * 9, "²"):
        assert_gone(f"{link}?page={number}")


def test_a_long_branch_has_several_pages(hers: Client, reply: Message) -> None:
    last = reply
    for number in range(120):
        role = "assistant" if last.role == "user" else "user"
        text = f"number {number}."
        last = Message.objects.create(conversation=reply.conversation, parent=last, role=role, text=text)
    path = path_of(share(hers, last))
    first, second = (Client().get(f"{path}?page={number}").content.decode() for number in (1, 2))
    assert "number 0." in first
    assert "number 119." not in first
    assert "number 119." in second


def test_a_conversation_is_shared_up_to_its_last_message(hers: Client, talk: Conversation) -> None:
    page = hers.get(f"/c/{talk.pk}/", **HTML).content.decode()
    assert f'<form id="share" action="/c/{talk.pk}/share/"' in page
    assert 'form="share" data-opens="share"' in page
    response = hers.get(f"/c/{talk.pk}/share/", **HTML)
    assert response.status_code == 302
    assert response["Location"] == f"/messages/{talk.active_leaf_id}/share/"
    assert hers.get(response["Location"], **HTML).status_code == 200


def test_a_new_chat_has_the_form_and_a_temporary_one_does_not(hers: Client) -> None:
    assert '<form id="share" action=""' in hers.get("/", **HTML).content.decode()
    assert 'id="share"' not in hers.get("/?temporary=on", **HTML).content.decode()


def test_the_page_of_links_names_both_menus(hers: Client) -> None:
    assert (
        "press Share, or the menu below one of its messages" in hers.get("/settings/shared/").content.decode()
    )


def test_only_ones_own_conversations_with_messages_are_shared(
    hers: Client, stranger: Client, talk: Conversation
) -> None:
    assert stranger.get(f"/c/{talk.pk}/share/", **HTML).status_code == 404
    Conversation.objects.filter(pk=talk.pk).update(active_leaf=None)
    response = hers.get(f"/c/{talk.pk}/share/", **HTML)
    assert response.status_code == 404
    assert "This chat has no messages to share." in response.content.decode()


def test_a_page_too_many_is_refused_before_it_is_read(link: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sharing_views, "MAX_WAITING_SHARED_PAGES", 0)
    monkeypatch.setattr(sharing_views.snapshot, "read_page", lambda *_: pytest.fail("the page was read"))
    assert Client().get(link, **HTML).status_code == 429


def test_a_reply_without_text_says_why(reply: Message, stranger: Client, hers: Client) -> None:
    Message.objects.filter(pk=reply.pk).update(text="")
    shown = stranger.get(path_of(share(hers, reply)), **HTML).content.decode()
    assert "This reply failed or was stopped before its first word." in shown


PART = {"HTTP_ACCEPT": "text/html", "HTTP_X_REQUESTED_WITH": "fetch"}


def dialog(client: Client, path: str) -> str:
    response = client.get(path, **PART)
    assert response.status_code == 200
    assert response["Cache-Control"] == "no-store"
    return response.content.decode()


def test_the_dialog_has_the_links_of_its_chat_to_copy_again(
    link: str, hers: Client, reply: Message, talk: Conversation
) -> None:
    other = Conversation.objects.create(user=talk.user, title="Other", model="m")
    message = Message.objects.create(conversation=other, role="user", text="x")
    elsewhere = path_of(share(hers, message))
    for path in (f"/c/{talk.pk}/share/", f"/messages/{reply.pk}/share/"):
        shown = dialog(hers, path)
        assert link in shown
        assert elsewhere not in shown
        assert "<html" not in shown
    SharedLink.objects.filter(leaf=reply).update(expires=timezone.now())
    assert "/s/" not in dialog(hers, f"/c/{talk.pk}/share/")


def test_the_last_message_is_shown_without_the_marks_of_markdown(hers: Client, reply: Message) -> None:
    Message.objects.filter(pk=reply.pk).update(
        text="It takes **three days**.\n\n| a | b |\n|---|---|\n| c | d |"
    )
    for shown in (
        dialog(hers, f"/messages/{reply.pk}/share/"),
        hers.get(f"/messages/{reply.pk}/share/", **HTML).content.decode(),
    ):
        assert "It takes three days." in shown
        assert "a · b" in shown


@pytest.mark.usefixtures("live")
def test_a_dialog_that_is_refused_is_no_dialog(hers: Client, reply: Message, talk: Conversation) -> None:
    for path in (f"/c/{talk.pk}/share/", f"/messages/{reply.pk}/share/"):
        talk.active_leaf = reply
        talk.save()
        assert hers.get(path, **PART).status_code == 409


def test_with_another_secret_key_a_link_opens_but_is_not_copied(
    link: str, hers: Client, talk: Conversation, settings: Any
) -> None:
    """The digest finds the link; its address is computed from the key."""
    shared = SharedLink.objects.get()
    former = settings.SECRET_KEY
    settings.SECRET_KEY = "another"
    assert shared.token == ""
    assert Client().get(link).status_code == 200
    settings.SECRET_KEY_FALLBACKS = [former]
    assert shared.token == link.split("/")[2]


def test_two_links_of_one_message_have_their_own_addresses(hers: Client, reply: Message) -> None:
    assert path_of(share(hers, reply)) != path_of(share(hers, reply))


def test_dates_are_as_short_as_they_can_be(link: str, hers: Client) -> None:
    year = timezone.now().year
    SharedLink.objects.update(
        created=timezone.now().replace(month=2, day=3),
        expires=timezone.now().replace(year=year + 1, month=2, day=3),
    )
    assert f"Created 3 Feb · expires 3 Feb {year + 1}" in hers.get("/settings/shared/").content.decode()
    SharedLink.objects.update(expires=None)
    assert "Created 3 Feb · does not expire" in hers.get("/settings/shared/").content.decode()
