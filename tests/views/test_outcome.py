"""The explanation of a reply's end, with suggestions: on the page, in the stream, in its own part."""

import re
import uuid
from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest

from tests.fake_cloudflare.server import Fake
from tests.support.databases import Database, Template
from tests.support.people import SESSIONS
from tests.support.server import Server, Servers

FIRST, SECOND = "@cf/zai-org/glm-4.7-flash", "@cf/openai/gpt-oss-20b"
BUSY = "fake for glm-4.7-flash: status code=3040\nfake: words tokens=3 delay=0.05"
THIRD = "@cf/qwen/qwen3-30b-a3b-fp8"
INSTEAD = "Answered by GPT OSS 20B, because GLM 4.7 Flash was busy."


@pytest.fixture(scope="module")
def servers(
    template: Template, database: Database, fake: Fake, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Servers]:
    made = Servers(template, database, fake, tmp_path_factory.mktemp("servers"))
    yield made
    made.end()


@pytest.fixture(scope="module")
def site(servers: Servers) -> Server:
    return servers.start(FALLBACK_MODELS=SECOND)


@pytest.mark.database
def test_the_fallback_model_is_shown_and_stored(site: Server) -> None:
    alice = site.person("alice")
    stream = alice.asked(BUSY)
    assert stream.meta["model"] == FIRST
    assert stream.done["status"] == "complete", stream.done
    assert (stream.done["answered_by"], stream.done["because"]) == (SECOND, "busy")
    (told,) = stream.problems
    assert (told["code"], told["answered_by"], told["message"]) == ("fallback", SECOND, INSTEAD)
    stored = "SELECT r.model, r.answered_by, r.fallback_reason, m.model FROM chat_run r JOIN chat_message m"
    latest = site.database.rows(f"{stored} ON m.id = r.message_id ORDER BY r.created DESC LIMIT 1")
    assert latest == [(FIRST, SECOND, "busy", SECOND)]
    page = alice.get(f"/c/{stream.conversation}/").text
    assert INSTEAD in page
    assert '<summary data-part="model">GPT OSS 20B</summary>' in page
    assert INSTEAD in alice.get(f"/messages/{stream.meta['message']}/outcome/").text
    again = alice.followed(stream.run)
    assert (again.meta["model"], again.done["answered_by"]) == (SECOND, SECOND)


@pytest.mark.database
def test_another_process_tells_the_same(site: Server, servers: Servers) -> None:
    other = servers.start(apart=True)
    stream = site.person("alice").asked(BUSY)
    mirror = other.person("alice").followed(stream.run)
    assert mirror.done["status"] == "complete"
    assert (mirror.done["answered_by"], mirror.done["because"]) == (SECOND, "busy")
    assert INSTEAD in other.person("alice").get(f"/c/{stream.conversation}/").text


def test_where_the_asked_model_answers_nothing_is_said(site: Server) -> None:
    stream = site.person("alice").asked("fake: words tokens=3")
    assert not {"answered_by", "because", "retry_after", "request_id"} & set(stream.done)
    assert stream.problems == []
    assert "Answered by" not in site.person("alice").get(f"/c/{stream.conversation}/").text


@pytest.mark.parametrize(
    ("code", "buttons"),
    [
        (3040, ["Try again", "Another model"]),
        (3021, ["", "Try again", "Another model"]),
        (5021, ["Another model", "Shorten the message"]),
        (2016, ["Another model", "Edit the message"]),
        (5035, ["Another model", "Try again"]),
        (10000, ["Try again"]),
    ],
)
def test_each_failure_offers_what_helps(site: Server, code: int, buttons: list[str]) -> None:
    alice = site.person("alice")
    stream = alice.asked(failing(code), model=THIRD)
    part = alice.get(f"/messages/{stream.meta['message']}/outcome/").text
    assert stream.done["message"].replace("'", "&#x27;") in part
    offered = re.findall(r'<button class="button"[^>]*>([^<]*)</button>', part)
    assert sorted(offered) == sorted(buttons)
    assert stream.done["request_id"] not in part
    page = alice.get(f"/c/{stream.conversation}/").text
    assert without_tokens(part) in without_tokens(page)
    assert "dash.cloudflare.com" not in page


def test_the_request_id_is_for_administrators(site: Server) -> None:
    root = site.person("root")
    stream = root.asked(failing(10000), model=THIRD)
    part = root.get(f"/messages/{stream.meta['message']}/outcome/").text
    assert f"<code>{stream.done['request_id']}</code>" in part


def buttons_of(part: str) -> list[str]:
    """Return the buttons, without the one to wait with, which exists only shortly before midnight UTC."""
    return [text for text in re.findall(r'<button class="button"[^>]*>([^<]*)</button>', part) if text]


@pytest.mark.database
def test_a_quota_that_is_used_up_offers_only_what_can_help(site: Server, servers: Servers) -> None:
    alice = site.person("alice")
    stream = alice.asked(failing(3036), model=THIRD)
    path = f"/messages/{stream.meta['message']}/outcome/"
    run = uuid.UUID(stream.run)
    retry_at = str(site.database.value(f"SELECT retry_at FROM chat_run WHERE id = '{run.hex}'"))
    assert "00:00:00" in retry_at
    tomorrow = datetime.fromisoformat(retry_at) + timedelta(days=1)  # it may be a moment before midnight
    site.database.rows(f"UPDATE chat_run SET retry_at = '{tomorrow:%F %T}+00:00' WHERE id = '{run.hex}'")
    part = alice.get(path, headers={"Cookie": f"sessionid={SESSIONS['alice']}; tz=Asia/Tokyo"}).text
    assert "It resets at 9 a.m. JST." in part
    assert "It resets at midnight UTC." in alice.get(path).text
    assert buttons_of(part) == []
    # Elsewhere there are models that the account does not pay for.
    other = servers.start(apart=True, OPENAI_BASE_URL="http://127.0.0.1:9/v1", OPENAI_MODELS="small-1")
    part = other.person("alice").get(path).text
    assert buttons_of(part) == ["Another model"]
    assert re.search(r'data-only="[^"@]*small-1"', part)
    # The day after, the same can be asked again.
    site.database.rows("UPDATE chat_run SET retry_at = '2026-01-01 00:00:00+00:00'")
    assert buttons_of(alice.get(path).text) == ["Try again"]


@pytest.mark.parametrize(
    ("scenario", "status", "words", "buttons"),
    [
        (
            "filtered tokens=3",
            "failed",
            "A content filter stopped this reply.",
            ["Edit the message", "Another model"],
        ),
        ("empty", "complete", "returned an empty reply", ["Try again", "Another model"]),
    ],
)
def test_a_reply_that_a_filter_ended_or_that_is_empty_says_so(
    site: Server, scenario: str, status: str, words: str, buttons: list[str]
) -> None:
    alice = site.person("alice")
    stream = alice.asked(f"fake: {scenario}")
    assert stream.done["status"] == status
    assert words in stream.done["message"]
    for path in (f"/messages/{stream.meta['message']}/outcome/", f"/c/{stream.conversation}/"):
        part = (
            alice.get(path)
            .text.split('<template id="question-template">')[0]
            .split('data-part="outcome"')[-1]
        )
        assert words in part
        assert buttons_of(part)[: len(buttons)] == buttons


def test_only_staff_is_shown_the_way_to_cloudflare(site: Server) -> None:
    for name, shown in (("alice", False), ("root", True)):
        stream = site.person(name).asked(failing(2021), model=THIRD)
        page = site.person(name).get(f"/c/{stream.conversation}/").text
        assert ("https://dash.cloudflare.com/?to=/:account/billing" in page) is shown


@pytest.mark.database
def test_the_wait_is_told_as_long_as_it_holds(site: Server) -> None:
    alice = site.person("alice")
    stream = alice.asked(failing(3040) + " retry_after=60", model=THIRD)
    assert 50 < stream.done["retry_after"] <= 60
    path = f"/messages/{stream.meta['message']}/outcome/"
    found = re.search(r'data-seconds="(\d+)"', alice.get(path).text)
    assert found
    assert 30 < int(found[1]) <= 60
    site.database.rows("UPDATE chat_run SET retry_at = '2026-01-01 00:00:00+00:00'")
    assert "data-seconds" not in alice.get(path).text


def failing(code: int) -> str:
    """A question that the third model fails with `code`, and whoever is asked instead with something else."""
    return f"fake: status code=5006\nfake for qwen3-30b-a3b-fp8: status code={code}"


def without_tokens(html: str) -> str:
    """A token differs each time, a countdown each second."""
    html = re.sub(r'name="csrfmiddlewaretoken" value="\w+"', "", html)
    return re.sub(r'data-seconds="\d+"', "", html).strip()
