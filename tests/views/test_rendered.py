"""The filter through which Markdown reaches a page."""

import re
from pathlib import Path

import pytest
from django.template import Context, Template
from django.utils.safestring import SafeString

from chat.rendering.markdown import render
from chat.rendering.message_html import MessageHtml, PageRenderer
from chat.templatetags.rendered import rendered

CHAT = Path(__file__).parent.parent.parent / "chat"
TEXT = "# One\n\n<script>alert(1)</script>\n\ntwo **three**\n\n- four"


def html() -> MessageHtml:
    return PageRenderer().html(TEXT, "m1")


def test_the_blocks_stand_side_by_side_with_nothing_between_them() -> None:
    assert rendered(html()) == "".join(render(TEXT, "m1"))
    assert isinstance(rendered(html()), SafeString)


def test_html_that_was_not_rendered_here_is_refused() -> None:
    with pytest.raises(TypeError):
        rendered(TEXT)


def test_template_filter_renders_and_drops_foreign_html() -> None:
    shown = Template("{% load rendered %}{{ html|rendered }}").render(Context({"html": html()}))
    assert "<strong>three</strong>" in shown
    assert "<script" not in shown


def test_a_comment_of_a_template_is_on_one_line() -> None:
    """Django shows people a comment that has a line break."""
    pages = CHAT.parent.joinpath("templates").rglob("*.html")
    assert [page.name for page in pages if re.search(r"\{#(?!.*#\})", page.read_text("utf-8"))] == []
