"""Static files after `collectstatic`: hashed, compressed, and of one piece."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from django.conf import settings
from django.contrib.staticfiles.storage import staticfiles_storage
from django.core.management import call_command
from django.http import HttpResponse
from django.test import AsyncClient, RequestFactory, override_settings

from chatsite.management.commands import serve
from chatsite.static_files import StaticMiddleware
from tests.conftest import missing

ROOT = Path(__file__).parent.parent
FIRST = ("first_paint", "composer", "drafts", "page", "chat")  # loaded before anything is asked
FIRST_BYTES = 13 * 1024
FIRST_STYLE = 9 * 1024
OURS = ("js/*.js", "css/*.css", "img/*")
STORAGE = {"staticfiles": {"BACKEND": "chatsite.storage.StaticStorage"}}
# For tests with files of their own: without Django's, whose compression takes seconds.
OWN_FILES = ["django.contrib.staticfiles.finders.FileSystemFinder"]
HASHED = re.compile(r"\.[0-9a-f]{12}\.")
COMMENT = re.compile(rb"/\*.*?\*/|^\s*//[^\n]*", re.DOTALL | re.MULTILINE)
# The files that a browser would load from a module and from a style sheet.
MODULE = re.compile(
    rb"""(?:^|;)\s*(?:import|export)\b[^;"'=]*?\bfrom\s*["']([^"']+)["']|(?:^|;)\s*import\s*["']([^"']+)["']"""
    rb"""|\bimport\(\s*["']([^"']+)["']""",
    re.MULTILINE,
)
PARSE = """
import { readFileSync } from 'node:fs';
import { SourceTextModule } from 'node:vm';
for (const identifier of process.argv.slice(1)) {
  new SourceTextModule(readFileSync(identifier, 'utf8'), { identifier });
}
"""
SHEET = re.compile(rb"""url\(\s*["']?([^"')]+)["']?\s*\)|@import\s+["']([^"']+)["']""")


@pytest.fixture(scope="module")
def collected(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder that the server serves, made as on the first start."""
    folder = tmp_path_factory.mktemp("static")
    with override_settings(STORAGES=settings.STORAGES | STORAGE, STATIC_ROOT=folder):
        call_command("collectstatic", interactive=False, verbosity=0)
        yield folder


def served(folder: Path, pattern: str) -> list[Path]:
    """The files that pages link to: those with a hash, of the chat and of the admin."""
    return [path for path in folder.rglob(pattern) if HASHED.search(path.name)]


def references(path: Path) -> list[str]:
    text = COMMENT.sub(b"", path.read_bytes())
    loads = MODULE if path.suffix == ".js" else SHEET
    return [found[found.lastindex].decode() for found in loads.finditer(text) if found.lastindex]


@pytest.mark.parametrize("pattern", ["*.js", "*.css"])
def test_every_reference_leads_to_a_hashed_file(pattern: str, collected: Path) -> None:
    files = served(collected, pattern)
    assert files
    for path in files:
        for reference in references(path):
            if reference.startswith("data:"):
                continue
            name = PurePosixPath(reference.split("#")[0].split("?")[0])
            assert HASHED.search(name.name), f"{path.name} loads {reference}"
            target = (
                collected / str(name).removeprefix("/static/") if name.is_absolute() else path.parent / name
            )
            assert target.is_file(), f"{path.name} loads {reference}"


def test_a_module_that_imports_another_is_seen(collected: Path) -> None:
    ours = [path for path in served(collected, "*.js") if path.parent == collected / "js"]
    assert any(references(path) for path in ours)


def test_imports_are_followed_and_lookalikes_are_not(tmp_path: Path) -> None:
    (tmp_path / "from/js").mkdir(parents=True)
    (tmp_path / "from/js/b.js").write_text("// import './gone.js';\nexport const b = '// text';\n")
    (tmp_path / "from/js/a.js").write_text(
        "import { b } from './b.js';\nimport './b.js'; // import './gone.js';\nexport { b } from './b.js';\n"
        "export const later = async () => (await import('./b.js')).b;\n"
    )
    folders = {"STATICFILES_DIRS": [tmp_path / "from"], "STATIC_ROOT": tmp_path / "to"}
    with override_settings(STORAGES=settings.STORAGES | STORAGE, STATICFILES_FINDERS=OWN_FILES, **folders):
        call_command("collectstatic", interactive=False, verbosity=0)
    [module] = [path for path in (tmp_path / "to/js").glob("a.*.js") if HASHED.search(path.name)]
    loads = references(module)
    assert len(loads) == 4
    for name in loads:
        assert HASHED.search(name)
        assert (module.parent / name).read_text() == "export const b='// text';"


def test_former_version_of_a_file_is_served(tmp_path: Path) -> None:
    source = tmp_path / "from/js/a.js"
    source.parent.mkdir(parents=True)
    folders = {"STATICFILES_DIRS": [tmp_path / "from"], "STATIC_ROOT": tmp_path / "to"}
    with override_settings(STORAGES=settings.STORAGES | STORAGE, STATICFILES_FINDERS=OWN_FILES, **folders):
        for text in ("// one\nexport const a = 1;\n", "// two\nexport const a = 2;\n"):
            source.write_text(text)
            os.utime(source, (1, 1))  # as a package manager sets it
            call_command("collectstatic", interactive=False, verbosity=0)
        name = staticfiles_storage.stored_name("js/a.js")
    assert (tmp_path / "to" / name).read_text() == "export const a=2;"


def cost(folder: Path, name: str, suffix: str) -> int:
    """Return the size of this file as a browser loads it, in bytes."""
    [twin] = [path for path in folder.rglob(f"{name}.*.{suffix}.br") if HASHED.search(path.name)]
    return twin.stat().st_size


def test_the_first_load_is_small(collected: Path) -> None:
    sizes = {name: cost(collected / "js", name, "js") for name in FIRST}
    assert sum(sizes.values()) <= FIRST_BYTES, sizes
    assert cost(collected / "css", "chat", "css") <= FIRST_STYLE


def test_a_sheet_that_another_imports_is_part_of_it(collected: Path) -> None:
    for name in ("chat", "admin"):
        [sheet] = served(collected / "css", f"{name}.*.css")
        text = sheet.read_text()
        assert "@import" not in text
        assert "--ground: light-dark(" in text
        assert text.index("--ground: light-dark(") < text.index("var(--ground)")
    assert "@layer tokens {\n:root {" in served(collected / "css", "chat.*.css")[0].read_text()


def parsed(*modules: Path) -> subprocess.CompletedProcess[str]:
    """Parse these modules in one process, for a start of Node.js takes longer."""
    command = ["node", "--experimental-vm-modules", "--input-type=module", "--eval", PARSE, "--", *modules]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


def test_the_served_files_pass_the_tests_of_the_source(collected: Path, tmp_path: Path) -> None:
    if shutil.which("node") is None:
        missing("node", "install the package nodejs")
    shutil.copytree(ROOT / "tests/js", tmp_path / "tests/js")
    shutil.copytree(collected / "js", tmp_path / "static/js")
    (tmp_path / "package.json").write_text('{"type": "module"}')
    modules = sorted((tmp_path / "static/js").glob("*.js"))
    assert modules
    assert parsed(*modules).returncode == 0
    (tmp_path / "wrong.js").write_text("export const wrong = ;")
    assert "SyntaxError" in parsed(*modules, tmp_path / "wrong.js").stderr
    tests = sorted((tmp_path / "tests/js").glob("*.test.mjs"))
    done = subprocess.run(["node", "--test", *tests], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout


def test_every_file_of_ours_has_smaller_twins(collected: Path) -> None:
    for pattern in ("js/*.js", "css/*.css", "admin/css/*.css"):
        files = [path for path in collected.glob(pattern) if path.stat().st_size > 500]
        assert files
        for path in files:
            for twin in (".br", ".gz"):
                assert path.with_name(path.name + twin).stat().st_size < path.stat().st_size


def ours(folder: Path) -> list[Path]:
    """Our own files with a hash, as named under the folder."""
    files = [path for pattern in OURS for path in folder.glob(pattern) if HASHED.search(path.name)]
    return [path.relative_to(folder) for path in files if path.suffix in (".js", ".css", ".svg")]


async def test_each_twin_is_served_to_who_takes_it_and_kept_for_ever(collected: Path) -> None:
    client = AsyncClient()
    names = ours(collected)
    assert len(names) > 20
    for name in names:
        whole = await client.get(f"/static/{name}")
        assert "immutable" in whole["Cache-Control"]
        for encoding, twin in (("br", ".br"), ("gzip", ".gz")):
            packed = await client.get(f"/static/{name}", headers={"accept-encoding": encoding})
            assert "immutable" in packed["Cache-Control"]
            if (there := collected / f"{name}{twin}").is_file():
                assert (packed["Content-Encoding"], packed["Vary"]) == (encoding, "Accept-Encoding")
                assert packed.content == there.read_bytes()


async def test_a_plain_name_is_asked_for_again(collected: Path) -> None:
    plain = await AsyncClient().get("/static/admin/css/base.css")
    assert plain.status_code == 200
    assert "immutable" not in plain["Cache-Control"]


@pytest.mark.parametrize(
    "path",
    [
        *("", "js/", "staticfiles.json", "staticfiles.json/", "css/chat.css/", "nothing.js"),
        *("..%2fdb.sqlite3", "../secret-key"),
    ],
)
async def test_there_is_nothing_else_under_static(path: str, collected: Path, settings: Any) -> None:
    settings.ROOT_URLCONF = "tests.test_middleware"  # no pages: only what the middleware finds
    response = await AsyncClient().get(f"/static/{path}")
    assert response.status_code == 404
    assert str(collected) not in response.content.decode()


def test_a_release_that_is_put_in_place_again_has_its_own_files(tmp_path: Path) -> None:
    """Its files are older than what was collected from the release after it."""
    source, root = tmp_path / "source", tmp_path / "root"
    (source / "css").mkdir(parents=True)
    sheet = source / "css" / "a.css"

    def released(content: str, time: float) -> str:
        """The style sheet that pages load, after a start."""
        sheet.write_text(content)
        os.utime(sheet, (time, time))
        assert serve._collect_static() is True
        assert serve._collect_static() is False
        name = json.loads((root / "staticfiles.json").read_bytes())["paths"]["css/a.css"]
        return (root / name).read_text()

    changed = {"STATIC_ROOT": root, "STATICFILES_DIRS": [source], "STORAGES": settings.STORAGES | STORAGE}
    with override_settings(STATICFILES_FINDERS=OWN_FILES, **changed):
        assert "red" in released("a { color: red }", 1_000_000_000)
        assert "blue" in released("a { color: blue }", 1_500_000_000)
        assert "red" in released("a { color: red }", 1_000_000_000)
        (root / "staticfiles.json").write_text("damaged")
        assert serve._collect_static() is True


def test_files_are_kept_from_their_first_request_on(collected: Path) -> None:
    """A table of all files at the start takes 1 MB."""
    name = served(collected, "chat.*.css")[0].name
    with override_settings(STATIC_ROOT=collected):
        middleware = StaticMiddleware(lambda request: HttpResponse(status=404))
        assert middleware.files == {}
        response = middleware(RequestFactory().get(f"/static/css/{name}", HTTP_ACCEPT_ENCODING="br"))
        response.close()
        assert (response.status_code, response["Content-Encoding"]) == (200, "br")
        assert "immutable" in response["Cache-Control"]
        assert list(middleware.files) == [f"/static/css/{name}"]


@pytest.mark.django_db  # closing a response looks for connections to close
def test_a_worker_serves_the_files_of_a_later_release(tmp_path: Path) -> None:
    """While workers are replaced, a page of a new one may load its files from an old one."""
    with override_settings(STATIC_ROOT=tmp_path / "root"):
        (tmp_path / "root").mkdir()
        middleware = StaticMiddleware(lambda request: HttpResponse(status=404))
        later = tmp_path / "root" / "css" / "a.0123456789ab.css"
        later.parent.mkdir()
        later.write_text("a { color: red }")
        (tmp_path / "secret").write_text("x")
        get = RequestFactory().get
        for _ in range(2):
            found = middleware(get("/static/css/a.0123456789ab.css"))
            assert found.getvalue() == later.read_bytes()
            found.close()
        for path in (
            "/static/css/b.css",
            "/static/../secret",
            "/static/",
            "/static/css",
            "/static/css//a.0123456789ab.css",
        ):
            assert middleware(get(path)).status_code == 404
