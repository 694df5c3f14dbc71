"""Turn a model's response into a title: one short line of plain text, or nothing."""

import re
import unicodedata
from collections.abc import Iterable, Iterator

from chat.wire.text import sanitize

MAX_GENERATED_TITLE_CHARS = 60
MAX_TITLE_WORDS = 10  # the prompt requests at most six; with more than ten it is a sentence, not a title
MAX_TITLE_REPLY_CHARS = 2_000  # the rest of a longer response is ignored
JOINERS = "\u200c\u200d"  # zero-width characters that Persian words and many emoji need
FILLERS = "\u115f\u1160\u3164\uffa0\u17b4\u17b5\u2800"  # letters and a Braille pattern that show nothing
MAX_MARKS = 4  # on one character; more would stack accents over the lines around the title
BULLETS = "#>|-–—•: "  # Markdown before a title
FINAL_STOPS = ".…,;:!。，、；：！ "
# Quotation marks and Markdown emphasis that may enclose a title: (opening, closing).
ENCLOSING_MARKS = [
    ("**", "**"), ("__", "__"), ("*", "*"), ("_", "_"), ("`", "`"), ('"', '"'), ("'", "'"), ("“", "”"),
    ("”", "”"), ("„", "“"), ("„", "”"), ("‘", "’"), ("‚", "‘"), ("«", "»"), ("»", "«"), ("‹", "›"),
    ("›", "‹"), ("「", "」"), ("『", "』"), ("《", "》"), ("【", "】"),
]  # fmt: skip

_THOUGHT = re.compile(r"\A.*</think>|<think>.*", re.DOTALL)
_PROMPT_TAG = re.compile(r"</?(?:title|question|reply)>|<\|[^<>|]{1,40}\|>|</?s>", re.IGNORECASE)
_LABEL = re.compile(
    r"\A[#*_\"“ ]*(?:title|titel|titre|título|titolo|标题|標題|タイトル|제목|заголовок)[*_ ]*[:：][*_ ]*",
    re.IGNORECASE,
)
_REFUSALS = re.compile(
    r"i(?:'m| am) (?:sorry|unable|not able|an? )|i (?:can'?t|cannot|can not|do not|don't|won't|apolog)"
    r"|sorry\b|unfortunately\b|as an ai\b|here(?:'s| is)\b|sure\b|es tut mir leid|ich kann nicht"
    r"|je suis désolé|désolée?\b|je ne peux|lo siento|no puedo|mi dispiace|non posso|sinto muito|desculpe"
)


def clean_title(reply: str) -> str:
    """Return the title in a model's response; "" if it is empty, a sentence or a refusal."""
    text = _PROMPT_TAG.sub("", _THOUGHT.sub("", sanitize(reply[:MAX_TITLE_REPLY_CHARS])))
    line = next((line for line in map(_plain, text.splitlines()) if line), "")
    line = _bare(_LABEL.sub("", line))
    is_title = line and len(line) <= MAX_GENERATED_TITLE_CHARS and len(line.split()) <= MAX_TITLE_WORDS
    if not is_title or line.startswith("{") or not any(map(str.isalnum, line)):
        return ""
    return "" if _REFUSALS.match(line.lower().replace("’", "'")) else line


def _plain(line: str) -> str:
    """Return the line without hidden characters and stacked accents, with its white space collapsed."""
    kept = (char for char in line if char.isspace() or char in JOINERS or not _is_hidden(char))
    return " ".join("".join(_unstacked(kept)).split())


def _unstacked(characters: Iterable[str]) -> Iterator[str]:
    """Yield the characters, but of consecutive combining marks and joiners only the first MAX_MARKS."""
    marks = 0
    for char in characters:
        marks = marks + 1 if char in JOINERS or unicodedata.category(char)[0] == "M" else 0
        if marks <= MAX_MARKS:
            yield char


def _is_hidden(char: str) -> bool:
    """Return True for control characters, directional overrides, fillers and unassigned code points."""
    return char in FILLERS or unicodedata.category(char) in ("Cc", "Cf", "Co", "Cn", "Cs")


def _bare(line: str) -> str:
    """Return the line without leading Markdown, final punctuation, and quotation marks around all of it."""
    while (shorter := _unquoted(line.lstrip(BULLETS).rstrip(FINAL_STOPS))) != line:
        line = shorter
    return line


def _unquoted(line: str) -> str:
    for opening, closing in ENCLOSING_MARKS:
        inner = line.removeprefix(opening).removesuffix(closing)
        is_whole = line == f"{opening}{inner}{closing}" and opening not in inner and closing not in inner
        if inner and is_whole:
            return inner.strip()
    return line
