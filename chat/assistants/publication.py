"""Publication: staff offer an assistant of their own to everybody, or to the people in some groups."""

import uuid
from collections.abc import Collection

from django.contrib.auth.models import Group
from django.db import transaction
from django.utils.translation import gettext as _

from chat.db import write_lock
from chat.exceptions import BadRequest, Forbidden
from chat.models import Assistant, User

from .library import find_own
from .rights import end_publication, may_publish


def publish(user: User, key: uuid.UUID, *, everybody: bool, groups: Collection[int]) -> Assistant:
    """Publish an own assistant to `groups`, or to everybody; without either end its publication.

    Conversations that began with it go on. Raises NotFound, Forbidden without the permission, and BadRequest
    for an unknown group.
    """
    with write_lock(), transaction.atomic():
        user.lock()
        if not may_publish(user):
            raise Forbidden(_("You may not publish assistants."))
        assistant = find_own(user, key)
        found = list(Group.objects.filter(pk__in=groups))
        if len(found) < len(set(groups)):
            raise BadRequest(_("One of these groups doesn’t exist."))
        assistant.groups.set([] if everybody else found)
        assistant.everybody = everybody
        assistant.published_by = user if everybody or found else None
        assistant.save(update_fields=["everybody", "published_by"])
        return assistant


def withdraw(assistants: Collection[uuid.UUID]) -> int:
    """End the publication of these assistants, whoever owns them. Return the number of those published."""
    with write_lock(), transaction.atomic():
        found = list(Assistant.objects.published().filter(pk__in=assistants).select_for_update())
        return end_publication(Assistant.objects.filter(pk__in=[assistant.pk for assistant in found]))
