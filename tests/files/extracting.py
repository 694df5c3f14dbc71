"""Extraction from bytes, for the tests: what is read, or what is said of it."""

import tempfile
from collections.abc import Callable
from typing import IO

import pytest

from chat.exceptions import RequestError
from chat.files.extraction import Extracted, extract


def extracted(content: bytes, name: str = "a.txt") -> Extracted:
    with tempfile.TemporaryFile() as file:
        file.write(content)
        return extract(file, name)


def refused(content: bytes, name: str = "a.txt", read: Callable[[IO[bytes], str], object] = extract) -> str:
    """Return the status and the code of the refusal."""
    with tempfile.TemporaryFile() as file:
        file.write(content)
        with pytest.raises(RequestError) as error:
            read(file, name)
    return f"{error.value.status} {error.value.code}"
