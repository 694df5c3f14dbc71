"""The library: prompts and assistants, published or one's own, and what a person wants models to know."""

import uuid
import zlib
from typing import Any, Self, TypeVar

from django.conf import settings
from django.contrib.auth.models import Group
from django.db import models
from django.db.models import Q
from django.db.models.signals import pre_delete
from django.dispatch import receiver
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from chat.limits import (
    MAX_ASSISTANT_NAME_CHARS,
    MAX_COMMAND_CHARS,
    MAX_DESCRIPTION_CHARS,
    MAX_FACT_CHARS,
    MAX_PICTURE_CHARS,
    MAX_PROMPT_TITLE_CHARS,
)

from .attachment import Attachment

Row = TypeVar("Row", bound=models.Model)
ASSISTANT_HUES = 6  # colors behind the letter of an assistant without an emoji


class PublishableQuerySet(models.QuerySet[Row]):
    """Rows with an `owner`, the flag `everybody` and the relation `groups`."""

    def published(self) -> Self:
        """Return those that are published to everybody or to a group, each once."""
        return self.filter(Q(everybody=True) | Q(pk__in=self._links().values(self._key)))

    def usable_by(self, user: Any) -> Self:
        """Return the user's own, and those published to everybody or to a group of theirs, each once."""
        theirs = user.groups.through.objects.filter(user_id=user.pk).values("group_id")
        of_groups = self._links().filter(group_id__in=theirs).values(self._key)
        return self.filter(Q(owner_id=user.pk) | Q(everybody=True) | Q(pk__in=of_groups))

    def _links(self) -> Any:
        groups: Any = self.model._meta.get_field("groups")
        return groups.remote_field.through.objects.all()

    @property
    def _key(self) -> str:
        return f"{self.model._meta.model_name}_id"


class PromptQuerySet(PublishableQuerySet["Prompt"]):
    def owned_by(self, user: Any) -> Self:
        return self.filter(owner_id=user.pk)


class Prompt(models.Model):
    """A prompt of one person. `command` is unique for each person; `text` can have fields: `{{name}}`.

    It is published to `everybody`, or to the people in `groups`; without either, to nobody.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.CASCADE,
        related_name="prompts",
        db_index=False,  # the constraint's index begins with it
    )
    title = models.CharField(max_length=MAX_PROMPT_TITLE_CHARS)
    command = models.CharField(max_length=MAX_COMMAND_CHARS)
    text = models.TextField()
    everybody = models.BooleanField(default=False)
    groups = models.ManyToManyField(Group, related_name="+", blank=True)
    created = models.DateTimeField(default=timezone.now, editable=False)
    updated = models.DateTimeField(default=timezone.now, editable=False)

    objects = PromptQuerySet.as_manager()

    class Meta:
        verbose_name, verbose_name_plural = _("prompt"), _("prompts")
        default_permissions = ()
        permissions = [("publish_prompt", _("Can publish prompts"))]
        constraints = [
            models.UniqueConstraint(fields=["owner", "command"], name="prompt_command_once_per_person"),
            models.CheckConstraint(
                condition=~(Q(title="") | Q(command="") | Q(text="")), name="prompt_is_complete"
            ),
        ]
        indexes = [
            models.Index(fields=["everybody"], condition=Q(everybody=True), name="prompt_for_everybody")
        ]

    def __str__(self) -> str:
        return self.title


class AssistantQuerySet(PublishableQuerySet["Assistant"]):
    """Deleted assistants are neither owned nor published nor usable."""

    def owned_by(self, user: Any) -> Self:
        return self.filter(owner_id=user.pk, deleted=None)

    def published(self) -> Self:
        return super().published().filter(deleted=None)

    def usable_by(self, user: Any) -> Self:
        return super().usable_by(user).filter(deleted=None)


class Assistant(models.Model):
    """An assistant of one person. Its content is in `current`, its newest version.

    It is published while `everybody` is True or it has `groups`: then others can begin conversations with it,
    and read and copy it. `published_by` published it last. An assistant of the site has no `owner`: that
    account was deleted after the publication.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, editable=False, related_name="assistants"
    )
    current = models.ForeignKey(
        "AssistantVersion", models.SET_NULL, null=True, editable=False, related_name="+"
    )
    everybody = models.BooleanField(_("published to everybody"), default=False, editable=False)
    groups = models.ManyToManyField(
        Group, related_name="+", blank=True, editable=False, verbose_name=_("groups")
    )
    published_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, editable=False, related_name="+"
    )
    created = models.DateTimeField(_("created"), default=timezone.now, editable=False)
    deleted = models.DateTimeField(null=True, editable=False)

    objects = AssistantQuerySet.as_manager()

    class Meta:
        verbose_name, verbose_name_plural = _("assistant"), _("assistants")
        default_permissions = ()
        permissions = (("publish_assistant", _("Can publish assistants")),)

    def __str__(self) -> str:
        return str(self.pk)


class AssistantVersion(models.Model):
    """The content of an assistant from one edit to the next. It never changes.

    `image` is an uploaded picture, a small square. Without it `picture` is shown, an emoji, or "" for the
    first letter of the name on a color. An empty `model` is the person's model for new conversations.
    `instructions` can hold variables: see `chat.library.assistants`. `web_search`: whether conversations
    begin with the web search switched on; None leaves that to each person.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    assistant = models.ForeignKey(Assistant, models.CASCADE, related_name="versions", editable=False)
    number = models.PositiveIntegerField(editable=False)
    name = models.CharField(max_length=MAX_ASSISTANT_NAME_CHARS, editable=False)
    description = models.CharField(max_length=MAX_DESCRIPTION_CHARS, default="", editable=False)
    instructions = models.TextField(default="", editable=False)
    picture = models.CharField(max_length=MAX_PICTURE_CHARS, default="", editable=False)
    image = models.ForeignKey(
        Attachment,
        models.SET_NULL,
        null=True,
        related_name="image_of",
        db_index=False,  # the index below has only the versions with an image
        editable=False,
    )
    model = models.CharField(max_length=200, default="", editable=False)
    parameters = models.JSONField(default=dict, editable=False)
    questions = models.JSONField(default=list, editable=False)
    web_search = models.BooleanField(null=True, editable=False)
    created = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(fields=["assistant", "number"], name="assistant_version_number"),
            models.CheckConstraint(condition=~Q(name=""), name="assistant_has_name"),
        ]
        indexes = [
            models.Index(
                fields=["image"], condition=Q(image__isnull=False), name="assistant_version_by_image"
            )
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def letter(self) -> str:
        return self.name[0].upper()

    @property
    def hue(self) -> int:
        """The number of the color behind the letter, the same for all versions of an assistant."""
        return zlib.crc32(self.assistant_id.bytes) % ASSISTANT_HUES


class AssistantDocument(models.Model):
    """A document that a version of an assistant names. Several versions can name the same one.

    `position` orders the documents of a version, from 0. `AttachmentQuerySet.unsent` leaves out a document
    while a version names it, so pruning keeps it.
    """

    version = models.ForeignKey(
        AssistantVersion,
        models.CASCADE,
        related_name="document_links",
        db_index=False,  # the constraint's index begins with it
        editable=False,
    )
    attachment = models.ForeignKey(Attachment, models.CASCADE, related_name="assistant_links", editable=False)
    position = models.PositiveSmallIntegerField(editable=False)

    class Meta:
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(fields=["version", "position"], name="assistant_document_position"),
        ]

    def __str__(self) -> str:
        return f"{self.version_id} {self.position}"


class MemoryQuerySet(models.QuerySet["Memory"]):
    def owned_by(self, user: Any) -> Self:
        """Return the person's memories, the oldest first."""
        return self.filter(owner_id=user.pk).order_by("created", "pk")


class Memory(models.Model):
    """A short fact that a person wants models to know. They are told it if the preferences say so."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.CASCADE,
        related_name="memories",
        db_index=False,  # the index below begins with it
    )
    fact = models.CharField(max_length=MAX_FACT_CHARS)
    created = models.DateTimeField(default=timezone.now, editable=False)

    objects = MemoryQuerySet.as_manager()

    class Meta:
        default_permissions = ()
        indexes = [models.Index(fields=["owner", "created"], name="memory_by_owner")]

    def __str__(self) -> str:
        return self.fact


@receiver(pre_delete, sender=settings.AUTH_USER_MODEL)
def delete_private_assistants(instance: Any, **_: Any) -> None:
    """Delete an account's assistants, except those that are published or that others' conversations use.

    Also delete the account's uploads that no message and no assistant has.
    """
    mine = Assistant.objects.filter(owner=instance).exclude(pk__in=Assistant.objects.published().values("pk"))
    mine.exclude(pk__in=_used_by_others(instance)).delete()
    mine.update(deleted=timezone.now())
    Attachment.objects.filter(owner=instance).unsent().delete()


def _used_by_others(user: Any) -> Any:
    from .conversation import Conversation

    others = Conversation.objects.filter(assistant_version__assistant__owner=user).exclude(user=user)
    return others.values("assistant_version__assistant_id")
