"""The README, its fenced blocks, and the settings of its example `.env` file."""

import re

from tests.support.databases import ROOT

README = (ROOT / "README.md").read_text("utf-8")
FENCE = re.compile(r"^( *)```\w*\n(.*?)\n\1```$", re.MULTILINE | re.DOTALL)
SETTING = re.compile(r"([A-Z_]+)=(.*)")


def fences() -> list[list[str]]:
    """Return the lines of each fenced block."""
    return [[line.strip() for line in block.splitlines()] for _, block in FENCE.findall(README)]


def settings() -> dict[str, str]:
    """Return the settings of the example `.env` file."""
    found = [SETTING.fullmatch(line) for lines in fences() for line in lines if "=" in line]
    assert all(found)
    return {each[1]: each[2] for each in found if each}
