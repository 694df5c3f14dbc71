"""`manage.py doctor` prints the set-up check, and its exit code says whether a check failed."""

import shutil
import uuid
from pathlib import Path

import pytest

from tests.fake_cloudflare.server import Fake
from tests.support import forkserver
from tests.support.databases import Database, Template, clean_environment

ATTACHMENT = (
    "INSERT INTO chat_attachment (id, owner_id, sha256, position, media_type, name, alt, width, height, size,"
    " created) SELECT '{}', id, '{}', 0, 'image/png', 'a.png', '', 1, 1, 1, '2026-01-01' FROM chat_user"
    " WHERE username = 'alice'"
)


def doctor(
    template: Template, database: Database, folder: Path, *arguments: str, **env: str
) -> tuple[int, str]:
    """Return the exit code and the output."""
    settings = {
        "DATA_DIR": str(folder),
        "DATABASE_URL": database.url,
        "SECRET_KEY": template.secret_key,
        **env,
    }
    ended = forkserver.run(clean_environment(**settings), ("doctor", *arguments), timeout=120)
    return ended.returncode, ended.stdout + ended.stderr


def cloudflare(fake: Fake, token: str) -> dict[str, str]:
    return {
        "CLOUDFLARE_ACCOUNT_ID": "acc",
        "CLOUDFLARE_API_TOKEN": token,
        "CLOUDFLARE_API_BASE_URL": f"{fake.url}/client/v4",
    }


def test_a_site_that_works(template: Template, database: Database, fake: Fake, tmp_path: Path) -> None:
    code, output = doctor(template, database, tmp_path, **cloudflare(fake, "fake-token"))
    assert code == 0, output
    assert "ok    Database: SQLite is responding." in output
    assert "ok    Cloudflare token: Cloudflare accepts it." in output
    assert "note  Redis: Not set up." in output
    assert list((tmp_path / "workers").iterdir()) == []


def test_a_token_that_is_rejected(template: Template, database: Database, fake: Fake, tmp_path: Path) -> None:
    code, output = doctor(template, database, tmp_path, **cloudflare(fake, "wrong"))
    assert code == 1
    assert "FAIL  Cloudflare token: Cloudflare rejected it. Create a token with" in output
    assert "of the checks failed." in output
    assert "wrong" not in output.replace("rejected", "")


def test_each_model_when_asked(template: Template, database: Database, fake: Fake, tmp_path: Path) -> None:
    quiet = doctor(template, database, tmp_path, **cloudflare(fake, "fake-token"))[1]
    with_models = doctor(template, database, tmp_path, "--models", **cloudflare(fake, "fake-token"))[1]
    assert with_models.count("First token after") > quiet.count("First token after")


@pytest.mark.parametrize("instead", ["nothing", "folder", "file for its folder"])
def test_a_file_that_is_missing(template: Template, database: Database, tmp_path: Path, instead: str) -> None:
    assert "ok    Files: " in doctor(template, database, tmp_path)[1]
    assert [path for path in (tmp_path / "attachments").rglob("*") if path.is_file()] == []
    lost = "ab" * 32
    database.rows(f"INSERT INTO chat_attachmentfile (sha256, uploaded) VALUES ('{lost}', '2026-01-01')")
    database.rows(ATTACHMENT.format(uuid.uuid4().hex, lost))
    folder = tmp_path / "attachments" / "ab"
    if instead == "folder":
        (folder / lost / "x").mkdir(parents=True)
    elif instead == "file for its folder":
        shutil.rmtree(folder, ignore_errors=True)
        folder.write_bytes(b"")
    code, output = doctor(template, database, tmp_path)
    assert code == 1
    assert f"FAIL  Files: The file of 1 picture or document is missing: ab/{'ab' * 32}" in output


def test_files_that_cannot_be_stored(template: Template, database: Database, tmp_path: Path) -> None:
    (tmp_path / "attachments").write_bytes(b"")
    code, output = doctor(template, database, tmp_path)
    assert code == 1
    assert "FAIL  Files: Pictures and documents can’t be stored or read. Check for a full disk" in output


def test_a_database_that_is_away(template: Template, tmp_path: Path) -> None:
    away = Database("postgresql://nobody@127.0.0.1:1/none")
    code, output = doctor(template, away, tmp_path)
    assert code == 1
    assert "FAIL  Database: PostgreSQL isn’t responding." in output
    assert "Traceback" not in output


def test_a_database_without_tables(template: Template, tmp_path: Path) -> None:
    code, output = doctor(template, Database(f"sqlite:///{tmp_path}/new.sqlite3"), tmp_path)
    assert code == 1
    assert "CommandError: The database lacks tables. Run `manage.py migrate` first." in output
