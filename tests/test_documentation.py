"""The documentation: the commands and tools work, and the pictures, links, files and settings exist."""

import os
import re
import shlex
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
from tests.support.documentation import PAGES, fences, prose, settings
from tests.support.manage import READ_BY_THE_SITE
from tests.tools.images import DRAWN, MADE

TRANSLATION = "docs/operating.md"
IMAGES = ROOT / "deploy" / "images"
KB = 1000
STILL, MOVING = 150 * KB, 600 * KB
NO_FILES = {
    "local/smollm2-135m",
    "DATA_DIR/workers",
    "move.zip",
    "application/octet-stream",
}  # look like some
SVG = "{http://www.w3.org/2000/svg}"
TOOLS = (
    "tests.chaos",
    "tests.house.mutate",
    "tests.simulation",
    "tests.tools.audit",
    "tests.tools.bench",
    "tests.tools.images",
    "tests.tools.reload",
)

INLINE = {(page, each) for page in PAGES for each in re.findall(r"`([^`\n]+)`", prose(page))}
FILES = {(page, each) for page, each in INLINE if re.fullmatch(r"\.?[\w-]+(/[\w-]+|\.\w+)", each)}
COMMANDS = {each for _, each in INLINE if each.startswith("make ")}
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)]+)\)")
LINKS = sorted({(page, to) for page in PAGES for mark, _, to in LINK.findall(prose(page)) if not mark})

TRANSLATING = [lines for lines in fences(TRANSLATION) if any("messages" in line for line in lines)]
# Which languages there are, and what the page is called that asks who it is.
ASK = (
    *(".venv/bin/python", "manage.py", "shell", "-v0", "-c"),
    "from django.conf import settings; from django.utils.translation import gettext, override\n"
    "with override('es'): print([code for code, _ in settings.LANGUAGES], gettext('Sign in'))",
)


@pytest.mark.parametrize("page", PAGES)
def test_prose_is_wrapped_at_120_characters(page: str) -> None:
    lines = [line for line in prose(page).splitlines() if not re.match(r" *[|<]|.*\]\([^)]{60,}", line)]
    assert [line for line in lines if len(line) > 120] == []


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


PICTURES = [(page, *found) for page in PAGES for found in Pictures(prose(page)).found]


def test_the_readme_has_two_commands() -> None:
    """test_start.py types `make run`; what runs this very test is `make test`."""
    assert fences("README.md") == [["make run"], ["make test"]]


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
    done = subprocess.run([*shlex.split(command), "--dry-run"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert ".venv/bin/" in done.stdout  # a target without a rule does nothing, and says so


@pytest.mark.parametrize("tool", TOOLS)
def test_a_tool_explains_its_options(tool: str) -> None:
    """Outside pytest, nothing has set Django up for it."""
    command = [sys.executable, "-m", tool, "--help"]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert told.returncode == 0, told.stderr
    assert told.stdout.startswith("usage: ")


def test_no_other_tool_stands_in_the_makefile() -> None:
    modules = re.findall(r"\$\(BIN\)/python -m (\S+)", (ROOT / "Makefile").read_text())
    assert {module for module in modules if module != "compileall"} == set(TOOLS)


def test_the_example_of_an_env_file_has_settings_that_exist() -> None:
    assert settings()
    assert set(settings()) <= READ_BY_THE_SITE


@pytest.mark.parametrize(("page", "path"), sorted(FILES))
def test_every_file_that_is_named_is_there(page: str, path: str) -> None:
    folders = (ROOT, (ROOT / page).parent)
    found = any((folder / path).exists() for folder in folders) or path in NO_FILES
    assert found or any(any((ROOT / folder).rglob(path)) for folder in ("chat", "deploy"))


def anchors(page: str) -> set[str]:
    """The headings as GitHub names them."""
    titles = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize(("page", "address"), LINKS)
def test_every_link_leads_somewhere(page: str, address: str) -> None:
    parts = urlsplit(address)
    if parts.scheme:
        assert parts.scheme == "https"
        return
    path = ((ROOT / page).parent / parts.path).resolve() if parts.path else ROOT / page
    assert path.is_file()
    assert not parts.fragment or parts.fragment in anchors(str(path.relative_to(ROOT)))


@pytest.mark.parametrize(("page", "path", "text"), sorted(set(PICTURES)))
def test_every_picture_says_what_it_shows(page: str, path: str, text: str | None) -> None:
    assert len((text or "").split()) > 5
    assert ((ROOT / page).parent / path).is_file()


def test_the_pictures_are_those_that_are_made() -> None:
    shown = {((ROOT / page).parent / path).resolve() for page, path, _ in PICTURES}
    assert shown == {IMAGES / name for name in (*MADE, *DRAWN)}
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
