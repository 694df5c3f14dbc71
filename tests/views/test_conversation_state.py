"""The state that a visible page polls: its messages, and the place at which the model's context begins."""

from collections.abc import Callable

import pytest

from tests.fake_cloudflare.server import Fake
from tests.support.server import Person

pytestmark = pytest.mark.database
SMALL = "@cf/google/gemma-7b-it-lora"  # 3,500 tokens
LARGE = "@cf/zai-org/glm-4.7-flash"
LONG = "word " * 200
PART = {"X-Requested-With": "fetch"}


def version(person: Person, conversation: str) -> str:
    return str(person.get(f"/c/{conversation}/state/").headers["ETag"])


def again(person: Person, conversation: str, etag: str) -> int:
    return person.get(f"/c/{conversation}/state/", headers={"If-None-Match": etag}).status_code


def turn(person: Person, conversation: str, text: str = "and now?", **more: object) -> dict[str, str]:
    return person.asked(text, f"/c/{conversation}/messages/", **more).meta


def test_the_state_tells_what_the_page_shows(alice: Person, hers: str) -> None:
    first = alice.get(f"/c/{hers}/state/").json()
    meta = turn(alice, hers)
    state = alice.get(f"/c/{hers}/state/").json()
    assert state["trail"] == [meta["message"], meta["user_message"], first["trail"][0]]
    assert (state["run"], state["status"], state["model"]) == (meta["run"], "complete", LARGE)
    assert state["title"] == "hello"
    assert f'data-version="{state["version"]}"' in alice.get(f"/c/{hers}/").text


def test_nothing_new_is_304_without_a_body_and_writes_nothing(
    alice: Person, hers: str, unchanged: None
) -> None:
    etag = version(alice, hers)
    response = alice.get(f"/c/{hers}/state/", headers={"If-None-Match": etag})
    assert (response.status_code, response.content) == (304, b"")
    assert "Set-Cookie" not in response.headers


CHANGES: dict[str, Callable[[Person, str, dict[str, str]], object]] = {
    "a turn": lambda alice, key, made: turn(alice, key),
    "a title": lambda alice, key, made: alice.post(f"/c/{key}/rename/", {"title": "Another"}),
    "another version": lambda alice, key, made: alice.post(f"/messages/{made['message']}/regenerate/", {}),
    "more of a reply": lambda alice, key, made: alice.post(f"/messages/{made['message']}/continue/", {}),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_changes_of_the_page_change_the_version(
    alice: Person, hers: str, change: Callable[[Person, str, dict[str, str]], object]
) -> None:
    made = turn(alice, hers, "fake: length tokens=3 delay=0")
    before = version(alice, hers)
    assert again(alice, hers, before) == 304
    change(alice, hers, made)
    assert again(alice, hers, before) == 200


def test_version_changes_only_when_the_reply_ends(alice: Person, hers: str) -> None:
    with alice.ask("fake: words tokens=400 delay=0.02", f"/c/{hers}/messages/") as stream:
        stream.until(5)
        etag = version(alice, hers)
        stream.until(20)
        assert again(alice, hers, etag) == 304
        alice.post(f"/runs/{stream.run}/stop/")
        stream.to_end()
    assert again(alice, hers, etag) == 200


def test_the_messages_from_one_on_are_a_part_of_the_page(alice: Person, hers: str) -> None:
    first = alice.get(f"/c/{hers}/state/").json()["trail"][0]
    made = turn(alice, hers)
    part = alice.get(f"/c/{hers}/?since={first}", headers=PART).text
    assert part.count("<article") == 3
    assert all(f'id="m-{key}"' in part for key in (first, made["user_message"], made["message"]))
    assert 'id="sidebar"' not in part
    assert "<article" in alice.get(f"/c/{hers}/?since={first}").text


def test_a_part_names_the_model_that_another_one_follows(alice: Person, hers: str) -> None:
    turn(alice, hers, model=LARGE)
    made = turn(alice, hers, model=SMALL)
    part = alice.get(f"/c/{hers}/?since={made['user_message']}", headers=PART).text
    assert 'class="message reply named"' in part
    made = turn(alice, hers, model=SMALL)
    part = alice.get(f"/c/{hers}/?since={made['user_message']}", headers=PART).text
    assert 'class="message reply"' in part


def test_since_a_message_of_another_branch_is_a_whole_page(alice: Person, hers: str) -> None:
    made = turn(alice, hers)
    alice.started(f"/messages/{made['message']}/regenerate/")
    part = alice.get(f"/c/{hers}/?since={made['message']}", headers=PART).text
    assert part.count("<article") == 4


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("since=nothing", 400),
        ("since=00000000-0000-0000-0000-000000000000", 404),
        ("since={0}&before={0}", 400),
    ],
)
def test_a_wrong_part_is_refused(alice: Person, hers: str, unchanged: None, query: str, status: int) -> None:
    key = alice.get(f"/c/{hers}/state/").json()["trail"][0]
    response = alice.get(f"/c/{hers}/?{query.format(key)}", headers=PART)
    assert response.status_code == status
    assert response.json()["error"]["message"]


def grow(person: Person, conversation: str) -> list[dict[str, str]]:
    """Add so many messages that a small model cannot be sent all of them."""
    return [turn(person, conversation, LONG, model=LARGE) for _ in range(4)]


def test_all_that_fits_is_read_from_the_first_message_on(alice: Person, hers: str) -> None:
    turn(alice, hers)
    page = alice.get(f"/c/{hers}/").text
    assert page.count("context-start") == 1  # the template of the line
    first = alice.get(f"/c/{hers}/context/?model={LARGE}").json()["context_start"]
    assert page.index(f"m-{first}") == page.index('id="m-') + 4


def test_where_the_model_stops_reading_the_page_draws_a_line(alice: Person, hers: str) -> None:
    grow(alice, hers)
    made = turn(alice, hers, model=SMALL)
    start = alice.get(f"/c/{hers}/state/").json()["context_start"]
    assert start != made["user_message"]
    page = alice.get(f"/c/{hers}/").text
    above, below = page.split('<p class="context-start"', 1)
    assert "The model no longer sees the messages above." in below
    assert 'role="separator"' in below
    assert below.index('id="m-') + 4 == below.index(f"m-{start}")
    assert above.count("<article") > 1


def test_the_line_is_where_the_prompt_begins(alice: Person, hers: str, fake: Fake) -> None:
    grow(alice, hers)
    turn(alice, hers, model=SMALL)
    start = alice.get(f"/c/{hers}/state/").json()["context_start"]
    sent = fake.calls[-1]["body"]["messages"]
    part = alice.get(f"/c/{hers}/?since={start}", headers=PART).text
    assert part.count("<article") == len(sent) + 1  # the reply


def test_the_line_moves_with_the_model(alice: Person, hers: str) -> None:
    grow(alice, hers)
    url = f"/c/{hers}/context/"
    small, large = (alice.get(url, params={"model": name}).json()["context_start"] for name in (SMALL, LARGE))
    assert small != large
    # Chosen, but not asked yet: the page shows where that one will begin.
    alice.post(f"/c/{hers}/settings/", {"model": SMALL})
    page = alice.get(f"/c/{hers}/").text
    assert page.index('<p class="context-start"') < page.index(f"m-{small}")


def test_a_model_that_there_is_not_reads_nothing(alice: Person, hers: str, unchanged: None) -> None:
    response = alice.get(f"/c/{hers}/context/?model=none", headers={"Accept": "application/json"})
    assert response.status_code == 400


def test_the_gauge_tells_how_full_the_window_is(alice: Person, hers: str) -> None:
    url = f"/c/{hers}/context/"
    found = alice.get(url, params={"model": LARGE}).json()
    assert 0 < found["tokens"] < 100 < found["window"]
    assert found["text"] == f"About {found['tokens']} of {found['window']:,} tokens (0%)."


def test_the_gauge_counts_what_stands_above_the_line(alice: Person, hers: str) -> None:
    for _ in range(6):
        turn(alice, hers, LONG)
    found = alice.get(f"/c/{hers}/context/", params={"model": SMALL}).json()
    page = alice.get(f"/c/{hers}/").text
    until = page[: page.index(f'id="m-{found["context_start"]}"')]  # with the tag of that message
    above = until.count('<article class="message') - 1
    assert above > 1
    assert f"the model no longer sees the first {above} messages." in found["text"]
    assert found["tokens"] < found["window"]
