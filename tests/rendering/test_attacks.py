"""Attacks in a model's text: none runs in a page, or makes it call another host."""

import pytest

from chat.rendering.blocks import Blocks
from chat.rendering.markdown import render
from chat.rendering.sanitise import clean

from .attacks import EXFILTRATION, SCRIPTS
from .page import Tree, faults, patched

ATTACKS = SCRIPTS + EXFILTRATION
AROUND = ["{}", "text {} text", "- {}", "> {}", "# {}", "**{}**", "[^1]\n\n[^1]: {}", "| a |\n|---|\n| {} |"]


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("around", AROUND)
def test_no_attack_leaves_anything_in_a_page_that_acts(around, attack):
    blocks = render(around.format(attack))

    assert blocks
    assert faults(blocks) == []


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_attack_acts_at_any_moment_of_the_stream(attack):
    blocks, page = Blocks(), []
    for character in f"{attack}\n\nend":
        blocks.feed(character)
        page = patched(page, blocks.flush())
        assert faults(page) == []


@pytest.mark.parametrize(
    "attack", [attack for attack in ATTACKS if attack.startswith("<") and attack[1].isalpha()]
)
def test_the_check_would_see_an_attack_that_was_not_sanitised(attack):
    assert faults([attack])


@pytest.mark.parametrize("attack", [attack for attack in ATTACKS if attack.startswith("<")])
def test_the_sanitiser_alone_would_do(attack):
    """Should the writer ever forget to escape something."""
    assert Tree(clean(f"<p>{attack}</p>")).faults == []


def test_sanitiser_denies_the_same_urls_as_the_writer():
    for address in ("javascript:alert(1)", "//evil.test/", "/settings/", "#other", "data:text/html,x", "?x"):
        assert "href" not in clean(f'<a href="{address}">x</a>')
    assert 'href="#fn-1"' in clean('<a href="#fn-1">x</a>')


def test_sanitiser_drops_foreign_styles_classes_and_ids():
    html = clean(
        '<p style="color:red" class="message" id="composer" dir="evil">x</p><div id="chat" class="x">y</div>'
    )

    assert html == '<p class="">x</p><div id="fn-chat" class="">y</div>'


@pytest.mark.parametrize("attack", EXFILTRATION[:2])
def test_an_image_is_a_link_that_says_where_it_leads(attack):
    tree = Tree(render(attack)[0])

    assert "evil.test" in tree.text
    assert {tag for tag, _ in tree.tags} <= {"p", "a", "span"}


def test_links_tell_the_other_side_nothing_and_open_apart():
    [(_, attributes)] = [tag for tag in Tree(render("[a](https://x.test)")[0]).tags if tag[0] == "a"]

    assert attributes["rel"] == "noopener noreferrer nofollow"
    assert attributes["target"] == "_blank"
