"""Extraction from bytes, for the tests: what is read, or what is said of it."""

import tempfile

import pytest

from chat.exceptions import RequestError
from chat.files.extraction import Extracted, extract


def extracted(content: bytes, name: str = "a.txt") -> Extracted:
    with tempfile.TemporaryFile() as file:
        file.write(content)
        return extract(file, name)


def refused(content: bytes, name: str = "a.txt") -> str:
    """Return the status and the code of the refusal."""
    with pytest.raises(RequestError) as error:
        extracted(content, name)
    return f"{error.value.status} {error.value.code}"
