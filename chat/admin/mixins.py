"""Mixins of several lists of the administration."""

from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.utils.text import capfirst


class ListTitleMixin(admin.ModelAdmin):
    """Title a list with the plural name of its rows, instead of Django's “Select … to change”."""

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> Any:
        title = capfirst(self.opts.verbose_name_plural)
        return super().changelist_view(request, {"title": title, **(extra_context or {})})


class PermissionBeforeLookupMixin(admin.ModelAdmin):
    """Check the right before looking a row up for its history: Django's view reveals that the row exists."""

    def history_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> Any:
        """Return Django's page. Raises PermissionDenied: without the right, for missing rows as well."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        return super().history_view(request, object_id, extra_context)
