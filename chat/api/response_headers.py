"""Response headers with information about a call."""

from chat.engine.generation.api_calls import ActiveCall

REQUEST_ID = "X-Request-Id"
REQUESTED_MODEL = "X-Requested-Model"
LOG_ID, CACHE_STATUS, STEP = "cf-aig-log-id", "cf-aig-cache-status", "cf-aig-step"
SERVED_BY = "cf-aig-model"  # the model that a route or a fallback of the gateway chose
NEURONS = "cf-ai-neurons"
ALL = (REQUEST_ID, REQUESTED_MODEL, LOG_ID, CACHE_STATUS, STEP, SERVED_BY, NEURONS)


def call_headers(exchange: ActiveCall) -> dict[str, str]:
    """Return the headers of a call whose response has begun.

    They hold its id, the requested model if that one is retired, and the gateway's information.
    """
    passage = exchange.passage
    known = {
        REQUEST_ID: str(exchange.call.pk),
        REQUESTED_MODEL: exchange.requested,
        LOG_ID: passage.log_id,
        CACHE_STATUS: passage.cache_status,
        SERVED_BY: passage.served_by,
        STEP: "" if passage.step is None else str(passage.step),
    }
    return {name: value for name, value in known.items() if value}
