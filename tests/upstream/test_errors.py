"""Every error that Cloudflare lists or was recorded to send becomes one of ours, with what to do about it."""

import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.upstream import error_kinds, errors
from chat.upstream.errors import ErrorKind, UpstreamError, from_payload, from_response
from tests.upstream.error_codes import CODES

ID = "de3fabb0-569c-4e72-bec9-fedd0de629b3"
SECRET = "v1Qz" + "aB3_" * 9  # 40 characters, as Cloudflare's tokens are


def told(status: int, payload: Any, **headers: str) -> UpstreamError:
    return from_response(status, headers, json.dumps(payload).encode())


def envelope(code: int, message: str) -> dict[str, Any]:
    error = {"message": f"AiError: AiError: {message} ({ID})", "code": code}
    return {"errors": [error], "success": False, "result": {}, "messages": []}


@pytest.mark.parametrize(("code", "status", "kind", "permanent"), CODES)
def test_each_code_of_the_tables_is_told_apart(
    code: int, status: int, kind: ErrorKind, permanent: bool
) -> None:
    error = told(status, envelope(code, "something"))
    assert (error.kind, error.permanent, error.code) == (kind, permanent, str(code))
    assert (error.status, error.request_id) == (status, ID)
    assert error.message == errors.SENTENCES_OF_CODES.get(str(code), errors.ERROR_SENTENCES[kind])


@pytest.mark.parametrize(("code", "status", "kind", "permanent"), CODES)
def test_a_code_says_the_same_inside_a_stream(
    code: int, status: int, kind: ErrorKind, permanent: bool
) -> None:
    error = from_payload(envelope(code, "something"))
    assert (error.kind, error.permanent, error.code, error.status) == (kind, permanent, str(code), None)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, ErrorKind.INVALID),
        (401, ErrorKind.AUTH),
        (402, ErrorKind.CREDITS),
        (403, ErrorKind.NOT_PERMITTED),
        (404, ErrorKind.UNKNOWN_MODEL),
        (405, ErrorKind.INVALID),
        (408, ErrorKind.TIMEOUT),
        (409, ErrorKind.BUSY),
        (413, ErrorKind.TOO_LONG),
        (422, ErrorKind.INVALID),
        (424, ErrorKind.BLOCKED),
        (429, ErrorKind.THROTTLED),
        (500, ErrorKind.UNAVAILABLE),
        (502, ErrorKind.UNAVAILABLE),
        (503, ErrorKind.UNAVAILABLE),
        (504, ErrorKind.TIMEOUT),
        (520, ErrorKind.UNAVAILABLE),
        (524, ErrorKind.TIMEOUT),
        (530, ErrorKind.UNAVAILABLE),
    ],
)
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html><title>A timeout occurred</title></html>",
        b"{}",
        b"null",
        b'{"errors":[],"success":false}',
        b'{"errors":[{}]}',
        b"[[[",
        b"\xff\xfe\x00",
        b"[" * 100_000,
        b"9" * 5_000,
    ],
)
def test_without_a_code_the_status_decides(status: int, kind: ErrorKind, body: bytes) -> None:
    error = from_response(status, {}, body)
    assert (error.kind, error.code, error.status) == (kind, "", status)


BUSY = "AiError: 3040: Capacity temporarily exceeded, please try again."


@pytest.mark.parametrize(
    "payload",
    [
        {"errors": [{"code": 3040, "message": BUSY}], "success": False},
        {"errors": [{"code": "3040", "message": BUSY}]},
        {"success": False, "result": [], "error": [{"code": 3040, "message": BUSY}], "httpCode": 429},
        [{"code": 3040, "message": BUSY}],
        {"error": {"code": 3040, "message": BUSY}},
        {"error": BUSY},
        {"errors": [BUSY]},
        BUSY,
        {"error": {"code": "rate_limit", "message": BUSY}},
        {"name": "AiError", "internalCode": 3040, "httpCode": 429, "message": BUSY, "description": "…"},
        {"name": "AiError", "internalCode": 3040, "code": 7},
        {"errors": [{"message": "outer", "code": 1000, "error_chain": [{"code": 3040, "message": BUSY}]}]},
        {"errors": [{"message": "first", "code": 1000}, {"code": 3040, "message": BUSY}]},
        {"errors": None, "error": [{"code": 3040}]},
        {"errors": [None, 7, {"code": 3040}]},
    ],
)
def test_every_envelope_is_read(payload: object) -> None:
    for error in (told(429, payload), from_payload(payload)):
        assert (error.kind, error.code) == (ErrorKind.BUSY, "3040")


@pytest.mark.parametrize(
    ("status", "code", "message", "kind"),
    [
        (429, 4006, "you have used up your daily free allocation of 10,000 neurons", ErrorKind.QUOTA),
        (429, 9999, "you have used up your daily free allocation of 10,000 neurons", ErrorKind.QUOTA),
        (400, 3030, "Max context reached 80030 tokens but model supports only 60000", ErrorKind.TOO_LONG),
        (400, 3030, "Sequence too long", ErrorKind.TOO_LONG),
        (400, 3030, "Input prompt contains NSFW content", ErrorKind.BLOCKED),
        (400, 5006, "exceeds the model's maximum context length of 256000 tokens.", ErrorKind.TOO_LONG),
        (400, 0, "max_completion_tokens is too large: 262144. This model supports", ErrorKind.INVALID),
        (400, 0, "This model's maximum context length is 131072 tokens. However", ErrorKind.TOO_LONG),
        (413, 5021, "exceeded this model context window limit (32000).", ErrorKind.TOO_LONG),
        (400, 400, "the request exceeds the available context size, try increasing it", ErrorKind.TOO_LONG),
        (400, 0, "This model was deprecated on 2026-05-30. Please use", ErrorKind.UNKNOWN_MODEL),
        (405, 5019, "deprecated SDK", ErrorKind.INVALID),
        (429, 3040, "Capacity temporarily exceeded", ErrorKind.BUSY),
    ],
)  # fmt: skip
def test_words_mean_more_than_an_ambiguous_code(
    status: int, code: int, message: str, kind: ErrorKind
) -> None:
    error = told(status, envelope(code, message))
    assert error.kind is kind


def test_a_status_named_inside_a_stream_counts_as_one() -> None:
    assert from_payload({"error": {"code": 503, "message": "Loading model"}}).kind is ErrorKind.UNAVAILABLE
    assert from_payload({"error": {"code": 401, "message": "Invalid API Key"}}).kind is ErrorKind.AUTH


def test_an_error_that_says_nothing_is_worth_another_try() -> None:
    for payload in (None, {}, [], "", "boom", 7, True, {"error": True}, {"errors": [{"code": True}]}):
        error = from_payload(payload)
        assert (error.kind, error.permanent, error.code) == (ErrorKind.UNAVAILABLE, False, "")


def test_the_request_id_is_kept_for_support_and_not_shown() -> None:
    error = told(413, {"internalCode": 5021, "message": "Ai: exceeded the window limit (32000). (87064f8a)"})
    assert error.request_id == "87064f8a"
    assert error.detail == "Ai: exceeded the window limit (32000)."
    long = told(408, envelope(3046, "Request timeout"))
    assert (long.request_id, long.detail) == (ID, "AiError: AiError: Request timeout")
    assert ID not in long.message + str(long)


def test_quota_resets_at_midnight_utc_despite_the_header() -> None:
    def until_midnight() -> float:
        now = datetime.now(UTC)
        midnight = (now + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
        return (midnight - now).total_seconds()

    before = until_midnight()
    error = told(429, envelope(3036, "used up"), **{"retry-after": "3"})
    after = until_midnight()
    assert error.permanent
    # Between the two, unless it struck midnight just now.
    assert any(error.retry_after == pytest.approx(seconds, abs=5) for seconds in (before, after))


def test_a_limit_per_minute_is_over_within_one() -> None:
    assert told(429, envelope(3021, "rate limiting")).retry_after == 60
    assert told(429, envelope(3021, "rate limiting"), **{"retry-after": "7"}).retry_after == 7
    assert told(429, envelope(3040, "Capacity")).retry_after is None


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ("7", 7.0),
        (" 7 ", 7.0),
        ("0", 0.0),
        ("", None),
        ("soon", None),
        ("-5", None),
        ("7.5", 7.5),
        ("1.5s", 1.5),
        ("²", None),
        ("9" * 400, 999_999_999.0),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0),
        ("Wed, 21 Oct 2015 07:28:00 -0000", None),
        ("Wed, 99 Oct 99999 07:28:00 GMT", None),
    ],
)
def test_retry_after_is_seconds_or_a_date_or_nothing(written: str, seconds: float | None) -> None:
    assert told(503, {}, **{"retry-after": written}).retry_after == seconds


def test_retry_after_may_be_a_date_to_come() -> None:
    written = format_datetime(datetime.now(UTC) + timedelta(seconds=300), usegmt=True)
    assert told(503, {}, **{"retry-after": written}).retry_after == pytest.approx(300, abs=60)


def test_no_secret_is_in_any_text() -> None:
    for message in (
        f"Authorization: Bearer {SECRET} refused",
        f"token={SECRET}",
        f"bearer {SECRET[:9]}",
        SECRET,
    ):
        error = told(401, {"errors": [{"code": 10000, "message": message}]})
        for text in (str(error), repr(error), error.message, error.detail):
            assert SECRET[:9] not in text


def test_upstream_messages_are_short_and_for_admins_only() -> None:
    user_text = "what the person asked " * 100
    error = told(400, {"errors": [{"code": 5006, "message": f"Bad input: {user_text}"}]})
    assert "what the person asked" not in error.message + str(error) + repr(error)
    assert 0 < len(error.detail) <= errors.MAX_DETAIL_CHARS


def test_every_kind_has_a_sentence_and_every_code_one_kind() -> None:
    assert set(errors.ERROR_SENTENCES) == set(ErrorKind)
    named = [code for codes in error_kinds.CODES_OF_KIND.values() for code in codes.split()]
    assert len(named) == len(set(named))
    assert all(sentence.endswith(".") for sentence in errors.ERROR_SENTENCES.values())


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["errors", "error", "code", "message", "internalCode", "httpCode", "error_chain"])
            | st.text(max_size=5),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(json_values)
def test_whatever_the_payload_it_becomes_one_error(payload: object) -> None:
    error = from_payload(payload)
    assert isinstance(error.kind, ErrorKind)
    assert len(error.code) <= 10


@given(st.integers(300, 599), st.binary(max_size=200), st.text(max_size=20))
def test_whatever_the_answer_it_becomes_one_error(status: int, body: bytes, header: str) -> None:
    error = from_response(status, {"retry-after": header}, body)
    assert isinstance(error.kind, ErrorKind)
    assert error.retry_after is None or error.retry_after >= 0
