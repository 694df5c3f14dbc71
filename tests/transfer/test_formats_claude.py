"""Each block and file of Claude's export is kept, or named as left out."""

from typing import Any

import pytest

from tests.transfer.turns import claude, files, last, sources, texts

WEB = "https://a.example/x"


def use(name: str, **sent: Any) -> Any:
    return {"type": "tool_use", "name": name, "input": sent}


def result(name: str, *parts: Any, **more: Any) -> Any:
    return {"type": "tool_result", "name": name, "content": list(parts), **more}


def text(words: str, **more: Any) -> Any:
    return {"type": "text", "text": words, **more}


def artifact(command: str, key: str = "a", **sent: Any) -> Any:
    return use("artifacts", id=key, command=command, **sent)


def ran(name: str, printed: str, **sent: Any) -> list[Any]:
    return [use(name, **sent), result(name, text(printed))]


POEM = artifact("create", type="text/markdown", title="Tea", content="one\ntwo")
CODE = artifact("create", type="application/vnd.ant.code", language="python", title="x.py", content="1")
# Calls that name no document: each changes the last one that has the place, or writes another.
UNNAMED = [
    {"command": "create", "type": "application/vnd.ant.code", "language": "python", "content": "1"},
    {"command": "create", "type": "text/html", "content": "<p>"},
    {"command": "update", "old_str": "1", "new_str": "2"},
    {"command": "rewrite", "type": "text/markdown", "content": "# Note"},
]
SHOWN = "Here:\n\n```python\n1\n```\n\n```html\n<p>\n```\n\n```python\n2\n```\n\n# Note"
MAILS = '**gmail**\n\n```json\n{\n  "q": "x"\n}\n```\n\n```\n3 mails\n```'
TAG = '<antArtifact identifier="i" type="text/html" title="P">'
LOG = '{"status": "success", "logs": ["one", "two"]}'


@pytest.mark.parametrize(
    ("blocks", "shown", "thoughts"),
    [
        ([text("a"), text("b")], "a\n\nb", ""),
        ([text("It is "), text("high", citations=[]), text(", they say.")], "It is high, they say.", ""),
        ([text("- a\n"), text("- b"), text("\n- c")], "- a\n- b\n- c", ""),
        ([text("| a |\n|---|\n"), text("| 1 |")], "| a |\n|---|\n| 1 |", ""),
        ([text("a "), use("x"), text("b")], "a \n\nb", "**x**"),
        ([{"type": "thinking", "thinking": "Hm."}, text("a")], "a", "Hm."),
        ([{"type": "thinking", "summaries": [{"summary": "S"}]}, text("a")], "a", "S"),
        ([{"type": "voice_note", "title": "T", "text": "said"}], "T\n\nsaid", ""),
        (ran("repl", LOG, code="1+1"), "```javascript\n1+1\n```\n\n```\none\ntwo\n```", ""),
        (ran("bash_tool", "a\n", command="ls"), "```bash\nls\n```\n\n```\na\n```", ""),
        (
            ran("bash_tool", '{"returncode":0,"stdout":"x"}', command="ls"),
            "```bash\nls\n```\n\n```\nx\n```",
            "",
        ),
        ([*ran("gmail", "3 mails", q="x"), text("a")], "a", MAILS),
        ([use("x"), {**result("x"), "content": "plain"}, text("a")], "a", "**x**\n\n```\nplain\n```"),
        ([POEM, result("artifacts", text("OK")), text("a")], "**Tea**\n\none\ntwo\n\na", ""),
        ([CODE], "**x.py**\n\n```python\n1\n```", ""),
        ([artifact("create", type="image/svg+xml", content="<svg/>")], "```svg\n<svg/>\n```", ""),
        ([artifact("create", type="application/vnd.ant.mermaid", content="a")], "```mermaid\na\n```", ""),
        ([use("create_file", path="/home/a.py", file_text="1")], "**a.py**\n\n```py\n1\n```", ""),
        ([use("create_file", path="/home/a.md", file_text="# A")], "**a.md**\n\n# A", ""),
        ([{"type": "token_budget"}, {"type": "flag", "flag": "x"}, text("a")], "a", ""),
        ([{"type": "brand_new", "text": "kept"}], "kept", ""),
        ([text(f"See\n{TAG}\n<p>\n</antArtifact>\nEnd")], "See\n\n**P**\n\n```html\n<p>\n```\n\nEnd", ""),
        (
            [text("Use `<antArtifact` and\n<antThinking>\nok")],
            "Use `<antArtifact` and\n<antThinking>\nok",
            "",
        ),
        ([artifact("create", type="application/vnd.ant.react", content="a")], "```jsx\na\n```", ""),
        ([text("<antThinking>Hm.</antThinking>a")], "a", "Hm."),
        ([text("Here:"), *(use("artifacts", **each) for each in UNNAMED)], SHOWN, ""),
        *(
            ([text(each)], each, "")
            for each in (
                f"Use:\n```xml\n{TAG}\nhi\n</antArtifact>\n```\nend",
                "~~~\n<antThinking>x</antThinking>\n~~~\nend",
                "Use `<antThinking>x</antThinking>` there.",
            )
        ),
        (
            [text(f"```xml\n{TAG}\n```\n{TAG}\n<p>\n</antArtifact>")],
            f"```xml\n{TAG}\n```\n\n**P**\n\n```html\n<p>\n```",
            "",
        ),
        ([text('<antArtifact identifier="i" type="text/markdown">cut off')], "cut off", ""),
        ([use("x"), {**result("x"), "content": text("one")}, text("a")], "a", "**x**\n\n```\none\n```"),
        (
            [use("str_replace_based_edit_tool", command="insert", path="/a", insert_text="new")],
            "",
            '**str_replace_based_edit_tool**\n\n```json\n{\n  "command": "insert",\n  "path": "/a",\n'
            '  "insert_text": "new"\n}\n```',
        ),
    ],
)
def test_a_block_is_kept_as(blocks: list[Any], shown: str, thoughts: str) -> None:
    found = claude("Well?", blocks)
    assert (last(found).text, last(found).reasoning) == (shown, thoughts)
    assert found.left_out == {}


def test_older_exports_have_a_text_alone() -> None:
    placeholder = "```\nThis block is not supported on your current device yet.\n```"
    found = claude("Well?", {"text": f"See:\n{placeholder}\nDone."})
    assert (last(found).text, found.left_out) == ("See:\n\nDone.", {"tool": ["tool"]})


def test_blocks_without_a_text_are_named() -> None:
    found = claude(
        "Well?", [{"type": "brand_new", "x": 1}, text("a"), result("x", {"type": "image", "file_uuid": "u"})]
    )
    assert found.left_out == {"other": ["brand_new"], "attachment": ["?"]}
    made = result("present_files", {"type": "local_resource", "name": "plan.pdf", "file_path": "/x/plan.pdf"})
    assert claude("Well?", [text("a"), made]).left_out == {"attachment": ["plan.pdf"]}
    unseen = result("x", {"type": "brand_new"}, {"type": "rich_link", "link": {"title": "T", "url": WEB}})
    found = claude("Well?", [text("a"), unseen])
    assert (found.left_out, sources(last(found))) == ({"other": ["brand_new"]}, [("T", WEB, "")])


@pytest.mark.parametrize(
    ("change", "shown"),
    [
        (artifact("update", old_str="two", new_str="three"), "**Tea**\n\none\nthree"),
        (artifact("update", old_str="\ntwo", new_str=""), "**Tea**\n\none"),
        (artifact("update", old_str="nowhere", new_str="soap"), "soap"),
        (artifact("update", "unknown", old_str="two", new_str="three"), "**Tea**\n\none\nthree"),
        (use("artifacts", command="update", old_str="two", new_str="three"), "**Tea**\n\none\nthree"),
        (artifact("rewrite", content="all new"), "**Tea**\n\nall new"),
        (artifact("rewrite", content="all new", title="Mint"), "**Mint**\n\nall new"),
        (
            artifact("rewrite", content="1", type="application/vnd.ant.code", language="c"),
            "**Tea**\n\n```c\n1\n```",
        ),
        (artifact("update", "code", old_str="1", new_str="2"), "**x.py**\n\n```python\n2\n```"),
        (artifact("create", "b", type="text/markdown", content="other"), "other"),
    ],
)
def test_a_reply_shows_the_document_as_its_call_leaves_it(change: Any, shown: str) -> None:
    code = {**CODE, "input": CODE["input"] | {"id": "code"}}
    found = claude("Well?", [code, POEM], "Change it", [change, text("Done.")])
    assert texts(found)[1] == "**x.py**\n\n```python\n1\n```\n\n**Tea**\n\none\ntwo"
    assert last(found).text == f"{shown}\n\nDone."


def test_files_are_changed_as_artifacts_are() -> None:
    made = use("create_file", path="/home/a.py", file_text="1\n2")
    changed = use("str_replace", path="/home/a.py", old_str="2", new_str="3")
    assert last(claude("Well?", [made, changed])).text.endswith("**a.py**\n\n```py\n1\n3\n```")


@pytest.mark.parametrize(
    ("line", "lines"), [(0, "new\n1\n2"), (1, "1\nnew\n2"), (2, "1\n2\nnew"), (9, "1\n2")]
)
def test_a_later_version_has_what_was_inserted(line: int, lines: str) -> None:
    made = use("create_file", path="/a.py", file_text="1\n2")
    sent = {"command": "insert", "path": "/a.py", "insert_line": line, "insert_text": "new\n"}
    changed = use("str_replace", path="/a.py", old_str="2", new_str="3")
    found = claude("Well?", [made, use("str_replace_based_edit_tool", **sent), changed])
    assert last(found).text.endswith(f"**a.py**\n\n```py\n{lines.replace('2', '3')}\n```")


def test_each_branch_has_its_own_version() -> None:
    def turn(key: str, parent: str, *blocks: Any) -> Any:
        return {"uuid": key, "parent_message_uuid": parent, "content": list(blocks)}

    first, second = (artifact("update", old_str="two", new_str=new) for new in ("three", "four"))
    third = artifact("update", old_str="four", new_str="five")
    found = claude(
        turn("q", "0", text("Well?")),
        turn("a", "q", POEM),
        turn("r", "a", text("Go on")),
        turn("b", "r", first),
        turn("s", "a", text("Otherwise")),
        turn("c", "s", second),
        turn("t", "c", text("More")),
        turn("d", "t", third),
    )
    written = {each.key: each.text.rpartition("\n")[2] for each in found.messages if each.role == "assistant"}
    assert written == {"a": "two", "b": "three", "c": "four", "d": "five"}


def test_what_a_search_found_is_kept_as_sources() -> None:
    page = {"type": "knowledge", "title": "T", "url": WEB, "text": "Passage."}
    known = {"details": {"type": "web_search_citation", "url": WEB}}
    other = {"details": {"type": "web_search_citation", "url": f"{WEB}/o"}, "title": "O"}
    shown = text("It is so.", citations=[known, other])
    found = claude("Well?", [use("web_search", query="x"), result("web_search", page), shown])
    assert sources(last(found)) == [("T", WEB, "Passage."), ("O", f"{WEB}/o", "")]
    report = artifact(
        "create", type="text/markdown", content="R", md_citations=[{"sources": [{"title": "S", "url": WEB}]}]
    )
    assert sources(last(claude("Well?", [report]))) == [("S", WEB, "")]


@pytest.mark.parametrize(
    ("files_of", "kept", "words", "left_out"),
    [
        (
            {"attachments": [{"file_name": "a.docx", "extracted_content": "Hi"}]},
            [("a.docx", b"Hi")],
            "Well?",
            [],
        ),
        (
            {
                "attachments": [{"file_name": "a.pdf", "extracted_content": "Hi"}],
                "files": [{"file_name": "a.pdf"}, {"file_name": "b.png"}],
                "files_v2": [{"file_name": "b.png"}],
            },
            [("a.pdf", b"Hi")],
            "Well?",
            ["b.png"],
        ),
        ({"attachments": [{"file_name": "a.pdf", "extracted_content": ""}]}, [], "Well?", ["a.pdf"]),
        ({"attachments": [{"file_name": "", "extracted_content": "pasted"}]}, [], "Well?\n\npasted", []),
        (
            {"attachments": [{"extracted_content": "x" * 200_000}]},
            [("pasted.txt", b"x" * 200_000)],
            "Well?",
            [],
        ),
        (
            {"attachments": [{"file_name": "a", "extracted_content": each} for each in ("1", "2")]},
            [("a", b"1"), ("a", b"2")],
            "Well?",
            [],
        ),
    ],
)
def test_the_text_of_a_file_is_a_document(
    files_of: Any, kept: list[Any], words: str, left_out: list[str]
) -> None:
    found = claude({"text": "Well?", **files_of}, "Yes.")
    assert (files(found.messages[0]), found.messages[0].text) == (kept, words)
    assert found.left_out["attachment"] == left_out


def test_texts_of_files_beyond_the_limit_are_in_the_question() -> None:
    sent = [{"file_name": f"{number}.txt", "extracted_content": f"text {number}"} for number in range(9)]
    found = claude({"text": "Well?", "attachments": sent}, "Yes.").messages[0]
    assert [name for name, _ in files(found)] == [f"{number}.txt" for number in range(8)]
    assert found.text == "Well?\n\n**8.txt**\n\n```\ntext 8\n```"


def test_a_question_can_be_files_alone() -> None:
    sent = {"attachments": [{"file_name": "a.txt", "extracted_content": "Hi"}]}
    assert texts(claude({"text": "", **sent}, "Yes."))[0] == ""
    assert texts(claude({"text": "", "files": [{"file_name": "a.png"}]}, "Yes."))[0] == "…"
    pasted = [{"file_name": "", "extracted_content": "a long paste"}, {"file_name": "n.txt"}]
    found = claude({"text": "", "content": [], "attachments": pasted}, "Yes.")
    assert (texts(found)[0], found.left_out) == ("a long paste", {"attachment": ["n.txt"]})


def test_a_picture_in_the_file_is_an_attachment() -> None:
    source = {"type": "base64", "media_type": "image/gif", "data": "R0lGODlh"}
    found = claude(
        [text("What?"), {"type": "image", "source": source}], [{"type": "image", "source": source}]
    )
    assert files(found.messages[0]) == [("picture.gif", b"GIF89a")]
    assert texts(found) == ["What?", "[picture: picture.gif]"]
    assert found.left_out == {"attachment": ["picture.gif"]}


def test_the_project_is_a_tag_and_a_star_a_pin() -> None:
    more = {
        "project": {"uuid": "p", "name": "The  roof"},
        "is_starred": True,
        "updated_at": "2025-01-01T00:00:00Z",
    }
    found = claude("Well?", "Yes.", **more)
    assert (found.tags, found.pinned_at) == (["The roof"], found.updated)
