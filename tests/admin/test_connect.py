"""Connecting a Cloudflare account in the administration: checked at once, in use everywhere, kept secret."""

import re
from collections.abc import Callable
from html import unescape

import httpx
import pytest

from tests.fake_cloudflare import web_search
from tests.fake_cloudflare.server import ACCOUNT_TOKEN, NO_GATEWAY, NO_WORKERS_AI, TOKEN, Fake
from tests.support.databases import Database
from tests.support.people import CSRF, PASSWORD
from tests.support.server import Person, Server
from tests.support.waiting import until

PAGE = "/admin/connect/"
NO_ACCOUNT = {"CLOUDFLARE_ACCOUNT_ID": "", "CLOUDFLARE_API_TOKEN": ""}
SMALL, GLM = "local/smollm2-135m", "@cf/zai-org/glm-4.7-flash"


def connect(root: Person, account: str = "acc", token: str = TOKEN, **more: str) -> httpx.Response:
    form = {"csrfmiddlewaretoken": CSRF, "account": account, "token": token, "current": PASSWORD, **more}
    return root.client.post(PAGE, data=form)


def disconnect(root: Person) -> httpx.Response:
    form = {"csrfmiddlewaretoken": CSRF, "what": "disconnect", "current": PASSWORD}
    return root.client.post(PAGE, data=form)


def offers(server: Server, model: str) -> bool:
    return model in server.person("alice").get("/models/").text


def sent(fake: Fake, token: str) -> bool:
    """Return True if the token went to Cloudflare. Servers of other tests may still ask this fake."""
    return f"Bearer {token}" in [call["headers"].get("authorization") for call in fake.calls]


def text(page: httpx.Response) -> str:
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", page.text)).split())


@pytest.mark.database
def test_all_processes_use_it_until_it_is_disconnected(
    servers: Callable[..., Server], fake: Fake, database: Database
) -> None:
    one, other = servers(**NO_ACCOUNT, TITLE_MODEL=""), servers(**NO_ACCOUNT, apart=True)
    root = one.person("root")
    assert "No Cloudflare account is connected." in root.get("/admin/").text
    response = connect(root, "acc", ACCOUNT_TOKEN)
    assert (response.status_code, response.headers["Location"]) == (303, PAGE)
    page = root.get(PAGE)
    assert "Connected. Replies now come from Cloudflare." in page.text
    assert re.search(r"The account acc is connected, by root on \d+ \w{3} \d{4}\.", text(page))
    assert offers(one, GLM)
    assert not offers(one, SMALL)
    for server in (one, other):
        until(lambda server=server: offers(server, GLM) and not offers(server, SMALL))
        stream = server.person("alice").asked("hello")
        assert (stream.text, stream.meta["model"]) == ("You said: hello", GLM)
    until(lambda: fake.lists.calls)  # the list is fetched
    assert fake.calls[-1]["headers"]["authorization"] == f"Bearer {ACCOUNT_TOKEN}"
    rows = str(database.rows("SELECT * FROM chat_site")) + str(
        database.rows("SELECT * FROM django_admin_log")
    )
    shown = [root.get(path).text for path in (PAGE, "/admin/", "/admin/checkup/", "/settings/data/export/")]
    shown += [server.log.read_text() for server in (one, other)]
    assert ACCOUNT_TOKEN not in rows + "".join(shown)
    assert "Cloudflare account connected" in rows
    assert disconnect(root).status_code == 303
    assert "Disconnected." in root.get(PAGE).text
    for server in (one, other):
        until(lambda server=server: offers(server, SMALL) and not offers(server, GLM))


@pytest.mark.parametrize(
    ("account", "token", "why"),
    [
        ("acc", "wrong-token", "Cloudflare doesn’t accept this token."),
        ("0" * 32, TOKEN, "Cloudflare has no account with this ID."),
        ("acc", NO_WORKERS_AI, "may not use Workers AI in this account. Check the account ID"),
        ("an account", TOKEN, "This holds no account ID"),
        ("acc", "short", "This does not look like an API token."),
        ("", "", "This field is required."),
    ],
)
def test_what_would_not_work_is_not_stored(
    server_without: Server, account: str, token: str, why: str
) -> None:
    root = server_without.person("root")
    page = connect(root, account, token)
    assert page.status_code == 400
    assert why in text(page)
    assert token == "" or f'value="{token}"' not in page.text
    assert PASSWORD not in page.text
    assert not server_without.database.rows("SELECT id FROM chat_site WHERE cloudflare_token <> ''")
    assert "is connected" not in text(root.get(PAGE))


@pytest.fixture
def server_without(servers: Callable[..., Server]) -> Server:
    return servers(**NO_ACCOUNT)


def test_an_address_of_the_dashboard_names_the_account(server_without: Server, fake: Fake) -> None:
    found = "0123456789abcdef" * 2
    connect(server_without.person("root"), f"https://dash.cloudflare.com/{found}/ai/workers-ai?x=1")
    assert any(f"/accounts/{found}/" in call["path"] for call in [*fake.calls, *fake.lists.calls])


def test_what_is_missing_is_said_and_does_not_stop_it(servers: Callable[..., Server], fake: Fake) -> None:
    server = servers(CLOUDFLARE_ACCOUNT_ID="acc", CLOUDFLARE_API_TOKEN=TOKEN)
    connect(server.person("root"))  # so that settings that need an account are accepted
    server.terminate()
    server.env |= {**NO_ACCOUNT, "AI_GATEWAY_ID": NO_GATEWAY, "READ_PAGE_RENDERING": "cloudflare"}
    server.start()
    root = server.person("root")
    fake.lists.fails["search"] = "10000"
    response = connect(root)
    assert response.status_code == 400  # the reply fails at the gateway, and the list, too
    fake.lists.fails.clear()
    assert connect(root).status_code == 303
    page = text(root.get(PAGE))
    assert "The account has no gateway with this name." in page
    assert "AI Gateway: Run and Edit" in page
    assert "filled in. Add the permission Browser Run: Edit to the token." in page
    assert disconnect(root).status_code == 303
    assert "First take AI_GATEWAY_ID, READ_PAGE_RENDERING out of the settings" in text(root.get(PAGE))


def test_a_token_that_may_not_search_is_told_so(server_without: Server) -> None:
    root = server_without.person("root")
    assert "AI Gateway: Read – web search" in text(root.get(PAGE))
    assert connect(root, token=web_search.NO_PERMISSION).status_code == 303
    page = text(root.get(PAGE))
    assert "Add the permissions Workers AI: Read and AI Gateway: Read to the token." in page
    assert "Connected." in page


def test_the_settings_win_and_a_changed_key_asks_again(servers: Callable[..., Server], fake: Fake) -> None:
    server = servers()
    root = server.person("root")
    page = root.get(PAGE)
    assert "The account acc is set by CLOUDFLARE_ACCOUNT_ID and CLOUDFLARE_API_TOKEN" in text(page)
    assert 'name="token"' not in page.text
    connect(root)
    assert "The account that was connected here is not used." in text(root.get(PAGE))
    server.terminate()
    server.env |= {**NO_ACCOUNT, "SECRET_KEY": "another-key-" * 6}
    server.start()
    log = server.log.read_text()
    assert "cannot be read, because SECRET_KEY has changed." in log
    assert "Default model: SmolLM2 135M" in log


@pytest.mark.parametrize("name", ["", "alice", "carol", "erin"])
def test_nobody_else_may_look_or_connect(server_without: Server, name: str, fake: Fake) -> None:
    person, token = server_without.person(name), f"token-of-{name}"
    expected = 403 if name in ("carol", "erin") else 302
    assert person.get(PAGE).status_code == connect(person, token=token).status_code == expected
    assert not sent(fake, token)


@pytest.mark.parametrize("current", ["", "a wrong guess"])
def test_without_ones_own_password_the_token_goes_nowhere(
    server_without: Server, fake: Fake, current: str
) -> None:
    root, token = server_without.person("root"), f"token-sent-with-{len(current)}"
    page = connect(root, token=token, current=current)
    assert page.status_code == 400
    assert ("That isn’t your current password." if current else "This field is required.") in text(page)
    assert not sent(fake, token)


def test_without_a_token_of_the_form_nothing_is_asked(server_without: Server, fake: Fake) -> None:
    root, token = server_without.person("root"), "token-without-a-form"
    form = {"account": "acc", "token": token}
    assert root.client.post(PAGE, data=form, headers={"X-CSRFToken": ""}).status_code == 403
    assert not sent(fake, token)
