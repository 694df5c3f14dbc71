"""Each part of LibreChat's export is kept, or named as left out."""

import json
from typing import Any

import pytest

from tests.transfer.turns import GIF, files, last, librechat, sources, texts

WEB = "https://a.example/x"


def artifact(body: str, kind: str = "text/html", title: str = "Page") -> str:
    return f':::artifact{{identifier="i" type="{kind}" title="{title}"}}\n{body}\n:::'


def indented(text: str) -> str:
    return "\n".join(f"   {line}" for line in text.split("\n"))


HTML = artifact("```html\n<h1>\n```")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"Here:\n\n{HTML}\n\nEnjoy.", "Here:\n\n\n**Page**\n\n```html\n<h1>\n```\n\n\nEnjoy."),
        (artifact("```\n<h1>\n```"), "**Page**\n\n```html\n<h1>\n```"),
        (artifact("<h1>"), "**Page**\n\n```html\n<h1>\n```"),
        (artifact("```\nx\n```", "application/vnd.react"), "**Page**\n\n```jsx\nx\n```"),
        (artifact("```\nx\n```", "application/vnd.mermaid"), "**Page**\n\n```mermaid\nx\n```"),
        (artifact("````\n# A\n```py\n1\n```\n````", "text/markdown"), "**Page**\n\n# A\n```py\n1\n```"),
        (artifact("```md\n# A\n```py\n1\n```\nB\n```", "text/markdown"), "**Page**\n\n# A\n```py\n1\n```\nB"),
        (artifact("```\n:::\n```"), "**Page**\n\n```html\n:::\n```"),
        (artifact("x", title=r"A \"B\""), '**A "B"**\n\n```html\nx\n```'),
        (f"{HTML}\n{HTML}", "**Page**\n\n```html\n<h1>\n```\n\n\n**Page**\n\n```html\n<h1>\n```"),
        (':::artifact{title="Cut"}\n```html\n<h1>', "**Cut**\n\n```html\n<h1>\n```"),
        (f"1. one\n{indented(HTML)}", "1. one\n\n**Page**\n\n```html\n<h1>\n```"),
        (":::note[Mind]\nthis\n:::\nEnd", "**Mind**\n\nthis\nEnd"),
        ("::::outer\n:::inner\na\n:::\n::::\nEnd", ":::inner\na\n:::\nEnd"),
        (f"```\n{HTML.replace('```', '~~~')}\n```", f"```\n{HTML.replace('```', '~~~')}\n```"),
        ("a ::: b\n:::\nc", "a ::: b\n:::\nc"),
    ],
)
def test_a_directive_becomes_what_it_shows(text: str, shown: str) -> None:
    assert last(librechat(text)).text.strip() == shown


def test_reasoning_in_a_directive_is_reasoning() -> None:
    found = last(librechat(":::thinking\nHm.\n:::\n\nYes."))
    assert (found.text.strip(), found.reasoning) == ("Yes.", "Hm.")


def test_a_question_is_left_as_it_is() -> None:
    assert texts(librechat(question=HTML))[0] == HTML


def call(**fields: Any) -> Any:
    return [{"type": "tool_call", "tool_call": fields}, {"type": "text", "text": "Yes."}]


SUM = {"name": "sum", "output": "21"}
RUN = {"lang": "py", "code": "1+1"}
CODE = "```py\n1+1\n```\n\n```\n2\n```\n\nYes."
INTERPRETER = {"input": "1+1", "outputs": [{"type": "logs", "logs": "2"}]}
CALLED = '**sum**\n\n```json\n{\n  "a": 1\n}\n```\n\n```\n21\n```'


@pytest.mark.parametrize(
    ("parts", "shown", "thoughts"),
    [
        ([{"type": "text", "text": "a"}, {"type": "text", "text": {"value": "b"}}], "a\n\nb", ""),
        ([{"type": "think", "think": {"value": "Hm."}}, {"type": "text", "text": "a"}], "a", "Hm."),
        ([{"type": "error", "error": "Out of quota."}], "Out of quota.", ""),
        ([{"type": "error", "text": {"value": "Out."}}], "Out.", ""),
        (call(name="execute_code", args=json.dumps(RUN), output="2\n"), CODE, ""),
        (call(name="execute_code", args=RUN, output="2"), CODE, ""),
        (call(name="execute_code", args=RUN, output="0"), CODE.replace("2", "0"), ""),
        (call(name="execute_code", args=RUN, output="1e5"), CODE.replace("2", "1e5"), ""),
        (call(type="code_interpreter", code_interpreter=INTERPRETER), CODE.replace("py", "python"), ""),
        (call(**SUM, args='{"a": 1}'), "Yes.", CALLED),
        (call(type="function", function={**SUM, "arguments": '{"a": 1}'}), "Yes.", CALLED),
        (call(name="sum", args="", output=""), "Yes.", "**sum**"),
        ([{"type": "summary", "summary": "Before."}, {"type": "text", "text": "a"}], "a", "Before."),
        (
            [{"type": "agent_update", "agent_update": {"agentId": "x"}}, {"type": "text", "text": "a"}],
            "a",
            "",
        ),
        ([{"type": "brand_new", "text": "kept"}], "kept", ""),
        ([{"type": "text", "text": f"![cat]({GIF})"}], "[picture: cat]", ""),
        ("<think>Hm.</think>\n\nYes.", "Yes.", "Hm."),
        ("[THINK]Hm.[/THINK]Yes.", "Yes.", "Hm."),
        ("<seed:think>Hm.</seed:think>\nYes.", "Yes.", "Hm."),
        (" <think>Never ends", " <think>Never ends", ""),
        ("The tag <think>x</think>", "The tag <think>x</think>", ""),
        ("just a string", "just a string", ""),
    ],
)
def test_a_part_is_kept_as(parts: Any, shown: str, thoughts: str) -> None:
    found = librechat({"content": parts})
    assert (last(found).text, last(found).reasoning) == (shown, thoughts)
    assert found.left_out == ({"attachment": ["cat"]} if "cat" in shown else {})


def test_parts_without_a_text_are_named() -> None:
    parts = [{"type": "brand_new"}, {"type": "input_audio", "input_audio": {}}, {"type": "text", "text": "a"}]
    pictures = [{"type": "image_file", "image_file": each} for each in ({"filename": "made.png"}, {})]
    found = librechat([*parts, *pictures])
    files = {"attachment": ["made.png", "image_file"]}
    assert found.left_out == {"other": ["brand_new"], "recording": ["input_audio"], **files}


def test_plugins_of_older_versions_are_kept_with_the_reasoning() -> None:
    used = {"latest": "sum", "inputs": {"a": 1}, "outputs": "21", "loading": False}
    assert last(librechat({"text": "Yes.", "plugin": used})).reasoning == CALLED


SEARCH = {
    "type": "web_search",
    "web_search": {
        "turn": 0,
        "organic": [{"title": "T", "link": WEB, "snippet": "s"}, {"title": "U", "link": f"{WEB}/u"}],
        "topStories": [{"title": "N", "link": f"{WEB}/n"}],
    },
}
FILE = {"type": "file_search", "file_search": {"turn": 1, "sources": [{"fileName": "a.pdf", "content": "p"}]}}


@pytest.mark.parametrize(
    ("text", "shown", "cited"),
    [
        ("So \ue202turn0search0.", f"So ([T]({WEB})).", ["T"]),
        (r"So \ue202turn0search0.", f"So ([T]({WEB})).", ["T"]),
        ("So\ue200\ue202turn0search0\ue202turn0news0\ue201.", f"So ([T]({WEB})) ([N]({WEB}/n)).", ["T", "N"]),
        ("\ue203So it is\ue204 \ue202turn0search1", f"So it is ([U]({WEB}/u))", ["U"]),
        (r"\ue203So it is\ue204 \ue202turn0search1", f"So it is ([U]({WEB}/u))", ["U"]),
        ("So \ue202turn1file0", "So (a.pdf)", ["a.pdf"]),
        ("So \ue202turn0search9.", "So.", []),
        ("turn0search0 as words", "turn0search0 as words", []),
    ],
)
def test_a_citation_is_a_link_and_a_source(text: str, shown: str, cited: list[str]) -> None:
    found = librechat({"text": text, "attachments": [SEARCH, FILE, {"filename": "x.csv"}]})
    assert (last(found).text, [title for title, _, _ in sources(last(found))]) == (shown, cited)
    unknown = {} if cited or "words" in text else {"source": ["turn0search9"]}
    assert found.left_out == {"attachment": ["x.csv"]} | unknown


def test_the_text_of_a_file_is_a_document() -> None:
    sent = [{"filename": "a.pdf", "text": "Hi"}, {"filename": "b.png", "type": "image/png"}]
    found = librechat(question={"text": "Well?", "files": sent})
    assert (files(found.messages[0]), found.left_out["attachment"]) == ([("a.pdf", b"Hi")], ["b.png"])


def test_pictures_of_a_question_are_attachments() -> None:
    parts = [{"type": "text", "text": "What?"}, {"type": "image_url", "image_url": {"url": GIF}}]
    found = librechat(question=parts).messages[0]
    assert (found.text, [name for name, _ in files(found)]) == ("What?", ["picture.gif"])


def test_quotes_and_opinions_are_kept() -> None:
    rated = {"text": "Yes.", "feedback": {"rating": "thumbsDown", "tag": {"key": "slow"}, "text": "Too late"}}
    found = librechat(rated, {"text": "Why?", "quotes": ["frost"]}, tags=["roof"])
    assert (found.messages[0].text, found.tags) == ("> frost\n\nWhy?", ["roof"])
    assert last(found).feedback == (False, "slow\nToo late")


def test_the_ends_of_many_directives_are_looked_for_together() -> None:
    """Expect an end: in quadratic time, this text would take an hour."""
    many = ":::a\n```\n:::\n" * 30_000
    assert last(librechat(many)).text.count("```") == 30_000


def test_more_tags_than_fit_leave_out_no_conversation() -> None:
    many = [f"tag {number}" for number in range(60)]
    found = librechat("Yes.", options={"tags": many})
    assert found.tags == many[:50]
