"""Base classes of admins without forms: for what the chat records, and for lists that only actions change."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib import admin
from django.core.exceptions import BadRequest, PermissionDenied
from django.forms import Media
from django.http import HttpRequest, QueryDict
from django.http.response import HttpResponseBase
from django.urls import URLPattern
from django.views.decorators.http import require_safe

from .mixins import ListTitleMixin

AdminView = Callable[..., HttpResponseBase]


class ReadOnlyAdmin(ListTitleMixin):
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
        """Return the list, whose page loads no script."""
        response = super().changelist_view(request, extra_context)
        response.trusted_types = True
        return response

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Return False: the chat writes these rows."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return False: the rows must stay as they were written."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return False. This also prevents the deletion of an account, which would cascade to these rows."""
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


class ActionListAdmin(ListTitleMixin):
    """A list whose rows only actions change: without a form, without a page for a single row."""

    empty_value_display = "–"
    list_display_links = None
    list_per_page = 50
    ordering = ("-created",)
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Return False: the owner creates the rows, on a page of the chat."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return False: actions revoke, and write it to the log. Other rows refer to a revoked key."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return True for the list only, for its actions."""
        return obj is None and super().has_change_permission(request)

    def change_view(self, request: HttpRequest, object_id: str, *_: Any, **__: Any) -> Any:
        """Refuse: the list already shows everything about a row."""
        raise PermissionDenied

    def history_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> Any:
        """Refuse: Django's view reveals that the row exists before it checks the right."""
        raise PermissionDenied

    def lookup_allowed(self, lookup: str, value: Any, request: Any = None) -> bool:
        """Return True for the filters' columns only: others would reveal what the list does not show."""
        return lookup.partition("__")[0] in self.list_filter


class ReadOnlyListAdmin(ReadOnlyAdmin):
    """A read-only list without pages for single rows, which would only repeat the list."""

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return False for a single row, so that nothing links to it."""
        return obj is None and super().has_view_permission(request)

    def change_view(self, request: HttpRequest, object_id: str, *_: Any, **__: Any) -> Any:
        """Refuse: Django's view reveals that the row exists before it checks the right."""
        raise PermissionDenied


def only_read(view: AdminView) -> AdminView:
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
