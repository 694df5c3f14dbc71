"""From an administrator's list to a reply: a real tool server, used by a real process."""

import json
import re
from typing import Any

import pytest

from tests.engine.waits import answered, until_waiting
from tests.fake_cloudflare.server import Fake
from tests.fake_cloudflare.tool_scenarios import turns_line
from tests.mcp.hosts import Host
from tests.support.databases import Database
from tests.support.people import CSRF, PASSWORD
from tests.support.server import Person, Server

LIST = "/admin/chat/mcpserver/"
NOW = {"text": "It is late."}
CALL = [["time__get_current_time", {"timezone": "Europe/Berlin"}]]
FIELD = re.compile(r'<input [^>]*?name="(tools-[^"]+)"[^>]*?value="([^"]*)"')
HTML = {"Accept": "text/html"}


def post(root: Person, path: str, url: str, **fields: str) -> None:
    """Save a server in the administration; its tools run unasked."""
    given = {"name": "time", "label": "World clock", "url": url, "headers": "", "enabled": "on"}
    form = {"csrfmiddlewaretoken": CSRF, "current": PASSWORD, **given, **fields}
    answer: Any = root.client.post(path, data=form)
    assert answer.status_code == 302, answer.text


def tools(root: Person, page: str) -> dict[str, str]:
    """The fields that allow all tools as the page shows them."""
    shown = dict(FIELD.findall(root.get(page).text))
    hidden = {name: value for name, value in shown.items() if "asks_first" not in name}
    return hidden | {f"tools-{number}-allowed": "on" for number in range(2)}


@pytest.fixture(scope="module")
def page(server: Server, times: Host) -> str:
    """The page of the time server, whose tools are allowed."""
    root = server.person("root")
    post(root, f"{LIST}add/", times.url, **{"tools-TOTAL_FORMS": "0", "tools-INITIAL_FORMS": "0"})
    found = re.findall(rf'"({LIST}\d+/change/)', root.get(LIST).text)[0]
    post(root, found, times.url, **tools(root, found))
    return str(found)


@pytest.mark.database
def test_a_model_calls_the_tool_of_a_listed_server(
    server: Server, fake: Fake, times: Host, page: str
) -> None:
    times.forget()
    alice = server.person("alice")
    start = alice.get("/", headers=HTML).text
    assert 'name="tools" value="mcp:time"' in start
    assert "Replies can use World clock" in start
    before = len(fake.calls)
    with alice.ask(turns_line({"calls": CALL}, NOW), tools=["mcp:time"]) as stream:
        stream.to_end()
    assert (stream.text, stream.steps[-1]["state"]) == ("It is late.", "done")
    assert "Europe/Berlin" in stream.steps[-1]["summary"]
    first, second = (call["body"] for call in fake.calls[before:][:2])
    assert [tool["function"]["name"] for tool in first["tools"]] == [
        "time__convert_time", "time__get_current_time",
    ]  # fmt: skip
    result = second["messages"][-1]["content"]
    told = json.loads(result.removeprefix("<result>\n").removesuffix("\n</result>"))
    assert told["timezone"] == "Europe/Berlin"
    assert len(times.calls) == 1
    shown = alice.get(f"/c/{stream.conversation}/", headers=HTML).text
    assert "Use get_current_time of World clock" in shown
    with alice.ask(turns_line({"calls": CALL}, NOW), f"/c/{stream.conversation}/messages/") as again:
        again.to_end()  # the choice stays with the conversation
    assert again.steps[-1]["state"] == "done"
    refused = alice.post("/c/", {"content": "hello", "tools": ["mcp:nothing"]})
    assert (refused.status_code, "mcp:time" in refused.text) == (400, True)


def test_a_tool_that_asks_first_shows_what_would_be_sent(
    server: Server, fake: Fake, times: Host, page: str
) -> None:
    alice, root = server.person("alice"), server.person("root")
    post(root, page, times.url, **tools(root, page), **{"tools-1-asks_first": "on"})
    times.forget()
    with alice.ask(turns_line({"calls": CALL}, NOW), tools=["mcp:time"]) as stream:
        until_waiting(stream)
        shown = alice.get(f"/c/{stream.conversation}/", headers=HTML).text
        assert "If you allow it, World clock gets this." in shown
        assert "Europe/Berlin" in shown
        assert times.seen == []
        allowed = alice.post(f"/runs/{stream.run}/steps/1/allow/", {"for": "conversation"})
        assert allowed.status_code == 202
        stream.to_end()
    assert (stream.text, len(times.calls)) == ("It is late.", 1)
    again = alice.asked(turns_line({"calls": CALL}, NOW), f"/c/{stream.conversation}/messages/")
    assert (again.text, len(times.calls)) == ("It is late.", 2)  # allowed in this chat
    with alice.ask(turns_line({"calls": CALL}, NOW), tools=["mcp:time"]) as other:
        until_waiting(other)
        post(root, page, f"{times.url}?moved", **tools(root, page), **{"tools-1-asks_first": "on"})
        answered(alice, other.run)
        other.to_end()
    assert (other.steps[-1]["summary"], len(times.calls)) == ("This tool isn’t offered any more.", 2)
    post(root, page, times.url, **tools(root, page))


@pytest.mark.parametrize("change", ["another group", "not offered"])
def test_a_kept_choice_ends_with_the_right_to_it(
    server: Server, fake: Fake, times: Host, page: str, database: Database, change: str
) -> None:
    alice, root = server.person("alice"), server.person("root")
    post(root, page, times.url, **tools(root, page))
    stream = alice.asked("hello", tools=["mcp:time"])
    group = str(database.value("SELECT id FROM auth_group"))
    fields = {"groups": group} if change == "another group" else {"enabled": ""}
    post(root, page, times.url, **fields, **tools(root, page))
    refused = alice.post("/c/", {"content": "hello", "tools": ["mcp:time"]})
    assert (refused.status_code, refused.text.count("mcp:time")) == (400, 1)  # what was sent
    assert "mcp:time" not in alice.get("/", headers=HTML).text
    again = alice.asked("and now?", f"/c/{stream.conversation}/messages/")
    assert again.text == "You said: and now?"
    assert "tools" not in fake.calls[-1]["body"]
