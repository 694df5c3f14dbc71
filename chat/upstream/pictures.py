"""Pictures in the messages of a request.

A message with pictures has the key `parts` beside `content`: its texts and pictures in their order, and what
an API client sent for the model's server alone. `content` is the text alone, for all that only reads text.
`admit` decides which pictures a request holds, `with_data` reads their bytes when the request is sent.
"""

import asyncio
import base64
from collections.abc import Awaitable, Callable, Collection, Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from chat.wire.content import name_of_file

from .catalog import LlmModel

MAX_PICTURES = 8  # per request
# Bytes per request. Base64 makes them a third longer, and Cloudflare refuses large bodies (error 3006).
MAX_PICTURE_BYTES = 7_000_000
PATCH_PIXELS = 28  # models with patches of this size (Qwen, Mistral) need the most tokens of those known
MIN_PICTURE_TOKENS = 256  # Gemma needs as many for the smallest picture
# For a picture of unknown size, such as an API client's: one of 1120 × 1120 pixels.
UNKNOWN_PICTURE_TOKENS = 1_600

PromptMessage = dict[str, Any]


@dataclass(frozen=True, slots=True)
class PromptPicture:
    """A picture of a message: `width` and `height` in pixels, 0 if unknown; `size` in bytes.

    `key` finds its bytes in the storage. A picture of an API request has in `url` its data URL instead, or an
    address with a `size` of 0, and in `more` the other fields of its part. `label` stands for the picture
    where it cannot be sent.
    """

    media_type: str
    size: int
    width: int = 0
    height: int = 0
    label: str = ""
    key: str = ""
    url: str = ""
    more: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def tokens(self) -> int:
        """An upper estimate of its tokens: one for each patch of 28 × 28 pixels."""
        if not (self.width and self.height):
            return UNKNOWN_PICTURE_TOKENS
        patches = -(-self.width // PATCH_PIXELS) * -(-self.height // PATCH_PIXELS)
        return max(MIN_PICTURE_TOKENS, patches)

    @property
    def as_text(self) -> str:
        """The line that stands for the picture where it is not sent."""
        return f"[picture: {self.label}]" if self.label else "[picture]"


@dataclass(frozen=True, slots=True)
class ClientPart:
    """A part of an API client's message that servers of OpenAI's API get as it is.

    `text`: what others get of it; "" for a recording or a file.
    """

    fields: Mapping[str, Any] = field(hash=False)
    text: str = ""

    @property
    def as_text(self) -> str:
        return self.text or name_of_file(self.fields)


Part = str | PromptPicture | ClientPart
# Called with the person whose share of the threads it uses, and the keys of pictures.
Load = Callable[[Hashable, Collection[str]], Awaitable[Mapping[str, bytes]]]


def message_of(role: str, parts: list[Part]) -> PromptMessage:
    """Return a message; without a picture it has no `parts`. Empty texts are left out."""
    kept = [part for part in parts if part]
    message = {"role": role, "content": "\n\n".join(part for part in kept if isinstance(part, str))}
    return message | {"parts": kept} if any(isinstance(part, PromptPicture) for part in kept) else message


def parts_of(message: PromptMessage) -> list[Part]:
    """Return the texts and pictures of a message."""
    return list(message.get("parts") or [message["content"]])


def with_text(message: PromptMessage, text: str) -> PromptMessage:
    """Return the message with a text behind what it has."""
    return _replaced(message, [*parts_of(message), text])


def pictures_of(message: PromptMessage) -> Iterator[PromptPicture]:
    for part in message.get("parts", ()):
        if isinstance(part, PromptPicture):
            yield part


def files_of(message: PromptMessage) -> Iterator[PromptPicture | ClientPart]:
    """Yield the pictures, and what else is no text."""
    for part in message.get("parts", ()):
        if isinstance(part, PromptPicture) or (isinstance(part, ClientPart) and not part.text):
            yield part


def has_pictures(messages: list[PromptMessage]) -> bool:
    return any(True for message in messages for _ in pictures_of(message))


def need_their_server(messages: list[PromptMessage]) -> bool:
    """Return True if the model's server has to fetch a picture, or gets a file that is not read here."""
    files = (file for message in messages for file in files_of(message))
    return any(isinstance(file, ClientPart) or (file.url and not file.size) for file in files)


def admit(messages: list[PromptMessage], model: LlmModel) -> list[PromptMessage]:
    """Return the messages with the latest pictures that one request to the model may hold.

    Each of the others, and each picture for a model that cannot see, becomes a line of text.
    """
    if not has_pictures(messages):
        return messages
    budget = _Budget(MAX_PICTURES if model.vision else 0, MAX_PICTURE_BYTES)
    admitted = [_admit(message, budget) for message in reversed(messages)]
    return admitted[::-1]


@dataclass(slots=True)
class _Budget:
    pictures: int
    size: int

    def admits(self, picture: PromptPicture) -> bool:
        """Count a picture. The first that does not fit ends the budget, so that no older one is preferred."""
        if self.pictures < 1 or picture.size > self.size:
            self.pictures = 0
            return False
        self.pictures -= 1
        self.size -= picture.size
        return True


def _admit(message: PromptMessage, budget: _Budget) -> PromptMessage:
    if "parts" not in message:
        return message
    parts = [
        part if not isinstance(part, PromptPicture) or budget.admits(part) else part.as_text
        for part in reversed(message["parts"])
    ]
    return _replaced(message, parts[::-1])


def _replaced(message: PromptMessage, parts: list[Part]) -> PromptMessage:
    other = {name: value for name, value in message.items() if name not in ("content", "parts")}
    return message_of(message["role"], parts) | other


async def with_data(
    messages: list[PromptMessage], load: Load, person: Hashable, model: LlmModel
) -> list[PromptMessage]:
    """Return the messages in OpenAI's shape, with the bytes of their pictures as data URLs.

    A picture whose bytes are gone becomes a line of text. `person`: see `Load`.
    """
    keys = {each.key for message in messages for each in pictures_of(message) if each.key}
    found = await load(person, keys) if keys else {}
    return await asyncio.to_thread(
        lambda: [_openai_message(each, found, model.takes_all) for each in messages]
    )


def _openai_message(message: PromptMessage, found: Mapping[str, bytes], takes_all: bool) -> PromptMessage:
    if "parts" not in message:
        return message
    other = {name: value for name, value in message.items() if name != "parts"}
    if not (takes_all or any(pictures_of(message))):
        return other
    return other | {"content": [_openai_part(part, found, takes_all) for part in message["parts"]]}


def _openai_part(part: Part, found: Mapping[str, bytes], takes_all: bool) -> dict[str, Any]:
    if isinstance(part, ClientPart) and takes_all:
        return dict(part.fields)
    if isinstance(part, PromptPicture):
        url = part.url or (_data_url(part.media_type, found[part.key]) if part.key in found else "")
        if url:
            return {
                "type": "image_url",
                **part.more,
                "image_url": {"url": url, **part.more.get("image_url", {})},
            }
    return {"type": "text", "text": part if isinstance(part, str) else part.as_text}


def _data_url(media_type: str, data: bytes) -> str:
    return f"data:{media_type};base64,{base64.b64encode(data).decode()}"
