"""The HTML of a code block with the name of its language above it, scrollable by keyboard."""

import re

_LANGUAGE = re.compile(r"[\w+#.-]{1,30}", re.ASCII)


def code_block(language: str, code: str) -> str:
    """Return the HTML of a code block; `code` is already HTML."""
    return (
        f'<figure class="code"><figcaption>{language}</figcaption>'
        f'<pre tabindex="0" dir="ltr"><code>{code}</code></pre></figure>'
    )


def language_of(info: str) -> str:
    """Return the language, the first word of a fence's info string, in lower case; "" if there is none."""
    found = _LANGUAGE.match(info.strip())
    return found[0].lower() if found else ""


def is_closed(fence: bytes) -> bool:
    """Return True if a fence's last line closes it. In a block quote, a “>” may precede it."""
    marks = fence[: len(fence) - len(fence.lstrip(fence[:1]))]
    lines = fence.rstrip(b"\n").partition(b"\n")[2]  # without the first
    last = lines[lines.rfind(b"\n") + 1 :].strip(b" \t>")
    return last.startswith(marks) and not last.strip(marks[:1])
