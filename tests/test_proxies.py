"""Headers of proxies: those of the site's own proxies are believed, no others."""

from typing import Any

import pytest
from django.test import Client

from chat.accounts import proxies


@pytest.mark.parametrize(
    ("hops", "header", "counted"),
    [
        (1, "198.51.100.7", "198.51.100.7"),
        (1, "2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        (1, "2001:db8:1:2:ffff::1", "2001:db8:1:2::"),
        (1, "::ffff:198.51.100.7", "198.51.100.7"),
        (1, "203.0.113.9:50123", "203.0.113.9"),
        (1, "[2001:db8::1]:443", "2001:db8::"),
        (1, "[2001:db8::1]", "2001:db8::"),
        (1, "unknown", "127.0.0.1"),
        (1, "' OR 1=1", "127.0.0.1"),
        (1, "", "127.0.0.1"),
        (1, " , ", "127.0.0.1"),
        (0, "203.0.113.1, 203.0.113.2", "127.0.0.1"),
        (1, "203.0.113.1, 203.0.113.2", "203.0.113.2"),
        (2, "203.0.113.1, 203.0.113.2", "203.0.113.1"),
        (2, "198.51.100.9, 203.0.113.1, 203.0.113.2", "203.0.113.1"),  # the first is the client's invention
        (3, "203.0.113.1,203.0.113.2,203.0.113.3", "203.0.113.1"),
        (3, "203.0.113.1, 203.0.113.2", "127.0.0.1"),  # fewer than there are proxies
        (2, "203.0.113.1,nonsense,203.0.113.2", "127.0.0.1"),
        (2, ", 203.0.113.2", "127.0.0.1"),
    ],
)
def test_the_word_of_the_outermost_proxy_counts(
    hops: int, header: str, counted: str, rf: Any, settings: Any
) -> None:
    settings.TRUSTED_PROXY = hops
    assert proxies.client_address(rf.get("/", headers={"x-forwarded-for": header})) == counted


def test_an_entry_that_cannot_be_read_is_told_once(rf: Any, settings: Any, caplog: Any) -> None:
    proxies._warn_unread.cache_clear()
    for hops in (0, 1, 1):
        settings.TRUSTED_PROXY = hops
        proxies.client_address(rf.get("/", headers={"x-forwarded-for": "unknown"}))
    assert [record.name for record in caplog.records] == ["chat.accounts.proxies"]


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics"])
def test_probes_beside_the_proxy_are_normal(path: str, rf: Any, settings: Any, caplog: Any) -> None:
    proxies._warn_unread.cache_clear()
    settings.TRUSTED_PROXY = 1
    assert proxies.client_address(rf.get(path)) == "127.0.0.1"
    assert caplog.records == []


@pytest.mark.parametrize(
    ("header", "hops", "secure"),
    [
        ("https", 0, False), ("https", 1, True), ("HTTPS", 1, True), ("http", 1, False), ("", 1, False),
        ("https, http", 1, False),  # the first is the client's invention
        ("http, https", 1, True),
        ("https, http", 2, True),  # the second proxy is reached over http
        ("https, http, http", 2, False),
        ("https", 2, True),  # proxies that write over what was there
    ],
)  # fmt: skip
def test_a_request_is_secure_where_the_outermost_proxy_says_so(
    header: str, hops: int, secure: bool, settings: Any
) -> None:
    assert (proxies.forwarded_proto(header, hops) == "https") is secure
    settings.TRUSTED_PROXY = hops
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if hops else None
    settings.SECURE_SSL_REDIRECT = True
    settings.SECURE_REDIRECT_EXEMPT = []
    response = Client().get("/v1/openapi.json", headers={"x-forwarded-proto": header} if header else {})
    assert (response.status_code == 301) is not secure
