"""Mixins of several lists of the administration."""

from collections.abc import Iterable
from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.forms import PasswordInput
from django.http import HttpRequest
from django.utils.text import capfirst

MAX_LOGGED_CHARS = 200


class ListTitleMixin(admin.ModelAdmin):
    """Title a list with the plural name of its rows, instead of Django's “Select … to change”."""

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> Any:
        title = capfirst(self.opts.verbose_name_plural)
        return super().changelist_view(request, {"title": title, **(extra_context or {})})


class LoggedValuesMixin(admin.ModelAdmin):
    """Log not only which fields were changed, but also their values before and after."""

    def construct_change_message(
        self, request: HttpRequest, form: Any, formsets: Any, add: bool = False
    ) -> list[dict[str, dict[str, list[str]]]]:
        if add or not form.changed_data:
            return super().construct_change_message(request, form, formsets, add)
        return [{"changed": {"fields": [_change(form, name) for name in form.changed_data]}}]


def _change(form: Any, name: str) -> str:
    """Return the name of a field, and its values if it is no secret."""
    if name not in form.fields or isinstance(form.fields[name].widget, PasswordInput):
        return name
    return f"{name} ({_logged(form[name].initial)} → {_logged(form.cleaned_data[name])})"


def _logged(value: Any) -> str:
    """Return a value as a short text: rows by their names, texts cut."""
    several = isinstance(value, Iterable) and not isinstance(value, str)
    text = ", ".join(sorted(map(str, value))) if several else str("" if value is None else value)
    return (text[:MAX_LOGGED_CHARS] + "…" if len(text) > MAX_LOGGED_CHARS else text) or "–"


class PermissionBeforeLookupMixin(admin.ModelAdmin):
    """Check the right before looking a row up for its history: Django's view reveals that the row exists."""

    def history_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> Any:
        """Return Django's page. Raises PermissionDenied: without the right, for missing rows as well."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        return super().history_view(request, object_id, extra_context)
