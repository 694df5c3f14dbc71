"""Lists of HTML: each item with its bullet or its number."""

import re
from collections.abc import Iterator
from typing import Any

from .html_visibility import is_hidden
from .html_whitespace import kept, prefixed, tidy

STYLE = re.compile(r"list-style(?:-type)?\s*:\s*([a-z-]+)", re.IGNORECASE)
STYLES = {
    "lower-alpha": "a",
    "lower-latin": "a",
    "upper-alpha": "A",
    "upper-latin": "A",
    "lower-roman": "i",
    "upper-roman": "I",
}
ROMAN = dict(
    zip(
        (1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1),
        ("m", "cm", "d", "cd", "c", "xc", "l", "xl", "x", "ix", "v", "iv", "i"),
        strict=True,
    )
)


def list_items(node: Any, body: Any) -> Iterator[str]:
    """Return the items of `<ol>`, `<ul>` or `<menu>`, their further lines indented."""
    attributes = node.attributes
    items = [each for each in node.iter() if each.tag == "li"]
    is_reversed = "reversed" in attributes
    number = _integer(attributes.get("start"), len(items) if is_reversed else 1)
    style = STYLE.search(attributes.get("style") or "")
    kind = STYLES.get(style[1].lower(), "") if style else ""
    for each in node.iter(include_text=True):
        if each.tag != "li":
            text = tidy(body.text_of(each))
            if text:
                yield prefixed(text, kept("  "), "  ")
            continue
        number = _integer(each.attributes.get("value"), number)
        form = each.attributes.get("type") or kind or attributes.get("type") or "1"
        marker = f"{numeral(number, form)}. " if node.tag == "ol" else "- "
        number += -1 if is_reversed else 1
        if not is_hidden(each):
            yield prefixed(tidy(body.inside(each)), marker, " " * len(marker))


def numeral(number: int, form: str) -> str:
    """Return a number of a list of type "1", "a", "A", "i" or "I", as browsers write it."""
    found = str(number)
    if form in ("a", "A") and number > 0:
        found = ""
        while number:
            number, letter = divmod(number - 1, 26)
            found = chr(ord("a") + letter) + found
    elif form in ("i", "I") and 0 < number < 4_000:
        found = ""
        for value, letters in ROMAN.items():
            found += letters * (number // value)
            number %= value
    return found.upper() if form.isupper() else found


def _integer(text: str | None, default: int) -> int:
    found = re.match(r"\s*([+-]?\d{1,9})", text or "")
    return int(found[1]) if found else default
