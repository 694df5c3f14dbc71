"""The sources of a reply: passages of AI Search, and pages of the web that a model names.

Cloudflare's AI Search gives passages to the model. They come as the event `chunks` before the text of a
stream, and as the field `chunks` of a JSON response.
https://developers.cloudflare.com/ai-search/api/search/rest-api/
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from .text import sanitize

MAX_CHUNKS = 100  # AI Search returns at most 50


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage of an indexed file or page. `key`: its path or URL. `score`: how well it fits, up to 1."""

    key: str
    text: str
    score: float


@dataclass(frozen=True, slots=True)
class Source:
    """A page that a model names as its source, in OpenAI's annotations or Perplexity's citations."""

    url: str
    title: str = ""
    text: str = ""


def add_sources(sources: dict[str, Source], values: object) -> None:
    """Add the pages in a list of annotations, citations or search results, by address."""
    for value in values if isinstance(values, list) else []:
        entry = {"url": value} if isinstance(value, str) else value
        if isinstance(entry, dict) and isinstance(entry.get("url_citation"), dict):
            entry = entry["url_citation"]
        url = entry.get("url") if isinstance(entry, dict) else None
        if isinstance(url, str) and url and (url in sources or len(sources) < MAX_CHUNKS):
            known = sources.get(url, Source(sanitize(url)))
            title = known.title or _one_line(entry.get("title"))
            text = known.text or _one_line(entry.get("content") or entry.get("snippet"))
            sources[url] = Source(known.url, title, text)


def _one_line(text: object) -> str:
    return " ".join(sanitize(text).split()) if isinstance(text, str) else ""


def valid_chunks(value: object) -> list[dict[str, Any]]:
    """Return the objects of a list of chunks as they are; [] for anything else."""
    return [each for each in value if isinstance(each, dict)][:MAX_CHUNKS] if isinstance(value, list) else []


def passages(chunks: Iterable[dict[str, Any]]) -> list[Passage]:
    """Return the passages with a key and a text: together by source, the best source first."""
    found = [each for each in map(_passage, chunks) if each]
    best: dict[str, float] = {}
    for each in found:
        best[each.key] = max(best.get(each.key, -math.inf), each.score)
    return sorted(found, key=lambda each: (-best[each.key], each.key, -each.score))


def _passage(chunk: dict[str, Any]) -> Passage | None:
    item, text, score = chunk.get("item"), chunk.get("text"), chunk.get("score")
    key = item.get("key") if isinstance(item, dict) else None
    if not (isinstance(key, str) and isinstance(text, str)):
        return None
    key, text = " ".join(sanitize(key).split()), sanitize(text).strip()
    number = float(score) if isinstance(score, int | float) and math.isfinite(score) else 0.0
    return Passage(key, text, number) if key and text else None
