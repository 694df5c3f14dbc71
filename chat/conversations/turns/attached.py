"""The attachments of a question: which rows a command may name, and how they become the question's own."""

import logging
import uuid
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from chat.exceptions import AttachmentNotFound, ModelCannotSee, PayloadTooLarge
from chat.files import files
from chat.files.problems import gone
from chat.formats import grouped_number
from chat.limits import MEGABYTE
from chat.models import Attachment, Message, User
from chat.models.attachment import EXTENSIONS, AttachmentQuerySet
from chat.models.fast_sql import insert, update
from chat.upstream.catalog import LlmModel
from chat.upstream.errors import ErrorKind, UpstreamError
from chat.upstream.pictures import MAX_PICTURE_BYTES, PromptPicture

NO_MODEL_SEES = gettext_noop("No model here can see pictures. Ask your administrator.")
PICTURES_UNREADABLE = gettext_noop("The pictures couldn’t be read. Try again.")

logger = logging.getLogger(__name__)


def unsent(user: User, ids: Sequence[uuid.UUID]) -> list[Attachment]:
    """Return the user's unsent uploads of these ids, in this order. Raises AttachmentNotFound."""
    return _find(user, ids, Attachment.objects.filter(owner=user).unsent()) if ids else []


def for_edit(user: User, message: Message, ids: Sequence[uuid.UUID] | None) -> list[Attachment]:
    """Return the attachments of an edited question: unsent uploads, and those of `message` that it keeps.

    None keeps all. Raises AttachmentNotFound.
    """
    if ids is None:
        return Attachment.objects.of_messages([message.pk]).get(message.pk, [])
    if not ids:
        return []
    own = Attachment.objects.filter(owner=user).unsent() | Attachment.objects.filter(message=message)
    return _find(user, ids, own)


def _find(user: User, ids: Sequence[uuid.UUID], among: AttachmentQuerySet) -> list[Attachment]:
    found = {each.pk: each for each in among.filter(pk__in=ids)}
    if missing := [id_ for id_ in ids if id_ not in found]:
        raise _not_found(user, missing)
    return [found[id_] for id_ in ids]


def _not_found(user: User, ids: Sequence[uuid.UUID]) -> AttachmentNotFound:
    """Name those that were sent, such as from the same draft in another tab. Of others no name is left."""
    sent = Attachment.objects.filter(owner=user, pk__in=ids).in_bulk()
    if len(sent) < len(ids):
        lost = [id_ for id_ in ids if id_ not in sent]
        return gone(lost)
    names = ", ".join(sent[id_].name for id_ in ids)
    words = _("Already sent with another message: %(names)s. To send them with this one too, add them again.")
    return AttachmentNotFound(words % {"names": names}, ids)


def check(attachments: Collection[Attachment], model: LlmModel) -> None:
    """Raise ModelCannotSee, or PayloadTooLarge if one request cannot hold these pictures."""
    pictures = [each for each in attachments if each.is_picture]
    if not pictures:
        return
    if not model.vision:  # else the planner would have taken one that sees
        raise ModelCannotSee(_(NO_MODEL_SEES))
    total = sum(each.size for each in pictures)
    if total > MAX_PICTURE_BYTES:
        sizes = {"size": grouped_number(-(-total // MEGABYTE)), "most": MAX_PICTURE_BYTES // MEGABYTE}
        raise PayloadTooLarge(
            _("The pictures have %(size)s MB together; the limit is %(most)s MB. Remove one.") % sizes
        )


def has_pictures(question: uuid.UUID) -> bool:
    return Attachment.objects.filter(message=question, media_type__in=EXTENSIONS).exists()


def save(attachments: Sequence[Attachment], question: Message) -> None:
    """Make uploads the question's own, and copy those of another message. The files stay as they are.

    Raises AttachmentNotFound if an upload was sent, removed or given to an assistant meanwhile.
    """
    copies, sent = [], []
    # In the order of their keys, in which everything that locks several of them does so.
    for position, each in sorted(enumerate(attachments), key=lambda numbered: numbered[1].pk):
        if each.message_id is not None:
            copy = each.copy(
                owner_id=question.conversation.user_id, message_id=question.pk, position=position
            )
            copies.append(copy)
        elif not update(
            Attachment, {"message_id": question.pk, "position": position}, id=each.pk, message_id=None
        ):
            raise gone([each.pk])
        else:
            sent.append(each.pk)
    if taken := _given_to_assistants(sent):
        raise gone(taken)
    if copies:
        insert(*copies)


def _given_to_assistants(ids: Collection[uuid.UUID]) -> list[uuid.UUID]:
    if not ids:  # most messages have no files, and to build this query takes a tenth of a send
        return []
    return list(Attachment.objects.named_by_assistants().filter(pk__in=ids).values_list("pk", flat=True))


def pictures_in(attachments: Iterable[Attachment]) -> list[PromptPicture]:
    return [_picture_of(each) for each in attachments if each.is_picture]


def documents_in(attachments: Iterable[Attachment]) -> list[Attachment]:
    return [each for each in attachments if not each.is_picture]


def _picture_of(attachment: Attachment) -> PromptPicture:
    return PromptPicture(
        attachment.media_type,
        attachment.size,
        attachment.width,
        attachment.height,
        label=attachment.alt,  # the name of its file is a text of others
        key=attachment.sha256,
    )


async def load(person: Hashable, keys: Collection[str]) -> Mapping[str, bytes]:
    """Read the stored files of these SHA-256 sums, in a thread; those that are gone are left out.

    `person`: the one whose share of the threads this uses. Raises UpstreamError when the storage fails.
    """
    return await files.STORAGE_POOL.run(person, _read_all, keys)


def _read_all(keys: Collection[str]) -> Mapping[str, bytes]:
    contents = {key: _read(key) for key in keys}
    return {key: content for key, content in contents.items() if content is not None}


def _read(key: str) -> bytes | None:
    try:
        return files.read(key)
    except FileNotFoundError:
        return None
    except Exception as failure:  # each kind of storage has errors of its own
        logger.error("a picture could not be read: %s", type(failure).__name__)
        error = UpstreamError(ErrorKind.INVALID, detail="the storage of pictures")
        error.message = PICTURES_UNREADABLE
        raise error from failure
