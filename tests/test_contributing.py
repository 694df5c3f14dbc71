"""The pages for developers name files and rooms that are there."""

import re

import pytest

from tests.support.databases import ROOT
from tests.support.documentation import PAGES

NAMED = sorted(
    set(
        re.findall(
            r"`((?:chat|chatsite|static|templates|tests)/[\w./]*)`",
            PAGES["CONTRIBUTING.md"] + PAGES["docs/design.md"],
        )
    )
)


def test_it_names_files() -> None:
    assert len(NAMED) > 30


@pytest.mark.parametrize("path", NAMED)
def test_named_files_exist(path: str) -> None:
    assert (ROOT / path).exists()
