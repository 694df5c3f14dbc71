"""Export of one's assistants, as `assistant.schema.json` describes it, and their import."""

import uuid
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, NoReturn

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from chat.assistants import library
from chat.assistants.content import AssistantContent, content_of, is_emoji
from chat.assistants.documents import link
from chat.db import write_lock
from chat.exceptions import Conflict
from chat.limits import MAX_MODEL_CHARS
from chat.models import Assistant, AssistantVersion, Attachment, Conversation, User
from chat.models.assistant import (
    IMAGE_SIDE,
    MAX_ASSISTANT_DOCUMENTS,
    MAX_ASSISTANT_NAME_CHARS,
    MAX_DESCRIPTION_CHARS,
    MAX_INSTRUCTIONS_CHARS,
    MAX_STARTER_QUESTION_CHARS,
    MAX_STARTER_QUESTIONS,
)
from chat.models.attachment import EXTENSIONS, MAX_FILE_NAME_CHARS
from chat.upstream.parameters import CHOSEN_PARAMETERS
from chat.wire.text import sanitize

from .document import Object, attachment_object, written
from .imported import ATTACHMENT_FILE, MAX_SHORT_FIELD_CHARS, ImportedAttachment
from .problems import ConversationProblem

ASSISTANT_FORMAT, ASSISTANT_FORMAT_VERSION = "chat.assistant", 1
ASSISTANTS_FOLDER = "assistants/"  # in an archive
MAX_VERSIONS = 100  # of one assistant: the current one, and the newest of those that conversations use
ASSISTANT_NAMESPACE = uuid.UUID("0d5f9c0e-31f6-5a0b-9f0b-6a4a2f0e7c11")


@dataclass(frozen=True, slots=True)
class ImportedAssistant:
    """An assistant of a file. `key` is its id there; the last of `versions` is the current one.

    `documents` are those of each version, in the same order, and `images` its image, or None. Several
    versions can have the same one.
    """

    key: uuid.UUID
    created: datetime
    versions: list[AssistantVersion]
    documents: list[list[ImportedAttachment]]
    images: list[ImportedAttachment | None]

    @property
    def files(self) -> list[ImportedAttachment]:
        """The documents and the images of all versions."""
        documents = [each for several in self.documents for each in several]
        return documents + [each for each in self.images if each]


def assistant_objects(user: User) -> Iterator[Object]:
    """Yield the user's assistants, each with its current version and those that conversations use."""
    for key in list(Assistant.objects.owned_by(user).order_by("created", "pk").values_list("pk", flat=True)):
        assistant = Assistant.objects.filter(pk=key, current__isnull=False).first()
        if assistant is not None:  # it is None if it was deleted meanwhile
            yield _assistant_object(assistant)


def _assistant_object(assistant: Assistant) -> Object:
    used = Conversation.objects.filter(assistant_version__assistant=assistant, user=assistant.owner_id)
    wanted = Q(pk=assistant.current_id) | Q(pk__in=used.values("assistant_version"))
    newest = assistant.versions.filter(wanted).order_by("-number")[:MAX_VERSIONS]
    return {
        "format": ASSISTANT_FORMAT,
        "version": ASSISTANT_FORMAT_VERSION,
        "id": str(assistant.pk),
        "created": written(assistant.created),
        "versions": [_version_object(each) for each in reversed(newest.select_related("image"))],
    }


def _version_object(version: AssistantVersion) -> Object:
    columns = content_of(version).columns()
    del columns["image_id"]
    return {
        "number": version.number,
        "created": written(version.created),
        **columns,
        "documents": [attachment_object(each) for each in Attachment.objects.of_version(version.pk)],
        "image": attachment_object(version.image) if version.image else None,
    }


def attachments_of(exported: Object) -> list[Attachment]:
    """Return the documents and images of what `assistant_objects` has yielded, each once."""
    every = [each for version in exported["versions"] for each in (*version["documents"], version["image"])]
    return list(Attachment.objects.filter(pk__in={each["id"] for each in every if each}))


def reference_object(version: AssistantVersion) -> Object:
    """Return what a conversation says of its assistant, without the instructions."""
    return {"id": str(version.assistant_id), "version": version.number, "name": version.name}


def matches(value: Any) -> bool:
    return isinstance(value, dict) and value.get("format") == ASSISTANT_FORMAT


def read(value: Object) -> ImportedAssistant:
    """Return the assistant that an object describes. Raises ConversationProblem."""
    if value.get("version") != ASSISTANT_FORMAT_VERSION:
        raise ConversationProblem("version" if isinstance(value.get("version"), int) else "invalid")
    raw = value.get("versions")
    if not isinstance(raw, list) or not 0 < len(raw) <= MAX_VERSIONS:
        _refuse()
    versions = [_version(each) for each in raw]
    numbers = [each.number for each in versions]
    if sorted(set(numbers)) != numbers:
        _refuse()
    documents = [_documents(each.get("documents", [])) for each in raw]
    images = [_image(each.get("image")) for each in raw]
    return ImportedAssistant(_id(value.get("id")), _time(value.get("created")), versions, documents, images)


def is_known(user: User, imported: ImportedAssistant) -> bool:
    """Return True if the user has the assistant: it was imported before, or exported from here."""
    return Assistant.objects.owned_by(user).filter(pk__in=_keys(user, imported.key)).exists()


def store(user: User, imported: ImportedAssistant) -> bool:
    """Store an assistant that is new, or restore it if it was deleted.

    Return False if the user has it, or has no room for it.
    """
    with write_lock(), transaction.atomic():
        user.lock()
        if is_known(user, imported):
            return False
        try:
            library.require_room(user)
        except Conflict:
            return False
        deleted = Assistant.objects.filter(owner=user, pk__in=_keys(user, imported.key))
        if library.bring_back(user, deleted):
            return True
        key = _keys(user, imported.key)[0]
        ids = _add_attachments(user, key, imported)
        for version, image in zip(imported.versions, imported.images, strict=True):
            version.image_id = ids.get(image.key) if image else None
        made = library.add(user, key, imported.versions)
        for version, documents in zip(imported.versions, imported.documents, strict=True):
            link(version, [ids[each.key] for each in documents if each.key in ids])
        Assistant.objects.filter(pk=made.pk).update(created=min(imported.created, timezone.now()))
        return True


def _add_attachments(user: User, assistant: uuid.UUID, imported: ImportedAssistant) -> dict[str, uuid.UUID]:
    """Store the attachments whose files are stored, each once. Return {key in the file: id}."""
    fitting = {each.key: each.stored for each in imported.files if each.stored and _fits(each)}
    ids = {key: uuid.uuid5(assistant, f"document {key}") for key in fitting}
    Attachment.objects.bulk_create(
        Attachment(id=ids[key], owner=user, **fields) for key, fields in fitting.items()
    )
    return ids


def _fits(attachment: ImportedAttachment) -> bool:
    """Return True for a document, and for a picture only if it is an image."""
    assert attachment.stored
    return (attachment.stored["media_type"] in EXTENSIONS) == bool(attachment.side)


def version_of(user: User, reference: tuple[uuid.UUID, int] | None) -> AssistantVersion | None:
    """Return the version that an imported conversation names, if the user may begin one with it.

    Of others' assistants that is the current one only: a file could name any number, and an older version
    may be from before the publication.
    """
    if reference is None:
        return None
    key, number = reference
    readable = Q(assistant__owner=user) | Q(pk=F("assistant__current"))
    found = AssistantVersion.objects.filter(readable, number=number, assistant__in=_keys(user, key))
    return found.filter(assistant__in=Assistant.objects.usable_by(user)).first()


def reference(value: Any) -> tuple[uuid.UUID, int] | None:
    """Return the id and the number in what `reference_object` returned. Raises ConversationProblem."""
    if value is None:
        return None
    if not isinstance(value, dict):
        _refuse()
    return _id(value.get("id")), _number(value.get("version"))


def _keys(user: User, key: uuid.UUID) -> list[uuid.UUID]:
    """Return the id that an import of `key` gets, and `key` itself, for a file that was exported here."""
    return [uuid.uuid5(ASSISTANT_NAMESPACE, f"{user.pk} {key}"), key]


def _version(raw: Any) -> AssistantVersion:
    if not isinstance(raw, dict):
        _refuse()
    questions, parameters = raw.get("questions"), raw.get("parameters")
    if (
        not isinstance(questions, list)
        or len(questions) > MAX_STARTER_QUESTIONS
        or not isinstance(parameters, dict)
    ):
        _refuse()
    content = AssistantContent(
        name=_text(raw.get("name"), MAX_ASSISTANT_NAME_CHARS).strip() or _refuse(),
        description=_text(raw.get("description"), MAX_DESCRIPTION_CHARS),
        instructions=_text(raw.get("instructions"), MAX_INSTRUCTIONS_CHARS),
        picture=_picture(raw.get("picture")),
        model=_text(raw.get("model"), MAX_MODEL_CHARS),
        # Another version may have written other parameters.
        parameters={
            k: v for k, v in parameters.items() if k in CHOSEN_PARAMETERS and CHOSEN_PARAMETERS[k].is_valid(v)
        },
        questions=[_text(each, MAX_STARTER_QUESTION_CHARS).strip() or _refuse() for each in questions],
    )
    created = min(_time(raw.get("created")), timezone.now())
    return AssistantVersion(number=_number(raw.get("number")), created=created, **content.columns())


def _documents(raw: Any) -> list[ImportedAttachment]:
    if not isinstance(raw, list) or len(raw) > MAX_ASSISTANT_DOCUMENTS:
        _refuse()
    found = {each.key: each for each in map(_attachment, raw)}
    return list(found.values())


def _image(raw: Any) -> ImportedAttachment | None:
    return None if raw is None else replace(_attachment(raw), side=IMAGE_SIDE)


def _attachment(raw: Any) -> ImportedAttachment:
    """Return a document or an image. Only its file says what it is: type, size and pages are not believed."""
    if not isinstance(raw, dict):
        _refuse()
    file, name = _text(raw.get("file"), MAX_SHORT_FIELD_CHARS), _text(raw.get("name"), MAX_FILE_NAME_CHARS)
    if not ATTACHMENT_FILE.fullmatch(file):
        _refuse()
    return ImportedAttachment(file, name, alt="", key=str(_id(raw.get("id"))))


def _picture(value: Any) -> str:
    if value != "" and not (isinstance(value, str) and is_emoji(value)):
        _refuse()
    return value


def _text(value: Any, longest: int) -> str:
    if not isinstance(value, str) or len(value) > longest or sanitize(value) != value:
        _refuse()
    return value


def _number(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 < value < 2**31:
        _refuse()
    return value


def _id(value: Any) -> uuid.UUID:
    try:
        return uuid.UUID(value) if isinstance(value, str) else _refuse()
    except ValueError:
        _refuse()


def _time(value: Any) -> datetime:
    try:
        found = datetime.fromisoformat(value) if isinstance(value, str) else _refuse()
        return found.astimezone(UTC) if found.tzinfo else _refuse()
    except (ValueError, OverflowError):
        _refuse()


def _refuse() -> NoReturn:
    raise ConversationProblem("invalid")
