"""Variables in an assistant's instructions, replaced when a prompt is built.

The values are in English, because models read them; only the name of the language is the reader's choice.
"""

import re
from datetime import datetime
from typing import Any

from django.utils import timezone, translation
from django.utils.formats import date_format
from django.utils.translation import get_language, get_language_info

INSTRUCTION_VARIABLE = re.compile(r"\{(date|time|name|language)\}")


def fill(text: str, user: Any) -> str:
    """Return the text with `{date}`, `{time}`, `{name}` and `{language}` replaced; other braces stay.

    Date and time are those of the active time zone, and the language is the active one: the request's.
    """
    if "{" not in text:
        return text
    return INSTRUCTION_VARIABLE.sub(lambda found: _value(found[1], user), text)


def _value(name: str, user: Any) -> str:
    if name == "name":
        return user.get_full_name() or user.get_username()
    if name == "language":
        return str(get_language_info(get_language() or "en")["name"])
    return _written(timezone.localtime(), "l, j F Y" if name == "date" else "H:i")


def _written(moment: datetime, form: str) -> str:
    with translation.override("en"):
        return date_format(moment, form)
