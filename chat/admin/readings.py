"""Who of the staff looked into whose conversations."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _

from chat.backends import client_address
from chat.models import Conversation, Reading

from .log import ListAdmin
from .moments import moment


class DateFilter(admin.DateFieldListFilter):
    """Under a name that people read: the column's own is `at`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.title = _("date")


@admin.register(Reading)
class ReadingAdmin(ListAdmin):
    list_display = ["when", "reader", "owner", "read", "address"]
    list_display_links = None
    list_filter = [("at", DateFilter)]
    search_fields = ["reader", "owner", "title"]
    search_help_text = _("Who read, whose conversation, its title")

    @admin.display(description=_("when"), ordering="at")
    def when(self, obj: Reading) -> str:
        return moment(obj.at)

    @admin.display(description=_("conversation"), ordering="title")
    def read(self, obj: Reading) -> str:
        """A link for whoever may follow it is a link for everybody: the page behind it asks for the right."""
        address = reverse("admin:chat_conversation_change", args=[obj.conversation])
        return format_html('<a href="{}"><bdi>{}</bdi></a>', address, obj.title)


def record(request: HttpRequest, conversation: Conversation) -> None:
    """That somebody reads what another person wrote. One's own is nobody's business."""
    reader: Any = request.user
    if reader.pk == conversation.user_id:
        return
    Reading.objects.create(
        reader_key=reader.pk,
        reader=reader.get_username(),
        owner_key=conversation.user_id,
        owner=conversation.user.get_username(),
        conversation=conversation.pk,
        title=conversation.title,
        address=client_address(request),
    )
