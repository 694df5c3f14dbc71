"""What all lists of the log have in common: who has the right may look, and nobody can change anything."""

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
    """Read-only for everybody, superusers too: no form, no action, and no address that takes a POST.

    The rights are Django's `view` of each table. Lists count once, and only what the filters let through.
    """

    actions = None
    empty_value_display = "–"
    list_per_page = 50
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER

    @property
    def media(self) -> Media:
        """No script: Django's are for forms and actions, 300 kB ahead of the first row."""
        return Media()

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> Any:
        """The list, under its own name: Django's would ask to select something to change."""
        title = capfirst(self.opts.verbose_name_plural)
        response = super().changelist_view(request, {"title": title, **(extra_context or {})})
        response.trusted_types = True  # type: ignore[attr-defined]
        return response

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Nobody: the chat writes the log."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Nobody: what was said was said."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Nobody; this also keeps an account from being deleted here along with what it said."""
        return False

    def history_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> Any:
        """There is none. Django's tells whether the row exists before it asks for the right."""
        raise PermissionDenied

    def get_urls(self) -> list[URLPattern]:
        """Django's own addresses, each of which can only be read."""
        urls = super().get_urls()
        for url in urls:
            url.callback = only_read(url.callback)
        return urls


class ReadOnlyListAdmin(ReadOnlyAdmin):
    """A log of which the list says it all: a page for a single row would only repeat it."""

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Only of the table, so that nothing links to a row."""
        return obj is None and super().has_view_permission(request)

    def change_view(self, request: HttpRequest, object_id: str, *_: Any, **__: Any) -> Any:
        """There is none. Django's tells whether the row exists before it asks for the right."""
        raise PermissionDenied


def only_read(view: View) -> View:
    """405 for every method that sends something; 400 for a NUL, which PostgreSQL cannot be asked about."""

    @wraps(view)
    @require_safe
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if has_nul(request.GET):
            raise BadRequest("A NUL is in no text.")
        return view(request, *args, **kwargs)

    return guarded


def has_nul(query: QueryDict) -> bool:
    return any("\0" in str(value) for values in query.lists() for value in values[1])
