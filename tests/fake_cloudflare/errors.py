"""Cloudflare's error responses, for the fake: status and body by code."""

REQUEST_ID = "de3fabb0-569c-4e72-bec9-fedd0de629b3"
DAILY = (
    "AiError: AiError: you have used up your daily free allocation of 10,000 neurons, please upgrade to "
    "Cloudflare's Workers Paid plan if you would like to continue usage."
)
ERRORS: dict[int, tuple[int, str]] = {
    2001: (400, "Please configure AI Gateway in the Cloudflare dashboard"),
    2003: (429, "Too many requests"),
    2009: (401, "Unauthorized"),
    2016: (424, "Prompt blocked due to security configurations"),
    2017: (424, "Response blocked due to security configurations"),
    2021: (402, "Insufficient credits"),
    2040: (400, "BYOK alias is not configured"),
    3003: (400, "AiError: Missing headers or body"),
    3006: (413, "AiError: Request is too large"),
    3007: (408, "AiError: Timeout"),
    3008: (408, "AiError: Aborted"),
    3021: (429, "rate limiting: inference request per min rate reached"),
    3023: (403, "AiError: Account blocked"),
    3030: (400, "AiError: Max context reached 80030 tokens but model supports only 60000"),
    3036: (429, DAILY),
    3039: (400, "AiError: Finetune missing required files"),
    3040: (429, "AiError: Capacity temporarily exceeded, please try again."),
    3041: (403, "AiError: Private model"),
    3042: (404, "AiError: Invalid model id"),
    3046: (408, "AiError: AiError: Request timeout"),
    4006: (429, DAILY),
    5004: (400, "AiError: Invalid data type for base64 input"),
    5005: (405, "AiError: LoRA unsupported"),
    5006: (400, "AiError: Bad input: Error: required properties at '/' are 'model,state,questions'"),
    5007: (400, "AiError: No such model: No such model or task"),
    5012: (422, "AiError: Upstream validation failed"),
    5016: (403, "AiError: Model agreement not accepted"),
    5018: (403, "AiError: Private model"),
    5019: (405, "AiError: Deprecated SDK"),
    5023: (400, "AiError: JSON Schema mode is not supported with stream mode"),
    5025: (400, "AiError: 5025: This model doesn't suuport JSON Schema."),
    5021: (413, "AiError: Ai: The estimated number of input and maximum output tokens (42481) exceeded this "
                "model context window limit (32000)."),
    5028: (400, "AiError: This model was deprecated on 2026-05-30. Please use an alternative model."),
    5035: (403, "AiError: This model requires the Workers Paid plan"),
    7000: (404, "No route for that URI"),
    7001: (500, "Internal Error"),
    7002: (404, "ai_search_not_found"),
    7003: (404, "Could not route to /client/v4/, perhaps your object identifier is invalid?"),
    7009: (503, "Upstream service unavailable"),
    7013: (503, "Guardrails are unavailable"),
    7012: (400, "ai_search_instance_invalid_token"),
    7017: (503, "unable_to_connect_to_ai_search"),
    7030: (400, "workers_ai_timeout"),
    7038: (400, "missing_user_query"),
    7039: (400, "missing_user_query"),
    7063: (404, "namespace_not_found"),
    7069: (429, "monthly_query_quota_exceeded"),
    7079: (413, "ai_gateway_context_window_exceeded"),
    8001: (400, "AiError: Invalid input"),
    8006: (400, "AiError: max_tokens is too small for the forced tool"),
    10000: (401, "Authentication error"),
}  # fmt: skip
HTML = b"<!DOCTYPE html><html><head><title>api.cloudflare.com | 524: A timeout occurred</title></head></html>"


def error(code: int, http: int = 0, message: str = "") -> tuple[int, object]:
    """Status and JSON body for `code`, in Cloudflare's envelope for it.

    `http` overrides the status and `message` its text.
    """
    usual_status, usual_message = ERRORS.get(code, (400, "AiError: Unknown"))
    status, message = http or usual_status, message or usual_message
    message = f"{message} ({REQUEST_ID})" if message.startswith("AiError") else message
    if code == 5021:
        return status, {"name": "AiError", "internalCode": code, "httpCode": status, "message": message}
    if 2000 <= code < 3000:
        head = {"success": False, "result": [], "messages": [], "error": [{"code": code, "message": message}]}
        return status, head | {"name": "AiGatewayError", "httpCode": status, "internalCode": code}
    result: object = None if code >= 7000 else {}
    return status, {
        "result": result,
        "success": False,
        "errors": [{"code": code, "message": message}],
        "messages": [],
    }
