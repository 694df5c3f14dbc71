"""Filters for the lists of conversations, runs, API calls and users."""

from collections.abc import Iterator
from typing import Any

from django.contrib.admin import AllValuesFieldListFilter, SimpleListFilter
from django.db.models import BooleanField, Exists, OuterRef, QuerySet, Subquery
from django.db.models.expressions import RawSQL
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from chat.catalog.catalog import model_name
from chat.models import Conversation, Feedback, Run, User
from chat.models.user import Role

from .keyset import distinct_values, key_in

MAX_USER_CHOICES = 30  # users offered as choices; others are found by the search, or by the link in the list
Choices = list[tuple[str, Any]]

# A filter reads the ids of all its conversations if they are few. Otherwise the list is read in its order,
# and each conversation is looked up until the page is full.
FEW_RUNS = 2_000  # with a status; of these, the latest of their conversations are looked for
SOME_RUNS = 15_000  # with a status; more are too many to remember their conversations for a query
FEW_RATED_CONVERSATIONS = 5_000  # conversations with a thumb
# IS TRUE keeps both databases from beginning with these conversations and sorting them.
HAS_RUN = "(chat_conversation.id IN (SELECT conversation_id FROM chat_run WHERE status = %s)) IS TRUE"

LAST_STATE = Subquery(Run.objects.latest_in(OuterRef("pk")).values("status"))


class ChoiceFilter(SimpleListFilter):
    """A filter that finds nothing for an unknown value, where Django's would find everything."""

    options: Choices = []

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        return self.options

    def queryset(self, request: HttpRequest, queryset: QuerySet) -> QuerySet:
        chosen = self.value()
        if chosen is None:
            return queryset
        if chosen not in dict(self.lookup_choices):
            return queryset.none()
        return self.narrowed(queryset, chosen)

    def narrowed(self, queryset: QuerySet, chosen: str) -> QuerySet:
        """Return the rows of `queryset` that match the choice; here, those with it in the column."""
        return queryset.filter(**{str(self.parameter_name): chosen})


class StateFilter(ChoiceFilter):
    """Filter by the status of the conversation's latest run, as the list's column shows it."""

    title = _("state of the last reply")
    parameter_name = "state"
    options = [*Run.Status.choices]

    def narrowed(self, queryset: QuerySet, chosen: str) -> QuerySet:
        runs = Run.objects.filter(status=chosen)
        if not runs[FEW_RUNS:].exists():
            latest = runs.filter(pk=Subquery(Run.objects.latest_in(OuterRef("conversation")).values("pk")))
            return queryset.filter(key_in(Conversation, latest.values_list("conversation", flat=True)))
        if not runs[SOME_RUNS:].exists():
            # Saves most look-ups of latest runs, in particular if those with the status are all old.
            has_run = RawSQL(HAS_RUN, [chosen], BooleanField())  # noqa: S611
            queryset = queryset.filter(has_run)
        return queryset.alias(last_state=LAST_STATE).filter(last_state=chosen)


class ThumbsFilter(ChoiceFilter):
    """Filter by the thumbs that replies of the conversation were given."""

    title = _("thumbs")
    parameter_name = "thumbs"
    options = [("down", _("Down")), ("up", _("Up")), ("none", _("None"))]

    def narrowed(self, queryset: QuerySet, chosen: str) -> QuerySet:
        given = Feedback.objects.with_conversation()
        if chosen == "none":
            return queryset.filter(~Exists(given.filter(within=OuterRef("pk"))))
        # `up=` would become a condition for which SQLite uses no index.
        given = given.filter(up__in=[chosen == "up"])
        if given[FEW_RATED_CONVERSATIONS:].exists():
            return queryset.filter(Exists(given.filter(within=OuterRef("pk"))))
        return queryset.filter(pk__in=given.values("within"))


class ModelFilter(ChoiceFilter):
    """Filter by the row's model, which is shown by its name."""

    title = _("model")
    parameter_name = "model"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        return [(name, model_name(name)) for name in distinct_values(model_admin.model, "model")]


class OwnerFilter(ChoiceFilter):
    """Filter by owner. The choices are the first users by name, and the chosen one."""

    title = _("person")
    parameter_name = "owner"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        talked = User.objects.filter(Exists(Conversation.objects.filter(user=OuterRef("pk"))))
        people = list(talked.order_by("username").values_list("pk", "username")[:MAX_USER_CHOICES])
        chosen = str(request.GET.get(self.parameter_name, ""))
        if chosen.isdecimal() and int(chosen) not in dict(people):
            people += User.objects.filter(pk=int(chosen)).values_list("pk", "username")
        return [(str(key), name) for key, name in people]

    def narrowed(self, queryset: QuerySet, chosen: str) -> QuerySet:
        return queryset.filter(user_id=int(chosen))


class DeletedFilter(ChoiceFilter):
    """Filter by deletion: a conversation that its owner deleted is kept for KEEP_DELETED_DAYS."""

    title = _("deleted by its owner")
    parameter_name = "deleted"
    options = [("no", _("No")), ("yes", _("Yes"))]

    def narrowed(self, queryset: QuerySet, chosen: str) -> QuerySet:
        return queryset.filter(deleted__isnull=chosen == "no")


class RoleFilter(ChoiceFilter):
    title = _("role")
    parameter_name = "role"
    options = [*Role.choices]


class StatusFilter(ChoiceFilter):
    """Filter users by whether they may sign in."""

    title = _("status")
    parameter_name = "status"
    options = [("active", _("Active")), ("disabled", _("Disabled"))]

    def narrowed(self, queryset: QuerySet, chosen: str) -> QuerySet:
        return queryset.filter(is_active=chosen == "active")


class ErrorFilter(AllValuesFieldListFilter):
    """Filter by error code. The empty code, of rows without an error, is shown as “none”."""

    def __init__(
        self, field: Any, request: HttpRequest, params: Any, model: Any, *args: Any, **more: Any
    ) -> None:
        super().__init__(field, request, params, model, *args, **more)
        # Django's would read all rows to find them.
        self.lookup_choices: Any = ["", *distinct_values(model, field.name, failed_sql(model))]

    def queryset(self, request: HttpRequest, queryset: QuerySet) -> Any:
        found = super().queryset(request, queryset)
        return with_error(found) if found is not None and self.lookup_val and self.lookup_val[0] else found

    def choices(self, changelist: Any) -> Iterator[Any]:
        for choice in super().choices(changelist):
            yield choice | {"display": choice["display"] or _("none")}


def with_error(rows: QuerySet) -> QuerySet:
    return rows.extra(where=[failed_sql(rows.model)])  # noqa: S610


def failed_sql(model: Any) -> str:
    """Return the condition of the partial indexes. SQLite uses them only if a query repeats it literally."""
    return f"NOT ({model._meta.db_table}.error_code = '')"
