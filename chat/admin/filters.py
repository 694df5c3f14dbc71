"""Filters for the lists of conversations, runs and API calls."""

from collections.abc import Iterable, Iterator
from typing import Any

from django.contrib.admin import AllValuesFieldListFilter, SimpleListFilter
from django.db.models import Exists, OuterRef, QuerySet, Subquery
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from chat.models import Conversation, Feedback, Run, User

from .transcript import model_name

PEOPLE = 30  # users offered as choices; others are found by the search, or by the link in the list
Choices = list[tuple[str, Any]]

LAST_STATE = Subquery(
    Run.objects.filter(conversation=OuterRef("pk")).order_by("-created", "-pk").values("status")[:1]
)


class ChoiceFilter(SimpleListFilter):
    """A filter that finds nothing, instead of everything, for a value that is not among its choices."""

    def queryset(self, request: HttpRequest, queryset: QuerySet) -> QuerySet:
        chosen = self.value()
        if chosen is None:
            return queryset
        if chosen not in dict(self.lookup_choices):
            return queryset.none()
        return self.narrowed(queryset, chosen)

    def narrowed(self, queryset: QuerySet, chosen: str) -> QuerySet:
        """Return the rows of `queryset` that match the choice."""
        raise NotImplementedError


class StateFilter(ChoiceFilter):
    """Filter by the status of the conversation's latest run, as the list's column shows it."""

    title = _("state of the last reply")
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        return [*Run.Status.choices]

    def narrowed(self, queryset: QuerySet, chosen: str) -> QuerySet:
        return queryset.alias(last_state=LAST_STATE).filter(last_state=chosen)


class ThumbsFilter(ChoiceFilter):
    """Filter by the thumbs that replies of the conversation were given."""

    title = _("thumbs")
    parameter_name = "thumbs"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        return [("down", _("Down")), ("up", _("Up")), ("none", _("None"))]

    def narrowed(self, queryset: QuerySet, chosen: str) -> QuerySet:
        # Thumbs are few: a subquery of their conversations costs less than reading every message.
        judged = Feedback.objects.values("message__conversation")
        if chosen == "none":
            return queryset.exclude(pk__in=judged)
        return queryset.filter(pk__in=judged.filter(up=chosen == "up"))


class ModelFilter(ChoiceFilter):
    """Filter by the model that the conversation is set to now."""

    title = _("model")
    parameter_name = "model"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        names: Iterable[str] = Conversation.objects.order_by("model").values_list("model", flat=True)
        return [(name, model_name(name)) for name in names.distinct()]  # type: ignore[attr-defined]

    def narrowed(self, queryset: QuerySet, chosen: str) -> QuerySet:
        return queryset.filter(model=chosen)


class OwnerFilter(ChoiceFilter):
    """Filter by owner. The choices are the first users by name, and the chosen one."""

    title = _("person")
    parameter_name = "owner"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        talked = User.objects.filter(Exists(Conversation.objects.filter(user=OuterRef("pk"))))
        people = list(talked.order_by("username").values_list("pk", "username")[:PEOPLE])
        chosen = str(request.GET.get(self.parameter_name, ""))
        if chosen.isdecimal() and int(chosen) not in dict(people):
            people += User.objects.filter(pk=int(chosen)).values_list("pk", "username")
        return [(str(key), name) for key, name in people]

    def narrowed(self, queryset: QuerySet, chosen: str) -> QuerySet:
        return queryset.filter(user_id=int(chosen))


class DeletedFilter(ChoiceFilter):
    """Filter by deletion: a conversation that its owner deleted stays in the log for KEEP_DELETED_DAYS."""

    title = _("deleted by its owner")
    parameter_name = "deleted"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        return [("no", _("No")), ("yes", _("Yes"))]

    def narrowed(self, queryset: QuerySet, chosen: str) -> QuerySet:
        return queryset.filter(deleted__isnull=chosen == "no")


class ErrorFilter(AllValuesFieldListFilter):
    """Filter by error code. The empty code, of rows without an error, is shown as “none”."""

    def choices(self, changelist: Any) -> Iterator[Any]:
        for choice in super().choices(changelist):
            yield choice | {"display": choice["display"] or _("none")}
