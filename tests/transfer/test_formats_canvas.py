"""Documents in ChatGPT's canvas: replies show them as calls leave them, also by regular expressions."""

import io
import json
import signal
import threading
import time
import tracemalloc
from typing import Any

import pytest

from chat.transfer import child
from chat.transfer.formats import patterns as patterns_module
from chat.transfer.formats.patterns import Patterns
from chat.transfer.records import ImportedConversation, decode
from tests.transfer.turns import ASK, DONE, chatgpt, chatgpt_message, last, texts
from tests.transfer.turns import chatgpt_call as call
from tests.transfer.turns import chatgpt_result as tool


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
        (canvas("create", name="a", type="code/python", content="'```'"), "**a**\n\n````python\n'```'\n````"),
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


TEXT = "# List\n- rope (long)\n- tent\n- rope\n"


@pytest.mark.parametrize(
    ("pattern", "replacement", "multiple", "changed"),
    [
        ("rope", "lamp", False, "# List\n- lamp (long)\n- tent\n- rope\n"),
        ("rope", "lamp", True, "# List\n- lamp (long)\n- tent\n- lamp\n"),
        (".*", "New\nlist", True, "New\nlist"),
        (".*", r"C:\dir", False, r"C:\dir"),
        ("(?s).*", "New", False, "New"),
        (r"^[\s\S]*$", "New", False, "New"),
        (r"- tent.*", "- hut", False, "# List\n- rope (long)\n- hut\n- rope\n"),
        (r"- (\w+) \(long\)", r"- long \1", False, "# List\n- long rope\n- tent\n- rope\n"),
        (r"^- ", "* ", True, "# List\n* rope (long)\n* tent\n* rope\n"),
        (r"tent.*rope$", "soap", False, "# List\n- rope (long)\n- soap\n"),
        (r"(?P<a>tent)", r"\g<a>s", False, "# List\n- rope (long)\n- tents\n- rope\n"),
        ("rope (long)", "lamp", False, "# List\n- lamp\n- tent\n- rope\n"),
        (r"\Z", "- soap\n", False, TEXT + "- soap\n"),
        ("(long", "(short", False, "# List\n- rope (short)\n- tent\n- rope\n"),
        ("nowhere", "x", False, None),
        ("", "x", False, "x" + TEXT),
        ("[", "x", False, None),
    ],
)
def test_a_document_is_changed(pattern: str, replacement: str, multiple: bool, changed: str | None) -> None:
    assert Patterns().replaced(TEXT, pattern, replacement, multiple=multiple) == changed


def test_a_pattern_without_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns_module, "PATTERN_SECONDS", 0.01)
    before = signal.getsignal(signal.SIGVTALRM)
    patterns, text = Patterns(), "a" * 40
    for _ in range(40):
        assert patterns.replaced(text + "b", "(a+)+$", "x", multiple=False) is None
    assert patterns.replaced("one (a+)+$ two", "(a+)+$", "x", multiple=False) == "one x two", "as plain text"
    assert signal.getsignal(signal.SIGVTALRM) is before


def test_a_whole_file_has_one_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """Expect all of its conversations, each with its text: later ones look for it as it stands."""
    monkeypatch.setattr(patterns_module, "PATTERN_SECONDS", 0.02)
    monkeypatch.setattr(patterns_module, "FILE_SECONDS", 0.1)
    file = json.dumps([edited(f"c{number}", "(a+)+$") for number in range(40)]).encode()
    began = time.process_time()
    for _ in range(2):
        told = map(decode, b"".join(child.lines(io.BytesIO(file), 1_048_576, 0, 0)).splitlines())
        assert sum(isinstance(each, ImportedConversation) for each in told) == 40
    assert time.process_time() - began < 2
    quick = json.dumps([edited("c", "a.b")]).encode()
    assert b"aaasoap" in b"".join(child.lines(io.BytesIO(quick), 1_048_576, 0, 0)), "with a budget of its own"


def edited(key: str, pattern: str) -> Any:
    """A conversation with a document and twenty changes of it."""
    text = {"name": "D", "type": "document", "content": "a" * 40 + " b"}
    change = {"updates": [{"pattern": pattern, "replacement": "soap"}] * 20}
    calls = [("canmore.create_textdoc", text), ("canmore.update_textdoc", change)]
    nodes = {
        str(place): {
            "parent": str(place - 1),
            "message": {
                "author": {"role": "assistant"},
                "recipient": recipient,
                "content": {"content_type": "code", "text": json.dumps(sent)},
            },
        }
        for place, (recipient, sent) in enumerate(calls)
    }
    return {"conversation_id": key, "mapping": nodes}


def test_a_finalizer_does_not_swallow_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns_module, "PATTERN_SECONDS", 0.01)
    swallowed: list[BaseException] = []

    class Text(str):
        """Run code of others in the middle of a match, as the garbage collector does."""

        def __getitem__(self, key: Any) -> str:
            end = time.process_time() + 0.05
            try:
                while time.process_time() < end:
                    pass
            except BaseException as error:
                swallowed.append(error)
            return super().__getitem__(key)

    text = Text("rope" + "a" * 40 + "b")
    assert Patterns().replaced(text, "rope|(a+)+$", "x", multiple=True) is None
    assert not swallowed


def test_outside_the_main_thread_a_pattern_is_plain_text() -> None:
    """Expect it without an error: only the main thread can be told that a pattern takes too long."""
    found: list[str | None] = []
    for pattern in ("t..t", "tent"):
        thread = threading.Thread(
            target=lambda pattern=pattern: found.append(
                Patterns().replaced(TEXT, pattern, "hut", multiple=False)
            )
        )
        thread.start()
        thread.join()
    assert found == [None, "# List\n- rope (long)\n- hut\n- rope\n"]


@pytest.mark.parametrize("replacement", ["x" * 10_000, r"\g<0>" * 10_000])
def test_a_replacement_that_would_grow_without_end_is_given_up(replacement: str) -> None:
    tracemalloc.start()
    Patterns().replaced("a" * 50_000, "a*?", replacement, multiple=True)
    Patterns().replaced("a" * 50_000, "a+", replacement, multiple=True)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 32_000_000
