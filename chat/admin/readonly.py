"""Base classes for the admin of the log: readable with the right to view, changeable by no user."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib import admin
from django.core.exceptions import BadRequest, PermissionDenied
from django.forms import Media
from django.http import HttpRequest, QueryDict
from django.http.response import HttpResponseBase
from django.urls import URLPattern
from django.utils.text import capfirst
from django.views.decorators.http import require_safe

View = Callable[..., HttpResponseBase]


class ReadOnlyAdmin(admin.ModelAdmin):
    """Read-only for all users, superusers too: no form, no action, and no URL that accepts POST.

    The right is Django's `view` permission of each model. Lists run one COUNT query, of the filtered rows.
    """

    actions = None
    empty_value_display = "–"
    list_per_page = 50
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER

    @property
    def media(self) -> Media:
        """No scripts: Django's serve forms and actions, and would load 300 kB before the first row."""
        return Media()

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> Any:
        """Return the list, titled with the model's name: Django's title asks to select a row to change."""
        title = capfirst(self.opts.verbose_name_plural)
        response = super().changelist_view(request, {"title": title, **(extra_context or {})})
        response.trusted_types = True  # type: ignore[attr-defined]
        return response

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Return False: the chat writes the log."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return False: the log must show what was written."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return False. This also prevents the deletion of an account, which would cascade to its log."""
        return False

    def history_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> Any:
        """Refuse: Django's view reveals that the row exists before it checks the right."""
        raise PermissionDenied

    def get_urls(self) -> list[URLPattern]:
        """Return Django's own URLs, each restricted to safe methods."""
        urls = super().get_urls()
        for url in urls:
            url.callback = only_read(url.callback)
        return urls


class ReadOnlyListAdmin(ReadOnlyAdmin):
    """A log without pages for single rows, which would only repeat the list."""

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return False for a single row, so that nothing links to it."""
        return obj is None and super().has_view_permission(request)

    def change_view(self, request: HttpRequest, object_id: str, *_: Any, **__: Any) -> Any:
        """Refuse: Django's view reveals that the row exists before it checks the right."""
        raise PermissionDenied


def only_read(view: View) -> View:
    """Decorate a view to answer 405 to unsafe methods, and 400 to a NUL, which PostgreSQL does not accept."""

    @wraps(view)
    @require_safe
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if has_nul(request.GET):
            raise BadRequest("A NUL is in no text.")
        return view(request, *args, **kwargs)

    return guarded


def has_nul(query: QueryDict) -> bool:
    return any("\0" in str(value) for values in query.lists() for value in values[1])
