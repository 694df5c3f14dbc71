"""The HTML of code blocks, with syntax highlighting by Pygments in eight colours."""

import re
from collections.abc import Iterator
from functools import lru_cache
from html import escape, unescape
from time import thread_time

from pygments.lexer import DelegatingLexer, Lexer
from pygments.token import Token, _TokenType
from pygments.util import ClassNotFound

MAX_CODE_CHARS = 50_000  # longer code stays plain
# Code with such lines or gaps stays plain: nobody reads them, and some lexers take seconds for one of them.
_ENDLESS = re.compile(r"[^\n]{1000}|\s{300}")
CACHED_FENCES = 128  # fences
# Many lexers take quadratic time for some texts (5,000 times “a\\n” takes three seconds as C#). The code that
# is not highlighted after eight times the usual time stays plain.
SECONDS_PER_CHAR = 20e-6  # limit of processor time per character
NOISE_SECONDS = 0.02  # additional time allowed for each fence
# Maximum cost of one message, in characters of code so that it does not depend on the machine: two seconds at
# the slowest allowed pace. A fence costs its length plus FENCE_COST, the equivalent of NOISE_SECONDS.
HIGHLIGHT_BUDGET_CHARS = 100_000
FENCE_COST = round(NOISE_SECONDS / SECONDS_PER_CHAR)

# The classes are explained beside their colours, in the section “code” of chat.css.
TOKEN_CLASSES = {
    Token: "",
    Token.Comment: "c",
    Token.Comment.Preproc: "p",
    Token.Keyword: "k",
    Token.Keyword.Type: "t",
    Token.Keyword.Constant: "n",
    Token.Operator.Word: "k",
    Token.Literal.String: "s",
    Token.Literal.String.Interpol: "",
    Token.Literal.Number: "n",
    Token.Name.Builtin: "t",
    Token.Name.Class: "t",
    Token.Name.Exception: "t",
    Token.Name.Function: "f",
    Token.Name.Decorator: "p",
    Token.Name.Variable: "p",
    Token.Name.Tag: "k",
    Token.Name.Attribute: "f",
    Token.Name.Constant: "n",
    Token.Name.Entity: "n",
    Token.Generic.Heading: "k",
    Token.Generic.Subheading: "k",
    Token.Generic.Prompt: "c",
    Token.Generic.Deleted: "d",
    Token.Generic.Inserted: "i",
    Token.Generic.Output: "",
}

# The languages that run in a frame, and the class of their blocks: see chat/views/conversations/texts.py.
MERMAID = "mermaid"
RUNNABLE_LANGUAGES = frozenset({"html", "htm", "xhtml", "svg", MERMAID})
RUNNABLE = "runnable"
# The languages of texts with a paragraph a line, such as a letter, and the class of their blocks: lines wrap.
WORDS_LANGUAGES = frozenset({"markdown", "md"})
WORDS = "words"
# The first line of a letter in a fence without a language: words, no columns, and no signs of programs. Only
# its beginning is looked at, so that what follows it changes nothing that is shown.
FIRST_LINE_CHARS = 120
_FIRST_WORDS = re.compile(r"[\[“„«\"'¡¿]?([^\W\d_])(?:(?!  )[^\t\n(){}<>=|\\;$#~^*+`_\u2500-\u259f])*(?<!/)")

ENDINGS = {"csv": "csv", "js": "js", "javascript": "js", MERMAID: "mmd", "svg": "svg"}  # others: of Pygments
_RUN_BY_A_CLICK = frozenset({"bat", "cmd", "exe", "hta", "reg", "vb", "vbs", "wsf"})
_LANGUAGE = re.compile(r"[\w+#.-]{1,30}", re.ASCII)


class Budget:
    """The amount of code that may still be highlighted. Code beyond it is shown plain."""

    def __init__(self, left: int = HIGHLIGHT_BUDGET_CHARS) -> None:
        self.left = left
        self.exceeded = False  # True if code stayed plain because the budget was spent

    def takes(self, code: str) -> bool:
        """Spend the cost of this code and return True; return False if less is left."""
        cost = len(code) + FENCE_COST
        if cost > self.left:
            self.exceeded = True
            return False
        self.left -= cost
        return True


def code_block(language: str, code: str) -> str:
    """Return the HTML of a block with the name of its language above it, scrollable by keyboard.

    `code` is already HTML.
    """
    words = is_words(language, unescape(code[: 6 * FIRST_LINE_CHARS]))
    kind = RUNNABLE if language in RUNNABLE_LANGUAGES else WORDS if words else ""
    return code_figure(language, "", code, kind and f" {kind}")


def is_words(language: str, code: str) -> bool:
    """Return True if a block is a text for people, such as a letter, and no program."""
    if language:
        return language in WORDS_LANGUAGES
    found = _FIRST_WORDS.fullmatch(code[:FIRST_LINE_CHARS].partition("\n")[0].rstrip())
    return found is not None and not found[1].islower() and has_first_line(code)


def has_first_line(code: str) -> bool:
    """Return True if the beginning of a code that may grow can tell what it is."""
    return "\n" in code or len(code) > FIRST_LINE_CHARS


def code_figure(caption: str, before: str, code: str, kind: str = "") -> str:
    """Return the HTML of a block with this caption. All parts are HTML; `before` is not code."""
    return (
        f'<figure class="code{kind}"><figcaption>{caption}</figcaption>'
        f'<pre tabindex="0" dir="ltr">{before}<code>{code}</code></pre></figure>'
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


def highlighted(code: str, language: str, budget: Budget) -> str:
    """Return the code as HTML: plain if the language is unknown, the code too long or the budget spent."""
    if not language or len(code) > MAX_CODE_CHARS or _ENDLESS.search(code) or not budget.takes(code):
        return escape(code, quote=False)
    return _coloured(code, language)


@lru_cache(CACHED_FENCES)
def _coloured(code: str, language: str) -> str:
    out: list[str] = []
    pieces: list[str] = []
    current, length = "", 0
    for kind, value in _tokens(code, language):
        length += len(value)
        if (name := _class(kind)) != current and not value.isspace():
            out.append(_span("".join(pieces), current))
            pieces, current = [], name
        pieces.append(value)
    return "".join([*out, _span("".join(pieces), current), escape(code[length:], quote=False)])


def _tokens(code: str, language: str) -> Iterator[tuple[_TokenType, str]]:
    """Yield tokens from the beginning of the code, until the time is up or the lexer skips a character."""
    lexer = _lexer(code, language)
    if lexer is None:
        return
    until = thread_time() + NOISE_SECONDS + SECONDS_PER_CHAR * len(code)
    expected = 0
    for count, (position, kind, value) in enumerate(lexer.get_tokens_unprocessed(code)):
        if position != expected or (count % 16 == 0 and thread_time() > until):
            return
        expected += len(value)
        yield kind, value


def _span(code: str, name: str) -> str:
    shown = escape(code, quote=False)
    return f'<span class="{name}">{shown}</span>' if name and code else shown


@lru_cache
def _class(kind: _TokenType) -> str:
    while kind not in TOKEN_CLASSES:
        kind = kind.parent
    return TOKEN_CLASSES[kind]


def _lexer_class(language: str) -> type[Lexer] | None:
    from pygments.lexers import find_lexer_class_by_name  # its table of all lexers takes 0.5 MB

    try:
        found: type[Lexer] = find_lexer_class_by_name(language)
    except ClassNotFound:
        return None
    return found


def _lexer(code: str, language: str) -> Lexer | None:
    found = _lexer_class(language)
    # A DelegatingLexer reads all the code before its first token, beyond any time limit.
    if found is None or issubclass(found, DelegatingLexer):
        return None
    lexer: Lexer = found(stripnl=False, ensurenl=False, startinline="<?" not in code)
    return lexer


def extension_of(language: str) -> str:
    """Return the ending of a file in this language; "txt" if it is unknown, or a click would run it."""
    if language in ENDINGS:
        return ENDINGS[language]
    found = _lexer_class(language)
    endings = (name[2:].lower() for name in (found.filenames if found else ()) if name.startswith("*."))
    return next((each for each in endings if each.isalnum() and each not in _RUN_BY_A_CLICK), "txt")
