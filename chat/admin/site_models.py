"""The models that the site offers: their order, names and groups, and the default model."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_lazy, ngettext
from django.utils.translation import gettext_lazy as _

from chat.db import write_lock
from chat.formats import grouped_number
from chat.model_catalog import catalog
from chat.models import ModelList, OfferedModel
from chat.upstream.catalogue import LlmModel

from .formats import in_words
from .object_history import PermissionBeforeLookupMixin

DEFAULT_IS_SHOWN = gettext_lazy("This is the model of new conversations. Make another one the default first.")
DEFAULT_IS_FOR_ALL = gettext_lazy("The model of new conversations is for everybody.")
CAPABILITIES = {
    "reasoning": _("reasoning"),
    "vision": _("vision"),
    "tools": _("tools"),
    "lora": _("finetunes"),
    "beta": _("beta"),
    "paid": _("needs Workers Paid"),
}


class OfferForm(forms.ModelForm):
    """The form of a model. The default model can be neither hidden nor restricted to groups."""

    class Meta:
        widgets = {"groups": forms.CheckboxSelectMultiple}

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if self.instance.pk == default():
            if not data.get("shown", True):
                self.add_error("shown", ValidationError(DEFAULT_IS_SHOWN, code="default"))
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
        if match is None or match.url_name != "chat_offeredmodel_changelist":
            return queryset
        return queryset.filter(gone__isnull=self.value() != "yes")


@admin.register(OfferedModel)
class OfferedModelAdmin(PermissionBeforeLookupMixin):
    """The models. The administrator's settings can be changed; Cloudflare's descriptions are read-only."""

    form = OfferForm
    list_display = (
        "called", "position", "shown", "default", "theirs", "window", "price", "abilities", "retires"
    )  # fmt: skip
    list_editable = ("position",)
    list_filter = ("shown", EndedFilter, "source", "groups")
    list_per_page = 200
    search_fields = ("id", "own_name")
    ordering = ("position", "id")
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    actions = ("show", "hide", "make_default")
    fields = (
        "id", "own_name", "position", "shown", "default", "groups", "window", "output", "price", "abilities",
        "retires", "source",
    )  # fmt: skip
    readonly_fields = (
        "id", "default", "window", "output", "price", "abilities", "retires", "source"
    )  # fmt: skip

    def get_queryset(self, request: HttpRequest) -> QuerySet:
        return super().get_queryset(request).prefetch_related("groups")

    @admin.display(description=_("model"), ordering="id")
    def called(self, obj: OfferedModel) -> SafeString:
        return format_html("<bdi>{}</bdi><br><code>{}</code>", _model(obj).name, obj.pk)

    @admin.display(description=_("default"))
    def default(self, obj: OfferedModel) -> str:
        return gettext("yes") if obj.is_default else "–"

    @admin.display(description=_("groups"))
    def theirs(self, obj: OfferedModel) -> SafeString | str:
        names = [(group.name,) for group in obj.groups.all()]
        return format_html_join(", ", "<bdi>{}</bdi>", names) or gettext("everybody")

    @admin.display(description=_("window"))
    def window(self, obj: OfferedModel) -> str:
        return _tokens(_model(obj).window or None, learnt=obj.learnt_window is not None)

    @admin.display(description=_("longest reply"))
    def output(self, obj: OfferedModel) -> str:
        return _tokens(_model(obj).max_output, learnt=obj.learnt_output is not None)

    @admin.display(description=_("$ a million tokens in / out"))
    def price(self, obj: OfferedModel) -> str:
        model = _model(obj)
        if model.price_in is None or model.price_out is None:
            return "–"
        return f"{_dollars(model.price_in)} / {_dollars(model.price_out)}"

    @admin.display(description=_("abilities"))
    def abilities(self, obj: OfferedModel) -> str:
        model = _model(obj)
        return ", ".join(str(words) for name, words in CAPABILITIES.items() if getattr(model, name)) or "–"

    @admin.display(description=_("retires"))
    def retires(self, obj: OfferedModel) -> str:
        """The day on which the model retires, or the time since which it is gone."""
        if obj.has_ended and (since := obj.gone or obj.refused):
            return gettext("gone since %(day)s") % {"day": in_words(since)}
        retires = _model(obj).retires
        return retires.isoformat() if retires else "–"

    @admin.action(description=_("Show"), permissions=["change"])
    def show(self, request: HttpRequest, queryset: QuerySet) -> None:
        self._decide(request, queryset, shown=True)

    @admin.action(description=_("Hide"), permissions=["change"])
    def hide(self, request: HttpRequest, queryset: QuerySet) -> None:
        if queryset.filter(pk=default()).exists():
            messages.error(request, DEFAULT_IS_SHOWN)
            return
        self._decide(request, queryset, shown=False)

    @admin.action(description=_("Make the default"), permissions=["change"])
    def make_default(self, request: HttpRequest, queryset: QuerySet) -> None:
        """Make the selected model the default, if every user can choose it now."""
        with write_lock(), transaction.atomic():
            chosen = list(queryset.select_for_update().order_by("pk"))
            if refusal := _no_default(chosen):
                messages.error(request, refusal)
                return
            OfferedModel.objects.put_default(chosen[0].pk)
            ModelList.objects.bump_version()
        self.log_change(request, chosen[0], gettext("Made the default."))
        messages.success(
            request, gettext("New conversations begin with %(name)s.") % {"name": _model(chosen[0]).name}
        )

    def _decide(self, request: HttpRequest, queryset: QuerySet, *, shown: bool) -> None:
        with write_lock(), transaction.atomic():
            changed = list(queryset.exclude(shown=shown))
            queryset.update(shown=shown)
            ModelList.objects.bump_version()
        for row in changed:
            self.log_change(request, row, gettext("Shown.") if shown else gettext("Hidden."))
        said = ngettext("%(n)s model was changed.", "%(n)s models were changed.", len(changed))
        messages.success(request, said % {"n": len(changed)})

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        """Increment the version after the groups are saved, so that every process reads them again."""
        super().save_related(request, form, formsets, change)
        ModelList.objects.bump_version()

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> Any:
        """Return the list, with the age of Cloudflare's list as its subtitle."""
        return super().changelist_view(
            request, {"title": _("Models"), "subtitle": _age(), **(extra_context or {})}
        )

    def get_actions(self, request: HttpRequest) -> Any:
        """Return the class's own actions only, without Django's deletion."""
        actions = super().get_actions(request)
        actions.pop("delete_selected", None)
        return actions

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Return False: models come from Cloudflare's list and from this site's settings."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return False: the next fetch of the list would bring the model back. Hide it instead."""
        return False


def default() -> str:
    """Return the id of the default model, from the database and the settings as they are now."""
    return catalog.load_catalog(catalog.site_models()).default.id


def _model(row: OfferedModel) -> LlmModel:
    """Return the model of a row; one that only an earlier version of this software knew has just its id."""
    return catalog.apply_overrides(row, catalog.declared_model(row) or LlmModel(row.pk, row.pk, window=0))


def _dollars(price: float) -> str:
    """Return a price with three decimals, or with two if the third is 0."""
    return f"{price:.3f}".removesuffix("0")


def _tokens(number: int | None, *, learnt: bool) -> str:
    if number is None:
        return "–"
    return gettext("%(n)s (learnt)") % {"n": grouped_number(number)} if learnt else grouped_number(number)


def _no_default(chosen: list[OfferedModel]) -> str:
    """Return the reason why these cannot be made the default; "" if they can."""
    if len(chosen) != 1:
        return gettext("Choose one model.")
    (row,) = chosen
    if not row.shown or catalog.has_ended(row, _model(row)):
        return gettext("It must be shown, and still be there.")
    return str(DEFAULT_IS_FOR_ALL) if row.groups.exists() else ""


def _age() -> str:
    there = ModelList.objects.filter(pk=ModelList.ONLY).first()
    if there is None or (there.fetched is None and not there.error):
        return gettext("Cloudflare’s list of models was not fetched yet.")
    if there.fetched is None:
        return gettext(
            "Cloudflare’s list of models could not be fetched (%(why)s); these are known without it."
        ) % {"why": there.error}
    said = gettext("Cloudflare’s list of models is of %(when)s.") % {"when": in_words(there.fetched)}
    failed = gettext(" The latest attempt failed (%(why)s).") % {"why": there.error}
    return said + failed if there.error else said
