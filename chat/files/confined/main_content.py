"""The content of a page of the web, without its menus, banners and footers, as Markdown.

What is left out is found by the names of elements, roles and classes, and by blocks that hold little but
links. If nearly all of a page were left out, it is read whole.
"""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from typing import Any
from urllib.parse import urljoin

from .html_blocks import joined, restored
from .html_elements import Body
from .html_visibility import is_hidden, parsed
from .web_page import title_of

MAX_LINKS = 1_000
MAX_ADDRESS_CHARACTERS = 2_000
BESIDE = (
    "nav, footer, aside, dialog, menu, search, body > header, form[action] button, "
    "[role=navigation], [role=banner], [role=contentinfo], [role=complementary], [role=search], "
    "[role=dialog], [role=alertdialog], [role=menu], [role=menubar], [role=toolbar], [aria-modal=true]"
)
# Words of class and id. A word of CONTENT beside it says otherwise.
CLUTTER = re.compile(
    r"(?:^|[\s_-])(?:nav(?:bar|igation|box)?|menu|side-?bar|site-?(?:header|footer|nav)|footer|breadcrumbs?|cookies?|"
    r"consent|gdpr|ccpa|onetrust|banner|newsletter|subscribe|subscription|social|share|sharing|related|"
    r"recommend(?:ed|ations?)|promo(?:tion)?|advert(?:isement)?|ads?|sponsor(?:ed)?|pop-?up|modal|overlay|paywall|"
    r"skip-?link|pagination|pager|toc|comments?|disqus|masthead|toolbar|editsection|mw-editsection|sr-only|"
    r"visually-?hidden)(?:$|[\s_-])",
    re.IGNORECASE,
)
CONTENT = re.compile(r"(?:^|[\s_-])(?:article|content|main|post|entry|story)(?:$|[\s_-])", re.IGNORECASE)
NEVER = ("html", "body", "main", "article")
MAINS = ("main, [role=main]", "article, [itemprop=articleBody]")
MAIN_SHARE = 0.4  # of the text that is left, for an element to be the content
BLOCKS = "ul, ol, div, section, table, p"
# Of a block that is a menu; longer texts are headlines.
LINK_SHARE, MAX_TEXT_IN_A_LINK, MIN_LINKS = 0.8, 40, 4
LEFT_SHARE, LEFT_CHARACTERS = 0.1, 20  # less is no content
DATES = (
    'meta[property="article:modified_time" i]',
    'meta[property="og:updated_time" i]',
    'meta[itemprop="dateModified" i]',
    'meta[name="last-modified" i]',
    'meta[name="dcterms.modified" i]',
    'meta[property="article:published_time" i]',
    'meta[itemprop="datePublished" i]',
    'meta[name="date" i]',
    'meta[name="dc.date" i]',
    'meta[name="dcterms.date" i]',
    'meta[name="citation_publication_date" i]',
    'meta[name="pubdate" i]',
)
ISO = re.compile(r"(\d{4})[-/](\d\d)[-/](\d\d)")


@dataclass(frozen=True, slots=True)
class Page:
    """`date`: of the last change as the page states it, "" if it does not. `links`: each once, in order."""

    title: str
    date: str
    text: str
    links: list[str]


class _Content(Body):
    """The text of elements without the addresses of links, which are given apart."""

    def address_of(self, node: Any) -> str:
        return ""


def page_of(text: str, address: str) -> Page:
    tree = parsed(text)
    base = tree.css_first("base[href]")
    with suppress(ValueError):
        address = urljoin(address, (base and base.attributes["href"]) or "")
    whole = _words(tree.root)
    _hide_clutter(tree)
    root = _main(tree)
    content = restored(_Content().text_of(root))
    if len(joined(content)) < max(LEFT_SHARE * len(whole), LEFT_CHARACTERS):
        tree = parsed(text)
        content = restored(_Content().text_of(tree.root))
    return Page(title_of(tree), _date(tree), content, _links(tree, address))


def _hide_clutter(tree: Any) -> None:
    for node in tree.css(BESIDE):
        if not _is_inside(node, "article") or node.tag in ("nav", "dialog", "menu"):
            node.attrs["hidden"] = ""
    for node in tree.css("[class], [id]"):
        names = f"{node.attributes.get('class') or ''} {node.attributes.get('id') or ''}"
        if node.tag not in NEVER and CLUTTER.search(names) and not CONTENT.search(names):
            node.attrs["hidden"] = ""
    for node in tree.css(BLOCKS):
        if _is_menu(node):
            node.attrs["hidden"] = ""


def _is_inside(node: Any, tag: str) -> bool:
    while (node := node.parent) is not None:
        if node.tag == tag:
            return True
    return False


def _is_menu(node: Any) -> bool:
    """Return True for a block of short links."""
    links = node.css("a[href]")
    if len(links) < MIN_LINKS:
        return False
    linked = [len(joined(each.text())) for each in links]
    total = len(joined(node.text()))
    return sum(linked) >= LINK_SHARE * total and sum(linked) / len(linked) <= MAX_TEXT_IN_A_LINK


def _main(tree: Any) -> Any:
    """Return the element that holds most of what is left; the whole page if none does."""
    left = len(_words(tree.root))
    for selector in MAINS:
        found = [(len(_words(each)), each) for each in tree.css(selector) if not is_hidden(each)]
        longest = max(found, key=lambda pair: pair[0], default=None)
        if longest and longest[0] >= MAIN_SHARE * left:
            return longest[1]
    return tree.root


def _words(node: Any) -> str:
    return joined(_Content().text_of(node))


def _links(tree: Any, address: str) -> list[str]:
    found: dict[str, None] = {}
    for node in tree.css("a[href], area[href]"):
        target = (node.attributes.get("href") or "").strip()
        with suppress(ValueError):
            target = urljoin(address, target).partition("#")[0]
            if target.startswith(("https://", "http://")) and len(target) <= MAX_ADDRESS_CHARACTERS:
                found[target] = None
        if len(found) == MAX_LINKS:
            break
    return list(found)


def _date(tree: Any) -> str:
    """Return the date of the last change, else that of the publication."""
    named = [(node.attributes.get("content") or "") for each in DATES for node in tree.css(each)]
    scripts = [each.text() for each in tree.css('script[type="application/ld+json"]')]
    linked = [*_of_linked_data(scripts, "dateModified"), *_of_linked_data(scripts, "datePublished")]
    times = [
        node.attributes.get("datetime") or ""
        for node in tree.css("article time[datetime], main time[datetime]")
    ]
    return next(filter(None, map(_iso, [*named[:20], *linked[:20], *times[:1]])), "")


def _of_linked_data(scripts: list[str], name: str) -> Iterator[str]:
    for script in scripts:
        with suppress(ValueError, RecursionError):
            yield from _named(json.loads(script), name)


def _named(value: Any, name: str, depth: int = 0) -> Iterator[str]:
    if depth > 5:
        return
    if isinstance(value, list):
        for each in value[:100]:
            yield from _named(each, name, depth + 1)
    elif isinstance(value, dict):
        if isinstance(value.get(name), str):
            yield value[name]
        yield from _named(value.get("@graph"), name, depth + 1)


def _iso(text: str) -> str:
    found = ISO.match(text.strip())
    with suppress(ValueError):
        return date(*map(int, found.groups())).isoformat() if found else ""
    return ""
