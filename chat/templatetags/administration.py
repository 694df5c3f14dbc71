"""Template tags of the administration: its bar, and its overview."""

from typing import Any

from django import template
from django.template import Context

from chat.admin import bar as groups
from chat.admin import columns
from chat.admin import overview as page

register = template.Library()
register.filter("moment", columns.moment)


@register.simple_tag(takes_context=True)
def bar(context: Context) -> list[groups.Group]:
    """Return the pages that the user may see, in groups."""
    return groups.bar(context["request"], context.get("available_apps"))


@register.simple_tag(takes_context=True)
def overview(context: Context) -> dict[str, Any]:
    """Return the figures and the status that the user may see."""
    return page.overview(context["request"])
