"""A person's prompts: created, edited, published and deleted; and which prompts a person may use."""

import uuid

from django.db import transaction
from django.db.models import BooleanField, ExpressionWrapper, Q, TextField
from django.db.models.functions import Substr
from django.utils import timezone
from django.utils.translation import gettext as _

from chat.db.executor import write_lock
from chat.exceptions import Conflict, NotFound
from chat.library import publication
from chat.library.publication import Audience, may_publish
from chat.models import Prompt, User
from chat.models.prompt import PromptQuerySet

from .content import PromptContent

MAX_PROMPTS = 200  # per person
MAX_LISTED = 1_000  # in the menu; more can only come from many people who publish
PROMPT_EXCERPT_CHARS = 120  # of a text, in lists


def listed(user: User) -> PromptQuerySet:
    """Return what the user may use, their own first, each with `beginning` instead of its text."""
    is_own = ExpressionWrapper(Q(owner_id=user.pk), output_field=BooleanField())
    found = Prompt.objects.usable_by(user).defer("text")
    found = found.annotate(beginning=Substr("text", 1, PROMPT_EXCERPT_CHARS, output_field=TextField()))
    return found.order_by(is_own.desc(), "command", "pk")[:MAX_LISTED]


def find(user: User, prompt: uuid.UUID) -> Prompt:
    """Return a prompt that the user may use. Raises NotFound, also for a stranger's."""
    return _one(Prompt.objects.usable_by(user), prompt)


def find_own(user: User, prompt: uuid.UUID) -> Prompt:
    """Return a prompt that the user may edit. Raises NotFound."""
    return _one(Prompt.objects.owned_by(user), prompt)


def _one(among: PromptQuerySet, key: uuid.UUID) -> Prompt:
    found = among.filter(pk=key).first()
    if found is None:
        raise NotFound(_("This prompt doesn’t exist."))
    return found


def create(user: User, content: PromptContent, audience: Audience | None = None) -> Prompt:
    """Store a new prompt, published to `audience`. Raises Conflict at the limit, or for a taken command."""
    with write_lock(), transaction.atomic():
        user.lock()
        if Prompt.objects.owned_by(user).count() >= MAX_PROMPTS:
            words = _("You can have at most %(most)s prompts. Delete one first.")
            raise Conflict(words % {"most": MAX_PROMPTS})
        _require_free(user, content.command, None)
        prompt = Prompt.objects.create(
            owner=user, title=content.title, command=content.command, text=content.text
        )
        if audience:
            publication.publish(prompt, audience)
        return prompt


def edit(user: User, key: uuid.UUID, content: PromptContent, audience: Audience | None = None) -> Prompt:
    """Change a prompt; without an `audience` it stays published as it is.

    Raises NotFound, and Conflict if the command is taken, or it is published and the user may not publish.
    """
    with write_lock(), transaction.atomic():
        user.lock()
        prompt = find_own(user, key)
        if not may_publish(user, Prompt) and Prompt.objects.published().filter(pk=key).exists():
            raise Conflict(
                _("This prompt is published, and you may no longer publish prompts. You can delete it.")
            )
        _require_free(user, content.command, key)
        prompt.title, prompt.command, prompt.text = content.title, content.command, content.text
        prompt.updated = timezone.now()
        prompt.save(update_fields=["title", "command", "text", "updated"])
        if audience:
            publication.publish(prompt, audience)
        return prompt


def delete(user: User, key: uuid.UUID) -> None:
    """Delete a prompt. Raises NotFound."""
    with write_lock(), transaction.atomic():
        find_own(user, key).delete()


def published_by_others(user: User) -> PromptQuerySet:
    """Return the prompts of other people that are published, whose publication this user may end."""
    others = Prompt.objects.published().exclude(owner_id=user.pk)
    return others.select_related("owner").defer("text").order_by("command", "pk")


def withdraw(user: User, key: uuid.UUID) -> None:
    """End the publication of a prompt of any owner. Raises Forbidden and NotFound."""
    publication.require_permission(user, Prompt)
    with write_lock(), transaction.atomic():
        publication.publish(_one(Prompt.objects.published(), key), Audience())


def _require_free(user: User, command: str, key: uuid.UUID | None) -> None:
    taken = Prompt.objects.owned_by(user).filter(command=command)
    if (taken.exclude(pk=key) if key else taken).exists():
        words = _("You already have a prompt with the command /%(command)s. Choose another command.")
        raise Conflict(words % {"command": command})
