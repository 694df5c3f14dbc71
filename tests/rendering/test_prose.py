"""Prose: emphasis that is meant, and characters that are hidden."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.rendering.blocks import Blocks
from chat.rendering.characters import neutralise_code, neutralise_controls
from chat.rendering.markdown import render

from .page import flushed, patched, streamed

# Pieces that are plain by themselves, and pieces that give the words beside them another meaning.
PIECES = [
    *("word", "a", "Zoë", "日本", "1", "12", " ", "  ", ". ", ", ", "! ", "?", ";", "'", '"', "–", "-"),
    *("\n", "\n", "\n\n", "\r", "\t", "\xa0", "\x0b", "\u05d0", "\u2028", "😀", "    ", "\n    "),
    *("- ", "\n- ", "\n1. ", "1.", ") ", "> ", "\n> ", "#", "\n# ", "\n===", "\n---", "|", "\n|-|", "- [ ] "),
    *("*", "**", "_", "~~", "`", "``", "\n```\n", "\\", "&", "&amp", "&copy", "<", ">", "<br>", "<kbd>"),
    *("<div", "[", "]", "](", "(", ")", "![", "[a]", "[a]: /b ", ' "title"', "\n[a]: ", "/b", "[^1]"),
    *("\n[^1]: ", "http://", "https", "://", "www", "www.", ".org", "@", "me@x", "x.org", "mailto:", "="),
]
texts = st.lists(st.sampled_from(PIECES), min_size=2, max_size=16)


class Parsed(Blocks):
    """Blocks that take nothing for plain words."""

    def _open_prose(self) -> None:
        return None


@given(texts)
def test_added_words_leave_the_blocks_that_parsing_them_gives(pieces):
    blocks, page = Blocks("m"), []
    parsed, expected = Parsed("m"), []
    for piece in pieces:
        for each in (blocks, parsed):
            each.feed(piece)
        page, expected = patched(page, blocks.flush()), patched(expected, parsed.flush())
        assert page == expected
        assert patched([], blocks.patches_since(0)) == patched([], parsed.patches_since(0))
    assert patched(page, blocks.finish()) == render(blocks.text, "m")


@pytest.mark.parametrize(
    "begun",
    ["Some words", "- an item", "1. one\n2. two", "> said", "**Bold** and then", "a\nb", "- a\n\n  b"],
)
def test_plain_words_are_added_as_text(begun):
    blocks, _ = flushed(begun, [len(begun)])

    for words in (" of", " a sentence", ", and an end.", " Then, “more”?"[:6]):
        blocks.feed(words)
        assert blocks.flush() == [(0, None, words)]


def test_spaces_are_shown_when_something_follows_them():
    blocks, _ = flushed("Some words ", [11])

    blocks.feed(" ")
    assert blocks.flush() == []
    blocks.feed("more")
    assert blocks.flush() == [(0, None, "  more")]


@pytest.mark.parametrize(
    ("begun", "words"),
    [
        ("Some **bold", " words"),
        ("Some `code", " words"),
        ("see http://x.org/a", "b"),
        ("see me@x", ".org"),
        ("see www", ".x.org"),
        ("AT&amp", ";T"),
        ("1", ". one"),
        ("a\n1", ". one"),
        ('[a]: /b "ti', 'tle"'),
        ("# Head", " line"),
        ("a\\", "!"),
    ],
)
def test_text_that_may_be_markup_is_parsed(begun, words):
    blocks, page = flushed(begun, [len(begun)])

    blocks.feed(words)
    patches = blocks.flush()
    assert all(len(patch) == 2 for patch in patches)
    assert patched(page, patches) == flushed(begun + words, [len(begun + words)])[1]


def test_the_end_of_a_reply_of_plain_words_parses_nothing_again():
    blocks, page = flushed("Some words", [4, 10])

    blocks.feed(" more")
    assert blocks.finish() == [(0, None, " more")]
    assert patched(page, [(0, None, " more")]) == render("Some words more", "m")


def test_later_viewers_see_the_added_words():
    blocks, _ = flushed("Some *words* of & more", [10, 15, 22])

    assert patched([], blocks.patches_since(0)) == render("Some *words* of & more", "m")


def shown(text: str) -> str:
    """The HTML of a paragraph with marks for its emphasis, however it arrives."""
    html = render(text, "m")
    assert streamed(text, list(range(len(text) + 1))) == html
    marked = re.sub("<(?:strong|em|del)>", "{", re.sub("</(?:strong|em|del)>", "}", html[0]))
    return re.sub("<.*?>", "", marked)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("这是**“重点”**内容，**注意：**请看。", "这是{“重点”}内容，{注意：}请看。"),
        ("これは**「重要なこと」**です。", "これは{「重要なこと」}です。"),
        ("문서는 **마크다운(Markdown)**을 쓴다", "문서는 {마크다운(Markdown)}을 쓴다"),
        ("**`pip`**를, **[문서](https://x.org)**를", "{pip}를, {문서}를"),
        ("*《书》*是，~~（旧）~~新", "{《书》}是，{（旧）}新"),
        ("价格**50%**的**$5**元", "价格{50%}的{$5}元"),
        ("这**“x”**那**“y”**z", "这{“x”}那{“y”}z"),
        ("葛\U000e0100**(x)**城", "葛\U000e0100{(x)}城"),
        ("ﾊﾝ**（カク）**ｶﾅ", "ﾊﾝ{（カク）}ｶﾅ"),
        ("**（一）**甲\n**（二）**乙", "{（一）}甲\n{（二）}乙"),
        ("**“Well,”**he said; choose **(b)**now.", "{“Well,”}he said; choose {(b)}now."),
        ("**note:**text and **`Foo`**s, ~~old:~~new", "{note:}text and {Foo}s, {old:}new"),
        ("*“Well,”*he; **50%**off", "{“Well,”}he; {50%}off"),
        ("**Größe:**ja, **été !**oui", "{Größe:}ja, {été !}oui"),
        ("***so:***then", "{{so:}}then"),
        ("3.14**159**26 and *2*", "3.14{159}26 and {2}"),
    ],
)
def test_emphasis_that_is_meant_is_seen(text, expected):
    assert shown(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "x *(y+z)*w",
        "2**(n-1) and 3**(n)",
        "2*3*4 = 24, 1024*768*3 and `5*6*7`",
        "2**3 = 8, 2**4 = 16 and 2**5 = 32",
        "**(**foo)",
        "snake__(x)__y",
        "`这**“重点”**内`",
        "Set PATH=~/bin:~/tools:~/more",
        "about (~5 €)~(~10 €), or ~$20-~$30",
        "H~2~O and ~x~ and `~y~`",
        "~ ~a~b~c~ \\~d~",
        "http://x.org/~ann/~bob",
    ],
)
def test_other_marks_stay_as_typed(text):
    assert shown(text) == text.replace("`", "").replace("\\", "")


def test_two_tildes_strike_beside_single_ones():
    assert shown("~5 ~~old~~ ~6") == "~5 {old} ~6"


def test_tildes_in_addresses_stay():
    [html] = render("[~a](http://x.org/~u) [b]\n\n[b]: http://y.org/~v '~t~'")

    assert 'href="http://x.org/~u"' in html
    assert 'href="http://y.org/~v" title="~t~"' in html


def test_a_text_cannot_pretend_to_be_a_stand_in():
    assert "\U0010fffd" not in render("a\U0010fffdb \U0010fffc \U0010fffb **“x”**内")[0]


def test_control_characters_are_shown_as_their_pictures():
    assert neutralise_controls("\0\x07\x1b[31m\x7f") == "␀␇␛[31m␡"
    assert render("a\x1bb\0") == ['<p dir="auto">a␛b␀</p>']


def test_each_control_character_becomes_one_mark():
    assert neutralise_controls("a\x85b\x9b\ud800") == "a�b��"


def test_lines_and_tabs_stay():
    assert neutralise_controls("a\tb\r\nc") == "a\tb\r\nc"


def test_no_text_is_written_backwards():
    assert render("file\u202egpj.exe") == ['<p dir="auto">file�gpj.exe</p>']
    assert neutralise_controls("\u202d") == "�"


def test_code_does_not_change_its_direction():
    code = "if x:\u2066 # \u2069\u202a"
    assert neutralise_code(code) == "if x:� # ��"
    assert "�" in render(f"`{code}`")[0]
    assert "\u2066" not in render(f"```\n{code}\n```")[0]


def test_right_to_left_scripts_keep_their_marks_in_prose():
    assert "\u2067\u05d0\u2069\u200f" in render("\u2067\u05d0\u2069\u200f")[0]


def test_no_offset_changes():
    text = "".join(map(chr, range(0x3000))) + "\ud800\U0001f600"
    assert len(neutralise_controls(text)) == len(text)


def test_each_kind_of_line_ending_ends_a_line():
    assert render("a\r\rb\r\n\r\nc") == ['<p dir="auto">a</p>', '<p dir="auto">b</p>', '<p dir="auto">c</p>']
