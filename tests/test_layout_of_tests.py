"""The rules of this folder: nothing imports from a test module, and the names of tests are short."""

import ast
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
MAX_NAME_CHARS = 60


def from_test_modules(source: str) -> list[str]:
    """Return the dotted paths that are imported from a `test_*.py` of this folder."""
    paths = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            paths += [name.name for name in node.names]
        elif isinstance(node, ast.ImportFrom):
            package = "tests." if node.level else ""
            paths += [f"{package}{node.module or ''}.{name.name}" for name in node.names]
    return [path for path in paths if path.startswith("tests.") and ".test_" in path]


@pytest.mark.parametrize(
    "line",
    [
        "from tests.views.test_tree import asked",
        "from tests.e2e import test_scroll",
        "import tests.test_env",
        "from .test_blocks import MANY",
        "from . import test_blocks",
        "def now():\n    from ..views.test_tree import asked",
    ],
)
def test_each_way_to_import_from_a_test_module_is_found(line: str) -> None:
    assert len(from_test_modules(line)) == 1


def test_nothing_imports_from_a_test_module() -> None:
    found = {
        str(file.relative_to(FOLDER)): imports
        for file in sorted(FOLDER.rglob("*.py"))
        if (imports := from_test_modules(file.read_text("utf-8")))
    }
    assert found == {}, "move what is shared into a module whose name does not begin with test_"


def test_the_name_of_a_test_states_its_rule_in_60_characters() -> None:
    long = {
        f"{file.relative_to(FOLDER)}: {node.name}"
        for file in sorted(FOLDER.rglob("test_*.py"))
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name.startswith("test_")
        and len(node.name) > MAX_NAME_CHARS
    }
    assert long == set()
