"""A reader for the header of a GGUF file, limited to the fields that describe the kind of model.

https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

import mmap
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

GGUF_MAGIC = b"GGUF"
OLDEST_VERSION, NEWEST_VERSION = 2, 99  # a file in the other byte order seems to have a huge one
MAX_METADATA_KEYS = 10_000
MAX_STRING_BYTES = 65_536  # longer strings are skipped
# Bytes searched for the chat template; a vocabulary of 250,000 words takes half of them.
SEARCHED_BYTES = 32 * 2**20
THINKS = b"enable_thinking"  # the name of the reasoning switch in chat templates
CALLS_TOOLS = b"tool_calls"  # the name of a message's tool calls in chat templates
STRING, ARRAY = 8, 9
NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}


class InvalidGguf(ValueError):
    """The file is not GGUF, or it is truncated or damaged."""


@dataclass(frozen=True, slots=True)
class Header:
    """A model's description. `context_length` in tokens, 0 if it has none. `pools`: it makes embeddings."""

    architecture: str = ""
    type: str = "model"
    context_length: int = 0
    pools: bool = False

    @property
    def writes_text(self) -> bool:
        """True for a text generation model; False for an image projector, an adapter or an encoder."""
        encodes = self.pools or "bert" in self.architecture or self.architecture.endswith("encoder")
        return self.type == "model" and self.context_length > 0 and not encodes


def read_header(path: Path) -> Header:
    """Read the header of a file. Raises InvalidGguf and OSError."""
    with path.open("rb") as file:
        magic = file.read(4)
        if not magic:
            raise InvalidGguf("it is empty")
        if magic != GGUF_MAGIC:
            raise InvalidGguf("it does not begin with GGUF")
        version, _, keys = _unpack(file, "<IQQ")
        if not OLDEST_VERSION <= version <= NEWEST_VERSION:
            raise InvalidGguf("its version is not supported")
        metadata = _metadata(file, min(keys, MAX_METADATA_KEYS))
    architecture = str(metadata.get("general.architecture", ""))
    length = metadata.get(f"{architecture}.context_length")
    return Header(
        architecture,
        str(metadata.get("general.type", "model")),
        length if isinstance(length, int) else 0,
        # 0 means no pooling; with any other value the model returns one vector per text.
        bool(metadata.get(f"{architecture}.pooling_type")),
    )


def can_think(path: Path) -> bool:
    """Return True if the chat template has a switch for reasoning. Raises OSError."""
    return _mentions(path, THINKS)


def can_call_tools(path: Path) -> bool:
    """Return True if the chat template supports tool calls. Raises OSError."""
    return _mentions(path, CALLS_TOOLS)


def _mentions(path: Path, word: bytes) -> bool:
    """Return True if the beginning of the file contains `word`.

    The chat template comes after the vocabulary, so the bytes are searched without parsing them.
    """
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as whole:
        return whole.find(word, 0, SEARCHED_BYTES) != -1


def _metadata(file: BinaryIO, keys: int) -> dict[str, Any]:
    """Read the metadata up to the vocabulary, which comes last and is long."""
    metadata: dict[str, Any] = {}
    for _ in range(keys):
        name = _string(file)
        if name.startswith("tokenizer.") and "general.architecture" in metadata:
            break
        metadata[name] = _value(file, _unpack(file, "<I")[0])
    return metadata


def _unpack(file: BinaryIO, form: str) -> tuple[Any, ...]:
    data = file.read(struct.calcsize(form))
    if len(data) < struct.calcsize(form):
        raise InvalidGguf("it is cut off")
    return struct.unpack(form, data)


def _string(file: BinaryIO) -> str:
    (length,) = _unpack(file, "<Q")
    if length > MAX_STRING_BYTES:
        _skip(file, length)
        return ""
    return file.read(length).decode("utf-8", "replace")


def _value(file: BinaryIO, kind: int) -> Any:
    if kind == STRING:
        return _string(file)
    if kind in NUMBERS:
        return _unpack(file, "<" + NUMBERS[kind])[0]
    if kind != ARRAY:
        raise InvalidGguf("its header is damaged")
    inner, count = _unpack(file, "<IQ")
    if inner in NUMBERS:
        _skip(file, count * struct.calcsize(NUMBERS[inner]))
    elif inner == STRING:
        for _ in range(count):
            _string(file)
    else:
        raise InvalidGguf("its header is damaged")
    return None


def _skip(file: BinaryIO, length: int) -> None:
    """Skip `length` bytes. A position beyond the end of the file makes the next read raise InvalidGguf."""
    if length >= 2**40:  # bytes; for much larger values `seek` itself fails
        raise InvalidGguf("its header is damaged")
    file.seek(length, 1)
