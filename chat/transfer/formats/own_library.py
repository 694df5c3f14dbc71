"""Prompts and assistants in this chat's own files. `records` has the limits of their fields."""

from typing import Any

from msgspec.structs import replace

from chat.limits import IMAGE_SIDE
from chat.transfer.own_format import (
    ASSISTANT_FORMAT_VERSION,
    ATTACHMENT_FILE,
    PROMPT_FORMAT_VERSION,
    Object,
)
from chat.transfer.problems import ConversationProblem, PromptProblem
from chat.transfer.records import (
    MAX_VERSION_NUMBER,
    ImportedAssistant,
    ImportedAttachment,
    ImportedPrompt,
    ImportedVersion,
)

from . import strict


def prompt(value: Object) -> ImportedPrompt:
    """Return the prompt that a parsed object describes. Raises PromptProblem."""
    try:
        strict.whole(value.get("version"), 0, PROMPT_FORMAT_VERSION)
        title = strict.text(value, "title")
        command = strict.text(value, "command")
        return ImportedPrompt(title, command, strict.text(value, "text"))
    except ConversationProblem as problem:
        raise PromptProblem from problem


def assistant(value: Object) -> ImportedAssistant:
    """Return the assistant that a parsed object describes. Raises ConversationProblem."""
    strict.check_version(value, ASSISTANT_FORMAT_VERSION)
    versions = [_version(strict.record(each)) for each in strict.items(value, "versions")]
    numbers = [each.number for each in versions]
    if not numbers or sorted(set(numbers)) != numbers:
        strict.refuse()
    return ImportedAssistant(
        strict.identifier(value.get("id")), strict.moment(value.get("created")), versions
    )


def _version(raw: Object) -> ImportedVersion:
    documents = [_attachment(each) for each in strict.items(raw, "documents")]
    if not isinstance(raw.get("questions"), list):
        strict.refuse()
    questions = strict.items(raw, "questions")
    return ImportedVersion(
        number=strict.whole(raw.get("number"), 1, MAX_VERSION_NUMBER),
        created=strict.moment(raw.get("created")),
        name=strict.text(raw, "name").strip() or strict.refuse(),
        description=strict.text(raw, "description"),
        instructions=strict.text(raw, "instructions"),
        picture=strict.text(raw, "picture"),
        model=strict.text(raw, "model"),
        parameters=strict.parameters(raw.get("parameters")),
        questions=[strict.string(each).strip() or strict.refuse() for each in questions],
        documents=list({each.key: each for each in documents}.values()),
        image=strict.optional(_image, raw.get("image")),
    )


def _image(value: Any) -> ImportedAttachment:
    return replace(_attachment(value), side=IMAGE_SIDE)


def _attachment(value: Any) -> ImportedAttachment:
    """Return a document or an image. Only its file says what it is: type, size and pages are not believed."""
    raw = strict.record(value)
    file = strict.text(raw, "file")
    if not ATTACHMENT_FILE.fullmatch(file):
        strict.refuse()
    name = strict.text(raw, "name")
    return ImportedAttachment(file, name, alt="", key=strict.identifier(raw.get("id")))
