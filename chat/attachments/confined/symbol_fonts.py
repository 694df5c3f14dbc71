"""The characters of fonts with signs in place of letters: Symbol, Wingdings."""

# From code 0x21 on, https://www.unicode.org/Public/MAPPINGS/VENDORS/ADOBE/symbol.txt
_SYMBOL = "!∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼"
_SYMBOL_HIGH = (
    "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊⟨®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪?⟩∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭"
)
SYMBOL = {0x21 + at: sign for at, sign in enumerate(_SYMBOL)} | {
    0xA0 + at: sign for at, sign in enumerate(_SYMBOL_HIGH)
}
WINGDINGS = {
    0x22: "✂", 0x28: "☎", 0x2A: "✉", 0x36: "⌛", 0x41: "✌", 0x43: "👍", 0x44: "👎", 0x46: "☞", 0x4A: "☺",
    0x4B: "😐",
    0x4C: "☹", 0x4E: "☠", 0x51: "✈", 0x6C: "●", 0x6D: "❍", 0x6E: "■", 0x6F: "□", 0x70: "◻", 0x71: "❑",
    0x72: "❒",
    0x73: "⬧", 0x74: "⧫", 0x75: "◆", 0x76: "❖", 0x9F: "•", 0xA1: "○", 0xA4: "◉", 0xA7: "▪", 0xA8: "☐",
    0xAB: "★",
    0xD8: "➢", 0xDC: "➲", 0xDF: "←", 0xE0: "→", 0xE1: "↑", 0xE2: "↓", 0xE8: "➔", 0xEF: "⇦", 0xF0: "⇨",
    0xF3: "⬄",
    0xFB: "✗", 0xFC: "✓", 0xFD: "☒", 0xFE: "☑",
}  # fmt: skip
WINGDINGS_2 = {
    0x4F: "✗",
    0x50: "✓",
    0x51: "☒",
    0x52: "☑",
    0x53: "☒",
    0x54: "☒",
    0x97: "●",
    0xA2: "■",
    0xA3: "□",
}
FONTS = {"symbol": SYMBOL, "wingdings": WINGDINGS, "wingdings 2": WINGDINGS_2}


def sign_of(code: int, font: str) -> str:
    """Return the character at a code, also of the private area (U+F000), of a font; "" if it is unknown."""
    signs = FONTS.get(font.strip().lower())
    if signs is not None:
        return signs.get(code & 0xFF, "")
    return "" if 0xE000 <= code <= 0xF8FF or not 0x20 <= code < 0x110000 else chr(code)


def text_in(text: str, font: str) -> str:
    """Return a text whose font has signs in place of letters of the private area."""
    if font.strip().lower() not in FONTS:
        return text
    return "".join(sign_of(ord(each), font) if "\uf020" <= each <= "\uf0ff" else each for each in text)
