"""The settings of a browser: kept in cookies, rendered by the server."""

import re
from typing import Any

import httpx
import pytest

from tests.support.people import CSRF
from tests.support.server import Person, Server

FORM = {"theme": "dark", "announce": "off", "enter": "line", "csrfmiddlewaretoken": CSRF}
HTML = {"Accept": "text/html"}
BAD: list[dict[str, Any]] = [
    {"theme": "pink"},
    {"theme": "dark", "announce": "loudly"},
    {"enter": ""},
    {"enter": None},
    {"theme": ["dark"]},
    {"theme": {"dark": 1}},
    {"colour": "dark"},
    {},
]


def root(answer: httpx.Response) -> str:
    """The page's first element."""
    found = re.search(r"<html[^>]*>", answer.text)
    assert found
    return found[0]


def cookies(person: Person) -> dict[str, str | None]:
    return {name: person.client.cookies.get(name) for name in ("theme", "announce", "enter")}


def test_without_a_choice_everything_is_as_usual(alice: Person) -> None:
    page = alice.get("/settings/")
    for default in ("system", "finished", "sends"):
        assert f'value="{default}" checked' in page.text
    assert page.text.count(" checked") == 3
    assert 'data-theme="system" data-enter="sends"' in root(page)
    assert '<meta name="color-scheme" content="light dark">' in page.text
    assert "are saved" not in page.text


def test_a_form_is_kept_and_its_page_says_so(alice: Person) -> None:
    answer = alice.client.post("/settings/", data=FORM, headers=HTML)
    assert (answer.status_code, answer.headers["Location"]) == (303, "/settings/?saved=1")
    for cookie in answer.headers.get_list("set-cookie"):
        assert {"HttpOnly", "SameSite=Lax", "Path=/", "Max-Age=31536000"} <= set(cookie.split("; "))
    page = alice.get("/settings/?saved=1")
    assert "Your settings are saved." in page.text
    for chosen in ("dark", "off", "line"):
        assert f'value="{chosen}" checked' in page.text
    assert page.text.count(" checked") == 3


def test_every_page_is_drawn_as_it_was_chosen(alice: Person) -> None:
    pages = ("/", "/settings/", "/conversations/", "/readings/", "/accounts/password/", "/nowhere/")
    for path in pages:
        assert 'data-theme="system"' in root(alice.get(path, headers=HTML)), path
    alice.client.post("/settings/", data=FORM, headers=HTML)
    for path in pages:
        page = alice.get(path, headers=HTML)
        assert 'data-theme="dark" data-enter="line"' in root(page), path
        assert page.text.count('<meta name="theme-color" content="#17181a">') == 1, path
        assert '<meta name="color-scheme" content="dark">' in page.text, path


def test_the_page_to_sign_in_is_drawn_so_too(server: Server, alice: Person) -> None:
    visitor = server.person("")
    alice.client.post("/settings/", data=FORM, headers=HTML)
    visitor.client.cookies.set("theme", str(alice.client.cookies.get("theme")))
    assert 'data-theme="dark"' in root(visitor.get("/accounts/login/", headers=HTML))


def test_one_choice_leaves_the_others_alone(alice: Person) -> None:
    assert alice.post("/settings/", {"enter": "line"}).json()["enter"] == "line"
    kept = alice.post("/settings/", {"theme": "light"}).json()
    assert kept == {"theme": "light", "announce": "finished", "enter": "line"}
    assert cookies(alice) == {"theme": "light", "announce": None, "enter": "line"}


@pytest.mark.parametrize("body", BAD, ids=str)
def test_what_is_not_allowed_changes_nothing(alice: Person, body: dict[str, Any]) -> None:
    answer = alice.post("/settings/", body)
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == "malformed"
    assert set(cookies(alice).values()) == {None}


def test_a_form_with_a_wrong_value_gets_a_page_and_no_cookie(alice: Person) -> None:
    answer = alice.client.post("/settings/", data={**FORM, "theme": "<b>"}, headers=HTML)
    assert answer.status_code == 400
    assert "must be one of: system, light, dark" in answer.text
    assert set(cookies(alice).values()) == {None}


@pytest.mark.parametrize("value", ["", "pink", "Dark", '"><script>', "dark light", "é"])
def test_a_cookie_of_somebody_elses_counts_as_none(alice: Person, value: str) -> None:
    sent = f"; theme={value}; announce={value}; enter={value}".encode()
    cookie = b"sessionid=" + alice.client.cookies["sessionid"].encode() + sent
    page = alice.get("/", headers={"Cookie": cookie, "Accept": "text/html"})
    assert page.status_code == 200
    assert 'data-theme="system" data-enter="sends"' in root(page)
    assert "<script>" not in page.text


@pytest.mark.parametrize("who", ["", "dave"])
def test_nobody_and_a_disabled_person_are_asked_to_sign_in(server: Server, who: str) -> None:
    person = server.person(who)
    shown = person.get("/settings/", headers=HTML)
    assert (shown.status_code, shown.headers["Location"]) == (302, "/accounts/login/?next=/settings/")
    sent = person.client.post("/settings/", data=FORM, headers=HTML)
    assert sent.status_code == 302
    assert set(cookies(person).values()) == {None}


def test_without_its_token_nothing_is_kept(alice: Person) -> None:
    del alice.client.headers["X-CSRFToken"]
    form = {**FORM, "csrfmiddlewaretoken": "x" * 32}
    assert alice.client.post("/settings/", data=form, headers=HTML).status_code == 403
    assert set(cookies(alice).values()) == {None}
