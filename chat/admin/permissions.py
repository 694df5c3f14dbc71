"""The permissions that have an effect here, in words. Django lists four for each of its tables."""

from typing import Any

from django import forms
from django.contrib.auth.models import Permission
from django.db.models import Case, Q, QuerySet, Value, When
from django.utils.translation import gettext_lazy as _

# (app, codename): the end of a sentence that begins with “may”, in the order in which a form lists them.
WORDS = {
    ("chat", "view_conversation"): _("review chats"),
    ("chat", "change_sharedlink"): _("revoke shared links, with the right to review"),
    ("chat", "view_conversationaccess"): _("see who read what"),
    ("chat", "add_invite"): _("invite people"),
    ("chat", "view_user"): _("see people"),
    ("chat", "add_user"): _("add people, with the right to change them"),
    ("chat", "change_user"): _("change people who have no rights, and their passwords"),
    ("auth", "view_group"): _("see groups"),
    ("chat", "view_sitemodel"): _("see models"),
    ("chat", "change_sitemodel"): _("change models"),
    ("chat", "view_mcpserver"): _("see tool servers"),
    ("chat", "change_mcpserver"): _("change tool servers and the tools in use"),
    ("chat", "publish_prompt"): _("publish prompts"),
    ("chat", "publish_assistant"): _("publish assistants"),
    ("chat", "view_run"): _("see replies and statistics"),
    ("chat", "view_call"): _("see API calls"),
    ("chat", "view_titlerequest"): _("see title requests"),
    ("chat", "view_apikey"): _("see API keys"),
    ("chat", "change_apikey"): _("revoke API keys"),
    ("chat", "view_worker"): _("see the processes of the server"),
}


class PermissionsField(forms.ModelMultipleChoiceField):
    """A box for each permission. Those without an effect are offered only to whom has one."""

    def label_from_instance(self, obj: Any) -> str:
        return str(WORDS.get((obj.content_type.app_label, obj.codename), obj))

    def offer(self, held: list[Any]) -> None:
        """Offer the permissions that have an effect, and those that are held already."""
        self.queryset = _permissions(held)


def _permissions(held: list[Any]) -> QuerySet[Permission]:
    conditions = [Q(content_type__app_label=app, codename=codename) for app, codename in WORDS]
    places = Case(
        *(When(condition, then=Value(place)) for place, condition in enumerate(conditions)),
        default=Value(len(conditions)),
    )
    known = Q(pk__in=[each.pk for each in held])
    for condition in conditions:
        known |= condition
    return Permission.objects.filter(known).select_related("content_type").order_by(places, "pk")


class PermissionsForm(forms.BaseModelForm):
    """A form with a `PermissionsField`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, field in self.fields.items():
            if isinstance(field, PermissionsField):
                field.offer(list(getattr(self.instance, name).all()) if self.instance.pk else [])
