"""Sharing: staff offer their prompts to everybody, or to the people in some groups."""

import uuid
from collections.abc import Collection
from dataclasses import dataclass

from django.contrib.auth.models import Group
from django.db import transaction
from django.utils.translation import gettext as _

from chat.db import write_lock
from chat.exceptions import BadRequest, Forbidden, NotFound
from chat.models import Prompt, User
from chat.models.prompt import PromptQuerySet

PERMISSION = "chat.publish_prompt"


@dataclass(frozen=True, slots=True)
class Audience:
    """The people with whom a prompt is shared; by default nobody."""

    everybody: bool = False
    groups: tuple[Group, ...] = ()


def may_share(user: User) -> bool:
    return user.is_staff and user.has_perm(PERMISSION)


def require_may_share(user: User) -> None:
    """Raise Forbidden without the permission."""
    if not may_share(user):
        raise Forbidden(_("You may not share prompts."))


def shared_by_others(user: User) -> PromptQuerySet:
    """Return the prompts of other people that are shared, whose sharing this user may end."""
    others = Prompt.objects.shared().exclude(owner_id=user.pk)
    return others.select_related("owner").defer("text").order_by("command", "pk")


def audience(user: User, *, everybody: bool, groups: Collection[int]) -> Audience:
    """Return whom to share with. Raises Forbidden without the permission, BadRequest for an unknown group."""
    require_may_share(user)
    found = list(Group.objects.filter(pk__in=groups))
    if len(found) < len(set(groups)):
        raise BadRequest(_("One of these groups doesn’t exist."))
    return Audience(everybody, () if everybody else tuple(found))


def share(prompt: Prompt, audience: Audience) -> None:
    """Share a prompt with this audience only. Call it in a transaction."""
    prompt.groups.set(audience.groups)
    prompt.everybody = audience.everybody
    prompt.save(update_fields=["everybody"])


def withdraw(user: User, key: uuid.UUID) -> None:
    """End the sharing of a prompt, whoever owns it. Raises Forbidden and NotFound."""
    require_may_share(user)
    with write_lock(), transaction.atomic():
        prompt = Prompt.objects.shared().filter(pk=key).first()
        if prompt is None:
            raise NotFound(_("This prompt doesn’t exist."))
        share(prompt, Audience())
