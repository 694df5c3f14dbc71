"""Calls that the person has to allow: the reply waits without a task, for as long as it takes."""

import time
from collections.abc import Callable, Iterator

import pytest

from tests.fake_cloudflare.server import Fake
from tests.fake_cloudflare.tool_scenarios import turns_line
from tests.support.people import CSRF
from tests.support.server import Person, Server
from tests.support.waiting import until
from tests.support.web import Web, served

from .waits import MINE, answered, is_released, reads, status, until_waiting


@pytest.fixture
def web() -> Iterator[Web]:
    with served() as found:
        found.pages["/made-up"] = '<main><p>The oar is of ash.</p><a href="/further">More</a></main>'
        found.pages["/further"] = "<main><p>And the sail is of linen.</p></main>"
        yield found


@pytest.fixture
def settings(web: Web) -> dict[str, str]:
    return {"WEB_SEARCH": "searxng", "SEARXNG_URL": web.url, "READ_PAGE_ALLOWED_HOSTS": web.host}


@pytest.fixture
def one(servers: Callable[..., Server], settings: dict[str, str]) -> Server:
    return servers(**settings)


@pytest.fixture
def alice(one: Server) -> Person:
    return one.person("alice")


@pytest.mark.database
def test_a_made_up_address_is_read_once_the_person_allows_it(
    alice: Person, one: Server, web: Web, fake: Fake
) -> None:
    url = f"{web.url}/made-up"
    with alice.ask(reads(url), **MINE) as stream:
        until_waiting(stream)
        until(lambda: is_released(one, stream.run))
        assert (web.asked, stream.done) == ([], None)
        assert "gets the whole address" in stream.steps[-1]["summary"]
        page = alice.get(f"/c/{stream.conversation}/").text
        assert "Waiting for your answer" in page
        assert f"/runs/{stream.run}/steps/1/allow/" in page
        assert url in page
        answered(alice, stream.run)
        stream.to_end()
    assert stream.done
    assert (stream.done["status"], stream.text) == ("complete", "I look.\n\nOf ash [1].")
    assert (web.asked, stream.steps[-1]["state"]) == (["/made-up"], "done")
    called, result = fake.calls[-1]["body"]["messages"][-2:]
    assert (called["content"], result["tool_call_id"]) == ("I look.", called["tool_calls"][0]["id"])
    assert "The oar is of ash." in result["content"]
    with alice.follow(stream.run) as again:
        again.to_end()
    assert ([step["state"] for step in again.steps], again.text) == (["done"], stream.text)
    assert again.position == stream.position
    assert "Waiting for your answer" not in alice.get(f"/c/{stream.conversation}/").text


@pytest.mark.database
def test_what_is_declined_is_not_read_and_the_model_answers(alice: Person, web: Web, fake: Fake) -> None:
    with alice.ask(reads(f"{web.url}/made-up", after="Then without."), **MINE) as stream:
        until_waiting(stream)
        answered(alice, stream.run, word="decline")
        stream.to_end()
    assert stream.done
    assert (stream.done["status"], stream.text) == ("complete", "I look.\n\nThen without.")
    assert (stream.steps[-1]["state"], stream.steps[-1]["summary"]) == ("failed", "You did not allow this.")
    assert web.asked == []
    assert "does not allow" in fake.calls[-1]["body"]["messages"][-1]["content"]


def test_what_holds_for_the_chat_is_not_asked_again(alice: Person, web: Web) -> None:
    url = f"{web.url}/made-up"
    two = {"calls": [["read_page", {"url": f"{url}?a=1"}], ["read_page", {"url": f"{url}?a=2"}]]}
    web.pages |= {"/made-up?a=1": "<p>One</p>", "/made-up?a=2": "<p>Two</p>", "/made-up?a=3": "<p>Three</p>"}
    with alice.ask(turns_line(two, {"text": "Done."}), **MINE) as stream:
        until_waiting(stream)
        until_waiting(stream, 2)
        answered(alice, stream.run, 2, **{"for": "conversation"})
        stream.to_end()
    assert sorted(web.asked) == ["/made-up?a=1", "/made-up?a=2"]
    path = f"/c/{stream.conversation}/messages/"
    with alice.ask(reads(f"{url}?a=3"), path) as later:
        later.to_end()
    assert "waiting" not in [step["state"] for step in later.steps]
    with alice.ask(reads(f"{url}?a=3"), **MINE) as elsewhere:
        until_waiting(elsewhere)
        alice.stop(elsewhere.run)
        elsewhere.to_end()


def test_once_is_once(alice: Person, web: Web) -> None:
    url = f"{web.url}/made-up"
    with alice.ask(reads(url, {"calls": [["read_page", {"url": f"{web.url}/other"}]]}), **MINE) as stream:
        until_waiting(stream)
        answered(alice, stream.run, **{"for": "once"})
        until_waiting(stream, 2)
        assert web.asked == ["/made-up"]
        answered(alice, stream.run, 2, "decline")
        stream.to_end()
    assert stream.done
    assert stream.done["status"] == "complete"


def test_links_of_the_page_need_no_question_later(alice: Person, web: Web) -> None:
    read = {"calls": [["read_page", {"url": f"{web.url}/made-up"}]]}
    asks = {"calls": [["read_page", {"url": f"{web.url}/elsewhere"}]]}
    follows = {"calls": [["read_page", {"url": f"{web.url}/further"}]]}
    with alice.ask(turns_line(read, asks, follows, {"text": "Linen."}), **MINE) as stream:
        until_waiting(stream)
        answered(alice, stream.run)
        until_waiting(stream, 2)
        answered(alice, stream.run, 2, "decline")
        stream.to_end()
    assert web.asked == ["/made-up", "/further"]
    assert {step["n"]: step["state"] for step in stream.steps} == {1: "done", 2: "failed", 3: "done"}


@pytest.mark.database
@pytest.mark.parametrize("how", ["kill", "terminate"])
def test_it_waits_through_a_restart(one: Server, web: Web, fake: Fake, how: str) -> None:
    alice = one.person("alice")
    with alice.ask(reads(f"{web.url}/made-up"), **MINE) as stream:
        until_waiting(stream)
        until(lambda: is_released(one, stream.run))
        getattr(one, how)()
    one.start()
    alice = one.person("alice")
    with alice.follow(stream.run) as again:
        until_waiting(again)
        assert again.until(len("I look.")).text == "I look."
        assert status(one, stream.run) == "waiting"
        before = len(fake.calls)
        answered(alice, stream.run)
        again.to_end()
    assert again.done
    assert (again.done["status"], again.text) == ("complete", "I look.\n\nOf ash [1].")
    assert (len(fake.calls), web.asked) == (before + 1, ["/made-up"])


@pytest.mark.database
def test_it_is_answered_from_another_process(
    servers: Callable[..., Server], one: Server, settings: dict[str, str], web: Web
) -> None:
    two = servers(**settings)
    line = reads(f"{web.url}/made-up", after="Of ash, " * 40)
    with one.person("alice").ask(line, **MINE) as stream:
        until_waiting(stream)
        until(lambda: is_released(one, stream.run))
        with two.person("alice").follow(stream.run) as elsewhere:
            until_waiting(elsewhere)
            answered(two.person("alice"), stream.run)
            elsewhere.to_end()
        stream.to_end()
    assert stream.done
    assert (stream.text, stream.position) == (elsewhere.text, elsewhere.position)
    assert stream.steps[-1] == elsewhere.steps[-1]
    assert web.asked == ["/made-up"]


@pytest.mark.database
def test_stop_ends_it_at_once(alice: Person, one: Server, web: Web) -> None:
    with alice.ask(reads(f"{web.url}/made-up"), **MINE) as stream:
        until_waiting(stream)
        until(lambda: is_released(one, stream.run))
        began = time.monotonic()
        assert alice.stop(stream.run).status_code == 202
        stream.to_end()
    assert time.monotonic() - began < 1
    assert stream.done
    assert (stream.done["status"], stream.text) == ("stopped", "I look.")
    assert stream.steps[-1]["state"] == "stopped"
    assert alice.post(f"/runs/{stream.run}/steps/1/allow/").status_code == 409
    assert alice.get(f"/messages/{stream.meta['message']}/source/").text == "I look."
    with alice.start(f"/messages/{stream.meta['message']}/continue/") as more:
        more.to_end()
    assert more.done
    assert more.done["status"] == "complete"


def test_a_stop_before_it_waits_is_a_stop(alice: Person, web: Web) -> None:
    for _ in range(5):  # the release is on its way at some of them
        with alice.ask(reads(f"{web.url}/made-up"), **MINE) as stream:
            until_waiting(stream)
            assert alice.stop(stream.run).status_code == 202
            stream.to_end()
        assert stream.done
        assert stream.done["status"] == "stopped"


@pytest.mark.parametrize("what", ["conversation", "branch"])
def test_what_is_deleted_waits_no_more(alice: Person, one: Server, web: Web, what: str) -> None:
    with alice.ask(reads(f"{web.url}/made-up"), **MINE) as stream:
        until_waiting(stream)
        until(lambda: is_released(one, stream.run))
        path = f"c/{stream.conversation}" if what == "conversation" else f"messages/{stream.meta['message']}"
        assert alice.post(f"/{path}/delete/").status_code == 200
        assert status(one, stream.run) == "stopped"
        assert alice.post(f"/runs/{stream.run}/steps/1/allow/").status_code == 404


@pytest.mark.database
def test_nobody_answers_for_a_day(alice: Person, one: Server, web: Web) -> None:
    with alice.ask(reads(f"{web.url}/made-up", after="Without."), **MINE) as stream:
        until_waiting(stream)
        until(lambda: is_released(one, stream.run))
        long_ago = "SET created = '2026-01-01 00:00:00+00:00'"
        one.database.each(f"UPDATE chat_run {long_ago}", f"UPDATE chat_step {long_ago}")
        stream.to_end()
    assert stream.done
    assert (stream.done["status"], stream.steps[-1]["state"]) == ("complete", "failed")
    assert stream.done["seconds"] < 60  # not the time that it has waited
    assert web.asked == []


def test_a_waiting_reply_is_live(alice: Person, one: Server, web: Web) -> None:
    with alice.ask(reads(f"{web.url}/made-up"), **MINE) as stream:
        until_waiting(stream)
        until(lambda: is_released(one, stream.run))
        busy = alice.post(f"/c/{stream.conversation}/messages/", {"content": "More"})
        assert (busy.status_code, busy.json()["error"]["run"]) == (409, stream.run)
        state = alice.get(f"/c/{stream.conversation}/state/").json()
        assert state["status"] == "waiting"


@pytest.mark.parametrize("word", ["allow", "decline"])
def test_refusals(alice: Person, one: Server, web: Web, word: str) -> None:
    with alice.ask(reads(f"{web.url}/made-up"), **MINE) as stream:
        until_waiting(stream)
        path = f"/runs/{stream.run}/steps"
        assert one.person("bob").post(f"{path}/1/{word}/").status_code == 404
        assert alice.post(f"{path}/2/{word}/").status_code == 404
        assert alice.post(f"/runs/{stream.meta['message']}/steps/1/{word}/").status_code == 404
        assert alice.get(f"{path}/1/{word}/").status_code == 405
        assert alice.post(f"{path}/1/{word}/", {"for": "ever"}).status_code == 400
        assert alice.post(f"{path}/1/{word}/", {"why": "so"}).status_code == 400
        assert alice.post(f"{path}/1/{word}/", [1]).status_code == 400
        assert web.asked == []
        answered(alice, stream.run, word="decline")
        assert alice.post(f"{path}/1/decline/").status_code == 202
        assert alice.post(f"{path}/1/allow/").status_code == 409
        stream.to_end()
    assert alice.post(f"{path}/1/allow/").status_code == 409


def test_a_form_answers(alice: Person, web: Web) -> None:
    with alice.ask(reads(f"{web.url}/made-up"), **MINE) as stream:
        until_waiting(stream)
        form = {"csrfmiddlewaretoken": CSRF, "for": "once"}
        response = alice.client.post(f"/runs/{stream.run}/steps/1/allow/", data=form)
        assert (response.status_code, response.headers["location"]) == (303, f"/c/{stream.conversation}/")
        stream.to_end()
    assert web.asked == ["/made-up"]
