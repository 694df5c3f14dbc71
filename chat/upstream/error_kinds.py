"""The kind of an error of a model server, by its code, its words or its HTTP status.

Sources: Cloudflare's lists of Workers AI, AI Gateway and AI Search errors, OpenAI's list of error codes, and
recorded bodies of the servers that a table names.
"""

import re
from collections.abc import Iterable
from enum import StrEnum


class ErrorKind(StrEnum):
    AUTH = "auth"
    NOT_PERMITTED = "not_permitted"
    UNKNOWN_MODEL = "unknown_model"
    TOO_LONG = "too_long"
    QUOTA = "quota"
    THROTTLED = "throttled"
    BUSY = "busy"
    TIMEOUT = "timeout"
    BLOCKED = "blocked"
    CREDITS = "credits"
    INVALID = "invalid"
    UNAVAILABLE = "unavailable"
    INTERRUPTED = "interrupted"


TRANSIENT_KINDS = {
    ErrorKind.THROTTLED,
    ErrorKind.BUSY,
    ErrorKind.TIMEOUT,
    ErrorKind.UNAVAILABLE,
    ErrorKind.INTERRUPTED,
}

CODES_OF_KIND = {
    # 7000 and 7003, "could not route", are the response to a wrong account id; 7002 and 7063 to a wrong name
    # of an instance of AI Search, or of its namespace.
    ErrorKind.AUTH: "2009 7000 7003 7012 7071 7077 9109 10000",
    ErrorKind.NOT_PERMITTED: "3023 3041 5005 5016 5018 5035",
    ErrorKind.UNKNOWN_MODEL: "3042 5007 5028 7002 7063",
    ErrorKind.TOO_LONG: "3006 3010 5021 7079",
    ErrorKind.QUOTA: "3036 4006",
    ErrorKind.THROTTLED: "2003 3021",
    ErrorKind.BUSY: "3040",
    ErrorKind.TIMEOUT: "3007 3008 3046 7030 7031",
    ErrorKind.BLOCKED: "2016 2017 2029 2030 3030",
    ErrorKind.CREDITS: "2021 7069",
    ErrorKind.INVALID: "2001 2040 3003 3039 5004 5006 5012 5019 5023 5025 7010 7018 7019 7038 8001 8006",
    ErrorKind.UNAVAILABLE: "2005 7009 7013 7017",
}
KIND_OF_CODE = {code: kind for kind, codes in CODES_OF_KIND.items() for code in codes.split()}

# What servers write as `code`, `type`, `status` or `reason`, compared without case and punctuation.
WORDS_OF_KIND = {
    ErrorKind.TOO_LONG: "context_length_exceeded context_window_exceeded model_context_window_exceeded"
    " exceed_context_size_error context_limit_exceeded prompt_too_long input_too_long request_too_large"
    " tokens_limit_reached model_max_prompt_tokens_exceeded max_tokens_exceeded"
    " context_overflow",
    ErrorKind.CREDITS: "insufficient_quota insufficient_balance insufficient_credits insufficient_credit"
    " insufficient_funds insufficient_user_quota billing_hard_limit_reached billing_not_active billing_error"
    " payment_required exceeded_current_quota_error quota_exceeded usage_limit_reached budget_exceeded"
    " spend_limit_exceeded arrearage credits_exhausted"
    " not_enough_balance set_limit_exceeded account_overdue_error",
    ErrorKind.THROTTLED: "rate_limit_exceeded rate_limit_error rate_limit rate_limited rate_limit_reached"
    " rate_limit_reached_error too_many_requests requests tokens resource_exhausted throttling"
    " throttling_exception throttling_error throttling.rate_quota throttling.burst_rate"
    " throttling.allocation_quota limit_requests limit_burst_rate tokens_usage_based"
    " token_quota_exceeded request_quota_exceeded too_many_tokens_error",
    ErrorKind.BUSY: "overloaded_error overloaded server_overloaded model_overloaded engine_overloaded"
    " engine_overloaded_error capacity_exceeded capacity_not_available model_not_ready_exception server_busy"
    " service_tier_capacity_exceeded no_capacity model_loading slow_down",
    ErrorKind.TIMEOUT: "timeout timeout_error request_timeout gateway_timeout deadline_exceeded"
    " model_timeout_exception",
    ErrorKind.BLOCKED: "content_filter content_filter_error content_policy_violation content_filtered"
    " responsible_ai_policy_violation moderation_blocked content_moderation data_inspection_failed"
    " prohibited_content safety_violation guardrail_violation",
    ErrorKind.AUTH: "invalid_api_key authentication_error invalid_authentication_error unauthenticated"
    " unauthorized api_key_invalid invalid_token access_token_expired auth_error"
    " unrecognized_client_exception",
    ErrorKind.NOT_PERMITTED: "permission_error permission_denied insufficient_permissions"
    " model_not_permitted access_denied access_denied_exception model_access_denied forbidden"
    " unsupported_country_region_territory organization_restricted model_permission_blocked_org",
    ErrorKind.UNKNOWN_MODEL: "model_not_found model_not_exist model_not_found_error deployment_not_found"
    " model_decommissioned model_deprecated resource_not_found_exception invalid_model unknown_model"
    " not_found_error model_not_supported",
    # Of TGI and Bedrock, with 424
    ErrorKind.UNAVAILABLE: "generation incomplete_generation model_error_exception",
}
# Words that name no more than a class of errors; they count where neither a text nor a status says more.
VAGUE_WORDS_OF_KIND = {
    ErrorKind.INVALID: "invalid_request_error bad_request bad_request_error invalid_argument validation"
    " validation_exception validation_error unprocessable_entity invalid_parameter invalid_parameter_error"
    " tool_use_failed json_validate_failed unsupported_parameter unsupported_value string_above_max_length"
    " unknown_parameter missing_required_parameter invalid_value invalid_type invalid_image",
}


def _normal(word: str) -> str:
    """Return the word in lower case without punctuation, of `namespace#Name` the name."""
    return re.sub(r"[^a-z0-9]", "", word.rpartition("#")[2].lower())


def _by_word(table: dict[ErrorKind, str]) -> dict[str, ErrorKind]:
    return {_normal(word): kind for kind, words in table.items() for word in words.split()}


KIND_OF_WORD = _by_word(WORDS_OF_KIND)
KIND_OF_VAGUE_WORD = _by_word(VAGUE_WORDS_OF_KIND)

# Sentences of servers that have no code for it, or an ambiguous one: 3030 stands both for a safety filter and
# for an exceeded context window, 2021 for a rate limit as well as a lack of credit. The first match decides.
TEXTS_OF_KIND = {
    ErrorKind.QUOTA: (r"\A.{0,270}?daily free allocation",),  # not where a long request is quoted
    ErrorKind.TOO_LONG: (
        r"max(?:imum)? context|context[ _-]?(?:length|window|size|limit|shift)|configured context",
        r"max_new_tokens`? must be|max_seq_len|range of input length",
        r"(?:prompt|input|request|messages?|sequence|conversation)(?: \([^)]{1,60}\))? (?:is |are )?too"
        r" (?:long|large)|expected maxLength|longer than the (?:maximum )?model|prompt has [\d,]+ tokens",
        r"messages\[\d+\]\.content\W{0,5}string too long|shorten your (?:prompt|input|message)",
        r"\btokens?\b(?! per).{0,60}? exceeds? (?:the )?(?:max|context|model)",
        r"supports at most [\d,]+ (?!completion|output)(?:\w+ )?tokens",
        r"\btokens?\b.{0,60}? only supports up to",
        r"(?:input|prompt) length [\d,]+ exceeds",
        r"max(?:imum)? (?:prompt|input|allowed input|number of (?:input )?tokens(?! per)|sequence)",
        r"input tokens? (?:count )?.{0,40}exceeds?|tokens in request more|prompt exceeds max|超长|过长",
        r"exceeds? the (?:\w+ )?limit of [\d,]{4,}\b(?! *(?:requests|calls|tokens per))",
        r"too many (?:input )?tokens(?! per|, please wait| processed)",
        r"reduce the length of|reduce your prompt",
        r"less than [\d,]+ tokens|token limit exceeded|exceeded model token|current length is",
        r"too large for model",
    ),
    ErrorKind.THROTTLED: (
        r"rate.?limit|too many requests|too many tokens|please slow down|速率限制|并发数|请求过多",
        r"(?:tokens|requests|images) per (?:second|min|hour|day)",
    ),
    ErrorKind.CREDITS: (
        r"exceeded your (?:current )?quota|credit balance|(?:more|out of|no|enough|any) credits(?! were)",
        r"insufficient.{0,20}(?:balance|credit|funds|quota)|spend(?:ing)? (?:limit|cap)|payment required",
        r"余额不足|balance is (?:insufficient|too low|not enough)|not enough balance",
        r"overdue (?:balance|payment|bill)",
        r"(?:key|usage|credit|monthly|budget) limits? (?:exceeded|reached)",
        r"reached your .{0,40}(?:usage|spend) limit",
        r"quota (?:is not enough|exhausted|used up|has been)|no quota left|free tier .{0,40}exhausted|额度",
        r"budget has been exceeded|in arrears|account is not active|billing (?:hard )?limit",
    ),
    ErrorKind.AUTH: (
        r"(?:invalid|incorrect|missing|expired) api.?key|api.?key (?:not valid|is invalid|expired)",
        r"login fail|no auth credentials|security token included",
    ),
    ErrorKind.NOT_PERMITTED: (r"location is not supported|country, region,? or territory",),
    ErrorKind.UNKNOWN_MODEL: (
        r"(?<!for this )\bmodels?\b.{0,200}?(?:deprecated|decommissioned|not found)",
        r"\bmodels?\b.{0,200}?(?:does not|doesn't) exist",
        r"model not exist|model identifier is invalid|模型不存在",
        r"not a valid model|no such model|(?:unknown|invalid) model\b(?! [pi])|no endpoints found for",
        r"\bmodel\W+\S{1,200} (?:is not (?:supported|available)|has been removed)",
    ),
    ErrorKind.BLOCKED: (
        r"content.?(?:management|filter|polic|moderation)|flagged (?:as|by|for)|prohibited.?content",
        r"blocked by .{0,40}(?:safety|policy|filter|guardrail)|guardrails? (?:violation|intervened)",
        r"content exists risk|usage (?:guidelines|polic)|new_sensitive",
        r"sensitive (?:content|information|words?)",
        r"敏感|不安全",
        r"inappropriate content|safety (?:system|filter|settings)|data loss prevention|\bDLP\b",
    ),
    ErrorKind.BUSY: (
        r"overloaded|(?:over|at|no|maximum) capacity|capacity (?:temporarily )?(?:exceeded|reached)",
        r"is (?:currently |too )?busy|server busy|not ready yet|high (?:demand|load|traffic)|queue is full",
        r"currently loading",
        r"no (?:available|healthy) (?:worker|upstream|replica|server)s?",
    ),
    ErrorKind.INVALID: (r"\Ainvalid param|max_(?:completion_)?tokens is too large",),
}  # fmt: skip
TEXT_PATTERNS = {kind: re.compile("|".join(texts), re.I | re.S) for kind, texts in TEXTS_OF_KIND.items()}
# What a text may say of an error with one of Cloudflare's own codes, or with a status that blames the server.
KINDS_DESPITE_A_CODE = (ErrorKind.QUOTA, ErrorKind.TOO_LONG)
KINDS_OF_BROKEN_SERVERS = (ErrorKind.TOO_LONG, ErrorKind.THROTTLED, ErrorKind.BUSY)
AMBIGUOUS_CODES = {"2021"}

KIND_OF_STATUS = {
    400: ErrorKind.INVALID,
    401: ErrorKind.AUTH,
    402: ErrorKind.CREDITS,
    403: ErrorKind.NOT_PERMITTED,
    404: ErrorKind.UNKNOWN_MODEL,
    405: ErrorKind.INVALID,
    408: ErrorKind.TIMEOUT,
    409: ErrorKind.BUSY,
    410: ErrorKind.UNKNOWN_MODEL,
    413: ErrorKind.TOO_LONG,
    422: ErrorKind.INVALID,
    424: ErrorKind.BLOCKED,
    425: ErrorKind.BUSY,
    429: ErrorKind.THROTTLED,
    451: ErrorKind.BLOCKED,
    498: ErrorKind.BUSY,  # Groq's flex tier
    499: ErrorKind.UNAVAILABLE,
    504: ErrorKind.TIMEOUT,
    524: ErrorKind.TIMEOUT,
    529: ErrorKind.BUSY,  # Anthropic
}
# Statuses that decide before words: a request that is too large for a limit per minute never fits into it.
DECISIVE_STATUSES = {413}
REQUEST_STATUSES = {400, 422}
NEVER_FITS = re.compile(r"request too large for .{1,200}tokens per min|must be reduced in order to run", re.I)
MAX_SEARCHED_CHARS = 2_000
# OpenAI's codes for what is wrong with a field of a request. They decide, because the text quotes the field.
FIELD_WORDS = {
    "invalid_type", "invalid_value", "unsupported_parameter", "unsupported_value", "unknown_parameter",
    "missing_required_parameter", "invalid_image_url", "invalid_image_format", "invalid_function_parameters",
    "tool_use_failed", "json_validate_failed", "string_above_max_length", "array_above_max_length",
}  # fmt: skip
# Those that may say of the prompt that it is too long.
SIZE_WORDS = {"invalid_value", "invalid_type", "string_above_max_length", "array_above_max_length"}
SIZED_PARAM = re.compile(r"(?:messages|prompt|input)\b")
QUOTATION = re.compile(r"""(?<!\w)(?:'[^']{1,200}'|"[^"]{1,200}"|`[^`]{1,200}`|“[^”]{1,200}”)(?!\w)""")
# A place in the tools that the request defines, and names like those that clients give.
NAMES = re.compile(
    r"\S{0,200}\b(?:tools|toolConfig|functions|properties)[.\[]\S{0,200}"
    r"|\w{0,64}(?:rate_limit|content_filter)\w{0,64}",
    re.I,
)
REPLY_LIMIT = re.compile(r"maximum tokens you requested exceeds the model limit", re.I)  # Bedrock's
NAMES_OF_LIMITS = re.compile(r"max_\w*tokens|inputs?|prompt|messages")


def kind_of(code: str, words: list[str], text: str, status: int | None, param: str = "") -> ErrorKind:
    """Return the kind of an error with Cloudflare's `code`, if it has one, and all its words and texts.

    `param`: the field of the request that it blames.
    """
    if status in REQUEST_STATUSES and _blames_field(words, param):
        return ErrorKind.INVALID
    names = [_normal(word) for word in words]
    named = next((KIND_OF_WORD[name] for name in names if name in KIND_OF_WORD), None)
    if status in DECISIVE_STATUSES or NEVER_FITS.search(text[:MAX_SEARCHED_CHARS]):
        return KIND_OF_CODE.get(code, ErrorKind.TOO_LONG)
    if named and code not in KIND_OF_CODE:
        return named
    text = text[:MAX_SEARCHED_CHARS]
    if status in REQUEST_STATUSES:  # what stands in quotes may be the request's
        if REPLY_LIMIT.search(text):
            return ErrorKind.INVALID
        text = QUOTATION.sub(lambda found: found[0] if NAMES_OF_LIMITS.search(found[0]) else "'…'", text)
        text = NAMES.sub("…", text)
    if found := _kind_of_text(text, code, status):
        return found
    if code in KIND_OF_CODE:
        return KIND_OF_CODE[code]
    if status is None:
        vague = (KIND_OF_VAGUE_WORD[name] for name in names if name in KIND_OF_VAGUE_WORD)
        return next(vague, ErrorKind.UNAVAILABLE)
    return KIND_OF_STATUS.get(status, ErrorKind.INVALID if 400 <= status < 500 else ErrorKind.UNAVAILABLE)


def _blames_field(words: list[str], param: str) -> bool:
    found = FIELD_WORDS.intersection(words)
    return bool(found) and (bool(found - SIZE_WORDS) or (bool(param) and not SIZED_PARAM.match(param)))


def _kind_of_text(text: str, code: str, status: int | None) -> ErrorKind | None:
    kinds: Iterable[ErrorKind] = TEXT_PATTERNS
    if code in KIND_OF_CODE and code not in AMBIGUOUS_CODES:
        kinds = KINDS_DESPITE_A_CODE
    elif status is not None and status >= 500 and code not in AMBIGUOUS_CODES:
        kinds = KINDS_OF_BROKEN_SERVERS
    return next((kind for kind in kinds if TEXT_PATTERNS[kind].search(text)), None)
