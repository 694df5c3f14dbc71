"""Values of unexpected types, one at each place of a file: they count as missing, and nothing else fails."""

import contextlib
import copy
from collections.abc import Iterator
from typing import Any

import pytest

from chat.transfer.formats import conversation_of
from chat.transfer.problems import ConversationProblem
from tests.transfer import samples, turns

ODD = (None, 1, -1.5, True, "", [], {}, [[1]], {"a": 1}, {"text": [{"text": 1}]}, "\ud800")
Place = tuple[Any, ...]


def chatgpt() -> Any:
    sent = samples.chatgpt()
    reply = sent["mapping"]["a2"]["message"]
    reply["metadata"] = {
        "content_references": [{"matched_text": "\ue200cite\ue201", "items": [{"url": "x", "title": "T"}]}],
        "citations": [
            {"start_ix": 1, "end_ix": 2, "metadata": {"title": "T", "extra": {"cited_message_idx": 1}}}
        ],
        "aggregate_result": {"messages": [{"message_type": "image", "image_url": "x"}]},
        "chatgpt_sdk": {"widget_state": '{"report_message": {"content": "R"}}'},
        "canvas": {"textdoc_id": "d"},
    }
    reply["content"]["parts"] = ["\ue200cite\ue201 \ue200entity\ue202[1, {}]\ue201 【1†x】"]
    call = sent["mapping"]["call"]["message"]
    call |= {"recipient": "canmore.update_textdoc"}
    call["content"] = {"content_type": "code", "text": '{"updates": [{"pattern": 1, "replacement": []}, 1]}'}
    return sent


def claude() -> Any:
    sent = samples.claude()
    sent["chat_messages"][1]["content"] += [
        {"type": "tool_use", "name": "artifacts", "input": {"id": "a", "content": "x", "type": "text/html"}},
        {"type": "tool_use", "name": "artifacts", "input": {"id": "a", "old_str": "x", "new_str": "y"}},
        {"type": "tool_use", "name": "create_file", "input": {"path": "a.py", "file_text": "1"}},
        {"type": "tool_use", "name": "repl", "input": {"code": "1"}},
        {"type": "tool_result", "name": "repl", "content": [{"type": "text", "text": '{"logs": [1, {}]}'}]},
        {"type": "tool_result", "name": "x", "content": [{"type": "knowledge", "url": "x", "title": "T"}]},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}},
        {"type": "text", "text": "<antArtifact>a</antArtifact>", "citations": [{"details": {"url": "x"}}]},
    ]
    return sent


def open_webui() -> Any:
    sent = samples.open_webui()
    sent["chat"]["history"]["messages"]["a1"] |= {
        "output": [
            {"type": "function_call", "name": "f", "arguments": "{}"},
            {"type": "function_call_output", "output": [{"text": "x"}], "files": [{"type": "image"}]},
            {"type": "open_webui:code_interpreter", "code": "1", "output": {"stdout": "1"}},
        ],
        "sources": [{"source": {"name": "n"}, "document": ["p"], "metadata": [{"source": "x", "page": 1}]}],
        "code_executions": [{"code": "1", "result": {"output": "1", "files": [{"name": "a", "url": "x"}]}}],
        "statusHistory": [{"urls": ["https://a.example"], "items": [{"link": "https://b.example"}]}],
        "files": [{"type": "file", "file": {"data": {"content": "x"}}, "docs": [{"content": "x"}]}],
        "merged": {"content": "x"},
        "annotation": {"rating": 1, "reason": "x"},
        "images": ["AAAA"],
    }
    return sent


def librechat() -> Any:
    sent = samples.librechat()
    reply = sent["messages"][0]["children"][0]
    reply["content"] += [
        {"type": "tool_call", "tool_call": {"name": "f", "args": {"code": "1", "lang": "py"}, "output": "1"}},
        {"type": "tool_call", "tool_call": {"code_interpreter": {"input": "1", "outputs": [{"logs": "1"}]}}},
        {"type": "tool_call", "tool_call": {"function": {"name": "f", "arguments": "{}", "output": "1"}}},
        {"type": "image_url", "image_url": {"url": "x"}},
        {"type": "text", "text": "\ue202turn0search0 :::artifact{title=x}\n:::"},
    ]
    reply["attachments"] = [{"type": "web_search", "web_search": {"turn": 0, "organic": [{"link": "x"}]}}]
    reply |= {
        "quotes": ["x"],
        "plugin": {"latest": "x", "inputs": 1},
        "files": [{"filename": "a", "text": "x"}],
    }
    return sent


def places(value: Any, at: Place = ()) -> Iterator[Place]:
    if at:
        yield at
    for key, each in (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    ):
        yield from places(each, (*at, key))


@pytest.mark.parametrize("time", [None, "soon", -1, 1_700_000_000_000_000_000])
@pytest.mark.parametrize(
    "sent",
    [
        {
            "mapping": {"q": {"message": turns.chatgpt_message("user", "Well?")}},
            "is_starred": True,
            "is_archived": True,
        },
        {
            "uuid": "c",
            "chat_messages": [{"uuid": "q", "sender": "human", "text": "Well?"}],
            "is_starred": True,
        },
        {
            "chat": {"history": {"messages": {"q": {"role": "user", "content": "Well?"}}}},
            "pinned": True,
            "archived": True,
        },
    ],
)
def test_marks_without_a_time_are_kept_at_the_last_change(sent: Any, time: Any) -> None:
    found = conversation_of({**sent, "update_time": time, "updated_at": time})
    assert found.pinned_at == found.updated
    assert found.archived_at == (None if "uuid" in sent else found.updated)


@pytest.mark.parametrize("made", [chatgpt, claude, open_webui, librechat])
def test_an_odd_value_counts_as_missing(made: Any) -> None:
    assert conversation_of(made()).messages
    whole = made()
    for place in places(whole):
        for odd in ODD:
            sent = copy.deepcopy(whole)
            around = sent
            for key in place[:-1]:
                around = around[key]
            around[place[-1]] = odd
            with contextlib.suppress(ConversationProblem):
                conversation_of(sent)


def test_newer_spellings_lose_no_text() -> None:
    call = {"type": "mcp_tool_use", "name": "find", "input": {"where": "the attic"}}
    returned = {"type": "mcp_tool_result", "name": "find", "content": [{"type": "text", "text": "a lamp"}]}
    found = turns.last(
        turns.claude({"content": "Where?"}, [call, returned, {"type": "text", "text": "There."}])
    )
    assert found.text == "There."
    assert "the attic" in found.reasoning
    assert "a lamp" in found.reasoning
    assert turns.texts(turns.claude({"content": "Where?"}))[0] == "Where?"
    rules, ask = turns.chatgpt_message("developer", "Be brief."), turns.chatgpt_message("user", "Well?")
    reply = turns.chatgpt_message("assistant", {"content_type": "text", "text": "Yes."})
    said = turns.chatgpt(rules, ask, reply)
    assert (said.system, turns.texts(said)) == ("Be brief.", ["Well?", "Yes."])
