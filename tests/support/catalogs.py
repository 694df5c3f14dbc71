"""The catalogs of `locale`: their sources (.po), read without GNU gettext, and compiled files (.mo)."""

import ast
import gettext
import re
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.pseudo_locale import IN_CONTEXT, ROOT

LOCALE = ROOT / "locale"
LANGUAGES = sorted(path.parts[-3] for path in LOCALE.glob("*/LC_MESSAGES/django.po"))
LINE = re.compile(r'(?:(msgctxt|msgid|msgid_plural|msgstr(?:\[\d\])?) )?(".*")')


@dataclass
class Entry:
    """A message, its plural ("" if it has none), and its translations by their number."""

    message: str = ""
    plural: str = ""
    forms: dict[int, str] = field(default_factory=dict)
    is_fuzzy: bool = False


def source(language: str) -> list[Entry]:
    """Return the entries of the .po file, without its header."""
    text = (LOCALE / language / "LC_MESSAGES" / "django.po").read_text("utf-8")
    entries = [_entry(block) for block in text.split("\n\n") if "msgid " in block]
    return [entry for entry in entries if entry.message]


def compiled(language: str) -> dict[tuple[str, int] | str, str]:
    """Return what the .mo file holds: a key is a message, or a message and the number of a form."""
    path: Path = LOCALE / language / "LC_MESSAGES" / "django.mo"
    with path.open("rb") as file:
        catalog: dict[tuple[str, int] | str, str] = vars(gettext.GNUTranslations(file))["_catalog"]
    return {key: text for key, text in catalog.items() if key}


def _entry(block: str) -> Entry:
    parts: dict[str, str] = {}
    key = ""
    for line in block.splitlines():
        if found := LINE.fullmatch(line):
            key = found[1] or key
            parts[key] = parts.get(key, "") + ast.literal_eval(found[2])
    forms = {
        int(re.sub(r"\D", "", key) or 0): text for key, text in parts.items() if key.startswith("msgstr")
    }
    is_fuzzy = bool(re.search(r"^#,.*fuzzy", block, re.M))
    message = IN_CONTEXT.join(parts[key] for key in ("msgctxt", "msgid") if key in parts)
    return Entry(message, parts.get("msgid_plural", ""), forms, is_fuzzy)
