"""A question sent by form after the session ended: by that form alone it comes back into its box."""

import uuid
from html import escape

import pytest

from tests.support.people import CSRF, PASSWORD
from tests.support.server import Person, Server

TYPED = 'Why "this" <b>\nand that?'
LOGIN = "/accounts/login/"


def fields(**more: str) -> dict[str, str]:
    return {"csrfmiddlewaretoken": CSRF, **more}


def box(page: str) -> str:
    return page.partition('<textarea id="content"')[2].partition(">\n")[2].partition("</textarea>")[0]


@pytest.fixture
def nobody(server: Server) -> Person:
    visitor = server.person("")
    visitor.client.headers["Accept"] = "text/html"
    return visitor


def signed_in(visitor: Person, name: str, **more: str):
    return visitor.client.post(LOGIN, data=fields(login=name, password=PASSWORD, **more))


def begun_by(name: str, server: Server) -> str:
    return server.person(name).asked("Hers alone").conversation


@pytest.fixture
def hers(server: Server) -> str:
    """Return a conversation of alice, who does not sign in here: rehashing would end her session."""
    return begun_by("alice", server)


def test_it_comes_along_in_the_form_and_is_given_back(nobody: Person, server: Server) -> None:
    hers = begun_by("carol", server)
    response = nobody.client.post(
        f"/c/{hers}/messages/", data=fields(content=TYPED, client_key=str(uuid.uuid4()))
    )
    assert response.status_code == 401
    assert f'name="content" value="{escape(TYPED)}"' in response.text
    assert f'name="next" value="/c/{hers}/"' in response.text
    again = nobody.client.post(LOGIN, data=fields(login="carol", password="wrong", content=TYPED))
    assert f'name="content" value="{escape(TYPED)}"' in again.text
    back = signed_in(nobody, "carol", next=f"/c/{hers}/", content=TYPED)
    assert back.status_code == 200
    assert box(back.text) == escape(TYPED)
    assert "Hers alone" in back.text
    assert f'action="/c/{hers}/messages/"' in back.text
    assert not back.history


def test_a_sign_in_elsewhere_returns_it_too(alice: Person, hers: str) -> None:
    back = alice.client.post(LOGIN, data=fields(next=f"/c/{hers}/", content=TYPED))
    assert box(back.text) == escape(TYPED)


@pytest.mark.parametrize(
    "target", ["/c/{}/", "https://elsewhere.example/c/", "/c/nonsense/", "//x", "", "/settings/"]
)
def test_a_way_back_to_no_chat_of_theirs_leads_to_a_new_one(nobody: Person, hers: str, target: str) -> None:
    back = signed_in(nobody, "bob", next=target.format(hers), content=TYPED)
    assert box(back.text) == escape(TYPED)
    assert "Hers alone" not in back.text
    assert 'action="/c/"' in back.text


def test_a_form_of_another_site_brings_nothing_along(server: Server) -> None:
    visitor = server.person("")
    visitor.client.headers.update({"Accept": "text/html", "X-CSRFToken": ""})
    for path in ("/c/", LOGIN):
        response = visitor.client.post(path, data={"content": TYPED})
        assert response.status_code == 403
        assert "Why" not in response.text


def test_an_address_brings_nothing_along(nobody: Person) -> None:
    page = nobody.get(LOGIN, params={"content": TYPED})
    assert page.status_code == 200
    assert 'name="content"' not in page.text


def test_without_words_it_is_the_usual_way_in(nobody: Person) -> None:
    response = nobody.client.post("/c/", data=fields(content=" \n"))
    assert (response.status_code, response.headers["Location"]) == (302, f"{LOGIN}?next=/")
    assert signed_in(nobody, "bob", content=" ").status_code == 302


def test_too_many_wrong_passwords_lose_nothing(nobody: Person) -> None:
    wrong = fields(login="nobody-at-all", password="wrong", content=TYPED)
    responses = [nobody.client.post(LOGIN, data=wrong) for _ in range(12)]
    assert responses[-1].status_code == 429
    assert int(responses[-1].headers["Retry-After"]) > 0
    assert f'name="content" value="{escape(TYPED)}"' in responses[-1].text
