"""The source of a message's HTML and SVG blocks, as a document of its own for a preview."""

import re
from html import unescape
from itertools import islice

from .code_blocks import PREVIEWABLE

_BLOCK = re.compile(
    rf'<figure class="code {PREVIEWABLE}"><figcaption>[^<]*</figcaption><pre[^>]*><code>(.*?)</code>',
    re.DOTALL,
)
_SPAN = re.compile(r"</?span[^>]*>")
# No policy keeps a browser from connecting to the host that <link rel=preconnect> names, or to the host of a
# frame that the policy then forbids. <meta> is as empty as <link> and allowed in the same places.
_CONNECTING = re.compile(r"<(?:link|i?frame|fencedframe)(?=[\s/>])", re.IGNORECASE)
_SCRIPT = re.compile(r"<script|\son[a-z]+\s*=|javascript:", re.IGNORECASE)
# Without a doctype a browser would fall back to the rules of the 1990s. The source’s own then has no effect.
DOCTYPE = "<!doctype html>\n"


def previewable_source(html: str, number: int) -> str | None:
    """Return the source of the block with this number, from 1, in a message's sanitised HTML.

    None if there are fewer; only blocks that have a preview are counted.
    """
    found = next(islice(_BLOCK.finditer(html), number - 1, None), None)
    return unescape(_SPAN.sub("", found[1])) if found else None


def has_scripts(source: str) -> bool:
    """Return True if the source may hold a script, which a preview does not run."""
    return _SCRIPT.search(source) is not None


def document(source: str) -> str:
    """Return the page that shows this source. Only its Content-Security-Policy makes it safe to open."""
    return DOCTYPE + _CONNECTING.sub("<meta", source)
