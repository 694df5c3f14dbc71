"""A system that cannot confine the readers of files: what is refused or read anyway, and who is told."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chat.files import confinement
from chat.files.confined import process
from chat.files.confinement import ChildLimits, Crashed, run_confined, stream_confined
from chat.files.problems import UnconfinedFiles
from chat.health import files as file_checks

LIMITS = ChildLimits(address_space_bytes=500_000_000, cpu_seconds=5, wall_seconds=20, output_bytes=1_000)
LACKING = {
    "Linux": "sys.platform = 'darwin'",
    "Landlock": "isolation.restrict_files = lambda *arguments: False",
    "seccomp": "isolation.system_calls.ARCHITECTURES.clear()",
}


@pytest.fixture(autouse=True)
def unasked() -> Iterator[None]:
    confinement.lacking.cache_clear()
    yield
    confinement.lacking.cache_clear()


@pytest.fixture(params=LACKING)
def lacking(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Have children find that this is lacking; return its name."""
    lacks(request.param, tmp_path, monkeypatch)
    return str(request.param)


def lacks(what: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = folder / "process.py"
    program.write_text(
        f"import sys\nsys.path.insert(0, {process.PROJECT!r})\n"
        f"from chat.files.confined import isolation, process\n{LACKING[what]}\nprocess.main()"
    )
    monkeypatch.setattr(confinement, "CONFINED_PROGRAM", program)


def read(folder: Path) -> bytes:
    script = folder / "script.py"
    script.write_text("print(input())")
    with tempfile.TemporaryFile() as file:
        file.write(b"the file")
        return run_confined(script, file, LIMITS)


def test_files_are_refused(lacking: str, tmp_path: Path) -> None:
    with pytest.raises(UnconfinedFiles) as refused:
        read(tmp_path)
    assert (refused.value.status, refused.value.code) == (503, "unconfined_files")
    with pytest.raises(UnconfinedFiles), tempfile.TemporaryFile() as file:
        list(stream_confined(tmp_path / "script.py", file, LIMITS, line_bytes=100))


def test_files_are_read_where_the_operator_wants_it(lacking: str, tmp_path: Path, settings: Any) -> None:
    settings.UNCONFINED_FILES = "warn"
    assert read(tmp_path) == b"the file\n"


@pytest.mark.parametrize("decision", ["refuse", "warn"])
async def test_what_is_lacking_is_told(
    lacking: str, decision: str, settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    settings.UNCONFINED_FILES = decision
    confinement.warn_if_unconfined()
    (record,) = caplog.records
    assert lacking in record.getMessage()
    assert "UNCONFINED_FILES" in record.getMessage()
    found = await file_checks.check_confinement()
    assert found.state == {"refuse": "bad", "warn": "note"}[decision]
    assert lacking in found.message


async def test_a_system_that_confines_its_readers_says_so(caplog: pytest.LogCaptureFixture) -> None:
    confinement.warn_if_unconfined()
    assert caplog.records == []
    assert (await file_checks.check_confinement()).state == "good"


async def test_a_reader_that_does_not_start_is_a_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confinement, "CONFINED_PROGRAM", tmp_path / "nothing.py")
    with pytest.raises(Crashed):
        confinement.lacking()
    confinement.warn_if_unconfined()
    assert (await file_checks.check_confinement()).state == "bad"


@pytest.mark.parametrize(
    ("deed", "name"), [("restrict_files", "Landlock"), ("system_calls.restrict", "seccomp")]
)
def test_what_the_kernel_only_promises_is_found_out(
    deed: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sandbox may answer these calls without doing what they say."""
    monkeypatch.setitem(LACKING, name, f"isolation.{deed} = lambda *arguments: True")
    lacks(name, tmp_path, monkeypatch)
    assert confinement.lacking() == name
