"""The preferences of a person: a row in the database, repeated in the cookies of each browser."""

import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from tests.fake_cloudflare.server import Fake
from tests.support.databases import Database
from tests.support.people import CSRF, PASSWORD
from tests.support.server import Person, Server

pytestmark = pytest.mark.database
DEFAULTS = {
    "theme": "system",
    "text_size": "normal",
    "announce": "finished",
    "enter": "sends",
    "language": "",
    "time_zone": "",
    "model": "",
    "web_search": "off",
}
MODEL = "@cf/zai-org/glm-4.7-flash"
FORM = {"theme": "dark", "announce": "off", "enter": "line", "csrfmiddlewaretoken": CSRF}
HTML = {"Accept": "text/html"}
BAD: list[dict[str, Any]] = [
    {"theme": "pink"},
    {"theme": "dark", "announce": "loudly"},
    {"enter": ""},
    {"enter": None},
    {"theme": ["dark"]},
    {"theme": {"dark": 1}},
    {"text_size": "huge"},
    {"language": "xx"},
    {"time_zone": "Europe/Nowhere"},
    {"time_zone": "../etc/passwd"},
    {"time_zone": 1},
    {"model": "no such model"},
    {"model": 3},
    {"colour": "dark"},
    {},
]


@pytest.fixture
def alice(server: Server, database: Database) -> Person:
    """Return alice, who has chosen nothing yet."""
    database.rows("DELETE FROM chat_preferences")
    return server.person("alice")


def root(response: httpx.Response) -> str:
    """The page's first element."""
    found = re.search(r"<html[^>]*>", response.text)
    assert found
    return found[0]


def cookies(person: Person) -> dict[str, str | None]:
    return {name: person.client.cookies.get(name) for name in ("theme", "announce", "enter")}


def test_without_a_choice_everything_is_as_usual(alice: Person) -> None:
    page = alice.get("/settings/")
    for default in ("system", "finished", "sends"):
        assert f'value="{default}" {"selected" if default == "finished" else "checked"}' in page.text
    assert page.text.count(" checked") == 3
    assert 'data-theme="system" data-enter="sends"' in root(page)
    assert '<meta name="color-scheme" content="light dark">' in page.text
    assert "are saved" not in page.text


def test_a_form_is_kept_and_its_page_says_so(alice: Person) -> None:
    response = alice.client.post("/settings/", data=FORM, headers=HTML)
    assert (response.status_code, response.headers["Location"]) == (303, "/settings/?saved=1")
    for cookie in response.headers.get_list("set-cookie"):
        assert {"HttpOnly", "SameSite=Lax", "Path=/", "Max-Age=31536000"} <= set(cookie.split("; "))
    page = alice.get("/settings/?saved=1")
    assert "Your settings are saved." in page.text
    for chosen in ("dark", "off", "line"):
        assert f'value="{chosen}" {"selected" if chosen == "off" else "checked"}' in page.text
    assert page.text.count(" checked") == 3


def test_every_page_is_drawn_as_it_was_chosen(alice: Person) -> None:
    pages = ("/", "/settings/", "/conversations/", "/readings/", "/accounts/password/", "/nowhere/")
    for path in pages:
        assert 'data-theme="system"' in root(alice.get(path, headers=HTML)), path
    alice.client.post("/settings/", data=FORM, headers=HTML)
    for path in pages:
        page = alice.get(path, headers=HTML)
        assert 'data-theme="dark" data-enter="line"' in root(page), path
        assert page.text.count('<meta name="theme-color" content="#1b1917">') == 1, path
        assert '<meta name="color-scheme" content="dark">' in page.text, path


def test_the_page_to_sign_in_is_drawn_so_too(server: Server, alice: Person) -> None:
    visitor = server.person("")
    alice.client.post("/settings/", data=FORM, headers=HTML)
    visitor.client.cookies.set("theme", str(alice.client.cookies.get("theme")))
    assert 'data-theme="dark"' in root(visitor.get("/accounts/login/", headers=HTML))


def test_one_choice_leaves_the_others_alone(alice: Person) -> None:
    assert alice.post("/settings/", {"enter": "line"}).json()["enter"] == "line"
    kept = alice.post("/settings/", {"theme": "light"}).json()
    assert kept == {**DEFAULTS, "theme": "light", "enter": "line"}
    assert cookies(alice) == {"theme": "light", "announce": None, "enter": "line"}


@pytest.mark.parametrize("body", BAD, ids=str)
def test_forbidden_values_change_nothing(alice: Person, body: dict[str, Any]) -> None:
    response = alice.post("/settings/", body)
    assert response.status_code == 400
    assert response.json()["error"]["code"] == "malformed"
    assert set(cookies(alice).values()) == {None}


def test_a_form_with_a_wrong_value_gets_a_page_and_no_cookie(alice: Person) -> None:
    response = alice.client.post("/settings/", data={**FORM, "theme": "<b>"}, headers=HTML)
    assert response.status_code == 400
    assert "must be one of: system, light, dark" in response.text
    assert set(cookies(alice).values()) == {None}


@pytest.mark.parametrize("value", ["", "pink", "Dark", '"><script>', "dark light", "é"])
def test_a_cookie_of_somebody_elses_counts_as_none(alice: Person, value: str) -> None:
    sent = f"; theme={value}; announce={value}; enter={value}".encode()
    cookie = b"sessionid=" + alice.client.cookies["sessionid"].encode() + sent
    page = alice.get("/", headers={"Cookie": cookie, "Accept": "text/html"})
    assert page.status_code == 200
    assert 'data-theme="system" data-enter="sends"' in root(page)
    assert "<script>" not in page.text


def test_another_browser_shows_the_persons_choice(server: Server, alice: Person) -> None:
    alice.client.post("/settings/", data={**FORM, "text_size": "large"}, headers=HTML)
    page = server.person("alice").get("/")
    shown = root(page)
    assert 'data-theme="dark" data-enter="line"' in shown
    assert 'data-text-size="large"' in shown
    assert {"theme=dark", "text_size=large"} <= {
        cookie.split(";")[0] for cookie in page.headers.get_list("set-cookie")
    }
    assert 'data-theme="system"' in root(server.person("bob").get("/"))


def test_the_row_wins_over_an_old_cookie(server: Server, alice: Person) -> None:
    alice.post("/settings/", {"theme": "dark"})
    other = server.person("alice")
    other.client.cookies.set("theme", "light")
    assert 'data-theme="dark"' in root(other.get("/"))
    assert 'data-theme="dark"' in root(other.get("/nowhere/", headers=HTML))


def test_a_page_that_agrees_sets_no_cookie(alice: Person) -> None:
    alice.post("/settings/", {"theme": "dark"})
    assert {cookie.split("=")[0] for cookie in alice.get("/").headers.get_list("set-cookie")} <= {"csrftoken"}


def test_cookies_hold_until_something_is_saved(alice: Person) -> None:
    alice.client.cookies.set("theme", "dark")
    assert 'data-theme="dark"' in root(alice.get("/"))
    assert alice.post("/settings/", {"enter": "line"}).json() == {
        **DEFAULTS,
        "theme": "dark",
        "enter": "line",
    }


def test_a_chosen_zone_is_that_of_all_times(server: Server, alice: Person) -> None:
    server.person("erin").get(f"/admin/chat/conversation/{alice.asked('hello').conversation}/change/")
    alice.post("/settings/", {"time_zone": "Asia/Tokyo"})
    other = server.person("alice")
    other.client.cookies.set("tz", "Europe/Berlin")
    assert "JST" in other.get("/settings/readings/").text
    alice.post("/settings/", {"time_zone": ""})
    shown = other.get("/settings/readings/").text
    assert "JST" not in shown
    assert "CET" in shown or "CEST" in shown


def test_instructions_go_before_a_chats_own(alice: Person, fake: Fake) -> None:
    assert alice.post("/settings/instructions/", {"instructions": " Be brief. "}).json() == {
        "instructions": "Be brief."
    }
    alice.asked("hello")
    assert system_of(fake) == ["Be brief."]
    stream = alice.asked("hello", system="Speak Latin.")
    assert system_of(fake) == ["Be brief.\n\nSpeak Latin."]
    alice.asked("again", f"/c/{stream.conversation}/messages/")
    assert system_of(fake) == ["Be brief.\n\nSpeak Latin."]
    assert ">instructions for all chats</a>" in alice.get(f"/c/{stream.conversation}/").text


def test_the_memory_goes_after_the_instructions(alice: Person, fake: Fake) -> None:
    alice.post("/settings/instructions/", {"instructions": "Be brief."})
    for fact in ("I like tea.", "I live in Rome."):
        assert alice.post("/settings/memory/", {"fact": fact}).status_code == 201
    remembered = "What the person wants you to remember:\n- I like tea.\n- I live in Rome."
    with alice.ask("hello", system="Speak Latin.") as stream:
        stream.to_end()
    assert system_of(fake) == [f"Be brief.\n\n{remembered}\n\nSpeak Latin."]
    address = f"/c/{stream.conversation}/context/"
    used = alice.get(address).json()["tokens"]
    with alice.ask("hello", temporary=True) as stream:
        stream.to_end()
    assert system_of(fake) == ["Be brief."]
    assert alice.post("/settings/memory/switch/", {"memory": "off"}).json() == {"memory": "off"}
    alice.asked("hello")
    assert system_of(fake) == ["Be brief."]
    assert alice.get(address).json()["tokens"] < used
    assert alice.post("/settings/memory/delete/").json() == {"deleted": 2}


@pytest.mark.parametrize("keep", ["usage", "conversations"])
def test_calls_of_the_api_get_no_instructions(alice: Person, fake: Fake, keep: str) -> None:
    alice.post("/settings/instructions/", {"instructions": "Be brief."})
    fact = alice.post("/settings/memory/", {"fact": "I like tea."}).json()["id"]
    wanted = {"name": "a program", "run": True, "keep": keep, "password": PASSWORD}
    key = alice.post("/settings/keys/", wanted).json()["key"]
    body = {"model": MODEL, "messages": [{"role": "user", "content": "hello"}]}
    with httpx.Client(base_url=alice.client.base_url, headers={"Authorization": f"Bearer {key}"}) as program:
        assert program.post("/v1/chat/completions", json=body).status_code == 200
    assert system_of(fake) == []
    assert alice.post(f"/settings/memory/{fact}/delete/").status_code == 200


def system_of(fake: Fake) -> list[str]:
    return [m["content"] for m in fake.calls[-1]["body"]["messages"] if m["role"] == "system"]


def test_instructions_too_long_are_refused(alice: Person, database: Database) -> None:
    response = alice.post("/settings/instructions/", {"instructions": "x" * 10_001})
    assert response.status_code == 413
    assert database.value("SELECT COUNT(*) FROM chat_preferences") == 0


def test_a_new_chat_begins_with_the_persons_model(alice: Person, fake: Fake) -> None:
    alice.asked("hello")
    other = next(model for model in models(alice) if model != MODEL)
    assert alice.post("/settings/", {"model": other}).json()["model"] == other
    assert f'value="{other}" selected' in alice.get("/").text
    alice.asked("hello")
    assert fake.calls[-1]["path"].endswith(other) or fake.calls[-1]["body"].get("model") == other
    alice.post("/settings/", {"model": "default"})
    assert f'value="{MODEL}" selected' in alice.get("/").text


def models(person: Person) -> list[str]:
    return re.findall(r'<option value="(@cf/[^"]+)"', person.get("/").text)


def test_the_models_stand_in_groups_with_favorites_first(alice: Person) -> None:
    second = models(alice)[1]
    assert alice.post("/models/favourites/", {"model": second, "favourite": True}).status_code == 200
    alice.post("/settings/", {"model": second})
    select = alice.get("/settings/").text.partition('name="model"')[2].partition("</select>")[0]
    labels = re.findall(r'<optgroup label="([^"]+)"', select)
    assert labels[0] == "Favorites"
    assert len(labels) == len(set(labels)) > 2
    values = re.findall(r'<option value="(@cf/[^"]+)"', select)
    assert values[0] == second
    assert sorted(values) == sorted(each for each in models(alice) if "-lora" not in each)
    assert select.count(" selected") == 1
    alice.post("/models/favourites/", {"model": second, "favourite": False})
    assert "Favorites" not in alice.get("/settings/").text


def test_a_model_that_is_hidden_gives_way_to_the_default(alice: Person, database: Database) -> None:
    alice.post("/settings/", {"theme": "dark"})
    database.rows("UPDATE chat_preferences SET model = '@cf/gone/model'")
    assert f'value="{MODEL}" selected' in alice.get("/").text
    assert "@cf/gone/model is no longer available here" in alice.get("/settings/").text
    alice.asked("hello")


def test_two_sections_saved_at_once_are_both_kept(alice: Person, server: Server) -> None:
    with ThreadPoolExecutor(2) as pool:
        saves = [
            pool.submit(server.person("alice").post, "/settings/", {"theme": "dark"}),
            pool.submit(server.person("alice").post, "/settings/instructions/", {"instructions": "Hi."}),
        ]
        assert [save.result().status_code for save in saves] == [200, 200]
    assert alice.get("/settings/instructions/").text.count("Hi.") == 1
    assert 'value="dark" checked' in alice.get("/settings/").text
