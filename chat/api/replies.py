"""The replies of the API, for its description. `openai.py`, `workers_ai.py` and others write them."""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from .bodies import Fields

Count = Annotated[int, Meta(ge=0)]


class Usage(Struct):
    """Null if the model server did not report it."""

    prompt_tokens: Count
    completion_tokens: Count
    total_tokens: Count
    neurons: float


class ReplyMessage(Struct):
    role: Literal["assistant"]
    content: str | None
    reasoning_content: str | UnsetType = UNSET
    tool_calls: list[Fields] | UnsetType = UNSET


class Choice(Struct):
    index: Literal[0]
    message: ReplyMessage
    finish_reason: str


class Completion(Struct):
    id: str
    object: Literal["chat.completion"]
    created: Count
    model: str
    choices: list[Choice]
    usage: Usage | None


class Model(Struct):
    id: str
    object: Literal["model"]
    owned_by: str


class Models(Struct):
    object: Literal["list"]
    data: list[Model]


class ErrorDetail(Struct):
    """`param` is the path of a field that is wrong, such as `messages[2].content[0].image_url`."""

    message: str
    type: str
    code: str
    param: str | None


class Error(Struct):
    error: ErrorDetail


class ConversationRow(Struct):
    id: str
    object: Literal["conversation"]
    title: str
    model: str
    created: str
    updated: str


class Conversations(Struct):
    object: Literal["list"]
    data: list[ConversationRow]
    first_id: str | None
    last_id: str | None
    has_more: bool


class Conversation(Struct):
    format: Any
    version: Any
    id: str
    title: str
    messages: list[Fields]


class ResultFields(Struct):
    """Workers AI's result, which also has the fields of a `Completion`."""

    response: Any
    usage: Usage | None
    choices: list[Fields]
    reasoning_content: str | UnsetType = UNSET
    tool_calls: list[Fields] | UnsetType = UNSET
    finish_reason: str | UnsetType = UNSET


class Envelope(Struct):
    success: bool
    errors: list[Fields]
    messages: list[Any]


class Result(Envelope):
    result: ResultFields


class Token(Struct):
    id: str
    status: Literal["active"]
    expires_on: str | UnsetType = UNSET


class Verified(Envelope):
    result: Token


class SchemaResult(Struct):
    input: Fields
    output: Fields


class Schema(Envelope):
    result: SchemaResult


class Finetune(Struct):
    id: str
    model: str
    name: str


class Finetunes(Envelope):
    result: list[Finetune]


class FoundModel(Struct):
    id: str
    name: str
    task: Any
    properties: Any


class Search(Envelope):
    result: list[FoundModel]


class FailureDetail(Struct):
    code: int
    message: str


class Failure(Struct):
    success: bool
    errors: list[FailureDetail]
