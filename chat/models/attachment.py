"""Attachments: the pictures and documents of questions and assistants, and the stored files they share.

The embeddings of a document's passages are stored with its file.
"""

import uuid
from collections.abc import Iterable
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from chat.limits import MAX_ALT_CHARS, MAX_FILE_NAME_CHARS

MAX_EMBEDDING_MODEL_CHARS = 200
READING_CHARS = 16
MAX_MEDIA_TYPE_CHARS = 100
COPIED_COLUMNS = (
    *("file_id", "media_type", "name", "alt", "width", "height", "size"),
    *("pages", "pages_without_text", "tokens", "reading"),
)
EXTENSIONS = {"image/jpeg": "jpg", "image/png": "png"}  # of pictures, which this site encodes


class AttachmentFile(models.Model):
    """A stored file, by the SHA-256 of its content in hexadecimal.

    The row exists before the file is written, and becomes a `FileDeletion` before the file is deleted. So
    every file has a row, and the foreign key keeps a file while an attachment needs it. `uploaded` is the
    time of the last upload with this content.
    """

    sha256 = models.CharField(primary_key=True, max_length=64, editable=False)
    uploaded = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        default_permissions = ()
        indexes = [models.Index(fields=["uploaded"], name="attachment_file_by_time")]

    def __str__(self) -> str:
        return self.sha256


class FileDeletion(models.Model):
    """A stored file that is being deleted since then. An upload of the same content waits until it is gone.

    The storage can be slow, and no lock is held meanwhile. The row stays if the process dies.
    """

    sha256 = models.CharField(primary_key=True, max_length=64, editable=False)
    since = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return self.sha256


def _of_assistants() -> tuple[Exists, Exists]:
    """Return two conditions: a version of an assistant has the attachment as a document, or as its image."""
    from .library import AssistantDocument, AssistantVersion

    documents = AssistantDocument.objects.filter(attachment=OuterRef("pk"))
    return Exists(documents), Exists(AssistantVersion.objects.filter(image=OuterRef("pk")))


class AttachmentQuerySet(models.QuerySet["Attachment"]):
    def owned_by(self, user: Any) -> "AttachmentQuerySet":
        """Return the user's own that they may see: those of no message, and of messages not deleted."""
        sent = Q(message__conversation__deleted=None, message__deleted=None)
        return self.filter(Q(message=None) | sent, owner_id=user.pk)

    def unsent(self) -> "AttachmentQuerySet":
        """Return those that neither a message nor a version of an assistant has."""
        named, shown = _of_assistants()
        return self.filter(~named, ~shown, message=None)

    def named_by_assistants(self) -> "AttachmentQuerySet":
        """Return those that a version of an assistant has."""
        named, shown = _of_assistants()
        return self.filter(named | shown)

    def of_version(self, version: uuid.UUID | None) -> list["Attachment"]:
        """Return the documents of a version of an assistant, in their order; no query without one."""
        if version is None:
            return []
        return list(self.filter(assistant_links__version=version).order_by("assistant_links__position"))

    def of_messages(self, messages: Iterable[uuid.UUID]) -> dict[uuid.UUID, list["Attachment"]]:
        """Return the attachments by message, in their order. One query; none without messages."""
        found: dict[uuid.UUID, list[Attachment]] = {}
        wanted = list(messages)
        if wanted:
            for each in self.filter(message__in=wanted).order_by("position", "id"):
                assert each.message_id
                found.setdefault(each.message_id, []).append(each)
        return found


class Attachment(models.Model):
    """A picture or a document, uploaded by `owner` and sent with `message`, which is None until then.

    It is always None for a document of an assistant, which `AssistantDocument` connects with its versions,
    and for an assistant's image. Such an attachment has no `owner` once that account is deleted and the
    assistant stays.

    `position` orders the attachments of a message, from 0. Several attachments may have the same file: a copy
    of a message has attachments of its own. `name` is the client's, without its path; `media_type`, `width`,
    `height` (pixels) and `size` (bytes) are those of the stored file: of a picture what this site has
    encoded, of a document what was uploaded.

    A document has no width and height, and its text is in `DocumentPage`. `pages` is the number of its pages,
    `pages_without_text` of those that hold only pictures, `tokens` an upper estimate of its whole text; all
    three are 0 for a picture. `reading` is the digest of the text that was read for it, "" of an older
    document; `embedded` is the model whose embeddings of its passages were computed for the owner.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="attachments"
    )
    message = models.ForeignKey(
        "Message", models.CASCADE, null=True, blank=True, related_name="attachments", editable=False
    )
    file = models.ForeignKey(
        AttachmentFile, models.PROTECT, related_name="attachments", db_column="sha256", editable=False
    )
    position = models.PositiveSmallIntegerField(default=0)
    media_type = models.CharField(max_length=MAX_MEDIA_TYPE_CHARS)
    name = models.CharField(max_length=MAX_FILE_NAME_CHARS)
    alt = models.CharField(max_length=MAX_ALT_CHARS, default="", blank=True)
    width = models.PositiveIntegerField()
    height = models.PositiveIntegerField()
    size = models.PositiveIntegerField()
    pages = models.PositiveIntegerField(default=0, db_default=0)
    pages_without_text = models.PositiveIntegerField(default=0, db_default=0)
    tokens = models.PositiveIntegerField(default=0, db_default=0)
    reading = models.CharField(max_length=READING_CHARS, default="", db_default="", editable=False)
    embedded = models.CharField(
        max_length=MAX_EMBEDDING_MODEL_CHARS, default="", db_default="", editable=False
    )
    created = models.DateTimeField(default=timezone.now, editable=False)

    objects = AttachmentQuerySet.as_manager()

    class Meta:
        verbose_name, verbose_name_plural = _("attachment"), _("attachments")
        default_permissions = ()
        indexes = [
            models.Index(fields=["created"], condition=Q(message=None), name="attachment_unsent"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_picture(self) -> bool:
        return self.media_type in EXTENSIONS

    @property
    def label(self) -> str:
        """The alternative text, or else the name of the file."""
        return self.alt or self.name

    @property
    def sha256(self) -> str:
        """The SHA-256 of the stored file, in hexadecimal."""
        return self.file_id

    def copy(self, *, owner_id: int, message_id: uuid.UUID | None, position: int) -> "Attachment":
        """Return a new attachment with the same file, of another message or of none; it is not saved."""
        same = {name: getattr(self, name) for name in COPIED_COLUMNS}
        return Attachment(owner_id=owner_id, message_id=message_id, position=position, **same)


class DocumentPage(models.Model):
    """The text of a page of a document, numbered from 1. Attachments with the same file and reading share it.

    The type and the reading are parts of the key, because the same bytes can be read in several ways: as
    their names say, and by an earlier version. So everybody gets what was read for them, and keeps it.
    """

    file = models.ForeignKey(
        AttachmentFile,
        models.CASCADE,
        related_name="pages",
        db_column="sha256",
        db_index=False,  # the constraint below begins with it
        editable=False,
    )
    media_type = models.CharField(max_length=MAX_MEDIA_TYPE_CHARS)
    reading = models.CharField(max_length=READING_CHARS, default="", db_default="")
    number = models.PositiveIntegerField()
    text = models.TextField()

    class Meta:
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(
                fields=["file", "media_type", "reading", "number"], name="document_page_number"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.file_id} {self.number}"


class PassageVectors(models.Model):
    """The embeddings, by `model`, of `count` consecutive passages of a document from number `start` on.

    Documents with the same file and reading share them, and they are deleted with the file. They count for
    the people for whom they were computed (`Attachment.embedded`): otherwise the time would tell whether
    another person has a file. `vectors` is written by `chat/files/passages/embeddings.py`.
    """

    file = models.ForeignKey(
        AttachmentFile,
        models.CASCADE,
        related_name="vectors",
        db_column="sha256",
        db_index=False,  # the constraint below begins with it
        editable=False,
    )
    media_type = models.CharField(max_length=MAX_MEDIA_TYPE_CHARS)
    reading = models.CharField(max_length=READING_CHARS, default="", db_default="")
    model = models.CharField(max_length=MAX_EMBEDDING_MODEL_CHARS)
    start = models.PositiveIntegerField()
    count = models.PositiveIntegerField()
    vectors = models.BinaryField()

    class Meta:
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(
                fields=["file", "media_type", "reading", "model", "start"], name="passage_vectors"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.file_id} {self.model} {self.start}"
