"""The lines `NAME=value` of a `.env` file, as docker compose and python-dotenv write them.

A value may stand in single or double quotes, a line may begin with `export`, and `#` begins a comment. A
value is one line, and `${NAME}` in it is text: a password is not changed.
"""

import re
from pathlib import Path

_LINE = re.compile(r"(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*)")
_QUOTED_VALUE = re.compile(r"""(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\s*(?:#.*)?""")
_ESCAPED_QUOTE = re.compile(r"""\\([\\'"])""")
_COMMENT = re.compile(r"(?:^|\s)#.*")


def read(path: Path) -> dict[str, str]:
    """Return the values by name; none if there is no file. Raises OSError and ValueError, with the line."""
    try:
        content = path.read_text("utf-8-sig")
    except FileNotFoundError:
        return {}
    except UnicodeDecodeError:
        raise ValueError("the file is not text") from None
    lines = enumerate(map(str.strip, content.splitlines()), 1)
    return dict(_pair(number, line) for number, line in lines if line and not line.startswith("#"))


def _pair(number: int, line: str) -> tuple[str, str]:
    found = _LINE.fullmatch(line)
    if not found:
        raise ValueError(f"line {number} is not NAME=value")
    name, value = found.groups()
    if not value.startswith(("'", '"')):
        return name, _COMMENT.sub("", value).rstrip()
    quoted = _QUOTED_VALUE.fullmatch(value)
    if not quoted:
        raise ValueError(f"the quotation marks in line {number} do not close")
    return name, _ESCAPED_QUOTE.sub(r"\1", quoted[1] if quoted[1] is not None else quoted[2])
