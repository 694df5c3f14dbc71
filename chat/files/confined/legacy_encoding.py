"""The detection of encodings older than Unicode: a text, or nothing where its encoding is uncertain.

Each encoding in which the bytes are valid gives a reading. Its score is the logarithm of the probability of
its characters beside their neighbours, in the language that fits best: letters by their pairs, ideographs by
their frequency, other signs by the places at which people write them. A reading is returned only if it fits
by itself, and if each reading that differs is far less likely. No part of a text has to be taken on trust: a
wrong guess would be worse than none.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from functools import cache, lru_cache
from math import log
from pathlib import Path

LANGUAGES: dict[str, dict[str, str]] = {"pairs": {}, "words": {}, "characters": {}}
for _line in Path(__file__).with_name("languages.tsv").read_text("utf-8").splitlines():
    if not _line.startswith("#"):
        _kind, _language, _text = _line.split("\t")
        LANGUAGES[_kind][_language] = _text
PAIRS, WORDS, CHARACTERS = LANGUAGES["pairs"], LANGUAGES["words"], LANGUAGES["characters"]
WEST = ("en", "de", "fr", "es", "pt", "it", "sv", "da", "nb", "fi", "nl", "is", "ca", "et", "sq", "ga")
CENTRE = ("pl", "cs", "sk", "hu", "hr", "sl", "ro", "de", "sq")
BALTIC, CYRILLIC, ARABIC = ("lt", "lv", "et"), ("ru", "uk", "bg", "mk", "sr", "be"), ("ar", "fa")
# By languages: the encodings of Windows, of ISO, of DOS, and of Apple or hardly anybody.
FAMILIES = (
    (WEST, "cp1252", "iso8859-15", "cp850 cp437", "mac_roman"),
    (("pt",), "", "", "cp860", ""),
    (("is",), "", "", "cp861", "mac_iceland"),
    (("fr",), "", "", "cp863", ""),
    (CENTRE, "cp1250", "iso8859-2", "cp852", "mac_latin2"),
    (("tr",), "cp1254", "", "cp857", "mac_turkish"),
    (BALTIC, "cp1257", "iso8859-13 iso8859-4", "cp775", ""),
    (("vi",), "cp1258", "", "", ""),
    (("el",), "cp1253", "iso8859-7", "cp737", "mac_greek"),
    (CYRILLIC, "cp1251", "koi8-r koi8-u iso8859-5", "cp866", "cp855 mac_cyrillic"),
    (("he",), "cp1255", "iso8859-8", "cp862", ""),
    (ARABIC, "cp1256", "iso8859-6", "cp720", ""),
    (("th",), "cp874", "", "", ""),
)
RARER = 0.0, -0.5, -2.0, -4.0  # how much rarer files in them are than in those of Windows
# By encoding: the languages, and what is known before.
SINGLE_BYTE = {
    encoding: (languages, rarer)
    for languages, *columns in FAMILIES
    for encodings, rarer in zip(columns, RARER, strict=True)
    for encoding in encodings.split()
} | {"cp1252": (WEST, 1.5)}
# By language: its letters that PAIRS lack. One with others is unknown: Kazakh, Mongolian, Tajik, …
RARE = {"ru": "ёъ", "uk": "ґ", "bg": "ью", "mk": "ѓѕљхџ", "sr": "џ", "be": ""}
# By encoding: the languages of CHARACTERS, and the smaller standard with the ordinary characters of each.
MULTI_BYTE = {
    "gb18030": (("zh", "gb2312"), ("zh-Hant", "big5")),
    "big5hkscs": (("zh-Hant", "big5"),),
    "cp950": (("zh-Hant", "big5"),),
    "cp932": (("ja", "euc_jp"),),
    "euc_jp": (("ja", "euc_jp"),),
    "cp949": (("ko", "euc_kr"),),
}
# Such that CHARACTERS add up to their share in texts, by Zipf's law.
FREQUENCY = {"zh": 0.24, "zh-Hant": 0.24, "ja": 0.07, "ko": 0.32}
# Of each standard: the first byte of its rare characters.
RARE_FROM = {"gb2312": 0xD8, "big5": 0xC9, "euc_jp": 0xD0, "euc_kr": 0xCA}

LEAST = 7.0  # by this logarithm each other reading must be less likely
FITS, IDEOGRAPHS_FIT, IDEOGRAPHS_AT_ALL = -11.0, -8.9, -10.5  # at the least, on average of a character
IMPOSSIBLE, UNLIKELY, SIGN, QUOTE, ALONE, CAPITAL, NARROW = -30.0, -7.0, -5.0, -7.0, -6.0, -1.5, -8.0
ODD = 2 * UNLIKELY  # a sign that is often written, but not there
GIVEN = 2.0  # of a pair: its probability if one of the two is known
WORD_SCORE, MOST_WORDS = 0.75, 10
MOST_ODD = 1 / 50
SAMPLE_BYTES = 12_000
REPEATED = 3  # a word that comes again tells no more than that

WORD = re.compile(rb"(?<![\w\x80-\xff])[a-z]{2,}(?![\w\x80-\xff])")
NOT_ASCII = re.compile(r"[^\x00-\x7f]")
ENCLOSED = re.compile(r"""[(\["'/;].[^\s]|\d..|..[\d)\]"'/;]""", re.DOTALL)  # a letter that is no word
QUOTES = "„“”«»‹›"  # in pairs
# A sign as people write it, with what stands before and after it.
WRITTEN = re.compile(
    r"""\W[„“‚‘«‹”»›][^\s]|[^\s][“”‘’»›«][^\w]|\W[«»“”‘’]\W|\W’\d|[\s\d][–—][\s\d]
    |[\w\s.!?’”)]…\W|"…\s|[(\[]…[)\]]|[\dkKMT \xa0]€\W|[\W\d]£\d|\d[¢‰]\W|[\s\d]‰\s
    |[\s(\[;,"'/€£¥][€£][\d\s)\];,"'/]|[\s("';]¥\d|\d[°²³¼½¾ªº].|[\s(][½¼¾][ ]|[mM][²³]\W|[nN][°º][ \d]
    |[^\x00-\x7f][،؛؟]\W|\w[׳״]\w|[ก-๛ ][๐-๙][ก-๛ ]|[\s\d(\[;"'/]°[CFKR\s]
    |[\w.)][–—][A-Z\d]|,–\W|[\s(;]–\d
    |\W§[\s\d§)\]]|\W[©№]\W|\s[•·¶■●▪µ±]\s|\w[®™©]\W|[\s\d(\[;"'/][×÷±][\s\d]|\W[¿¡][^\s]|\W№\d|l·l
    |[\d»«%$€£§.,;:!?°–]\xa0[\w»«%€£:;!?–(]|\w\xa0[\d»«%€£:;!?–(]
    |.([─-▟])\1|([─-▟])\2.|.[─-▟][─═]|[─═][─-▟].|\s[│║]\s""",
    re.VERBOSE | re.DOTALL,
)
# Likewise, with what stands two places before and after it.
LONGER = re.compile(
    r"""..µ(?:[gmslLAVFWJNCPTMHSRk]\W|mo|Sv|Gy|Pa)|.[\W\d]Ø[ \xa0]\d|.[\W\d]Ø\d.|.[\s(*]†[ \xa0]\d"""
    r"|(?:.[cdjlmnstCDJLMNST]|[qQ][uU])’[aeiouyhàâéèêîôAEIOUÉÈ].|.[^\W\d_]’[sdm]\W"
    r"|.n’t\W|.[^\W\d_]’(?:re|ve|ll)",
    re.DOTALL,
)
COMMON_SIGNS = "£€¥¢§©®™°±µ²³½¼¾¿¡…–—‰†‡•·×÷"


def guessed(content: bytes) -> str | None:
    """Return the text of bytes that are not Unicode; None where its encoding is uncertain."""
    sample = _sample(content)
    readings: dict[str, tuple[float, float, str]] = {}  # by the text of the sample
    for encoding, score, average in _scores(sample):
        text = unicodedata.normalize("NFC", sample.decode(encoding))
        readings[text] = max(readings.get(text, (score, average, encoding)), (score, average, encoding))
    ranked = sorted(readings.values(), reverse=True)
    if not ranked or (len(ranked) > 1 and ranked[0][0] - ranked[1][0] < LEAST):
        return None
    _score, average, encoding = ranked[0]
    if average < (IDEOGRAPHS_FIT if encoding in MULTI_BYTE else FITS) or _is_odd(sample, encoding):
        return None
    try:
        return unicodedata.normalize("NFC", content.decode(encoding))
    except UnicodeDecodeError:  # outside the sample
        return None


def _is_odd(sample: bytes, encoding: str) -> bool:
    """Return True if the reading has signs where nobody writes them, or letters that its language lacks."""
    if encoding in MULTI_BYTE:
        return False
    contexts = _contexts(sample, encoding)
    odd = min(
        sum(times for context, times in contexts.items() if _is_out_of_place(context, language))
        for language in SINGLE_BYTE[encoding][0]
    )
    return odd > contexts.total() * MOST_ODD


def _is_out_of_place(context: str, language: str) -> bool:
    """Return True for a letter of another language, beside a space of EBCDIC, or large among small ones."""
    before, character, after = list(context[1:4])
    if _is_sign(context):
        return _sign(context) <= ODD
    is_foreign = language in RARE and _lower(character) not in PAIRS[language] + RARE[language]
    return (
        is_foreign or "@" in (before, after) or (before.islower() and character.isupper() and after.islower())
    )


def _sample(content: bytes) -> bytes:
    """Return lines that are not ASCII, from all of the content."""
    lines = [line for line in content.splitlines(keepends=True) if not line.isascii()]
    return b"".join(lines[:: 1 + sum(map(len, lines)) // SAMPLE_BYTES])


def _scores(sample: bytes) -> Iterator[tuple[str, float, float]]:
    """Return for each encoding in which the bytes are valid: its score, and the average of a character."""
    words = Counter(WORD.findall(sample.lower()))
    known = {language: _known(words, listed) for language, listed in WORDS.items()}
    for encoding in (*MULTI_BYTE, *SINGLE_BYTE):
        if not (contexts := _contexts(sample, encoding)):
            continue
        if encoding in MULTI_BYTE:
            score = max(
                sum(times * _ideograph(context, *each) for context, times in contexts.items())
                for each in MULTI_BYTE[encoding]
            )
            if score / contexts.total() > IDEOGRAPHS_AT_ALL:
                yield encoding, score, score / contexts.total()
        else:
            languages, usual = SINGLE_BYTE[encoding]
            score, language = max((_letters(contexts, each) + known.get(each, 0), each) for each in languages)
            yield encoding, usual + score, (score - known.get(language, 0)) / contexts.total()


def _known(found: "Counter[bytes]", words: str) -> float:
    hits = sum(min(found[word.encode()], REPEATED) for word in words.split())
    return WORD_SCORE * min(hits, MOST_WORDS)


def _contexts(sample: bytes, encoding: str) -> "Counter[str]":
    """Return each character outside ASCII with two neighbours on each side, and how often it counts."""
    try:
        text = f"\n\n{sample.decode(encoding)}\n\n"
    except UnicodeDecodeError:
        return Counter()
    found = Counter(text[at.start() - 2 : at.start() + 3] for at in NOT_ASCII.finditer(text))
    return Counter({context: min(times, REPEATED) for context, times in found.items()})


def _letters(contexts: "Counter[str]", language: str) -> float:
    """Return the score of the letters and signs in a language."""
    model = _model(PAIRS[language])
    unlikely = UNLIKELY if language in WORDS else IMPOSSIBLE  # beside a letter of ASCII
    quotes = sum(times for context, times in contexts.items() if context[2] in QUOTES)
    return (quotes % 2) * UNLIKELY + sum(
        times * (_sign(context) if _is_sign(context) else _letter(context, model, unlikely))
        for context, times in contexts.items()
    )


@cache
def _model(pairs: str) -> dict[str, float]:
    """Return the logarithms of the probabilities of pairs, by Zipf's law."""
    shares = [1 / (rank + 5) for rank in range(len(pairs) // 2)]
    return {
        pairs[2 * rank : 2 * rank + 2]: log(share / sum(shares)) + GIVEN for rank, share in enumerate(shares)
    }


@lru_cache(maxsize=10_000)
def _is_letter(character: str) -> bool:
    return unicodedata.category(character)[0] in "LM" and character not in "µªº"


def _is_sign(context: str) -> bool:
    return not _is_letter(context[2]) or (context[2] == "Ø" and bool(LONGER.fullmatch(context)))


def _letter(context: str, model: dict[str, float], mixed: float) -> float:
    before, letter, after = [_lower(each) if _is_letter(each) else "_" for each in context[1:4]]
    letter = "ς" if letter == "σ" and after == "_" else letter
    score = model.get(before + letter, mixed if before.isascii() and before.isalpha() else UNLIKELY)
    if after.isascii():
        score += model.get(letter + after, mixed if after != "_" else UNLIKELY)
    is_word = mixed == UNLIKELY and letter == context[2] and {f"_{letter}", f"{letter}_"} <= model.keys()
    if before == after == "_":
        score += 0 if is_word else ALONE
        score += ALONE if ENCLOSED.fullmatch(context[1:4]) else 0
    if context[2].isupper():
        score += 1.5 * UNLIKELY if context[1].islower() else 0 if context[1].isupper() else CAPITAL
    return score


def _lower(letter: str) -> str:
    return letter if letter == "İ" else letter.lower()


@lru_cache(maxsize=10_000)
def _sign(context: str) -> float:
    if context[2] == "µ" and LONGER.fullmatch(context):
        return SIGN + GIVEN
    if WRITTEN.fullmatch(context[1:4]) or LONGER.fullmatch(context):
        return QUOTE if context[2] in "‘’“”„«»‹›" else SIGN
    return ODD if context[2] in COMMON_SIGNS else IMPOSSIBLE


@lru_cache(maxsize=20_000)
def _ideograph(context: str, language: str, standard: str) -> float:
    before, sign, after = list(context[1:4])
    beside = [each.isascii() and each.isalpha() for each in (before, after)]
    if all(beside) or (_is_narrow(sign) and not (_is_narrow(before) or _is_narrow(after))):
        return IMPOSSIBLE
    rank = CHARACTERS[language].find(sign)
    score = log(FREQUENCY[language] / (rank + 20)) if rank >= 0 else _other(sign, language, standard)
    is_lone = rank < 0 and before.isascii() and after.isascii()
    return score + (ALONE if any(beside) or is_lone else 0)


def _is_narrow(sign: str) -> bool:
    """Return True for katakana of half the width."""
    return "\uff61" <= sign <= "\uff9f"


def _other(sign: str, language: str, standard: str) -> float:
    """Return the score of a sign that is none of the frequent ideographs or syllables."""
    if "\u3000" <= sign <= "\u3015" or sign in "，：；（）！？":
        return log(0.1 / 15)
    if "\uff01" <= sign <= "\uff5e" or sign in "“”‘’—…·–％→①②③④⑤⑥●○■□◆★☆※―℃×":
        return log(0.05 / 120)
    if language == "ja" and "\u3041" <= sign <= "\u30fe":
        return log(0.45 / 60) if sign < "\u30a1" else log(0.2 / 80)
    if language == "ja" and _is_narrow(sign):
        return NARROW
    if not ("\u4e00" <= sign <= "\u9fff" or "\uac00" <= sign <= "\ud7a3" or sign == "々"):
        return IMPOSSIBLE
    known = sign.encode(standard, "ignore")
    if len(known) != 2:
        return 2 * UNLIKELY
    return log(0.2 / 2_000) if known[0] < RARE_FROM[standard] else log(0.01 / 3_000)
