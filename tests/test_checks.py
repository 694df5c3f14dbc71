"""Each dangerous setting stops the start and says what to write; in the defaults nothing is found."""

from pathlib import Path
from typing import Any

import pytest
from django.core import checks

from chat.models import SiteModel
from chat.upstream.providers import llama_cpp
from tests.support.manage import run_manage

ACCOUNT = {"CLOUDFLARE_ACCOUNT_ID": "a", "CLOUDFLARE_API_TOKEN": "t"}
SMALL = [("small-1", 128_000)]
ENDPOINT = {
    "OPENAI_BASE_URL": "https://models.example/v1",
    "OPENAI_MODELS": SMALL,
    "OPENAI_API_KEY": "k",
    "DEFAULT_MODEL": "small-1",
}
GLM = ACCOUNT | {"DEFAULT_MODEL": "@cf/zai-org/glm-4.7-flash"}


def findings() -> dict[str, str]:
    """Our own findings: id -> message and hint."""
    errors = [error for error in checks.run_checks() if (error.id or "").startswith("chatsite.")]
    assert all(error.level == checks.ERROR and error.hint for error in errors)
    return {str(error.id): f"{error.msg} {error.hint}" for error in errors}


def test_the_defaults_have_no_findings() -> None:
    assert findings() == {}


@pytest.mark.parametrize(
    ("changed", "number", "sentence"),
    [
        ({"DEBUG": True, "HOST": "0.0.0.0"}, 1, "DEBUG=0"),
        ({"DEBUG": True, "HOST": "::"}, 1, "DEBUG=0"),
        ({"DEBUG": True, "HOST": "chat.example"}, 1, "DEBUG=0"),
        ({"DEBUG": True, "SITE_URL": "https://chat.example", "TRUSTED_PROXY": True}, 1, "DEBUG=0"),
        ({"ALLOWED_HOSTS": ["*"]}, 2, "ALLOWED_HOSTS=chat.example.org"),
        ({"SECRET_KEY": "django-insecure-" + "x9" * 30}, 3, "50 random characters"),
        ({"SECRET_KEY": "short"}, 3, "50 random characters"),
        ({"SECRET_KEY": "k" * 60}, 3, "50 random characters"),
        ({"SITE_URL": "https://chat.example"}, 6, "TRUSTED_PROXY=1"),
        ({"CLOUDFLARE_ACCOUNT_ID": "a"}, 7, "Write CLOUDFLARE_API_TOKEN"),
        ({"CLOUDFLARE_API_TOKEN": "t"}, 7, "Write CLOUDFLARE_ACCOUNT_ID"),
        ({"CLOUDFLARE_API_BASE_URL": "http://api.cloudflare.com/client/v4"}, 8, "https://"),
        ({"CLOUDFLARE_API_BASE_URL": "http://127.0.0.1.evil.example"}, 8, "https://"),
        ({"CLOUDFLARE_API_BASE_URL": "https://user:pass@api.cloudflare.com"}, 8, "without user name"),
        ({"CLOUDFLARE_API_BASE_URL": "https://@api.cloudflare.com"}, 8, "without user name"),
        ({"CLOUDFLARE_API_BASE_URL": "https://api.cloudflare.com/?a=b"}, 8, "without user name"),
        ({"LOCAL_MODEL": "/nowhere/model.gguf"}, 9, "GGUF"),
        ({"DEFAULT_MODEL": "@cf/meta/llama-0-imaginary"}, 10, "local/smollm2-135m"),
        ({"DEFAULT_MODEL": "@cf/zai-org/glm-4.7-flash"}, 10, "local/smollm2-135m"),
        (ACCOUNT | {"DEFAULT_MODEL": "@cf/meta/llama-0-imaginary"}, 10, "@cf/zai-org/glm-4.7-flash"),
        (ACCOUNT | {"DEFAULT_MODEL": "local/smollm2-135m"}, 10, "@cf/zai-org/glm-4.7-flash"),
        (GLM | {"TITLE_MODEL": "@cf/meta/llama-0-imaginary"}, 15, "@cf/ibm-granite/granite-4.0-h-micro"),
        ({"TITLE_MODEL": "@cf/ibm-granite/granite-4.0-h-micro"}, 15, "local/smollm2-135m"),
        ({"EMBEDDING_MODEL": "@cf/baai/bge-m3"}, 19, "Write CLOUDFLARE_ACCOUNT_ID"),
        ({"WEB_SEARCH": "cloudflare"}, 20, "Write CLOUDFLARE_ACCOUNT_ID"),
        ({"WEB_SEARCH": "searxng"}, 20, "Write the address of the instance"),
        ({"WEB_SEARCH": "brave"}, 20, "Write the key"),
        ({"READ_PAGE_RENDERING": "cloudflare"}, 20, "Write CLOUDFLARE_ACCOUNT_ID"),
        ({"BRAVE_API_KEY": "a key"}, 20, "Copy it again"),
        ({"METRICS_TOKEN": "short"}, 16, "openssl rand -hex 32"),
        ({"METRICS_TOKEN": "twenty chars, a space"}, 16, "openssl rand -hex 32"),
        (ENDPOINT | {"OPENAI_BASE_URL": "http://models.example/v1"}, 8, "the key unencrypted"),
        (ENDPOINT | {"OPENAI_BASE_URL": "https://a:b@models.example/v1"}, 8, "without user name"),
        ({"OPENAI_MODELS": SMALL, "DEFAULT_MODEL": "small-1"}, 12, "Write OPENAI_BASE_URL"),
        ({"OPENAI_BASE_URL": "https://models.example/v1", "DEFAULT_MODEL": ""}, 12, "Write OPENAI_MODELS"),
        ({"OPENAI_API_KEY": "k"}, 12, "Write OPENAI_BASE_URL"),
        (GLM | {"GATEWAY_MODELS": [("gpt-5", 9_000)]}, 13, "openai/gpt-5"),
        (
            ENDPOINT | GLM | {"GATEWAY_MODELS": [("a/b", 9_000)], "OPENAI_MODELS": [("a/b", 9_000)]},
            13,
            "once",
        ),
        (ENDPOINT | {"VISION_MODELS": ["small-1", "big-1"]}, 13, "'big-1'"),
        (GLM | {"GATEWAY_MODELS": [("local/gpt", 9_000)]}, 13, "this machine's"),
        (
            {"GATEWAY_MODELS": [("openai/gpt-5", 9_000)], "DEFAULT_MODEL": "openai/gpt-5"},
            13,
            "CLOUDFLARE_API",
        ),
        (ENDPOINT | {"AI_SEARCH_INSTANCES": [("docs", "Docs")]}, 13, "Write CLOUDFLARE_ACCOUNT_ID"),
        (GLM | {"AI_SEARCH_INSTANCES": [("docs", "A"), ("docs", "B")]}, 13, "once"),
        (GLM | {"GATEWAY_MODELS": [("ai-search/docs", 9_000)]}, 13, "AI_SEARCH_INSTANCES"),
        (ENDPOINT | {"DEFAULT_MODEL": "local/smollm2-135m"}, 10, "small-1"),
        ({"AI_GATEWAY_ID": "default"}, 11, "Write CLOUDFLARE_ACCOUNT_ID"),
        (GLM | {"AI_GATEWAY_CACHE_TTL": 0}, 11, "AI_GATEWAY_CACHE_TTL is set"),
        (GLM | {"AI_GATEWAY_MAX_ATTEMPTS": 3}, 11, "AI_GATEWAY_MAX_ATTEMPTS is set"),
        (GLM | {"AI_GATEWAY_METADATA": False}, 11, "AI_GATEWAY_ID"),
        ({"ATTACHMENTS_S3_ENDPOINT": "https://s3.example"}, 18, "Write ATTACHMENTS_S3_BUCKET"),
        ({"ATTACHMENTS_S3_KEY": "k"}, 18, "Write both"),
        ({"FALLBACK_MODELS": ["@cf/zai-org/glm-4.7-flash"]}, 14, "local/smollm2-135m"),
        (
            ACCOUNT | {"DEFAULT_MODEL": "", "FALLBACK_MODELS": ["@cf/openai/gpt-oss-20b", "@cf/a/b"]},
            14,
            "@cf/a/b",
        ),
    ],
)
@pytest.mark.django_db
def test_a_dangerous_setting_is_an_error(
    changed: dict[str, Any], number: int, sentence: str, settings: Any
) -> None:
    for name, value in changed.items():
        setattr(settings, name, value)
    found = findings()
    assert list(found) == [f"chatsite.E{number:03}"]
    assert sentence in found[f"chatsite.E{number:03}"]


@pytest.mark.parametrize(
    "changed",
    [
        {"DEBUG": True, "HOST": "127.0.0.1"},
        {"DEBUG": True, "HOST": "localhost"},
        {"SITE_URL": "https://chat.example", "TRUSTED_PROXY": True, "HOST": "0.0.0.0"},
        ACCOUNT | {"DEFAULT_MODEL": "@cf/zai-org/glm-4.7-flash"},
        GLM | {"AI_GATEWAY_ID": "default", "AI_GATEWAY_CACHE_TTL": 60, "AI_GATEWAY_MAX_ATTEMPTS": 5},
        ENDPOINT,
        ENDPOINT | {"OPENAI_BASE_URL": "http://127.0.0.1:11434/v1", "OPENAI_API_KEY": ""},
        ENDPOINT | GLM | {"GATEWAY_MODELS": [("openai/gpt-5", 400_000)]},
        {"DEFAULT_MODEL": ""},
        {"CLOUDFLARE_API_BASE_URL": "http://127.0.0.1:9000/client/v4"},
        {"CLOUDFLARE_API_BASE_URL": "http://[::1]:9000"},
        {"CLOUDFLARE_API_BASE_URL": "http://localhost:9000"},
    ],
)
def test_a_harmless_setting_is_none(changed: dict[str, Any], settings: Any) -> None:
    for name, value in changed.items():
        setattr(settings, name, value)
    assert findings() == {}


@pytest.mark.django_db
def test_a_default_that_only_cloudflares_list_knows_is_harmless(settings: Any) -> None:
    settings.CLOUDFLARE_ACCOUNT_ID, settings.CLOUDFLARE_API_TOKEN = ACCOUNT.values()
    settings.DEFAULT_MODEL = "@cf/maker/new"
    assert list(findings()) == ["chatsite.E010"]
    SiteModel.objects.create(id="@cf/maker/new", source="search")
    assert findings() == {}


def test_without_any_model_nothing_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(llama_cpp, "_bundled", lambda: None)
    assert "requirements-local.txt" in findings()["chatsite.E009"]


def test_a_bucket_without_its_packages_is_an_error(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.ATTACHMENTS_S3_BUCKET = "pictures"
    monkeypatch.setattr("chatsite.checks.find_spec", lambda _name: object())
    assert findings() == {}
    monkeypatch.setattr("chatsite.checks.find_spec", lambda _name: None)
    assert "requirements-s3-lock.txt" in findings()["chatsite.E018"]


def test_a_local_model_that_is_no_model_is_an_error(settings: Any, tmp_path: Path) -> None:
    settings.LOCAL_MODEL = str(tmp_path / "model.gguf")
    Path(settings.LOCAL_MODEL).write_bytes(b"not a model")
    assert list(findings()) == ["chatsite.E009"]


def test_a_key_that_others_can_read_is_an_error(settings: Any, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path
    (tmp_path / "secret-key").touch(0o600)
    assert findings() == {}
    (tmp_path / "secret-key").chmod(0o640)
    assert "chmod 600" in findings()["chatsite.E004"]


def test_a_database_that_others_can_read_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "db.sqlite3"
    file.touch(0o600)
    # Not inside `DATABASES`: a thread's new connection would keep this ENGINE and open the next NAME with it.
    database = {"ENGINE": "django.db.backends.sqlite3", "NAME": str(file)}
    monkeypatch.setattr("chatsite.checks.settings.DATABASES", {"default": database})
    tmp_path.chmod(0o755)
    assert findings() == {}
    file.chmod(0o644)
    assert "chmod 600" in findings()["chatsite.E005"]
    tmp_path.chmod(0o700)
    assert findings() == {}


def test_an_error_stops_every_command_with_its_sentence() -> None:
    done = run_manage("migrate", "--plan", ALLOWED_HOSTS="*")
    assert done.returncode == 1
    assert "ALLOWED_HOSTS=chat.example.org" in done.stderr
    assert "Traceback" not in done.stderr
