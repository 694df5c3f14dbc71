"""Static files after `collectstatic`: hashed, compressed, and of one piece."""

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from django.conf import settings
from django.contrib.staticfiles.storage import staticfiles_storage
from django.core.management import call_command
from django.test import AsyncClient, override_settings

STORAGE = {"staticfiles": {"BACKEND": "chatsite.storage.StaticStorage"}}
HASHED = re.compile(r"\.[0-9a-f]{12}\.")
COMMENT = re.compile(rb"/\*.*?\*/|^\s*//[^\n]*", re.DOTALL | re.MULTILINE)
# What a browser would load from a module and from a style sheet.
MODULE = re.compile(
    rb"""^\s*(?:import|export)\b[^;"'=]*?\bfrom\s*["']([^"']+)["']|^\s*import\s*["']([^"']+)["']"""
    rb"""|\bimport\(\s*["']([^"']+)["']""",
    re.MULTILINE,
)
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


def test_every_file_of_ours_has_a_smaller_twin(collected: Path) -> None:
    for path in (collected / "js").glob("*.js"):
        if path.stat().st_size > 500:
            assert path.with_name(path.name + ".br").stat().st_size < path.stat().st_size
            assert path.with_name(path.name + ".gz").is_file()


async def test_a_hashed_file_is_kept_for_ever_and_a_plain_one_is_not(collected: Path) -> None:
    client = AsyncClient()
    hashed = await client.get(staticfiles_storage.url("admin/css/base.css"))
    plain = await client.get("/static/admin/css/base.css")
    assert "immutable" in hashed["Cache-Control"]
    assert "immutable" not in plain["Cache-Control"]


@pytest.mark.parametrize(
    "path", ["", "js/", "staticfiles.json/", "nothing.js", "..%2fdb.sqlite3", "../secret-key"]
)
async def test_there_is_nothing_else_under_static(path: str, collected: Path, settings: Any) -> None:
    settings.ROOT_URLCONF = "tests.test_middleware"  # no pages: only what the middleware finds
    response = await AsyncClient().get(f"/static/{path}")
    assert response.status_code == 404
    assert str(collected) not in response.content.decode()
