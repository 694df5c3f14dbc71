"""The text of a web page: its title and description, then what a reader of its body sees, as Markdown."""

import re
from html import escape
from typing import Any

from .html_blocks import joined, restored
from .html_elements import Body, Frames
from .html_visibility import apply_styles

XHTML = re.compile(r"\s*<\?xml\b|<html\b[^>]{0,500}\bxmlns\s*=", re.IGNORECASE)
# In XML, an element may be empty as `<a id="x"/>`; a parser of HTML takes that for the start of one.
VOID = "area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr"
EMPTY_ELEMENT = re.compile(
    rf"<(?!(?:{VOID})\b)([a-z][\w:-]*+)((?:[^<>\"'/]|\"[^<\"]*\"|'[^<']*'|/(?!>))*)/>", re.IGNORECASE
)
CDATA = re.compile(r"<!\[CDATA\[(.*?)(?:\]\]>|\Z)", re.DOTALL)
# The content of a component, in place of its element's own, as programs save pages.
SHADOW = re.compile(r"<template(?=\s[^>]{0,300}\bshadowroot(?:mode)?\s*=)", re.IGNORECASE)
DESCRIPTIONS = 'meta[name="description" i], meta[property="og:description" i]'


def html_text(text: str, address: str = "", frames: Frames | None = None) -> str:
    """Return the text of a page or a fragment. `address` is the page's own, for links that are relative.

    `frames`: see `Body`.
    """
    tree = parsed(text)
    base = tree.css_first("base[href]")
    body = restored(Body((base and base.attributes["href"]) or address, frames).text_of(tree.root))
    title, description = _title(tree), _description(tree)
    if title == body.partition("\n")[0].lstrip("# "):
        title = ""
    return "\n\n".join(part for part in (title, description, body) if part)


def parsed(text: str) -> Any:
    """Return the tree of a page, in which what is not shown is marked."""
    from selectolax.lexbor import LexborHTMLParser

    if XHTML.search(text[:2_048]):
        text = CDATA.sub(lambda cdata: escape(cdata[1], quote=False), EMPTY_ELEMENT.sub(r"<\1\2></\1>", text))
    tree = LexborHTMLParser(SHADOW.sub("<div", text))
    apply_styles(tree)
    return tree


def _title(tree: Any) -> str:
    found = next((each for each in tree.css("title") if each.parent.tag in ("head", "body")), None)
    if found is not None:
        return joined(found.text_content or found.text())
    named = tree.css_first('meta[property="og:title" i]')
    return joined(named.attributes.get("content") or "") if named else ""


def _description(tree: Any) -> str:
    found = (joined(each.attributes.get("content") or "") for each in tree.css(DESCRIPTIONS))
    return next(filter(None, found), "")
