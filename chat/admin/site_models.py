"""The models that the site offers: their order, names and groups, and the default model."""

from typing import Any
from urllib.parse import quote

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.db.models import BooleanField, ExpressionWrapper, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_lazy, ngettext
from django.utils.translation import gettext_lazy as _

from chat.catalog import catalog
from chat.db.executor import write_lock
from chat.formats import decimal_number, grouped_number, short_date
from chat.models import CatalogState, SiteModel
from chat.upstream.catalog import LlmModel
from chat.views.requests.responses import HttpResponseSeeOther

from .base import ChatAdmin, LoggedValuesMixin
from .columns import groups_column, in_words
from .doors import DOWN, UP, doors_view

DEFAULT_IS_ENABLED = gettext_lazy("This is the default model. Make another one the default first.")
DEFAULT_IS_FOR_ALL = gettext_lazy("The default model must be available to everyone.")
CAPABILITY_NAMES = {
    "reasoning": _("reasoning"),
    "tools": _("tools"),
    "vision": _("vision"),
    "lora": _("finetunes"),
    "beta": _("beta"),
    "paid": _("Workers Paid only"),
}


def _shows(model: LlmModel, capability: str) -> bool:
    """Return True if the model has it. Vision counts only where pictures can be added."""
    return bool(getattr(model, capability)) and (capability != "vision" or settings.ATTACHMENTS)


class SiteModelForm(forms.ModelForm):
    """The form of a model. The default model can be neither hidden nor restricted to groups."""

    class Meta:
        widgets = {"groups": forms.CheckboxSelectMultiple}

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if self.instance.pk == default_model_id():
            if not data.get("enabled", True):
                self.add_error("enabled", ValidationError(DEFAULT_IS_ENABLED, code="default"))
            if data.get("groups"):
                self.add_error("groups", ValidationError(DEFAULT_IS_FOR_ALL, code="default"))
        return data


class EndedFilter(admin.SimpleListFilter):
    """Filter that hides the models that Cloudflare no longer lists, unless they are chosen."""

    title = _("at Cloudflare")
    parameter_name = "ended"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("yes", _("No longer listed"))]

    def choices(self, changelist: Any) -> Any:
        every, *others = super().choices(changelist)
        return [every | {"display": _("Listed")}, *others]

    def queryset(self, request: HttpRequest, queryset: QuerySet) -> QuerySet:
        match = request.resolver_match
        if match is None or match.url_name != "chat_sitemodel_changelist":
            return queryset
        return queryset.filter(delisted_at__isnull=self.value() != "yes")


@admin.register(SiteModel)
class SiteModelAdmin(LoggedValuesMixin, ChatAdmin):
    """The models. The administrator's settings can be changed; Cloudflare's descriptions are read-only."""

    form = SiteModelForm
    list_display = (
        "name_", "order_", "enabled", "is_default_", "groups_", "context_window", "price", "abilities",
        "retires",
    )  # fmt: skip
    list_filter = ("enabled", EndedFilter, "source", "groups")
    list_per_page = 200
    search_fields = ("id", "display_name")
    ordering = ("position", "id")
    actions = ("show", "hide", "make_default")
    fields = (
        "name_", "display_name", "enabled", "is_default_", "groups", "context_window", "max_output",
        "price", "abilities", "retires", "source",
    )  # fmt: skip
    readonly_fields = (
        "name_", "is_default_", "context_window", "max_output", "price", "abilities", "retires", "source"
    )  # fmt: skip
    groups_ = groups_column

    def get_queryset(self, request: HttpRequest) -> QuerySet:
        """Return the rows with `is_site_default`: the default may also come from the settings."""
        is_site_default = ExpressionWrapper(Q(pk=default_model_id()), output_field=BooleanField())
        rows = super().get_queryset(request).annotate(is_site_default=is_site_default)
        return rows.prefetch_related("groups")

    @admin.display(description=_("model"), ordering="id")
    def name_(self, obj: SiteModel) -> SafeString:
        return format_html("<bdi>{}</bdi><br><code>{}</code>", _model(obj).name, obj.pk)

    @admin.display(description=_("order"), ordering="position")
    def order_(self, obj: SiteModel) -> SafeString:
        """Two buttons, which send the row's key: see `changelist_view`."""
        return format_html_join(
            " ",
            '<button class="button" id="{0}-{1}" name="{0}" value="{1}" aria-label="{2}">{3}</button>',
            [
                (UP, obj.pk, gettext("Move %(name)s up") % {"name": _model(obj).name}, "↑"),
                (DOWN, obj.pk, gettext("Move %(name)s down") % {"name": _model(obj).name}, "↓"),
            ],
        )

    @admin.display(description=_("default"))
    def is_default_(self, obj: SiteModel) -> str:
        return gettext("yes") if getattr(obj, "is_site_default", obj.is_default) else "–"

    @admin.display(description=_("window"))
    def context_window(self, obj: SiteModel) -> str:
        return _tokens(_model(obj).window or None, observed=obj.observed_limits[0] is not None)

    @admin.display(description=_("longest reply"))
    def max_output(self, obj: SiteModel) -> str:
        return _tokens(_model(obj).max_output, observed=obj.observed_limits[1] is not None)

    @admin.display(description=_("$ per million tokens in / out"))
    def price(self, obj: SiteModel) -> str:
        model = _model(obj)
        if model.price_in is None or model.price_out is None:
            return gettext("unknown")
        if not model.price_in and not model.price_out:
            return gettext("free")
        return f"{_dollars(model.price_in)} / {_dollars(model.price_out)}"

    @admin.display(description=_("abilities"))
    def abilities(self, obj: SiteModel) -> str:
        model = _model(obj)
        return ", ".join(str(words) for name, words in CAPABILITY_NAMES.items() if _shows(model, name)) or "–"

    @admin.display(description=_("retires"))
    def retires(self, obj: SiteModel) -> str:
        """The day on which the model retires, or the time since which it is gone."""
        if obj.has_ended and (since := obj.delisted_at or obj.last_rejected):
            return gettext("gone since %(day)s") % {"day": in_words(since)}
        retires = _model(obj).retires
        return short_date(retires) if retires else "–"

    @admin.action(description=_("Show"), permissions=["change"])
    def show(self, request: HttpRequest, queryset: QuerySet) -> None:
        self._set_enabled(request, queryset, enabled=True)

    @admin.action(description=_("Hide"), permissions=["change"])
    def hide(self, request: HttpRequest, queryset: QuerySet) -> None:
        if queryset.filter(pk=default_model_id()).exists():
            messages.error(request, DEFAULT_IS_ENABLED)
            return
        self._set_enabled(request, queryset, enabled=False)

    @admin.action(description=_("Set as default"), permissions=["change"])
    def make_default(self, request: HttpRequest, queryset: QuerySet) -> None:
        """Make the selected model the default, if every user can choose it now."""
        with write_lock(), transaction.atomic():
            chosen = list(queryset.select_for_update().order_by("pk"))
            if refusal := _why_not_default(chosen):
                messages.error(request, refusal)
                return
            SiteModel.objects.put_default(chosen[0].pk)
            CatalogState.objects.bump_version()
        self.log_change(request, chosen[0], gettext("Set as default."))
        messages.success(
            request, gettext("%(name)s is now the default model.") % {"name": _model(chosen[0]).name}
        )

    def _set_enabled(self, request: HttpRequest, queryset: QuerySet, *, enabled: bool) -> None:
        with write_lock(), transaction.atomic():
            changed = list(queryset.exclude(enabled=enabled))
            queryset.update(enabled=enabled)
            CatalogState.objects.bump_version()
        for row in changed:
            self.log_change(request, row, gettext("Shown.") if enabled else gettext("Hidden."))
        message = ngettext("%(n)s model was changed.", "%(n)s models were changed.", len(changed))
        messages.success(request, message % {"n": len(changed)})

    def _move(self, request: HttpRequest, key: str, step: int) -> None:
        """Exchange a model with its neighbour in the list as it is shown, which may be filtered."""
        if not self.has_change_permission(request):
            raise PermissionDenied
        shown = list(self.get_changelist_instance(request).get_queryset(request).order_by(*self.ordering))
        at = next((n for n, row in enumerate(shown) if row.pk == key), None)
        if at is None or not 0 <= at + step < len(shown):
            return
        with write_lock(), transaction.atomic():
            SiteModel.objects.exchange(key, shown[at + step].pk)
            CatalogState.objects.bump_version()
        self.log_change(request, shown[at], gettext("Moved up.") if step < 0 else gettext("Moved down."))

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        """Increment the version after the groups are saved, so that every process reads them again."""
        super().save_related(request, form, formsets, change)
        CatalogState.objects.bump_version()

    def get_urls(self) -> list[URLPattern]:
        own = [path("doors/", self.admin_site.admin_view(self.doors), name="chat_sitemodel_doors")]
        return own + super().get_urls()

    def doors(self, request: HttpRequest) -> HttpResponse:
        """Return the page of the doors. Raises PermissionDenied."""
        if not self.has_change_permission(request):
            raise PermissionDenied
        return doors_view(self, request)

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> Any:
        """Return the list, with the age of Cloudflare's list as its subtitle; or move a model in it."""
        for direction, step in ((UP, -1), (DOWN, 1)):
            if key := request.POST.get(direction):
                self._move(request, key, step)
                return HttpResponseSeeOther(f"{request.get_full_path()}#{direction}-{quote(key)}")
        more = {"subtitle": _list_age(), "can_change": self.has_change_permission(request)}
        return super().changelist_view(request, more | (extra_context or {}))

    def get_list_display(self, request: HttpRequest) -> Any:
        """Return the columns, without the buttons for those who may only look."""
        can_change = self.has_change_permission(request)
        return [name for name in self.list_display if can_change or name != "order_"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Return False: models come from Cloudflare's list and from this site's settings."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return False: the next fetch of the list would bring the model back. Hide it instead."""
        return False


def default_model_id() -> str:
    """Return the id of the default model, from the database and the settings as they are now."""
    return catalog.load_catalog(catalog.site_models()).default.id


def _model(row: SiteModel) -> LlmModel:
    """Return the model of a row; one that only an earlier version of this software knew has just its id."""
    return catalog.apply_overrides(row, catalog.declared_model(row) or LlmModel(row.pk, row.pk, window=0))


def _dollars(price: float) -> str:
    """Return a price with three decimals, or with two if the third is 0."""
    return decimal_number(price, 2 if f"{price:.3f}".endswith("0") else 3)


def _tokens(number: int | None, *, observed: bool) -> str:
    if number is None:
        return "–"
    return gettext("%(n)s (learnt)") % {"n": grouped_number(number)} if observed else grouped_number(number)


def _why_not_default(chosen: list[SiteModel]) -> str:
    """Return the reason why these cannot be made the default; "" if they can."""
    if len(chosen) != 1:
        return gettext("Choose one model.")
    (row,) = chosen
    if not row.enabled or catalog.has_ended(row, _model(row)):
        return gettext("Only a model that is shown and still available can be the default.")
    return str(DEFAULT_IS_FOR_ALL) if row.groups.exists() else ""


def _list_age() -> str:
    state = CatalogState.objects.filter(pk=CatalogState.ONLY).first()
    if state is None or (state.fetched is None and not state.error):
        return gettext("Cloudflare’s model list hasn’t been fetched yet.")
    if state.fetched is None:
        return gettext(
            "Cloudflare’s model list couldn’t be fetched (%(why)s). These models are built in."
        ) % {"why": state.error}
    sentence = gettext("Cloudflare’s model list was last updated on %(when)s.") % {
        "when": in_words(state.fetched)
    }
    failed = gettext(" The latest attempt failed (%(why)s).") % {"why": state.error}
    return sentence + failed if state.error else sentence
