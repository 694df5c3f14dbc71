"""The fake refuses what Cloudflare refuses: else a test is green where a real account is not."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from tests.fake_cloudflare.ai_search import NO_PERMISSION
from tests.fake_cloudflare.embeddings import MODELS as EMBEDDING_MODELS
from tests.fake_cloudflare.models import finetune
from tests.fake_cloudflare.server import NO_GATEWAY, NO_ROUTE, WorkersAI, running

GLM, GEMMA = "@cf/zai-org/glm-4.7-flash", "@cf/google/gemma-4-26b-a4b-it"
LLAMA = "@cf/meta/llama-3.3-70b-instruct-fp8-fast"
SCOUT, LORA = "@cf/meta/llama-4-scout-17b-16e-instruct", "@cf/google/gemma-2b-it-lora"
MISTRAL = "@cf/mistralai/mistral-small-3.1-24b-instruct"
ASKED = [{"role": "user", "content": "fake: words tokens=1 delay=0"}]
SCHEMA = {"type": "object", "properties": {}}
ENVELOPE = {"name": "x", "schema": SCHEMA, "strict": True}
PNG = "data:image/png;base64,iVBORw0KGgoA"
TOKEN = {"Authorization": "Bearer fake-token"}
TOOL = {"type": "function", "function": {"name": "weather", "parameters": {}}}


def image(url: str) -> list[dict[str, Any]]:
    parts = [{"type": "text", "text": "What is this?"}, {"type": "image_url", "image_url": {"url": url}}]
    return [{"role": "user", "content": parts}]


def json_as(schema: object, kind: str = "json_schema") -> dict[str, Any]:
    return {"response_format": {"type": kind, "json_schema": schema}}


@pytest.fixture
async def fake() -> AsyncIterator[WorkersAI]:
    async with running() as server:
        yield server


@pytest.fixture
async def http(fake: WorkersAI) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=fake.url, headers=TOKEN, trust_env=False) as client:
        yield client


@pytest.mark.parametrize("model", EMBEDDING_MODELS)
@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"text": ["a passage", "another"]}, 200, 0),
        ({"text": "a passage"}, 200, 0),
        ({"messages": ASKED}, 400, 5006),
        ({"text": []}, 400, 5006),
        ({"text": ["a passage", ""]}, 400, 5006),
        ({"text": ["a passage"] * 101}, 400, 5006),
        ({"text": ["x" * 40_000]}, 400, 3030),
        ({"text": ["x" * 20_000] * 20}, 400, 3030),
    ],
)
async def test_embeddings_have_their_limits(
    http: httpx.AsyncClient, model: str, body: Any, status: int, code: int
) -> None:
    response = await http.post(f"/client/v4/accounts/acc/ai/run/{model}", json=body)
    told = response.json()
    assert (response.status_code, told["errors"][0]["code"] if told["errors"] else 0) == (status, code)
    if not code:
        shape = [2 if isinstance(body["text"], list) else 1, EMBEDDING_MODELS[model]]
        assert [len(told["result"]["data"]), len(told["result"]["data"][0])] == shape


@pytest.mark.parametrize(
    ("path", "body", "status", "code"),
    [
        ("default/instances/handbook/chat/completions", {"messages": ASKED}, 200, 0),
        ("default/instances/handbook/search", {"query": "holidays"}, 200, 0),
        ("default/instances/other/chat/completions", {"messages": ASKED}, 404, 7002),
        ("other/instances/handbook/search", {"query": "holidays"}, 404, 7063),
        ("default/instances/handbook/chat/completions", {"messages": ASKED, "max_tokens": 9}, 400, 7001),
        ("default/instances/handbook/chat/completions", {"messages": [{"role": "me"}]}, 400, 7001),
        ("default/instances/handbook/chat/completions", {"messages": "hello"}, 400, 7001),
        ("default/instances/handbook/chat/completions", [], 400, 7001),
        ("default/instances/handbook/chat/completions", {"messages": []}, 400, 7038),
        ("default/instances/handbook/search", {}, 400, 7039),
    ],
)
async def test_ai_search_refuses(
    http: httpx.AsyncClient, path: str, body: object, status: int, code: int
) -> None:
    url = f"/client/v4/accounts/acc/ai-search/namespaces/{path}"
    response = await http.post(url, json=body)
    assert (response.status_code, code_of(response)) == (status, code)
    refused = await http.post(url, json=body, headers={"Authorization": f"Bearer {NO_PERMISSION}"})
    assert (refused.status_code, code_of(refused)) == (403, 10000)


async def status_and_code(http: httpx.AsyncClient, model: str, **body: Any) -> tuple[int, int]:
    """The status, and Cloudflare's code, 0 for none."""
    if "prompt" not in body:
        body = {"messages": ASKED} | body
    response = await http.post(f"/client/v4/accounts/acc/ai/run/{model}", json=body)
    return response.status_code, code_of(response)


def code_of(response: httpx.Response) -> int:
    if response.status_code == 200:
        return 0
    body = response.json()
    return body.get("internalCode") or (body.get("errors") or [{}])[0].get("code", -1)


REFUSED = [
    ("@cf/none/such", {}, 5007),
    ("@cf/meta/llama-2-7b-chat-int8", {}, 5028),
    ("@cf/google/gemma-3-12b-it", {}, 5028),
    ("@cf/baai/bge-m3", {}, 5006),
    ("@cf/cloudflare/clef", {}, 5006),
    ("@cf/openai/whisper-large-v3-turbo", {}, 5006),
    (GLM, {"prompt": "x", "messages": ASKED}, 5006),
    (GLM, {"messages": []}, 5006),
    (GLM, {"messages": ["x"]}, 5006),
    (GLM, {"messages": "x"}, 5006),
    (LLAMA, {"messages": [{"role": "assistant", "content": None}]}, 5006),
    (LLAMA, {"messages": [{"role": "developer", "content": "x"}]}, 5006),
    (GLM, {"messages": [{"role": "king", "content": "x"}]}, 5006),
    (LLAMA, {"temperature": "hot"}, 5006),
    (LLAMA, {"temperature": 5.1}, 5006),
    (GLM, {"temperature": 2.5}, 5006),
    (LLAMA, {"top_p": 0}, 5006),
    (LLAMA, {"top_k": 51}, 5006),
    (LLAMA, {"seed": 0}, 5006),
    (LLAMA, {"max_tokens": 1.5}, 5006),
    (LLAMA, {"max_tokens": True}, 5006),
    (LLAMA, {"frequency_penalty": -2.5}, 5006),
    (LORA, {"presence_penalty": -1}, 5006),
    (LLAMA, {"stream": "yes"}, 5006),
    (LLAMA, {"raw": 1}, 5006),
    (GLM, {"top_k": 5}, 8001),
    (GLM, {"repetition_penalty": 1.1}, 8001),
    (GLM, {"reasoning_effort": "loud"}, 8001),
    (LLAMA, {"lora": "mine"}, 3039),
    (GLM, {"lora": "mine"}, 5005),
    (LLAMA, {"tools": [TOOL], "tool_choice": "any"}, 8001),
    (LLAMA, {"tools": [{"name": "x", "description": False}]}, 8001),
    (MISTRAL, {"tools": [TOOL], "tool_choice": "auto"}, 8001),
    (LLAMA, {"tools": [TOOL], "max_tokens": 4,
             "tool_choice": {"type": "function", "function": {"name": "weather"}}}, 8006),
    (LLAMA, {**json_as(SCHEMA), "stream": True}, 5023),
    (SCOUT, {**json_as(None, "json_object"), "stream": True}, 5023),
    (LORA, json_as(SCHEMA), 5025),
    (LLAMA, json_as(ENVELOPE), 5006),
    (LLAMA, json_as(None), 5006),
    (LLAMA, json_as(None, "text"), 5006),
    (SCOUT, {"messages": image("https://example.org/a.png")}, 5004),
    (SCOUT, {"messages": image("data:image/png;base64,AAAA")}, 5004),
    (SCOUT, {"messages": image("data:image/png;base64,iVBORw0KGgo!")}, 5004),
    (SCOUT, {"messages": image("data:image/svg;base64,iVBORw0KGgo=")}, 5004),
    (LLAMA, {"messages": image(PNG)}, 8001),
    (LLAMA, {"max_tokens": 24_001}, 5021),
    (GLM, {"max_tokens": 131_073}, 3030),
]  # fmt: skip


@pytest.mark.parametrize(("model", "body", "code"), REFUSED)
async def test_it_refuses_with_cloudflares_code(
    http: httpx.AsyncClient, model: str, body: dict[str, Any], code: int
) -> None:
    status, error_code = await status_and_code(http, model, **body)
    assert (status >= 400, error_code) == (True, code)


TAKEN = [
    (GLM, {"stream": True}),
    (GLM, {"prompt": "fake: words tokens=1"}),
    (GLM, {"messages": [*ASKED, {"role": "assistant", "content": None}, *ASKED]}),
    (LLAMA, {"temperature": 5, "top_p": 1, "top_k": 50, "seed": 1, "repetition_penalty": 2, "stream": True}),
    (LLAMA, json_as(SCHEMA)),
    (GEMMA, json_as(SCHEMA)),
    (GEMMA, json_as(ENVELOPE)),
    (SCOUT, {"messages": image(PNG)}),
    (SCOUT, {"messages": image(PNG + "AAAA" * 800_000)}),
    (LLAMA, {"lora": "cf-public-magicoder"}),
    (LLAMA, {"tools": [TOOL], "tool_choice": "required"}),
    ("@cf/meta/llama-3.1-8b-instruct", {}),
]


@pytest.mark.parametrize(("model", "body"), TAKEN)
async def test_it_takes_what_cloudflare_takes(
    http: httpx.AsyncClient, model: str, body: dict[str, Any]
) -> None:
    assert await status_and_code(http, model, **body) == (200, 0)


async def test_a_finetune_is_taken_by_its_id_and_its_name(fake: WorkersAI, http: httpx.AsyncClient) -> None:
    fake.lists.finetunes = [finetune("mine", LLAMA)]
    for lora in ("mine", fake.lists.finetunes[0]["id"]):
        assert await status_and_code(http, LLAMA, lora=lora) == (200, 0)


async def test_accounts_gateways_and_bodies_that_are_not_there(http: httpx.AsyncClient) -> None:
    run, body = f"/client/v4/accounts/acc/ai/run/{GLM}", {"messages": ASKED}
    assert code_of(await http.post(run.replace("/acc/", "/other/"), json=body)) == 7003
    assert code_of(await http.post(run, json=body, headers={"Authorization": "fake-token"})) == 10000
    assert code_of(await http.post(run, json=body, headers={"cf-aig-gateway-id": NO_GATEWAY})) == 2001
    assert code_of(await http.post(run, content=b"no json")) == 3003
    assert code_of(await http.post(run, json={"prompt": "x" * 10_000_001})) == 3006
    named = "/client/v4/accounts/acc/ai/run"
    assert (await http.post(named, json={"model": GLM, "input": body})).status_code == 200
    assert code_of(await http.post(named, json={"model": GLM})) == 5006


async def test_routes_are_answered_by_the_gateways_own_host_alone(http: httpx.AsyncClient) -> None:
    rest, host = "/client/v4/accounts/acc/ai/v1/chat/completions", "/v1/acc/team/compat/chat/completions"
    token = {"cf-aig-authorization": "Bearer fake-token"}
    for model in ("dynamic/cheap", "cloudflare/auto"):
        body = {"model": model, "messages": ASKED}
        assert code_of(await http.post(rest, json=body)) == 5007
        assert code_of(await http.post(host, json=body)) == 2009, "the token goes in another header there"
        response = await http.post(host, json=body, headers=token)
        assert response.status_code == 200
        assert {"cf-aig-log-id", "cf-aig-provider"} <= response.headers.keys()
    unknown = {"model": f"dynamic/{NO_ROUTE}", "messages": ASKED}
    assert (await http.post(host, json=unknown, headers=token)).status_code == 400
    third = {"model": "openai/gpt-5", "messages": ASKED}
    assert (await http.post(rest, json=third)).json()["choices"][0]["message"]["content"] == "word1"
