"""The filter through which Markdown reaches a page."""

import re
from pathlib import Path

from django.template import Context, Template
from django.utils.safestring import SafeString

from chat.rendering.markdown import render
from chat.templatetags.rendered import rendered

CHAT = Path(__file__).parent.parent.parent / "chat"
TEXT = "# One\n\n<script>alert(1)</script>\n\ntwo **three**\n\n- four"


def test_the_blocks_stand_side_by_side_with_nothing_between_them() -> None:
    assert rendered(TEXT) == "".join(render(TEXT))
    assert isinstance(rendered(TEXT), SafeString)


def test_in_a_template_markdown_is_html_and_what_is_none_of_ours_is_gone() -> None:
    shown = Template("{% load rendered %}{{ text|rendered:id }}").render(Context({"text": TEXT, "id": "m1"}))
    assert "<strong>three</strong>" in shown
    assert "<script" not in shown


def test_nowhere_else_is_text_declared_to_be_safe() -> None:
    unescaped = re.compile(r"mark_safe|SafeString\(|SafeText|__html__|autoescape off|\|safe\b")
    sources = [*CHAT.rglob("*.py"), *CHAT.parent.joinpath("templates", "chat").rglob("*.html")]
    found = {path.name for path in sources if unescaped.search(path.read_text("utf-8"))}
    assert found == {"rendered.py"}
