"""Continuing a reply that was cut short: a new run on the same message, its text directly behind the old."""

import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.support.server import Person, Server
from tests.support.waiting import until
from tests.views.trees import CUT_SHORT, cut_short, messages, shown, started

pytestmark = pytest.mark.database


def stored(server: Server, message: str) -> str:
    return server.database.value(f"SELECT text FROM chat_message WHERE id IN {written(message)}")


def run_rows(server: Server, message: str) -> list[tuple]:
    columns = "text_offset, text_length, reasoning_offset, reasoning_length, status"
    return server.database.rows(
        f"SELECT {columns} FROM chat_run WHERE message_id IN {written(message)} ORDER BY created"
    )


def written(key: str) -> tuple[str, str]:
    """A UUID as each database writes it."""
    return key, key.replace("-", "")


@pytest.mark.parametrize("how", CUT_SHORT)
def test_the_new_text_stands_directly_behind_the_old(alice: Person, server: Server, how: str) -> None:
    first = cut_short(alice, how)
    more = started(alice, f"/messages/{first.meta['message']}/continue/")
    assert more.meta["message"] == first.meta["message"]
    assert more.meta["user_message"] == first.meta["user_message"]
    assert more.run != first.run
    assert more.text == "more1 more2 more3 more4"
    assert more.position == f"{len(more.text)}!"
    assert stored(server, first.meta["message"]) == first.text + more.text
    assert run_rows(server, first.meta["message"]) == [
        (0, len(first.text), 0, 0, how),
        (len(first.text), len(more.text), 0, 0, "complete"),
    ]
    assert shown(alice, first.conversation) == [first.meta["user_message"], first.meta["message"]]


def test_each_run_can_still_be_followed_by_itself(alice: Person) -> None:
    first = cut_short(alice, "truncated")
    more = started(alice, f"/messages/{first.meta['message']}/continue/")
    for run in (first, more):
        again = alice.followed(run.run)
        assert again.text == run.text


def test_the_model_is_told_what_it_wrote_and_to_go_on(alice: Person, fake) -> None:
    first = cut_short(alice, "interrupted", system="Be kind.")
    started(alice, f"/messages/{first.meta['message']}/continue/")
    system, question, partial, instruction = messages(fake)
    assert system == ("system", "Be kind.")
    assert question[0] == "user"
    assert partial == ("assistant", first.text)
    assert instruction[0] == "user"
    assert "Do not repeat" in instruction[1]


def test_a_reply_is_continued_by_the_model_that_began_it(alice: Person) -> None:
    first = cut_short(alice, "truncated", model="@cf/openai/gpt-oss-20b")
    beside = started(
        alice, f"/messages/{first.meta['message']}/regenerate/", model="@cf/zai-org/glm-4.7-flash"
    )
    more = started(alice, f"/messages/{first.meta['message']}/continue/")
    assert (beside.meta["model"], more.meta["model"]) == (
        "@cf/zai-org/glm-4.7-flash",
        "@cf/openai/gpt-oss-20b",
    )
    assert shown(alice, first.conversation)[-1] == first.meta["message"]


def test_it_can_be_continued_again_and_again(alice: Person, server: Server) -> None:
    first = cut_short(alice, "truncated", then="length tokens=3")
    runs = [started(alice, f"/messages/{first.meta['message']}/continue/") for _ in range(2)]
    assert [run.done["status"] for run in runs] == ["truncated", "truncated"]
    whole = first.text + "".join(run.text for run in runs)
    assert stored(server, first.meta["message"]) == whole
    assert alice.get(f"/messages/{first.meta['message']}/source/").text == whole


def test_continue_of_an_empty_reply_reuses_its_message(alice: Person, server, fake) -> None:
    with alice.ask("fake: silent") as first:
        fake.wait_for(lambda calls: calls and calls[-1]["body"]["messages"][-1]["content"] == "fake: silent")
        alice.stop(first.run)
        first.to_end()
    before = len(fake.calls)
    with alice.start(f"/messages/{first.meta['message']}/continue/") as more:
        fake.wait_for(lambda calls: len(calls) > before and calls[-1]["ended"] is None)
        assert messages(fake) == [("user", "fake: silent")]
        alice.stop(more.run)
        more.to_end()
    assert more.meta["message"] == first.meta["message"]


def test_reasoning_and_text_each_go_on_where_they_ended(alice: Person, server: Server) -> None:
    with alice.ask(
        "fake: reasoning think=3 tokens=2000 delay=0.02\nfake-then: reasoning think=2 tokens=3"
    ) as first:
        first.until(10)
        alice.stop(first.run)
        first.to_end()
    more = started(alice, f"/messages/{first.meta['message']}/continue/")
    assert (more.text, more.reasoning) == ("more1 more2 more3", "thought1 thought2 ")
    assert run_rows(server, first.meta["message"])[1] == (
        len(first.text),
        len(more.text),
        len(first.reasoning),
        len(more.reasoning),
        "complete",
    )
    row = server.database.rows("SELECT text, reasoning FROM chat_message ORDER BY created DESC LIMIT 1")
    assert row == [(first.text + more.text, first.reasoning + more.reasoning)]


def test_resuming_a_continuation_sends_only_its_own_text(alice: Person, server: Server, fake) -> None:
    first = cut_short(alice, "truncated", then="held key=resumed after=30 tokens=60")
    with alice.start(f"/messages/{first.meta['message']}/continue/") as more:
        more.until(150)
        seen, position = more.text, more.position
        page = alice.get(f"/c/{first.conversation}/").text
        source = f"/messages/{first.meta['message']}/source/"
        until(lambda: alice.get(source).text.startswith(first.text + "more1"))
        with server.person("alice").follow(more.run, position) as rest:
            fake.go_on("resumed")
            rest.to_end()
        more.to_end()
    assert seen + rest.text == more.text
    assert more.text.split() == [f"more{number}" for number in range(1, 61)]
    assert f'data-run="{more.run}"' in page


def test_of_twenty_concurrent_continues_one_runs(alice: Person, server) -> None:
    first = cut_short(alice, "truncated", then="words tokens=30 delay=0.03")
    path = f"/messages/{first.meta['message']}/continue/"

    def send(_: int) -> int:
        return server.person("alice").post(path, {"client_key": str(uuid.uuid4())}).status_code

    with ThreadPoolExecutor(20) as pool:
        assert sorted(pool.map(send, range(20))) == [200] + [409] * 19
    assert len(run_rows(server, first.meta["message"])) == 2
