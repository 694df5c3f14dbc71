"""Base classes of the lists and pages of the administration."""

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any
from urllib.parse import urlsplit

from django import forms
from django.conf import settings
from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.contrib.admin.widgets import RelatedFieldWidgetWrapper
from django.core.exceptions import BadRequest, PermissionDenied
from django.forms import Media, PasswordInput
from django.http import HttpRequest, QueryDict
from django.http.response import HttpResponseBase
from django.template.response import TemplateResponse
from django.urls import URLPattern
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _
from django.utils.translation import override
from django.views.decorators.http import require_safe

from chat.accounts.forms import MAX_PASSWORD_CHARS
from chat.exceptions import ServiceOverloaded, WrongPassword
from chat.views.accounts.login import confirm, confirm_in_turn
from chat.views.requests.access import get_user

MAX_LOGGED_CHARS = 200

AdminView = Callable[..., HttpResponseBase]


class ChatAdmin(admin.ModelAdmin):
    """A list of the chat. Facets stay off, and so does the number of all rows, because both count."""

    empty_value_display = "–"
    list_per_page = 50
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    changelist: type[ChangeList] = ChangeList
    title: Any = ""  # of the list, and its name in the bar, in place of the plural of its rows
    has_pages = True  # for single rows; without them, only the history of the list's actions is kept
    has_history = True

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return self.changelist

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> Any:
        """Title a list with its name, instead of Django's “Select … to change”."""
        title = self.title or capfirst(self.opts.verbose_name_plural)
        return super().changelist_view(request, {"title": title, **(extra_context or {})})

    def change_view(self, request: HttpRequest, object_id: str, *args: Any, **kwargs: Any) -> Any:
        """Refuse the page of a row where the list already shows everything about it."""
        if not self.has_pages:
            raise PermissionDenied
        return super().change_view(request, object_id, *args, **kwargs)

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **more: Any
    ) -> Any:
        """Title the page of a row with the row's name, which Django shows below “Change …”."""
        if more.get("change") and context.get("subtitle"):
            context |= {"title": context["subtitle"], "subtitle": None}
        return super().render_change_form(request, context, *args, **more)

    def formfield_for_dbfield(self, db_field: Any, request: Any, **kwargs: Any) -> Any:
        """Return the field without Django's buttons beside it, which open forms in windows of their own."""
        field: Any = super().formfield_for_dbfield(db_field, request, **kwargs)
        if field and isinstance(field.widget, RelatedFieldWidgetWrapper):
            field.widget = field.widget.widget
        return field

    def history_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> Any:
        """Return Django's page. Raises PermissionDenied: without the right, for missing rows as well.

        Django's view looks the row up first, which reveals that it exists.
        """
        if not (self.has_pages and self.has_history and self.has_view_permission(request)):
            raise PermissionDenied
        return super().history_view(request, object_id, {"title": _("History"), **(extra_context or {})})

    def page(self, request: HttpRequest, template: str, title: Any, **more: Any) -> TemplateResponse:
        """Return a page of this model that is no list and no form of Django's."""
        context = {**self.admin_site.each_context(request), "title": title, "opts": self.opts, **more}
        return TemplateResponse(request, f"admin/chat/{self.opts.model_name}/{template}.html", context)

    def link_page(self, request: HttpRequest, title: Any, **more: Any) -> TemplateResponse:
        """Return the page that shows a link to be passed on."""
        here = urlsplit(settings.SITE_URL).hostname in ("localhost", "127.0.0.1", "::1")
        return self.page(request, "link", title, opens_here_only=here, **more)


class ReadOnlyAdmin(ChatAdmin):
    """Read-only for all users, superusers too: no form, no action, and no URL that accepts POST.

    The right is Django's `view` permission of each model.
    """

    actions = None
    has_history = False

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

    def get_urls(self) -> list[URLPattern]:
        """Return Django's own URLs, each restricted to safe methods."""
        urls = super().get_urls()
        for url in urls:
            url.callback = only_read(url.callback)
        return urls


class ReadOnlyListAdmin(ReadOnlyAdmin):
    """A read-only list without pages for single rows, which would only repeat the list."""

    list_display_links = None
    has_pages = False

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return False for a single row, so that nothing links to it."""
        return obj is None and super().has_view_permission(request)


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


class LoggedValuesMixin(admin.ModelAdmin):
    """Log not only which fields were changed, but also their values before and after."""

    def construct_change_message(
        self, request: HttpRequest, form: Any, formsets: Any, add: bool = False
    ) -> list[dict[str, dict[str, list[str]]]]:
        names = [name for name in form.changed_data if name != "current"]
        if add or not names:
            return super().construct_change_message(request, form, formsets, add) if add else []
        with override("en"):  # the log has one language, whoever writes it
            return [{"changed": {"fields": [_change(form, name) for name in names]}}]


def _change(form: Any, name: str) -> str:
    """Return the name of a field, and its values if it is no secret."""
    if name not in form.fields or isinstance(form.fields[name].widget, PasswordInput):
        return name
    words = getattr(form.fields[name], "label_from_instance", str)
    return f"{name} ({_logged(form[name].initial, words)} → {_logged(form.cleaned_data[name], words)})"


def _logged(value: Any, words: Callable[[Any], str]) -> str:
    """Return a value as a short text: rows in words, texts cut."""
    several = isinstance(value, Iterable) and not isinstance(value, str)
    text = ", ".join(sorted(map(words, value))) if several else str("" if value is None else value)
    return (text[:MAX_LOGGED_CHARS] + "…" if len(text) > MAX_LOGGED_CHARS else text) or "–"


class OwnPasswordForm(forms.Form):
    """A form that asks for the password of who fills it in. An async view calls `confirmed_in_turn`.

    A session alone, perhaps a stolen one, must not give access to an account, change what one may do, or
    decide where texts go: so this is asked when an account or a group is saved, another person's password
    set, a link for one made, an API key allowed to set AI Gateway options, a tool server saved or deleted, or
    a Cloudflare account connected or disconnected. What takes something away from a key (an action of the
    list), and a new account or invitation, which has no rights, does not ask. Nor does a choice among the
    models that the settings and the connected account offer.
    """

    current = forms.CharField(
        label=_("Your own password"),
        strip=False,
        max_length=MAX_PASSWORD_CHARS,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if len(self.fields) == 1:  # nothing else to fill in
            self.fields["current"].widget.attrs["autofocus"] = True

    async def confirmed_in_turn(self, request: HttpRequest) -> bool:
        """Return True if everything is valid. The password is checked last, in the person's turn."""
        if not self.is_valid():
            return False
        try:
            await confirm_in_turn(request, get_user(request), self.cleaned_data["current"])
        except (WrongPassword, ServiceOverloaded) as refusal:
            self.add_error("current", refusal.message)
        return not self.errors


class ConfirmedForm(OwnPasswordForm):
    """The same form for Django's views, which set `request`."""

    request: HttpRequest

    def _post_clean(self) -> None:
        """Check the password last, so that a form with other errors costs no hash and counts no failure."""
        super()._post_clean()  # type: ignore[misc]  # validates the model
        if self.errors:
            return
        user: Any = self.request.user
        try:
            confirm(self.request, user, self.cleaned_data["current"])
        except (WrongPassword, ServiceOverloaded) as refusal:
            self.add_error("current", refusal.message)


class ConfirmedFormMixin(admin.ModelAdmin):
    """Give a `ConfirmedForm` the request, and leave its field out where nothing can be saved."""

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        found = super().get_fieldsets(request, obj)
        if obj is None or self.has_change_permission(request, obj):
            return found
        kept = [
            (title, [name for name in more["fields"] if name != "current"], more) for title, more in found
        ]
        return [(title, {**more, "fields": fields}) for title, fields, more in kept if fields]

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        form: Any = super().get_form(request, obj, change=change, **kwargs)
        form.request = request
        return form
