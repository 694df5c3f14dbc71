"""Calls that nobody in their right mind would send: right ones, of which a few places were changed at random.

A call is made from a seed and its number alone, so that one which broke something can be made again.
"""

import copy
import json
import random
import re
import uuid
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tests.api.client import MODEL
from tests.support.people import PASSWORD

ACCOUNT = "/client/v4/accounts/any/ai"
WEATHER = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}
CALLED = {"id": "1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
CHAT = {
    "model": MODEL,
    "messages": [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": [{"type": "text", "text": "How is it?"}]},
        {"role": "assistant", "content": None, "tool_calls": [CALLED], "reasoning_content": "Well."},
        {"role": "tool", "tool_call_id": "1", "content": "sunny", "name": "weather"},
        {"role": "user", "content": "fake: words tokens=2 delay=0"},
    ],
    "stream": False,
    "stream_options": {"include_usage": True},
    "max_tokens": 9,
    "max_completion_tokens": 9,
    "n": 1,
    "temperature": 0.5,
    "top_p": 1,
    "top_k": 5,
    "seed": 7,
    "frequency_penalty": 0,
    "presence_penalty": 0,
    "repetition_penalty": 1,
    "stop": ["end"],
    "response_format": {"type": "text"},
    "reasoning_effort": "low",
    "chat_template_kwargs": {"enable_thinking": False},
    "logit_bias": {"1": 2},
    "logprobs": False,
    "top_logprobs": 0,
    "tools": [WEATHER],
    "tool_choice": "auto",
    "parallel_tool_calls": True,
    "functions": None,
    "function_call": None,
    "lora": None,
    "gateway": None,
    "user": "u",
    "metadata": {"a": "b"},
}
PROMPT = {"prompt": "fake: words tokens=2 delay=0", "raw": False, "max_tokens": 5, "stream": False}
SETTINGS = {"model": MODEL, "system": "Be kind.", "parameters": {"temperature": 1, "seed": 7, "top_p": 1}}
QUESTION = {"content": "fake: words tokens=2 delay=0", "client_key": None, **SETTINGS}
KEY = {"name": "a program", "run": True, "list": True, "days": "90", "keep": "usage", "password": PASSWORD}


class Template(NamedTuple):
    """A right call. In a path, `{id}` is a UUID, of something that is there or is not."""

    method: str
    path: str
    body: Any = None


API = [
    Template("POST", "/v1/chat/completions", CHAT),
    Template("POST", f"{ACCOUNT}/v1/chat/completions", CHAT),
    Template("POST", f"{ACCOUNT}/run/{MODEL}", PROMPT),
    Template("POST", f"{ACCOUNT}/run/{MODEL}", {key: CHAT[key] for key in CHAT if key != "model"}),
    Template("POST", f"{ACCOUNT}/run", {"model": MODEL, "input": PROMPT}),
    Template("GET", f"{ACCOUNT}/models/search?search=glm&page=1&per_page=5&task=Text%20Generation"),
    Template("GET", f"{ACCOUNT}/models/schema?model={MODEL}"),
    Template("GET", "/v1/models"),
    Template("GET", f"/v1/models/{MODEL}"),
    Template("GET", "/v1/openapi.json"),
    Template("GET", "/client/v4/user/tokens/verify"),
    Template("POST", "/v1/embeddings", {"model": MODEL, "input": "x"}),
]
PAGES = [
    Template("POST", "/c/", QUESTION),
    Template("POST", "/c/{id}/messages/", {**QUESTION, "parent": None}),
    Template("POST", "/c/{id}/rename/", {"title": "Another"}),
    Template("POST", "/c/{id}/settings/", SETTINGS),
    Template("POST", "/messages/{id}/edit/", QUESTION),
    Template("POST", "/messages/{id}/regenerate/", {"client_key": None, "model": MODEL}),
    Template("POST", "/messages/{id}/continue/", {"client_key": None, "parameters": {"max_tokens": 9}}),
    Template("POST", "/messages/{id}/feedback/", {"thumb": "up", "reason": "Good."}),
    Template("POST", "/messages/{id}/fork/", {}),
    Template("POST", "/messages/{id}/undelete/", {}),
    Template("POST", "/messages/{id}/share/", {"days": "7", "name": True}),
    Template("GET", "/s/{id}/?page=2"),
    Template("POST", "/s/{id}/continue/", {}),
    Template("GET", "/messages/{id}/actions/"),
    Template(
        "POST",
        "/conversations/",
        {"action": "tag", "conversations": ["0" * 32], "tag": "red", "page": "list"},
    ),
    Template("GET", "/conversations/trash/?tag=red&before={id}&done=purge&number=3"),
    Template("POST", "/settings/", {"theme": "dark"}),
    Template("POST", "/settings/keys/", KEY),
    Template("GET", "/c/{id}/?before={id}"),
    Template("GET", "/conversations/?before={id}"),
    Template("GET", "/models/?conversation={id}"),
    Template("GET", f"/models/parameters/?model={MODEL}&conversation={{id}}"),
    Template("GET", "/runs/{id}/stream/?after=3"),
]


@dataclass
class Call:
    """`body` as bytes; `headers` beside the label and the key."""

    method: str
    path: str
    body: bytes = b""
    content_type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)


class Raw(str):
    """Stands in a body as it is written."""


def _nested(opening: str, closing: str) -> Raw:
    return Raw(opening * 3_000 + closing * 3_000)


VALUES: list[Any] = [
    *(None, True, False, 0, 1, -1, 2, 1.5, -0.0, 1e300, 5e-324, 2**31, 2**63, -(2**63) - 1, 10**30),
    *(Raw("1" * digits) for digits in (20, 308, 309, 310, 400, 4_299, 4_300, 4_301, 20_000)),
    *(Raw("-" + "9" * digits) for digits in (19, 309, 4_300, 4_301)),
    *(Raw(word) for word in ("1e400", "-1e400", "1e309", "NaN", "Infinity", "-Infinity", "1E+99999", "01")),
    *(Raw(word) for word in ('"\\ud800"', '"\\udc00x"', '"\\ud83d\\ud83d"', '"\\ud83d\\ude00"', '"\\u0000"')),
    *("", " ", "x", "\x00", "\n", "\x7f", "\u2028", "é", "😀", "x" * 300, "any", "auto", "json_schema", "\\"),
    *(
        MODEL,
        "local/smollm2-135m",
        "../../zones",
        "@cf/x?y=",
        "1",
        "true",
        "[]",
        "-1",
        "١",
        str(uuid.UUID(int=0)),
    ),
    *([], {}, [None], [[]], [{}], {"": ""}, {"a": None}, [1, "x", None], ["x"] * 200, {"type": "x"}),
    *({"role": "user"}, {"role": "tool", "content": "x"}, {"type": "function", "function": "x"}),
    *({"function": None}, {"function": []}, {"type": "function", "function": {"name": 7, "arguments": []}}),
    *(_nested("[", "]"), Raw('{"a":' * 3_000 + "1" + "}" * 3_000), Raw("[" * 64 + "]" * 64)),
]
BODIES = [
    *(
        b"",
        b"{",
        b"}",
        b"null",
        b"[]",
        b'""',
        b"\xff",
        b"\xff\xfe{\x00}\x00",
        b"\xef\xbb\xbf{}",
        b"{}x",
        b"0",
    ),
    *('{"model":"x"}'.encode(coding) for coding in ("utf-16", "utf-32", "utf-16-le")),
    *(b'{"model": "\xed\xa0\x80"}', b'{"\xff": 1}', b'{"a":1,"a":2}', b"[" * 100_000, b"9" * 5_000, b"\x00"),
    *(b"a=b", b"messages[]=1", b"--x\r\n\r\n--x--", b"%00=%ff"),
]
TYPES = [
    *("application/json", "text/event-stream", "application/x-www-form-urlencoded", "text/plain", "", "x/y"),
    *("multipart/form-data; boundary=x", "multipart/form-data", "application/json; charset=utf-16"),
    *("application/json; charset=nothing", "application/x-www-form-urlencoded; charset=nothing"),
]
HEADERS = {
    "Accept": ("text/html", "application/json", "text/event-stream", "*/*", "\x00", "q=;"),
    "Accept-Language": ("de", "x" * 900, "*;q=nan"),
    "Last-Event-ID": ("1", "-1", "9" * 5_000, "1.2!", "\xb2"),
    "Origin": ("https://elsewhere.example", "null", "http://[", "\xff"),
    "x-session-affinity": ("a", "\xff", "x" * 500),
    "cf-aig-skip-cache": ("true", "\x00", "maybe"),
    "cf-aig-cache-ttl": ("60", "-1", "9" * 5_000),
    "cf-aig-metadata": ("{", '{"a":1e400}', "\xff"),
    "Authorization": ("Bearer", "Bearer \xff", "Basic eDp5", "Bearer chat_wrong"),
    "Cookie": (
        'sessionid="\\000\\000\\000\\000\\000\\000\\000\\000\\000"',
        "sessionid=\xff" * 9,
        "csrftoken=\x01",
    ),
    "Host": ("elsewhere.example", "[", "a" * 300),
}
PARTS = [
    *(
        "%00",
        "%ff",
        "%ed%a0%80",
        "%0a",
        "%2e%2e",
        "..",
        "//",
        "%5c",
        "x" * 500,
        "%",
        "%zz",
        "é",
        "run/",
        "?a[]=1",
    ),
    *(
        "?page=" + "9" * 5_000,
        "?page=%D9%A1",
        "?before=%00",
        "?after=" + "9" * 41,
        "?html=%00",
        "&&==",
        ";x",
        "#",
    ),
]
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "QUERY", "get")


def call(seed: int, number: int, known: list[str]) -> Call:
    """`known` are ids of things that are there."""
    chance = random.Random(f"{seed} {number}")
    template = chance.choice(API if chance.random() < 0.6 else PAGES)
    path = re.sub(r"{id}", lambda _: chance.choice([*known, str(uuid.UUID(int=7))]), template.path)
    made = Call(template.method, path)
    if template.body is not None:
        made.body = _body(chance, template.body)
    for change, share in ((_label, 0.05), (_method, 0.04), (_path, 0.06), (_header, 0.08)):
        if chance.random() < share:
            change(chance, made)
    return made


def _body(chance: random.Random, right: Any) -> bytes:
    if chance.random() < 0.04:
        return chance.choice(BODIES)
    body = copy.deepcopy(right)
    for _ in range(chance.choice((0, 1, 1, 1, 2, 3))):
        _change(chance, body)
    written = _written(body)
    return (
        _damaged(chance, written.encode("utf-8", "surrogatepass"))
        if chance.random() < 0.04
        else written.encode()
    )


def _change(chance: random.Random, body: Any) -> None:
    """Something at some place of it is another, is gone, or stands there under a strange name."""
    holder, name = chance.choice(_places(body))
    if chance.random() < 0.1 and isinstance(holder, dict):
        holder[chance.choice(("", "\x00", "x" * 200, "é", "__proto__", "functions"))] = copy.deepcopy(
            chance.choice(VALUES)
        )
    elif chance.random() < 0.1:
        del holder[name]
    else:
        holder[name] = copy.deepcopy(chance.choice(VALUES))


def _places(value: Any) -> list[tuple[Any, Any]]:
    names = list(value) if isinstance(value, dict) else range(len(value))
    found = [(value, name) for name in names]
    for name in names:
        if isinstance(value[name], dict | list):
            found += _places(value[name])
    return found or [({"": 0}, "")]


def _written(value: Any) -> str:
    if isinstance(value, Raw):
        return str(value)
    if isinstance(value, dict):
        return "{" + ",".join(f"{json.dumps(name)}:{_written(each)}" for name, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_written, value)) + "]"
    return json.dumps(value)


def _damaged(chance: random.Random, body: bytes) -> bytes:
    at = chance.randrange(len(body) + 1)
    return chance.choice(
        (body[:at], body[:at] + bytes([chance.randrange(256)]) + body[at + 1 :], body + body[:at])
    )


def _label(chance: random.Random, made: Call) -> None:
    made.content_type = chance.choice(TYPES)


def _method(chance: random.Random, made: Call) -> None:
    made.method = chance.choice(METHODS)


def _path(chance: random.Random, made: Call) -> None:
    path = made.path.partition("?")[0]
    at = chance.randrange(1, len(path) + 1)
    made.path = path[:at] + chance.choice(PARTS) + chance.choice(("", path[at:]))


def _header(chance: random.Random, made: Call) -> None:
    name = chance.choice(list(HEADERS))
    made.headers[name] = chance.choice(HEADERS[name])
