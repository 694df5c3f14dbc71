"""The settings from the environment, and the files that the first start creates."""

import logging
import multiprocessing
import runpy
import stat
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection

from chat.telemetry.log_format import LineFormatter
from chatsite import env, secret_key
from tests.support.manage import run_manage


@pytest.fixture
def settings_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Reads chatsite/settings.py anew, under an environment of the test's."""

    def read(**environment: str) -> dict[str, Any]:
        monkeypatch.delenv("DATABASE_URL", raising=False)
        monkeypatch.setenv("DATA_DIR", str(tmp_path / "data"))
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        return runpy.run_path(str(env.BASE_DIR / "chatsite" / "settings.py"))

    return read


def test_the_defaults_work_on_one_machine_alone(settings_with: Any, tmp_path: Path) -> None:
    settings = settings_with()
    assert settings["SITE_URL"] == "http://localhost:8000"
    assert settings["HOST"] == "127.0.0.1"
    assert settings["DEBUG"] is False
    assert {"localhost", "127.0.0.1", "[::1]"} == set(settings["ALLOWED_HOSTS"])
    assert settings["DATABASES"]["default"]["NAME"] == f"{tmp_path}/data/db.sqlite3"
    assert settings["DEFAULT_MODEL"] == "local/smollm2-135m"
    assert (settings["SESSION_COOKIE_NAME"], settings["CSRF_COOKIE_NAME"]) == ("sessionid", "csrftoken")
    assert not settings["SECURE_SSL_REDIRECT"]
    assert settings["SECURE_PROXY_SSL_HEADER"] is None


def test_the_address_follows_the_port(settings_with: Any) -> None:
    assert settings_with(PORT="9001")["SITE_URL"] == "http://localhost:9001"


def test_an_https_address_makes_cookies_and_transport_strict(settings_with: Any) -> None:
    settings = settings_with(SITE_URL="https://chat.example.org/", TRUSTED_PROXY="1")
    assert settings["SESSION_COOKIE_NAME"] == "__Host-sessionid"
    assert settings["CSRF_COOKIE_NAME"] == "__Host-csrftoken"
    assert settings["SESSION_COOKIE_SECURE"] is True
    assert settings["CSRF_COOKIE_SECURE"] is True
    assert settings["SECURE_SSL_REDIRECT"] is True
    assert settings["SECURE_HSTS_SECONDS"] >= 31_536_000
    assert settings["SECURE_PROXY_SSL_HEADER"] == ("HTTP_X_FORWARDED_PROTO", "https")
    assert settings["SITE_URL"] == "https://chat.example.org"
    assert "chat.example.org" in settings["ALLOWED_HOSTS"]
    assert "https://chat.example.org" in settings["CSRF_TRUSTED_ORIGINS"]


@pytest.mark.parametrize(
    ("site", "host"),
    [
        ("http://192.168.1.5:8000", "192.168.1.5"),
        ("http://[fd00::1]:8000", "[fd00::1]"),
        ("http://[fd00::1]", "[fd00::1]"),
        ("https://u:p@Chat.Example.org:8443", "Chat.Example.org"),
    ],
)
def test_the_host_of_the_address_is_allowed(site: str, host: str, settings_with: Any) -> None:
    assert host in settings_with(SITE_URL=site, ALLOWED_HOSTS="other.example")["ALLOWED_HOSTS"]


def test_with_an_account_cloudflare_answers(settings_with: Any) -> None:
    settings = settings_with(CLOUDFLARE_ACCOUNT_ID="a", CLOUDFLARE_API_TOKEN="t")
    assert settings["DEFAULT_MODEL"] == "@cf/zai-org/glm-4.7-flash"
    assert settings["TITLE_MODEL"] == "@cf/ibm-granite/granite-4.0-h-micro"
    assert settings["EMBEDDING_MODEL"] == "@cf/baai/bge-m3"


def test_without_an_account_no_model_writes_titles(settings_with: Any) -> None:
    assert settings_with()["TITLE_MODEL"] == settings_with()["EMBEDDING_MODEL"] == "none"
    assert settings_with(TITLE_MODEL="local/smollm2-135m")["TITLE_MODEL"] == "local/smollm2-135m"


def test_a_server_of_ones_own_answers_where_no_account_is(settings_with: Any) -> None:
    given = {"OPENAI_BASE_URL": "http://127.0.0.1:11434/v1/", "OPENAI_MODELS": "qwen3:4b=40000,other"}
    settings = settings_with(**given)
    assert (settings["DEFAULT_MODEL"], settings["OPENAI_BASE_URL"]) == (
        "qwen3:4b",
        "http://127.0.0.1:11434/v1",
    )
    with_account = settings_with(**given, CLOUDFLARE_ACCOUNT_ID="a", CLOUDFLARE_API_TOKEN="t")
    assert with_account["DEFAULT_MODEL"] == "@cf/zai-org/glm-4.7-flash"


def test_an_instance_of_ai_search_may_have_a_name(settings_with: Any) -> None:
    listed = settings_with(AI_SEARCH_INSTANCES="docs, hand-book=Our handbook ,team/docs,team/a_b=B & C")
    assert listed["AI_SEARCH_INSTANCES"] == [
        ("docs", "docs"),
        ("hand-book", "Our handbook"),
        ("team/docs", "docs"),
        ("team/a_b", "B & C"),
    ]


@pytest.mark.parametrize(
    "wrong", ["a/b/c", "../docs", "docs=", "do cs", "docs=x=y", "docs=" + "x" * 81, "/a"]
)
def test_a_wrong_instance_of_ai_search_is_refused(wrong: str, settings_with: Any) -> None:
    with pytest.raises(env.EnvError, match="AI_SEARCH_INSTANCES"):
        settings_with(AI_SEARCH_INSTANCES=wrong)


def test_own_model_file_is_the_default_if_alone(settings_with: Any) -> None:
    assert settings_with(LOCAL_MODEL="/srv/model.gguf")["DEFAULT_MODEL"] == ""


def test_redis_is_the_channel_layer_when_it_is_named(settings_with: Any) -> None:
    memory = settings_with()["CHANNEL_LAYERS"]["default"]
    redis = settings_with(REDIS_URL="redis://127.0.0.1:6379/3")["CHANNEL_LAYERS"]["default"]
    assert memory["BACKEND"].endswith("InMemoryChannelLayer")
    assert redis["BACKEND"] == "chatsite.channel_layer.ChannelLayer"
    assert redis["CONFIG"]["hosts"] == ["redis://127.0.0.1:6379/3"]


@pytest.mark.django_db
def test_sqlite_runs_in_wal_mode_with_immediate_transactions() -> None:
    if connection.vendor != "sqlite":
        pytest.skip("SQLite's own settings")
    with connection.cursor() as cursor:
        read = {
            name: cursor.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "foreign_keys")
        }
    assert read == {"journal_mode": "wal", "foreign_keys": 1}
    assert connection.transaction_mode == "IMMEDIATE"


def test_first_start_makes_a_private_folder_and_key(settings_with: Any, tmp_path: Path) -> None:
    first, second = settings_with()["SECRET_KEY"], settings_with()["SECRET_KEY"]
    assert first == second
    assert len(first) >= 50
    assert stat.S_IMODE((tmp_path / "data").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "data" / "secret-key").stat().st_mode) == 0o600


def test_a_key_in_the_environment_leaves_no_file(settings_with: Any, tmp_path: Path) -> None:
    assert settings_with(SECRET_KEY="k" * 60)["SECRET_KEY"] == "k" * 60
    assert list((tmp_path / "data").iterdir()) == []


def _make_key(path: Path, barrier: Any, keys: Any) -> None:
    barrier.wait()
    keys.put(secret_key.get_or_create(path))


def test_eight_processes_at_once_make_one_key(tmp_path: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    path, barrier, keys = tmp_path / "secret-key", spawn.Barrier(8), spawn.Queue()
    processes = [spawn.Process(target=_make_key, args=(path, barrier, keys)) for _ in range(8)]
    for process in processes:
        process.start()
    made = [keys.get(timeout=300) for _ in processes]
    for process in processes:
        process.join(timeout=300)
    assert [process.exitcode for process in processes] == [0] * 8
    assert len(set(made)) == 1
    assert [file.name for file in tmp_path.iterdir()] == ["secret-key"]


@pytest.mark.parametrize("content", ["", "short", "\xff" * 80])
def test_a_broken_key_file_is_named(content: str, tmp_path: Path) -> None:
    path = tmp_path / "secret-key"
    path.write_text(content, "latin-1")
    with pytest.raises(env.EnvError, match="secret-key"):
        secret_key.get_or_create(path)


def test_the_deployment_check_finds_nothing_behind_https(tmp_path: Path) -> None:
    done = run_manage(
        "check", "--deploy", "--fail-level", "WARNING", DATA_DIR=str(tmp_path / "data"),
        SITE_URL="https://chat.example.org", TRUSTED_PROXY="1", HOST="0.0.0.0",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


@pytest.mark.django_db
def test_no_migration_is_missing() -> None:
    call_command("makemigrations", check=True, dry_run=True)


def log(message: str, *arguments: object, error: Exception | None = None) -> str:
    info = (type(error), error, None) if error else None
    return LineFormatter().format(logging.LogRecord("a", 30, "f", 1, message, arguments, info))


def test_a_record_is_one_line_whatever_somebody_typed() -> None:
    line = log("Not Found: %s", "/x\r\nforged\x1b[2J\u2028\x85é")
    assert line.endswith("a: Not Found: /x\\r\\nforged\\x1b[2J\\u2028\\x85é")


def test_a_traceback_cannot_forge_a_record() -> None:
    lines = log("It broke", error=ValueError("x\n2026-01-01 ERROR forged\x1b")).split("\n")
    assert len(lines) > 1
    assert all(line.startswith("    ") for line in lines[1:])
    assert "\x1b" not in "".join(lines)


@pytest.mark.parametrize("path", ["/accounts/setup/", "/accounts/invite/", "/accounts/reset/MQ/", "/s/"])
def test_the_token_of_a_one_time_link_is_not_logged(path: str) -> None:
    assert "t0ken" not in log("Not Found: %s", f"{path}t0ken/")
    assert "t0ken" not in log("It broke", error=ValueError(f"{path}t0ken/ is odd"))
