"""Why a reply ended, in the words of all model servers, as the five reasons of OpenAI's chat API.

OpenAI names stop, length, tool_calls, content_filter and function_call, and typed clients reject any other.
Here a reply that the server itself calls failed ends in `error`.
"""

import re
from collections.abc import Mapping
from typing import Any

STOP, LENGTH, TOOL_CALLS, CONTENT_FILTER, ERROR = "stop", "length", "tool_calls", "content_filter", "error"

# In lower case, with underscores.
_NAMES = {
    STOP: (
        "stop stop_sequence stop_word stop_token eos eos_token end_of_text endoftext end_turn end_of_turn "
        "end complete completed finished finish done normal success pause_turn stopped_eos stopped_word "
        "eos_found stop_string_found"
    ),
    LENGTH: (
        "length max_tokens max_token max_length max_new_tokens max_output max_output_tokens incomplete limit "
        "max_completion_tokens model_length context_length context_window token_limit error_limit "
        "model_context_window_exceeded context_length_exceeded stopped_limit length_capped "
        "context_overflow max_length_reached length_limit model_length_exceeded time_limit "
        "max_predicted_tokens_reached context_length_reached"
    ),
    TOOL_CALLS: "tool_calls tool_call tool_use tools function_call function_calls function",
    CONTENT_FILTER: (
        "content_filter content_filtered safety image_safety recitation sensitive refusal blocklist language "
        "prohibited_content image_prohibited_content image_recitation spii blocked "
        "guardrail guardrails guardrails_blocked guardrail_intervened model_armor moderation error_toxic "
        "content_policy_violation policy_violation flagged content_moderation hate"
    ),
    ERROR: (
        "error abort aborted cancel canceled cancelled user_cancel insufficient_system_resource timeout "
        "network_error timeout_error overloaded server_error internal_error failed failure "
        "malformed_function_call unexpected_tool_call too_many_tool_calls missing_thought_signature "
        "malformed_response malformed_model_output malformed_tool_use model_unloaded model_error exception"
    ),
    "": "null none finish_reason_unspecified unspecified",
}
_REASONS = {name: reason for reason, names in _NAMES.items() for name in names.split()}
CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_SPELLED = re.compile(r"[a-z0-9_]{1,40}")


def reason_in(choice: Mapping[str, Any]) -> Any:
    """Return the finish reason of a choice, in whatever field it stands; None if there is none."""
    for name in ("finish_reason", "finishReason", "stop_reason"):
        if choice.get(name):
            return choice[name]
    for name, field in (("finish_details", "type"), ("delta", "finish_reason")):
        if isinstance(holder := choice.get(name), dict) and holder.get(field):
            return holder[field]
    return None


def spelled(value: object) -> str:
    """Return a server's reason in lower case with underscores; "" for none, "other" for no word at all.

    Some servers send an object with the reason in it: `{"type": "stop", "matched": 2}`; Gemini sends pairs
    such as `function_call_filter: MALFORMED_FUNCTION_CALL`.
    """
    if isinstance(value, dict):
        value = value.get("type") or value.get("reason")
    if not isinstance(value, str) or not value:
        return ""
    name = (
        CAMEL.sub("_", value.strip())
        .lower()
        .replace("-", "_")
        .replace(" ", "_")
        .removeprefix("finish_reason_")
    )
    words = [word.strip("_") for word in reversed(name.split(":"))] if ":" in name else [name]
    name = next((word for word in words if word in _REASONS), words[-1])
    return name if _SPELLED.fullmatch(name) else "other"


def finish_reason(name: str) -> str | None:
    """Return OpenAI's reason, or ERROR, for a spelled one; "" if it is none, None if it is unknown."""
    return _REASONS.get(name) if name else ""
