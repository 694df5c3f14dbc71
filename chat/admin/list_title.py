"""The title of a list: the plural name of its rows, instead of Django's “Select … to change”."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.text import capfirst


class ListTitleMixin(admin.ModelAdmin):
    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> Any:
        """Return the list, titled with the model's name unless `extra_context` has a title."""
        title = capfirst(self.opts.verbose_name_plural)
        return super().changelist_view(request, {"title": title, **(extra_context or {})})
