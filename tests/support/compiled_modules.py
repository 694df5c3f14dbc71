"""Compiled code of modules, read before servers are forked and executed in each of them.

A module that reads a setting must run after the fork. To find it on the disk and to read its code is a sixth
of what a server's start costs, and depends on no setting.
"""

import importlib.machinery
import importlib.util
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType


class CompiledModules:
    """A finder of the modules of some packages. `sys.meta_path` asks it before it searches the disk."""

    def __init__(self, *packages: str) -> None:
        self.specs: dict[str, ModuleSpec] = {}
        for package in packages:
            found = importlib.util.find_spec(package)
            assert found
            assert found.submodule_search_locations
            for folder in found.submodule_search_locations:
                self._read(package, Path(folder))

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return self.specs.get(name)

    def install(self) -> None:
        sys.meta_path.insert(0, self)

    def _read(self, package: str, folder: Path) -> None:
        """Read a package. A folder without `__init__.py` has no modules that a server imports."""
        for file in folder.glob("*.py"):
            name = package if file.stem == "__init__" else f"{package}.{file.stem}"
            spec = importlib.util.spec_from_file_location(name, file, loader=ReadLoader(name, str(file)))
            assert spec
            assert spec.cached  # computed now, and kept
            self.specs[name] = spec
        for init in folder.glob("*/__init__.py"):
            self._read(f"{package}.{init.parent.name}", init.parent)


class ReadLoader(SourceFileLoader):
    """Python's own loader, with the code in memory."""

    def __init__(self, name: str, path: str) -> None:
        super().__init__(name, path)
        self._code = super().get_code(name)

    def get_code(self, fullname: str) -> CodeType | None:
        return self._code
