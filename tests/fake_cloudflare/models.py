"""Cloudflare's lists of models and of finetunes, for the fake: their shape, their pages, how they fail."""

import asyncio
import json
import uuid
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.fake_cloudflare.errors import HTML, error
from tests.fake_cloudflare.http_server import Connection

Record = dict[str, Any]
BUNDLED = Path(__file__).parents[2] / "chat/upstream/catalog.json"
FLAGS = {
    "vision": "vision",
    "tools": "function_calling",
    "reasoning": "reasoning",
    "lora": "lora",
    "beta": "beta",
    "paid": "require_workers_paid",
}
PUBLIC_FINETUNES = {"cf-public-cnn-summarization", "cf-public-magicoder", "cf-public-jigsaw-classification"}
TEXT = {"type": "string"}
CHAT_SCHEMA: Record = {
    "type": "object",
    "oneOf": [
        {"title": "Prompt", "properties": {"prompt": TEXT, "stream": {}}, "required": ["prompt"]},
        {"title": "Messages", "properties": {"messages": {}, "stream": {}}, "required": ["messages"]},
    ],
}
DECISION_MODELS = ("clef", "clef-flash", "clef-omni")
DECISION_SCHEMA: Record = {
    "type": "object",
    "properties": {"model": TEXT, "state": {}, "questions": {"type": "object"}},
    "required": ["model", "state", "questions"],
}


def envelope(result: object, **more: object) -> Record:
    return {"result": result, "success": True, "errors": [], "messages": [], **more}


def record(name: str, task: str = "Text Generation", **properties: Any) -> Record:
    """Cloudflare's shape: the model's id is in `name`, and nearly every value is a string."""
    return {
        "id": str(uuid.uuid5(uuid.NAMESPACE_URL, name)),
        "source": 1,
        "name": name,
        "description": "A model.",
        "created_at": "2026-08-26 14:21:42.917",
        "tags": [],
        "task": {"id": "c329a1f9-323d-4e91-b2aa-582dd4188d34", "name": task, "description": "…"},
        "properties": [{"property_id": key, "value": value} for key, value in properties.items()],
    }


def price(read: float, written: float, cached: float | None = None) -> list[Record]:
    units = {"per M input tokens": read, "per M output tokens": written, "per M cached input tokens": cached}
    return [
        {"unit": unit, "price": value, "currency": "USD"}
        for unit, value in units.items()
        if value is not None
    ]


def finetune(name: str, base: str, key: str = "") -> Record:
    return {
        "id": key or str(uuid.uuid5(uuid.NAMESPACE_URL, name)),
        "model": base,
        "name": name,
        "description": "",
        "created_at": "2026-08-26T14:21:42.917Z",
        "modified_at": "2026-08-26T14:21:42.917Z",
    }


def known() -> list[Record]:
    """A list with the models that the site knows by itself."""
    found = []
    for model in json.loads(BUNDLED.read_text()):
        given: Record = {"context_window": str(model["window"])}
        given |= {theirs: "true" for ours, theirs in FLAGS.items() if model.get(ours)}
        if "price_in" in model:
            given["price"] = price(model["price_in"], model["price_out"], model.get("price_cached"))
        if "efforts" in model:
            given["reasoning_effort"] = {"supported_efforts": model["efforts"], "mandatory": True}
        found.append(record(model["id"], **given))
    return found


class Lists:
    """`fails` says how a list is answered instead, by the last word of its address.

    That is the code of an error, `500`, `html`, `endless`, `pages`, `hang` or `far`.
    """

    def __init__(self) -> None:
        self.models: list[Any] = known()
        self.finetunes: list[Any] = []
        self.fails: dict[str, str] = {}
        self.result: object = None  # what stands in place of the envelope
        self.most = 1_000  # records on a page, however many are asked for
        # Of models that are not asked like a chat; what is no dict is the code of an error.
        self.schemas: dict[str, Any] = {f"@cf/cloudflare/{name}": DECISION_SCHEMA for name in DECISION_MODELS}
        self.schema_calls: list[str] = []
        self.calls: list[Record] = []

    async def respond(self, connection: Connection, path: str, target: str) -> None:
        kind = path.rpartition("/")[2]
        query = {name: values[0] for name, values in parse_qs(urlsplit(target).query).items()}
        if how := self.fails.get(kind):
            await fail(connection, how, int(query.get("page", 1)))
        elif self.result is not None:
            connection.respond(200, self.result)
        elif kind == "schema":
            self._send_schema(connection, query.get("model", ""))
        elif kind == "finetunes":
            connection.respond(200, envelope(self.finetunes))
        else:
            connection.respond(200, self._page(int(query.get("page", 1)), int(query.get("per_page", 20))))

    def _send_schema(self, connection: Connection, model: str) -> None:
        self.schema_calls.append(model)
        schema = self.schemas.get(model, CHAT_SCHEMA)
        if isinstance(schema, int):
            connection.respond(*error(schema))
        else:
            connection.respond(200, envelope({"input": schema, "output": {"type": "object"}}))

    def _page(self, page: int, per_page: int) -> Record:
        size = min(per_page, self.most)
        shown = self.models[(page - 1) * size : page * size]
        counts = {"page": page, "per_page": size, "count": len(shown), "total_count": len(self.models)}
        return envelope(shown, result_info=counts | {"total_pages": -(-len(self.models) // size)})


async def fail(connection: Connection, how: str, page: int) -> None:
    if how == "html":
        connection.respond(200, HTML)
    elif how == "endless":  # one response without an end
        connection.start(200, [("Content-Type", "application/json")])
        connection.write(b'{"result": [')
        await connection.flood(b'"' + b"x" * 65_000 + b'",', 10_000)
    elif how == "pages":  # ever another page
        result = [record(f"@cf/maker/model-{page}-{number}") for number in range(100)]
        connection.respond(200, envelope(result, result_info={"page": page, "per_page": 100}))
    elif how == "hang":
        await asyncio.sleep(3_600)
    elif how == "far":  # to another place, with the token
        connection.respond(302, b"", [("Location", "/calls")])
    elif how == "500":
        connection.respond(500, HTML)
    else:
        connection.respond(*error(int(how), 403 if how == "10000" else 0))
