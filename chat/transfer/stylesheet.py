"""The style sheet of an exported page: the chat's rules for messages, and the rules in `OWN`."""

import re
from functools import cache

from django.conf import settings

# The parts of static/css/chat.css that begin and end with these lines.
STYLESHEET_PARTS = (
    (r"@layer tokens \{", r"(?=\n@layer elements)"),
    (r"  /\* prose: ", r"/\* end of prose \*/"),
    (r"/\* code: ", r"\Z"),
)
OWN = """
*, ::before, ::after { box-sizing: border-box; margin: 0; }
body {
  max-inline-size: var(--column); margin: 2rem auto; padding-inline: 1rem; overflow-wrap: anywhere;
  color: var(--text); background: var(--ground);
  font: 1rem/1.6 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
}
a { color: var(--accent); }
h1 { font-size: 1.5rem; line-height: 1.3; }
h2 { font-size: .875rem; font-weight: 600; }
h2 time, .about { color: var(--muted); font-size: .8125rem; font-weight: 400; }
article { margin-block-start: 1.75rem; }
.picture { margin-block: .5rem; }
.picture img {
  max-inline-size: 100%; max-block-size: 30rem; inline-size: auto; block-size: auto;
  border-radius: var(--round);
}
.plain { white-space: pre-wrap; }
.question .plain { padding: .75rem 1rem; border-radius: var(--round); background: var(--soft); }
details { margin-block: .5rem; color: var(--muted); font-size: .875rem; }
svg { inline-size: 1em; block-size: 1em; }
@media print {
  body { margin: 0; max-inline-size: none; }
  .question .plain { border: 1px solid var(--edge); }
  h2 { break-after: avoid; }
  .prose :is(.code, tr) { break-inside: avoid; }
  .prose pre { white-space: pre-wrap; }
}
"""


@cache
def style_sheet() -> str:
    source = (settings.BASE_DIR / "static/css/chat.css").read_text("utf-8")
    found = (re.search(f"{start}.*?{end}", source, re.DOTALL) for start, end in STYLESHEET_PARTS)
    return "\n".join([*(part[0] for part in found if part), OWN])
