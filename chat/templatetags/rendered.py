"""Markdown in templates: the only place where text is declared to be safe HTML."""

from django import template
from django.utils.safestring import SafeString, mark_safe

from chat.rendering.message_html import MessageHtml

register = template.Library()


@register.filter
def rendered(html: MessageHtml) -> SafeString:
    """A message's sanitised top-level blocks, with nothing between them: child i is block i.

    Raises TypeError for any other string, which may be anybody's.
    """
    if not isinstance(html, MessageHtml):
        raise TypeError(f"{type(html).__name__} is not rendered HTML")
    return mark_safe(html)  # noqa: S308 (only `PageRenderer` makes it, and sanitises as its last step)
