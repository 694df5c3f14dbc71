"""The right to publish assistants, and the end of publications."""

from chat.models import User
from chat.models.assistant import AssistantQuerySet

PERMISSION = "chat.publish_assistant"


def may_publish(user: User) -> bool:
    return user.is_staff and user.has_perm(PERMISSION)


def end_publication(assistants: AssistantQuerySet) -> int:
    """End the publication of these assistants. Return their number. Call it in a transaction."""
    for assistant in assistants:
        assistant.groups.clear()
    return assistants.update(everybody=False, published_by=None)
