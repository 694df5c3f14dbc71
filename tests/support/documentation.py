"""The pages of the documentation, their fenced blocks, and the settings of their example `.env` file."""

import re

from tests.support.databases import ROOT

FILES = [*(ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING", "SECURITY", "CHANGELOG")),
         *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "deploy").glob("*.md"))]  # fmt: skip
PAGES = {str(path.relative_to(ROOT)): path.read_text("utf-8") for path in FILES}
FENCE = re.compile(r"^( *)```\w*\n(.*?)\n\1```$", re.MULTILINE | re.DOTALL)
SETTING = re.compile(r"([A-Z_]+)=(.*)")


def prose(page: str) -> str:
    """Return a page without its fenced blocks."""
    return FENCE.sub("", PAGES[page])


def fences(*pages: str) -> list[list[str]]:
    """Return the lines of each fenced block of these pages."""
    blocks = [block for page in pages for _, block in FENCE.findall(PAGES[page])]
    return [[line.strip() for line in block.splitlines()] for block in blocks]


def settings() -> dict[str, str]:
    """Return the settings of the example `.env` file."""
    found = [SETTING.fullmatch(line) for lines in fences("docs/settings.md") for line in lines]
    assert found
    assert all(found)
    return {each[1]: each[2] for each in found if each}
