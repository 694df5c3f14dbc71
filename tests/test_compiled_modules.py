"""What servers of tests import is what Python would find on the disk."""

import importlib.util
import json
import subprocess
import sys
from importlib.machinery import PathFinder

from tests.support.compiled_modules import CompiledModules
from tests.support.databases import ROOT

COUNTED = """
import json, sys
from tests.support.preloaded import CompiledModules
finder = next(each for each in sys.meta_path if isinstance(each, CompiledModules))
import chatsite.env
print(json.dumps([len(finder.specs), chatsite.env.__spec__ is finder.specs["chatsite.env"]]))
"""


def test_each_module_is_that_of_the_disk() -> None:
    for name, spec in CompiledModules("chatsite", "axes").specs.items():
        parent = importlib.util.find_spec(name.rpartition(".")[0]) if "." in name else None
        found = PathFinder.find_spec(name, parent.submodule_search_locations if parent else None)
        assert found is not None, name
        assert (spec.origin, spec.cached) == (found.origin, found.cached)
        assert spec.submodule_search_locations == found.submodule_search_locations
        assert spec.loader.get_code(name) == found.loader.get_code(name)
        assert spec.loader.get_filename(name) == found.origin


def test_other_modules_are_left_to_python() -> None:
    assert CompiledModules("axes").find_spec("chat.models") is None


def test_the_fork_server_has_read_the_code_of_the_site() -> None:
    program = [sys.executable, "-c", COUNTED]
    count, used = json.loads(subprocess.check_output(program, cwd=ROOT))
    assert count > 400
    assert used
