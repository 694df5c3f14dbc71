"""The documents of assistants: which ones a version may name, who may read them, and their copies."""

import uuid
from collections.abc import Sequence

from django.db.models import Q
from django.utils.translation import gettext as _

from chat.attachments.names import clean
from chat.attachments.problems import NotADocument
from chat.attachments.uploads import check_quota
from chat.exceptions import AttachmentNotFound, BadRequest
from chat.models import Assistant, AssistantDocument, AssistantVersion, Attachment, Conversation, User
from chat.models.assistant import MAX_DOCUMENTS
from chat.models.attachment import AttachmentQuerySet


def named(user: User, ids: Sequence[uuid.UUID]) -> list[Attachment]:
    """Return the documents of these ids, in this order: the user's uploads, and those of their assistants.

    Raises AttachmentNotFound, BadRequest for too many, and NotADocument for a picture.
    """
    if len(ids) > MAX_DOCUMENTS:
        words = _("An assistant can have %(most)s documents. Remove some.")
        raise BadRequest(words % {"most": MAX_DOCUMENTS})
    mine = Attachment.objects.filter(owner=user, message=None, pk__in=ids)
    found = {each.pk: each for each in mine} if ids else {}
    if len(found) < len(ids):
        raise AttachmentNotFound(_("A file isn’t there anymore. Add it again."))
    if picture := next((each for each in found.values() if each.is_picture), None):
        raise picture_refused(picture.name)
    return [found[key] for key in ids]


def shown(user: User, ids: Sequence[uuid.UUID]) -> list[Attachment]:
    """Return those of these ids that are documents which the user's assistants may name, in this order."""
    found = Attachment.objects.filter(owner=user, message=None).in_bulk(ids) if ids else {}
    return [found[key] for key in ids if key in found and not found[key].is_picture]


def picture_refused(name: str) -> NotADocument:
    words = _("“%(name)s” is a picture. An assistant can have documents only.")
    return NotADocument(words % {"name": clean(name, "")})


def ids_of(version: AssistantVersion) -> list[uuid.UUID]:
    """Return the ids of the version's documents, in their order."""
    links = AssistantDocument.objects.filter(version=version).order_by("position")
    return list(links.values_list("attachment", flat=True))


def link(version: AssistantVersion, documents: Sequence[uuid.UUID]) -> None:
    """Make these the documents of a new version. Call it in a transaction."""
    AssistantDocument.objects.bulk_create(
        AssistantDocument(version=version, attachment_id=key, position=position)
        for position, key in enumerate(documents)
    )


def copies(user: User, version: AssistantVersion) -> list[uuid.UUID]:
    """Store copies of the version's documents for this user, and return their ids. Raises QuotaExceeded.

    Call it in a transaction, with the account locked.
    """
    found = Attachment.objects.of_version(version.pk)
    check_quota(user, sum(each.size for each in found))
    made = [each.copy(owner_id=user.pk, message_id=None, position=0) for each in found]
    return [each.pk for each in Attachment.objects.bulk_create(made)]


def readable(user: User) -> AttachmentQuerySet:
    """Return the documents of others' assistants that the user may read.

    They are those of the assistants that the user may begin a conversation with, and those of the versions
    that answer in a conversation of the user.
    """
    current = Assistant.objects.usable_by(user).values("current")
    answering = Conversation.objects.owned_by(user).filter(assistant_version__isnull=False)
    links = AssistantDocument.objects.filter(
        Q(version__in=current) | Q(version__in=answering.values("assistant_version"))
    )
    return Attachment.objects.filter(pk__in=links.values("attachment"))
