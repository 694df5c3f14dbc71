"""The page of the doors: the names under which people see a few of the models first."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from chat.catalog import catalog
from chat.models import SiteDoor
from chat.upstream.catalog import Catalog
from chat.upstream.doors import KINDS, MAX_DOORS, MIN_DOORS, PICTURES
from chat.views.model_picker import DOORS
from chat.views.requests.responses import HttpResponseSeeOther

UP, DOWN = "up", "down"


class DoorForm(forms.Form):
    """One door. That of a kind may leave its words and its model to the kind; another one has both."""

    kind = forms.ChoiceField(
        choices=[(kind, kind) for kind in ("", *KINDS)], required=False, widget=forms.HiddenInput
    )
    shown = forms.BooleanField(required=False)
    name = forms.CharField(required=False, max_length=30)
    about = forms.CharField(required=False, max_length=100)
    model = forms.ChoiceField(required=False)

    def __init__(self, *args: Any, offered: Catalog, suited: Mapping[str, str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        kind = self["kind"].value()
        name, about = DOORS.get(kind, ("", ""))
        number = int(str(self.prefix).rpartition("-")[2]) + 1
        self.title = self["name"].value() or name or gettext("Door %(number)s") % {"number": number}
        self.can_move = bool(self["shown"].value() and (kind or self["name"].value()))
        models = [model for model in offered if model.vision or kind != PICTURES]
        automatic = offered.name_of(suited[kind]) if kind in suited else ""
        first = gettext("Automatic (%(name)s)") % {"name": automatic} if automatic else "–"
        self.fields["model"].choices = [("", first), *((model.id, model.name) for model in models)]  # type: ignore[attr-defined]
        labels = {
            "shown": _("Show %(door)s"),
            "name": _("Name of %(door)s"),
            "about": _("Sentence of %(door)s"),
            "model": _("Model of %(door)s"),
        }
        for field, label in labels.items():
            self.fields[field].widget.attrs["aria-label"] = label % {"door": self.title}
        self.fields["name"].widget.attrs["placeholder"] = name or gettext("Name")
        self.fields["about"].widget.attrs["placeholder"] = about or gettext("Sentence")

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if self.is_door and not data.get("kind") and not (data.get("name") and data.get("model")):
            raise ValidationError(gettext("A door that you add needs a name and a model."))
        return data

    @property
    def is_door(self) -> bool:
        """True if the row is to be stored: an empty one of the site's own is not."""
        data = self.cleaned_data
        return bool(data.get("shown")) and bool(data.get("kind") or data.get("name") or data.get("model"))

    @property
    def row(self) -> SiteDoor:
        fields = {name: self.cleaned_data.get(name, "") for name in ("kind", "name", "about", "model")}
        return SiteDoor(**fields)


class DoorFormSet(forms.BaseFormSet):
    """All rows: from `MIN_DOORS` to `MAX_DOORS` of them are doors, and each kind is there once."""

    def clean(self) -> None:
        if any(self.errors):
            return
        kinds = [form.cleaned_data["kind"] for form in self.forms if form.cleaned_data.get("kind")]
        if len(kinds) > len(set(kinds)):
            raise ValidationError(gettext("Two doors are of the same kind. Show each kind once."))
        if not MIN_DOORS <= len(self.arrange()[0]) <= MAX_DOORS:
            words = gettext("Show at least %(least)s doors and at most %(most)s.")
            raise ValidationError(words % {"least": MIN_DOORS, "most": MAX_DOORS})

    @property
    def last(self) -> DoorForm | None:
        """The last row that can be moved, which cannot go down."""
        return next((form for form in reversed(self.forms) if form.can_move), None)

    def arrange(self) -> tuple[list[SiteDoor], int | None]:
        """Return the doors to store, and the place of the one for which a button to move it was pressed."""
        moved = None
        doors = [form for form in self.forms if form.is_door]
        for direction, step in ((UP, -1), (DOWN, 1)):
            pressed = [form for n, form in enumerate(self.forms) if self.data.get(direction) == str(n)]
            if pressed and pressed[0] in doors:
                at = doors.index(pressed[0])
                moved = min(max(0, at + step), len(doors) - 1)
                doors.insert(moved, doors.pop(at))
        return [form.row for form in doors], moved


MAX_ROWS = MAX_DOORS + len(KINDS)  # the kinds that are not shown can be shown again
FormSet = forms.formset_factory(
    DoorForm, formset=DoorFormSet, extra=0, max_num=MAX_ROWS, validate_max=True, absolute_max=MAX_ROWS
)


def doors_view(model_admin: Any, request: HttpRequest) -> HttpResponse:
    """Show the doors, or store the sent ones. A button that moves one stores all, too."""
    offered = catalog.load_catalog(catalog.site_models())
    restricted = [model.id for model in offered if offered.is_restricted(model)]
    suited = catalog.suited_models({model.id: model for model in offered}, restricted, offered.default)
    more = {"offered": offered, "suited": suited}
    if request.method != "POST":
        forms_of_rows = FormSet(initial=_initial(list(SiteDoor.objects.all())), form_kwargs=more)
    else:
        forms_of_rows = FormSet(request.POST, form_kwargs=more)
        if forms_of_rows.is_valid():
            rows, moved = forms_of_rows.arrange()  # type: ignore[attr-defined]
            SiteDoor.objects.replace_all(rows)
            told = ", ".join(f"{row}: {row.model or '–'}" for row in rows)
            model_admin.log_change(request, rows[0], told)
            messages.success(request, gettext("The doors were saved."))
            return HttpResponseSeeOther(request.path if moved is None else f"{request.path}#door-{moved}")
    response: HttpResponse = model_admin.page(
        request, "doors", _("Doors"), formset=forms_of_rows, form=forms_of_rows, most=MAX_DOORS
    )
    return response


def _initial(stored: Sequence[SiteDoor]) -> list[dict[str, Any]]:
    """Return the stored doors, the kinds that are not among them, and empty rows up to `MAX_DOORS`."""
    rows = [
        {"kind": row.kind, "shown": True, "name": row.name, "about": row.about, "model": row.model}
        for row in stored
    ]
    there = {row.kind for row in stored}
    rows += [{"kind": kind, "shown": not stored} for kind in KINDS if kind not in there]
    return rows + [{"kind": "", "shown": True}] * (MAX_DOORS - len(rows))
