"""The site's name, colour and picture, on every page and in what browsers keep of it."""

import io
import json
import re
from collections.abc import Callable
from html import unescape

import httpx
import pytest
from django.test import Client
from PIL import Image

from chat.models import Invite, Site, User, site
from chat.models.site import Identity
from chat.views.site import COLOURS
from tests.files.pictures import png
from tests.support.databases import ROOT
from tests.support.invites import issue_invite
from tests.support.people import CSRF
from tests.support.server import Person, Server
from tests.support.waiting import until

PAGE, LOGIN = "/admin/site/", "/accounts/login/"
NAME = "Berger & Söhne <Chat>"


@pytest.fixture
def named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site, "_identity", Identity(NAME, "plum"))


def save(root: Person, picture: bytes = b"", **fields: str) -> httpx.Response:
    files = {"image_file": ("face.png", picture, "image/png")} if picture else None
    form = {"csrfmiddlewaretoken": CSRF, "name": NAME, "colour": "plum", **fields}
    return root.client.post(PAGE, data=form, files=files)


def title(page: str) -> str:
    found = re.search(r"<title[^>]*>(.*?)</title>", page, re.DOTALL)
    assert found
    return " ".join(unescape(found[1]).split())


@pytest.mark.database
def test_it_is_on_every_page_of_every_process_and_in_the_app(servers: Callable[..., Server]) -> None:
    one, other = servers(), servers(apart=True)
    root, visitor = one.person("root"), one.person("")
    assert title(visitor.get(LOGIN).text) == "Sign in"
    assert save(root, png(300, 200)).headers["Location"] == PAGE
    page = visitor.get(LOGIN).text
    assert title(page) == f"Sign in · {NAME}"
    assert 'data-colour="plum"' in page
    assert title(root.get("/").text) == f"New chat · {NAME}"
    overview = root.get("/admin/").text
    assert "Berger &amp; Söhne &lt;Chat&gt; administration" in overview
    assert "colour-plum" in overview
    until(lambda: NAME in title(other.person("").get(LOGIN).text))

    icon = re.search(r'<link rel="icon" href="(/site/icon/[0-9a-f]{16}/)">', page)
    assert icon
    shown = visitor.get(icon[1])
    assert (shown.status_code, shown.headers["Content-Type"]) == (200, "image/png")
    assert "immutable" in shown.headers["Cache-Control"]
    assert Image.open(io.BytesIO(shown.content)).size == (64, 64)
    assert other.person("").get(icon[1]).content == shown.content

    link = re.search(r'<link rel="manifest" href="(.*?)">', root.get("/").text)
    assert link
    answer = visitor.get(link[1])
    assert answer.headers["Content-Type"] == "application/manifest+json"
    assert "immutable" in answer.headers["Cache-Control"]
    manifest = json.loads(answer.text)
    assert (manifest["name"], manifest["theme_color"]) == (NAME, COLOURS["plum"])
    [_small, large] = manifest["icons"]
    assert large["sizes"] == "512x512"
    assert Image.open(io.BytesIO(visitor.get(large["src"]).content)).size == (512, 512)

    assert save(root, name="", colour="", no_picture="1").status_code == 303
    page = root.get("/").text
    assert title(page) == "New chat"
    assert "data-colour" not in page
    assert not re.search("/site/(icon|picture|[0-9a-f]{16})/", page)
    assert visitor.get(icon[1]).status_code == 404
    assert visitor.get(link[1]).headers["Cache-Control"] == "no-cache"


@pytest.mark.parametrize(
    ("picture", "fields", "status", "why"),
    [
        (b"no picture", {}, 415, "isn’t a picture"),
        (b"\x89PNG\r\n\x1a\n cut", {}, 415, "damaged or incomplete"),
        (b"", {"colour": "red; x"}, 400, "Select a valid choice"),
        (b"", {"name": "x" * 41}, 400, "at most 40 characters"),
    ],
)
def test_what_is_wrong_is_said_and_changes_nothing(
    server: Server, picture: bytes, fields: dict[str, str], status: int, why: str
) -> None:
    page = save(server.person("root"), picture, **fields)
    assert page.status_code == status
    assert why in page.text
    assert NAME not in server.person("").get(LOGIN).text


@pytest.mark.parametrize("name", ["", "alice", "carol", "erin"])
def test_nobody_else_may_set_it(server: Server, name: str) -> None:
    person = server.person(name)
    expected = 403 if name in ("carol", "erin") else 302
    assert person.get(PAGE).status_code == save(person).status_code == expected
    assert NAME not in server.person("").get(LOGIN).text


@pytest.mark.django_db
def test_an_invitation_says_to_what(named: None, root: User, client: Client) -> None:
    for maker, says in ((root, "<bdi>root</bdi> invites you to "), (None, "You’re invited to ")):
        _, token = issue_invite(maker)
        page = client.get(f"/accounts/invite/{token}/").content.decode()
        assert f"{says}<bdi>Berger &amp; Söhne &lt;Chat&gt;</bdi>." in page
        Invite.objects.all().delete()


def test_an_error_page_has_it_without_the_database(named: None, client: Client) -> None:
    page = client.get("/nothing/", headers={"accept": "text/html"}).content.decode()
    assert title(page).endswith(f" · {NAME}")


def test_its_colours_are_those_of_the_style_sheets() -> None:
    sheets = [(ROOT / "static" / "css" / name).read_text("utf-8") for name in ("tokens.css", "admin.css")]
    assert set(COLOURS) == set(Site.Colour.values)
    for name, colour in COLOURS.items():
        brand = name or "petrol"
        assert f"--brand-{brand}: {colour};" in sheets[0]
        assert f".swatch.{brand} {{ background: var(--brand-{brand}); }}" in sheets[1]
        assert not name or f"[data-colour={name}], :has(> .colour-{name}))" in sheets[0]
