"""Errors in the words of many servers: each becomes the kind that says what to do about it."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from chat.upstream import errors
from chat.upstream.errors import ErrorKind, from_payload, from_response

INVALID, UNAVAILABLE, THROTTLED = ErrorKind.INVALID, ErrorKind.UNAVAILABLE, ErrorKind.THROTTLED
CREDITS, TOO_LONG = ErrorKind.CREDITS, ErrorKind.TOO_LONG


def said(message: str, **more: Any) -> dict[str, Any]:
    return {"error": {"message": message, **more}}


def quoting(text: str) -> dict[str, Any]:
    """OpenRouter's error, which quotes the provider's as JSON in a text."""
    return said("Provider returned error", code=400, metadata={"raw": text, "provider_name": "X"})


@pytest.mark.parametrize(
    ("body", "detail", "param"),
    [
        (
            {"message": {"detail": [{"loc": ["body", "tools", 0, "x"], "msg": "No."}]}},
            "body.tools.0.x: No.",
            "tools[0].x",
        ),
        ({"message": ["a must be b", "c"], "error": "Bad Request"}, "Bad Request: a must be b: c", ""),
        (said({"text": "No."}), "No.", ""),  # type: ignore[arg-type]
        (said("No.", param="None"), "No.", ""),
    ],
)
def test_the_words_may_stand_in_a_list_or_an_object(body: Any, detail: str, param: str) -> None:
    error = from_response(422, {}, json.dumps(body).encode())
    assert (error.detail, error.param) == (detail, param)


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [(400, "2003", INVALID), (400, 7000, INVALID), (400, 5016, INVALID), (500, 3040, UNAVAILABLE)],
)
def test_codes_of_four_digits_are_cloudflares_own(status: int, code: object, kind: ErrorKind) -> None:
    body = json.dumps(said("a parameter is out of range", code=code)).encode()
    error = from_response(status, {}, body, from_cloudflare=False)
    assert (error.kind, error.code) == (kind, "")
    assert from_response(status, {}, body).kind is not kind


def words() -> Iterator[tuple[str, str, str]]:
    """Yield (kind, status, body) of each line of the table; "-" stands for a frame of a stream."""
    for line in Path(__file__).with_name("error_words.txt").read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            kind, statuses, body = line.split(" ", 2)
            yield from ((kind, status, body) for status in statuses.split(","))


@pytest.mark.parametrize(("kind", "status", "body"), [*words()])
def test_codes_and_words_of_servers_say_the_kind(kind: str, status: str, body: str) -> None:
    error = from_payload(json.loads(body)) if status == "-" else from_response(int(status), {}, body.encode())
    assert error.kind == kind
    if kind in (CREDITS, TOO_LONG):
        assert (error.permanent, error.retry_after) == (True, None)


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ((403, {"error": {"message": "Access denied by policy"}}), errors.DENIED_BY_POLICY),
        ((429, {"error": {"message": "Spending limit exceeded", "limit": 1000}}), errors.SPENT),
        (
            (400, {"error": [{"code": 2040, "message": "BYOK alias is not configured"}]}),
            errors.NO_PROVIDER_KEY,
        ),
        ((400, {"error": {"message": "This gateway is byok_only, no key"}}), errors.NO_PROVIDER_KEY),
        (
            (
                402,
                {"error": [{"code": 2021, "message": "not available via unified billing. Please use BYOK."}]},
            ),
            errors.NO_PROVIDER_KEY,
        ),
        (
            (403, {"errors": [{"code": 5016, "message": "Model Agreement: submit 'agree'."}]}),
            errors.SENTENCES_OF_CODES["5016"],
        ),
    ],
)
def test_what_an_administrator_can_change_has_its_own_sentence(body: tuple[int, Any], sentence: str) -> None:
    status, payload = body
    assert from_response(status, {}, json.dumps(payload).encode()).message == sentence


def test_the_server_s_own_words_are_kept_from_all_levels() -> None:
    error = from_response(400, {}, json.dumps(quoting('{"message": "no such tool"}')).encode())
    assert error.detail.startswith("Provider returned error")
    assert "no such tool" in error.detail
    assert from_payload({"detail": [{"loc": ["body", 0], "msg": "field required"}]}).detail == (
        "body.0: field required"
    )
    named = from_response(
        400, {}, json.dumps(said("no", param="messages[2].name", code="invalid_type")).encode()
    )
    assert (named.param, named.word) == ("messages[2].name", "invalid_type")
    assert from_payload(said("no", param="a b<script>", code="whatever")).param == ""


NOW = datetime.now(UTC)
SOON = NOW + timedelta(hours=2)


@pytest.mark.parametrize(
    ("headers", "body", "seconds"),
    [
        ({"retry-after-ms": "1500"}, {}, 1.5),
        ({"retry-after-ms": "1500", "retry-after": "9"}, {}, 1.5),
        ({"retry-after": "1.5"}, {}, 1.5),
        ({"x-ratelimit-reset-requests": "2s"}, {}, 2),
        ({"x-ratelimit-reset-tokens": "6m0s", "x-ratelimit-remaining-tokens": "0"}, {}, 360),
        (
            {
                "x-ratelimit-reset-requests": "120ms",
                "x-ratelimit-remaining-requests": "0",
                "x-ratelimit-reset-tokens": "6m0s",
                "x-ratelimit-remaining-tokens": "5000",
            },
            {},
            0.12,
        ),
        ({"x-ratelimit-reset": f"{SOON.timestamp() * 1000:.0f}"}, {}, 7200),
        ({"x-ratelimit-reset": f"{SOON.timestamp():.0f}"}, {}, 7200),
        (
            {
                "anthropic-ratelimit-requests-reset": SOON.isoformat(timespec="seconds"),
                "anthropic-ratelimit-requests-remaining": "0",
            },
            {},
            7200,
        ),
        ({}, {"error": {"code": 429, "details": [{"@type": "RetryInfo", "retryDelay": "34.5s"}]}}, 34.5),
        ({}, said("Rate limit reached. Please try again in 7.66s. Visit"), 7.66),
        ({}, said("Rate limit reached. Please try again in 1m2.5s."), 62.5),
        ({}, said("Rate limit: retry after 20 seconds."), 20),
        ({}, said("Rate limit: retry in: 45s"), 45),
        ({}, said(f"Rate limit: retry after {SOON.isoformat(timespec='seconds')}"), 7200),
        ({}, said("Rate limit: please wait 39000 seconds before retrying"), 39_000),
        *(
            ({}, said(f"Rate limit reached, try again in {time}."), seconds)
            for time, seconds in [
                ("1 hour", 3_600),
                ("24 hours", 86_400),
                ("3 days", 259_200),
                ("0.5 hours", 1_800),
                ("5 min", 300),
                ("2 minutes", 120),
                ("1 minute 30 seconds", 90),
                ("1 hour and 2 minutes", 3_720),
                ("2h9m12.96s", 7_752.96),
                ("120ms", 0.12),
                ("1 fortnight", 60),
                ("00:05:30", 330),
            ]
        ),
        ({}, said("slow down", retry_after="30 seconds"), 30),
        ({}, said("slow down", retry_after="2 minutes"), 120),
        ({}, said("slow down", retry_after="1 hour"), 3_600),
        (
            {},
            said("slow down", metadata={"headers": {"X-RateLimit-Reset": f"{SOON.timestamp() * 1000:.0f}"}}),
            7200,
        ),
        ({"x-ratelimit-reset-requests": "soon", "retry-after-ms": "-1"}, {}, 60),
        ({}, said("Rate limit reached, try again in the evening"), 60),
    ],
)
def test_the_wait_is_read_from_headers_and_texts(headers: dict[str, str], body: Any, seconds: float) -> None:
    error = from_response(429, headers, json.dumps(body).encode())
    assert error.kind is THROTTLED
    assert error.retry_after == pytest.approx(seconds, abs=1000 if seconds == 7200 else 0.001)
