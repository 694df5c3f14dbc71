"""A library that is imported later is not imported by pytest's collection."""

import inspect
import sys
from pathlib import Path

import pytest

from tests.support.lazy_imports import later


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "slow_library.py").write_text("class Client: pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "slow_library", raising=False)
    return "slow_library"


def test_only_a_public_name_imports_it(library: str) -> None:
    module = later(library)
    assert getattr(module, "_mock_name", None) is None  # both as pytest looks for a fixture
    assert inspect.unwrap(module) is module
    assert library not in sys.modules
    assert module.Client is sys.modules[library].Client


def test_a_missing_module_is_refused_at_once() -> None:
    with pytest.raises(ModuleNotFoundError, match="no_such_library"):
        later("no_such_library")
