"""Each part of Open WebUI's export is kept, or named as left out."""

import html
import json
from typing import Any

import pytest

from chat.transfer.formats import conversation_of
from tests.transfer.turns import GIF, files, last, open_webui, sources, texts

WEB = "https://a.example/x"


def element(kind: str, body: str = "", **attributes: Any) -> str:
    written = "".join(f' {name}="{html.escape(json.dumps(each))}"' for name, each in attributes.items())
    return f'<details type="{kind}" done="true"{written}>\n<summary>Summary</summary>\n{body}\n</details>'


CALL = element("tool_calls", name="sum", arguments='{"a": 1}', result="21 °C").replace(
    "&quot;sum&quot;", "sum"
)
CALLED = '**sum**\n\n```json\n{\n  "a": 1\n}\n```\n\n```\n21 °C\n```'
RAN = element("code_interpreter", "```python\n1+1\n```", output={"stdout": "2\n", "result": "3"})


@pytest.mark.parametrize(
    ("content", "shown", "thoughts"),
    [
        (element("reasoning", "&gt; Hm &lt;b&gt;.\n&gt; So.") + "\nYes.", "Yes.", "Hm <b>.\nSo."),
        (f"Wait.\n{CALL}\nYes.", "Wait.\n\nYes.", CALLED),
        (
            element("tool_calls", name="sum", arguments="1").replace("&quot;sum&quot;", "sum"),
            "",
            "**sum**\n\n```\n1\n```",
        ),
        (f"I run.\n{RAN}\nDone.", "I run.\n\n```python\n1+1\n```\n\n```\n2\n3\n```\n\nDone.", ""),
        (element("code_interpreter", "`x`", output='{"stderr": "bad"}'), "`x`\n\n```\nbad\n```", ""),
        (element("code_interpreter", "`x`", output="a\0b"), "`x`\n\n```\nab\n```", ""),
        (element("code_interpreter", "`x`", output="plain"), "`x`\n\n```\nplain\n```", ""),
        (element("code_interpreter", "`x`", output={}), "`x`\n\n```\n{}\n```", ""),
        (element("code_interpreter", "```html\n</details>\n```"), "```html\n</details>\n```", ""),
        (element("brand_new", "Words &amp; more"), "**Summary**\n\nWords & more", ""),
        (f"```html\n{CALL}\n```\nYes.", f"```html\n{CALL}\n```\nYes.", ""),
        (f"The tag `{CALL}` calls.", f"The tag `{CALL}` calls.", ""),
        (f"```\nx\n```\n{CALL}\nYes.", "```\nx\n```\n\nYes.", CALLED),
        ("<details><summary>S</summary>own</details>", "<details><summary>S</summary>own</details>", ""),
        ('<details type="reasoning" done="false">\ncut', '<details type="reasoning" done="false">\ncut', ""),
        (f"{element('reasoning', 'a')}\nb\n{element('reasoning', 'c')}\nd", "b\n\nd", "a\n\nc"),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "a\n\nb", ""),
        ([{"type": "brand_new", "content": "kept"}], "kept", ""),
        (f"Here ![cat]({GIF})!", "Here [picture: cat]!", ""),
        # Without a text it would be left out, and the next question would be a version of the other reply.
        ({"content": "", "error": {"content": "Model not found"}}, "Model not found", ""),
        ({"content": "", "error": "Model not found"}, "Model not found", ""),
    ],
)
def test_a_reply_is_kept_as(content: Any, shown: str, thoughts: str) -> None:
    found = open_webui(content)
    assert (last(found).text, last(found).reasoning) == (shown, thoughts)
    assert found.left_out == ({"attachment": ["cat"]} if "[picture: cat]" in shown else {})


OUTPUT = [
    {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}]},
    {"type": "function_call", "name": "sum", "arguments": '{"a": 1}', "call_id": "1"},
    {"type": "function_call_output", "call_id": "1", "output": [{"type": "input_text", "text": "21 °C"}]},
    {"type": "open_webui:code_interpreter", "code": "1+1", "lang": "python", "output": {"stdout": "2"}},
    {"type": "message", "content": [{"type": "output_text", "text": "Yes."}]},
    {"type": "x"},
]


@pytest.mark.parametrize("content", ["", "Yes."])
def test_newer_exports_have_it_as_output(content: str) -> None:
    found = last(open_webui({"content": content, "output": OUTPUT}))
    code = "```python\n1+1\n```\n\n```\n2\n```"
    assert found.text == (f"Yes.\n\n{code}" if content else f"{code}\n\nYes.")
    assert found.reasoning == f"Hm.\n\n{CALLED}"


def test_the_output_is_not_said_twice() -> None:
    found = last(open_webui({"content": f"{CALL}\nYes.", "output": OUTPUT}))
    assert (found.text, found.reasoning) == ("Yes.", CALLED)


SOURCE = {
    "source": {"name": "fair", "url": WEB},
    "document": ["p1", "p2"],
    "metadata": [{"source": WEB}, {"page": 1}],
}


@pytest.mark.parametrize(
    ("source", "cited"),
    [
        (SOURCE, [("fair", WEB, "p1", 0), ("fair", WEB, "p2", 2)]),
        ({"document": ["p"], "metadata": [{"name": "a.pdf", "page": 3}]}, [("a.pdf", "", "p", 4)]),
        ({"source": {"id": WEB}, "document": ["p"], "metadata": [{"title": "T"}]}, [("T", WEB, "p", 0)]),
        ({"source": {"name": "x"}, "document": ["y" * 5_000]}, [("x", "", "y" * 3_999 + "…", 0)]),
        ({"source": {"name": "tool/x", "url": "javascript:x"}}, [("tool/x", "", "", 0)]),
        ({"source": {}, "document": ["p"]}, []),
        ({"document": "p"}, []),
    ],
)
@pytest.mark.parametrize("field", ["sources", "citations"])
def test_sources_are_kept_with_their_passages(source: Any, cited: list[Any], field: str) -> None:
    found = last(open_webui({"content": "So [1].", field: [source]}))
    assert [(each.title, each.url, each.text, each.page) for each in found.citations] == cited


@pytest.mark.parametrize("error", ["cut", {"content": "cut"}])
def test_opened_pages_are_sources_and_suggestions_are_named(error: Any) -> None:
    status = {
        "action": "web_search",
        "urls": [WEB],
        "items": [{"title": "T", "link": WEB}, {"link": f"{WEB}/o"}],
    }
    found = open_webui({"content": "So.", "statusHistory": [status], "followUps": ["Why?"], "error": error})
    assert last(found).text == "So."
    assert sources(last(found)) == [("T", WEB, ""), (f"{WEB}/o", f"{WEB}/o", "")]
    assert found.left_out == {"other": ["cut", "Why?"]}


@pytest.mark.parametrize(
    ("file", "kept", "left_out"),
    [
        ({"type": "image", "url": GIF, "name": "cat.gif"}, ["cat.gif"], []),
        ({"type": "image", "url": "/api/v1/files/x"}, [], ["picture"]),
        ({"type": "file", "name": "a.pdf"}, [], ["a.pdf"]),
        ({"type": "file", "file": {"filename": "a.pdf", "data": {"content": "Hi"}}}, ["a.pdf"], []),
        ({"type": "text", "name": WEB, "docs": [{"content": "Hi"}, {"content": "you"}]}, [WEB], []),
        ({"type": "collection", "name": "Manuals"}, [], ["Manuals"]),
    ],
)
def test_files_of_a_question_are_kept_where_the_export_has_them(
    file: Any, kept: list[str], left_out: list[str]
) -> None:
    found = open_webui(question={"content": "Well?", "files": [file]}, files=[file])
    assert [name for name, _ in files(found.messages[0])] == kept
    assert found.left_out["attachment"] == left_out


def test_pictures_in_a_question_are_attachments() -> None:
    parts = [{"type": "text", "text": f"a ![cat]({GIF})"}, {"type": "image_url", "image_url": {"url": GIF}}]
    found = open_webui(question={"content": parts, "images": [GIF, GIF.partition(",")[2]]}).messages[0]
    assert [(name, data and data[:3]) for name, data in files(found)] == [
        ("picture.gif", b"GIF"),
        ("picture.gif", b"GIF"),
        ("picture", b"GIF"),
        ("cat", b"GIF"),
    ]
    assert found.text == "a [picture: cat]"


def test_pictures_of_a_reply_are_named() -> None:
    found = open_webui({"content": "Here.", "files": [{"type": "image", "url": GIF, "name": "cat"}]})
    assert (last(found).text, found.left_out) == ("Here.\n\n[picture: cat]", {"attachment": ["cat"]})


def test_code_that_was_run_from_a_reply_is_kept() -> None:
    result = {"output": "2", "files": [{"name": "plot.png", "url": "/x"}]}
    found = open_webui(
        {"content": "Yes.", "code_executions": [{"language": "python", "code": "1+1", "result": result}]}
    )
    assert last(found).text == "Yes.\n\n```python\n1+1\n```\n\n```\n2\n```\n\n[picture: plot.png]"


def test_a_merged_reply_is_a_version() -> None:
    found = open_webui({"content": "Yes.", "merged": {"status": True, "content": "Both."}})
    assert [(each.parent, each.text) for each in found.messages[1:]] == [("q", "Yes."), ("q", "Both.")]


def test_what_was_said_about_a_reply_is_kept() -> None:
    rated = {"content": "Yes.", "annotation": {"rating": 1, "reason": "clear", "comment": "Thanks"}}
    assert last(open_webui(rated)).feedback == (True, "clear\nThanks")


def test_the_oldest_exports_are_lists() -> None:
    listed = [{"role": "user", "content": "Well?"}, {"role": "assistant", "content": "Yes."}]
    chat = {"title": "T", "models": ["m"], "messages": listed}
    for history in ({}, {"messages": {}}):
        found = conversation_of({"chat": chat | {"history": history}})
        assert [(each.parent, each.text) for each in found.messages] == [(None, "Well?"), ("0", "Yes.")]
    assert (texts(found), sources(last(found))) == (["Well?", "Yes."], [])
