"""The modules of both databases can stand for each other: only one of them is what mypy compares with."""

import inspect
from types import ModuleType
from typing import Any

from chat.search import postgres, sqlite


def functions_of(module: ModuleType | type) -> dict[str, Any]:
    found = dict(inspect.getmembers(module, inspect.isfunction))
    return {name: inspect.signature(each) for name, each in found.items() if not name.startswith("_")}


def test_both_databases_have_the_same_functions() -> None:
    assert functions_of(sqlite).items() <= functions_of(postgres).items()
    assert functions_of(sqlite.IndexedWords) == functions_of(postgres.IndexedWords)
