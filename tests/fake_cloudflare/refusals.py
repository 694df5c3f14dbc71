"""Refusals of Cloudflare before a model is called: unknown and retired models, other tasks, and every field
that breaks a model's input schema.

Sources: the model pages' schemas (`/workers-ai/models/<name>/`), the JSON mode and errors pages, and recorded
responses. The fake is as strict as the strictest of them.
"""

import base64
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.fake_cloudflare.errors import error
from tests.fake_cloudflare.models import PUBLIC_FINETUNES, Lists

Body = dict[str, Any]
Response = tuple[int, object]
DATA_URL = re.compile(r"data:(image/[a-z]+);base64,")
MAGIC = {"image/png": b"\x89PNG", "image/jpeg": b"\xff\xd8\xff", "image/webp": b"RIFF", "image/gif": b"GIF8"}
RETIRED = Path(__file__).parents[2] / "chat/upstream/retired.json"
LARGEST_BODY = 10_000_000  # bytes; Cloudflare publishes no number
BYTES_A_TOKEN = 6  # fewer tokens than any model counts: only what is far too long is refused
# Over REST these are answered, under other names: recorded in 2026.
ALIASED = {"@cf/meta/llama-3.1-8b-instruct", "@cf/moonshotai/kimi-k2.5"}
# Models of other tasks, with what their schemas require.
REQUIRED = {
    "@cf/baai/bge-m3": "text",
    "@cf/baai/bge-base-en-v1.5": "text",
    "@cf/qwen/qwen3-embedding-0.6b": "text",
    "@cf/google/embeddinggemma-300m": "text",
    "@cf/openai/whisper-large-v3-turbo": "audio",
    "@cf/cloudflare/clef": "model,state,questions",
    "@cf/cloudflare/clef-flash": "model,state,questions",
    "@cf/cloudflare/clef-omni": "model,state,questions",
}
OPENAI_SHAPED = re.compile(
    r"@cf/[^/]+/(glm-|kimi-|nemotron-3|gemma-4|qwen3\.8|deepseek-v4|gpt-oss|apertus)", re.I
)
BOTH_SCHEMAS = re.compile(r"@cf/google/gemma-4")  # takes the bare schema and OpenAI's envelope
OLDEST_MODELS = re.compile(r"@cf/[^/]+/(gemma-2b|gemma-7b|mistral-7b|llama-2|llama-3\.1-8b-instruct-fast)")
NO_JSON_SCHEMA = re.compile(
    r"@cf/[^/]+/(gemma-2b|gemma-7b|mistral-7b|llama-2|llama-guard|llama-3\.2|llama-3\.1-8b-instruct-fast)"
)
INVENTED = re.compile(r"@(cf|hf)/([a-z]|maker|somebody|fake|new|test)/")  # makers that only tests know
SCHEMA_WORDS = {"type", "properties", "items", "enum", "const", "$ref", "anyOf", "oneOf", "allOf", "$defs"}
CLASSIC_ROLES = {"system", "user", "assistant", "tool"}
OPENAI_ROLES = CLASSIC_ROLES | {"developer", "function"}
UNKNOWN_TO_CLASSIC = {"stop", "logit_bias", "reasoning_effort", "chat_template_kwargs", "parallel_tool_calls"}
EFFORTS = {"none", "minimal", "low", "medium", "high", "xhigh", "max"}

Range = tuple[type | tuple[type, ...], float, float]
NUMBER: tuple[type, ...] = (int, float)
SHARED: dict[str, Range] = {"max_tokens": (int, 1, 1e9), "top_p": (NUMBER, 0.001, 1)}
CLASSIC: dict[str, Range] = SHARED | {
    "temperature": (NUMBER, 0, 5),
    "top_k": (int, 1, 50),
    "seed": (int, 1, 9_999_999_999),
    "repetition_penalty": (NUMBER, 0, 2),
    "frequency_penalty": (NUMBER, -2, 2),
    "presence_penalty": (NUMBER, -2, 2),
}
OLDEST: dict[str, Range] = CLASSIC | {
    "top_p": (NUMBER, 0, 2),
    "frequency_penalty": (NUMBER, 0, 2),
    "presence_penalty": (NUMBER, 0, 2),
}
OPENAI: dict[str, Range] = SHARED | {
    "max_completion_tokens": (int, 1, 1e9),
    "temperature": (NUMBER, 0, 2),
    "frequency_penalty": (NUMBER, -2, 2),
    "presence_penalty": (NUMBER, -2, 2),
    "n": (int, 1, 128),
    "top_logprobs": (int, 0, 20),
}
TYPES: dict[str, type | tuple[type, ...]] = {
    "stream": bool,
    "raw": bool,
    "lora": str,
    "prompt": str,
    "tools": list,
    "response_format": dict,
    "chat_template_kwargs": dict,
    "reasoning_effort": str,
    "parallel_tool_calls": bool,
    "stop": (str, list),
}


def refusal(model: str, body: Body, lists: Lists) -> Response | None:
    """Return the response to a Workers AI call that Cloudflare would refuse; None where it would not."""
    if response := _by_model(model, lists):
        return response
    return next((response for check in CHECKS for response in check(model, body, lists)), None)


def by_other_provider(model: str, lists: Lists) -> Response | None:
    """The same of `/ai/v1`, by the model in the body: dynamic routes are for the gateway's own host."""
    if model.startswith("@"):
        return None
    if "/" not in model or model.startswith(("dynamic/", "cloudflare/")):
        return error(5007, message=f"AiError: No such model: No such model {model} or task")
    return None


def _by_model(model: str, lists: Lists) -> Response | None:
    known = {each.get("name") for each in lists.models if isinstance(each, dict)}
    if model in REQUIRED:
        message = f"AiError: AiError: Bad input: Error: required properties at '/' are '{REQUIRED[model]}'"
        return error(5006, message=message)
    if model in known or model in ALIASED or INVENTED.match(model):
        return None
    if model in {each["id"] for each in json.loads(RETIRED.read_text())}:
        return error(5028)
    return error(5007, message=f"AiError: AiError: No such model: No such model {model} or task")


def _bad(message: str) -> Response:
    return error(5006, message=f"AiError: AiError: Bad input: Error: {message}")


def _question(model: str, body: Body, lists: Lists) -> Iterator[Response]:
    """Either `prompt` or `messages`, which are not empty."""
    if ("prompt" in body) == ("messages" in body):
        yield _bad("oneOf at '/' not met: required properties at '/' are 'prompt' or 'messages'")
    messages = body.get("messages", [{"role": "user", "content": ""}])
    if not isinstance(messages, list) or not messages:
        yield _bad("Type mismatch of '/messages', 'array' not empty")
    elif not all(isinstance(each, dict) for each in messages):
        yield _bad("Type mismatch of '/messages/0', 'object' not in 'string'")


def _messages(model: str, body: Body, lists: Lists) -> Iterator[Response]:
    """Roles, and contents, which classic models want as text that is never null."""
    openai = bool(OPENAI_SHAPED.match(model))
    for number, message in enumerate(body.get("messages", ())):
        content, at = message.get("content"), f"/messages/{number}"
        if message.get("role") not in (OPENAI_ROLES if openai else CLASSIC_ROLES):
            yield _bad(f"'{at}/role' not in the enum")
        if isinstance(content, list):
            yield from _parts(model, content, at, lists)
        elif not isinstance(content, str) and not (openai and content is None):
            yield _bad(f"Type mismatch of '{at}/content', 'string' not in 'null'")
        if message.get("role") == "tool" and "/mistral" in model and not message.get("tool_call_id"):
            yield error(8001, message="AiError: Invalid input: tool_call_id")


def _parts(model: str, parts: list[Any], at: str, lists: Lists) -> Iterator[Response]:
    for part in parts:
        kind = part.get("type") if isinstance(part, dict) else None
        if kind not in ("text", "image_url"):
            yield _bad(f"Type mismatch of '{at}/content', unknown part")
        elif kind == "image_url":
            url = part.get("image_url")
            url = url.get("url") if isinstance(url, dict) else None
            if not _has(model, "vision", lists):
                yield error(8001, message="AiError: Invalid input: this model accepts text content only")
            elif not str(url).startswith("data:image/"):
                yield error(5004, message="AiError: HTTP URL will not be accepted, send a base64 data URI")
            elif not _is_picture(str(url)):
                yield error(5004)


def _is_picture(url: str) -> bool:
    """Return True if the data URL holds the first bytes of a picture of its type."""
    found = DATA_URL.match(url)
    try:
        return bool(found) and base64.b64decode(url[found.end() :], validate=True).startswith(MAGIC[found[1]])
    except (ValueError, KeyError):
        return False


def _has(model: str, wanted: str, lists: Lists) -> bool:
    return _property(model, wanted, lists) == "true" or bool(INVENTED.match(model))


def _property(model: str, name: str, lists: Lists) -> Any:
    for record in lists.models:
        if isinstance(record, dict) and record.get("name") == model:
            given = {each["property_id"]: each["value"] for each in record.get("properties", ())}
            return given.get(name)
    return None


def _types(model: str, body: Body, lists: Lists) -> Iterator[Response]:
    for name, kind in TYPES.items():
        if name in body and not isinstance(body[name], kind):
            yield _bad(f"Type mismatch of '/{name}'")
    oldest = OLDEST_MODELS.match(model)
    ranges = OPENAI if OPENAI_SHAPED.match(model) else OLDEST if oldest else CLASSIC
    for name, (kind, least, most) in ranges.items():
        value = body.get(name)
        if name not in body or (INVENTED.match(model) and name == "top_k"):
            continue
        if not isinstance(value, kind) or isinstance(value, bool):
            yield _bad(f"Type mismatch of '/{name}'")
        elif not least <= value <= most:
            yield _bad(f"'/{name}' must be from {least} to {most}")


def _unknown_fields(model: str, body: Body, lists: Lists) -> Iterator[Response]:
    """Fields that the schemas of classic models do not name; most of these models ignore them."""
    if OPENAI_SHAPED.match(model) or INVENTED.match(model):
        return
    for name in UNKNOWN_TO_CLASSIC & body.keys():
        yield _bad(f"additional property '/{name}'")


def _odd_fields(model: str, body: Body, lists: Lists) -> Iterator[Response]:
    """Yield the refusals of single makers' fields that other makers ignore."""
    if "/glm-" in model:
        for name in ("top_k", "repetition_penalty", "repeat_penalty"):
            if name in body:
                yield error(8001, message=f"AiError: Invalid input: {name} is not supported")
    effort = body.get("reasoning_effort")
    if isinstance(effort, str) and effort not in EFFORTS:
        yield error(8001, message="AiError: Invalid input: reasoning_effort")


def _lora(model: str, body: Body, lists: Lists) -> Iterator[Response]:
    wanted = body.get("lora")
    if not isinstance(wanted, str):
        return
    there = {str(each.get(key)) for each in lists.finetunes for key in ("id", "name")} | PUBLIC_FINETUNES
    if not _has(model, "lora", lists):
        yield error(5005)
    elif wanted not in there:
        yield error(3039, message=f"AiError: Finetune {wanted} does not exist")


def _tools(model: str, body: Body, lists: Lists) -> Iterator[Response]:
    choice = body.get("tool_choice")
    if choice is None and not body.get("tools"):
        return
    for tool in body.get("tools") or ():
        function = tool.get("function", tool) if isinstance(tool, dict) else {}
        if not isinstance(function, dict) or not function.get("name"):
            yield error(8001, message="AiError: Invalid input: a tool needs a name")
        elif not isinstance(function.get("description", ""), str):
            yield error(8001, message="AiError: Invalid input: description")
    if isinstance(choice, dict):
        if not isinstance(choice.get("function"), dict) or choice.get("type") != "function":
            yield error(8001, message="AiError: Invalid input: tool_choice")
        elif (body.get("max_tokens") or body.get("max_completion_tokens") or 256) < 16:
            yield error(8006)
    elif choice not in (None, "auto", "none", "required"):
        yield error(8001, message="AiError: Invalid input: tool_choice")
    if choice is not None and "/mistral" in model:
        yield error(8001, message="AiError: Invalid input: tool_choice is not supported")


def _json_mode(model: str, body: Body, lists: Lists) -> Iterator[Response]:
    """https://developers.cloudflare.com/workers-ai/features/json-mode/"""
    wanted = body.get("response_format")
    if not isinstance(wanted, dict):
        return
    kind, schema = wanted.get("type"), wanted.get("json_schema")
    openai = bool(OPENAI_SHAPED.match(model))
    if kind not in ("json_object", "json_schema") and not (openai and kind == "text"):
        yield _bad("'/response_format/type' not in the enum 'json_object,json_schema'")
    elif kind != "text" and NO_JSON_SCHEMA.match(model):
        yield error(5025)
    elif kind != "text" and body.get("stream"):
        yield error(5023)
    elif kind == "json_schema" and not isinstance(schema, dict):
        yield _bad("Type mismatch of '/response_format/json_schema'")
    elif kind == "json_schema" and _is_envelope(schema) and not BOTH_SCHEMAS.match(model):
        yield _bad("'/response_format/json_schema' is no JSON Schema: unknown keyword 'schema'")


def _is_envelope(schema: object) -> bool:
    return isinstance(schema, dict) and "schema" in schema and not SCHEMA_WORDS & schema.keys()


def _window(model: str, body: Body, lists: Lists) -> Iterator[Response]:
    """Refuse prompts far beyond the declared window only: each model counts in its own way."""
    window = int(_property(model, "context_window", lists) or 0)
    wanted = body.get("max_completion_tokens") or body.get("max_tokens") or 256
    messages = [_without_pictures(message) for message in body.get("messages") or ()]
    sent = json.dumps(messages or body.get("prompt")) + json.dumps(body.get("tools") or "")
    prompt_tokens = len(sent) // BYTES_A_TOKEN
    if not window or prompt_tokens + wanted <= window:
        return
    if OPENAI_SHAPED.match(model):
        message = f"Requested token count exceeds the model's maximum context length of {window} tokens."
        yield error(
            3030,
            message=f"AiError: AiError: {message} You requested a total of {prompt_tokens + wanted} tokens",
        )
        return
    message = "AiError: Ai: The estimated number of input and maximum output tokens"
    yield error(
        5021,
        message=f"{message} ({prompt_tokens + wanted}) exceeded this model context window limit ({window}).",
    )


def _without_pictures(message: Body) -> Body:
    content = message.get("content")
    if not isinstance(content, list):
        return message
    return message | {"content": [part for part in content if "text" in part]}


CHECKS: tuple[Callable[[str, Body, Lists], Iterator[Response]], ...] = (
    _question,
    _types,
    _messages,
    _unknown_fields,
    _odd_fields,
    _lora,
    _tools,
    _json_mode,
    _window,
)
