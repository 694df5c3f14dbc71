"""The text of a Jupyter notebook (nbformat 3 and 4): its cells in their order, with what they have written.

https://nbformat.readthedocs.io/en/latest/format_description.html
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from .html_elements import fenced
from .text_encoding import without_terminal_codes
from .web_page import html_text

EMBEDDED = re.compile(r"data:([\w.+-]{1,40}/[\w.+-]{1,80})(?:;[\w=.-]{1,40}){0,3};base64,[A-Za-z0-9+/=]{40,}")
# In a terminal, by the rest of the line.
OVERWRITTEN = re.compile(r"^[^\n]*\r(?!\n)(?=[^\n\r])", re.MULTILINE)
OBJECT = re.compile(r"(?:<.*>)?", re.DOTALL)  # a plain text that only says that there is one
LANGUAGE = re.compile(r"[\w+#.-]{1,30}")
# The names of an output's data in version 3.
VERSION_3 = {
    "text": "text/plain",
    "html": "text/html",
    "latex": "text/latex",
    "svg": "image/svg+xml",
    "png": "image/png",
    "jpeg": "image/jpeg",
}


def notebook_text(text: str) -> str | None:
    """Return the text; None if this is no notebook."""
    try:
        notebook = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(notebook, dict):
        return None
    cells = notebook.get("cells")
    if cells is None:
        sheets = [sheet for sheet in _list(notebook.get("worksheets")) if isinstance(sheet, dict)]
        cells = [cell for sheet in sheets for cell in _list(sheet.get("cells"))]
        if not sheets:
            return None
    language = _language(_dict(notebook.get("metadata")))
    texts = (text for cell in _list(cells) if isinstance(cell, dict) for text in cell_texts(cell, language))
    return EMBEDDED.sub(r"\1", "\n\n".join(filter(None, (text.strip("\n") for text in texts))))


def cell_texts(cell: dict[str, Any], language: str) -> Iterator[str]:
    kind, source = cell.get("cell_type"), _joined(cell.get("source", cell.get("input"))).strip("\n")
    if kind == "code":
        yield fenced(source, _name(cell.get("language")) or language) if source.strip() else ""
        for output in _list(cell.get("outputs")):
            if isinstance(output, dict):
                yield _output(output)
        return
    level = cell.get("level")
    if kind == "heading" and isinstance(level, int) and 0 < level < 7:
        source = f"{'#' * level} {source}"
    yield source
    named = (name for name in _dict(cell.get("attachments")) if f"attachment:{name}" not in source)
    yield "\n".join(f"[Attachment: {name}]" for name in named)


def _output(output: dict[str, Any]) -> str:
    kind = output.get("output_type")
    if kind == "stream":
        return _written(_joined(output.get("text")))
    if kind in ("error", "pyerr"):
        traceback = output.get("traceback")
        lines = [each for each in _list(traceback) if isinstance(each, str)]
        return _written("\n".join(lines) or f"{output.get('ename')}: {output.get('evalue')}")
    data = _dict(output.get("data"))
    if not data:  # version 3
        data = {VERSION_3[name]: each for name, each in output.items() if name in VERSION_3}
    return _shown(data)


def _shown(data: dict[str, Any]) -> str:
    """Return the best form of an output: words before pictures, and of those the name."""
    plain = _joined(data.get("text/plain"))
    for name in ("text/latex", "text/markdown"):
        if _joined(data.get(name)).strip():
            return _joined(data[name])
    html = _joined(data.get("text/html"))
    is_named = bool(OBJECT.fullmatch(plain.strip()))
    if "<table" in html or is_named:
        text = html_text(html) if html else ""
        if text:
            return text
    picture = next((name for name in data if name.startswith("image/")), "")
    if picture:
        about = plain.strip().strip("<>")
        return f"[Picture: {', '.join(filter(None, (about, picture)))}]"
    if is_named and (held := data.get("application/json")):
        return _written(json.dumps(held, ensure_ascii=False))
    if plain:
        return _written(plain)
    return "\n".join(f"[Output: {name}]" for name in data)


def _written(text: str) -> str:
    """Return what a program has written to a terminal, as it looks there."""
    text = OVERWRITTEN.sub("", without_terminal_codes(text)).strip("\n")
    return f"Output:\n{fenced(text)}" if text.strip() else ""


def _language(metadata: dict[str, Any]) -> str:
    named = (
        _dict(metadata.get("language_info")).get("name"),
        _dict(metadata.get("kernelspec")).get("language"),
    )
    return next(filter(None, map(_name, named)), "")


def _name(value: Any) -> str:
    return value if isinstance(value, str) and LANGUAGE.fullmatch(value) else ""


def _joined(value: Any) -> str:
    """Return a text, which the format allows to be in lines."""
    lines = value if isinstance(value, list) else [value]
    return "".join(each for each in lines if isinstance(each, str))


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
