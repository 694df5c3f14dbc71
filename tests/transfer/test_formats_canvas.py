"""Documents in ChatGPT's canvas: each reply shows them as its calls leave them."""

import json
from typing import Any

import pytest

from tests.transfer.turns import chatgpt, chatgpt_message, last, texts
from tests.transfer.turns import chatgpt_call as call
from tests.transfer.turns import chatgpt_result as tool

ASK = chatgpt_message("user", "Well?")
DONE = chatgpt_message("assistant", "Done.")


def canvas(verb: str, /, **sent: Any) -> Any:
    return call(json.dumps(sent), f"canmore.{verb}_textdoc", "json")


def update(pattern: str, replacement: str, multiple: bool = False) -> Any:
    return canvas("update", updates=[{"pattern": pattern, "replacement": replacement, "multiple": multiple}])


LIST = canvas("create", name="list", type="document", content="- rope\n- tent\n- rope")


@pytest.mark.parametrize(
    ("change", "shown"),
    [
        (update("rope", "lamp"), "**list**\n\n- lamp\n- tent\n- rope"),
        (update("rope", "lamp", multiple=True), "**list**\n\n- lamp\n- tent\n- lamp"),
        (update(".*", "# All new", multiple=True), "**list**\n\n# All new"),
        (update(r"- (\w+)$", r"* \1!", multiple=True), "**list**\n\n* rope!\n* tent!\n* rope!"),
        (update("nowhere", "soap"), "soap"),
        (update("(", "soap"), "soap"),
        (canvas("update", content="# Whole", name="list"), "**list**\n\n# Whole"),
        (canvas("comment", comments=[{"pattern": "tent", "comment": "Which?"}]), "> tent\n\nWhich?"),
        (call('{"updates": [{"pat', "canmore.update_textdoc"), '{"updates": [{"pat'),
        (canvas("create", name="a.py", type="code/python", content="1"), "**a.py**\n\n```python\n1\n```"),
    ],
)
def test_a_reply_shows_the_document_as_its_call_leaves_it(change: Any, shown: str) -> None:
    found = chatgpt(ASK, LIST, chatgpt_message("user", "Change it"), change, DONE)
    assert texts(found)[1] == "**list**\n\n- rope\n- tent\n- rope"
    assert texts(found)[3] == f"{shown}\n\nDone."


def test_each_branch_has_its_own_version() -> None:
    more = {
        "b": ("m1", chatgpt_message("user", "Otherwise")),
        "c": ("b", update("tent", "hut")),
        "d": ("c", chatgpt_message("user", "Again")),
        "e": ("d", update("hut", "house")),
    }
    found = chatgpt(ASK, LIST, chatgpt_message("user", "Change it"), update("tent", "lamp"), more=more)
    written = {
        each.key: each.text.partition("\n\n")[2].split("\n")[1]
        for each in found.messages
        if each.role != "user"
    }
    assert written == {"m1": "- tent", "m3": "- lamp", "c": "- hut", "e": "- house"}


def test_an_update_is_of_the_document_that_its_result_names() -> None:
    def result(key: str) -> Any:
        return tool("Successfully updated", "canmore.update_textdoc", canvas={"textdoc_id": key})

    other = canvas("create", name="other", type="document", content="- tent")
    found = chatgpt(ASK, LIST, result("d1"), other, result("d2"), update("tent", "hut"), result("d1"), DONE)
    assert "**list**\n\n- rope\n- hut\n- rope" in last(found).text
    found = chatgpt(ASK, LIST, other, update("rope", "lamp"), DONE)
    assert "**list**\n\n- lamp" in last(found).text, "the last one that has the place"
