"""The language that a person chose holds on every device; otherwise it is the browser's."""

from typing import Any

import pytest

from tests.support.databases import Database
from tests.support.people import CSRF
from tests.support.pseudo_locale import LONGER
from tests.support.server import Person, Server

HTML = {"Accept": "text/html"}
ENGLISH = HTML | {"Accept-Language": "en"}
OTHER = HTML | {"Accept-Language": LONGER}


@pytest.fixture(scope="module")
def server(pseudo_locale_server: Server) -> Server:
    return pseudo_locale_server


@pytest.fixture(autouse=True)
def nothing_chosen(database: Database) -> None:
    database.rows("DELETE FROM chat_preferences")


def choose(person: Person, language: str) -> None:
    assert person.post("/settings/", {"language": language}).status_code == 200


def is_in(language: str, page: Any) -> None:
    assert f'<html lang="{language}"' in page.text
    assert page.headers["Content-Language"] == language
    assert ("⟦" in page.text) is (language == LONGER)


@pytest.mark.parametrize("path", ["/", "/settings/", "/conversations/", "/settings/account/", "/admin/"])
def test_the_first_page_on_another_device_is_in_it(server: Server, path: str) -> None:
    choose(server.person("root"), LONGER)
    elsewhere = server.person("root")
    page = elsewhere.get(path, headers=ENGLISH)
    is_in(LONGER, page)
    assert elsewhere.client.cookies.get("django_language") == LONGER
    is_in(LONGER, elsewhere.get("/accounts/invite/wrong/", headers=ENGLISH))  # known before the person is


def test_as_the_browser_forgets_another_choice_at_once(server: Server) -> None:
    alice, elsewhere = server.person("alice"), server.person("alice")
    choose(alice, LONGER)
    is_in(LONGER, elsewhere.get("/", headers=ENGLISH))
    choose(alice, "")
    is_in("en", elsewhere.get("/", headers=ENGLISH))
    assert elsewhere.client.cookies.get("django_language") is None
    is_in(LONGER, elsewhere.get("/", headers=OTHER))


def test_without_a_choice_the_browsers_language_holds(server: Server) -> None:
    is_in(LONGER, server.person("bob").get("/", headers=OTHER))
    is_in("en", server.person("bob").get("/", headers=ENGLISH))


def test_one_persons_language_is_not_anothers(server: Server) -> None:
    choose(server.person("alice"), LONGER)
    for _ in range(8):  # as many as there are threads, twice
        is_in(LONGER, server.person("alice").get("/", headers=ENGLISH))
        is_in("en", server.person("bob").get("/", headers=ENGLISH))


def test_a_refusal_is_in_the_chosen_language(server: Server) -> None:
    choose(server.person("alice"), LONGER)
    alice = server.person("alice")
    missing = "/c/00000000-0000-4000-8000-000000000000/"
    is_in(LONGER, alice.get(missing, headers=ENGLISH))
    wanted = {"name": "x", "run": "1", "password": "wrong", "csrfmiddlewaretoken": CSRF}
    refused = server.person("alice").client.post("/settings/keys/", data=wanted, headers=ENGLISH)
    assert refused.status_code == 403
    is_in(LONGER, refused)


def test_the_settings_offer_each_language_by_its_own_name(server: Server) -> None:
    page = server.person("alice").get("/settings/", headers=ENGLISH).text
    assert f'<option value="{LONGER}" lang="{LONGER}">Deutsch</option>' in page
    assert server.person("alice").post("/settings/", {"language": "xx"}).status_code == 400
