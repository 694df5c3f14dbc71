"""The sizes of the code beside their bars. `python -m tests.house.sizes` prints them."""

import subprocess
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[2]
TOP_OF_APPLICATION = {"__init__.py", "apps.py", "migrations"}  # what Django asks of every application


def files(suffixes: tuple[str, ...], *folders: str) -> list[str]:
    """Return the paths of the files in the working tree, without what git ignores."""
    command = ("git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *folders)
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
    return [name for name in names if name.endswith(suffixes) and (ROOT / name).is_file()]


def lines(names: list[str]) -> int:
    return sum((ROOT / name).read_bytes().count(b"\n") for name in names)


def python_lines(*folders: str) -> Callable[[], int]:
    return lambda: lines(files((".py",), *folders))


def words(name: str) -> Callable[[], int]:
    return lambda: len((ROOT / name).read_text("utf-8").split())


def backup_lines() -> int:
    commands = [f"chat/management/commands/{name}.py" for name in ("backup", "restore", "move")]
    return python_lines("chat/backup", *commands)()


def top_names() -> int:
    """Return how many subjects `chat/` has."""
    tops = {name.split("/")[1] for name in files((".py",), "chat")}
    return len(tops - TOP_OF_APPLICATION)


# What is measured, how, the bar, and the size that the house should come to.
SIZES: list[tuple[str, Callable[[], int], int, int]] = [
    ("names at the top of chat", top_names, 30, 30),
    ("Python of the product, lines", python_lines("chat", "chatsite", "manage.py"), 70_050, 43_000),
    ("Python of the product, files", lambda: len(files((".py",), "chat", "chatsite")), 510, 420),
    ("server, lines", python_lines("chatsite/server"), 1_485, 900),
    ("backup and move, lines", backup_lines, 2_115, 1_300),
    ("JavaScript, lines", lambda: lines(files((".js",), "static")), 8_330, 5_600),
    ("tests, lines", python_lines("tests"), 89_950, 58_000),
    ("README, words", words("README.md"), 1_200, 1_200),
    ("SECURITY, words", words("SECURITY.md"), 1_500, 1_500),
    ("CONTRIBUTING, words", words("CONTRIBUTING.md"), 800, 800),
    ("CHANGELOG, lines", lambda: lines(["CHANGELOG.md"]), 60, 60),
]


def report() -> str:
    rows = [f"{'':32}{'today':>8}{'bar':>8}{'wanted':>8}"]
    rows += [f"{name:32}{size():8}{bar:8}{wanted:8}" for name, size, bar, wanted in SIZES]
    return "\n".join(rows)


if __name__ == "__main__":
    print(report())
