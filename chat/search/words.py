"""The tokenizer of the search: it splits texts and queries into words. The texts that are indexed.

Case and accents are folded. In Chinese, Japanese, Korean, Thai and other scripts without spaces, each
character is a word, so that a phrase finds any substring. Punctuation separates words, so `foo.bar` and
`snake_case` are phrases of two words. A symbol that belongs to a word, as in `C++` and `--dry-run`, makes one
more word of both, see `with_symbols`.
"""

import re
import unicodedata
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

MAX_WORD_CHARS = 64  # of a longer word, such as a key or a hash, only the beginning is indexed
MAX_INDEXED_BYTES = 400_000  # of words indexed for one text; later words are not found
MAX_READ_FACTOR = 4  # characters that are read for words, for each byte that is indexed
MAX_UTF8_BYTES = 4  # of a character
MAX_PART_CHARS = 56  # read on each side of a change of case in an identifier, or of a symbol
WORD = re.compile(r"[^\W_]+")
# Marks on letters, and what is invisible within a word: the soft hyphen, joiners and non-joiners.
COMBINING_MARKS = re.compile(
    "[\u00ad\u200c\u200d\u2060\ufeff"
    "\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0640\u064b-\u0655\u0670]+"
)
# Letters that Unicode does not decompose, such as those with a stroke; Arabic and Persian letters that are
# written either way, and digits, as Lucene folds them.
LETTERS = (
    str.maketrans("øđðłħŧıȷƀɨǥƶŋɓɗƙƴǝəĸىیکة", "oddlhtijbigznbdkyeekييكه")
    | str.maketrans({"æ": "ae", "œ": "oe", "þ": "th"})
    | {zero + digit: str(digit) for zero in (0x660, 0x6F0, 0x966, 0x9E6, 0xE50) for digit in range(10)}
)
DASHES = str.maketrans({"–": "-", "−": "-", "‑": "-", "—": "--"})  # phones write “—” for two hyphens
# Letters for the symbols, because the tokenizer of the index knows no others.
SYMBOLS = {"-": "d", "#": "h", "@": "a", "$": "s", "€": "e", "£": "l", "+": "p", "%": "c"}
# Before a word, and after it. A dash counts only at the beginning: this is looked at second, which is faster.
BEFORE = re.compile(r"(?:[#@$€£]|-(?<![\w-].)-?)(?=[^\W_])")
AFTER = re.compile(r"[+#%$€£](?<=[^\W_].)[+#%$€£]?")
# Scripts without spaces: kana, Han, Hangul; Thai, Lao, Burmese, Khmer.
SINGLE = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
PIECE = re.compile(f"[{SINGLE}]|[^{SINGLE}]+")
CASE_CHANGE = re.compile("[a-z0-9][A-Z]|[A-Z][A-Z][a-z][a-z]")
PART = re.compile("[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+")
NOT_ALPHANUMERIC = re.compile("[^A-Za-z0-9]")


class WordPosition(NamedTuple):
    """A word and its position in the text, in code points."""

    word: str
    start: int
    end: int


def fold(text: str) -> str:
    """Return the text with case, accents and compatibility forms folded, so that variants become equal."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return unicodedata.normalize("NFC", COMBINING_MARKS.sub("", decomposed).translate(LETTERS)).casefold()


def split(text: str) -> list[str]:
    found = WORD.findall(fold(text))
    if text.isascii():
        return [word[:MAX_WORD_CHARS] for word in found]
    return [piece[:MAX_WORD_CHARS] for word in found for piece in _pieces(word)]


def indexed(text: str) -> list[str]:
    """Return the words to index: all words of the text, parts of identifiers, then words with symbols."""
    text = text[: MAX_READ_FACTOR * MAX_INDEXED_BYTES]  # a call's prompt may have millions of words
    words = split(text)
    words += _parts(text)
    words += with_symbols(text)
    if MAX_UTF8_BYTES * sum(map(len, words)) + len(words) <= MAX_INDEXED_BYTES:
        return words
    size = 0
    for count, word in enumerate(words):
        size += len(word) + 1 if word.isascii() else len(word.encode()) + 1
        if size > MAX_INDEXED_BYTES:
            return words[:count]
    return words


def with_symbols(text: str) -> list[str]:
    """Return a word for each symbol that belongs to a word of the text: those of `C++`, `#tag`, `-v`, `50%`.

    It begins with an underscore and holds another, so it equals neither a word nor a tag of a document.
    """
    folded = fold(text if text.isascii() else text.translate(DASHES))
    found = [f"_{_code(symbol)}_{_word_after(symbol)}" for symbol in BEFORE.finditer(folded)]
    return found + [f"__{_word_before(symbol)}_{_code(symbol)}" for symbol in AFTER.finditer(folded)]


def _code(symbol: "re.Match[str]") -> str:
    return "".join(map(SYMBOLS.__getitem__, symbol[0]))


def _word_after(symbol: "re.Match[str]") -> str:
    found = WORD.match(symbol.string, symbol.end(), symbol.end() + MAX_PART_CHARS)
    assert found
    return _pieces(found[0])[0]


def _word_before(symbol: "re.Match[str]") -> str:
    found = WORD.findall(symbol.string, max(0, symbol.start() - MAX_PART_CHARS), symbol.start())
    return _pieces(found[-1])[-1]


def places(text: str) -> Iterator[WordPosition]:
    """Yield the words of a text with their positions. Slower than `split`, so only for short texts."""
    for run in re.finditer(r"\S+", text):
        if run[0].isascii():
            for found in WORD.finditer(run[0].lower()):
                start, end = found.span()
                yield WordPosition(found[0][:MAX_WORD_CHARS], run.start() + start, run.start() + end)
        else:
            yield from _places_in(run[0], run.start())


def _places_in(run: str, offset: int) -> Iterator[WordPosition]:
    folded, origin = _folded_with_origin(run)
    for found in WORD.finditer(folded):
        start = found.start()
        for piece in _pieces(found[0]):
            end = start + len(piece)
            yield WordPosition(piece[:MAX_WORD_CHARS], offset + origin[start], offset + origin[end])
            start = end


def _folded_with_origin(run: str) -> tuple[str, list[int]]:
    """Return the folded text, and the index in `run` of each of its characters and of its end.

    A character and its combining marks are folded together.
    """
    folded: list[str] = []
    origin: list[int] = []
    starts = [at for at, character in enumerate(run) if at == 0 or not unicodedata.combining(character)]
    for start, end in zip(starts, [*starts[1:], len(run)], strict=True):
        piece = fold(run[start:end])
        folded.append(piece)
        origin += [start] * len(piece)
    return "".join(folded), [*origin, len(run)]


def _pieces(word: str) -> list[str]:
    return [word] if word.isascii() else PIECE.findall(word)


def _parts(text: str) -> Iterator[str]:
    """Yield the parts of words in camel case, in lower case, in time linear in the text's length."""
    done = 0
    for change in CASE_CHANGE.finditer(text):
        if change.start() < done:
            continue
        before = text[max(done, change.start() - MAX_PART_CHARS) : change.start()]
        start = change.start() - len(NOT_ALPHANUMERIC.split(before)[-1])
        after = NOT_ALPHANUMERIC.search(text, change.start(), change.start() + MAX_PART_CHARS)
        done = after.start() if after else min(len(text), change.start() + MAX_PART_CHARS)
        yield from (part.lower() for part in PART.findall(text[start:done]))


def message_tag(owner: int) -> str:
    return f"_m{owner}"


def title_tag(owner: int) -> str:
    return f"_t{owner}"


@dataclass(frozen=True, slots=True)
class Document:
    """A text to index: of a message, or the title of a conversation.

    It is indexed under a tag, which names its owner and its kind. A tag begins with an underscore, so no word
    of a text can equal it.
    """

    owner: int
    text: str
    message: uuid.UUID | None = None
    conversation: uuid.UUID | None = None

    @property
    def words(self) -> list[str]:
        """The words of the text, after the tag of its kind and its owner. They are computed each time."""
        tag = message_tag(self.owner) if self.message else title_tag(self.owner)
        return [tag, *indexed(self.text)]
