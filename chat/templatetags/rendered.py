"""Rendered Markdown in templates: the only place that marks a string as safe HTML."""

from django import template
from django.utils.safestring import SafeString, mark_safe

from chat.rendering.message_html import MessageHtml

register = template.Library()


@register.filter
def rendered(html: MessageHtml) -> SafeString:
    """Mark a message's HTML as safe: its sanitised top-level blocks, unseparated, so child i is block i.

    Raises TypeError for any other type, because any other string may be unsanitised.
    """
    if not isinstance(html, MessageHtml):
        raise TypeError(f"{type(html).__name__} is not rendered HTML")
    return mark_safe(html)  # noqa: S308 (only `PageRenderer` makes it, and sanitises as its last step)
