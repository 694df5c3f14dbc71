"""The text of a web page: its title and description, then what a reader of its body sees, as Markdown."""

from typing import Any

from .html_blocks import joined, restored
from .html_elements import Body, Frames
from .html_visibility import parsed

DESCRIPTIONS = 'meta[name="description" i], meta[property="og:description" i]'


def html_text(text: str, address: str = "", frames: Frames | None = None) -> str:
    """Return the text of a page or a fragment. `address` is the page's own, for links that are relative.

    `frames`: see `Body`.
    """
    tree = parsed(text)
    base = tree.css_first("base[href]")
    body = restored(Body((base and base.attributes["href"]) or address, frames).text_of(tree.root))
    title, description = title_of(tree), _description(tree)
    if title == body.partition("\n")[0].lstrip("# "):
        title = ""
    return "\n\n".join(part for part in (title, description, body) if part)


def title_of(tree: Any) -> str:
    found = next((each for each in tree.css("title") if each.parent.tag in ("head", "body")), None)
    if found is not None:
        return joined(found.text_content or found.text())
    named = tree.css_first('meta[property="og:title" i]')
    return joined(named.attributes.get("content") or "") if named else ""


def _description(tree: Any) -> str:
    found = (joined(each.attributes.get("content") or "") for each in tree.css(DESCRIPTIONS))
    return next(filter(None, found), "")
