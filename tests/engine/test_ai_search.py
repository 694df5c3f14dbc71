"""A model that answers from the documents of an instance of AI Search: asked, shown, stored and refused."""

import re
from collections.abc import Callable

import pytest

from tests.fake_cloudflare.ai_search import HANDBOOK, NO_PERMISSION
from tests.fake_cloudflare.server import Fake
from tests.support.people import PASSWORD
from tests.support.server import Person, Server, Stream

INSTANCES = "handbook=Our handbook,team/handbook,empty,gone"
ROWS = "SELECT number, title, url, text FROM chat_citation ORDER BY number"
PATH = "/client/v4/accounts/acc/ai-search/namespaces/{}/instances/{}/chat/completions"


@pytest.fixture
def site(servers: Callable[..., Server]) -> Server:
    return servers(AI_SEARCH_INSTANCES=INSTANCES)


def ask_to_end(person: Person, question: str, model: str = "handbook", path: str = "/c/") -> Stream:
    return person.asked(question, path, model=f"ai-search/{model}")


def calls_of(fake: Fake, name: str = "handbook") -> list[object]:
    return [call for call in fake.calls if call["path"] == PATH.format("default", name)]


def titles(page: str) -> list[str]:
    return re.findall(r"<summary><span class=\"ordinal\">\d+</span> <bdi>(.*?)</bdi>", page)


@pytest.mark.database
def test_a_reply_has_the_passages_it_was_written_from(site: Server, fake: Fake) -> None:
    alice = site.person("alice")
    first = ask_to_end(alice, "How many days?")
    assert first.text == "You said: How many days?"
    assert first.done
    assert (first.done["status"], first.done["citations"]) == ("complete", 3)
    call = fake.calls[-1]
    assert call["path"] == PATH.format("default", "handbook")
    assert call["body"] == {"messages": [{"role": "user", "content": "How many days?"}], "stream": True}
    assert not any(name.startswith("cf-aig") for name in call["headers"])
    assert [row[:3] for row in site.database.rows(ROWS)] == [
        (1, "handbook/holidays.md", ""),
        (2, "handbook/holidays.md", ""),
        (3, "https://intranet.example/rules?page=2", "https://intranet.example/rules?page=2"),
    ]
    part = alice.get(f"/messages/{first.meta['message']}/outcome/").text
    page = alice.get(f"/c/{first.conversation}/").text
    assert titles(part) == titles(page) == ["handbook/holidays.md", "https://intranet.example/rules?page=2"]
    assert "&lt;b&gt;No exceptions.&lt;/b&gt;" in page
    with alice.follow(first.run) as late:
        assert late.to_end().done == first.done


@pytest.mark.database
def test_each_instance_is_offered_under_its_name(site: Server, fake: Fake) -> None:
    alice = site.person("alice")
    offered = alice.get("/models/").text
    assert "Knowledge" in offered
    assert "Our handbook" in offered
    assert "with sources" in offered
    assert ask_to_end(alice, "hello", "team/handbook").done
    assert fake.calls[-1]["path"] == PATH.format("team", "handbook")
    nothing = ask_to_end(alice, "hello", "empty")
    assert nothing.done
    assert "citations" not in nothing.done
    assert titles(alice.get(f"/c/{nothing.conversation}/").text) == []


@pytest.mark.database
def test_a_conversation_goes_on_with_its_documents(site: Server, fake: Fake) -> None:
    alice = site.person("alice")
    first = ask_to_end(alice, "one\nfake: ai_search tokens=3")
    again = ask_to_end(alice, "two", path=f"/c/{first.conversation}/messages/")
    roles = [message["role"] for message in fake.calls[-1]["body"]["messages"]]
    assert roles == ["user", "assistant", "user"]
    assert titles(alice.get(f"/c/{again.conversation}/").text).count("handbook/holidays.md") == 2


@pytest.mark.database
def test_a_stopped_reply_keeps_its_passages(site: Server) -> None:
    alice = site.person("alice")
    with alice.ask("fake: words tokens=500 delay=0.05", model="ai-search/handbook") as stream:
        stream.until(5)
        alice.stop(stream.run)
        stream.to_end()
    assert stream.done
    assert (stream.done["status"], stream.done["citations"]) == ("stopped", 3)
    assert len(site.database.rows(ROWS)) == 3


@pytest.mark.database
def test_a_continued_reply_repeats_no_passage(site: Server) -> None:
    alice = site.person("alice")
    stream = alice.asked("fake: cut after=5\nfake-then: words tokens=3", model="ai-search/handbook")
    more = alice.started(f"/messages/{stream.meta['message']}/continue/")
    assert more.done
    assert more.done["status"] == "complete"
    assert [row[0] for row in site.database.rows(ROWS)] == [1, 2, 3]


def test_an_instance_that_is_gone_is_said(site: Server, fake: Fake) -> None:
    alice = site.person("alice")
    refused = ask_to_end(alice, "hello", "gone")
    assert refused.done
    assert (refused.done["status"], refused.done["code"]) == ("failed", "unknown_model")
    assert "documents" in refused.done["message"]
    assert len(calls_of(fake, "gone")) == 1


def test_a_used_up_month_is_not_tried_again(site: Server, fake: Fake) -> None:
    refused = ask_to_end(site.person("alice"), "fake: status code=7069")
    assert refused.done
    assert refused.done["code"] == "credits"
    assert "month" in refused.done["message"]
    assert len(calls_of(fake)) == 1


def test_an_internal_error_is_tried_again(site: Server, fake: Fake) -> None:
    done = ask_to_end(site.person("alice"), "fake: flaky fails=1 code=7017").done
    assert done
    assert done["status"] == "complete"
    assert len(calls_of(fake)) == 2


def test_a_token_without_the_permission_is_refused(servers: Callable[..., Server]) -> None:
    site = servers(AI_SEARCH_INSTANCES=INSTANCES, CLOUDFLARE_API_TOKEN=NO_PERMISSION)
    done = ask_to_end(site.person("alice"), "hello").done
    assert done
    assert done["code"] == "auth"
    assert "AI Search" in done["message"]


def test_programs_get_the_passages_as_they_came(site: Server, fake: Fake) -> None:
    alice = site.person("alice")
    made = alice.post(
        "/settings/keys/", {"name": "a program", "run": True, "list": True, "password": PASSWORD}
    )
    headers = {"Authorization": f"Bearer {made.json()['key']}"}
    body = {"model": "ai-search/handbook", "messages": [{"role": "user", "content": "hello"}]}

    def complete(**more: object) -> tuple[int, str]:
        response = alice.client.post("/v1/chat/completions", json=body | more, headers=headers)
        return response.status_code, response.text

    response = alice.client.post("/v1/chat/completions", json=body, headers=headers).json()
    assert response["chunks"] == HANDBOOK
    assert response["choices"][0]["message"]["content"] == "You said: hello"
    assert fake.calls[-1]["body"] == {"messages": body["messages"], "stream": True}
    first, *_ = complete(stream=True)[1].split("\n\n")
    assert '"chunks":[{"id":"chunk-001"' in first
    assert '"delta":{"role":"assistant","content":""}' in first
    models = alice.client.get("/v1/models", headers=headers).json()["data"]
    assert {"ai-search/handbook", "ai-search/team/handbook"} <= {each["id"] for each in models}
    for name, value in {
        "temperature": 0.5,
        "max_tokens": 9,
        "tools": [{"type": "function", "function": {"name": "f"}}],
    }.items():
        status, error_text = complete(**{name: value})
        assert (status, name in error_text) == (400, True)
    stopped = alice.client.post("/v1/chat/completions", json=body | {"stop": "said"}, headers=headers).json()
    assert stopped["choices"][0]["message"]["content"] == "You "
