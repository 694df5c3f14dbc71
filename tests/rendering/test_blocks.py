"""A growing text as blocks: however it arrives, a page ends up with what a reload shows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.rendering.blocks import Blocks
from chat.rendering.markdown import render

from .documents import EXAMPLES, cuts_of, documents, plain_documents
from .page import faults, flushed, patched, resumed, streamed


@pytest.mark.parametrize("text", [markdown for markdown, _ in EXAMPLES])
def test_streamed_examples_end_like_whole_ones(text):
    assert streamed(text, list(range(len(text) + 1))) == render(text, "m")


@given(st.data(), documents)
def test_a_text_ends_the_same_in_whatever_pieces_it_arrives(data, text):
    assert streamed(text, data.draw(cuts_of(text))) == render(text, "m")


@given(plain_documents)
def test_closed_blocks_always_match_the_text_so_far(text):
    """All blocks but the last one are closed, or will not look otherwise for want of being closed."""
    blocks, page = Blocks("m"), []
    for length, character in enumerate(text, 1):
        blocks.feed(character)
        page = patched(page, blocks.flush())
        closed = blocks._closed
        assert page[:closed] == render(text[:length], "m")[:closed]


@given(st.data(), plain_documents)
def test_a_reader_at_any_position_is_brought_to_the_last_flush(data, text):
    blocks, page = flushed(text, data.draw(cuts_of(text)))

    position = data.draw(st.integers(0, len(text)))
    assert patched(render(text[:position], "m"), blocks.patches_since(position)) == page


@given(st.data(), documents)
def test_a_reader_at_any_position_is_brought_to_the_end(data, text):
    cuts = data.draw(cuts_of(text))
    positions = data.draw(st.lists(st.integers(0, len(text)), min_size=1, max_size=4))
    assert resumed(text, cuts, positions) == [render(text, "m")] * len(positions)


@given(st.data(), documents, st.integers(1, 60))
def test_portions_bring_a_reader_to_the_end_step_by_step(data, text, size):
    blocks, _ = flushed(text, [len(text)])
    blocks.finish()

    position = data.draw(st.integers(0, len(text)))
    page, reached = render(text[:position], "m"), -1
    while reached != len(text):
        patches, reached = blocks.patches_page(position, size)
        page = patched(page, patches)
        assert reached > position or reached == len(text)
        position = reached
    assert page == render(text, "m")


@given(documents)
def test_each_block_is_one_element_with_nothing_in_it_that_acts(text):
    assert faults(render(text, "m")) == []


def test_open_fence_grows_plain_and_is_coloured_when_closed():
    blocks, page = flushed("before\n\n```py\n", [20])
    code = '<pre tabindex="0" dir="ltr"><code></code></pre>'
    assert page[1] == f'<figure class="code"><figcaption>py</figcaption>{code}</figure>'

    blocks.feed("if x < 1:\n")
    assert blocks.flush() == [(1, None, "if x < 1:\n")]
    blocks.feed("``")
    assert blocks.flush() == []
    blocks.feed("`\n")
    assert blocks.flush() == [(1, render("```py\nif x < 1:\n```\n")[0])]


def test_a_letter_is_known_by_its_first_line_and_then_grows():
    blocks = Blocks()
    seen = []
    for piece in ("```\nDear", " Sir,", "\n", "I write"):
        blocks.feed(piece)
        seen += blocks.flush()
    letter = '<figure class="code words">'
    assert [letter in (html or "") for _, html, *_ in seen] == [False, False, True, False]
    assert seen[-1] == (0, None, "I write")


def test_a_false_end_of_a_fence_is_shown():
    blocks, _ = flushed("```text\n", [8])

    blocks.feed("``")
    assert blocks.flush() == []
    blocks.feed("x")
    assert blocks.flush() == [(0, None, "``x")]


def test_a_fence_that_the_text_ends_in_is_coloured_at_the_end():
    blocks, page = flushed("```py\nx = 1", [11])
    assert "<span" not in page[0]

    assert patched(page, blocks.finish()) == render("```py\nx = 1")
    assert "<span" in render("```py\nx = 1")[0]


def test_definition_reaches_earlier_blocks_only_at_the_end():
    text = "[a] early\n\nbetween\n\n[a]: http://x.org\n\n[a] late\n\nmore\n"
    blocks, page = flushed(text, list(range(len(text) + 1)))
    assert "href" not in page[0]
    assert "href" in page[2]

    assert [patch[0] for patch in blocks.finish()] == [0]


def test_a_footnote_applies_to_later_blocks_at_once():
    text = "[^a]: note\n\nbetween\n\nlate[^a]\n\nmore\n"
    _, page = flushed(text, list(range(len(text) + 1)))

    assert '<a href="#fn-m-a"' in page[2]


@pytest.mark.parametrize("size", [1, 7])
def test_a_heading_has_its_level_from_the_first_word_on(size):
    text = "## One\n\n> #### Two\n\nwords\n\n### Three\n\n# Four\n\nend\n"
    blocks, page = flushed(text, list(range(0, len(text) + size, size)))
    assert [html[:3] for html in page] == ["<h3", "<bl", "<p ", "<h4", "<h3", "<p "]
    assert blocks.finish() == []


def test_growing_nested_footnote_is_not_taken_for_code():
    text = "[^1]: a\n    [^2]: b\nc\n"
    _, page = flushed(text, [len("[^1]: a\n    [^2]: b\n"), len(text)])

    assert page == render(text, "m")


def test_a_fence_with_other_line_endings_is_shown_all_the_same():
    _, page = flushed("```\r\na\r\nb\r\n", [8, 14])
    assert ">a\nb\n<" in page[0]

    _, page = flushed("```\na\r\nb\r\n", [7, 12])
    assert ">a\nb\n<" in page[0]


@pytest.mark.parametrize("text", ["a\nb\nc\n\nd", "- a\n  b\n- c\nd\n", "> *a\n> b*\r> c\r\n> d\n"])
def test_line_breaks_look_the_same_while_growing(text):
    blocks, page = flushed(text, list(range(len(text) + 1)))

    assert patched(page, blocks.finish()) == render(text, "m")
    assert "<br>\n" in page[0]


def test_blocks_that_vanish_are_said_to_from_the_end_on():
    blocks = Blocks()
    blocks.feed("a\n\n[b]:\n")
    assert [patch[0] for patch in blocks.flush()] == [0, 1]

    blocks.feed("/url\n")
    assert blocks.flush() == [(1, "")]
    assert blocks.patches_since(len("a\n\n[b]:\n")) == [(0, '<p dir="auto">a</p>'), (1, "")]


def test_offsets_are_code_points_of_the_text_that_was_fed():
    text = "日本\r\n\r\n\x1b😀\n\n\ud800x\n"
    blocks, _ = flushed(text, [len(text)])

    assert [text[start] for start in blocks.starts] == ["日", "\x1b", "\ud800"]


@pytest.mark.parametrize(
    "text",
    [
        "|\n||\n|-",  # the last line of a paragraph becomes the head of a table
        "[^1]:\n    [^2]:n\nn\n\nend\n",  # a footnote ends another one from within
        "- one\n\n two\n",  # the range of a list reaches into the next line
        "[foo]\n\n> [foo]: http://u\n",  # a definition after what it changes
        "\ud800[foo]: http://u\n\n[foo]\n\nend\n",  # no encoding for it
    ],
)
def test_past_mistakes_stay_fixed_at_every_split(text):
    for cut in range(len(text) + 1):
        blocks, page = flushed(text, [cut, len(text)])
        assert patched(page, blocks.finish()) == render(text, "m")
        for position in range(len(text) + 1):
            assert patched(render(text[:position], "m"), blocks.patches_since(position)) == render(text, "m")


def test_text_that_may_need_highlighting_is_known_beforehand():
    blocks = Blocks()

    def fed(text: str) -> bool:
        blocks.feed(text)
        may = blocks.may_highlight(whole=False)
        blocks.flush()
        return may

    assert [fed(text) for text in ("words\n\n", "``", "`py\n", "x = 1\n", "y\n`", "``", "\n")] == [
        *(False, False, True, False, False, True, True)
    ]
    assert fed("\nmore\n\n")  # the fence was the last block until now
    assert not fed("and more\n\n")
    assert blocks.may_highlight(whole=True)
