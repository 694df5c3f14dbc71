"""Errors in the words of many servers: each becomes the kind that says what to do about it."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from chat.upstream import errors
from chat.upstream.errors import ErrorKind, from_payload, from_response

INVALID, TOO_LONG, CREDITS, THROTTLED = (
    ErrorKind.INVALID, ErrorKind.TOO_LONG, ErrorKind.CREDITS, ErrorKind.THROTTLED,
)  # fmt: skip
BUSY, BLOCKED, AUTH, UNKNOWN_MODEL = (
    ErrorKind.BUSY, ErrorKind.BLOCKED, ErrorKind.AUTH, ErrorKind.UNKNOWN_MODEL,
)  # fmt: skip
UNAVAILABLE, NOT_PERMITTED, TIMEOUT = ErrorKind.UNAVAILABLE, ErrorKind.NOT_PERMITTED, ErrorKind.TIMEOUT


def said(message: str, **more: Any) -> dict[str, Any]:
    return {"error": {"message": message, **more}}


def quoting(text: str) -> dict[str, Any]:
    """OpenRouter's error, which quotes the provider's as JSON in a text."""
    return said("Provider returned error", code=400, metadata={"raw": text, "provider_name": "X"})


TOO_LONG_BODIES = {
    "OpenAI's code": said("…", type="invalid_request_error", code="context_length_exceeded"),
    "Azure": said("Input tokens exceed the configured limit of 272000 tokens. "),
    "OpenAI's Responses": said("Your input exceeds the context window of this model."),
    "Groq": said("Please reduce the length of the messages or completion."),
    "xAI": {
        "code": "Client specified an invalid argument",
        "error": "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    },
    "Gemini": [
        said(
            "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
            code=400,
            status="INVALID_ARGUMENT",
        )
    ],
    "Bedrock": {"message": "Input is too long for requested model."},
    "Bedrock's type": {"__type": "com.amazon#ValidationException", "Message": "too many input tokens"},
    "Cohere": {"message": "too many tokens: total number of tokens in the prompt exceeds the limit of 4081"},
    "Anthropic": {
        "type": "error",
        "error": {
            "type": "invalid_request_error",
            "message": "prompt is too long: 213462 tokens > 200000 maximum",
        },
    },
    "Anthropic, with the reply": said(
        "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000"
    ),
    "Mistral": {
        "object": "error",
        "message": "Prompt contains 40000 tokens, too large for model with 32768 maximum context length",
        "type": "invalid_request_error",
        "code": "3051",
    },
    "vLLM": {
        "object": "error",
        "message": "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens",
        "type": "BadRequestError",
        "param": None,
        "code": 400,
    },
    "SGLang": said("The input (12000 tokens) is longer than the model's context length (8192 tokens)."),
    "llama.cpp": said(
        "the request exceeds the available context size", code=400, type="exceed_context_size_error"
    ),
    "LM Studio": {
        "error": "Trying to keep the first 5000 tokens when context overflows, context length of 4096"
    },
    "Ollama": {"error": "the input length exceeds the context length"},
    "TGI": {
        "error": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 9000",
        "error_type": "validation",
    },
    "Hugging Face": {
        "error": "Input validation error: `inputs` must have less than 4096 tokens. Given: 5000"
    },
    "OpenRouter": said("This endpoint's maximum context length is 128000 tokens.", code=400),
    "OpenRouter's quotation": quoting('{"error":{"code":"context_length_exceeded","message":"…"}}'),
    "LiteLLM": said(
        'litellm.BadRequestError: OpenAIException - {"error":{"code":"context_length_exceeded"}}'
    ),
    "Together": said("Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193."),
    "Fireworks": said("The prompt is too long: 200000, model maximum context length: 131071"),
    "Cerebras": said("Please reduce the length of the messages. Current length is 9000 while limit is 8192"),
    "DeepSeek": said(
        "This model's maximum context length is 65536 tokens. However, you requested 70000 tokens"
    ),
    "Qwen": {"code": "InvalidParameter", "message": "Range of input length should be [1, 30720]"},
    "Kimi": said(
        "Invalid request: Your request exceeded model token limit: 8192", type="invalid_request_error"
    ),
    "MiniMax": {"base_resp": {}, "error": {"message": "invalid params, context window exceeds limit (2013)"}},
    "GitHub Models": said("Request body too large for gpt-4o. Max size: 8000", code="tokens_limit_reached"),
    "Copilot": said(
        "prompt token count of 70000 exceeds the limit of 64000", code="model_max_prompt_tokens_exceeded"
    ),
    "z.ai": {"error": {"code": "1261", "message": "Prompt exceeds max length"}},
    "FastAPI": {"detail": "The prompt is too long for this model"},
    "Replicate": {"detail": "Input prompt (9000 tokens) is too long and exceeds limit of 8192"},
    "llama.cpp without shift": said("context shift is disabled", code=400),
    "Bedrock's schema": {"message": "Malformed input request: #: expected maxLength: 51200, actual: 60000"},
    "Vertex": said("the input token count is 1200000 but the model only supports up to 1048576."),
    "Cohere's size": {"message": "size limit exceeded: prompt has 9000 tokens, but the limit is 8192"},
    "NVIDIA": said("Input length 9000 exceeds the maximum allowed length 8192"),
    "vLLM's older words": said(
        "The decoder prompt (length 9000) is longer than the maximum model length of 8192."
    ),
    "Zhipu": {"error": {"code": "1210", "message": "输入内容过长"}},
}


@pytest.mark.parametrize("body", TOO_LONG_BODIES.values(), ids=TOO_LONG_BODIES)
def test_a_full_context_window_is_known_in_all_words(body: Any) -> None:
    error = from_response(400, {}, json.dumps(body).encode())
    assert (error.kind, error.permanent, error.retry_after) == (TOO_LONG, True, None)
    assert from_payload(body).kind is TOO_LONG


OTHER_BODIES: list[tuple[int, Any, ErrorKind]] = [
    # Credit and quota, which no wait brings back
    (429, said("Quota used up for this key", type="insufficient_quota", code="insufficient_quota"), CREDITS),
    (429, said("…", code="billing_hard_limit_reached"), CREDITS),
    (403, {"code": "Arrearage", "message": "Access denied"}, CREDITS),
    (402, said("Insufficient Balance", type="unknown_error", code="invalid_request_error"), CREDITS),
    (402, said("This request requires more credits, or fewer max_tokens.", code=402), CREDITS),
    (
        400,
        {
            "type": "error",
            "error": {
                "type": "invalid_request_error",
                "message": "Your credit balance is too low to access the Anthropic API.",
            },
        },
        CREDITS,
    ),
    (429, said("Your account is not active, please check your billing details"), CREDITS),
    (429, {"success": False, "error": {"message": "Spending limit exceeded", "bucket": "b1"}}, CREDITS),
    (429, said("Your account is suspended", type="exceeded_current_quota_error"), CREDITS),
    # Limits a minute
    (429, said("Rate limit reached", type="requests", code="rate_limit_exceeded"), THROTTLED),
    (429, said("You exceeded your current quota", code=429, status="RESOURCE_EXHAUSTED"), THROTTLED),
    (400, {"code": "Throttling.RateQuota", "message": "Requests rate limit exceeded"}, THROTTLED),
    (400, {"__type": "ThrottlingException", "message": "slow"}, THROTTLED),
    (500, {"message": "Too many requests, please wait before trying again."}, THROTTLED),
    (
        402,
        {"error": [{"code": 2021, "message": "2021: Wholesale rate limit exceeded for this gateway."}]},
        THROTTLED,
    ),
    (413, said("Request too large for model on tokens per minute", code="rate_limit_exceeded"), TOO_LONG),
    # Busy
    (498, said("Flex tier capacity exceeded", type="capacity_exceeded"), BUSY),
    (529, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, BUSY),
    (503, said("The model is overloaded. Please try again later.", code=503, status="UNAVAILABLE"), BUSY),
    (503, said("No available workers"), BUSY),
    (
        429,
        said("Service tier capacity exceeded for this model.", type="service_tier_capacity_exceeded"),
        BUSY,
    ),
    (424, {"__type": "ModelNotReadyException", "message": "Model is loading"}, BUSY),
    # Filters
    (400, said("The response was filtered", code="content_filter"), BLOCKED),
    (400, said("…", code="x", innererror={"code": "ResponsibleAIPolicyViolation"}), BLOCKED),
    (
        400,
        {"code": "DataInspectionFailed", "message": "Input data may contain inappropriate content."},
        BLOCKED,
    ),
    (403, said("Your input was flagged by moderation"), BLOCKED),
    (
        400,
        said("Invalid prompt: flagged as potentially violating our usage policy", code="invalid_prompt"),
        BLOCKED,
    ),
    # Credentials and rights
    (
        400,
        [said("API key not valid. Please pass a valid API key.", code=400, status="INVALID_ARGUMENT")],
        AUTH,
    ),
    (400, {"code": "InvalidApiKey", "message": "Invalid API-key provided."}, AUTH),
    (403, {"type": "error", "error": {"type": "permission_error", "message": "not for you"}}, NOT_PERMITTED),
    (403, said("…", code="unsupported_country_region_territory"), NOT_PERMITTED),
    (403, {"success": False, "error": {"message": "Access denied by policy"}}, NOT_PERMITTED),
    # Models
    (400, said("x/y is not a valid model ID", code=400), UNKNOWN_MODEL),
    (400, said("The model `x` has been decommissioned", code="model_decommissioned"), UNKNOWN_MODEL),
    (404, {"error": 'model "x" not found, try pulling it first'}, UNKNOWN_MODEL),
    (404, said("…", code="DeploymentNotFound"), UNKNOWN_MODEL),
    (410, {}, UNKNOWN_MODEL),
    # Servers that fail
    (500, said("Failed to parse tool schema of this request", code=500, type="server_error"), UNAVAILABLE),
    (500, said("the content filter service crashed"), UNAVAILABLE),
    (400, {"error": [{"code": 2005, "message": "Failed to get response from provider"}]}, UNAVAILABLE),
    (503, {"error": [{"code": 7013, "message": "Guardrails are unavailable"}]}, UNAVAILABLE),
    (408, {"__type": "ModelTimeoutException"}, TIMEOUT),
    # Requests that are wrong
    (
        422,
        {"detail": [{"loc": ["body", "messages"], "msg": "field required", "type": "value_error"}]},
        INVALID,
    ),
    (400, said("'min_p' is unsupported", param="min_p", code="unsupported_parameter"), INVALID),
    (400, said("exceeds the limit of 20 requests", type="invalid_request_error"), INVALID),
    # Further words of many servers
    (
        400,
        {
            "error": {
                "message": "Total tokens of image and text exceed max message tokens",
                "code": "InvalidParameter",
            }
        },
        TOO_LONG,
    ),
    (400, {"message": "Input Tokens Exceeded: Number of input tokens exceeds maximum length"}, TOO_LONG),
    (400, {"error": {"message": "Prompt is too large for this model"}}, TOO_LONG),
    (400, {"error": {"message": "The conversation is too long, please start a new one."}}, TOO_LONG),
    (400, {"error": {"message": "Please shorten your prompt. 9000 tokens > 8192"}}, TOO_LONG),
    (400, {"error": {"message": "input tokens (9000) exceed max_input_tokens (8192)"}}, TOO_LONG),
    (
        400,
        {"error": {"message": "The number of tokens in the prompt (9000) exceeds the model limit of 8192"}},
        TOO_LONG,
    ),
    (400, {"error": {"message": "Token count 9000 exceeds context of 4096"}}, TOO_LONG),
    (400, {"error": {"message": "This model supports at most 8192 tokens"}}, TOO_LONG),
    (500, {"error": {"message": "context size exceeded"}}, TOO_LONG),
    (400, {"error": {"message": "Requested tokens (5000) exceed context window of 2048"}}, TOO_LONG),
    (422, {"error": "Input validation error: inputs tokens + max_new_tokens must be <= 4096"}, TOO_LONG),
    (
        429,
        {
            "error": {
                "code": "429",
                "message": "Requests have exceeded call rate limit. Please retry after 20 seconds.",
            }
        },
        THROTTLED,
    ),
    (
        429,
        {
            "error": {
                "code": 429,
                "message": "Quota exceeded for quota metric 'Generate Content API requests per minute'",
                "status": "RESOURCE_EXHAUSTED",
            }
        },
        THROTTLED,
    ),
    (403, {"error": {"message": "Key limit exceeded (monthly limit)", "code": 403}}, CREDITS),
    (402, {"error": "You have exceeded your monthly included credits for Inference Providers."}, CREDITS),
    (
        400,
        {
            "type": "error",
            "error": {
                "type": "invalid_request_error",
                "message": "You have reached your specified API usage limits.",
            },
        },
        CREDITS,
    ),
    (
        403,
        {"code": "AllocationQuota.FreeTierOnly", "message": "The free tier of the model has been exhausted."},
        CREDITS,
    ),
    (403, {"error": {"message": "user quota is not enough", "type": "new_api_error"}}, CREDITS),
    (429, {"error": {"message": "You have no quota left"}}, CREDITS),
    (429, {"error": {"message": "monthly quota exhausted"}}, CREDITS),
    (400, {"error": {"message": "Content Exists Risk", "type": "invalid_request_error"}}, BLOCKED),
    (
        400,
        {"error": {"code": "1301", "message": "系统检测到输入或生成内容可能包含不安全或敏感内容"}},
        BLOCKED,
    ),
    (
        403,
        {"code": "The caller does not have permission", "error": "Content violates usage guidelines."},
        BLOCKED,
    ),
    (
        400,
        {
            "error": {
                "message": "Your request was rejected as a result of our safety system.",
                "code": "moderation_blocked",
            }
        },
        BLOCKED,
    ),
    (400, {"message": "Content blocked by guardrail"}, BLOCKED),
    (400, {"error": {"message": "The prompt violates our content policies"}}, BLOCKED),
    (400, {"error": {"message": "input new_sensitive"}}, BLOCKED),
    (503, {"error": {"message": "Service is too busy. We advise users to temporarily switch."}}, BUSY),
    (503, {"error": "Model mistralai/x is currently loading", "estimated_time": 20.0}, BUSY),
    (503, {"error": {"message": "The server is overloaded or not ready yet."}}, BUSY),
    (503, {"error": {"message": "x is currently over capacity. Please try again"}}, BUSY),
    (
        429,
        {
            "error": {
                "message": "That model is currently overloaded with other requests.",
                "type": "server_error",
            }
        },
        BUSY,
    ),
    (
        404,
        {"error": {"message": "Unable to access model x. Please visit https://api.together.ai/models"}},
        UNKNOWN_MODEL,
    ),
    (
        404,
        {"error": {"message": "Model not found, inaccessible, and/or not deployed", "code": "NOT_FOUND"}},
        UNKNOWN_MODEL,
    ),
    (400, {"error": {"message": "The model `x` has been removed"}}, UNKNOWN_MODEL),
    (400, {"error": {"message": "Model x is not supported"}}, UNKNOWN_MODEL),
    (400, {"error": {"message": "Invalid model: x", "type": "invalid_request_error"}}, UNKNOWN_MODEL),
    (401, {"error": {"message": "Incorrect API key provided"}}, AUTH),
    (
        403,
        {"error": {"message": "Country not supported", "code": "unsupported_country_region_territory"}},
        NOT_PERMITTED,
    ),
    (
        400,
        {
            "error": {
                "message": "tools[0].function.name is too long",
                "param": "tools[0].function.name",
                "code": "string_above_max_length",
            }
        },
        INVALID,
    ),
    (
        400,
        {
            "error": {
                "message": "Invalid 'messages[0].content': string too long. Expected maximum length 10485760",
                "code": "string_above_max_length",
                "param": "messages[0].content",
            }
        },
        TOO_LONG,
    ),
    *(
        (400, {"message": text}, INVALID)
        for text in (
            "The value at toolConfig.tools.0.toolSpec.inputSchema.json.properties.rate_limit.type is wrong",
            "toolConfig.tools.0.toolSpec.inputSchema.json.properties.context_length.type must be an object",
            "tools.3.custom.input_schema.properties.context_window.type: Input should be 'object'",
            "* GenerateContentRequest.tools[0].x.properties[rate_limit].items: missing field.",
            "tool set_rate_limit: parameters must be an object",
            "Function name was content_filter! must be a-z, A-Z, 0-9",
            "Failed to parse grammar: rate_limit ::= error",
            "The maximum tokens you requested exceeds the model limit of 4096.",
        )
    ),
    (422, {"detail": [{"loc": ["body", "tools", 0, "rate_limit"], "msg": "x", "type": "a"}]}, INVALID),
    (400, {"error": {"message": "unsupported content type", "type": "invalid_request_error"}}, INVALID),
    (
        400,
        {"error": {"message": "max_tokens must be at most 4096", "type": "invalid_request_error"}},
        INVALID,
    ),
    (400, {"error": {"message": "This model does not support the parameter temperature"}}, INVALID),
    (400, {"error": {"message": "the model does not support tools"}}, INVALID),
    (400, {"error": {"message": "tool call 'x' not found"}}, INVALID),
    (400, said("The value of the temperature exceeds the limit of 2"), INVALID),
    (400, {"message": "Too many tokens, please wait before trying again."}, THROTTLED),
    (403, said('Your input was flagged for "violence". No credits were charged.', code=403), BLOCKED),
    (503, {"error": "server busy, please try again.  maximum pending requests exceeded"}, BUSY),
    (503, {"object": "error", "message": "The request queue is full.", "code": 503}, BUSY),
    (400, said("Model Not Exist", type="invalid_request_error"), UNKNOWN_MODEL),
    (400, {"message": "The provided model identifier is invalid."}, UNKNOWN_MODEL),
    (400, [said("User location is not supported for the API use.", code=400)], NOT_PERMITTED),
    (403, {"message": "The security token included in the request is invalid."}, AUTH),
    (200, {"base_resp": {"status_code": 1008, "status_msg": "insufficient balance"}}, CREDITS),
    (200, {"code": "DataInspectionFailed", "message": "Output data may contain it."}, BLOCKED),
    (500, {"detail": "Internal Server Error"}, UNAVAILABLE),
    (502, {"error": {"message": "Provider returned error", "code": 502}}, UNAVAILABLE),
    # Cerebras, a day's limit in the words of a full window; OpenAI, what fits into no minute
    (429, said("Tokens per day limit exceeded - too many tokens processed."), THROTTLED),
    (429, said("…", type="too_many_tokens_error", code="token_quota_exceeded"), THROTTLED),
    (
        429,
        said(
            "Request too large for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, "
            "Requested 40000. The input or output tokens must be reduced in order to run successfully.",
            type="tokens",
            code="rate_limit_exceeded",
        ),
        TOO_LONG,
    ),
    # SiliconFlow, xAI, Volcengine
    (403, {"code": 30001, "message": "Sorry, your account balance is insufficient", "data": None}, CREDITS),
    (403, {"code": "x", "error": "Your team doesn't have any credits or licenses yet."}, CREDITS),
    (403, said("your account has an overdue balance."), CREDITS),
    (403, said("…", code="AccountOverdueError", type="Forbidden"), CREDITS),
    (400, said("The input text may contain sensitive information."), BLOCKED),
    # TGI and Bedrock, whose 424 is no filter; Copilot
    (424, {"error": "Request failed: CUDA out of memory", "error_type": "generation"}, UNAVAILABLE),
    (424, {"__type": "ModelErrorException", "message": "The model had an error"}, UNAVAILABLE),
    (400, said("The requested model is not supported.", code="model_not_supported"), UNKNOWN_MODEL),
]


OTHER_BODIES += [
    # Novita, new-api, Ark
    (403, {"code": 403, "reason": "NOT_ENOUGH_BALANCE", "message": "not enough balance"}, CREDITS),
    (403, said("Your balance is not enough, please recharge"), CREDITS),
    (429, said("…", code="SetLimitExceeded"), CREDITS),
]
# What the request itself contains, in the words of OpenAI, Groq and Anthropic.
QUOTING_BODIES = [
    said(
        "Invalid schema for function 'set_rate': In context=('properties', 'rate_limit', 'items'), schema"
        " must have a 'type' key.",
        param="tools[0].function.parameters",
        code="invalid_function_parameters",
    ),
    said("Unknown parameter: 'rate_limit'.", code="unknown_parameter", param="rate_limit"),
    said("Unknown parameter: 'rate_limit'."),
    said("Invalid schema: property 'context_length' has no type", type="invalid_request_error"),
    said("Invalid function `get_content_filter`"),
    said('Property "credit limit exceeded" has no type'),
    said("Invalid value: 'too many tokens'. …", code="invalid_value", param="tool_choice"),
    said("model tool not found", code="tool_use_failed"),
    said("For this model, `temperature` is deprecated."),
    said(
        "max_tokens is too large: 100000. This model supports at most 16384 completion tokens, whereas you"
        " provided 100000.",
        param="max_tokens",
        code="invalid_value",
    ),
    # Mistral, NestJS
    {"object": "error", "message": {"detail": [{"loc": ["body", "tool_choice"], "msg": "a 'rate limit'"}]}},
    {"message": ["temperature must not be greater than 2"], "error": "Bad Request"},
]


@pytest.mark.parametrize("status", [400, 422])
@pytest.mark.parametrize("body", QUOTING_BODIES)
def test_what_an_error_quotes_does_not_say_its_kind(status: int, body: Any) -> None:
    assert from_response(status, {}, json.dumps(body).encode()).kind is INVALID


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


@pytest.mark.parametrize(("status", "body", "kind"), OTHER_BODIES)
def test_codes_and_words_of_servers_say_the_kind(status: int, body: Any, kind: ErrorKind) -> None:
    error = from_response(status, {}, json.dumps(body).encode())
    assert error.kind is kind
    if kind is CREDITS:
        assert (error.permanent, error.retry_after) == (True, None)


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (said("Rate limit reached", type="rate_limit_error", code="rate_limit_exceeded"), THROTTLED),
        ({"error": "rate limit exceeded"}, THROTTLED),
        ({"error": {"code": "429", "message": "slow down"}}, THROTTLED),
        ({"status": 429, "title": "Too Many Requests"}, THROTTLED),
        (said("bad field", type="invalid_request_error"), INVALID),
        ({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, BUSY),
        ({"message": "boom", "type": "BadRequestError", "code": 400}, INVALID),
        (said("boom", type="server_error"), UNAVAILABLE),
        ({"base_resp": {"status_code": 2013, "status_msg": "invalid params, no such voice"}}, INVALID),
        ({"base_resp": {"status_code": 1004, "status_msg": "login fail: no key"}}, AUTH),
    ],
)
def test_an_error_with_status_200_is_told_by_its_words(body: Any, kind: ErrorKind) -> None:
    assert from_payload(body).kind is kind


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
