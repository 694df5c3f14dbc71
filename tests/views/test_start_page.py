"""The empty page: a greeting, the latest chat, a note on the small model, an administrator's first steps."""

from typing import Any

import pytest
from django.test import RequestFactory, override_settings

from chat.models import SiteDoor, SiteModel, User, site
from chat.models.site import Identity
from chat.upstream.catalog import Catalog, LlmModel
from chat.upstream.providers.llama_cpp import BUNDLED_ID
from chat.views.conversations import start_page
from chat.views.conversations.sidebar import Listing
from tests.support.invites import issue_invite
from tests.support.server import Person, Server

SMALL = LlmModel(BUNDLED_ID, "SmolLM2 135M", 8192, local=True)
OTHERS = [LlmModel(f"@cf/maker/model-{n}", f"Model {n}", 8192) for n in range(6)]
HEADING, TINY = "Set up this site", "is a tiny model"


NOTHING = Listing(groups=[], older=None, models=[], tags=[], latest=None)


def context(*models: LlmModel, **cookies: str) -> dict[str, object]:
    request = RequestFactory().get("/")
    request.COOKIES.update(cookies)
    root = User(pk=7, is_superuser=True)
    return start_page.context(request, root, Catalog(models, models[0].id), NOTHING)


@pytest.mark.parametrize(
    ("account", "first", "greeted"),
    [
        ("anna", "Anna Maria", "Anna"),
        ("Anna.Berger", "", "Anna"),
        ("Anna-Lena", "", "Anna-Lena"),
        ("Zoë@example.org", "", "Zoë"),
        ("mhuber", "", ""),
        ("R2D2", "", ""),
    ],
)
def test_a_person_is_greeted_by_a_name_and_by_nothing_else(account: str, first: str, greeted: str) -> None:
    assert start_page.first_name(User(username=account, first_name=first)) == greeted


@pytest.mark.django_db
def test_only_the_bundled_model_counts_as_small() -> None:
    assert context(SMALL, *OTHERS)["small_model"] == SMALL
    assert context(*OTHERS)["small_model"] is None


def steps(*models: LlmModel, **cookies: str) -> list[bool]:
    found: Any = context(*(models or OTHERS), **cookies)["checklist"]
    return [step.done for step in found]


@pytest.mark.django_db
def test_each_of_the_first_steps_is_ticked_when_it_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    root = User.objects.create_superuser("root")
    assert steps() == [False] * 4
    with override_settings(CLOUDFLARE_ACCOUNT_ID="acc"):
        assert steps() == [True, False, False, False]
        chosen = SiteModel.objects.create(id="@cf/of/ours", is_default=True)
        assert steps() == [True, True, False, False]
        chosen.delete()
        SiteDoor.objects.create(position=1, kind="everyday")
        monkeypatch.setattr(site, "_identity", Identity("Berger Chat"))
        assert steps() == [True, True, True, False]
        issue_invite(root, "Alice")
        assert steps() == []  # the card has done its work


@pytest.mark.django_db
@pytest.mark.parametrize(("dismissed", "shown"), [("7", False), ("8", True)])
def test_another_administrator_of_this_browser_sees_them(dismissed: str, shown: bool) -> None:
    assert bool(steps(checklist=dismissed)) is shown


@pytest.mark.database
def test_only_an_administrator_sees_the_first_steps_once(server: Server) -> None:
    root: Person = server.person("root")
    assert HEADING in root.get("/").text
    assert [HEADING in server.person(name).get("/").text for name in ("alice", "erin")] == [False, False]
    response = root.post("/checklist/dismiss/")
    assert (response.status_code, response.headers["Location"]) == (303, "/")
    assert HEADING not in root.get("/").text
    assert TINY not in root.get("/").text  # this site has no small model


@pytest.mark.database
def test_a_new_chat_offers_the_latest_and_beginnings_to_the_new(server: Server) -> None:
    bob = server.person("bob")
    page = bob.get("/").text
    assert "Help me write" in page
    assert "Continue:" not in page
    keys = []
    for words in ("Three days in Lisbon", "Bread"):
        with bob.ask("hello") as stream:
            keys.append(stream.to_end().conversation)
        bob.post(f"/c/{keys[-1]}/rename/", {"title": words}).raise_for_status()
    bob.post("/conversations/", {"action": "pin", "conversations": keys[:1]}).raise_for_status()
    page = bob.get("/").text
    assert f'href="/c/{keys[1]}/"><svg' in page.split('class="latest-chat"')[1]
    assert "Continue: <bdi>Bread</bdi>" in page
    assert "Help me write" not in page
    assert "Continue:" not in bob.get("/?temporary=on").text
    assert 'class="start"' not in bob.get(f"/c/{keys[0]}/").text
