"""Assistants, prompts and memories: their export, and the import of the first two.

The schemas beside this file describe them.
"""

import json
import uuid
from collections.abc import Iterable, Iterator
from typing import Any

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from chat.db.executor import write_lock
from chat.exceptions import BadRequest, Conflict
from chat.library import assistants
from chat.library.assistant_documents import link
from chat.library.assistants import AssistantContent, content_of, is_emoji
from chat.library.prompts import MAX_PROMPTS, PromptContent, command_of
from chat.limits import MAX_COMMAND_CHARS
from chat.models import Assistant, AssistantVersion, Attachment, Conversation, Memory, Prompt, User
from chat.models.attachment import EXTENSIONS
from chat.upstream.parameters import CHOSEN_PARAMETERS

from . import records
from .json_export import attachment_object
from .problems import PromptProblem

PROMPTS_FILE, MEMORIES_FILE = "prompts.json", "memory.json"
ASSISTANTS_FOLDER = "assistants/"  # in an archive
ASSISTANT_NAMESPACE = uuid.UUID("0d5f9c0e-31f6-5a0b-9f0b-6a4a2f0e7c11")


def assistant_objects(user: User) -> Iterator[records.Object]:
    """Yield the user's assistants, each with its current version and those that conversations use."""
    for key in list(Assistant.objects.owned_by(user).order_by("created", "pk").values_list("pk", flat=True)):
        assistant = Assistant.objects.filter(pk=key, current__isnull=False).first()
        if assistant is not None:  # it is None if it was deleted meanwhile
            yield _assistant_object(assistant)


def _assistant_object(assistant: Assistant) -> records.Object:
    used = Conversation.objects.filter(assistant_version__assistant=assistant, user=assistant.owner_id)
    wanted = Q(pk=assistant.current_id) | Q(pk__in=used.values("assistant_version"))
    newest = assistant.versions.filter(wanted).order_by("-number")[: records.MAX_VERSIONS]
    return {
        "format": records.ASSISTANT_FORMAT,
        "version": records.ASSISTANT_FORMAT_VERSION,
        "id": str(assistant.pk),
        "created": records.written(assistant.created),
        "versions": [_version_object(each) for each in reversed(newest.select_related("image"))],
    }


def _version_object(version: AssistantVersion) -> records.Object:
    columns = content_of(version).columns()
    del columns["image_id"]
    return {
        "number": version.number,
        "created": records.written(version.created),
        **columns,
        "documents": [attachment_object(each) for each in Attachment.objects.of_version(version.pk)],
        "image": attachment_object(version.image) if version.image else None,
    }


def attachments_of(exported: records.Object) -> list[Attachment]:
    """Return the documents and images of what `assistant_objects` has yielded, each once."""
    every = [each for version in exported["versions"] for each in (*version["documents"], version["image"])]
    return list(Attachment.objects.filter(pk__in={each["id"] for each in every if each}))


def is_known(user: User, imported: records.ImportedAssistant) -> bool:
    """Return True if the user has the assistant: it was imported before, or exported from here."""
    return Assistant.objects.owned_by(user).filter(pk__in=_keys(user, imported.key)).exists()


def store_assistant(user: User, imported: records.ImportedAssistant) -> bool:
    """Store an assistant that is new, or restore it if it was deleted. Return False if there is no room."""
    with write_lock(), transaction.atomic():
        user.lock()
        if is_known(user, imported):
            return True
        try:
            assistants.require_room(user)
        except Conflict:
            return False
        deleted = Assistant.objects.filter(owner=user, pk__in=_keys(user, imported.key))
        if assistants.bring_back(user, deleted):
            return True
        key = _keys(user, imported.key)[0]
        ids = _add_attachments(user, key, imported)
        versions = [_version(each) for each in imported.versions]
        for version, read in zip(versions, imported.versions, strict=True):
            version.image_id = ids.get(read.image.key) if read.image else None
        made = assistants.add(user, key, versions)
        for version, read in zip(versions, imported.versions, strict=True):
            link(version, [ids[each.key] for each in read.documents if each.key in ids])
        Assistant.objects.filter(pk=made.pk).update(created=min(imported.created, timezone.now()))
    return True


def _add_attachments(
    user: User, assistant: uuid.UUID, imported: records.ImportedAssistant
) -> dict[str, uuid.UUID]:
    """Store the attachments whose files are stored, each once. Return {key in the file: id}."""
    fitting = {each.key: each.stored for each in imported.files if each.stored and _fits(each)}
    ids = {key: uuid.uuid5(assistant, f"document {key}") for key in fitting}
    Attachment.objects.bulk_create(
        Attachment(id=ids[key], owner=user, **fields) for key, fields in fitting.items()
    )
    return ids


def _fits(attachment: records.ImportedAttachment) -> bool:
    """Return True for a document, and for a picture only if it is an image."""
    assert attachment.stored
    return (attachment.stored["media_type"] in EXTENSIONS) == bool(attachment.side)


def version_of(user: User, reference: tuple[str, int] | None) -> AssistantVersion | None:
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


def _keys(user: User, key: str) -> list[uuid.UUID]:
    """Return the id that an import of `key` gets, and `key` itself, for a file that was exported here."""
    return [uuid.uuid5(ASSISTANT_NAMESPACE, f"{user.pk} {key}"), uuid.UUID(key)]


def _version(imported: records.ImportedVersion) -> AssistantVersion:
    content = AssistantContent(
        name=imported.name,
        description=imported.description,
        instructions=imported.instructions,
        picture=imported.picture if is_emoji(imported.picture) else "",
        model=imported.model,
        parameters=known_parameters(imported.parameters),
        questions=imported.questions,
        web_search=imported.web_search,
    )
    created = min(imported.created, timezone.now())
    return AssistantVersion(number=imported.number, created=created, **content.columns())


def known_parameters(found: dict[str, Any]) -> dict[str, Any]:
    """Return the known and valid parameters; another version may have written others."""
    return {
        name: value
        for name, value in found.items()
        if name in CHOSEN_PARAMETERS and CHOSEN_PARAMETERS[name].is_valid(value)
    }


def prompts_json(user: User) -> str:
    """Return the person's own prompts as a JSON array, "" if there are none. At most 4 million characters.

    A prompt's groups are not exported.
    """
    return _json_lines(
        {
            "format": records.PROMPT_FORMAT,
            "version": records.PROMPT_FORMAT_VERSION,
            "id": str(prompt.pk),
            "title": prompt.title,
            "command": prompt.command,
            "text": prompt.text,
            "created": records.written(prompt.created),
            "updated": records.written(prompt.updated),
        }
        for prompt in Prompt.objects.owned_by(user).order_by("command")
    )


def memories_json(user: User) -> str:
    """Return the person's memories as a JSON array, the oldest first; "" if there are none."""
    return _json_lines(
        {
            "format": records.MEMORY_FORMAT,
            "version": records.MEMORY_FORMAT_VERSION,
            "id": str(memory.pk),
            "fact": memory.fact,
            "created": records.written(memory.created),
        }
        for memory in Memory.objects.owned_by(user)
    )


def _json_lines(objects: Iterable[records.Object]) -> str:
    lines = [json.dumps(each, ensure_ascii=False) for each in objects]
    return "[\n" + ",\n".join(lines) + "\n]\n" if lines else ""


def prompt_content(found: records.ImportedPrompt) -> PromptContent:
    """Return the prompt as it can be stored. Raises PromptProblem."""
    title = " ".join(found.title.split())
    try:
        command = command_of(found.command, title)
    except BadRequest as error:
        raise PromptProblem from error
    if not (title and found.text.strip()):
        raise PromptProblem
    return PromptContent(title, command, found.text)


class OwnPrompts:
    """The person's prompts as an import compares and adds to them."""

    def __init__(self, user: User) -> None:
        own = Prompt.objects.owned_by(user).values_list("command", "title", "text")
        self._prompts = {command: (title, text) for command, title, text in own}

    def add(self, content: PromptContent) -> PromptContent | None:
        """Add a prompt, and return it with a command that is free; None if it is here already.

        A prompt with the same title and text is the same one, whatever its command. Raises PromptProblem
        at the limit.
        """
        if (content.title, content.text) in self._prompts.values():
            return None
        if len(self._prompts) >= MAX_PROMPTS:
            raise PromptProblem
        command = self._free(content.command)
        self._prompts[command] = (content.title, content.text)
        return PromptContent(content.title, command, content.text)

    def _free(self, wanted: str) -> str:
        """Return the command, with a number if it is taken."""
        command, number = wanted, 1
        while command in self._prompts:
            number += 1
            command = f"{wanted[: MAX_COMMAND_CHARS - len(str(number)) - 1]}-{number}"
        return command


def store_prompt(user: User, content: PromptContent) -> None:
    """Store a prompt unless it is here already. Raises PromptProblem."""
    with write_lock(), transaction.atomic():
        user.lock()
        if new := OwnPrompts(user).add(content):
            Prompt.objects.create(owner=user, title=new.title, command=new.command, text=new.text)
