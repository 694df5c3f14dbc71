"""A block of code, with the name of its language above it. What scrolls can be reached by keyboard."""

import re

_LANGUAGE = re.compile(r"[\w+#.-]{1,30}", re.ASCII)


def code_block(language: str, code: str) -> str:
    """`code` is HTML."""
    return (
        f'<figure class="code"><figcaption>{language}</figcaption>'
        f'<pre tabindex="0" dir="ltr"><code>{code}</code></pre></figure>'
    )


def language_of(info: str) -> str:
    """The first word behind a fence's marks."""
    found = _LANGUAGE.match(info.strip())
    return found[0].lower() if found else ""


def is_closed(fence: bytes) -> bool:
    """Whether a fence's last line closes it. (In a quote, a mark may stand before it.)"""
    marks = fence[: len(fence) - len(fence.lstrip(fence[:1]))]
    lines = fence.rstrip(b"\n").partition(b"\n")[2]  # without the first
    last = lines[lines.rfind(b"\n") + 1 :].strip(b" \t>")
    return last.startswith(marks) and not last.strip(marks[:1])
