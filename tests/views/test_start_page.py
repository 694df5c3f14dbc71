"""The empty page: recent models, a note on the small one, an administrator's first steps."""

import pytest
from django.test import RequestFactory, override_settings

from chat.models import User
from chat.upstream.catalog import Catalog, LlmModel
from chat.upstream.providers.llama_cpp import BUNDLED_ID
from chat.views.conversations import start_page
from tests.support.server import Person, Server

SMALL = LlmModel(BUNDLED_ID, "SmolLM2 135M", 8192, local=True)
OTHERS = [LlmModel(f"@cf/maker/model-{n}", f"Model {n}", 8192) for n in range(6)]
HEADING, TINY = "Set up this site", "is a tiny model"


def context(used: list[str], *models: LlmModel, **cookies: str) -> dict[str, object]:
    request = RequestFactory().get("/")
    request.COOKIES.update(cookies)
    root = User(pk=7, is_superuser=True)
    return start_page.context(request, root, Catalog(models, models[0].id), used)


def test_the_latest_models_that_are_offered_are_recent() -> None:
    names = [model.id for model in reversed(OTHERS)]
    assert context(["gone", *names], *OTHERS)["recent_models"] == OTHERS[:1:-1]


def test_one_recent_model_is_no_choice() -> None:
    assert context([OTHERS[0].id], *OTHERS)["recent_models"] == []


def test_only_the_bundled_model_counts_as_small() -> None:
    assert context([], SMALL, *OTHERS)["small_model"] == SMALL
    assert context([], *OTHERS)["small_model"] is None


@pytest.mark.parametrize("account", ["", "acc"])
def test_the_first_steps_say_whether_cloudflare_is_connected(account: str) -> None:
    with override_settings(CLOUDFLARE_ACCOUNT_ID=account):
        assert context([], *OTHERS)["cloudflare"] is bool(account)


@pytest.mark.parametrize(("dismissed", "shown"), [("7", False), ("8", True)])
def test_another_administrator_of_this_browser_sees_them(dismissed: str, shown: bool) -> None:
    assert context([], *OTHERS, checklist=dismissed)["checklist"] is shown


@pytest.mark.database
def test_only_an_administrator_sees_the_first_steps_once(server: Server) -> None:
    root: Person = server.person("root")
    assert HEADING in root.get("/").text
    assert [HEADING in server.person(name).get("/").text for name in ("alice", "erin")] == [False, False]
    response = root.post("/checklist/dismiss/")
    assert (response.status_code, response.headers["Location"]) == (303, "/")
    assert HEADING not in root.get("/").text
    assert TINY not in root.get("/").text  # this site has no small model
