"""Modules that are imported when they are first used.

Each process of a run imports every file of tests to know which tests there are, and only one runs the file.
So a library that takes seconds to import does not belong at the top of a file.
"""

import importlib
import importlib.util
from typing import Any


class Later:
    """Stands for a module that is imported when its first public name is read.

    Private names do not import it: pytest looks for some of its own in whatever a file of tests holds, which
    makes the modules of `importlib.util.LazyLoader` load.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("_"):
            raise AttributeError(attribute)
        return getattr(importlib.import_module(self._name), attribute)


def later(name: str) -> Any:
    """The module `name`, not imported yet.

    Raises:
        ModuleNotFoundError: there is none, which is found out without an import.
    """
    if importlib.util.find_spec(name) is None:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    return Later(name)
