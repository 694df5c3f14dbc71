"""Readers for values in other chats' files. A value of an unexpected type counts as missing."""

import json
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, TypeVar
from urllib.parse import urlsplit

from chat.limits import MAX_MODEL_CHARS, MAX_TAG_CHARS, MAX_URL_CHARS
from chat.rendering.links import is_web_address
from chat.transfer.records import MAX_TAGS
from chat.wire import strict_json
from chat.wire.text import sanitize

T = TypeVar("T")

MILLISECONDS = 1e11  # a larger number of seconds would be after the year 5000
NOT_IN_LANGUAGE = re.compile(r"[^\w+#.-]")  # characters that no name of a programming language has
ENDS = re.compile(r"[\\\[\]|]")  # ends a link or a cell of a table, or would take the meaning of its escape
IN_ADDRESSES = {ord("|"): "%7C", ord("<"): "%3C", ord(">"): "%3E"}
BACKTICKS = re.compile("`{3,}")
LANGUAGES = {"react": "jsx", "code-html": "html"}
UNNAMED_ATTACHMENT = "?"  # shown for an attachment without a name
TEXT_FIELDS = (
    "text",
    "value",
    "content",
    "parts",
    "result",
    "output",
    "summary",
    "message",
    "title",
    "caption",
)
MAX_UNKNOWN_DEPTH = 6


def text(value: Any) -> str:
    """Return a string that can be stored: lone surrogates are replaced and NUL is removed."""
    return sanitize(value) if isinstance(value, str) else ""


def first(value: dict[str, Any], *fields: str) -> str:
    """Return the first of these fields that is a text, and not blank."""
    return next((found for each in fields if (found := text(value.get(each))).strip()), "")


def model(value: Any) -> str:
    return text(value)[:MAX_MODEL_CHARS]


def fields(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def objects(value: Any) -> list[dict[str, Any]]:
    return [each for each in listed(value) if isinstance(each, dict)]


def moment(value: Any) -> datetime | None:
    """Return the time written as seconds or milliseconds since 1970 or as ISO 8601; None if it is invalid."""
    try:
        if isinstance(value, str):
            found = datetime.fromisoformat(value)
            return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value / 1_000 if value > MILLISECONDS else value, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return None


def names(values: Iterable[dict[str, Any]], *fields: str) -> list[str]:
    """Return each attachment's name: the first of these fields that is not empty, or UNNAMED_ATTACHMENT."""
    return [first(each, *fields) or UNNAMED_ATTACHMENT for each in values]


def code_block(language: str, code: str) -> str:
    """Return a Markdown code block. Its fence is longer than any row of backticks in the code."""
    longest = max((len(run) for run in BACKTICKS.findall(code)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{NOT_IN_LANGUAGE.sub('', language)}\n{code}\n{fence}"


def language(media_type: str) -> str:
    """Return the language of a document of this type, such as "jsx" for "application/vnd.ant.react"."""
    name = media_type.rpartition("/")[2].rpartition(".")[2].partition("+")[0]
    return LANGUAGES.get(name, name)


def one_line(value: Any) -> str:
    return " ".join(text(value).split())


def tags(value: Any) -> list[str]:
    """Return the names of a list of tags, without those that are too long or too many here."""
    names = map(one_line, listed(value))
    return [name for name in names if 0 < len(name) <= MAX_TAG_CHARS][:MAX_TAGS]


def address(value: Any) -> str:
    """Return an http or https address; "" for anything else."""
    found = text(value).strip()
    return found if len(found) <= MAX_URL_CHARS and is_web_address(found) else ""


def link(words: str, url: Any) -> str:
    """Return a Markdown link; only its words without an address, and the host in place of missing words."""
    words, found = one_line(words), address(url)
    if not found:
        return escaped(words)
    words, found = escaped(words or urlsplit(found).netloc), found.translate(IN_ADDRESSES)
    return f"[{words}](<{found}>)" if set(found) & set("()") else f"[{words}]({found})"


def escaped(words: str) -> str:
    """Return words that end neither the link nor the cell of a table in which they stand."""
    return ENDS.sub(r"\\\g<0>", words)


def quoted(passage: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in passage.strip().splitlines())


def written(value: Any) -> str:
    """Return a value as text: a string as it is, others as JSON."""
    if value is None or isinstance(value, str):
        return text(value)
    try:
        return text(json.dumps(value, ensure_ascii=False, indent=2))
    except (ValueError, RecursionError):
        return ""


def parsed(value: Any) -> Any:
    """Return what a string of JSON holds; another value, or another string, as it is."""
    try:
        return strict_json.loads(value.encode()) if isinstance(value, str) else value
    except (strict_json.InvalidJSON, UnicodeEncodeError):
        return value


def text_in(value: Any, depth: int = MAX_UNKNOWN_DEPTH) -> str:
    """Return the text of a block of an unknown kind, where such blocks have it."""
    if isinstance(value, str):
        return text(value)
    if isinstance(value, list) and depth:
        return "\n\n".join(filter(None, (text_in(each, depth - 1) for each in value)))
    if isinstance(value, dict) and depth:
        found = (text_in(value.get(name), depth - 1) for name in TEXT_FIELDS)
        return next((each for each in found if each.strip()), "")
    return ""


def in_order(nodes: Iterable[tuple[str, str, T]]) -> list[tuple[str, str, T]]:
    """Return (key, parent's key, value) of each node, parents first. Those in a loop are the last."""
    children: dict[str, list[tuple[str, str, T]]] = {}
    every = list(nodes)
    keys = {key for key, _, _ in every}
    for node in every:
        children.setdefault(node[1] if node[1] in keys else "", []).append(node)
    found: list[tuple[str, str, T]] = []
    pending = children.pop("", [])[::-1]
    while pending:
        found.append(pending.pop())
        pending += children.pop(found[-1][0], [])[::-1]
    return [*found, *(node for several in children.values() for node in several)]
