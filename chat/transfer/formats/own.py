"""This chat's own JSON: conversations, assistants, prompts and memories, as the exports write them.

The structs have the fields of docs/api.md that an import reads. A deviation refuses the object.
"""

from itertools import islice
from typing import Annotated, Any, Literal, TypeVar
from uuid import UUID

from msgspec import Meta, Struct, ValidationError, convert, defstruct, structs

from chat import limits
from chat.transfer import records
from chat.transfer.problems import ConversationProblem, PromptProblem
from chat.wire.text import sanitize

from .own_sources import OwnCitation, OwnStep, citation, limit_results, step, utc

TOO_LONG = "`str` of length <="  # in what msgspec says of a text that is too long
# Statuses of an attempt. One that was live when it was exported is imported as interrupted.
LIVE, IMPORTED_LIVE = ("queued", "running", "waiting"), "interrupted"
Status = Literal["complete", "stopped", "interrupted", "truncated", "failed", "queued", "running", "waiting"]
Number = Annotated[int, Meta(ge=-(10**15), le=10**15)] | Annotated[float, Meta(ge=-1e15, le=1e15)]
File = Annotated[str, Meta(pattern=rf"\A{records.ATTACHMENT_FILE.pattern}\Z")]
RunText = Annotated[str, Meta(max_length=500)]
T = TypeVar("T")


class _Attachment(Struct):
    """A picture or document. Only its file says what it is: type, size and pages are not believed."""

    file: File
    name: Annotated[str, Meta(max_length=limits.MAX_FILE_NAME_CHARS)]
    alt: records.Alt
    id: UUID | None = None


class _Feedback(Struct):
    thumb: Literal["up", "down"]
    reason: records.Reason


_Usage = defstruct("_Usage", [(name, Number | None, None) for name in records.USAGE_FIELDS])
_Run = defstruct(
    "_Run",
    [
        *((name, Status if name == "status" else RunText, "") for name in records.RUN_TEXTS),
        (
            "parameters",
            Annotated[
                dict[records.Short, records.Short | Number | bool | None],
                Meta(max_length=records.MAX_PARAMETERS),
            ],
        ),
        ("max_tokens", Number | None, None),
        *((name, records.Moment | None, None) for name in records.RUN_TIMES),
        ("usage", _Usage | None, None),
    ],
    kw_only=True,
)


class _Message(Struct):
    id: UUID
    role: Literal["user", "assistant"]
    text: Annotated[str, Meta(max_length=records.MAX_IMPORTED_CHARS)]
    reasoning: Annotated[str, Meta(max_length=records.MAX_IMPORTED_CHARS)]
    model: records.Model
    created: records.Moment
    parent: UUID | None = None
    selected_at: records.Moment | None = None
    feedback: _Feedback | None = None
    runs: Annotated[list[_Run], Meta(max_length=records.MAX_RUNS)] = []  # type: ignore[valid-type]
    attachments: Annotated[list[_Attachment], Meta(max_length=limits.MAX_ATTACHMENTS)] = []
    citations: Annotated[list[OwnCitation], Meta(max_length=limits.MAX_CITATIONS)] = []
    steps: Annotated[list[OwnStep], Meta(max_length=records.MAX_STEPS)] = []


class _Reference(Struct):
    id: UUID
    version: records.VersionNumber


class _Conversation(Struct):
    id: UUID
    title: Annotated[str, Meta(max_length=limits.TITLE_LENGTH)]
    model: records.Model
    system: Annotated[str, Meta(max_length=records.MAX_IMPORTED_TEXT_CHARS)]
    parameters: records.Object
    created: records.Moment
    updated: records.Moment
    messages: list[_Message] = []
    active_leaf: UUID | None = None
    pinned_at: records.Moment | None = None
    archived_at: records.Moment | None = None
    assistant: _Reference | None = None
    tags: records.Tags = []
    tools: records.Tools = []


class _Document(Struct):
    """A document of an assistant, or its image. Only its file says what it is."""

    id: UUID
    file: File
    name: str


class _Version(Struct):
    """A version of an assistant. `ImportedVersion` has the limits of its fields."""

    number: records.VersionNumber
    created: records.Moment
    name: str
    description: str
    instructions: str
    picture: str
    model: str
    parameters: records.Object
    questions: list[str]
    web_search: bool | None = None
    documents: list[_Document] = []
    image: _Document | None = None


class _Assistant(Struct):
    id: UUID
    created: records.Moment
    versions: list[_Version] = []


def conversation(value: records.Object) -> records.ImportedConversation:
    """Return the conversation that a parsed object describes. Raises ConversationProblem."""
    raw = _read(_Conversation, value, records.CONVERSATION_FORMAT_VERSION)
    places: dict[UUID, tuple[str, int]] = {}  # of an attachment: the key of its message, its position there
    try:
        messages = [_message(each, places) for each in raw.messages]
        limit_results(messages)
        return records.ImportedConversation(
            source="chat",
            key=str(raw.id),
            title=raw.title,
            messages=messages,
            leaf=str(raw.active_leaf or ""),
            model=raw.model,
            system=raw.system,
            parameters=_plain(raw.parameters),
            created=utc(raw.created),
            updated=utc(raw.updated),
            pinned_at=utc(raw.pinned_at),
            archived_at=utc(raw.archived_at),
            assistant=(str(raw.assistant.id), raw.assistant.version) if raw.assistant else None,
            tags=raw.tags,
            tools=raw.tools,
        )
    except OverflowError as error:  # of a time that is none in UTC
        raise ConversationProblem("invalid") from error


def assistant(value: records.Object) -> records.ImportedAssistant:
    """Return the assistant that a parsed object describes. Raises ConversationProblem."""
    raw = _read(_Assistant, value, records.ASSISTANT_FORMAT_VERSION)
    numbers = [each.number for each in raw.versions]
    if not numbers or sorted(set(numbers)) != numbers:
        raise ConversationProblem("invalid")
    return records.ImportedAssistant(str(raw.id), raw.created, [_version(each) for each in raw.versions])


def prompt(value: records.Object) -> records.ImportedPrompt:
    """Return the prompt that a parsed object describes. Raises PromptProblem."""
    try:
        fields = {name: value.get(name) for name in ("title", "command", "text")}
        _check_text(fields)
        if not 0 <= convert(value.get("version"), int) <= records.PROMPT_FORMAT_VERSION:
            raise PromptProblem
        return convert(fields, records.ImportedPrompt)
    except (ConversationProblem, ValidationError) as problem:
        raise PromptProblem from problem


def memory(value: records.Object) -> records.ImportedMemory:
    """Return the memory that a parsed object describes. Raises ConversationProblem."""
    found = _read(records.ImportedMemory, value, records.MEMORY_FORMAT_VERSION)
    return structs.replace(found, fact=" ".join(found.fact.split()))


def _read(kind: type[T], value: records.Object, known_version: int) -> T:
    version = value.get("version")
    if version != known_version:
        raise ConversationProblem("version" if isinstance(version, int) else "invalid")
    try:
        _check_text(value)
        return convert(value, kind)
    except ValidationError as error:
        raise ConversationProblem("long" if TOO_LONG in str(error) else "invalid") from error


def _check_text(value: Any) -> None:
    """Raise ConversationProblem for what no database stores: NUL, and halves of characters."""
    if isinstance(value, str):
        if sanitize(value) != value:
            raise ConversationProblem("text")
    elif isinstance(value, dict):
        for name, each in value.items():
            _check_text(name)
            _check_text(each)
    elif isinstance(value, list):
        for each in value:
            _check_text(each)


def _message(raw: _Message, places: dict[UUID, tuple[str, int]]) -> records.ImportedMessage:
    """Return a message. `places` gets its attachments, and has those of the messages above it.

    Raises ConversationProblem for what the database refuses: a reply at the root, an empty question.
    """
    if raw.role == records.USER and not (raw.text or raw.attachments):
        raise ConversationProblem("invalid")
    if raw.role == records.ASSISTANT and raw.parent is None:
        raise ConversationProblem("parent")
    key = str(raw.id)
    places |= {each.id: (key, at) for at, each in enumerate(raw.attachments) if each.id}
    return records.ImportedMessage(
        key=key,
        parent=str(raw.parent) if raw.parent else None,
        role=raw.role,
        text=raw.text,
        reasoning=raw.reasoning,
        model=raw.model,
        created=utc(raw.created),
        selected_at=utc(raw.selected_at),
        feedback=(raw.feedback.thumb == "up", raw.feedback.reason) if raw.feedback else None,
        runs=[_run(each) for each in raw.runs],
        attachments=[records.ImportedAttachment(each.file, each.name, each.alt) for each in raw.attachments],
        citations=[citation(each, places) for each in raw.citations],
        steps=[step(each) for each in raw.steps],
    )


def _run(raw: Any) -> records.Object:
    """Return an attempt in the form in which it is exported again."""
    found: records.Object = structs.asdict(raw) | {
        name: records.written(getattr(raw, name)) for name in records.RUN_TIMES
    }
    if raw.status in LIVE:
        found["status"] = IMPORTED_LIVE
    return found | {"usage": structs.asdict(raw.usage) if raw.usage else None}


def _version(raw: _Version) -> records.ImportedVersion:
    fields = structs.asdict(raw) | {
        "name": raw.name.strip(),
        "parameters": _plain(raw.parameters),
        "questions": [each.strip() for each in raw.questions],
        "documents": list({each.id: _document(each) for each in raw.documents}.values()),
        "image": _document(raw.image, limits.IMAGE_SIDE) if raw.image else None,
    }
    return records.ImportedVersion(**fields)


def _document(raw: _Document, side: int = 0) -> records.ImportedAttachment:
    return records.ImportedAttachment(raw.file, raw.name, alt="", key=str(raw.id), side=side)


def _plain(parameters: records.Object) -> records.Object:
    """Return those values of which a parameter can be. Another version may have written others."""
    plain = {name: each for name, each in parameters.items() if not isinstance(each, list | dict)}
    return dict(islice(plain.items(), records.MAX_PARAMETERS))
