"""Numbers of lists in their formats, and the letters of columns."""

ROMAN = ((1_000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"), (40, "XL"),
         (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"))  # fmt: skip
HEBREW = ((400, "ת"), (300, "ש"), (200, "ר"), (100, "ק"), (90, "צ"), (80, "פ"),
          (70, "ע"), (60, "ס"), (50, "נ"), (40, "מ"), (30, "ל"), (20, "כ"),
          (16, "טז"), (15, "טו"), (10, "י"), (9, "ט"), (8, "ח"), (7, "ז"),
          (6, "ו"), (5, "ה"), (4, "ד"), (3, "ג"), (2, "ב"), (1, "א"))  # fmt: skip
ALPHABETS = {
    "lowerLetter": "abcdefghijklmnopqrstuvwxyz",
    "russianLower": "абвгдежзиклмнопрстуфхцчшщыэюя",
    "hebrew2": "אבגדהוזחטיכלמנסעפצקרשת",
    "chicago": "*†‡§",
    "arabicAbjad": "أبجدهوزحطيكلمنسعفصقرشتثخذضظغ",
    "arabicAlpha": "أبتثجحخدذرزسشصضطظعغفقكلمنهوي",
    "aiueoFullWidth": "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホ"
    "マミムメモヤユヨラリルレロワヲン",
    "irohaFullWidth": "イロハニホヘトチリヌルヲワカヨタレソツネナラム"
    "ウヰノオクヤマケフコエテアサキユメミシヱヒモセス",
    "ganada": "가나다라마바사아자차카타파하",
    "ideographTraditional": "甲乙丙丁戊己庚辛壬癸",
    "ideographZodiac": "子丑寅卯辰巳午未申酉戌亥",
}
ALPHABETS |= {
    "upperLetter": ALPHABETS["lowerLetter"].upper(),
    "russianUpper": ALPHABETS["russianLower"].upper(),
}
ALPHABETS |= {"aiueo": ALPHABETS["aiueoFullWidth"], "iroha": ALPHABETS["irohaFullWidth"]}
IDEOGRAPHIC = ("chineseCounting", "chineseCountingThousand", "ideographDigital", "japaneseCounting",
               "japaneseDigitalTenThousand", "taiwaneseCounting", "taiwaneseCountingThousand")  # fmt: skip
DIGITS, CIRCLED = "〇一二三四五六七八九", "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳"
ORDINALS = {1: "st", 2: "nd", 3: "rd"}


def formatted(number: int, kind: str) -> str:
    """Return a number in a format (ST_NumberFormat, ECMA-376 part 1, 17.18.59).

    In digits if the format is not known or has no such number.
    """
    alphabet = ALPHABETS.get(kind)
    if alphabet and 0 < number <= len(alphabet) * 30:
        return alphabet[(number - 1) % len(alphabet)] * ((number - 1) // len(alphabet) + 1)
    if kind in ("upperRoman", "lowerRoman") and 0 < number < 4_000:
        found = _added(number, ROMAN)
        return found if kind == "upperRoman" else found.lower()
    if kind == "hebrew1" and 0 < number < 1_000:
        return _added(number, HEBREW)
    if kind in IDEOGRAPHIC and 0 < number < 100:
        return _ideographic(number)
    if kind.startswith("decimalEnclosedCircle") and 0 < number <= len(CIRCLED):
        return CIRCLED[number - 1]
    if kind in ("none", "bullet"):
        return ""
    if kind == "ordinal":
        return f"{number}{'th' if number % 100 in (11, 12, 13) else ORDINALS.get(number % 10, 'th')}"
    return f"{number:02}" if kind == "decimalZero" else str(number)


def _added(number: int, signs: tuple[tuple[int, str], ...]) -> str:
    found = ""
    for size, letters in signs:
        found += letters * (number // size)
        number %= size
    return found


def _ideographic(number: int) -> str:
    tens, ones = divmod(number, 10)
    return ("" if tens < 2 else DIGITS[tens]) + ("十" if tens else "") + (DIGITS[ones] if ones else "")


def column_number(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - 64
    return number


def column_letters(number: int) -> str:
    letters = ""
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(65 + rest) + letters
    return letters
