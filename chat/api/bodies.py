"""The bodies of API calls, from which they are checked and described.

null stands for a missing field. Fields that are not listed here: see `passed_fields.py`.
https://platform.openai.com/docs/api-reference/chat/create
https://developers.cloudflare.com/api/resources/ai/methods/run/
"""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from chat.upstream.parameters import MAX_TOKENS

MAX_REQUEST_MESSAGES = 2_000
MAX_TOOLS = 128
MAX_STOPS, MAX_STOP_CHARS = 16, 1_000

Text = Annotated[str, Meta(pattern="^[^\\u0000]*$")]  # PostgreSQL cannot store NUL
Fields = dict[str, Any]
Tokens = Annotated[int, Meta(ge=1, le=MAX_TOKENS)]
Penalty = Annotated[float, Meta(ge=-2, le=2)]
Stop = Annotated[str, Meta(max_length=MAX_STOP_CHARS)]
PICTURE = Meta(description="A data URL, for models that see. Servers that fetch addresses take these too.")
DOCUMENT = Meta(description="A document, whose text the model gets. At most 8, and 7 MB together.")


class ImageUrl(Struct):
    url: Annotated[str, PICTURE]
    detail: Text | None = None


class TextPart(Struct, tag_field="type", tag="text"):
    text: Text


class InputText(TextPart, tag="input_text"):
    pass


class OutputText(TextPart, tag="output_text"):
    pass


class RefusalPart(Struct, tag_field="type", tag="refusal"):
    refusal: Text


class ImagePart(Struct, tag_field="type", tag="image_url"):
    image_url: ImageUrl | Annotated[str, PICTURE]


class InputImage(Struct, tag_field="type", tag="input_image"):
    image_url: ImageUrl | Annotated[str, PICTURE]
    detail: str | None = None


class FileContent(Struct):
    file_data: Annotated[str, DOCUMENT] | None = None
    filename: Text | None = None
    file_id: str | None = None
    file_url: str | None = None


class FilePart(Struct, tag_field="type", tag="file"):
    file: FileContent


class InputFile(FileContent, tag_field="type", tag="input_file"):
    pass


class InputAudio(Struct, tag_field="type", tag="input_audio"):
    """This and the next two are for servers with OpenAI's API."""

    input_audio: Fields


class AudioUrl(Struct, tag_field="type", tag="audio_url"):
    audio_url: Fields | Text


class VideoUrl(Struct, tag_field="type", tag="video_url"):
    video_url: Fields | Text


class Thinking(Struct, tag_field="type", tag="thinking"):
    """This and the next three are parts of earlier replies, as other APIs have them."""

    thinking: Text | list[Fields]


class RedactedThinking(Struct, tag_field="type", tag="redacted_thinking"):
    data: Text


class Reasoning(Struct, tag_field="type", tag="reasoning"):
    text: Text | None = None
    summary: list[Fields] | None = None


class ToolUse(Struct, tag_field="type", tag="tool_use"):
    name: Text
    id: Text | None = None
    input: Fields | None = None


Texts = TextPart | InputText | OutputText | RefusalPart
Files = ImagePart | InputImage | FilePart | InputFile | InputAudio | AudioUrl | VideoUrl
Part = Texts | Files | Thinking | RedactedThinking | Reasoning | ToolUse


class Function(Struct):
    name: Text
    arguments: str | Fields | None = None


class CustomTool(Struct):
    name: Text
    input: Text = ""


class ToolCall(Struct):
    """A call in OpenAI's shapes, with `function` or `custom`, or in Workers AI's flat one."""

    function: Function | None = None
    custom: CustomTool | None = None
    name: Text | None = None
    arguments: str | Fields | None = None


class Message(Struct):
    """`name` and the assistant's reasoning reach the servers that read them."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: Text | list[Part] | None = None
    refusal: Text | None = None
    tool_calls: Annotated[list[ToolCall], Meta(max_length=MAX_TOOLS)] | None = None
    tool_call_id: Text | None = None
    name: Text | None = None
    reasoning_content: Text | None = None
    reasoning: Text | None = None


class StreamOptions(Struct):
    include_usage: bool | None = None


class ResponseFormat(Struct):
    """`text`, `json_object`, or `json_schema` with that field; more where a server of OpenAI's API is."""

    type: Text
    json_schema: Fields | None = None


class BusyOptions(Struct, forbid_unknown_fields=True):
    """Options of Workers AI: a busy model answers 429 at once, instead of queueing the call.

    https://developers.cloudflare.com/workers-ai/features/reject-if-busy/
    """

    rejectIfBusy: bool | None = None  # noqa: N815 - Cloudflare's name


Messages = Annotated[list[Message], Meta(min_length=1, max_length=MAX_REQUEST_MESSAGES)]


class Options(Struct, kw_only=True):
    """The numbers have the widest range of any server. A model's own is checked by its server."""

    stream: bool | None = None
    stream_options: StreamOptions | None = None
    max_tokens: Tokens | None = None
    max_completion_tokens: Tokens | None = None
    n: int | None = None
    temperature: Annotated[float, Meta(ge=0, le=5)] | None = None
    top_p: Annotated[float, Meta(ge=0, le=2)] | None = None
    top_k: Annotated[int, Meta(ge=1, le=10_000)] | None = None
    seed: Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)] | None = None
    frequency_penalty: Penalty | None = None
    presence_penalty: Penalty | None = None
    repetition_penalty: Annotated[float, Meta(ge=0, le=2)] | None = None
    stop: Stop | Annotated[list[Stop], Meta(max_length=MAX_STOPS)] | None = None
    response_format: ResponseFormat | None = None
    logit_bias: Fields | None = None
    reasoning_effort: Text | None = None
    chat_template_kwargs: Fields | None = None
    tools: Annotated[list[Fields], Meta(max_length=MAX_TOOLS)] | None = None
    tool_choice: Literal["none", "auto", "required", "any"] | Fields | None = None
    parallel_tool_calls: bool | None = None
    options: BusyOptions | None = None
    lora: Text | None = None
    gateway: (
        Annotated[
            Fields, Meta(description="For keys that may set the AI Gateway; headers `cf-aig-*` say the same.")
        ]
        | None
    ) = None


class Chat(Options, kw_only=True):
    """OpenAI's call."""

    model: str
    messages: Messages


class Run(Options, kw_only=True):
    """Workers AI's call, with either `messages` or `prompt`."""

    messages: Messages | None = None
    prompt: Text | None = None
    raw: bool | None = None
    image: Annotated[str | list[int] | None, Meta(description="A picture in base64 or as bytes.")] = None


class NamedRun(Struct):
    model: str
    input: Run
