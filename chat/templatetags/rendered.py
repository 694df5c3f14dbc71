"""Markdown in templates: the only place where text is declared to be safe HTML."""

from typing import Any

from django import template
from django.utils.safestring import SafeString, mark_safe

from chat.rendering.markdown import render

register = template.Library()


@register.filter
def rendered(text: str, anchors: Any = "") -> SafeString:
    """A Markdown text as its sanitised top-level blocks, with nothing between them: child i is block i.

    :param anchors: what keeps this text's footnotes apart from others', the message's id.
    """
    return mark_safe("".join(render(text, str(anchors))))  # noqa: S308 (`render` sanitises as its last step)
