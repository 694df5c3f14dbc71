"""The search of one's own conversations: as JSON, as a page, and the page of a conversation at a message."""

import re
import uuid

import pytest

from tests.e2e import seed
from tests.support.people import CSRF
from tests.support.server import Person, Server
from tests.views.refusals import refused

JSON = {"Accept": "application/json"}
HTML = {"Accept": "text/html"}


def find(person: Person, typed: str, **more: str) -> dict:
    response = person.client.get("/search/", params={"q": typed, **more}, headers=JSON)
    assert response.status_code == 200
    return response.json()


def word() -> str:
    """A word that no other test has written."""
    return f"w{uuid.uuid4().hex[:12]}"


@pytest.mark.database
def test_question_reply_and_title_are_found_at_once(alice: Person) -> None:
    unique_word = word()
    meta = alice.asked(f"{unique_word} please\nfake: words tokens=3 delay=0").meta
    (found,) = find(alice, unique_word)["results"]
    assert found == found | {
        "conversation": meta["conversation"],
        "message": meta["user_message"],
        "title": f"{unique_word} please",
        "title_marks": [[0, len(unique_word)]],
        "marks": [[0, len(unique_word)]],
        "day": "Today",
        "url": f"/c/{meta['conversation']}/?at={meta['user_message']}#m-{meta['user_message']}",
        "more": "",
        "more_url": None,
    }
    assert found["snippet"].startswith(f"{unique_word} please")
    reply = alice.client.get(f"/messages/{meta['message']}/source/").text
    assert meta["message"] in {each["message"] for each in find(alice, f'"{reply}"')["results"]}


@pytest.mark.database
def test_a_new_title_replaces_the_former_one(alice: Person) -> None:
    former, new = word(), word()
    talk = alice.asked(former).conversation
    alice.post(f"/c/{talk}/rename/", {"title": new})
    assert [each["message"] for each in find(alice, f"in:title {new}")["results"]] == [None]
    assert find(alice, f"in:title {former}")["results"] == []


def test_nobody_finds_what_another_person_wrote(alice: Person, server: Server) -> None:
    unique_word = word()
    alice.asked(unique_word)
    assert find(alice, unique_word)["results"]
    for other in ("bob", "erin", "root"):
        assert find(server.person(other), unique_word) == {"results": [], "next": None, "building": False}


def test_a_deleted_conversation_is_found_again_once_restored(alice: Person) -> None:
    unique_word = word()
    talk = alice.asked(unique_word).conversation
    alice.post(f"/c/{talk}/delete/")
    assert find(alice, unique_word)["results"] == []
    alice.post(f"/c/{talk}/undelete/")
    (found,) = find(alice, unique_word)["results"]
    assert found["more"] == "1 more"  # the reply, which repeats it


@pytest.mark.parametrize(
    "typed", ["", '"', "NEAR(", "a\0b", "-" * 400, "x" * 5_000, "' OR 1=1 --", "*", "\ud7ff😀"]
)
def test_no_query_is_an_error(alice: Person, typed: str) -> None:
    assert find(alice, typed)["next"] is None


@pytest.mark.parametrize("written", ["x", "1.x", "-1.0", "f" * 40])
def test_a_cursor_that_is_none_is_refused(alice: Person, written: str) -> None:
    refused(
        alice.client.get("/search/", params={"q": "x", "cursor": written}, headers=JSON), 400, "malformed"
    )


def test_without_scripts_it_is_a_page_with_marks_and_pages(alice: Person) -> None:
    unique_word = word()
    alice.asked(f"<b>{unique_word}</b>")
    page = alice.client.get("/search/", params={"q": unique_word}, headers=HTML).text
    assert f"&lt;b&gt;<mark>{unique_word}</mark>&lt;/b&gt;" in page
    assert f"<b>{unique_word}" not in page
    assert f'value="{unique_word}"' in page
    assert "Nothing found." in alice.client.get("/search/", params={"q": word()}, headers=HTML).text


def test_the_next_page_goes_on_where_the_last_ended(alice: Person) -> None:
    unique_word = word()
    talks = [alice.asked(f"{unique_word} {n}").conversation for n in range(22)]
    page = alice.client.get("/search/", params={"q": unique_word}, headers=HTML).text
    (further,) = re.findall(r'href="(\?q=[^"]+)">More results', page)
    rest = alice.client.get(f"/search/{further.replace('&amp;', '&')}", headers=HTML).text
    found = re.findall(r'class="search-result" href="/c/([^"/]+)', page + rest)
    assert sorted(found) == sorted(talks)


def test_the_further_hits_of_a_conversation_have_a_page(alice: Person) -> None:
    unique_word = word()
    talk = alice.asked(unique_word).conversation
    for n in range(11):
        alice.asked(f"{unique_word} {n}", f"/c/{talk}/messages/")
    (found,) = find(alice, unique_word)["results"]
    assert found["more"] == "23 more"  # questions and replies
    page = alice.client.get(found["more_url"], headers=HTML).text
    assert page.count('class="search-result"') == 20
    (further,) = re.findall(r'href="(\?q=[^"]+)">More results', page)
    rest = alice.client.get(f"/search/{further.replace('&amp;', '&')}", headers=HTML).text
    hits = re.findall(r'class="search-result" href="(/c/[^"]+)"', page + rest)
    assert len(set(hits)) == 24
    assert all(hit.startswith(f"/c/{talk}/") for hit in hits)


def test_only_an_own_conversation_is_searched(alice: Person, server: Server) -> None:
    talk = alice.asked("anything").conversation
    params = {"q": "anything", "chat": talk}
    assert alice.client.get("/search/", params=params, headers=JSON).json()["results"]
    refused(server.person("bob").client.get("/search/", params=params, headers=JSON), 404, "not_found")
    refused(alice.client.get("/search/", params=params | {"chat": "x"}, headers=JSON), 400, "malformed")
    alice.post(f"/c/{talk}/delete/")
    refused(alice.client.get("/search/", params=params, headers=JSON), 404, "not_found")


def test_a_page_reaches_to_a_message_far_up(alice: Person) -> None:
    first = alice.asked("the first of many").meta
    talk = first["conversation"]
    for n in range(26):
        alice.asked(f"number {n}", f"/c/{talk}/messages/")
    anchor = f'id="m-{first["user_message"]}"'
    assert anchor not in alice.client.get(f"/c/{talk}/").text
    assert anchor in alice.client.get(f"/c/{talk}/", params={"at": first["user_message"]}).text


def test_far_from_the_end_a_page_leads_to_the_latest_messages(alice: Person, server: Server) -> None:
    talk = seed.talk(server, "alice", [f"message {n}" for n in range(300)])
    found = server.database.value("SELECT id FROM chat_message WHERE text = 'message 50'")
    at = str(uuid.UUID(str(found)))
    page = alice.client.get(talk, params={"at": at}).text
    assert f'id="m-{at}"' in page
    assert f'href="{talk}">Latest messages' in page
    assert "message 299" not in page
    assert "Latest messages" not in alice.client.get(talk).text


def test_another_branch_is_offered_and_a_get_changes_nothing(alice: Person) -> None:
    first = alice.asked("one").meta
    talk, question = first["conversation"], first["user_message"]
    alice.asked("two", f"/messages/{question}/edit/")
    for _ in range(2):
        page = alice.client.get(f"/c/{talk}/", params={"at": question}).text
        assert f'action="/messages/{question}/select/?at=1"' in page
    form = {"csrfmiddlewaretoken": CSRF}
    shown = alice.client.post(f"/messages/{question}/select/?at=1", data=form, headers=HTML)
    assert (shown.status_code, shown.headers["Location"]) == (303, f"/c/{talk}/?at={question}#m-{question}")
    page = alice.client.get(f"/c/{talk}/", params={"at": question}).text
    assert f'id="m-{question}"' in page
    assert 'id="other-branch"' not in page


def test_a_page_opens_only_at_its_own_messages(alice: Person, hers: str) -> None:
    other = alice.asked("another talk").meta["user_message"]
    assert alice.client.get(f"/c/{hers}/", params={"at": other}).status_code == 404
    assert alice.client.get(f"/c/{hers}/", params={"at": "x"}).status_code == 400
