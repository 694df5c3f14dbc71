"""The README: its commands work, and its pictures and links exist."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlsplit
from xml.etree import ElementTree

import pytest
from PIL import Image

from tests.conftest import missing
from tests.support.databases import ROOT
from tests.support.manage import READ_BY_THE_SITE
from tests.support.readme import FENCE, README, SETTING, fences, settings
from tests.tools.images import DRAWN, MADE

IMAGES = ROOT / "deploy" / "images"
KB = 1000
STILL, MOVING = 150 * KB, 600 * KB
DEFAULT_MODEL = "local/smollm2-135m"  # looks like a file
SVG = "{http://www.w3.org/2000/svg}"

PROSE = FENCE.sub("", README)
INLINE = re.findall(r"`([^`\n]+)`", PROSE)
FILES = {each for each in INLINE if re.fullmatch(r"\.?[\w-]+(/[\w-]+|\.\w+)", each)}
COMMANDS = {each for each in INLINE if each.startswith("make ")}
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)]+)\)")


BACKUP = [
    lines for lines in fences() if lines[0].startswith("curl ")
]  # tests/api/test_conversations.py types it
TRANSLATING = [lines for lines in fences() if any("messages" in line for line in lines)]
# Which languages there are, and what the page is called that asks who it is.
ASK = (
    *(".venv/bin/python", "manage.py", "shell", "-v0", "-c"),
    "from django.conf import settings; from django.utils.translation import gettext, override\n"
    "with override('es'): print([code for code, _ in settings.LANGUAGES], gettext('Sign in'))",
)


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
    """test_start.py types `make run`; what runs this very test is `make test`; the others are typed below."""
    blocks = [lines for lines in fences() if not all(map(SETTING.fullmatch, lines))]
    assert [lines for lines in blocks if lines not in (*TRANSLATING, *BACKUP)] == [
        ["make run"],
        ["make test"],
    ]
    assert len(TRANSLATING) == 2


def test_another_language_is_made_as_it_says(tmp_path: Path) -> None:
    if shutil.which("msgfmt") is None:
        missing("GNU gettext", "install the package gettext")
    for folder in ("chat", "chatsite", "templates"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "manage.py", tmp_path)
    (tmp_path / ".venv").symlink_to(sys.prefix)
    env = {"PATH": os.environ["PATH"], "DATA_DIR": str(tmp_path / "data")}

    def typed(*command: str) -> str:
        done = subprocess.run(command, cwd=tmp_path, env=env, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    extract, compile_it = ("\n".join(lines) for lines in TRANSLATING)
    typed("sh", "-ec", extract)
    catalog = tmp_path / "locale/es/LC_MESSAGES/django.po"
    words = catalog.read_text("utf-8")
    assert words.count('msgid "Sign in"\nmsgstr ""') == 1
    catalog.write_text(words.replace('msgid "Sign in"\nmsgstr ""', 'msgid "Sign in"\nmsgstr "Entrer"'))
    assert typed(*ASK) == "['en'] Sign in"
    typed("sh", "-ec", compile_it)
    assert typed(*ASK) == "['en', 'es'] Entrer"


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
    """Return the durations of the frames, in milliseconds; 0 for a still picture."""
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
