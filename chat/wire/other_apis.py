"""Frames of OpenAI's Responses API and Anthropic's Messages API, as those of chat completions.

Some servers and proxies send these where chunks were asked for.
https://platform.openai.com/docs/api-reference/responses-streaming
https://docs.anthropic.com/en/docs/build-with-claude/streaming
"""

from collections.abc import Iterable, Mapping
from typing import Any

_Object = dict[str, Any]
_CALLS = ("function_call", "tool_use")
_EVENTS = ("response.", "content_block_", "message_")


def as_chunk(frame: _Object, *, has_said: bool) -> _Object:
    """Return the frame as a chunk, a whole reply or an error; only its type if it is an event without these.

    A frame of neither API is returned itself. `has_said`: the reply has begun, so that the event at its end,
    which repeats all of it, brings no text.
    """
    match frame:
        case {"choices": [*_]}:
            return frame
        case {"object": "response", "output": [*_]}:
            return _response(frame, is_whole=True)
        case {"type": "response.completed" | "response.incomplete", "response": {} as response}:
            return _response(response, is_whole=not has_said)
        case {"type": "response.failed", "response": {"error": error}} if error:
            return {"error": error}
        case {"type": "error", "message": _}:
            return {"error": frame}
        case {"type": "message", "content": [*blocks]}:
            return _whole(blocks, frame.get("stop_reason"), frame.get("usage"))
        case {"type": "message_start", "message": {"usage": {"output_tokens": _, **counts}}}:
            return {"choices": [], "usage": counts}
        case {"type": "message_delta", "delta": {"stop_reason": reason}}:
            return _chunk({}, reason, frame.get("usage"))
        case {"type": str(kind)} if kind.startswith(_EVENTS):
            delta = _delta(frame)
            return _chunk(delta) if delta else {"type": kind}
    return frame


def _delta(event: Mapping[str, Any]) -> _Object:
    """Return what an event adds to the message, as OpenAI's delta; empty if that is nothing."""
    match event:
        case {"delta": {"type": "text_delta", "text": text}}:
            return {"content": text}
        case {"delta": {"type": "thinking_delta", "thinking": thought}}:
            return {"reasoning": thought}
        case {"index": index, "content_block": {"type": "tool_use"} as call}:
            return {"tool_calls": [_call({**call, "input": ""}) | {"index": index}]}
        case {"index": index, "delta": {"type": "input_json_delta", "partial_json": arguments}}:
            return {"tool_calls": [{"index": index, "function": {"arguments": arguments}}]}
        case {"type": "response.output_text.delta", "delta": str(text)}:
            return {"content": text}
        case {"type": "response.refusal.delta", "delta": str(text)}:
            return {"refusal": text}
        case {
            "type": "response.reasoning_text.delta" | "response.reasoning_summary_text.delta",
            "delta": str(text),
        }:
            return {"reasoning": text}
        case {"output_index": int(index), "type": str(kind)}:
            return _call_of_item(kind, index, event)
    return {}


def _call_of_item(kind: str, index: int, event: Mapping[str, Any]) -> _Object:
    """Return what an event of the Responses API says of a call; its end says all of it, again or first."""
    match event:
        case {"item": {"type": "function_call"} as call} if kind == "response.output_item.added":
            return {"tool_calls": [_call({**call, "arguments": ""}) | {"index": index}]}
        case (
            {"type": "response.function_call_arguments.delta", "delta": arguments}
            | {"type": "response.function_call_arguments.done", "arguments": arguments}
            | {"type": "response.output_item.done", "item": {"arguments": arguments}}
        ):
            return {"tool_calls": [{"index": index, "function": {"arguments": arguments}}]}
    return {}


def _response(response: Mapping[str, Any], *, is_whole: bool) -> _Object:
    """Return a reply of the Responses API, whole or only its end."""
    match response.get("incomplete_details"):
        case {"reason": reason}:
            pass
        case _:
            reason = response.get("status") or "stop"
    if not is_whole:
        return _chunk({}, reason, response.get("usage"))
    blocks: list[Any] = []
    output = response.get("output")
    for item in output if isinstance(output, list) else ():
        match item:
            case {"type": "message", "content": [*parts]}:
                blocks += parts
            case {}:
                blocks.append(item)
    return _whole(blocks, reason, response.get("usage"))


def _whole(blocks: Iterable[Any], reason: object, usage: object) -> _Object:
    parts = [block for block in blocks if isinstance(block, dict)]
    calls = [_call(part) for part in parts if part.get("type") in _CALLS]
    message = {"content": [part for part in parts if part.get("type") not in _CALLS], "tool_calls": calls}
    return {"choices": [{"message": message, "finish_reason": reason}], "usage": usage}


def _call(call: Mapping[str, Any]) -> _Object:
    arguments = call.get("arguments", call.get("input"))
    return {
        "id": call.get("call_id") or call.get("id"),
        "function": {"name": call.get("name"), "arguments": arguments},
    }


def _chunk(delta: _Object, reason: object = None, usage: object = None) -> _Object:
    return {"choices": [{"delta": delta, "finish_reason": reason}], "usage": usage}
