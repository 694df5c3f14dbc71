"""Runs of text of Office files in their fonts as Markdown: struck out, shifted, and signs of symbol fonts.

Those have signs in place of letters: Symbol, Wingdings, Webdings, Zapf Dingbats.
"""

import re
from typing import NamedTuple

# From code 0x21 on, https://www.unicode.org/Public/MAPPINGS/VENDORS/ADOBE/symbol.txt
_SYMBOL = "!∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼"
_SYMBOL_HIGH = (
    "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊⟨®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪ ⟩∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭"
)
# From code 0x21 on, https://github.com/mwilliamson/dingbat-to-unicode, with usual arrows, ticks, crosses and
# boxes in place of rare ones. A space where none is known.
_WINGDINGS = (
    "🖉✂✁👓🕭🕮🕯☎✆✉🖃📪📫📬📭🗀🗁🗎🗏🗐🗄⌛🖮🖰🖲🖳🖴🖫🖬✇✍🖎✌🖏👍👎☜☞☝☟🖐☺😐☹💣☠🏳🏱✈☼🌢❄🕆✞🕈✠✡☪☯🕉☸♈♉♊♋♌♍♎♏♐♑♒♓🙰🙵●❍■"
    "□◻❑❒⬧⧫◆❖⬩⌧⮹⌘🏵🏶🙶🙷▯🄋➀➁➂➃➄➅➆➇➈➉🄌➊➋➌➍➎➏➐➑➒➓🙢🙠🙡🙣🙞🙜🙝🙟∙•⬝○🞆🞈◉🞋🔿▪☐🟁🟅★🟋🟏🟓🟑⯐⌖⯎⯏⯑✪✰🕐🕑🕒🕓🕔🕕🕖🕗🕘🕙🕚🕛⮰⮱⮲⮳"
    "⮴⮵⮶⮷🙪🙫🙕🙔🙗🙖🙐🙑🙒🙓⌫⌦⮘➢⮙⮛⮈➲⮉⮋←→↑↓🡬🡭🡯🡮🡸➔🡹🡻🡼🡽🡿🡾⇦⇨⇧⇩⬄⇳⬁⬀⬃⬂🢬🢭✗✓☒☑"
)
_WINGDINGS_2 = (
    "🖊🖋🖌🖍✄✀🕾🕽🗅🗆🗇🗈🗉🗊🗋🗌🗍📋🗑🗔🖵🖶🖷🖸🖭🖯🖱🖒🖓🖘🖙🖚🖛👈👉🖜🖝🖞🖟🖠🖡👆👇🖢🖣🖑✗✓☒☑☒☒⮾⮿🛇⦸🙱🙴🙲🙳‽🙹🙺🙻🙦🙤🙥🙧🙚🙘🙙🙛⓪①②③④⑤⑥⑦⑧⑨⑩⓿❶❷❸❹❺❻❼❽❾❿ "
    "☉🌕☽☾⸿✝🕇🕜🕝🕞🕟🕠🕡🕢🕣🕤🕥🕦🕧🙨🙩⋅🞄●●○🞅🞇🞉⊙⦿🞌🞍◾■□🞑🞒🞓🞔▣🞕🞖🞗🞘⬩⬥◇🞚◈🞛🞜🞝🞞⬪⬧◊🞠◖◗⯊⯋⯀⯁⬟⯂⬣⬢⯃⯄🞡🞢🞣🞤🞥🞦🞧🞨🞩🞪🞫🞬🞭🞮🞯🞰"
    "🞱🞲🞳🞴🞵🞶🞷🞸🞹🞺🞻🞼🞽🞾🞿🟀🟂🟄🟆🟉🟊✶🟌🟎🟐🟒✹🟃🟇✯🟍🟔⯌⯍※⁂"
)
_WINGDINGS_3 = (
    "←→↑↓↖↗↙↘⭰⭲⭱⭳⭶⭸⭻⭽⭤⭥⭪⭬⭫⭭⭍⮠⮡⮢⮣⮤⮥⮦⮧⮐⮑⮒⮓⮀⮃⭾⭿⮄⮆⮅⮇⮏⮍⮎⮌⭮⭯⎋⌤⌃⌥␣⍽⇪⮸🢠🢡🢢🢣🢤🢥🢦🢧🢨🢩🢪🢫🡐🡒🡑🡓🡔🡕🡗🡖🡘🡙▲▼△▽◀▶◁▷◣◢◤◥🞀🞂🞁 🞃⯅⯆⯇⯈"
    "⮜⮞⮝⮟🠐🠒🠑🠓🠔🠖🠕🠗🠘🠚🠙🠛🠜🠞🠝🠟🠀🠂🠁🠃🠄🠆🠅🠇🠈🠊🠉🠋🠠🠢🠤🠦🠨🠪🠬🢜🢝🢞🢟🠮🠰🠲🠴🠶🠸🠺🠹🠻🢘🢚🢙🢛🠼🠾🠽🠿🡀🡂🡁🡃🡄🡆🡅🡇⮨⮩⮪⮫⮬⮭⮮⮯🡠🡢🡡🡣🡤🡥🡧🡦🡰🡲🡱🡳🡴🡵🡷🡶🢀🢂🢁🢃🢄🢅🢇🢆"
    "🢐🢒🢑🢓🢔🢖🢕🢗"
)
_WEBDINGS = (
    "🕷🕸🕲🕶🏆🎖🖇🗨🗩🗰🗱🌶🎗🙾🙼🗕🗖🗗⏴⏵⏶⏷⏪⏩⏮⏭⏸⏹⏺🗚🗳🛠🏗🏘🏙🏚🏜🏭🏛🏠🏖🏝🛣🔍🏔👁👂🏞🏕🛤🏟🛳🕬🕫🕨🔈🎔🎕🗬🙽🗭🗪🗫⮔✔🚲⬜🛡📦🛱⬛🚑🛈🛩🛰🟈🕴⬤🛥🚔🗘🗙❓🛲"
    "🚇🚍⛳⦸⊖🚭🗮⏐🗯🗲 🚹🚺🛉🛊🚼👽🏋⛷🏂🏌🏊🏄🏍🏎🚘🗠🛢💰🏷💳👪🗡🗢🗣✯🖄🖅🖃🖆🖹🖺🖻🕵🕰🖽🖾📋🗒🗓🕮📚🗞🗟🗃🗂🖼🎭🎜🎘🎙🎧💿🎞📷🎟🎬📽📹📾📻🎚🎛📺"
    "💻🖥🖦🖧🕹🎮🕻🕼📟🖁🖀🖨🖩🖿🖪🗜🔒🔓🗝📥📤🕳🌣🌤🌥🌦☁🌨🌧🌩🌪🌬🌫🌜🌡🛋🛏🍽🍸🛎🛍Ⓟ♿🛆🖈🎓🗤🗥🗦🗧🛪🐿🐦🐟🐕🐈🙬🙮🙭🙯🗺🌍🌏🌎🕊"
)
# https://www.unicode.org/Public/MAPPINGS/VENDORS/ADOBE/zdingbat.txt: the block of Dingbats is made from it.
_ZAPF = "".join(map(chr, range(0x2701, 0x275F)))
_ZAPF_HIGH = " ❡❢❣❤❥❦❧♣♦♥♠①②③④⑤⑥⑦⑧⑨⑩" + "".join(map(chr, range(0x2776, 0x27BF)))
STRUCK = "~~"
SHIFTED = {"superscript": str.maketrans("0123456789+-−=()ni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿⁱ"),
           "subscript": str.maketrans("0123456789+-−=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎")}  # fmt: skip
EDGES = re.compile(r"(\s*)(.*?)(\s*)", re.DOTALL)
Piece = tuple[str, tuple[str, ...]]  # a text, and its marks


def _signs(text: str, high: str = "") -> dict[int, str]:
    """Return the signs of a font from code 0x21 on. `high`: from 0xA0 on."""
    starts = ((0x21, text), (0xA0, high))
    return {start + at: sign for start, each in starts for at, sign in enumerate(each) if sign != " "}


ZAPF = _signs(_ZAPF, _ZAPF_HIGH) | {
    0x25: "☎", 0x2A: "☛", 0x2B: "☞", 0x48: "★", 0x6C: "●", 0x6E: "■", 0x73: "▲", 0x74: "▼", 0x75: "◆",
    0x77: "◗", 0xD5: "→", 0xD6: "↔", 0xD7: "↕",
}  # fmt: skip
FONTS = {
    "symbol": _signs(_SYMBOL, _SYMBOL_HIGH),
    "wingdings": _signs(_WINGDINGS),
    "wingdings 2": _signs(_WINGDINGS_2),
    "wingdings 3": _signs(_WINGDINGS_3),
    "webdings": _signs(_WEBDINGS),
    "zapfdingbats": ZAPF,
    "zapf dingbats": ZAPF,
    "itc zapf dingbats": ZAPF,
}
UNKNOWN = "\ufffd"  # a sign stands here


def sign_of(code: int, font: str) -> str:
    """Return the character at a code, also of the private area (U+F000), of a font; UNKNOWN for others."""
    signs = FONTS.get(font.strip().lower(), {})
    if sign := signs.get(code & 0xFF if 0xF020 <= code <= 0xF0FF else code):
        return sign
    is_known = (0xFF if signs else 0x1F) < code < 0x110000 and not 0xE000 <= code <= 0xF8FF
    return chr(code) if is_known else UNKNOWN


def text_in(text: str, font: str, private_only: bool = False) -> str:
    """Return a text whose font may have signs in place of letters. `private_only`: of the private area."""
    signs = FONTS.get(font.strip().lower())
    if not signs:
        return text
    return "".join(
        each if private_only and each < "\ue000" else signs.get(_code(each), each) for each in text
    )


def _code(character: str) -> int:
    """Return the code that a font with signs has for a character; 0 for one of another alphabet."""
    if "\uf020" <= character <= "\uf0ff":
        return ord(character) & 0xFF
    return (character.strip().encode("cp1252", "ignore") or b"\0")[0]


class Font(NamedTuple):
    """A font: its name if it is one of signs, and its marks from outside to inside."""

    name: str = ""
    marks: tuple[str, ...] = ()


def font_of(name: str, is_struck: bool, vertical: str) -> Font:
    """Return a font. `vertical`: "superscript", "subscript", or anything else."""
    name = name if name.strip().lower() in FONTS else ""
    return Font(name, (*([STRUCK] if is_struck else []), *([vertical] if vertical in SHIFTED else [])))


PLAIN = Font()
Rich = str | tuple[tuple[str, Font | None], ...]  # runs, those without a font in that of their cell


def in_font(text: Rich, font: Font) -> str:
    if isinstance(text, str):
        if font == PLAIN:
            return text
        text = ((text, font),)
    runs = ((each, own or font) for each, own in text)
    return joined([(text_in(each, of.name), of.marks) for each, of in runs])


def joined(pieces: list[Piece]) -> str:
    """Return texts in a row, each mark once around neighbours that share it."""
    merged: list[list[str | tuple[str, ...]]] = []
    for text, marks in pieces:
        if merged and (merged[-1][1] == marks or not text.strip()) and "\n" not in text:
            merged[-1][0] = str(merged[-1][0]) + text
        else:
            merged.append([text, marks])
    return "".join(_marked(str(text), tuple(marks)) for text, marks in merged)


def _marked(text: str, marks: tuple[str, ...]) -> str:
    for mark in reversed(marks):
        if mark in SHIFTED:
            text = shifted(text, mark)
        elif found := EDGES.fullmatch(text):
            text = f"{found[1]}{mark}{found[2]}{mark}{found[3]}" if found[2] else text
    return text


def shifted(text: str, mark: str) -> str:
    """Return a text as "superscript" or "subscript": in such digits, or between tags."""
    small = text.translate(SHIFTED[mark])
    if not text.strip() or all(ord(each) in SHIFTED[mark] for each in text.strip()):
        return small
    name = mark[:3]
    return f"<{name}>{text}</{name}>"
