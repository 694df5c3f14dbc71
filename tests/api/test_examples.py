"""The examples on the page do what they say, typed as they stand there."""

import html
import io
import json
import re
import subprocess
from contextlib import redirect_stdout
from typing import Any

import pytest

from tests.api.client import Program
from tests.support.server import Server

PRE = re.compile(r'<pre [^>]*id="([\w-]+)">(.*?)</pre>', re.DOTALL)
SAID = "You said: Hello"


@pytest.fixture(scope="module")
def examples(server: Server) -> dict[str, str]:
    """Return the examples with the test server's address in place of the site's."""
    page = server.person("alice").get("/settings/api/").text
    found = {name: html.unescape(text) for name, text in PRE.findall(page)}
    site = f"http://localhost:{server.port}"
    assert all(site in text for text in found.values())
    return {name: text.replace(site, server.url) for name, text in found.items()}


@pytest.mark.parametrize("name", ["curl-openai", "curl-workers"])
def test_curl(examples: dict[str, str], alices: Program, name: str) -> None:
    told = subprocess.run(
        ["sh", "-c", examples[name].replace("curl", "curl -sN", 1)],
        env={"KEY": alices.key, "PATH": "/usr/bin:/bin"},
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    if name == "curl-openai":  # which asks for a stream
        chunks = [json.loads(data) for data in re.findall(r"^data: (\{.*)$", told, re.MULTILINE)]
        assert "".join(chunk["choices"][0]["delta"].get("content", "") for chunk in chunks) == SAID
    else:
        result = json.loads(told)["result"]  # in both shapes, of which a client reads one
        assert (result["response"], result["choices"][0]["message"]["content"]) == (SAID, SAID)


@pytest.mark.parametrize("name", ["openai", "cloudflare", "langchain"])
def test_python(examples: dict[str, str], alices: Program, name: str) -> None:
    printed = io.StringIO()
    names: dict[str, Any] = {"KEY": alices.key}
    with redirect_stdout(printed):
        exec(examples[name], names)
    assert printed.getvalue().strip() == SAID
    client: Any = names["chat"].client if name == "langchain" else names["client"]
    client.close()


def test_there_are_no_others(examples: dict[str, str]) -> None:
    assert set(examples) == {"curl-openai", "curl-workers", "openai", "cloudflare", "langchain"}
