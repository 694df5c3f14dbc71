"""The account that is connected in the administration: how its token is kept, and who uses it."""

import logging
from collections.abc import Iterator
from typing import Any

import pytest
from cryptography.fernet import Fernet
from django.core.management import call_command

from chat.catalog import account, config
from chat.models import CatalogState, Site, User
from chat.telemetry.redaction import redact
from chatsite import model_checks

pytestmark = [pytest.mark.django_db, pytest.mark.database]
TOKEN = "a-token-of-cloudflare-0123456789"
OTHER_KEY = Fernet.generate_key().decode() * 2


@pytest.fixture(autouse=True)
def forget() -> Iterator[None]:
    """Leave the process without an account."""
    yield
    account._connected = account.Connection()


@pytest.fixture
def stored() -> Site:
    account.store_account("acc", TOKEN, User.objects.create_superuser("root"))
    return Site.objects.get()


def test_it_is_the_account_of_the_site(stored: Site) -> None:
    found = config.account()
    assert found
    assert (found.account_id, found.token) == ("acc", TOKEN)
    assert TOKEN not in repr(found) + repr(account.connected())
    assert stored.connected_by == User.objects.get()


def test_the_token_is_nowhere_as_it_is(
    stored: Site, settings: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert TOKEN not in str(Site.objects.values().get())
    call_command("dumpdata", "chat.site")
    assert TOKEN not in capsys.readouterr().out
    assert TOKEN not in redact(f"refused: Bearer {TOKEN}")
    assert account.seal("acc", TOKEN) != account.seal("acc", TOKEN)


@pytest.mark.parametrize("change", ["key", "account", "cut", "garbage"])
def test_a_token_that_cannot_be_opened_is_none(
    change: str, stored: Site, settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    if change == "key":
        settings.SECRET_KEY = OTHER_KEY
    elif change == "account":  # a row with the account of somebody else, who would read what is sent
        Site.objects.update(cloudflare_account="acct")
    else:
        Site.objects.update(cloudflare_token=stored.cloudflare_token[:-8] if change == "cut" else "ä")
    with caplog.at_level(logging.ERROR):
        assert account.load() == account.load() == account.Connection(is_unreadable=True)
    assert len(caplog.records) == 1
    assert config.account() is None
    assert account.is_stored()


def test_a_former_key_opens_it(stored: Site, settings: Any) -> None:
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = OTHER_KEY, [settings.SECRET_KEY]
    opened = account.load().account
    assert opened
    assert opened.token == TOKEN


def test_the_settings_win(stored: Site, settings: Any) -> None:
    settings.CLOUDFLARE_ACCOUNT_ID, settings.CLOUDFLARE_API_TOKEN = "acct", "theirs"
    found = config.account()
    assert found
    assert (found.account_id, found.token) == ("acct", "theirs")


def test_processes_notice_both_changes(stored: Site) -> None:
    before = CatalogState.objects.status()
    assert before.is_due
    account.remove()
    assert CatalogState.objects.status().version > before.version
    assert (config.account(), account.is_stored()) == (None, False)
    assert set(Site.objects.values_list("cloudflare_account", "cloudflare_token").get()) == {""}


def test_titles_and_embeddings_come_with_it(settings: Any) -> None:
    settings.TITLE_MODEL = settings.EMBEDDING_MODEL = "none"
    settings.CONNECTED_TITLE_MODEL, settings.CONNECTED_EMBEDDING_MODEL = "@cf/a/titles", "@cf/a/vectors"
    assert config.title_model() == config.embedding_model() == "none"
    assert config.is_local_model_offered()
    account.store_account("acc", TOKEN, None)
    assert (config.title_model(), config.embedding_model()) == ("@cf/a/titles", "@cf/a/vectors")
    assert not config.is_local_model_offered()
    settings.LOCAL_MODEL = "/a/model.gguf"
    assert config.is_local_model_offered()


def test_what_is_behind_an_account_is_offered_with_one(settings: Any) -> None:
    settings.GATEWAY_MODELS, settings.AI_SEARCH_INSTANCES = [("openai/gpt-5", 400_000)], [("team", "Team")]
    assert config.models() == []
    account.store_account("acc", TOKEN, None)
    assert [model.id for model in config.models()] == ["openai/gpt-5", "ai-search/team"]


def test_settings_that_need_an_account_accept_a_connected_one(settings: Any) -> None:
    settings.AI_GATEWAY_ID, settings.DEFAULT_MODEL = "team", "@cf/zai-org/glm-4.7-flash"
    settings.EMBEDDING_MODEL, settings.TITLE_MODEL = "@cf/baai/bge-m3", "@cf/ibm-granite/granite-4.0-h-micro"
    settings.READ_PAGE_RENDERING = "cloudflare"
    checks = (
        model_checks.check_ai_gateway, model_checks.check_default_model,
        model_checks.check_embedding_model, model_checks.check_title_model, model_checks.check_web_search,
    )  # fmt: skip
    assert all(list(check()) for check in checks)
    account.store_account("acc", TOKEN, None)
    assert [list(check()) for check in checks] == [[]] * 5
    needed = "AI_GATEWAY_ID DEFAULT_MODEL TITLE_MODEL READ_PAGE_RENDERING EMBEDDING_MODEL"
    assert account.settings_in_need() == needed.split()
