"""A reply in steps: the model calls tools, every viewer sees the steps, and nothing is called twice."""

import json
import re
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from chat.engine.generation.search_first import queries_of
from tests.fake_cloudflare.server import Fake
from tests.fake_cloudflare.text_scenarios import says_line
from tests.fake_cloudflare.tool_scenarios import turns_line
from tests.files import pictures
from tests.support.people import CSRF
from tests.support.server import Person, Server, Stream
from tests.support.waiting import until
from tests.support.web import Web, served

MINE = {"tools": ["search_my_chats"]}


def search(*queries: str) -> list[list[Any]]:
    return [["search_my_chats", {"query": query}] for query in queries]


@pytest.fixture
def alice(server: Server) -> Person:
    return server.person("alice")


@pytest.fixture
def earlier(alice: Person) -> None:
    with alice.ask("Where do we keep the walnut boat?") as stream:
        stream.to_end()


def states(stream: Stream) -> list[tuple[int, str]]:
    return [(step["n"], step["state"]) for step in stream.steps]


def last_states(stream: Stream) -> list[tuple[int, str]]:
    """Return each step's last state: of one that ends at once, a viewer may not see that it ran."""
    seen, last = states(stream), dict(states(stream))
    earlier = [each for each in seen if each not in last.items()]
    assert len(seen) == len(set(seen))
    assert {state for _, state in earlier} <= {"running"}
    return list(last.items())


@pytest.mark.database
@pytest.mark.parametrize("shape", ["fragments", "whole", "native", "nameless"])
def test_a_call_is_a_step_and_its_result_goes_to_the_model(
    alice: Person, earlier: None, server: Server, fake: Fake, shape: str
) -> None:
    answer = {"text": "In the shed [1]."}
    line = turns_line({"text": "I look.\n", "calls": search("walnut")}, answer, shape=shape)
    before = len(fake.calls)
    with alice.ask(line, **MINE) as stream:
        stream.to_end()
    assert stream.done
    assert (stream.done["status"], stream.text) == ("complete", "I look.\n\nIn the shed [1].")
    assert last_states(stream) == [(1, "done")]
    assert stream.steps[-1]["arguments"] == {"query": "walnut"}
    assert stream.steps[-1]["sources"][0]["title"] == "Where do we keep the walnut boat?"
    first, second = (call["body"] for call in fake.calls[before:][:2])
    assert [tool["function"]["name"] for tool in first["tools"]] == ["search_my_chats"]
    assert [message["role"] for message in second["messages"][-2:]] == ["assistant", "tool"]
    assert '<source number="1">' in second["messages"][-1]["content"]
    assert second["messages"][-1]["tool_call_id"] == second["messages"][-2]["tool_calls"][0]["id"]


def test_a_table_goes_on_after_a_call(alice: Person, earlier: None) -> None:
    line = turns_line({"text": "|a|\n|-|\n", "calls": search("boat")}, {"text": "|1|"})
    with alice.ask(line, **MINE) as stream:
        stream.to_end()
    assert stream.text == "|a|\n|-|\n|1|"


def test_what_is_thought_after_calls_begins_a_paragraph(alice: Person, earlier: None, fake: Fake) -> None:
    first = {"thought": "I have to look.", "calls": search("boat")}
    line = turns_line(first, {"thought": "The results say it.", "text": "In the shed."})
    with alice.ask(line, **MINE) as stream:
        stream.to_end()
    assert stream.reasoning == "I have to look.\n\nThe results say it."
    assert fake.calls[-1]["body"]["messages"][-2]["reasoning"] == "I have to look."


def test_a_replay_brings_each_step_once_in_its_last_state(alice: Person, earlier: None) -> None:
    line = turns_line({"calls": search("walnut", "boat")}, {"calls": search("shed")}, {"text": "Done."})
    with alice.ask(line, **MINE) as stream:
        stream.to_end()
    # Of two calls at once, either may end first.
    assert sorted(last_states(stream)) == [(1, "done"), (2, "done"), (3, "done")]
    with alice.follow(stream.run) as replay:
        replay.to_end()
    assert sorted(states(replay)) == [(1, "done"), (2, "done"), (3, "done")]
    assert (replay.text, replay.done) == ("Done.", stream.done)
    with alice.follow(stream.run, "0.0.4") as rest:
        rest.to_end()
    assert states(rest) == [(3, "done")]
    end = alice.get(f"/runs/{stream.run}/stream/", headers={"Last-Event-ID": stream.position})
    assert end.status_code == 204


@pytest.mark.parametrize("position", ["0.0.99", "5.0.1!x", "1.1.1.1", "0.0.-1"])
def test_positions_of_steps_are_checked_like_others(alice: Person, earlier: None, position: str) -> None:
    with alice.ask(turns_line({"calls": search("boat")}, {"text": "Done."}), **MINE) as stream:
        stream.to_end()
    with alice.follow(stream.run, position) as again:
        if position == "0.0.99":
            assert again.to_end().names[:3] == ["meta", "reset", "step"]
        else:
            assert again.status == 400


def test_the_tools_stay_with_the_conversation(alice: Person, earlier: None, fake: Fake) -> None:
    with alice.ask("hello", **MINE) as stream:
        stream.to_end()
    path = f"/c/{stream.conversation}/messages/"
    with alice.ask(turns_line({"calls": search("boat")}, {"text": "Yes."}), path) as again:
        again.to_end()
    assert last_states(again) == [(1, "done")]
    with alice.ask("and now without", path, tools=[]) as without:
        without.to_end()
    assert "tools" not in fake.calls[-1]["body"]


@pytest.mark.parametrize("tools", ["search_my_chats", [1], ["nothing"], {"a": 1}, [["search_my_chats"]]])
def test_what_is_no_list_of_tools_is_refused(alice: Person, server: Server, tools: object) -> None:
    before = server.database.value("SELECT COUNT(*) FROM chat_run")
    assert alice.post("/c/", {"content": "hello", "tools": tools}).status_code == 400
    assert server.database.value("SELECT COUNT(*) FROM chat_run") == before


def test_the_same_send_twice_calls_nothing_twice(alice: Person, earlier: None, fake: Fake) -> None:
    body = {"content": turns_line({"calls": search("boat")}, {"text": "Yes."}), **MINE}
    key = "7b0dcb11-33ab-4c3d-9d25-3e1f7a6a0a01"
    with alice.start("/c/", **body, client_key=key) as stream:
        stream.to_end()
    before = len(fake.calls)
    with alice.start("/c/", **body, client_key=key) as again:
        again.to_end()
    assert (again.run, again.text, len(fake.calls)) == (stream.run, "Yes.", before)
    assert alice.post("/c/", {**body, "tools": [], "client_key": key}).status_code == 409


@pytest.mark.database
@pytest.mark.parametrize(
    ("call", "why"),
    [
        (["nothing_like_it", {}], "There is no such tool."),
        (["search_my_chats", '{"query": '], "The model’s call could not be read."),
        (["search_my_chats", "[1]"], "The model’s call could not be read."),
        (["search_my_chats", f'{{"query": {"[" * 50}{"]" * 50}}}'], "The model’s call could not be read."),
        (["search_my_chats", '{"query": "\\u0000"}'], "The search has no words."),
        (["search_my_chats", {"query": ""}], "The search has no words."),
        (["search_my_chats", {"query": ["a"]}], "The search has no words."),
    ],
)
def test_a_call_that_cannot_be_made_is_a_failed_step(
    alice: Person, fake: Fake, call: list[Any], why: str
) -> None:
    with alice.ask(turns_line({"calls": [call]}, {"text": "Never mind."}), **MINE) as stream:
        stream.to_end()
    assert (stream.text, last_states(stream)) == ("Never mind.", [(1, "failed")])
    assert stream.steps[-1]["summary"] == why
    assert fake.calls[-1]["body"]["messages"][-1]["content"] == why


@pytest.mark.parametrize(
    ("call", "sent"),
    [
        (["functions.search_my_chats", {"query": "oar"}], ("search_my_chats", {"query": "oar"})),
        (["functions.search_my_chats:0", {"query": "oar"}], ("search_my_chats", {"query": "oar"})),
        (["search_my_chats", '"{\\"query\\": \\"oar\\"}"'], ("search_my_chats", {"query": "oar"})),
        (["to=functions.search_my_chats<|channel|>json", {"a": 1}], ("search_my_chats", {"a": 1})),
        (["default_api:search_my_chats", {"query": "oar"}], ("search_my_chats", {"query": "oar"})),
        (["search_my_chats", ' {"a": "b\nc"}{"a": "d"}}<|call|>'], ("search_my_chats", {"a": "b\nc"})),
        (["search_my_chats", '{"a": "\\\\u0000\\ud800"}'], ("search_my_chats", {"a": "\\u0000\ufffd"})),
        (["search_my_chats", "null"], ("search_my_chats", {})),
        (["search_my_chats", '{"query": '], ("search_my_chats", {})),
        (["Such a tool, söme?", {"a": 1}], ("Such_a_tool__s_me_", {"a": 1})),
    ],
)
def test_calls_in_a_models_own_manner_are_returned_well_formed(
    alice: Person, fake: Fake, call: list[Any], sent: tuple[str, dict[str, str]]
) -> None:
    with alice.ask(turns_line({"calls": [call]}, {"text": "Done."}, shape="whole"), **MINE) as stream:
        stream.to_end()
    asked = fake.calls[-1]["body"]["messages"][-2]["tool_calls"][0]["function"]
    assert (asked["name"], json.loads(asked["arguments"])) == sent
    assert stream.steps[-1]["arguments"] == sent[1]


def test_beyond_the_limit_the_model_answers_with_what_it_has(
    alice: Person, earlier: None, fake: Fake
) -> None:
    with alice.ask(turns_line({"calls": search("boat", "shed", "oar")}, shape="whole"), **MINE) as stream:
        stream.to_end()
    assert stream.done
    assert stream.done["status"] == "complete"
    assert len({step["n"] for step in stream.steps}) == 8
    last = fake.calls[-1]["body"]
    assert "tools" not in last
    assert "No more calls are possible" in last["messages"][-1]["content"]


@pytest.mark.database
def test_another_process_shows_the_same_steps(servers: Callable[..., Server]) -> None:
    one, two = servers(), servers()
    line = turns_line({"text": "I look.", "calls": search("boat")}, {"text": "words " * 30}, delay=0.05)
    with one.person("alice").ask(line, **MINE) as stream:
        stream.until(4)
        with two.person("alice").follow(stream.run) as elsewhere:
            elsewhere.to_end()
        stream.to_end()
    assert elsewhere.steps[-1] == stream.steps[-1]
    assert (elsewhere.text, elsewhere.position) == (stream.text, stream.position)


@pytest.mark.database
def test_after_kill_9_the_steps_are_there_and_continue_uses_them(
    server: Server, earlier: None, fake: Fake
) -> None:
    alice = server.person("alice")
    line = turns_line({"calls": search("walnut")}, {"text": "In the shed, " + "as ever " * 200}, delay=0.02)
    with alice.ask(line, **MINE) as stream:
        stream.until(60)
        until(lambda: server.database.value("SELECT COUNT(*) FROM chat_runchunk"))
        server.kill()
    server.start()
    with alice.follow(stream.run) as again:
        again.to_end()
    assert again.done
    assert (again.done["status"], states(again)) == ("interrupted", [(1, "done")])
    message = stream.meta["message"]
    before = len(fake.calls)
    with alice.start(f"/messages/{message}/continue/") as more:
        more.to_end()
    sent = fake.calls[before]["body"]["messages"]
    assert '<source number="1">' in sent[0]["content"]
    assert states(more) == []
    page = alice.get(f"/c/{stream.conversation}/").text
    assert page.count('<li data-state="done">') == 1


def test_what_a_continuation_writes_before_a_call_stands_there(
    alice: Person, earlier: None, fake: Fake
) -> None:
    then = turns_line({"text": "I look.", "calls": search("walnut")})
    line = f"{says_line('I look. Then I see.', reason='length')}\n{then.replace('fake:', 'fake-then:')}"
    with alice.ask(line, **MINE) as stream:
        stream.to_end()
    before = len(fake.calls)
    with alice.start(f"/messages/{stream.meta['message']}/continue/") as more:
        more.to_end()
    assert more.text.startswith("I look.\n\nYou said")
    assert fake.calls[before + 1]["body"]["messages"][-2]["content"] == "I look."


def test_a_page_shows_the_steps_without_scripts_too(alice: Person, earlier: None) -> None:
    with alice.ask(turns_line({"calls": search("<b>boat</b>")}, {"text": "Done."}), **MINE) as stream:
        stream.to_end()
    page = alice.get(f"/c/{stream.conversation}/").text
    assert "Search your chats for “&lt;b&gt;boat&lt;/b&gt;”" in page
    assert "1 search" in page
    assert re.search(r'name="tools" value="search_my_chats"[^>]* checked', page)


def test_a_form_chooses_tools(alice: Person, server: Server) -> None:
    form = {"csrfmiddlewaretoken": CSRF, "content": "hello", "tools": ["", "search_my_chats"]}
    response = alice.client.post("/c/", data=form)
    assert response.status_code == 303
    chosen = "SELECT tools FROM chat_conversation ORDER BY created DESC LIMIT 1"
    assert json.loads(server.database.value(chosen)) == ["search_my_chats"]


def test_a_model_without_tools_writes_what_to_search_for(alice: Person, earlier: None, fake: Fake) -> None:
    before = len(fake.calls)
    line = says_line('1. walnut\n- "boat"\n')
    with alice.ask(line, model="@cf/meta/llama-3.2-3b-instruct", **MINE) as stream:
        stream.to_end()
    queries, answer = (call["body"] for call in fake.calls[before:][:2])
    assert "tools" not in queries
    assert "Which search queries" in queries["messages"][-1]["content"]
    assert "walnut boat" in answer["messages"][0]["content"]
    assert "tools" not in answer
    done = {step["n"]: step["arguments"]["query"] for step in stream.steps if step["state"] == "done"}
    assert done == {1: "walnut", 2: "boat"}
    assert "it wrote what to search for" in alice.get(f"/c/{stream.conversation}/").text


def test_of_a_question_with_a_picture_it_writes_queries_too(alice: Person, earlier: None, fake: Fake) -> None:
    before = len(fake.calls)
    boat = alice.uploaded("boat.jpg", pictures.jpeg())["id"]
    seeing = {"model": "@cf/meta/llama-3.2-11b-vision-instruct", "attachments": [boat]}
    with alice.ask(says_line("walnut boat"), **seeing, **MINE) as stream:
        stream.to_end()
    *_, last = fake.calls[before]["body"]["messages"]
    kinds = [part["type"] for part in last["content"]]
    assert sorted(kinds) == ["image_url", "text", "text"]
    assert "Which search queries" in last["content"][-1]["text"]


@pytest.mark.parametrize(
    ("text", "queries"),
    [
        ("NONE", []),
        ("none.", []),
        ("", []),
        ("1. weather Oslo\n2) weather Oslo\n\n* „Wetter“", ["weather Oslo", "Wetter"]),
        ("a\nb\nc\nd", ["a", "b", "c"]),
        ("x" * 500, ["x" * 200]),
    ],
)
def test_queries_are_lines_of_the_model(text: str, queries: list[str]) -> None:
    assert queries_of(text) == queries


@pytest.fixture
def web() -> Iterator[Web]:
    with served() as found:
        found.pages["/boats"] = "<main><h1>Boats</h1><p>The walnut boat was built in 1926.</p></main>"
        yield found


@pytest.fixture
def searching(servers: Callable[..., Server], web: Web) -> Server:
    return servers(WEB_SEARCH="searxng", SEARXNG_URL=web.url, READ_PAGE_ALLOWED_HOSTS=web.host)


@pytest.fixture
def searcher(searching: Server) -> Person:
    return searching.person("alice")


def test_a_reply_searches_reads_and_cites(searcher: Person, web: Web) -> None:
    line = turns_line(
        {"calls": [["web_search", {"query": "walnut boat"}]]},
        {"calls": [["read_page", {"url": f"{web.url}/boats"}]]},
        {"text": "It was built in 1926 [2]."},
    )
    with searcher.ask(line, tools=["web_search"]) as stream:
        stream.to_end()
    assert web.asked == ["/search?q=walnut+boat&format=json", "/boats"]
    page = searcher.get(f"/c/{stream.conversation}/").text
    assert "1 search · 1 page read" in page
    assert re.search(r'<a class="cite" href="(#fn-\S+-source\.2)" [^>]*>\[2\]</a>', page)
    message = stream.meta["message"]
    assert f'<div id="fn-{message}-source.2">' in page
    assert "The walnut boat was built in 1926." in page


def test_a_long_page_leaves_the_window_to_the_reply(searcher: Person, web: Web, fake: Fake) -> None:
    web.pages["/boats"] = f"<main><p>{'舟' * 30_000}</p></main>"
    line = turns_line({"calls": [["read_page", {"url": f"{web.url}/boats"}]] * 3}, {"text": "Of walnut."})
    question = f"Read {web.url}/boats.\n{line}"
    with searcher.ask(
        question, model="@cf/meta/llama-3.3-70b-instruct-fp8-fast", tools=["web_search"]
    ) as stream:
        stream.to_end()
    assert (stream.done and stream.done["status"], stream.text) == ("complete", "Of walnut.")
    assert fake.calls[-1]["body"]["max_tokens"] < fake.calls[-2]["body"]["max_tokens"]


def test_stop_ends_a_call_within_a_second(searcher: Person, web: Web) -> None:
    web.answers.clear()
    line = turns_line({"calls": [["web_search", {"query": "boat"}]]}, {"text": "Never."})
    with searcher.ask(line, tools=["web_search"]) as stream:
        while not stream.steps:
            stream.next()
        until(lambda: web.asked)
        began = time.monotonic()
        assert searcher.stop(stream.run).status_code == 202
        stream.to_end()
    assert time.monotonic() - began < 1
    assert stream.done
    assert (stream.done["status"], states(stream)) == ("stopped", [(1, "running"), (1, "stopped")])
    with searcher.follow(stream.run) as again:
        again.to_end()
    assert (states(again), again.position) == ([(1, "stopped")], stream.position)


@pytest.mark.database
def test_kill_9_in_a_call_stops_it(searching: Server, web: Web) -> None:
    web.answers.clear()
    line = turns_line({"text": "I look.", "calls": [["web_search", {"query": "boat"}]]}, {"text": "Never."})
    with searching.person("alice").ask(line, tools=["web_search"]) as stream:
        while not stream.steps:
            stream.next()
        until(lambda: searching.database.value("SELECT COUNT(*) FROM chat_runchunk"))
        searching.kill()
    searching.start()
    alice = searching.person("alice")
    with alice.follow(stream.run) as again:
        again.to_end()
    assert again.done
    assert (again.done["status"], again.text) == ("interrupted", "I look.")
    assert states(again) == [(1, "stopped")]
    assert "Stopped" in alice.get(f"/c/{stream.conversation}/").text


def test_what_a_person_asks_to_keep_is_kept_with_a_way_back(
    alice: Person, server: Server, fake: Fake
) -> None:
    call = ["remember", {"fact": "Alice is allergic to walnuts."}]
    line = turns_line({"calls": [call]}, {"text": "Noted."})
    with alice.ask(f"Remember that I am allergic to walnuts.\n{line}") as stream:
        stream.to_end()
    assert last_states(stream) == [(1, "done")]
    assert stream.steps[-1]["summary"] == "Kept in your memory"
    facts = "SELECT fact FROM chat_memory"
    assert server.database.rows(facts) == [("Alice is allergic to walnuts.",)]
    undo = stream.steps[-1]["sources"][0]["url"]
    assert "allergic" in alice.get(undo).text
    with alice.ask("What must I not eat?") as later:
        later.to_end()
    assert "Alice is allergic to walnuts." in fake.calls[-1]["body"]["messages"][0]["content"]
    assert alice.client.post(f"{undo}delete/", data={"csrfmiddlewaretoken": CSRF}).status_code == 303
    assert server.database.rows(facts) == []


def test_what_is_kept_already_has_no_way_back(alice: Person, server: Server) -> None:
    call = ["remember", {"fact": "Alice is allergic to walnuts."}]
    for _ in range(2):
        with alice.ask(f"Remember it.\n{turns_line({'calls': [call]}, {'text': 'Noted.'})}") as stream:
            stream.to_end()
    assert stream.steps[-1]["summary"] == "Already in your memory"
    assert stream.steps[-1]["sources"] == []
    assert server.database.value("SELECT COUNT(*) FROM chat_memory") == 1


@pytest.mark.parametrize(("question", "more"), [("Hello", {}), ("Remember this", {"temporary": True})])
def test_nothing_is_kept_unasked_or_in_a_temporary_chat(
    alice: Person, server: Server, question: str, more: dict[str, Any]
) -> None:
    line = turns_line({"text": "No.", "calls": [["remember", {"fact": "A fact."}]]}, {"text": "No."})
    with alice.ask(f"{question}\n{line}", **more) as stream:
        stream.to_end()
    assert (stream.text, stream.steps) == ("No.", [])
    assert server.database.value("SELECT COUNT(*) FROM chat_memory") == 0
