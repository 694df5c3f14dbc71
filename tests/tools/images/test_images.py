"""`make images` works, and what it writes is what was committed, but for the pixels."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

import tests.fake_cloudflare.server  # noqa: F401 - registers every scenario
from tests.conftest import missing
from tests.fake_cloudflare.run import SCENARIOS
from tests.support.databases import ROOT
from tests.tools.images import ICONS, MADE, PICTURES, __main__  # noqa: F401 - has imported all that makes them
from tests.tools.images.icons import SIZES
from tests.tools.images.sample_replies import SAVING_SAID

ROW = re.compile(r"^\| (\d+) \| €(\S+) \| €(\S+) \| €(\S+) \|$", re.MULTILINE)


def shape(file: Path) -> tuple[tuple[int, int], int]:
    """Return the picture's size in pixels, and its number of frames."""
    with Image.open(file) as picture:
        return picture.size, getattr(picture, "n_frames", 1)


@pytest.mark.browser
def test_every_picture_is_made_as_it_was_committed(tmp_path: Path) -> None:
    if shutil.which("chromium") is None:
        missing("Chromium", "install the package chromium")
    subprocess.run([sys.executable, "-m", "tests.tools.images", "--root", tmp_path], cwd=ROOT, check=True)
    made = {str(file.relative_to(tmp_path)) for file in tmp_path.rglob("*.*")}
    assert made == {*(f"{PICTURES}/{name}" for name in MADE), *(f"{ICONS}/{name}" for name in SIZES)}
    for path in made:
        assert shape(tmp_path / path) == shape(ROOT / path), path


def test_the_fakes_scenarios_are_its_own() -> None:
    others = {"tests.chaos.upstream"}  # where tests of this process imported them
    modules = {each.__module__ for each in SCENARIOS.values()} - others
    assert modules == {
        f"tests.fake_cloudflare.{name}"
        for name in ("ai_search", "scenarios", "text_scenarios", "tool_scenarios")
    }


def test_the_code_in_the_picture_computes_the_table_beside_it() -> None:
    names: dict[str, object] = {}
    exec(SAVING_SAID.split("```python\n")[1].split("```")[0], names)
    worth = names["worth"]
    assert callable(worth)
    rows = ROW.findall(SAVING_SAID)
    assert len(rows) == 3
    for years, paid, interest, total in rows:
        computed = worth(150, 0.04, int(years))
        paid_in = 150 * 12 * int(years)
        assert [f"{paid_in:,}", f"{computed - paid_in:,.0f}", f"{computed:,.0f}"] == [paid, interest, total]
    assert f"{worth(150, 0.04, 20) / 1.02**20:,.0f}" in SAVING_SAID
