"""The lock files name every package that is asked for, direct or not, with its version and its hashes."""

import re
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest
from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import NormalizedName, canonicalize_name
from packaging.version import Version

from tests.support.databases import ROOT

LOCK_FILES = {
    "requirements.txt": "requirements-lock.txt",
    "requirements-local.txt": "requirements-local-lock.txt",
    "requirements-otel.txt": "requirements-otel-lock.txt",
    "requirements-s3.txt": "requirements-s3-lock.txt",
    "requirements-mcp.txt": "requirements-mcp-lock.txt",
    "requirements-dev.txt": "requirements-dev-lock.txt",
}
ENTRY = re.compile(r"^(?P<what>[a-z0-9][^\\\n]*?) \\\n(?P<hashes>(?: +--hash=\S+(?: \\)?\n)+)", re.MULTILINE)
HASH = re.compile(r"--hash=sha256:[0-9a-f]{64}")
# The version in which CVE-2026-69244 was mended.
FIRST_GOOD_AIOHTTP = Version("3.14.3")


def requirements(file: str) -> list[Requirement]:
    lines = (ROOT / file).read_text("utf-8").splitlines()
    return [Requirement(line) for line in lines if line and not line.startswith("#")]


def locked(file: str) -> list[tuple[Requirement, str]]:
    """Each entry, and the lines of its hashes."""
    text = (ROOT / file).read_text("utf-8")
    return [(Requirement(found["what"]), found["hashes"]) for found in ENTRY.finditer(text)]


def version(entry: Requirement) -> str:
    pin = re.fullmatch(r"==([^=*,]+)", str(entry.specifier))
    assert pin, f"{entry} is not pinned"
    return pin[1]


def versions(file: str) -> dict[NormalizedName, set[str]]:
    found: dict[NormalizedName, set[str]] = {}
    for entry, _ in locked(file):
        found.setdefault(canonicalize_name(entry.name), set()).add(version(entry))
    return found


def needed(requirements: list[Requirement]) -> Iterator[NormalizedName]:
    """Return the installed packages that these need, directly or indirectly."""
    seen: set[tuple[str, str]] = set()
    waiting = [(each.name, extra) for each in requirements for extra in ("", *each.extras)]
    while waiting:
        name, extra = waiting.pop()
        if (name, extra) in seen:
            continue
        seen.add((name, extra))
        yield canonicalize_name(name)
        for line in metadata.requires(name) or []:
            further = Requirement(line)
            if further.marker is None or further.marker.evaluate({"extra": extra}):
                waiting += [(further.name, each) for each in ("", *further.extras)]


@pytest.mark.parametrize(("file", "lock"), LOCK_FILES.items())
def test_requirements_are_locked_at_their_versions(file: str, lock: str) -> None:
    have = versions(lock)
    assert requirements(file)
    for each in requirements(file):
        assert have.get(canonicalize_name(each.name)) == {version(each)}, f"{each}: run make lock"


@pytest.mark.parametrize("lock", LOCK_FILES.values())
def test_every_line_is_a_pin_with_hashes_and_names_no_host(lock: str) -> None:
    text = (ROOT / lock).read_text("utf-8")
    entries = locked(lock)
    assert len(entries) == len(re.findall(r"^[^\s#]", text, re.MULTILINE)), "an entry without a hash"
    for entry, hashes in entries:
        assert version(entry)
        assert len(HASH.findall(hashes)) == hashes.count("--hash="), entry
    assert "://" not in text
    assert not re.search(r"^\s*(-i|-f|--(index|extra-index|find-links|trusted))", text, re.MULTILINE)


@pytest.mark.parametrize("file", ["requirements.txt", "requirements-dev.txt"])
def test_their_dependencies_are_locked(file: str) -> None:
    have = versions(LOCK_FILES[file])
    installed = {canonicalize_name(each.name) for each in requirements(file)} & {
        canonicalize_name(each.metadata["Name"]) for each in metadata.distributions()
    }
    present = [each for each in requirements(file) if canonicalize_name(each.name) in installed]
    missing = {name for name in needed(present) if name not in have}
    assert len(have) > len(present) > 10
    assert not missing, "run make lock"


def test_each_python_and_machine_gets_one_version_of_each() -> None:
    for python in ("3.11", "3.12", "3.13"):
        for machine in ("x86_64", "aarch64"):
            place = {"python_version": python, "python_full_version": f"{python}.1"}
            place |= {"platform_machine": machine, "sys_platform": "linux", "platform_system": "Linux"}
            names = [
                canonicalize_name(entry.name)
                for entry, _ in locked("requirements-lock.txt")
                if entry.marker is None or Marker(str(entry.marker)).evaluate(place)
            ]
            assert len(names) == len(set(names))
            assert {canonicalize_name(each.name) for each in requirements("requirements.txt")} <= set(names)


@pytest.mark.parametrize(
    ("one", "other", "common"),
    [
        ("requirements-lock.txt", "requirements-dev-lock.txt", 10),
        ("requirements-lock.txt", "requirements-otel-lock.txt", 2),
        ("requirements-otel-lock.txt", "requirements-dev-lock.txt", 5),
        ("requirements-lock.txt", "requirements-mcp-lock.txt", 5),
        ("requirements-otel-lock.txt", "requirements-mcp-lock.txt", 2),
        ("requirements-mcp-lock.txt", "requirements-dev-lock.txt", 20),
    ],
)
def test_lock_files_agree_on_versions(one: str, other: str, common: int) -> None:
    first, second = versions(one), versions(other)
    both = first.keys() & second.keys()
    assert len(both) > common
    assert {name: first[name] for name in both} == {name: second[name] for name in both}


def test_unsafe_versions_are_not_locked() -> None:
    (found,) = versions("requirements-lock.txt")[canonicalize_name("aiohttp")]
    assert Version(found) >= FIRST_GOOD_AIOHTTP


def test_make_installs_from_the_locks_alone() -> None:
    makefile = Path(ROOT / "Makefile").read_text("utf-8")
    installs = re.findall(r"^\t@\$\(PIP\) (.*)$", makefile, re.MULTILINE)
    assert len(installs) == len(LOCK_FILES)
    assert all(line.startswith("--require-hashes ") for line in installs)
    for lock in LOCK_FILES.values():
        assert re.search(rf"^\S+: {lock}\b", makefile, re.MULTILINE)
