"""CORS: requests that pages of API_ALLOWED_ORIGINS may send to the API, and response headers they may read.

https://fetch.spec.whatwg.org/#http-cors-protocol
"""

# These accept API keys and no cookies, so no page acts with a user's session.
API_URLS = r"^/(v1|client/v4)(/|$)"
ALLOWED_METHODS = ("GET", "HEAD", "POST", "OPTIONS")
PREFLIGHT_SECONDS = 86_400

# Cloudflare's per-call settings of an AI Gateway.
GATEWAY_HEADERS = (
    "cf-aig-allowed-models",
    "cf-aig-allowed-providers",
    "cf-aig-backoff",
    "cf-aig-byok-alias",
    "cf-aig-cache-key",
    "cf-aig-cache-ttl",
    "cf-aig-collect-log",
    "cf-aig-collect-log-payload",
    "cf-aig-custom-cost",
    "cf-aig-event-id",
    "cf-aig-gateway-id",
    "cf-aig-max-attempts",
    "cf-aig-metadata",
    "cf-aig-no-session-affinity",
    "cf-aig-no-wholesale",
    "cf-aig-request-timeout",
    "cf-aig-retry-delay",
    "cf-aig-session-id",
    "cf-aig-skip-cache",
    "cf-aig-turn-id",
    "cf-aig-zdr",
)
# Headers that SDKs add: a browser blocks a call with a single header that is not allowed.
OF_SDKS = (
    "idempotency-key",
    "openai-beta",
    "openai-organization",
    "openai-project",
    "user-agent",
    "x-requested-with",
    *(
        f"x-stainless-{name}"
        for name in (
            *("arch", "async", "custom-poll-interval", "helper-method", "lang", "os", "package-version"),
            *("poll-helper", "read-timeout", "retry-count", "runtime", "runtime-version", "timeout"),
        )
    ),
)
REQUEST_HEADERS = (
    *("accept", "authorization", "cache-control", "content-type", "last-event-id", "x-session-affinity"),
    *GATEWAY_HEADERS,
    *OF_SDKS,
)
RESPONSE_HEADERS = (
    *("Retry-After", "X-Request-Id", "X-Requested-Model", "x-should-retry"),
    *(
        "cf-ai-neurons",
        "cf-aig-cache-status",
        "cf-aig-event-id",
        "cf-aig-log-id",
        "cf-aig-model",
        "cf-aig-step",
    ),
)
