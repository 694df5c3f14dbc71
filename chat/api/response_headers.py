"""Response headers with information about a call."""

from chat.engine.generation.api_calls import ActiveCall

REQUEST_ID_HEADER = "X-Request-Id"
REQUESTED_MODEL = "X-Requested-Model"
LOG_ID_HEADER, CACHE_STATUS_HEADER, STEP_HEADER = "cf-aig-log-id", "cf-aig-cache-status", "cf-aig-step"
SERVED_BY = "cf-aig-model"  # the model that a route or a fallback of the gateway chose
NEURONS_HEADER = "cf-ai-neurons"
CALL_HEADERS = (
    REQUEST_ID_HEADER,
    REQUESTED_MODEL,
    LOG_ID_HEADER,
    CACHE_STATUS_HEADER,
    STEP_HEADER,
    SERVED_BY,
    NEURONS_HEADER,
)


def call_headers(active_call: ActiveCall) -> dict[str, str]:
    """Return the headers of a call whose response has begun.

    They hold its id, the requested model if that one is retired, and the gateway's information.
    """
    log_ref = active_call.gateway_log_ref
    known = {
        REQUEST_ID_HEADER: str(active_call.call.pk),
        REQUESTED_MODEL: active_call.requested,
        LOG_ID_HEADER: log_ref.log_id,
        CACHE_STATUS_HEADER: log_ref.cache_status,
        SERVED_BY: log_ref.served_by,
        STEP_HEADER: "" if log_ref.step is None else str(log_ref.step),
    }
    return {name: value for name, value in known.items() if value}
