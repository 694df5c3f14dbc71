"""Model files made by hand: a header, and nothing that could be run.

https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

import struct
from typing import Any

UINT32, FLOAT32, BOOL, STRING, ARRAY, UINT64 = 4, 6, 7, 8, 9, 10
FORMS = {UINT32: "<I", FLOAT32: "<f", BOOL: "<?", UINT64: "<Q"}


def gguf(entries: list[tuple[str, int, Any]], keys: int | None = None) -> bytes:
    """A file with these keys; `keys` where it is to claim another number of them. An ARRAY's value is
    (inner type, values)."""
    head = b"GGUF" + struct.pack("<IQQ", 3, 0, len(entries) if keys is None else keys)
    return head + b"".join(
        string(name) + struct.pack("<I", kind) + value(kind, what) for name, kind, what in entries
    )


def string(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def value(kind: int, what: Any) -> bytes:
    if kind == STRING:
        return string(what)
    if kind == ARRAY:
        inner, values = what
        return struct.pack("<IQ", inner, len(values)) + b"".join(value(inner, each) for each in values)
    return struct.pack(FORMS[kind], what)
