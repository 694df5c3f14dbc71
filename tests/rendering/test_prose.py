"""Plain words that are added to an open paragraph, and everything that must not be taken for them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.rendering.blocks import Blocks
from chat.rendering.markdown import render

from .page import flushed, patched

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
