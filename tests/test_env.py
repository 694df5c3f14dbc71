"""Settings from the environment and from `.env`: what is read, and what a wrong value is answered with."""

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chatsite import env
from tests.support.databases import clean_environment
from tests.support.manage import READ_BY_THE_SITE, run_manage

ROOT = env.BASE_DIR


@pytest.fixture
def dotenv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Writes the `.env` file."""

    def write(content: str) -> None:
        file = tmp_path / ".env"
        file.write_text(content, "utf-8")
        monkeypatch.setattr(env, "ENV_FILE", file)

    return write


def test_the_settings_leave_the_environment_as_it_is(tmp_path: Path) -> None:
    """What they put there from the file would outlive the file's next change: the pool of workers stays."""
    file = tmp_path / ".env"
    file.write_text("OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318\nOTEL_SERVICE_NAME=talk\n")
    code = "import os; before = dict(os.environ);"
    code += f"from chatsite import env; env.ENV_FILE = env.Path({str(file)!r});"
    code += "from chatsite import settings; print(settings.OTEL_EXPORTER_OTLP_ENDPOINT, os.environ == before)"
    command = [sys.executable, "-c", code]
    told = {**clean_environment(DATA_DIR=str(tmp_path)), "PYTHONPATH": str(ROOT)}
    told = {name: value for name, value in told.items() if not name.startswith("OTEL_")}
    done = subprocess.run(command, capture_output=True, text=True, env=told, check=False)
    assert done.stdout == "http://127.0.0.1:4318 True\n", done.stderr


def test_the_file_is_read_where_the_environment_is_silent(dotenv: Any) -> None:
    dotenv("COLOUR='dark green'\n# a comment\n")
    assert env.text("COLOUR", "red") == "dark green"


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("COLOUR=dark green # comment", "dark green"),
        ("export COLOUR = green", "green"),
        ("COLOUR=a#b", "a#b"),
        ("COLOUR= # comment", ""),
        ("COLOUR=", ""),
        ("COLOUR='a # b' # comment", "a # b"),
        ('COLOUR="a \'b\' \\"c\\" \\\\d ${HOME}"', "a 'b' \"c\" \\d ${HOME}"),
        ("\ufeffCOLOUR=green\r", "green"),
        ("COLOUR=red\nCOLOUR=green", "green"),
    ],
)
def test_a_line_of_the_file(dotenv: Any, line: str, value: str) -> None:
    dotenv(f"{line}\n\n")
    assert env.text("COLOUR") == value


@pytest.mark.parametrize(
    ("content", "reason"),
    [("A=1\nCOLOUR\n", "line 2 is not NAME=value"), ("COLOUR='green", "quotation marks in line 1")],
)
def test_a_line_that_cannot_be_read_stops_the_start(dotenv: Any, content: str, reason: str) -> None:
    dotenv(content)
    with pytest.raises(env.EnvError, match=f".env cannot be read .*{reason}"):
        env.text("COLOUR")


def test_a_file_that_is_no_text_stops_the_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for content in (b"A=\xff", None):
        file = tmp_path / ("file" if content else "folder")
        file.write_bytes(content) if content else file.mkdir()
        monkeypatch.setattr(env, "ENV_FILE", file)
        with pytest.raises(env.EnvError, match="cannot be read"):
            env.text("COLOUR")


@pytest.mark.parametrize(("outside", "value"), [("blue", "blue"), (" ", "red")])
def test_the_environment_wins_over_the_file_also_when_empty(
    dotenv: Any, monkeypatch: pytest.MonkeyPatch, outside: str, value: str
) -> None:
    dotenv("COLOUR=green")
    monkeypatch.setenv("COLOUR", outside)
    assert env.text("COLOUR", "red") == value


@pytest.mark.parametrize(
    ("value", "read", "expected"),
    [
        ("a.example, b.example,,", env.listing, ["a.example", "b.example"]),
        ("1", env.boolean, True),
        ("0", lambda name: env.boolean(name, default=True), False),
        ("openai/gpt-5=400000, llama3.1:8b", env.models,
         [("openai/gpt-5", 400_000), ("llama3.1:8b", 128_000)]),
        ("Wiki.example.org, 10.0.0.5:8080,[FD00:0::5]:80,[::1]", env.hosts,
         [("wiki.example.org", None), ("10.0.0.5", 8080), ("fd00::5", 80), ("::1", None)]),
    ],
)  # fmt: skip
def test_a_value_is_read(monkeypatch: pytest.MonkeyPatch, value: str, read: Any, expected: Any) -> None:
    monkeypatch.setenv("SETTING", value)
    assert read("SETTING") == expected


def test_unset_is_none_or_the_first_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    assert env.optional("NUMBER", 1, 5) is None
    assert env.choice("COLOUR", "red", "green") == "red"
    assert (env.word("WORD"), env.prices("PRICES")) == ("", None)
    assert (env.models("MODELS"), env.hosts("HOSTS")) == ([], [])
    monkeypatch.setenv("NUMBER", "0")
    monkeypatch.setenv("COLOUR", "green")
    monkeypatch.setenv("PRICES", "0.06, 4")
    assert (env.optional("NUMBER", 1, 5, 0), env.choice("COLOUR", "", "green")) == (0, "green")
    assert env.prices("PRICES") == (0.06, 4.0)


def test_a_path_is_taken_from_the_folder_of_manage_py(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOLDER", "./somewhere")
    assert env.path("FOLDER") == str(ROOT / "somewhere")
    monkeypatch.setenv("FOLDER", "/srv/chat")
    assert env.path("FOLDER") == "/srv/chat"
    assert env.path("NO_FOLDER") == ""


def test_a_secret_comes_from_the_file_that_its_setting_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "token"
    file.write_text("s3cret\n")
    monkeypatch.setenv("TOKEN_FILE", str(file))
    assert env.secret("TOKEN") == "s3cret"


@pytest.mark.parametrize(
    ("value", "read", "sentence"),
    [
        ("yes", env.boolean, "write 0 or 1"),
        ("True", env.boolean, "write 0 or 1"),
        ("http", lambda name: env.integer(name, 8000, 1, 65535), "write a whole number from 1 to 65535"),
        ("65536", lambda name: env.integer(name, 8000, 1, 65535), "write a whole number from 1 to 65535"),
        ("-1", lambda name: env.integer(name, 8000, 1, 65535), "write a whole number from 1 to 65535"),
        ("٣", lambda name: env.integer(name, 8000, 1, 65535), "write a whole number from 1 to 65535"),
        ("9" * 5000, lambda name: env.integer(name, 8000, 1, 65535), "write a whole number from 1 to 65535"),
        ("chat.example", lambda name: env.url(name, "", ("https",)), "begins with https://"),
        ("ftp://chat.example", lambda name: env.url(name, "", ("http", "https")), "http:// or https://"),
        ("https://", lambda name: env.url(name, "", ("https",)), "names a host"),
        ("https://a:99999", lambda name: env.url(name, "", ("https",)), "begins with https://"),
        ("https://[::1", lambda name: env.url(name, "", ("https",)), "begins with https://"),
        ("a\x1b[2Jb", env.text, "on one line"),
        ("59", lambda name: env.optional(name, 60, 90, 0), "write a whole number from 60 to 90, or 0"),
        ("91", lambda name: env.optional(name, 60, 90), "write a whole number from 60 to 90."),
        ("1e3", lambda name: env.optional(name, 60, 90), "write a whole number"),
        ("red", lambda name: env.choice(name, "", "green", "blue"), "write green or blue"),
        *(
            (each, env.address, "no address with a port")
            for each in ("9100", ":9100", "a:0", "::1:9100", "a:65536")
        ),
        *(
            (each, env.hosts, "write names or addresses of hosts")
            for each in ("http://a", "a/b", "a:0", "a:65536", "::1", "[::z]", "*", "10.0.0.0/8", "a b", "u@a")
        ),
        ("a/b", env.word, "write letters"),
        ("a\u00e9", env.word, "write letters"),
        ("x" * 65, env.word, "at most 64"),
        ("a b", env.models, "lists 'a b': write"),
        ("a=12", env.models, "window in tokens"),
        ("a=0x99999", env.models, "window in tokens"),
        ("../up", env.models, "a model's name"),
        ("@cf/x/y", env.models, "a model's name"),
        ("a b", lambda name: env.model(name, "none"), "write the id of one model, or none"),
        ("a=9000", lambda name: env.model(name, "none"), "write the id of one model, or none"),
        ("a,b", lambda name: env.model(name, "none"), "write the id of one model, or none"),
        *(
            (value, env.origins, "which is no origin: write scheme and host, without a path")
            for value in [
                *(
                    "*",
                    "null",
                    "app.example",
                    "https://a.example/",
                    "https://a.example/b",
                    "https://*.example",
                ),
                *("https://A.example", "https://u@a.example", "https://a.example:443", "http://a:80"),
                *(
                    "ftp://a.example",
                    "https://a.example?",
                    "https://ok.example, file://x",
                    "https://a.example#x",
                ),
            ]
        ),
        ("0.06", env.prices, "written: 0.06,0.4"),
        ("0.06,-1", env.prices, "written: 0.06,0.4"),
        ("0.06,nan", env.prices, "written: 0.06,0.4"),
    ],
)
def test_a_wrong_value_is_answered_with_what_to_write(
    value: str, read: Callable[[str], Any], sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THE_SETTING", value)
    with pytest.raises(env.EnvError, match=re.escape(sentence)) as caught:
        read("THE_SETTING")
    assert str(caught.value).startswith("THE_SETTING ")


def test_a_secret_from_two_places_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", "a")
    monkeypatch.setenv("TOKEN_FILE", "/b")
    with pytest.raises(env.EnvError, match="write only one"):
        env.secret("TOKEN")


@pytest.mark.parametrize("content", [None, b"", b"one\ntwo", b"\xff\xfe"])
def test_a_secret_file_that_holds_no_secret_is_refused(
    content: bytes | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "token"
    if content is not None:
        file.write_bytes(content)
    monkeypatch.setenv("TOKEN_FILE", str(file))
    with pytest.raises(env.EnvError, match="TOKEN_FILE"):
        env.secret("TOKEN")


def test_an_address_with_a_password_is_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROKER", "amqp://user:hunter2@host")
    with pytest.raises(env.EnvError) as caught:
        env.url("BROKER", "", ("redis",))
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PORT", "eighty"),
        ("DEBUG", "true"),
        ("SITE_URL", "chat.example"),
        ("DRAIN_SECONDS", "soon"),
        ("TRUSTED_PROXY", "10.0.0.1"),
        ("TRUSTED_PROXY", "-1"),
        ("TRUSTED_PROXY", "11"),
        ("REDIS_URL", "localhost:6379"),
        ("DATABASE_URL", "oracle+x://somewhere"),
        ("DATABASE_URL", "db.sqlite3"),
        ("CLOUDFLARE_API_TOKEN_FILE", "/nowhere/at/all"),
        ("CLOUDFLARE_API_BASE_URL", "api.cloudflare.com"),
        ("DATA_DIR", "/dev/null/data"),
        ("AI_GATEWAY_ID", "my gateway"),
        ("METRICS_BIND", "9100"),
        ("AI_GATEWAY_CACHE_TTL", "59"),
        ("AI_GATEWAY_BACKOFF", "sometimes"),
        ("AI_GATEWAY_CUSTOM_COST", "0.06"),
    ],
)
def test_wrong_setting_ends_the_start_without_a_traceback(name: str, value: str) -> None:
    done = run_manage("check", **{name: value})
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("Cannot start: ")
    assert name.removesuffix("_FILE") in done.stderr
    assert done.stderr.count("\n") == 1


def test_every_setting_is_in_the_example_file() -> None:
    example = re.findall(r"^#([A-Z0-9_]+)=", (ROOT / ".env.example").read_text("utf-8"), re.MULTILINE)
    assert sorted(example) == sorted(READ_BY_THE_SITE)
    assert len(example) == len(set(example))


def test_every_setting_is_documented() -> None:
    named = set(re.findall(r"\b[A-Z][A-Z0-9_]+\b", (ROOT / "docs/settings.md").read_text("utf-8")))
    assert {name.removesuffix("_FILE") for name in READ_BY_THE_SITE} <= named


def test_the_example_file_changes_nothing_when_it_is_copied(dotenv: Any) -> None:
    dotenv((ROOT / ".env.example").read_text("utf-8"))
    assert [name for name in READ_BY_THE_SITE if env._file_values(env.ENV_FILE).get(name)] == []
