"""Modules that are imported when they are first used.

Each process of a run imports every file of tests to know which tests there are, and only one runs the file.
So a library that takes seconds to import does not belong at the top of a file.
"""

import importlib.util
import sys
from typing import Any


def later(name: str) -> Any:
    """The module `name`, not imported yet."""
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.find_spec(name)
    if spec is None or spec.loader is None:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    spec.loader = importlib.util.LazyLoader(spec.loader)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
