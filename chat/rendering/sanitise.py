"""The last step of every rendering: a sanitiser with an allowlist of elements and attributes."""

import re

import nh3

from .highlight import CLASSES

MAX_DEPTH = 100  # levels of nesting; nh3 takes quadratic time in the depth

_DIRECTED = {"p", "li", "ul", "ol", "h3", "h4", "h5", "h6", "th", "td", "blockquote", "div", "pre", "code"}
_PLAIN = {"hr", "br", "em", "strong", "del", "figure", "figcaption", "a", "sup", "sub", "kbd", "span"}
_TABLE = {"table", "thead", "tbody", "tr"}
_SCROLLING = {"pre", "div"}
_ALIGNED = {"left", "center", "right"}
_FOOTNOTE = re.compile(r"#fn-[\w%.-]+")

_CLEANER = nh3.Cleaner(
    tags=_DIRECTED | _PLAIN | _TABLE,
    attributes={"a": {"href", "title"}, "ol": {"start"}, "div": {"id"}},
    tag_attribute_values={
        **{tag: {"dir": {"auto", "ltr", "rtl"}} for tag in _DIRECTED},
        **{tag: {"dir": {"auto", "ltr", "rtl"}, "tabindex": {"0"}} for tag in _SCROLLING},
        "a": {"target": {"_blank"}},
    },
    allowed_classes={
        "a": {"image"},
        "div": {"table", "footnote"},
        "figure": {"code"},
        "li": {"task"},
        "p": {"html"},
        "span": {*CLASSES.values(), "box", "host", "label"} - {""},
        "sup": {"footnote"},
        "td": _ALIGNED,
        "th": _ALIGNED,
    },
    url_schemes={"http", "https", "mailto"},
    url_relative=lambda url: url if _FOOTNOTE.fullmatch(url) else None,
    link_rel="noopener noreferrer nofollow",
    id_prefix="fn-",
)


def clean(html: str) -> str:
    return _CLEANER.clean(html)
