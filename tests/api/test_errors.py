"""Errors of model servers in both dialects of the API: OpenAI's words, and Cloudflare's own codes."""

import json
from typing import Any

import pytest

from chat.api.errors import error_headers, error_of, openai_error, workers_ai_error
from chat.upstream.errors import from_response


def told(status: int, body: Any, **headers: str) -> tuple[tuple[int, Any], tuple[int, Any], dict[str, str]]:
    """Return the error in OpenAI's dialect, in Workers AI's, and the response's headers."""
    problem = error_of(from_response(status, headers, json.dumps(body).encode()))
    (status, first), (own_status, second) = openai_error(problem), workers_ai_error(problem)
    return (status, first["error"]), (own_status, second["errors"][0]), error_headers(problem)


def failure(code: int, message: str = "AiError: …") -> dict[str, Any]:
    return {"errors": [{"code": code, "message": message}], "success": False, "result": {}, "messages": []}


@pytest.mark.parametrize(
    ("status", "code", "message"),
    [
        (400, 3030, "AiError: Max context reached 80030 tokens but model supports only 60000"),
        (400, 3030, "AiError: Input prompt contains NSFW content"),
        (400, 3003, "…"),
        (413, 3006, "…"),
        (408, 3007, "…"),
        (429, 3021, "…"),
        (403, 3023, "…"),
        (429, 3036, "…"),
        (400, 3039, "…"),
        (404, 3042, "…"),
        (429, 4006, "you have used up your daily free allocation"),
        (405, 5005, "…"),
        (403, 5016, "Model Agreement: prior to using this model, you must submit the prompt 'agree'."),
        (403, 5018, "…"),
        (413, 5021, "…"),
        (410, 5028, "This model was deprecated on 2026-05-30"),
        (400, 8001, "Invalid input"),
        (400, 8006, "…"),
        (503, 7013, "…"),
    ],
)
def test_workers_ai_keeps_the_code_and_the_status(status: int, code: int, message: str) -> None:
    _openai, (own_status, error), _headers = told(status, failure(code, message))
    assert (own_status, error["code"]) == (status, code)


def test_what_is_wrong_with_the_site_s_account_is_not_told() -> None:
    (status, error), (own_status, own), _headers = told(401, failure(10000, "token of account 123 expired"))
    assert (status, error["code"], own_status, own["code"]) == (502, "upstream_unavailable", 502, 7009)
    assert "123" not in error["message"] + own["message"]


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (
            400,
            {"error": {"message": "maximum context length is 8192", "code": "context_length_exceeded"}},
            (400, "invalid_request_error", "context_length_exceeded", "messages"),
        ),
        (
            429,
            {"error": {"message": "…", "code": "insufficient_quota"}},
            (429, "insufficient_quota", "insufficient_quota", None),
        ),
        (
            400,
            {"error": {"message": "no", "param": "tools[0].function", "code": "unsupported_value"}},
            (400, "invalid_request_error", "unsupported_value", "tools[0].function"),
        ),
        (
            400,
            {"error": {"message": "…", "code": "content_filter"}},
            (400, "invalid_request_error", "content_filter", None),
        ),
        (498, {}, (429, "rate_limit_error", "model_busy", None)),
        (408, {}, (408, "server_error", "timeout", None)),
        (400, {"error": [{"code": 2005}]}, (503, "server_error", "upstream_unavailable", None)),
        (403, {"error": {"message": "Access denied by policy"}},
         (403, "permission_error", "model_not_permitted", None)),
        (422, {"detail": [{"loc": ["body", "x"], "msg": "field required"}]},
         (400, "invalid_request_error", "invalid_request", "x")),
    ],
)  # fmt: skip
def test_openai_s_dialect_has_its_words(status: int, body: Any, expected: tuple[Any, ...]) -> None:
    (found_status, error), _workers_ai, _headers = told(status, body)
    assert (found_status, error["type"], error["code"], error["param"]) == expected


def test_the_server_s_own_words_reach_the_client_but_no_secrets() -> None:
    for status, words in [(500, "Failed to parse tool schema"), (422, "field required"), (404, "no model x")]:
        (_status, error), (_own_status, own), _headers = told(status, {"detail": words})
        assert words in error["message"]
        assert words in own["message"]
    (_status, error), _own, _headers = told(400, {"error": f"Bearer {'k3' * 30} is wrong"})
    assert "k3k3" not in error["message"]
    (_status, error), _own, _headers = told(402, {"error": "organization org-7 has no credits"})
    assert "org-7" not in error["message"]


def test_waits_and_retries_are_told_as_the_server_means_them() -> None:
    assert told(429, {"error": "slow"}, **{"retry-after": "1.5"})[2] == {"Retry-After": "2"}
    assert told(429, {"error": "slow"}, **{"retry-after-ms": "1500"})[2] == {"Retry-After": "2"}
    for body in (
        {"error": {"code": "insufficient_quota"}},
        {"error": {"message": "Spending limit exceeded"}},
    ):
        assert told(429, body)[2] == {"x-should-retry": "false"}
    assert told(400, {"error": [{"code": 2005}]})[2] == {}
