"""The header of a GGUF file, as far as it says what kind of model is in it.

https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

import struct
from pathlib import Path
from typing import Any, BinaryIO

MAGIC = b"GGUF"
MOST_KEYS = 10_000
LONGEST_STRING = 65_536
STRING, ARRAY = 8, 9
NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}


class NotGguf(ValueError):
    """The file is something else, or it is cut off."""


def read_header(path: Path) -> dict[str, Any]:
    """`architecture` and, where a model reads and writes text, `context_length`. Raises NotGguf and OSError.

    Reads until both are found; they stand at the beginning, before the vocabulary.
    """
    with path.open("rb") as file:
        if file.read(4) != MAGIC:
            raise NotGguf("it does not begin with GGUF")
        _, _, keys = _unpack(file, "<IQQ")
        found: dict[str, Any] = {}
        for _ in range(min(keys, MOST_KEYS)):
            name = _string(file)
            value = _value(file, _unpack(file, "<I")[0])
            if name == "general.architecture":
                found["architecture"] = value
            elif name == f"{found.get('architecture')}.context_length":
                found["context_length"] = value
                break
    # An embedding model has a window too, and nothing to write with.
    if "bert" in str(found.get("architecture", "")):
        found.pop("context_length", None)
    return found


def _unpack(file: BinaryIO, form: str) -> tuple[Any, ...]:
    data = file.read(struct.calcsize(form))
    if len(data) < struct.calcsize(form):
        raise NotGguf("it is cut off")
    return struct.unpack(form, data)


def _string(file: BinaryIO) -> str:
    (length,) = _unpack(file, "<Q")
    if length > LONGEST_STRING:
        raise NotGguf("its header is damaged")
    return file.read(length).decode("utf-8", "replace")


def _value(file: BinaryIO, kind: int) -> Any:
    if kind == STRING:
        return _string(file)
    if kind in NUMBERS:
        return _unpack(file, "<" + NUMBERS[kind])[0]
    if kind != ARRAY:
        raise NotGguf("its header is damaged")
    inner, count = _unpack(file, "<IQ")
    if inner in NUMBERS:
        file.seek(count * struct.calcsize(NUMBERS[inner]), 1)
    else:
        for _ in range(count):
            _value(file, inner)
    return None
