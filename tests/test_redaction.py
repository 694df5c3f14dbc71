"""The site's own secrets are taken out of what goes out, by value and in every usual writing."""

import base64
import html
import json
import logging
import sys
from datetime import datetime
from types import SimpleNamespace
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.api.errors import error_of
from chat.apps import secrets_of
from chat.telemetry import redaction
from chat.telemetry.log_format import JsonFormatter, LineFormatter
from chat.telemetry.redaction import Redactor
from chat.upstream.errors import from_response

TOKEN = "v1-Q7x_pL92mZ/4t+Ya"  # nineteen characters, too short for a shape
PASSWORD = "p@ss: wörd/+1"


@pytest.fixture
def redactor() -> Redactor:
    made = Redactor()
    made.conceal(TOKEN, PASSWORD)
    return made


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process's own redactor knows TOKEN as well, during this test."""
    made = Redactor()
    made.conceal(TOKEN)
    monkeypatch.setattr("chat.upstream.errors.redact", made.redact)
    monkeypatch.setattr("chat.telemetry.log_format.redact", made.redact)


WRITINGS = {
    "as it is": lambda secret: secret,
    "in another case": str.upper,
    "percent-encoded": lambda secret: quote(secret, safe=""),
    "percent-encoded as a form": quote_plus,
    "in JSON": lambda secret: json.dumps(secret),
    "in JSON in JSON": lambda secret: json.dumps(json.dumps(secret)),
    "in HTML": html.escape,
    "in hexadecimal": lambda secret: secret.encode().hex(),
    "in base64": lambda secret: base64.b64encode(secret.encode()).decode(),
    "in base64 behind a name": lambda secret: base64.b64encode(f"user:{secret}".encode()).decode(),
    "in base64 between others": lambda secret: base64.b64encode(f"ab{secret}cd".encode()).decode(),
    "in base64 for addresses": lambda secret: base64.urlsafe_b64encode(f"a{secret}".encode()).decode(),
    "on two lines": lambda secret: f"{secret[:6]}\n  {secret[6:]}",
    "as two strings": lambda secret: f'"{secret[:6]}" + "{secret[6:]}"',
    "letter by letter": " ".join,
}


@pytest.mark.parametrize("secret", [TOKEN, PASSWORD], ids=["token", "password"])
@pytest.mark.parametrize("writing", WRITINGS)
def test_a_secret_is_found_however_it_is_written(redactor: Redactor, writing: str, secret: str) -> None:
    written = WRITINGS[writing](secret)
    redacted = redactor.redact(f"The key ({written}) is not valid.")
    assert redacted.startswith("The key (")
    assert redacted.endswith(") is not valid.")
    assert redaction.REDACTION_MARK in redacted
    left = redacted.removeprefix("The key (").removesuffix(") is not valid.")
    assert len(left) <= 12, redacted  # quotes, and in base64 what stands beside it


@pytest.mark.parametrize("part", [TOKEN[:10], TOKEN[9:], TOKEN[5:14], TOKEN[:-1]])
def test_a_part_of_a_long_one_is_found(redactor: Redactor, part: str) -> None:
    assert redactor.redact(f"Key {part}*** was refused") == "Key …*** was refused"


GUESSABLE_PARTS = {
    "in hexadecimal": TOKEN[3:8].encode().hex(),
    "in base64": base64.b64encode(TOKEN[3:9].encode()).decode(),
    "percent-encoded": quote(TOKEN[13:17], safe=""),
}


@pytest.mark.parametrize("writing", GUESSABLE_PARTS)
def test_a_part_that_could_be_guessed_is_not_marked(redactor: Redactor, writing: str) -> None:
    """A mark would tell that the guess was right: in any writing it takes eight bytes."""
    assert redactor.redact(f"Key {GUESSABLE_PARTS[writing]}") == f"Key {GUESSABLE_PARTS[writing]}"


def test_eight_bytes_of_a_secret_are_found_in_hex_and_base64(redactor: Redactor) -> None:
    part = TOKEN[3:12].encode()
    assert redactor.redact(f"Key {part.hex()}") == "Key …"
    assert redactor.redact(f"Key {base64.b64encode(part).decode()}") == "Key …"


def test_text_without_secrets_stays(redactor: Redactor) -> None:
    redactor.conceal("", "short", "abc")
    text = "The model @cf/zai-org/glm-4.7-flash takes 131072 tokens, abc; a short password: p@ss."
    assert redactor.redact(text) == text
    assert Redactor().redact(TOKEN) == TOKEN


@given(st.text(), st.text())
def test_around_a_secret_nothing_is_lost(before: str, after: str) -> None:
    redactor = Redactor()
    redactor.conceal(TOKEN)
    redacted = redactor.redact(f"{before}\n#{TOKEN}#\n{after}")
    assert TOKEN not in redacted
    assert redacted.startswith(f"{before}\n#")
    assert redacted.endswith(f"#\n{after}")


def test_a_servers_message_is_redacted(site: None) -> None:
    body = json.dumps({"errors": [{"code": 5006, "message": f"Bad request with token {TOKEN}: no messages"}]})
    error = from_response(400, {}, body.encode())
    assert error.detail == "Bad request with token …: no messages"
    assert error_of(error).message == "The model couldn’t process this request. Try another model."
    body = json.dumps({"errors": [{"code": 5006, "message": "Bad request: no messages"}]})
    assert "no messages" in error_of(from_response(400, {}, body.encode())).message


def test_a_long_answer_is_cut_after_its_secrets_are_out(site: None) -> None:
    text = "x " * 146 + TOKEN  # the cut would go through the token
    detail = from_response(400, {}, json.dumps({"error": text}).encode()).detail
    assert TOKEN[:6] not in detail


def test_the_log_holds_none(site: None) -> None:
    try:
        raise ValueError(f"no route to redis://:{quote(TOKEN, safe='')}@host")
    except ValueError:
        info = sys.exc_info()
    record = logging.LogRecord("x", logging.ERROR, __file__, 1, "sent %s", (TOKEN,), info)
    line = LineFormatter().format(record)
    assert TOKEN not in line
    assert quote(TOKEN, safe="") not in line
    assert "sent …" in line
    assert "no route to redis://:" in line


def test_no_secret_stands_in_an_entry_of_json(site: None) -> None:
    try:
        raise ValueError(f"no route to {TOKEN}")
    except ValueError:
        info = sys.exc_info()
    record = logging.LogRecord("x", logging.ERROR, __file__, 1, "sent %s\n to /s/Abc123", (TOKEN,), info)
    line = JsonFormatter().format(record)
    assert "\n" not in line
    entry = json.loads(line)
    assert entry.keys() == {"time", "level", "logger", "message", "exception"}
    assert (entry["level"], entry["logger"], entry["message"]) == ("ERROR", "x", "sent …\n to /s/…")
    assert "ValueError: no route to …" in entry["exception"]
    assert datetime.fromisoformat(entry["time"]).timestamp() == pytest.approx(record.created, abs=0.002)


def test_the_sites_secrets_are_all_known() -> None:
    settings = SimpleNamespace(
        CLOUDFLARE_API_TOKEN="token", OPENAI_API_KEY="key", BRAVE_API_KEY="brave",
        MCP_SECRETS={"MCP_A": "of a header"},
        SECRET_KEY="secret", SECRET_KEY_FALLBACKS=["old"],
        DATABASES={"default": {"PASSWORD": "p@ss word"}}, DATABASE_URL="postgresql://u:p%40ss%20word@h/db",
        REDIS_URL="redis://:r%2Fs@h:6379/0",
    )  # fmt: skip
    assert set(secrets_of(settings)) - {""} == {
        "token", "key", "brave", "of a header", "secret", "old", "p@ss word", "p%40ss%20word", "r%2Fs", "r/s",
    }  # fmt: skip


def test_this_sites_own_key_is_concealed(settings: SimpleNamespace) -> None:
    assert settings.SECRET_KEY not in redaction.redact(f"key {settings.SECRET_KEY}")


def test_the_local_models_key_is_concealed() -> None:
    from chat.upstream.providers import llama_cpp

    path = llama_cpp.find("")
    if path is None:
        pytest.skip("the local model is not installed")
    key = llama_cpp.LocalModel(path).key
    assert key not in redaction.redact(f"Bearer {key}")
