"""Each kind of content of ChatGPT's export is kept, or named as left out."""

from typing import Any

import pytest

from tests.transfer.turns import ASK, DONE, GIF, chatgpt, chatgpt_message, files, last, sources, texts
from tests.transfer.turns import chatgpt_call as call
from tests.transfer.turns import chatgpt_result as tool

WEB = "https://a.example/x"


def said(kind: str, **fields: Any) -> Any:
    return chatgpt_message("assistant", {"content_type": kind, **fields})


def mark(kind: str, *arguments: str) -> str:
    return "\ue200" + "\ue202".join([kind, *arguments]) + "\ue201"


def reply(text: str, *references: Any, **about: Any) -> Any:
    return chatgpt(ASK, chatgpt_message("assistant", text, content_references=list(references), **about))


ENTITY = mark("entity", '["city", "Holmby", "town"]')
FILE = mark("filecite", "turn0file0", "L1-L3")
NEWS = mark("navlist", "More", "turn0news1,turn0news2")
CITE = mark("cite", "turn0search0")


@pytest.mark.parametrize(
    ("text", "references", "shown"),
    [
        ("See {}.", [], "See ."),
        (f"In {ENTITY}.", [], "In Holmby."),
        ('In \ue200entity["city","Holmby"]\ue201.', [], "In Holmby."),
        (f"In {mark('entity', 'broken [')}.", [], r"In broken \[."),
        ('| \ue200entity["shop","Oak | Ash"]\ue201 |', [], r"| Oak \| Ash |"),
        (f"| {mark('url', 'A | B', WEB + '?a|<b>')} |", [], rf"| [A \| B]({WEB}?a%7C%3Cb%3E) |"),
        (f"| {mark('url', 'A | B', 'no address')} |", [], r"| A \| B |"),
        (
            f"| {CITE} |",
            [{"matched_text": CITE, "items": [{"title": "A|B", "url": WEB}]}],
            rf"| ([A\|B]({WEB})) |",
        ),
        ("| 【4†A | B】 |", [], r"| (A \| B) |"),
        (f"{mark('url', 'A' + chr(92), WEB)}", [], rf"[A\\]({WEB})"),
        (f"In {ENTITY}.", [{"matched_text": ENTITY, "type": "entity", "alt": "Holmby!"}], "In Holmby!."),
        (f"In {ENTITY}.", [{"matched_text": ENTITY, "name": "Holmby", "url": WEB}], f"In [Holmby]({WEB})."),
        (f"In {ENTITY}.", [{"matched_text": ENTITY, "name": "It", "url": WEB}], f"In Holmby ([It]({WEB}))."),
        (f"A {FILE}.", [{"matched_text": FILE, "type": "file", "name": "a.pdf"}], "A (a.pdf)."),
        (NEWS, [{"matched_text": NEWS, "items": [{"title": "T", "url": WEB}]}], f"More ([T]({WEB}))"),
        (f"Read {mark('url', 'the [x]', WEB)}.", [], rf"Read [the \[x\]]({WEB})."),
        (f"Read {mark('url', 'this', 'javascript:x')}.", [], "Read this."),
        (f"Read {mark('url', 'this', WEB + '_(y)')}.", [], f"Read [this](<{WEB}_(y)>)."),
        (
            f"A {CITE}",
            [
                {"matched_text": CITE, "alt": f"([A]({WEB}))"},
                {"matched_text": " ", "alt": "no"},
                {"matched_text": 1},
            ],
            f"A ([A]({WEB}))",
        ),
        (
            f"A {CITE}",
            [{"matched_text": CITE, "items": [{"title": "T", "url": WEB}, {"title": "U"}]}],
            f"A ([T]({WEB}), U)",
        ),
        (f"A{CITE}.", [], "A."),
        (f"A{CITE}.", [{"matched_text": CITE, "alt": f"([A]({WEB}))"}], f"A ([A]({WEB}))."),
        (f"({CITE})", [{"matched_text": CITE, "alt": f"[A]({WEB})"}], f"([A]({WEB}))"),
        (mark("genui", '{"math": {"content": "x^2"}}'), [], "x^2"),
        ("Buy " + mark("product_entity", '["turn0product1","Kettle"]'), [], "Buy Kettle"),
        (f"Buy {CITE}.", [{"matched_text": CITE, "alt": "[Kettle]()"}], "Buy Kettle."),
        (mark("products", '{"selections": [["turn0product1", "Pan"]], "tags": ["x"]}'), [], "Pan"),
        (
            mark("products", "turn0product1"),
            [{"matched_text": mark("products", "turn0product1"), "products": [{"title": "Pan", "url": WEB}]}],
            f"([Pan]({WEB}))",
        ),
        (NEWS, [], "More"),
        ("| " + mark("url", "Tides | Holmby", WEB) + " | x |", [], f"| [Tides \\| Holmby]({WEB}) | x |"),
        ("| " + mark("entity", '["shop","Oak | Ash"]') + " | x |", [], "| Oak \\| Ash | x |"),
        (mark("video", "A film", "turn0video0"), [], "A film"),
        (
            "Look: " + mark("image_group", '{"query": ["a hall", "a tower"]}'),
            [],
            "Look: [pictures: a hall, a tower]",
        ),
        (f"And {mark('image_group', '{ }')}more.", [], "And more."),
        ("\ue203A cat\ue204 sat.\ue206", [], "A cat sat."),
        ("Cut off \ue200cite\ue202turn0sea", [], "Cut off"),
        ("Big【4†source】.", [], "Big [4]."),
        ("Big 【4:0†report.pdf】.", [], "Big (report.pdf)."),
        ("Big【7†L1-L3】.", [], "Big [7]."),
        ("Big【0†The title†site.example】", [], "Big (The title, site.example)"),
        ("【重要】に読む", [], "【重要】に読む"),
        ("A :contentReference[oaicite:2]{index=2}.", [], "A ."),
        (':::writing{variant="email" subject="Roof"}\nDear Ann\n:::\nBye', [], "**Roof**\n\nDear Ann\nBye"),
        (":::warning\nDo not pull.\n:::\nEnd", [], ":::warning\nDo not pull.\n:::\nEnd"),
        (":::tip[My tip]\nx\n:::", [], ":::tip[My tip]\nx\n:::"),
        ("Syntax is\n\n:::note\n\nno end.", [], "Syntax is\n\n:::note\n\nno end."),
        ("[x](data:text/plain;base64,YQ==)", [], "[file: x]"),
    ],
)
def test_a_mark_becomes_its_words_and_a_link(text: str, references: list[Any], shown: str) -> None:
    found = reply(text.replace("{}", CITE), *references)
    assert last(found).text.strip() == shown.strip()


def test_marks_in_a_question_and_in_code_are_not_special() -> None:
    found = chatgpt(chatgpt_message("user", "What is 【4†source】?"), chatgpt_message("assistant", "A mark."))
    assert texts(found)[0] == "What is 【4†source】?"


def test_older_citations_are_links_by_their_place_or_number() -> None:
    text = "Paris【11†source】. Lyon【12†(Wiki)】."
    metadata = {"title": "Paris", "url": WEB, "text": "Big."}
    place = {"start_ix": text.index("【11"), "end_ix": text.index("】") + 1, "metadata": metadata}
    extra = {"cited_message_idx": 12, "evidence_text": "Lyon is."}
    number = {"metadata": {"title": "Lyon", "url": f"{WEB}/l", "extra": extra}}
    file = {"metadata": {"type": "file", "name": "a.pdf"}}
    found = last(reply(text, citations=[place, number, file, 1, {"start_ix": True}]))
    assert found.text == f"Paris ([Paris]({WEB})). Lyon ([Lyon]({WEB}/l))."
    assert sources(found) == [("Paris", WEB, "Big."), ("Lyon", f"{WEB}/l", "Lyon is."), ("a.pdf", "", "")]


def test_the_sources_of_references_are_kept_once() -> None:
    page = {
        "title": "A",
        "url": WEB,
        "snippet": "s",
        "supporting_websites": [{"title": "B", "url": f"{WEB}/b"}],
    }
    group = {"matched_text": CITE, "type": "grouped_webpages", "items": [page]}
    note = {"matched_text": " ", "type": "sources_footnote", "sources": [{"title": "C", "url": f"{WEB}/c"}]}
    found = last(reply(f"A {CITE} b c", group, group, note, {"type": "attribution", "matched_text": "A"}))
    assert sources(found) == [("A", WEB, "s"), ("B", f"{WEB}/b", ""), ("C", f"{WEB}/c", "")]
    assert found.text == f"A ([A]({WEB}), [B]({WEB}/b)) b c"


RAN = "```python\n1+1\n```\n\n```\n2\n```"
OUTPUT = {"content_type": "execution_output", "text": "2\n"}
TIMEOUT = {"content_type": "system_error", "name": "Timeout", "text": "Too slow"}


@pytest.mark.parametrize(
    ("messages", "text", "thoughts", "left_out"),
    [
        ([call("1+1", "python")], "```python\n1+1\n```", "", {}),
        ([call("1+1", "python"), tool(OUTPUT)], RAN, "", {}),
        ([call('{"cmd": ["ls", "-l"]}', "container.exec")], "```bash\nls -l\n```", "", {}),
        (
            [call('{"cmd": ["bash", "-lc", "ls \'a b\' | wc"]}', "container.exec")],
            "```bash\nbash -lc 'ls '\"'\"'a b'\"'\"' | wc'\n```",
            "",
            {},
        ),
        ([said("thoughts", thoughts=[{"summary": "Plan", "content": "Hm."}])], "", "**Plan**\n\nHm.", {}),
        ([tool(TIMEOUT)], "Timeout: Too slow", "", {}),
        ([call('search("x")', "browser")], "", "", {"tool": ['browser: search("x")']}),
        ([tool("results", "web.run")], "", "", {"tool": ["web.run: results"]}),
        (
            [call("Likes tea", "bio"), tool("Model set context updated.", "bio")],
            "",
            "**bio**\n\n```\nLikes tea\n```",
            {},
        ),
        (
            [call('{"q": 1}', "wolfram.query"), tool("42", "wolfram.query")],
            "",
            '**wolfram.query**\n\n```json\n{\n  "q": 1\n}\n```\n\n```\n42\n```',
            {},
        ),
        ([said("reasoning_recap", content="Thought for 5s")], "", "Thought for 5s", {}),
        ([said("thoughts", thoughts=[{"summary": "About cats", "content": ""}])], "", "About cats", {}),
        ([said("code", language="unknown", text="1")], "```\n1\n```", "", {}),
        ([said("new_kind", text="Kept")], "Kept", "", {}),
        ([said("new_kind", x=1)], "", "", {"other": ["new_kind"]}),
        ([said("model_editable_context", model_set_context="Tea")], "", "", {"hidden": ["Tea"]}),
        (
            [chatgpt_message("assistant", "secret", is_visually_hidden_from_conversation=True)],
            "",
            "",
            {"hidden": ["secret"]},
        ),
        ([chatgpt_message("assistant", "")], "", "", {}),
    ],
)
def test_what_a_turn_does_is_one_reply(
    messages: list[Any], text: str, thoughts: str, left_out: dict[str, list[str]]
) -> None:
    found = chatgpt(ASK, *messages, DONE)
    assert texts(found) == ["Well?", "\n\n".join(filter(None, [text, "Done."]))]
    assert (last(found).reasoning, found.left_out) == (thoughts, left_out)
    assert (last(found).key, found.leaf) == (f"m{len(messages) + 1}",) * 2


@pytest.mark.parametrize(
    ("cut", "rest"),
    [("```py\nfor i in ra", "nge(9):\n    i\n```"), ("The capital is Ber", "lin."), ("| a | b", " | c |")],
)
def test_a_reply_goes_on_where_it_was_cut_off(cut: str, rest: str) -> None:
    ended = {"finish_details": {"type": "max_tokens"}}
    found = chatgpt(ASK, chatgpt_message("assistant", cut, **ended), chatgpt_message("assistant", rest))
    assert texts(found)[1:] == [cut + rest]


@pytest.mark.parametrize(
    "part",
    [
        {"content_type": "audio_asset_pointer", "asset_pointer": "sediment://x"},
        {"content_type": "audio_transcription", "text": ""},
        {"content_type": "brand_new"},
    ],
)
def test_a_question_without_words_parts_its_answers(part: Any) -> None:
    spoken = chatgpt_message("user", {"content_type": "multimodal_text", "parts": [part]})
    answers = [chatgpt_message("assistant", each) for each in ("One.", "Two.")]
    assert texts(chatgpt(ASK, answers[0], spoken, answers[1])) == ["Well?", "One.", "…", "Two."]


def test_older_instructions_are_in_the_metadata() -> None:
    about = {"about_user_message": "I am Ann.", "about_model_message": "Be brief."}
    system = chatgpt_message("system", "", user_context_message_data=about)
    assert chatgpt(system, ASK, DONE).system == "I am Ann.\n\nBe brief."


def test_what_a_stopped_turn_did_is_kept() -> None:
    thoughts = said("thoughts", thoughts=[{"content": "Hm."}])
    assert last(chatgpt(ASK, thoughts)).reasoning == "Hm."
    found = chatgpt(ASK, thoughts, chatgpt_message("user", "And?"))
    assert [(each.role, each.text, each.reasoning) for each in found.messages[1:]] == [
        ("assistant", "", "Hm."),
        ("user", "And?", ""),
    ]
    assert texts(chatgpt(ASK, call("1", "python"))) == ["Well?", "```python\n1\n```"]


def test_versions_of_a_reply_stay_apart() -> None:
    other = {"b": ("m1", chatgpt_message("assistant", "Other."))}
    assert texts(chatgpt(ASK, call("1", "python"), DONE, more=other))[1:] == [
        "```python\n1\n```",
        "Done.",
        "Other.",
    ]


def test_parts_that_are_too_long_together_stay_apart() -> None:
    long = chatgpt_message("assistant", "x" * 300_000)
    assert [len(text) for text in texts(chatgpt(ASK, long, long))] == [5, 300_000, 300_000]


def test_pages_that_were_opened_are_sources() -> None:
    quote = tool({"content_type": "tether_quote", "title": "T", "url": WEB, "text": "Quoted."}, "browser")
    listed = {"metadata_list": [{"title": "L", "url": f"{WEB}/l", "text": "Listed."}]}
    shown = tool(
        {"content_type": "tether_browsing_display", "result": "raw"}, "browser", _cite_metadata=listed
    )
    found = chatgpt(ASK, quote, shown, DONE)
    assert sources(last(found)) == [("T", WEB, "Quoted."), ("L", f"{WEB}/l", "Listed.")]
    assert (last(found).text, found.left_out) == ("Done.", {"tool": ["raw"]})


def test_a_question_shows_the_passage_that_it_is_about() -> None:
    ask = chatgpt_message("user", "Why?", targeted_reply="frost\nand ice")
    assert texts(chatgpt(ask))[0] == "> frost\n> and ice\n\nWhy?"


PICTURE = {"content_type": "image_asset_pointer", "asset_pointer": "sediment://x"}


def test_pictures_and_recordings_are_named() -> None:
    made = PICTURE | {"metadata": {"dalle": {"prompt": "A red cat"}}}
    spoken = {"content_type": "audio_transcription", "text": "Hello"}
    sound = {"content_type": "audio_asset_pointer", "asset_pointer": "sediment://y"}
    content = {"content_type": "multimodal_text", "parts": [made, spoken, sound]}
    found = chatgpt(
        chatgpt_message("user", {"content_type": "multimodal_text", "parts": [PICTURE, "Hm"]}),
        tool(content, "dalle.text2im"),
        tool(
            {"content_type": "execution_output", "text": ""},
            aggregate_result={"messages": [{"message_type": "image", "image_url": "file-service://z"}]},
        ),
    )
    pictures = ["image_asset_pointer", "A red cat", "picture"]
    assert found.left_out == {"attachment": pictures, "recording": ["audio"]}
    assert last(found).text == "[picture: A red cat]\n\n[picture: picture]"


def test_a_result_without_text_is_named() -> None:
    seen = {"content_type": "computer_output", "screenshot": PICTURE, "state": {"url": "https://x.org"}}
    found = chatgpt(chatgpt_message("user", "Hm"), tool(seen, "computer.do"), tool("", "computer.do"))
    assert found.left_out == {"other": ["computer_output"]}


def test_pictures_in_the_file_are_attachments_of_a_question() -> None:
    content = {"content_type": "multimodal_text", "parts": [PICTURE | {"asset_pointer": GIF}, "Hm"]}
    found = chatgpt(chatgpt_message("user", content))
    ((name, data),) = files(last(found))
    assert (last(found).text, name, data and data[:3]) == ("Hm", "picture.gif", b"GIF")
