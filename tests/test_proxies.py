"""Headers of proxies: those of the site's own proxies are believed, no others."""

from typing import Any

import pytest
from django.test import Client

from chat.accounts.proxies import forwarded_for, forwarded_proto


@pytest.mark.parametrize(
    ("header", "hops", "expected"),
    [
        ("", 1, ""), (" , ", 1, ""), ("a", 0, ""), ("a", 1, "a"), ("a, b", 1, "b"), ("a,b", 2, "a"),
        ("x, a, b", 2, "a"), ("a", 2, ""), ("a, b, c", 3, "a"), ("a,,b", 2, ""),
    ],
)  # fmt: skip
def test_the_address_is_the_nth_from_the_right(header: str, hops: int, expected: str) -> None:
    assert forwarded_for(header, hops) == expected


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
    assert (forwarded_proto(header, hops) == "https") is secure
    settings.TRUSTED_PROXY = hops
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if hops else None
    settings.SECURE_SSL_REDIRECT = True
    settings.SECURE_REDIRECT_EXEMPT = []
    response = Client().get("/v1/openapi.json", headers={"x-forwarded-proto": header} if header else {})
    assert (response.status_code == 301) is not secure
