"""The last step of every rendering: a sanitiser with an allowlist of elements and attributes."""

import re

import nh3

from .code_blocks import RUNNABLE, TOKEN_CLASSES, WORDS
from .html_tags import FORMATTING_TAGS
from .mathml import MATHS_CLASSES

MAX_HTML_DEPTH = 100  # levels of nesting; nh3 takes quadratic time in the depth

_DIRECTED = {
    "p",
    "li",
    "ul",
    "ol",
    "h3",
    "h4",
    "h5",
    "h6",
    "th",
    "td",
    "blockquote",
    "div",
    "pre",
    "code",
    "summary",
}
_PLAIN = FORMATTING_TAGS | {"hr", "br", "figure", "figcaption", "a", "span", "details"}
_TABLE = {"table", "thead", "tbody", "tr"}
_SCROLLING = {"pre", "div"}
_ALIGNED = {"left", "center", "right"}
_FOOTNOTE = re.compile(r"#fn-[\w%.-]+")

# MathML Core without links. `annotation-xml`, `mglyph` and `malignmark` are left out, because a browser
# parses what is in or around them by other rules than the sanitiser might expect.
_MATHML_STYLE_ATTRIBUTES = {"displaystyle", "scriptlevel"}
_SPACE = {"width", "height", "depth"}
_WITHOUT_ATTRIBUTES = (
    *("semantics", "mn", "mtext", "msqrt", "mroot", "msub", "msup", "msubsup"),
    *("mmultiscripts", "mprescripts", "mtr", "mtd", "mphantom"),
)
_MATHML_ATTRIBUTES: dict[str, set[str]] = {
    "math": {"display"},
    "annotation": {"encoding"},
    "mrow": _MATHML_STYLE_ATTRIBUTES,
    "mi": {"mathvariant"},
    "mo": {
        *("form", "lspace", "rspace", "minsize", "maxsize"),
        *("stretchy", "symmetric", "fence", "separator", "largeop", "movablelimits"),
    },
    "mspace": _SPACE,
    "mfrac": {"linethickness", *_MATHML_STYLE_ATTRIBUTES},
    "munder": {"accentunder"},
    "mover": {"accent"},
    "munderover": {"accent", "accentunder"},
    "mtable": _MATHML_STYLE_ATTRIBUTES,
    "mpadded": {"lspace", "voffset", *_SPACE},
    **{name: set() for name in _WITHOUT_ATTRIBUTES},
}
_CLASSED = {"mrow", "mspace", "mtable", "mtr", "mtd"}


def _cleaner(maths: dict[str, set[str]]) -> nh3.Cleaner:
    return nh3.Cleaner(
        tags=_DIRECTED | _PLAIN | _TABLE | maths.keys(),
        attributes={
            **maths,
            "a": {"href", "title"},
            "abbr": {"title"},
            "details": {"open"},
            "ol": {"start"},
            "div": {"id"},
        },
        tag_attribute_values={
            **{tag: {"dir": {"auto", "ltr", "rtl"}} for tag in _DIRECTED},
            **{tag: {"dir": {"auto", "ltr", "rtl"}, "tabindex": {"0"}} for tag in _SCROLLING},
            "span": {"dir": {"ltr"}, "tabindex": {"0"}},
            "a": {"target": {"_blank"}},
        },
        allowed_classes={
            "a": {"cite", "image"},
            "div": {"table", "footnote"},
            "figure": {"code", RUNNABLE, WORDS},
            "li": {"task"},
            "p": {"html", "alert"},
            "blockquote": {"note", "tip", "important", "warning", "caution"},
            "span": {*TOKEN_CLASSES.values(), "checkbox", "host", "label", "equation", "tex", "fence"} - {""},
            "sup": {"footnote"},
            "td": _ALIGNED,
            "th": _ALIGNED,
            **dict.fromkeys(_CLASSED & maths.keys(), MATHS_CLASSES),
        },
        url_schemes={"http", "https", "mailto"},
        url_relative=lambda url: url if _FOOTNOTE.fullmatch(url) else None,
        link_rel="noopener noreferrer nofollow",
        id_prefix="fn-",
    )


# Most blocks have no equation, and a cleaner that knows fewer elements is faster.
_CLEANER = _cleaner({})
_MATHS_CLEANER = _cleaner(_MATHML_ATTRIBUTES)


def clean(html: str) -> str:
    return (_MATHS_CLEANER if "<math" in html else _CLEANER).clean(html)
