"""The overview of the administration, for its template."""

from typing import Any

from django import template
from django.template import Context

from chat.admin import overview as page

register = template.Library()


@register.simple_tag(takes_context=True)
def overview(context: Context) -> dict[str, Any]:
    """Return the figures, the status and the groups that the user may see."""
    return page.overview(context["request"], context["app_list"])
