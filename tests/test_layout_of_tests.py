"""The rules of this folder: no imports from test modules, short names, and what runs when."""

import ast
import re
from pathlib import Path

import pytest

from tests.tiers import JOURNEYS, SLOW, SLOW_ON_POSTGRES, has_only_slow_tests, is_slow

FOLDER = Path(__file__).parent
MAX_NAME_CHARS = 60
TEST = re.compile(r"^ *(?:async )?def (test_\w+)", re.MULTILINE)


def from_test_modules(source: str) -> list[str]:
    """Return the dotted paths that are imported from a `test_*.py` of this folder."""
    if ".test_" not in source and "import test_" not in source:
        return []
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
        f"{file.relative_to(FOLDER)}: {name}"
        for file in sorted(FOLDER.rglob("test_*.py"))
        for name in TEST.findall(file.read_text("utf-8"))
        if len(name) > MAX_NAME_CHARS
    }
    assert long == set()


@pytest.mark.parametrize("path", SLOW + SLOW_ON_POSTGRES)
def test_what_is_slow_is_there(path: str) -> None:
    file, _, name = path.partition("::")
    assert (FOLDER.parent / file).exists()
    assert f"def {name}" in (FOLDER.parent / file).read_text("utf-8") if name else True


@pytest.mark.parametrize("journey", JOURNEYS)
def test_a_journey_is_a_test_that_would_be_slow(journey: str) -> None:
    file, name = journey.split("::")
    assert f"def {name}(" in (FOLDER.parent / file).read_text("utf-8")
    assert is_slow(journey)
    assert not has_only_slow_tests(file)


def test_a_file_beside_a_slow_one_is_not_slow() -> None:
    assert is_slow("tests/test_memory.py")
    assert not is_slow("tests/test_memory_of_something.py")
    assert has_only_slow_tests("tests/chaos/test_chaos.py")


def test_with_postgresql_more_is_slow() -> None:
    assert has_only_slow_tests("tests/views/test_keys.py", "postgres")
    assert not is_slow("tests/views/test_keys.py")
