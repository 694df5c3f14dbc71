"""Prompts and assistants in this chat's own files."""

from typing import Any

from msgspec.structs import replace

from chat.limits import (
    IMAGE_SIDE,
    MAX_ASSISTANT_DOCUMENTS,
    MAX_ASSISTANT_NAME_CHARS,
    MAX_COMMAND_CHARS,
    MAX_DESCRIPTION_CHARS,
    MAX_FILE_NAME_CHARS,
    MAX_INSTRUCTIONS_CHARS,
    MAX_MODEL_CHARS,
    MAX_PICTURE_CHARS,
    MAX_PROMPT_CHARS,
    MAX_PROMPT_TITLE_CHARS,
    MAX_STARTER_QUESTION_CHARS,
    MAX_STARTER_QUESTIONS,
)
from chat.transfer.imported import MAX_SHORT_FIELD_CHARS
from chat.transfer.own_format import (
    ASSISTANT_FORMAT_VERSION,
    ATTACHMENT_FILE,
    MAX_VERSIONS,
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
        title = strict.text(value, "title", MAX_PROMPT_TITLE_CHARS)
        command = strict.text(value, "command", MAX_COMMAND_CHARS)
        return ImportedPrompt(title, command, strict.text(value, "text", MAX_PROMPT_CHARS))
    except ConversationProblem as problem:
        raise PromptProblem from problem


def assistant(value: Object) -> ImportedAssistant:
    """Return the assistant that a parsed object describes. Raises ConversationProblem."""
    strict.check_version(value, ASSISTANT_FORMAT_VERSION)
    versions = [_version(strict.record(each)) for each in strict.items(value, "versions", MAX_VERSIONS)]
    numbers = [each.number for each in versions]
    if not numbers or sorted(set(numbers)) != numbers:
        strict.refuse()
    return ImportedAssistant(
        strict.identifier(value.get("id")), strict.moment(value.get("created")), versions
    )


def _version(raw: Object) -> ImportedVersion:
    documents = [_attachment(each) for each in strict.items(raw, "documents", MAX_ASSISTANT_DOCUMENTS)]
    if not isinstance(raw.get("questions"), list):
        strict.refuse()
    questions = strict.items(raw, "questions", MAX_STARTER_QUESTIONS)
    return ImportedVersion(
        number=strict.whole(raw.get("number"), 1, MAX_VERSION_NUMBER),
        created=strict.moment(raw.get("created")),
        name=strict.text(raw, "name", MAX_ASSISTANT_NAME_CHARS).strip() or strict.refuse(),
        description=strict.text(raw, "description", MAX_DESCRIPTION_CHARS),
        instructions=strict.text(raw, "instructions", MAX_INSTRUCTIONS_CHARS),
        picture=strict.text(raw, "picture", MAX_PICTURE_CHARS),
        model=strict.text(raw, "model", MAX_MODEL_CHARS),
        parameters=strict.record(raw.get("parameters")),
        questions=[
            strict.string(each, MAX_STARTER_QUESTION_CHARS).strip() or strict.refuse() for each in questions
        ],
        documents=list({each.key: each for each in documents}.values()),
        image=strict.optional(_image, raw.get("image")),
    )


def _image(value: Any) -> ImportedAttachment:
    return replace(_attachment(value), side=IMAGE_SIDE)


def _attachment(value: Any) -> ImportedAttachment:
    """Return a document or an image. Only its file says what it is: type, size and pages are not believed."""
    raw = strict.record(value)
    file = strict.text(raw, "file", MAX_SHORT_FIELD_CHARS)
    if not ATTACHMENT_FILE.fullmatch(file):
        strict.refuse()
    name = strict.text(raw, "name", MAX_FILE_NAME_CHARS)
    return ImportedAttachment(file, name, alt="", key=strict.identifier(raw.get("id")))
