"""Each tool of the Makefile starts outside pytest, where nothing has set Django up for it."""

import re
import subprocess
import sys

import pytest

from tests.support.databases import ROOT

TOOLS = (
    "tests.chaos",
    "tests.house.mutate",
    "tests.simulation",
    "tests.tools.audit",
    "tests.tools.bench",
    "tests.tools.images",
    "tests.tools.reload",
)


@pytest.mark.parametrize("tool", TOOLS)
def test_a_tool_explains_its_options(tool: str) -> None:
    command = [sys.executable, "-m", tool, "--help"]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert told.returncode == 0, told.stderr
    assert told.stdout.startswith("usage: ")


def test_no_other_tool_stands_in_the_makefile() -> None:
    modules = re.findall(r"\$\(BIN\)/python -m (\S+)", (ROOT / "Makefile").read_text())
    assert {module for module in modules if module != "compileall"} == set(TOOLS)
