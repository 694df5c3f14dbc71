"""The elements of a web page that a browser does not show, or shows struck out, raised or lowered."""

import re
from html import escape
from itertools import islice
from typing import Any

NOT_SHOWN = re.compile(
    "style|template|noscript|title|meta|link|base|datalist|canvas|defs|symbol|metadata|desc|rp|"
    "mphantom|noframes|param|source|track"
)
HIDING = re.compile(
    r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse))\s*(?:!\s*important\s*)?(?:;|$)",
    re.IGNORECASE,
)
# What is hidden from assistive technology is a second form of a text (of an equation), or an icon. Only in a
# line: dialogs hide whole pages that way.
ARIA_HIDDEN = re.compile("i|span|b|em|svg|mjx-math")

XHTML = re.compile(r"\s*<\?xml\b|<html\b[^>]{0,500}\bxmlns\s*=", re.IGNORECASE)
# In XML, an element may be empty as `<a id="x"/>`; a parser of HTML takes that for the start of one.
VOID = "area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr"
EMPTY_ELEMENT = re.compile(
    rf"<(?!(?:{VOID})\b)([a-z][\w:-]*+)((?:[^<>\"'/]|\"[^<\"]*\"|'[^<']*'|/(?!>))*)/>", re.IGNORECASE
)
CDATA = re.compile(r"<!\[CDATA\[(.*?)(?:\]\]>|\Z)", re.DOTALL)
# The content of a component, in place of its element's own, as programs save pages.
SHADOW = re.compile(r"<template(?=\s[^>]{0,300}\bshadowroot(?:mode)?\s*=)", re.IGNORECASE)
COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
AT_RULE = re.compile(r"@[^{};]*+(?:;|\{(?:[^{}]*\{[^{}]*\})*[^{}]*\})")
RULE = re.compile(r"([^{};]++)\{([^{}]*+)\}")
SHOWING = re.compile(r"(?:^|;)\s*(?:display|visibility)\s*:", re.IGNORECASE)
DECORATION = re.compile(r"(?:^|;)\s*text-decoration(?:-line)?\s*:", re.IGNORECASE)
STRUCK = re.compile(r"(?:^|[;{\s])text-decoration(?:-line)?\s*:[^;}]*\bline-through", re.IGNORECASE)
# What raises or lowers characters, as CSS 2.1 (10.8.1) and Word have it; less is how icons are aligned.
LENGTH = (
    r"(?:(?:[3-9]|\d\d)[\d.]*px|(?:[2-9]|\d\d)[\d.]*pt|(?:[1-9]|0?\.[2-9])[\d.]*r?e[mx]"
    r"|(?:1[5-9]|[2-9]\d)[\d.]*%)"
)
SMALL = r"(?=[^{}]*font-size\s*:\s*(?:0?\.\d|[5-8]\d[\d.]*%|[5-9][\d.]*p[xt]|x{0,2}-?small))"
SHIFTED = r"(?:\A|\{)" + SMALL + r"(?=[^{}]*position\s*:\s*relative)(?:[^{}]*[;\s])?"
UP = rf"{SHIFTED}(?:top\s*:\s*-{LENGTH}|bottom\s*:\s*{LENGTH})"
DOWN = rf"{SHIFTED}(?:top\s*:\s*{LENGTH}|bottom\s*:\s*-{LENGTH})"
TOP = rf"(?:\A|\{{){SMALL}(?:[^{{}}]*[;\s])?vertical-align\s*:\s*(?:text-)?top\b"
SET = r"(?:^|[;{\s])(?:vertical-align|mso-text-raise)\s*:\s*"
VERTICAL = re.compile(rf"(?:^|;)\s*(?:vertical-align|mso-text-raise)\s*:|{UP}|{DOWN}", re.IGNORECASE)
RAISED = re.compile(rf"{SET}(?:super\b|{LENGTH})|{TOP}|{UP}", re.IGNORECASE)
LOWERED = re.compile(rf"{SET}(?:sub\b|-{LENGTH})|{DOWN}", re.IGNORECASE)
# By attribute: the declarations that decide, and those that set it.
ATTRIBUTES = {
    "hidden": (SHOWING, HIDING),
    "data-struck": (DECORATION, STRUCK),
    "data-sup": (VERTICAL, RAISED),
    "data-sub": (VERTICAL, LOWERED),
}
MAX_RULES = 200
TEX = 'script[type^="math/tex"]'


def parsed(text: str) -> Any:
    """Return the tree of a page, in which what is not shown is marked."""
    from selectolax.lexbor import LexborHTMLParser

    if XHTML.search(text[:2_048]):
        text = CDATA.sub(lambda cdata: escape(cdata[1], quote=False), EMPTY_ELEMENT.sub(r"<\1\2></\1>", text))
    tree = LexborHTMLParser(SHADOW.sub("<div", text))
    _apply_styles(tree)
    return tree


def _apply_styles(tree: Any) -> None:
    """Give elements the attributes that say how a style sheet inside the page shows them, or hides them.

    Of several rules the last one counts. Those for some media are left aside; the parser finds no element
    in a state (`:hover`), but those in an order and what is checked.
    """
    if tree.css_first(TEX):  # MathJax 2 has written what its scripts say
        for each in tree.css('[class^="MathJax"]'):
            each.attrs["hidden"] = ""
    sheets = [each.text() for each in tree.css("style") if each.parent.tag != "noscript"]
    told = {SHOWING} | {decides for decides, is_so in ATTRIBUTES.values() if any(map(is_so.search, sheets))}
    rules = (rule for sheet in sheets for rule in RULE.finditer(AT_RULE.sub("", COMMENT.sub("", sheet))))
    for rule in islice((rule for rule in rules if any(each.search(rule[2]) for each in told)), MAX_RULES):
        try:
            found = tree.css(rule[1].strip())
        except Exception:  # noqa: S112 (a selector that the parser does not know)
            continue
        for each in found:
            for name, (decides, is_so) in ATTRIBUTES.items():
                if decides.search(rule[2]) and is_so.search(rule[2]):
                    each.attrs[name] = ""
                elif decides.search(rule[2]) and name in each.attributes:
                    del each.attrs[name]


def tag_of(node: Any) -> str:
    """Return the name of an element, or "-text", "-comment" and the like; "" of `<?instructions?>`."""
    return node.tag or ""


def has_style(node: Any, attribute: str) -> bool:
    """Return True for an element whose own style, or the page's, sets this one of ATTRIBUTES."""
    decides, is_so = ATTRIBUTES[attribute]
    style = node.attributes.get("style") or ""
    return bool(is_so.search(style)) or (attribute in node.attributes and not decides.search(style))


def is_hidden(node: Any) -> bool:
    tag, attributes = tag_of(node), node.attributes
    if tag == "script":
        return not (attributes.get("type") or "").startswith("math/tex")
    if NOT_SHOWN.fullmatch(tag) or (tag == "dialog" and "open" not in attributes):
        return True
    if not attributes or tag in ("html", "body"):  # hidden only until a script has run
        return False
    return (
        ("hidden" in attributes and attributes["hidden"] != "until-found")
        or bool(HIDING.search(attributes.get("style") or ""))
        or (attributes.get("aria-hidden") == "true" and bool(ARIA_HIDDEN.fullmatch(tag)))
    )
