"""The documents and the image of an assistant: which a version may name, who may read them, their copies."""

import uuid
from collections.abc import Sequence

from django.db.models import Q
from django.utils.translation import gettext as _

from chat.exceptions import BadRequest
from chat.files.problems import Unreadable, gone
from chat.files.uploads import check_quota, clean, stored_bytes
from chat.limits import IMAGE_SIDE, MAX_ASSISTANT_DOCUMENTS
from chat.models import Assistant, AssistantDocument, AssistantVersion, Attachment, Conversation, User
from chat.models.attachment import AttachmentQuerySet


def check(user: User, documents: Sequence[uuid.UUID], image: uuid.UUID | None) -> None:
    """Check that a version may name these: uploads of the user, or what their assistants have.

    Call it in the transaction that stores the version: until its end, nobody can send or remove them.
    Raises AttachmentNotFound, BadRequest for too many documents or an image that is no small square, and
    Unreadable for a picture among the documents.
    """
    if len(documents) > MAX_ASSISTANT_DOCUMENTS:
        words = _("An assistant can have %(most)s documents. Remove some.")
        raise BadRequest(words % {"most": MAX_ASSISTANT_DOCUMENTS})
    ids = {*documents, *([image] if image else [])}
    found = _own(user).select_for_update(no_key=True).order_by("pk").in_bulk(ids) if ids else {}
    if missing := ids - found.keys():
        raise gone(missing)
    if picture := next((found[key] for key in documents if found[key].is_picture), None):
        raise picture_refused(picture.name)
    if image and not _is_square(found[image]):
        raise BadRequest(_("“%(name)s” must be a picture that came with this form.") % {"name": "image"})


def _own(user: User) -> AttachmentQuerySet:
    return Attachment.objects.filter(owner=user, message=None)


def _is_square(attachment: Attachment) -> bool:
    return attachment.is_picture and attachment.width == attachment.height == IMAGE_SIDE


def shown(user: User, ids: Sequence[uuid.UUID]) -> list[Attachment]:
    """Return those of these ids that are documents which the user's assistants may name, in this order."""
    found = _own(user).in_bulk(ids) if ids else {}
    return [found[key] for key in ids if key in found and not found[key].is_picture]


def shown_image(user: User, image: uuid.UUID | None) -> uuid.UUID | None:
    """Return the id if it is an image that the user's assistants may have, otherwise None."""
    found = _own(user).filter(pk=image).first() if image else None
    return found.pk if found and _is_square(found) else None


def picture_refused(name: str) -> Unreadable:
    words = _("“%(name)s” is a picture. An assistant can have documents only.")
    return Unreadable("not_a_document", words % {"name": clean(name, "")})


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


def copies(user: User, version: AssistantVersion) -> dict[uuid.UUID, uuid.UUID]:
    """Store copies of the version's documents and image for this user. Return {id: id of its copy}.

    Call it in a transaction, with the account locked. Raises QuotaExceeded.
    """
    found = Attachment.objects.of_version(version.pk) + ([version.image] if version.image else [])
    check_quota(user, sum(stored_bytes({"size": each.size, "tokens": each.tokens}) for each in found))
    made = [each.copy(owner_id=user.pk, message_id=None, position=0) for each in found]
    Attachment.objects.bulk_create(made)
    return {each.pk: copy.pk for each, copy in zip(found, made, strict=True)}


def readable(user: User) -> AttachmentQuerySet:
    """Return the documents and images of others' assistants that the user may read.

    They are those of the assistants that the user may begin a conversation with, and those of the versions
    that answer in a conversation of the user.
    """
    current = Assistant.objects.usable_by(user).values("current")
    conversations = Conversation.objects.owned_by(user).filter(assistant_version__isnull=False)
    readable = Q(pk__in=current) | Q(pk__in=conversations.values("assistant_version"))
    versions = AssistantVersion.objects.filter(readable)
    links = AssistantDocument.objects.filter(version__in=versions.values("pk"))
    images = versions.filter(image__isnull=False)
    return Attachment.objects.filter(Q(pk__in=links.values("attachment")) | Q(pk__in=images.values("image")))
