"""Cloudflare's list of text models, and the list of an account's finetunes.

`GET /accounts/<id>/ai/models/search` and `…/ai/finetunes`. Malformed records are tolerated: unknown fields
are ignored, unusable records skipped. UpstreamError is raised if a list cannot be fetched completely.
"""

import asyncio
import logging
import re
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import date
from typing import Any, TypeGuard

from chat.upstream.catalog import CLOUDFLARE_MODEL_ID, MAX_MODEL_ID_CHARS, LlmModel, bundled, merge_bundled
from chat.upstream.parameters import LEVELS

from .cloudflare_api import Cloudflare, unusable

TEXT_GENERATION = "Text Generation"
PER_PAGE = 100
MAX_SEARCH_PAGES = 30  # a longer list is an error
MAX_FETCH_SECONDS = 30.0  # for all pages together, and for all schemas together
MAX_SCHEMAS = 60  # of models that are not bundled
MAX_CONCURRENT_SCHEMAS = 4
PROMPT_PROPERTIES = {"messages", "prompt"}
VARIANTS = ("oneOf", "anyOf", "allOf")
MAX_VARIANT_DEPTH = 6  # levels of variants within variants
MIN_WINDOW_TOKENS = 512  # a smaller number is a mistake in the list
MAX_WINDOW_TOKENS = 100_000_000
USUAL_WINDOW_TOKENS = 8_192  # for a record without one: the second smallest of today's models
MAX_FINETUNE_NAME_CHARS = 100
MAX_EFFORTS_CHARS = 100  # of the words for efforts in a record
EFFORT = re.compile(r"[a-z]{1,20}")
EFFORT_WORDS = {word: word for word in ("none", "minimal", *LEVELS)} | {"off": "none"}
UNIT = re.compile(r"per m (input|output|cached input) tokens", re.I)
FLAGS = {
    "vision": "vision",
    "function_calling": "tools",
    "reasoning": "reasoning",
    "lora": "lora",
    "beta": "beta",
    "require_workers_paid": "paid",
}
OUTPUTS = ("max_output_length", "max_output_tokens")
# The makers' spelling of words in ids; any other word is capitalised.
SPELLINGS = {"glm": "GLM", "gpt": "GPT", "oss": "OSS", "qwq": "QwQ", "deepseek": "DeepSeek", "lora": "LoRA"}
NAME_SUFFIXES = re.compile(r"-(instruct|it|chat|hf|fp8|fp16|int8|awq)(?=-|$)")

logger = logging.getLogger(__name__)


async def models(cloudflare: Cloudflare) -> list[LlmModel]:
    """Fetch all chat models, including those that are deprecated or were retired recently.

    Raises UpstreamError.
    """
    query = {"task": TEXT_GENERATION, "include_deprecated": "true", "per_page": PER_PAGE}
    found = (_model(record) for record in await _pages(cloudflare, "/ai/models/search", query))
    unique = {model.id: model for model in found if model}
    if not unique:
        raise unusable("The list of models is empty.")
    known = {model.id: model for model in bundled()}
    others = await _not_for_chat(cloudflare, [name for name in unique if name not in known])
    return [model for name, model in unique.items() if name not in others]


async def _not_for_chat(cloudflare: Cloudflare, names: list[str]) -> set[str]:
    """Return the names of the models whose input schema is not a chat's.

    A model whose schema cannot be fetched is not among them.
    """
    path = f"{cloudflare.path}/ai/models/schema"
    found: set[str] = set()
    slots = asyncio.Semaphore(MAX_CONCURRENT_SCHEMAS)

    async def look(name: str) -> None:
        async with slots:
            payload = await cloudflare.json("GET", path, seconds=MAX_FETCH_SECONDS, params={"model": name})
        result = payload.get("result") if isinstance(payload, dict) else None
        if isinstance(result, dict) and not is_for_chat(result.get("input")):
            found.add(name)

    try:
        async with asyncio.timeout(MAX_FETCH_SECONDS):
            await asyncio.gather(*map(look, names[:MAX_SCHEMAS]), return_exceptions=True)
    except TimeoutError:
        logger.warning("not all input schemas of new models could be read in time")
    return found


async def finetunes(cloudflare: Cloudflare, bases: Iterable[LlmModel]) -> list[LlmModel]:
    """Fetch the account's finetunes of these models, each as a model of its own. Raises UpstreamError."""
    known = {model.id: model for model in bases}
    records = await _pages(cloudflare, "/ai/finetunes", {})
    unique = {model.id: model for record in records if (model := _finetune(record, known))}
    return list(unique.values())


async def _pages(cloudflare: Cloudflare, path: str, query: dict[str, Any]) -> list[dict[str, Any]]:
    """Fetch the records of all pages; a list without query parameters has a single page."""
    found: list[dict[str, Any]] = []
    try:
        async with asyncio.timeout(MAX_FETCH_SECONDS):
            for page in range(1, MAX_SEARCH_PAGES + 1):
                sent = query | {"page": page} if query else {}
                payload = await cloudflare.json(
                    "GET", cloudflare.path + path, seconds=MAX_FETCH_SECONDS, params=sent
                )
                records = _records(payload)
                found += [record for record in records if isinstance(record, dict)]
                if not records or not query or _is_last(payload, page, len(records)):
                    return found
    except TimeoutError as error:
        raise unusable(type(error).__name__) from error
    raise unusable("The list does not end.")


def _records(payload: Any) -> list[Any]:
    """Return the list in `{"result": […]}`, `{"result": {"data": […]}}`, `{"data": […]}` or a bare list."""
    for name in ("result", "data"):
        if isinstance(payload, dict):
            payload = payload.get(name, payload)
    if not isinstance(payload, list):
        raise unusable("This is no list.")
    return payload


def _is_last(payload: Any, page: int, records: int) -> bool:
    """Return True for the last page: by the total of pages if given, else because it is not full."""
    info = payload.get("result_info") if isinstance(payload, dict) else None
    info = info if isinstance(info, dict) else {}
    if total := _whole(info.get("total_pages")):
        return page >= total
    return records < (_whole(info.get("per_page")) or PER_PAGE)


def _model(record: dict[str, Any]) -> LlmModel | None:
    """Build a model from a record, whose id is in `name`. None if it is not a text model.

    Property values are strings, except those of the price and the efforts.
    """
    name = record.get("name")
    if not _is_id(name) or _task(record) not in (TEXT_GENERATION, ""):
        return None
    given = dict(_properties(record))
    model = LlmModel(
        id=name,
        name=_spoken(name),
        window=_tokens(given.get("context_window")) or USUAL_WINDOW_TOKENS,
        max_output=next((found for each in OUTPUTS if (found := _tokens(given.get(each)))), None),
        retires=_day(given.get("planned_deprecation_date")),
        efforts=_efforts(given.get("reasoning_effort")),
    )
    more: dict[str, Any] = {ours: _true(given.get(theirs)) for theirs, ours in FLAGS.items()}
    more["reasoning"] = more["reasoning"] or bool(model.efforts)
    return merge_bundled(replace(model, **more | _prices(given.get("price"))))


def _finetune(record: dict[str, Any], bases: dict[str, LlmModel]) -> LlmModel | None:
    """Build a finetune with the id `<base id>+<UUID>`. None if the record is unusable.

    A UUID is safe in a URL, and "+" occurs in no base id, so the id is unambiguous.
    """
    base, name = bases.get(str(record.get("model"))), record.get("name")
    try:
        key = str(uuid.UUID(str(record.get("id"))))
    except ValueError:
        return None
    if base is None or not isinstance(name, str) or not name.strip():
        return None
    name = " ".join("".join(each if each.isprintable() else " " for each in name).split())[
        :MAX_FINETUNE_NAME_CHARS
    ]
    return replace(
        base,
        id=f"{base.id}+{key}",
        name=f"{name} ({base.name})",
        lora=False,
        base=base.id,
        finetune=key,
        adapter_name=name,
    )


def is_for_chat(schema: Any) -> bool:
    """Return True if a variant of a model's input accepts messages or a prompt and requires nothing else.

    Cloudflare's list also has decision models and others that accept neither.
    Also True for an invalid schema or one without fields, so that no model is hidden on a guess.
    """
    variants = list(_variants(schema))
    return not variants or any(
        _takes_only_a_prompt(properties, required) for properties, required in variants
    )


def _variants(schema: Any, depth: int = 0) -> Iterator[tuple[set[str], set[str]]]:
    """Yield (names of all fields, names of the required fields) of each variant."""
    if not isinstance(schema, dict) or depth > MAX_VARIANT_DEPTH:
        return
    properties, required = schema.get("properties"), schema.get("required")
    if isinstance(properties, dict) and properties:
        yield set(properties), set(map(str, required)) if isinstance(required, list) else set()
    for name in VARIANTS:
        variants = schema.get(name)
        for each in variants if isinstance(variants, list) else ():
            yield from _variants(each, depth + 1)


def _takes_only_a_prompt(properties: set[str], required: set[str]) -> bool:
    return bool(PROMPT_PROPERTIES & properties) and required <= PROMPT_PROPERTIES


def _is_id(name: Any) -> TypeGuard[str]:
    return (
        isinstance(name, str)
        and len(name) <= MAX_MODEL_ID_CHARS
        and bool(CLOUDFLARE_MODEL_ID.fullmatch(name))
    )


def _task(record: dict[str, Any]) -> str:
    task = record.get("task")
    name = task.get("name") if isinstance(task, dict) else task
    return name if isinstance(name, str) else ""


def _properties(record: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    given = record.get("properties")
    for each in given if isinstance(given, list) else ():
        if isinstance(each, dict) and isinstance(each.get("property_id"), str):
            yield each["property_id"], each.get("value")


def _spoken(id_: str) -> str:
    """Return a display name for an id: `@cf/qwen/qwen3-30b-a3b-fp8` becomes Qwen3 30B A3B."""
    words = NAME_SUFFIXES.sub("", id_.rsplit("/", 1)[1]).replace("_", "-").split("-")
    return " ".join(SPELLINGS.get(word.lower(), _capital(word)) for word in words if word)


def _capital(word: str) -> str:
    sized = re.fullmatch(r"[a-z]?[0-9.]+[bkm]", word)  # 70b, a3b
    return word.upper() if sized else word[0].upper() + word[1:]


def _true(value: Any) -> bool:
    return value is True or (isinstance(value, str) and value.strip().lower() == "true")


def _whole(value: Any) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    return int(value) if re.fullmatch(r"[0-9]{1,12}", str(value).strip()) else None


def _tokens(value: Any) -> int | None:
    number = _whole(value)
    return number if number and MIN_WINDOW_TOKENS <= number <= MAX_WINDOW_TOKENS else None


def _day(value: Any) -> date | None:
    """Parse a date such as 2026-05-30, which may be followed by a time."""
    try:
        return date.fromisoformat(value[:10]) if isinstance(value, str) else None
    except ValueError:
        return None


def _efforts(value: Any) -> tuple[str, ...]:
    """Parse an object's `supported_efforts`, or words such as "Off, Low, High, Max"."""
    levels = value.get("supported_efforts") if isinstance(value, dict) else None
    if isinstance(value, str):
        words = [each.strip().lower() for each in value[:MAX_EFFORTS_CHARS].split(",")]
        levels = [EFFORT_WORDS[word] for word in words if word in EFFORT_WORDS]
    words = [each for each in levels if isinstance(each, str)] if isinstance(levels, list) else []
    return tuple(dict.fromkeys(word for word in words if EFFORT.fullmatch(word)))


def _prices(value: Any) -> dict[str, float]:
    """Return prices in dollars per million tokens, by field name; other currencies and units are ignored."""
    columns = {"input": "price_in", "output": "price_out", "cached input": "price_cached"}
    prices: dict[str, float] = {}
    for each in value if isinstance(value, list) else ():
        if not isinstance(each, dict) or each.get("currency", "USD") != "USD":
            continue
        unit, price = UNIT.fullmatch(str(each.get("unit")).strip()), each.get("price")
        if unit and isinstance(price, int | float) and not isinstance(price, bool) and 0 <= price < 1e6:
            prices[columns[unit[1].lower()]] = float(price)
    return prices
