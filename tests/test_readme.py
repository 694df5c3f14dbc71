"""What the README says to type, works; what it shows and links to, is there."""

import re
import subprocess
from collections.abc import Iterator
from html.parser import HTMLParser
from urllib.parse import urlsplit
from xml.etree import ElementTree

import pytest
from PIL import Image

from tests.databases import ROOT
from tests.images import DRAWN, MADE
from tests.test_env import READ_BY_THE_SITE

README = (ROOT / "README.md").read_text("utf-8")
IMAGES = ROOT / "deploy" / "images"
KB = 1000
STILL, MOVING = 150 * KB, 600 * KB
DEFAULT_MODEL = "local/smollm2-135m"  # looks like a file
SVG = "{http://www.w3.org/2000/svg}"

FENCE = re.compile(r"^( *)```\w*\n(.*?)\n\1```$", re.MULTILINE | re.DOTALL)
PROSE = FENCE.sub("", README)
INLINE = re.findall(r"`([^`\n]+)`", PROSE)
FILES = {each for each in INLINE if re.fullmatch(r"\.?[\w-]+(/[\w-]+|\.\w+)", each)}
COMMANDS = {each for each in INLINE if each.startswith("make ")}
SETTING = re.compile(r"([A-Z_]+)=(.*)")
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)]+)\)")


def fences() -> list[list[str]]:
    """The lines of each fenced block."""
    return [[line.strip() for line in block.splitlines()] for _, block in FENCE.findall(README)]


def settings() -> dict[str, str]:
    """What the example of a `.env` file sets."""
    found = [SETTING.fullmatch(line) for lines in fences() for line in lines if "=" in line]
    assert all(found)
    return {each[1]: each[2] for each in found if each}


class Pictures(HTMLParser):
    """Every picture, with its text; a `source` shows what its `img` says."""

    def __init__(self, markdown: str) -> None:
        super().__init__()
        self.found: list[tuple[str, str | None]] = [
            (to, text) for mark, text, to in LINK.findall(markdown) if mark
        ]
        self._sources: list[str] = []
        self.feed(markdown)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "source":
            self._sources.append(given["srcset"] or "")
        elif tag == "img":
            self.found += [(path, given.get("alt")) for path in [given["src"] or "", *self._sources]]
            self._sources.clear()


PICTURES = Pictures(PROSE).found


def test_each_block_is_a_command_or_an_env_file() -> None:
    """test_start.py types `make run`; what runs this very test is `make test`."""
    blocks = [lines for lines in fences() if not all(map(SETTING.fullmatch, lines))]
    assert blocks == [["make run"], ["make test"]]


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_make_knows_every_target(command: str) -> None:
    done = subprocess.run([*command.split(), "--dry-run"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert ".venv/bin/" in done.stdout  # a target without a rule does nothing, and says so


def test_the_example_of_an_env_file_has_settings_that_exist() -> None:
    assert settings()
    assert set(settings()) <= READ_BY_THE_SITE


@pytest.mark.parametrize("path", sorted(FILES))
def test_every_file_that_is_named_is_there(path: str) -> None:
    assert (ROOT / path).exists() or path == DEFAULT_MODEL


def anchors() -> set[str]:
    """The headings as GitHub names them."""
    titles = re.findall(r"^#+ (.+)$", PROSE, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("address", sorted({to for mark, _, to in LINK.findall(PROSE) if not mark}))
def test_every_link_leads_somewhere(address: str) -> None:
    parts = urlsplit(address)
    if parts.scheme:
        assert parts.scheme == "https"
    elif parts.path:
        assert (ROOT / parts.path).is_file()
    else:
        assert parts.fragment in anchors()


@pytest.mark.parametrize(("path", "text"), sorted(set(PICTURES)))
def test_every_picture_says_what_it_shows(path: str, text: str | None) -> None:
    assert len((text or "").split()) > 5
    assert (ROOT / path).is_file()


def test_the_pictures_are_those_that_are_made() -> None:
    shown = {path for path, _ in PICTURES}
    assert shown == {f"deploy/images/{name}" for name in (*MADE, *DRAWN)}
    assert {path.name for path in IMAGES.iterdir()} == {*MADE, *DRAWN}


def durations(picture: Image.Image) -> Iterator[int]:
    """How long each of its frames stands, in milliseconds; of a still picture 0."""
    for number in range(getattr(picture, "n_frames", 1)):
        picture.seek(number)
        picture.load()
        yield picture.info.get("duration", 0)


@pytest.mark.parametrize("name", MADE)
def test_the_pictures_are_sharp_and_light(name: str) -> None:
    with Image.open(IMAGES / name) as picture:
        lasts = sum(durations(picture))
        assert picture.width >= 750
    if name == "reply.webp":
        assert 6000 <= lasts <= 10_000
    else:
        assert lasts == 0
    assert (IMAGES / name).stat().st_size <= (MOVING if lasts else STILL)


@pytest.mark.parametrize("name", DRAWN)
def test_a_drawing_is_told_in_words_and_drawn_for_light_and_dark(name: str) -> None:
    source = (IMAGES / name).read_text("utf-8")
    drawing = ElementTree.fromstring(source)
    for part in ("title", "desc"):
        assert drawing.findtext(f"{SVG}{part}"), part
    assert "@media (prefers-color-scheme: dark)" in source
    assert {each.tag.removeprefix(SVG) for each in drawing.iter()} <= {
        "svg", "title", "desc", "style", "rect", "text", "path", "circle"
    }  # fmt: skip
    assert len(source) <= STILL
