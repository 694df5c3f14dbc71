"""The units of deploy/systemd, as systemd reads them."""

import configparser
import shlex
import sys
from pathlib import Path

from tests.support.databases import ROOT

FOLDER = ROOT / "deploy" / "systemd"
PLACES = {
    "/opt/chat/current/.venv/bin/python": sys.executable,
    "/opt/chat/current/manage.py": str(ROOT / "manage.py"),
}


def unit(name: str) -> configparser.ConfigParser:
    """The sections of a unit; of a key that is there twice the last value."""
    parser = configparser.ConfigParser(strict=False, interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(FOLDER / name, "utf-8")
    return parser


def moved(text: str, **places: str) -> str:
    """`text` with this repository and its Python in place of what is installed in /opt/chat."""
    for old, new in {**PLACES, **places}.items():
        text = text.replace(old, new)
    return text


def command(name: str, key: str, places: dict[str, str] | None = None) -> list[str]:
    """A command of a service as its arguments; `%%` is a single one."""
    line = moved(unit(name)["Service"][key], **(places or {}))
    return shlex.split(line.replace("%%", "%"))


def written(folder: Path) -> list[Path]:
    """All units, with their commands moved, in `folder`."""
    for path in sorted(FOLDER.iterdir()):
        (folder / path.name).write_text(moved(path.read_text("utf-8")), "utf-8")
    return sorted(folder.iterdir())
