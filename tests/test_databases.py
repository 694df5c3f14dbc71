"""The address of the database: what becomes of its parts, and which addresses are refused."""

import pytest

from chat.db.databases import from_url

PARTS = ("ENGINE", "NAME", "USER", "PASSWORD", "HOST", "PORT")


@pytest.mark.parametrize(
    ("url", "parts"),
    [
        ("postgresql:///chat", ("postgresql", "chat", "", "", "", "")),
        (
            "postgres://u:p%40s%2Fs@h.example:5433/name",
            ("postgresql", "name", "u", "p@s/s", "h.example", "5433"),
        ),
        ("postgresql://u@%2Frun%2Fpg/name", ("postgresql", "name", "u", "", "/run/pg", "")),
        ("postgresql://[::1]:5432/name", ("postgresql", "name", "", "", "::1", "5432")),
        ("sqlite:////folder/a%20b.sqlite3", ("sqlite3", "/folder/a b.sqlite3")),
        ("sqlite:///b.sqlite3", ("sqlite3", "b.sqlite3")),
    ],
)
def test_the_parts_of_an_address(url: str, parts: tuple[str, ...]) -> None:
    found = from_url(url)
    engine, *rest = [found[name] for name in PARTS[: len(parts)]]
    assert (engine.rpartition(".")[2], *rest) == parts
    assert (found["CONN_MAX_AGE"], found["CONN_HEALTH_CHECKS"]) == (0, True)


def test_other_settings_of_a_connection_are_options() -> None:
    options = from_url("postgresql://h/name?sslmode=require&connect_timeout=9&application_name=a%20b")[
        "OPTIONS"
    ]
    assert (options["sslmode"], options["application_name"]) == ("require", "a b")
    assert (str(options["connect_timeout"]), options["tcp_user_timeout"]) == ("9", 20_000)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "db.sqlite3",
        "oracle://h/name",
        "sqlite://",
        "sqlite:///",
        "sqlite://host/db.sqlite3",
        "postgresql://h:port/name",
        "postgresql://h/name?colour=green",
        "postgresql://[h/name",
    ],
)
def test_an_invalid_address_is_refused(url: str) -> None:
    with pytest.raises(ValueError):
        from_url(url)
