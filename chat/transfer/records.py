"""The contents of an export: the names in this chat's own files, and the records of an imported one.

The child that reads a file sends these, one JSON line each, and knows no Django. The server decodes them
strictly: the file may have taken control of the child.
"""

import re
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from chat import limits

Object = dict[str, Any]
# Names in this chat's own files, which the exports write and an import reads: see docs/api.md.
CONVERSATION_FORMAT, CONVERSATION_FORMAT_VERSION = "chat.conversation", 1
ASSISTANT_FORMAT, ASSISTANT_FORMAT_VERSION = "chat.assistant", 1
PROMPT_FORMAT, PROMPT_FORMAT_VERSION = "chat.prompt", 1
MEMORY_FORMAT, MEMORY_FORMAT_VERSION = "chat.memory", 1
ATTACHMENTS_FOLDER = "attachments/"  # the folder in an archive
ATTACHMENT_FILE = re.compile(rf"{ATTACHMENTS_FOLDER}[0-9a-f]{{64}}\.[a-z0-9]{{1,8}}")
MAX_VERSIONS = 100  # of one assistant: the current one, and the newest of those that conversations use
RUN_TEXTS = ("model", "answered_by", "served_by", "status", "finish_reason", "error_code", "error_message")
RUN_TIMES = ("created", "started", "first_token", "finished")
EXPORTED_STEP_FIELDS = ("tool", "call", "state", "arguments", "summary", "result", "sources", "cost")
USAGE_FIELDS = ("prompt_tokens", "completion_tokens", "cached_tokens", "neurons")
CHATGPT_FILE = re.compile(r"file[-_][A-Za-z0-9]{4,100}")  # the id of an uploaded file

MAX_IMPORTED_MESSAGES = 20_000  # of a conversation
MAX_IMPORTED_TEXT_CHARS = limits.MAX_REPLY_CHARS
# Of all messages together. No file holds more, but one piece of reasoning can count for many replies.
MAX_IMPORTED_CHARS = 16 * 1_048_576
MAX_VERSION_NUMBER = 2**31 - 1  # of an assistant
MAX_PAGE = 1_000_000
MAX_PARAMETERS = 50
MAX_PARAMETER_CHARS = 1_000
MAX_RUNS = 200  # attempts at one reply
MAX_TAGS = 50
MAX_TOOLS = 50  # that are switched on
MAX_STEPS = 200  # of one reply, over all its runs
MAX_CALL_CHARS = 100
MAX_ARGUMENTS_CHARS, MAX_ARGUMENTS_DEPTH = 20_000, 16  # of a call, as JSON
MAX_RESULT_CHARS = 1_000_000
MAX_RESULTS_CHARS = 4 * 1_048_576  # of a conversation; what is beyond it is left out
MAX_DOLLARS = 1_000_000
MAX_SOURCE_NUMBER = 10_000
USER, ASSISTANT = "user", "assistant"  # roles

Text = Annotated[str, Meta(max_length=MAX_IMPORTED_TEXT_CHARS)]
Model = Annotated[str, Meta(max_length=limits.MAX_MODEL_CHARS)]
Moment = Annotated[datetime, Meta(tz=True)]
Count = Annotated[int, Meta(ge=0)]
Alt = Annotated[str, Meta(max_length=limits.MAX_ALT_CHARS)]
Reason = Annotated[str, Meta(max_length=limits.MAX_REASON_CHARS)]
Page = Annotated[int, Meta(ge=0, le=MAX_PAGE)]
Tags = Annotated[list[Annotated[str, Meta(max_length=limits.MAX_TAG_CHARS)]], Meta(max_length=MAX_TAGS)]
VersionNumber = Annotated[int, Meta(ge=1, le=MAX_VERSION_NUMBER)]
Source = Literal["chat", "chatgpt", "claude", "open_webui", "librechat"]
ToolName = Annotated[str, Meta(max_length=limits.MAX_TOOL_NAME_CHARS)]
Tools = Annotated[list[ToolName], Meta(max_length=MAX_TOOLS)]
Title = Annotated[str, Meta(min_length=1, max_length=limits.MAX_CITATION_TITLE_CHARS)]
Url = Annotated[str, Meta(max_length=limits.MAX_URL_CHARS)]
Date = Annotated[str, Meta(pattern=r"^(\d{4}-\d{2}-\d{2})?$", max_length=limits.MAX_DATE_CHARS)]
Dollars = Annotated[float, Meta(ge=0, le=MAX_DOLLARS)]
# Numbers, switches and short texts by name: deep values would fill the server's memory.
Short = Annotated[str, Meta(max_length=MAX_PARAMETER_CHARS)]
Parameters = Annotated[dict[Short, Short | float | int | bool | None], Meta(max_length=MAX_PARAMETERS)]
RunValue = Short | float | int | bool | Parameters | None
LeftOut = dict[str, list[str]]  # names by kind, which is a key of `problems.LEFT_OUT`


def written(moment: datetime | None) -> str | None:
    """Return the time in UTC, as ISO 8601 with microseconds, so that no digit is lost."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds") if moment else None


class PackedFile(Struct):
    """The place of a file in the archive, for `unpacking.py`. `name`: the one in the archive."""

    name: Short
    offset: Count
    packed_bytes: Count
    method: Count
    crc: Count


class ImportedAttachment(Struct):
    """A picture or document of a message. `file`: its name in the archive; `name`, `alt`: the owner's.

    In an archive of ChatGPT a file's name begins with its id, which is the `file` here.

    `content`: its bytes, where they stand in the conversation itself; `file` is "" then. The server gets
    `size` in their place, and the bytes as a FileContent; `offset` is where it keeps them. Of a file in the
    archive it gets `size` and `packed`.

    `stored` is set when the file is stored: the columns of its attachment. Only those of an assistant have a
    `key`, their id in the file. `side`: that of the square that a picture is made, 0 to keep its form.
    """

    file: Annotated[str, Meta(pattern=f"^({ATTACHMENT_FILE.pattern}|{CHATGPT_FILE.pattern})?$")]
    name: str
    alt: Alt
    stored: Annotated[Object, Meta(max_length=0)] | None = None  # never the child's
    key: str = ""
    side: Count = 0
    content: Annotated[bytes, Meta(max_length=0)] | None = None
    size: Count = 0
    offset: Count = 0
    packed: PackedFile | None = None


class ImportedCitation(Struct, frozen=True):
    """A passage that a reply was written from. `url` is that of a web page or of a chat here, or "".

    `attachment`: the place of the document that it is from: the key of its message, and its position there.
    """

    title: Title
    url: Url
    page: Page
    text: Annotated[str, Meta(max_length=limits.MAX_PASSAGE_CHARS)]
    created: Moment | None
    attachment: tuple[str, int] | None = None
    date: Date = ""


class ImportedSource(Struct, frozen=True):
    """A source that a call has found. `number`: its number in the reply."""

    number: Annotated[int, Meta(ge=0, le=MAX_SOURCE_NUMBER)]
    title: Title
    url: Url = ""
    date: Date = ""


class StepFields(Struct, frozen=True, kw_only=True):
    """Fields of a call of a tool, here and in this chat's own JSON."""

    call: Annotated[str, Meta(max_length=MAX_CALL_CHARS)] = ""
    summary: Annotated[str, Meta(max_length=limits.MAX_STEP_SUMMARY_CHARS)] = ""
    result: Annotated[str, Meta(max_length=MAX_RESULT_CHARS)] = ""
    sources: Annotated[list[ImportedSource], Meta(max_length=limits.MAX_CITATIONS)] = []
    cost: Dollars | None = None
    created: Moment | None = None
    finished: Moment | None = None


class ImportedStep(StepFields, frozen=True):
    """A call of a tool. `arguments`: JSON, whose depth the server checks."""

    tool: ToolName
    state: Literal["done", "failed", "stopped"]
    arguments: Annotated[str, Meta(max_length=MAX_ARGUMENTS_CHARS)]


class ImportedMessage(Struct, tag="message"):
    """A message. `key` and `parent` are ids in the file; `feedback` is (is a thumb up, reason)."""

    key: Annotated[str, Meta(min_length=1)]
    parent: str | None
    role: Annotated[str, Meta(pattern=f"^({USER}|{ASSISTANT})$")]
    text: Text
    reasoning: Text = ""
    model: Model = ""
    created: Moment | None = None
    selected_at: Moment | None = None
    feedback: tuple[bool, Reason] | None = None
    runs: Annotated[list[dict[Short, RunValue]], Meta(max_length=MAX_RUNS)] = []
    attachments: Annotated[list[ImportedAttachment], Meta(max_length=limits.MAX_ATTACHMENTS)] = []
    citations: Annotated[list[ImportedCitation], Meta(max_length=limits.MAX_CITATIONS)] = []
    steps: Annotated[list[ImportedStep], Meta(max_length=MAX_STEPS)] = []


class ImportedConversation(Struct, tag="conversation"):
    """A conversation, whose messages are told before it, parents first.

    `leaf`: the key of the active branch's last message, "" if the file names none. `left_out`: what is not
    imported. `assistant`: its id and version.
    """

    source: Source
    key: str
    title: str
    messages: list[ImportedMessage]
    leaf: str = ""
    model: Model = ""
    system: Text = ""
    parameters: Parameters = {}
    created: Moment | None = None
    updated: Moment | None = None
    pinned_at: Moment | None = None
    archived_at: Moment | None = None
    tags: Tags = []
    left_out: LeftOut = {}
    assistant: tuple[str, int] | None = None
    tools: Tools = []


class ImportedPrompt(Struct, frozen=True, tag="prompt"):
    title: Annotated[str, Meta(max_length=limits.MAX_PROMPT_TITLE_CHARS)]
    command: Annotated[str, Meta(max_length=limits.MAX_COMMAND_CHARS)]
    text: Annotated[str, Meta(max_length=limits.MAX_PROMPT_CHARS)]


class ImportedMemory(Struct, frozen=True, tag="memory"):
    fact: Annotated[str, Meta(min_length=1, max_length=limits.MAX_FACT_CHARS)]
    created: Moment


class ImportedVersion(Struct):
    """One version of an assistant. Several versions can have the same documents and image."""

    number: VersionNumber
    created: Moment
    name: Annotated[str, Meta(min_length=1, max_length=limits.MAX_ASSISTANT_NAME_CHARS)]
    description: Annotated[str, Meta(max_length=limits.MAX_DESCRIPTION_CHARS)]
    instructions: Annotated[str, Meta(max_length=limits.MAX_INSTRUCTIONS_CHARS)]
    picture: Annotated[str, Meta(max_length=limits.MAX_PICTURE_CHARS)]
    model: Model
    parameters: Parameters
    questions: Annotated[
        list[Annotated[str, Meta(min_length=1, max_length=limits.MAX_STARTER_QUESTION_CHARS)]],
        Meta(max_length=limits.MAX_STARTER_QUESTIONS),
    ]
    documents: Annotated[list[ImportedAttachment], Meta(max_length=limits.MAX_ASSISTANT_DOCUMENTS)]
    image: ImportedAttachment | None
    web_search: bool | None = None


class ImportedAssistant(Struct, tag="assistant"):
    """An assistant. `key` is its id in the file; the last of `versions` is the current one."""

    key: str
    created: Moment
    versions: Annotated[list[ImportedVersion], Meta(min_length=1, max_length=MAX_VERSIONS)]

    @property
    def files(self) -> list[ImportedAttachment]:
        """The documents and the images of all versions."""
        documents = [each for version in self.versions for each in version.documents]
        return documents + [version.image for version in self.versions if version.image]


class FileContent(Struct, tag="file"):
    """The bytes of an attachment of the message before."""

    content: bytes


class OtherFiles(Struct, tag="other_files"):
    """The names of the archive's files that may hold something of the person's, and are not read."""

    names: list[str]


class Refusal(Struct, tag="refusal"):
    """An object that is left out. `code` is a key of `problems.CONVERSATION_PROBLEMS`, "prompt" for a prompt.

    `error`: the type of an exception that is a fault of ours, for the log.
    """

    code: str
    error: Annotated[str, Meta(max_length=100)] = ""


class End(Struct, tag="end"):
    """The end of the file. `problem`: why the whole file is refused, a key of `problems.FILE_PROBLEMS`."""

    problem: str = ""


Imported = ImportedConversation | ImportedAssistant | ImportedPrompt | ImportedMemory | OtherFiles
Record = Imported | ImportedMessage | FileContent | Refusal | End
encode = msgspec.json.Encoder().encode
decode = msgspec.json.Decoder(Record).decode
