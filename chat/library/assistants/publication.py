"""Publication of assistants, which keep who published them last."""

import uuid
from collections.abc import Collection

from django.db import transaction

from chat.db.executor import write_lock
from chat.library import publication
from chat.models import Assistant, User

from .library import end_publication, find_own


def publish(user: User, key: uuid.UUID, *, everybody: bool, groups: Collection[int]) -> Assistant:
    """Publish an own assistant to `groups`, or to everybody; without either end its publication.

    Conversations that began with it go on. Raises NotFound, and as `chat.library.publication.audience`.
    """
    with write_lock(), transaction.atomic():
        user.lock()
        audience = publication.audience(user, Assistant, everybody=everybody, groups=groups)
        assistant = find_own(user, key)
        publication.publish(assistant, audience)
        assistant.published_by = None if audience.is_empty else user
        assistant.save(update_fields=["published_by"])
        return assistant


def withdraw(assistants: Collection[uuid.UUID]) -> int:
    """End the publication of these assistants, of any owner. Return the number of those published."""
    with write_lock(), transaction.atomic():
        found = list(Assistant.objects.published().filter(pk__in=assistants).select_for_update())
        return end_publication(Assistant.objects.filter(pk__in=[each.pk for each in found]))
