"""Publication of prompts by others, and its end."""

import uuid

from django.db import transaction
from django.utils.translation import gettext as _

from chat.db.executor import write_lock
from chat.exceptions import NotFound
from chat.library import publication
from chat.library.publication import Audience
from chat.models import Prompt, User
from chat.models.prompt import PromptQuerySet


def published_by_others(user: User) -> PromptQuerySet:
    """Return the prompts of other people that are published, whose publication this user may end."""
    others = Prompt.objects.published().exclude(owner_id=user.pk)
    return others.select_related("owner").defer("text").order_by("command", "pk")


def withdraw(user: User, key: uuid.UUID) -> None:
    """End the publication of a prompt of any owner. Raises Forbidden and NotFound."""
    publication.require_permission(user, Prompt)
    with write_lock(), transaction.atomic():
        prompt = Prompt.objects.published().filter(pk=key).first()
        if prompt is None:
            raise NotFound(_("This prompt doesn’t exist."))
        publication.publish(prompt, Audience())
