"""Frames as Cloudflare sends them, for the fake: the current shape, the old native one, and OpenAI's own."""

import json
import re
from collections.abc import Iterable, Iterator

DONE = b"data: [DONE]\n\n"
NEURONS = 0.027272727340459824  # a token
_PADDING = "abcdefghijklmnopqrstuvwxyz0123456789"
_to_json = json.JSONEncoder(separators=(",", ":")).encode
_CHUNK = (
    '{"choices":[{"delta":%s,"finish_reason":%s,"index":0,"logprobs":null,"matched_stop":null}],'
    '"created":1791402526,"id":"f962191d3d2f47418286b60056319eb5","model":"@cf/fake/model-external",'
    '"object":"chat.completion.chunk","p":"%s","usage":{"prompt_tokens":%d,"completion_tokens":%d,'
    '"total_tokens":%d,"prompt_tokens_details":{"cached_tokens":0},"neurons":%r}}'
)


def frame(value: object) -> bytes:
    return b"data: %b\n\n" % (value if isinstance(value, str) else _to_json(value)).encode()


def tokens_of(text: str) -> list[str]:
    """A text in words, each with the white space before it."""
    return re.findall(r"\s*\S+|\s+$", text)


def numbered(count: int, word: str = "word") -> list[str]:
    return [f"{word}1", *(f" {word}{n}" for n in range(2, count + 1))][:count]


def usage(prompt: int, completion: int) -> dict[str, object]:
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": 0},
        "neurons": prompt * 0.009 + completion * NEURONS,
    }


def chunk(content: object, field: str = "content", *, n: int = 0) -> bytes:
    """One token in today's shape, with its increment of the usage and the padding that hides its length."""
    delta = _to_json({field: content} | ({"reasoning_content": None} if field == "content" else {}))
    return frame(_CHUNK % (delta, "null", _PADDING[: 5 + n % 30], 0, 1, 1, NEURONS))


def opening(prompt: int) -> bytes:
    delta = '{"content":"","reasoning_content":null,"role":"assistant"}'
    return frame(_CHUNK % (delta, "null", _PADDING, prompt, 0, prompt, prompt * 0.009))


def closing(reason: str, prompt: int, completion: int) -> Iterator[bytes]:
    """The finish reason, an empty chunk, and the one native frame with the total."""
    yield frame(_CHUNK % ('{"reasoning_content":null}', json.dumps(reason), _PADDING, 0, 0, 0, 0))
    yield frame({"choices": [], "p": "sxm6dki9", "usage": usage(0, 0)})
    yield frame({"response": "", "usage": usage(prompt, completion)})


def catalog(
    tokens: Iterable[object], prompt: int, *, reason: str = "stop", done: bool = True
) -> Iterator[bytes]:
    """A whole reply in the shape that `/ai/run` has for the models of the catalog today."""
    yield opening(prompt)
    n = 0
    for n, token in enumerate(tokens, 1):
        yield chunk(token, n=n)
    yield from closing(reason, prompt, n)
    if done:
        yield DONE


def native(tokens: Iterable[object], prompt: int, *, completion: int | None = None) -> Iterator[bytes]:
    """A whole reply in the shape of the older models, which never say why they ended."""
    n = 0
    for n, token in enumerate(tokens, 1):
        yield frame({"response": token, "tool_calls": [], "p": _PADDING[: 5 + n % 30]})
    yield frame({"tool_calls": [], "p": "abdefgh"})
    yield frame({"response": "", "usage": usage(prompt, n if completion is None else completion)})
    yield DONE


def openai(tokens: Iterable[object], prompt: int) -> Iterator[bytes]:
    """A whole reply as OpenAI's own API sends it: no padding, the total on the last chunk."""
    common = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1791402526, "model": "fake"}
    n = 0
    for token in tokens:
        n += 1
        yield frame(common | {"choices": [{"index": 0, "delta": {"content": token}, "finish_reason": None}]})
    yield frame(common | {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    yield frame(common | {"choices": [], "usage": usage(prompt, n)})
    yield DONE
