"""The code blocks of a message as texts of their own: found, found in another message, replaced, run."""

import re
from collections import Counter
from collections.abc import Sequence
from html import escape, unescape
from typing import NamedTuple

from .code_blocks import MERMAID, RUNNABLE, RUNNABLE_LANGUAGES, WORDS, is_words
from .message_html import MessageHtml

_BLOCK = re.compile(
    rf'<figure class="code(?: {RUNNABLE}| {WORDS})?"><figcaption>([^<]*)</figcaption>'
    r"<pre[^>]*><code>(.*?)</code>",
    re.DOTALL,
)
_SPAN = re.compile(r"</?span[^>]*>")
_OPENING = re.compile(r"^[ \t>]*(?:(?:[-+*]|\d{1,9}[.)])[ \t]+)*(?P<marks>`{3,}|~{3,})[^\n]*\n", re.MULTILINE)
_CLOSING = re.compile(r"[ \t]*(?P<marks>`{3,}|~{3,})[ \t]*(?:\n|\Z)")
_MARKS = re.compile(r"^[ \t]*(`{3,}|~{3,})", re.MULTILINE)
# No policy keeps a browser from connecting to the host that <link rel=preconnect> names, or to the host of a
# frame that the policy then forbids. <meta> is as empty as <link> and allowed in the same places.
_CONNECTING = re.compile(r"<(?:link|i?frame|fencedframe)(?=[\s/>])", re.IGNORECASE)
# Without a doctype a browser would fall back to the rules of the 1990s. The source’s own then has no effect.
DOCTYPE = "<!doctype html>\n"
# WebRTC is the one way to another host that content policies do not know. A document in a document would have
# it again, so there is none: the content policy demands that all HTML of a script passes this policy.
PRELUDE = """<script>
for (const name of ['RTCPeerConnection', 'webkitRTCPeerConnection']) delete globalThis[name];
globalThis.trustedTypes?.createPolicy('default', {
  createHTML: (html, type, sink) => (/srcdoc$/.test(sink) ? '' : html.replaceAll(/srcdoc/gi, 'no-frame')),
  createScript: (script) => script,
  createScriptURL: (url) => url,
});
</script>
"""


class CodeBlock(NamedTuple):
    """`language` in lower case, "" without one. `ordinal`: from 1, among the message's blocks in it.

    `html`: the code as it is shown, with its colours.
    """

    language: str
    ordinal: int
    html: MessageHtml

    @property
    def code(self) -> str:
        return unescape(_SPAN.sub("", self.html))

    @property
    def is_runnable(self) -> bool:
        return self.language in RUNNABLE_LANGUAGES

    @property
    def holds_words(self) -> bool:
        """True for a text for people, such as a letter, and False for a program."""
        return is_words(self.language, self.code)


def blocks_in(html: MessageHtml) -> list[CodeBlock]:
    blocks: list[CodeBlock] = []
    counts: Counter[str] = Counter()
    for language, shown in _BLOCK.findall(html):
        counts[language] += 1
        blocks.append(CodeBlock(language, counts[language], MessageHtml(shown)))
    return blocks


def number_of_same(blocks: Sequence[CodeBlock], wanted: CodeBlock) -> int | None:
    """Return the number, from 1, of the block that is a version of `wanted`; None if there is none.

    Blocks of two messages are versions of one text if they have the same language and ordinal.
    """
    same = (n for n, each in enumerate(blocks, 1) if each[:2] == wanted[:2])
    return next(same, None)


def may_have(text: str, language: str) -> bool:
    """Return False if the text has no block in the language for sure. Rendering it costs more."""
    return language in text.lower() if language else True


def with_block(text: str, blocks: Sequence[CodeBlock], number: int, code: str) -> str | None:
    """Return the Markdown `text`, whose blocks are `blocks`, with other code in the block `number`, from 1.

    None if the block does not stand in the text as it is, such as one in a quotation.
    """
    at = end = 0
    opening = closing = None
    for former in (block.code for block in blocks[:number]):
        found = (each for each in _OPENING.finditer(text, at) if text.startswith(former, each.end()))
        if opening := next(found, None):
            end = opening.end() + len(former)
            closing = _CLOSING.match(text, end)
            at = closing.end() if closing else end
    if opening is None or closing is None:
        return None
    longest = max((len(found) for found in _MARKS.findall(code)), default=0)
    more = opening["marks"][0] * max(0, longest + 1 - len(opening["marks"]))
    head, info = text[: opening.end("marks")], text[opening.end("marks") : opening.end()]
    ending = "" if code.endswith("\n") or not code else "\n"
    rest = text[closing.end("marks") :]
    return f"{head}{more}{info}{code}{ending}{text[end : closing.end('marks')]}{more}{rest}"


def document(block: CodeBlock, mermaid: str, *, runs: bool = True) -> str:
    """Return the page that shows or runs a block. Only its Content-Security-Policy makes it safe to open.

    `mermaid`: the address of the script that draws the diagrams.
    """
    if block.language == MERMAID:
        return (
            f'{DOCTYPE}<meta charset="utf-8"><script src="{escape(mermaid)}"></script>'
            f'<pre class="mermaid">{escape(block.code)}</pre>'
        )
    return f"{DOCTYPE}{PRELUDE if runs else ''}{_CONNECTING.sub('<meta', block.code)}"
