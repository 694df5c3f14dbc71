"""The set-up check: what is found on a real server, told in words, and nothing secret among them."""

import html
import re
from collections.abc import Callable, Iterator

import httpx
import pytest

from tests.fake_cloudflare.ai_search import NO_PERMISSION
from tests.fake_cloudflare.run import Run
from tests.fake_cloudflare.scenarios import hang, words
from tests.fake_cloudflare.server import ACCOUNT_TOKEN, ENDPOINT_KEY, NO_GATEWAY, TOKEN, Fake
from tests.support.people import CSRF
from tests.support.server import Person, Server

PAGE = "/admin/checkup/"
ROW = re.compile(
    r'<li data-state="(\w+)"><strong>(\w+)</strong> <span[^>]*><bdi>(.*?)</bdi></span> (.*?)</li>'
)


def check(person: Person, what: str = "setup") -> httpx.Response:
    """The form of the page, sent."""
    return person.client.post(PAGE, data={"csrfmiddlewaretoken": CSRF, "what": what})


def rows(response: httpx.Response) -> dict[str, tuple[str, str]]:
    """State and words of each finding, by its name."""
    assert response.status_code == 200
    page = html.unescape(response.text)
    return {name: (state, re.sub(r"<[^>]+>", "", detail)) for state, _, name, detail in ROW.findall(page)}


def states(response: httpx.Response) -> dict[str, str]:
    return {name: state for name, (state, _) in rows(response).items()}


def whole(fake: Fake, **more: str) -> dict[str, str]:
    return {
        "AI_GATEWAY_ID": "team",
        "OPENAI_BASE_URL": f"{fake.url}/v1",
        "OPENAI_API_KEY": ENDPOINT_KEY,
        "OPENAI_MODELS": "small-1,big-1",
        **more,
    }


def questions(fake: Fake) -> int:
    """How often a model was asked; a server that has just started makes other calls."""
    return sum(call["method"] == "POST" for call in fake.calls)


def test_looking_at_the_page_asks_nobody(server: Server, fake: Fake) -> None:
    before = questions(fake)
    page = server.person("root").get(PAGE)
    assert page.status_code == 200
    assert "Costs less than a cent" in page.text
    assert "Test the models" in page.text
    assert not ROW.search(page.text)
    assert questions(fake) == before


def test_a_site_that_works_is_told_so(servers: Callable[..., Server], fake: Fake) -> None:
    root = servers(**whole(fake)).person("root")
    before = len(fake.calls)
    response = check(root)
    assert states(response) == {
        "Database": "good",
        "Writing to the database": "good",
        "Redis": "note",
        "Files": "good",
        "Reading of files": "good",
        "Cloudflare token": "good",
        "Workers AI: Read": "good",
        "Workers AI: Run": "good",
        "AI Gateway “team”": "good",
        "Web search": "good",
        "Server 127.0.0.1": "good",
    }
    assert "Everything works. " in response.text
    assert [call["body"]["max_tokens"] for call in fake.calls[before:] if "/ai/run/" in call["path"]] == [16]
    assert "no-store" in response.headers["Cache-Control"]
    assert response.headers["X-Accel-Buffering"] == "no"
    assert response.text.rstrip().endswith("</html>")


def test_redis_is_asked_where_it_is_set_up(servers: Callable[..., Server], redis_url: str) -> None:
    assert states(check(servers(REDIS_URL=redis_url).person("root")))["Redis"] == "good"


def test_instances_of_ai_search_are_searched(servers: Callable[..., Server], fake: Fake) -> None:
    instances = {"AI_SEARCH_INSTANCES": "handbook=Ours,gone"}
    found = rows(check(servers(**instances).person("root")))
    assert found["AI Search “handbook”"] == ("good", "The token can search in it.")
    assert found["AI Search “gone”"][0] == "bad"
    assert "AI_SEARCH_INSTANCES" in found["AI Search “gone”"][1]
    assert not any("chat/completions" in call["path"] for call in fake.calls)
    refused = servers(**instances, CLOUDFLARE_API_TOKEN=NO_PERMISSION).person("root")
    state, detail = rows(check(refused))["AI Search “handbook”"]
    assert state == "bad"
    assert "AI Search: Run" in detail


def test_a_token_of_the_account_is_as_good(servers: Callable[..., Server]) -> None:
    found = states(check(servers(CLOUDFLARE_API_TOKEN=ACCOUNT_TOKEN).person("root")))
    assert found["Cloudflare token"] == "good"


def test_each_problem_says_what_to_do_and_no_secret(servers: Callable[..., Server], fake: Fake) -> None:
    wrong = {"CLOUDFLARE_API_TOKEN": "wrong-token-7", "OPENAI_API_KEY": "wrong-key-7"}
    server = servers(**whole(fake, **wrong, REDIS_URL="redis://:hunter2@127.0.0.1:1/0"))
    response = check(server.person("root"))
    found = rows(response)
    assert found["Redis"][0] == "bad"
    assert "REDIS_URL" in found["Redis"][1]
    state, detail = found["Cloudflare token"]
    assert state == "bad"
    assert detail.startswith("Cloudflare rejected it. Create a token")
    assert found["Workers AI: Run"][0] == "bad"
    assert "(10000)" in found["Workers AI: Run"][1]
    assert found["AI Gateway “team”"][0] == "note"
    assert found["Server 127.0.0.1"][0] == "bad"
    assert "Cloudflare" not in found["Server 127.0.0.1"][1]
    assert "5 problems." in response.text
    for secret in (*wrong.values(), "hunter2"):
        assert secret not in response.text + server.log.read_text()


def test_a_gateway_and_models_that_are_not_there_are_named(
    servers: Callable[..., Server], fake: Fake
) -> None:
    server = servers(**whole(fake, AI_GATEWAY_ID=NO_GATEWAY, OPENAI_MODELS="small-1,tiny"))
    found = rows(check(server.person("root")))
    assert found[f"AI Gateway “{NO_GATEWAY}”"][0] == "bad"
    assert "AI_GATEWAY_ID" in found[f"AI Gateway “{NO_GATEWAY}”"][1]
    state, detail = found["Server 127.0.0.1"]
    assert state == "note"
    assert "it doesn’t list: tiny" in detail


def test_nobody_answers_and_the_page_still_ends(servers: Callable[..., Server], fake: Fake) -> None:
    server = servers(CLOUDFLARE_API_BASE_URL="http://127.0.0.1:1/client/v4")
    found = rows(check(server.person("root")))
    assert found["Cloudflare token"][0] == "bad"
    assert "couldn’t be reached" in found["Cloudflare token"][1]
    assert found["Database"][0] == "good"


def test_each_model_is_asked_once_and_says_how_fast_it_is(servers: Callable[..., Server], fake: Fake) -> None:
    root = servers(**whole(fake)).person("root")
    before = len(fake.calls)
    response = check(root, "models")
    found = rows(response)
    offered = re.findall(r'name="choice" value="([^"]+)"', root.get("/models/").text)
    assert len(found) == len(offered) > 30
    assert {state for state, _ in found.values()} == {"good"}
    assert all(re.search(r"after \d+\.\d\d s\.", detail) for _, detail in found.values())
    calls = [call for call in fake.calls[before:] if call["method"] == "POST"]
    assert len({(call["path"], call["body"].get("model")) for call in calls}) == len(calls) == len(offered)
    assert {str(call["body"]["messages"]) for call in calls} == {
        str([{"role": "user", "content": "Say OK."}])
    }
    keys = {(call["path"].startswith("/v1/"), call["headers"]["authorization"]) for call in calls}
    assert keys == {(False, f"Bearer {TOKEN}"), (True, f"Bearer {ENDPOINT_KEY}")}
    assert "Everything works." in response.text
    database = root.get("/admin/chat/run/").text
    assert "Nothing here yet." in database


@pytest.fixture
def slow() -> Iterator[Fake]:
    """The second model never answers, the others after a while."""
    runs: list[Run] = []

    async def play(run: Run) -> None:
        runs.append(run)
        await (hang(run, before="headers") if len(runs) == 2 else words(run, tokens=1, first=0.3))

    made = Fake(play)
    yield made
    made.close()


def test_results_come_while_others_are_waited_for(servers: Callable[..., Server], slow: Fake) -> None:
    server = servers(CLOUDFLARE_API_BASE_URL=slow.base_url)
    root = server.person("root")
    form = {"csrfmiddlewaretoken": CSRF, "what": "models"}
    with root.client.stream("POST", PAGE, data=form) as response:
        text = ""
        for part in response.iter_text():
            text += part
            if text.count("data-state") == 1:
                break
    assert any(call["ended"] is None for call in slow.calls), "the second is still waited for"
    assert "</html>" not in text
    slow.wait_for(lambda calls: all(call["ended"] for call in calls))  # who leaves ends all that was asked
    assert 1 <= len(slow.calls) < 31


@pytest.mark.parametrize("name", ["", "alice", "carol", "erin"])
@pytest.mark.parametrize("what", ["setup", "models"])
def test_nobody_else_has_anything_checked(server: Server, fake: Fake, name: str, what: str) -> None:
    before = questions(fake)
    response = check(server.person(name), what)
    assert response.status_code == (403 if name in ("carol", "erin") else 302)
    assert questions(fake) == before
    assert "Check the setup" not in response.text


def test_without_a_token_of_the_form_nothing_is_checked(server: Server, fake: Fake) -> None:
    before = questions(fake)
    root = server.person("root")
    response = root.client.post(PAGE, data={"what": "models"}, headers={"X-CSRFToken": ""})
    assert response.status_code == 403
    assert questions(fake) == before


def test_the_overview_leads_there_for_the_administrator_only(server: Server) -> None:
    assert PAGE in server.person("root").get("/admin/").text
    assert PAGE not in server.person("erin").get("/admin/").text
